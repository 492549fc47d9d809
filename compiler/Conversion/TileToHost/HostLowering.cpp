//===- HostLowering.cpp - signature, program loop, control flow, recipes --------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "compiler/Conversion/TileToHost/Lowering.h"
#include "compiler/Conversion/TileToHost/Passes.h"
#include "runtime/Image/Expr.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

static RankedTensorType tileType(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }
static Type stored(Type element) { return element.isInteger(1) ? IntegerType::get(element.getContext(), 8) : element; }
static int64_t bytesOf(Type element) { return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8); }

//===----------------------------------------------------------------------===//
// Building blocks
//===----------------------------------------------------------------------===//

Value HostLowering::i64(int64_t value) { return arith::ConstantOp::create(b, b.getI64IntegerAttr(value)); }

Value HostLowering::constantOf(Type type, double value) { return arith::ConstantOp::create(b, FloatAttr::get(type, value)); }

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
  scratchTop = llvm::alignTo(scratchTop + tile.getNumElements() * bytesOf(tile.getElementType()), 64);
  scratchMost = std::max(scratchMost, scratchTop);
  return offset;
}

Value HostLowering::scratchPointer(int64_t offset) {
  return LLVM::GEPOp::create(b, scratch.getType(), b.getI8Type(), scratch, ArrayRef<LLVM::GEPArg>{int32_t(offset)});
}

Value HostLowering::bufferElement(Value pointer, Type type, const Indices &indices) {
  auto tile = cast<RankedTensorType>(type);
  Value index = i64(0);
  for (auto [i, extent] : llvm::zip(indices, tile.getShape()))
    index = arith::AddIOp::create(b, arith::MulIOp::create(b, index, i64(extent)), i);
  return LLVM::GEPOp::create(b, pointer.getType(), stored(tile.getElementType()), pointer, ArrayRef<LLVM::GEPArg>{index});
}

/// Integer launch expressions, by the rules of the language.
Value HostLowering::emitTree(const Expr &expression) {
  if (expression.kind == Expr::Kind::Integer)
    return i64(expression.integer);
  if (expression.kind == Expr::Kind::Symbol)
    return symbols.lookup(expression.name);
  SmallVector<Value> v;
  for (const Expr &operand : expression.operands) {
    v.push_back(emitTree(operand));
    if (!v.back())
      return {};
  }
  const std::string &op = expression.name;
  if (v.size() == 1 && op == "neg")
    return arith::SubIOp::create(b, i64(0), v[0]);
  if (v.size() != 2)
    return {};
  if (op == "+")
    return arith::AddIOp::create(b, v[0], v[1]);
  if (op == "-")
    return arith::SubIOp::create(b, v[0], v[1]);
  if (op == "*")
    return arith::MulIOp::create(b, v[0], v[1]);
  if (op == "min")
    return arith::MinSIOp::create(b, v[0], v[1]);
  if (op == "max")
    return arith::MaxSIOp::create(b, v[0], v[1]);
  if (op != "/" && op != "%" && op != "ceildiv")
    return {};
  auto is = [&](Value x, int64_t y) -> Value { return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, i64(y)); };
  auto select = [&](Value c, Value x, Value y) -> Value { return arith::SelectOp::create(b, c, x, y); };
  Value zero = is(v[1], 0), minusOne = is(v[1], -1);
  Value divisor = select(arith::OrIOp::create(b, zero, minusOne), i64(1), v[1]);
  Value quotient = arith::DivSIOp::create(b, v[0], divisor);
  Value remainder = arith::SubIOp::create(b, v[0], arith::MulIOp::create(b, quotient, divisor));
  Value inexact = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, remainder, i64(0));
  Value differ = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, arith::XOrIOp::create(b, remainder, divisor), i64(0));
  Value down = arith::AndIOp::create(b, inexact, differ);
  Value floor = arith::SubIOp::create(b, quotient, arith::ExtUIOp::create(b, b.getI64Type(), down));
  if (op == "%") {
    Value rest = arith::SubIOp::create(b, v[0], arith::MulIOp::create(b, floor, divisor));
    return select(zero, v[0], select(minusOne, i64(0), rest));
  }
  Value result = floor;
  if (op == "ceildiv")
    result = arith::AddIOp::create(b, floor, arith::ExtUIOp::create(b, b.getI64Type(), inexact));
  return select(zero, i64(0), select(minusOne, arith::SubIOp::create(b, i64(0), v[0]), result));
}

Value HostLowering::emitExpression(Attribute attr) {
  StringRef text = cast<StringAttr>(attr).getValue();
  Result<Expr> parsed = Expr::parse(std::string_view(text.data(), text.size()));
  Value value = parsed ? emitTree(*parsed) : Value();
  if (!value)
    kernel.emitError() << "internal error: the launch expression '" << text << "' cannot be computed on the host";
  return value;
}

//===----------------------------------------------------------------------===//
// Plan: buffer or recipe
//===----------------------------------------------------------------------===//

/// Ops whose elements can be emitted anywhere.
static bool isRecipe(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) ||
         isa<arith::ConstantOp, tile::IotaOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::PermuteOp, tile::InsideOp, tile::ReshapeOp>(op);
}
/// Recipes that only rename indices or cost nothing.
static bool isFree(Operation *op) {
  return isa<arith::ConstantOp, tile::IotaOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::PermuteOp, tile::InsideOp>(op);
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
          if (isa<tile::BroadcastOp>(user))
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
  planTiles();
  if (failed(createFunction()))
    return failure();
  auto programs = scf::ForOp::create(b, function.getArgument(1), function.getArgument(2), i64(1));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(programs.getBody());
    if (failed(createCoordinates(programs.getInductionVar())) || failed(lowerBlock(kernel.getBody().front())))
      return failure();
  }
  LLVM::ReturnOp::create(b, ValueRange());
  function->setAttr(kScratchBytesAttr, b.getI64IntegerAttr(scratchMost));
  return success(!failedInside);
}

LogicalResult HostLowering::createFunction() {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64Type = b.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {pointer, i64Type, i64Type, pointer});
  function = LLVM::LLVMFuncOp::create(b, kernel.getSymName(), type);
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  scratch = entry->getArgument(3);
  int64_t slot = 0;
  auto take = [&](Type wanted) -> Value {
    Value at = LLVM::GEPOp::create(b, pointer, i64Type, entry->getArgument(0), ArrayRef<LLVM::GEPArg>{int32_t(slot++)});
    return LLVM::LoadOp::create(b, stored(wanted), at);
  };
  unsigned numParams = kernel.getNumParams();
  for (unsigned i = 0; i < numParams; ++i)
    if (auto view = dyn_cast<tile::ViewType>(kernel.getArgumentTypes()[i])) {
      HostView state;
      state.pointer = take(pointer);
      state.element = view.getElementType();
      for (int64_t d = 0; d < view.getRank(); ++d) {
        HostViewDim dim;
        dim.stride = take(i64Type);
        if (faults.strideIgnored && d + 1 < view.getRank())
          dim.stride = i64(1);
        state.dims.push_back(dim);
      }
      views[kernel.getArgument(i)] = state;
    }
  for (StringAttr name : kernel.getDims().getAsRange<StringAttr>())
    symbols[name.getValue()] = take(i64Type);
  for (unsigned i = 0; i < numParams; ++i) {
    Type wanted = kernel.getArgumentTypes()[i];
    if (isa<tile::ViewType>(wanted))
      continue;
    Value scalar = take(wanted);
    if (wanted.isInteger(1))
      scalar = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, scalar, arith::ConstantOp::create(b, b.getI8IntegerAttr(0)));
    scalars[kernel.getArgument(i)] = scalar;
    auto name = kernel.getArgAttrOfType<StringAttr>(i, tile::kNameAttr);
    if (!name)
      continue;
    auto dtype = kernel.getArgAttrOfType<StringAttr>(i, tile::kDTypeAttr);
    bool isUnsigned = wanted.isInteger(1) || (dtype && dtype.getValue().starts_with("u"));
    Value wide = scalar;
    if (wanted.isSignlessInteger() && wanted.getIntOrFloatBitWidth() < 64)
      wide = isUnsigned ? arith::ExtUIOp::create(b, i64Type, scalar).getResult() : arith::ExtSIOp::create(b, i64Type, scalar).getResult();
    symbols[name.getValue()] = wide;
  }
  for (unsigned axis = 0; axis < kernel.getGrid().size(); ++axis)
    symbols["#" + std::to_string(axis)] = take(i64Type);
  for (unsigned i = 0; i < numParams; ++i) {
    auto view = dyn_cast<tile::ViewType>(kernel.getArgumentTypes()[i]);
    if (!view)
      continue;
    auto dims = kernel.getArgAttrOfType<ArrayAttr>(i, tile::kDimsAttr);
    for (int64_t d = 0; d < view.getRank(); ++d) {
      Value extent = view.isDynamic(d) ? emitExpression(dims[d]) : i64(view.getShape()[d]);
      if (!extent)
        return failure();
      views[kernel.getArgument(i)].dims[d].high = extent;
    }
  }
  return success();
}

LogicalResult HostLowering::createCoordinates(Value program) {
  Value rest = program;
  for (auto [axis, attr] : llvm::enumerate(kernel.getGrid())) {
    auto dictionary = cast<DictionaryAttr>(attr);
    Value count = symbols.lookup("#" + std::to_string(axis)), number = rest;
    if (axis + 1 < kernel.getGrid().size()) {
      number = arith::RemUIOp::create(b, rest, count);
      rest = arith::DivUIOp::create(b, rest, count);
    }
    Value lo = emitExpression(dictionary.get("lo")), step = emitExpression(dictionary.get("step"));
    if (!lo || !step)
      return failure();
    Value distance = arith::MulIOp::create(b, number, step);
    if (faults.gridStepOff)
      distance = arith::AddIOp::create(b, distance, i64(1));
    scalars[kernel.getCoordinate(axis)] = arith::AddIOp::create(b, lo, distance);
  }
  return success();
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
  if (auto o = dyn_cast<tile::DimOp>(op)) {
    scalars[o.getResult()] = dimExtent(o);
    return success();
  }
  if (auto o = dyn_cast<tile::LoadOp>(op))
    return lowerLoad(o);
  if (auto o = dyn_cast<tile::StoreOp>(op))
    return lowerStore(o);
  if (auto o = dyn_cast<tile::ReduceOp>(op)) {
    lowerReduce(o);
    return success();
  }
  if (auto o = dyn_cast<tile::DotOp>(op)) {
    lowerDot(o);
    return success();
  }
  if (isa<tile::AssertOp>(op))
    return success();
  if (op->getNumResults() != 1 || op->getNumRegions())
    return op->emitError() << "internal error: '" << op->getName() << "' has no lowering for the host";
  Value result = op->getResult(0);
  if (tileType(result)) {
    if (inBuffer.contains(result)) {
      Value pointer = scratchPointer(allocate(result.getType()));
      materialize(result, pointer);
      scalars[result] = pointer;
    }
    return success();
  }
  // A scalar; some ops take a tile of one element apart or ask about one place.
  if (auto o = dyn_cast<tile::InsideOp>(op)) {
    scalars[result] = insideElement(o, {});
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
  OperationState state(op->getLoc(), op->getName(), operands, op->getResultTypes(), op->getAttrs());
  scalars[result] = b.create(state)->getResult(0);
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

LogicalResult HostLowering::lowerFor(scf::ForOp loop) {
  SmallVector<Value> inits, pointers(loop.getNumRegionIterArgs());
  for (auto [i, init] : llvm::enumerate(loop.getInitArgs())) {
    if (!tileType(init)) {
      inits.push_back(get(init));
      continue;
    }
    pointers[i] = scratchPointer(allocate(init.getType()));
    materialize(init, pointers[i]);
  }
  Value high = get(loop.getUpperBound());
  if (faults.loopSkipsLast)
    high = arith::SubIOp::create(b, high, get(loop.getStep()));
  auto lowered = scf::ForOp::create(b, get(loop.getLowerBound()), high, get(loop.getStep()), inits);
  OpBuilder::InsertionGuard guard(b);
  Block *body = lowered.getBody();
  if (!body->empty() && body->back().hasTrait<OpTrait::IsTerminator>())
    body->back().erase();
  b.setInsertionPointToEnd(body);
  scalars[loop.getInductionVar()] = lowered.getInductionVar();
  unsigned next = 0;
  for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs()))
    scalars[argument] = pointers[i] ? pointers[i] : Value(lowered.getRegionIterArg(next++));
  int64_t mark = scratchTop;
  if (failed(lowerBlock(*loop.getBody())))
    return failure();
  // All new values first, then the updates: one may read what another replaces.
  SmallVector<Value> yielded;
  SmallVector<std::pair<Value, Value>> copies;
  for (auto [i, value] : llvm::enumerate(loop.getYieldedValues())) {
    if (!pointers[i]) {
      yielded.push_back(get(value));
      continue;
    }
    if (value == loop.getRegionIterArg(i) || faults.carriedNotUpdated)
      continue;
    Value from = scalars.lookup(value);
    auto argument = dyn_cast<BlockArgument>(value);
    if (!from || argument) {
      from = scratchPointer(allocate(value.getType()));
      emitted.clear();
      materialize(value, from);
    }
    copies.push_back({from, pointers[i]});
  }
  for (auto [i, value] : llvm::enumerate(loop.getYieldedValues()))
    if (pointers[i]) {
      auto type = cast<RankedTensorType>(value.getType());
      for (auto [from, to] : copies)
        if (to == pointers[i])
          LLVM::MemcpyOp::create(b, to, from, i64(type.getNumElements() * bytesOf(type.getElementType())), false);
    }
  scf::YieldOp::create(b, yielded);
  scratchTop = mark; // what only the body used
  next = 0;
  for (auto [i, result] : llvm::enumerate(loop.getResults()))
    scalars[result] = pointers[i] ? pointers[i] : Value(lowered.getResult(next++));
  return success();
}

LogicalResult HostLowering::lowerIf(scf::IfOp branch) {
  SmallVector<Type> types;
  SmallVector<Value> pointers(branch.getNumResults());
  for (auto [i, result] : llvm::enumerate(branch.getResults())) {
    if (tileType(result))
      pointers[i] = scratchPointer(allocate(result.getType()));
    else
      types.push_back(result.getType());
  }
  auto lowered = scf::IfOp::create(b, types, get(branch.getCondition()), !branch.getElseRegion().empty());
  for (auto [from, to] : llvm::zip(branch->getRegions(), lowered->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(b);
    Block *block = to.empty() ? b.createBlock(&to) : &to.front();
    if (!block->empty() && block->back().hasTrait<OpTrait::IsTerminator>())
      block->back().erase();
    b.setInsertionPointToEnd(block);
    int64_t mark = scratchTop;
    if (failed(lowerBlock(from.front())))
      return failure();
    SmallVector<Value> yielded;
    for (auto [i, value] : llvm::enumerate(from.front().getTerminator()->getOperands())) {
      emitted.clear();
      if (pointers[i])
        materialize(value, pointers[i]);
      else
        yielded.push_back(get(value));
    }
    scf::YieldOp::create(b, yielded);
    scratchTop = mark;
  }
  unsigned next = 0;
  for (auto [i, result] : llvm::enumerate(branch.getResults()))
    scalars[result] = pointers[i] ? pointers[i] : Value(lowered.getResult(next++));
  return success();
}

LogicalResult HostLowering::lowerWhile(scf::WhileOp loop) {
  for (Type type : llvm::concat<const Type>(loop.getOperandTypes(), loop.getResultTypes()))
    if (isa<RankedTensorType>(type))
      return loop.emitError() << "T0506: tiles carried by 'while' are not supported yet; carry scalars, or use 'for'";
  SmallVector<Value> inits;
  for (Value init : loop.getInits())
    inits.push_back(get(init));
  auto lowered = scf::WhileOp::create(b, loop.getResultTypes(), inits);
  for (auto [from, to] : llvm::zip(loop->getRegions(), lowered->getRegions())) {
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&to);
    for (Value argument : from.front().getArguments())
      scalars[argument] = block->addArgument(argument.getType(), argument.getLoc());
    b.setInsertionPointToEnd(block);
    if (failed(lowerBlock(from.front())))
      return failure();
    IRMapping mapping;
    Operation *terminator = from.front().getTerminator();
    for (Value operand : terminator->getOperands())
      mapping.map(operand, get(operand));
    b.clone(*terminator, mapping);
  }
  for (auto [old, fresh] : llvm::zip(loop.getResults(), lowered.getResults()))
    scalars[old] = fresh;
  return success();
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
    return arith::ConstantOp::create(b, cast<TypedAttr>(dense.getSplatValue<Attribute>()));
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
    if (faults.broadcastWrongAxis && source.getRank() == 1 && indices.size() == 2 && cast<RankedTensorType>(broadcast.getType()).getShape()[0] == source.getShape()[0])
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
      at[faults.permuteIgnored && tileType(permute.getSource()).getShape()[0] == tileType(permute.getSource()).getShape()[1] ? i : d] = indices[i];
    return elementOf(permute.getSource(), at);
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
  OperationState state(op->getLoc(), op->getName(), operands, {getElementTypeOrSelf(op->getResult(0).getType())}, op->getAttrs());
  return b.create(state)->getResult(0);
}
