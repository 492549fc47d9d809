// One negative test for each numbered rule of dialect/TileGPU/TileGPUOps.td; a kernel is named after the rule that it breaks.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{dist_c1: expected 2 components in a basis, got 1}}
#layout = #tile_gpu.dist<register = [[0, 1], [1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0]], reps = [1, 1]>
tile.kernel @dist_c1() attributes {dims = [], grid = []} {
  tile.return
}

// -----

// expected-error@+1 {{dist_c1: expected 2 repetitions, got 1}}
#layout = #tile_gpu.dist<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0]], reps = [1]>
tile.kernel @dist_c1_reps() attributes {dims = [], grid = []} {
  tile.return
}

// -----

// expected-error@+1 {{dist_c2: expected 5 lane bases, got 4}}
#layout = #tile_gpu.dist<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0]], reps = [1, 1]>
tile.kernel @dist_c2() attributes {dims = [], grid = []} {
  tile.return
}

// -----

// expected-error@+1 {{dist_c3: expected repetitions of at least 1}}
#layout = #tile_gpu.dist<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0]], reps = [1, 0]>
tile.kernel @dist_c3() attributes {dims = [], grid = []} {
  tile.return
}

// -----

// expected-error@+1 {{dist_c4: expected distinct powers of two along one dimension each}}
#layout = #tile_gpu.dist<register = [[0, 3]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0]], reps = [1, 1]>
tile.kernel @dist_c4() attributes {dims = [], grid = []} {
  tile.return
}

// -----

// expected-error@+1 {{dist_c4: expected distinct powers of two}}
#layout = #tile_gpu.dist<register = [[0, 2]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0]], reps = [1, 1]>
tile.kernel @dist_c4_twice() attributes {dims = [], grid = []} {
  tile.return
}

// -----

// expected-error@+1 {{dist_c4: expected bases that fill their block, got bits 2}}
#layout = #tile_gpu.dist<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[2, 0]], reps = [1, 1]>
tile.kernel @dist_c4_hole() attributes {dims = [], grid = []} {
  tile.return
}

// -----

// expected-error@+1 {{shared_c1: expected a permutation of 2 dimensions}}
#layout = #tile_gpu.shared<order = [0, 0], pitch = 128, mask = 0, shift = 0>
tile.kernel @shared_c1() attributes {dims = [], grid = []} {
  tile.return
}

// -----

// expected-error@+1 {{shared_c2: expected a positive pitch, got 0}}
#layout = #tile_gpu.shared<order = [0, 1], pitch = 0, mask = 0, shift = 0>
tile.kernel @shared_c2() attributes {dims = [], grid = []} {
  tile.return
}

// -----

// expected-error@+1 {{shared_c3: expected a mask of 0, 1, 3 or 7 and a shift of 0 to 3, got 2 and 0}}
#layout = #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 2, shift = 0>
tile.kernel @shared_c3() attributes {dims = [], grid = []} {
  tile.return
}

// -----

tile.kernel @convert_layout_c1(%h: bf16 {tile.name = "h", tile.dtype = "bf16"}) attributes {dims = ["R"], grid = []} {
  %t = tile.broadcast %h : bf16 -> tensor<16x64xbf16, #tile_gpu.dist<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0], [2, 0]], reps = [4, 1]>>
  // expected-error@+1 {{convert_layout_c1: expected two layouts of one shape and element type}}
  %u = tile_gpu.convert_layout %t : tensor<16x64xbf16, #tile_gpu.dist<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0], [2, 0]], reps = [4, 1]>> -> tensor<16x64xbf16>
  tile.return
}

// -----

tile.kernel @convert_layout_c1_shape(%h: bf16 {tile.name = "h", tile.dtype = "bf16"}) attributes {dims = ["R"], grid = []} {
  %t = tile.broadcast %h : bf16 -> tensor<16x64xbf16, #tile_gpu.dist<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0], [2, 0]], reps = [4, 1]>>
  // expected-error@+1 {{convert_layout_c1}}
  %u = tile_gpu.convert_layout %t : tensor<16x64xbf16, #tile_gpu.dist<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0], [2, 0]], reps = [4, 1]>> -> tensor<16x128xbf16, #tile_gpu.dist<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0], [2, 0]], reps = [4, 2]>>
  tile.return
}

// -----

tile.kernel @slot_c1(%n: i32 {tile.name = "n", tile.dtype = "i32"}) attributes {dims = ["R"], grid = []} {
  %r = tile_gpu.alloc : !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>, stages = 2>
  // expected-error@+1 {{slot_c1: expected result}}
  %s = tile_gpu.slot %r[%n] : !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>, stages = 2> -> !tile_gpu.buffer<16x32xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>>
  tile.return
}

// -----

tile.kernel @transpose_c1() attributes {dims = ["R"], grid = []} {
  %b = tile_gpu.alloc : !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>>
  // expected-error@+1 {{transpose_c1: expected the transpose of}}
  %t = tile_gpu.transpose %b : !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>> -> !tile_gpu.buffer<64x16xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>>
  tile.return
}

// -----

tile.kernel @reinterpret_c1() attributes {dims = ["R"], grid = []} {
  %b = tile_gpu.alloc : !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>>
  // expected-error@+1 {{reinterpret_c1: expected dense buffers of as many elements}}
  %t = tile_gpu.reinterpret %b : !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>> -> !tile_gpu.buffer<8x128xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>>
  tile.return
}

// -----

tile.kernel @reinterpret_c1_elements() attributes {dims = ["R"], grid = []} {
  %b = tile_gpu.alloc : !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 0, shift = 0>>
  // expected-error@+1 {{reinterpret_c1}}
  %t = tile_gpu.reinterpret %b : !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 0, shift = 0>> -> !tile_gpu.buffer<8x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 0, shift = 0>>
  tile.return
}

// -----

tile.kernel @copy_c1(%x: !tile.view<?x64xbf16> {tile.name = "x", tile.mode = "in", tile.dtype = "bf16", tile.dims = ["R", "64"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R"], grid = []} {
  %b = tile_gpu.alloc : !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>>
  // expected-error@+1 {{copy_c1: expected a slice that fits}}
  tile_gpu.copy %x[%i, %i] widths [32, 64] steps [1, 1] into %b : !tile.view<?x64xbf16>, !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>>
  tile.return
}

// -----

tile.kernel @copy_c2(%x: !tile.view<?x64xbf16> {tile.name = "x", tile.mode = "in", tile.dtype = "bf16", tile.dims = ["R", "64"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R"], grid = []} {
  %b = tile_gpu.alloc : !tile_gpu.buffer<16x64xf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>>
  // expected-error@+1 {{copy_c2: expected element type 'bf16', got 'f16'}}
  tile_gpu.copy %x[%i, %i] widths [16, 64] steps [1, 1] into %b : !tile.view<?x64xbf16>, !tile_gpu.buffer<16x64xf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>>
  tile.return
}

// -----

tile.kernel @copy_c3(%x: !tile.view<?x64xbf16> {tile.name = "x", tile.mode = "in", tile.dtype = "bf16", tile.dims = ["R", "64"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R"], grid = []} {
  %b = tile_gpu.alloc : !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>>
  // expected-error@+1 {{copy_c3: expected no index tiles}}
  tile_gpu.copy %x[%i, %i] widths [-1, 64] steps [1, 1] into %b : !tile.view<?x64xbf16>, !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>>
  tile.return
}

// -----

tile.kernel @copy_c4(%x: !tile.view<?x64xbf16> {tile.name = "x", tile.mode = "in", tile.dtype = "bf16", tile.dims = ["R", "64"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R"], grid = []} {
  %b = tile_gpu.alloc : !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>>
  // expected-error@+1 {{copy_c4: expected steps of at least 1, got 0}}
  tile_gpu.copy %x[%i, %i] widths [16, 64] steps [1, 0] into %b : !tile.view<?x64xbf16>, !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>>
  tile.return
}

// -----

tile.kernel @write_c1(%h: bf16 {tile.name = "h", tile.dtype = "bf16"}) attributes {dims = ["R"], grid = []} {
  %t = tile.broadcast %h : bf16 -> tensor<16x128xbf16, #tile_gpu.dist<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0], [2, 0]], reps = [4, 2]>>
  %b = tile_gpu.alloc : !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>>
  // expected-error@+1 {{write_c1: expected a tile that fits}}
  tile_gpu.write %t, %b : tensor<16x128xbf16, #tile_gpu.dist<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0], [2, 0]], reps = [4, 2]>>, !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>>
  tile.return
}

// -----

tile.kernel @read_c1() attributes {dims = ["R"], grid = []} {
  %b = tile_gpu.alloc : !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>>
  // expected-error@+1 {{read_c1: expected a tile that fits}}
  %t = tile_gpu.read %b : !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>> -> tensor<16x128xbf16, #tile_gpu.dist<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0], [2, 0]], reps = [4, 2]>>
  tile.return
}

// -----

tile.kernel @read_part_c1() attributes {dims = ["R"], grid = []} {
  %b = tile_gpu.alloc : !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>>
  // expected-error@+1 {{read_part_c1: expected a part of}}
  %t = tile_gpu.read_part %b at [3, 60] widths [0, 5] steps [1, 1] : !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>> -> tensor<5xbf16>
  tile.return
}

// -----

tile.kernel @read_part_c2() attributes {dims = ["R"], grid = []} {
  %b = tile_gpu.alloc : !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>>
  // expected-error@+1 {{read_part_c2: expected the shape of the part, got 'tensor<4xbf16>'}}
  %t = tile_gpu.read_part %b at [3, 60] widths [0, 0] steps [1, 1] : !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 7, shift = 0>> -> tensor<4xbf16>
  tile.return
}

// -----

tile.kernel @dot_c5(%s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R"], grid = []} {
  %a = tile_gpu.alloc : !tile_gpu.buffer<64x16xbf16, #tile_gpu.shared<order = [0, 1], pitch = 32, mask = 0, shift = 0>>
  %b = tile_gpu.alloc : !tile_gpu.buffer<32x32xbf16, #tile_gpu.shared<order = [0, 1], pitch = 64, mask = 0, shift = 0>>
  %z = tile.broadcast %s : f32 -> tensor<64x32xf32, #tile_gpu.dist<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], reps = [1, 4]>>
  // expected-error@+1 {{dot_c5: expected padded shapes [L x] M x K, K x N that cover the accumulator}}
  %d = tile_gpu.dot %a, %b, %z {mma = #tile_gpu<mma bf16>, warps = array<i64: 4, 1>} : !tile_gpu.buffer<64x16xbf16, #tile_gpu.shared<order = [0, 1], pitch = 32, mask = 0, shift = 0>>, !tile_gpu.buffer<32x32xbf16, #tile_gpu.shared<order = [0, 1], pitch = 64, mask = 0, shift = 0>> -> tensor<64x32xf32, #tile_gpu.dist<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], reps = [1, 4]>>
  tile.return
}

// -----

tile.kernel @dot_c6(%s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R"], grid = []} {
  %a = tile_gpu.alloc : !tile_gpu.buffer<64x16xbf16, #tile_gpu.shared<order = [0, 1], pitch = 32, mask = 0, shift = 0>>
  %b = tile_gpu.alloc : !tile_gpu.buffer<16x32xbf16, #tile_gpu.shared<order = [0, 1], pitch = 64, mask = 0, shift = 0>>
  %z = tile.broadcast %s : f32 -> tensor<64x32xf32, #tile_gpu.dist<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], reps = [1, 4]>>
  // expected-error@+1 {{dot_c6: expected 2 numbers of warps, powers of two}}
  %d = tile_gpu.dot %a, %b, %z {mma = #tile_gpu<mma bf16>, warps = array<i64: 3, 1>} : !tile_gpu.buffer<64x16xbf16, #tile_gpu.shared<order = [0, 1], pitch = 32, mask = 0, shift = 0>>, !tile_gpu.buffer<16x32xbf16, #tile_gpu.shared<order = [0, 1], pitch = 64, mask = 0, shift = 0>> -> tensor<64x32xf32, #tile_gpu.dist<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], reps = [1, 4]>>
  tile.return
}

// -----

tile.kernel @dot_c7(%s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R"], grid = []} {
  %a = tile_gpu.alloc : !tile_gpu.buffer<64x16xbf16, #tile_gpu.shared<order = [0, 1], pitch = 32, mask = 0, shift = 0>>
  %b = tile_gpu.alloc : !tile_gpu.buffer<16x32xbf16, #tile_gpu.shared<order = [0, 1], pitch = 64, mask = 0, shift = 0>>
  %z = tile.broadcast %s : f32 -> tensor<64x32xf32, #tile_gpu.dist<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], reps = [1, 4]>>
  // expected-error@+1 {{dot_c7: expected element types of the instruction, got 'bf16', 'bf16' and 'f32'}}
  %d = tile_gpu.dot %a, %b, %z {mma = #tile_gpu<mma f16>, warps = array<i64: 4, 1>} : !tile_gpu.buffer<64x16xbf16, #tile_gpu.shared<order = [0, 1], pitch = 32, mask = 0, shift = 0>>, !tile_gpu.buffer<16x32xbf16, #tile_gpu.shared<order = [0, 1], pitch = 64, mask = 0, shift = 0>> -> tensor<64x32xf32, #tile_gpu.dist<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], reps = [1, 4]>>
  tile.return
}

// -----

// Slices of atomics obey the rules of all slices.
tile.kernel @atomic_slice_c1(%c: !tile.view<?xi32> {tile.name = "c", tile.mode = "inout", tile.dtype = "i32", tile.dims = ["R"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}, %n: i32 {tile.name = "n", tile.dtype = "i32"}) attributes {dims = ["R"], grid = []} {
  %b = tile_gpu.alloc : !tile_gpu.buffer<1xi32, #tile_gpu.shared<order = [0], pitch = 16, mask = 0, shift = 0>>
  // expected-error@+1 {{slice_c1: expected one index, width and step for each of the view's 1 dimensions, got 1, 2 and 1}}
  %o = tile_gpu.atomic add %n, %c[%i] widths [0, 1] steps [1] order relaxed through %b : i32, !tile.view<?xi32>[i64] through !tile_gpu.buffer<1xi32, #tile_gpu.shared<order = [0], pitch = 16, mask = 0, shift = 0>> -> i32
  tile.return
}

// -----

tile.kernel @atomic_c6(%c: !tile.view<?xi32> {tile.name = "c", tile.mode = "inout", tile.dtype = "i32", tile.dims = ["R"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}, %n: i32 {tile.name = "n", tile.dtype = "i32"}) attributes {dims = ["R"], grid = []} {
  // expected-error@+1 {{atomic_c6: expected a buffer exactly for a scalar, got 'i32' without one}}
  %o = tile_gpu.atomic add %n, %c[%i] widths [0] steps [1] order relaxed : i32, !tile.view<?xi32>[i64] -> i32
  tile.return
}

// -----

// Found by damaged IR (mutated_readers, seed 16236): an order of more dimensions than the buffer has.
tile.kernel @reinterpret_c1_order() attributes {dims = ["R"], grid = []} {
  %b = tile_gpu.alloc : !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 0, shift = 0>>
  // expected-error@+1 {{reinterpret_c1}}
  %t = tile_gpu.reinterpret %b : !tile_gpu.buffer<16x64xbf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 0, shift = 0>> -> !tile_gpu.buffer<bf16, #tile_gpu.shared<order = [0, 1], pitch = 128, mask = 0, shift = 0>>
  tile.return
}

// -----

tile.kernel @count_c1() attributes {dims = [], grid = []} {
  %b = tile_gpu.alloc : !tile_gpu.buffer<10xi64, #tile_gpu.shared<order = [0], pitch = 80, mask = 0, shift = 0>>
  %t = arith.constant dense<1> : tensor<128xi32, #tile_gpu.dist<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]], reps = [1]>>
  // expected-error@+1 {{count_c1: expected integers of 32 or 64 bits and a buffer of one dimension of i32}}
  tile_gpu.count %t, %b : tensor<128xi32, #tile_gpu.dist<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]], reps = [1]>>, !tile_gpu.buffer<10xi64, #tile_gpu.shared<order = [0], pitch = 80, mask = 0, shift = 0>>
  tile.return
}

// -----

// Found by damaged IR (mutated_readers): a pass divided by the number of warps, or doubled it for ever.
// expected-error@+1 {{warps_c1: expected tile_gpu.warps to be an i64, a power of two from 1 to 32, got -1 : i64}}
tile.kernel @warps_c1() attributes {dims = [], grid = [], tile_gpu.warps = -1} {
  tile.return
}

// -----

// expected-error@+1 {{warps_c1: expected tile_gpu.warps to be an i64, a power of two from 1 to 32, got 3 : i64}}
tile.kernel @warps_c1_odd() attributes {dims = [], grid = [], tile_gpu.warps = 3} {
  tile.return
}

// -----

// expected-error@+1 {{warps_c1: expected tile_gpu.warps to be an i64, a power of two from 1 to 32, got 4 : i32}}
tile.kernel @warps_c1_type() attributes {dims = [], grid = [], tile_gpu.warps = 4 : i32} {
  tile.return
}
