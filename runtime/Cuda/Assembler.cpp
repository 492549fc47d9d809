//===- Assembler.cpp - PTX to machine code by ptxas ----------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Input, output and log are files in memory, which the program reaches as its own descriptors: no folder for temporary files, nothing to clean up after a kill.
//
#include "runtime/Cuda/Assembler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace tessera::cuda {
namespace {

/// Descriptors of the child; above those that a process usually has.
constexpr int kInput = 100, kOutput = 101;
constexpr size_t kMaxLog = 2000;

Error failure(std::string message) {
  return Error{Fault::Machine, std::move(message), "name the toolkit's ptxas, or let the driver assemble", "T0625"};
}

/// A file without a name.
class MemoryFile {
public:
  MemoryFile() : descriptor(memfd_create("tessera", MFD_CLOEXEC)) {}
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;
  ~MemoryFile() {
    if (descriptor >= 0)
      close(descriptor);
  }
  int get() const { return descriptor; }

  bool fill(std::string_view text) const {
    while (!text.empty()) {
      ssize_t count = write(descriptor, text.data(), text.size());
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0)
        return false;
      text.remove_prefix(static_cast<size_t>(count));
    }
    return true;
  }
  std::string text() const {
    std::string result;
    std::array<char, 65536> part;
    for (;;) {
      ssize_t count = pread(descriptor, part.data(), part.size(), static_cast<off_t>(result.size()));
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0)
        return result;
      result.append(part.data(), static_cast<size_t>(count));
    }
  }

private:
  int descriptor;
};

struct Finished {
  int status; ///< of waitpid
  std::string output, log;
};

/// Runs the program with `input` at kInput, a file at kOutput, its messages in a log, and an empty environment.
Result<Finished> run(const std::string &program, std::vector<std::string> arguments, std::string_view input) {
  MemoryFile in, out, log;
  if (in.get() < 0 || out.get() < 0 || log.get() < 0 || !in.fill(input))
    return failure(fmt::format("cannot make files in memory for {}: {}", program, std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  for (auto [from, to] :
       {std::pair(log.get(), 1), std::pair(log.get(), 2), std::pair(in.get(), kInput), std::pair(out.get(), kOutput)})
    posix_spawn_file_actions_adddup2(&actions, from, to);
  arguments.insert(arguments.begin(), program);
  std::vector<char *> pointers;
  for (std::string &argument : arguments)
    pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  char *const environment[] = {nullptr};
  pid_t child = 0;
  int spawned = posix_spawn(&child, program.c_str(), &actions, nullptr, pointers.data(), environment);
  posix_spawn_file_actions_destroy(&actions);
  if (spawned != 0)
    return failure(fmt::format("cannot run {}: {}", program, std::strerror(spawned)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return failure(fmt::format("lost {}: {}", program, std::strerror(errno)));
  return Finished{status, out.text(), log.text()};
}

} // namespace

Result<Assembler> Assembler::open(std::string path) {
  Result<Finished> done = run(path, {"--version"}, "");
  if (!done)
    return done.error();
  size_t at = done->log.find("release ");
  if (done->status != 0 || at == std::string::npos || done->log.find("ptxas") == std::string::npos)
    return failure(fmt::format("{} does not say that it is ptxas", path));
  std::string version = done->log.substr(at, done->log.find('\n', at) - at);
  return Assembler(std::move(path), std::move(version));
}

Result<std::string> Assembler::assemble(const std::string &ptx, const std::string &target) const {
  Result<Finished> done = run(program,
                              {"-arch=" + target, "-lineinfo", fmt::format("/proc/self/fd/{}", kInput), "-o",
                               fmt::format("/proc/self/fd/{}", kOutput)},
                              ptx);
  if (!done)
    return done.error();
  if (done->status == 0 && !done->output.empty())
    return std::move(done->output);
  std::string reason = done->log.substr(0, kMaxLog);
  while (!reason.empty() && reason.back() == '\n')
    reason.pop_back();
  std::replace(reason.begin(), reason.end(), '\n', ';');
  return failure(WIFSIGNALED(done->status)
                     ? fmt::format("{} was ended by signal {}: {}", program, WTERMSIG(done->status), reason)
                     : fmt::format("{} ({}) does not assemble the PTX for {}: {}", program, release, target, reason));
}

} // namespace tessera::cuda
