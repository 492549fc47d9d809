//===- SimulatedObject.cpp - GPU code as host code for the simulator ------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The LLVM IR of a GPU kernel, optimized as for PTX, becomes an object for the host: what only a GPU has turns into calls of runtime/Simulator, the rest
// stays.  Pointers into shared memory are 32 bits wide there and 64 here; the simulator's shared memory lies below 4 GB, so that both say the same.
//
//   inline assembly               -> tessera_sim_text(text, operands)
//   thread, block, barrier, shfl  -> tessera_sim_thread, _program, _barrier, _shuffle
//   @tessera_shared               -> tessera_sim_shared()
//   kernel(arguments)             -> entry(slots, first, last, scratch) -> tessera_sim_run(body, ...) -> body(slots) for every thread
//
#include "compiler/Codegen/LlvmModule.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/IR/Verifier.h"

using namespace tessera;

namespace {

/// Rewrites one module.
class HostRewriter {
public:
  explicit HostRewriter(llvm::Module &module) : module(module), context(module.getContext()), builder(context) {}

  Result<void> run(llvm::ArrayRef<SimulatedKernel> kernels) {
    for (llvm::Function &function : llvm::make_early_inc_range(module))
      if (!function.isDeclaration())
        if (Result<void> done = rewriteBody(function); !done)
          return done;
    if (llvm::GlobalVariable *shared = module.getGlobalVariable("tessera_shared", true))
      replaceShared(*shared);
    for (llvm::Function &function : llvm::make_early_inc_range(module))
      if (function.isDeclaration() && function.use_empty())
        function.eraseFromParent();
    for (const SimulatedKernel &kernel : kernels)
      if (Result<void> done = addEntry(kernel); !done)
        return done;
    std::string problem;
    llvm::raw_string_ostream stream(problem);
    if (llvm::verifyModule(module, &stream))
      return internalError("the code for the simulator is not valid: " + problem);
    return {};
  }

private:
  llvm::Type *i32() { return builder.getInt32Ty(); }
  llvm::Type *i64() { return builder.getInt64Ty(); }

  /// A function of the simulator.  It may move control to other threads, so nothing is assumed of it.
  llvm::FunctionCallee simulator(llvm::StringRef name, llvm::Type *result, llvm::ArrayRef<llvm::Type *> arguments) {
    llvm::FunctionCallee callee =
        module.getOrInsertFunction(("tessera_sim_" + name).str(), llvm::FunctionType::get(result, arguments, false));
    llvm::cast<llvm::Function>(callee.getCallee())->setConvergent();
    return callee;
  }

  llvm::Value *toWord(llvm::Value *value) {
    llvm::Type *type = value->getType();
    if (type->isPointerTy())
      return builder.CreatePtrToInt(value, i64());
    if (!type->isIntegerTy())
      value = builder.CreateBitCast(value, builder.getIntNTy(unsigned(type->getPrimitiveSizeInBits())));
    return builder.CreateZExtOrTrunc(value, i64());
  }
  llvm::Value *fromWord(llvm::Value *word, llvm::Type *type) {
    if (type->isPointerTy())
      return builder.CreateIntToPtr(word, type);
    unsigned bits = unsigned(type->getPrimitiveSizeInBits());
    return builder.CreateBitCast(builder.CreateTrunc(word, builder.getIntNTy(bits)), type);
  }

  Result<void> rewriteBody(llvm::Function &function) {
    function.setCallingConv(llvm::CallingConv::C);
    llvm::SmallVector<llvm::CallInst *> texts;
    llvm::SmallVector<llvm::IntrinsicInst *> intrinsics;
    size_t most = 1;
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      useNumberExtrema(instruction);
      auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call && call->isInlineAsm()) {
        texts.push_back(call);
        auto *type = llvm::dyn_cast<llvm::StructType>(call->getType());
        most = std::max<size_t>(most, call->arg_size() + (type ? type->getNumElements() : 1));
      } else if (auto *intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
        if (intrinsic->getCalledFunction()->getName().starts_with("llvm.nvvm."))
          intrinsics.push_back(intrinsic);
      }
    }
    builder.SetInsertPoint(&*function.getEntryBlock().getFirstInsertionPt());
    operands = builder.CreateAlloca(llvm::ArrayType::get(i64(), most));
    for (llvm::CallInst *text : texts)
      rewriteText(*text);
    for (llvm::IntrinsicInst *intrinsic : intrinsics)
      if (Result<void> done = rewriteIntrinsic(*intrinsic); !done)
        return done;
    return {};
  }

  /// PTX's min and max without .NaN take -0 for less than 0, the host's code for minnum and maxnum takes either.
  void useNumberExtrema(llvm::Instruction &instruction) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    llvm::Intrinsic::ID id = call ? call->getIntrinsicID() : llvm::Intrinsic::not_intrinsic;
    if (id == llvm::Intrinsic::minnum || id == llvm::Intrinsic::maxnum)
      call->setCalledFunction(llvm::Intrinsic::getOrInsertDeclaration(
          &module, id == llvm::Intrinsic::minnum ? llvm::Intrinsic::minimumnum : llvm::Intrinsic::maximumnum,
          {call->getType()}));
  }

  llvm::Value *operand(unsigned index) { return builder.CreateConstGEP1_32(i64(), operands, index); }

  void rewriteText(llvm::CallInst &call) {
    builder.SetInsertPoint(&call);
    auto *structure = llvm::dyn_cast<llvm::StructType>(call.getType());
    unsigned results = structure ? structure->getNumElements() : call.getType()->isVoidTy() ? 0 : 1;
    for (unsigned i = 0; i < call.arg_size(); ++i)
      builder.CreateStore(toWord(call.getArgOperand(i)), operand(results + i));
    std::string text(llvm::cast<llvm::InlineAsm>(call.getCalledOperand())->getAsmString());
    llvm::Constant *&constant = strings[text];
    if (!constant)
      constant = builder.CreateGlobalString(text, "text");
    builder.CreateCall(simulator("text", builder.getVoidTy(), {builder.getPtrTy(), builder.getPtrTy()}),
                       {constant, operands});
    if (structure) {
      llvm::Value *all = llvm::PoisonValue::get(structure);
      for (unsigned i = 0; i < results; ++i)
        all = builder.CreateInsertValue(
            all, fromWord(builder.CreateLoad(i64(), operand(i)), structure->getElementType(i)), i);
      call.replaceAllUsesWith(all);
    } else if (results) {
      call.replaceAllUsesWith(fromWord(builder.CreateLoad(i64(), operand(0)), call.getType()));
    }
    call.eraseFromParent();
  }

  Result<void> rewriteIntrinsic(llvm::IntrinsicInst &call) {
    builder.SetInsertPoint(&call);
    llvm::Value *result = nullptr;
    auto shuffle = [&](int kind) {
      result =
          builder.CreateCall(simulator("shuffle", i32(), {i32(), i32(), i32(), i32()}),
                             {builder.getInt32(uint32_t(kind)), builder.CreateBitCast(call.getArgOperand(1), i32()),
                              call.getArgOperand(2), call.getArgOperand(3)});
      result = builder.CreateBitCast(result, call.getType());
    };
    auto function = [&](llvm::StringRef name) {
      result =
          builder.CreateCall(simulator(name, builder.getFloatTy(), {builder.getFloatTy()}), {call.getArgOperand(0)});
    };
    llvm::StringRef name = call.getCalledFunction()->getName();
    switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x:
      result = builder.CreateCall(simulator("thread", i32(), {}));
      break;
    case llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
      result = builder.CreateCall(simulator("program", i32(), {}));
      break;
    case llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all:
      builder.CreateCall(simulator("barrier", builder.getVoidTy(), {}));
      break;
    // The numbers of Shuffle in runtime/Simulator/Simulator.cpp.
    case llvm::Intrinsic::nvvm_shfl_sync_up_i32:
    case llvm::Intrinsic::nvvm_shfl_sync_up_f32:
      shuffle(0);
      break;
    case llvm::Intrinsic::nvvm_shfl_sync_down_i32:
    case llvm::Intrinsic::nvvm_shfl_sync_down_f32:
      shuffle(1);
      break;
    case llvm::Intrinsic::nvvm_shfl_sync_bfly_i32:
    case llvm::Intrinsic::nvvm_shfl_sync_bfly_f32:
      shuffle(2);
      break;
    case llvm::Intrinsic::nvvm_shfl_sync_idx_i32:
    case llvm::Intrinsic::nvvm_shfl_sync_idx_f32:
      shuffle(3);
      break;
    default:
      if (name == "llvm.nvvm.ex2.approx.ftz.f32")
        function("ex2_ftz");
      else if (name == "llvm.nvvm.ex2.approx.f32")
        function("ex2");
      else if (name == "llvm.nvvm.rsqrt.approx.ftz.f")
        function("rsqrt_ftz");
      else if (name == "llvm.nvvm.rsqrt.approx.f")
        function("rsqrt");
      else
        return internalError("the simulator has no '" + name.str() + "'");
    }
    if (result)
      call.replaceAllUsesWith(result);
    call.eraseFromParent();
    return {};
  }

  void replaceShared(llvm::GlobalVariable &shared) {
    llvm::convertUsersOfConstantsToInstructions({&shared});
    llvm::DenseMap<llvm::Function *, llvm::Value *> bases;
    for (llvm::Use &use : llvm::make_early_inc_range(shared.uses())) {
      llvm::Function *function = llvm::cast<llvm::Instruction>(use.getUser())->getFunction();
      llvm::Value *&base = bases[function];
      if (!base) {
        builder.SetInsertPoint(&*function->getEntryBlock().getFirstInsertionPt());
        base = builder.CreateCall(simulator("shared", shared.getType(), {}));
      }
      use.set(base);
    }
    shared.eraseFromParent();
  }

  /// `kernel.entry` with the host's signature (HostEntry of runtime/Cpu/HostLaunch.h).
  Result<void> addEntry(const SimulatedKernel &kernel) {
    llvm::Function *body = module.getFunction(kernel.entry);
    if (!body)
      return internalError("no kernel '" + kernel.entry + "' in the lowered program");
    body->setName(kernel.entry + ".kernel");
    body->setLinkage(llvm::GlobalValue::InternalLinkage);
    llvm::Type *pointer = builder.getPtrTy();
    auto *thread = llvm::Function::Create(llvm::FunctionType::get(builder.getVoidTy(), {pointer}, false),
                                          llvm::GlobalValue::InternalLinkage, kernel.entry + ".thread", module);
    builder.SetInsertPoint(llvm::BasicBlock::Create(context, "", thread));
    llvm::SmallVector<llvm::Value *> arguments;
    for (llvm::Argument &argument : body->args()) {
      llvm::Value *slot =
          builder.CreateLoad(i64(), builder.CreateConstGEP1_32(i64(), thread->getArg(0), argument.getArgNo()));
      arguments.push_back(fromWord(slot, argument.getType()));
    }
    builder.CreateCall(body, arguments);
    builder.CreateRetVoid();

    auto *entry =
        llvm::Function::Create(llvm::FunctionType::get(builder.getVoidTy(), {pointer, i64(), i64(), pointer}, false),
                               llvm::GlobalValue::ExternalLinkage, kernel.entry, module);
    builder.SetInsertPoint(llvm::BasicBlock::Create(context, "", entry));
    builder.CreateCall(simulator("run", builder.getVoidTy(), {pointer, pointer, i64(), i64(), pointer, i32(), i64()}),
                       {thread, entry->getArg(0), entry->getArg(1), entry->getArg(2), entry->getArg(3),
                        builder.getInt32(uint32_t(kernel.threads)), builder.getInt64(uint64_t(kernel.sharedBytes))});
    builder.CreateRetVoid();
    return {};
  }

  llvm::Module &module;
  llvm::LLVMContext &context;
  llvm::IRBuilder<> builder;
  llvm::Value *operands = nullptr;
  std::map<std::string, llvm::Constant *> strings;
};

} // namespace

Result<std::string> tessera::emitSimulatedObject(mlir::ModuleOp module, const TargetInfo &target,
                                                 const std::vector<SimulatedKernel> &kernels,
                                                 const CodegenOptions &options) {
  auto translated = translate(module, target, options);
  if (!translated)
    return translated.error();
  auto gpu = createTargetMachine(target, options);
  if (!gpu)
    return gpu.error();
  llvm::Module &code = *(*translated)->module;
  setMachine(code, target, **gpu);
  if (Result<void> optimized = optimizeForGpu(code, **gpu, options); !optimized)
    return optimized.error();

  const TargetInfo &host = *findTarget("host");
  CodegenOptions quick = options;
  quick.optimization = 0;
  auto machine = createTargetMachine(host, quick);
  if (!machine)
    return machine.error();
  for (llvm::Function &function : code) {
    function.removeFnAttr("target-cpu");
    function.removeFnAttr("target-features");
  }
  code.setDataLayout((*machine)->createDataLayout());
  if (Result<void> rewritten = HostRewriter(code).run(kernels); !rewritten)
    return rewritten.error();
  setMachine(code, host, **machine);
  carryBrainFloats(code);
  return generate(**translated, **machine, llvm::CodeGenFileType::ObjectFile);
}
