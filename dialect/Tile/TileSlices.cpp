//===- TileSlices.cpp - the ops that access memory: dim, subview, load, store, inside - SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Verifiers cite the rule numbers of TileOps.td.
//
#include "dialect/Tile/TileSlices.h"
#include "dialect/Tile/ElementTypes.h"

using namespace mlir;
using namespace tessera::tile;

/// Broadcast of `shape` into `into` (trailing alignment, extent 1 stretches).
static bool broadcastInto(SmallVector<int64_t> &into, ArrayRef<int64_t> shape) {
  if (shape.size() > into.size())
    into.insert(into.begin(), shape.size() - into.size(), 1);
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t &have = into[into.size() - shape.size() + i];
    if (have == 1)
      have = shape[i];
    else if (shape[i] != 1 && shape[i] != have)
      return false;
  }
  return true;
}

SmallVector<int64_t> tessera::tile::sliceShape(ValueRange indices, ArrayRef<int64_t> widths) {
  SmallVector<int64_t> tiles;
  for (auto [index, width] : llvm::zip(indices, widths))
    if (width < 0)
      broadcastInto(tiles, cast<RankedTensorType>(index.getType()).getShape());
  SmallVector<int64_t> shape;
  bool placed = false;
  for (int64_t width : widths) {
    if (width > 0)
      shape.push_back(width);
    else if (width < 0 && !placed) {
      shape.append(tiles.begin(), tiles.end());
      placed = true;
    }
  }
  return shape;
}

/// The view that `view` is part of; null for a parameter.
static Value sourceOf(Value view) {
  if (auto subview = view.getDefiningOp<SubviewOp>())
    return subview.getSource();
  if (auto paged = view.getDefiningOp<PagedOp>())
    return paged.getPool();
  return {};
}

BlockArgument tessera::tile::rootParameter(Value view) {
  while (Value source = sourceOf(view))
    view = source;
  return cast<BlockArgument>(view);
}

bool tessera::tile::isPaged(Value view) {
  for (; view; view = sourceOf(view))
    if (view.getDefiningOp<PagedOp>())
      return true;
  return false;
}

/// The mode of the parameter behind a view, empty when it has none (IR under construction).
static StringRef modeOf(Value view) {
  while (Value source = sourceOf(view))
    view = source;
  auto argument = dyn_cast<BlockArgument>(view);
  if (!argument)
    return {};
  auto kernel = dyn_cast_or_null<KernelOp>(argument.getOwner()->getParentOp());
  if (!kernel)
    return {};
  auto mode = kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kModeAttr);
  return mode ? mode.getValue() : StringRef();
}

LogicalResult tessera::tile::verifySlice(mlir::Operation *op, ViewType view, OperandRange indices,
                                         ArrayRef<int64_t> widths, ArrayRef<int64_t> steps) {
  size_t rank = view.getRank();
  if (indices.size() != rank || widths.size() != rank || steps.size() != rank)
    return op->emitOpError() << "slice_c1: expected one index, width and step for each of the view's " << rank
                             << " dimensions, got " << indices.size() << ", " << widths.size() << " and "
                             << steps.size();
  SmallVector<int64_t> tiles;
  for (size_t d = 0; d < rank; ++d) {
    auto tile = dyn_cast<RankedTensorType>(indices[d].getType());
    if (widths[d] < -1 || (widths[d] == -1) != bool(tile))
      return op->emitOpError() << "slice_c2: expected width -1 exactly where the index is a tile, got width "
                               << widths[d] << " with " << indices[d].getType() << " in dimension " << d;
    if (steps[d] < 1 || (widths[d] <= 0 && steps[d] != 1))
      return op->emitOpError() << "slice_c3: expected a step of at least 1, and of 1 without a width, got " << steps[d]
                               << " in dimension " << d;
    if (tile && !broadcastInto(tiles, tile.getShape()))
      return op->emitOpError() << "slice_c4: expected index tiles that broadcast, got " << tile << " in dimension "
                               << d;
  }
  return success();
}

/// Whether `type` is the scalar or tile of `shape` with `element`.
static bool isSliceType(Type type, ArrayRef<int64_t> shape, Type element) {
  if (shape.empty())
    return type == element;
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile && tile.getShape() == shape && tile.getElementType() == element;
}

static std::string describeSlice(ArrayRef<int64_t> shape, Type element) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (shape.empty())
    os << element;
  else
    os << RankedTensorType::get(shape, element);
  return text;
}

LogicalResult DimOp::verify() {
  int64_t rank = cast<ViewType>(getView().getType()).getRank();
  if (int64_t axis = getAxis(); axis < 0 || axis >= rank)
    return emitOpError() << "dim_c1: expected an axis in 0.." << rank << ", got " << axis;
  return success();
}

OpFoldResult DimOp::fold(FoldAdaptor) {
  auto view = cast<ViewType>(getView().getType());
  if (!view.isDynamic(getAxis()))
    return IntegerAttr::get(IntegerType::get(getContext(), 64), view.getShape()[getAxis()]);
  return {};
}

LogicalResult SubviewOp::verify() {
  auto source = cast<ViewType>(getSource().getType()), result = cast<ViewType>(getResult().getType());
  ArrayRef<int32_t> kinds = getKinds();
  if (int64_t(kinds.size()) != source.getRank() || llvm::any_of(kinds, [](int32_t k) { return k < 0 || k > 2; }))
    return emitOpError() << "subview_c1: expected one kind of 0, 1 or 2 for each of the " << source.getRank()
                         << " dimensions";
  size_t operands = 0;
  SmallVector<int64_t> shape;
  for (auto [d, kind] : llvm::enumerate(kinds)) {
    operands += kind == 0 ? 1 : kind == 2 ? 2 : 0;
    if (kind != 0)
      shape.push_back(kind == 1 ? source.getShape()[d] : ShapedType::kDynamic);
  }
  if (getBounds().size() != operands)
    return emitOpError() << "subview_c2: expected " << operands << " bounds for these kinds, got "
                         << getBounds().size();
  auto expected = ViewType::get(getContext(), shape, source.getElementType());
  if (result != expected)
    return emitOpError() << "subview_c3: expected result " << expected << ", got " << result;
  return success();
}

LogicalResult PagedOp::verify() {
  auto pool = cast<ViewType>(getPool().getType()), table = cast<ViewType>(getTable().getType());
  if (pool.getRank() < 2)
    return emitOpError() << "paged_c1: expected a pool of rank 2 or more, got " << pool;
  if (table.getRank() != 1 || !(table.getElementType().isInteger(32) || table.getElementType().isInteger(64)))
    return emitOpError() << "paged_c2: expected a table of rank 1 of i32 or i64, got " << table;
  SmallVector<int64_t> shape{ShapedType::kDynamic};
  llvm::append_range(shape, pool.getShape().drop_front(2));
  auto expected = ViewType::get(getContext(), shape, pool.getElementType());
  if (getResult().getType() != expected)
    return emitOpError() << "paged_c3: expected result " << expected << ", got " << getResult().getType();
  return success();
}

Value SubviewOp::getViewSource() { return getSource(); }

LogicalResult LoadOp::verify() {
  auto view = cast<ViewType>(getView().getType());
  if (failed(verifySlice(*this, view, getIndices(), getWidths(), getSteps())))
    return failure();
  SmallVector<int64_t> shape = getSliceShape();
  if (!isSliceType(getResult().getType(), shape, view.getElementType()))
    return emitOpError() << "load_c1: expected result " << describeSlice(shape, view.getElementType()) << ", got "
                         << getResult().getType();
  if (getPad() && getPad().getType() != view.getElementType())
    return emitOpError() << "load_c2: expected padding of type " << view.getElementType() << ", got "
                         << getPad().getType();
  if (StringRef mode = modeOf(getView()); mode == "out" || mode == "accum")
    return emitOpError() << "load_c3: expected a view that can be read, got one of mode '" << mode << "'";
  return success();
}

void LoadOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getViewMutable(), GlobalMemory::get());
}

LogicalResult StoreOp::verify() {
  auto view = cast<ViewType>(getView().getType());
  if (failed(verifySlice(*this, view, getIndices(), getWidths(), getSteps())))
    return failure();
  SmallVector<int64_t> shape = getSliceShape();
  if (!isSliceType(getValue().getType(), shape, view.getElementType()))
    return emitOpError() << "store_c1: expected a value of " << describeSlice(shape, view.getElementType()) << ", got "
                         << getValue().getType();
  if (StringRef mode = modeOf(getView()); mode == "in" || mode == "accum")
    return emitOpError() << "store_c2: expected a view that can be written, got one of mode '" << mode << "'";
  return success();
}

void StoreOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &getViewMutable(), GlobalMemory::get());
}

LogicalResult AccumulateOp::verify() {
  auto view = cast<ViewType>(getView().getType());
  if (failed(verifySlice(*this, view, getIndices(), getWidths(), getSteps())))
    return failure();
  SmallVector<int64_t> shape = getSliceShape();
  Type element = view.getElementType();
  if (!isSliceType(getValue().getType(), shape, element))
    return emitOpError() << "accumulate_c1: expected a value of " << describeSlice(shape, element) << ", got "
                         << getValue().getType();
  if (StringRef mode = modeOf(getView()); !mode.empty() && mode != "accum")
    return emitOpError() << "accumulate_c2: expected a view of mode 'accum', got one of mode '" << mode << "'";
  if (!worksOn("accumulate", element))
    return emitOpError() << "accumulate_c3: expected f32, f64, i32 or i64, got " << element;
  return success();
}

void AccumulateOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &getViewMutable(), GlobalMemory::get());
}

LogicalResult AtomicOp::verify() {
  auto view = cast<ViewType>(getView().getType());
  if (failed(verifySlice(*this, view, getIndices(), getWidths(), getSteps())))
    return failure();
  Type element = view.getElementType();
  SmallVector<int64_t> shape = getSliceShape();
  if (!isSliceType(getValue().getType(), shape, element) || !isSliceType(getResult().getType(), shape, element))
    return emitOpError() << "atomic_c1: expected value and result of " << describeSlice(shape, element) << ", got "
                         << getValue().getType() << " and " << getResult().getType();
  if (StringRef mode = modeOf(getView()); !mode.empty() && mode != "inout")
    return emitOpError() << "atomic_c2: expected a view of mode 'inout', got one of mode '" << mode << "'";
  if (!worksOn(("atomic_" + stringifyAtomicKind(getKind())).str(), element))
    return emitOpError() << "atomic_c3: expected an element type that has '" << stringifyAtomicKind(getKind())
                         << "', got " << element;
  if (bool(getCompare()) != (getKind() == AtomicKind::Cas) ||
      (getCompare() && getCompare().getType() != getValue().getType()))
    return emitOpError() << "atomic_c4: expected a value of " << getValue().getType()
                         << " to compare with exactly for 'cas'";
  if (getPad() && getPad().getType() != element)
    return emitOpError() << "atomic_c5: expected padding of type " << element << ", got " << getPad().getType();
  return success();
}

void AtomicOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getViewMutable(), GlobalMemory::get());
  effects.emplace_back(MemoryEffects::Write::get(), &getViewMutable(), GlobalMemory::get());
}

LogicalResult InsideOp::verify() {
  auto view = cast<ViewType>(getView().getType());
  if (failed(verifySlice(*this, view, getIndices(), getWidths(), getSteps())))
    return failure();
  SmallVector<int64_t> shape = getSliceShape();
  Type i1 = IntegerType::get(getContext(), 1);
  if (!isSliceType(getResult().getType(), shape, i1))
    return emitOpError() << "inside_c1: expected result " << describeSlice(shape, i1) << ", got "
                         << getResult().getType();
  return success();
}
