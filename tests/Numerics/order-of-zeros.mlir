// RUN: tessera-opt %s '-tile-expand-numerics=target=host' | FileCheck %s
// RUN: tessera-opt %s '-tile-expand-numerics=target=gpu' | FileCheck %s --check-prefix=GPU

// minnum and maxnum order -0 below +0 on every target.  x86 has no instruction that does; PTX has.
// CHECK-LABEL: tile.kernel @zeros
// CHECK-DAG:   arith.minimumf
// CHECK-DAG:   arith.maximumf
// CHECK-NOT:   arith.m{{ax|in}}numf
// GPU-LABEL:   tile.kernel @zeros
// GPU:         arith.minnumf
// GPU:         arith.maxnumf
tile.kernel @zeros(%a: f32 {tile.name = "a", tile.dtype = "f32"}, %b: f32 {tile.name = "b", tile.dtype = "f32"},
    %y: !tile.view<2xf32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = ["2"]}) attributes {dims = [], grid = []} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %0 = arith.minnumf %a, %b : f32
  %1 = arith.maxnumf %a, %b : f32
  tile.store %0, %y[%c0] widths [0] steps [1] : f32, !tile.view<2xf32>[i64]
  tile.store %1, %y[%c1] widths [0] steps [1] : f32, !tile.view<2xf32>[i64]
  tile.return
}
