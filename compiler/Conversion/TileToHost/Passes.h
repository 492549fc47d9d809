//===- Passes.h - tile IR to loops of the host ----------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
#ifndef TESSERA_COMPILER_CONVERSION_TILETOHOST_PASSES_H
#define TESSERA_COMPILER_CONVERSION_TILETOHOST_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace tessera {

/// On the function of a kernel: bytes of scratch a thread needs.
inline constexpr llvm::StringLiteral kScratchBytesAttr = "tile.scratch_bytes";

/// On a `tile.assert`: its number in KernelInfo::assertions, from 1.
inline constexpr llvm::StringLiteral kAssertionAttr = "tile.assertion";

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/Conversion/TileToHost/Passes.h.inc"

} // namespace tessera
#endif // TESSERA_COMPILER_CONVERSION_TILETOHOST_PASSES_H
