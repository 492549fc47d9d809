//===- ElementTypes.h - the table of operations for types of the IR --------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The IR's integers have no sign, so an operation works on `i8` if it works on one of i8 and u8 of the language.
//
#ifndef TESSERA_DIALECT_TILE_ELEMENTTYPES_H
#define TESSERA_DIALECT_TILE_ELEMENTTYPES_H

#include "dialect/Operations/Operations.h"

#include "mlir/IR/BuiltinTypes.h"

namespace tessera::tile {

/// The element types of the language that `element` may stand for.
TypeSet typesOf(mlir::Type element);
/// Whether the operation of that name in the table works on `element`.
bool worksOn(std::string_view operation, mlir::Type element);

} // namespace tessera::tile
#endif // TESSERA_DIALECT_TILE_ELEMENTTYPES_H
