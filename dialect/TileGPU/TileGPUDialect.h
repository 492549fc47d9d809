//===- TileGPUDialect.h - types and operations of the tile_gpu dialect ---------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The C++ side of TileGPUOps.td; Layouts.h builds and transforms its layouts.
//
#ifndef TESSERA_DIALECT_TILEGPU_TILEGPUDIALECT_H
#define TESSERA_DIALECT_TILEGPU_TILEGPUDIALECT_H

#include "dialect/Tile/TileDialect.h"

#include "dialect/TileGPU/TileGPUDialect.h.inc"
#include "dialect/TileGPU/TileGPUEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/TileGPU/TileGPUAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/TileGPU/TileGPUTypes.h.inc"
#define GET_OP_CLASSES
#include "dialect/TileGPU/TileGPUOps.h.inc"

#endif // TESSERA_DIALECT_TILEGPU_TILEGPUDIALECT_H
