//===- OpPlan.h - from an op's arguments to a sequence of checked launches ------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// An op is checked as a whole before its first step runs: its own arguments as those of a kernel, then every step, with the temporaries at
// their places in the workspace.  The plan does not depend on where the workspace lies: `run` adds its address, so that one plan serves
// many launches, on streams of their own, each with its own workspace.
//
// Temporaries share memory where no step needs both; the largest are placed first, each at the lowest free offset.
//
#ifndef TESSERA_RUNTIME_LAUNCH_OPPLAN_H
#define TESSERA_RUNTIME_LAUNCH_OPPLAN_H

#include "runtime/Launch/Plan.h"

#include <optional>

namespace tessera {

/// Memory of the device for an op's temporaries: aligned to kWorkspaceAlign, used until the op has finished.  Without `data` the runtime
/// allocates what it needs, in stream order.
struct Workspace {
  void *data = nullptr;
  size_t bytes = 0;
};

inline constexpr int64_t kWorkspaceAlign = 256;

/// Elements to set to one pattern.
struct FillPlan {
  TensorRef tensor;
  uint64_t pattern = 0;
};

/// A checked op.  Refers to the caller's memory, owns none.
struct OpPlan {
  struct Step {
    size_t kernel = 0; ///< of the image
    LaunchPlan launch;
    std::vector<size_t> workspaceSlots; ///< slots that hold an offset into the workspace until `at` adds its address
    std::optional<FillPlan> fill;       ///< instead of a launch
    bool fillsWorkspace = false;
    std::vector<size_t> workspaceClears; ///< likewise among launch.clears
  };
  std::vector<TensorRef> clears; ///< before the first step
  std::vector<Step> steps;       ///< those with something to do
  int64_t workspaceBytes = 0;
  std::vector<TensorRef> written, read; ///< the caller's tensors, for the check of a given workspace

  /// The steps with the temporaries at `workspace`.
  std::vector<Step> at(void *workspace) const;
  /// T0619 for a workspace that is too small or not aligned, T0610 for one that shares memory with an argument.
  Result<void> check(const Workspace &workspace) const;
};

/// Checks `arguments` (one for each parameter of the op, in order) and every step.  Nothing is to be done when `steps` and `clears` are empty.
Result<OpPlan> planOp(const KernelImage &image, size_t op, std::span<const Argument> arguments);

} // namespace tessera
#endif // TESSERA_RUNTIME_LAUNCH_OPPLAN_H
