//===- CrashTest.cpp - a crash leaves a reproducer -------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Children crash in the ways that a compiler does; what they leave behind is read here.
//
#include "tools/tessera/Crash.h"

#include <catch2/catch.hpp>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace tessera;

namespace {

struct Outcome {
  int code = -1; ///< exit code; -1: ended by a signal
  std::string errors, reproducer, path;
};

/// Runs `body` in a child that guards `source`.
Outcome crash(const std::string &source, const std::function<void()> &body) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    guardSource("an older program");
    guardSource(source);
    body();
    _exit(0);
  }
  close(ends[1]);
  Outcome outcome;
  char block[4096];
  for (ssize_t count; (count = read(ends[0], block, sizeof(block))) > 0;)
    outcome.errors.append(block, size_t(count));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  const char *folder = std::getenv("TMPDIR");
  outcome.path =
      std::string(folder && *folder ? folder : "/tmp") + "/tessera-reproducer-" + std::to_string(child) + ".tile";
  std::ifstream file(outcome.path);
  std::stringstream text;
  text << file.rdbuf();
  outcome.reproducer = text.str();
  std::remove(outcome.path.c_str());
  return outcome;
}

/// Deeper than any stack, in a way that no compiler turns into a loop.
int deep(volatile int *above, int level) {
  volatile int here[256] = {level};
  if (level < 0)
    return *above;
  return deep(here, level + 1) + here[above[0] & 1];
}

const std::string kSource = "kernel k(x: in f32[N])\n// \xff bytes of any kind\n";

void requireReproducer(const Outcome &outcome) {
  CHECK(outcome.code == 70);
  CHECK(outcome.errors.find("T0599") != std::string::npos);
  CHECK(outcome.errors.find(outcome.path) != std::string::npos);
  CHECK(outcome.reproducer.find("// tessera reproducer, tessera ") == 0);
  CHECK(outcome.reproducer.find("LLVM 22") != std::string::npos);
  CHECK(outcome.reproducer.find("CrashTest") != std::string::npos); // the command line
  REQUIRE(outcome.reproducer.size() > kSource.size());
  CHECK(outcome.reproducer.substr(outcome.reproducer.size() - kSource.size()) == kSource);
}

} // namespace

TEST_CASE("a bad access leaves a reproducer") {
  requireReproducer(crash(kSource, [] { raise(SIGSEGV); }));
}

TEST_CASE("an abort, as LLVM's fatal errors end, leaves a reproducer") {
  requireReproducer(crash(kSource, [] { std::abort(); }));
}

TEST_CASE("a stack that is too deep leaves a reproducer") {
  requireReproducer(crash(kSource, [] {
    volatile int top = 0;
    _exit(deep(&top, 0) & 1);
  }));
}

TEST_CASE("a folder that cannot be written is said, and the exit code stays") {
  std::string before = std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "";
  setenv("TMPDIR", "/no/such/folder", 1);
  Outcome outcome = crash(kSource, [] { raise(SIGILL); });
  before.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before.c_str(), 1);
  CHECK(outcome.code == 70);
  CHECK(outcome.errors.find("no reproducer could be written") != std::string::npos);
  CHECK(outcome.reproducer.empty());
}

TEST_CASE("what does not crash leaves nothing") {
  Outcome outcome = crash(kSource, [] {});
  CHECK(outcome.code == 0);
  CHECK(outcome.errors.empty());
  CHECK(outcome.reproducer.empty());
}
