//===- LaunchCache.h - launches whose check has been done before ---------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// planLaunch depends on much less than the arguments: element types, shapes, strides, how far each address is aligned, which written
// tensors lie clear of the others, and the scalars that a grid, a condition or an extent names.  Launches that agree in those have the same plan up to
// the addresses and the other scalars, which are put into a copy of its slots.  So a launch that was planned once is, from then on, a comparison of a
// few dozen words and the driver's call: no allocation, no string, no lock.
//
//     key      kind, type, rank, alignment class of every argument; its shape and strides; scalars that the plan reads
//     checked  the byte ranges of written tensors against all others, with the addresses at hand; ranges that meet are accepted where the addresses
//              lie exactly as far apart as when the plan was made, and planned again otherwise
//
// Four places for each hash, 64 in all.  A reader counts itself in at the place before it looks and out when the driver has taken the launch; a writer
// takes a place that nobody is at, and lets the launch go unremembered when there is none.
//
#ifndef TESSERA_RUNTIME_LAUNCH_LAUNCHCACHE_H
#define TESSERA_RUNTIME_LAUNCH_LAUNCHCACHE_H

#include "runtime/Launch/ArgumentView.h"
#include "runtime/Launch/Plan.h"

#include <memory>

namespace tessera {

class LoadedImage;

/// A stream of the device; for CUDA a CUstream or cudaStream_t, null the default stream; ignored on the host.
using StreamHandle = void *;

/// Any number of threads may use one; the images of remembered launches must outlive it.
class LaunchCache {
public:
  LaunchCache();
  ~LaunchCache();
  LaunchCache(LaunchCache &&) noexcept;

  /// Launches if arguments like these are remembered; nullopt otherwise, with nothing done.
  std::optional<Result<void>> launch(std::span<const ArgumentView> arguments, StreamHandle stream) const;

  /// Remembers the `plan` that planLaunch made for `arguments`; they may differ from what it saw in the type of a scalar that was converted
  /// (ScalarRef::adapt).  Launches with more arguments or dimensions than the cache holds are not remembered.
  void remember(std::span<const ArgumentView> arguments, const LoadedImage &image, size_t kernel,
                const LaunchPlan &plan) const;

private:
  struct Table;
  std::unique_ptr<Table> table;
};

} // namespace tessera
#endif // TESSERA_RUNTIME_LAUNCH_LAUNCHCACHE_H
