//===- HostSequences.cpp - reductions and scans by a function, and sorting, on the host - SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A function's region is emitted anew for every combination, on scalars; the running combination stands in the results' buffers, so that lines along the
// dimension advance side by side.  Sorting runs the same network of comparisons as the GPU, in place, on buffers that hold the results.
//
#include "compiler/Conversion/TileToHost/Lowering.h"

using namespace mlir;
using namespace tessera;

SmallVector<Value> HostLowering::combineBy(Region &function, ArrayRef<Value> left, ArrayRef<Value> right) {
  Block &block = function.front();
  llvm::DenseMap<Value, Value> local;
  for (auto [i, argument] : llvm::enumerate(block.getArguments()))
    local[argument] = i < left.size() ? left[i] : right[i - left.size()];
  auto valueOf = [&](Value value) {
    auto it = local.find(value);
    return it == local.end() ? get(value) : it->second;
  };
  for (Operation &op : block.without_terminator()) {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(valueOf(operand));
    local[op.getResult(0)] = emitScalarOp(&op, operands);
  }
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(valueOf(value));
  return results;
}

static SmallVector<Value> insertAt(ArrayRef<Value> others, int64_t axis, Value along) {
  SmallVector<Value> at(others);
  at.insert(at.begin() + axis, along);
  return at;
}

void HostLowering::lowerReduceBy(tile::ReduceByOp op) {
  int64_t axis = op.getAxis(), extent = tileType(op.getSources()[0]).getShape()[axis];
  SmallVector<int64_t> others(tileType(op.getSources()[0]).getShape());
  others.erase(others.begin() + axis);
  // A scalar result stands in a buffer of one element while it is computed.
  SmallVector<Value> out;
  SmallVector<RankedTensorType> types;
  for (Value source : op.getSources()) {
    types.push_back(RankedTensorType::get(others, tileType(source).getElementType()));
    out.push_back(scratchPointer(allocate(types.back())));
  }
  auto elements = [&](const Indices &at, Value along) {
    SmallVector<Value> result;
    for (Value source : op.getSources())
      result.push_back(elementOf(source, insertAt(at, axis, along)));
    return result;
  };
  loopOver(others, [&](const Indices &at) {
    for (auto [i, element] : llvm::enumerate(elements(at, i64(0))))
      storeScalar(element, bufferElement(out[i], types[i], at));
  });
  loop(i64(1), i64(extent), 1, [&](Value along) {
    loopOver(others, [&](const Indices &at) {
      SmallVector<Value> running;
      for (auto [pointer, type] : llvm::zip(out, types))
        running.push_back(loadScalar(type.getElementType(), bufferElement(pointer, type, at)));
      for (auto [i, element] : llvm::enumerate(combineBy(op.getCombine(), running, elements(at, along))))
        storeScalar(element, bufferElement(out[i], types[i], at));
    });
  });
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    scalars[result] = tileType(result) ? out[i] : loadScalar(types[i].getElementType(), out[i]);
}

void HostLowering::lowerScanBy(tile::ScanByOp op) {
  int64_t axis = op.getAxis(), extent = tileType(op.getSources()[0]).getShape()[axis];
  SmallVector<int64_t> others(tileType(op.getSources()[0]).getShape());
  others.erase(others.begin() + axis);
  bool reverse = op.getReverse();
  SmallVector<Value> out;
  SmallVector<RankedTensorType> types;
  for (Value source : op.getSources()) {
    types.push_back(tileType(source));
    out.push_back(scratchPointer(allocate(types.back())));
  }
  auto elements = [&](const Indices &at) {
    SmallVector<Value> result;
    for (Value source : op.getSources())
      result.push_back(elementOf(source, at));
    return result;
  };
  auto store = [&](const Indices &at, ArrayRef<Value> values) {
    for (auto [i, value] : llvm::enumerate(values))
      storeScalar(value, bufferElement(out[i], types[i], at));
  };
  loopOver(others, [&](const Indices &at) {
    Indices first = insertAt(at, axis, i64(reverse ? extent - 1 : 0));
    store(first, elements(first));
  });
  loop(i64(1), i64(extent), 1, [&](Value step) {
    Value along = reverse ? arith::SubIOp::create(b, i64(extent - 1), step).getResult() : step;
    Value before = arith::AddIOp::create(b, along, i64(reverse ? 1 : -1));
    loopOver(others, [&](const Indices &at) {
      Indices here = insertAt(at, axis, along), last = insertAt(at, axis, before);
      SmallVector<Value> running, own = elements(here);
      for (auto [pointer, type] : llvm::zip(out, types))
        running.push_back(loadScalar(type.getElementType(), bufferElement(pointer, type, last)));
      store(here, reverse ? combineBy(op.getCombine(), own, running) : combineBy(op.getCombine(), running, own));
    });
  });
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    scalars[result] = out[i];
}

void HostLowering::lowerHistogram(tile::HistogramOp op) {
  RankedTensorType source = tileType(op.getSource()), result = tileType(op.getResult());
  Type count = result.getElementType();
  Value out = scratchPointer(allocate(result));
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(count));
  loopOver(result.getShape(), [&](const Indices &at) { storeScalar(zero, bufferElement(out, result, at)); });
  loopOver(source.getShape(), [&](const Indices &at) {
    Value value = elementOf(op.getSource(), at);
    if (!source.getElementType().isInteger(64))
      value = arith::ExtSIOp::create(b, b.getI64Type(), value);
    Value isBin = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, value, i64(result.getShape()[0]));
    Value place = bufferElement(out, result, {arith::SelectOp::create(b, isBin, value, i64(0))});
    Value more = arith::ExtUIOp::create(b, count, isBin);
    storeScalar(arith::AddIOp::create(b, loadScalar(count, place), more), place);
  });
  scalars[op.getResult()] = out;
}

void HostLowering::lowerSort(tile::SortOp op) {
  RankedTensorType shape = tileType(op.getSources()[0]);
  int64_t axis = op.getAxis(), extent = shape.getShape()[axis];
  SmallVector<int64_t> others(shape.getShape());
  others.erase(others.begin() + axis);
  SmallVector<Value> out;
  SmallVector<RankedTensorType> types;
  for (Value source : op.getSources()) {
    types.push_back(tileType(source));
    out.push_back(scratchPointer(allocate(types.back())));
  }
  loopOver(shape.getShape(), [&](const Indices &at) {
    for (auto [i, source] : llvm::enumerate(op.getSources()))
      storeScalar(elementOf(source, at), bufferElement(out[i], types[i], at));
  });
  // Whether the element at `right` comes before the one at `left`.
  auto comesBefore = [&](const Indices &left, const Indices &right) {
    Value before, equal;
    for (int64_t key = 0; key < int64_t(op.getKeys()); ++key) {
      Type element = types[key].getElementType();
      Value x = loadScalar(element, bufferElement(out[key], types[key], left)),
            y = loadScalar(element, bufferElement(out[key], types[key], right));
      Value less = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, y, x);
      before = before ? arith::OrIOp::create(b, before, arith::AndIOp::create(b, equal, less)).getResult() : less;
      Value same = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
      equal = equal ? arith::AndIOp::create(b, equal, same).getResult() : same;
    }
    return before;
  };
  // One step: every place meets the one whose number differs by `mask`.  What lies behind the end is larger than everything and stays there.
  auto step = [&](int64_t mask) {
    loop(i64(0), i64(extent), 1, [&](Value low) {
      Value high = arith::XOrIOp::create(b, low, i64(mask));
      Value above = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, high, low);
      Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, high, i64(extent));
      auto pair = scf::IfOp::create(b, arith::AndIOp::create(b, above, inside), /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(pair.thenBlock()->getTerminator());
      loopOver(others, [&](const Indices &at) {
        Indices left = insertAt(at, axis, low), right = insertAt(at, axis, high);
        auto swap = scf::IfOp::create(b, comesBefore(left, right), /*withElseRegion=*/false);
        OpBuilder::InsertionGuard inner(b);
        b.setInsertionPoint(swap.thenBlock()->getTerminator());
        for (auto [pointer, type] : llvm::zip(out, types)) {
          Value a = bufferElement(pointer, type, left), c = bufferElement(pointer, type, right);
          Value x = loadScalar(type.getElementType(), a), y = loadScalar(type.getElementType(), c);
          storeScalar(y, a);
          storeScalar(x, c);
        }
      });
    });
  };
  for (int64_t size = 2; size / 2 < extent; size *= 2) {
    step(size - 1);
    for (int64_t distance = size / 4; distance >= 1; distance /= 2)
      step(distance);
  }
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    scalars[result] = out[i];
}
