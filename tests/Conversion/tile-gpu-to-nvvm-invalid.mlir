// RUN: not tessera-opt %s -split-input-file -tile-gpu-to-nvvm 2>&1 | FileCheck %s

#row = #tile_gpu.dist<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]], reps = [1]>

// Functions of f64 must be expanded before; one that is left is named, with its place, and never reaches LLVM, which would abort on it.
// CHECK: tile-gpu-to-nvvm-invalid.mlir:[[#@LINE+4]]:{{[0-9]+}}: error: internal error: expected f32 for 'math.exp2' on the GPU, got 'f64'
tile.kernel @not_f32(%x: !tile.view<128xf64> {tile.name = "x", tile.mode = "inout", tile.dtype = "f64", tile.dims = ["128"]}) attributes {dims = [], grid = [], tile_gpu.warps = 4 : i64} {
  %c0 = arith.constant 0 : i64
  %a = tile.load %x[%c0] widths [128] steps [1] : !tile.view<128xf64>[i64] -> tensor<128xf64, #row>
  %e = math.exp2 %a : tensor<128xf64, #row>
  tile.store %e, %x[%c0] widths [128] steps [1] : tensor<128xf64, #row>, !tile.view<128xf64>[i64]
  tile.return
}

// -----

// Found by damaged IR (mutated_readers, seed 126): a tile without a layout.
// CHECK: error: internal error: expected a layout on the tile 'tensor<128xf32>' of 'tile.load', found none
tile.kernel @no_layout(%x: !tile.view<128xf32> {tile.name = "x", tile.mode = "inout", tile.dtype = "f32", tile.dims = ["128"]}) attributes {dims = [], grid = [], tile_gpu.warps = 4 : i64} {
  %c0 = arith.constant 0 : i64
  %a = tile.load %x[%c0] widths [128] steps [1] : !tile.view<128xf32>[i64] -> tensor<128xf32>
  tile.store %a, %x[%c0] widths [128] steps [1] : tensor<128xf32>, !tile.view<128xf32>[i64]
  tile.return
}
