//===- SpecializeLoop.cpp - for, for static, while ------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A loop index is a run-time i64 even when the bounds are constants; `for static` is the one whose index is a
// compile-time number.  A loop with a `break` has a hidden variable that it asks before every iteration (Exits.h).
//
#include "compiler/Frontend/Exits.h"
#include "compiler/Frontend/Specializer.h"

#include "dialect/Tile/TileDialect.h"

#include <fmt/format.h>

using namespace mlir;

namespace tessera::frontend {

/// Iterations that a `for static` may unroll to.
static constexpr int64_t kMaxUnrolled = 4096;

Specializer::Flow Specializer::runLoopBody(const ast::Block &body) {
  int outerValues = std::exchange(valueDepth, 0);
  environment.push();
  // Declared either way, so that the body does not find the variable of a loop around it.
  environment.declare(kIterationGoesOn, needsFlag(body)
                                            ? Variable{literalOf(Value::of(true), DType::Bool, at(body.range)), true}
                                            : Variable{Value::nothing(), false});
  Flow flow = runBlock(body);
  environment.pop();
  valueDepth = outerValues;
  return flow;
}

void Specializer::runFor(const ast::ForStmt &loop) {
  bool mayBreak = exitsOf({&loop.body}).mayBreak;
  environment.push();
  if (mayBreak)
    environment.declare(kLoopGoesOn, {literalOf(Value::of(true), DType::Bool, at(loop.range)), true});
  runForRange(loop, 0, mayBreak);
  environment.pop();
}

void Specializer::runForRange(const ast::ForStmt &loop, size_t depth, bool mayBreak) {
  if (depth == loop.ranges.size()) {
    runLoopBody(loop.body);
    return;
  }
  const ast::LoopRange &range = loop.ranges[depth];
  At place = at(range.name.range);
  Value low = toIndex(eval(*range.low), at(range.low->range), "a bound of a loop");
  Value high = toIndex(eval(*range.high), at(range.high->range), "a bound of a loop");
  Value written = range.step ? eval(*range.step) : Value::of(int64_t(1));
  if (written.isInteger() && written.integer < 1)
    written = error(at(range.step->range), "T0315",
                    fmt::format("the step of a loop is at least 1, found {}", written.integer),
                    range.step ? "run downward with reverse(lo..hi by step)" : "");
  Value step = toIndex(written, range.step ? at(range.step->range) : place, "the step of a loop");
  if (low.isPoison() || high.isPoison() || step.isPoison()) {
    // Still look at the body: its own mistakes are worth telling.
    low = high = Value::data(indexConstant(0, place), DType::I64);
    step = Value::data(indexConstant(1, place), DType::I64);
  }
  mlir::Value lo = low.ssa, hi = high.ssa, by = step.ssa;
  if (range.reverse) {
    // k counts iterations; the index is lo + (n - 1 - k) * step.
    mlir::Value n = tile::CeilDivOp::create(builder, loc(place), hi.getType(),
                                            arith::SubIOp::create(builder, loc(place), hi, lo), by, false);
    mlir::Value one = indexConstant(1, place);
    mlir::Value positive = arith::CmpIOp::create(builder, loc(place), arith::CmpIPredicate::sge, by, one);
    hi = arith::SelectOp::create(builder, loc(place), positive, n, indexConstant(0, place));
    lo = indexConstant(0, place);
    by = one;
  }
  mlir::Value first = low.ssa, count = hi, stride = step.ssa;
  ++loopDepth;
  control.loop(
      lo, hi, by, assignedByLoop(loop.body),
      [&](mlir::Value index) {
        if (range.reverse) {
          mlir::Value last = arith::SubIOp::create(builder, loc(place), count, indexConstant(1, place));
          mlir::Value back = arith::SubIOp::create(builder, loc(place), last, index);
          mlir::Value offset = arith::MulIOp::create(builder, loc(place), back, stride);
          index = arith::AddIOp::create(builder, loc(place), first, offset);
        }
        declareNew(range.name.name, range.name.range, {Value::data(index, DType::I64), false});
        runForRange(loop, depth + 1, mayBreak);
      },
      place, mayBreak ? kLoopGoesOn : nullptr);
  --loopDepth;
}

void Specializer::runStaticFor(const ast::ForStmt &loop) {
  mlir::Value notLeft;
  environment.push();
  if (exitsOf({&loop.body}).mayBreak) {
    Value start = literalOf(Value::of(true), DType::Bool, at(loop.range));
    notLeft = start.ssa;
    environment.declare(kLoopGoesOn, {std::move(start), true});
  }
  runStaticRange(loop, 0, notLeft);
  environment.pop();
}

/// `notLeft`: what the hidden variable of `break` holds until a break may have happened at run time; null without one.
Specializer::Flow Specializer::runStaticRange(const ast::ForStmt &loop, size_t depth, mlir::Value notLeft) {
  if (depth == loop.ranges.size())
    return runLoopBody(loop.body);
  const ast::LoopRange &range = loop.ranges[depth];
  Value low = eval(*range.low), high = eval(*range.high), step = range.step ? eval(*range.step) : Value::of(int64_t(1));
  if (low.isPoison() || high.isPoison() || step.isPoison())
    return Flow::Returned;
  At place = at(range.name.range);
  if (!low.isInteger() || !high.isInteger() || !step.isInteger()) {
    error(place, "T0408", "the bounds and the step of 'for static' are known at compile time",
          "write for without static");
    return Flow::Returned;
  }
  if (step.integer < 1) {
    error(at(range.step->range), "T0315", fmt::format("the step of a loop is at least 1, found {}", step.integer), "");
    return Flow::Returned;
  }
  SmallVector<int64_t> indices;
  for (int64_t i = low.integer; i < high.integer;) {
    indices.push_back(i);
    if (int64_t(indices.size()) > kMaxUnrolled) {
      error(place, "T0223", fmt::format("'for static' unrolls at most {} iterations", kMaxUnrolled),
            "write for without static");
      return Flow::Returned;
    }
    if (__builtin_add_overflow(i, step.integer, &i))
      break;
  }
  if (range.reverse)
    std::reverse(indices.begin(), indices.end());
  ++loopDepth;
  Flow flow = Flow::Next;
  for (int64_t i : indices) {
    auto iteration = [&] {
      environment.push();
      declareNew(range.name.name, range.name.range, {Value::of(i), false});
      flow = runStaticRange(loop, depth + 1, notLeft);
      environment.pop();
      return Value::nothing();
    };
    Variable *goesOn = notLeft ? environment.find(kLoopGoesOn) : nullptr;
    if (goesOn && goesOn->value.ssa != notLeft)
      control.branch(
          goesOn->value.ssa, assignedByLoop(loop.body), iteration, [] { return Value::nothing(); },
          /*isValue=*/false, place);
    else
      iteration();
    if (flow == Flow::Broke || flow == Flow::Returned)
      break;
    flow = Flow::Next;
  }
  --loopDepth;
  return flow;
}

void Specializer::runWhile(const ast::WhileStmt &loop) {
  Exits exits = exitsOf({&loop.body}), inCondition = exitsOf(*loop.condition);
  At place = at(loop.range);
  environment.push();
  if (exits.mayBreak)
    environment.declare(kLoopGoesOn, {literalOf(Value::of(true), DType::Bool, place), true});
  std::vector<std::string> assigned = assignedByLoop(loop.body);
  assigned.insert(assigned.end(), inCondition.assigned.begin(), inCondition.assigned.end());
  llvm::sort(assigned);
  assigned.erase(std::unique(assigned.begin(), assigned.end()), assigned.end());
  bool isEndless = false;
  auto test = [&]() -> mlir::Value {
    std::optional<bool> constant;
    mlir::Value truth = this->condition(*loop.condition, constant);
    isEndless = constant && *constant;
    return constant ? literalOf(Value::of(*constant), DType::Bool, at(loop.condition->range)).ssa : truth;
  };
  ++loopDepth;
  control.whileLoop(
      assigned,
      [&]() -> mlir::Value {
        if (!exits.mayBreak)
          return test();
        // After a break the condition is not computed again: it may act.
        Value goesOn = control.branch(
            environment.find(kLoopGoesOn)->value.ssa, inCondition.assigned,
            [&] {
              mlir::Value truth = test();
              return truth ? Value::data(truth, DType::Bool) : Value::poison();
            },
            [] { return Value::of(false); }, /*isValue=*/true, place);
        return goesOn.isPoison() ? mlir::Value() : goesOn.ssa;
      },
      [&] {
        auto leaves = [&] { return exits.mayBreak ? environment.find(kLoopGoesOn)->value.ssa : mlir::Value(); };
        mlir::Value start = leaves();
        runLoopBody(loop.body);
        if (isEndless && leaves() == start)
          error(at(loop.condition->range), "T0231",
                "the condition of 'while' is always true, and nothing breaks the loop",
                "leave it with break, or write a condition that becomes false");
      },
      place);
  --loopDepth;
  environment.pop();
}

} // namespace tessera::frontend
