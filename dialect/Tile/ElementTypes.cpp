//===- ElementTypes.cpp - the table of operations for types of the IR ------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "dialect/Tile/ElementTypes.h"

using namespace mlir;

namespace tessera::tile {

TypeSet typesOf(Type element) {
  if (isa<Float8E4M3FNType>(element))
    return kF8E4M3;
  if (isa<Float8E5M2Type>(element))
    return kF8E5M2;
  if (element.isF16() || element.isBF16())
    return element.isF16() ? kF16 : kBF16;
  if (element.isF32() || element.isF64())
    return element.isF32() ? kF32 : kF64;
  if (!element.isSignlessInteger())
    return kNone;
  switch (element.getIntOrFloatBitWidth()) {
  case 1:
    return kBool;
  case 8:
    return kI8 | kU8;
  case 16:
    return kI16 | kU16;
  case 32:
    return kI32 | kU32;
  case 64:
    return kI64 | kU64;
  default:
    return kNone;
  }
}

bool worksOn(std::string_view operation, Type element) {
  const Operation *entry = findOperation(operation);
  return entry && (entry->types & typesOf(element)) != 0;
}

} // namespace tessera::tile
