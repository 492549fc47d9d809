//===- SharedLowering.cpp - buffers, copies and barriers ------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A buffer is a byte address in shared memory, an i32.  The address of an element is
//
//     base + row * pitch + (column bytes  xor  ((row >> shift) & mask) * 16)
//
// Rows and columns split into a run-time part and a constant that share no bit, so the exclusive or splits as well: one run-time base for
// each pattern of low row bits, everything else a constant (docs/decisions/shared-addresses.md).
//
#include "compiler/Conversion/TileGPUToNVVM/Lowering.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::tile_gpu;

static constexpr llvm::StringLiteral kSharedSymbol = "tessera_shared";

LogicalResult KernelLowering::lowerAlloc(AllocOp op) {
  if (!sharedBase) {
    auto module = function->getParentOfType<ModuleOp>();
    auto global = module.lookupSymbol<LLVM::GlobalOp>(kSharedSymbol);
    if (!global) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(module.getBody());
      auto type = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
      global =
          LLVM::GlobalOp::create(b, type, /*isConstant=*/false, LLVM::Linkage::External, kSharedSymbol, Attribute(),
                                 /*alignment=*/1024, /*addrSpace=*/3);
    }
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(marker);
    Value pointer = LLVM::AddressOfOp::create(b, global);
    sharedBase = LLVM::PtrToIntOp::create(b, b.getI32Type(), pointer);
  }
  values[op.getResult()] = addConstant(sharedBase, op.getOffset().value_or(0));
  return success();
}

void KernelLowering::emitBarrier() { NVVM::BarrierOp::create(b); }

std::pair<int64_t, int64_t> KernelLowering::rowColumn(BufferType type, ArrayRef<int64_t> at) {
  ArrayRef<int64_t> order = type.getLayout().getOrder();
  int64_t row = 0;
  for (size_t i = 0; i + 1 < order.size(); ++i)
    row = row * type.getShape()[order[i]] + at[order[i]];
  return {row, at[order.back()]};
}

KernelLowering::SharedAddress KernelLowering::addressFor(Value buffer, const Dist &layout) {
  auto type = cast<BufferType>(buffer.getType());
  SharedAddress address{get(buffer), Value(), Value(), type};
  ArrayRef<int64_t> order = type.getLayout().getOrder();
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    if (address.row)
      address.row = mulConstant(address.row, type.getShape()[order[i]]);
    address.row = add(address.row, threadBase(layout, order[i]));
  }
  address.column = threadBase(layout, order.back());
  return address;
}

Value KernelLowering::sharedAddress(SharedAddress &address, int64_t constRow, int64_t constColumn) {
  SharedAttr layout = address.type.getLayout();
  int64_t bytes = elementBytes(address.type.getElementType());
  if (!address.rowBase)
    address.rowBase = add(address.base, mulConstant(address.row, layout.getPitch()));
  // Constant bits of the row that enter the exclusive or; only they make another run-time part.
  int64_t pattern = (constRow >> layout.getShift()) & layout.getMask();
  int64_t column = constColumn * bytes;
  if (layout.getMask() == 0) {
    Value &base = address.swizzled[0];
    if (!base)
      base = add(address.rowBase, mulConstant(address.column, bytes));
    return addConstant(base, constRow * layout.getPitch() + column);
  }
  // The part of the column inside the exclusive or's reach (128, 64 or 32 bytes), and the part beyond, which is plain.
  int64_t reach = (layout.getMask() + 1) * 16;
  int64_t inner = column % reach, outer = column - inner;
  Value base = address.swizzled.lookup(pattern * reach + inner);
  if (!base) {
    Value rowBits = address.swizzled.lookup(-1);
    if (!rowBits && address.row) {
      Value shifted =
          layout.getShift() ? LLVM::LShrOp::create(b, address.row, i32(layout.getShift())).getResult() : address.row;
      rowBits = LLVM::ShlOp::create(b, LLVM::AndOp::create(b, shifted, i32(layout.getMask())), i32(4));
      address.swizzled[-1] = rowBits;
    }
    Value bits = rowBits;
    if (address.column) {
      Value columnBytes = mulConstant(address.column, bytes);
      bits = bits ? LLVM::XOrOp::create(b, columnBytes, bits).getResult() : columnBytes;
    }
    int64_t constant = inner ^ (pattern << 4);
    if (!bits)
      bits = i32(constant);
    else if (constant)
      bits = LLVM::XOrOp::create(b, bits, i32(constant));
    base = add(address.rowBase, bits);
    address.swizzled[pattern * reach + inner] = base;
  }
  return addConstant(base, constRow * layout.getPitch() + outer);
}

static Value sharedPointer(ImplicitLocOpBuilder &b, Value address) {
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), 3), address);
}

/// i1 values are bytes in shared memory.
static Type storedType(ImplicitLocOpBuilder &b, Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!(vector ? vector.getElementType() : type).isInteger(1))
    return type;
  return vector ? Type(vector.clone(b.getI8Type())) : b.getI8Type();
}

static int64_t byteSize(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return elementBytes(vector ? vector.getElementType() : type) * (vector ? vector.getNumElements() : 1);
}

Value KernelLowering::loadShared(Type type, Value address, Value predicate) {
  Type stored = storedType(b, type);
  Value loaded;
  if (!predicate) {
    loaded = LLVM::LoadOp::create(b, stored, sharedPointer(b, address), byteSize(stored));
  } else {
    // Outside: read element 0 of the buffer's memory instead and drop it.
    Value safe = LLVM::SelectOp::create(b, predicate, address, sharedBase);
    loaded = LLVM::LoadOp::create(b, stored, sharedPointer(b, safe), byteSize(stored));
    loaded = LLVM::SelectOp::create(b, predicate, loaded, LLVM::ZeroOp::create(b, stored));
  }
  if (stored != type)
    loaded = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, loaded, LLVM::ZeroOp::create(b, stored));
  return loaded;
}

void KernelLowering::storeShared(Value value, Value address, Value predicate) {
  Type stored = storedType(b, value.getType());
  if (stored != value.getType())
    value = LLVM::ZExtOp::create(b, stored, value);
  if (!predicate) {
    LLVM::StoreOp::create(b, value, sharedPointer(b, address), byteSize(stored));
    return;
  }
  int64_t bytes = byteSize(stored);
  Type word = bytes == 8 ? b.getI64Type() : bytes == 4 ? b.getI32Type() : b.getI16Type();
  const char *constraint = bytes == 8 ? "l" : bytes == 4 ? "r" : "h";
  if (bytes > 8) { // two halves
    auto vector = cast<VectorType>(stored);
    int64_t half = vector.getNumElements() / 2;
    storeShared(slice(value, 0, half), address, predicate);
    storeShared(slice(value, half, half), addConstant(address, bytes / 2), predicate);
    return;
  }
  Value raw =
      bytes == 1 ? LLVM::ZExtOp::create(b, word, bitcast(value, b.getI8Type())).getResult() : bitcast(value, word);
  inlineAsm({}, {address, raw, predicate}, "@$2 st.shared.b" + std::to_string(bytes * 8) + " [$0], $1;",
            std::string("r,") + constraint + ",b,~{memory}", true);
}

/// Condition that the thread's element at constant `offset` lies below `limit` in every dimension; null where that is certain.
static Value withinShape(ImplicitLocOpBuilder &b, const Dist &layout, ArrayRef<int64_t> offset, ArrayRef<int64_t> limit,
                         function_ref<Value(int64_t)> base) {
  Value result;
  for (int64_t d = 0; d < layout.rank(); ++d) {
    if (layout.coverage(d) <= limit[d] || offset[d] + layout.blockExtent(d) - 1 < limit[d])
      continue;
    auto constant = [&](int64_t v) -> Value {
      return LLVM::ConstantOp::create(b, b.getI32Type(), b.getI32IntegerAttr(v));
    };
    Value run = base(d);
    Value position = run ? LLVM::AddOp::create(b, run, constant(offset[d])).getResult() : constant(offset[d]);
    Value inside = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, position, constant(limit[d]));
    result = result ? LLVM::AndOp::create(b, result, inside).getResult() : inside;
  }
  return result;
}

/// Elements of one access: neighbours along the buffer's fastest dimension, at most 16 bytes.
static int64_t sharedVector(const Dist &layout, BufferType type, ArrayRef<int64_t> shape) {
  int64_t fastest = type.getLayout().getOrder().back(), bytes = elementBytes(type.getElementType());
  int64_t vector = std::min<int64_t>(layout.contiguous(fastest), 16 / bytes);
  // Neither the tile's end nor an odd pitch may cut a vector.
  while (vector > 1 && ((layout.coverage(fastest) > shape[fastest] && shape[fastest] % vector) ||
                        type.getLayout().getPitch() % (vector * bytes)))
    vector /= 2;
  return std::max<int64_t>(1, vector);
}

LogicalResult KernelLowering::lowerWrite(WriteOp op) {
  auto tile = cast<RankedTensorType>(op.getValue().getType());
  auto type = cast<BufferType>(op.getBuffer().getType());
  Dist layout = layoutOf(tile);
  SharedAddress address = addressFor(op.getBuffer(), layout);
  int64_t vector = op.getOffsets() ? 1 : sharedVector(layout, type, tile.getShape());
  Value owner = ownsElements(layout);
  Value value = get(op.getValue());
  auto base = [&](int64_t d) { return threadBase(layout, d); };
  SmallVector<int64_t> offsets(layout.rank(), 0);
  if (op.getOffsets())
    offsets.assign(op.getOffsets()->begin(), op.getOffsets()->end());
  for (int64_t d = 0; d < layout.rank() && !op.getOffsets(); ++d)
    if (layout.coverage(d) < type.getShape()[d])
      zeroFill(get(op.getBuffer()), type, d, layout.coverage(d));
  for (int64_t r = 0, e = layout.numRegisters(); r < e; r += vector) {
    SmallVector<int64_t> at = layout.offset(r);
    Value part = slice(value, r, vector);
    Value real = withinShape(b, layout, at, tile.getShape(), base), predicate;
    if (op.getOffsets()) {
      predicate = real;
    } else {
      if (real)
        part = LLVM::SelectOp::create(b, real, part, LLVM::ZeroOp::create(b, part.getType()));
      predicate = withinShape(b, layout, at, type.getShape(), base);
    }
    for (auto [position, offset] : llvm::zip(at, offsets))
      position += offset;
    if (owner)
      predicate = predicate ? LLVM::AndOp::create(b, predicate, owner).getResult() : owner;
    auto [row, column] = rowColumn(type, at);
    storeShared(part, sharedAddress(address, row, column), predicate);
  }
  return success();
}

LogicalResult KernelLowering::lowerRead(ReadOp op) {
  auto tile = cast<RankedTensorType>(op.getResult().getType());
  auto type = cast<BufferType>(op.getBuffer().getType());
  Dist layout = layoutOf(tile);
  SharedAddress address = addressFor(op.getBuffer(), layout);
  int64_t vector = sharedVector(layout, type, tile.getShape());
  auto base = [&](int64_t d) { return threadBase(layout, d); };
  Type element = tile.getElementType();
  SmallVector<Value> parts;
  for (int64_t r = 0, e = layout.numRegisters(); r < e; r += vector) {
    SmallVector<int64_t> at = layout.offset(r);
    Value predicate = withinShape(b, layout, at, type.getShape(), base);
    auto [row, column] = rowColumn(type, at);
    parts.push_back(loadShared(vector == 1 ? element : VectorType::get({vector}, element),
                               sharedAddress(address, row, column), predicate));
  }
  values[op.getResult()] = assemble(convertType(tile), parts);
  return success();
}

void KernelLowering::lowerCount(CountOp op) {
  auto tile = cast<RankedTensorType>(op.getValue().getType());
  Dist layout = layoutOf(tile);
  Value value = get(op.getValue()), owner = ownsElements(layout), buffer = get(op.getBuffer());
  auto base = [&](int64_t d) { return threadBase(layout, d); };
  bool isWide = tile.getElementType().isInteger(64);
  int64_t bins = cast<BufferType>(op.getBuffer().getType()).getShape()[0];
  Value limit = isWide ? LLVM::ConstantOp::create(b, b.getI64Type(), b.getI64IntegerAttr(bins)).getResult() : i32(bins);
  for (int64_t r = 0, e = layout.numRegisters(); r < e; ++r) {
    Value element = extract(value, r);
    Value counts = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ult, element, limit); // a negative one is no bin either
    for (Value also : {owner, withinShape(b, layout, layout.offset(r), tile.getShape(), base)})
      if (also)
        counts = LLVM::AndOp::create(b, counts, also);
    if (isWide)
      element = LLVM::TruncOp::create(b, b.getI32Type(), element);
    inlineAsm({}, {add(buffer, mulConstant(element, 4)), counts}, "@$1 red.shared.add.u32 [$0], 1;", "r,b,~{memory}",
              true);
  }
}

void KernelLowering::lowerReadPart(ReadPartOp op) {
  auto type = cast<BufferType>(op.getBuffer().getType());
  Type element = type.getElementType();
  auto tile = dyn_cast<RankedTensorType>(op.getResult().getType());
  Dist layout;
  if (tile)
    layout = layoutOf(tile);
  ArrayRef<int64_t> order = type.getLayout().getOrder(), starts = op.getStarts(), widths = op.getWidths(),
                    steps = op.getSteps();
  // Dimension of the result behind each dimension of the buffer; -1: dropped.
  SmallVector<int64_t> kept(type.getRank(), -1);
  int64_t next = 0;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (widths[d] > 0)
      kept[d] = next++;
  SharedAddress address{get(op.getBuffer()), Value(), Value(), type};
  auto along = [&](int64_t d) { return kept[d] < 0 ? Value() : mulConstant(threadBase(layout, kept[d]), steps[d]); };
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    if (address.row)
      address.row = mulConstant(address.row, type.getShape()[order[i]]);
    address.row = add(address.row, along(order[i]));
  }
  address.column = along(order.back());
  auto place = [&](ArrayRef<int64_t> at) {
    SmallVector<int64_t> from(starts);
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (kept[d] >= 0)
        from[d] += at[kept[d]] * steps[d];
    auto [row, column] = rowColumn(type, from);
    return sharedAddress(address, row, column);
  };
  if (!tile) {
    values[op.getResult()] = loadShared(element, place({}), Value());
    return;
  }
  auto base = [&](int64_t d) { return threadBase(layout, d); };
  SmallVector<Value> parts;
  for (int64_t r = 0, e = layout.numRegisters(); r < e; ++r) {
    SmallVector<int64_t> at = layout.offset(r);
    parts.push_back(loadShared(element, place(at), withinShape(b, layout, at, tile.getShape(), base)));
  }
  values[op.getResult()] = assemble(convertType(tile), parts);
}

/// Zeros in the part of a buffer with coordinates at least `from` along `axis`: a strip of elements dealt to the threads in turn.
void KernelLowering::zeroFill(Value base, BufferType type, int64_t axis, int64_t from) {
  SmallVector<int64_t> extents(type.getShape());
  extents[axis] -= from;
  int64_t total = 1, threads = warps * 32;
  for (int64_t extent : extents)
    total *= extent;
  SharedAttr layout = type.getLayout();
  Type element = type.getElementType();
  Type stored = element.isInteger(1) ? b.getI8Type() : element;
  for (int64_t start = 0; start < total; start += threads) {
    Value number = addConstant(threadId, start);
    Value inside = start + threads > total
                       ? LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ult, number, i32(total)).getResult()
                       : Value();
    SmallVector<Value> at(extents.size());
    for (int64_t d = extents.size() - 1; d >= 0; --d) {
      at[d] = LLVM::URemOp::create(b, number, i32(extents[d]));
      number = LLVM::UDivOp::create(b, number, i32(extents[d]));
    }
    at[axis] = addConstant(at[axis], from);
    SharedAddress address{base, Value(), at[layout.getOrder().back()], type};
    for (size_t i = 0; i + 1 < layout.getOrder().size(); ++i) {
      address.row = address.row ? mulConstant(address.row, type.getShape()[layout.getOrder()[i]]) : address.row;
      address.row = add(address.row, at[layout.getOrder()[i]]);
    }
    storeShared(LLVM::ZeroOp::create(b, stored), sharedAddress(address, 0, 0), inside);
  }
}

/// Deals the buffer's rows to the threads in pieces of one access.  Asynchronous (cp.async) where a piece of 4, 8 or 16 bytes is aligned in
/// memory and its padding is 0; its own zero fill then serves ragged ends.  Otherwise a load and a store an element.
LogicalResult KernelLowering::lowerCopy(CopyOp op) {
  auto type = cast<BufferType>(op.getBuffer().getType());
  SharedAttr shared = type.getLayout();
  int64_t rank = type.getRank(), fastest = shared.getOrder().back();
  if (rank != 2 && rank != 3)
    return op.emitError() << "internal error: expected a copy of rank 2 or 3, got " << rank;
  int64_t slow = shared.getOrder()[rank - 2], bytes = elementBytes(type.getElementType());
  SmallVector<int64_t> shape;
  for (int64_t width : op.getWidths())
    if (width > 0)
      shape.push_back(width);
  SmallVector<int64_t> steps = SmallVector<int64_t>(op.getSteps());
  // First with an empty layout, to learn how wide a piece may be; a thread's position is added by hand below.
  Dist origin;
  origin.lanes = Bases(kLaneBits, SmallVector<int64_t>(rank, 0));
  origin.reps.assign(rank, 1);
  FailureOr<Access> planned = planAccess(op, op.getView(), op.getIndices(), op.getWidths(), op.getSteps(), origin,
                                         shape, /*boundedVectors=*/false);
  if (failed(planned))
    return failure();
  Access &access = *planned;
  bool zeroPad = !op.getPad() || matchPattern(op.getPad(), m_AnyZeroFloat()) || matchPattern(op.getPad(), m_Zero());
  int64_t vector = access.vectorDim == fastest ? access.vector : 1;
  bool asynchronous = vector * bytes >= 4 && zeroPad && type.getShape()[fastest] % vector == 0;
  if (!asynchronous)
    vector = 1;
  // Rows of a batch are those of all its matrices, one after the other.
  int64_t perMatrix = type.getShape()[slow], rows = rank == 3 ? type.getShape()[0] * perMatrix : perMatrix;
  int64_t threads = warps * 32, pieces = type.getShape()[fastest] / vector, total = pieces * rows;
  bool even = llvm::isPowerOf2_64(pieces) && pieces <= threads;
  // The rows of one pass divide a matrix or are divided by it: then a constant says which matrix is meant, up to a part that depends on the thread alone.
  int64_t perPass = std::max<int64_t>(1, threads / pieces);
  if (rank == 3 && perMatrix % perPass && perPass % perMatrix)
    even = false;
  Value firstRow, firstPiece;
  if (even) {
    firstRow = LLVM::LShrOp::create(b, threadId, i32(llvm::Log2_64(pieces)));
    firstPiece = LLVM::AndOp::create(b, threadId, i32(pieces - 1));
  }
  SmallVector<int64_t> tileSteps;
  for (auto [width, step] : llvm::zip(op.getWidths(), steps))
    if (width > 0)
      tileSteps.push_back(step);
  SharedAddress address;
  Value rowPointer;
  for (int64_t start = 0; start < total; start += threads) {
    Value row = firstRow, piece = firstPiece, predicate = op.getPredicate() ? get(op.getPredicate()) : Value();
    int64_t constRow = even ? start / pieces : 0;
    if (!even) {
      Value number = addConstant(threadId, start);
      row = LLVM::UDivOp::create(b, number, i32(pieces));
      piece = LLVM::URemOp::create(b, number, i32(pieces));
    }
    if (start + threads > total) {
      Value exists = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, addConstant(row, constRow), i32(rows));
      predicate = predicate ? LLVM::AndOp::create(b, predicate, exists).getResult() : exists;
    }
    Value column = mulConstant(piece, vector);
    // Its place in the slice: a part of the thread, and a constant.
    SmallVector<Value> place(rank);
    SmallVector<int64_t> constOffset(rank, 0);
    place[fastest] = column;
    place[slow] = row;
    constOffset[slow] = constRow;
    if (rank == 3) {
      constOffset[0] = constRow / perMatrix;
      constOffset[slow] = constRow % perMatrix;
      if (!even || perPass > perMatrix) {
        place[0] = LLVM::UDivOp::create(b, row, i32(perMatrix));
        place[slow] = LLVM::URemOp::create(b, row, i32(perMatrix));
      } else {
        place[0] = i32(0);
      }
    }
    // Where it comes from.
    auto along = [&](int64_t d, Value position) -> Value { // bytes
      Value wide = LLVM::ZExtOp::create(b, b.getI64Type(), position);
      return access.stride[d] ? LLVM::MulOp::create(b, wide, access.stride[d]).getResult()
                              : mulConstant(wide, access.constantStride[d]);
    };
    if (!rowPointer || !even) {
      Value offset;
      for (int64_t d = 0; d < rank; ++d)
        offset = add(offset, along(d, place[d]));
      rowPointer =
          LLVM::GEPOp::create(b, access.base.getType(), b.getI8Type(), access.base, ArrayRef<LLVM::GEPArg>{offset});
      address = SharedAddress{get(op.getBuffer()), row, column, type};
    }
    Access step = access;
    step.base = rowPointer;
    Value pointer = accessPointer(step, constOffset);
    // How much of it exists: elements of this piece inside the view and the slice.
    Value inside = access.valid, room;
    auto require = [&](Value condition) {
      inside = inside ? LLVM::AndOp::create(b, inside, condition).getResult() : condition;
    };
    for (int64_t d : type.getLayout().getOrder()) {
      Value position = addConstant(place[d], constOffset[d]);
      Value scaled = mulConstant(position, tileSteps[d]);
      if (access.below[d])
        require(LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::sge, scaled, access.below[d]));
      Value limit = access.room[d];
      if (type.getShape()[d] > shape[d]) {
        Value own = i32(shape[d] * tileSteps[d]);
        limit = limit ? LLVM::SMinOp::create(b, limit, own).getResult() : own;
      }
      if (!limit)
        continue;
      if (d != fastest || vector == 1)
        require(LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, scaled, limit));
      else
        room = LLVM::SubOp::create(b, limit, scaled);
    }
    Value target = sharedAddress(address, constRow, 0);
    if (!asynchronous) {
      Value value =
          loadGlobal(type.getElementType(), pointer,
                     inside ? (predicate ? LLVM::AndOp::create(b, inside, predicate).getResult() : inside) : predicate,
                     access.valid ? false : views.find(op.getView())->second.param->readOnly);
      if (op.getPad() && inside) {
        // Padding of the slice, but 0 beyond it.
        Value pad = get(op.getPad());
        Value own;
        for (int64_t d : type.getLayout().getOrder())
          if (type.getShape()[d] > shape[d]) {
            Value position = addConstant(place[d], constOffset[d]);
            Value within = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, position, i32(shape[d]));
            own = own ? LLVM::AndOp::create(b, own, within).getResult() : within;
          }
        if (own)
          pad = LLVM::SelectOp::create(b, own, pad, LLVM::ZeroOp::create(b, pad.getType()));
        value = LLVM::SelectOp::create(b, inside, value, pad);
      }
      storeShared(value, target, predicate);
      continue;
    }
    // cp.async reads `size` bytes and fills the rest of the piece with zeros.
    Value size;
    if (room) {
      Value count = LLVM::SMinOp::create(b, LLVM::SMaxOp::create(b, room, i32(0)), i32(vector));
      size = mulConstant(count, bytes);
    }
    if (inside)
      size = LLVM::SelectOp::create(b, inside, size ? size : i32(vector * bytes), i32(0));
    std::string text = vector * bytes == 16 ? "cp.async.cg.shared.global [$0], [$1], 16"
                                            : "cp.async.ca.shared.global [$0], [$1], " + std::to_string(vector * bytes);
    std::string constraints = "r,l";
    SmallVector<Value> operands{target, pointer};
    if (size) {
      text += ", $2";
      constraints += ",r";
      operands.push_back(size);
    }
    if (predicate) {
      text = "@$" + std::to_string(operands.size()) + " " + text;
      constraints += ",b";
      operands.push_back(predicate);
    }
    inlineAsm({}, operands, text + ";", constraints + ",~{memory}", true);
  }
  return success();
}
