//===- Watch.cpp - work in a child process that may die or stall -------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "tests/fuzz/Watch.h"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tessera::fuzz {

Progress *Progress::create() {
  void *memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : new (memory) Progress();
}

std::string watch(Progress &progress, int seconds, const std::function<void()> &body) {
  std::fflush(stdout);
  pid_t child = fork();
  if (child < 0)
    return "abort: no child process";
  if (child == 0) {
    body();
    std::fflush(stdout);
    _exit(0);
  }
  // Time of the processor counts, so that a busy machine makes no hangs; a child that waits forever is seen by the clock on the wall.
  auto used = [child] {
    clockid_t clock;
    timespec time{};
    return clock_getcpuclockid(child, &clock) == 0 && clock_gettime(clock, &time) == 0 ? double(time.tv_sec) : 0.0;
  };
  auto since = std::chrono::steady_clock::now();
  double usedBefore = 0;
  uint64_t seen = progress.done;
  for (;;) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) {
      if (WIFSIGNALED(status))
        return fmt::format("abort: signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
      return WEXITSTATUS(status) == 0 ? "" : fmt::format("abort: exit code {}", WEXITSTATUS(status));
    }
    auto now = std::chrono::steady_clock::now();
    if (progress.done != seen) {
      seen = progress.done;
      since = now;
      usedBefore = used();
    } else if (used() - usedBefore > seconds || now - since > std::chrono::seconds(10 * seconds)) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return fmt::format("hang: not finished after {} s", seconds);
    }
    usleep(20000);
  }
}

uint64_t watchSeeds(Progress &progress, int seconds, uint64_t from, uint64_t end,
                    const std::function<void(uint64_t seed)> &one) {
  uint64_t deaths = 0;
  while (from < end) {
    progress.seed = from;
    std::string died = watch(progress, seconds, [&] {
      for (uint64_t seed = from; seed < end; ++seed) {
        progress.seed = seed;
        one(seed);
        progress.done = progress.done + 1;
      }
    });
    if (died.empty())
      break;
    fmt::print("FAIL: seed {}: {}\n", uint64_t(progress.seed), died);
    ++deaths;
    from = progress.seed + 1;
  }
  return deaths;
}

} // namespace tessera::fuzz
