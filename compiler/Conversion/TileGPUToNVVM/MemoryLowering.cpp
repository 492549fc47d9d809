//===- MemoryLowering.cpp - views, global loads and stores ----------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A view is resolved at compile time to its parameter: a pointer moved by scalar indices, and for every remaining dimension an offset and the bounds that
// it and its parents impose, in the parameter's own indices.  An access then needs, for each dimension, the index of the thread's first
// element (run time), and a constant for each register; it is inside iff the constant is below `room` (and at least `below`, where
// indices may be negative).  Both are clamped to 32 bits once, so that the test of a register is one 32-bit comparison.
//
#include "compiler/Conversion/TileGPUToNVVM/Lowering.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::tile_gpu;

SmallVector<int64_t> KernelLowering::tileSteps(ValueRange indices, ArrayRef<int64_t> widths, ArrayRef<int64_t> steps,
                                               size_t rank) {
  size_t ranges = llvm::count_if(widths, [](int64_t width) { return width > 0; });
  SmallVector<int64_t> result;
  bool placed = false;
  for (auto [width, step] : llvm::zip(widths, steps)) {
    if (width > 0) {
      result.push_back(step);
    } else if (width < 0 && !placed) {
      result.append(rank - ranges, 1);
      placed = true;
    }
  }
  return result;
}

LogicalResult KernelLowering::lowerSubview(tile::SubviewOp op) {
  ViewState source = views.lookup(op.getSource());
  ViewState result;
  result.param = source.param;
  result.pointer = source.pointer;
  result.pointerDivisor = source.pointerDivisor;
  result.valid = source.valid;
  size_t next = 0;
  auto bounds = op.getBounds();
  for (auto [d, kind] : llvm::enumerate(op.getKinds())) {
    ViewDim dim = source.dims[d];
    if (kind == 1) {
      result.dims.push_back(dim);
      continue;
    }
    Value first = bounds[next++];
    Value start = add(dim.offset, get(first));
    if (kind == 0 && dim.pages) {
      auto [bytes, inside] = pagedRow(dim, *source.param, start);
      result.valid = result.valid ? LLVM::AndOp::create(b, result.valid, inside).getResult() : inside;
      result.pointer = LLVM::GEPOp::create(b, result.pointer.getType(), b.getI8Type(), result.pointer,
                                           ArrayRef<LLVM::GEPArg>{bytes});
      result.pointerDivisor = std::min({result.pointerDivisor, source.param->strideDivisors[dim.root],
                                        source.param->strideDivisors[dim.pages->pageRoot]});
      continue;
    }
    if (kind == 0) {
      // A scalar index: move the pointer, remember whether it was inside.
      Value low = dim.low ? dim.low : i64(0);
      Value inside = LLVM::AndOp::create(b, LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::sge, start, low),
                                         LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, start, dim.high));
      result.valid = result.valid ? LLVM::AndOp::create(b, result.valid, inside).getResult() : inside;
      Value bytes =
          mulConstant(LLVM::MulOp::create(b, start, source.param->strides[dim.root]), source.param->elementBytes);
      result.pointer = LLVM::GEPOp::create(b, result.pointer.getType(), b.getI8Type(), result.pointer,
                                           ArrayRef<LLVM::GEPArg>{bytes});
      int64_t divisor = dim.root == source.param->unitDim ? std::min(dim.offsetDivisor, facts.divisor(first))
                                                          : source.param->strideDivisors[dim.root];
      result.pointerDivisor = std::min(result.pointerDivisor, divisor);
      continue;
    }
    Value last = bounds[next++];
    Value end = add(dim.offset, get(last));
    dim.low = dim.low ? LLVM::SMaxOp::create(b, dim.low, start).getResult()
                      : LLVM::SMaxOp::create(b, start, i64(0)).getResult();
    dim.high = LLVM::SMinOp::create(b, dim.high, end);
    dim.highDivisor = std::min({dim.highDivisor, dim.offsetDivisor, facts.divisor(last)});
    dim.offsetDivisor = std::min(dim.offsetDivisor, facts.divisor(first));
    dim.offsetNonNegative = dim.offsetNonNegative && facts.isNonNegative(first);
    dim.offset = start;
    dim.staticExtent = -1;
    result.dims.push_back(dim);
  }
  views[op.getResult()] = std::move(result);
  return success();
}

void KernelLowering::lowerPaged(tile::PagedOp op) {
  const ViewState pool = views.lookup(op.getPool());
  auto pages = std::make_shared<PageTable>();
  pages->table = views.lookup(op.getTable());
  pages->wideEntries = cast<tile::ViewType>(op.getTable().getType()).getElementType().isInteger(64);
  const ViewDim &page = pool.dims[0], &row = pool.dims[1];
  pages->pageRoot = page.root;
  pages->poolOffset = page.offset;
  pages->poolLow = page.low;
  pages->poolHigh = page.high;
  pages->rowsOfPage = row.offset ? LLVM::SubOp::create(b, row.high, row.offset).getResult() : row.high;
  ViewState result = pool;
  if (row.offset) {
    Value bytes =
        mulConstant(LLVM::MulOp::create(b, row.offset, pool.param->strides[row.root]), pool.param->elementBytes);
    result.pointer =
        LLVM::GEPOp::create(b, result.pointer.getType(), b.getI8Type(), result.pointer, ArrayRef<LLVM::GEPArg>{bytes});
    result.pointerDivisor = std::min(result.pointerDivisor, pool.param->strideDivisors[row.root]);
  }
  ViewDim rows;
  rows.root = row.root;
  rows.high = get(op.getRows());
  rows.pages = pages;
  result.dims.erase(result.dims.begin());
  result.dims[0] = rows;
  views[op.getResult()] = std::move(result);
}

std::pair<Value, Value> KernelLowering::pagedRow(const ViewDim &dim, const ParamView &param, Value row) {
  const PageTable &pages = *dim.pages;
  auto both = [&](Value x, Value y) -> Value { return x && y ? LLVM::AndOp::create(b, x, y).getResult() : x ? x : y; };
  auto between = [&](Value x, Value low, Value high) -> Value {
    return both(LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::sge, x, low ? low : i64(0)),
                LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, x, high));
  };
  Value inside = both(between(row, dim.low, dim.high),
                      LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::sgt, pages.rowsOfPage, i64(0)));
  Value rows = LLVM::SMaxOp::create(b, pages.rowsOfPage, i64(1));
  Value safe = LLVM::SelectOp::create(b, inside, row, i64(0));
  Value page = LLVM::UDivOp::create(b, safe, rows), within = LLVM::URemOp::create(b, safe, rows);
  const ViewDim &entries = pages.table.dims[0];
  Value index = add(entries.offset, page);
  inside = both(both(inside, between(index, entries.low, entries.high)), pages.table.valid);
  Value bytes = mulConstant(LLVM::MulOp::create(b, index, pages.table.param->strides[entries.root]),
                            pages.table.param->elementBytes);
  Value pointer = LLVM::GEPOp::create(b, pages.table.pointer.getType(), b.getI8Type(), pages.table.pointer,
                                      ArrayRef<LLVM::GEPArg>{bytes});
  Value number =
      loadGlobal(pages.wideEntries ? b.getI64Type() : b.getI32Type(), pointer, inside, pages.table.param->readOnly);
  if (!pages.wideEntries)
    number = LLVM::SExtOp::create(b, b.getI64Type(), number);
  number = add(pages.poolOffset, number);
  inside = both(inside, between(number, pages.poolLow, pages.poolHigh));
  Value elements = LLVM::AddOp::create(b, LLVM::MulOp::create(b, number, param.strides[pages.pageRoot]),
                                       LLVM::MulOp::create(b, within, param.strides[dim.root]));
  return {mulConstant(elements, param.elementBytes), inside};
}

Value KernelLowering::dimExtent(tile::DimOp op) {
  const ViewState &view = views.find(op.getView())->second;
  const ViewDim &dim = view.dims[op.getAxis()];
  if (!dim.offset)
    return dim.high;
  // The extent of a range is its own length, not what its parents leave of it.
  auto subview = op.getView().getDefiningOp<tile::SubviewOp>();
  int64_t axis = op.getAxis();
  while (subview) {
    size_t next = 0;
    int64_t kept = 0;
    Value through;
    int64_t sourceAxis = -1;
    for (auto [d, kind] : llvm::enumerate(subview.getKinds())) {
      if (kind != 0 && kept++ == axis) {
        sourceAxis = d;
        if (kind == 2) {
          Value length = LLVM::SubOp::create(b, get(subview.getBounds()[next + 1]), get(subview.getBounds()[next]));
          return LLVM::SMaxOp::create(b, length, i64(0));
        }
      }
      next += kind == 0 ? 1 : kind == 2 ? 2 : 0;
    }
    axis = sourceAxis;
    subview = subview.getSource().getDefiningOp<tile::SubviewOp>();
  }
  return dim.high;
}

FailureOr<KernelLowering::Access> KernelLowering::planAccess(Operation *op, Value viewValue, ValueRange indices,
                                                             ArrayRef<int64_t> widths, ArrayRef<int64_t> steps,
                                                             const Dist &layout, ArrayRef<int64_t> shape,
                                                             bool boundedVectors) {
  const ViewState view = views.lookup(viewValue);
  const ParamView &param = *view.param;
  Access access;
  access.param = &param;
  access.base = view.pointer;
  access.valid = view.valid;
  int64_t vector = 16 / param.elementBytes;
  vector = std::min({vector, view.pointerDivisor, std::max<int64_t>(1, param.align / param.elementBytes)});
  Value bytes; // of the thread's first element from the pointer
  int64_t position = 0, tileRank = 0, tilePosition = -1;
  for (auto [index, width] : llvm::zip(indices, widths))
    if (width < 0)
      tileRank = std::max(tileRank, cast<RankedTensorType>(index.getType()).getRank());
  for (auto [d, width] : llvm::enumerate(widths)) {
    const ViewDim &dim = view.dims[d];
    Value index = indices[d];
    if (width < 0) {
      if (tilePosition < 0) {
        // The dimensions of all index tiles stand here; only the slice's end bounds them.
        tilePosition = position;
        for (int64_t i = 0; i < tileRank; ++i, ++position) {
          access.stride.push_back(Value());
          access.constantStride.push_back(0);
          access.below.push_back(Value());
          Value room;
          if (layout.coverage(position) > shape[position]) {
            Value base = threadBase(layout, position);
            room = base ? LLVM::SubOp::create(b, i32(shape[position]), base).getResult() : i32(shape[position]);
          }
          access.room.push_back(room);
        }
      }
      auto type = cast<RankedTensorType>(index.getType());
      Access::Gather gather;
      gather.vector = get(index);
      gather.offset = dim.offset;
      gather.low = dim.low;
      gather.high = dim.high;
      gather.stride = mulConstant(param.strides[dim.root], param.elementBytes);
      gather.layout = layoutOf(type);
      gather.firstDim = tilePosition + tileRank - type.getRank();
      gather.shape.assign(type.getShape().begin(), type.getShape().end());
      for (int64_t r = gather.layout.numRegisters() - 1; r >= 0; --r)
        gather.registerAt[gather.layout.offset(r)] = r;
      access.gathers.push_back(std::move(gather));
      vector = std::min(vector, dim.root == param.unitDim ? 1 : param.strideDivisors[dim.root]);
      continue;
    }
    if (dim.pages) {
      Value row = add(dim.offset, get(index));
      vector = std::min({vector, param.strideDivisors[dim.root], param.strideDivisors[dim.pages->pageRoot]});
      if (width == 0) {
        auto [offset, inside] = pagedRow(dim, param, row);
        bytes = add(bytes, offset);
        access.valid = access.valid ? LLVM::AndOp::create(b, access.valid, inside).getResult() : inside;
        continue;
      }
      Access::Paged paged;
      paged.dim = dim;
      paged.position = position;
      paged.step = steps[d];
      Value base = threadBase(layout, position), room;
      paged.first = base ? add(row, mulConstant(LLVM::ZExtOp::create(b, b.getI64Type(), base), steps[d])) : row;
      if (layout.coverage(position) > width)
        room = base ? LLVM::SubOp::create(b, i32(steps[d] * width), mulConstant(base, steps[d])).getResult()
                    : i32(steps[d] * width);
      access.stride.push_back(Value());
      access.constantStride.push_back(0);
      access.room.push_back(room);
      access.below.push_back(Value());
      access.paged.push_back(std::move(paged));
      ++position;
      continue;
    }
    bool zeroStart = matchPattern(index, m_Zero()) && !dim.offset;
    Value start = add(dim.offset, get(index));
    bool nonNegative = dim.offsetNonNegative && facts.isNonNegative(index) && !dim.low;
    int64_t startDivisor = std::min(dim.offsetDivisor, facts.divisor(index));
    if (width == 0) {
      Value inside = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, start, dim.high);
      if (!nonNegative) {
        Value low = dim.low ? dim.low : i64(0);
        inside = LLVM::AndOp::create(b, inside, LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::sge, start, low));
      }
      access.valid = access.valid ? LLVM::AndOp::create(b, access.valid, inside).getResult() : inside;
      Value part = mulConstant(LLVM::MulOp::create(b, start, param.strides[dim.root]), param.elementBytes);
      bytes = add(bytes, part);
      vector = std::min(vector, dim.root == param.unitDim ? startDivisor : param.strideDivisors[dim.root]);
      continue;
    }
    int64_t step = steps[d];
    Value base = threadBase(layout, position);
    Value first = base ? add(start, mulConstant(LLVM::ZExtOp::create(b, b.getI64Type(), base), step)) : start;
    bytes = add(bytes, mulConstant(dim.root == param.unitDim
                                       ? first
                                       : LLVM::MulOp::create(b, first, param.strides[dim.root]).getResult(),
                                   param.elementBytes));
    if (dim.root == param.unitDim) {
      access.stride.push_back(Value());
      access.constantStride.push_back(step * param.elementBytes);
      if (step == 1)
        access.vectorDim = position;
    } else {
      access.stride.push_back(mulConstant(param.strides[dim.root], step * param.elementBytes));
      access.constantStride.push_back(0);
    }
    // Room: from the first element to the view's end, and to the slice's own width where the layout covers more.
    bool padded = layout.coverage(position) > width;
    bool always = zeroStart && dim.staticExtent >= 0 && step * (layout.coverage(position) - 1) < dim.staticExtent;
    auto clamp = [&](Value wide) -> Value {
      Value bounded = LLVM::SMinOp::create(b, LLVM::SMaxOp::create(b, wide, i64(-1)), i64(int64_t(1) << 30));
      return LLVM::TruncOp::create(b, b.getI32Type(), bounded);
    };
    Value room, below;
    if (!always) {
      room = clamp(LLVM::SubOp::create(b, dim.high, first));
      if (!nonNegative)
        below = clamp(LLVM::SubOp::create(b, dim.low ? dim.low : i64(0), first));
    }
    if (padded) {
      Value left =
          base ? LLVM::SubOp::create(b, i32(step * width), mulConstant(base, step)).getResult() : i32(step * width);
      room = room ? LLVM::SMinOp::create(b, room, left).getResult() : left;
    }
    access.room.push_back(room);
    access.below.push_back(below);
    if (dim.root == param.unitDim) {
      vector = std::min(vector, startDivisor);
      if (!always && boundedVectors)
        vector = std::min(
            vector, std::max<int64_t>(1, dim.low ? std::min(dim.highDivisor, dim.offsetDivisor) : dim.highDivisor));
      if (padded && boundedVectors)
        vector = std::min(vector, width & -width);
    } else {
      vector = std::min(vector, param.strideDivisors[dim.root]);
    }
    ++position;
  }
  if (access.vectorDim >= 0 && boundedVectors)
    access.vector = std::max<int64_t>(1, std::min(vector, layout.contiguous(access.vectorDim)));
  else if (access.vectorDim >= 0)
    access.vector = std::max<int64_t>(1, vector);
  if (bytes)
    access.base =
        LLVM::GEPOp::create(b, access.base.getType(), b.getI8Type(), access.base, ArrayRef<LLVM::GEPArg>{bytes});
  return access;
}

int64_t KernelLowering::Access::registerOf(const Gather &gather, ArrayRef<int64_t> offset) const {
  SmallVector<int64_t> at;
  for (auto [i, extent] : llvm::enumerate(gather.shape))
    at.push_back(extent == 1 ? 0 : offset[gather.firstDim + i]);
  auto it = gather.registerAt.find(at);
  return it == gather.registerAt.end() ? 0 : it->second;
}

Value KernelLowering::accessPredicate(Access &access, ArrayRef<int64_t> offset) {
  Value result = access.valid;
  for (Access::Paged &paged : access.paged) {
    Value &inside = paged.insideOf[offset[paged.position]];
    if (!inside) {
      auto [bytes, exists] = pagedRow(paged.dim, *access.param, addConstant(paged.first, offset[paged.position]));
      inside = exists;
      paged.bytesOf[offset[paged.position]] = bytes;
    }
    result = result ? LLVM::AndOp::create(b, result, inside).getResult() : inside;
  }
  for (Access::Gather &gather : access.gathers) {
    int64_t r = access.registerOf(gather, offset);
    Value &inside = gather.insideOf[r];
    if (!inside) {
      Value index = add(gather.offset, extract(gather.vector, r));
      Value low = gather.low ? gather.low : i64(0);
      inside = LLVM::AndOp::create(b, LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::sge, index, low),
                                   LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, index, gather.high));
      gather.bytesOf[r] = LLVM::MulOp::create(b, index, gather.stride);
    }
    result = result ? LLVM::AndOp::create(b, result, inside).getResult() : inside;
  }
  for (int64_t d = 0; d < int64_t(access.room.size()); ++d) {
    if (!access.room[d] && !access.below[d])
      continue;
    Value &inside = access.predicateOf[{d, offset[d]}];
    if (!inside) {
      Value c = i32(offset[d]);
      if (access.room[d])
        inside = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, c, access.room[d]);
      if (access.below[d]) {
        Value above = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::sge, c, access.below[d]);
        inside = inside ? LLVM::AndOp::create(b, inside, above).getResult() : above;
      }
    }
    result = result ? LLVM::AndOp::create(b, result, inside).getResult() : inside;
  }
  return result;
}

Value KernelLowering::accessPointer(Access &access, ArrayRef<int64_t> offset) {
  Value pointer = access.base;
  int64_t constant = 0;
  for (Access::Paged &paged : access.paged) // accessPredicate was asked first, as below; it counts in rows
    pointer = LLVM::GEPOp::create(b, pointer.getType(), b.getI8Type(), pointer,
                                  ArrayRef<LLVM::GEPArg>{paged.bytesOf.lookup(offset[paged.position] * paged.step)});
  for (Access::Gather &gather : access.gathers) // accessPredicate was asked first
    pointer = LLVM::GEPOp::create(b, pointer.getType(), b.getI8Type(), pointer,
                                  ArrayRef<LLVM::GEPArg>{gather.bytesOf.lookup(access.registerOf(gather, offset))});
  for (int64_t d = 0; d < int64_t(offset.size()); ++d) {
    if (offset[d] == 0)
      continue;
    if (!access.stride[d]) {
      constant += offset[d] * access.constantStride[d];
      continue;
    }
    Value &bytes = access.addressOf[{d, offset[d]}];
    if (!bytes)
      bytes = mulConstant(access.stride[d], offset[d]);
    pointer = LLVM::GEPOp::create(b, pointer.getType(), b.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{bytes});
  }
  if (constant)
    pointer =
        LLVM::GEPOp::create(b, pointer.getType(), b.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{int32_t(constant)});
  return pointer;
}

namespace {
/// How an access of some bytes is spelled: PTX suffix, the words it moves and their type.
struct AccessForm {
  std::string suffix;
  int64_t words = 1;
  Type word;
  const char *constraint = "r";
};

AccessForm formOf(Builder &b, int64_t bytes, int64_t elementBytes) {
  if (elementBytes == 8)
    return {bytes == 16 ? "v2.b64" : "b64", bytes / 8, b.getI64Type(), "l"};
  switch (bytes) {
  case 1:
    return {"b8", 1, b.getI16Type(), "h"};
  case 2:
    return {"b16", 1, b.getI16Type(), "h"};
  case 8:
    return {"v2.b32", 2, b.getI32Type(), "r"};
  case 16:
    return {"v4.b32", 4, b.getI32Type(), "r"};
  default:
    return {"b32", 1, b.getI32Type(), "r"};
  }
}
} // namespace

/// `{$0, $1}` or `$0`, counting from `first`.
static std::string wordList(int64_t words, int64_t first) {
  if (words == 1)
    return "$" + std::to_string(first);
  std::string text = "{";
  for (int64_t i = 0; i < words; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return text + "}";
}

/// Words -> a value of `type` (scalar or vector).
static Value fromWords(ImplicitLocOpBuilder &b, Type type, ArrayRef<Value> words) {
  Type word = words[0].getType();
  Value packed = words[0];
  if (words.size() > 1) {
    packed = LLVM::UndefOp::create(b, VectorType::get({int64_t(words.size())}, word));
    for (auto [i, w] : llvm::enumerate(words))
      packed = LLVM::InsertElementOp::create(b, packed, w,
                                             LLVM::ConstantOp::create(b, b.getI32Type(), b.getI32IntegerAttr(i)));
  }
  if (type.isInteger(8))
    return LLVM::TruncOp::create(b, type, packed);
  return packed.getType() == type ? packed : LLVM::BitcastOp::create(b, type, packed).getResult();
}

/// A value of scalar or vector type -> words.
static SmallVector<Value> toWords(ImplicitLocOpBuilder &b, Value value, const AccessForm &form) {
  Type type = value.getType();
  if (type.isInteger(8))
    return {LLVM::ZExtOp::create(b, form.word, value)};
  Type packedType = form.words == 1 ? form.word : VectorType::get({form.words}, form.word);
  Value packed = type == packedType ? value : LLVM::BitcastOp::create(b, packedType, value).getResult();
  if (form.words == 1)
    return {packed};
  SmallVector<Value> words;
  for (int64_t i = 0; i < form.words; ++i)
    words.push_back(
        LLVM::ExtractElementOp::create(b, packed, LLVM::ConstantOp::create(b, b.getI32Type(), b.getI32IntegerAttr(i))));
  return words;
}

static int64_t bytesOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return elementBytes(vector ? vector.getElementType() : type) * (vector ? vector.getNumElements() : 1);
}

/// Guarded accesses are one predicated instruction: a branch for each would cost more than the access (docs/decisions/guards.md).
Value KernelLowering::loadGlobal(Type type, Value pointer, Value predicate, bool readOnly) {
  Type element = isa<VectorType>(type) ? cast<VectorType>(type).getElementType() : type;
  if (element.isInteger(1)) { // a byte in memory
    Type bytes = isa<VectorType>(type) ? Type(cast<VectorType>(type).clone(b.getI8Type())) : b.getI8Type();
    Value loaded = loadGlobal(bytes, pointer, predicate, readOnly);
    return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, loaded, LLVM::ZeroOp::create(b, bytes));
  }
  AccessForm form = formOf(b, bytesOf(type), elementBytes(element));
  std::string text, constraints;
  for (int64_t i = 0; i < form.words; ++i)
    constraints += std::string(i ? "," : "") + (predicate ? "=&" : "=") + form.constraint;
  constraints += ",l";
  SmallVector<Value> operands{pointer};
  std::string load =
      "ld.global." + form.suffix + " " + wordList(form.words, 0) + ", [$" + std::to_string(form.words) + "];";
  if (predicate) {
    std::string move = form.word.isInteger(64) ? "mov.b64 $" : form.word.isInteger(16) ? "mov.b16 $" : "mov.b32 $";
    for (int64_t i = 0; i < form.words; ++i)
      text += move + std::to_string(i) + ", 0; ";
    load = "@$" + std::to_string(form.words + 1) + " " + load;
    constraints += ",b";
    operands.push_back(predicate);
  }
  if (!readOnly)
    constraints += ",~{memory}";
  Value loaded = inlineAsm(SmallVector<Type>(form.words, form.word), operands, text + load, constraints, !readOnly);
  SmallVector<Value> words;
  for (int64_t i = 0; i < form.words; ++i)
    words.push_back(structElement(loaded, i));
  return fromWords(b, type, words);
}

void KernelLowering::storeGlobal(Value value, Value pointer, Value predicate) {
  Type type = value.getType();
  Type element = isa<VectorType>(type) ? cast<VectorType>(type).getElementType() : type;
  if (element.isInteger(1)) {
    Type bytes = isa<VectorType>(type) ? Type(cast<VectorType>(type).clone(b.getI8Type())) : b.getI8Type();
    return storeGlobal(LLVM::ZExtOp::create(b, bytes, value), pointer, predicate);
  }
  AccessForm form = formOf(b, bytesOf(type), elementBytes(element));
  SmallVector<Value> operands = toWords(b, value, form);
  std::string constraints;
  for (int64_t i = 0; i < form.words; ++i)
    constraints += std::string(form.constraint) + ",";
  constraints += "l";
  operands.push_back(pointer);
  std::string text =
      "st.global." + form.suffix + " [$" + std::to_string(form.words) + "], " + wordList(form.words, 0) + ";";
  if (predicate) {
    text = "@$" + std::to_string(form.words + 1) + " " + text;
    constraints += ",b";
    operands.push_back(predicate);
  }
  inlineAsm({}, operands, text, constraints + ",~{memory}", true);
}

LogicalResult KernelLowering::lowerLoad(tile::LoadOp op) {
  auto tile = dyn_cast<RankedTensorType>(op.getResult().getType());
  Dist layout;
  SmallVector<int64_t> shape;
  if (tile) {
    layout = layoutOf(tile);
    shape.assign(tile.getShape().begin(), tile.getShape().end());
  }
  FailureOr<Access> access =
      planAccess(op, op.getView(), op.getIndices(), op.getWidths(), op.getSteps(), layout, shape, true);
  if (failed(access))
    return failure();
  bool readOnly = views.find(op.getView())->second.param->readOnly;
  Type element = getElementTypeOrSelf(op.getResult());
  auto padded = [&](Value value, Value predicate) -> Value {
    if (!op.getPad() || !predicate)
      return value;
    Value pad = get(op.getPad());
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      pad = splat(pad, vector.getNumElements());
    return LLVM::SelectOp::create(b, predicate, value, pad);
  };
  if (!tile) {
    Value predicate = access->valid;
    values[op.getResult()] = padded(loadGlobal(element, access->base, predicate, readOnly), predicate);
    return success();
  }
  int64_t vector = access->vector, count = layout.numRegisters();
  Type chunk = vector == 1 ? element : VectorType::get({vector}, element);
  SmallVector<Value> chunks;
  for (int64_t r = 0; r < count; r += vector) {
    SmallVector<int64_t> offset = layout.offset(r);
    for (auto [d, step] : llvm::enumerate(tileSteps(op.getIndices(), op.getWidths(), op.getSteps(), offset.size())))
      offset[d] *= step;
    // Offsets count elements of memory for predicates, steps of the slice for strides.
    Value predicate = accessPredicate(*access, offset);
    chunks.push_back(
        padded(loadGlobal(chunk, accessPointer(*access, layout.offset(r)), predicate, readOnly), predicate));
  }
  values[op.getResult()] = assemble(convertType(tile), chunks);
  return success();
}

LogicalResult KernelLowering::lowerStore(tile::StoreOp op) {
  auto tile = dyn_cast<RankedTensorType>(op.getValue().getType());
  Dist layout;
  SmallVector<int64_t> shape;
  if (tile) {
    layout = layoutOf(tile);
    shape.assign(tile.getShape().begin(), tile.getShape().end());
  }
  FailureOr<Access> access =
      planAccess(op, op.getView(), op.getIndices(), op.getWidths(), op.getSteps(), layout, shape, true);
  if (failed(access))
    return failure();
  if (!tile) {
    Value first = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, threadId, i32(0));
    Value predicate = access->valid ? LLVM::AndOp::create(b, access->valid, first).getResult() : first;
    storeGlobal(get(op.getValue()), access->base, predicate);
    return success();
  }
  if (Value owner = ownsElements(layout))
    access->valid = access->valid ? LLVM::AndOp::create(b, access->valid, owner).getResult() : owner;
  int64_t vector = access->vector;
  for (int64_t r = 0, e = layout.numRegisters(); r < e; r += vector) {
    SmallVector<int64_t> offset = layout.offset(r);
    for (auto [d, step] : llvm::enumerate(tileSteps(op.getIndices(), op.getWidths(), op.getSteps(), offset.size())))
      offset[d] *= step;
    Value predicate = accessPredicate(*access, offset);
    storeGlobal(slice(get(op.getValue()), r, vector), accessPointer(*access, layout.offset(r)), predicate);
  }
  return success();
}

LogicalResult KernelLowering::lowerInside(tile::InsideOp op) {
  auto tile = dyn_cast<RankedTensorType>(op.getResult().getType());
  Dist layout;
  SmallVector<int64_t> shape;
  if (tile) {
    layout = layoutOf(tile);
    shape.assign(tile.getShape().begin(), tile.getShape().end());
  }
  FailureOr<Access> access =
      planAccess(op, op.getView(), op.getIndices(), op.getWidths(), op.getSteps(), layout, shape, true);
  if (failed(access))
    return failure();
  Value always = LLVM::ConstantOp::create(b, b.getI1Type(), b.getBoolAttr(true));
  if (!tile) {
    values[op.getResult()] = access->valid ? access->valid : always;
    return success();
  }
  SmallVector<Value> elements;
  for (int64_t r = 0, e = layout.numRegisters(); r < e; ++r) {
    SmallVector<int64_t> offset = layout.offset(r);
    for (auto [d, step] : llvm::enumerate(tileSteps(op.getIndices(), op.getWidths(), op.getSteps(), offset.size())))
      offset[d] *= step;
    Value predicate = accessPredicate(*access, offset);
    elements.push_back(predicate ? predicate : always);
  }
  values[op.getResult()] = assemble(convertType(tile), elements);
  return success();
}
