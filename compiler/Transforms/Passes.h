//===- Passes.h - passes of the GPU pipeline ------------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Passes.td documents each with its IR before and after.
//
#ifndef TESSERA_COMPILER_TRANSFORMS_PASSES_H
#define TESSERA_COMPILER_TRANSFORMS_PASSES_H

#include "dialect/TileGPU/TileGPUDialect.h"

#include "mlir/Pass/Pass.h"

namespace tessera {

/// Kernel attributes that the passes leave for each other and for the image.
/// What a tune block chose for a kernel; an option of the pass goes first.
inline constexpr llvm::StringLiteral kTunedWarpsAttr = "tile.tuned_warps", kTunedStagesAttr = "tile.tuned_stages";
inline constexpr llvm::StringLiteral kWarpsAttr = "tile_gpu.warps", kSharedBytesAttr = "tile_gpu.shared_bytes";

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/Transforms/Passes.h.inc"

} // namespace tessera
#endif // TESSERA_COMPILER_TRANSFORMS_PASSES_H
