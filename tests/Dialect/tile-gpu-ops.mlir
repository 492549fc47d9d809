// Every op, attribute and type of the tile_gpu dialect is read, verified, printed and read again.
// RUN: tessera-opt %s --verify-roundtrip | FileCheck %s
// RUN: tessera-opt %s --mlir-print-op-generic | tessera-opt --verify-roundtrip | FileCheck %s

// Two layouts of a 16 x 64 tile: rows across warps, and columns.
#rows = #tile_gpu.dist<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0], [2, 0]], reps = [4, 1]>
#columns = #tile_gpu.dist<register = [[1, 0]], lane = [[2, 0], [4, 0], [8, 0], [0, 1], [0, 2]], warp = [[0, 4], [0, 8]], reps = [1, 4]>
#vector = #tile_gpu.dist<register = [], lane = [[1], [2], [4], [8], [0]], warp = [[0], [0]], reps = [1]>
#acc = #tile_gpu.dist<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], reps = [1, 4]>
#operand = #tile_gpu.dist<register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], reps = [1, 1]>
#dense = #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 0, shift = 0>
#swizzled = #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>
#turned = #tile_gpu.shared<order = [1, 0], pitch = 128, mask = 7, shift = 0>
#small = #tile_gpu.shared<order = [0, 1], pitch = 32, mask = 1, shift = 2>
#parts = #tile_gpu.shared<order = [0, 1], pitch = 64, mask = 0, shift = 0>

// CHECK-DAG: #[[ROWS:.*]] = #tile_gpu.dist<register = {{\[\[}}0, 1]], lane = {{\[\[}}0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = {{\[\[}}1, 0], [2, 0]], reps = [4, 1]>
// CHECK-DAG: #[[COLUMNS:.*]] = #tile_gpu.dist<register = {{\[\[}}1, 0]], lane = {{\[\[}}2, 0], [4, 0], [8, 0], [0, 1], [0, 2]], warp = {{\[\[}}0, 4], [0, 8]], reps = [1, 4]>
// CHECK-DAG: #[[SWIZZLED:.*]] = #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>

// CHECK-LABEL: tile.kernel @layouts
tile.kernel @layouts(%h: bf16 {tile.name = "h", tile.dtype = "bf16"}) attributes {dims = [], grid = []} {
  // CHECK: tile.broadcast %{{.*}} : bf16 -> tensor<16x64xbf16, #[[ROWS]]>
  %a = tile.broadcast %h : bf16 -> tensor<16x64xbf16, #rows>
  // CHECK: tile_gpu.convert_layout %{{.*}} : tensor<16x64xbf16, #[[ROWS]]> -> tensor<16x64xbf16, #[[COLUMNS]]>
  %b = tile_gpu.convert_layout %a : tensor<16x64xbf16, #rows> -> tensor<16x64xbf16, #columns>
  tile.return
}

// CHECK-LABEL: tile.kernel @buffers
tile.kernel @buffers(%x: !tile.view<?x64xbf16> {tile.name = "x", tile.mode = "in", tile.dtype = "bf16", tile.dims = ["N", "64"]},
                     %h: bf16 {tile.name = "h", tile.dtype = "bf16"}, %p: i1 {tile.name = "p", tile.dtype = "bool"}, %n: i32 {tile.name = "n", tile.dtype = "i32"},
                     %i: i64 {tile.coord = "i"}) attributes {dims = ["N"], grid = [{name = "i", lo = "0", hi = "N", step = "16"}]} {
  %zero = arith.constant 0 : i64
  // CHECK: tile_gpu.alloc {offset = 1024 : i64} : <16x64xbf16, #[[SWIZZLED]], stages = 3>
  %ring = tile_gpu.alloc {offset = 1024 : i64} : !tile_gpu.buffer<16x64xbf16, #swizzled, stages = 3>
  // CHECK: %[[SLOT:.*]] = tile_gpu.slot %{{.*}}[%{{.*}}] : <16x64xbf16, #[[SWIZZLED]], stages = 3> -> <16x64xbf16, #[[SWIZZLED]]>
  %slot = tile_gpu.slot %ring[%n] : !tile_gpu.buffer<16x64xbf16, #swizzled, stages = 3> -> !tile_gpu.buffer<16x64xbf16, #swizzled>
  // CHECK: tile_gpu.copy %{{.*}}[%{{.*}}, %{{.*}}] widths [16, 64] steps [1, 1] into %[[SLOT]] : <?x64xbf16>, <16x64xbf16, #[[SWIZZLED]]>
  tile_gpu.copy %x[%i, %zero] widths [16, 64] steps [1, 1] into %slot : !tile.view<?x64xbf16>, !tile_gpu.buffer<16x64xbf16, #swizzled>
  // CHECK: tile_gpu.copy {{.*}} pad %{{.*}} if %{{.*}} into %[[SLOT]] : <?x64xbf16> pad bf16, <16x64xbf16, #[[SWIZZLED]]>
  tile_gpu.copy %x[%i, %zero] widths [8, 64] steps [2, 1] pad %h if %p into %slot : !tile.view<?x64xbf16> pad bf16, !tile_gpu.buffer<16x64xbf16, #swizzled>
  // CHECK: tile_gpu.commit
  tile_gpu.commit
  // CHECK: tile_gpu.wait 1
  tile_gpu.wait 1
  // CHECK: tile_gpu.barrier
  tile_gpu.barrier
  // CHECK: %[[TILE:.*]] = tile_gpu.read %[[SLOT]] : <16x64xbf16, #[[SWIZZLED]]> -> tensor<16x64xbf16, #[[ROWS]]>
  %t = tile_gpu.read %slot : !tile_gpu.buffer<16x64xbf16, #swizzled> -> tensor<16x64xbf16, #rows>
  // CHECK: tile_gpu.read_part %[[SLOT]] at [3, 60] widths [0, 0] steps [1, 1] : <16x64xbf16, #[[SWIZZLED]]> -> bf16
  %one = tile_gpu.read_part %slot at [3, 60] widths [0, 0] steps [1, 1] : !tile_gpu.buffer<16x64xbf16, #swizzled> -> bf16
  // CHECK: tile_gpu.write %[[TILE]], %[[SLOT]] : tensor<16x64xbf16, #[[ROWS]]>, <16x64xbf16, #[[SWIZZLED]]>
  tile_gpu.write %t, %slot : tensor<16x64xbf16, #rows>, !tile_gpu.buffer<16x64xbf16, #swizzled>
  // CHECK: tile_gpu.transpose %[[SLOT]] : <16x64xbf16, #[[SWIZZLED]]> -> <64x16xbf16, #{{.*}}>
  %u = tile_gpu.transpose %slot : !tile_gpu.buffer<16x64xbf16, #swizzled> -> !tile_gpu.buffer<64x16xbf16, #turned>
  %d = tile_gpu.alloc : !tile_gpu.buffer<16x64xbf16, #dense>
  // CHECK: tile_gpu.reinterpret %{{.*}} : <16x64xbf16, #{{.*}}> -> <2x8x64xbf16, #{{.*}}>
  %r = tile_gpu.reinterpret %d : !tile_gpu.buffer<16x64xbf16, #dense> -> !tile_gpu.buffer<2x8x64xbf16, #tile_gpu.shared<order = [0, 1, 2], pitch = 128, mask = 0, shift = 0>>
  tile.return
}

// CHECK-LABEL: tile.kernel @reductions_and_products
tile.kernel @reductions_and_products(%f: f32 {tile.name = "f", tile.dtype = "f32"}, %h: bf16 {tile.name = "h", tile.dtype = "bf16"},
                                     %c: !tile.view<?xi32> {tile.name = "c", tile.mode = "inout", tile.dtype = "i32", tile.dims = ["N"]},
                                     %n: i32 {tile.name = "n", tile.dtype = "i32"}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["N"], grid = []} {
  %v = tile.broadcast %f : f32 -> tensor<16xf32, #vector>
  %s = tile_gpu.alloc : !tile_gpu.buffer<4x16xf32, #parts>
  // CHECK: tile_gpu.exchange max %{{.*}}, %{{.*}} warps 3 : tensor<16xf32, #{{.*}}>, <4x16xf32, #{{.*}}> -> tensor<16xf32, #{{.*}}>
  %e = tile_gpu.exchange max %v, %s warps 3 : tensor<16xf32, #vector>, !tile_gpu.buffer<4x16xf32, #parts> -> tensor<16xf32, #vector>
  %one = tile_gpu.alloc : !tile_gpu.buffer<1xi32, #tile_gpu.shared<order = [0], pitch = 16, mask = 0, shift = 0>>
  // CHECK: tile_gpu.atomic add %{{.*}}, %{{.*}}[%{{.*}}] widths [0] steps [1] order acq_rel through %{{.*}} : i32, <?xi32>[i64] through !tile_gpu.buffer<1xi32, #{{.*}}> -> i32
  %o = tile_gpu.atomic add %n, %c[%i] widths [0] steps [1] order acq_rel through %one : i32, !tile.view<?xi32>[i64] through !tile_gpu.buffer<1xi32, #tile_gpu.shared<order = [0], pitch = 16, mask = 0, shift = 0>> -> i32
  %a = tile_gpu.alloc : !tile_gpu.buffer<64x16xbf16, #small>
  %b = tile_gpu.alloc : !tile_gpu.buffer<16x32xbf16, #parts>
  %z = tile.broadcast %f : f32 -> tensor<64x32xf32, #acc>
  // CHECK: tile_gpu.dot %{{.*}}, %{{.*}}, %{{.*}} {mma = #tile_gpu<mma bf16>, warps = array<i64: 4, 1>} : !tile_gpu.buffer<64x16xbf16, #{{.*}}>, !tile_gpu.buffer<16x32xbf16, #{{.*}}> -> tensor<64x32xf32, #{{.*}}>
  %1 = tile_gpu.dot %a, %b, %z {mma = #tile_gpu<mma bf16>, warps = array<i64: 4, 1>} : !tile_gpu.buffer<64x16xbf16, #small>, !tile_gpu.buffer<16x32xbf16, #parts> -> tensor<64x32xf32, #acc>
  %p = tile.broadcast %h : bf16 -> tensor<64x16xbf16, #operand>
  // CHECK: tile_gpu.dot %{{.*}}, %{{.*}}, %{{.*}} {mma = #tile_gpu<mma bf16>, warps = array<i64: 4, 1>} : tensor<64x16xbf16, #{{.*}}>, !tile_gpu.buffer<16x32xbf16, #{{.*}}> -> tensor<64x32xf32, #{{.*}}>
  %2 = tile_gpu.dot %p, %b, %1 {mma = #tile_gpu<mma bf16>, warps = array<i64: 4, 1>} : tensor<64x16xbf16, #operand>, !tile_gpu.buffer<16x32xbf16, #parts> -> tensor<64x32xf32, #acc>
  tile.return
}
