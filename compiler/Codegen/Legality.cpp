//===- Legality.cpp - the check against the allow-list ----------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// One walk; an op costs one hash look-up and a visit of its types.  Rules beside the list, numbered:
//
//   L1  integers of 1, 8, 16, 32 or 64 bits; f16, bf16, f32, f64; fixed vectors of these, at most 4096 long; literal structures; arrays
//   L2  on the GPU no pointer is cast between generic (or global) memory and a space whose pointers have 32 bits
//   L3  a call names a function that the module defines
//   L4  an atomic works on a scalar of 8 to 64 bits
//   L5  a kernel returns nothing and takes integers, floats and pointers to generic or global memory
//   L6  a GPU global in shared memory has no initial value
//   L7  a declared function has no use: there is no linker
//   L8  a stack slot lies in generic memory
//   L9  nothing is thread-local, an alias, a constructor, or variadic
//
#include "compiler/Codegen/Legality.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tessera;

std::string tessera::describeLocation(Location location) {
  std::string place = "unknown place";
  location->walk([&](Location part) {
    auto leaf = dyn_cast<FileLineColLoc>(part);
    if (!leaf)
      return WalkResult::advance();
    place = fmt::format("{}:{}:{}", leaf.getFilename().str(), leaf.getLine(), leaf.getColumn());
    return WalkResult::interrupt();
  });
  return place;
}

uint32_t tessera::typeBits(Type type) { // L1
  if (auto vector = dyn_cast<VectorType>(type)) {
    bool fine = vector.getRank() == 1 && !vector.isScalable() && vector.getNumElements() <= 4096;
    return fine && !isa<LLVM::LLVMPointerType>(vector.getElementType()) ? typeBits(vector.getElementType()) : 0;
  }
  if (auto structure = dyn_cast<LLVM::LLVMStructType>(type)) {
    if (structure.isIdentified() || structure.getBody().size() > 4096)
      return 0;
    uint32_t bits = 0;
    for (Type member : structure.getBody()) {
      uint32_t part = typeBits(member);
      if (!part)
        return 0;
      bits |= part;
    }
    return bits;
  }
  if (auto array = dyn_cast<LLVM::LLVMArrayType>(type))
    return typeBits(array.getElementType());
  if (isa<LLVM::LLVMPointerType>(type))
    return kPointer;
  if (auto integer = dyn_cast<IntegerType>(type)) {
    if (!integer.isSignless())
      return 0;
    switch (integer.getWidth()) {
    case 1:
      return kI1;
    case 8:
      return kI8;
    case 16:
      return kI16;
    case 32:
      return kI32;
    case 64:
      return kI64;
    default:
      return 0;
    }
  }
  return type.isF16() ? kF16 : type.isBF16() ? kBF16 : type.isF32() ? kF32 : type.isF64() ? kF64 : 0;
}

namespace {

using RuleTable = llvm::StringMap<SmallVector<const OpRule *, 2>>;

RuleTable index(ArrayRef<OpRule> rules) {
  RuleTable table;
  for (const OpRule &rule : rules)
    table[rule.name].push_back(&rule);
  return table;
}

const RuleTable &opTable() {
  static const RuleTable table = index(opRules());
  return table;
}

const RuleTable &intrinsicTable() {
  static const RuleTable table = index(intrinsicRules());
  return table;
}

std::string text(Type type) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  type.print(stream);
  return result;
}

class Checker {
public:
  Checker(ModuleOp module, const TargetInfo &target) : module(module), symbols(module), target(target) {}

  Result<void> run() {
    module->walk<WalkOrder::PreOrder>([&](Operation *op) {
      check(op);
      return problem.empty() ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (problem.empty())
      return {};
    return Error{Fault::Internal, problem,
                 "this is a fault of the compiler; please report it with the program that shows it", ""};
  }

private:
  void refuse(Operation *op, const std::string &what) {
    if (problem.empty())
      problem = fmt::format("{}: {} cannot be generated for {}: {}", describeLocation(op->getLoc()),
                            op->getName().getStringRef().str(), target.name, what);
  }

  void check(Operation *op) {
    uint32_t in = 0, out = 0;
    for (Type type : op->getOperandTypes())
      if (!add(op, type, in))
        return;
    for (Type type : op->getResultTypes())
      if (!add(op, type, out))
        return;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (uint32_t unused = 0; !add(op, argument.getType(), unused))
            return;
    auto rules = opTable().find(op->getName().getStringRef());
    if (rules == opTable().end())
      return refuse(op, "the op is not on the list");
    if (!fits(rules->second, in, out))
      return refuse(op, "not for these types: " + types(op));
    checkSpecial(op, in, out);
  }

  bool add(Operation *op, Type type, uint32_t &bits) {
    if (isa<LLVM::LLVMVoidType>(type))
      return true;
    uint32_t part = typeBits(type);
    bits |= part;
    if (!part)
      refuse(op, fmt::format("type {}", text(type)));
    return part != 0;
  }

  bool fits(ArrayRef<const OpRule *> rules, uint32_t in, uint32_t out) const {
    uint8_t here = uint8_t(target.gpu ? Where::Gpu : Where::Host);
    return llvm::any_of(rules, [&](const OpRule *rule) {
      return (uint8_t(rule->where) & here) && (!target.gpu || target.sm >= rule->minSm) && !(in & ~rule->in) &&
             !(out & ~rule->out);
    });
  }

  static std::string types(Operation *op) {
    std::string result = "(";
    for (Type type : op->getOperandTypes())
      result += (result.size() > 1 ? ", " : "") + text(type);
    result += ") ->";
    for (Type type : op->getResultTypes())
      result += " " + text(type);
    return result;
  }

  void checkSpecial(Operation *op, uint32_t in, uint32_t out) {
    if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
      return checkIntrinsic(call, in, out);
    if (auto cast = dyn_cast<LLVM::AddrSpaceCastOp>(op))
      return checkCast(cast);
    if (auto call = dyn_cast<LLVM::CallOp>(op))
      return checkCall(call);
    if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op))
      return checkFunction(function);
    if (auto global = dyn_cast<LLVM::GlobalOp>(op))
      return checkGlobal(global);
    if (auto rmw = dyn_cast<LLVM::AtomicRMWOp>(op))
      return checkAtomic(op, rmw.getVal().getType());
    if (auto exchange = dyn_cast<LLVM::AtomicCmpXchgOp>(op))
      return checkAtomic(op, exchange.getVal().getType());
    if (auto slot = dyn_cast<LLVM::AllocaOp>(op)) {
      if (!typeBits(slot.getElemType()))
        refuse(op, "type " + text(slot.getElemType()));
      if (cast<LLVM::LLVMPointerType>(slot.getType()).getAddressSpace() != 0) // L8
        refuse(op, "a stack slot lies in generic memory");
    }
    if (auto address = dyn_cast<LLVM::AddressOfOp>(op);
        address && !symbols.getSymbolTable(module).lookup(address.getGlobalName()))
      refuse(op, "no such symbol");
  }

  void checkIntrinsic(LLVM::CallIntrinsicOp call, uint32_t in, uint32_t out) {
    // The list has base names; an overloaded intrinsic carries its types behind them.
    StringRef name = call.getIntrin();
    for (StringRef base = name; base.count('.') > 0; base = base.rsplit('.').first)
      if (auto rules = intrinsicTable().find(base); rules != intrinsicTable().end()) {
        if (!fits(rules->second, in, out))
          refuse(call, fmt::format("{} not for these types: {}", name.str(), types(call)));
        return;
      }
    refuse(call, fmt::format("{} is not on the list", name.str()));
  }

  /// 32-bit spaces of the layout in LlvmModule.cpp; a stack slot's (5) is internal to the back end and refused as well.
  static bool isShort(Type pointer) {
    unsigned space = cast<LLVM::LLVMPointerType>(pointer).getAddressSpace();
    return space != 0 && space != 1;
  }

  void checkCast(LLVM::AddrSpaceCastOp cast) { // L2
    if (isShort(cast.getArg().getType()) || isShort(cast.getType()))
      refuse(cast, "pointers to shared memory are never cast to generic ones; write ptrtoint and cvta.shared.u64");
  }

  void checkCall(LLVM::CallOp call) { // L3
    auto name = call.getCalleeAttr();
    auto callee = name ? symbols.getSymbolTable(module).lookup<LLVM::LLVMFuncOp>(name.getAttr()) : nullptr;
    if (!callee || callee.isExternal() || call.getVarCalleeType())
      refuse(call, "a call names a function that this module defines");
    else if (callee->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      refuse(call, "a kernel is not called");
  }

  void checkFunction(LLVM::LLVMFuncOp function) {
    auto type = function.getFunctionType();
    if (type.isVarArg()) // L9
      return refuse(function, "variadic");
    if (function.isExternal()) { // L7
      if (!SymbolTable::symbolKnownUseEmpty(function, module))
        refuse(function, "a declared function has no definition to link to");
      return;
    }
    uint32_t bits = 0;
    if (!add(function, type.getReturnType(), bits))
      return;
    if (!function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      return;
    if (!isa<LLVM::LLVMVoidType>(type.getReturnType())) // L5
      return refuse(function, "a kernel returns nothing");
    for (Type parameter : type.getParams())
      if (isa<LLVM::LLVMPointerType>(parameter) ? isShort(parameter) : !parameter.isIntOrFloat())
        return refuse(function, "kernel parameter of type " + text(parameter));
  }

  void checkGlobal(LLVM::GlobalOp global) {
    uint32_t bits = typeBits(global.getGlobalType());
    if (!bits || (bits & (kI1 | kPointer)))
      return refuse(global, "type " + text(global.getGlobalType()));
    if (global.getThreadLocal_()) // L9
      return refuse(global, "thread-local");
    unsigned space = global.getAddrSpace();
    if (target.gpu && space != 1 && space != 3 && space != 4)
      return refuse(global, fmt::format("address space {}", space));
    if (!target.gpu && space != 0)
      return refuse(global, fmt::format("address space {}", space));
    if (space == 3 && target.gpu && (global.getValueAttr() || !global.getInitializer().empty())) // L6
      return refuse(global, "shared memory has no initial value");
    bool defined = global.getValueAttr() || !global.getInitializer().empty();
    if (!defined && space != 3)
      refuse(global, "a declared global has no definition to link to");
  }

  void checkAtomic(Operation *op, Type type) { // L4
    uint32_t bits = isa<VectorType>(type) ? 0 : typeBits(type);
    uint32_t allowed = kBytes | (target.gpu ? kFloats : kF32 | kF64);
    if (!bits || (bits & ~allowed))
      refuse(op, "an atomic works on a scalar of 8 to 64 bits, found " + text(type));
  }

  ModuleOp module;
  struct LazySymbols { // built at the first call
    explicit LazySymbols(ModuleOp module) : module(module) {}
    SymbolTable &getSymbolTable(ModuleOp) {
      if (!table)
        table.emplace(module);
      return *table;
    }
    ModuleOp module;
    std::optional<SymbolTable> table;
  } symbols;
  const TargetInfo &target;
  std::string problem;
};

} // namespace

Result<void> tessera::verifyLegality(ModuleOp module, const TargetInfo &target) {
  return Checker(module, target).run();
}
