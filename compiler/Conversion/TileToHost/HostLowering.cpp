//===- HostLowering.cpp - the walk, and tiles as buffers or recipes ------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

//
// Walks a kernel once.  `planTiles` has decided which tiles get a buffer; every other tile is emitted element by element where a loop needs it.
//
#include "compiler/Conversion/TileToHost/Lowering.h"
#include "compiler/Conversion/TileToHost/Passes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// Building blocks
//===----------------------------------------------------------------------===//

Value HostLowering::i64(int64_t value) { return arith::ConstantOp::create(b, b.getI64IntegerAttr(value)); }

void HostLowering::loop(Value low, Value high, int64_t step, function_ref<void(Value)> body) {
  auto op = scf::ForOp::create(b, low, high, i64(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  auto saved = emitted; // what was emitted outside stays visible, what is emitted inside does not leave
  body(op.getInductionVar());
  emitted = std::move(saved);
}

void HostLowering::loopOver(ArrayRef<int64_t> shape, function_ref<void(const Indices &)> body) {
  Indices indices;
  std::function<void(size_t)> nest = [&](size_t d) {
    if (d == shape.size())
      return body(indices);
    loop(i64(0), i64(shape[d]), 1, [&](Value i) {
      indices.push_back(i);
      nest(d + 1);
      indices.pop_back();
    });
  };
  nest(0);
}

int64_t HostLowering::allocate(Type type) {
  auto tile = cast<RankedTensorType>(type);
  int64_t offset = scratchTop;
  // Extents are the program's: their product may not fit 64 bits.
  int64_t bytes = bytesOf(tile.getElementType());
  for (int64_t extent : tile.getShape())
    if (llvm::MulOverflow(bytes, extent, bytes))
      bytes = kMaxScratchBytes + 1;
  scratchTop =
      std::min<int64_t>(llvm::alignTo(scratchTop + std::min(bytes, kMaxScratchBytes + 1), 64), 2 * kMaxScratchBytes);
  scratchMost = std::max(scratchMost, scratchTop);
  return offset;
}

Value HostLowering::scratchPointer(int64_t offset) {
  return LLVM::GEPOp::create(b, scratch.getType(), b.getI8Type(), scratch, ArrayRef<LLVM::GEPArg>{i64(offset)});
}

Value HostLowering::bufferElement(Value pointer, Type type, const Indices &indices) {
  auto tile = cast<RankedTensorType>(type);
  Value index = i64(0);
  for (auto [i, extent] : llvm::zip(indices, tile.getShape()))
    index = arith::AddIOp::create(b, arith::MulIOp::create(b, index, i64(extent)), i);
  return LLVM::GEPOp::create(b, pointer.getType(), stored(tile.getElementType()), pointer,
                             ArrayRef<LLVM::GEPArg>{index});
}

//===----------------------------------------------------------------------===//
// Plan: buffer or recipe
//===----------------------------------------------------------------------===//

/// A constant tile whose elements differ.
static bool isListConstant(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  return dense && !dense.isSplat();
}

/// Ops whose elements can be emitted anywhere.
static bool isRecipe(Operation *op) {
  if (isListConstant(op))
    return false;
  return OpTrait::hasElementwiseMappableTraits(op) ||
         isa<arith::ConstantOp, tile::IotaOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::PermuteOp, tile::InsideOp,
             tile::ReshapeOp, tile::ConcatOp, tile::ExtractOp>(op);
}
/// Recipes that only rename indices or cost nothing.
static bool isFree(Operation *op) {
  return isa<arith::ConstantOp, tile::IotaOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::PermuteOp, tile::InsideOp,
             tile::ExtractOp>(op);
}

void HostLowering::planTiles() {
  // For every tile: the one consumer whose loop evaluates it, if there is exactly one, each element once.
  struct Use {
    Operation *root = nullptr;
    bool many = false;
  };
  llvm::DenseMap<Value, Use> use;
  SmallVector<Operation *> ops;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops))
    for (Value result : op->getResults()) {
      if (!tileType(result))
        continue;
      Use mine;
      for (Operation *user : result.getUsers()) {
        Operation *root = user;
        bool many = user->getBlock() != op->getBlock();
        if (isRecipe(user) && user->getNumResults() == 1 && !inBuffer.contains(user->getResult(0))) {
          Use other = use.lookup(user->getResult(0));
          root = other.root;
          many |= other.many;
          if (isa<tile::BroadcastOp, tile::ConcatOp>(user))
            many = true; // an element is wanted again and again
        }
        many |= mine.root && mine.root != root;
        mine.root = root;
        mine.many |= many;
      }
      use[result] = mine;
      bool recipe = isRecipe(op) && (isFree(op) || !mine.many);
      if (isa<tile::ReshapeOp>(op))
        recipe = false;
      if (!recipe)
        inBuffer.insert(result);
    }
  // Emission recurses along a recipe: cut long chains.
  constexpr int kMaxDepth = 64;
  llvm::DenseMap<Value, int> depth;
  for (Operation *op : ops)
    for (Value result : op->getResults()) {
      if (!tileType(result) || inBuffer.contains(result))
        continue;
      int deepest = 0;
      for (Value operand : op->getOperands())
        deepest = std::max(deepest, depth.lookup(operand));
      if (deepest >= kMaxDepth)
        inBuffer.insert(result);
      else
        depth[result] = deepest + 1;
    }
  // What carries values through control flow is always in a buffer.
  for (Operation *op : ops)
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (tileType(argument))
            inBuffer.insert(argument);
}

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

LogicalResult HostLowering::lower() {
  // Code generation turns loops into calls of these; a kernel of that name would call itself.
  if (llvm::is_contained({"memcpy", "memmove", "memset"}, kernel.getSymName()))
    return kernel.emitError() << "T0507: a kernel cannot be called '" << kernel.getSymName()
                              << "' on the host; choose another name";
  planTiles();
  if (failed(createFunction()))
    return failure();
  auto programs = scf::ForOp::create(b, function.getArgument(1), function.getArgument(2), i64(1));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(programs.getBody());
    program = programs.getInductionVar();
    if (failed(createCoordinates()) || failed(lowerBlock(kernel.getBody().front())))
      return failure();
  }
  LLVM::ReturnOp::create(b, ValueRange());
  if (scratchMost > kMaxScratchBytes)
    return kernel.emitError() << "T0508: the tiles of the kernel need "
                              << (scratchMost >= 2 * kMaxScratchBytes ? "more than " : "") << scratchMost
                              << " bytes for each thread, the host allows " << kMaxScratchBytes
                              << "; choose smaller tiles";
  function->setAttr(kScratchBytesAttr, b.getI64IntegerAttr(scratchMost));
  return success(!failedInside);
}

//===----------------------------------------------------------------------===//
// Walk
//===----------------------------------------------------------------------===//

LogicalResult HostLowering::lowerBlock(Block &block) {
  for (Operation &op : block) {
    b.setLoc(op.getLoc());
    emitted.clear();
    if (failed(lowerOp(&op)))
      return failure();
  }
  return success();
}

LogicalResult HostLowering::lowerOp(Operation *op) {
  if (isa<tile::ReturnOp, scf::YieldOp, scf::ConditionOp>(op))
    return success(); // their parents look at the operands
  if (auto o = dyn_cast<scf::ForOp>(op))
    return lowerFor(o);
  if (auto o = dyn_cast<scf::IfOp>(op))
    return lowerIf(o);
  if (auto o = dyn_cast<scf::WhileOp>(op))
    return lowerWhile(o);
  if (auto o = dyn_cast<tile::SubviewOp>(op)) {
    lowerSubview(o);
    return success();
  }
  if (auto o = dyn_cast<tile::PagedOp>(op)) {
    lowerPaged(o);
    return success();
  }
  if (auto o = dyn_cast<tile::DimOp>(op)) {
    scalars[o.getResult()] = dimExtent(o);
    return success();
  }
  if (auto o = dyn_cast<tile::LoadOp>(op))
    return lowerLoad(o);
  if (auto o = dyn_cast<tile::StoreOp>(op))
    return lowerStore(o);
  if (auto o = dyn_cast<tile::AccumulateOp>(op)) {
    lowerAccumulate(o);
    return success();
  }
  if (auto o = dyn_cast<tile::AtomicOp>(op)) {
    lowerAtomic(o);
    return success();
  }
  if (auto o = dyn_cast<tile::ReduceOp>(op)) {
    lowerReduce(o);
    return success();
  }
  if (auto o = dyn_cast<tile::ScanOp>(op)) {
    lowerScan(o);
    return success();
  }
  if (auto o = dyn_cast<tile::ReduceByOp>(op)) {
    lowerReduceBy(o);
    return success();
  }
  if (auto o = dyn_cast<tile::ScanByOp>(op)) {
    lowerScanBy(o);
    return success();
  }
  if (auto o = dyn_cast<tile::SortOp>(op)) {
    lowerSort(o);
    return success();
  }
  if (auto o = dyn_cast<tile::HistogramOp>(op)) {
    lowerHistogram(o);
    return success();
  }
  if (auto o = dyn_cast<tile::DotOp>(op)) {
    lowerDot(o);
    return success();
  }
  if (auto o = dyn_cast<tile::AssertOp>(op)) {
    lowerAssert(o);
    return success();
  }
  if (op->getNumResults() != 1 || op->getNumRegions())
    return op->emitError() << "internal error: '" << op->getName() << "' has no lowering for the host";
  Value result = op->getResult(0);
  if (tileType(result)) {
    if (inBuffer.contains(result)) {
      Value pointer = scratchPointer(allocate(result.getType()));
      if (isListConstant(op)) {
        if (failed(writeConstant(cast<arith::ConstantOp>(op), pointer)))
          return failure();
      } else {
        materialize(result, pointer);
      }
      scalars[result] = pointer;
    }
    return success();
  }
  // A scalar; some ops take a tile of one element apart or ask about one place.
  if (auto o = dyn_cast<tile::InsideOp>(op)) {
    scalars[result] = insideElement(o, {});
    return success();
  }
  if (auto o = dyn_cast<tile::ExtractOp>(op)) {
    scalars[result] = elementOf(o.getSource(), extractedFrom(o, {}));
    return success();
  }
  if (auto o = dyn_cast<tile::ReshapeOp>(op)) {
    scalars[result] = elementOf(o.getSource(), Indices(tileType(o.getSource()).getRank(), i64(0)));
    return success();
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (!get(operand))
      return op->emitError() << "internal error: an operand of '" << op->getName() << "' has no lowering for the host";
    operands.push_back(get(operand));
  }
  scalars[result] = emitScalarOp(op, operands);
  return success();
}

/// Where the element of a part of a tile stands in the tile.
HostLowering::Indices HostLowering::extractedFrom(tile::ExtractOp op, const Indices &indices) {
  Indices from;
  size_t next = 0;
  for (auto [start, width, step] : llvm::zip(op.getStarts(), op.getWidths(), op.getSteps())) {
    Value position = i64(start);
    if (width > 0)
      position = arith::AddIOp::create(b, position, arith::MulIOp::create(b, indices[next++], i64(step)));
    from.push_back(position);
  }
  return from;
}

/// One store for each element of a constant that is no splat.
LogicalResult HostLowering::writeConstant(arith::ConstantOp constant, Value pointer) {
  constexpr int64_t kMost = 4096;
  auto dense = cast<DenseElementsAttr>(constant.getValue());
  if (dense.getNumElements() > kMost)
    return constant.emitError() << "internal error: a constant tile of " << dense.getNumElements()
                                << " elements has no lowering for the host";
  auto flat = RankedTensorType::get({dense.getNumElements()}, dense.getElementType());
  for (auto [i, value] : llvm::enumerate(dense.getValues<Attribute>()))
    storeScalar(heldConstant(value), bufferElement(pointer, flat, {this->i64(int64_t(i))}));
  return success();
}

/// Writes every element of `tile` to the buffer at `pointer`.
void HostLowering::materialize(Value tile, Value pointer) {
  auto type = cast<RankedTensorType>(tile.getType());
  Operation *op = tile.getDefiningOp();
  loopOver(type.getShape(), [&](const Indices &indices) {
    Value element = scalars.count(tile) ? elementOf(tile, indices) : recipeElement(op, indices);
    storeScalar(element, bufferElement(pointer, type, indices));
  });
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value HostLowering::elementOf(Value tile, const Indices &indices) {
  if (!tileType(tile))
    return get(tile);
  std::pair<void *, std::vector<void *>> key{tile.getAsOpaquePointer(), {}};
  for (Value i : indices)
    key.second.push_back(i.getAsOpaquePointer());
  if (auto it = emitted.find(key); it != emitted.end())
    return it->second;
  Value element;
  if (Value pointer = scalars.lookup(tile)) {
    Type type = tileType(tile).getElementType();
    element = loadScalar(type, bufferElement(pointer, tile.getType(), indices));
  } else {
    element = recipeElement(tile.getDefiningOp(), indices);
  }
  emitted[key] = element;
  return element;
}

Value HostLowering::recipeElement(Operation *op, const Indices &indices) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = cast<DenseElementsAttr>(constant.getValue());
    return heldConstant(dense.getSplatValue<Attribute>());
  }
  if (isa<tile::IotaOp>(op))
    return faults.iotaFromOne ? arith::AddIOp::create(b, indices[0], i64(1)).getResult() : indices[0];
  if (auto inside = dyn_cast<tile::InsideOp>(op))
    return insideElement(inside, indices);
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    RankedTensorType source = tileType(broadcast.getSource());
    if (!source)
      return get(broadcast.getSource());
    Indices at(indices.end() - source.getRank(), indices.end());
    for (int64_t d = 0; d < source.getRank(); ++d)
      if (source.getShape()[d] == 1)
        at[d] = i64(0);
    if (faults.broadcastWrongAxis && source.getRank() == 1 && indices.size() == 2 &&
        cast<RankedTensorType>(broadcast.getType()).getShape()[0] == source.getShape()[0])
      at[0] = indices[0];
    return elementOf(broadcast.getSource(), at);
  }
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
    Indices at(indices);
    at.erase(at.begin() + (faults.expandTransposed ? 0 : expand.getAxis()));
    return elementOf(expand.getSource(), at);
  }
  if (auto permute = dyn_cast<tile::PermuteOp>(op)) {
    Indices at(indices.size());
    for (auto [i, d] : llvm::enumerate(permute.getOrder()))
      at[faults.permuteIgnored &&
                 tileType(permute.getSource()).getShape()[0] == tileType(permute.getSource()).getShape()[1]
             ? i
             : d] = indices[i];
    return elementOf(permute.getSource(), at);
  }
  if (auto extract = dyn_cast<tile::ExtractOp>(op))
    return elementOf(extract.getSource(), extractedFrom(extract, indices));
  if (auto concat = dyn_cast<tile::ConcatOp>(op)) {
    // Both are read, at an index that each of them has; then one is chosen.
    int64_t axis = concat.getAxis(), length = tileType(concat.getFirst()).getShape()[axis];
    Indices first(indices), second(indices);
    first[axis] = arith::MinSIOp::create(b, indices[axis], i64(length - 1));
    second[axis] = arith::MaxSIOp::create(b, arith::SubIOp::create(b, indices[axis], i64(length)), i64(0));
    Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, indices[axis], i64(length));
    Value x = elementOf(concat.getFirst(), first), y = elementOf(concat.getSecond(), second);
    return arith::SelectOp::create(b, isFirst, x, y);
  }
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
    Value linear = i64(0);
    for (auto [i, extent] : llvm::zip(indices, cast<RankedTensorType>(reshape.getType()).getShape()))
      linear = arith::AddIOp::create(b, arith::MulIOp::create(b, linear, i64(extent)), i);
    RankedTensorType source = tileType(reshape.getSource());
    if (!source)
      return get(reshape.getSource());
    Indices at(source.getRank());
    for (int64_t d = source.getRank() - 1; d >= 0; --d) {
      at[d] = arith::RemUIOp::create(b, linear, i64(source.getShape()[d]));
      linear = arith::DivUIOp::create(b, linear, i64(source.getShape()[d]));
    }
    return elementOf(reshape.getSource(), at);
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(elementOf(operand, indices));
  if (faults.selectSwapped && isa<arith::SelectOp>(op))
    std::swap(operands[1], operands[2]);
  if (faults.maxSkipsNan && isa<arith::MaximumFOp>(op))
    return arith::MaxNumFOp::create(b, operands[0], operands[1]);
  if (faults.minBecomesMax && isa<arith::MinimumFOp>(op))
    return arith::MaximumFOp::create(b, operands[0], operands[1]);
  return emitScalarOp(op, operands);
}

/// One element of an elementwise op, or a scalar op; `operands` are held.
Value HostLowering::emitScalarOp(Operation *op, SmallVector<Value> operands) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return heldConstant(constant.getValue());
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  // What only moves bits stays with the bits.
  if (isa<arith::SelectOp>(op))
    return arith::SelectOp::create(b, operands[0], operands[1], operands[2]);
  if (isa<arith::BitcastOp>(op) && operands[0].getType() == held(element))
    return operands[0];
  for (auto [value, operand] : llvm::zip(operands, op->getOperands()))
    value = unhold(value, getElementTypeOrSelf(operand.getType()));
  OperationState state(op->getLoc(), op->getName(), operands, {element}, op->getAttrs());
  return hold(b.create(state)->getResult(0));
}

Value HostLowering::heldConstant(Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value); number && held(number.getType()) != number.getType())
    value = IntegerAttr::get(held(number.getType()), number.getValue().bitcastToAPInt());
  return arith::ConstantOp::create(b, cast<TypedAttr>(value));
}

Value HostLowering::hold(Value value) {
  Type type = held(value.getType());
  return type == value.getType() ? value : arith::BitcastOp::create(b, type, value).getResult();
}

Value HostLowering::unhold(Value value, Type element) {
  return value.getType() == element || held(element) == element
             ? value
             : arith::BitcastOp::create(b, element, value).getResult();
}
