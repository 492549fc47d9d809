//===- Products.cpp - layouts of products ------------------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "dialect/TileGPU/Products.h"

using namespace mlir;
namespace tessera::tile_gpu {

/// `matrix` of the last two dimensions of `type` and their warps, for every matrix of the batch.
static Dist withBatch(RankedTensorType type, ArrayRef<int64_t> warps,
                      function_ref<Dist(ArrayRef<int64_t>, int64_t, int64_t)> matrix) {
  ArrayRef<int64_t> shape = type.getShape();
  Dist layout = matrix(shape.take_back(2), warps[warps.size() - 2], warps.back());
  return shape.size() == 2 ? layout : batchedLayout(layout, shape[0], warps[0]);
}

Dist productLayout(DotOp dot) {
  return withBatch(cast<RankedTensorType>(dot.getResult().getType()), dot.getWarps(),
                   dot.getMma() ? mmaAccumulator : plainAccumulator);
}

Dist leftOperandLayout(DotOp dot) {
  return withBatch(cast<RankedTensorType>(dot.getA().getType()), dot.getWarps(), mmaOperandA);
}

} // namespace tessera::tile_gpu
