//===- TileGPUDialect.cpp - registration, attributes and types of tile_gpu ------------ SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "dialect/TileGPU/TileGPUDialect.h"
#include "dialect/TileGPU/Layouts.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera::tile_gpu;

#include "dialect/TileGPU/TileGPUDialect.cpp.inc"
#include "dialect/TileGPU/TileGPUEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/TileGPU/TileGPUAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/TileGPU/TileGPUTypes.cpp.inc"

namespace {
/// Short names for layouts in printed IR.
struct LayoutAliases : public OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (isa<DistAttr>(attr))
      os << "dist";
    else if (isa<SharedAttr>(attr))
      os << "shared";
    else
      return AliasResult::NoAlias;
    return AliasResult::FinalAlias;
  }
};
} // namespace

void TileGPUDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/TileGPU/TileGPUAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/TileGPU/TileGPUTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/TileGPU/TileGPUOps.cpp.inc"
      >();
  addInterfaces<LayoutAliases>();
}

LogicalResult TileGPUDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != "tile_gpu.warps")
    return success();
  auto warps = dyn_cast<IntegerAttr>(attribute.getValue());
  if (!warps || !warps.getType().isInteger(64) || warps.getInt() < 1 || warps.getInt() > 32 ||
      !llvm::isPowerOf2_64(uint64_t(warps.getInt())))
    return op->emitOpError() << "warps_c1: expected tile_gpu.warps to be an i64, a power of two from 1 to 32, got "
                             << attribute.getValue();
  return success();
}

//===----------------------------------------------------------------------===//
// dist
//===----------------------------------------------------------------------===//

/// `[[a, b], [c, d]]` appended flat to `flat`; `rank` is set by the first basis and must hold for all.
static ParseResult parseBases(AsmParser &parser, SmallVectorImpl<int64_t> &flat, int64_t &rank) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    int64_t count = 0;
    SMLoc place = parser.getCurrentLocation();
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
          ++count;
          return parser.parseInteger(flat.emplace_back());
        }))
      return failure();
    if (rank >= 0 && count != rank)
      return parser.emitError(place) << "dist_c1: expected " << rank << " components in a basis, got " << count;
    rank = count;
    return success();
  });
}

Attribute DistAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> registers, lanes, warps, reps;
  int64_t rank = -1;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword("register") || parser.parseEqual() ||
      parseBases(parser, registers, rank) || parser.parseComma() || parser.parseKeyword("lane") ||
      parser.parseEqual() || parseBases(parser, lanes, rank) || parser.parseComma() || parser.parseKeyword("warp") ||
      parser.parseEqual() || parseBases(parser, warps, rank) || parser.parseComma() || parser.parseKeyword("reps") ||
      parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&]() -> ParseResult { return parser.parseInteger(reps.emplace_back()); }) ||
      parser.parseGreater())
    return {};
  if (rank >= 0 && int64_t(reps.size()) != rank) {
    parser.emitError(place) << "dist_c1: expected " << rank << " repetitions, got " << reps.size();
    return {};
  }
  return DistAttr::getChecked([&] { return parser.emitError(place); }, parser.getContext(), registers, lanes, warps,
                              reps);
}

static void printBases(AsmPrinter &printer, ArrayRef<int64_t> flat, size_t rank) {
  printer << '[';
  for (size_t i = 0; i + rank <= flat.size(); i += rank) {
    printer << (i ? ", [" : "[");
    llvm::interleaveComma(flat.slice(i, rank), printer);
    printer << ']';
  }
  printer << ']';
}

void DistAttr::print(AsmPrinter &printer) const {
  size_t rank = getReps().size();
  printer << "<register = ";
  printBases(printer, getRegisters(), rank);
  printer << ", lane = ";
  printBases(printer, getLanes(), rank);
  printer << ", warp = ";
  printBases(printer, getWarps(), rank);
  printer << ", reps = [";
  llvm::interleaveComma(getReps(), printer);
  printer << "]>";
}

LogicalResult DistAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> registers,
                               ArrayRef<int64_t> lanes, ArrayRef<int64_t> warps, ArrayRef<int64_t> reps) {
  size_t rank = reps.size();
  if (rank == 0 || registers.size() % rank || lanes.size() % rank || warps.size() % rank)
    return emitError() << "dist_c1: expected bases of rank " << rank;
  if (lanes.size() / rank != size_t(kLaneBits))
    return emitError() << "dist_c2: expected 5 lane bases, got " << lanes.size() / rank;
  if (llvm::any_of(reps, [](int64_t rep) { return rep < 1; }))
    return emitError() << "dist_c3: expected repetitions of at least 1";
  SmallVector<int64_t> bits(rank, 0);
  for (ArrayRef<int64_t> flat : {registers, lanes, warps})
    for (size_t i = 0; i < flat.size(); i += rank) {
      int nonzero = 0;
      for (size_t d = 0; d < rank; ++d) {
        int64_t v = flat[i + d];
        if (v == 0)
          continue;
        if (v < 0 || (v & (v - 1)) || (bits[d] & v) || ++nonzero > 1)
          return emitError() << "dist_c4: expected distinct powers of two along one dimension each";
        bits[d] |= v;
      }
    }
  for (int64_t mask : bits)
    if (mask & (mask + 1))
      return emitError() << "dist_c4: expected bases that fill their block, got bits " << mask;
  return success();
}

LogicalResult SharedAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> order, int64_t pitch,
                                 int64_t mask, int64_t shift) {
  SmallVector<bool> seen(order.size(), false);
  for (int64_t d : order) {
    if (d < 0 || d >= int64_t(order.size()) || seen[d])
      return emitError() << "shared_c1: expected a permutation of " << order.size() << " dimensions";
    seen[d] = true;
  }
  if (pitch <= 0)
    return emitError() << "shared_c2: expected a positive pitch, got " << pitch;
  if ((mask != 0 && mask != 1 && mask != 3 && mask != 7) || shift < 0 || shift > 3)
    return emitError() << "shared_c3: expected a mask of 0, 1, 3 or 7 and a shift of 0 to 3, got " << mask << " and "
                       << shift;
  return success();
}

//===----------------------------------------------------------------------===//
// buffer
//===----------------------------------------------------------------------===//

// `<` shape x element `,` layout (`,` `stages` `=` n)? `>`
Type BufferType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  SharedAttr layout;
  int64_t stages = 1;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) ||
      parser.parseComma() || parser.parseAttribute(layout))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("stages") || parser.parseEqual() || parser.parseInteger(stages)))
    return {};
  if (parser.parseGreater())
    return {};
  return BufferType::get(parser.getContext(), shape, element, layout, stages);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t extent : getShape())
    printer << extent << 'x';
  printer << getElementType() << ", " << getLayout();
  if (getStages() != 1)
    printer << ", stages = " << getStages();
  printer << '>';
}

int64_t BufferType::getStageBytes() const {
  int64_t rows = 1;
  ArrayRef<int64_t> order = getLayout().getOrder();
  for (size_t i = 0; i + 1 < order.size(); ++i)
    rows *= getShape()[order[i]];
  return llvm::alignTo(rows * getLayout().getPitch(), 128);
}

BufferType BufferType::withStages(int64_t stages) const {
  return BufferType::get(getContext(), getShape(), getElementType(), getLayout(), stages);
}
