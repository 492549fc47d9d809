//===- Passes.td - the lowering from tile_gpu to the LLVM dialect ------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
#ifndef TESSERA_COMPILER_CONVERSION_TILEGPUTONVVM_PASSES_TD
#define TESSERA_COMPILER_CONVERSION_TILEGPUTONVVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileGPUToNVVMPass : Pass<"tile-gpu-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Kernels as LLVM functions: one vector a tile, PTX where LLVM has no word for it";
  let description = [{
    Needs: layouts, explicit movement, buffers placed, barriers inserted.  Gives: one `llvm.func` with `nvvm.kernel` for each kernel, with the argument slots of
    runtime/Image/KernelImage.h; scf, arith and math ops on scalars and vectors remain for the upstream conversions.

    ```mlir
    %r = arith.addf %a, %b : tensor<64x64xf32, #dist>
    ```
    ==>
    ```mlir
    %r = arith.addf %a, %b : vector<32xf32>
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // TESSERA_COMPILER_CONVERSION_TILEGPUTONVVM_PASSES_TD
