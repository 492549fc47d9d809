//===- Passes.td - numerics before the fork between targets ------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
#ifndef TESSERA_COMPILER_NUMERICS_PASSES_TD
#define TESSERA_COMPILER_NUMERICS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandNumericsPass : Pass<"tile-expand-numerics", "::mlir::ModuleOp"> {
  let summary = "Spell out functions, conversions and integer rules in arithmetic that every target computes alike";
  let description = [{
    Needs: tile IR, scalars or tiles alike.  Gives: no `tile.convert`, `tile.div`, `tile.rem`, `tile.ceildiv`, `tile.shl`, `tile.shr`; of `math` only what each
    target has exactly (fma, floor, ceil, roundeven, trunc, absf, sqrt, copysign) and, for the GPU, `exp2` and `rsqrt` on f32, whose hardware forms are
    within 2 ulp.  For the host also no arithmetic on f16 and bf16, which is computed in f32 and rounded once; for the GPU no fp8 types in
    kernels: such values are bytes, and operands of products f16, unless `fp8-products` says that the GPU multiplies the bytes.  No result is undefined: every division,
    shift and conversion is guarded.  Leaves alone: everything that is exact already.

    ```mlir
    %q = tile.div %a, %b : i64
    ```
    ==>
    ```mlir
    %z = arith.cmpi eq, %b, %c0 : i64      // x / 0 = 0, MIN / -1 wraps, floor
    ...
    ```
  }];
  let options = [Option<"target", "target", "std::string", "\"gpu\"", "gpu or host">,
                 Option<"eightBitProducts", "fp8-products", "bool", "false", "the GPU multiplies fp8: operands of products stay bytes">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

#endif // TESSERA_COMPILER_NUMERICS_PASSES_TD
