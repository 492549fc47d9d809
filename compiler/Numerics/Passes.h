//===- Passes.h - numerics before the fork between targets ----------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
#ifndef TESSERA_COMPILER_NUMERICS_PASSES_H
#define TESSERA_COMPILER_NUMERICS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tessera {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/Numerics/Passes.h.inc"
} // namespace tessera
#endif // TESSERA_COMPILER_NUMERICS_PASSES_H
