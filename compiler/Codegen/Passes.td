//===- Passes.td - passes of code generation ---------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// What still happens on the LLVM dialect, after the lowering and before the translation.
//
#ifndef TESSERA_COMPILER_CODEGEN_PASSES_TD
#define TESSERA_COMPILER_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttachDebugInfoPass : Pass<"attach-debug-info", "::mlir::ModuleOp"> {
  let summary = "Turn source locations into line information that survives the translation";
  let description = [{
    Needs: the LLVM dialect.  Gives: every function has a subprogram, every op a location whose frames (the innermost first) each name theirs; a called
    `fn` has a subprogram of its own, named by the name location around its frame where there is one.  Fused locations collapse to their first known part,
    unknown ones become the line of the function.  Line directives only (`.loc`, `.file`): no DWARF sections, and `.target` stays without `debug`.

    ```mlir
    llvm.add %a, %b : i32 loc(callsite("gelu"("lib/gelu.tile":2:7) at "attn.tile":10:5))
    ```
    ==>
    ```mlir
    llvm.add %a, %b : i32 loc(callsite(fused<#gelu>["lib/gelu.tile":2:7] at fused<#attn>["attn.tile":10:5]))
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif
