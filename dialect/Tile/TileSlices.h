//===- TileSlices.h - rules that every slice of a view obeys ----------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// For the verifiers of ops that name a slice: those of this dialect, and those that take them over on GPUs.
//
#ifndef TESSERA_DIALECT_TILE_TILESLICES_H
#define TESSERA_DIALECT_TILE_TILESLICES_H

#include "dialect/Tile/TileDialect.h"

namespace tessera::tile {

/// slice_c1 to slice_c4: an index, a width and a step for each dimension of the view, and which of them go together.
mlir::LogicalResult verifySlice(mlir::Operation *op, ViewType view, mlir::OperandRange indices,
                                llvm::ArrayRef<int64_t> widths, llvm::ArrayRef<int64_t> steps);

} // namespace tessera::tile
#endif // TESSERA_DIALECT_TILE_TILESLICES_H
