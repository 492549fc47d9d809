//===- HostAtomics.cpp - accumulation and atomics on the host ------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Elements in row-major order, one atomic instruction each.  Integers, and additions of f32 and f64, are LLVM's own; other floats are a loop around a
// compare-and-exchange of their bits, combined as the GPU does it.
//
#include "compiler/Conversion/TileToHost/Lowering.h"

using namespace mlir;
using namespace tessera;
using tile::AtomicKind;

void HostLowering::lowerAccumulate(tile::AccumulateOp op) {
  RankedTensorType type = tileType(op.getValue());
  auto one = [&](const Indices &at) {
    Place place = placeOf(op.getView(), op.getIndices(), op.getWidths(), op.getSteps(), at);
    Value value = type ? elementOf(op.getValue(), at) : get(op.getValue());
    auto branch = scf::IfOp::create(b, TypeRange(), place.inside, false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    auto kind = isa<FloatType>(value.getType()) ? LLVM::AtomicBinOp::fadd : LLVM::AtomicBinOp::add;
    LLVM::AtomicRMWOp::create(b, kind, place.pointer, value, LLVM::AtomicOrdering::monotonic);
  };
  if (type)
    loopOver(type.getShape(), one);
  else
    one({});
}

/// a + b, max or min of two elements as held, rounded once to `element`.  Narrow floats are computed in f32, whose precision makes the second rounding exact.
Value HostLowering::combineFloats(AtomicKind kind, Type element, Value a, Value c) {
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  auto constant = [&](int64_t v) -> Value { return arith::ConstantOp::create(b, b.getI32IntegerAttr(v)); };
  bool isBrain = element.isBF16(), isHalf = element.isF16();
  auto widen = [&](Value x) -> Value {
    if (isHalf)
      return arith::ExtFOp::create(b, f32, x);
    if (!isBrain)
      return x;
    Value high = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, i32, x), constant(16));
    return arith::BitcastOp::create(b, f32, high);
  };
  a = widen(a);
  c = widen(c);
  Value result = kind == AtomicKind::Add   ? arith::AddFOp::create(b, a, c).getResult()
                 : kind == AtomicKind::Max ? arith::MaximumFOp::create(b, a, c).getResult()
                                           : arith::MinimumFOp::create(b, a, c).getResult();
  if (isHalf)
    return arith::TruncFOp::create(b, element, result);
  if (!isBrain)
    return result;
  // To nearest even by the bits; a NaN keeps its upper half, made quiet.
  Value bits = arith::BitcastOp::create(b, i32, result), high = arith::ShRUIOp::create(b, bits, constant(16));
  Value bias = arith::AddIOp::create(b, arith::AndIOp::create(b, high, constant(1)), constant(0x7fff));
  Value rounded = arith::ShRUIOp::create(b, arith::AddIOp::create(b, bits, bias), constant(16));
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, result, result);
  rounded = arith::SelectOp::create(b, isNan, arith::OrIOp::create(b, high, constant(0x40)), rounded);
  return arith::TruncIOp::create(b, b.getI16Type(), rounded);
}

static LLVM::AtomicOrdering orderingOf(tile::Order order) {
  switch (order) {
  case tile::Order::Relaxed:
    return LLVM::AtomicOrdering::monotonic;
  case tile::Order::Acquire:
    return LLVM::AtomicOrdering::acquire;
  case tile::Order::Release:
    return LLVM::AtomicOrdering::release;
  case tile::Order::AcqRel:
    return LLVM::AtomicOrdering::acq_rel;
  }
  return LLVM::AtomicOrdering::acq_rel;
}

static LLVM::AtomicBinOp integerOp(AtomicKind kind, bool isUnsigned) {
  switch (kind) {
  case AtomicKind::Add:
    return LLVM::AtomicBinOp::add;
  case AtomicKind::Min:
    return isUnsigned ? LLVM::AtomicBinOp::umin : LLVM::AtomicBinOp::min;
  case AtomicKind::Max:
    return isUnsigned ? LLVM::AtomicBinOp::umax : LLVM::AtomicBinOp::max;
  case AtomicKind::And:
    return LLVM::AtomicBinOp::_and;
  case AtomicKind::Or:
    return LLVM::AtomicBinOp::_or;
  case AtomicKind::Xor:
    return LLVM::AtomicBinOp::_xor;
  default:
    return LLVM::AtomicBinOp::xchg;
  }
}

/// Performs one element that is inside; operands and result as held.
Value HostLowering::atomicElement(tile::AtomicOp op, Value pointer, Value value, Value compare) {
  Type element = getElementTypeOrSelf(op.getResult()), bits = b.getIntegerType(bytesOf(element) * 8);
  LLVM::AtomicOrdering order = orderingOf(op.getOrder());
  // A failed exchange stores nothing, so it cannot release.
  LLVM::AtomicOrdering failure = order == LLVM::AtomicOrdering::release   ? LLVM::AtomicOrdering::monotonic
                                 : order == LLVM::AtomicOrdering::acq_rel ? LLVM::AtomicOrdering::acquire
                                                                          : order;
  auto toBits = [&](Value x) -> Value {
    if (element.isInteger(1))
      return arith::ExtUIOp::create(b, bits, x);
    return x.getType() == bits ? x : arith::BitcastOp::create(b, bits, x).getResult();
  };
  auto fromBits = [&](Value x) -> Value {
    if (element.isInteger(1))
      return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, x,
                                   arith::ConstantOp::create(b, b.getIntegerAttr(bits, 0)));
    return held(element) == bits ? x : arith::BitcastOp::create(b, held(element), x).getResult();
  };
  AtomicKind kind = op.getKind();
  if (kind == AtomicKind::Cas) {
    Value pair = LLVM::AtomicCmpXchgOp::create(b, pointer, toBits(compare), toBits(value), order, failure);
    return fromBits(LLVM::ExtractValueOp::create(b, pair, 0));
  }
  if (isa<IntegerType>(element) || kind == AtomicKind::Exchange)
    return fromBits(LLVM::AtomicRMWOp::create(b, integerOp(kind, op.getIsUnsigned()), pointer, toBits(value), order));
  if (kind == AtomicKind::Add && (element.isF32() || element.isF64()))
    return LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::fadd, pointer, value, order);
  // The first guess is an atomic load, written as an addition of nothing.
  Value zero = arith::ConstantOp::create(b, b.getIntegerAttr(bits, 0));
  Value guess = LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::_or, pointer, zero, LLVM::AtomicOrdering::monotonic);
  auto again = scf::WhileOp::create(b, TypeRange(bits), ValueRange(guess));
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&again.getBefore(), {}, bits, b.getLoc());
  Value seen = before->getArgument(0), combined = combineFloats(kind, element, fromBits(seen), value);
  Value pair = LLVM::AtomicCmpXchgOp::create(b, pointer, seen, toBits(combined), order, failure);
  Value done = LLVM::ExtractValueOp::create(b, pair, 1);
  Value failed = arith::XOrIOp::create(b, done, arith::ConstantOp::create(b, b.getBoolAttr(true)));
  scf::ConditionOp::create(b, failed, ValueRange(LLVM::ExtractValueOp::create(b, pair, 0)));
  Block *after = b.createBlock(&again.getAfter(), {}, bits, b.getLoc());
  scf::YieldOp::create(b, after->getArguments());
  b.setInsertionPointAfter(again);
  return fromBits(again.getResult(0));
}

void HostLowering::lowerAtomic(tile::AtomicOp op) {
  RankedTensorType type = tileType(op.getResult());
  Type element = getElementTypeOrSelf(op.getResult());
  Value buffer = type && !op.getResult().use_empty() ? scratchPointer(allocate(type)) : Value();
  auto one = [&](const Indices &at) -> Value {
    Place place = placeOf(op.getView(), op.getIndices(), op.getWidths(), op.getSteps(), at);
    Value value = type ? elementOf(op.getValue(), at) : get(op.getValue()), compare;
    if (op.getCompare())
      compare = type ? elementOf(op.getCompare(), at) : get(op.getCompare());
    auto branch = scf::IfOp::create(b, TypeRange(held(element)), place.inside, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value old = atomicElement(op, place.pointer, value, compare);
    b.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(b, old);
    b.setInsertionPointToStart(branch.elseBlock());
    Value pad = op.getPad() ? get(op.getPad()) : arith::ConstantOp::create(b, b.getZeroAttr(held(element))).getResult();
    scf::YieldOp::create(b, pad);
    return branch.getResult(0);
  };
  if (!type) {
    scalars[op.getResult()] = one({});
    return;
  }
  loopOver(type.getShape(), [&](const Indices &at) {
    Value old = one(at);
    if (buffer)
      storeScalar(old, bufferElement(buffer, type, at));
  });
  if (buffer)
    scalars[op.getResult()] = buffer;
}
