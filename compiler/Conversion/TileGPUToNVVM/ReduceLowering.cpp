//===- ReduceLowering.cpp - reductions: registers, lanes, warps ------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A thread combines its own registers along the dimension in order of their coordinates, lanes that share the other coordinates combine by
// butterflies, from the nearest to the farthest, and warps through shared memory (exchange).  Elements that only pad the layout enter as the identity.
// The order depends on the layout alone, never on timing.
//
#include "compiler/Conversion/TileGPUToNVVM/Lowering.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::tile_gpu;
using tile::ReduceKind;

Value KernelLowering::combine(ReduceKind kind, Value x, Value y) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(x));
  switch (kind) {
  case ReduceKind::Sum:
    return isFloat ? arith::AddFOp::create(b, x, y).getResult() : arith::AddIOp::create(b, x, y).getResult();
  case ReduceKind::Product:
    return isFloat ? arith::MulFOp::create(b, x, y).getResult() : arith::MulIOp::create(b, x, y).getResult();
  case ReduceKind::Max:
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

Value KernelLowering::identityOf(ReduceKind kind, Type element) {
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

/// The value of the lane whose number differs in bit `laneBit`.
Value KernelLowering::shuffle(Value value, int64_t laneBit) {
  return shuffleWords(value, [&](Value word) -> Value {
    return NVVM::ShflOp::create(b, word.getType(), i32(-1), word, i32(int64_t(1) << laneBit), i32(31),
                                NVVM::ShflKind::bfly, UnitAttr());
  });
}

void KernelLowering::shuffleConversion(ConvertLayoutOp op, const Conversion &conversion) {
  Value vector = get(op.getSource()), own;
  // The part of the source lane that depends on the own lane.
  for (auto [bit, basis] : llvm::enumerate(conversion.laneBases)) {
    if (!basis)
      continue;
    Value set = LLVM::AndOp::create(b, LLVM::LShrOp::create(b, lane, i32(bit)), i32(1));
    Value part = LLVM::MulOp::create(b, set, i32(basis));
    own = own ? LLVM::XOrOp::create(b, own, part).getResult() : part;
  }
  if (!own)
    own = i32(0);
  SmallVector<Value> elements;
  llvm::DenseMap<int64_t, Value> lanes;
  for (auto [from, offset] : llvm::zip(conversion.sourceRegister, conversion.laneOf)) {
    Value &source = lanes[offset];
    if (!source)
      source = offset ? LLVM::XOrOp::create(b, own, i32(offset)).getResult() : own;
    elements.push_back(shuffleWords(extract(vector, from), [&](Value word) -> Value {
      return NVVM::ShflOp::create(b, word.getType(), i32(-1), word, source, i32(31), NVVM::ShflKind::idx, UnitAttr());
    }));
  }
  values[op.getResult()] = assemble(convertType(op.getResult().getType()), elements);
}

Value KernelLowering::shuffleWords(Value value, function_ref<Value(Value)> exchange) {
  Type type = value.getType();
  int64_t bits = type.getIntOrFloatBitWidth();
  if (bits == 32)
    return exchange(value);
  Type integer = b.getIntegerType(bits);
  Value raw = bitcast(value, integer);
  if (bits < 32) {
    Value word = exchange(LLVM::ZExtOp::create(b, b.getI32Type(), raw));
    return bitcast(LLVM::TruncOp::create(b, integer, word), type);
  }
  Type pair = VectorType::get({2}, b.getI32Type());
  Value words = bitcast(raw, pair);
  Value low = exchange(extract(words, 0)), high = exchange(extract(words, 1));
  return bitcast(bitcast(assemble(pair, {low, high}), integer), type);
}

LogicalResult KernelLowering::lowerReduce(tile::ReduceOp op) {
  auto source = cast<RankedTensorType>(op.getSource().getType());
  Dist layout = layoutOf(source);
  int64_t axis = op.getAxis();
  ReduceKind kind = op.getKind();
  Value vector = get(op.getSource());
  bool scalar = !hasLayout(op.getResult().getType());
  Dist resultLayout = scalar ? Dist() : layoutOf(op.getResult().getType());
  // The registers that fall together, in order of the coordinate along the axis.
  std::map<SmallVector<int64_t>, SmallVector<std::pair<int64_t, int64_t>>> groups;
  for (int64_t r = 0, e = layout.numRegisters(); r < e; ++r) {
    SmallVector<int64_t> at = layout.offset(r);
    int64_t along = at[axis];
    at.erase(at.begin() + axis);
    groups[at].push_back({along, r});
  }
  int64_t extent = source.getShape()[axis];
  bool padded = layout.coverage(axis) > extent;
  Value base = threadBase(layout, axis), identity;
  auto elementAt = [&](int64_t along, int64_t r) -> Value {
    Value element = extract(vector, r);
    int64_t most = layout.blockExtent(axis) - 1; // the run-time part is below the block's extent
    if (!padded || along + (base ? most : 0) < extent)
      return element;
    Value position = base ? addConstant(base, along) : i32(along);
    Value real = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, position, i32(extent));
    if (!identity)
      identity = identityOf(kind, source.getElementType());
    return LLVM::SelectOp::create(b, real, element, identity);
  };
  SmallVector<Value> results;
  for (int64_t r = 0, e = scalar ? 1 : resultLayout.numRegisters(); r < e; ++r) {
    auto &members = groups[scalar ? SmallVector<int64_t>() : resultLayout.offset(r)];
    llvm::sort(members);
    // Neighbours first: a tree has log depth and a fixed shape.
    SmallVector<Value> level;
    for (auto [along, member] : members)
      level.push_back(elementAt(along, member));
    while (level.size() > 1) {
      SmallVector<Value> next;
      for (size_t i = 0; i + 1 < level.size(); i += 2)
        next.push_back(combine(kind, level[i], level[i + 1]));
      if (level.size() % 2)
        next.push_back(level.back());
      level = std::move(next);
    }
    Value result = level[0];
    int64_t lanes = layout.laneMask(axis);
    for (int64_t bit = 0; bit < kLaneBits; ++bit)
      if (lanes >> bit & 1)
        result = combine(kind, result, shuffle(result, bit));
    results.push_back(result);
  }
  values[op.getResult()] = assemble(convertType(op.getResult().getType()), results);
  return success();
}

LogicalResult KernelLowering::lowerExchange(ExchangeOp op) {
  Value vector = get(op.getValue()), buffer = get(op.getBuffer());
  auto type = cast<BufferType>(op.getBuffer().getType());
  Type element = getElementTypeOrSelf(op.getValue().getType());
  int64_t bytes = elementBytes(element), pitch = type.getLayout().getPitch();
  bool scalar = !hasLayout(op.getValue().getType());
  int64_t count = registersOf(op.getValue().getType());
  // Column of register r of this lane; one column and one writing lane for a scalar.
  Value column = scalar ? Value() : mulConstant(lane, bytes);
  Value writer = scalar ? LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, lane, i32(0)).getResult() : Value();
  Value own = add(add(buffer, mulConstant(warp, pitch)), column);
  for (int64_t r = 0; r < count; ++r)
    storeShared(extract(vector, r), addConstant(own, r * 32 * bytes), writer);
  emitBarrier();
  int64_t mask = op.getWarpMask();
  Value others = LLVM::AndOp::create(b, warp, i32(~mask & (warps - 1)));
  Value first = add(add(buffer, mulConstant(others, pitch)), column);
  SmallVector<Value> results;
  for (int64_t r = 0; r < count; ++r) {
    Value result;
    for (int64_t w = 0; w < warps; ++w) {
      if (w & ~mask)
        continue;
      Value part = loadShared(element, addConstant(first, w * pitch + r * 32 * bytes), Value());
      result = result ? combine(op.getKind(), result, part) : part;
    }
    results.push_back(result);
  }
  values[op.getResult()] = assemble(convertType(op.getResult().getType()), results);
  return success();
}
