//===- CombineLowering.cpp - scans, and reductions by a function ------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The layout (scanLayout) puts a run of registers, then the low lanes, then repetitions along the dimension, and no warps: a warp has whole lines, so that nothing goes
// through shared memory.  Combinations keep their order from left to right and need no neutral element: what only pads the layout is marked as not
// existing, and a combination with nothing is the other side.  The bracketing depends on the layout alone.
//
#include "compiler/Conversion/TileGPUToNVVM/Lowering.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::tile_gpu;

std::map<SmallVector<int64_t>, KernelLowering::Line> KernelLowering::linesOf(const Dist &layout, int64_t axis) {
  std::map<SmallVector<int64_t>, std::map<int64_t, SmallVector<std::pair<int64_t, int64_t>>>> found;
  for (int64_t r = 0, e = layout.numRegisters(); r < e; ++r) {
    SmallVector<int64_t> at = layout.offset(r);
    int64_t along = at[axis];
    at.erase(at.begin() + axis);
    found[at][along / layout.blockExtent(axis)].push_back({along, r});
  }
  std::map<SmallVector<int64_t>, Line> lines;
  for (auto &[others, repetitions] : found)
    for (auto &[repetition, members] : repetitions) {
      llvm::sort(members);
      lines[others].push_back(members);
    }
  return lines;
}

KernelLowering::Partial KernelLowering::join(Combine combine, const Partial &left, const Partial &right) {
  SmallVector<Value> both = combine(left.values, right.values);
  for (auto [i, value] : llvm::enumerate(both)) {
    if (left.exists)
      value = LLVM::SelectOp::create(b, left.exists, value, right.values[i]);
    if (right.exists)
      value = LLVM::SelectOp::create(b, right.exists, value, left.values[i]);
  }
  Value exists;
  if (left.exists && right.exists)
    exists = LLVM::OrOp::create(b, left.exists, right.exists);
  return {both, exists};
}

/// The same of another lane, by `move`.
KernelLowering::Partial KernelLowering::exchange(const Partial &partial, function_ref<Value(Value)> move) {
  Partial result;
  for (Value value : partial.values)
    result.values.push_back(shuffleWords(value, move));
  if (partial.exists)
    result.exists = shuffleWords(partial.exists, move);
  return result;
}

/// Register `index`, which lies at `along` from the thread's first coordinate.
KernelLowering::Partial KernelLowering::elementOf(ArrayRef<Value> vectors, const Dist &layout, int64_t axis,
                                                  int64_t extent, int64_t along, int64_t index) {
  Partial element;
  for (Value vector : vectors)
    element.values.push_back(extract(vector, index));
  Value base = threadBase(layout, axis);
  int64_t most = layout.blockExtent(axis) - 1; // the run-time part is below the block's extent
  if (along + (base ? most : 0) < extent)
    return element;
  Value position = base ? addConstant(base, along) : i32(along);
  element.exists = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, position, i32(extent));
  return element;
}

SmallVector<Value> KernelLowering::callRegion(Region &function, ArrayRef<Value> left, ArrayRef<Value> right,
                                              bool &good) {
  Block &block = function.front();
  for (auto [i, argument] : llvm::enumerate(block.getArguments()))
    values[argument] = i < left.size() ? left[i] : right[i - left.size()];
  for (Operation &op : block.without_terminator()) {
    good = good && succeeded(lowerOp(&op));
    if (!good)
      return SmallVector<Value>(left);
  }
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(get(value));
  return results;
}

LogicalResult KernelLowering::lowerReduceBy(tile::ReduceByOp op) {
  auto type = cast<RankedTensorType>(op.getSources()[0].getType());
  Dist layout = layoutOf(type);
  int64_t axis = op.getAxis(), extent = type.getShape()[axis];
  bool good = true;
  auto function = [&](ArrayRef<Value> left, ArrayRef<Value> right) {
    return callRegion(op.getCombine(), left, right, good);
  };
  SmallVector<Value> vectors;
  for (Value source : op.getSources())
    vectors.push_back(get(source));
  std::map<SmallVector<int64_t>, Line> lines = linesOf(layout, axis);
  bool isScalar = type.getRank() == 1;
  Dist resultLayout = isScalar ? Dist() : sliceLayout(layout, axis);
  SmallVector<SmallVector<Value>> results(op.getNumResults());
  for (int64_t r = 0, e = isScalar ? 1 : resultLayout.numRegisters(); r < e; ++r) {
    std::optional<Partial> total;
    for (const auto &members : lines[isScalar ? SmallVector<int64_t>() : resultLayout.offset(r)]) {
      // Neighbours first: a tree has log depth and keeps the order.
      SmallVector<Partial> level;
      for (auto [along, index] : members)
        level.push_back(elementOf(vectors, layout, axis, extent, along, index));
      while (level.size() > 1) {
        SmallVector<Partial> next;
        for (size_t i = 0; i + 1 < level.size(); i += 2)
          next.push_back(join(function, level[i], level[i + 1]));
        if (level.size() % 2)
          next.push_back(level.back());
        level = std::move(next);
      }
      Partial run = level[0];
      for (int64_t bit = 0; bit < kLaneBits; ++bit) {
        if (!(layout.laneMask(axis) >> bit & 1))
          continue;
        Partial other = exchange(run, [&](Value word) -> Value {
          return NVVM::ShflOp::create(b, word.getType(), i32(-1), word, i32(int64_t(1) << bit), i32(31),
                                      NVVM::ShflKind::bfly, UnitAttr());
        });
        // The lane with the bit set is on the right.
        Value set = LLVM::AndOp::create(b, lane, i32(int64_t(1) << bit));
        Value isRight = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, set, i32(0));
        Partial left = run, right = run;
        auto choose = [&](Value &l, Value &r, Value own, Value theirs) {
          l = LLVM::SelectOp::create(b, isRight, theirs, own);
          r = LLVM::SelectOp::create(b, isRight, own, theirs);
        };
        for (size_t i = 0; i < run.values.size(); ++i)
          choose(left.values[i], right.values[i], run.values[i], other.values[i]);
        if (run.exists)
          choose(left.exists, right.exists, run.exists, other.exists);
        run = join(function, left, right);
      }
      total = total ? join(function, *total, run) : run;
    }
    for (auto [i, value] : llvm::enumerate(total->values))
      results[i].push_back(value);
  }
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    values[result] = assemble(convertType(result.getType()), results[i]);
  return success(good);
}

LogicalResult KernelLowering::lowerScanBy(tile::ScanByOp op) {
  bool good = true;
  scanAlong(
      op.getSources(), op.getResults(), op.getAxis(), op.getReverse(),
      [&](ArrayRef<Value> left, ArrayRef<Value> right) { return callRegion(op.getCombine(), left, right, good); });
  return success(good);
}

void KernelLowering::lowerScan(tile::ScanOp op) {
  scanAlong(op.getSource(), op.getResult(), op.getAxis(), op.getReverse(),
            [&](ArrayRef<Value> left, ArrayRef<Value> right) -> SmallVector<Value> {
              return {KernelLowering::combine(op.getKind(), left[0], right[0])};
            });
}

/// Each repetition: every thread scans its own run, the lanes scan the runs' totals, and what came before, from other lanes and repetitions, joins from its side.
void KernelLowering::scanAlong(ValueRange sources, ValueRange results, int64_t axis, bool reverse, Combine combine) {
  auto type = cast<RankedTensorType>(sources[0].getType());
  Dist layout = layoutOf(type);
  int64_t extent = type.getShape()[axis];
  int64_t group = int64_t(1) << llvm::popcount(uint64_t(layout.laneMask(axis)));
  Value inGroup = LLVM::AndOp::create(b, lane, i32(group - 1));
  SmallVector<Value> vectors;
  for (Value source : sources)
    vectors.push_back(get(source));
  // `before` was met earlier: on the left, or in reverse on the right.
  auto follow = [&](const Partial &before, const Partial &after) {
    return reverse ? join(combine, after, before) : join(combine, before, after);
  };
  /// What the lane `distance` earlier has; nothing where there is none.
  auto earlier = [&](const Partial &partial, int64_t distance) {
    Partial moved = exchange(partial, [&](Value word) -> Value {
      return NVVM::ShflOp::create(b, word.getType(), i32(-1), word, i32(distance), i32(reverse ? 31 : 0),
                                  reverse ? NVVM::ShflKind::down : NVVM::ShflKind::up, UnitAttr());
    });
    Value has = reverse ? LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, inGroup, i32(group - distance)).getResult()
                        : LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::sge, inGroup, i32(distance)).getResult();
    moved.exists = moved.exists ? LLVM::AndOp::create(b, has, moved.exists).getResult() : has;
    return moved;
  };
  SmallVector<SmallVector<Value>> elements(sources.size(), SmallVector<Value>(layout.numRegisters()));
  for (auto &[others, line] : linesOf(layout, axis)) {
    if (reverse) {
      std::reverse(line.begin(), line.end());
      for (auto &members : line)
        std::reverse(members.begin(), members.end());
    }
    std::optional<Partial> carry;
    for (const auto &members : line) {
      SmallVector<Partial> local;
      for (auto [along, index] : members) {
        Partial element = elementOf(vectors, layout, axis, extent, along, index);
        // Forwards, padding comes after everything that counts and may take part.
        if (!reverse)
          element.exists = Value();
        local.push_back(local.empty() ? element : follow(local.back(), element));
      }
      Partial total = local.back();
      for (int64_t distance = 1; distance < group; distance *= 2)
        total = follow(earlier(total, distance), total);
      std::optional<Partial> before = carry;
      if (group > 1) {
        Partial lanes = earlier(total, 1);
        before = before ? follow(*before, lanes) : lanes;
      }
      for (auto [i, member] : llvm::enumerate(members)) {
        Partial result = before ? follow(*before, local[i]) : local[i];
        for (auto [k, value] : llvm::enumerate(result.values))
          elements[k][member.second] = value;
      }
      if (&members == &line.back())
        break;
      // The whole repetition's total is in the last lane of the group.
      Value last =
          LLVM::OrOp::create(b, LLVM::AndOp::create(b, lane, i32(31 & ~(group - 1))), i32(reverse ? 0 : group - 1));
      Partial all = group == 1 ? total : exchange(total, [&](Value word) -> Value {
        return NVVM::ShflOp::create(b, word.getType(), i32(-1), word, last, i32(31), NVVM::ShflKind::idx, UnitAttr());
      });
      carry = carry ? follow(*carry, all) : all;
    }
  }
  for (auto [i, result] : llvm::enumerate(results))
    values[result] = assemble(convertType(result.getType()), elements[i]);
}
