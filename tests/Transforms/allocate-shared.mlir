// RUN: tessera-opt %s -pass-pipeline='builtin.module(tile.kernel(tile-gpu-allocate-shared))' | FileCheck %s
// RUN: not tessera-opt %s -pass-pipeline='builtin.module(tile.kernel(tile-gpu-allocate-shared{shared-bytes=4096}))' 2>&1 | FileCheck %s --check-prefix=REJECT

#dist = #tile_gpu.dist<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [1, 0]], warp = [[2, 0], [4, 0]], reps = [4, 1]>
#shared = #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>

// The second buffer begins to live when the first is done: they share memory.  Two that live together do not.
// CHECK-LABEL: tile.kernel @reuses
// CHECK-SAME:    tile_gpu.shared_bytes = 4096
// CHECK:       tile_gpu.alloc {offset = 0 : i64}
// CHECK:       tile_gpu.alloc {offset = 0 : i64}
tile.kernel @reuses(%x: !tile.view<32x32xf32> {tile.name = "x", tile.mode = "inout", tile.dtype = "f32", tile.dims = ["32", "32"]}) attributes {dims = [], grid = [], tile_gpu.warps = 4 : i64} {
  %c0 = arith.constant 0 : i64
  %a = tile.load %x[%c0, %c0] widths [32, 32] steps [1, 1] : !tile.view<32x32xf32>[i64, i64] -> tensor<32x32xf32, #dist>
  %s = tile_gpu.alloc : !tile_gpu.buffer<32x32xf32, #shared>
  tile_gpu.write %a, %s : tensor<32x32xf32, #dist>, !tile_gpu.buffer<32x32xf32, #shared>
  %b = tile_gpu.read %s : !tile_gpu.buffer<32x32xf32, #shared> -> tensor<32x32xf32, #dist>
  %t = tile_gpu.alloc : !tile_gpu.buffer<32x32xf32, #shared>
  tile_gpu.write %b, %t : tensor<32x32xf32, #dist>, !tile_gpu.buffer<32x32xf32, #shared>
  %c = tile_gpu.read %t : !tile_gpu.buffer<32x32xf32, #shared> -> tensor<32x32xf32, #dist>
  tile.store %c, %x[%c0, %c0] widths [32, 32] steps [1, 1] : tensor<32x32xf32, #dist>, !tile.view<32x32xf32>[i64, i64]
  tile.return
}

// CHECK-LABEL: tile.kernel @keeps_apart
// CHECK-SAME:    tile_gpu.shared_bytes = 8192
// REJECT:      error: T0501: 'keeps_apart' needs 8192 bytes of shared memory, the target allows 4096
// REJECT:      note: 4096 bytes for a tile f32[32, 32]
tile.kernel @keeps_apart(%x: !tile.view<32x32xf32> {tile.name = "x", tile.mode = "inout", tile.dtype = "f32", tile.dims = ["32", "32"]}) attributes {dims = [], grid = [], tile_gpu.warps = 4 : i64} {
  %c0 = arith.constant 0 : i64
  %a = tile.load %x[%c0, %c0] widths [32, 32] steps [1, 1] : !tile.view<32x32xf32>[i64, i64] -> tensor<32x32xf32, #dist>
  %s = tile_gpu.alloc : !tile_gpu.buffer<32x32xf32, #shared>
  %t = tile_gpu.alloc : !tile_gpu.buffer<32x32xf32, #shared>
  tile_gpu.write %a, %s : tensor<32x32xf32, #dist>, !tile_gpu.buffer<32x32xf32, #shared>
  tile_gpu.write %a, %t : tensor<32x32xf32, #dist>, !tile_gpu.buffer<32x32xf32, #shared>
  %b = tile_gpu.read %s : !tile_gpu.buffer<32x32xf32, #shared> -> tensor<32x32xf32, #dist>
  %c = tile_gpu.read %t : !tile_gpu.buffer<32x32xf32, #shared> -> tensor<32x32xf32, #dist>
  %d = arith.addf %b, %c : tensor<32x32xf32, #dist>
  tile.store %d, %x[%c0, %c0] widths [32, 32] steps [1, 1] : tensor<32x32xf32, #dist>, !tile.view<32x32xf32>[i64, i64]
  tile.return
}
