//===- AtomicLowering.cpp - accumulation and atomics on the GPU ------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// An element is performed by the first of the threads that hold it.  What the hardware has is one predicated `atom` (`red` where nobody wants the old value and
// the order allows it); the rest is a loop around `atom.cas` on the element, or for bytes on the word around it, whose other bytes it
// puts back unchanged.  The loops are one inline assembly block each, since branches in LLVM's own code would cut the block of the whole tile.
// Which form serves which type: docs/decisions/atomics.md.
//
#include "compiler/Conversion/TileGPUToNVVM/Lowering.h"

#include <set>

using namespace mlir;
using namespace tessera;
using namespace tessera::tile_gpu;
using tile::AtomicKind;

namespace {

/// How elements of a type are spelled in an atomic: always as bits in an integer register.
struct AtomicSpelling {
  AtomicKind kind;
  Type element;
  bool isUnsigned;
  int64_t bits; ///< in memory: 8, 16, 32 or 64

  AtomicSpelling(AtomicKind kind, Type element, bool isUnsigned)
      : kind(kind), element(element), isUnsigned(isUnsigned), bits(elementBytes(element) * 8) {}

  bool isFloat() const { return isa<FloatType>(element); }
  bool isExtremum() const { return kind == AtomicKind::Min || kind == AtomicKind::Max; }
  int64_t registerBits() const { return bits == 8 ? 32 : bits; }
  const char *constraint() const { return registerBits() == 64 ? "l" : registerBits() == 16 ? "h" : "r"; }
  std::string untyped() const { return "b" + std::to_string(registerBits()); }

  /// The `.op.type` of an instruction that does it whole; empty where only a loop does.
  std::string native() const {
    std::string width = std::to_string(bits);
    if (kind == AtomicKind::Cas && bits >= 16)
      return "cas.b" + width;
    if (kind == AtomicKind::Add && element.isF16())
      return "add.noftz.f16";
    if (bits < 32)
      return {};
    switch (kind) {
    case AtomicKind::Add:
      return (isFloat() ? "add.f" : "add.u") + width;
    case AtomicKind::Min:
    case AtomicKind::Max:
      return isFloat() ? std::string() : stringifyAtomicKind(kind).str() + (isUnsigned ? ".u" : ".s") + width;
    case AtomicKind::Exchange:
      return "exch.b" + width;
    default:
      return stringifyAtomicKind(kind).str() + ".b" + width;
    }
  }

  /// Instructions that set `n` from the old value `o` and the operand `value` (and `compare` for bytes), for a loop around cas.
  std::string combine(const std::string &value, const std::string &compare) const {
    std::string name = stringifyAtomicKind(kind).str(), width = std::to_string(registerBits());
    switch (kind) {
    case AtomicKind::Exchange:
      return "mov.b" + width + " n, " + value + "; ";
    case AtomicKind::Cas:
      return "setp.eq.b32 q, o, " + compare + "; selp.b32 n, " + value + ", o, q; ";
    case AtomicKind::And:
    case AtomicKind::Or:
    case AtomicKind::Xor:
      return name + ".b" + width + " n, o, " + value + "; ";
    case AtomicKind::Add:
      if (element.isBF16()) // o * 1 + value, one rounding; plain additions of bf16 begin with sm_90
        return "mov.b16 t, 0x3F80; fma.rn.bf16 n, o, t, " + value + "; ";
      return "add.s" + width + " n, o, " + value + "; ";
    case AtomicKind::Min:
    case AtomicKind::Max:
      break;
    }
    if (!isFloat())
      return name + (isUnsigned ? ".u" : ".s") + width + " n, o, " + value + "; ";
    if (!element.isF64())
      return name + ".NaN." + (element.isF32() ? "f32" : element.isF16() ? "f16" : "bf16") + " n, o, " + value + "; ";
    // f64 has no such instruction: select; of equal ones (zeros) let the sign decide; a NaN goes through an addition.
    bool isMin = kind == AtomicKind::Min;
    return std::string("setp.") + (isMin ? "lt" : "gt") + ".f64 q, o, " + value + "; selp.b64 n, o, " + value +
           ", q; setp.eq.f64 q, o, " + value + "; " + (isMin ? "or" : "and") + ".b64 t, o, " + value +
           "; selp.b64 n, t, n, q; setp.nan.f64 q, o, " + value + "; @q add.rn.f64 n, o, " + value + "; ";
  }
};

} // namespace

/// The whole loop: `$0` becomes the old value; `pointer`, `value`, `compare` and `predicate` are operands as written in the text.
static std::string casLoop(const AtomicSpelling &atomic, const std::string &order, const std::string &pointer,
                           const std::string &value, const std::string &compare, const std::string &predicate) {
  std::string type = atomic.untyped(), skip = predicate.empty() ? "" : "@!" + predicate + " bra DONE; ";
  std::string combined = atomic.combine(value, compare);
  if (atomic.bits > 8)
    return "{ .reg .pred q; .reg ." + type + " o, n, s, t; " + skip + "ld.relaxed.gpu.global." + type + " s, [" +
           pointer + "]; AGAIN: mov." + type + " o, s; " + combined + "atom.cas." + order + ".gpu.global." + type +
           " s, [" + pointer + "], o, n; setp.ne." + type + " q, s, o; @q bra AGAIN; mov." + type + " $0, o; DONE: }";
  // The word around the byte: h is the byte's place in it, m what stays.
  bool isSigned = atomic.isExtremum() && !atomic.isUnsigned;
  return "{ .reg .pred q; .reg .b64 a; .reg .b32 h, m, w, o, n, s, t; " + skip + "and.b64 a, " + pointer +
         ", -4; cvt.u32.u64 h, " + pointer +
         "; and.b32 h, h, 3; shl.b32 h, h, 3; mov.b32 m, 255; shl.b32 m, m, h; not.b32 m, m; "
         "ld.relaxed.gpu.global.b32 s, [a]; AGAIN: mov.b32 w, s; " +
         (isSigned ? "bfe.s32 o, w, h, 8; " : "bfe.u32 o, w, h, 8; ") + combined +
         "and.b32 n, n, 255; shl.b32 n, n, h; and.b32 t, w, m; or.b32 t, t, n; atom.cas." + order +
         ".gpu.global.b32 s, [a], w, t; setp.ne.b32 q, s, w; @q bra AGAIN; mov.b32 $0, o; DONE: }";
}

/// One element; null where nobody wants the old value.  Where `predicate` is false, 0.
Value KernelLowering::atomicElement(AtomicOp op, Value pointer, Value value, Value compare, Value predicate) {
  Type element = value.getType();
  AtomicSpelling atomic(op.getKind(), element, op.getIsUnsigned());
  std::string order = stringifyOrder(op.getOrder()).str(), native = atomic.native();
  Type word = b.getIntegerType(atomic.registerBits());
  bool isSigned = atomic.isExtremum() && !atomic.isUnsigned;
  auto toBits = [&](Value x) -> Value {
    if (element.getIntOrFloatBitWidth() >= 16)
      return bitcast(x, word);
    if (!element.isInteger(1) && !element.isInteger(8))
      x = bitcast(x, b.getI8Type());
    return isSigned ? LLVM::SExtOp::create(b, word, x).getResult() : LLVM::ZExtOp::create(b, word, x).getResult();
  };
  bool acquires = op.getOrder() == tile::Order::Acquire || op.getOrder() == tile::Order::AcqRel;
  bool reduces = op.getResult().use_empty() && !native.empty() && !acquires && op.getKind() != AtomicKind::Cas &&
                 op.getKind() != AtomicKind::Exchange;
  SmallVector<Value> operands;
  std::string constraints = reduces ? "" : std::string("=&") + atomic.constraint();
  auto pass = [&](Value x, const char *constraint) {
    operands.push_back(x);
    constraints += std::string(constraints.empty() ? "" : ",") + constraint;
    return "$" + std::to_string(operands.size() - reduces);
  };
  std::string at = pass(pointer, "l"), other = compare ? pass(toBits(compare), atomic.constraint()) : "";
  std::string with = pass(toBits(value), atomic.constraint()), when = predicate ? pass(predicate, "b") : "";
  std::string guard = predicate ? "@" + when + " " : "", text;
  if (reduces)
    text = guard + "red." + order + ".gpu.global." + native + " [" + at + "], " + with + ";";
  else if (!native.empty())
    text = guard + "atom." + order + ".gpu.global." + native + " $0, [" + at + "], " +
           (compare ? other + ", " : std::string()) + with + ";";
  else
    text = casLoop(atomic, order, at, with, other, when);
  if (reduces) {
    inlineAsm({}, operands, text, constraints + ",~{memory}", true);
    return {};
  }
  if (predicate)
    text = "mov." + atomic.untyped() + " $0, 0; " + text;
  Value old = inlineAsm({word}, operands, text, constraints + ",~{memory}", true);
  if (element.isInteger(1))
    return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, old, i32(0));
  if (atomic.bits == 8)
    return bitcast(LLVM::TruncOp::create(b, b.getI8Type(), old), element);
  return bitcast(old, element);
}

/// One thread does it, between two barriers: the first lets it publish what all threads of the program stored (fences are cumulative), the second hands
/// its result, and what it acquired, to all of them.
void KernelLowering::lowerScalarAtomic(AtomicOp op, Access &access) {
  Value buffer = get(op.getBuffer());
  emitBarrier();
  Value first = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, threadId, i32(0));
  bool isWanted = !op.getResult().use_empty();
  auto only = scf::IfOp::create(b, TypeRange(), first, false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(only.thenBlock());
    Value old = atomicElement(op, access.base, get(op.getValue()), op.getCompare() ? get(op.getCompare()) : Value(),
                              access.valid);
    if (op.getPad() && access.valid && isWanted)
      old = LLVM::SelectOp::create(b, access.valid, old, get(op.getPad()));
    if (isWanted)
      storeShared(old, buffer, Value());
  }
  emitBarrier();
  if (isWanted)
    values[op.getResult()] = loadShared(op.getResult().getType(), buffer, Value());
}

LogicalResult KernelLowering::lowerAtomic(AtomicOp op) {
  auto tile = dyn_cast<RankedTensorType>(op.getResult().getType());
  Dist layout;
  SmallVector<int64_t> shape;
  if (tile) {
    layout = layoutOf(tile);
    shape.assign(tile.getShape().begin(), tile.getShape().end());
  }
  FailureOr<Access> access =
      planAccess(op, op.getView(), op.getIndices(), op.getWidths(), op.getSteps(), layout, shape, true);
  if (failed(access))
    return failure();
  if (!tile) {
    lowerScalarAtomic(op, *access);
    return success();
  }
  tile::Order order = op.getOrder();
  if (order == tile::Order::Release || order == tile::Order::AcqRel)
    emitBarrier();
  if (Value owner = ownsElements(layout))
    access->valid = access->valid ? LLVM::AndOp::create(b, access->valid, owner).getResult() : owner;
  Value value = get(op.getValue()), compare = op.getCompare() ? get(op.getCompare()) : Value();
  SmallVector<int64_t> steps = tileSteps(op.getIndices(), op.getWidths(), op.getSteps(), shape.size());
  SmallVector<Value> results;
  std::map<SmallVector<int64_t>, int64_t> performed; // registers that repeat an element
  for (int64_t r = 0, e = layout.numRegisters(); r < e; ++r) {
    SmallVector<int64_t> offset = layout.offset(r), scaled = offset;
    auto [known, fresh] = performed.try_emplace(offset, r);
    if (!fresh) {
      results.push_back(results[known->second]);
      continue;
    }
    for (auto [d, step] : llvm::enumerate(steps))
      scaled[d] *= step;
    Value predicate = accessPredicate(*access, scaled);
    Value old = atomicElement(op, accessPointer(*access, offset), extract(value, r),
                              compare ? extract(compare, r) : Value(), predicate);
    if (op.getPad() && predicate && old)
      old = LLVM::SelectOp::create(b, predicate, old, get(op.getPad()));
    results.push_back(old);
  }
  if (order == tile::Order::Acquire || order == tile::Order::AcqRel)
    emitBarrier();
  if (!op.getResult().use_empty())
    values[op.getResult()] = assemble(convertType(tile), results);
  return success();
}

LogicalResult KernelLowering::lowerAccumulate(tile::AccumulateOp op) {
  auto tile = dyn_cast<RankedTensorType>(op.getValue().getType());
  Dist layout;
  SmallVector<int64_t> shape;
  if (tile) {
    layout = layoutOf(tile);
    shape.assign(tile.getShape().begin(), tile.getShape().end());
  }
  FailureOr<Access> access =
      planAccess(op, op.getView(), op.getIndices(), op.getWidths(), op.getSteps(), layout, shape, true);
  if (failed(access))
    return failure();
  Type element = getElementTypeOrSelf(op.getValue().getType());
  const char *constraint = element.isF32() ? "f" : element.isF64() ? "d" : element.isInteger(64) ? "l" : "r";
  std::string suffix = element.isF32() ? "f32" : element.isF64() ? "f64" : element.isInteger(64) ? "u64" : "u32";
  auto one = [&](Value value, Value pointer, Value predicate) {
    std::string text = "red.relaxed.gpu.global.add." + suffix + " [$0], $1;",
                constraints = std::string("l,") + constraint;
    SmallVector<Value> operands{pointer, value};
    if (predicate) {
      text = "@$2 " + text;
      constraints += ",b";
      operands.push_back(predicate);
    }
    inlineAsm({}, operands, text, constraints + ",~{memory}", true);
  };
  if (!tile) {
    Value first = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, threadId, i32(0));
    one(get(op.getValue()), access->base,
        access->valid ? LLVM::AndOp::create(b, access->valid, first).getResult() : first);
    return success();
  }
  if (Value owner = ownsElements(layout))
    access->valid = access->valid ? LLVM::AndOp::create(b, access->valid, owner).getResult() : owner;
  SmallVector<int64_t> steps = tileSteps(op.getIndices(), op.getWidths(), op.getSteps(), shape.size());
  std::set<SmallVector<int64_t>> performed;
  for (int64_t r = 0, e = layout.numRegisters(); r < e; ++r) {
    SmallVector<int64_t> offset = layout.offset(r);
    if (!performed.insert(offset).second)
      continue;
    for (auto [d, step] : llvm::enumerate(steps))
      offset[d] *= step;
    Value predicate = accessPredicate(*access, offset);
    one(extract(get(op.getValue()), r), accessPointer(*access, layout.offset(r)), predicate);
  }
  return success();
}
