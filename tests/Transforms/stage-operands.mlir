// RUN: tessera-opt %s -split-input-file -pass-pipeline='builtin.module(tile.kernel(tile-gpu-stage-operands))' | FileCheck %s
// RUN: tessera-opt %s -split-input-file -pass-pipeline='builtin.module(tile.kernel(tile-gpu-stage-operands{warps=2}))' | FileCheck %s --check-prefix=WARPS

// A slice of memory is copied to shared memory; the transposition is a view of the buffer; the wait stands before the product.
// CHECK-LABEL: tile.kernel @copies_slices
// CHECK-SAME:    tile_gpu.warps = 4
// CHECK:       %[[A:.*]] = tile_gpu.alloc : <64x32xbf16
// CHECK:       tile_gpu.copy %{{.*}} widths [64, 32] steps [1, 1] into %[[A]]
// CHECK:       %[[B:.*]] = tile_gpu.alloc : <64x32xbf16
// CHECK:       tile_gpu.copy %{{.*}} widths [64, 32] steps [1, 1] into %[[B]]
// CHECK-NOT:   tile.load
// CHECK:       tile_gpu.wait 0
// CHECK:       %[[BT:.*]] = tile_gpu.transpose %[[B]]
// CHECK:       tile_gpu.dot %[[A]], %[[BT]], %{{.*}} {mma = #tile_gpu<mma bf16>, warps = array<i64: 2, 2>}
// WARPS-LABEL: tile.kernel @copies_slices
// WARPS-SAME:    tile_gpu.warps = 2
tile.kernel @copies_slices(%x: !tile.view<64x32xbf16> {tile.name = "x", tile.mode = "in", tile.dtype = "bf16", tile.dims = ["64", "32"], tile.unit_dim = 1 : i64},
    %w: !tile.view<64x32xbf16> {tile.name = "w", tile.mode = "in", tile.dtype = "bf16", tile.dims = ["64", "32"], tile.unit_dim = 1 : i64},
    %y: !tile.view<64x64xf32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = ["64", "64"]}) attributes {dims = [], grid = []} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %x[%c0, %c0] widths [64, 32] steps [1, 1] : !tile.view<64x32xbf16>[i64, i64] -> tensor<64x32xbf16>
  %b = tile.load %w[%c0, %c0] widths [64, 32] steps [1, 1] : !tile.view<64x32xbf16>[i64, i64] -> tensor<64x32xbf16>
  %bt = tile.permute %b [1, 0] : tensor<64x32xbf16> -> tensor<32x64xbf16>
  %d = tile.dot %a, %bt, %zero : tensor<64x32xbf16>, tensor<32x64xbf16> -> tensor<64x64xf32>
  tile.store %d, %y[%c0, %c0] widths [64, 64] steps [1, 1] : tensor<64x64xf32>, !tile.view<64x64xf32>[i64, i64]
  tile.return
}

// -----

// The left operand of a product of a product stays in registers; all warps lie below each other.
// CHECK-LABEL: tile.kernel @keeps_chain_in_registers
// CHECK:       %[[S:.*]] = tile_gpu.dot {{.*}}warps = array<i64: 4, 1>
// CHECK:       %[[P:.*]] = arith.truncf %[[S]]
// CHECK:       tile_gpu.dot %[[P]], %{{.*}}warps = array<i64: 4, 1>{{.*}} : tensor<64x64xf16>, !tile_gpu.buffer
tile.kernel @keeps_chain_in_registers(%q: !tile.view<64x64xf16> {tile.name = "q", tile.mode = "in", tile.dtype = "f16", tile.dims = ["64", "64"], tile.unit_dim = 1 : i64},
    %y: !tile.view<64x64xf32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = ["64", "64"]}) attributes {dims = [], grid = []} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %q[%c0, %c0] widths [64, 64] steps [1, 1] : !tile.view<64x64xf16>[i64, i64] -> tensor<64x64xf16>
  %s = tile.dot %a, %a, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
  %o = tile.dot %p, %a, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.store %o, %y[%c0, %c0] widths [64, 64] steps [1, 1] : tensor<64x64xf32>, !tile.view<64x64xf32>[i64, i64]
  tile.return
}

// -----

// f32 is exact by default: no tensor cores.  A kernel without products keeps its loads.
// CHECK-LABEL: tile.kernel @exact_f32
// CHECK:       tile_gpu.dot
// CHECK-NOT:   mma
// CHECK-SAME:  {warps = array<i64: 4, 1>}
tile.kernel @exact_f32(%q: !tile.view<32x32xf32> {tile.name = "q", tile.mode = "in", tile.dtype = "f32", tile.dims = ["32", "32"]},
    %y: !tile.view<32x32xf32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = ["32", "32"]}) attributes {dims = [], grid = []} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %a = tile.load %q[%c0, %c0] widths [32, 32] steps [1, 1] : !tile.view<32x32xf32>[i64, i64] -> tensor<32x32xf32>
  %s = tile.dot %a, %a, %zero : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  tile.store %s, %y[%c0, %c0] widths [32, 32] steps [1, 1] : tensor<32x32xf32>, !tile.view<32x32xf32>[i64, i64]
  tile.return
}

// CHECK-LABEL: tile.kernel @leaves_loads
// CHECK:       tile.load
// CHECK-NOT:   tile_gpu.copy
tile.kernel @leaves_loads(%x: !tile.view<128xf32> {tile.name = "x", tile.mode = "inout", tile.dtype = "f32", tile.dims = ["128"]}) attributes {dims = [], grid = []} {
  %c0 = arith.constant 0 : i64
  %a = tile.load %x[%c0] widths [128] steps [1] : !tile.view<128xf32>[i64] -> tensor<128xf32>
  %b = arith.addf %a, %a : tensor<128xf32>
  tile.store %b, %x[%c0] widths [128] steps [1] : tensor<128xf32>, !tile.view<128xf32>[i64]
  tile.return
}

// -----

// A batch: the buffers hold every matrix, padded to the instruction, and the warps are dealt to the matrices first.
// CHECK-LABEL: tile.kernel @batch
// CHECK:       tile_gpu.copy {{.*}} widths [4, 16, 24] {{.*}} : <4x16x24xf16>, <4x16x32xf16
// CHECK:       tile_gpu.copy {{.*}} widths [4, 16, 24] {{.*}} : <4x16x24xf16>, <4x16x32xf16
// CHECK:       tile_gpu.transpose {{.*}} -> <4x32x16xf16
// CHECK:       tile_gpu.dot {{.*}} {mma = #tile_gpu<mma f16>, warps = array<i64: 4, 1, 1>}
tile.kernel @batch(%x: !tile.view<4x16x24xf16> {tile.name = "x", tile.mode = "in", tile.dtype = "f16", tile.dims = ["4", "16", "24"], tile.unit_dim = 2 : i64},
    %w: !tile.view<4x16x24xf16> {tile.name = "w", tile.mode = "in", tile.dtype = "f16", tile.dims = ["4", "16", "24"], tile.unit_dim = 2 : i64},
    %y: !tile.view<4x16x16xf32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = ["4", "16", "16"]}) attributes {dims = [], grid = []} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant dense<0.0> : tensor<4x16x16xf32>
  %a = tile.load %x[%c0, %c0, %c0] widths [4, 16, 24] steps [1, 1, 1] : !tile.view<4x16x24xf16>[i64, i64, i64] -> tensor<4x16x24xf16>
  %b = tile.load %w[%c0, %c0, %c0] widths [4, 16, 24] steps [1, 1, 1] : !tile.view<4x16x24xf16>[i64, i64, i64] -> tensor<4x16x24xf16>
  %bt = tile.permute %b [0, 2, 1] : tensor<4x16x24xf16> -> tensor<4x24x16xf16>
  %d = tile.dot %a, %bt, %zero : tensor<4x16x24xf16>, tensor<4x24x16xf16> -> tensor<4x16x16xf32>
  tile.store %d, %y[%c0, %c0, %c0] widths [4, 16, 16] steps [1, 1, 1] : tensor<4x16x16xf32>, !tile.view<4x16x16xf32>[i64, i64, i64]
  tile.return
}
