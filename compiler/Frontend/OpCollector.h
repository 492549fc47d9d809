//===- OpCollector.h - what the ops of one request share ------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Kernels that steps of ops launch, each specialized once for equal bindings and facts.
//
#ifndef TESSERA_COMPILER_FRONTEND_OPCOLLECTOR_H
#define TESSERA_COMPILER_FRONTEND_OPCOLLECTOR_H

#include "runtime/Image/KernelImage.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::frontend {

/// A parameter of something that a step calls, as far as the caller must know it.
struct CalleeParam {
  std::string name;
  bool isTensor = false, isPresent = true;
  DType dtype = DType::F32;
  std::vector<std::optional<int64_t>> extents; ///< those fixed at compile time
};

struct StepKernel {
  int index = 0; ///< among the module's kernels
  std::vector<CalleeParam> params;
};

class OpCollector {
public:
  explicit OpCollector(mlir::ModuleOp module) : module(module) {}
  mlir::ModuleOp module;
  std::map<std::string, StepKernel> kernels; ///< by name, bindings and facts
  std::vector<std::string> active;           ///< ops being specialized, outermost first
};

} // namespace tessera::frontend
#endif // TESSERA_COMPILER_FRONTEND_OPCOLLECTOR_H
