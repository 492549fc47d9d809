// RUN: tessera-opt %s -split-input-file -pass-pipeline='builtin.module(tile.kernel(tile-gpu-pipeline-loops{stages=2 shared-bytes=101376}))' | FileCheck %s
// RUN: tessera-opt %s -split-input-file -pass-pipeline='builtin.module(tile.kernel(tile-gpu-pipeline-loops{stages=1 shared-bytes=101376}))' | FileCheck %s --check-prefix=ONE
// RUN: tessera-opt %s -split-input-file -pass-pipeline='builtin.module(tile.kernel(tile-gpu-pipeline-loops{stages=4 shared-bytes=8192}))' | FileCheck %s --check-prefix=SMALL

#dist = #tile_gpu.dist<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [1, 0]], warp = [[2, 0], [4, 0]], reps = [4, 1]>
#shared = #tile_gpu.shared<order = [0, 1], pitch = 64, mask = 3, shift = 1>

// The first copy is issued before the loop, the next in the loop, under the condition that there is a next iteration; one barrier.
// CHECK-LABEL: tile.kernel @copies_ahead
// CHECK:       %[[RING:.*]] = tile_gpu.alloc : <32x32xf16, #shared, stages = 2>
// CHECK:       tile_gpu.copy {{.*}} if %{{.*}} into
// CHECK:       tile_gpu.commit
// CHECK:       scf.for
// CHECK-NEXT:    tile_gpu.wait 0
// CHECK-NEXT:    tile_gpu.barrier
// CHECK:         tile_gpu.copy {{.*}} if %{{.*}} into
// CHECK:         tile_gpu.commit
// CHECK:         tile_gpu.slot %[[RING]]
// CHECK:         tile_gpu.read
// CHECK-NOT:     tile_gpu.wait
// CHECK:         scf.yield
// CHECK:       tile_gpu.wait 0
// ONE-LABEL:   tile.kernel @copies_ahead
// ONE-NOT:     stages =
// Two stages of 2048 bytes and the one that stands already fit into 8192, four of them too; the ring has what fits.
// SMALL-LABEL: tile.kernel @copies_ahead
// SMALL:       stages = 4
tile.kernel @copies_ahead(%x: !tile.view<?x32xf16> {tile.name = "x", tile.mode = "in", tile.dtype = "f16", tile.dims = ["K", "32"]},
    %y: !tile.view<32x32xf16> {tile.name = "y", tile.mode = "out", tile.dtype = "f16", tile.dims = ["32", "32"]}) attributes {dims = ["K"], grid = [], tile_gpu.warps = 4 : i64} {
  %c0 = arith.constant 0 : i64
  %c32 = arith.constant 32 : i64
  %k = tile.dim %x, 0 : !tile.view<?x32xf16>
  %zero = arith.constant dense<0.0> : tensor<32x32xf16, #dist>
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> (tensor<32x32xf16, #dist>) : i64 {
    %buffer = tile_gpu.alloc : !tile_gpu.buffer<32x32xf16, #shared>
    tile_gpu.copy %x[%i, %c0] widths [32, 32] steps [1, 1] into %buffer : !tile.view<?x32xf16>, !tile_gpu.buffer<32x32xf16, #shared>
    tile_gpu.commit
    tile_gpu.wait 0
    %t = tile_gpu.read %buffer : !tile_gpu.buffer<32x32xf16, #shared> -> tensor<32x32xf16, #dist>
    %n = arith.addf %s, %t : tensor<32x32xf16, #dist>
    scf.yield %n : tensor<32x32xf16, #dist>
  }
  tile.store %sum, %y[%c0, %c0] widths [32, 32] steps [1, 1] : tensor<32x32xf16, #dist>, !tile.view<32x32xf16>[i64, i64]
  tile.return
}

// -----

#dist = #tile_gpu.dist<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [1, 0]], warp = [[2, 0], [4, 0]], reps = [4, 1]>
#shared = #tile_gpu.shared<order = [0, 1], pitch = 64, mask = 3, shift = 1>

// A parameter that the kernel also writes is not read ahead; neither is a place that depends on a loop-carried value.
// CHECK-LABEL: tile.kernel @leaves_written_parameters
// CHECK-NOT:   stages =
tile.kernel @leaves_written_parameters(%x: !tile.view<?x32xf16> {tile.name = "x", tile.mode = "inout", tile.dtype = "f16", tile.dims = ["K", "32"]}) attributes {dims = ["K"], grid = [], tile_gpu.warps = 4 : i64} {
  %c0 = arith.constant 0 : i64
  %c32 = arith.constant 32 : i64
  %k = tile.dim %x, 0 : !tile.view<?x32xf16>
  scf.for %i = %c0 to %k step %c32 : i64 {
    %buffer = tile_gpu.alloc : !tile_gpu.buffer<32x32xf16, #shared>
    tile_gpu.copy %x[%i, %c0] widths [32, 32] steps [1, 1] into %buffer : !tile.view<?x32xf16>, !tile_gpu.buffer<32x32xf16, #shared>
    tile_gpu.commit
    tile_gpu.wait 0
    %t = tile_gpu.read %buffer : !tile_gpu.buffer<32x32xf16, #shared> -> tensor<32x32xf16, #dist>
    tile.store %t, %x[%i, %c0] widths [32, 32] steps [1, 1] : tensor<32x32xf16, #dist>, !tile.view<?x32xf16>[i64, i64]
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @leaves_carried_places
// CHECK-NOT:   stages =
tile.kernel @leaves_carried_places(%x: !tile.view<?x32xf16> {tile.name = "x", tile.mode = "in", tile.dtype = "f16", tile.dims = ["K", "32"]},
    %y: !tile.view<32x32xf16> {tile.name = "y", tile.mode = "out", tile.dtype = "f16", tile.dims = ["32", "32"]}) attributes {dims = ["K"], grid = [], tile_gpu.warps = 4 : i64} {
  %c0 = arith.constant 0 : i64
  %c32 = arith.constant 32 : i64
  %k = tile.dim %x, 0 : !tile.view<?x32xf16>
  %last = scf.for %i = %c0 to %k step %c32 iter_args(%at = %c0) -> (i64) : i64 {
    %buffer = tile_gpu.alloc : !tile_gpu.buffer<32x32xf16, #shared>
    tile_gpu.copy %x[%at, %c0] widths [32, 32] steps [1, 1] into %buffer : !tile.view<?x32xf16>, !tile_gpu.buffer<32x32xf16, #shared>
    tile_gpu.commit
    tile_gpu.wait 0
    %t = tile_gpu.read %buffer : !tile_gpu.buffer<32x32xf16, #shared> -> tensor<32x32xf16, #dist>
    tile.store %t, %y[%c0, %c0] widths [32, 32] steps [1, 1] : tensor<32x32xf16, #dist>, !tile.view<32x32xf16>[i64, i64]
    %next = arith.addi %at, %i : i64
    scf.yield %next : i64
  }
  tile.return
}
