//===- HostLaunch.h - runs a host kernel over its grid -------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Needs the entry point of a host kernel (from the JIT, or linked ahead of time) and packed slots; knows nothing of images or LLVM.
//
#ifndef TESSERA_RUNTIME_CPU_HOSTLAUNCH_H
#define TESSERA_RUNTIME_CPU_HOSTLAUNCH_H

#include "runtime/Cpu/ThreadPool.h"
#include "runtime/Support/Result.h"

#include <cstdint>

namespace tessera {

/// The host ABI of KernelImage.h: runs programs first <= p < last.
using HostEntry = void (*)(const uint64_t *slots, int64_t first, int64_t last, void *scratch);

/// The first assertion that was found false, by the lowest number of its program; see Assertion in KernelImage.h.
struct HostStatus {
  static constexpr int64_t kStopped = -1;
  int64_t assertion = 0; ///< counted from 1; 0: none; kStopped: the program could not go on (only in the simulator)
  int64_t program = 0;
  const char *reason = nullptr; ///< of kStopped; lives as long as the process
};

/// Runs programs 0..programs over the pool, each thread with its own 64-byte aligned scratch of `scratchBytes`, and returns when all
/// are done.  Fault::Machine when the scratch cannot be had.
Result<HostStatus> launchHost(ThreadPool &pool, HostEntry entry, const uint64_t *slots, int64_t programs,
                              int64_t scratchBytes);

} // namespace tessera
#endif // TESSERA_RUNTIME_CPU_HOSTLAUNCH_H
