//===- HostLaunch.cpp - runs a host kernel over its grid ------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// All scratch is allocated before the first program runs, so that running out of memory leaves every tensor untouched.
//
#include "runtime/Cpu/HostLaunch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace tessera {
namespace {

constexpr int64_t kAlign = 64;
/// No thread has a tebibyte; a larger request is an error without asking the allocator.
constexpr int64_t kMaxScratch = int64_t(1) << 40;

struct Free {
  void operator()(void *memory) const { std::free(memory); }
};

} // namespace

Result<HostStatus> launchHost(ThreadPool &pool, HostEntry entry, const uint64_t *slots, int64_t programs,
                              int64_t scratchBytes) {
  if (programs <= 0)
    return HostStatus{};
  int threads = pool.size();
  auto outOfMemory = [&] {
    return Error{Fault::Machine,
                 fmt::format("cannot allocate {} bytes of scratch for each of {} threads", scratchBytes, threads),
                 "choose smaller tiles or fewer threads", "T0623"};
  };
  if (scratchBytes < 0 || scratchBytes > kMaxScratch)
    return outOfMemory();
  size_t size = static_cast<size_t>((std::max<int64_t>(scratchBytes, 1) + kAlign - 1) / kAlign * kAlign);
  // Any worker may take any chunk, so every worker of the pool has its own scratch even when there are fewer programs.
  std::vector<std::unique_ptr<void, Free>> scratch(pool.size());
  for (auto &memory : scratch) {
    memory.reset(std::aligned_alloc(kAlign, size));
    if (!memory)
      return outOfMemory();
    std::memset(memory.get(), 0, sizeof(HostStatus)); // kAlign bytes at the least
  }
  pool.parallelFor(programs,
                   [&](int worker, int64_t first, int64_t last) { entry(slots, first, last, scratch[worker].get()); });
  HostStatus first;
  for (auto &memory : scratch) {
    HostStatus status;
    std::memcpy(&status, memory.get(), sizeof(status));
    if (status.assertion && (!first.assertion || status.program < first.program))
      first = status;
  }
  return first;
}

} // namespace tessera
