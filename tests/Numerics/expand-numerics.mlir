// RUN: tessera-opt %s -split-input-file -tile-expand-numerics | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: tessera-opt %s -split-input-file -tile-expand-numerics=target=host | FileCheck %s --check-prefixes=CHECK,HOST
// RUN: tessera-opt %s -split-input-file -tile-expand-numerics=fp8-products=true | FileCheck %s --check-prefixes=CHECK,FP8

// Division never sees 0 or MIN / -1: the divisor is replaced first, the result selected after.
// CHECK-LABEL: func.func @divide
// CHECK-NOT:   tile.div
// CHECK:       %[[ZERO:.*]] = arith.cmpi eq, %arg1, %{{.*}} : tensor<4xi32>
// CHECK:       %[[ONE:.*]] = arith.cmpi eq, %arg1, %{{.*}} : tensor<4xi32>
// CHECK:       %[[BAD:.*]] = arith.ori %[[ZERO]], %[[ONE]]
// CHECK:       %[[SAFE:.*]] = arith.select %[[BAD]], %{{.*}}, %arg1
// CHECK:       arith.divsi %arg0, %[[SAFE]]
func.func @divide(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %r = tile.div %x, %y : tensor<4xi32>
  return %r : tensor<4xi32>
}

// -----

// By a power of two: a shift and a mask, which round down below 0 too.
// CHECK-LABEL: func.func @divide_by_eight
// CHECK-NOT:   arith.div
// CHECK:       arith.shrsi %arg0
// CHECK:       arith.andi %arg0
func.func @divide_by_eight(%x: i64) -> (i64, i64) {
  %c8 = arith.constant 8 : i64
  %q = tile.div %x, %c8 : i64
  %r = tile.rem %x, %c8 : i64
  return %q, %r : i64, i64
}

// -----

// CHECK-LABEL: func.func @shift
// CHECK:       %[[OUT:.*]] = arith.cmpi uge, %arg1
// CHECK:       %[[SAFE:.*]] = arith.select %[[OUT]], %{{.*}}, %arg1
// CHECK:       arith.shli %arg0, %[[SAFE]]
func.func @shift(%x: i32, %n: i32) -> i32 {
  %r = tile.shl %x, %n : i32
  return %r : i32
}

// -----

// Float to integer: saturates, NaN is 0.
// CHECK-LABEL: func.func @to_integer
// CHECK-DAG:   arith.cmpf oge, %arg0
// CHECK-DAG:   arith.cmpf olt, %arg0
// CHECK-DAG:   arith.cmpf uno, %arg0, %arg0
// CHECK:       arith.fptosi
func.func @to_integer(%x: f32) -> i32 {
  %r = tile.convert %x : f32 -> i32
  return %r : i32
}

// -----

// The host has no instruction for f32 -> bf16; the GPU keeps its own.
// CHECK-LABEL: func.func @to_bf16
// GPU:         arith.truncf %arg0 : f32 to bf16
// HOST-NOT:    arith.truncf %arg0 : f32 to bf16
// HOST:        arith.trunci %{{.*}} : i32 to i16
func.func @to_bf16(%x: f32) -> bf16 {
  %r = tile.convert %x : f32 -> bf16
  return %r : bf16
}

// -----

// f64 -> f16 rounds once: to odd first.
// CHECK-LABEL: func.func @twice
// CHECK:       arith.truncf %arg0 : f64 to f32
// CHECK:       arith.extf
// CHECK:       arith.truncf %{{.*}} : f32 to f16
func.func @twice(%x: f64) -> f16 {
  %r = tile.convert %x : f64 -> f16
  return %r : f16
}

// -----

// fp8 in integers, on every target.
// CHECK-LABEL: func.func @eight
// CHECK-NOT:   arith.truncf
// CHECK:       arith.bitcast %{{.*}} : tensor<8xi8> to tensor<8xf8E4M3FN>
// CHECK-NOT:   arith.extf
// CHECK:       return
func.func @eight(%x: tensor<8xf32>) -> (tensor<8xf8E4M3FN>, tensor<8xf32>) {
  %r = tile.convert %x : tensor<8xf32> -> tensor<8xf8E4M3FN>
  %s = tile.convert %r : tensor<8xf8E4M3FN> -> tensor<8xf32>
  return %r, %s : tensor<8xf8E4M3FN>, tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @functions
// CHECK-NOT:   math.exp %
// CHECK-NOT:   math.tanh
// CHECK-NOT:   math.sin
// GPU:         math.exp2 {{.*}} : tensor<4xf32>
// HOST-NOT:    math.exp2
// GPU:         math.rsqrt {{.*}} : f32
// HOST-NOT:    math.rsqrt
// CHECK:       return
func.func @functions(%x: tensor<4xf32>, %s: f32) -> (tensor<4xf32>, f32) {
  %a = math.exp %x : tensor<4xf32>
  %b = math.tanh %a : tensor<4xf32>
  %c = math.sin %b : tensor<4xf32>
  %d = math.exp2 %c : tensor<4xf32>
  %e = math.rsqrt %s : f32
  return %d, %e : tensor<4xf32>, f32
}

// -----

// Arithmetic of narrow floats on the host: in f32, rounded once.
// CHECK-LABEL: func.func @narrow
// GPU:         arith.addf %arg0, %arg1 : f16
// HOST:        %[[A:.*]] = arith.extf %arg0 : f16 to f32
// HOST:        %[[B:.*]] = arith.extf %arg1 : f16 to f32
// HOST:        %[[C:.*]] = arith.addf %[[A]], %[[B]] : f32
// HOST:        arith.truncf %[[C]] : f32 to f16
func.func @narrow(%x: f16, %y: f16) -> f16 {
  %r = arith.addf %x, %y : f16
  return %r : f16
}

// -----

// What is exact already stays.
// CHECK-LABEL: func.func @exact
// CHECK-NEXT:  math.sqrt
// CHECK-NEXT:  math.floor
// CHECK-NEXT:  math.fma
// CHECK-NEXT:  return
func.func @exact(%x: f32) -> f32 {
  %a = math.sqrt %x : f32
  %b = math.floor %a : f32
  %c = math.fma %a, %b, %x : f32
  return %c : f32
}

// -----

// GPUs have no fp8 here but bytes in memory and registers; operands of products are f16, or bytes where the GPU multiplies those.
// CHECK-LABEL: tile.kernel @eight_bit_product
// GPU-SAME:    !tile.view<16x16xi8>
// FP8-SAME:    !tile.view<16x16xi8>
// HOST-SAME:   !tile.view<16x16xf8E4M3FN>
// GPU:         tile.load {{.*}} -> tensor<16x16xi8>
// FP8:         tile.dot {{.*}}{bytes_of = f8E4M3FN} : tensor<16x16xi8>, tensor<16x16xi8> -> tensor<16x16xf32>
// GPU:         tile.dot {{.*}} : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
// HOST:        tile.dot {{.*}} : tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN> -> tensor<16x16xf32>
tile.kernel @eight_bit_product(%x: !tile.view<16x16xf8E4M3FN> {tile.name = "x", tile.mode = "in", tile.dtype = "f8e4m3", tile.dims = ["16", "16"]},
    %y: !tile.view<16x16xf32> {tile.name = "y", tile.mode = "out", tile.dtype = "f32", tile.dims = ["16", "16"]}) attributes {dims = [], grid = []} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %a = tile.load %x[%c0, %c0] widths [16, 16] steps [1, 1] : !tile.view<16x16xf8E4M3FN>[i64, i64] -> tensor<16x16xf8E4M3FN>
  %d = tile.dot %a, %a, %zero : tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN> -> tensor<16x16xf32>
  tile.store %d, %y[%c0, %c0] widths [16, 16] steps [1, 1] : tensor<16x16xf32>, !tile.view<16x16xf32>[i64, i64]
  tile.return
}
