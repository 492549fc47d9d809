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
  void runOnOperation() override {
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<tessera::tile::KernelOp>())) {
      OpBuilder builder(kernel);
      if (failed(tessera::KernelLowering(kernel, builder).lower()))
        return signalPassFailure();
      kernel.erase();
    }
  }
};
} // namespace
