// RUN: tessera-opt %s -tile-gpu-to-nvvm | FileCheck %s

#dist = #tile_gpu.dist<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]], reps = [1]>
#slice = #tile_gpu.dist<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]], reps = [1]>

// The slots of KernelImage.h: pointer and stride of each tensor, dimensions, scalars, counts of the grid.  One vector a tile; a guarded access is one
// predicated instruction of 16 bytes.
// CHECK-LABEL: llvm.func @scale(
// CHECK-SAME:    %{{.*}}: !llvm.ptr<1>, %{{.*}}: i64, %{{.*}}: !llvm.ptr<1>, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: f32, %{{.*}}: i64)
// CHECK-SAME:    nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>
// CHECK:       llvm.inline_asm {{.*}}ld.global.v4.b32
// CHECK-NOT:   has_side_effects
// CHECK:       arith.mulf %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK:       llvm.inline_asm has_side_effects {{.*}}@$5 st.global.v4.b32
tile.kernel @scale(%x: !tile.view<?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["N"], tile.align = 16 : i64, tile.unit_dim = 0 : i64, tile.extent_div = array<i64: 4>},
    %y: !tile.view<?xf32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = ["N"], tile.align = 16 : i64, tile.unit_dim = 0 : i64, tile.extent_div = array<i64: 4>},
    %s: f32 {tile.name = "s", tile.dtype = "f32"}, %i: i64 {tile.coord = "i"}) attributes {dims = ["N"], grid = [{name = "i", lo = "0", hi = "N", step = "512"}], tile_gpu.warps = 4 : i64} {
  %v = tile.load %x[%i] widths [512] steps [1] : !tile.view<?xf32>[i64] -> tensor<512xf32, #dist>
  %b = tile.broadcast %s : f32 -> tensor<512xf32, #dist>
  %w = arith.mulf %v, %b : tensor<512xf32, #dist>
  tile.store %w, %y[%i] widths [512] steps [1] : tensor<512xf32, #dist>, !tile.view<?xf32>[i64]
  tile.return
}

// The extent is not known to be a multiple of 4: single elements.
// CHECK-LABEL: llvm.func @ragged
// CHECK:       ld.global.b32
// CHECK-NOT:   v4
// CHECK:       llvm.return
tile.kernel @ragged(%x: !tile.view<?xf32> {tile.name = "x", tile.mode = "inout", tile.dtype = "f32", tile.dims = ["N"], tile.align = 16 : i64, tile.unit_dim = 0 : i64}, %i: i64 {tile.coord = "i"})
    attributes {dims = ["N"], grid = [{name = "i", lo = "0", hi = "N", step = "512"}], tile_gpu.warps = 4 : i64} {
  %v = tile.load %x[%i] widths [512] steps [1] : !tile.view<?xf32>[i64] -> tensor<512xf32, #dist>
  tile.store %v, %x[%i] widths [512] steps [1] : tensor<512xf32, #dist>, !tile.view<?xf32>[i64]
  tile.return
}

// A sum: registers, then the five butterflies of a warp.
// CHECK-LABEL: llvm.func @sum
// CHECK:       nvvm.shfl.sync bfly
// CHECK:       nvvm.shfl.sync bfly
// CHECK:       nvvm.shfl.sync bfly
// CHECK:       nvvm.shfl.sync bfly
// CHECK:       nvvm.shfl.sync bfly
// CHECK-NOT:   nvvm.shfl
// Only one of the lanes and warps that hold the same value stores it.
// CHECK:       llvm.inline_asm has_side_effects {{.*}}@$2 st.global.b32
tile.kernel @sum(%x: !tile.view<32xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["32"]},
    %y: !tile.view<f32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = []}) attributes {dims = [], grid = [], tile_gpu.warps = 4 : i64} {
  %c0 = arith.constant 0 : i64
  %v = tile.load %x[%c0] widths [32] steps [1] : !tile.view<32xf32>[i64] -> tensor<32xf32, #slice>
  %s = tile.reduce sum %v, 0 : tensor<32xf32, #slice> -> f32
  tile.store %s, %y[] widths [] steps [] : f32, !tile.view<f32>
  tile.return
}
