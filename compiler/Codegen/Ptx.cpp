//===- Ptx.cpp - PTX text --------------------------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The short pass list takes a fifth of -O2's time and gives the same registers and text size on the products and the attention that were measured; the
// lowering leaves little else to find.  Full optimization stays available behind an option.
//
#include "compiler/Codegen/LlvmModule.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace tessera;

static constexpr const char *kShortPipeline =
    "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,early-cse,loop-mssa(licm),instsimplify,adce)";

/// Whether the back end cannot select `instruction` as a whole on targets with pairs of 32 bits (sm_100 and later): byte swaps of vectors, and
/// vectors of i32 cut down to i1.  The optimizer makes both from plain shifts and comparisons.
static bool mustSplit(const llvm::Instruction &instruction) {
  if (!llvm::isa<llvm::FixedVectorType>(instruction.getType()))
    return false;
  if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return call->getIntrinsicID() == llvm::Intrinsic::bswap;
  return llvm::isa<llvm::TruncInst>(instruction) && instruction.getType()->getScalarType()->isIntegerTy(1);
}

/// Splits such instructions into their elements.
static void splitUnselectable(llvm::Module &module) {
  llvm::SmallVector<llvm::Instruction *> found;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (mustSplit(instruction))
        found.push_back(&instruction);
  for (llvm::Instruction *instruction : found) {
    llvm::IRBuilder<> builder(instruction);
    llvm::Value *result = llvm::PoisonValue::get(instruction->getType());
    for (unsigned i = 0, e = llvm::cast<llvm::FixedVectorType>(instruction->getType())->getNumElements(); i < e; ++i) {
      llvm::Value *element = builder.CreateExtractElement(instruction->getOperand(0), i);
      element = llvm::isa<llvm::TruncInst>(instruction) ? builder.CreateTrunc(element, builder.getInt1Ty())
                                                        : builder.CreateUnaryIntrinsic(llvm::Intrinsic::bswap, element);
      result = builder.CreateInsertElement(result, element, i);
    }
    instruction->replaceAllUsesWith(result);
    instruction->eraseFromParent();
  }
}

/// Loads and stores.
static int64_t countAccesses(const llvm::Module &module) {
  int64_t count = 0;
  for (const llvm::Function &function : module)
    for (const llvm::Instruction &instruction : llvm::instructions(function))
      count += llvm::isa<llvm::LoadInst, llvm::StoreInst>(instruction);
  return count;
}

Result<void> tessera::optimizeForGpu(llvm::Module &module, llvm::TargetMachine &machine,
                                     const CodegenOptions &options) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = false;
  return optimize(module, machine, tuning, options.fullOptimization ? llvm::StringRef() : kShortPipeline);
}

Result<std::string> tessera::emitPtx(mlir::ModuleOp module, const TargetInfo &target, const CodegenOptions &options) {
  if (!target.gpu)
    return internalError("PTX was asked for a target that is no GPU: " + std::string(target.name));
  auto translated = translate(module, target, options);
  if (!translated)
    return translated.error();
  auto machine = createTargetMachine(target, options);
  if (!machine)
    return machine.error();
  setMachine(*(*translated)->module, target, **machine);

  if (Result<void> optimized = optimizeForGpu(*(*translated)->module, **machine, options); !optimized)
    return optimized.error();
  splitUnselectable(*(*translated)->module);
  (*translated)->gate.fewAccesses = countAccesses(*(*translated)->module) <= LlvmModule::kFewAccesses;
  return generate(**translated, **machine, llvm::CodeGenFileType::AssemblyFile);
}
