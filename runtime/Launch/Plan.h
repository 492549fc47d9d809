//===- Plan.h - from arguments to a launch that is known to be right ------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Everything the language promises to check at launch, in its order: types, ranks, dimensions (bound at their first plain occurrence,
// failing that at `name + c`), extent expressions, `requires`; then, unless no element can be written, the contract of the compiled code,
// aliasing, the grid.  What comes out is the slot list of KernelImage.h and the number of programs; nothing is left to check later.
// Every failure is Fault::Program with a code T0601 to T0618.
//
#ifndef TESSERA_RUNTIME_LAUNCH_PLAN_H
#define TESSERA_RUNTIME_LAUNCH_PLAN_H

#include "runtime/Launch/TensorRef.h"

#include <span>
#include <string>
#include <vector>

namespace tessera {

/// A checked launch.  Refers to the caller's memory, owns none.
struct LaunchPlan {
  std::vector<TensorRef> clears; ///< to be zeroed before the programs run, also when there are none
  std::vector<uint64_t> slots;   ///< the argument ABI; empty when `programs` is 0
  int64_t programs = 0;          ///< product over the grid's axes; 0: nothing to run
};

/// Dimensions and scalars with their values, for launch-time expressions.
using NamedValues = std::vector<std::pair<std::string, ExprValue>>;

/// Checks `arguments` (one for each of kernel.params, in order) and packs them.  `values` gets the names that were bound, also where there
/// is nothing to run.
Result<LaunchPlan> planLaunch(const KernelInfo &kernel, std::span<const Argument> arguments,
                              NamedValues *values = nullptr);

/// A rectangle of bytes to clear: `rows` rows of `width` bytes, `pitch` bytes apart.
struct ClearRun {
  char *first = nullptr;
  size_t pitch = 0, width = 0, rows = 1;
};

/// The bytes of a tensor as few rectangles as its strides allow.
std::vector<ClearRun> clearRuns(const TensorRef &tensor);

} // namespace tessera
#endif // TESSERA_RUNTIME_LAUNCH_PLAN_H
