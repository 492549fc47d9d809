// RUN: not tessera-opt %s -tile-expand-numerics 2>&1 | FileCheck %s

// CHECK: error: T0503: 'sin' is not supported in f64 yet
// CHECK: error: T0503: 'erf' is not supported in f64 yet
func.func @missing(%x: f64) -> (f64, f64) {
  %a = math.sin %x : f64
  %b = math.erf %x : f64
  return %a, %b : f64, f64
}
