//===- HostTiles.cpp - reductions and products on the host ----------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Products run over k outside n: every element's sum stays in order of k and the loop over n vectorizes without reassociation.  Operands are first copied to
// row-major buffers of the accumulator's type, which also undoes transpositions.  Reductions along the last dimension keep 16 partial
// results, along others one row of them.
//
#include "compiler/Conversion/TileToHost/Lowering.h"
#include "compiler/Numerics/Arithmetic.h"

using namespace mlir;
using namespace tessera;
using tile::ReduceKind;

Value HostLowering::combine(ReduceKind kind, Value x, Value y) {
  bool isFloat = isa<FloatType>(x.getType());
  switch (kind) {
  case ReduceKind::Sum:
    return isFloat ? arith::AddFOp::create(b, x, y).getResult() : arith::AddIOp::create(b, x, y).getResult();
  case ReduceKind::Product:
    return isFloat ? arith::MulFOp::create(b, x, y).getResult() : arith::MulIOp::create(b, x, y).getResult();
  case ReduceKind::Max:
    if (isFloat && faults.maxSkipsNan)
      return arith::MaxNumFOp::create(b, x, y);
    return isFloat ? arith::MaximumFOp::create(b, x, y).getResult() : arith::MaxSIOp::create(b, x, y).getResult();
  case ReduceKind::Min:
    return isFloat ? arith::MinimumFOp::create(b, x, y).getResult() : arith::MinSIOp::create(b, x, y).getResult();
  case ReduceKind::MaxU:
    return arith::MaxUIOp::create(b, x, y);
  case ReduceKind::MinU:
    return arith::MinUIOp::create(b, x, y);
  case ReduceKind::MaxNum:
  case ReduceKind::MinNum: {
    // In words that order the zeros: the number where one is NaN, else the extremum.
    auto isNan = [&](Value v) -> Value { return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, v, v); };
    Value both = kind == ReduceKind::MaxNum ? arith::MaximumFOp::create(b, x, y).getResult()
                                            : arith::MinimumFOp::create(b, x, y).getResult();
    Value right = arith::SelectOp::create(b, isNan(y), x, both);
    return arith::SelectOp::create(b, isNan(x), y, right);
  }
  case ReduceKind::And:
    return arith::AndIOp::create(b, x, y);
  case ReduceKind::Or:
    return arith::OrIOp::create(b, x, y);
  case ReduceKind::Xor:
    return arith::XOrIOp::create(b, x, y);
  }
  return x;
}

Value HostLowering::identityOf(ReduceKind kind, Type element) {
  if (auto type = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    APFloat value = APFloat::getZero(semantics, /*Negative=*/true); // -0 is the identity of addition
    if (kind == ReduceKind::Product)
      value = APFloat(semantics, 1);
    else if (kind == ReduceKind::Max)
      value = APFloat::getInf(semantics, true);
    else if (kind == ReduceKind::Min)
      value = APFloat::getInf(semantics, false);
    else if (kind == ReduceKind::MaxNum || kind == ReduceKind::MinNum)
      value = APFloat::getNaN(semantics);
    return arith::ConstantOp::create(b, FloatAttr::get(type, value));
  }
  unsigned width = element.getIntOrFloatBitWidth();
  APInt value(width, 0);
  if (kind == ReduceKind::Product)
    value = APInt(width, 1);
  else if (kind == ReduceKind::Max)
    value = APInt::getSignedMinValue(width);
  else if (kind == ReduceKind::Min)
    value = APInt::getSignedMaxValue(width);
  else if (kind == ReduceKind::MinU || kind == ReduceKind::And)
    value = APInt::getMaxValue(width);
  return arith::ConstantOp::create(b, IntegerAttr::get(element, value));
}

/// Partial results are kept in f32 for f16 and bf16, so that sums round once.
static Type accumulatorOf(Type element) {
  bool narrow = numerics::isNarrow(element) || numerics::isEightBit(element);
  return narrow ? Type(Float32Type::get(element.getContext())) : element;
}

static Value finish(ImplicitLocOpBuilder &b, Value total, Type element) {
  numerics::Arithmetic a(b, b.getLoc());
  return numerics::convertElement(a, total, element, {.host = true});
}

/// An element of the type `element`, held, as f32 if it is a narrower float.
Value HostLowering::widened(Value x, Type element) {
  numerics::Arithmetic a(b, b.getLoc());
  return numerics::widenToF32(a, unhold(x, element), /*host=*/true);
}

void HostLowering::lowerReduce(tile::ReduceOp op) {
  RankedTensorType source = tileType(op.getSource()), result = tileType(op.getResult());
  ReduceKind kind = op.getKind();
  Type element = source.getElementType(), accumulator = accumulatorOf(element);
  int64_t axis = op.getAxis(), extent = source.getShape()[axis];
  int64_t begin = faults.reduceSkipsFirst && extent > 1 ? 1 : 0;
  Value out = result ? scratchPointer(allocate(result)) : Value();
  if (axis == source.getRank() - 1) {
    reduceLastAxis(op, accumulator, out);
    return;
  }
  Value identity = identityOf(kind, accumulator);
  RankedTensorType sums = RankedTensorType::get(result.getShape(), accumulator);
  int64_t mark = scratchTop;
  Value partial = accumulator == element ? out : scratchPointer(allocate(sums));
  loopOver(result.getShape(), [&](const Indices &at) { storeScalar(identity, bufferElement(partial, sums, at)); });
  loop(i64(begin), i64(extent), 1, [&](Value along) {
    loopOver(result.getShape(), [&](const Indices &at) {
      Indices full(at);
      full.insert(full.begin() + axis, along);
      Value place = bufferElement(partial, sums, at);
      storeScalar(combine(kind, loadScalar(accumulator, place), widened(elementOf(op.getSource(), full), element)),
                  place);
    });
  });
  if (partial != out)
    loopOver(result.getShape(), [&](const Indices &at) {
      storeScalar(finish(b, loadScalar(accumulator, bufferElement(partial, sums, at)), element),
                  bufferElement(out, result, at));
    });
  scratchTop = mark;
  scalars[op.getResult()] = out;
}

void HostLowering::reduceLastAxis(tile::ReduceOp op, Type accumulator, Value out) {
  RankedTensorType source = tileType(op.getSource()), result = tileType(op.getResult());
  ReduceKind kind = op.getKind();
  Type element = source.getElementType();
  int64_t extent = source.getShape().back(), begin = faults.reduceSkipsFirst && extent > 1 ? 1 : 0;
  Value identity = identityOf(kind, accumulator);
  constexpr int64_t kLanes = 16;
  int64_t whole = begin ? 0 : extent / kLanes * kLanes;
  // The rest takes part in the first lanes; more than that only where a fault is planted.
  int64_t lanes = begin ? extent : std::min(kLanes, extent);
  auto partialType = RankedTensorType::get({lanes}, accumulator);
  int64_t mark = scratchTop;
  Value partial = scratchPointer(allocate(partialType));
  loopOver(source.getShape().drop_back(), [&](const Indices &outer) {
    Indices at(outer);
    at.push_back(Value());
    loop(i64(0), i64(lanes), 1,
         [&](Value lane) { storeScalar(identity, bufferElement(partial, partialType, {lane})); });
    auto accumulate = [&](Value column, Value lane) {
      at.back() = column;
      Value place = bufferElement(partial, partialType, {lane});
      storeScalar(combine(kind, loadScalar(accumulator, place), widened(elementOf(op.getSource(), at), element)),
                  place);
    };
    if (whole)
      loop(i64(0), i64(whole), kLanes, [&](Value first) {
        loop(i64(0), i64(kLanes), 1, [&](Value lane) { accumulate(arith::AddIOp::create(b, first, lane), lane); });
      });
    if (whole < extent)
      loop(i64(std::max(whole, begin)), i64(extent), 1,
           [&](Value column) { accumulate(column, arith::SubIOp::create(b, column, i64(whole)).getResult()); });
    // To one, in a fixed order.
    auto lane = [&](Value number) { return loadScalar(accumulator, bufferElement(partial, partialType, {number})); };
    Value total = lane(i64(0));
    for (int64_t number = 1; number < std::min(lanes, kLanes); ++number)
      total = combine(kind, total, lane(i64(number)));
    for (int64_t number = kLanes; number < lanes; ++number)
      total = combine(kind, total, lane(i64(number)));
    total = hold(finish(b, total, element));
    if (out)
      storeScalar(total, bufferElement(out, result, outer));
    else
      scalars[op.getResult()] = total;
  });
  scratchTop = mark;
  if (out)
    scalars[op.getResult()] = out;
}

/// Whether the accumulator is carried by the loop around, used here only, and replaced by the result: then its buffer can be updated.
bool HostLowering::updatesInPlace(tile::DotOp op) {
  auto argument = dyn_cast<BlockArgument>(op.getAcc());
  auto around = dyn_cast<scf::ForOp>(op->getParentOp());
  if (!argument || !around || argument.getOwner() != around.getBody() || !argument.hasOneUse() ||
      !op.getResult().hasOneUse() || faults.accumulatorIgnored || faults.carriedNotUpdated)
    return false;
  OpOperand &use = *op.getResult().getUses().begin();
  return use.getOwner() == around.getBody()->getTerminator() && use.getOperandNumber() + 1 == argument.getArgNumber();
}

void HostLowering::lowerScan(tile::ScanOp op) {
  RankedTensorType type = tileType(op.getSource());
  int64_t axis = op.getAxis(), extent = type.getShape()[axis];
  Value out = scratchPointer(allocate(type));
  SmallVector<int64_t> others(type.getShape());
  others.erase(others.begin() + axis);
  loop(i64(0), i64(extent), 1, [&](Value step) {
    Value along = op.getReverse() ? arith::SubIOp::create(b, i64(extent - 1), step).getResult() : step;
    Value before = op.getReverse() ? arith::AddIOp::create(b, along, i64(1)).getResult()
                                   : arith::SubIOp::create(b, along, i64(1)).getResult();
    Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, step, i64(0));
    before = arith::SelectOp::create(b, isFirst, along, before); // any place that exists
    loopOver(others, [&](const Indices &at) {
      Indices here(at), last(at);
      here.insert(here.begin() + axis, along);
      last.insert(last.begin() + axis, before);
      Value element = elementOf(op.getSource(), here);
      Value wide = widened(element, type.getElementType());
      Value running = widened(loadScalar(type.getElementType(), bufferElement(out, type, last)), type.getElementType());
      Value sum = op.getReverse() ? combine(op.getKind(), wide, running) : combine(op.getKind(), running, wide);
      sum = hold(finish(b, sum, type.getElementType()));
      storeScalar(arith::SelectOp::create(b, isFirst, element, sum), bufferElement(out, type, here));
    });
  });
  scalars[op.getResult()] = out;
}

void HostLowering::lowerDot(tile::DotOp op) {
  RankedTensorType cType = tileType(op.getResult());
  Type acc = cType.getElementType();
  auto widen = [&](Value x, Type element, bool isUnsigned) -> Value {
    if (element == acc)
      return x;
    if (acc.isF64() && element.isF32())
      return arith::ExtFOp::create(b, acc, x);
    if (isa<FloatType>(acc))
      return widened(x, element);
    return isUnsigned ? arith::ExtUIOp::create(b, acc, x).getResult() : arith::ExtSIOp::create(b, acc, x).getResult();
  };
  bool inPlace = updatesInPlace(op);
  Value out = inPlace ? get(op.getAcc()) : scratchPointer(allocate(cType));
  // What was widened to be packed is needed no longer than this product.
  int64_t mark = scratchTop;
  auto pack = [&](Value operand, bool isUnsigned) {
    ArrayRef<int64_t> shape = tileType(operand).getShape();
    auto packed = RankedTensorType::get(shape, acc);
    if (Value buffer = scalars.lookup(operand); buffer && packed == operand.getType())
      return buffer; // is packed already
    Value buffer = scratchPointer(allocate(packed));
    loopOver(shape, [&](const Indices &at) {
      storeScalar(widen(elementOf(operand, at), getElementTypeOrSelf(operand), isUnsigned),
                  bufferElement(buffer, packed, at));
    });
    return buffer;
  };
  Value left = pack(op.getA(), op.getUnsignedA()), right = pack(op.getB(), op.getUnsignedB());
  if (!inPlace)
    loopOver(cType.getShape(), [&](const Indices &at) {
      Value start = faults.accumulatorIgnored ? arith::ConstantOp::create(b, b.getZeroAttr(acc)).getResult()
                                              : elementOf(op.getAcc(), at);
      storeScalar(start, bufferElement(out, cType, at));
    });
  multiply(op, left, right, out);
  scratchTop = mark;
  scalars[op.getResult()] = out;
}

/// out += left @ right, all row-major and of the accumulator's type.
void HostLowering::multiply(tile::DotOp op, Value left, Value right, Value out) {
  RankedTensorType cType = tileType(op.getResult());
  Type acc = cType.getElementType();
  auto aType = RankedTensorType::get(tileType(op.getA()).getShape(), acc),
       bType = RankedTensorType::get(tileType(op.getB()).getShape(), acc);
  int64_t rank = cType.getRank(), m = cType.getShape()[rank - 2], n = cType.getShape()[rank - 1],
          k = aType.getShape()[rank - 1];
  if (faults.lastDepthDropped && k > 1)
    --k;
  auto add = [&](Value x, Value y, Value sum) -> Value {
    if (isa<FloatType>(acc))
      return math::FmaOp::create(b, x, y, sum);
    return arith::AddIOp::create(b, sum, arith::MulIOp::create(b, x, y));
  };
  loopOver(cType.getShape().drop_back(2), [&](const Indices &batch) {
    auto at = [&](Value x, Value y) {
      Indices indices(batch);
      indices.push_back(x);
      indices.push_back(y);
      return indices;
    };
    // Steps of k that share one pass over the row of sums; each sum still takes them in order.
    auto steps = [&](Value i, Value z, int64_t count) {
      SmallVector<Value> rows, factors;
      for (int64_t s = 0; s < count; ++s) {
        rows.push_back(arith::AddIOp::create(b, z, i64(s)));
        factors.push_back(loadScalar(acc, bufferElement(left, aType, at(i, rows.back()))));
      }
      loop(i64(0), i64(n), 1, [&](Value j) {
        Value place = bufferElement(out, cType, at(i, j));
        Value sum = loadScalar(acc, place);
        for (auto [row, factor] : llvm::zip(rows, factors))
          sum = add(factor, loadScalar(acc, bufferElement(right, bType, at(row, j))), sum);
        storeScalar(sum, place);
      });
    };
    constexpr int64_t kSteps = 8;
    int64_t whole = k / kSteps * kSteps;
    loop(i64(0), i64(m), 1, [&](Value i) {
      if (whole)
        loop(i64(0), i64(whole), kSteps, [&](Value z) { steps(i, z, kSteps); });
      if (whole < k)
        loop(i64(whole), i64(k), 1, [&](Value z) { steps(i, z, 1); });
    });
  });
}
