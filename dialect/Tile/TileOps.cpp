//===- TileOps.cpp - kernels, shapes, reductions, products and numerics of the tile dialect - SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Verifiers cite the rule numbers of TileOps.td; folders only fold what is exact.
//
#include "dialect/Tile/ElementTypes.h"
#include "dialect/Tile/TileDialect.h"

#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace tessera::tile;

#define GET_OP_CLASSES
#include "dialect/Tile/TileOps.cpp.inc"

//===----------------------------------------------------------------------===//
// kernel
//===----------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto build = [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results,
                  function_interface_impl::VariadicFlag,
                  std::string &) { return builder.getFunctionType(inputs, results); };
  return function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false,
                                                  getFunctionTypeAttrName(result.name), build,
                                                  getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

/// Collects the symbols of an S-expression; false if it does not look like one.
static bool collectSymbols(StringRef text, SmallVectorImpl<StringRef> &symbols) {
  int depth = 0;
  bool operatorNext = false;
  while (!(text = text.ltrim()).empty()) {
    if (text.consume_front("(")) {
      ++depth;
      operatorNext = true;
    } else if (text.consume_front(")")) {
      if (--depth < 0)
        return false;
    } else {
      StringRef token = text.take_until([](char c) { return c == '(' || c == ')' || isspace((unsigned char)c); });
      text = text.drop_front(token.size());
      if (!operatorNext && (isalpha((unsigned char)token[0]) || token[0] == '_') && token != "inf" && token != "nan")
        symbols.push_back(token);
      operatorNext = false;
    }
  }
  return depth == 0;
}

/// kernel_c4 for one expression.
static LogicalResult verifyExpression(KernelOp kernel, const llvm::SmallSet<StringRef, 16> &known, Attribute attribute,
                                      StringRef what) {
  auto text = dyn_cast_or_null<StringAttr>(attribute);
  if (!text)
    return kernel.emitOpError() << "kernel_c4: expected an expression as a string for " << what;
  SmallVector<StringRef> symbols;
  if (!collectSymbols(text.getValue(), symbols))
    return kernel.emitOpError() << "kernel_c4: expected balanced parentheses in " << text << " of " << what;
  for (StringRef symbol : symbols)
    if (!known.contains(symbol))
      return kernel.emitOpError() << "kernel_c4: expected '" << symbol << "' of " << what
                                  << " to be in 'dims' or to name a scalar argument";
  return success();
}

/// kernel_c6 for the contract of one view argument.
static LogicalResult verifyContract(KernelOp kernel, unsigned index, int64_t rank) {
  if (auto align = kernel.getArgAttrOfType<IntegerAttr>(index, kAlignAttr))
    if (align.getInt() < 1 || (align.getInt() & (align.getInt() - 1)))
      return kernel.emitOpError() << "kernel_c6: expected a power of two for '" << kAlignAttr << "', got "
                                  << align.getInt();
  if (auto unit = kernel.getArgAttrOfType<IntegerAttr>(index, kUnitDimAttr))
    if (unit.getInt() < 0 || unit.getInt() >= rank)
      return kernel.emitOpError() << "kernel_c6: expected '" << kUnitDimAttr << "' in 0.." << rank << ", got "
                                  << unit.getInt();
  for (StringRef name : {StringRef(kStrideDivAttr), StringRef(kExtentDivAttr)})
    if (auto divisors = kernel.getArgAttrOfType<DenseI64ArrayAttr>(index, name))
      if (divisors.size() != rank || llvm::any_of(divisors.asArrayRef(), [](int64_t d) { return d < 1; }))
        return kernel.emitOpError() << "kernel_c6: expected " << rank << " positive divisors in '" << name << "'";
  return success();
}

LogicalResult KernelOp::verify() {
  if (getNumResults() != 0)
    return emitOpError() << "kernel_c5: expected no results, got " << getNumResults();
  unsigned axes = getGrid().size();
  if (axes > getNumArguments())
    return emitOpError() << "kernel_c2: expected a coordinate argument for each of the " << axes << " grid axes, got "
                         << getNumArguments() << " arguments";
  unsigned params = getNumArguments() - axes;
  llvm::SmallSet<StringRef, 16> known;
  for (StringAttr dim : getDims().getAsRange<StringAttr>())
    known.insert(dim.getValue());
  for (unsigned i = 0; i < getNumArguments(); ++i) {
    Type type = getArgumentTypes()[i];
    bool isCoordinate = i >= params;
    if (isCoordinate != bool(getArgAttr(i, kCoordAttr)) || (isCoordinate && !type.isInteger(64)))
      return emitOpError() << "kernel_c2: expected the last " << axes << " arguments, and only those, to be i64 with '"
                           << kCoordAttr << "'";
    auto view = dyn_cast<ViewType>(type);
    if (!view && !type.isSignlessInteger() && !isa<FloatType>(type))
      return emitOpError() << "kernel_c1: expected a view or a scalar, got " << type << " as argument " << i;
    auto name = getArgAttrOfType<StringAttr>(i, kNameAttr);
    if (!view && name)
      known.insert(name.getValue());
    if (!view)
      continue;
    auto dims = getArgAttrOfType<ArrayAttr>(i, kDimsAttr);
    auto mode = getArgAttrOfType<StringAttr>(i, kModeAttr);
    bool knownMode = mode && llvm::is_contained({"in", "out", "inout", "accum"}, mode.getValue());
    if (!name || !knownMode || !getArgAttrOfType<StringAttr>(i, kDTypeAttr) || !dims ||
        int64_t(dims.size()) != view.getRank())
      return emitOpError() << "kernel_c3: expected '" << kNameAttr << "', '" << kModeAttr << "', '" << kDTypeAttr
                           << "' and " << view.getRank() << " '" << kDimsAttr << "' on view argument " << i;
    if (failed(verifyContract(*this, i, view.getRank())))
      return failure();
  }
  for (unsigned i = 0; i < params; ++i)
    if (auto dims = getArgAttrOfType<ArrayAttr>(i, kDimsAttr))
      for (Attribute dim : dims)
        if (failed(verifyExpression(*this, known, dim, "an extent")))
          return failure();
  for (Attribute axis : getGrid()) {
    auto dictionary = dyn_cast<DictionaryAttr>(axis);
    for (StringRef key : {"lo", "hi", "step"})
      if (failed(verifyExpression(*this, known, dictionary ? dictionary.get(key) : Attribute(), "the grid")))
        return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Shape of a scalar or tile.
static ArrayRef<int64_t> shapeOf(Value value) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  return tile ? tile.getShape() : ArrayRef<int64_t>();
}

LogicalResult IotaOp::verify() {
  if (cast<RankedTensorType>(getType()).getRank() != 1)
    return emitOpError() << "iota_c1: expected a result of rank 1, got " << getType();
  return success();
}

LogicalResult BroadcastOp::verify() {
  if (getElementTypeOrSelf(getSource()) != getElementTypeOrSelf(getResult()))
    return emitOpError() << "broadcast_c1: expected element type " << getElementTypeOrSelf(getSource()) << ", got "
                         << getElementTypeOrSelf(getResult());
  ArrayRef<int64_t> source = shapeOf(getSource()), result = shapeOf(getResult());
  bool fits = source.size() <= result.size();
  for (size_t i = 0; fits && i < source.size(); ++i)
    fits = source[i] == 1 || source[i] == result[result.size() - source.size() + i];
  if (!fits)
    return emitOpError() << "broadcast_c2: expected a shape that stretches to " << getResult().getType() << ", got "
                         << getSource().getType();
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  auto type = cast<RankedTensorType>(getResult().getType());
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getSource()))
    return SplatElementsAttr::get(type, splat.getSplatValue<Attribute>());
  if (isa_and_nonnull<IntegerAttr, FloatAttr>(adaptor.getSource()))
    return SplatElementsAttr::get(type, adaptor.getSource());
  return {};
}

LogicalResult ExpandDimsOp::verify() {
  SmallVector<int64_t> expected(shapeOf(getSource()));
  int64_t axis = getAxis();
  bool fits = axis >= 0 && axis <= int64_t(expected.size());
  if (fits)
    expected.insert(expected.begin() + axis, 1);
  if (!fits || shapeOf(getResult()) != ArrayRef<int64_t>(expected) ||
      getElementTypeOrSelf(getSource()) != getElementTypeOrSelf(getResult()))
    return emitOpError() << "expand_dims_c1: expected " << getSource().getType() << " with a 1 inserted at axis "
                         << axis << ", got " << getResult().getType();
  return success();
}

static int64_t elementsOf(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

LogicalResult ReshapeOp::verify() {
  if (getElementTypeOrSelf(getSource()) != getElementTypeOrSelf(getResult()))
    return emitOpError() << "reshape_c1: expected element type " << getElementTypeOrSelf(getSource()) << ", got "
                         << getElementTypeOrSelf(getResult());
  int64_t have = elementsOf(shapeOf(getSource())), want = elementsOf(shapeOf(getResult()));
  if (have != want)
    return emitOpError() << "reshape_c2: expected " << have << " elements, got " << want;
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  return getSource().getType() == getResult().getType() ? OpFoldResult(getSource()) : OpFoldResult();
}

LogicalResult PermuteOp::verify() {
  ArrayRef<int64_t> source = shapeOf(getSource()), result = shapeOf(getResult()), order = getOrder();
  SmallVector<bool> seen(source.size(), false);
  bool isPermutation = order.size() == source.size();
  for (size_t i = 0; isPermutation && i < order.size(); ++i) {
    isPermutation = order[i] >= 0 && order[i] < int64_t(source.size()) && !seen[order[i]];
    if (isPermutation)
      seen[order[i]] = true;
  }
  if (!isPermutation)
    return emitOpError() << "permute_c1: expected a permutation of " << source.size() << " dimensions";
  bool fits = result.size() == source.size() && getElementTypeOrSelf(getSource()) == getElementTypeOrSelf(getResult());
  for (size_t i = 0; fits && i < order.size(); ++i)
    fits = result[i] == source[order[i]];
  if (!fits)
    return emitOpError() << "permute_c2: expected " << getSource().getType() << " with its dimensions reordered, got "
                         << getResult().getType();
  return success();
}

OpFoldResult PermuteOp::fold(FoldAdaptor) {
  for (auto [i, d] : llvm::enumerate(getOrder()))
    if (int64_t(i) != d)
      return {};
  return getSource();
}

//===----------------------------------------------------------------------===//
// Reductions and products
//===----------------------------------------------------------------------===//

/// Whether a reduction or scan of this kind exists for the element type.  `maxu`, `maxnum` and the like are `max` of a class of types, and `and`, `or` on i1
/// are `all` and `any`, which also join the bits of integers.
static bool kindFits(ReduceKind kind, Type element) {
  bool isFloat = isa<FloatType>(element);
  switch (kind) {
  case ReduceKind::Sum:
    return worksOn("sum", element);
  case ReduceKind::MaxU:
  case ReduceKind::MinU:
    return !isFloat && worksOn("max", element);
  case ReduceKind::And:
  case ReduceKind::Or:
  case ReduceKind::Xor:
    return !isFloat && worksOn("bit_and", element);
  case ReduceKind::MaxNum:
  case ReduceKind::MinNum:
    return isFloat && worksOn("maxnum", element);
  default:
    return true;
  }
}

LogicalResult ReduceOp::verify() {
  SmallVector<int64_t> expected(shapeOf(getSource()));
  int64_t axis = getAxis();
  if (axis < 0 || axis >= int64_t(expected.size()))
    return emitOpError() << "reduce_c1: expected an axis in 0.." << expected.size() << ", got " << axis;
  expected.erase(expected.begin() + axis);
  Type element = getElementTypeOrSelf(getSource());
  Type result = expected.empty() ? element : RankedTensorType::get(expected, element);
  auto tile = dyn_cast<RankedTensorType>(getResult().getType());
  // Layouts, which tile_gpu adds as encodings, are not compared.
  if ((tile ? Type(RankedTensorType::get(tile.getShape(), tile.getElementType())) : getResult().getType()) != result)
    return emitOpError() << "reduce_c2: expected result " << result << ", got " << getResult().getType();
  if (!kindFits(getKind(), element))
    return emitOpError() << "reduce_c3: expected a kind that fits " << element << ", got '"
                         << stringifyReduceKind(getKind()) << "'";
  return success();
}

LogicalResult ScanOp::verify() {
  int64_t rank = shapeOf(getSource()).size();
  if (int64_t axis = getAxis(); axis < 0 || axis >= rank)
    return emitOpError() << "scan_c1: expected an axis in 0.." << rank << ", got " << axis;
  if (!kindFits(getKind(), getElementTypeOrSelf(getSource())))
    return emitOpError() << "scan_c2: expected a kind that fits " << getElementTypeOrSelf(getSource()) << ", got '"
                         << stringifyReduceKind(getKind()) << "'";
  return success();
}

/// Whether the types are the same apart from layouts, which tile_gpu adds as encodings.
static bool sameApartFromLayout(Type a, Type b) {
  auto bare = [](Type type) -> Type {
    auto tile = dyn_cast<RankedTensorType>(type);
    return tile ? RankedTensorType::get(tile.getShape(), tile.getElementType()) : type;
  };
  return bare(a) == bare(b);
}

/// combine_c1 to combine_c4.
static LogicalResult verifyCombination(Operation *op, ValueRange sources, int64_t axis, Region &region) {
  int64_t rank = sources.empty() ? 0 : int64_t(shapeOf(sources[0]).size());
  bool oneShape = llvm::all_of(sources, [&](Value source) { return shapeOf(source) == shapeOf(sources[0]); });
  if (sources.empty() || !oneShape || axis < 0 || axis >= rank)
    return op->emitOpError() << "combine_c1: expected sources of one shape and an axis in 0.." << rank << ", got axis "
                             << axis;
  SmallVector<Type> elements;
  for (Value source : sources)
    elements.push_back(getElementTypeOrSelf(source));
  SmallVector<Type> both(elements);
  both.append(elements);
  Block &block = region.front();
  if (TypeRange(block.getArgumentTypes()) != TypeRange(both))
    return op->emitOpError() << "combine_c2: expected the element types twice as arguments of the region: "
                             << both.size() << ", got " << block.getNumArguments() << " or others";
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield || TypeRange(yield.getValues().getTypes()) != TypeRange(elements))
    return op->emitOpError() << "combine_c3: expected the region to yield the element types of the sources";
  for (Operation &inner : block.without_terminator()) {
    auto isTile = [](Type type) { return isa<RankedTensorType, ViewType>(type); };
    if (inner.getNumRegions() || !isMemoryEffectFree(&inner) || llvm::any_of(inner.getOperandTypes(), isTile) ||
        llvm::any_of(inner.getResultTypes(), isTile))
      return op->emitOpError() << "combine_c4: expected computation on scalars in the region, got '" << inner.getName()
                               << "'";
  }
  return success();
}

LogicalResult ReduceByOp::verify() {
  if (failed(verifyCombination(*this, getSources(), getAxis(), getCombine())))
    return failure();
  bool fits = getNumResults() == getSources().size();
  for (size_t i = 0; fits && i < getNumResults(); ++i) {
    SmallVector<int64_t> shape(shapeOf(getSources()[i]));
    shape.erase(shape.begin() + getAxis());
    Type element = getElementTypeOrSelf(getSources()[i]);
    fits = sameApartFromLayout(getResult(i).getType(),
                               shape.empty() ? element : Type(RankedTensorType::get(shape, element)));
  }
  if (!fits)
    return emitOpError() << "reduce_by_c1: expected each source without dimension " << getAxis() << " as a result, got "
                         << getResultTypes();
  return success();
}

LogicalResult ScanByOp::verify() {
  if (failed(verifyCombination(*this, getSources(), getAxis(), getCombine())))
    return failure();
  bool fits = getNumResults() == getSources().size();
  for (size_t i = 0; fits && i < getNumResults(); ++i)
    fits = sameApartFromLayout(getResult(i).getType(), getSources()[i].getType());
  if (!fits)
    return emitOpError() << "scan_by_c1: expected the types of the sources as results, got " << getResultTypes();
  return success();
}

LogicalResult SortOp::verify() {
  int64_t rank = getSources().empty() ? 0 : int64_t(shapeOf(getSources()[0]).size()), axis = getAxis();
  bool oneShape = llvm::all_of(getSources(), [&](Value v) { return shapeOf(v) == shapeOf(getSources()[0]); });
  if (!oneShape || axis < 0 || axis >= rank)
    return emitOpError() << "sort_c1: expected sources of one shape and an axis in 0.." << rank << ", got axis "
                         << axis;
  int64_t keys = getKeys();
  bool fits = keys >= 1 && keys <= int64_t(getSources().size());
  for (int64_t i = 0; fits && i < keys; ++i) {
    auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(getSources()[i]));
    fits = integer && integer.getWidth() >= 8;
  }
  if (!fits)
    return emitOpError() << "sort_c2: expected 1.." << getSources().size() + 1
                         << " keys of integers of 8 bits or more, got " << keys;
  bool same = getNumResults() == getSources().size();
  for (size_t i = 0; same && i < getNumResults(); ++i)
    same = sameApartFromLayout(getResult(i).getType(), getSources()[i].getType());
  if (!same)
    return emitOpError() << "sort_c3: expected the types of the sources as results, got " << getResultTypes();
  return success();
}

LogicalResult HistogramOp::verify() {
  Type element = getElementTypeOrSelf(getSource());
  if (!element.isInteger(32) && !element.isInteger(64))
    return emitOpError() << "histogram_c1: expected elements i32 or i64, got " << element;
  if (shapeOf(getResult()).size() != 1 || !getElementTypeOrSelf(getResult()).isInteger(32))
    return emitOpError() << "histogram_c2: expected a vector of i32, got " << getResult().getType();
  return success();
}

LogicalResult ConcatOp::verify() {
  ArrayRef<int64_t> a = shapeOf(getFirst()), b = shapeOf(getSecond()), result = shapeOf(getResult());
  int64_t axis = getAxis(), rank = a.size();
  Type element = getElementTypeOrSelf(getFirst());
  if (axis < 0 || axis >= rank || int64_t(b.size()) != rank || int64_t(result.size()) != rank ||
      getElementTypeOrSelf(getSecond()) != element || getElementTypeOrSelf(getResult()) != element)
    return emitOpError() << "concat_c1: expected one rank and element type and an axis in 0.." << rank << ", got axis "
                         << axis;
  for (int64_t d = 0; d < rank; ++d)
    if (d == axis ? a[d] + b[d] != result[d] : a[d] != b[d] || a[d] != result[d])
      return emitOpError() << "concat_c2: expected extents that add up along dimension " << axis << ", got "
                           << getFirst().getType() << ", " << getSecond().getType() << " and " << getResult().getType();
  return success();
}

LogicalResult ExtractOp::verify() {
  ArrayRef<int64_t> source = shapeOf(getSource()), result = shapeOf(getResult());
  size_t rank = source.size();
  bool fits = getStarts().size() == rank && getWidths().size() == rank && getSteps().size() == rank;
  for (size_t d = 0; fits && d < rank; ++d)
    fits = getWidths()[d] >= 0 && getSteps()[d] >= 1;
  if (!fits)
    return emitOpError()
           << "extract_c1: expected a start, a width of at least 0 and a step of at least 1 for each of the " << rank
           << " dimensions";
  SmallVector<int64_t> kept;
  for (size_t d = 0; d < rank; ++d) {
    int64_t start = getStarts()[d], width = getWidths()[d], step = getSteps()[d], count = std::max<int64_t>(width, 1);
    if (start < 0 || count > source[d] || (count > 1 && step >= source[d]) || start + (count - 1) * step >= source[d])
      return emitOpError() << "extract_c2: expected elements of 0.." << source[d] << " in dimension " << d
                           << ", got start " << start << ", width " << count << ", step " << step;
    if (width > 0)
      kept.push_back(width);
  }
  if (ArrayRef<int64_t>(kept) != result || getElementTypeOrSelf(getSource()) != getElementTypeOrSelf(getResult()) ||
      kept.empty() == isa<RankedTensorType>(getResult().getType()))
    return emitOpError() << "extract_c3: expected the kept dimensions of " << getSource().getType() << ", got "
                         << getResult().getType();
  return success();
}

LogicalResult DotOp::verify() {
  ArrayRef<int64_t> a = shapeOf(getA()), b = shapeOf(getB()), c = shapeOf(getAcc());
  size_t rank = a.size();
  bool fits =
      (rank == 2 || rank == 3) && b.size() == rank && c.size() == rank && getAcc().getType() == getResult().getType();
  if (fits)
    fits = a[rank - 1] == b[rank - 2] && a[rank - 2] == c[rank - 2] && b[rank - 1] == c[rank - 1] &&
           (rank == 2 || (a[0] == b[0] && a[0] == c[0]));
  if (!fits)
    return emitOpError() << "dot_c1: expected [L,] M x K, K x N and an accumulator M x N, got " << getA().getType()
                         << ", " << getB().getType() << " and " << getAcc().getType();
  Type element = getElementTypeOrSelf(getA()), acc = getElementTypeOrSelf(getAcc());
  if (element != getElementTypeOrSelf(getB()))
    return emitOpError() << "dot_c2: expected operands of one element type, got " << element << " and "
                         << getElementTypeOrSelf(getB());
  if (std::optional<Type> held = getBytesOf()) {
    if (!isa<Float8E4M3FNType, Float8E5M2Type>(*held) || !element.isInteger(8) || !acc.isF32())
      return emitOpError() << "dot_c5: expected bytes of an fp8 type and sums of f32, got " << element << " as "
                           << *held << " and " << acc;
    return success();
  }
  unsigned width = element.getIntOrFloatBitWidth();
  bool accFits = isa<FloatType>(element)
                     ? (width == 64 ? acc.isF64()
                                    : acc.isF32() || (element.isF16() && acc.isF16()) || (width == 32 && acc.isF64()))
                     : acc.isInteger(64) || (width < 64 && acc.isInteger(32));
  if (!accFits)
    return emitOpError() << "dot_c3: expected the accumulator type that belongs to " << element << ", got " << acc;
  if (getPrecision() == Precision::Tf32 && !(element.isF32() && acc.isF32()))
    return emitOpError() << "dot_c4: expected f32 operands and sums for tf32, got " << element << " and " << acc;
  return success();
}

//===----------------------------------------------------------------------===//
// Numerics
//===----------------------------------------------------------------------===//

LogicalResult ConvertOp::verify() {
  if (getElementTypeOrSelf(getSource()) == getElementTypeOrSelf(getResult()))
    return emitOpError() << "convert_c1: expected another element type than " << getElementTypeOrSelf(getSource());
  return success();
}

/// Folds an integer op on two equal-width constants (scalars or splats) with `compute`; null when it cannot.
static OpFoldResult foldIntegers(Type type, Attribute lhs, Attribute rhs,
                                 function_ref<std::optional<APInt>(const APInt &, const APInt &)> compute) {
  auto valueOf = [](Attribute attribute) -> std::optional<APInt> {
    if (auto integer = dyn_cast_or_null<IntegerAttr>(attribute))
      return integer.getValue();
    if (auto splat = dyn_cast_or_null<SplatElementsAttr>(attribute))
      return splat.getSplatValue<APInt>();
    return std::nullopt;
  };
  std::optional<APInt> a = valueOf(lhs), b = valueOf(rhs);
  if (!a || !b)
    return {};
  std::optional<APInt> value = compute(*a, *b);
  if (!value)
    return {};
  if (auto tile = dyn_cast<RankedTensorType>(type))
    return SplatElementsAttr::get(tile, *value);
  return IntegerAttr::get(type, *value);
}

static APInt floorDiv(const APInt &a, const APInt &b, bool isUnsigned) {
  if (b.isZero())
    return APInt(a.getBitWidth(), 0);
  if (isUnsigned)
    return a.udiv(b);
  APInt quotient = a.sdiv(b), remainder = a.srem(b);
  return !remainder.isZero() && remainder.isNegative() != b.isNegative() ? quotient - 1 : quotient;
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  return foldIntegers(getType(), adaptor.getLhs(), adaptor.getRhs(),
                      [&](const APInt &a, const APInt &b) { return floorDiv(a, b, getIsUnsigned()); });
}

OpFoldResult RemOp::fold(FoldAdaptor adaptor) {
  return foldIntegers(getType(), adaptor.getLhs(), adaptor.getRhs(), [&](const APInt &a, const APInt &b) {
    return b.isZero() ? a : a - floorDiv(a, b, getIsUnsigned()) * b;
  });
}

OpFoldResult CeilDivOp::fold(FoldAdaptor adaptor) {
  return foldIntegers(getType(), adaptor.getLhs(), adaptor.getRhs(), [&](const APInt &a, const APInt &b) {
    APInt quotient = floorDiv(a, b, getIsUnsigned());
    return !b.isZero() && quotient * b != a ? quotient + 1 : quotient;
  });
}
