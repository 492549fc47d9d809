// RUN: tessera-opt %s -pass-pipeline='builtin.module(tile.kernel(tile-gpu-insert-barriers))' | FileCheck %s

#dist = #tile_gpu.dist<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [1, 0]], warp = [[2, 0], [4, 0]], reps = [4, 1]>
#shared = #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>

// A read after a write, and a write after the read of another buffer at the same place.  Two reads need none.
// CHECK-LABEL: tile.kernel @conflicts
// CHECK:       tile_gpu.write
// CHECK-NEXT:  tile_gpu.barrier
// CHECK-NEXT:  tile_gpu.read
// CHECK-NEXT:  tile_gpu.read
// CHECK:       tile_gpu.barrier
// CHECK-NEXT:  tile_gpu.write
// CHECK-NEXT:  tile_gpu.barrier
// CHECK-NEXT:  tile_gpu.read
tile.kernel @conflicts(%x: !tile.view<32x32xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["32", "32"]},
    %y: !tile.view<32x32xf32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = ["32", "32"]}) attributes {dims = [], grid = [], tile_gpu.warps = 4 : i64} {
  %c0 = arith.constant 0 : i64
  %a = tile.load %x[%c0, %c0] widths [32, 32] steps [1, 1] : !tile.view<32x32xf32>[i64, i64] -> tensor<32x32xf32, #dist>
  %s = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.buffer<32x32xf32, #shared>
  tile_gpu.write %a, %s : tensor<32x32xf32, #dist>, !tile_gpu.buffer<32x32xf32, #shared>
  %b = tile_gpu.read %s : !tile_gpu.buffer<32x32xf32, #shared> -> tensor<32x32xf32, #dist>
  %b2 = tile_gpu.read %s : !tile_gpu.buffer<32x32xf32, #shared> -> tensor<32x32xf32, #dist>
  %t = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.buffer<32x32xf32, #shared>
  tile_gpu.write %b, %t : tensor<32x32xf32, #dist>, !tile_gpu.buffer<32x32xf32, #shared>
  %c = tile_gpu.read %t : !tile_gpu.buffer<32x32xf32, #shared> -> tensor<32x32xf32, #dist>
  %d = arith.addf %b2, %c : tensor<32x32xf32, #dist>
  tile.store %d, %y[%c0, %c0] widths [32, 32] steps [1, 1] : tensor<32x32xf32, #dist>, !tile.view<32x32xf32>[i64, i64]
  tile.return
}

// Around the loop: the write of the next iteration waits for the read of this one.
// CHECK-LABEL: tile.kernel @around_loop
// CHECK:       scf.for
// CHECK:         tile_gpu.barrier
// CHECK-NEXT:    tile_gpu.write
// CHECK-NEXT:    tile_gpu.barrier
// CHECK-NEXT:    tile_gpu.read
// CHECK-NOT:     tile_gpu.barrier
// CHECK:       tile.return
tile.kernel @around_loop(%y: !tile.view<32x32xf32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = ["32", "32"]}) attributes {dims = [], grid = [], tile_gpu.warps = 4 : i64} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c8 = arith.constant 8 : i64
  %one = arith.constant dense<1.0> : tensor<32x32xf32, #dist>
  %s = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.buffer<32x32xf32, #shared>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %one) -> (tensor<32x32xf32, #dist>) : i64 {
    tile_gpu.write %v, %s : tensor<32x32xf32, #dist>, !tile_gpu.buffer<32x32xf32, #shared>
    %w = tile_gpu.read %s : !tile_gpu.buffer<32x32xf32, #shared> -> tensor<32x32xf32, #dist>
    scf.yield %w : tensor<32x32xf32, #dist>
  }
  tile.store %r, %y[%c0, %c0] widths [32, 32] steps [1, 1] : tensor<32x32xf32, #dist>, !tile.view<32x32xf32>[i64, i64]
  tile.return
}

// A parameter that is read and written is memory too; one that is only written needs nothing.
// CHECK-LABEL: tile.kernel @in_place
// CHECK:       tile.load
// CHECK:       tile_gpu.barrier
// CHECK-NEXT:  tile.store
// CHECK-LABEL: tile.kernel @only_written
// CHECK-NOT:   tile_gpu.barrier
tile.kernel @in_place(%x: !tile.view<32x32xf32> {tile.name = "x", tile.mode = "inout", tile.dtype = "f32", tile.dims = ["32", "32"]}) attributes {dims = [], grid = [], tile_gpu.warps = 4 : i64} {
  %c0 = arith.constant 0 : i64
  %a = tile.load %x[%c0, %c0] widths [32, 32] steps [1, 1] : !tile.view<32x32xf32>[i64, i64] -> tensor<32x32xf32, #dist>
  %b = arith.addf %a, %a : tensor<32x32xf32, #dist>
  tile.store %b, %x[%c0, %c0] widths [32, 32] steps [1, 1] : tensor<32x32xf32, #dist>, !tile.view<32x32xf32>[i64, i64]
  tile.return
}
tile.kernel @only_written(%x: !tile.view<32x32xf32> {tile.name = "x", tile.mode = "out", tile.dtype = "f32", tile.dims = ["32", "32"]}) attributes {dims = [], grid = [], tile_gpu.warps = 4 : i64} {
  %c0 = arith.constant 0 : i64
  %one = arith.constant dense<1.0> : tensor<32x32xf32, #dist>
  tile.store %one, %x[%c0, %c0] widths [32, 32] steps [1, 1] : tensor<32x32xf32, #dist>, !tile.view<32x32xf32>[i64, i64]
  tile.store %one, %x[%c0, %c0] widths [32, 32] steps [1, 1] : tensor<32x32xf32, #dist>, !tile.view<32x32xf32>[i64, i64]
  tile.return
}

// An atomic on a tile is a write of its parameter.  The barrier in front of a release and the one behind an acquire are its own.
// CHECK-LABEL: tile.kernel @atomic_on_tile
// CHECK:       tile.load
// CHECK-NEXT:  tile_gpu.barrier
// CHECK-NEXT:  tile_gpu.atomic add {{.*}} order relaxed
// CHECK-NEXT:  tile_gpu.barrier
// CHECK-NEXT:  tile_gpu.atomic add {{.*}} order acquire
// CHECK-NEXT:  tile_gpu.atomic add {{.*}} order release
// CHECK-NEXT:  tile_gpu.barrier
// CHECK-NEXT:  tile.store
tile.kernel @atomic_on_tile(%x: !tile.view<32x32xf32> {tile.name = "x", tile.mode = "inout", tile.dtype = "f32", tile.dims = ["32", "32"]}) attributes {dims = [], grid = [], tile_gpu.warps = 4 : i64} {
  %c0 = arith.constant 0 : i64
  %a = tile.load %x[%c0, %c0] widths [32, 32] steps [1, 1] : !tile.view<32x32xf32>[i64, i64] -> tensor<32x32xf32, #dist>
  %0 = tile_gpu.atomic add %a, %x[%c0, %c0] widths [32, 32] steps [1, 1] order relaxed : tensor<32x32xf32, #dist>, !tile.view<32x32xf32>[i64, i64] -> tensor<32x32xf32, #dist>
  %1 = tile_gpu.atomic add %a, %x[%c0, %c0] widths [32, 32] steps [1, 1] order acquire : tensor<32x32xf32, #dist>, !tile.view<32x32xf32>[i64, i64] -> tensor<32x32xf32, #dist>
  %2 = tile_gpu.atomic add %a, %x[%c0, %c0] widths [32, 32] steps [1, 1] order release : tensor<32x32xf32, #dist>, !tile.view<32x32xf32>[i64, i64] -> tensor<32x32xf32, #dist>
  tile.store %a, %x[%c0, %c0] widths [32, 32] steps [1, 1] : tensor<32x32xf32, #dist>, !tile.view<32x32xf32>[i64, i64]
  tile.return
}

// The part of a buffer is read after all of it has been written.
// CHECK-LABEL: tile.kernel @part
// CHECK:       tile_gpu.write
// CHECK-NEXT:  tile_gpu.barrier
// CHECK-NEXT:  tile_gpu.read_part
tile.kernel @part(%x: !tile.view<32x32xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["32", "32"]},
    %y: !tile.view<32x32xf32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = ["32", "32"]}) attributes {dims = [], grid = [], tile_gpu.warps = 4 : i64} {
  %c0 = arith.constant 0 : i64
  %a = tile.load %x[%c0, %c0] widths [32, 32] steps [1, 1] : !tile.view<32x32xf32>[i64, i64] -> tensor<32x32xf32, #dist>
  %s = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.buffer<32x32xf32, #shared>
  tile_gpu.write %a, %s : tensor<32x32xf32, #dist>, !tile_gpu.buffer<32x32xf32, #shared>
  %b = tile_gpu.read_part %s at [3, 7] widths [0, 0] steps [1, 1] : !tile_gpu.buffer<32x32xf32, #shared> -> f32
  tile.store %b, %y[%c0, %c0] widths [0, 0] steps [1, 1] : f32, !tile.view<32x32xf32>[i64, i64]
  tile.return
}
