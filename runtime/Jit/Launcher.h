//===- Launcher.h - from named arguments to a launch ---------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// What the C++ API and the command line share: match arguments with the declared parameters, specialize, convert scalars, plan.
//
#ifndef TESSERA_RUNTIME_JIT_LAUNCHER_H
#define TESSERA_RUNTIME_JIT_LAUNCHER_H

#include "runtime/Jit/Jit.h"

namespace tessera {

/// A kernel or an op with its checked launch; `kernel.image` is null where there is nothing to run or clear.
struct PreparedLaunch {
  JitKernel kernel;
  LaunchPlan plan; ///< of a kernel
  OpPlan opPlan;   ///< of an op

  /// Bytes of the workspace that an op needs; 0 for a kernel.
  size_t workspaceBytes() const { return static_cast<size_t>(opPlan.workspaceBytes); }
  /// Without memory in `workspace` the runtime allocates what an op needs.
  Result<void> launch(StreamHandle stream, const Workspace &workspace = {}) const {
    if (!kernel.image)
      return {};
    return kernel.isOp ? kernel.image->launchOp(opPlan, stream, workspace)
                       : kernel.image->launch(kernel.index, plan, stream);
  }
};

/// Specializes the kernel `options.kernel` of `jit` for `arguments` and plans the launch.  `signature` is the kernel's own.
/// A launch whose written tensors are all empty and that clears nothing succeeds even where no kernel can be specialized for it.
std::variant<PreparedLaunch, JitFailure> prepareLaunch(Jit &jit, const KernelSignature &signature,
                                                       CompileOptions options, const Device &device,
                                                       const std::vector<NamedArgument> &arguments);

/// The scalar as `dtype` where the conversion keeps its value (integers) or rounds it (floats); otherwise unchanged.
ScalarRef adaptScalar(ScalarRef scalar, DType dtype);

} // namespace tessera
#endif // TESSERA_RUNTIME_JIT_LAUNCHER_H
