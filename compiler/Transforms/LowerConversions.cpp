//===- LowerConversions.cpp - conversions and reductions across warps through shared memory - SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Needs layouts on every tile.  Gives convert_layout only where the algebra (conversionBetween in Layouts.h) finds every element in the thread that
// wants it, or in another lane of its warp; all other conversions become a write and a read of scratch; reductions over a dimension that is spread over warps get an exchange.  Barriers
// come later, by analysis.
//
#include "compiler/Transforms/Passes.h"
#include "dialect/TileGPU/Layouts.h"

namespace tessera {
#define GEN_PASS_DEF_LOWERCONVERSIONSPASS
#include "compiler/Transforms/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::tile_gpu;

namespace {

struct LowerConversions final : public tessera::impl::LowerConversionsPassBase<LowerConversions> {
  void runOnOperation() override {
    getOperation().walk([&](ConvertLayoutOp convert) {
      Conversion conversion =
          conversionBetween(layoutOf(convert.getSource().getType()), layoutOf(convert.getResult().getType()));
      if (conversion.movement == Movement::Shared)
        throughShared(convert);
    });
    getOperation().walk([&](tile::ReshapeOp reshape) {
      if (hasLayout(reshape.getSource().getType()) && hasLayout(reshape.getResult().getType()))
        reshapeThroughShared(reshape);
    });
    getOperation().walk([&](tile::ConcatOp concat) { concatThroughShared(concat); });
    getOperation().walk([&](tile::ExtractOp extract) { partThroughShared(extract); });
    getOperation().walk([&](tile::HistogramOp histogram) { countInShared(histogram); });
    getOperation().walk([&](tile::ReduceOp reduce) { addExchange(reduce); });
    getOperation().walk([&](tile::AtomicOp atomic) { addScratch(atomic); });
  }

  /// A scalar's result goes to all threads through a buffer; of a tile's elements the replicas get theirs the same way, where anybody asks.
  static void addScratch(tile::AtomicOp atomic) {
    OpBuilder builder(atomic);
    Location loc = atomic.getLoc();
    auto tile = dyn_cast<RankedTensorType>(atomic.getResult().getType());
    Value buffer = tile ? Value() : scratch(builder, loc, {1, 1}, atomic.getResult().getType());
    auto lowered =
        AtomicOp::create(builder, loc, atomic.getResult().getType(), atomic.getKind(), atomic.getValue(),
                         atomic.getCompare(), atomic.getView(), atomic.getIndices(), atomic.getWidths(),
                         atomic.getSteps(), atomic.getOrder(), atomic.getPad(), atomic.getIsUnsigned(), buffer);
    Value result = lowered.getResult();
    if (tile && !atomic.getResult().use_empty()) {
      Dist layout = layoutOf(tile);
      if (layout.freeLanes() || layout.freeWarps()) {
        Value everyone = scratch(builder, loc, tile.getShape(), tile.getElementType());
        WriteOp::create(builder, loc, result, everyone, DenseI64ArrayAttr());
        result = ReadOp::create(builder, loc, tile, everyone);
      }
    }
    atomic.getResult().replaceAllUsesWith(result);
    atomic.erase();
  }

  static Value scratch(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape, Type element) {
    SharedAttr layout = plainShared(builder.getContext(), shape, elementBytes(element));
    return AllocOp::create(builder, loc, BufferType::get(builder.getContext(), shape, element, layout, 1),
                           IntegerAttr());
  }

  static void throughShared(ConvertLayoutOp convert) {
    OpBuilder builder(convert);
    auto type = cast<RankedTensorType>(convert.getSource().getType());
    Value buffer = scratch(builder, convert.getLoc(), type.getShape(), type.getElementType());
    WriteOp::create(builder, convert.getLoc(), convert.getSource(), buffer, DenseI64ArrayAttr());
    Value read = ReadOp::create(builder, convert.getLoc(), convert.getResult().getType(), buffer);
    convert.getResult().replaceAllUsesWith(read);
    convert.erase();
  }

  static void concatThroughShared(tile::ConcatOp concat) {
    OpBuilder builder(concat);
    auto type = cast<RankedTensorType>(concat.getResult().getType());
    Value buffer = scratch(builder, concat.getLoc(), type.getShape(), type.getElementType());
    SmallVector<int64_t> offsets(type.getRank(), 0);
    WriteOp::create(builder, concat.getLoc(), concat.getFirst(), buffer, builder.getDenseI64ArrayAttr(offsets));
    offsets[concat.getAxis()] = cast<RankedTensorType>(concat.getFirst().getType()).getShape()[concat.getAxis()];
    WriteOp::create(builder, concat.getLoc(), concat.getSecond(), buffer, builder.getDenseI64ArrayAttr(offsets));
    Value read = ReadOp::create(builder, concat.getLoc(), type, buffer);
    concat.getResult().replaceAllUsesWith(read);
    concat.erase();
  }

  /// A part whose elements other threads hold; one that stays in its threads is left to the lowering.
  static void partThroughShared(tile::ExtractOp extract) {
    auto type = cast<RankedTensorType>(extract.getSource().getType());
    std::optional<Dist> own =
        partLayout(layoutOf(type), type.getShape(), extract.getStarts(), extract.getWidths(), extract.getSteps());
    if (own && hasLayout(extract.getResult().getType()) && layoutOf(extract.getResult().getType()) == *own)
      return;
    OpBuilder builder(extract);
    Value buffer = scratch(builder, extract.getLoc(), type.getShape(), type.getElementType());
    WriteOp::create(builder, extract.getLoc(), extract.getSource(), buffer, DenseI64ArrayAttr());
    Value read = ReadPartOp::create(builder, extract.getLoc(), extract.getResult().getType(), buffer,
                                    extract.getStarts(), extract.getWidths(), extract.getSteps());
    extract.getResult().replaceAllUsesWith(read);
    extract.erase();
  }

  static void countInShared(tile::HistogramOp histogram) {
    OpBuilder builder(histogram);
    Location loc = histogram.getLoc();
    auto type = cast<RankedTensorType>(histogram.getResult().getType());
    Value buffer = scratch(builder, loc, type.getShape(), type.getElementType());
    Value zero = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, builder.getI32IntegerAttr(0)));
    WriteOp::create(builder, loc, zero, buffer, DenseI64ArrayAttr());
    CountOp::create(builder, loc, histogram.getSource(), buffer);
    Value read = ReadOp::create(builder, loc, type, buffer);
    histogram.getResult().replaceAllUsesWith(read);
    histogram.erase();
  }

  /// A buffer whose rows have no gap holds the elements in row-major order under any shape.
  static void reshapeThroughShared(tile::ReshapeOp reshape) {
    OpBuilder builder(reshape);
    MLIRContext *context = builder.getContext();
    auto from = cast<RankedTensorType>(reshape.getSource().getType()),
         to = cast<RankedTensorType>(reshape.getResult().getType());
    auto dense = [&](RankedTensorType type) {
      SmallVector<int64_t> order;
      for (int64_t d = 0; d < type.getRank(); ++d)
        order.push_back(d);
      int64_t pitch = type.getShape().back() * elementBytes(type.getElementType());
      return BufferType::get(context, type.getShape(), type.getElementType(),
                             SharedAttr::get(context, order, pitch, 0, 0), 1);
    };
    Value buffer = AllocOp::create(builder, reshape.getLoc(), dense(from), IntegerAttr());
    WriteOp::create(builder, reshape.getLoc(), reshape.getSource(), buffer, DenseI64ArrayAttr());
    Value other = ReinterpretOp::create(builder, reshape.getLoc(), dense(to), buffer);
    Value read = ReadOp::create(builder, reshape.getLoc(), to, other);
    reshape.getResult().replaceAllUsesWith(read);
    reshape.erase();
  }

  static void addExchange(tile::ReduceOp reduce) {
    Dist layout = layoutOf(reduce.getSource().getType());
    int64_t mask = layout.warpMask(reduce.getAxis());
    if (!mask)
      return;
    OpBuilder builder(reduce->getContext());
    builder.setInsertionPointAfter(reduce);
    Value partial = reduce.getResult();
    // One row a warp; a row holds what one warp's lanes and registers hold.
    int64_t warps = int64_t(1) << layout.warps.size();
    int64_t columns = hasLayout(partial.getType()) ? layoutOf(partial.getType()).numRegisters() * 32 : 1;
    Type element = getElementTypeOrSelf(partial.getType());
    Value buffer = scratch(builder, reduce.getLoc(), {warps, columns}, element);
    auto exchange =
        ExchangeOp::create(builder, reduce.getLoc(), partial.getType(), reduce.getKind(), partial, buffer, mask);
    partial.replaceAllUsesExcept(exchange.getResult(), exchange);
  }
};

} // namespace
