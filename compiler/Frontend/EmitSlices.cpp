//===- EmitSlices.cpp - views, loads, stores and indices of tiles --------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "compiler/Frontend/Emitter.h"

#include "dialect/Tile/TileDialect.h"

#include <fmt/format.h>

using namespace mlir;

namespace tessera::frontend {

static std::string_view spelling(ParamMode mode) {
  switch (mode) {
  case ParamMode::In:
    return "in";
  case ParamMode::Out:
    return "out";
  case ParamMode::InOut:
    return "inout";
  case ParamMode::Accum:
    return "accum";
  }
  return "";
}

Value Emitter::extentOf(const View &view, size_t axis, At at) {
  const ViewExtent &extent = view.extents[axis];
  if (extent.fixed)
    return Value::of(*extent.fixed, extent.origin);
  if (extent.value)
    return Value::data(extent.value, DType::I64);
  return Value::data(tile::DimOp::create(builder, loc(at), view.value, int64_t(axis)), DType::I64);
}

bool Emitter::isViewIndexing(const View &view, ArrayRef<Index> indices) {
  return indices.size() < view.extents.size() || llvm::any_of(indices, [](const Index &i) {
           return i.kind == Index::Kind::All || i.kind == Index::Kind::Range;
         });
}

Value Emitter::subview(const View &view, ArrayRef<Index> indices, At at) {
  if (indices.size() > view.extents.size())
    return error(at, "T0304",
                 fmt::format("'{}' has {} here, found {} indices", view.param,
                             countOf(view.extents.size(), "dimension"), indices.size()),
                 "");
  View result{.value = {}, .dtype = view.dtype, .mode = view.mode, .param = view.param, .extents = {}};
  SmallVector<mlir::Value> bounds;
  SmallVector<int32_t> kinds;
  SmallVector<int64_t> shape;
  bool good = true;
  auto bound = [&](const Value &value, At place, const char *what) {
    Value index = toIndex(value, place, what);
    good &= !index.isPoison();
    bounds.push_back(index.ssa);
  };
  for (size_t d = 0; d < view.extents.size(); ++d) {
    if (d >= indices.size() || indices[d].kind == Index::Kind::All) {
      kinds.push_back(1);
      result.extents.push_back(view.extents[d]);
      shape.push_back(view.extents[d].fixed.value_or(ShapedType::kDynamic));
      continue;
    }
    const Index &index = indices[d];
    if (index.kind == Index::Kind::Scalar) {
      kinds.push_back(0);
      bound(index.value, index.at, "an index");
    } else if (index.kind == Index::Kind::Range) {
      kinds.push_back(2);
      bound(index.value, index.at, "the low bound of a range");
      bound(index.high, index.at, "the high bound of a range");
      result.extents.push_back({});
      shape.push_back(ShapedType::kDynamic);
    } else {
      error(index.at, "T0304",
            fmt::format("'{}' of {} is taken as a view here, which allows only scalars, '..' and ranges a..b",
                        view.param, countOf(view.extents.size(), "dimension")),
            "take the view first and slice it then: x[lo..hi][i +: W]; or give every dimension an index");
      good = false;
    }
  }
  if (!good)
    return Value::poison();
  auto type = tile::ViewType::get(context, shape, elementType(context, view.dtype));
  result.value = tile::SubviewOp::create(builder, loc(at), type, view.value, bounds, kinds);
  return Value::of(std::move(result));
}

/// Broadcasts the shape of an index tile into the common one.
static bool mergeIndexTile(SmallVector<int64_t> &shape, std::vector<std::string> &origins, const Value &tile) {
  ArrayRef<int64_t> have = tile.shape();
  while (shape.size() < have.size()) {
    shape.insert(shape.begin(), 1);
    origins.insert(origins.begin(), std::string());
  }
  for (size_t i = 0; i < have.size(); ++i) {
    size_t d = shape.size() - have.size() + i;
    if (shape[d] == 1) {
      shape[d] = have[i];
      origins[d] = tile.origins[i];
    } else if (have[i] != 1 && have[i] != shape[d]) {
      return false;
    }
  }
  return true;
}

namespace {

/// A slice under construction: one call per dimension of the view.
struct SliceBuilder {
  Emitter &emitter;
  Slice slice = {};
  SmallVector<int64_t> tileShape = {};       ///< common shape of the index tiles so far
  std::vector<std::string> tileOrigins = {}; ///< and where its extents come from
  size_t tilePlace = 0;                      ///< where the first index tile stands

  bool append(const Value &operand, int64_t width, int64_t step, std::string origin) {
    if (operand.isPoison())
      return false;
    slice.indices.push_back(operand.ssa);
    slice.widths.push_back(width);
    slice.steps.push_back(step);
    if (width > 0) {
      slice.shape.push_back(width);
      slice.origins.push_back(std::move(origin));
    }
    return true;
  }

  bool refuse(const Index &index, const char *code, std::string message, std::string remedy) {
    emitter.error(index.at, code, std::move(message), std::move(remedy));
    return false;
  }

  bool window(const Index &index) {
    if (index.width.isPoison() || index.step.isPoison())
      return false;
    auto isPositive = [](const Value &v) { return v.isInteger() && v.integer >= 1; };
    if (!isPositive(index.width) || !isPositive(index.step))
      return refuse(index, "T0306",
                    fmt::format("the width and step of a slice are compile-time integers of at least 1, found {}",
                                emitter.describe(isPositive(index.width) ? index.step : index.width)),
                    "make it a compile-time parameter: kernel k<W = 64>");
    return append(emitter.toIndex(index.value, index.at, "the start of a slice"), index.width.integer,
                  index.step.integer, index.width.origin);
  }

  bool whole(const Index &index, const ViewExtent &extent, const std::string &param) {
    if (!extent.fixed)
      return refuse(
          index, "T0305",
          fmt::format("':' takes a whole dimension of compile-time extent, found the run-time extent{} of '{}'",
                      extent.origin.empty() ? std::string() : fmt::format(" '{}'", extent.origin), param),
          "walk it: for c in 0..C by BC { x[c +: BC] }; or make it a compile-time parameter");
    if (*extent.fixed < 1)
      return refuse(index, "T0307",
                    fmt::format("the extent of a tile is at least 1, found {} in '{}'", *extent.fixed, param), "");
    return append(Value::data(emitter.indexConstant(0, index.at), DType::I64), *extent.fixed, 1, extent.origin);
  }

  bool tile(const Index &index) {
    if (!isInteger(index.value.dtype))
      return refuse(index, "T0214", fmt::format("an index is an integer, found {}", emitter.describe(index.value)), "");
    if (index.isUnpaddedSlice)
      return refuse(index, "T0311",
                    "an integer slice used as an index says what lies past its end: expected 'pad =', found none",
                    "write pad = -1: outside, so nothing is read or written");
    if (!slice.hasIndexTiles)
      tilePlace = slice.shape.size();
    slice.hasIndexTiles = true;
    if (!mergeIndexTile(tileShape, tileOrigins, index.value))
      return refuse(index, "T0301",
                    fmt::format("the index tiles do not broadcast: found {}", emitter.describe(index.value)),
                    "make an outer gather: i[:, None]");
    return append(emitter.convert(index.value, DType::I64, index.at), -1, 1, {});
  }
};

} // namespace

std::optional<Slice> Emitter::slice(const View &view, ArrayRef<Index> indices, At at) {
  if (indices.size() != view.extents.size()) {
    error(at, "T0304",
          fmt::format("'{}' has {} here, found {} indices", view.param, countOf(view.extents.size(), "dimension"),
                      indices.size()),
          "");
    return std::nullopt;
  }
  SliceBuilder parts{*this};
  parts.slice.view = view;
  bool good = true;
  for (auto [d, index] : llvm::enumerate(indices)) {
    switch (index.kind) {
    case Index::Kind::Scalar:
      good &= parts.append(toIndex(index.value, index.at, "an index"), 0, 1, {});
      break;
    case Index::Kind::Window:
      good &= parts.window(index);
      break;
    case Index::Kind::Whole:
      good &= parts.whole(index, view.extents[d], view.param);
      break;
    case Index::Kind::Tile:
      good &= parts.tile(index);
      break;
    case Index::Kind::NewAxis:
      good = parts.refuse(index, "T0304", "None is an index of tiles, found it in a slice of memory",
                          "load first: x[i +: W][:, None]");
      break;
    default:
      good = false;
      break; // ranges make views, which are no slices
    }
  }
  if (!good)
    return std::nullopt;
  Slice &slice = parts.slice;
  slice.shape.insert(slice.shape.begin() + parts.tilePlace, parts.tileShape.begin(), parts.tileShape.end());
  slice.origins.insert(slice.origins.begin() + parts.tilePlace, parts.tileOrigins.begin(), parts.tileOrigins.end());
  if (!checkExtents(slice.shape, at))
    return std::nullopt;
  return std::move(slice);
}

Value Emitter::load(const Slice &slice, const Value *pad, At at) {
  const View &view = slice.view;
  if (view.mode == ParamMode::Out || view.mode == ParamMode::Accum)
    return error(at, "T0314", fmt::format("'{}' is '{}' and cannot be read", view.param, spelling(view.mode)),
                 view.mode == ParamMode::Out ? "declare it 'inout'" : "read it in another kernel");
  mlir::Value padding;
  if (pad) {
    Value scalar = widen(*pad, view.dtype, at);
    if (scalar.isPoison())
      return scalar;
    if (!scalar.isScalar())
      return error(at, "T0212", fmt::format("the padding is a scalar, found {}", describe(scalar)), "");
    padding = scalar.ssa;
  }
  auto op = tile::LoadOp::create(builder, loc(at), typeOf(view.dtype, slice.shape), view.value, slice.indices,
                                 slice.widths, slice.steps, padding);
  return Value::data(op, view.dtype, slice.origins);
}

void Emitter::store(const Slice &slice, const Value &value, At at) {
  const View &view = slice.view;
  if (value.isPoison())
    return;
  if (view.mode == ParamMode::In) {
    error(at, "T0314", fmt::format("'{}' is 'in' and cannot be written", view.param), "declare it 'out' or 'inout'");
    return;
  }
  if (view.mode == ParamMode::Accum) {
    error(at, "T0314", fmt::format("'{}' is 'accum' and takes only +=", view.param), "write +=, or declare it 'out'");
    return;
  }
  if (value.isData() && value.shape().size() > slice.shape.size()) {
    error(at, "T0310",
          fmt::format("a slice of {} is assigned {}", countOf(slice.shape.size(), "dimension"), describe(value)), "");
    return;
  }
  Value stored = value.isData() ? broadcast(widen(value, view.dtype, at), slice.shape, slice.origins, at)
                                : full(value, view.dtype, {slice.shape, slice.origins}, at);
  if (!stored.isPoison())
    tile::StoreOp::create(builder, loc(at), stored.ssa, view.value, slice.indices, slice.widths, slice.steps);
}

void Emitter::accumulateInto(const Slice &slice, const Value &value, At at) {
  const View &view = slice.view;
  if (value.isPoison())
    return;
  if (refuseType("accumulate", "accum", view.dtype, "")) {
    error(at, "T0314",
          fmt::format("'accum' adds up f32, f64 and integers of 32 and 64 bits, found '{}' of {}", view.param,
                      nameOf(view.dtype)),
          "accumulate in f32 and convert in another kernel");
    return;
  }
  if (value.isData() && value.shape().size() > slice.shape.size()) {
    error(at, "T0310",
          fmt::format("a slice of {} is assigned {}", countOf(slice.shape.size(), "dimension"), describe(value)), "");
    return;
  }
  Value added = value.isData() ? broadcast(widen(value, view.dtype, at), slice.shape, slice.origins, at)
                               : full(value, view.dtype, {slice.shape, slice.origins}, at);
  if (!added.isPoison())
    tile::AccumulateOp::create(builder, loc(at), added.ssa, view.value, slice.indices, slice.widths, slice.steps);
}

Value Emitter::atomic(tile::AtomicKind kind, tile::Order order, const Slice &slice, const Value &value,
                      const Value *compare, const Value *pad, At at) {
  const View &view = slice.view;
  if (view.mode != ParamMode::InOut)
    return error(at, "T0314",
                 fmt::format("'{}' is '{}', and an atomic reads and writes", view.param, spelling(view.mode)),
                 "declare it 'inout'");
  std::string name = fmt::format("atomic_{}", stringifyAtomicKind(kind).str());
  if (std::optional<Refusal> refusal = refuseType(name, name, view.dtype, std::string(nameOf(view.dtype))))
    return error(at, *refusal);
  auto spread = [&](const Value &operand) -> mlir::Value {
    if (operand.isData() && operand.shape().size() > slice.shape.size()) {
      error(at, slice.shape.empty() ? "T0212" : "T0310",
            slice.shape.empty() ? fmt::format("an atomic on one element takes a scalar, found {}", describe(operand))
                                : fmt::format("an atomic on a slice of {} takes {}",
                                              countOf(slice.shape.size(), "dimension"), describe(operand)),
            "");
      return {};
    }
    Value wide = widen(operand, view.dtype, at);
    if (!wide.isPoison() && !slice.shape.empty())
      wide = operand.isData() ? broadcast(wide, slice.shape, slice.origins, at)
                              : full(operand, view.dtype, {slice.shape, slice.origins}, at);
    return wide.isPoison() ? mlir::Value() : wide.ssa;
  };
  mlir::Value operand = spread(value), other = compare ? spread(*compare) : mlir::Value(), padding;
  if (!operand || (compare && !other))
    return Value::poison();
  if (pad) {
    Value scalar = widen(*pad, view.dtype, at);
    if (scalar.isPoison())
      return scalar;
    if (!scalar.isScalar())
      return error(at, "T0212", fmt::format("the padding is a scalar, found {}", describe(scalar)), "");
    padding = scalar.ssa;
  }
  bool ordersUnsigned =
      isUnsignedInteger(view.dtype) && (kind == tile::AtomicKind::Min || kind == tile::AtomicKind::Max);
  auto op = tile::AtomicOp::create(builder, loc(at), typeOf(view.dtype, slice.shape), kind, operand, other, view.value,
                                   slice.indices, slice.widths, slice.steps, order, padding, ordersUnsigned);
  return Value::data(op, view.dtype, slice.origins);
}

Value Emitter::inside(const Slice &slice, At at) {
  auto op = tile::InsideOp::create(builder, loc(at), typeOf(DType::Bool, slice.shape), slice.view.value, slice.indices,
                                   slice.widths, slice.steps);
  return Value::data(op, DType::Bool, slice.origins);
}

namespace {

/// The part of a tile that compile-time indices name, one dimension after the other.
struct PartBuilder {
  Emitter &emitter;
  const Value &tile;
  SmallVector<int64_t> starts = {}, widths = {}, steps = {}, shape = {};
  std::vector<std::string> origins = {};
  bool isWhole = true;

  bool refuse(At at, std::string message, std::string remedy) {
    emitter.error(at, "T0313", std::move(message), std::move(remedy));
    return false;
  }

  bool append(const Index &index) {
    size_t d = starts.size();
    if (d >= tile.shape().size())
      return false; // reported by the caller, who counts
    int64_t extent = tile.shape()[d], start = 0, width = extent, step = 1;
    bool isWindow = index.kind == Index::Kind::Window;
    if (isWindow || index.kind == Index::Kind::Scalar) {
      if (!index.value.isInteger())
        return refuse(
            index.at,
            fmt::format("the parts of a tile have compile-time positions, found {}", emitter.describe(index.value)),
            "take(t, i, axis = 0) picks elements by run-time indices; or slice the tensor in memory");
      start = index.value.integer;
      width = 0;
    } else if (index.kind != Index::Kind::Whole) {
      return refuse(index.at,
                    index.kind == Index::Kind::Tile ? "a tile of indices picks elements of memory, found it on a tile"
                                                    : "the indices of a tile are numbers, start +: width, ':' and None",
                    index.kind == Index::Kind::Tile ? "write take(t, i, axis = 0)" : "write start +: width");
    }
    if (isWindow) {
      auto isPositive = [](const Value &v) { return v.isInteger() && v.integer >= 1; };
      if (!isPositive(index.width) || !isPositive(index.step)) {
        emitter.error(index.at, "T0306",
                      fmt::format("the width and step of a slice are compile-time integers of at least 1, found {}",
                                  emitter.describe(isPositive(index.width) ? index.step : index.width)),
                      "");
        return false;
      }
      width = index.width.integer;
      step = index.step.integer;
    }
    int64_t last = 0, count = std::max<int64_t>(width, 1);
    bool overflows = __builtin_mul_overflow(count - 1, step, &last) || __builtin_add_overflow(last, start, &last);
    if (start < 0 || overflows || last >= extent) {
      emitter.error(index.at, "T0317",
                    isWindow
                        ? fmt::format("dimension {} of {} has the extent {}, found a part of start {} and width {}{}",
                                      d, emitter.describe(tile), extent, start, count,
                                      step == 1 ? std::string() : fmt::format(" by {}", step))
                        : fmt::format("dimension {} of {} has the extent {}, found the position {}", d,
                                      emitter.describe(tile), extent, start),
                    "");
      return false;
    }
    isWhole &= width == extent;
    starts.push_back(start);
    widths.push_back(width);
    steps.push_back(count == 1 ? 1 : step);
    if (width > 0) {
      shape.push_back(width);
      origins.push_back(width == extent ? tile.origins[d] : isWindow ? index.width.origin : std::string());
    }
    return true;
  }
};

} // namespace

Value Emitter::indexTile(const Value &tile, ArrayRef<Index> indices, At at) {
  PartBuilder part{*this, tile};
  size_t count = llvm::count_if(indices, [](const Index &i) { return i.kind != Index::Kind::NewAxis; });
  bool good = true;
  for (const Index &index : indices)
    if (index.kind != Index::Kind::NewAxis)
      good &= part.append(index) || count > tile.shape().size();
  if (!good)
    return Value::poison();
  if (count != tile.shape().size())
    return error(at, "T0313",
                 fmt::format("expected one index for each dimension of {}, found {}", describe(tile), count),
                 "write ':' for a dimension that stays whole");
  Value result = tile;
  if (!part.isWhole) {
    auto op = tile::ExtractOp::create(builder, loc(at), typeOf(tile.dtype, part.shape), tile.ssa, part.starts,
                                      part.widths, part.steps);
    result = Value::data(op, tile.dtype, std::move(part.origins));
  }
  size_t axis = 0;
  for (const Index &index : indices) {
    if (index.kind == Index::Kind::NewAxis)
      result = expandDims(result, axis++, index.at);
    else
      axis += index.kind != Index::Kind::Scalar;
  }
  return result;
}

} // namespace tessera::frontend
