//===- SortLowering.cpp - sorting: registers and lanes ---------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Batcher's bitonic network in the form whose comparisons all point one way: a stage of size s first compares each place with its mirror image in its block of s,
// then with the places at distance s/4, s/8, ... 1.  The smaller element always goes to the lower place, so what lies behind the end counts as larger than everything and
// never moves: any extent sorts, without padding values.  The layout (sortLayout) has a run of registers in each lane and all lanes of a warp along
// the dimension: the short distances are comparisons of registers, only the long ones shuffle.
//
#include "compiler/Conversion/TileGPUToNVVM/Lowering.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::tile_gpu;

void KernelLowering::lowerSort(tile::SortOp op) {
  auto type = cast<RankedTensorType>(op.getSources()[0].getType());
  Dist layout = layoutOf(type);
  int64_t axis = op.getAxis(), extent = type.getShape()[axis], keys = op.getKeys(), count = op.getSources().size();
  int64_t group = int64_t(1) << llvm::popcount(uint64_t(layout.laneMask(axis))), run = layout.blockExtent(axis) / group;
  bool isPadded = layout.coverage(axis) > extent;
  Value inGroup = LLVM::AndOp::create(b, lane, i32(group - 1));
  using Element = SmallVector<Value>;
  auto compare = [&](LLVM::ICmpPredicate predicate, Value x, Value y) -> Value {
    return LLVM::ICmpOp::create(b, predicate, x, y);
  };
  /// Whether y comes before x.
  auto comesBefore = [&](const Element &x, const Element &y) {
    Value before, equal;
    for (int64_t key = 0; key < keys; ++key) {
      Value less = compare(LLVM::ICmpPredicate::slt, y[key], x[key]);
      before = before ? LLVM::OrOp::create(b, before, LLVM::AndOp::create(b, equal, less)).getResult() : less;
      if (key + 1 == keys)
        break;
      Value same = compare(LLVM::ICmpPredicate::eq, x[key], y[key]);
      equal = equal ? LLVM::AndOp::create(b, equal, same).getResult() : same;
    }
    return before;
  };
  /// Whether the place at register `a` of lane `number` of the group exists; null: yes.
  auto exists = [&](Value number, int64_t a) -> Value {
    if (!isPadded || (group - 1) * run + a < extent)
      return {};
    return compare(LLVM::ICmpPredicate::slt, addConstant(mulConstant(number, run), a), i32(extent));
  };
  auto both = [&](Value x, Value y) -> Value { return y ? LLVM::AndOp::create(b, x, y).getResult() : x; };
  auto choose = [&](Value condition, const Element &x, const Element &y) {
    Element result;
    for (auto [l, r] : llvm::zip(x, y))
      result.push_back(LLVM::SelectOp::create(b, condition, l, r));
    return result;
  };
  SmallVector<SmallVector<Value>> results(count, SmallVector<Value>(layout.numRegisters()));
  for (auto &[others, line] : linesOf(layout, axis)) {
    SmallVector<Element> elements;
    for (auto [along, index] : line[0]) {
      Element element;
      for (Value source : op.getSources())
        element.push_back(extract(get(source), index));
      elements.push_back(element);
    }
    auto inRegisters = [&](int64_t mask) {
      for (int64_t low = 0; low < run; ++low) {
        int64_t high = low ^ mask;
        if (high < low)
          continue;
        Value swap = both(comesBefore(elements[low], elements[high]), exists(inGroup, high));
        Element smaller = choose(swap, elements[high], elements[low]);
        elements[high] = choose(swap, elements[low], elements[high]);
        elements[low] = smaller;
      }
    };
    auto acrossLanes = [&](int64_t mask) {
      int64_t lanes = mask / run, registers = mask % run;
      Value other = LLVM::XOrOp::create(b, inGroup, i32(lanes));
      Value isUpper = compare(LLVM::ICmpPredicate::ugt, inGroup, other);
      Value upperLane = LLVM::SelectOp::create(b, isUpper, inGroup, other);
      SmallVector<Element> next;
      for (int64_t own = 0; own < run; ++own) {
        Element theirs;
        for (Value value : elements[own ^ registers])
          theirs.push_back(shuffleWords(value, [&](Value word) -> Value {
            return NVVM::ShflOp::create(b, word.getType(), i32(-1), word, i32(lanes), i32(31), NVVM::ShflKind::bfly,
                                        UnitAttr());
          }));
        Element lower = choose(isUpper, theirs, elements[own]), upper = choose(isUpper, elements[own], theirs);
        Value swap = comesBefore(lower, upper);
        if (isPadded) {
          // The register of the upper place is the own one in its lane, the partner's in the other.
          Value whenUpper = exists(upperLane, own), whenLower = exists(upperLane, own ^ registers);
          if (whenUpper || whenLower) {
            Value yes = LLVM::ConstantOp::create(b, b.getI1Type(), b.getBoolAttr(true));
            swap = both(swap,
                        LLVM::SelectOp::create(b, isUpper, whenUpper ? whenUpper : yes, whenLower ? whenLower : yes));
          }
        }
        next.push_back(choose(swap, theirs, elements[own]));
      }
      elements = std::move(next);
    };
    auto step = [&](int64_t mask) { mask < run ? inRegisters(mask) : acrossLanes(mask); };
    for (int64_t size = 2; size / 2 < extent; size *= 2) {
      step(size - 1);
      for (int64_t distance = size / 4; distance >= 1; distance /= 2)
        step(distance);
    }
    for (auto [member, element] : llvm::zip(line[0], elements))
      for (auto [i, value] : llvm::enumerate(element))
        results[i][member.second] = value;
  }
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    values[result] = assemble(convertType(result.getType()), results[i]);
}
