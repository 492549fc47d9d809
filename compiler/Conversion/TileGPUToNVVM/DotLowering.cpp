//===- DotLowering.cpp - products on tensor cores and on plain units ------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Tensor cores: one k-step at a time, the operand fragments come from shared memory by ldmatrix (or, for a left operand in registers, from its vector), then one
// mma for every instruction tile of the warp.  Fragment layouts are those of the PTX ISA for m16n8k16 (16-bit) and m16n8k8 (tf32): with
// g = lane / 4 and t = lane % 4,
//
//     A   a0 (g, 2t..)   a1 (g+8, 2t..)   a2 (g, 2t+8..)   a3 (g+8, 2t+8..)        B   b0 (2t.., g)   b1 (2t+8.., g)
//
// ldmatrix hands lane l the words that matrix l / 8, row l % 8 of four 8 x 16-byte matrices hold at 4 * (l % 4) bytes, which is these fragments when the
// matrices are the quadrants of A, or two columns of B; `.trans` exchanges rows and columns of 16-bit elements for operands whose
// other dimension is contiguous.
//
// Everything else (f32 exactly, f64, integers): a loop over k with one multiply-add a step for every element a thread holds.
//
#include "compiler/Conversion/TileGPUToNVVM/Lowering.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::tile_gpu;

struct KernelLowering::Fragments {
  llvm::DenseMap<int64_t, SmallVector<Value>> byOffset; ///< constant row (A) or column (B) -> registers
};

LogicalResult KernelLowering::lowerDot(DotOp op) {
  if (op.getMma()) {
    lowerTensorCoreDot(op);
    return success();
  }
  return lowerPlainDot(op);
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

void KernelLowering::loadFragmentsA(DotOp op, int64_t step, ArrayRef<int64_t> rows, Fragments &fragments) {
  ArrayRef<int64_t> warpGrid = op.getWarps();
  // The accumulator's warps: bits of N first (Layouts.h).
  int64_t bitsN = llvm::Log2_64(warpGrid[1]);
  bool tf32 = op.getTf32();
  if (auto tile = dyn_cast<RankedTensorType>(op.getA().getType())) {
    // Left operand in registers: quadrants are registers of its layout; columns past the tile's end enter as 0.
    Dist layout = layoutOf(tile);
    std::map<SmallVector<int64_t>, int64_t> registerAt;
    for (int64_t r = 0, e = layout.numRegisters(); r < e; ++r)
      registerAt[layout.offset(r)] = r;
    Value vector = get(op.getA());
    for (int64_t row : rows) {
      SmallVector<Value> words;
      for (int64_t quadrant = 0; quadrant < 4; ++quadrant) {
        int64_t k = step * 16 + (quadrant / 2) * 8;
        SmallVector<int64_t> at{row + (quadrant % 2) * 8, k};
        Value pair = slice(vector, registerAt[at], 2);
        if (k + 8 > tile.getShape()[1]) {
          Value column = addConstant(threadBase(layout, 1), k);
          Value limit = i32(tile.getShape()[1]);
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
  auto type = cast<BufferType>(op.getA().getType());
  bool transposed = type.getLayout().getOrder().back() == 0; // M is contiguous
  Value warpM = LLVM::LShrOp::create(b, warp, i32(bitsN));
  Value firstRow = mulConstant(LLVM::AndOp::create(b, warpM, i32(warpGrid[0] - 1)), 16);
  int64_t stepK = tf32 ? 8 : 16;
  Value lane8 = LLVM::AndOp::create(b, lane, i32(7));
  Value bit3 = LLVM::AndOp::create(b, LLVM::LShrOp::create(b, lane, i32(3)), i32(1));
  Value bit4 = LLVM::LShrOp::create(b, lane, i32(4));
  if (transposed && tf32) {
    // 32-bit elements cannot be transposed by ldmatrix: four plain loads.
    Value g = LLVM::LShrOp::create(b, lane, i32(2)), t = LLVM::AndOp::create(b, lane, i32(3));
    SharedAddress address{get(op.getA()), t, add(firstRow, g), type};
    for (int64_t row : rows) {
      SmallVector<Value> words;
      for (int64_t quadrant = 0; quadrant < 4; ++quadrant) {
        Value at = sharedAddress(address, step * 8 + (quadrant / 2) * 4, row + (quadrant % 2) * 8);
        words.push_back(roundTf32(b, loadShared(b.getI32Type(), at, Value())));
      }
      fragments.byOffset[row] = words;
    }
    return;
  }
  SharedAddress address{get(op.getA()), Value(), Value(), type};
  if (transposed) {
    address.row = add(lane8, mulConstant(bit4, 8));       // k
    address.column = add(firstRow, mulConstant(bit3, 8)); // m
  } else {
    address.row = add(firstRow, add(lane8, mulConstant(bit3, 8))); // m
    address.column = mulConstant(bit4, tf32 ? 4 : 8);              // k
  }
  for (int64_t row : rows) {
    Value at = transposed ? sharedAddress(address, step * stepK, row) : sharedAddress(address, row, step * stepK);
    SmallVector<Value> words = matrixLoad(at, 4, transposed);
    if (tf32)
      for (Value &word : words)
        word = roundTf32(b, word);
    fragments.byOffset[row] = words;
  }
}

void KernelLowering::loadFragmentsB(DotOp op, int64_t step, ArrayRef<int64_t> columns, Fragments &fragments) {
  auto type = cast<BufferType>(op.getB().getType());
  bool tf32 = op.getTf32();
  bool kContiguous = type.getLayout().getOrder().back() == 0;
  Dist acc = layoutOf(op.getResult().getType());
  int64_t perWarp = acc.blockExtent(1) / op.getWarps()[1];
  Value warpN = LLVM::AndOp::create(b, warp, i32(op.getWarps()[1] - 1));
  Value firstColumn = mulConstant(warpN, perWarp);
  int64_t stepK = tf32 ? 8 : 16;
  Value lane8 = LLVM::AndOp::create(b, lane, i32(7));
  Value bit3 = LLVM::AndOp::create(b, LLVM::LShrOp::create(b, lane, i32(3)), i32(1));
  Value bit4 = LLVM::LShrOp::create(b, lane, i32(4));
  if (!kContiguous && tf32) {
    Value g = LLVM::LShrOp::create(b, lane, i32(2)), t = LLVM::AndOp::create(b, lane, i32(3));
    SharedAddress address{get(op.getB()), t, add(firstColumn, g), type};
    for (int64_t column : columns) {
      SmallVector<Value> words;
      for (int64_t half = 0; half < 2; ++half)
        words.push_back(
            roundTf32(b, loadShared(b.getI32Type(), sharedAddress(address, step * 8 + half * 4, column), Value())));
      fragments.byOffset[column] = words;
    }
    return;
  }
  // Two columns of instruction tiles at once where they are neighbours.
  SharedAddress address{get(op.getB()), Value(), Value(), type};
  auto setUp = [&](bool pair) {
    Value second = pair ? mulConstant(bit4, 8) : Value();
    if (kContiguous) {
      address.row = add(firstColumn, add(lane8, second)); // n
      address.column = mulConstant(bit3, tf32 ? 4 : 8);   // k
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
    Value at = kContiguous ? sharedAddress(address, columns[i], step * stepK)
                           : sharedAddress(address, step * stepK, columns[i]);
    SmallVector<Value> words = matrixLoad(at, pair ? 4 : 2, !kContiguous);
    if (tf32)
      for (Value &word : words)
        word = roundTf32(b, word);
    fragments.byOffset[columns[i]] = {words[0], words[1]};
    if (pair)
      fragments.byOffset[columns[i + 1]] = {words[2], words[3]};
    i += pair ? 2 : 1;
  }
}

void KernelLowering::lowerTensorCoreDot(DotOp op) {
  Dist acc = layoutOf(op.getResult().getType());
  Value vector = get(op.getAcc());
  // Instruction tiles: four registers each, at a constant row and column.
  llvm::SetVector<int64_t> rows, columns;
  SmallVector<std::pair<int64_t, int64_t>> tiles;
  for (int64_t r = 0, e = acc.numRegisters(); r < e; r += 4) {
    SmallVector<int64_t> at = acc.offset(r);
    tiles.push_back({at[0], at[1]});
    rows.insert(at[0]);
    columns.insert(at[1]);
  }
  SmallVector<int64_t> columnList(columns.getArrayRef());
  llvm::sort(columnList);
  SmallVector<Value> sums;
  for (int64_t r = 0, e = acc.numRegisters(); r < e; ++r)
    sums.push_back(extract(vector, r));
  bool tf32 = op.getTf32();
  int64_t stepK = tf32 ? 8 : 16;
  auto shapeOfB = cast<BufferType>(op.getB().getType());
  int64_t steps = shapeOfB.getShape()[0] / stepK;
  Type element = shapeOfB.getElementType();
  std::string types = tf32 ? "f32.tf32.tf32.f32" : element.isF16() ? "f32.f16.f16.f32" : "f32.bf16.bf16.f32";
  std::string text = std::string("mma.sync.aligned.m16n8k") + (tf32 ? "8" : "16") + ".row.col." + types +
                     " {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};";
  SmallVector<Type> results(4, b.getF32Type());
  for (int64_t step = 0; step < steps; ++step) {
    Fragments a, right;
    loadFragmentsA(op, step, rows.getArrayRef(), a);
    loadFragmentsB(op, step, columnList, right);
    for (auto [i, tile] : llvm::enumerate(tiles)) {
      SmallVector<Value> operands(a.byOffset[tile.first]);
      llvm::append_range(operands, right.byOffset[tile.second]);
      for (int64_t c = 0; c < 4; ++c)
        operands.push_back(sums[4 * i + c]);
      Value product = inlineAsm(results, operands, text, "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f", false);
      for (int64_t c = 0; c < 4; ++c)
        sums[4 * i + c] = structElement(product, c);
    }
  }
  values[op.getResult()] = assemble(vector.getType(), sums);
}

LogicalResult KernelLowering::lowerPlainDot(DotOp op) {
  Dist acc = layoutOf(op.getResult().getType());
  auto left = dyn_cast<BufferType>(op.getA().getType()), right = cast<BufferType>(op.getB().getType());
  if (!left)
    return op.emitError() << "internal error: expected the left operand of a plain product in shared memory";
  Type accType = cast<RankedTensorType>(op.getResult().getType()).getElementType(), element = left.getElementType();
  int64_t depth = right.getShape()[0], count = acc.numRegisters();
  // Distinct rows and columns of this thread, and which of them each register takes.
  llvm::SetVector<int64_t> rows, columns;
  for (int64_t r = 0; r < count; ++r) {
    rows.insert(acc.offset(r)[0]);
    columns.insert(acc.offset(r)[1]);
  }
  SmallVector<int32_t> rowOf, columnOf;
  for (int64_t r = 0; r < count; ++r) {
    rowOf.push_back(llvm::find(rows, acc.offset(r)[0]) - rows.begin());
    columnOf.push_back(llvm::find(columns, acc.offset(r)[1]) - columns.begin());
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
  auto gather = [&](Value buffer, BufferType type, int64_t dimension, const llvm::SetVector<int64_t> &places,
                    bool isUnsigned) {
    bool placeIsColumn = type.getLayout().getOrder().back() == dimension;
    Value base = threadBase(acc, dimension);
    SharedAddress address{get(buffer), placeIsColumn ? k : base, placeIsColumn ? base : k, type};
    SmallVector<Value> elements;
    for (int64_t place : places)
      elements.push_back(
          widen(loadShared(element, placeIsColumn ? sharedAddress(address, 0, place) : sharedAddress(address, place, 0),
                           Value()),
                isUnsigned));
    return assemble(VectorType::get({int64_t(elements.size())}, accType), elements);
  };
  Value aValues = gather(op.getA(), left, 0, rows, op.getUnsignedA());
  Value bValues = gather(op.getB(), right, 1, columns, op.getUnsignedB());
  Value x = LLVM::ShuffleVectorOp::create(b, aValues, aValues, rowOf);
  Value y = LLVM::ShuffleVectorOp::create(b, bValues, bValues, columnOf);
  Value sum = loop.getRegionIterArg(0);
  Value next = isa<FloatType>(accType) ? math::FmaOp::create(b, x, y, sum).getResult()
                                       : arith::AddIOp::create(b, sum, arith::MulIOp::create(b, x, y)).getResult();
  scf::YieldOp::create(b, next);
  values[op.getResult()] = loop.getResult(0);
  return success();
}
