//===- Specialize.h - a syntax tree and bindings -> tile IR --------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A typed walk over a kernel with its compile-time parameters known: constants fold, `if` on constants picks a branch,
// functions are inlined with their call sites as locations, variables become SSA.  What remains are tiles, scalars and
// views of static type.
//
#ifndef TESSERA_COMPILER_FRONTEND_SPECIALIZE_H
#define TESSERA_COMPILER_FRONTEND_SPECIALIZE_H

#include "compiler/Driver/Compiler.h"
#include "compiler/Frontend/AST.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tessera {

/// On a `tile.kernel` that is a step of an op: the kernel's name in the source.
inline constexpr llvm::StringLiteral kStepOfAttr = "tile.step_of";

/// Emits one verified `tile.kernel` for each of `kernels` of `file`, which was parsed without errors, under `options`
/// (bindings, tensor facts).  An op among them becomes kernels for its steps, which follow the others, and an entry of
/// `ops`, whose steps count the module's kernels from 0.  Errors and warnings go to `diagnostics` in source order; null after an error.  Never
/// aborts on what a program says.  Loads the dialects it needs into `context`.
mlir::OwningOpRef<mlir::ModuleOp> specialize(const ast::File &file, llvm::ArrayRef<std::string> kernels,
                                             const CompileOptions &options, mlir::MLIRContext &context,
                                             std::vector<Diagnostic> &diagnostics, std::vector<OpInfo> *ops = nullptr);

/// Whether every compile-time parameter of `kernel` has a default, a binding, or a tensor fact that binds it.
bool isFullyBound(const ast::Kernel &kernel, const CompileOptions &options);

} // namespace tessera
#endif // TESSERA_COMPILER_FRONTEND_SPECIALIZE_H
