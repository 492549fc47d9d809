//===- EmitShapes.cpp - shapes, reductions and products ------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "compiler/Frontend/Emitter.h"

#include "dialect/Tile/TileDialect.h"

#include <fmt/format.h>

using namespace mlir;

namespace tessera::frontend {

/// Number of elements above which a tile is refused: far beyond any machine, and small enough for exact arithmetic.
static constexpr int64_t kMaxTileElements = int64_t(1) << 28;

bool Emitter::checkExtents(ArrayRef<int64_t> extents, At at) {
  int64_t count = 1;
  for (int64_t extent : extents) {
    if (extent < 1)
      return error(at, "T0307", fmt::format("the extent of a tile is at least 1, found {}", extent), ""), false;
    if (__builtin_mul_overflow(count, extent, &count) || count > kMaxTileElements)
      return error(at, "T0307", fmt::format("a tile has at most {} elements", kMaxTileElements),
                   "use smaller tile sizes"),
             false;
  }
  return true;
}

Value Emitter::iota(const Value &extent, At at) {
  if (extent.isPoison())
    return extent;
  if (!extent.isInteger())
    return error(at, "T0307", fmt::format("the extent of 'iota' is a compile-time integer, found {}", describe(extent)),
                 "");
  if (!checkExtents({extent.integer}, at))
    return Value::poison();
  auto type = cast<RankedTensorType>(typeOf(DType::I64, {extent.integer}));
  return Value::data(tile::IotaOp::create(builder, loc(at), type), DType::I64, {extent.origin});
}

Value Emitter::expandDims(const Value &tile, int64_t axis, At at) {
  SmallVector<int64_t> shape(tile.shape());
  std::vector<std::string> origins = tile.origins;
  shape.insert(shape.begin() + axis, 1);
  origins.insert(origins.begin() + axis, std::string());
  auto op =
      tile::ExpandDimsOp::create(builder, loc(at), cast<RankedTensorType>(typeOf(tile.dtype, shape)), tile.ssa, axis);
  return Value::data(op, tile.dtype, std::move(origins));
}

Value Emitter::reshape(const Value &value, const Shape &shape, At at) {
  if (value.isPoison())
    return value;
  if (!value.isData())
    return notAValue(value, at, "a tile to reshape");
  auto count = [](ArrayRef<int64_t> extents) {
    int64_t n = 1;
    for (int64_t e : extents)
      n *= e;
    return n;
  };
  if (count(value.shape()) != count(shape.extents))
    return error(at, "T0308",
                 fmt::format("reshape keeps the number of elements: expected {}, found {}", count(value.shape()),
                             count(shape.extents)),
                 "");
  if (value.shape() == ArrayRef<int64_t>(shape.extents))
    return value;
  auto op = tile::ReshapeOp::create(builder, loc(at), typeOf(value.dtype, shape.extents), value.ssa);
  return Value::data(op, value.dtype, shape.origins);
}

Value Emitter::permute(const Value &tile, ArrayRef<int64_t> order, At at) {
  SmallVector<int64_t> shape;
  std::vector<std::string> origins;
  for (int64_t d : order) {
    shape.push_back(tile.shape()[d]);
    origins.push_back(tile.origins[d]);
  }
  auto op =
      tile::PermuteOp::create(builder, loc(at), cast<RankedTensorType>(typeOf(tile.dtype, shape)), tile.ssa, order);
  return Value::data(op, tile.dtype, std::move(origins));
}

Value Emitter::transpose(const Value &tile, At at) {
  if (tile.isPoison())
    return tile;
  if (!tile.isData())
    return notAValue(tile, at, "a tile before '.T'");
  int64_t rank = tile.shape().size();
  if (rank < 2)
    return error(at, "T0309", fmt::format("'.T' swaps the last two dimensions, found {}", describe(tile)),
                 "give it a second dimension: t[:, None]");
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[rank - 1], order[rank - 2]);
  return permute(tile, order, at);
}

/// What a reduction's name means for an element type.
static std::optional<tile::ReduceKind> reduceKind(std::string_view name, DType type) {
  using K = tile::ReduceKind;
  if (name == "sum")
    return K::Sum;
  if (name == "max")
    return isUnsignedInteger(type) ? K::MaxU : K::Max;
  if (name == "min")
    return isUnsignedInteger(type) ? K::MinU : K::Min;
  if (name == "maxnum")
    return isFloat(type) ? K::MaxNum : isUnsignedInteger(type) ? K::MaxU : K::Max;
  if (name == "minnum")
    return isFloat(type) ? K::MinNum : isUnsignedInteger(type) ? K::MinU : K::Min;
  if (name == "any")
    return K::Or;
  if (name == "all")
    return K::And;
  return std::nullopt;
}

Value Emitter::reduce(std::string_view name, const Value &tile, std::optional<int64_t> axis, At at) {
  if (tile.isPoison())
    return tile;
  if (!tile.isTile())
    return tile.isView() ? notAValue(tile, at, fmt::format("a tile in '{}'", name))
                         : error(at, "T0302", fmt::format("'{}' reduces a tile, found {}", name, describe(tile)), "");
  if (std::optional<Refusal> refusal = refuseType(name, name, tile.dtype, describe(tile)))
    return error(at, *refusal);
  int64_t rank = tile.shape().size();
  if (axis && (*axis < 0 || *axis >= rank))
    return error(at, "T0302", fmt::format("expected an axis in 0..{}, found {}", rank, *axis),
                 "axes count from 0 and are never negative");
  Value result = name == "sum" ? convertData(tile, sumType(tile.dtype), at, {}) : tile;
  tile::ReduceKind kind = *reduceKind(name, result.dtype);
  // Without an axis: one dimension after the other, the last first.
  for (int64_t d = axis ? *axis : rank - 1; d >= (axis ? *axis : 0); --d) {
    SmallVector<int64_t> shape(result.shape());
    std::vector<std::string> origins = result.origins;
    shape.erase(shape.begin() + d);
    origins.erase(origins.begin() + d);
    auto op = tile::ReduceOp::create(builder, loc(at), typeOf(result.dtype, shape), kind, result.ssa, d);
    result = Value::data(op, result.dtype, std::move(origins));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

std::optional<std::pair<DType, Emitter::Shape>> Emitter::dotType(const Value &a, const Value &b, At at) {
  if (a.isPoison() || b.isPoison())
    return std::nullopt;
  for (const Value *v : {&a, &b})
    if (!v->isTile()) {
      if (v->isView())
        notAValue(*v, at, "a tile as operand of '@'");
      else
        error(at, "T0303", fmt::format("'@' multiplies tiles, found {}", describe(*v)), "multiply by a scalar with *");
      return std::nullopt;
    }
  bool bytes = bitsOf(a.dtype) == 8 && bitsOf(b.dtype) == 8 && isInteger(a.dtype) && isInteger(b.dtype);
  if ((a.dtype != b.dtype && !bytes) || a.dtype == DType::Bool) {
    error(at, "T0217",
          fmt::format("'@' multiplies tiles of one element type, found {} and {}", nameOf(a.dtype), nameOf(b.dtype)),
          "convert one: T(x)");
    return std::nullopt;
  }
  int64_t rankA = a.shape().size(), rankB = b.shape().size();
  if (rankA < 2 || rankB < 2 || rankA > 3 || rankB > 3) {
    error(at, "T0303", fmt::format("'@' multiplies tiles of rank 2 or 3, found {} and {}", describe(a), describe(b)),
          "give a vector its second dimension: v[:, None]");
    return std::nullopt;
  }
  if (a.shape()[rankA - 1] != b.shape()[rankB - 2]) {
    error(at, "T0303",
          fmt::format("the inner extents of '@' agree: expected {} rows on the right, found {} in {} @ {}",
                      a.shape()[rankA - 1], b.shape()[rankB - 2], describe(a), describe(b)),
          "transpose one: b.T");
    return std::nullopt;
  }
  warnOrigins(a.origins[rankA - 1], b.origins[rankB - 2], a.shape()[rankA - 1], at);
  Shape shape;
  int64_t batchA = rankA == 3 ? a.shape()[0] : 1, batchB = rankB == 3 ? b.shape()[0] : 1;
  if (batchA != batchB && batchA != 1 && batchB != 1) {
    error(at, "T0303", fmt::format("the batch extents of '@' do not broadcast: {} meets {}", batchA, batchB), "");
    return std::nullopt;
  }
  if (rankA == 3 || rankB == 3) {
    shape.extents.push_back(std::max(batchA, batchB));
    shape.origins.push_back(batchA >= batchB && rankA == 3 ? a.origins[0] : b.origins[0]);
  }
  shape.extents.append({a.shape()[rankA - 2], b.shape()[rankB - 1]});
  shape.origins.insert(shape.origins.end(), {a.origins[rankA - 2], b.origins[rankB - 1]});
  DType type = bytes && a.dtype != b.dtype ? DType::I32 : sumType(a.dtype);
  return std::make_pair(type, std::move(shape));
}

Value Emitter::dot(const Value &a, const Value &b, std::optional<DType> sums, tile::Precision precision, At at) {
  auto type = dotType(a, b, at);
  if (!type)
    return Value::poison();
  if (precision == tile::Precision::Tf32 && a.dtype != DType::F32)
    return error(at, "T0217", fmt::format("'precision = tf32' multiplies tiles of f32, found {}", nameOf(a.dtype)),
                 "leave precision out");
  auto &[result, shape] = *type;
  if (sums && *sums != result) {
    bool wider = (a.dtype == DType::F16 && *sums == DType::F16) || (a.dtype == DType::F32 && *sums == DType::F64) ||
                 (result == DType::I32 && *sums == DType::I64) || (result == DType::U32 && *sums == DType::U64);
    if (!wider)
      return error(
          at, "T0217",
          fmt::format("'@' of {} sums in {}, found 'acc = {}'", nameOf(a.dtype), nameOf(result), nameOf(*sums)),
          "f16 may sum in f16, f32 in f64, narrow integers in 64 bits; leave acc out otherwise");
    if (precision == tile::Precision::Tf32)
      return error(at, "T0217", "'precision = tf32' sums in f32, found another 'acc'", "leave one of the two out");
    result = *sums;
  }
  auto withBatch = [&](const Value &v) {
    if (shape.extents.size() == 2)
      return v;
    SmallVector<int64_t> extents(v.shape());
    std::vector<std::string> origins = v.origins;
    if (extents.size() == 2) {
      extents.insert(extents.begin(), shape.extents[0]);
      origins.insert(origins.begin(), shape.origins[0]);
    }
    extents[0] = shape.extents[0];
    return broadcast(v, extents, origins, at);
  };
  Value left = withBatch(a), right = withBatch(b);
  Value zero = full(Value::of(int64_t(0)), result, shape, at);
  auto op = tile::DotOp::create(builder, loc(at), zero.ssa.getType(), left.ssa, right.ssa, zero.ssa, precision,
                                isUnsignedInteger(a.dtype), isUnsignedInteger(b.dtype), TypeAttr());
  return Value::data(op, result, shape.origins);
}

} // namespace tessera::frontend
