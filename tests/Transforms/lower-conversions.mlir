// RUN: tessera-opt %s -pass-pipeline='builtin.module(tile.kernel(tile-gpu-lower-conversions))' | FileCheck %s

#rows = #tile_gpu.dist<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [1, 0]], warp = [[2, 0], [4, 0]], reps = [1, 1]>
#columns = #tile_gpu.dist<register = [[1, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 8], [0, 16]], reps = [1, 1]>
#swapped = #tile_gpu.dist<register = [[0, 1], [0, 16]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], reps = [1, 1]>
#repeated = #tile_gpu.dist<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], reps = [1, 2]>
#half = #tile_gpu.dist<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], reps = [1, 1]>
#slice = #tile_gpu.dist<register = [[1]], lane = [[2], [4], [8], [16], [0]], warp = [[0], [0]], reps = [1]>

// Other threads hold the elements: through shared memory.
// CHECK-LABEL: tile.kernel @through_shared
// CHECK:       %[[S:.*]] = tile_gpu.alloc : <8x32xf32
// CHECK:       tile_gpu.write %{{.*}}, %[[S]]
// CHECK:       tile_gpu.read %[[S]]
// CHECK-NOT:   convert_layout
tile.kernel @through_shared(%x: !tile.view<8x32xf32> {tile.name = "x", tile.mode = "inout", tile.dtype = "f32", tile.dims = ["8", "32"]}) attributes {dims = [], grid = [], tile_gpu.warps = 4 : i64} {
  %c0 = arith.constant 0 : i64
  %a = tile.load %x[%c0, %c0] widths [8, 32] steps [1, 1] : !tile.view<8x32xf32>[i64, i64] -> tensor<8x32xf32, #rows>
  %b = tile_gpu.convert_layout %a : tensor<8x32xf32, #rows> -> tensor<8x32xf32, #columns>
  tile.store %b, %x[%c0, %c0] widths [8, 32] steps [1, 1] : tensor<8x32xf32, #columns>, !tile.view<8x32xf32>[i64, i64]
  tile.return
}

// Only registers differ: left for the lowering, which renames them.
// CHECK-LABEL: tile.kernel @within_thread
// CHECK-NOT:   tile_gpu.alloc
// CHECK:       convert_layout
tile.kernel @within_thread(%x: !tile.view<16x32xf32> {tile.name = "x", tile.mode = "inout", tile.dtype = "f32", tile.dims = ["16", "32"]}) attributes {dims = [], grid = [], tile_gpu.warps = 4 : i64} {
  %c0 = arith.constant 0 : i64
  %a = tile.load %x[%c0, %c0] widths [16, 32] steps [1, 1] : !tile.view<16x32xf32>[i64, i64] -> tensor<16x32xf32, #swapped>
  %b = tile_gpu.convert_layout %a : tensor<16x32xf32, #swapped> -> tensor<16x32xf32, #repeated>
  tile.store %b, %x[%c0, %c0] widths [16, 32] steps [1, 1] : tensor<16x32xf32, #repeated>, !tile.view<16x32xf32>[i64, i64]
  tile.return
}

// The rows are spread over warps: their sum ends in an exchange.  Along the columns it stays within a warp.
// CHECK-LABEL: tile.kernel @reductions
// CHECK:       tile.reduce sum %{{.*}}, 0
// CHECK:       tile_gpu.exchange sum %{{.*}} warps 3
// CHECK:       tile.reduce sum %{{.*}}, 1
// CHECK-NOT:   tile_gpu.exchange
tile.kernel @reductions(%x: !tile.view<8x32xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["8", "32"]},
    %y: !tile.view<32xf32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = ["32"]},
    %z: !tile.view<8xf32> {tile.name = "z", tile.mode = "out", tile.dtype = "f32", tile.dims = ["8"]}) attributes {dims = [], grid = [], tile_gpu.warps = 4 : i64} {
  %c0 = arith.constant 0 : i64
  %a = tile.load %x[%c0, %c0] widths [8, 32] steps [1, 1] : !tile.view<8x32xf32>[i64, i64] -> tensor<8x32xf32, #rows>
  %s = tile.reduce sum %a, 0 : tensor<8x32xf32, #rows> -> tensor<32xf32, #slice>
  tile.store %s, %y[%c0] widths [32] steps [1] : tensor<32xf32, #slice>, !tile.view<32xf32>[i64]
  %t = tile.reduce sum %a, 1 : tensor<8x32xf32, #rows> -> tensor<8xf32, #tile_gpu.dist<register = [], lane = [[0], [0], [0], [0], [1]], warp = [[2], [4]], reps = [1]>>
  tile.store %t, %z[%c0] widths [8] steps [1] : tensor<8xf32, #tile_gpu.dist<register = [], lane = [[0], [0], [0], [0], [1]], warp = [[2], [4]], reps = [1]>>, !tile.view<8xf32>[i64]
  tile.return
}

// One thread performs an element; where replicas want the result it goes through shared memory, where nobody does it does not.
// CHECK-LABEL: tile.kernel @atomics
// CHECK:       %[[OLD:.*]] = tile_gpu.atomic add {{.*}} order relaxed :
// CHECK:       tile_gpu.write %[[OLD]]
// CHECK:       tile_gpu.read
// CHECK:       tile_gpu.atomic add {{.*}} order release
// CHECK-NOT:   tile_gpu.write
// CHECK:       tile_gpu.atomic add {{.*}} through
tile.kernel @atomics(%x: !tile.view<?xi32> {tile.name = "x", tile.mode = "inout", tile.dtype = "i32", tile.dims = ["N"]}, %y: !tile.view<?xi32> {tile.name = "y", tile.mode = "out", tile.dtype = "i32", tile.dims = ["N"]}, %n: i32 {tile.name = "n", tile.dtype = "i32"}) attributes {dims = ["N"], grid = [], tile_gpu.warps = 4 : i64} {
  %c0 = arith.constant 0 : i64
  %v = tile.broadcast %n : i32 -> tensor<32xi32, #slice>
  %old = tile.atomic add %v, %x[%c0] widths [32] steps [1] order relaxed : tensor<32xi32, #slice>, !tile.view<?xi32>[i64] -> tensor<32xi32, #slice>
  tile.store %old, %y[%c0] widths [32] steps [1] : tensor<32xi32, #slice>, !tile.view<?xi32>[i64]
  %unused = tile.atomic add %v, %x[%c0] widths [32] steps [1] order release : tensor<32xi32, #slice>, !tile.view<?xi32>[i64] -> tensor<32xi32, #slice>
  %one = tile.atomic add %n, %x[%c0] widths [0] steps [1] order relaxed : i32, !tile.view<?xi32>[i64] -> i32
  tile.return
}

// Whole repetitions stay in the threads that hold them; a part that other threads want goes through shared memory, and a scalar always does.
// CHECK-LABEL: tile.kernel @parts
// CHECK:       tile.extract %{{.*}} at [0, 16] widths [16, 16]
// CHECK:       tile_gpu.write
// CHECK-NEXT:  tile_gpu.read_part %{{.*}} at [0, 5] widths [16, 16] steps [1, 1]
// CHECK:       tile_gpu.write
// CHECK-NEXT:  tile_gpu.read_part %{{.*}} at [3, 7] widths [0, 0] steps [1, 1] : {{.*}} -> f32
tile.kernel @parts(%x: !tile.view<16x32xf32> {tile.name = "x", tile.mode = "inout", tile.dtype = "f32", tile.dims = ["16", "32"]}) attributes {dims = [], grid = [], tile_gpu.warps = 4 : i64} {
  %c0 = arith.constant 0 : i64
  %a = tile.load %x[%c0, %c0] widths [16, 32] steps [1, 1] : !tile.view<16x32xf32>[i64, i64] -> tensor<16x32xf32, #repeated>
  %b = tile.extract %a at [0, 16] widths [16, 16] steps [1, 1] : tensor<16x32xf32, #repeated> -> tensor<16x16xf32, #half>
  tile.store %b, %x[%c0, %c0] widths [16, 16] steps [1, 1] : tensor<16x16xf32, #half>, !tile.view<16x32xf32>[i64, i64]
  %c = tile.extract %a at [0, 5] widths [16, 16] steps [1, 1] : tensor<16x32xf32, #repeated> -> tensor<16x16xf32, #half>
  tile.store %c, %x[%c0, %c0] widths [16, 16] steps [1, 1] : tensor<16x16xf32, #half>, !tile.view<16x32xf32>[i64, i64]
  %d = tile.extract %a at [3, 7] widths [0, 0] steps [1, 1] : tensor<16x32xf32, #repeated> -> f32
  tile.store %d, %x[%c0, %c0] widths [0, 0] steps [1, 1] : f32, !tile.view<16x32xf32>[i64, i64]
  tile.return
}
