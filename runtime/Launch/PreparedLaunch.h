//===- PreparedLaunch.h - a kernel with its arguments bound --------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Arguments are checked and packed once; every launch after that is the driver's call and nothing else: no check, no allocation, no lock.
// It may be launched on any stream, from any thread, and into a stream that is being captured.  The tensors' memory stays the caller's and
// must live as long as launches use it.
//
#ifndef TESSERA_RUNTIME_LAUNCH_PREPAREDLAUNCH_H
#define TESSERA_RUNTIME_LAUNCH_PREPAREDLAUNCH_H

#include "runtime/Launch/LoadedImage.h"

namespace tessera {

/// Cheap to copy.
class PreparedLaunch {
public:
  /// Nothing to run.
  PreparedLaunch() = default;
  /// A plan of planLaunch for the same kernel.
  PreparedLaunch(std::shared_ptr<const LoadedImage> image, size_t kernel, LaunchPlan plan);
  /// An op's plan of planOp.  Its launches add the workspace to a copy of the plan, so that one may run on several streams at once.
  PreparedLaunch(std::shared_ptr<const LoadedImage> image, OpPlan plan);
  /// Checks `arguments`, one for each parameter of the kernel.
  static Result<PreparedLaunch> make(std::shared_ptr<const LoadedImage> image, size_t kernel,
                                     std::span<const Argument> arguments);

  /// Clears what is to be cleared, then launches.  On CUDA asynchronous in stream order; on the host it returns when the work is done.
  /// Without memory in `workspace` the runtime allocates what an op needs, in stream order.
  Result<void> launch(StreamHandle stream, const Workspace &workspace = {}) const;

  bool isOp() const;
  size_t workspaceBytes() const;  ///< of an op; 0 for a kernel
  const LaunchPlan &plan() const; ///< of a kernel
  /// Null where there is nothing to run.
  const LoadedImage *image() const;
  size_t kernel() const;

private:
  struct State;
  std::shared_ptr<const State> state;
};

} // namespace tessera
#endif // TESSERA_RUNTIME_LAUNCH_PREPAREDLAUNCH_H
