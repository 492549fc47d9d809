// RUN: tessera-opt %s --attach-debug-info --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// The chain of a function called in a function called in a kernel: three frames, each with the subprogram of its own function.
// CHECK-LABEL: llvm.func @chain
// CHECK: llvm.fadd
// CHECK-SAME: callsite(fused<#llvm.di_subprogram<{{.*}}name = "deep"{{.*}}>["lib/deep.tile":7:9] at callsite(fused<#llvm.di_subprogram<{{.*}}name = "gelu"{{.*}}>["lib/gelu.tile":2:7] at fused<#llvm.di_subprogram<{{.*}}name = "chain"{{.*}}>["attn.tile":10:5]))
// A fused location collapses to its first known part.
// CHECK: llvm.fmul
// CHECK-SAME: name = "chain"
// CHECK-SAME: ["attn.tile":11:3])
// CHECK-NOT: "attn.tile":12:3
// An unknown one becomes the line of the kernel.
// CHECK: llvm.fsub
// CHECK-SAME: ["attn.tile":3:1])
// CHECK: emissionKind = DebugDirectivesOnly
llvm.func @chain(%f: f32) -> f32 {
  %a = llvm.fadd %f, %f : f32 loc(callsite(callsite("deep"("lib/deep.tile":7:9) at "gelu"("lib/gelu.tile":2:7)) at "attn.tile":10:5))
  %b = llvm.fmul %a, %f : f32 loc(fused[unknown, "attn.tile":11:3, "attn.tile":12:3])
  %c = llvm.fsub %b, %a : f32 loc(unknown)
  llvm.return %c : f32 loc("attn.tile":14:1)
} loc("attn.tile":3:1)

// A declaration has no lines.
// CHECK-LABEL: llvm.func @declared
// CHECK-NOT: name = "declared"
llvm.func @declared(f32) loc("attn.tile":20:1)
