// One negative test for each numbered rule of dialect/Tile/TileOps.td; a kernel is named after the rule that it breaks.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{kernel_c1: expected a view or a scalar}}
tile.kernel @kernel_c1(%t: tensor<4xf32>) attributes {dims = ["R"], grid = []} {
  tile.return
}

// -----

// expected-error@+1 {{kernel_c2: expected the last 1 arguments, and only those, to be i64}}
tile.kernel @kernel_c2(%i: i32 {tile.coord = "i"}) attributes {dims = ["R"], grid = [{name = "i", lo = "0", hi = "R", step = "1"}]} {
  tile.return
}

// -----

// expected-error@+1 {{kernel_c2: expected the last 1 arguments}}
tile.kernel @kernel_c2_order(%i: i64 {tile.coord = "i"}, %s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R"], grid = [{name = "i", lo = "0", hi = "R", step = "1"}]} {
  tile.return
}

// -----

// expected-error@+1 {{kernel_c2: expected a coordinate argument for each of the 2 grid axes, got 1}}
tile.kernel @kernel_c2_count(%i: i64 {tile.coord = "i"}) attributes {dims = ["R"], grid = [{name = "i", lo = "0", hi = "R", step = "1"}, {name = "j", lo = "0", hi = "R", step = "1"}]} {
  tile.return
}

// -----

// expected-error@+1 {{kernel_c3: expected 'tile.name', 'tile.mode', 'tile.dtype' and 1 'tile.dims' on view argument 0}}
tile.kernel @kernel_c3(%x: !tile.view<?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "R"]}) attributes {dims = ["R"], grid = []} {
  tile.return
}

// -----

// expected-error@+1 {{kernel_c3: expected}}
tile.kernel @kernel_c3_mode(%x: !tile.view<?xf32> {tile.name = "x", tile.mode = "write", tile.dtype = "f32", tile.dims = ["R"]}) attributes {dims = ["R"], grid = []} {
  tile.return
}

// -----

// expected-error@+1 {{kernel_c4: expected 'Q' of an extent to be in 'dims' or to name a scalar argument}}
tile.kernel @kernel_c4(%x: !tile.view<?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["(+ Q 1)"]}) attributes {dims = ["R"], grid = []} {
  tile.return
}

// -----

// expected-error@+1 {{kernel_c4: expected 'Q' of the grid}}
tile.kernel @kernel_c4_grid(%i: i64 {tile.coord = "i"}) attributes {dims = ["R"], grid = [{name = "i", lo = "0", hi = "Q", step = "1"}]} {
  tile.return
}

// -----

// expected-error@+1 {{kernel_c4: expected balanced parentheses}}
tile.kernel @kernel_c4_parentheses(%i: i64 {tile.coord = "i"}) attributes {dims = ["R"], grid = [{name = "i", lo = "0", hi = "(+ R 1", step = "1"}]} {
  tile.return
}

// -----

// expected-error@+1 {{kernel_c4: expected an expression as a string for the grid}}
tile.kernel @kernel_c4_missing(%i: i64 {tile.coord = "i"}) attributes {dims = ["R"], grid = [{name = "i", lo = "0", hi = "R"}]} {
  tile.return
}

// -----

// expected-error@+1 {{kernel_c5: expected no results, got 1}}
tile.kernel @kernel_c5() -> f32 attributes {dims = [], grid = []} {
  tile.return
}

// -----

// expected-error@+1 {{kernel_c6: expected a power of two for 'tile.align', got 12}}
tile.kernel @kernel_c6(%x: !tile.view<?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R"], tile.align = 12 : i64}) attributes {dims = ["R"], grid = []} {
  tile.return
}

// -----

// expected-error@+1 {{kernel_c6: expected 'tile.unit_dim' in 0..1, got 1}}
tile.kernel @kernel_c6_unit_dim(%x: !tile.view<?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R"], tile.unit_dim = 1 : i64}) attributes {dims = ["R"], grid = []} {
  tile.return
}

// -----

// expected-error@+1 {{kernel_c6: expected 1 positive divisors in 'tile.stride_div'}}
tile.kernel @kernel_c6_divisors(%x: !tile.view<?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R"], tile.stride_div = array<i64: 0>}) attributes {dims = ["R"], grid = []} {
  tile.return
}

// -----

tile.kernel @dim_c1(%x: !tile.view<?x?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "C"]}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{dim_c1: expected an axis in 0..2, got 2}}
  %d = tile.dim %x, 2 : !tile.view<?x?xf32>
  tile.return
}

// -----

tile.kernel @subview_c1(%x: !tile.view<?x?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{subview_c1: expected one kind of 0, 1 or 2 for each of the 2 dimensions}}
  %v = tile.subview %x[%i] kinds [0] : !tile.view<?x?xf32> -> !tile.view<?xf32>
  tile.return
}

// -----

tile.kernel @subview_c1_kind(%x: !tile.view<?x?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{subview_c1}}
  %v = tile.subview %x[%i] kinds [0, 3] : !tile.view<?x?xf32> -> !tile.view<?xf32>
  tile.return
}

// -----

tile.kernel @subview_c2(%x: !tile.view<?x?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{subview_c2: expected 2 bounds for these kinds, got 1}}
  %v = tile.subview %x[%i] kinds [2, 1] : !tile.view<?x?xf32> -> !tile.view<?x?xf32>
  tile.return
}

// -----

tile.kernel @subview_c3(%x: !tile.view<?x?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{subview_c3: expected result}}
  %v = tile.subview %x[%i] kinds [0, 1] : !tile.view<?x?xf32> -> !tile.view<?x?xf32>
  tile.return
}

// -----

tile.kernel @subview_c3_element(%x: !tile.view<?x?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{subview_c3: expected result}}
  %v = tile.subview %x[%i] kinds [0, 1] : !tile.view<?x?xf32> -> !tile.view<?xf16>
  tile.return
}

// -----

tile.kernel @slice_c1(%x: !tile.view<?x?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{slice_c1: expected one index, width and step for each of the view's 2 dimensions, got 1, 2 and 2}}
  %v = tile.load %x[%i] widths [4, 8] steps [1, 1] : !tile.view<?x?xf32>[i64] -> tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @slice_c1_widths(%x: !tile.view<?x?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{slice_c1: expected one index, width and step for each of the view's 2 dimensions, got 2, 1 and 2}}
  %v = tile.load %x[%i, %i] widths [4] steps [1, 1] : !tile.view<?x?xf32>[i64, i64] -> tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @slice_c2(%x: !tile.view<?x?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{slice_c2: expected width -1 exactly where the index is a tile, got width -1 with 'i64' in dimension 1}}
  %v = tile.load %x[%i, %i] widths [4, -1] steps [1, 1] : !tile.view<?x?xf32>[i64, i64] -> tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @slice_c2_tile(%x: !tile.view<?x?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R", "C"], grid = []} {
  %t = tile.iota : tensor<4xi64>
  // expected-error@+1 {{slice_c2}}
  %v = tile.load %x[%i, %t] widths [4, 4] steps [1, 1] : !tile.view<?x?xf32>[i64, tensor<4xi64>] -> tensor<4x4xf32>
  tile.return
}

// -----

tile.kernel @slice_c2_negative(%x: !tile.view<?x?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{slice_c2}}
  %v = tile.load %x[%i, %i] widths [4, -2] steps [1, 1] : !tile.view<?x?xf32>[i64, i64] -> tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @slice_c3(%x: !tile.view<?x?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{slice_c3: expected a step of at least 1, and of 1 without a width, got 0 in dimension 0}}
  %v = tile.load %x[%i, %i] widths [4, 8] steps [0, 1] : !tile.view<?x?xf32>[i64, i64] -> tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @slice_c3_scalar(%x: !tile.view<?x?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{slice_c3: expected a step of at least 1, and of 1 without a width, got 2 in dimension 0}}
  %v = tile.load %x[%i, %i] widths [0, 8] steps [2, 1] : !tile.view<?x?xf32>[i64, i64] -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @slice_c4(%x: !tile.view<?x?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R", "C"], grid = []} {
  %t = tile.iota : tensor<4xi64>
  %u = tile.iota : tensor<5xi64>
  // expected-error@+1 {{slice_c4: expected index tiles that broadcast, got 'tensor<5xi64>' in dimension 1}}
  %v = tile.load %x[%t, %u] widths [-1, -1] steps [1, 1] : !tile.view<?x?xf32>[tensor<4xi64>, tensor<5xi64>] -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @slice_c1_store(%y: !tile.view<?x?xf32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}, %s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{slice_c1}}
  tile.store %s, %y[%i] widths [0] steps [1] : f32, !tile.view<?x?xf32>[i64]
  tile.return
}

// -----

tile.kernel @slice_c1_inside(%x: !tile.view<?x?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{slice_c1}}
  %m = tile.inside %x[%i] widths [0] steps [1] : !tile.view<?x?xf32>[i64] -> i1
  tile.return
}

// -----

tile.kernel @load_c1(%x: !tile.view<?x?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{load_c1: expected result tensor<4x8xf32>, got 'tensor<8x4xf32>'}}
  %v = tile.load %x[%i, %i] widths [4, 8] steps [1, 1] : !tile.view<?x?xf32>[i64, i64] -> tensor<8x4xf32>
  tile.return
}

// -----

tile.kernel @load_c1_scalar(%x: !tile.view<?x?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{load_c1: expected result f32}}
  %v = tile.load %x[%i, %i] widths [0, 0] steps [1, 1] : !tile.view<?x?xf32>[i64, i64] -> f16
  tile.return
}

// -----

tile.kernel @load_c2(%x: !tile.view<?x?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}, %n: i32 {tile.name = "n", tile.dtype = "i32"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{load_c2: expected padding of type 'f32', got 'i32'}}
  %v = tile.load %x[%i, %i] widths [4, 8] steps [1, 1] pad %n : !tile.view<?x?xf32>[i64, i64] pad i32 -> tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @load_c3(%y: !tile.view<?x?xf32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{load_c3: expected a view that can be read, got one of mode 'out'}}
  %v = tile.load %y[%i, %i] widths [4, 8] steps [1, 1] : !tile.view<?x?xf32>[i64, i64] -> tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @load_c3_accum(%a: !tile.view<?xf32> {tile.name = "a", tile.mode = "accum", tile.dtype = "f32", tile.dims = ["R"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{load_c3: expected a view that can be read, got one of mode 'accum'}}
  %v = tile.load %a[%i] widths [4] steps [1] : !tile.view<?xf32>[i64] -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @load_c3_subview(%y: !tile.view<?x?xf32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R", "C"], grid = []} {
  %w = tile.subview %y[%i] kinds [0, 1] : !tile.view<?x?xf32> -> !tile.view<?xf32>
  // expected-error@+1 {{load_c3}}
  %v = tile.load %w[%i] widths [8] steps [1] : !tile.view<?xf32>[i64] -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @store_c1(%y: !tile.view<?x?xf32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}, %s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{store_c1: expected a value of tensor<4x8xf32>, got 'f32'}}
  tile.store %s, %y[%i, %i] widths [4, 8] steps [1, 1] : f32, !tile.view<?x?xf32>[i64, i64]
  tile.return
}

// -----

tile.kernel @store_c1_element(%y: !tile.view<?x?xf32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}, %h: bf16 {tile.name = "h", tile.dtype = "bf16"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{store_c1: expected a value of f32, got 'bf16'}}
  tile.store %h, %y[%i, %i] widths [0, 0] steps [1, 1] : bf16, !tile.view<?x?xf32>[i64, i64]
  tile.return
}

// -----

tile.kernel @store_c2(%x: !tile.view<?x?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}, %s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{store_c2: expected a view that can be written, got one of mode 'in'}}
  tile.store %s, %x[%i, %i] widths [0, 0] steps [1, 1] : f32, !tile.view<?x?xf32>[i64, i64]
  tile.return
}

// -----

tile.kernel @store_c2_accum(%a: !tile.view<?xf32> {tile.name = "a", tile.mode = "accum", tile.dtype = "f32", tile.dims = ["R"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}, %s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{store_c2: expected a view that can be written, got one of mode 'accum'}}
  tile.store %s, %a[%i] widths [0] steps [1] : f32, !tile.view<?xf32>[i64]
  tile.return
}

// -----

tile.kernel @inside_c1(%x: !tile.view<?x?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{inside_c1: expected result tensor<4x8xi1>, got 'tensor<4xi1>'}}
  %m = tile.inside %x[%i, %i] widths [4, 8] steps [1, 1] : !tile.view<?x?xf32>[i64, i64] -> tensor<4xi1>
  tile.return
}

// -----

tile.kernel @iota_c1() attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{iota_c1: expected a result of rank 1}}
  %t = tile.iota : tensor<2x2xi64>
  tile.return
}

// -----

tile.kernel @broadcast_c1(%s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{broadcast_c1: expected element type 'f32', got 'f16'}}
  %t = tile.broadcast %s : f32 -> tensor<4xf16>
  tile.return
}

// -----

tile.kernel @broadcast_c2(%s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  %t = tile.broadcast %s : f32 -> tensor<4x6xf32>
  // expected-error@+1 {{broadcast_c2: expected a shape that stretches to}}
  %u = tile.broadcast %t : tensor<4x6xf32> -> tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @broadcast_c2_rank(%s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  %t = tile.broadcast %s : f32 -> tensor<4x6xf32>
  // expected-error@+1 {{broadcast_c2}}
  %u = tile.broadcast %t : tensor<4x6xf32> -> tensor<6xf32>
  tile.return
}

// -----

tile.kernel @expand_dims_c1(%s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  %t = tile.broadcast %s : f32 -> tensor<4x6xf32>
  // expected-error@+1 {{expand_dims_c1: expected 'tensor<4x6xf32>' with a 1 inserted at axis 1}}
  %u = tile.expand_dims %t, 1 : tensor<4x6xf32> -> tensor<4x6x1xf32>
  tile.return
}

// -----

tile.kernel @expand_dims_c1_axis(%s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  %t = tile.broadcast %s : f32 -> tensor<4x6xf32>
  // expected-error@+1 {{expand_dims_c1}}
  %u = tile.expand_dims %t, 3 : tensor<4x6xf32> -> tensor<4x6x1xf32>
  tile.return
}

// -----

tile.kernel @reshape_c1(%s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  %t = tile.broadcast %s : f32 -> tensor<4x6xf32>
  // expected-error@+1 {{reshape_c1: expected element type 'f32', got 'i32'}}
  %u = tile.reshape %t : tensor<4x6xf32> -> tensor<24xi32>
  tile.return
}

// -----

tile.kernel @reshape_c2(%s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  %t = tile.broadcast %s : f32 -> tensor<4x6xf32>
  // expected-error@+1 {{reshape_c2: expected 24 elements, got 25}}
  %u = tile.reshape %t : tensor<4x6xf32> -> tensor<5x5xf32>
  tile.return
}

// -----

tile.kernel @permute_c1(%s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  %t = tile.broadcast %s : f32 -> tensor<4x6xf32>
  // expected-error@+1 {{permute_c1: expected a permutation of 2 dimensions}}
  %u = tile.permute %t [0, 0] : tensor<4x6xf32> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.kernel @permute_c1_length(%s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  %t = tile.broadcast %s : f32 -> tensor<4x6xf32>
  // expected-error@+1 {{permute_c1: expected a permutation of 2 dimensions}}
  %u = tile.permute %t [0] : tensor<4x6xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @permute_c1_negative(%s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  %t = tile.broadcast %s : f32 -> tensor<4x6xf32>
  // expected-error@+1 {{permute_c1: expected a permutation of 2 dimensions}}
  %u = tile.permute %t [-1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  tile.return
}

// -----

tile.kernel @permute_c2(%s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  %t = tile.broadcast %s : f32 -> tensor<4x6xf32>
  // expected-error@+1 {{permute_c2: expected 'tensor<4x6xf32>' with its dimensions reordered}}
  %u = tile.permute %t [1, 0] : tensor<4x6xf32> -> tensor<4x6xf32>
  tile.return
}

// -----

tile.kernel @reduce_c1(%s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  %t = tile.broadcast %s : f32 -> tensor<4x6xf32>
  // expected-error@+1 {{reduce_c1: expected an axis in 0..2, got 2}}
  %u = tile.reduce sum %t, 2 : tensor<4x6xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @reduce_c1_negative(%s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  %t = tile.broadcast %s : f32 -> tensor<4x6xf32>
  // expected-error@+1 {{reduce_c1: expected an axis in 0..2, got -1}}
  %u = tile.reduce sum %t, -1 : tensor<4x6xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @reduce_c2(%s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  %t = tile.broadcast %s : f32 -> tensor<4x6xf32>
  // expected-error@+1 {{reduce_c2: expected result 'tensor<6xf32>', got 'tensor<4xf32>'}}
  %u = tile.reduce sum %t, 0 : tensor<4x6xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @reduce_c3_float(%s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  %t = tile.broadcast %s : f32 -> tensor<4x6xf32>
  // expected-error@+1 {{reduce_c3: expected a kind that fits 'f32', got 'maxu'}}
  %u = tile.reduce maxu %t, 0 : tensor<4x6xf32> -> tensor<6xf32>
  tile.return
}

// -----

tile.kernel @reduce_c3_integer(%n: i32 {tile.name = "n", tile.dtype = "i32"}) attributes {dims = ["R", "C"], grid = []} {
  %t = tile.broadcast %n : i32 -> tensor<4xi32>
  // expected-error@+1 {{reduce_c3: expected a kind that fits 'i32', got 'maxnum'}}
  %u = tile.reduce maxnum %t, 0 : tensor<4xi32> -> i32
  tile.return
}

// -----

tile.kernel @dot_c1(%h: bf16 {tile.name = "h", tile.dtype = "bf16"}, %s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  %a = tile.broadcast %h : bf16 -> tensor<16x24xbf16>
  %b = tile.broadcast %h : bf16 -> tensor<24x8xbf16>
  %c = tile.broadcast %s : f32 -> tensor<16x8xf32>
  // expected-error@+1 {{dot_c1: expected}}
  %d = tile.dot %a, %a, %c : tensor<16x24xbf16>, tensor<16x24xbf16> -> tensor<16x8xf32>
  tile.return
}

// -----

tile.kernel @dot_c1_batch(%h: bf16 {tile.name = "h", tile.dtype = "bf16"}, %s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  %a = tile.broadcast %h : bf16 -> tensor<2x4x4xbf16>
  %b = tile.broadcast %h : bf16 -> tensor<3x4x4xbf16>
  %c = tile.broadcast %s : f32 -> tensor<2x4x4xf32>
  // expected-error@+1 {{dot_c1}}
  %d = tile.dot %a, %b, %c : tensor<2x4x4xbf16>, tensor<3x4x4xbf16> -> tensor<2x4x4xf32>
  tile.return
}

// -----

tile.kernel @dot_c1_rank(%h: bf16 {tile.name = "h", tile.dtype = "bf16"}, %s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  %a = tile.broadcast %h : bf16 -> tensor<4xbf16>
  %c = tile.broadcast %s : f32 -> tensor<4xf32>
  // expected-error@+1 {{dot_c1}}
  %d = tile.dot %a, %a, %c : tensor<4xbf16>, tensor<4xbf16> -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @dot_c2(%h: bf16 {tile.name = "h", tile.dtype = "bf16"}, %s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  %a = tile.broadcast %h : bf16 -> tensor<16x24xbf16>
  %b = tile.broadcast %h : bf16 -> tensor<24x8xbf16>
  %c = tile.broadcast %s : f32 -> tensor<16x8xf32>
  %f = tile.broadcast %s : f32 -> tensor<24x8xf32>
  // expected-error@+1 {{dot_c2: expected operands of one element type, got 'bf16' and 'f32'}}
  %d = tile.dot %a, %f, %c : tensor<16x24xbf16>, tensor<24x8xf32> -> tensor<16x8xf32>
  tile.return
}

// -----

tile.kernel @dot_c3(%h: bf16 {tile.name = "h", tile.dtype = "bf16"}) attributes {dims = ["R", "C"], grid = []} {
  %a = tile.broadcast %h : bf16 -> tensor<16x16xbf16>
  // expected-error@+1 {{dot_c3: expected the accumulator type that belongs to 'bf16', got 'bf16'}}
  %d = tile.dot %a, %a, %a : tensor<16x16xbf16>, tensor<16x16xbf16> -> tensor<16x16xbf16>
  tile.return
}

// -----

tile.kernel @dot_c3_integer(%n: i32 {tile.name = "n", tile.dtype = "i32"}, %s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  %a = tile.broadcast %n : i32 -> tensor<16x16xi32>
  %c = tile.broadcast %s : f32 -> tensor<16x16xf32>
  // expected-error@+1 {{dot_c3: expected the accumulator type that belongs to 'i32', got 'f32'}}
  %d = tile.dot %a, %a, %c : tensor<16x16xi32>, tensor<16x16xi32> -> tensor<16x16xf32>
  tile.return
}

// -----

tile.kernel @dot_c5(%n: i8 {tile.name = "n", tile.dtype = "i8"}, %s: i32 {tile.name = "s", tile.dtype = "i32"}) attributes {dims = ["R", "C"], grid = []} {
  %a = tile.broadcast %n : i8 -> tensor<16x16xi8>
  %c = tile.broadcast %s : i32 -> tensor<16x16xi32>
  // expected-error@+1 {{dot_c5: expected bytes of an fp8 type and sums of f32, got 'i8' as 'f8E4M3FN' and 'i32'}}
  %d = tile.dot %a, %a, %c {bytes_of = f8E4M3FN} : tensor<16x16xi8>, tensor<16x16xi8> -> tensor<16x16xi32>
  tile.return
}

// -----

tile.kernel @dot_c4(%h: bf16 {tile.name = "h", tile.dtype = "bf16"}, %s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  %a = tile.broadcast %h : bf16 -> tensor<16x24xbf16>
  %b = tile.broadcast %h : bf16 -> tensor<24x8xbf16>
  %c = tile.broadcast %s : f32 -> tensor<16x8xf32>
  // expected-error@+1 {{dot_c4: expected f32 operands and sums for tf32, got 'bf16' and 'f32'}}
  %d = tile.dot %a, %b, %c {precision = #tile<precision tf32>} : tensor<16x24xbf16>, tensor<24x8xbf16> -> tensor<16x8xf32>
  tile.return
}

// -----

tile.kernel @convert_c1(%s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{convert_c1: expected another element type than 'f32'}}
  %d = tile.convert %s : f32 -> f32
  tile.return
}

// -----

// view_c2 (an extent below 0) cannot be written as text; the type's constructor checks it.
// expected-error@+1 {{view_c1: expected a signless integer or float element type, got 'ui8'}}
tile.kernel @view_c1(%x: !tile.view<?xui8> {tile.name = "x", tile.mode = "in", tile.dtype = "u8", tile.dims = ["R"]}) attributes {dims = ["R"], grid = []} {
  tile.return
}

// -----

tile.kernel @accumulate_c1(%a: !tile.view<?xf32> {tile.name = "a", tile.mode = "accum", tile.dtype = "f32", tile.dims = ["R"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}, %s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{accumulate_c1: expected a value of tensor<4xf32>, got 'f32'}}
  tile.accumulate %s, %a[%i] widths [4] steps [1] : f32, !tile.view<?xf32>[i64]
  tile.return
}

// -----

tile.kernel @accumulate_c2(%y: !tile.view<?x?xf32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}, %s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{accumulate_c2: expected a view of mode 'accum', got one of mode 'out'}}
  tile.accumulate %s, %y[%i, %i] widths [0, 0] steps [1, 1] : f32, !tile.view<?x?xf32>[i64, i64]
  tile.return
}

// -----

tile.kernel @accumulate_c3(%a: !tile.view<?xf16> {tile.name = "a", tile.mode = "accum", tile.dtype = "f16", tile.dims = ["R"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}, %h: f16 {tile.name = "h", tile.dtype = "f16"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{accumulate_c3: expected f32, f64, i32 or i64, got 'f16'}}
  tile.accumulate %h, %a[%i] widths [0] steps [1] : f16, !tile.view<?xf16>[i64]
  tile.return
}

// -----

tile.kernel @slice_c1_accumulate(%a: !tile.view<?xf32> {tile.name = "a", tile.mode = "accum", tile.dtype = "f32", tile.dims = ["R"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}, %s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{slice_c1}}
  tile.accumulate %s, %a[%i] widths [0, 0] steps [1] : f32, !tile.view<?xf32>[i64]
  tile.return
}

// -----

tile.kernel @atomic_c1(%c: !tile.view<?xi32> {tile.name = "c", tile.mode = "inout", tile.dtype = "i32", tile.dims = ["R"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}, %n: i32 {tile.name = "n", tile.dtype = "i32"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{atomic_c1: expected value and result of tensor<4xi32>, got 'i32' and 'i32'}}
  %o = tile.atomic add %n, %c[%i] widths [4] steps [1] order relaxed : i32, !tile.view<?xi32>[i64] -> i32
  tile.return
}

// -----

tile.kernel @atomic_c1_type(%c: !tile.view<?xi32> {tile.name = "c", tile.mode = "inout", tile.dtype = "i32", tile.dims = ["R"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}, %s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{atomic_c1}}
  %o = tile.atomic add %s, %c[%i] widths [0] steps [1] order relaxed : f32, !tile.view<?xi32>[i64] -> f32
  tile.return
}

// -----

tile.kernel @atomic_c2(%x: !tile.view<?x?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "C"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}, %s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{atomic_c2: expected a view of mode 'inout', got one of mode 'in'}}
  %o = tile.atomic add %s, %x[%i, %i] widths [0, 0] steps [1, 1] order relaxed : f32, !tile.view<?x?xf32>[i64, i64] -> f32
  tile.return
}

// -----

tile.kernel @atomic_c3(%c: !tile.view<?xf16> {tile.name = "c", tile.mode = "inout", tile.dtype = "f16", tile.dims = ["R"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}, %h: f16 {tile.name = "h", tile.dtype = "f16"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{atomic_c3: expected an element type that has 'and', got 'f16'}}
  %o = tile.atomic and %h, %c[%i] widths [0] steps [1] order relaxed : f16, !tile.view<?xf16>[i64] -> f16
  tile.return
}

// -----

tile.kernel @atomic_c3_bool(%c: !tile.view<?xi1> {tile.name = "c", tile.mode = "inout", tile.dtype = "bool", tile.dims = ["R"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}, %h: i1 {tile.name = "h", tile.dtype = "bool"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{atomic_c3: expected an element type that has 'add', got 'i1'}}
  %o = tile.atomic add %h, %c[%i] widths [0] steps [1] order relaxed : i1, !tile.view<?xi1>[i64] -> i1
  tile.return
}

// -----

tile.kernel @atomic_c5(%c: !tile.view<?xi32> {tile.name = "c", tile.mode = "inout", tile.dtype = "i32", tile.dims = ["R"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}, %n: i32 {tile.name = "n", tile.dtype = "i32"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{atomic_c5: expected padding of type 'i32', got 'i64'}}
  %o = tile.atomic add %n, %c[%i] widths [0] steps [1] order relaxed pad %i : i32, !tile.view<?xi32>[i64] pad i64 -> i32
  tile.return
}

// -----

tile.kernel @atomic_c4(%c: !tile.view<?xi32> {tile.name = "c", tile.mode = "inout", tile.dtype = "i32", tile.dims = ["R"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}, %n: i32 {tile.name = "n", tile.dtype = "i32"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{atomic_c4: expected a value of 'i32' to compare with exactly for 'cas'}}
  %o = tile.atomic cas %n, %c[%i] widths [0] steps [1] order relaxed : i32, !tile.view<?xi32>[i64] -> i32
  tile.return
}

// -----

tile.kernel @atomic_c4_add(%c: !tile.view<?xi32> {tile.name = "c", tile.mode = "inout", tile.dtype = "i32", tile.dims = ["R"]}, %i: i64 {tile.name = "i", tile.dtype = "i64"}, %n: i32 {tile.name = "n", tile.dtype = "i32"}) attributes {dims = ["R", "C"], grid = []} {
  // expected-error@+1 {{atomic_c4}}
  %o = tile.atomic add %n if %n, %c[%i] widths [0] steps [1] order relaxed : i32 if i32, !tile.view<?xi32>[i64] -> i32
  tile.return
}

// -----

tile.kernel @scan_c1() attributes {dims = [], grid = []} {
  %t = arith.constant dense<1.0> : tensor<4x8xf32>
  // expected-error@+1 {{scan_c1: expected an axis in 0..2, got 2}}
  %s = tile.scan sum %t, 2 : tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @scan_c2() attributes {dims = [], grid = []} {
  %t = arith.constant dense<1.0> : tensor<4x8xf32>
  // expected-error@+1 {{scan_c2: expected a kind that fits 'f32', got 'xor'}}
  %s = tile.scan xor %t, 1 : tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @concat_c1() attributes {dims = [], grid = []} {
  %t = arith.constant dense<1.0> : tensor<4x8xf32>
  // expected-error@+1 {{concat_c1: expected one rank and element type and an axis in 0..2, got axis 3}}
  %s = tile.concat %t, %t, 3 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
  tile.return
}

// -----

tile.kernel @concat_c2() attributes {dims = [], grid = []} {
  %t = arith.constant dense<1.0> : tensor<4x8xf32>
  // expected-error@+1 {{concat_c2: expected extents that add up along dimension 0}}
  %s = tile.concat %t, %t, 0 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<9x8xf32>
  tile.return
}

// -----

tile.kernel @extract_c1() attributes {dims = [], grid = []} {
  %t = arith.constant dense<1.0> : tensor<4x8xf32>
  // expected-error@+1 {{extract_c1: expected a start, a width of at least 0 and a step of at least 1 for each of the 2 dimensions}}
  %s = tile.extract %t at [0] widths [4] steps [1] : tensor<4x8xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @extract_c2() attributes {dims = [], grid = []} {
  %t = arith.constant dense<1.0> : tensor<4x8xf32>
  // expected-error@+1 {{extract_c2: expected elements of 0..8 in dimension 1, got start 2, width 4, step 2}}
  %s = tile.extract %t at [0, 2] widths [4, 4] steps [1, 2] : tensor<4x8xf32> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.kernel @extract_c3() attributes {dims = [], grid = []} {
  %t = arith.constant dense<1.0> : tensor<4x8xf32>
  // expected-error@+1 {{extract_c3: expected the kept dimensions of 'tensor<4x8xf32>', got 'tensor<4x1xf32>'}}
  %s = tile.extract %t at [0, 2] widths [4, 0] steps [1, 1] : tensor<4x8xf32> -> tensor<4x1xf32>
  tile.return
}

// -----

tile.kernel @paged_c1(%p: !tile.view<?xf32> {tile.name = "p", tile.mode = "in", tile.dtype = "f32", tile.dims = ["N"]}, %t: !tile.view<?xi32> {tile.name = "t", tile.mode = "in", tile.dtype = "i32", tile.dims = ["W"]}, %n: i64 {tile.name = "n", tile.dtype = "i64"}) attributes {dims = ["N", "W"], grid = []} {
  // expected-error@+1 {{paged_c1: expected a pool of rank 2 or more}}
  %v = tile.paged %p, %t, %n : !tile.view<?xf32>, !tile.view<?xi32> -> !tile.view<?xf32>
  tile.return
}

// -----

tile.kernel @paged_c2(%p: !tile.view<?x16xf32> {tile.name = "p", tile.mode = "in", tile.dtype = "f32", tile.dims = ["N", "16"]}, %t: !tile.view<?xf32> {tile.name = "t", tile.mode = "in", tile.dtype = "f32", tile.dims = ["W"]}, %n: i64 {tile.name = "n", tile.dtype = "i64"}) attributes {dims = ["N", "W"], grid = []} {
  // expected-error@+1 {{paged_c2: expected a table of rank 1 of i32 or i64}}
  %v = tile.paged %p, %t, %n : !tile.view<?x16xf32>, !tile.view<?xf32> -> !tile.view<?xf32>
  tile.return
}

// -----

tile.kernel @paged_c3(%p: !tile.view<?x16x8xf32> {tile.name = "p", tile.mode = "in", tile.dtype = "f32", tile.dims = ["N", "16", "8"]}, %t: !tile.view<?xi32> {tile.name = "t", tile.mode = "in", tile.dtype = "i32", tile.dims = ["W"]}, %n: i64 {tile.name = "n", tile.dtype = "i64"}) attributes {dims = ["N", "W"], grid = []} {
  // expected-error@+1 {{paged_c3: expected result}}
  %v = tile.paged %p, %t, %n : !tile.view<?x16x8xf32>, !tile.view<?xi32> -> !tile.view<?x16xf32>
  tile.return
}

// -----

tile.kernel @combine_c1() attributes {dims = [], grid = []} {
  %t = arith.constant dense<1> : tensor<4x8xi32>
  // expected-error@+1 {{combine_c1: expected sources of one shape and an axis in 0..2, got axis 2}}
  %s = tile.scan_by %t axis 2 : (tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: i32, %b: i32):
    tile.yield %a : i32
  }
  tile.return
}

// -----

tile.kernel @combine_c2() attributes {dims = [], grid = []} {
  %t = arith.constant dense<1> : tensor<4x8xi32>
  // expected-error@+1 {{combine_c2: expected the element types twice as arguments of the region: 2, got 1 or others}}
  %s = tile.scan_by %t axis 1 : (tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: i32):
    tile.yield %a : i32
  }
  tile.return
}

// -----

tile.kernel @combine_c3() attributes {dims = [], grid = []} {
  %t = arith.constant dense<1> : tensor<4x8xi32>
  // expected-error@+1 {{combine_c3: expected the region to yield the element types of the sources}}
  %s = tile.scan_by %t axis 1 : (tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: i32, %b: i32):
    tile.yield %a, %b : i32, i32
  }
  tile.return
}

// -----

tile.kernel @combine_c4() attributes {dims = [], grid = []} {
  %t = arith.constant dense<1> : tensor<4x8xi32>
  // expected-error@+1 {{combine_c4: expected computation on scalars in the region, got 'tile.iota'}}
  %s = tile.scan_by %t axis 1 : (tensor<4x8xi32>) -> tensor<4x8xi32> {
  ^bb0(%a: i32, %b: i32):
    %i = tile.iota : tensor<4xi64>
    tile.yield %a : i32
  }
  tile.return
}

// -----

tile.kernel @reduce_by_c1() attributes {dims = [], grid = []} {
  %t = arith.constant dense<1> : tensor<4x8xi32>
  // expected-error@+1 {{reduce_by_c1: expected each source without dimension 1 as a result}}
  %s = tile.reduce_by %t axis 1 : (tensor<4x8xi32>) -> tensor<8xi32> {
  ^bb0(%a: i32, %b: i32):
    tile.yield %a : i32
  }
  tile.return
}

// -----

tile.kernel @scan_by_c1() attributes {dims = [], grid = []} {
  %t = arith.constant dense<1> : tensor<4x8xi32>
  // expected-error@+1 {{scan_by_c1: expected the types of the sources as results}}
  %s = tile.scan_by %t axis 1 : (tensor<4x8xi32>) -> tensor<4xi32> {
  ^bb0(%a: i32, %b: i32):
    tile.yield %a : i32
  }
  tile.return
}

// -----

tile.kernel @sort_c1() attributes {dims = [], grid = []} {
  %t = arith.constant dense<1> : tensor<4x8xi32>
  // expected-error@+1 {{sort_c1: expected sources of one shape and an axis in 0..2, got axis -1}}
  %s = tile.sort %t axis -1 keys 1 : (tensor<4x8xi32>) -> tensor<4x8xi32>
  tile.return
}

// -----

tile.kernel @sort_c2() attributes {dims = [], grid = []} {
  %t = arith.constant dense<1.0> : tensor<4x8xf32>
  // expected-error@+1 {{sort_c2: expected 1..2 keys of integers of 8 bits or more, got 1}}
  %s = tile.sort %t axis 1 keys 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  tile.return
}

// -----

tile.kernel @sort_c3() attributes {dims = [], grid = []} {
  %t = arith.constant dense<1> : tensor<4x8xi32>
  // expected-error@+1 {{sort_c3: expected the types of the sources as results}}
  %s = tile.sort %t axis 1 keys 1 : (tensor<4x8xi32>) -> tensor<4x8xi64>
  tile.return
}

// -----

tile.kernel @histogram_c1() attributes {dims = [], grid = []} {
  %t = arith.constant dense<1> : tensor<4x8xi16>
  // expected-error@+1 {{histogram_c1: expected elements i32 or i64, got 'i16'}}
  %s = tile.histogram %t : tensor<4x8xi16> -> tensor<10xi32>
  tile.return
}

// -----

tile.kernel @histogram_c2() attributes {dims = [], grid = []} {
  %t = arith.constant dense<1> : tensor<4x8xi32>
  // expected-error@+1 {{histogram_c2: expected a vector of i32, got 'tensor<10xi64>'}}
  %s = tile.histogram %t : tensor<4x8xi32> -> tensor<10xi64>
  tile.return
}
