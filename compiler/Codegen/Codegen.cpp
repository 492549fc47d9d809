//===- Codegen.cpp - registration and the LLVM text stage ------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// See Codegen.h.
//
#include "compiler/Codegen/Codegen.h"
#include "compiler/Codegen/LlvmModule.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

using namespace tessera;

void tessera::registerCodegenDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect>();
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
}

Result<std::string> tessera::emitLlvm(mlir::ModuleOp module, const TargetInfo &target, const CodegenOptions &options) {
  auto translated = translate(module, target, options);
  if (!translated)
    return translated.error();
  auto machine = createTargetMachine(target, options);
  if (!machine)
    return machine.error();
  setMachine(*(*translated)->module, target, **machine);
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*translated)->module->print(stream, nullptr);
  return text;
}
