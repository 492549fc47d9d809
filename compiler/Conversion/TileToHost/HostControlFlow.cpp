//===- HostControlFlow.cpp - loops, branches and assertions on the host --------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A tile that control flow carries lives in one buffer for the whole construct, which the body updates; scalars stay SSA values.
//
#include "compiler/Conversion/TileToHost/Lowering.h"
#include "compiler/Conversion/TileToHost/Passes.h"

using namespace mlir;
using namespace tessera;

/// Stores the number of the assertion and of the program where the runtime looks for them, unless one stands there already.
void HostLowering::lowerAssert(tile::AssertOp op) {
  // Numbered before the passes, some of which drop assertions that hold; IR written by hand is numbered in order.
  auto given = op->getAttrOfType<IntegerAttr>(kAssertionAttr);
  int64_t number = given ? given.getInt() : ++assertions;
  auto check = [&](Value condition) {
    Value failed = arith::XOrIOp::create(b, condition, arith::ConstantOp::create(b, b.getBoolAttr(true)));
    Value first = LLVM::LoadOp::create(b, b.getI64Type(), scratch);
    Value fresh = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, first, i64(0));
    auto branch = scf::IfOp::create(b, TypeRange(), arith::AndIOp::create(b, failed, fresh), false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    LLVM::StoreOp::create(b, i64(number), scratch);
    LLVM::StoreOp::create(b, program, scratchPointer(8));
  };
  if (RankedTensorType type = tileType(op.getCondition()))
    loopOver(type.getShape(), [&](const Indices &at) { check(elementOf(op.getCondition(), at)); });
  else
    check(get(op.getCondition()));
}

void HostLowering::copyTile(Value from, Value to, Type type) {
  auto tile = cast<RankedTensorType>(type);
  LLVM::MemcpyOp::create(b, to, from, i64(tile.getNumElements() * bytesOf(tile.getElementType())), false);
}

LogicalResult HostLowering::lowerFor(scf::ForOp loop) {
  if (!loop.getInductionVar().getType().isInteger(64))
    return loop.emitError() << "internal error: a loop over " << loop.getInductionVar().getType()
                            << " has no lowering for the host";
  SmallVector<Value> inits, pointers(loop.getNumRegionIterArgs());
  for (auto [i, init] : llvm::enumerate(loop.getInitArgs())) {
    if (!tileType(init)) {
      inits.push_back(get(init));
      continue;
    }
    pointers[i] = scratchPointer(allocate(init.getType()));
    materialize(init, pointers[i]);
  }
  Value low = get(loop.getLowerBound()), high = get(loop.getUpperBound()), step = get(loop.getStep());
  if (faults.loopSkipsLast)
    high = arith::SubIOp::create(b, high, step);
  // By the number of iterations, so that neither a step of 0 nor an end near the largest integer makes it run forever.
  Value runs = arith::AndIOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::slt, low, high),
                                     arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, step, i64(0)));
  Value last = arith::SubIOp::create(b, arith::SubIOp::create(b, high, low), i64(1));
  Value divisor = arith::SelectOp::create(b, runs, step, i64(1));
  Value count = arith::AddIOp::create(b, arith::DivUIOp::create(b, last, divisor), i64(1));
  count = arith::SelectOp::create(b, runs, count, i64(0));
  auto lowered = scf::ForOp::create(b, i64(0), count, i64(1), inits);
  OpBuilder::InsertionGuard guard(b);
  Block *body = lowered.getBody();
  if (!body->empty() && body->back().hasTrait<OpTrait::IsTerminator>())
    body->back().erase();
  b.setInsertionPointToEnd(body);
  scalars[loop.getInductionVar()] =
      arith::AddIOp::create(b, low, arith::MulIOp::create(b, lowered.getInductionVar(), step));
  unsigned next = 0;
  for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs()))
    scalars[argument] = pointers[i] ? pointers[i] : Value(lowered.getRegionIterArg(next++));
  int64_t mark = scratchTop;
  if (failed(lowerBlock(*loop.getBody())))
    return failure();
  // All new values first, then the updates: one may read what another replaces.
  SmallVector<Value> yielded;
  SmallVector<std::tuple<Value, Value, Type>> copies;
  for (auto [i, value] : llvm::enumerate(loop.getYieldedValues())) {
    if (!pointers[i]) {
      yielded.push_back(get(value));
      continue;
    }
    if (value == loop.getRegionIterArg(i) || faults.carriedNotUpdated)
      continue;
    Value from = scalars.lookup(value);
    if (from == pointers[i])
      continue; // updated in place
    auto argument = dyn_cast<BlockArgument>(value);
    if (!from || argument) {
      from = scratchPointer(allocate(value.getType()));
      emitted.clear();
      materialize(value, from);
    }
    copies.push_back({from, pointers[i], value.getType()});
  }
  for (auto [from, to, type] : copies)
    copyTile(from, to, type);
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
      types.push_back(held(result.getType()));
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
  // Tiles that enter the condition's region, and tiles that it passes on to the body and to the results, live in two sets of buffers.
  auto buffers = [&](TypeRange types) {
    SmallVector<Value> pointers;
    for (Type type : types)
      pointers.push_back(isa<RankedTensorType>(type) ? scratchPointer(allocate(type)) : Value());
    return pointers;
  };
  SmallVector<Value> entering = buffers(loop.getOperandTypes()), passed = buffers(loop.getResultTypes());
  // Tiles go to their buffers, scalars are collected.
  auto deliver = [&](ValueRange values, ArrayRef<Value> pointers) {
    SmallVector<Value> rest;
    for (auto [value, pointer] : llvm::zip(values, pointers)) {
      emitted.clear();
      if (pointer)
        materialize(value, pointer);
      else
        rest.push_back(get(value));
    }
    return rest;
  };
  SmallVector<Type> types;
  for (Type type : loop.getResultTypes())
    if (!isa<RankedTensorType>(type))
      types.push_back(held(type));
  auto lowered = scf::WhileOp::create(b, types, deliver(loop.getInits(), entering));
  for (auto [from, to] : llvm::zip(loop->getRegions(), lowered->getRegions())) {
    bool isCondition = from.getRegionNumber() == 0;
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&to);
    for (auto [argument, pointer] : llvm::zip(from.front().getArguments(), isCondition ? entering : passed))
      scalars[argument] = pointer ? pointer : Value(block->addArgument(held(argument.getType()), argument.getLoc()));
    b.setInsertionPointToEnd(block);
    int64_t mark = scratchTop;
    if (failed(lowerBlock(from.front())))
      return failure();
    if (auto condition = dyn_cast<scf::ConditionOp>(from.front().getTerminator()))
      scf::ConditionOp::create(b, get(condition.getCondition()), deliver(condition.getArgs(), passed));
    else
      scf::YieldOp::create(b, deliver(from.front().getTerminator()->getOperands(), entering));
    scratchTop = mark;
  }
  unsigned next = 0;
  for (auto [result, pointer] : llvm::zip(loop.getResults(), passed))
    scalars[result] = pointer ? pointer : Value(lowered.getResult(next++));
  return success();
}
