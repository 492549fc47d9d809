//===- AssemblerTest.cpp - running ptxas, or what is none ----------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Programs that stand for ptxas: scripts that obey, refuse, crash, say nothing.  The real one is tested where it is installed.
//
#include "runtime/Cuda/Assembler.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tessera;
namespace fs = std::filesystem;

namespace {

struct Folder {
  std::string path;
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "tessera-ptxas-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::string script(const std::string &name, const std::string &body) const {
    std::string file = path + "/" + name;
    std::ofstream(file) << "#!/bin/sh\n" << body;
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }
};

constexpr const char *kVersion =
    "if [ \"$1\" = --version ]; then echo ptxas: an assembler; echo 'tools, release 99.9, V99.9.1'; exit; fi\n";

constexpr const char *kPtx = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry nothing() { ret; }
)";

} // namespace

TEST_CASE("a program that obeys gets the PTX and gives the code, on many threads") {
  Folder folder;
  // The code is the target's option and the PTX backwards.
  auto assembler = cuda::Assembler::open(folder.script("ptxas", std::string(kVersion) + "(echo $1; rev $3) > $5\n"));
  INFO((assembler ? std::string() : assembler.error().message));
  REQUIRE(assembler);
  CHECK(assembler->version() == "release 99.9, V99.9.1");
  std::vector<std::string> results(8);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < results.size(); ++t)
    threads.emplace_back([&, t] {
      auto code = assembler->assemble("ptx of " + std::to_string(t) + "\n", "sm_90a");
      results[t] = code ? *code : code.error().message;
    });
  for (std::thread &thread : threads)
    thread.join();
  for (size_t t = 0; t < results.size(); ++t)
    CHECK(results[t] == "-arch=sm_90a\n" + std::to_string(t) + " fo xtp\n");
}

TEST_CASE("what is no ptxas, and one that fails, say so") {
  Folder folder;
  auto missing = cuda::Assembler::open(folder.path + "/none");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == "T0625");
  CHECK(missing.error().message == "cannot run " + folder.path + "/none: No such file or directory");
  auto other = cuda::Assembler::open("/bin/true");
  REQUIRE_FALSE(other);
  CHECK(other.error().message == "/bin/true does not say that it is ptxas");
  auto refuses = cuda::Assembler::open(
      folder.script("refuses", std::string(kVersion) + "echo 'line 3; error: no such thing' >&2; exit 255\n"));
  REQUIRE(refuses);
  auto refused = refuses->assemble("x", "sm_80");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().fault == Fault::Machine);
  CHECK(refused.error().message ==
        folder.path +
            "/refuses (release 99.9, V99.9.1) does not assemble the PTX for sm_80: line 3; error: no such thing");
  auto crashes =
      cuda::Assembler::open(folder.script("crashes", std::string(kVersion) + "echo so far; kill -SEGV $$\n"));
  REQUIRE(crashes);
  CHECK(crashes->assemble("x", "sm_80").error().message == folder.path + "/crashes was ended by signal 11: so far");
  auto silent = cuda::Assembler::open(folder.script("silent", kVersion));
  REQUIRE(silent);
  CHECK_FALSE(silent->assemble("x", "sm_80")); // no code is no success
}

TEST_CASE("the toolkit's ptxas, where it is") {
  const std::string path = "/usr/local/cuda/bin/ptxas";
  if (access(path.c_str(), X_OK) != 0) {
    WARN("no " << path << ": not tested");
    return;
  }
  auto assembler = cuda::Assembler::open(path);
  REQUIRE(assembler);
  auto cubin = assembler->assemble(kPtx, "sm_90a");
  INFO((cubin ? std::string() : cubin.error().message));
  REQUIRE(cubin);
  CHECK(cubin->substr(0, 4) == "\x7f"
                               "ELF");
  CHECK(cubin->find("nothing") != std::string::npos);
  auto wrong = assembler->assemble("this is no PTX", "sm_90a");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message.find("does not assemble the PTX for sm_90a: ") != std::string::npos);
}
