//===- DotLowering.cpp - products on tensor cores and on plain units ------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Tensor cores: one k-step at a time, the operand fragments come from shared memory (or, for a left operand in registers, from its vector), then one
// mma for every instruction tile of the warp.  Products.h says what lies in which register.
//
// ldmatrix hands lane l the words that matrix l / 8, row l % 8 of four 8 x 16-byte matrices hold at 4 * (l % 4) bytes, which is these fragments when the
// matrices are the quadrants of A, or two columns of B; `.trans` exchanges rows and columns of 16-bit elements for operands whose
// other dimension is contiguous.  What it cannot do (transposing other sizes, f64) is read an element at a time.
//
// Everything else (f32 exactly, wide integers, sums of another type): a loop over k with one multiply-add a step for every element a thread holds.
//
// A batch is one product after the other: the buffers' matrices lie behind each other at multiples of 8 rows, so that the exclusive or of the shared
// layout, which repeats every 8 rows, is the same in each; a thread's sums of one matrix are neighbours.
//
#include "compiler/Conversion/TileGPUToNVVM/Lowering.h"
#include "dialect/TileGPU/Products.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::tile_gpu;

struct KernelLowering::Fragments {
  llvm::DenseMap<int64_t, SmallVector<Value>> byOffset; ///< constant row (A) or column (B) -> registers
};

/// One matrix of a buffer.
struct KernelLowering::Matrix {
  Value base; ///< i32
  BufferType type;
};

/// One product of a batch.
struct KernelLowering::Product {
  DotOp op;
  Mma kind;
  MmaFacts facts;
  int64_t batch; ///< constant part of its number
  Matrix a, b;   ///< a without base: in registers
  Value warpM, warpN;
};

LogicalResult KernelLowering::lowerDot(DotOp op) {
  if (op.getMma()) {
    lowerTensorCoreDot(op);
    return success();
  }
  return lowerPlainDot(op);
}

/// Number of this warp along the third to last, second to last or last dimension; the last has the low bits (Layouts.h).
Value KernelLowering::warpAlong(DotOp op, int64_t fromLast) {
  ArrayRef<int64_t> grid = op.getWarps();
  int64_t below = 0;
  for (int64_t i = 0; i < fromLast; ++i)
    below += llvm::Log2_64(grid[grid.size() - 1 - i]);
  Value shifted = below ? LLVM::LShrOp::create(b, warp, i32(below)).getResult() : warp;
  return LLVM::AndOp::create(b, shifted, i32(grid[grid.size() - 1 - fromLast] - 1));
}

KernelLowering::Matrix KernelLowering::matrixOf(DotOp op, Value buffer, int64_t batch) {
  auto type = cast<BufferType>(buffer.getType());
  if (type.getRank() == 2)
    return {get(buffer), type};
  SharedAttr layout = type.getLayout();
  SmallVector<int64_t> order;
  for (int64_t dimension : layout.getOrder())
    if (dimension > 0)
      order.push_back(dimension - 1);
  auto shared = SharedAttr::get(type.getContext(), order, layout.getPitch(), layout.getMask(), layout.getShift());
  auto matrix = BufferType::get(type.getContext(), type.getShape().drop_front(), type.getElementType(), shared, 1);
  int64_t bytes = matrix.getShape()[order.front()] * layout.getPitch();
  Value base = get(buffer);
  if (op.getWarps()[0] > 1)
    base = add(base, mulConstant(warpAlong(op, 2), bytes));
  return {addConstant(base, batch * bytes), matrix};
}

SmallVector<Value> KernelLowering::matrixLoad(Value address, int count, bool transposed) {
  std::string text = std::string("ldmatrix.sync.aligned.m8n8.x") + std::to_string(count) +
                     (transposed ? ".trans" : "") + ".shared.b16 ";
  std::string outputs = "{", constraints;
  for (int i = 0; i < count; ++i) {
    outputs += (i ? ", $" : "$") + std::to_string(i);
    constraints += "=r,";
  }
  text += outputs + "}, [$" + std::to_string(count) + "];";
  Value loaded =
      inlineAsm(SmallVector<Type>(count, b.getI32Type()), {address}, text, constraints + "r,~{memory}", true);
  SmallVector<Value> words;
  for (int i = 0; i < count; ++i)
    words.push_back(structElement(loaded, i));
  return words;
}

/// f32 bits rounded to tf32.
static Value roundTf32(ImplicitLocOpBuilder &b, Value word) {
  auto dialect = LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT);
  return LLVM::InlineAsmOp::create(b, TypeRange(b.getI32Type()), ValueRange(word),
                                   StringRef("cvt.rna.tf32.f32 $0, $1;"), StringRef("=r,r"), false, false,
                                   LLVM::tailcallkind::TailCallKind::None, dialect, ArrayAttr())
      ->getResult(0);
}

/// Whether ldmatrix can fetch the fragments of an operand whose k is contiguous or not.
static bool usesLdmatrix(Mma kind, bool kContiguous) {
  return kind != Mma::F64 && (kContiguous || kind == Mma::F16 || kind == Mma::BF16);
}

/// One register of an operand, an element at a time: those at k, k + 1, ... of one row or column.
Value KernelLowering::fragmentWord(const Product &product, SharedAddress &address, int64_t k, int64_t other,
                                   bool kContiguous) {
  auto at = [&](int64_t i) {
    return kContiguous ? sharedAddress(address, other, k + i) : sharedAddress(address, k + i, other);
  };
  if (product.kind == Mma::F64)
    return loadShared(b.getF64Type(), at(0), Value());
  if (product.facts.perRegister == 1)
    return roundTf32(b, loadShared(b.getI32Type(), at(0), Value()));
  Value word;
  for (int64_t i = 0; i < product.facts.perRegister; ++i) {
    Value byte = LLVM::ZExtOp::create(b, b.getI32Type(), loadShared(b.getI8Type(), at(i), Value()));
    if (i)
      byte = LLVM::OrOp::create(b, word, LLVM::ShlOp::create(b, byte, i32(8 * i)));
    word = byte;
  }
  return word;
}

/// The address of a lane's first element in an operand read by `fragmentWord`: row or column g, k = w * t.
KernelLowering::SharedAddress KernelLowering::fragmentAddress(const Product &product, const Matrix &matrix, Value first,
                                                              bool kContiguous) {
  Value g = LLVM::LShrOp::create(b, lane, i32(2));
  Value k = mulConstant(LLVM::AndOp::create(b, lane, i32(3)), product.facts.perRegister);
  Value other = add(first, g);
  return SharedAddress{matrix.base, kContiguous ? other : k, kContiguous ? k : other, matrix.type};
}

void KernelLowering::loadFragmentsA(const Product &product, int64_t step, ArrayRef<int64_t> rows,
                                    Fragments &fragments) {
  DotOp op = product.op;
  Mma kind = product.kind;
  int64_t stepK = product.facts.k, k0 = step * stepK;
  if (!product.a.base) {
    // Left operand in registers: quadrants are registers of its layout; columns past the tile's end enter as 0.
    auto tile = cast<RankedTensorType>(op.getA().getType());
    Dist layout = layoutOf(tile);
    std::map<SmallVector<int64_t>, int64_t> registerAt;
    for (int64_t r = 0, e = layout.numRegisters(); r < e; ++r)
      registerAt[layout.offset(r)] = r;
    Value vector = get(op.getA());
    int64_t rank = tile.getRank(), depth = tile.getShape().back();
    for (int64_t row : rows) {
      SmallVector<Value> words;
      for (int64_t quadrant = 0; quadrant < 4; ++quadrant) {
        int64_t k = k0 + (quadrant / 2) * 8;
        SmallVector<int64_t> at{row + (quadrant % 2) * 8, k};
        if (rank == 3)
          at.insert(at.begin(), product.batch);
        Value pair = slice(vector, registerAt[at], 2);
        if (k + 8 > depth) {
          Value column = addConstant(threadBase(layout, rank - 1), k);
          Value limit = i32(depth);
          Value low = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, column, limit);
          Value high = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, addConstant(column, 1), limit);
          Value mask = assemble(VectorType::get({2}, b.getI1Type()), {low, high});
          pair = LLVM::SelectOp::create(b, mask, pair, LLVM::ZeroOp::create(b, pair.getType()));
        }
        words.push_back(bitcast(pair, b.getI32Type()));
      }
      fragments.byOffset[row] = words;
    }
    return;
  }
  bool kContiguous = product.a.type.getLayout().getOrder().back() == 1;
  Value firstRow = mulConstant(product.warpM, 16);
  if (!usesLdmatrix(kind, kContiguous)) {
    SharedAddress address = fragmentAddress(product, product.a, firstRow, kContiguous);
    for (int64_t row : rows) {
      SmallVector<Value> words;
      for (int64_t q = 0; q < product.facts.registersA; ++q)
        words.push_back(fragmentWord(product, address, k0 + (q / 2) * (stepK / 2), row + (q % 2) * 8, kContiguous));
      fragments.byOffset[row] = words;
    }
    return;
  }
  int64_t piece = 16 / elementBytes(product.a.type.getElementType()); // elements of a matrix row
  Value lane8 = LLVM::AndOp::create(b, lane, i32(7));
  Value bit3 = LLVM::AndOp::create(b, LLVM::LShrOp::create(b, lane, i32(3)), i32(1));
  Value bit4 = LLVM::LShrOp::create(b, lane, i32(4));
  SharedAddress address{product.a.base, Value(), Value(), product.a.type};
  if (!kContiguous) {
    address.row = add(lane8, mulConstant(bit4, 8));       // k
    address.column = add(firstRow, mulConstant(bit3, 8)); // m
  } else {
    address.row = add(firstRow, add(lane8, mulConstant(bit3, 8))); // m
    address.column = mulConstant(bit4, piece);                     // k
  }
  for (int64_t row : rows) {
    Value at = kContiguous ? sharedAddress(address, row, k0) : sharedAddress(address, k0, row);
    SmallVector<Value> words = matrixLoad(at, 4, !kContiguous);
    if (kind == Mma::TF32)
      for (Value &word : words)
        word = roundTf32(b, word);
    fragments.byOffset[row] = words;
  }
}

void KernelLowering::loadFragmentsB(const Product &product, int64_t step, ArrayRef<int64_t> columns,
                                    Fragments &fragments) {
  DotOp op = product.op;
  Mma kind = product.kind;
  int64_t stepK = product.facts.k, k0 = step * stepK;
  bool kContiguous = product.b.type.getLayout().getOrder().back() == 0;
  Dist acc = layoutOf(op.getResult().getType());
  int64_t perWarp = acc.blockExtent(acc.rank() - 1) / op.getWarps().back();
  Value firstColumn = mulConstant(product.warpN, perWarp);
  if (!usesLdmatrix(kind, kContiguous)) {
    SharedAddress address = fragmentAddress(product, product.b, firstColumn, kContiguous);
    for (int64_t column : columns) {
      SmallVector<Value> words;
      for (int64_t h = 0; h < product.facts.registersB; ++h)
        words.push_back(fragmentWord(product, address, k0 + h * (stepK / 2), column, kContiguous));
      fragments.byOffset[column] = words;
    }
    return;
  }
  int64_t piece = 16 / elementBytes(product.b.type.getElementType());
  Value lane8 = LLVM::AndOp::create(b, lane, i32(7));
  Value bit3 = LLVM::AndOp::create(b, LLVM::LShrOp::create(b, lane, i32(3)), i32(1));
  Value bit4 = LLVM::LShrOp::create(b, lane, i32(4));
  // Two columns of instruction tiles at once where they are neighbours.
  SharedAddress address{product.b.base, Value(), Value(), product.b.type};
  auto setUp = [&](bool pair) {
    Value second = pair ? mulConstant(bit4, 8) : Value();
    if (kContiguous) {
      address.row = add(firstColumn, add(lane8, second)); // n
      address.column = mulConstant(bit3, piece);          // k
    } else {
      address.row = add(lane8, mulConstant(bit3, 8)); // k
      address.column = add(firstColumn, second);      // n
    }
    address.swizzled.clear();
    address.rowBase = Value();
  };
  size_t i = 0;
  bool setForPair = false, setForOne = false;
  while (i < columns.size()) {
    bool pair = i + 1 < columns.size() && columns[i + 1] == columns[i] + 8 && columns[i] % 16 == 0;
    if (pair && !setForPair) {
      setUp(true);
      setForPair = true;
      setForOne = false;
    } else if (!pair && !setForOne) {
      setUp(false);
      setForOne = true;
      setForPair = false;
    }
    Value at = kContiguous ? sharedAddress(address, columns[i], k0) : sharedAddress(address, k0, columns[i]);
    SmallVector<Value> words = matrixLoad(at, pair ? 4 : 2, !kContiguous);
    if (kind == Mma::TF32)
      for (Value &word : words)
        word = roundTf32(b, word);
    fragments.byOffset[columns[i]] = {words[0], words[1]};
    if (pair)
      fragments.byOffset[columns[i + 1]] = {words[2], words[3]};
    i += pair ? 2 : 1;
  }
}

/// What stands after `mma.sync.aligned.` for an instruction.
static std::string mmaName(DotOp op) {
  std::string a = op.getUnsignedA() ? "u8" : "s8", b = op.getUnsignedB() ? "u8" : "s8";
  switch (*op.getMma()) {
  case Mma::F16:
    return cast<RankedTensorType>(op.getResult().getType()).getElementType().isF16()
               ? "m16n8k16.row.col.f16.f16.f16.f16"
               : "m16n8k16.row.col.f32.f16.f16.f32";
  case Mma::BF16:
    return "m16n8k16.row.col.f32.bf16.bf16.f32";
  case Mma::TF32:
    return "m16n8k8.row.col.f32.tf32.tf32.f32";
  case Mma::Int8:
    return "m16n8k32.row.col.s32." + a + "." + b + ".s32";
  case Mma::E4M3:
    return "m16n8k32.row.col.f32.e4m3.e4m3.f32";
  case Mma::E5M2:
    return "m16n8k32.row.col.f32.e5m2.e5m2.f32";
  case Mma::F64:
    return "m8n8k4.row.col.f64.f64.f64.f64";
  }
  return {};
}

/// sums += a * b, one instruction.
void KernelLowering::emitMma(const std::string &name, ArrayRef<Value> a, ArrayRef<Value> right,
                             MutableArrayRef<Value> sums) {
  auto letter = [](Type type) { return type.isF32() ? "f" : type.isF64() ? "d" : "r"; };
  SmallVector<Type> results;
  SmallVector<Value> operands;
  std::string text = "mma.sync.aligned." + name + " ", constraints;
  int64_t next = 0;
  auto group = [&](size_t count) {
    std::string list = "{";
    for (size_t i = 0; i < count; ++i)
      list += (i ? ", $" : "$") + std::to_string(next++);
    return list + "}";
  };
  text += group(sums.size());
  for (Value sum : sums) {
    results.push_back(sum.getType());
    constraints += std::string(constraints.empty() ? "=" : ",=") + letter(sum.getType());
  }
  for (ArrayRef<Value> list : {a, right, ArrayRef<Value>(sums)}) {
    text += ", " + group(list.size());
    for (Value value : list) {
      operands.push_back(value);
      constraints += std::string(",") + letter(value.getType());
    }
  }
  Value product = inlineAsm(results, operands, text + ";", constraints, false);
  for (auto [i, sum] : llvm::enumerate(sums))
    sum = structElement(product, i);
}

void KernelLowering::lowerTensorCoreDot(DotOp op) {
  Dist acc = layoutOf(op.getResult().getType());
  bool batched = acc.rank() == 3, pairs = getElementTypeOrSelf(op.getResult().getType()).isF16();
  int64_t registers = acc.numRegisters(), batches = batched ? acc.reps[0] : 1, perMatrix = registers / batches;
  Value vector = get(op.getAcc());
  MmaFacts facts = factsOf(*op.getMma());
  std::string name = mmaName(op);
  SmallVector<Value> results;
  for (int64_t matrix = 0; matrix < batches; ++matrix) {
    int64_t first = matrix * perMatrix, number = batched ? acc.offset(first)[0] : 0;
    Product product{
        op, *op.getMma(), facts, number, {}, matrixOf(op, op.getB(), number), warpAlong(op, 1), warpAlong(op, 0)};
    if (isa<BufferType>(op.getA().getType()))
      product.a = matrixOf(op, op.getA(), number);
    // Instruction tiles: four registers each, at a constant row and column.
    llvm::SetVector<int64_t> rows, columns;
    SmallVector<std::pair<int64_t, int64_t>> tiles;
    for (int64_t r = first; r < first + perMatrix; r += 4) {
      SmallVector<int64_t> at = acc.offset(r);
      tiles.push_back({at[acc.rank() - 2], at[acc.rank() - 1]});
      rows.insert(tiles.back().first);
      columns.insert(tiles.back().second);
    }
    SmallVector<int64_t> columnList(columns.getArrayRef());
    llvm::sort(columnList);
    // f16 sums are held in pairs.
    int64_t perSum = pairs ? 2 : 1, perTile = 4 / perSum;
    SmallVector<Value> sums;
    for (int64_t r = first; r < first + perMatrix; r += perSum)
      sums.push_back(pairs ? bitcast(slice(vector, r, 2), b.getI32Type()) : extract(vector, r));
    for (int64_t step = 0, steps = product.b.type.getShape()[0] / facts.k; step < steps; ++step) {
      Fragments a, right;
      loadFragmentsA(product, step, rows.getArrayRef(), a);
      loadFragmentsB(product, step, columnList, right);
      for (auto [i, tile] : llvm::enumerate(tiles)) {
        MutableArrayRef<Value> own = MutableArrayRef<Value>(sums).slice(perTile * i, perTile);
        ArrayRef<Value> left = a.byOffset[tile.first], other = right.byOffset[tile.second];
        if (*op.getMma() == Mma::F64) { // 8 rows at a time
          emitMma(name, left.take_front(1), other, own.take_front(2));
          emitMma(name, left.drop_front(1), other, own.drop_front(2));
        } else {
          emitMma(name, left, other, own);
        }
      }
    }
    auto pair = VectorType::get({2}, getElementTypeOrSelf(op.getResult().getType()));
    for (Value sum : sums)
      results.push_back(pairs ? bitcast(sum, pair) : sum);
  }
  values[op.getResult()] = assemble(vector.getType(), results);
}

LogicalResult KernelLowering::lowerPlainDot(DotOp op) {
  Dist acc = layoutOf(op.getResult().getType());
  auto left = dyn_cast<BufferType>(op.getA().getType()), right = cast<BufferType>(op.getB().getType());
  if (!left)
    return op.emitError() << "internal error: expected the left operand of a plain product in shared memory";
  Type accType = cast<RankedTensorType>(op.getResult().getType()).getElementType(), element = left.getElementType();
  int64_t rank = acc.rank(), depth = right.getShape()[rank - 2], count = acc.numRegisters();
  int64_t batches = rank == 3 ? acc.reps[0] : 1, perMatrix = count / batches;
  // Distinct rows and columns of this thread, and which of them each register takes; alike in every matrix.
  llvm::SetVector<int64_t> rows, columns;
  for (int64_t r = 0; r < perMatrix; ++r) {
    rows.insert(acc.offset(r)[rank - 2]);
    columns.insert(acc.offset(r)[rank - 1]);
  }
  SmallVector<int32_t> rowOf, columnOf;
  for (int64_t r = 0; r < perMatrix; ++r) {
    rowOf.push_back(llvm::find(rows, acc.offset(r)[rank - 2]) - rows.begin());
    columnOf.push_back(llvm::find(columns, acc.offset(r)[rank - 1]) - columns.begin());
  }
  SmallVector<std::pair<Matrix, Matrix>> matrices;
  for (int64_t matrix = 0; matrix < batches; ++matrix) {
    int64_t number = rank == 3 ? acc.offset(matrix * perMatrix)[0] : 0;
    matrices.push_back({matrixOf(op, op.getA(), number), matrixOf(op, op.getB(), number)});
  }
  auto loop = scf::ForOp::create(b, i32(0), i32(depth), i32(1), ValueRange(get(op.getAcc())));
  OpBuilder::InsertionGuard guard(b);
  Block *body = loop.getBody();
  if (!body->empty() && body->back().hasTrait<OpTrait::IsTerminator>())
    body->back().erase();
  b.setInsertionPointToEnd(body);
  Value k = loop.getInductionVar();
  auto widen = [&](Value value, bool isUnsigned) -> Value {
    if (element == accType)
      return value;
    if (isa<FloatType>(element))
      return LLVM::FPExtOp::create(b, accType, value);
    return isUnsigned ? LLVM::ZExtOp::create(b, accType, value).getResult()
                      : LLVM::SExtOp::create(b, accType, value).getResult();
  };
  // `own`: which dimension of the matrix the places lie along.
  auto gather = [&](const Matrix &matrix, int64_t own, const llvm::SetVector<int64_t> &places, bool isUnsigned) {
    bool placeIsColumn = matrix.type.getLayout().getOrder().back() == own;
    Value base = threadBase(acc, rank - 2 + own);
    SharedAddress address{matrix.base, placeIsColumn ? k : base, placeIsColumn ? base : k, matrix.type};
    SmallVector<Value> elements;
    for (int64_t place : places)
      elements.push_back(
          widen(loadShared(element, placeIsColumn ? sharedAddress(address, 0, place) : sharedAddress(address, place, 0),
                           Value()),
                isUnsigned));
    return assemble(VectorType::get({int64_t(elements.size())}, accType), elements);
  };
  Value sum = loop.getRegionIterArg(0);
  SmallVector<Value> parts;
  for (auto [i, pair] : llvm::enumerate(matrices)) {
    Value aValues = gather(pair.first, 0, rows, op.getUnsignedA());
    Value bValues = gather(pair.second, 1, columns, op.getUnsignedB());
    Value x = LLVM::ShuffleVectorOp::create(b, aValues, aValues, rowOf);
    Value y = LLVM::ShuffleVectorOp::create(b, bValues, bValues, columnOf);
    Value own = sum;
    if (batches > 1) {
      SmallVector<int32_t> registers;
      for (int64_t r = 0; r < perMatrix; ++r)
        registers.push_back(i * perMatrix + r);
      own = LLVM::ShuffleVectorOp::create(b, sum, sum, registers);
    }
    parts.push_back(isa<FloatType>(accType)
                        ? math::FmaOp::create(b, x, y, own).getResult()
                        : arith::AddIOp::create(b, own, arith::MulIOp::create(b, x, y)).getResult());
  }
  scf::YieldOp::create(b, batches > 1 ? concatenate(parts) : parts.front());
  values[op.getResult()] = loop.getResult(0);
  return success();
}
