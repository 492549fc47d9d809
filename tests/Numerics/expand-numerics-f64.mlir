// RUN: tessera-opt %s -split-input-file -tile-expand-numerics | FileCheck %s
// RUN: tessera-opt %s -split-input-file -tile-expand-numerics=target=host | FileCheck %s

// The angle is reduced in integers, whatever its size: three words of 2/pi are chosen by the exponent, and the quadrant chooses between the two series.
// CHECK-LABEL: func.func @sine
// CHECK-NOT:   math.sin
// CHECK:       %[[SIZE:.*]] = math.absf %arg0
// CHECK:       arith.bitcast %[[SIZE]] : tensor<4xf64> to tensor<4xi64>
// CHECK:       arith.muli {{.*}} : tensor<4xi64>
// CHECK:       arith.constant dense<6.123233995736766{{.*}}E-17> : tensor<4xf64>
// CHECK:       math.fma
// CHECK:       %[[FINITE:.*]] = arith.cmpf olt, %{{.*}}, %{{.*}} : tensor<4xf64>
// CHECK:       arith.select %[[FINITE]]
func.func @sine(%x: tensor<4xf64>) -> tensor<4xf64> {
  %r = math.sin %x : tensor<4xf64>
  return %r : tensor<4xf64>
}

// -----

// CHECK-LABEL: func.func @error_function
// CHECK-NOT:   math.{{erf|exp}}
// CHECK:       arith.divf
// CHECK:       math.copysign %{{.*}}, %arg0 : f64
// CHECK:       return
func.func @error_function(%x: f64) -> f64 {
  %r = math.erf %x : f64
  return %r : f64
}

// -----

// One division, for the logarithm; 1 to any power and any power of 0 come last, over NaN.
// CHECK-LABEL: func.func @power
// CHECK-NOT:   math.{{powf|log|exp}}
// CHECK:       arith.divf
// CHECK-NOT:   arith.divf
// CHECK:       %[[ISONE:.*]] = arith.cmpf oeq, %arg0, %{{.*}} : f64
// CHECK:       arith.select %[[ISONE]]
// CHECK:       %[[ISZERO:.*]] = arith.cmpf oeq, %arg1, %{{.*}} : f64
// CHECK:       %[[R:.*]] = arith.select %[[ISZERO]]
// CHECK:       return %[[R]]
func.func @power(%x: f64, %y: f64) -> f64 {
  %r = math.powf %x, %y : f64
  return %r : f64
}
