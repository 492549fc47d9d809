// Every op of the tile dialect is read, verified, printed and read again, in the custom and in the generic form.
// RUN: tessera-opt %s --verify-roundtrip | FileCheck %s
// RUN: tessera-opt %s --mlir-print-op-generic | tessera-opt --verify-roundtrip | FileCheck %s

// CHECK-LABEL: tile.kernel @empty()
// CHECK-SAME: attributes {dims = [], grid = []}
tile.kernel @empty() attributes {dims = [], grid = []} {
  // CHECK: tile.return
  tile.return
}

// CHECK-LABEL: tile.kernel @parameters
// CHECK-SAME: !tile.view<?x64xbf16> {tile.align = 16 : i64, tile.dims = ["N", "64"], tile.dtype = "bf16", tile.extent_div = array<i64: 1, 64>, tile.mode = "in", tile.name = "x", tile.stride_div = array<i64: 8, 1>, tile.unit_dim = 1 : i64}
// CHECK-SAME: !tile.view<?xf32> {tile.clear, tile.dims = ["(+ N 1)"], tile.dtype = "f32", tile.mode = "accum", tile.name = "sum"}
// CHECK-SAME: f32 {tile.dtype = "f32", tile.name = "scale"}
// CHECK-SAME: i64 {tile.coord = "i"}
// CHECK-SAME: dims = ["N"]
// CHECK-SAME: grid = [{hi = "N", lo = "0", name = "i", step = "(ceildiv N 4)"}]
// CHECK-SAME: requirements = [{column = 12 : i64, cond = "(> scale 0)", line = 3 : i64, text = "scale > 0.0"}]
tile.kernel @parameters(
    %x: !tile.view<?x64xbf16> {tile.name = "x", tile.mode = "in", tile.dtype = "bf16", tile.dims = ["N", "64"], tile.align = 16 : i64, tile.unit_dim = 1 : i64,
                               tile.stride_div = array<i64: 8, 1>, tile.extent_div = array<i64: 1, 64>},
    %sum: !tile.view<?xf32> {tile.name = "sum", tile.mode = "accum", tile.dtype = "f32", tile.dims = ["(+ N 1)"], tile.clear},
    %scale: f32 {tile.name = "scale", tile.dtype = "f32"}, %i: i64 {tile.coord = "i"})
    attributes {dims = ["N"], grid = [{name = "i", lo = "0", hi = "N", step = "(ceildiv N 4)"}], params = [{name = "x", mode = "in", dtype = "bf16", present = true}],
                requirements = [{cond = "(> scale 0)", text = "scale > 0.0", line = 3 : i64, column = 12 : i64}]} {
  tile.return
}

// CHECK-LABEL: tile.kernel @views
tile.kernel @views(
    %q: !tile.view<?x?x?x64xf16> {tile.name = "q", tile.mode = "in", tile.dtype = "f16", tile.dims = ["B", "H", "N", "64"]},
    %seed: !tile.view<f32> {tile.name = "seed", tile.mode = "in", tile.dtype = "f32", tile.dims = []},
    %at: i64 {tile.name = "at", tile.dtype = "i64"}) attributes {dims = ["B", "H", "N"], grid = []} {
  // CHECK: tile.dim %{{.*}}, 2 : <?x?x?x64xf16>
  %n = tile.dim %q, 2 : !tile.view<?x?x?x64xf16>
  // CHECK: %[[V:.*]] = tile.subview %{{.*}}[%{{.*}}, %{{.*}}] kinds [0, 0, 1, 1] : <?x?x?x64xf16> -> <?x64xf16>
  %v = tile.subview %q[%at, %at] kinds [0, 0, 1, 1] : !tile.view<?x?x?x64xf16> -> !tile.view<?x64xf16>
  // CHECK: tile.subview %[[V]][%{{.*}}, %{{.*}}] kinds [2, 1] : <?x64xf16> -> <?x64xf16>
  %r = tile.subview %v[%at, %n] kinds [2, 1] : !tile.view<?x64xf16> -> !tile.view<?x64xf16>
  // CHECK: tile.load %{{.*}}[] widths [] steps [] : <f32> -> f32
  %s = tile.load %seed[] widths [] steps [] : !tile.view<f32> -> f32
  tile.return
}

// CHECK-LABEL: tile.kernel @slices
tile.kernel @slices(
    %x: !tile.view<?x?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["R", "C"]},
    %y: !tile.view<?x?xf32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = ["R", "C"]},
    %t: !tile.view<?xi32> {tile.name = "t", tile.mode = "inout", tile.dtype = "u32", tile.dims = ["R"]},
    %i: i64 {tile.coord = "i"}) attributes {dims = ["R", "C"], grid = [{name = "i", lo = "0", hi = "R", step = "4"}]} {
  %pad = arith.constant 0xFF800000 : f32
  // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}] widths [4, 24] steps [1, 2] : <?x?xf32>[i64, i64] -> tensor<4x24xf32>
  %a = tile.load %x[%i, %i] widths [4, 24] steps [1, 2] : !tile.view<?x?xf32>[i64, i64] -> tensor<4x24xf32>
  // CHECK: tile.load %{{.*}} widths [0, 24] steps [1, 1] pad %{{.*}} : <?x?xf32>[i64, i64] pad f32 -> tensor<24xf32>
  %b = tile.load %x[%i, %i] widths [0, 24] steps [1, 1] pad %pad : !tile.view<?x?xf32>[i64, i64] pad f32 -> tensor<24xf32>
  // CHECK: tile.load %{{.*}} widths [0, 0] steps [1, 1] : <?x?xf32>[i64, i64] -> f32
  %c = tile.load %x[%i, %i] widths [0, 0] steps [1, 1] : !tile.view<?x?xf32>[i64, i64] -> f32
  // CHECK: %[[AT:.*]] = tile.iota : tensor<4xi64>
  %at = tile.iota : tensor<4xi64>
  // CHECK: %[[COL:.*]] = tile.expand_dims %[[AT]], 1 : tensor<4xi64> -> tensor<4x1xi64>
  %col = tile.expand_dims %at, 1 : tensor<4xi64> -> tensor<4x1xi64>
  // CHECK: tile.load %{{.*}}[%[[COL]], %[[AT]]] widths [-1, -1] steps [1, 1] : <?x?xf32>[tensor<4x1xi64>, tensor<4xi64>] -> tensor<4x4xf32>
  %g = tile.load %x[%col, %at] widths [-1, -1] steps [1, 1] : !tile.view<?x?xf32>[tensor<4x1xi64>, tensor<4xi64>] -> tensor<4x4xf32>
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] widths [4, 24] steps [1, 1] : tensor<4x24xf32>, <?x?xf32>[i64, i64]
  tile.store %a, %y[%i, %i] widths [4, 24] steps [1, 1] : tensor<4x24xf32>, !tile.view<?x?xf32>[i64, i64]
  // CHECK: tile.store %{{.*}} widths [0, 0] steps [1, 1] : f32, <?x?xf32>[i64, i64]
  tile.store %c, %y[%i, %i] widths [0, 0] steps [1, 1] : f32, !tile.view<?x?xf32>[i64, i64]
  // CHECK: tile.inside %{{.*}} widths [4, 0] steps [1, 1] : <?x?xf32>[i64, i64] -> tensor<4xi1>
  %in = tile.inside %y[%i, %i] widths [4, 0] steps [1, 1] : !tile.view<?x?xf32>[i64, i64] -> tensor<4xi1>
  // CHECK: tile.inside %{{.*}} widths [0] steps [1] : <?xi32>[i64] -> i1
  %one = tile.inside %t[%i] widths [0] steps [1] : !tile.view<?xi32>[i64] -> i1
  // CHECK: tile.assert %{{.*}}, "rows" : tensor<4xi1>
  tile.assert %in, "rows" : tensor<4xi1>
  // CHECK: tile.assert %{{.*}}, "row" : i1
  tile.assert %one, "row" : i1
  tile.return
}

// CHECK-LABEL: tile.kernel @shapes
tile.kernel @shapes(%s: f32 {tile.name = "s", tile.dtype = "f32"}) attributes {dims = [], grid = []} {
  // CHECK: tile.broadcast %{{.*}} : f32 -> tensor<2x6xf32>
  %a = tile.broadcast %s : f32 -> tensor<2x6xf32>
  // CHECK: tile.expand_dims %{{.*}}, 0 : f32 -> tensor<1xf32>
  %e = tile.expand_dims %s, 0 : f32 -> tensor<1xf32>
  // CHECK: tile.broadcast %{{.*}} : tensor<1xf32> -> tensor<2x6xf32>
  %b = tile.broadcast %e : tensor<1xf32> -> tensor<2x6xf32>
  // CHECK: tile.reshape %{{.*}} : tensor<2x6xf32> -> tensor<3x4xf32>
  %r = tile.reshape %a : tensor<2x6xf32> -> tensor<3x4xf32>
  // CHECK: tile.reshape %{{.*}} : tensor<1xf32> -> f32
  %f = tile.reshape %e : tensor<1xf32> -> f32
  // CHECK: tile.permute %{{.*}} [1, 0] : tensor<2x6xf32> -> tensor<6x2xf32>
  %p = tile.permute %b [1, 0] : tensor<2x6xf32> -> tensor<6x2xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @reductions
tile.kernel @reductions(%f: f32 {tile.name = "f", tile.dtype = "f32"}, %n: i32 {tile.name = "n", tile.dtype = "u32"},
                        %t: i1 {tile.name = "t", tile.dtype = "bool"}) attributes {dims = [], grid = []} {
  %a = tile.broadcast %f : f32 -> tensor<4x8xf32>
  %i = tile.broadcast %n : i32 -> tensor<16xi32>
  %m = tile.broadcast %t : i1 -> tensor<16xi1>
  // CHECK: tile.reduce sum %{{.*}}, 1 : tensor<4x8xf32> -> tensor<4xf32>
  %0 = tile.reduce sum %a, 1 : tensor<4x8xf32> -> tensor<4xf32>
  // CHECK: tile.reduce product %{{.*}}, 0 : tensor<4x8xf32> -> tensor<8xf32>
  %1 = tile.reduce product %a, 0 : tensor<4x8xf32> -> tensor<8xf32>
  // CHECK: tile.reduce max %{{.*}}, 0 : tensor<4xf32> -> f32
  %2 = tile.reduce max %0, 0 : tensor<4xf32> -> f32
  // CHECK: tile.reduce min
  %3 = tile.reduce min %0, 0 : tensor<4xf32> -> f32
  // CHECK: tile.reduce maxnum
  %4 = tile.reduce maxnum %0, 0 : tensor<4xf32> -> f32
  // CHECK: tile.reduce minnum
  %5 = tile.reduce minnum %0, 0 : tensor<4xf32> -> f32
  // CHECK: tile.reduce maxu %{{.*}}, 0 : tensor<16xi32> -> i32
  %6 = tile.reduce maxu %i, 0 : tensor<16xi32> -> i32
  // CHECK: tile.reduce minu
  %7 = tile.reduce minu %i, 0 : tensor<16xi32> -> i32
  // CHECK: tile.reduce xor
  %8 = tile.reduce xor %i, 0 : tensor<16xi32> -> i32
  // CHECK: tile.reduce and %{{.*}}, 0 : tensor<16xi1> -> i1
  %9 = tile.reduce and %m, 0 : tensor<16xi1> -> i1
  // CHECK: tile.reduce or
  %10 = tile.reduce or %m, 0 : tensor<16xi1> -> i1
  tile.return
}

// CHECK-LABEL: tile.kernel @products
tile.kernel @products(%h: bf16 {tile.name = "h", tile.dtype = "bf16"}, %f: f32 {tile.name = "f", tile.dtype = "f32"},
                      %c: i8 {tile.name = "c", tile.dtype = "u8"}, %n: i32 {tile.name = "n", tile.dtype = "i32"}) attributes {dims = [], grid = []} {
  %a = tile.broadcast %h : bf16 -> tensor<16x24xbf16>
  %b = tile.broadcast %h : bf16 -> tensor<24x8xbf16>
  %acc = tile.broadcast %f : f32 -> tensor<16x8xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<16x24xbf16>, tensor<24x8xbf16> -> tensor<16x8xf32>
  %0 = tile.dot %a, %b, %acc : tensor<16x24xbf16>, tensor<24x8xbf16> -> tensor<16x8xf32>
  %d = tile.broadcast %f : f32 -> tensor<3x16x8xf32>
  %e = tile.broadcast %f : f32 -> tensor<3x8x16xf32>
  %g = tile.broadcast %f : f32 -> tensor<3x16x16xf32>
  // CHECK: tile.dot {{.*}}precision = #tile<precision tf32>
  %1 = tile.dot %d, %e, %g {precision = #tile<precision tf32>} : tensor<3x16x8xf32>, tensor<3x8x16xf32> -> tensor<3x16x16xf32>
  %u = tile.broadcast %c : i8 -> tensor<16x16xi8>
  %w = tile.broadcast %n : i32 -> tensor<16x16xi32>
  // CHECK: tile.dot {{.*}}{unsigned_a} : tensor<16x16xi8>
  %2 = tile.dot %u, %u, %w {unsigned_a} : tensor<16x16xi8>, tensor<16x16xi8> -> tensor<16x16xi32>
  tile.return
}

// CHECK-LABEL: tile.kernel @numerics
tile.kernel @numerics(%f: f32 {tile.name = "f", tile.dtype = "f32"}, %n: i32 {tile.name = "n", tile.dtype = "i32"}) attributes {dims = [], grid = []} {
  %a = tile.broadcast %f : f32 -> tensor<8xf32>
  // CHECK: tile.convert %{{.*}} {to_unsigned} : tensor<8xf32> -> tensor<8xi8>
  %0 = tile.convert %a {to_unsigned} : tensor<8xf32> -> tensor<8xi8>
  // CHECK: tile.convert %{{.*}} {saturate} : i32 -> i8
  %1 = tile.convert %n {saturate} : i32 -> i8
  // CHECK: tile.convert %{{.*}} {from_unsigned} : i8 -> f16
  %2 = tile.convert %1 {from_unsigned} : i8 -> f16
  // CHECK: tile.convert %{{.*}} {ieee_overflow} : f32 -> f8E5M2
  %3 = tile.convert %f {ieee_overflow} : f32 -> f8E5M2
  // CHECK: tile.div %{{.*}}, %{{.*}} : i32
  %4 = tile.div %n, %n : i32
  // CHECK: tile.rem %{{.*}}, %{{.*}} {is_unsigned} : i32
  %5 = tile.rem %n, %n {is_unsigned} : i32
  // CHECK: tile.ceildiv %{{.*}}, %{{.*}} : i32
  %6 = tile.ceildiv %n, %n : i32
  // CHECK: tile.shl %{{.*}}, %{{.*}} : i32
  %7 = tile.shl %n, %n : i32
  // CHECK: tile.shr %{{.*}}, %{{.*}} {is_unsigned} : i32
  %8 = tile.shr %n, %n {is_unsigned} : i32
  tile.return
}

// CHECK-LABEL: tile.kernel @sums_over_programs
tile.kernel @sums_over_programs(
    %s: !tile.view<?xf32> {tile.name = "s", tile.mode = "accum", tile.dtype = "f32", tile.dims = ["N"]},
    %c: !tile.view<?xi32> {tile.name = "c", tile.mode = "inout", tile.dtype = "i32", tile.dims = ["N"]},
    %f: f32 {tile.name = "f", tile.dtype = "f32"}, %n: i32 {tile.name = "n", tile.dtype = "i32"}, %i: i64 {tile.name = "i", tile.dtype = "i64"})
    attributes {dims = ["N"], grid = []} {
  %t = tile.broadcast %f : f32 -> tensor<8xf32>
  // CHECK: tile.accumulate %{{.*}}, %{{.*}}[%{{.*}}] widths [8] steps [1] : tensor<8xf32>, <?xf32>[i64]
  tile.accumulate %t, %s[%i] widths [8] steps [1] : tensor<8xf32>, !tile.view<?xf32>[i64]
  // CHECK: tile.atomic add %{{.*}}, %{{.*}}[%{{.*}}] widths [0] steps [1] order relaxed : i32, <?xi32>[i64] -> i32
  %0 = tile.atomic add %n, %c[%i] widths [0] steps [1] order relaxed : i32, !tile.view<?xi32>[i64] -> i32
  // CHECK: tile.atomic cas %{{.*}} if %{{.*}}, %{{.*}}[%{{.*}}] widths [0] steps [1] order acq_rel : i32 if i32, <?xi32>[i64] -> i32
  %1 = tile.atomic cas %n if %0, %c[%i] widths [0] steps [1] order acq_rel : i32 if i32, !tile.view<?xi32>[i64] -> i32
  %many = tile.broadcast %n : i32 -> tensor<8xi32>
  %places = tile.iota : tensor<8xi64>
  // CHECK: tile.atomic max %{{.*}}, %{{.*}}[%{{.*}}] widths [-1] steps [1] order release pad %{{.*}} unsigned : tensor<8xi32>, <?xi32>[tensor<8xi64>] pad i32 -> tensor<8xi32>
  %2 = tile.atomic max %many, %c[%places] widths [-1] steps [1] order release pad %n unsigned : tensor<8xi32>, !tile.view<?xi32>[tensor<8xi64>] pad i32 -> tensor<8xi32>
  tile.return
}

// CHECK-LABEL: tile.kernel @sequences
tile.kernel @sequences() attributes {dims = [], grid = []} {
  %t = arith.constant dense<1.0> : tensor<4x8xf32>
  // CHECK: tile.scan sum %{{.*}}, 1 : tensor<4x8xf32>
  %0 = tile.scan sum %t, 1 : tensor<4x8xf32>
  // CHECK: tile.scan max %{{.*}}, 0 reverse : tensor<4x8xf32>
  %1 = tile.scan max %t, 0 reverse : tensor<4x8xf32>
  // CHECK: tile.reduce_by %{{.*}}, %{{.*}} axis 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: tile.yield %{{.*}}, %{{.*}} : f32, f32
  %r:2 = tile.reduce_by %t, %t axis 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %e = arith.addf %a, %d : f32
    tile.yield %e, %b : f32, f32
  }
  %words = arith.constant dense<3> : tensor<4x8xi32>
  // CHECK: tile.histogram %{{.*}} : tensor<4x8xi32> -> tensor<10xi32>
  %bins = tile.histogram %words : tensor<4x8xi32> -> tensor<10xi32>
  // CHECK: tile.scan_by %{{.*}} axis 0 reverse : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = tile.scan_by %t axis 0 reverse : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%a: f32, %b: f32):
    %e = arith.mulf %a, %b : f32
    tile.yield %e : f32
  }
  %k = arith.constant dense<7> : tensor<4x8xi32>
  // CHECK: tile.sort %{{.*}}, %{{.*}} axis 1 keys 1 : (tensor<4x8xi32>, tensor<4x8xf32>) -> (tensor<4x8xi32>, tensor<4x8xf32>)
  %q:2 = tile.sort %k, %t axis 1 keys 1 : (tensor<4x8xi32>, tensor<4x8xf32>) -> (tensor<4x8xi32>, tensor<4x8xf32>)
  // CHECK: tile.concat %{{.*}}, %{{.*}}, 0 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
  %2 = tile.concat %0, %1, 0 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
  // CHECK: tile.extract %{{.*}} at [1, 2] widths [0, 3] steps [1, 2] : tensor<4x8xf32> -> tensor<3xf32>
  %3 = tile.extract %0 at [1, 2] widths [0, 3] steps [1, 2] : tensor<4x8xf32> -> tensor<3xf32>
  // CHECK: tile.extract %{{.*}} at [2] widths [0] steps [1] : tensor<3xf32> -> f32
  %4 = tile.extract %3 at [2] widths [0] steps [1] : tensor<3xf32> -> f32
  tile.return
}

// CHECK-LABEL: tile.kernel @pages
tile.kernel @pages(%p: !tile.view<?x16x8xf32> {tile.name = "p", tile.mode = "in", tile.dtype = "f32", tile.dims = ["N", "16", "8"]}, %t: !tile.view<?xi32> {tile.name = "t", tile.mode = "in", tile.dtype = "i32", tile.dims = ["W"]}, %n: i64 {tile.name = "n", tile.dtype = "i64"}) attributes {dims = ["N", "W"], grid = []} {
  // CHECK: tile.paged %{{.*}}, %{{.*}}, %{{.*}} : <?x16x8xf32>, <?xi32> -> <?x8xf32>
  %v = tile.paged %p, %t, %n : !tile.view<?x16x8xf32>, !tile.view<?xi32> -> !tile.view<?x8xf32>
  tile.return
}
