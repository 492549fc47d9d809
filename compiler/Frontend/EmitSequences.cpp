//===- EmitSequences.cpp - running sums, concatenation, selection by index - SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// cumsum and concat are ops of the dialect; take is composed of comparisons, selections and a reduction, so that every target has it.
//
#include "compiler/Frontend/Emitter.h"
#include "dialect/Tile/TileDialect.h"

#include <fmt/format.h>

using namespace mlir;
namespace tessera::frontend {

/// An axis of a tile; false after an error.
static bool checkAxis(Emitter &e, std::string_view name, const Value &tile, int64_t axis, At at) {
  if (tile.isPoison())
    return false;
  if (!tile.isTile()) {
    e.error(at, "T0302", fmt::format("'{}' takes a tile, found {}", name, e.describe(tile)), "");
    return false;
  }
  int64_t rank = tile.shape().size();
  if (axis >= 0 && axis < rank)
    return true;
  e.error(at, "T0302", fmt::format("expected an axis in 0..{}, found {}", rank, axis),
          "axes count from 0 and are never negative");
  return false;
}

Value Emitter::cumsum(const Value &tile, int64_t axis, bool reverse, At at) {
  if (!checkAxis(*this, "cumsum", tile, axis, at))
    return Value::poison();
  Value wide = convertData(tile, sumType(tile.dtype), at, {});
  auto op = tile::ScanOp::create(builder, loc(at), tile::ReduceKind::Sum, wide.ssa, axis, reverse);
  return Value::data(op, wide.dtype, tile.origins);
}

Value Emitter::concat(Value a, Value b, int64_t axis, At at) {
  if (!checkAxis(*this, "concat", a, axis, at) || !checkAxis(*this, "concat", b, axis, at))
    return Value::poison();
  std::optional<DType> type = commonType({a, b}, at);
  if (!type)
    return Value::poison();
  a = widen(a, *type, at);
  b = widen(b, *type, at);
  SmallVector<int64_t> shape(a.shape());
  bool fits = a.shape().size() == b.shape().size();
  for (size_t d = 0; fits && d < shape.size(); ++d)
    fits = int64_t(d) == axis || a.shape()[d] == b.shape()[d];
  if (!fits)
    return error(
        at, "T0302",
        fmt::format("'concat' needs equal extents but along axis {}, found {} and {}", axis, describe(a), describe(b)),
        "");
  shape[axis] += b.shape()[axis];
  if (!checkExtents(shape, at))
    return Value::poison();
  std::vector<std::string> origins = a.origins;
  origins[axis].clear();
  auto op = tile::ConcatOp::create(builder, loc(at), typeOf(*type, shape), a.ssa, b.ssa, axis);
  return Value::data(op, *type, std::move(origins));
}

Value Emitter::histogram(const Value &x, int64_t bins, At at) {
  if (x.isPoison())
    return x;
  if (!x.isTile() || isFloat(x.dtype) || x.dtype == DType::Bool)
    return error(at, "T0214", fmt::format("'histogram' counts a tile of integers, found {}", describe(x)),
                 "convert to i32");
  if (!checkExtents({bins}, at))
    return Value::poison();
  // A u64 beyond i64 becomes negative, which is no bin.
  bool isNarrow = sizeOf(x.dtype) < 4 || x.dtype == DType::I32;
  Value wide = convert(x, isNarrow ? DType::I32 : DType::I64, at);
  auto op = tile::HistogramOp::create(builder, loc(at), typeOf(DType::I32, {bins}), wide.ssa);
  return Value::data(op, DType::I32, {std::string()});
}

/// Elements of x along `axis` at the positions `index` (a vector); 0 where there is no such position.  Every position is compared with every index.
Value Emitter::take(const Value &x, const Value &index, int64_t axis, At at) {
  if (!checkAxis(*this, "take", x, axis, at) || index.isPoison())
    return Value::poison();
  if (!index.isTile() || index.shape().size() != 1 || isFloat(index.dtype) || index.dtype == DType::Bool)
    return error(at, "T0302", fmt::format("the index of 'take' is a vector of integers, found {}", describe(index)),
                 "");
  Value wanted = expandDims(convert(index, DType::I64, at), 1, at);
  Value match = binary(Operator::Eq, wanted, iota(Value::of(x.shape()[axis]), at), at);
  for (int64_t d = axis + 1; d < int64_t(x.shape().size()); ++d)
    match = expandDims(match, match.shape().size(), at);
  // Exactly one element matches, so that the bits of all may be joined.
  Type element = getElementTypeOrSelf(x.ssa.getType());
  auto integer = IntegerType::get(context, element.getIntOrFloatBitWidth());
  Value bits = expandDims(x, axis, at);
  mlir::Value raw = bits.ssa;
  auto withElement = [](Type type, Type to) { return cast<RankedTensorType>(type).clone(to); };
  if (raw.getType() != withElement(raw.getType(), integer))
    raw = arith::BitcastOp::create(builder, loc(at), withElement(raw.getType(), integer), raw);
  SmallVector<int64_t> shape(bits.shape());
  shape[axis] = index.shape()[0];
  Value condition = broadcast(match, shape, std::vector<std::string>(shape.size()), at);
  auto type = RankedTensorType::get(shape, integer);
  raw = tile::BroadcastOp::create(builder, loc(at), type, raw);
  mlir::Value zero =
      arith::ConstantOp::create(builder, loc(at), DenseElementsAttr::get(type, APInt(integer.getWidth(), 0)));
  mlir::Value chosen = arith::SelectOp::create(builder, loc(at), condition.ssa, raw, zero);
  shape.erase(shape.begin() + axis + 1);
  mlir::Value joined = tile::ReduceOp::create(builder, loc(at), RankedTensorType::get(shape, integer),
                                              tile::ReduceKind::Or, chosen, axis + 1);
  if (element != integer)
    joined = arith::BitcastOp::create(builder, loc(at), RankedTensorType::get(shape, element), joined);
  std::vector<std::string> origins = x.origins;
  origins[axis] = index.origins[0];
  return Value::data(joined, x.dtype, std::move(origins));
}

Value Emitter::paged(const Value &pool, const Value &table, const Value &rows, At at) {
  if (pool.isPoison() || table.isPoison() || rows.isPoison())
    return Value::poison();
  if (!pool.isView() || pool.view->extents.size() < 2)
    return error(at, "T0304", fmt::format("the pool of 'paged' is a view of pages and rows, found {}", describe(pool)),
                 "write pool[.., .., g]");
  bool fits = table.isView() && table.view->extents.size() == 1 &&
              (table.view->dtype == DType::I32 || table.view->dtype == DType::I64);
  if (!fits)
    return error(
        at, "T0304",
        fmt::format("the table of 'paged' is a view of one dimension of i32 or i64, found {}", describe(table)),
        "write table[b]");
  Value count = toIndex(rows, at, "the number of rows of 'paged'");
  if (count.isPoison())
    return count;
  View result{
      .value = {}, .dtype = pool.view->dtype, .mode = pool.view->mode, .param = pool.view->param, .extents = {}};
  ViewExtent first;
  first.value = builder.createOrFold<arith::MaxSIOp>(loc(at), count.ssa, indexConstant(0, at));
  result.extents.push_back(first);
  result.extents.insert(result.extents.end(), pool.view->extents.begin() + 2, pool.view->extents.end());
  SmallVector<int64_t> shape;
  for (const ViewExtent &extent : result.extents)
    shape.push_back(extent.fixed.value_or(ShapedType::kDynamic));
  auto type = tile::ViewType::get(context, shape, cast<tile::ViewType>(pool.view->value.getType()).getElementType());
  result.value = tile::PagedOp::create(builder, loc(at), type, pool.view->value, table.view->value, count.ssa);
  return Value::of(std::move(result));
}

} // namespace tessera::frontend
