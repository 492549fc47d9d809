//===- AssignLayouts.cpp - a layout for every tile ------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Values that elementwise work or a loop ties together form a class and share one layout.  Classes are related by reductions, broadcasts and
// permutations, which say what the layout of one makes natural for the other.  Accumulators decide first, relations carry decisions on
// until nothing changes, and what is still open is laid out for memory.  Then types are rewritten, and a convert_layout
// is put wherever an op's operand or result differs from what the op needs.  Linear in the number of ops but for the relations, which are
// swept once per decision.
//
#include "compiler/Transforms/Passes.h"
#include "dialect/TileGPU/Products.h"

namespace tessera {
#define GEN_PASS_DEF_ASSIGNLAYOUTSPASS
#include "compiler/Transforms/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::tile_gpu;

namespace {

RankedTensorType tileType(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

/// Ops whose tile operands and results are held alike.
bool isElementwise(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) ||
         isa<tile::ConvertOp, tile::DivOp, tile::RemOp, tile::CeilDivOp, tile::ShlOp, tile::ShrOp>(op);
}

/// Ops that cost nothing to repeat and so take whatever layout their user wants.
bool isFree(Operation *op) {
  if (isa<arith::ConstantOp, tile::IotaOp>(op))
    return isa<RankedTensorType>(op->getResult(0).getType());
  auto broadcast = dyn_cast<tile::BroadcastOp>(op);
  return broadcast && !isa<RankedTensorType>(broadcast.getSource().getType());
}

/// What a broadcast needs of its source when the result is held as `result`.
Dist broadcastSource(const Dist &result, RankedTensorType source, RankedTensorType target) {
  Dist layout = result;
  while (layout.rank() > source.getRank())
    layout = sliceLayout(layout, 0);
  int64_t lead = target.getRank() - source.getRank();
  for (int64_t d = 0; d < source.getRank(); ++d)
    if (source.getShape()[d] == 1 && target.getShape()[lead + d] != 1)
      layout = restrictLayout(layout, d);
  return layout;
}

/// What a slice needs of the index tile `index` when its elements are held as `layout`.
Dist indexLayout(const Dist &layout, ValueRange indices, ArrayRef<int64_t> widths, Value index) {
  int64_t tileRank = 0, first = -1, position = 0;
  for (auto [other, width] : llvm::zip(indices, widths)) {
    if (width < 0) {
      tileRank = std::max(tileRank, tileType(other).getRank());
      first = first < 0 ? position : first;
    }
    position += width > 0;
  }
  RankedTensorType type = tileType(index);
  int64_t own = first + tileRank - type.getRank();
  Dist result = layout;
  for (int64_t d = layout.rank() - 1; d >= 0; --d) {
    if (d < own || d >= own + type.getRank())
      result = sliceLayout(result, d);
    else if (type.getShape()[d - own] == 1)
      result = restrictLayout(result, d);
  }
  return result;
}

/// The tile that a slice moves (or tells about), with the indices of the slice; null for other ops.
Value slicedTile(Operation *op, SmallVectorImpl<OpOperand *> &indices, ArrayRef<int64_t> &widths) {
  auto take = [&](auto slice, Value value) {
    for (OpOperand &index : slice.getIndicesMutable())
      indices.push_back(&index);
    widths = slice.getWidths();
    return tileType(value) ? value : Value();
  };
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return take(load, load.getResult());
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return take(store, store.getValue());
  if (auto accumulate = dyn_cast<tile::AccumulateOp>(op))
    return take(accumulate, accumulate.getValue());
  if (auto atomic = dyn_cast<tile::AtomicOp>(op))
    return take(atomic, atomic.getResult());
  if (auto inside = dyn_cast<tile::InsideOp>(op))
    return take(inside, inside.getResult());
  return {};
}

/// The layout of a part that stays in the registers of its threads.
std::optional<Dist> partOf(tile::ExtractOp op, const Dist &source) {
  return partLayout(source, tileType(op.getSource()).getShape(), op.getStarts(), op.getWidths(), op.getSteps());
}

struct AssignLayouts final : public tessera::impl::AssignLayoutsPassBase<AssignLayouts> {
  SmallVector<Value> values; ///< all tiles, in program order
  llvm::DenseMap<Value, int> number;
  SmallVector<int> parent;
  llvm::DenseMap<int, Dist> chosen; ///< class -> layout
  int64_t warps = 4;

  int find(Value value) {
    int i = number.at(value);
    while (parent[i] != i)
      i = parent[i] = parent[parent[i]];
    return i;
  }
  void tie(Value a, Value b) {
    RankedTensorType ta = tileType(a), tb = tileType(b);
    if (!ta || !tb || ta.getShape() != tb.getShape())
      return;
    int x = find(a), y = find(b);
    parent[std::max(x, y)] = std::min(x, y);
  }

  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    values.clear();
    number.clear();
    parent.clear();
    chosen.clear();
    warps = kernel->getAttrOfType<IntegerAttr>(kWarpsAttr).getInt();
    repeatFreeOps(kernel);
    collect(kernel);
    tieAll(kernel);
    decideProducts(kernel);
    propagate(kernel);
    decideRest(kernel);
    rewriteTypes(kernel);
    convertEdges(kernel);
  }

  /// One copy of a free op for each use.
  void repeatFreeOps(tile::KernelOp kernel) {
    SmallVector<Operation *> ops;
    kernel.walk([&](Operation *op) {
      if (isFree(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      bool first = true;
      for (OpOperand &use : llvm::make_early_inc_range(op->getResult(0).getUses())) {
        if (first) {
          first = false;
          continue;
        }
        OpBuilder builder(op);
        use.set(builder.clone(*op)->getResult(0));
      }
    }
  }

  void collect(tile::KernelOp kernel) {
    auto add = [&](Value value) {
      if (!tileType(value))
        return;
      number[value] = values.size();
      parent.push_back(values.size());
      values.push_back(value);
    };
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Value result : op->getResults())
        add(result);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            add(argument);
    });
  }

  void tieAll(tile::KernelOp kernel) {
    kernel.walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
          tie(loop.getResult(i), loop.getRegionIterArg(i));
          tie(loop.getResult(i), loop.getInitArgs()[i]);
          tie(loop.getResult(i), loop.getYieldedValues()[i]);
        }
      } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
        for (Region &region : branch->getRegions())
          if (!region.empty())
            for (auto [result, yielded] : llvm::zip(op->getResults(), region.front().getTerminator()->getOperands()))
              tie(result, yielded);
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        for (auto [init, argument] : llvm::zip(loop.getInits(), loop.getBeforeArguments()))
          tie(init, argument);
        for (auto [yielded, argument] : llvm::zip(loop.getYieldOp()->getOperands(), loop.getBeforeArguments()))
          tie(yielded, argument);
        for (auto [i, passed] : llvm::enumerate(loop.getConditionOp().getArgs())) {
          tie(passed, loop.getAfterArguments()[i]);
          tie(passed, loop.getResult(i));
        }
      } else if (auto dot = dyn_cast<DotOp>(op)) {
        tie(dot.getAcc(), dot.getResult());
      } else if (auto atomic = dyn_cast<tile::AtomicOp>(op)) {
        if (!tileType(atomic.getResult()))
          return;
        tie(atomic.getValue(), atomic.getResult());
        if (atomic.getCompare())
          tie(atomic.getCompare(), atomic.getResult());
      } else if (isElementwise(op)) {
        for (Value operand : op->getOperands())
          for (Value result : op->getResults())
            if (tileType(operand))
              tie(operand, result);
      }
    });
  }

  void decideProducts(tile::KernelOp kernel) {
    llvm::DenseMap<int, int64_t> size;
    kernel.walk([&](DotOp dot) {
      int id = find(dot.getResult());
      int64_t elements = tileType(dot.getResult()).getNumElements();
      if (chosen.count(id) && size[id] >= elements)
        return;
      size[id] = elements;
      chosen[id] = productLayout(dot);
    });
  }

  bool decide(Value value, const Dist &layout) { return chosen.try_emplace(find(value), layout).second; }
  const Dist *layoutFor(Value value) {
    auto it = chosen.find(find(value));
    return it == chosen.end() ? nullptr : &it->second;
  }

  /// Carries decisions over reductions, broadcasts and permutations until nothing changes.
  void propagate(tile::KernelOp kernel) {
    bool changed = true;
    while (changed) {
      changed = false;
      kernel.walk([&](Operation *op) {
        if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
          const Dist *source = layoutFor(reduce.getSource());
          if (source && tileType(reduce.getResult()))
            changed |= decide(reduce.getResult(), sliceLayout(Dist(*source), reduce.getAxis()));
        } else if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
          if (!tileType(expand.getSource()))
            return;
          const Dist *source = layoutFor(expand.getSource()), *result = layoutFor(expand.getResult());
          if (source && !result)
            changed |= decide(expand.getResult(), expandLayout(Dist(*source), expand.getAxis()));
          else if (result && !source)
            changed |= decide(expand.getSource(), sliceLayout(Dist(*result), expand.getAxis()));
        } else if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
          RankedTensorType type = tileType(broadcast.getSource());
          if (!type)
            return;
          const Dist *result = layoutFor(broadcast.getResult());
          if (result && !layoutFor(broadcast.getSource()))
            changed |=
                decide(broadcast.getSource(), broadcastSource(Dist(*result), type, tileType(broadcast.getResult())));
        } else if (isa<tile::LoadOp, tile::StoreOp, tile::AccumulateOp, tile::AtomicOp, tile::InsideOp>(op)) {
          SmallVector<OpOperand *> indices;
          ArrayRef<int64_t> widths;
          Value tile = slicedTile(op, indices, widths);
          const Dist *layout = tile ? layoutFor(tile) : nullptr;
          if (!layout)
            return;
          Dist own = *layout;
          SmallVector<Value> values;
          for (OpOperand *index : indices)
            values.push_back(index->get());
          for (Value index : values)
            if (tileType(index) && !layoutFor(index))
              changed |= decide(index, indexLayout(own, values, widths, index));
        } else if (auto extract = dyn_cast<tile::ExtractOp>(op)) {
          const Dist *source = layoutFor(extract.getSource());
          if (std::optional<Dist> part =
                  source && tileType(extract.getResult()) ? partOf(extract, Dist(*source)) : std::nullopt)
            changed |= decide(extract.getResult(), *part);
        } else if (auto permute = dyn_cast<tile::PermuteOp>(op)) {
          const Dist *source = layoutFor(permute.getSource()), *result = layoutFor(permute.getResult());
          if (source && !result)
            changed |= decide(permute.getResult(), permuteLayout(Dist(*source), permute.getOrder()));
          else if (result && !source)
            changed |= decide(permute.getSource(), permuteLayout(Dist(*result), inverse(permute.getOrder())));
        }
      });
    }
  }

  static SmallVector<int64_t> inverse(ArrayRef<int64_t> order) {
    SmallVector<int64_t> result(order.size());
    for (auto [i, d] : llvm::enumerate(order))
      result[d] = i;
    return result;
  }

  /// Widest access, in elements, that the contract of the parameter behind `view` allows; 1 when rows may start anywhere.
  static int64_t accessVector(Value view) {
    BlockArgument root = tile::rootParameter(view);
    auto kernel = cast<tile::KernelOp>(root.getOwner()->getParentOp());
    unsigned index = root.getArgNumber();
    auto unit = kernel.getArgAttrOfType<IntegerAttr>(index, tile::kUnitDimAttr);
    int64_t bytes = elementBytes(cast<tile::ViewType>(root.getType()).getElementType());
    if (!unit)
      return 1;
    auto align = kernel.getArgAttrOfType<IntegerAttr>(index, tile::kAlignAttr);
    int64_t elements = std::min<int64_t>(16, align ? align.getInt() : bytes) / bytes;
    if (auto divisors = kernel.getArgAttrOfType<DenseI64ArrayAttr>(index, tile::kStrideDivAttr))
      for (auto [d, divisor] : llvm::enumerate(divisors.asArrayRef()))
        if (int64_t(d) != unit.getInt())
          while (elements > 1 && divisor % elements)
            elements /= 2;
    return std::max<int64_t>(1, elements);
  }

  void decideRest(tile::KernelOp kernel) {
    // Widest useful vector of every class, from the accesses in it.
    llvm::DenseMap<int, int64_t> vectors;
    auto note = [&](Value value, Value view) {
      if (!tileType(value))
        return;
      int64_t &vector = vectors[find(value)];
      vector = std::max(vector, accessVector(view));
    };
    kernel.walk([&](Operation *op) {
      if (auto load = dyn_cast<tile::LoadOp>(op))
        note(load.getResult(), load.getView());
      else if (auto store = dyn_cast<tile::StoreOp>(op))
        note(store.getValue(), store.getView());
      else if (auto accumulate = dyn_cast<tile::AccumulateOp>(op))
        note(accumulate.getValue(), accumulate.getView());
    });
    SmallVector<Value> order(values);
    llvm::stable_sort(order, [&](Value a, Value b) {
      RankedTensorType x = tileType(a), y = tileType(b);
      return std::pair(x.getRank(), x.getNumElements()) > std::pair(y.getRank(), y.getNumElements());
    });
    for (Value value : order) {
      if (layoutFor(value))
        continue;
      ArrayRef<int64_t> shape = tileType(value).getShape();
      int64_t vector = std::max<int64_t>(1, vectors.lookup(find(value)));
      while (vector > 1 && tileType(value).getNumElements() < vector * 32 * warps)
        vector /= 2;
      decide(value, blockedLayout(shape, vector, shape.size() - 1, warps));
      propagate(kernel);
    }
  }

  void rewriteTypes(tile::KernelOp kernel) {
    for (Value value : values)
      value.setType(withLayout(tileType(value), chosen.at(find(value))));
    kernel.walk([&](arith::ConstantOp constant) {
      auto type = dyn_cast<RankedTensorType>(constant.getType());
      if (!type)
        return;
      auto dense = cast<DenseElementsAttr>(constant.getValue());
      constant.setValueAttr(dense.isSplat() ? DenseElementsAttr::get(type, dense.getSplatValue<Attribute>())
                                            : dense.reshape(type));
    });
  }

  static Value convert(OpBuilder &builder, Location loc, Value value, const Dist &layout) {
    RankedTensorType type = withLayout(tileType(value), layout);
    return type == value.getType() ? value : ConvertLayoutOp::create(builder, loc, type, value).getResult();
  }

  /// The op computes its result in `natural`; users see the class's layout.
  static void convertResult(Operation *op, const Dist &natural, unsigned number = 0) {
    Value result = op->getResult(number);
    auto wanted = cast<RankedTensorType>(result.getType());
    RankedTensorType type = withLayout(wanted, natural);
    if (type == wanted)
      return;
    result.setType(type);
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    auto converted = ConvertLayoutOp::create(builder, op->getLoc(), wanted, result);
    result.replaceAllUsesExcept(converted.getResult(), converted);
  }

  /// An op that walks along a dimension holds all its sources as `own`, its results as `results` or like the sources.
  static void convertSequence(Operation *op, const Dist &own, std::optional<Dist> results = std::nullopt) {
    OpBuilder builder(op);
    for (OpOperand &source : op->getOpOperands())
      source.set(convert(builder, op->getLoc(), source.get(), own));
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      if (tileType(op->getResult(i)))
        convertResult(op, results.value_or(own), i);
  }

  void convertEdges(tile::KernelOp kernel) {
    SmallVector<Operation *> ops;
    kernel.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      OpBuilder builder(op);
      Location loc = op->getLoc();
      if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
        if (tileType(reduce.getResult()))
          convertResult(op, sliceLayout(layoutOf(reduce.getSource().getType()), reduce.getAxis()));
      } else if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
        if (tileType(expand.getSource()))
          expand.getSourceMutable().assign(convert(
              builder, loc, expand.getSource(), sliceLayout(layoutOf(expand.getResult().getType()), expand.getAxis())));
      } else if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
        if (RankedTensorType type = tileType(broadcast.getSource()))
          broadcast.getSourceMutable().assign(convert(
              builder, loc, broadcast.getSource(),
              broadcastSource(layoutOf(broadcast.getResult().getType()), type, tileType(broadcast.getResult()))));
      } else if (isa<tile::LoadOp, tile::StoreOp, tile::AccumulateOp, tile::AtomicOp, tile::InsideOp>(op)) {
        SmallVector<OpOperand *> indices;
        ArrayRef<int64_t> widths;
        Value tile = slicedTile(op, indices, widths);
        if (!tile)
          continue;
        SmallVector<Value> values;
        for (OpOperand *index : indices)
          values.push_back(index->get());
        Dist layout = layoutOf(tile.getType());
        for (OpOperand *index : indices)
          if (tileType(index->get()))
            index->set(convert(builder, loc, index->get(), indexLayout(layout, values, widths, index->get())));
      } else if (auto permute = dyn_cast<tile::PermuteOp>(op)) {
        convertResult(op, permuteLayout(layoutOf(permute.getSource().getType()), permute.getOrder()));
      } else if (auto extract = dyn_cast<tile::ExtractOp>(op)) {
        // Where elements must move they do so straight into the layout that is wanted.
        if (tileType(extract.getResult()))
          if (std::optional<Dist> part = partOf(extract, layoutOf(extract.getSource().getType())))
            convertResult(op, *part);
      } else if (auto scan = dyn_cast<tile::ScanOp>(op)) {
        Dist own = scanLayout(tileType(scan.getSource()).getShape(), scan.getAxis(), warps);
        scan.getSourceMutable().assign(convert(builder, loc, scan.getSource(), own));
        convertResult(op, own);
      } else if (auto scan = dyn_cast<tile::ScanByOp>(op)) {
        convertSequence(op, scanLayout(tileType(scan.getSources()[0]).getShape(), scan.getAxis(), warps));
      } else if (auto sort = dyn_cast<tile::SortOp>(op)) {
        convertSequence(op, sortLayout(tileType(sort.getSources()[0]).getShape(), sort.getAxis(), warps));
      } else if (auto reduce = dyn_cast<tile::ReduceByOp>(op)) {
        int64_t axis = reduce.getAxis();
        Dist own = scanLayout(tileType(reduce.getSources()[0]).getShape(), axis, warps);
        convertSequence(op, own, sliceLayout(own, axis));
      } else if (auto dot = dyn_cast<DotOp>(op)) {
        Dist own = productLayout(dot);
        if (tileType(dot.getA()))
          dot.getAMutable().assign(convert(builder, loc, dot.getA(), leftOperandLayout(dot)));
        dot.getAccMutable().assign(convert(builder, loc, dot.getAcc(), own));
        convertResult(op, own);
      }
    }
  }
};

} // namespace
