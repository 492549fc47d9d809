//===- Module.h - loaded code and its kernels ----------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Loads PTX or a cubin into a context and launches its functions over a one-dimensional grid.
//
#ifndef TESSERA_RUNTIME_CUDA_MODULE_H
#define TESSERA_RUNTIME_CUDA_MODULE_H

#include "runtime/Cuda/Context.h"

namespace tessera::cuda {

/// Programs of one launch: the limit of the x dimension of a grid.
inline constexpr int64_t kMaxPrograms = 2147483647;

/// A kernel of a Module, ready to launch from any thread; the Module must outlive it.
struct Function {
  FunctionHandle handle = nullptr;
  int threads = 0;
  int sharedBytes = 0;
  int registers = 0;
  int localBytes = 0; ///< spills and arrays, bytes for each thread
};

class Module {
public:
  /// `code` is PTX text or a cubin.  A failure carries the driver's log.
  static Result<std::shared_ptr<const Module>> load(std::shared_ptr<const Context> context, const std::string &code);
  ~Module();
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  /// Finds `entry` and opts in to `sharedBytes` of dynamic shared memory; T0624 names the device's limit.
  Result<Function> function(const std::string &entry, int threads, int64_t sharedBytes) const;

  /// Launches `programs` blocks; `params[i]` points to the value of parameter i.  Zero programs are a no-op; more than kMaxPrograms are
  /// Fault::Program (T0613).
  Result<void> launch(const Function &function, int64_t programs, void **params, StreamHandle stream) const;

  const std::shared_ptr<const Context> &context() const { return owner; }

private:
  explicit Module(std::shared_ptr<const Context> context) : owner(std::move(context)) {}
  std::shared_ptr<const Context> owner;
  ModuleHandle handle = nullptr;
};

} // namespace tessera::cuda
#endif // TESSERA_RUNTIME_CUDA_MODULE_H
