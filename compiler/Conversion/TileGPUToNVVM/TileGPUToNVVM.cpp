//===- TileGPUToNVVM.cpp - the pass around KernelLowering ------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "compiler/Conversion/TileGPUToNVVM/Lowering.h"
#include "compiler/Conversion/TileGPUToNVVM/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_TILEGPUTONVVMPASS
#include "compiler/Conversion/TileGPUToNVVM/Passes.h.inc"
} // namespace tessera

using namespace mlir;

namespace {
struct TileGPUToNVVM final : public tessera::impl::TileGPUToNVVMPassBase<TileGPUToNVVM> {
  /// Every tile says who holds what: IR from a file may come without the pass that decides it.
  static LogicalResult checkLayouts(tessera::tile::KernelOp kernel) {
    auto lacks = [](Type type) {
      auto tile = dyn_cast<RankedTensorType>(type);
      return tile && !isa_and_present<tessera::tile_gpu::DistAttr>(tile.getEncoding());
    };
    WalkResult result = kernel.walk([&](Operation *op) {
      SmallVector<Type> types(op->getResultTypes());
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::append_range(types, block.getArgumentTypes());
      for (Type type : types)
        if (lacks(type)) {
          op->emitError() << "internal error: expected a layout on the tile " << type << " of '" << op->getName()
                          << "', found none; run tile-gpu-assign-layouts first";
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  void runOnOperation() override {
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<tessera::tile::KernelOp>())) {
      if (failed(checkLayouts(kernel)))
        return signalPassFailure();
      OpBuilder builder(kernel);
      if (failed(tessera::KernelLowering(kernel, builder).lower()))
        return signalPassFailure();
      kernel.erase();
    }
  }
};
} // namespace
