//===- MemoryFunctions.cpp - memcpy, memmove and memset of a host object's own --------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Host code is linked into whatever program: it may need no library.  LLVM calls these three for copies and fills that are too long to be written out, so the
// module brings them: internal, hence invisible to the program that links the object, whose own memcpy stays what it is.  Called after optimization: before
// it they would be removed as unused, or be recognized as calls to themselves.
//
#include "compiler/Codegen/MemoryFunctions.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {

constexpr unsigned kChunk = 32; ///< bytes of a vector register that every supported x86-64 has

/// Moves or stores `width` bytes at an offset.
using Body = function_ref<void(IRBuilder<> &, Value *offset, Type *width)>;

class FunctionMaker {
public:
  FunctionMaker(Module &module, StringRef name, ArrayRef<Type *> parameters) : context(module.getContext()) {
    Type *pointer = PointerType::getUnqual(context);
    function =
        Function::Create(FunctionType::get(pointer, parameters, false), GlobalValue::InternalLinkage, name, module);
    function->addFnAttr("no-builtins");
    function->addFnAttr(Attribute::NoUnwind);
    function->addFnAttr(Attribute::NoInline);
    builder.SetInsertPoint(BasicBlock::Create(context, "entry", function));
  }

  /// Chunks from the first byte on, then the rest.
  void forward(Value *count, Body body) {
    Value *whole = builder.CreateAnd(count, ConstantInt::get(size(), ~uint64_t(kChunk - 1)));
    ascending(ConstantInt::get(size(), 0), whole, chunk(), kChunk, body);
    ascending(whole, count, builder.getInt8Ty(), 1, body);
  }
  /// The other way, for a destination behind its source.
  void backward(Value *count, Body body) {
    Value *rest = builder.CreateAnd(count, ConstantInt::get(size(), kChunk - 1));
    descending(count, rest, chunk(), kChunk, body);
    descending(rest, ConstantInt::get(size(), 0), builder.getInt8Ty(), 1, body);
  }
  void finish() { builder.CreateRet(function->getArg(0)); }

  Type *size() { return builder.getInt64Ty(); }
  Type *chunk() { return FixedVectorType::get(builder.getInt8Ty(), kChunk); }

  LLVMContext &context;
  Function *function;
  IRBuilder<> builder{context};

private:
  /// for (i = from; i != to; i += step) body(i);   `to - from` is a multiple of step
  void ascending(Value *from, Value *to, Type *width, uint64_t step, Body body) {
    loop(from, to, [&](Value *i) {
      body(builder, i, width);
      return builder.CreateAdd(i, ConstantInt::get(size(), step));
    });
  }
  /// for (i = from; i != to;) { i -= step; body(i); }
  void descending(Value *from, Value *to, Type *width, uint64_t step, Body body) {
    loop(from, to, [&](Value *i) {
      Value *next = builder.CreateSub(i, ConstantInt::get(size(), step));
      body(builder, next, width);
      return next;
    });
  }
  void loop(Value *from, Value *to, function_ref<Value *(Value *)> body) {
    BasicBlock *before = builder.GetInsertBlock(), *inside = BasicBlock::Create(context, "loop", function),
               *after = BasicBlock::Create(context, "after", function);
    builder.CreateCondBr(builder.CreateICmpEQ(from, to), after, inside);
    builder.SetInsertPoint(inside);
    PHINode *i = builder.CreatePHI(size(), 2);
    i->addIncoming(from, before);
    Value *next = body(i);
    i->addIncoming(next, inside);
    builder.CreateCondBr(builder.CreateICmpEQ(next, to), after, inside);
    builder.SetInsertPoint(after);
  }
};

void copyAt(IRBuilder<> &builder, Function *function, Value *offset, Type *width) {
  Value *from = builder.CreateGEP(builder.getInt8Ty(), function->getArg(1), offset);
  Value *to = builder.CreateGEP(builder.getInt8Ty(), function->getArg(0), offset);
  builder.CreateAlignedStore(builder.CreateAlignedLoad(width, from, Align(1)), to, Align(1));
}

Function *makeMemset(Module &module) {
  LLVMContext &context = module.getContext();
  FunctionMaker maker(module, "memset",
                      {PointerType::getUnqual(context), Type::getInt32Ty(context), Type::getInt64Ty(context)});
  Value *byte = maker.builder.CreateTrunc(maker.function->getArg(1), maker.builder.getInt8Ty());
  Value *splat = maker.builder.CreateVectorSplat(kChunk, byte);
  maker.forward(maker.function->getArg(2), [&](IRBuilder<> &builder, Value *offset, Type *width) {
    Value *to = builder.CreateGEP(builder.getInt8Ty(), maker.function->getArg(0), offset);
    builder.CreateAlignedStore(width->isVectorTy() ? splat : byte, to, Align(1));
  });
  maker.finish();
  return maker.function;
}

/// memcpy and memmove alike: a chunk is loaded before it is stored, so going away from the source is enough for memory that overlaps.
Function *makeCopy(Module &module, StringRef name) {
  LLVMContext &context = module.getContext();
  Type *pointer = PointerType::getUnqual(context);
  FunctionMaker maker(module, name, {pointer, pointer, Type::getInt64Ty(context)});
  Value *count = maker.function->getArg(2);
  auto body = [&](IRBuilder<> &builder, Value *offset, Type *width) { copyAt(builder, maker.function, offset, width); };
  if (name == "memmove") {
    IRBuilder<> &builder = maker.builder;
    BasicBlock *up = BasicBlock::Create(context, "up", maker.function),
               *down = BasicBlock::Create(context, "down", maker.function);
    // Behind the source by less than the length.
    Value *distance = builder.CreateSub(builder.CreatePtrToInt(maker.function->getArg(0), maker.size()),
                                        builder.CreatePtrToInt(maker.function->getArg(1), maker.size()));
    builder.CreateCondBr(builder.CreateICmpULT(distance, count), down, up);
    builder.SetInsertPoint(down);
    maker.backward(count, body);
    maker.finish();
    builder.SetInsertPoint(up);
  }
  maker.forward(count, body);
  maker.finish();
  return maker.function;
}

} // namespace

void tessera::addMemoryFunctions(Module &module, StringRef cpu, StringRef features) {
  bool sets = false, copies = false, moves = false;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function)) {
      sets |= isa<MemSetInst>(instruction);
      copies |= isa<MemCpyInst>(instruction);
      moves |= isa<MemMoveInst>(instruction);
    }
  SmallVector<Function *, 3> made;
  if (sets)
    made.push_back(makeMemset(module));
  if (copies)
    made.push_back(makeCopy(module, "memcpy"));
  if (moves)
    made.push_back(makeCopy(module, "memmove"));
  for (Function *function : made) {
    function->addFnAttr("target-cpu", cpu);
    if (!features.empty())
      function->addFnAttr("target-features", features);
  }
}
