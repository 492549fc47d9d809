//===- Codegen.h - LLVM dialect to LLVM IR, PTX and host objects ----------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The last step: a module of the LLVM dialect becomes text or code.  Needs: a context whose registry went through `registerCodegenDialects`.
// Gives: the same bytes for the same module, in any process and on any thread; no global option is read or set, nothing is printed.  A module that LLVM would
// abort on is refused first (Legality.h), with the place in the source.  Leaves out: running ptxas, and linking.
//
#ifndef TESSERA_COMPILER_CODEGEN_CODEGEN_H
#define TESSERA_COMPILER_CODEGEN_CODEGEN_H

#include "compiler/Target/Target.h"
#include "runtime/Support/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
class ModuleOp;
class Operation;
} // namespace mlir

namespace tessera {

struct CodegenOptions {
  bool fullOptimization = false; ///< LLVM's -O2 without unrolling and vectorizers, not the short pass list (GPU only)
  int optimization = 2;          ///< of host objects: 2, or 0 for no optimization by LLVM at all
  bool comments = true;          ///< block names and inlining chains as comments of the PTX
  int64_t instructionBudget = 20000; ///< instructions of a function (countInstructions) above which it is refused
  int64_t elementBudget = 400000;    ///< the same with a vector operation on N elements counted as N
  bool blockSlowPasses = true;       ///< off: also run the quadratic pass that changes nothing (to measure it)
};

/// Registers the LLVM and NVVM dialects and their translations to LLVM IR.
void registerCodegenDialects(mlir::DialectRegistry &registry);

/// LLVM IR text before optimization.  Works for GPU targets and for the host.
Result<std::string> emitLlvm(mlir::ModuleOp module, const TargetInfo &target, const CodegenOptions &options = {});

/// PTX text.  Fault::Program if a kernel exceeds the budget, Fault::Internal for IR that cannot be translated or selected.
Result<std::string> emitPtx(mlir::ModuleOp module, const TargetInfo &target, const CodegenOptions &options = {});

/// A relocatable, position-independent ELF object for x86-64-v3 (on other CPUs: LLVM's generic cpu).  Its only undefined symbols are
/// memcpy, memmove and memset; anything else is Fault::Internal.
Result<std::string> emitHostObject(mlir::ModuleOp module, const CodegenOptions &options = {});

/// A kernel of a module, as the simulator runs it.
struct SimulatedKernel {
  std::string entry;
  int threads = 0;         ///< of a program
  int64_t sharedBytes = 0; ///< of a program
};

/// The module lowered for `target` as an object for the host: every entry has the signature of a host kernel and runs its programs in runtime/Simulator,
/// whose symbols() it needs.  Fault::Internal for an intrinsic that the simulator lacks.
Result<std::string> emitSimulatedObject(mlir::ModuleOp module, const TargetInfo &target,
                                        const std::vector<SimulatedKernel> &kernels,
                                        const CodegenOptions &options = {});

/// What a function costs code generation: ops that become instructions (no constants).
struct InstructionCount {
  int64_t instructions = 0; ///< ops
  int64_t elements = 0;     ///< an elementwise op on a vector of N counts N
};

/// Sum over everything nested in `op`.
InstructionCount countInstructions(mlir::Operation *op);

/// The first function that costs more than the options allow, by how much, and what to do; no function: none does.
struct BudgetExcess {
  mlir::Operation *function = nullptr;
  std::string message, remedy;
};
BudgetExcess findBudgetExcess(mlir::ModuleOp module, const CodegenOptions &options);

/// Fault::Program (T0506), naming the function, if one is above the budget.
Result<void> checkBudget(mlir::ModuleOp module, const CodegenOptions &options);

} // namespace tessera
#endif // TESSERA_COMPILER_CODEGEN_CODEGEN_H
