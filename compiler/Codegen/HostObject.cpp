//===- HostObject.cpp - a host object file ---------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// -O2 with the loop vectorizer and without fast-math: sums keep their order.  The object needs nothing from outside, not even memcpy, so that it links
// into any program.  It is searched for undefined symbols afterwards, because a helper of libgcc or libm that LLVM calls silently would be missing or
// round differently from the GPU.
//
#include "compiler/Codegen/LlvmModule.h"
#include "compiler/Codegen/MemoryFunctions.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Object/ObjectFile.h"

using namespace tessera;

/// The first undefined symbol; empty if there is none.
static Result<std::string> foreignSymbol(llvm::StringRef bytes) {
  auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "object"));
  if (!object)
    return internalError("LLVM wrote an object that it cannot read: " + llvm::toString(object.takeError()));
  for (const llvm::object::SymbolRef &symbol : (*object)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!flags || !name) {
      if (!flags)
        llvm::consumeError(flags.takeError());
      if (!name)
        llvm::consumeError(name.takeError());
      return internalError("LLVM wrote an object whose symbols cannot be read");
    }
    // The first entry of an ELF symbol table is undefined and has no name; _GLOBAL_OFFSET_TABLE_ is the linker's own.
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) && !name->empty() && *name != "_GLOBAL_OFFSET_TABLE_")
      return name->str();
  }
  return std::string();
}

namespace {

/// Makes bf16 that is only moved travel as i16.  The back end keeps a bf16 that lives across blocks as f32 and rounds it again where it is stored, through a
/// helper that libgcc lacks.  Loads first, then what carries, then stores: a load that reaches a store has no bf16 left between them that code
/// generation could turn back.
class BrainFloatCarrier {
public:
  void run(llvm::Module &module) {
    llvm::SmallVector<llvm::LoadInst *> loads;
    llvm::SmallVector<llvm::PHINode *> phis;
    llvm::SmallVector<llvm::StoreInst *> stores;
    for (llvm::Function &function : module)
      for (llvm::Instruction &instruction : llvm::instructions(function)) {
        if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
            store && isBrainFloat(store->getValueOperand()))
          stores.push_back(store);
        if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction); load && isBrainFloat(load))
          loads.push_back(load);
        if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&instruction); phi && isBrainFloat(phi))
          phis.push_back(phi);
      }
    for (llvm::LoadInst *load : loads)
      rewriteLoad(*load);
    rewritePhis(phis);
    for (llvm::StoreInst *store : stores) {
      llvm::IRBuilder<> builder(store);
      store->setOperand(0, asInteger(store->getValueOperand(), builder));
    }
  }

private:
  static bool isBrainFloat(const llvm::Value *value) { return value->getType()->getScalarType()->isBFloatTy(); }
  static llvm::Type *integerType(const llvm::Value *value) {
    return value->getType()->getWithNewType(llvm::Type::getInt16Ty(value->getContext()));
  }

  /// `value` as integer; looks through a cast that this pass (or the lowering) made.
  static llvm::Value *asInteger(llvm::Value *value, llvm::IRBuilder<> &builder) {
    if (auto *cast = llvm::dyn_cast<llvm::BitCastInst>(value); cast && cast->getSrcTy() == integerType(value))
      return cast->getOperand(0);
    return builder.CreateBitCast(value, integerType(value)); // folds constants
  }

  static void rewriteLoad(llvm::LoadInst &load) {
    llvm::IRBuilder<> builder(&load);
    llvm::LoadInst *integer =
        builder.CreateAlignedLoad(integerType(&load), load.getPointerOperand(), load.getAlign(), load.isVolatile());
    integer->setAtomic(load.getOrdering(), load.getSyncScopeID());
    load.replaceAllUsesWith(builder.CreateBitCast(integer, load.getType()));
    load.eraseFromParent();
  }

  static void rewritePhis(llvm::ArrayRef<llvm::PHINode *> phis) {
    llvm::SmallVector<llvm::PHINode *> integers;
    for (llvm::PHINode *phi : phis) {
      llvm::IRBuilder<> builder(phi);
      integers.push_back(builder.CreatePHI(integerType(phi), phi->getNumIncomingValues()));
      builder.SetInsertPoint(phi->getParent()->getFirstNonPHIIt());
      phi->replaceAllUsesWith(builder.CreateBitCast(integers.back(), phi->getType()));
    }
    for (auto [phi, integer] : llvm::zip(phis, integers)) {
      // A block that branches here along two edges must bring one value for both.
      llvm::SmallDenseMap<llvm::BasicBlock *, llvm::Value *> brought;
      for (unsigned i = 0, e = phi->getNumIncomingValues(); i < e; ++i) {
        llvm::BasicBlock *from = phi->getIncomingBlock(i);
        llvm::Value *&value = brought[from];
        if (!value) {
          llvm::IRBuilder<> builder(from->getTerminator());
          value = asInteger(phi->getIncomingValue(i), builder);
        }
        integer->addIncoming(value, from);
      }
    }
    for (llvm::PHINode *phi : phis)
      phi->dropAllReferences();
    for (llvm::PHINode *phi : phis)
      phi->eraseFromParent();
  }
};

} // namespace

void tessera::carryBrainFloats(llvm::Module &module) { BrainFloatCarrier().run(module); }

Result<std::string> tessera::emitHostObject(mlir::ModuleOp module, const CodegenOptions &options) {
  const TargetInfo &target = *findTarget("host");
  auto translated = translate(module, target, options);
  if (!translated)
    return translated.error();
  auto machine = createTargetMachine(target, options);
  if (!machine)
    return machine.error();
  setMachine(*(*translated)->module, target, **machine);

  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  // Loops have constant bounds: unrolled whole they make blocks of thousands of instructions, on which SLP and instruction selection are quadratic
  // (a chain of 5000 integer operations on 8 elements: 20 s with unrolling alone, 4 s with both, 2 s with neither) at the same speed of the code.
  tuning.SLPVectorization = tuning.LoopUnrolling = false;
  if (Result<void> optimized =
          optimize(*(*translated)->module, **machine, tuning, options.optimization == 0 ? "default<O0>" : "");
      !optimized)
    return optimized.error();
  carryBrainFloats(*(*translated)->module);
  addMemoryFunctions(*(*translated)->module, (*machine)->getTargetCPU(), (*machine)->getTargetFeatureString());
  Result<std::string> object = generate(**translated, **machine, llvm::CodeGenFileType::ObjectFile);
  if (!object)
    return object;
  Result<std::string> foreign = foreignSymbol(*object);
  if (!foreign)
    return foreign.error();
  if (!foreign->empty())
    return internalError("the host code calls '" + *foreign + "', expected nothing from outside");
  return object;
}
