//===- LlvmModule.cpp - from the LLVM dialect to llvm::Module, safely ------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// LLVM ends the process on much that it cannot do.  Three nets: the verifiers of MLIR, the legality check, and a diagnostic handler for the errors
// that LLVM does report (inline assembly it cannot satisfy).
//
#include "compiler/Codegen/LlvmModule.h"
#include "compiler/Codegen/Legality.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <fmt/format.h>
#include <mutex>

using namespace mlir;
using namespace tessera;

// Shared, constant and parameter pointers of 32 bits: set on the module alone.  The option -nvptx-short-ptr is global, and
// TargetOptions::MCOptions.ABIName has no effect; this gives the same code.  Its price: no cast from these spaces to generic
// (Legality.cpp refuses it).  Local pointers (space 5) keep 64 bits: the back end casts those itself, for every stack slot.
static constexpr const char *kNvptxLayout =
    "e-p3:32:32-p4:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64";

Error tessera::internalError(std::string message) {
  return {Fault::Internal, std::move(message),
          "this is a fault of the compiler; please report it with the program that shows it", ""};
}

namespace {

struct ErrorCollector final : llvm::DiagnosticHandler {
  explicit ErrorCollector(std::string &errors) : errors(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Error) {
      llvm::raw_string_ostream stream(errors);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
      stream << '\n';
    }
    return true;
  }
  std::string &errors;
};

/// MLIR's errors while it lives, as text.
struct MlirErrors {
  explicit MlirErrors(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error && text.size() < 2000)
            text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", describeLocation(diagnostic.getLocation()),
                                diagnostic.str());
          return success();
        }) {}
  std::string text;
  ScopedDiagnosticHandler handler;
};

} // namespace

Result<std::unique_ptr<LlvmModule>> tessera::translate(ModuleOp module, const TargetInfo &target,
                                                       const CodegenOptions &options) {
  MlirErrors mlirErrors(module.getContext());
  if (failed(verify(module)))
    return internalError("the lowered program is not valid: " + mlirErrors.text);
  if (Result<void> legal = verifyLegality(module, target); !legal)
    return legal.error();
  if (Result<void> small = checkBudget(module, options); !small)
    return small.error();

  auto result = std::make_unique<LlvmModule>();
  result->context.setDiagnosticHandler(std::make_unique<ErrorCollector>(result->errors));
  if (options.blockSlowPasses)
    result->context.setOptPassGate(result->gate);
  result->module = translateModuleToLLVMIR(module, result->context, "tessera");
  if (!result->module)
    return internalError("the lowered program has no translation to LLVM IR: " + mlirErrors.text);
  return result;
}

Result<std::unique_ptr<llvm::TargetMachine>> tessera::createTargetMachine(const TargetInfo &target,
                                                                          const CodegenOptions &options) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string cpu(target.llvmCpu);
  if (!target.gpu) {
    // A fixed triple where the baseline applies, so that objects do not depend on the distribution's vendor name.
    triple = llvm::Triple(llvm::sys::getProcessTriple());
    if (triple.getArch() == llvm::Triple::x86_64)
      triple = llvm::Triple("x86_64-unknown-linux-gnu");
    else
      cpu = "generic";
  }
  std::string why;
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(triple, why);
  if (!backend)
    return Error{Fault::Machine, "this LLVM has no back end for " + triple.str() + ": " + why,
                 "install an LLVM 22 with NVPTX", ""};
  llvm::TargetOptions machineOptions;
  machineOptions.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  machineOptions.MCOptions.AsmVerbose = options.comments;
  // Above the default level the NVPTX back end runs GVN before selection: half of the time at 20,000 instructions, and byte for byte the same PTX on the
  // nine acceptance kernels that were compared.
  llvm::CodeGenOptLevel level = target.gpu                  ? llvm::CodeGenOptLevel::Default
                                : options.optimization == 0 ? llvm::CodeGenOptLevel::None
                                                            : llvm::CodeGenOptLevel::Aggressive;
  std::unique_ptr<llvm::TargetMachine> machine(backend->createTargetMachine(
      triple, cpu, target.ptxFeature, machineOptions, llvm::Reloc::PIC_, std::nullopt, level));
  if (!machine)
    return internalError("LLVM made no target machine for " + std::string(target.name));
  return machine;
}

void tessera::setMachine(llvm::Module &module, const TargetInfo &target, const llvm::TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  if (target.gpu)
    module.setDataLayout(kNvptxLayout);
  else
    module.setDataLayout(machine.createDataLayout());
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    if (!machine.getTargetFeatureString().empty())
      function.addFnAttr("target-features", machine.getTargetFeatureString());
  }
}

Result<void> tessera::optimize(llvm::Module &module, llvm::TargetMachine &machine, llvm::PipelineTuningOptions tuning,
                               llvm::StringRef pipeline) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);

  llvm::TargetLibraryInfoImpl library(machine.getTargetTriple());
  library.disableAllFunctions();
  for (llvm::LibFunc function : {llvm::LibFunc_memcpy, llvm::LibFunc_memmove, llvm::LibFunc_memset})
    library.setAvailable(function);
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });

  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  llvm::ModulePassManager passes;
  if (pipeline.empty())
    passes = builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2);
  else if (llvm::Error error = builder.parsePassPipeline(passes, pipeline))
    return internalError("LLVM does not know the pass list: " + llvm::toString(std::move(error)));
  passes.run(module, modules);
  return {};
}

Result<std::string> tessera::generate(LlvmModule &llvmModule, llvm::TargetMachine &machine,
                                      llvm::CodeGenFileType kind) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind, /*DisableVerify=*/true))
    return internalError("LLVM cannot write this kind of file");
  passes.run(*llvmModule.module);
  if (!llvmModule.errors.empty())
    return internalError("LLVM refused the program: " + llvm::StringRef(llvmModule.errors).trim().str());
  return std::string(bytes.begin(), bytes.end());
}
