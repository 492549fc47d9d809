//===- SpecializeLoop.cpp - for, for static, while ------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A loop index is a run-time i64 even when the bounds are constants; `for static` is the one whose index is a
// compile-time number.
//
#include "compiler/Frontend/Specializer.h"

#include "dialect/Tile/TileDialect.h"

#include <fmt/format.h>

using namespace mlir;

namespace tessera::frontend {

/// Iterations that a `for static` may unroll to.
static constexpr int64_t kMaxUnrolled = 4096;

void Specializer::runFor(const ast::ForStmt &loop, size_t depth) {
  if (depth == loop.ranges.size()) {
    runBlock(loop.body);
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
      lo, hi, by, assignedNames({&loop.body}),
      [&](mlir::Value index) {
        if (range.reverse) {
          mlir::Value last = arith::SubIOp::create(builder, loc(place), count, indexConstant(1, place));
          mlir::Value back = arith::SubIOp::create(builder, loc(place), last, index);
          mlir::Value offset = arith::MulIOp::create(builder, loc(place), back, stride);
          index = arith::AddIOp::create(builder, loc(place), first, offset);
        }
        declareNew(range.name.name, range.name.range, {Value::data(index, DType::I64), false});
        runFor(loop, depth + 1);
      },
      place);
  --loopDepth;
}

void Specializer::runStaticFor(const ast::ForStmt &loop, size_t depth) {
  if (depth == loop.ranges.size()) {
    runBlock(loop.body);
    return;
  }
  const ast::LoopRange &range = loop.ranges[depth];
  Value low = eval(*range.low), high = eval(*range.high), step = range.step ? eval(*range.step) : Value::of(int64_t(1));
  if (low.isPoison() || high.isPoison() || step.isPoison())
    return;
  At place = at(range.name.range);
  if (!low.isInteger() || !high.isInteger() || !step.isInteger()) {
    error(place, "T0408", "the bounds and the step of 'for static' are known at compile time",
          "write for without static");
    return;
  }
  if (step.integer < 1) {
    error(at(range.step->range), "T0315", fmt::format("the step of a loop is at least 1, found {}", step.integer), "");
    return;
  }
  SmallVector<int64_t> indices;
  for (int64_t i = low.integer; i < high.integer;) {
    indices.push_back(i);
    if (int64_t(indices.size()) > kMaxUnrolled) {
      error(place, "T0223", fmt::format("'for static' unrolls at most {} iterations", kMaxUnrolled),
            "write for without static");
      return;
    }
    if (__builtin_add_overflow(i, step.integer, &i))
      break;
  }
  if (range.reverse)
    std::reverse(indices.begin(), indices.end());
  ++loopDepth;
  for (int64_t i : indices) {
    environment.push();
    declareNew(range.name.name, range.name.range, {Value::of(i), false});
    runStaticFor(loop, depth + 1);
    environment.pop();
  }
  --loopDepth;
}

void Specializer::runWhile(const ast::WhileStmt &loop) {
  ++loopDepth;
  control.whileLoop(
      assignedNames({&loop.body}),
      [&]() -> mlir::Value {
        std::optional<bool> constant;
        mlir::Value truth = condition(*loop.condition, constant);
        if (constant)
          return literalOf(Value::of(*constant), DType::Bool, at(loop.condition->range)).ssa;
        return truth;
      },
      [&] { runBlock(loop.body); }, at(loop.range));
  --loopDepth;
}

} // namespace tessera::frontend
