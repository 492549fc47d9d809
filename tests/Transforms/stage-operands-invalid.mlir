// RUN: not tessera-opt %s -pass-pipeline='builtin.module(tile.kernel(tile-gpu-stage-operands))' 2>&1 | FileCheck %s

// A batch is no product that tensor cores know: refused with the place, before anything is rewritten.
// CHECK: stage-operands-invalid.mlir:[[#@LINE+5]]:{{[0-9]+}}: error: {{.*}}products with a batch dimension
tile.kernel @batch(%x: !tile.view<2x32x32xf16> {tile.name = "x", tile.mode = "in", tile.dtype = "f16", tile.dims = ["2", "32", "32"]}) attributes {dims = [], grid = []} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant dense<0.0> : tensor<2x32x32xf32>
  %a = tile.load %x[%c0, %c0, %c0] widths [2, 32, 32] steps [1, 1, 1] : !tile.view<2x32x32xf16>[i64, i64, i64] -> tensor<2x32x32xf16>
  %d = tile.dot %a, %a, %zero : tensor<2x32x32xf16>, tensor<2x32x32xf16> -> tensor<2x32x32xf32>
  tile.return
}
