//===- Passes.td - passes of the GPU pipeline --------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// In the order in which Pipeline.cpp runs them.
//
#ifndef TESSERA_COMPILER_TRANSFORMS_PASSES_TD
#define TESSERA_COMPILER_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def StageOperandsPass : Pass<"tile-gpu-stage-operands", "::tessera::tile::KernelOp"> {
  let summary = "Bring the operands of products to where the tensor cores read them";
  let description = [{
    Needs: tile ops without layouts.  Gives: every `tile.dot` as a `tile_gpu.dot` whose operands are buffers, filled by a copy where the operand
    is a slice of memory and by a write otherwise; a left operand computed from another product stays in registers.  Chooses the
    number of warps (attribute `tile_gpu.warps` of the kernel) and their arrangement over each product.

    ```mlir
    %a = tile.load %x[%m, %k] widths [128, 64] ... -> tensor<128x64xbf16>
    %d = tile.dot %a, %b, %acc : ...
    ```
    ==>
    ```mlir
    %s = tile_gpu.alloc : !tile_gpu.buffer<128x64xbf16, #shared>
    tile_gpu.copy %x[%m, %k] widths [128, 64] ... into %s
    tile_gpu.commit
    tile_gpu.wait 0
    %d = tile_gpu.dot %s, %t, %acc {mma, warps = [2, 4]} : ...
    ```
  }];
  let options = [Option<"warps", "warps", "int64_t", "0", "warps of a block; 0: what a tune block chose, else from the size of the products">];
  let dependentDialects = ["::tessera::tile_gpu::TileGPUDialect"];
}

def AssignLayoutsPass : Pass<"tile-gpu-assign-layouts", "::tessera::tile::KernelOp"> {
  let summary = "Give every tile a layout and convert where two meet";
  let description = [{
    Needs: products staged.  Gives: every tile type has a layout.  Accumulators of products decide first; elementwise work, loop-carried values and, through slices,
    the vectors that belong to them follow; what is left is laid out for memory.  Constants, iotas and splats are repeated for each use,
    so that they never tie two layouts together.

    ```mlir
    %m = tile.reduce max %s, 1 : tensor<64x64xf32> -> tensor<64xf32>
    ```
    ==>
    ```mlir
    %m = tile.reduce max %s, 1 : tensor<64x64xf32, #dist> -> tensor<64xf32, #dist1>   // #dist1: #dist without dimension 1
    ```
  }];
  let dependentDialects = ["::tessera::tile_gpu::TileGPUDialect"];
}

def PipelineLoopsPass : Pass<"tile-gpu-pipeline-loops", "::tessera::tile::KernelOp"> {
  let summary = "Copy ahead: rings of stages for the copies of a loop";
  let description = [{
    Needs: layouts assigned.  Gives: in loops whose copies depend only on the induction variable and values from outside, and read parameters that
    the kernel does not write, the copies run `stages - 1` iterations ahead through rings of buffers.  The largest number of stages up to the option that fits
    the target's shared memory is taken.  Leaves alone: other loops; with one stage, everything.  Never changes a bit of any result.

    ```mlir
    scf.for %k = ... { tile_gpu.copy %x[%m, %k] into %s; commit; wait 0; dot %s }
    ```
    ==>
    ```mlir
    copy %x[%m, 0] into %ring[0]; commit                       // stages = 2
    scf.for %k = ... { wait 0; barrier; copy %x[%m, %k + step] if ... into %ring[next]; commit; dot %ring[now] }
    ```
  }];
  let options = [Option<"stages", "stages", "int64_t", "0", "stages at most; 0: what a tune block chose, else 2">,
                 Option<"sharedBytes", "shared-bytes", "int64_t", "101376", "shared memory of a block of the target">];
  let dependentDialects = ["::tessera::tile_gpu::TileGPUDialect"];
}

def LowerConversionsPass : Pass<"tile-gpu-lower-conversions", "::tessera::tile::KernelOp"> {
  let summary = "Layout conversions and reductions across warps through shared memory";
  let description = [{
    Needs: layouts assigned.  Gives: the only `convert_layout` ops left move data within each thread or between the lanes of a warp; others become a write and a read of a scratch
    buffer, and reductions whose dimension spans several warps end in a `tile_gpu.exchange`.

    ```mlir
    %b = tile_gpu.convert_layout %a : tensor<64x64xf32, #dist> -> tensor<64x64xf32, #dist1>
    ```
    ==>
    ```mlir
    %s = tile_gpu.alloc : !tile_gpu.buffer<64x64xf32, #shared>
    tile_gpu.write %a, %s
    %b = tile_gpu.read %s
    ```
  }];
  let dependentDialects = ["::tessera::tile_gpu::TileGPUDialect"];
}

def AllocateSharedPass : Pass<"tile-gpu-allocate-shared", "::tessera::tile::KernelOp"> {
  let summary = "Place buffers in shared memory by liveness";
  let description = [{
    Needs: every buffer explicit.  Gives: an `offset` on every `tile_gpu.alloc`, buffers that are never live together sharing memory, and the attribute
    `tile_gpu.shared_bytes` on the kernel.  A kernel that needs more than the target has is rejected with the list of its buffers.

    ```mlir
    %s = tile_gpu.alloc : !tile_gpu.buffer<64x64xf32, #shared>
    ```
    ==>
    ```mlir
    %s = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.buffer<64x64xf32, #shared>
    ```
  }];
  let options = [Option<"sharedBytes", "shared-bytes", "int64_t", "101376", "shared memory of a block of the target">,
                 Option<"target", "target", "std::string", [{"the target"}], "its name, for the message">];
  let dependentDialects = ["::tessera::tile_gpu::TileGPUDialect"];
}

def InsertBarriersPass : Pass<"tile-gpu-insert-barriers", "::tessera::tile::KernelOp"> {
  let summary = "A barrier wherever one thread may touch what another touched before";
  let description = [{
    Needs: buffers placed.  Gives: a `tile_gpu.barrier` between any two accesses of overlapping shared memory of which one writes, and between accesses of
    a parameter that the kernel both reads and writes, unless one stands there already.  Loops are walked until nothing changes.

    ```mlir
    tile_gpu.write %a, %s
    %b = tile_gpu.read %s
    ```
    ==>
    ```mlir
    tile_gpu.write %a, %s
    tile_gpu.barrier
    %b = tile_gpu.read %s
    ```
  }];
  let dependentDialects = ["::tessera::tile_gpu::TileGPUDialect"];
}

#endif // TESSERA_COMPILER_TRANSFORMS_PASSES_TD
