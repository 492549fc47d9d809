//===- HostMemory.cpp - views, loads and stores on the host ---------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A slice whose last tile dimension is a plain range is handled by rows: the columns that exist are one interval, computed once a row, so the loop over them
// has no test inside and vectorizes.  Slices with index tiles ask for every element.  No address outside a view is ever formed into
// an access.
//
#include "compiler/Conversion/TileToHost/Lowering.h"

using namespace mlir;
using namespace tessera;

Value HostLowering::offsetPointer(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(b, pointer.getType(), b.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{bytes});
}

Value HostLowering::loadScalar(Type element, Value pointer) {
  Value loaded = LLVM::LoadOp::create(b, stored(element), pointer, bytesOf(element));
  if (element.isInteger(1))
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, loaded,
                                 arith::ConstantOp::create(b, b.getI8IntegerAttr(0)));
  return loaded;
}

void HostLowering::storeScalar(Value value, Value pointer) {
  if (value.getType().isInteger(1))
    value = arith::ExtUIOp::create(b, b.getI8Type(), value);
  value = hold(value);
  LLVM::StoreOp::create(b, value, pointer, bytesOf(value.getType()));
}

void HostLowering::lowerSubview(tile::SubviewOp op) {
  HostView source = views.lookup(op.getSource());
  HostView result{source.pointer, source.valid, {}, source.element};
  size_t next = 0;
  auto bounds = op.getBounds();
  auto plus = [&](Value x, Value y) -> Value { return x ? arith::AddIOp::create(b, x, y).getResult() : y; };
  for (auto [d, kind] : llvm::enumerate(op.getKinds())) {
    HostViewDim dim = source.dims[d];
    if (kind == 1) {
      result.dims.push_back(dim);
      continue;
    }
    Value start = plus(dim.offset, get(bounds[next++]));
    Value low = dim.low ? dim.low : i64(0);
    if (kind == 0 && dim.pages) {
      Place place = placeInDimension(dim, start, source.element);
      result.valid = result.valid ? arith::AndIOp::create(b, result.valid, place.inside).getResult() : place.inside;
      result.pointer = offsetPointer(result.pointer, arith::SelectOp::create(b, place.inside, place.pointer, i64(0)));
      continue;
    }
    if (kind == 0) {
      Value inside = arith::AndIOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::sge, start, low),
                                           arith::CmpIOp::create(b, arith::CmpIPredicate::slt, start, dim.high));
      result.valid = result.valid ? arith::AndIOp::create(b, result.valid, inside).getResult() : inside;
      // Outside: stay at index 0; nothing will be accessed.
      Value safe = arith::SelectOp::create(b, inside, start, i64(0));
      Value bytes = arith::MulIOp::create(b, arith::MulIOp::create(b, safe, dim.stride), i64(bytesOf(source.element)));
      result.pointer = offsetPointer(result.pointer, bytes);
      continue;
    }
    Value end = plus(dim.offset, get(bounds[next++]));
    if (!faults.viewBoundIgnored) {
      // high >= low, so that differences with an index overflow together, if at all.
      dim.low = arith::MaxSIOp::create(b, low, start);
      dim.high = arith::MaxSIOp::create(b, arith::MinSIOp::create(b, dim.high, end), dim.low);
    }
    dim.offset = faults.subviewOffsetIgnored ? dim.offset : start;
    result.dims.push_back(dim);
  }
  views[op.getResult()] = result;
}

void HostLowering::lowerPaged(tile::PagedOp op) {
  HostView pool = views.lookup(op.getPool());
  auto pages = std::make_shared<HostPages>();
  pages->table = views.lookup(op.getTable());
  const HostViewDim &page = pool.dims[0], &row = pool.dims[1];
  pages->poolOffset = page.offset;
  pages->poolLow = page.low;
  pages->poolHigh = page.high;
  pages->pageStride = page.stride;
  pages->rowsOfPage = row.offset ? arith::SubIOp::create(b, row.high, row.offset).getResult() : row.high;
  HostView result{pool.pointer, pool.valid, {}, pool.element};
  if (row.offset)
    result.pointer =
        offsetPointer(result.pointer, arith::MulIOp::create(b, arith::MulIOp::create(b, row.offset, row.stride),
                                                            i64(bytesOf(pool.element))));
  HostViewDim rows;
  rows.stride = row.stride;
  rows.high = get(op.getRows());
  rows.pages = pages;
  result.dims.push_back(rows);
  result.dims.append(pool.dims.begin() + 2, pool.dims.end());
  views[op.getResult()] = result;
}

HostLowering::Place HostLowering::placeInDimension(const HostViewDim &dim, Value element, Type type) {
  auto between = [&](Value x, Value low, Value high) -> Value {
    return arith::AndIOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::sge, x, low ? low : i64(0)),
                                 arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, high));
  };
  Value inside = between(element, dim.low, dim.high);
  Value size = i64(bytesOf(type));
  if (!dim.pages)
    return {arith::MulIOp::create(b, arith::MulIOp::create(b, element, dim.stride), size), inside};
  const HostPages &pages = *dim.pages;
  // No division by an empty page, no look at the table but for rows that exist.
  inside =
      arith::AndIOp::create(b, inside, arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, pages.rowsOfPage, i64(0)));
  Value rows = arith::MaxSIOp::create(b, pages.rowsOfPage, i64(1));
  Value safe = arith::SelectOp::create(b, inside, element, i64(0));
  Value page = arith::DivUIOp::create(b, safe, rows), row = arith::RemUIOp::create(b, safe, rows);
  const HostViewDim &entries = pages.table.dims[0];
  Place entry = placeInDimension(
      entries, entries.offset ? arith::AddIOp::create(b, page, entries.offset).getResult() : page, pages.table.element);
  inside = arith::AndIOp::create(b, inside, entry.inside);
  if (pages.table.valid)
    inside = arith::AndIOp::create(b, inside, pages.table.valid);
  auto branch = scf::IfOp::create(b, TypeRange(b.getI64Type()), inside, true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value number = loadScalar(pages.table.element, offsetPointer(pages.table.pointer, entry.pointer));
    if (!number.getType().isInteger(64))
      number = arith::ExtSIOp::create(b, b.getI64Type(), number);
    scf::YieldOp::create(b, number);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, i64(-1));
  }
  Value number = branch.getResult(0);
  if (pages.poolOffset)
    number = arith::AddIOp::create(b, number, pages.poolOffset);
  inside = arith::AndIOp::create(b, inside, between(number, pages.poolLow, pages.poolHigh));
  Value elements = arith::AddIOp::create(b, arith::MulIOp::create(b, number, pages.pageStride),
                                         arith::MulIOp::create(b, row, dim.stride));
  return {arith::MulIOp::create(b, elements, size), inside};
}

Value HostLowering::dimExtent(tile::DimOp op) {
  Value view = op.getView();
  int64_t axis = op.getAxis();
  while (auto subview = view.getDefiningOp<tile::SubviewOp>()) {
    size_t next = 0;
    int64_t kept = 0, sourceAxis = 0;
    for (auto [d, kind] : llvm::enumerate(subview.getKinds())) {
      if (kind != 0 && kept++ == axis) {
        if (kind == 2) {
          Value length = arith::SubIOp::create(b, get(subview.getBounds()[next + 1]), get(subview.getBounds()[next]));
          return arith::MaxSIOp::create(b, length, i64(0));
        }
        sourceAxis = d;
      }
      next += kind == 0 ? 1 : kind == 2 ? 2 : 0;
    }
    axis = sourceAxis;
    view = subview.getSource();
  }
  return views.find(view)->second.dims[axis].high;
}

HostLowering::Place HostLowering::placeOf(Value viewValue, ValueRange indices, ArrayRef<int64_t> widths,
                                          ArrayRef<int64_t> steps, const Indices &at) {
  const HostView view = views.lookup(viewValue);
  // The index tiles broadcast; their dimensions stand where the first of them stands.
  int64_t tileRank = 0;
  for (auto [index, width] : llvm::zip(indices, widths))
    if (width < 0)
      tileRank = std::max(tileRank, tileType(index).getRank());
  Place place{view.pointer, view.valid};
  size_t position = 0, tilePosition = 0;
  bool tilesPlaced = false;
  for (auto [d, width] : llvm::enumerate(widths)) {
    const HostViewDim &dim = view.dims[d];
    Value index = indices[d], element;
    if (width > 0) {
      Value step = arith::MulIOp::create(b, at[position++], i64(steps[d]));
      element = arith::AddIOp::create(b, get(index), step);
    } else if (width == 0) {
      element = get(index);
    } else {
      if (!tilesPlaced) {
        tilePosition = position;
        position += tileRank;
        tilesPlaced = true;
      }
      RankedTensorType type = tileType(index);
      Indices own(at.begin() + tilePosition + tileRank - type.getRank(), at.begin() + tilePosition + tileRank);
      for (int64_t i = 0; i < type.getRank(); ++i)
        if (type.getShape()[i] == 1)
          own[i] = i64(0);
      element = elementOf(index, own);
    }
    if (dim.offset)
      element = arith::AddIOp::create(b, element, dim.offset);
    Place own = placeInDimension(dim, element, view.element);
    place.inside = place.inside ? arith::AndIOp::create(b, place.inside, own.inside).getResult() : own.inside;
    place.pointer = offsetPointer(place.pointer, own.pointer);
  }
  if (!place.inside)
    place.inside = arith::ConstantOp::create(b, b.getBoolAttr(true));
  return place;
}

Value HostLowering::insideElement(tile::InsideOp op, const Indices &indices) {
  return placeOf(op.getView(), op.getIndices(), op.getWidths(), op.getSteps(), indices).inside;
}

HostLowering::Row HostLowering::rowOf(Value viewValue, ValueRange indices, ArrayRef<int64_t> widths,
                                      ArrayRef<int64_t> steps, const Indices &outer) {
  const HostView view = views.lookup(viewValue);
  int64_t last = -1;
  for (auto [d, width] : llvm::enumerate(widths))
    if (width > 0)
      last = d;
  Row row;
  row.pointer = view.pointer;
  Value valid = view.valid;
  size_t position = 0;
  auto require = [&](Value condition) {
    valid = valid ? arith::AndIOp::create(b, valid, condition).getResult() : condition;
  };
  for (auto [d, width] : llvm::enumerate(widths)) {
    const HostViewDim &dim = view.dims[d];
    Value element = get(indices[d]);
    if (width > 0 && int64_t(d) != last)
      element = arith::AddIOp::create(b, element, arith::MulIOp::create(b, outer[position++], i64(steps[d])));
    if (dim.offset)
      element = arith::AddIOp::create(b, element, dim.offset);
    Value low = dim.low && !faults.lowBoundIgnored ? dim.low : i64(0);
    int64_t bytes = bytesOf(view.element);
    if (int64_t(d) == last) {
      // Columns c with low <= element + c * step < high.
      Value step = i64(steps[d]), width64 = i64(width);
      auto ceilDivide = [&](Value x) -> Value {
        Value positive = arith::MaxSIOp::create(b, x, i64(0));
        if (steps[d] == 1)
          return positive;
        return arith::DivUIOp::create(b, arith::AddIOp::create(b, positive, i64(steps[d] - 1)), step);
      };
      row.first = arith::MinSIOp::create(b, ceilDivide(arith::SubIOp::create(b, low, element)), width64);
      if (faults.lowBoundIgnored)
        row.first = i64(0);
      row.end = arith::MinSIOp::create(b, ceilDivide(arith::SubIOp::create(b, dim.high, element)), width64);
      if (faults.highBoundIgnored)
        row.end = arith::MinSIOp::create(b, arith::AddIOp::create(b, row.end, i64(1)), width64);
      row.stride = arith::MulIOp::create(b, dim.stride, i64(steps[d] * bytes));
    } else if (dim.pages) {
      Place place = placeInDimension(dim, element, view.element);
      require(place.inside);
      row.pointer = offsetPointer(row.pointer, place.pointer);
      continue;
    } else {
      require(arith::CmpIOp::create(b, arith::CmpIPredicate::sge, element, low));
      require(arith::CmpIOp::create(b, arith::CmpIPredicate::slt, element, dim.high));
    }
    row.pointer =
        offsetPointer(row.pointer, arith::MulIOp::create(b, arith::MulIOp::create(b, element, dim.stride), i64(bytes)));
  }
  row.end = arith::MaxSIOp::create(b, row.end, row.first);
  if (valid)
    row.end = arith::SelectOp::create(b, valid, row.end, row.first);
  return row;
}

/// Whether the slice goes by rows: no index tiles, and its last dimension lies at equal distances.
bool HostLowering::goesByRows(Value view, ArrayRef<int64_t> widths) {
  int64_t last = -1;
  for (auto [d, width] : llvm::enumerate(widths)) {
    if (width < 0)
      return false;
    if (width > 0)
      last = d;
  }
  return last >= 0 && !views.find(view)->second.dims[last].pages;
}

LogicalResult HostLowering::lowerLoad(tile::LoadOp op) {
  RankedTensorType type = tileType(op.getResult());
  Type element = getElementTypeOrSelf(op.getResult());
  auto padding = [&]() -> Value {
    if (op.getPad() && !faults.padIgnored)
      return get(op.getPad());
    return arith::ConstantOp::create(b, b.getZeroAttr(held(element)));
  };
  auto guarded = [&](const Indices &at) -> Value {
    Place place = placeOf(op.getView(), op.getIndices(), op.getWidths(), op.getSteps(), at);
    auto branch = scf::IfOp::create(b, TypeRange(held(element)), place.inside, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(b, loadScalar(element, place.pointer));
    b.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(b, padding());
    return branch.getResult(0);
  };
  if (!type) {
    scalars[op.getResult()] = guarded({});
    return success();
  }
  Value buffer = scratchPointer(allocate(type));
  bool byRows = goesByRows(op.getView(), op.getWidths());
  if (!byRows) {
    loopOver(type.getShape(), [&](const Indices &at) { storeScalar(guarded(at), bufferElement(buffer, type, at)); });
  } else {
    Value pad = padding();
    loopOver(type.getShape().drop_back(), [&](const Indices &outer) {
      Row row = rowOf(op.getView(), op.getIndices(), op.getWidths(), op.getSteps(), outer);
      Indices at(outer);
      at.push_back(Value());
      auto fill = [&](Value low, Value high, bool inside) {
        loop(low, high, 1, [&](Value c) {
          at.back() = c;
          Value value =
              inside ? loadScalar(element, offsetPointer(row.pointer, arith::MulIOp::create(b, c, row.stride))) : pad;
          storeScalar(value, bufferElement(buffer, type, at));
        });
      };
      fill(i64(0), row.first, false);
      // The common case, contiguous columns, as a loop of its own that vectorizes.
      Value unit = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, row.stride, i64(bytesOf(element)));
      auto branch = scf::IfOp::create(b, TypeRange(), unit, true);
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(branch.thenBlock());
        loop(row.first, row.end, 1, [&](Value c) {
          at.back() = c;
          Value from =
              LLVM::GEPOp::create(b, row.pointer.getType(), stored(element), row.pointer, ArrayRef<LLVM::GEPArg>{c});
          storeScalar(loadScalar(element, from), bufferElement(buffer, type, at));
        });
        b.setInsertionPointToStart(branch.elseBlock());
        fill(row.first, row.end, true);
      }
      fill(row.end, i64(type.getShape().back()), false);
    });
  }
  scalars[op.getResult()] = buffer;
  return success();
}

LogicalResult HostLowering::lowerStore(tile::StoreOp op) {
  RankedTensorType type = tileType(op.getValue());
  auto guarded = [&](const Indices &at) {
    Place place = placeOf(op.getView(), op.getIndices(), op.getWidths(), op.getSteps(), at);
    Value value = type ? elementOf(op.getValue(), at) : get(op.getValue());
    if (faults.storeUnguarded && type)
      place.inside = arith::ConstantOp::create(b, b.getBoolAttr(true));
    auto branch = scf::IfOp::create(b, TypeRange(), place.inside, false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    storeScalar(value, place.pointer);
  };
  if (!type) {
    guarded({});
    return success();
  }
  if (!goesByRows(op.getView(), op.getWidths()) || faults.storeUnguarded) {
    loopOver(type.getShape(), guarded);
    return success();
  }
  loopOver(type.getShape().drop_back(), [&](const Indices &outer) {
    Row row = rowOf(op.getView(), op.getIndices(), op.getWidths(), op.getSteps(), outer);
    Indices at(outer);
    at.push_back(Value());
    loop(row.first, row.end, 1, [&](Value c) {
      at.back() = c;
      Value value = elementOf(op.getValue(), at);
      storeScalar(value, offsetPointer(row.pointer, arith::MulIOp::create(b, c, row.stride)));
    });
  });
  return success();
}
