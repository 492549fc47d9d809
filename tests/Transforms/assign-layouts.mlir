// RUN: tessera-opt %s -split-input-file -pass-pipeline='builtin.module(tile.kernel(tile-gpu-stage-operands,tile-gpu-assign-layouts))' | FileCheck %s

// Without products the access decides: 4 neighbouring f32 a thread, lanes along the row, warps over the rows; the sum over a row is the row's slice.
// CHECK-DAG: #[[X:.*]] = #tile_gpu.dist<register = {{\[\[}}0, 1], [0, 2]], lane = {{\[\[}}0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = {{\[\[}}1, 0], [2, 0]], reps = [1, 1]>
// CHECK-DAG: #[[R:.*]] = #tile_gpu.dist<register = [], lane = {{\[\[}}0], [0], [0], [0], [0]], warp = {{\[\[}}1], [2]], reps = [1]>
// CHECK-LABEL: tile.kernel @rows
// CHECK:       tile.load {{.*}} -> tensor<4x128xf32, #[[X]]>
// CHECK:       tile.reduce sum {{.*}} -> tensor<4xf32, #[[R]]>
// CHECK:       tile.expand_dims {{.*}} : tensor<4xf32, #[[R]]>
// CHECK-NOT:   convert_layout
tile.kernel @rows(%x: !tile.view<4x128xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["4", "128"], tile.align = 16 : i64, tile.unit_dim = 1 : i64, tile.stride_div = array<i64: 4, 1>},
    %y: !tile.view<4x128xf32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = ["4", "128"], tile.align = 16 : i64, tile.unit_dim = 1 : i64, tile.stride_div = array<i64: 4, 1>}) attributes {dims = [], grid = []} {
  %c0 = arith.constant 0 : i64
  %v = tile.load %x[%c0, %c0] widths [4, 128] steps [1, 1] : !tile.view<4x128xf32>[i64, i64] -> tensor<4x128xf32>
  %s = tile.reduce sum %v, 1 : tensor<4x128xf32> -> tensor<4xf32>
  %e = tile.expand_dims %s, 1 : tensor<4xf32> -> tensor<4x1xf32>
  %b = tile.broadcast %e : tensor<4x1xf32> -> tensor<4x128xf32>
  %d = arith.divf %v, %b : tensor<4x128xf32>
  tile.store %d, %y[%c0, %c0] widths [4, 128] steps [1, 1] : tensor<4x128xf32>, !tile.view<4x128xf32>[i64, i64]
  tile.return
}

// -----

// An unknown stride allows single elements only.
// CHECK: #tile_gpu.dist<register = [], lane = {{\[\[}}1], [2], [4], [8], [16]], warp = {{\[\[}}32], [64]], reps = [2]>
// CHECK-LABEL: tile.kernel @unknown_stride
tile.kernel @unknown_stride(%x: !tile.view<?xf32> {tile.name = "x", tile.mode = "inout", tile.dtype = "f32", tile.dims = ["N"]}) attributes {dims = ["N"], grid = []} {
  %c0 = arith.constant 0 : i64
  %v = tile.load %x[%c0] widths [256] steps [1] : !tile.view<?xf32>[i64] -> tensor<256xf32>
  %w = arith.addf %v, %v : tensor<256xf32>
  tile.store %w, %x[%c0] widths [256] steps [1] : tensor<256xf32>, !tile.view<?xf32>[i64]
  tile.return
}

// -----

// The accumulator decides for the bias and for the row vector that goes with it; the transposed use needs a conversion.
// CHECK: #[[ACC:.*]] = #tile_gpu.dist<register = {{\[\[}}0, 1], [8, 0]
// CHECK-LABEL: tile.kernel @accumulator
// CHECK:       %[[D:.*]] = tile_gpu.dot {{.*}} -> tensor<32x32xf32, #[[ACC]]>
// CHECK:       %[[B:.*]] = tile.broadcast {{.*}} -> tensor<32x32xf32, #[[ACC]]>
// CHECK:       arith.addf %[[D]], %[[B]] : tensor<32x32xf32, #[[ACC]]>
// CHECK:       tile.permute
// CHECK:       tile_gpu.convert_layout
tile.kernel @accumulator(%q: !tile.view<32x32xf16> {tile.name = "q", tile.mode = "in", tile.dtype = "f16", tile.dims = ["32", "32"], tile.unit_dim = 1 : i64},
    %bias: !tile.view<32xf32> {tile.name = "bias", tile.mode = "in", tile.dtype = "f32", tile.dims = ["32"]},
    %y: !tile.view<32x32xf32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = ["32", "32"]}) attributes {dims = [], grid = []} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %a = tile.load %q[%c0, %c0] widths [32, 32] steps [1, 1] : !tile.view<32x32xf16>[i64, i64] -> tensor<32x32xf16>
  %d = tile.dot %a, %a, %zero : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  %v = tile.load %bias[%c0] widths [32] steps [1] : !tile.view<32xf32>[i64] -> tensor<32xf32>
  %b = tile.broadcast %v : tensor<32xf32> -> tensor<32x32xf32>
  %s = arith.addf %d, %b : tensor<32x32xf32>
  %t = tile.permute %s [1, 0] : tensor<32x32xf32> -> tensor<32x32xf32>
  %u = arith.addf %s, %t : tensor<32x32xf32>
  tile.store %u, %y[%c0, %c0] widths [32, 32] steps [1, 1] : tensor<32x32xf32>, !tile.view<32x32xf32>[i64, i64]
  tile.return
}
