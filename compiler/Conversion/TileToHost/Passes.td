//===- Passes.td - tile IR to loops of the host ------------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
#ifndef TESSERA_COMPILER_CONVERSION_TILETOHOST_PASSES_TD
#define TESSERA_COMPILER_CONVERSION_TILETOHOST_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileToHostPass : Pass<"tile-to-host", "::mlir::ModuleOp"> {
  let summary = "Kernels as functions of the host: loops over buffers";
  let description = [{
    Needs: numerics expanded for the host.  Gives: for each kernel an `llvm.func` with the host ABI of runtime/Image/KernelImage.h, which runs a range of programs; its
    attribute `tile.scratch_bytes` says how much scratch a thread needs.  Tiles that several loops need live in scratch; chains of elementwise ops are
    computed where they are used.  Sums run in order of their index, but for partial sums of 16 lanes along the last dimension.  Remaining scf, arith
    and math ops are scalar.

    ```mlir
    %c = arith.addf %a, %b : tensor<16x32xf32>
    tile.store %c, %y[%m, %n] ...
    ```
    ==>
    ```mlir
    scf.for %i = 0 to 16 { scf.for %j = ... { %s = arith.addf %x, %y : f32; llvm.store %s, %p } }
    ```
  }];
  let options = [Option<"fault", "fault", "std::string", "", "for tests: the name of a fault to plant (HostFaults in Lowering.h)">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

#endif // TESSERA_COMPILER_CONVERSION_TILETOHOST_PASSES_TD
