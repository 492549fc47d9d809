//===- HostTiles.cpp - reductions and products on the host ----------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Products run over k outside n: every element's sum stays in order of k and the loop over n vectorizes without reassociation.  Operands are first copied to
// row-major buffers of the accumulator's type, which also undoes transpositions.  Reductions along the last dimension keep 16 partial
// results, along others one row of them.
//
#include "compiler/Conversion/TileToHost/Lowering.h"

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
    return arith::MaxNumFOp::create(b, x, y);
  case ReduceKind::MinNum:
    return arith::MinNumFOp::create(b, x, y);
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

void HostLowering::lowerReduce(tile::ReduceOp op) {
  RankedTensorType source = tileType(op.getSource()), result = tileType(op.getResult());
  ReduceKind kind = op.getKind();
  Type element = source.getElementType();
  int64_t axis = op.getAxis(), extent = source.getShape()[axis], rank = source.getRank();
  int64_t begin = faults.reduceSkipsFirst && extent > 1 ? 1 : 0;
  Value identity = identityOf(kind, element);
  if (axis == rank - 1) {
    Value out = result ? scratchPointer(allocate(result)) : Value();
    constexpr int64_t kLanes = 16;
    int64_t whole = begin ? 0 : extent / kLanes * kLanes;
    auto partialType = RankedTensorType::get({kLanes}, element);
    Value partial = scratchPointer(allocate(partialType));
    Value scalar;
    loopOver(source.getShape().drop_back(), [&](const Indices &outer) {
      Indices at(outer);
      at.push_back(Value());
      loop(i64(0), i64(kLanes), 1, [&](Value lane) { storeScalar(identity, bufferElement(partial, partialType, {lane})); });
      auto accumulate = [&](Value column, Value lane) {
        at.back() = column;
        Value place = bufferElement(partial, partialType, {lane});
        storeScalar(combine(kind, loadScalar(element, place), elementOf(op.getSource(), at)), place);
      };
      if (whole)
        loop(i64(0), i64(whole), kLanes, [&](Value first) {
          loop(i64(0), i64(kLanes), 1, [&](Value lane) { accumulate(arith::AddIOp::create(b, first, lane), lane); });
        });
      if (whole < extent)
        loop(i64(std::max(whole, begin)), i64(extent), 1, [&](Value column) { accumulate(column, arith::SubIOp::create(b, column, i64(whole)).getResult()); });
      // 16 -> 1 in a fixed order.
      Value total = loadScalar(element, bufferElement(partial, partialType, {i64(0)}));
      for (int64_t lane = 1; lane < kLanes; ++lane)
        total = combine(kind, total, loadScalar(element, bufferElement(partial, partialType, {i64(lane)})));
      if (out)
        storeScalar(total, bufferElement(out, result, outer));
      else
        scalar = total;
    });
    scalars[op.getResult()] = out ? out : scalar;
    return;
  }
  Value out = scratchPointer(allocate(result));
  loopOver(result.getShape(), [&](const Indices &at) { storeScalar(identity, bufferElement(out, result, at)); });
  loop(i64(begin), i64(extent), 1, [&](Value along) {
    loopOver(result.getShape(), [&](const Indices &at) {
      Indices full(at);
      full.insert(full.begin() + axis, along);
      Value place = bufferElement(out, result, at);
      storeScalar(combine(kind, loadScalar(element, place), elementOf(op.getSource(), full)), place);
    });
  });
  scalars[op.getResult()] = out;
}

void HostLowering::lowerDot(tile::DotOp op) {
  RankedTensorType aType = tileType(op.getA()), bType = tileType(op.getB()), cType = tileType(op.getResult());
  Type acc = cType.getElementType();
  int64_t rank = aType.getRank();
  auto widen = [&](Value x, bool isUnsigned) -> Value {
    if (x.getType() == acc)
      return x;
    if (isa<FloatType>(acc))
      return arith::ExtFOp::create(b, acc, x);
    return isUnsigned ? arith::ExtUIOp::create(b, acc, x).getResult() : arith::ExtSIOp::create(b, acc, x).getResult();
  };
  // What was widened to be packed is needed no longer than this product.
  Value out = scratchPointer(allocate(cType));
  int64_t mark = scratchTop;
  auto pack = [&](Value operand, RankedTensorType type, bool isUnsigned) {
    auto packedType = RankedTensorType::get(type.getShape(), acc);
    Value buffer = scratchPointer(allocate(packedType));
    loopOver(type.getShape(), [&](const Indices &at) {
      storeScalar(widen(elementOf(operand, at), isUnsigned), bufferElement(buffer, packedType, at));
    });
    return std::pair(buffer, packedType);
  };
  auto [aBuffer, aPacked] = pack(op.getA(), aType, op.getUnsignedA());
  auto [bBuffer, bPacked] = pack(op.getB(), bType, op.getUnsignedB());
  loopOver(cType.getShape(), [&](const Indices &at) {
    Value start = faults.accumulatorIgnored ? arith::ConstantOp::create(b, b.getZeroAttr(acc)).getResult() : elementOf(op.getAcc(), at);
    storeScalar(start, bufferElement(out, cType, at));
  });
  int64_t m = cType.getShape()[rank - 2], n = cType.getShape()[rank - 1], k = aType.getShape()[rank - 1];
  if (faults.lastDepthDropped && k > 1)
    --k;
  loopOver(cType.getShape().drop_back(2), [&](const Indices &batch) {
    auto at = [&](Value x, Value y) {
      Indices indices(batch);
      indices.push_back(x);
      indices.push_back(y);
      return indices;
    };
    loop(i64(0), i64(m), 1, [&](Value i) {
      loop(i64(0), i64(k), 1, [&](Value z) {
        Value left = loadScalar(acc, bufferElement(aBuffer, aPacked, at(i, z)));
        loop(i64(0), i64(n), 1, [&](Value j) {
          Value right = loadScalar(acc, bufferElement(bBuffer, bPacked, at(z, j)));
          Value place = bufferElement(out, cType, at(i, j));
          Value sum = loadScalar(acc, place);
          storeScalar(isa<FloatType>(acc) ? math::FmaOp::create(b, left, right, sum).getResult()
                                          : arith::AddIOp::create(b, sum, arith::MulIOp::create(b, left, right)).getResult(),
                      place);
        });
      });
    });
  });
  scratchTop = mark;
  scalars[op.getResult()] = out;
}
