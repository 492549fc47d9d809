//===- LlvmModule.h - from the LLVM dialect to llvm::Module, safely -------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// What PTX and host objects share: the checks before LLVM, the translation, the collection of LLVM's diagnostics, the pass manager.
// Internal to Codegen.
//
#ifndef TESSERA_COMPILER_CODEGEN_LLVMMODULE_H
#define TESSERA_COMPILER_CODEGEN_LLVMMODULE_H

#include "compiler/Codegen/Codegen.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace tessera {

/// An LLVM context that collects errors instead of ending the process, and the module in it.
struct LlvmModule {
  /// Keeps two passes of the NVPTX back end from running away.  Straight-line strength reduction is quadratic and worse (1.2 s of 1.4 s at 20,000
  /// instructions, 19 s for a chain of 1,000 dependent loads) and leaves the PTX byte for byte the same on everything measured: never.
  /// The load and store vectorizer takes up to 2 ms a load where addresses depend on loads, and seldom finds what the lowering has not
  /// vectorized: not beyond kFewAccesses.  The gate belongs to the context, so nothing global changes.
  struct PassGate final : llvm::OptPassGate {
    bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override {
      return pass != "slsr" && (pass != "load-store-vectorizer" || fewAccesses);
    }
    bool isEnabled() const override { return true; }
    bool fewAccesses = true;
  };
  static constexpr int kFewAccesses = 500;

  PassGate gate; // outlives the context
  std::string errors;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
};

/// Checks structure, legality and budget, then translates.  The module has no triple or layout yet.
Result<std::unique_ptr<LlvmModule>> translate(mlir::ModuleOp module, const TargetInfo &target,
                                              const CodegenOptions &options);

/// The machine for `target`; registers the back ends on first use.
Result<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const TargetInfo &target,
                                                                 const CodegenOptions &options);

/// Sets triple and data layout of the module for `target`, and cpu and features of every function.
void setMachine(llvm::Module &module, const TargetInfo &target, const llvm::TargetMachine &machine);

/// Optimizes with the new pass manager: `pipeline` as text, or -O2 if it is empty.  Only memcpy, memmove and memset count as library functions.
Result<void> optimize(llvm::Module &module, llvm::TargetMachine &machine, llvm::PipelineTuningOptions tuning,
                      llvm::StringRef pipeline);

/// The passes between the lowering and NVPTX's code generation.
Result<void> optimizeForGpu(llvm::Module &module, llvm::TargetMachine &machine, const CodegenOptions &options);

/// Makes bf16 that is only moved travel as i16 (HostObject.cpp says why).
void carryBrainFloats(llvm::Module &module);

/// Runs code generation; the bytes of the file.
Result<std::string> generate(LlvmModule &llvmModule, llvm::TargetMachine &machine, llvm::CodeGenFileType kind);

/// Fault::Internal with a remedy that asks for a report.
Error internalError(std::string message);

} // namespace tessera
#endif // TESSERA_COMPILER_CODEGEN_LLVMMODULE_H
