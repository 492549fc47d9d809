//===- Passes.h - passes of code generation -------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Passes.td documents each with its IR before and after.
//
#ifndef TESSERA_COMPILER_CODEGEN_PASSES_H
#define TESSERA_COMPILER_CODEGEN_PASSES_H

#include "mlir/Pass/Pass.h"

namespace tessera {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/Codegen/Passes.h.inc"

} // namespace tessera
#endif // TESSERA_COMPILER_CODEGEN_PASSES_H
