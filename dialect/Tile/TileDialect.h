//===- TileDialect.h - types and operations of the tile dialect ----------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The C++ side of TileOps.td, which documents every operation and numbers every rule.
//
#ifndef TESSERA_DIALECT_TILE_TILEDIALECT_H
#define TESSERA_DIALECT_TILE_TILEDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace tessera::tile {

/// Names of argument attributes of a kernel; TileOps.td documents them.
inline constexpr llvm::StringLiteral kNameAttr = "tile.name", kModeAttr = "tile.mode", kDTypeAttr = "tile.dtype",
                                     kDimsAttr = "tile.dims", kAlignAttr = "tile.align", kUnitDimAttr = "tile.unit_dim",
                                     kStrideDivAttr = "tile.stride_div", kExtentDivAttr = "tile.extent_div",
                                     kClearAttr = "tile.clear", kCoordAttr = "tile.coord";

/// Global memory behind the parameters of a kernel: the resource that loads read and stores write.
struct GlobalMemory : public mlir::SideEffects::Resource::Base<GlobalMemory> {
  llvm::StringRef getName() final { return "tile.global"; }
};

/// Shape of the slice that `indices` and `widths` describe (see TileOps.td): widths, and the broadcast shape of the index tiles at the
/// place of the first.  Only for operands that passed the verifier.
llvm::SmallVector<int64_t> sliceShape(mlir::ValueRange indices, llvm::ArrayRef<int64_t> widths);

/// The kernel argument behind a view: follows `tile.subview` and the pool of `tile.paged` to its root.
mlir::BlockArgument rootParameter(mlir::Value view);

/// Whether a page table stands between the view and its parameter.
bool isPaged(mlir::Value view);

} // namespace tessera::tile

#include "dialect/Tile/TileDialect.h.inc"
#include "dialect/Tile/TileEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/Tile/TileTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/Tile/TileAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialect/Tile/TileOps.h.inc"

#endif // TESSERA_DIALECT_TILE_TILEDIALECT_H
