//===- HostControlFlow.cpp - loops, branches and assertions on the host --------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A tile that control flow carries lives in one buffer for the whole construct, which the body updates; scalars stay SSA values.
//
#include "compiler/Conversion/TileToHost/Lowering.h"

using namespace mlir;
using namespace tessera;

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

