//===- TileDialect.cpp - registration and types of the tile dialect ------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "dialect/Tile/TileDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera::tile;

#include "dialect/Tile/TileDialect.cpp.inc"
#include "dialect/Tile/TileEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/Tile/TileTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/Tile/TileAttrs.cpp.inc"

void TileDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/Tile/TileTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/Tile/TileAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/Tile/TileOps.cpp.inc"
      >();
}

// `<` dimension-list element-type `>`, as in a tensor type.
Type ViewType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/true) || parser.parseType(element) ||
      parser.parseGreater())
    return {};
  return ViewType::getChecked([&] { return parser.emitError(place); }, parser.getContext(), shape, element);
}

void ViewType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t extent : getShape()) {
    if (ShapedType::isDynamic(extent))
      printer << '?';
    else
      printer << extent;
    printer << 'x';
  }
  printer << getElementType() << '>';
}

LogicalResult ViewType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape,
                               Type elementType) {
  // view_c1
  if (!elementType || !(elementType.isSignlessInteger() || isa<FloatType>(elementType)))
    return emitError() << "view_c1: expected a signless integer or float element type, got " << elementType;
  // view_c2
  for (int64_t extent : shape)
    if (!ShapedType::isDynamic(extent) && extent < 0)
      return emitError() << "view_c2: expected extents of at least 0, got " << extent;
  return success();
}
