//===- Crash.cpp - a crash leaves a reproducer ---------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Everything that the handler needs is made before, because a handler may do little more than open, write and exit.  It runs on a stack of its own:
// the usual one may be what is exhausted.
//
#include "tools/tessera/Crash.h"
#include "tools/tessera/Terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

namespace tessera {
namespace {

/// What the handler writes; null until guardSource.
struct Guarded {
  std::string path, text, message;
};
std::unique_ptr<Guarded> guarded;

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
constexpr size_t kStackBytes = 65536;

/// False if not all could be written.
bool writeAll(int file, const std::string &text) {
  for (size_t done = 0; done < text.size();) {
    ssize_t count = write(file, text.data() + done, text.size() - done);
    if (count <= 0)
      return false;
    done += size_t(count);
  }
  return true;
}

void onCrash(int) {
  static volatile sig_atomic_t entered = 0;
  if (!entered && guarded) {
    entered = 1;
    int file = open(guarded->path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    bool written = file >= 0 && writeAll(file, guarded->text);
    if (file >= 0)
      close(file);
    static const std::string kNothing =
        "tessera: internal error: the compiler crashed, and no reproducer could be written; "
        "please report it with the program [T0599]\n";
    writeAll(STDERR_FILENO, written ? guarded->message : kNothing);
  }
  _exit(70);
}

} // namespace

std::string reproducerPath() {
  const char *folder = std::getenv("TMPDIR");
  return fmt::format("{}/tessera-reproducer-{}.tile", folder && *folder ? folder : "/tmp", getpid());
}

std::string reproducerHeader() {
  std::string text = fmt::format("// tessera reproducer, tessera {} with LLVM {}; the command line was:\n//",
                                 TESSERA_VERSION, TESSERA_LLVM_VERSION);
  if (Result<std::string> words = readFile("/proc/self/cmdline")) {
    std::replace(words->begin(), words->end(), '\0', ' ');
    std::replace(words->begin(), words->end(), '\n', ' ');
    text += " " + *words;
  }
  return text + "\n";
}

void guardSource(std::string_view source) {
  bool first = !guarded;
  auto fresh = std::make_unique<Guarded>();
  fresh->path = reproducerPath();
  fresh->text = reproducerHeader() + std::string(source);
  fresh->message = fmt::format("tessera: internal error: the compiler crashed [T0599]\n"
                               "tessera: note: wrote {}; please report it\n",
                               fresh->path);
  guarded = std::move(fresh);
  if (!first)
    return;
  static char stack[kStackBytes];
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof(stack);
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = onCrash;
  action.sa_flags = SA_ONSTACK;
  for (int signal : kSignals)
    sigaction(signal, &action, nullptr);
}

} // namespace tessera
