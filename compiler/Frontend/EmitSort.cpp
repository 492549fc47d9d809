//===- EmitSort.cpp - sort and top-k: elements as integer keys -------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// An element becomes a signed integer that orders as it does: integers as they are (unsigned ones with the top bit turned over), floats by their bits with those of negative
// ones turned over, so that -0 comes before +0, and every NaN as the greatest.  For a descending order all bits turn over.  Below the element stands its
// position, so that equal elements keep their order: in the same word where both fit, otherwise as a second key.  The element is read back from its key.
//
#include "compiler/Frontend/Emitter.h"
#include "dialect/Tile/TileDialect.h"

#include <fmt/format.h>

using namespace mlir;
namespace tessera::frontend {

namespace {

/// Emits integer arithmetic on tiles of one shape.
class Keys {
public:
  Keys(Emitter &e, const Value &tile, int64_t axis, bool descending, At at)
      : e(e), tile(tile), axis(axis), descending(descending), at(at),
        width(bitsOf(tile.dtype) == 1 ? 8 : bitsOf(tile.dtype)), isPacked(width < 64),
        packedWidth(width <= 16 && tile.shape()[axis] <= (int64_t(1) << 16) ? 32 : 64) {}

  /// The keys: one that holds element and position, or the element's and the position's.
  SmallVector<mlir::Value> make() {
    mlir::Value element = encode(), position = positions();
    if (!isPacked)
      return {element, convert<arith::TruncIOp>(position, 32)};
    mlir::Value wide = shift<arith::ShLIOp>(convert<arith::ExtSIOp>(element, packedWidth), packedWidth / 2);
    if (packedWidth < 64)
      position = convert<arith::TruncIOp>(position, packedWidth);
    return {arith::OrIOp::create(e.builder, e.loc(at), wide, position)};
  }
  /// The elements of keys of any shape, sorted or selected.
  Value elementsOf(mlir::Value key) {
    if (isPacked)
      key = convert<arith::TruncIOp>(shift<arith::ShRSIOp>(key, packedWidth / 2), width);
    return decode(key);
  }
  /// The positions of packed keys of any shape, i64.
  mlir::Value positionsOf(mlir::Value key) {
    mlir::Value mask = constant(key.getType(), APInt::getLowBitsSet(packedWidth, packedWidth / 2));
    key = arith::AndIOp::create(e.builder, e.loc(at), key, mask);
    return packedWidth < 64 ? convert<arith::ExtUIOp>(key, 64) : key;
  }
  bool packed() const { return isPacked; }
  /// Behind every key.
  mlir::Value last(Type type) { return constant(type, APInt::getSignedMaxValue(packedWidth)); }

private:
  mlir::Value constant(Type type, const APInt &value) {
    return arith::ConstantOp::create(e.builder, e.loc(at), DenseElementsAttr::get(cast<RankedTensorType>(type), value));
  }
  template <typename Op>
  mlir::Value convert(mlir::Value value, int64_t bits) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getElementType().isInteger(bits))
      return value;
    return Op::create(e.builder, e.loc(at), type.clone(e.builder.getIntegerType(bits)), value);
  }
  template <typename Op>
  mlir::Value shift(mlir::Value value, int64_t amount) {
    unsigned bits = getElementTypeOrSelf(value).getIntOrFloatBitWidth();
    return Op::create(e.builder, e.loc(at), value, constant(value.getType(), APInt(bits, amount)));
  }
  mlir::Value exclusiveOr(mlir::Value value, const APInt &bits) {
    return arith::XOrIOp::create(e.builder, e.loc(at), value, constant(value.getType(), bits));
  }
  /// Turns over all bits but the sign where the sign is set; its own inverse.
  mlir::Value flipNegative(mlir::Value bits) {
    mlir::Value sign = shift<arith::ShRSIOp>(bits, width - 1);
    mlir::Value mask =
        arith::AndIOp::create(e.builder, e.loc(at), sign, constant(bits.getType(), APInt::getSignedMaxValue(width)));
    return arith::XOrIOp::create(e.builder, e.loc(at), bits, mask);
  }
  mlir::Value encode() {
    mlir::Value key = tile.ssa;
    auto type = cast<RankedTensorType>(key.getType());
    if (tile.dtype == DType::Bool) {
      key = convert<arith::ExtUIOp>(key, width);
    } else if (isFloat(tile.dtype)) {
      mlir::Value isNan = e.binary(Operator::Ne, tile, tile, at).ssa;
      key = arith::BitcastOp::create(e.builder, e.loc(at), type.clone(e.builder.getIntegerType(width)), key);
      key = flipNegative(key);
      mlir::Value greatest = constant(key.getType(), APInt::getSignedMaxValue(width));
      key = arith::SelectOp::create(e.builder, e.loc(at), isNan, greatest, key);
    } else if (isUnsignedInteger(tile.dtype)) {
      key = exclusiveOr(key, APInt::getSignMask(width));
    }
    return descending ? exclusiveOr(key, APInt::getAllOnes(width)) : key;
  }
  Value decode(mlir::Value key) {
    auto type = cast<RankedTensorType>(key.getType());
    if (descending)
      key = exclusiveOr(key, APInt::getAllOnes(width));
    if (tile.dtype == DType::Bool)
      key = arith::CmpIOp::create(e.builder, e.loc(at), arith::CmpIPredicate::ne, key, constant(type, APInt(width, 0)));
    else if (isFloat(tile.dtype))
      key = arith::BitcastOp::create(e.builder, e.loc(at), type.clone(elementType(e.context, tile.dtype)),
                                     flipNegative(key));
    else if (isUnsignedInteger(tile.dtype))
      key = exclusiveOr(key, APInt::getSignMask(width));
    return Value::data(key, tile.dtype, tile.origins);
  }
  mlir::Value positions() {
    Value along = e.iota(Value::of(tile.shape()[axis]), at);
    for (int64_t d = axis + 1; d < int64_t(tile.shape().size()); ++d)
      along = e.expandDims(along, along.shape().size(), at);
    return e.broadcast(along, tile.shape(), std::vector<std::string>(tile.shape().size()), at).ssa;
  }

  Emitter &e;
  const Value &tile;
  int64_t axis;
  bool descending;
  At at;
  int64_t width; ///< of an element's key
  bool isPacked;
  int64_t packedWidth; ///< half of it for the position
};

} // namespace

/// Whether `x` is a tile that can be ordered along `axis`.
static bool checkOrdered(Emitter &e, const char *name, const Value &x, int64_t axis, At at) {
  if (x.isPoison())
    return false;
  if (!x.isTile()) {
    e.notAValue(x, at, fmt::format("a tile in '{}'", name));
    return false;
  }
  int64_t rank = x.shape().size();
  if (axis < 0 || axis >= rank) {
    e.error(at, "T0302", fmt::format("expected an axis in 0..{}, found {}", rank, axis),
            "axes count from 0 and are never negative");
    return false;
  }
  if (isFp8(x.dtype)) {
    e.error(at, "T0204", fmt::format("fp8 values have no order, found {} in '{}'", nameOf(x.dtype), name),
            "convert first: f32(x)");
    return false;
  }
  return true;
}

Value Emitter::sort(const Value &sources, int64_t axis, bool descending, At at) {
  std::vector<Value> tiles = sources.isTuple() ? sources.elements : std::vector<Value>{sources};
  if (tiles.empty())
    return error(at, "T0302", "'sort' takes a tile or a tuple of tiles, found an empty tuple", "");
  if (!checkOrdered(*this, "sort", tiles[0], axis, at))
    return Value::poison();
  for (Value &tile : MutableArrayRef(tiles).drop_front()) {
    if (tile.isPoison())
      return tile;
    if (!tile.isData())
      return notAValue(tile, at, "a tile in 'sort'");
    tile = broadcast(tile, tiles[0].shape(), tiles[0].origins, at);
    if (tile.isPoison())
      return tile;
    if (!tile.isTile())
      return notAValue(tile, at, "a tile in 'sort'");
  }
  Keys keys(*this, tiles[0], axis, descending, at);
  SmallVector<mlir::Value> operands = keys.make();
  int64_t keyCount = operands.size();
  SmallVector<Type> types;
  for (const Value &tile : ArrayRef(tiles).drop_front())
    operands.push_back(tile.ssa);
  for (mlir::Value operand : operands)
    types.push_back(operand.getType());
  auto op = tile::SortOp::create(builder, loc(at), types, operands, axis, keyCount);
  std::vector<Value> results{keys.elementsOf(op.getResult(0))};
  for (size_t i = 1; i < tiles.size(); ++i)
    results.push_back(Value::data(op.getResult(keyCount + i - 1), tiles[i].dtype, tiles[i].origins));
  return sources.isTuple() ? Value::of(std::move(results)) : results[0];
}

/// The k largest along `axis`, in order, with their positions.  A few are picked one after the other, each by one reduction over the keys; for more it pays to sort.
Value Emitter::topk(const Value &x, int64_t k, int64_t axis, At at) {
  if (!checkOrdered(*this, "topk", x, axis, at))
    return Value::poison();
  int64_t extent = x.shape()[axis], rank = x.shape().size();
  if (k < 1 || k > extent)
    return error(at, "T0302", fmt::format("expected a k in 1..{}, found {}", extent + 1, k), "");
  Keys keys(*this, x, axis, /*descending=*/true, at);
  std::vector<std::string> origins = x.origins;
  origins[axis].clear();
  SmallVector<int64_t> shape(x.shape());
  shape[axis] = k;
  constexpr int64_t kMostRounds = 16;
  if (!keys.packed() || k > kMostRounds) {
    Value position = iota(Value::of(extent), at);
    for (int64_t d = axis + 1; d < rank; ++d)
      position = expandDims(position, position.shape().size(), at);
    Value sorted = sort(Value::of(std::vector<Value>{x, position}), axis, /*descending=*/true, at);
    if (sorted.isPoison())
      return sorted;
    std::vector<Value> parts;
    for (const Value &part : sorted.elements)
      parts.push_back(k == extent ? part : take(part, iota(Value::of(k), at), axis, at));
    return Value::of(std::move(parts));
  }
  mlir::Value left = keys.make()[0], picked;
  auto wide = cast<RankedTensorType>(left.getType());
  std::vector<std::string> none(rank);
  Value slot = iota(Value::of(k), at);
  for (int64_t d = axis + 1; d < rank; ++d)
    slot = expandDims(slot, slot.shape().size(), at);
  SmallVector<int64_t> reduced(x.shape());
  reduced.erase(reduced.begin() + axis);
  Type reducedType =
      reduced.empty() ? wide.getElementType() : Type(RankedTensorType::get(reduced, wide.getElementType()));
  DType keyType = wide.getElementType().isInteger(32) ? DType::I32 : DType::I64;
  for (int64_t round = 0; round < k; ++round) {
    mlir::Value least =
        tile::ReduceOp::create(builder, loc(at), reducedType, tile::ReduceKind::Min, left, axis).getResult();
    Value best = expandDims(Value::data(least, keyType), axis, at);
    mlir::Value everywhere = broadcast(best, x.shape(), none, at).ssa, inSlots = broadcast(best, shape, none, at).ssa;
    mlir::Value here = arith::CmpIOp::create(builder, loc(at), arith::CmpIPredicate::eq, left, everywhere).getResult();
    if (round + 1 < k)
      left = arith::SelectOp::create(builder, loc(at), here, keys.last(wide), left);
    Value mine = broadcast(binary(Operator::Eq, slot, Value::of(round), at), shape, none, at);
    picked = picked ? arith::SelectOp::create(builder, loc(at), mine.ssa, inSlots, picked).getResult() : inSlots;
  }
  Value values = keys.elementsOf(picked);
  return Value::of(std::vector<Value>{Value::data(values.ssa, x.dtype, origins),
                                      Value::data(keys.positionsOf(picked), DType::I64, origins)});
}

} // namespace tessera::frontend
