// RUN: tessera-opt %s -split-input-file -tile-to-host | FileCheck %s
// RUN: not tessera-opt %s -split-input-file -tile-to-host=fault=no-such-fault 2>&1 | FileCheck %s --check-prefix=FAULT

// FAULT: there is no fault 'no-such-fault'

// The chain of elementwise ops is computed where it is stored: one buffer for what is loaded, none for what is between.
// CHECK-LABEL: llvm.func @chain(%arg0: !llvm.ptr, %arg1: i64, %arg2: i64, %arg3: !llvm.ptr)
// CHECK-SAME:    tile.scratch_bytes = 320
// CHECK:       scf.for %{{.*}} = %arg1 to %arg2
// CHECK:         arith.mulf
// CHECK:         arith.addf
// CHECK:         llvm.store
// CHECK:       llvm.return
tile.kernel @chain(%x: !tile.view<?xf32> {tile.name = "x", tile.mode = "in", tile.dtype = "f32", tile.dims = ["N"]},
    %y: !tile.view<?xf32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = ["N"]}, %i: i64 {tile.coord = "i"})
    attributes {dims = ["N"], grid = [{name = "i", lo = "0", hi = "N", step = "64"}]} {
  %one = arith.constant dense<1.0> : tensor<64xf32>
  %v = tile.load %x[%i] widths [64] steps [1] : !tile.view<?xf32>[i64] -> tensor<64xf32>
  %s = arith.mulf %v, %v : tensor<64xf32>
  %t = arith.addf %s, %one : tensor<64xf32>
  tile.store %t, %y[%i] widths [64] steps [1] : tensor<64xf32>, !tile.view<?xf32>[i64]
  tile.return
}

// -----

// k outside n: each sum in order of k, the inner loop along n.
// CHECK-LABEL: llvm.func @product
// CHECK:       math.fma
tile.kernel @product(%x: !tile.view<8x8xf16> {tile.name = "x", tile.mode = "in", tile.dtype = "f16", tile.dims = ["8", "8"]},
    %y: !tile.view<8x8xf32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = ["8", "8"]}) attributes {dims = [], grid = []} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %a = tile.load %x[%c0, %c0] widths [8, 8] steps [1, 1] : !tile.view<8x8xf16>[i64, i64] -> tensor<8x8xf16>
  %d = tile.dot %a, %a, %zero : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf32>
  tile.store %d, %y[%c0, %c0] widths [8, 8] steps [1, 1] : tensor<8x8xf32>, !tile.view<8x8xf32>[i64, i64]
  tile.return
}
