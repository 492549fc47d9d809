//===- Launcher.h - from named arguments to a launch ---------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// What the C++ API and the command line share: match arguments with the declared parameters, specialize, convert scalars, plan.
//
#ifndef TESSERA_RUNTIME_JIT_LAUNCHER_H
#define TESSERA_RUNTIME_JIT_LAUNCHER_H

#include "runtime/Jit/Jit.h"
#include "runtime/Launch/PreparedLaunch.h"

namespace tessera {

/// A kernel or an op with its checked launch; `kernel.image` is null where there is nothing to run or clear.
struct JitLaunch {
  JitKernel kernel;
  PreparedLaunch prepared;

  /// Without memory in `workspace` the runtime allocates what an op needs.
  Result<void> launch(StreamHandle stream, const Workspace &workspace = {}) const {
    return prepared.launch(stream, workspace);
  }
};

/// Specializes the kernel `options.kernel` of `jit` for `arguments` and plans the launch.  `signature` is the kernel's own.
/// A launch whose written tensors are all empty and that clears nothing succeeds even where no kernel can be specialized for it.
std::variant<JitLaunch, JitFailure> prepareLaunch(Jit &jit, const KernelSignature &signature, CompileOptions options,
                                                  const Device &device, const std::vector<NamedArgument> &arguments);

} // namespace tessera
#endif // TESSERA_RUNTIME_JIT_LAUNCHER_H
