//===- TileGPUOps.cpp - verifiers of the tile_gpu dialect ------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Verifiers cite the rule numbers of TileGPUOps.td.
//
#include "dialect/Tile/TileSlices.h"
#include "dialect/TileGPU/Layouts.h"
#include "dialect/TileGPU/Products.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::tile_gpu;

#define GET_OP_CLASSES
#include "dialect/TileGPU/TileGPUOps.cpp.inc"

LogicalResult ConvertLayoutOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType()), result = cast<RankedTensorType>(getResult().getType());
  if (source.getShape() != result.getShape() || source.getElementType() != result.getElementType() ||
      !hasLayout(source) || !hasLayout(result))
    return emitOpError() << "convert_layout_c1: expected two layouts of one shape and element type, got " << source
                         << " and " << result;
  return success();
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  return getSource().getType() == getResult().getType() ? OpFoldResult(getSource()) : OpFoldResult();
}

LogicalResult SlotOp::verify() {
  auto ring = cast<BufferType>(getRing().getType()), result = cast<BufferType>(getResult().getType());
  if (result != ring.withStages(1))
    return emitOpError() << "slot_c1: expected result " << ring.withStages(1) << ", got " << result;
  return success();
}

BufferType TransposeOp::transposed(BufferType source) {
  int64_t rank = source.getRank();
  if (rank < 2 || rank > 3)
    return {};
  SmallVector<int64_t> shape(source.getShape()), order(source.getLayout().getOrder());
  std::swap(shape[rank - 2], shape[rank - 1]);
  for (int64_t &dimension : order)
    if (dimension >= rank - 2)
      dimension = 2 * rank - 3 - dimension;
  SharedAttr layout = source.getLayout();
  auto swapped = SharedAttr::get(source.getContext(), order, layout.getPitch(), layout.getMask(), layout.getShift());
  return BufferType::get(source.getContext(), shape, source.getElementType(), swapped, source.getStages());
}

LogicalResult TransposeOp::verify() {
  auto source = cast<BufferType>(getSource().getType()), result = cast<BufferType>(getResult().getType());
  if (result != transposed(source))
    return emitOpError() << "transpose_c1: expected the transpose of " << source << ", got " << result;
  return success();
}

LogicalResult ReinterpretOp::verify() {
  auto dense = [](BufferType type) {
    SharedAttr layout = type.getLayout();
    size_t rank = type.getShape().size();
    if (rank == 0 || layout.getOrder().size() != rank || size_t(layout.getOrder().back()) >= rank)
      return false; // from a file: an order of other dimensions
    int64_t fastest = type.getShape()[layout.getOrder().back()];
    return layout.getMask() == 0 && layout.getPitch() == fastest * elementBytes(type.getElementType());
  };
  auto elements = [](BufferType type) {
    int64_t count = 1;
    for (int64_t extent : type.getShape())
      count *= extent;
    return count;
  };
  auto source = cast<BufferType>(getSource().getType()), result = cast<BufferType>(getResult().getType());
  if (!dense(source) || !dense(result) || elements(source) != elements(result) ||
      source.getElementType() != result.getElementType())
    return emitOpError() << "reinterpret_c1: expected dense buffers of as many elements, got " << source << " and "
                         << result;
  return success();
}

/// Whether a tile of `shape` and `element` fits into `buffer`.
static bool fitsBuffer(ArrayRef<int64_t> shape, Type element, BufferType buffer) {
  if (int64_t(shape.size()) != buffer.getRank() || element != buffer.getElementType())
    return false;
  for (auto [extent, room] : llvm::zip(shape, buffer.getShape()))
    if (extent > room)
      return false;
  return true;
}

LogicalResult CopyOp::verify() {
  auto view = cast<tile::ViewType>(getView().getType());
  auto buffer = cast<BufferType>(getBuffer().getType());
  size_t rank = view.getRank();
  if (getIndices().size() != rank || getWidths().size() != rank || getSteps().size() != rank)
    return emitOpError() << "copy_c1: expected an index, a width and a step for each of the view's " << rank
                         << " dimensions";
  SmallVector<int64_t> shape;
  for (int64_t width : getWidths()) {
    if (width < 0)
      return emitOpError() << "copy_c3: expected no index tiles";
    if (width > 0)
      shape.push_back(width);
  }
  if (view.getElementType() != buffer.getElementType())
    return emitOpError() << "copy_c2: expected element type " << view.getElementType() << ", got "
                         << buffer.getElementType();
  if (!fitsBuffer(shape, view.getElementType(), buffer))
    return emitOpError() << "copy_c1: expected a slice that fits " << buffer;
  for (int64_t step : getSteps())
    if (step < 1)
      return emitOpError() << "copy_c4: expected steps of at least 1, got " << step;
  return success();
}

LogicalResult WriteOp::verify() {
  auto tile = cast<RankedTensorType>(getValue().getType());
  SmallVector<int64_t> shape(tile.getShape());
  if (auto offsets = getOffsets())
    for (auto [i, offset] : llvm::enumerate(*offsets))
      if (i < shape.size())
        shape[i] += offset;
  if (!fitsBuffer(shape, tile.getElementType(), cast<BufferType>(getBuffer().getType())) ||
      (getOffsets() && getOffsets()->size() != shape.size()))
    return emitOpError() << "write_c1: expected a tile that fits " << getBuffer().getType() << ", got " << tile;
  return success();
}

LogicalResult ReadOp::verify() {
  auto tile = cast<RankedTensorType>(getResult().getType());
  if (!fitsBuffer(tile.getShape(), tile.getElementType(), cast<BufferType>(getBuffer().getType())))
    return emitOpError() << "read_c1: expected a tile that fits " << getBuffer().getType() << ", got " << tile;
  return success();
}

LogicalResult ReadPartOp::verify() {
  auto buffer = cast<BufferType>(getBuffer().getType());
  size_t rank = buffer.getRank();
  bool fits = getStarts().size() == rank && getWidths().size() == rank && getSteps().size() == rank;
  SmallVector<int64_t> kept;
  for (size_t d = 0; fits && d < rank; ++d) {
    int64_t width = getWidths()[d], last = getStarts()[d] + (std::max<int64_t>(width, 1) - 1) * getSteps()[d];
    fits = width >= 0 && getSteps()[d] >= 1 && getStarts()[d] >= 0 && last < buffer.getShape()[d];
    if (width > 0)
      kept.push_back(width);
  }
  if (!fits)
    return emitOpError() << "read_part_c1: expected a part of " << buffer;
  auto tile = dyn_cast<RankedTensorType>(getResult().getType());
  if (getElementTypeOrSelf(getResult()) != buffer.getElementType() || kept.empty() == bool(tile) ||
      (tile && tile.getShape() != ArrayRef<int64_t>(kept)))
    return emitOpError() << "read_part_c2: expected the shape of the part, got " << getResult().getType();
  return success();
}

LogicalResult CountOp::verify() {
  auto buffer = cast<BufferType>(getBuffer().getType());
  Type element = cast<RankedTensorType>(getValue().getType()).getElementType();
  if ((!element.isInteger(32) && !element.isInteger(64)) || buffer.getRank() != 1 ||
      !buffer.getElementType().isInteger(32))
    return emitOpError() << "count_c1: expected integers of 32 or 64 bits and a buffer of one dimension of i32, got "
                         << element << " and " << buffer;
  return success();
}

LogicalResult AtomicOp::verify() {
  auto view = cast<tile::ViewType>(getView().getType());
  if (failed(tile::verifySlice(*this, view, getIndices(), getWidths(), getSteps())))
    return failure();
  if (bool(getBuffer()) == isa<RankedTensorType>(getResult().getType()))
    return emitOpError() << "atomic_c6: expected a buffer exactly for a scalar, got " << getResult().getType()
                         << (getBuffer() ? " with one" : " without one");
  return success();
}

LogicalResult DotOp::verify() {
  auto shapeOf = [](Value v) {
    auto buffer = dyn_cast<BufferType>(v.getType());
    return buffer ? buffer.getShape() : cast<RankedTensorType>(v.getType()).getShape();
  };
  ArrayRef<int64_t> a = shapeOf(getA()), b = shapeOf(getB()), c = shapeOf(getAcc());
  // A register operand keeps its logical shape; buffers are padded.
  size_t rank = c.size();
  bool fits = (rank == 2 || rank == 3) && a.size() == rank && b.size() == rank;
  if (fits)
    fits = a[rank - 2] >= c[rank - 2] && b[rank - 1] >= c[rank - 1] &&
           (isa<BufferType>(getA().getType()) ? a[rank - 1] == b[rank - 2] : a[rank - 1] <= b[rank - 2]) &&
           (rank == 2 || (a[0] >= c[0] && b[0] >= c[0]));
  if (!fits)
    return emitOpError() << "dot_c5: expected padded shapes [L x] M x K, K x N that cover the accumulator, got "
                         << getA().getType() << ", " << getB().getType() << " and " << getAcc().getType();
  if (getWarps().size() != rank || !llvm::all_of(getWarps(), [](int64_t w) { return llvm::isPowerOf2_64(w); }))
    return emitOpError() << "dot_c6: expected " << rank << " numbers of warps, powers of two";
  auto elementOf = [](Value v) {
    auto buffer = dyn_cast<BufferType>(v.getType());
    return buffer ? buffer.getElementType() : cast<RankedTensorType>(v.getType()).getElementType();
  };
  Type left = elementOf(getA()), right = elementOf(getB()), acc = elementOf(getAcc());
  if (left != right || (getMma() && !multiplies(*getMma(), left, acc)))
    return emitOpError() << "dot_c7: expected element types of the instruction, got " << left << ", " << right
                         << " and " << acc;
  return success();
}
