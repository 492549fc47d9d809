//===- ControlFlow.cpp - structured control flow over named variables ----------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "compiler/Frontend/ControlFlow.h"

#include "dialect/Tile/TileDialect.h"

#include <fmt/format.h>

using namespace mlir;

namespace tessera::frontend {

ControlFlow::Carried ControlFlow::carried(ArrayRef<std::string> assigned) {
  Carried result;
  for (const std::string &name : assigned) {
    Variable *variable = environment.find(name);
    if (!variable || !variable->isVar || !variable->value.isData())
      continue;
    result.names.push_back(name);
    result.values.push_back(variable->value.ssa);
    result.types.push_back(variable->value.ssa.getType());
  }
  return result;
}

void ControlFlow::set(const Carried &names, ValueRange values) {
  for (auto [name, value] : llvm::zip(names.names, values))
    if (Variable *variable = environment.find(name))
      variable->value.ssa = value;
}

//===----------------------------------------------------------------------===//
// if
//===----------------------------------------------------------------------===//

/// The leaves of a (possibly nested) tuple.
static void flatten(const Value &value, SmallVectorImpl<Value> &leaves) {
  if (!value.isTuple()) {
    leaves.push_back(value);
    return;
  }
  for (const Value &element : value.elements)
    flatten(element, leaves);
}

/// The tuple structure of `like` over new leaves.
static Value unflatten(const Value &like, ArrayRef<Value> &leaves) {
  if (!like.isTuple()) {
    Value leaf = leaves.front();
    leaves = leaves.drop_front();
    return leaf;
  }
  std::vector<Value> elements;
  for (const Value &element : like.elements)
    elements.push_back(unflatten(element, leaves));
  return Value::of(std::move(elements));
}

static bool sameStructure(const Value &a, const Value &b) {
  if (!a.isTuple() || !b.isTuple())
    return a.isTuple() == b.isTuple();
  return a.elements.size() == b.elements.size() && llvm::all_of(llvm::zip(a.elements, b.elements), [](auto pair) {
           return sameStructure(std::get<0>(pair), std::get<1>(pair));
         });
}

/// Brings the values of two branches to one type and shape, each at the end of its own block.  False after an error.
static bool joinBranches(Emitter &emitter, MutableArrayRef<Value> pair, ArrayRef<Block *> blocks, At at) {
  auto isChosenEarly = [](const Value &v) { return v.isView() || v.isFunction(); };
  if (llvm::any_of(pair, isChosenEarly)) {
    emitter.error(at, "T0209",
                  fmt::format("an 'if' whose condition is known only at run time cannot choose between {} and {}",
                              emitter.describe(pair[0]), emitter.describe(pair[1])),
                  "choose among loaded tiles, or make the condition a compile-time parameter");
    return false;
  }
  std::optional<DType> type;
  if (pair[0].isData() || pair[1].isData())
    type = emitter.commonType(pair, at);
  else
    type = pair[0].isBoolean() ? DType::Bool : pair[0].isInteger() && pair[1].isInteger() ? DType::I64 : DType::F32;
  std::optional<Emitter::Shape> shape = type ? emitter.commonShape(pair, at) : std::nullopt;
  if (!shape)
    return false;
  for (auto [value, block] : llvm::zip(pair, blocks)) {
    OpBuilder::InsertionGuard guard(emitter.builder);
    emitter.builder.setInsertionPointToEnd(block);
    if (value.isData())
      value = emitter.broadcast(emitter.widen(value, *type, at), shape->extents, shape->origins, at);
    else if (value.isNumber() || value.isBoolean())
      value = emitter.full(value, *type, *shape, at);
    else
      value = emitter.notAValue(value, at, "a value in every branch");
    if (value.isPoison())
      return false;
  }
  return true;
}

Value ControlFlow::branch(mlir::Value condition, ArrayRef<std::string> assigned, Body thenBody, Body elseBody,
                          bool isValue, At at) {
  OpBuilder &builder = emitter.builder;
  Carried before = carried(assigned);
  Region regions[2];
  Value results[2];
  SmallVector<mlir::Value> ends[2];
  {
    OpBuilder::InsertionGuard guard(builder);
    for (int side = 0; side < 2; ++side) {
      builder.setInsertionPointToStart(&regions[side].emplaceBlock());
      set(before, before.values);
      environment.push();
      results[side] = side == 0 ? thenBody() : elseBody();
      environment.pop();
      ends[side] = carried(assigned).values;
    }
    set(before, before.values);
  }
  SmallVector<Value> leaves[2];
  SmallVector<Value> joined; // per leaf: its type and origins; the value becomes the result
  SmallVector<Type> types(before.types);
  if (isValue) {
    if (results[0].isPoison() || results[1].isPoison())
      return Value::poison();
    if (!sameStructure(results[0], results[1]))
      return emitter.error(at, "T0209",
                           fmt::format("the branches of an 'if' used as a value agree: found {} and {}",
                                       emitter.describe(results[0]), emitter.describe(results[1])),
                           "");
    for (int side = 0; side < 2; ++side)
      flatten(results[side], leaves[side]);
    for (size_t i = 0; i < leaves[0].size(); ++i) {
      Value pair[2] = {leaves[0][i], leaves[1][i]};
      Block *blocks[2] = {&regions[0].front(), &regions[1].front()};
      if (!joinBranches(emitter, pair, blocks, at))
        return Value::poison();
      for (int side = 0; side < 2; ++side)
        ends[side].push_back(pair[side].ssa);
      joined.push_back(pair[0]);
      types.push_back(pair[0].ssa.getType());
    }
  }
  for (int side = 0; side < 2; ++side) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&regions[side].front());
    scf::YieldOp::create(builder, emitter.loc(at), ends[side]);
  }
  auto op =
      scf::IfOp::create(builder, emitter.loc(at), types, condition, /*addThenBlock=*/false, /*addElseBlock=*/false);
  op.getThenRegion().takeBody(regions[0]);
  bool elseIsEmpty = types.empty() && llvm::hasSingleElement(regions[1].front());
  if (!elseIsEmpty)
    op.getElseRegion().takeBody(regions[1]);
  size_t count = before.names.size();
  set(before, op.getResults().take_front(count));
  if (!isValue)
    return Value::nothing();
  for (auto [leaf, result] : llvm::zip(joined, op.getResults().drop_front(count)))
    leaf.ssa = result;
  ArrayRef<Value> rest = joined;
  return unflatten(results[0], rest);
}

//===----------------------------------------------------------------------===//
// for, while
//===----------------------------------------------------------------------===//

void ControlFlow::loop(mlir::Value lo, mlir::Value hi, mlir::Value step, ArrayRef<std::string> assigned,
                       llvm::function_ref<void(mlir::Value)> body, At at, const char *goesOn) {
  OpBuilder &builder = emitter.builder;
  Location place = emitter.loc(at);
  auto constant = step.getDefiningOp<arith::ConstantOp>();
  if (!constant || cast<IntegerAttr>(constant.getValue()).getInt() < 1) {
    // scf.for needs a positive step: without one, run from lo to lo by 1.
    mlir::Value one = emitter.indexConstant(1, at);
    mlir::Value positive = arith::CmpIOp::create(builder, place, arith::CmpIPredicate::sge, step, one);
    hi = arith::SelectOp::create(builder, place, positive, hi, lo);
    step = arith::MaxSIOp::create(builder, place, step, one);
  }
  Carried before = carried(assigned);
  // The body tells which loop it needs, so it is made first: index, then the variables.
  Region region;
  Block &block = region.emplaceBlock();
  block.addArgument(builder.getI64Type(), place);
  block.addArguments(before.types, SmallVector<Location>(before.types.size(), place));
  SmallVector<mlir::Value> ends;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&block);
    set(before, block.getArguments().drop_front());
    environment.push();
    body(block.getArgument(0));
    environment.pop();
    ends = carried(assigned).values;
  }
  size_t flag = goesOn ? llvm::find(before.names, goesOn) - before.names.begin() : before.names.size();
  if (flag == before.names.size() || ends[flag] == block.getArgument(1 + flag)) {
    if (flag < before.names.size()) {
      // Nothing that is left of the body breaks.
      block.getArgument(1 + flag).replaceAllUsesWith(before.values[flag]);
      block.eraseArgument(1 + flag);
      set(before, before.values);
      before.names.erase(before.names.begin() + flag);
      before.values.erase(before.values.begin() + flag);
      ends.erase(ends.begin() + flag);
    }
    auto op = scf::ForOp::create(builder, place, lo, hi, step, before.values);
    op.getRegion().takeBody(region);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(op.getBody());
    scf::YieldOp::create(builder, place, ends);
    set(before, op.getResults());
    return;
  }
  // How many iterations there are, as an unsigned number: hi - lo may exceed i64.
  mlir::Value zero = emitter.indexConstant(0, at), one = emitter.indexConstant(1, at);
  mlir::Value some = arith::CmpIOp::create(builder, place, arith::CmpIPredicate::slt, lo, hi);
  mlir::Value length = builder.createOrFold<arith::SubIOp>(place, hi, lo);
  mlir::Value count =
      builder.createOrFold<tile::CeilDivOp>(place, length.getType(), length, step, /*is_unsigned=*/true);
  count = arith::SelectOp::create(builder, place, some, count, zero);

  SmallVector<mlir::Value> inits = {zero};
  llvm::append_range(inits, before.values);
  SmallVector<Type> types(block.getArgumentTypes());
  SmallVector<Location> places(types.size(), place);
  auto op = scf::WhileOp::create(builder, place, types, inits);
  OpBuilder::InsertionGuard guard(builder);
  Block *test = builder.createBlock(&op.getBefore(), {}, types, places);
  mlir::Value isInside = arith::CmpIOp::create(builder, place, arith::CmpIPredicate::ult, test->getArgument(0), count);
  mlir::Value runs = arith::AndIOp::create(builder, place, isInside, test->getArgument(1 + flag));
  scf::ConditionOp::create(builder, place, runs, test->getArguments());
  op.getAfter().takeBody(region);
  Block *after = &op.getAfter().front();
  mlir::Value number = after->getArgument(0);
  builder.setInsertionPointToStart(after);
  mlir::Value offset = builder.createOrFold<arith::MulIOp>(place, number, step);
  mlir::Value index = builder.createOrFold<arith::AddIOp>(place, lo, offset);
  if (index != number) {
    SmallPtrSet<mlir::Operation *, 2> own = {index.getDefiningOp()};
    if (mlir::Operation *scaled = offset.getDefiningOp())
      own.insert(scaled);
    number.replaceAllUsesExcept(index, own);
  }
  builder.setInsertionPointToEnd(after);
  SmallVector<mlir::Value> yielded = {arith::AddIOp::create(builder, place, number, one)};
  llvm::append_range(yielded, ends);
  scf::YieldOp::create(builder, place, yielded);
  set(before, op.getResults().drop_front());
}

void ControlFlow::whileLoop(ArrayRef<std::string> assigned, llvm::function_ref<mlir::Value()> condition,
                            llvm::function_ref<void()> body, At at) {
  OpBuilder &builder = emitter.builder;
  Location place = emitter.loc(at);
  Carried before = carried(assigned);
  auto op = scf::WhileOp::create(builder, place, before.types, before.values);
  SmallVector<Location> places(before.types.size(), place);
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *test = builder.createBlock(&op.getBefore(), {}, before.types, places);
    set(before, test->getArguments());
    mlir::Value truth = condition();
    if (!truth)
      truth = arith::ConstantOp::create(builder, place, builder.getBoolAttr(false));
    scf::ConditionOp::create(builder, place, truth, carried(assigned).values);
    Block *block = builder.createBlock(&op.getAfter(), {}, before.types, places);
    set(before, block->getArguments());
    environment.push();
    body();
    environment.pop();
    scf::YieldOp::create(builder, place, carried(assigned).values);
  }
  set(before, op.getResults());
}

} // namespace tessera::frontend
