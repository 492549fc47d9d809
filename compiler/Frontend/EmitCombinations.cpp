//===- EmitCombinations.cpp - reduce and scan by a function of the program -------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The function is inlined once, on scalars, into the region of one op.  It gets the elements of all tiles on the left, then those on the right.
//
#include "compiler/Frontend/Emitter.h"
#include "dialect/Tile/TileDialect.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <fmt/format.h>

using namespace mlir;
namespace tessera::frontend {

/// The tiles of `reduce` or `scan`, broadcast to one shape; empty after an error.
static std::vector<Value> tilesOf(Emitter &e, const char *name, const Value &sources, int64_t axis, At at) {
  std::vector<Value> tiles = sources.isTuple() ? sources.elements : std::vector<Value>{sources};
  for (const Value &tile : tiles)
    if (!tile.isTile()) {
      if (!tile.isPoison())
        e.error(at, "T0302", fmt::format("'{}' takes a tile or a tuple of tiles, found {}", name, e.describe(tile)),
                tile.isView() ? "load it: x[:]" : "");
      return {};
    }
  std::optional<Emitter::Shape> shape = tiles.empty() ? std::nullopt : e.commonShape(tiles, at);
  if (!shape)
    return {};
  int64_t rank = shape->extents.size();
  if (axis < 0 || axis >= rank) {
    e.error(at, "T0302", fmt::format("expected an axis in 0..{}, found {}", rank, axis),
            "axes count from 0 and are never negative");
    return {};
  }
  for (Value &tile : tiles) {
    tile = e.broadcast(tile, shape->extents, shape->origins, at);
    if (tile.isPoison())
      return {};
  }
  return tiles;
}

Value Emitter::combineAlong(bool isScan, const Value &sources, int64_t axis, bool reverse,
                            llvm::function_ref<Value(ArrayRef<Value>, ArrayRef<Value>)> combine, At at) {
  const char *name = isScan ? "scan" : "reduce";
  std::vector<Value> tiles = tilesOf(*this, name, sources, axis, at);
  if (tiles.empty())
    return Value::poison();
  SmallVector<mlir::Value> operands;
  SmallVector<Type> types, elements;
  std::vector<std::string> origins = tiles[0].origins;
  if (!isScan)
    origins.erase(origins.begin() + axis);
  for (const Value &tile : tiles) {
    operands.push_back(tile.ssa);
    SmallVector<int64_t> shape(tile.shape());
    if (!isScan)
      shape.erase(shape.begin() + axis);
    elements.push_back(elementType(context, tile.dtype));
    types.push_back(shape.empty() ? elements.back() : typeOf(tile.dtype, shape));
  }
  mlir::Operation *op = isScan ? tile::ScanByOp::create(builder, loc(at), types, operands, axis, reverse).getOperation()
                               : tile::ReduceByOp::create(builder, loc(at), types, operands, axis).getOperation();
  Block *block = &op->getRegion(0).emplaceBlock();
  bool good = true;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(block);
    SmallVector<Value> sides[2];
    for (SmallVector<Value> &side : sides)
      for (auto [tile, element] : llvm::zip(tiles, elements))
        side.push_back(Value::data(block->addArgument(element, loc(at)), tile.dtype));
    Value result = combine(sides[0], sides[1]);
    std::vector<Value> parts = result.isTuple() ? result.elements : std::vector<Value>{result};
    good = !result.isPoison();
    if (good && parts.size() != tiles.size()) {
      error(at, "T0229",
            fmt::format("the function of '{}' gives {} for {}", name, countOf(parts.size(), "value"),
                        countOf(tiles.size(), "tile")),
            "give one value for each tile: (a, b)");
      good = false;
    }
    SmallVector<mlir::Value> yielded;
    for (size_t i = 0; good && i < parts.size(); ++i) {
      Value part = widen(parts[i], tiles[i].dtype, at);
      good = !part.isPoison();
      if (good && !part.isScalar()) {
        error(at, "T0229", fmt::format("the function of '{}' gives {}, not a scalar", name, describe(part)),
              "it combines single elements and may use no tile from around it");
        good = false;
      }
      if (good)
        yielded.push_back(part.ssa);
    }
    for (mlir::Operation &inner : *block) {
      auto isTile = [](Type type) { return isa<RankedTensorType, tile::ViewType>(type); };
      bool fits = !inner.getNumRegions() && isMemoryEffectFree(&inner) &&
                  llvm::none_of(inner.getOperandTypes(), isTile) && llvm::none_of(inner.getResultTypes(), isTile);
      if (good && !fits) {
        error(at, "T0229",
              fmt::format("the function of '{}' may only compute with its elements and scalars around it", name),
              "choose with where(c, a, b); load and store outside");
        good = false;
      }
    }
    if (good)
      tile::YieldOp::create(builder, loc(at), yielded);
  }
  if (!good) {
    op->erase();
    return Value::poison();
  }
  std::vector<Value> results;
  for (auto [tile, result] : llvm::zip(tiles, op->getResults()))
    results.push_back(Value::data(result, tile.dtype,
                                  isa<RankedTensorType>(result.getType()) ? origins : std::vector<std::string>()));
  return sources.isTuple() ? Value::of(std::move(results)) : results[0];
}

} // namespace tessera::frontend
