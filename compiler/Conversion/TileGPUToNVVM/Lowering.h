//===- Lowering.h - one walk from tile_gpu to the LLVM dialect ------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A tile becomes one `vector<N x T>`, N the registers a thread holds of it, and elementwise ops stay one op on whole vectors; elements are taken out and put
// in only where hardware wants single registers: products, shuffles, memory.  The walk rebuilds the kernel as an llvm.func in which scf,
// arith and math ops on scalars and vectors remain; upstream conversions take those.  Files, by op group:
//
//     KernelLowering.cpp   signature, coordinates, control flow, elementwise ops, rearrangements within a thread
//     MemoryLowering.cpp   views, global loads and stores
//     AtomicLowering.cpp   accumulation and atomics
//     SharedLowering.cpp   buffers, copies, barriers
//     ReduceLowering.cpp   reductions and exchanges
//     CombineLowering.cpp  scans, and reductions by a function
//     SortLowering.cpp     sorting
//     DotLowering.cpp      products
//
// Addresses: the run-time part of a tile's coordinates (Layouts.h) is computed once in the kernel's entry block; what differs from register to
// register is added as a constant.
//
#ifndef TESSERA_COMPILER_CONVERSION_TILEGPUTONVVM_LOWERING_H
#define TESSERA_COMPILER_CONVERSION_TILEGPUTONVVM_LOWERING_H

#include "compiler/Analysis/ScalarFacts.h"
#include "dialect/TileGPU/Layouts.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <map>

namespace tessera {

/// A tensor parameter as the kernel sees it.
struct ParamView {
  mlir::Value pointer;                       ///< !llvm.ptr<1>
  llvm::SmallVector<mlir::Value> strides;    ///< elements, i64
  llvm::SmallVector<int64_t> strideDivisors; ///< powers of two that divide them
  llvm::SmallVector<mlir::Value> extents;    ///< i64
  llvm::SmallVector<int64_t> extentDivisors;
  int64_t unitDim = -1; ///< this dimension's stride is 1
  int64_t align = 1;    ///< bytes
  int64_t elementBytes = 1;
  bool readOnly = false; ///< mode `in`: nothing in the launch writes it
};

struct PageTable;

/// One dimension of a view: where it lies in its parameter.  Element e is at root index offset + e and exists iff low <= offset + e < high.
struct ViewDim {
  int64_t root = 0;
  mlir::Value offset; ///< null: 0
  int64_t offsetDivisor = int64_t(1) << 30;
  bool offsetNonNegative = true;
  mlir::Value low; ///< null: 0
  mlir::Value high;
  int64_t highDivisor = 1;
  int64_t staticExtent = -1;        ///< of an untouched static dimension
  std::shared_ptr<PageTable> pages; ///< of rows behind a page table; `root` is then the dimension of a row in its page
};

/// A view resolved to its parameter.
struct ViewState {
  const ParamView *param = nullptr;
  mlir::Value pointer;                       ///< moved by the scalar indices
  int64_t pointerDivisor = int64_t(1) << 30; ///< elements; what the scalar indices leave of the alignment
  mlir::Value valid;                         ///< i1: the scalar indices were inside; null: true
  llvm::SmallVector<ViewDim> dims;
};

/// The page table behind a dimension.
struct PageTable {
  ViewState table;
  bool wideEntries = false;                  ///< i64; else i32
  int64_t pageRoot = 0;                      ///< the pool's dimension of pages
  mlir::Value rowsOfPage;                    ///< i64
  mlir::Value poolOffset, poolLow, poolHigh; ///< i64; the first two may be null: 0
};

/// Lowers one kernel.  `lower` fails after emitting an error.
class KernelLowering {
public:
  KernelLowering(tile::KernelOp kernel, mlir::OpBuilder &builder);
  mlir::FailureOr<mlir::LLVM::LLVMFuncOp> lower();

private:
  using Value = mlir::Value;
  using Type = mlir::Type;
  using Location = mlir::Location;
  using Dist = tile_gpu::Dist;

  // KernelLowering.cpp
  mlir::LogicalResult createFunction();
  mlir::LogicalResult createCoordinates(llvm::ArrayRef<Value> counts);
  Value emitExpression(llvm::StringRef text);
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  mlir::LogicalResult lowerFor(mlir::scf::ForOp loop);
  mlir::LogicalResult lowerIf(mlir::scf::IfOp branch);
  mlir::LogicalResult lowerWhile(mlir::scf::WhileOp loop);
  mlir::LogicalResult lowerRegion(mlir::Region &from, mlir::Region &to);
  mlir::LogicalResult lowerElementwise(mlir::Operation *op);
  /// A run of elementwise ops on long vectors, piece by piece.
  mlir::LogicalResult lowerChain(llvm::ArrayRef<mlir::Operation *> chain);
  void lowerConstant(mlir::arith::ConstantOp op);
  void lowerIota(tile::IotaOp op);
  mlir::LogicalResult lowerBroadcast(tile::BroadcastOp op);
  mlir::LogicalResult
  lowerRearrangement(Value source, Value result,
                     llvm::function_ref<llvm::SmallVector<int64_t>(llvm::ArrayRef<int64_t>)> toSource);
  Value mathFunction(mlir::Operation *op, Value operand); ///< null after an error

  // MemoryLowering.cpp
  mlir::LogicalResult lowerSubview(tile::SubviewOp op);
  void lowerPaged(tile::PagedOp op);
  /// Bytes from the view's pointer to row `row` (i64, offset included) behind a page table, and whether it exists.
  std::pair<Value, Value> pagedRow(const ViewDim &dim, const ParamView &param, Value row);
  mlir::LogicalResult lowerLoad(tile::LoadOp op);
  mlir::LogicalResult lowerStore(tile::StoreOp op);
  mlir::LogicalResult lowerInside(tile::InsideOp op);
  Value dimExtent(tile::DimOp op);

  /// How the elements of one slice are reached under one layout.  Built by `planAccess`.
  struct Access {
    const ParamView *param = nullptr;
    Value base;                                ///< pointer of the thread's element at constant offset 0
    llvm::SmallVector<Value> stride;           ///< bytes per step of each tile dimension, i64; null where constant
    llvm::SmallVector<int64_t> constantStride; ///< bytes per step where constant
    llvm::SmallVector<Value> room;             ///< i32: offset c of dimension d is inside iff c < room[d]; null: always
    llvm::SmallVector<Value> below;            ///< i32: and c >= below[d]; null: always
    Value valid;                               ///< i1, null: true
    int64_t vector = 1;                        ///< elements of one access along `vectorDim`
    int64_t vectorDim = -1;
    llvm::DenseMap<std::pair<int64_t, int64_t>, Value> predicateOf, addressOf; ///< memo by (dimension, offset)
    /// One index tile: the element at a register of the slice is a register of this vector.
    struct Gather {
      Value vector, offset, low, high,
          stride; ///< vector of i64; the others i64, offset and low may be null; stride in bytes
      Dist layout;
      std::map<llvm::SmallVector<int64_t>, int64_t> registerAt;
      int64_t firstDim = 0;                             ///< tile dimension of the index tile's first
      llvm::SmallVector<int64_t> shape;                 ///< of the index tile; 1 stretches
      llvm::DenseMap<int64_t, Value> insideOf, bytesOf; ///< memo by register
    };
    /// A range of rows behind a page table.
    struct Paged {
      ViewDim dim;
      Value first;                                      ///< row of the thread's element at constant offset 0
      int64_t position = 0, step = 1;                   ///< tile dimension
      llvm::DenseMap<int64_t, Value> insideOf, bytesOf; ///< memo by offset
    };
    std::vector<Paged> paged;
    std::vector<Gather> gathers;
    int64_t registerOf(const Gather &gather, llvm::ArrayRef<int64_t> offset) const;
  };
  mlir::FailureOr<Access> planAccess(mlir::Operation *op, Value view, mlir::ValueRange indices,
                                     llvm::ArrayRef<int64_t> widths, llvm::ArrayRef<int64_t> steps, const Dist &layout,
                                     llvm::ArrayRef<int64_t> shape, bool boundedVectors);
  Value accessPredicate(Access &access, llvm::ArrayRef<int64_t> offset); ///< null: true
  Value accessPointer(Access &access, llvm::ArrayRef<int64_t> offset);
  /// A guarded (predicate non-null) or plain access of `type` in global memory.
  Value loadGlobal(Type type, Value pointer, Value predicate, bool readOnly);
  void storeGlobal(Value value, Value pointer, Value predicate);

  /// Steps of the tile dimensions of a slice of rank `rank`; 1 for those of index tiles.
  static llvm::SmallVector<int64_t> tileSteps(mlir::ValueRange indices, llvm::ArrayRef<int64_t> widths,
                                              llvm::ArrayRef<int64_t> steps, size_t rank);

  // AtomicLowering.cpp
  mlir::LogicalResult lowerAccumulate(tile::AccumulateOp op);
  mlir::LogicalResult lowerAtomic(tile_gpu::AtomicOp op);
  void lowerScalarAtomic(tile_gpu::AtomicOp op, Access &access);
  Value atomicElement(tile_gpu::AtomicOp op, Value pointer, Value value, Value compare, Value predicate);

  // SharedLowering.cpp
  mlir::LogicalResult lowerAlloc(tile_gpu::AllocOp op);
  mlir::LogicalResult lowerCopy(tile_gpu::CopyOp op);
  mlir::LogicalResult lowerWrite(tile_gpu::WriteOp op);
  mlir::LogicalResult lowerRead(tile_gpu::ReadOp op);
  void lowerCount(tile_gpu::CountOp op);
  void lowerReadPart(tile_gpu::ReadPartOp op);
  void zeroFill(Value base, tile_gpu::BufferType type, int64_t axis, int64_t from);
  void emitBarrier();
  /// Byte address (i32) of an element of `type` at row + constRow, column + constColumn (in elements along the fastest dimension).
  struct SharedAddress {
    Value base, row, column; ///< i32; row and column: run-time parts, null for 0
    tile_gpu::BufferType type;
    llvm::DenseMap<int64_t, Value> swizzled =
        llvm::DenseMap<int64_t, Value>(); ///< memo by what enters the exclusive or
    Value rowBase = Value();              ///< base + row * pitch
  };
  Value sharedAddress(SharedAddress &address, int64_t constRow, int64_t constColumn);
  /// Row and column of buffer coordinates: rows are all dimensions but the fastest, flattened.
  std::pair<int64_t, int64_t> rowColumn(tile_gpu::BufferType type, llvm::ArrayRef<int64_t> at);
  SharedAddress addressFor(Value buffer, const Dist &layout);
  Value loadShared(Type type, Value address, Value predicate);
  void storeShared(Value value, Value address, Value predicate);

  // ReduceLowering.cpp
  mlir::LogicalResult lowerReduce(tile::ReduceOp op);
  mlir::LogicalResult lowerExchange(tile_gpu::ExchangeOp op);
  Value combine(tile::ReduceKind kind, Value a, Value b);
  Value identityOf(tile::ReduceKind kind, Type element);
  Value shuffle(Value value, int64_t laneBit);
  /// `exchange`, which takes 32-bit words, for a value of any width.
  Value shuffleWords(Value value, llvm::function_ref<Value(Value)> exchange);
  void shuffleConversion(tile_gpu::ConvertLayoutOp op, const tile_gpu::Conversion &conversion);

  // CombineLowering.cpp
  /// The combination of a run of elements of several tiles, in a thread.
  struct Partial {
    llvm::SmallVector<Value> values;
    Value exists; ///< i1: the run has elements; null: always
  };
  using Combine = llvm::function_ref<llvm::SmallVector<Value>(llvm::ArrayRef<Value> left, llvm::ArrayRef<Value> right)>;
  /// One line along an axis: registers by repetition, in order of their coordinate.
  using Line = llvm::SmallVector<llvm::SmallVector<std::pair<int64_t, int64_t>>>;
  static std::map<llvm::SmallVector<int64_t>, Line> linesOf(const Dist &layout, int64_t axis);
  mlir::LogicalResult lowerReduceBy(tile::ReduceByOp op);
  mlir::LogicalResult lowerScanBy(tile::ScanByOp op);
  void lowerScan(tile::ScanOp op);
  void scanAlong(mlir::ValueRange sources, mlir::ValueRange results, int64_t axis, bool reverse, Combine combine);
  llvm::SmallVector<Value> callRegion(mlir::Region &function, llvm::ArrayRef<Value> left, llvm::ArrayRef<Value> right,
                                      bool &good);
  Partial join(Combine combine, const Partial &left, const Partial &right);
  Partial exchange(const Partial &partial, llvm::function_ref<Value(Value word)> move);
  Partial elementOf(llvm::ArrayRef<Value> vectors, const Dist &layout, int64_t axis, int64_t extent, int64_t along,
                    int64_t index);

  // SortLowering.cpp
  void lowerSort(tile::SortOp op);

  // DotLowering.cpp
  mlir::LogicalResult lowerDot(tile_gpu::DotOp op);
  void lowerTensorCoreDot(tile_gpu::DotOp op);
  mlir::LogicalResult lowerPlainDot(tile_gpu::DotOp op);
  struct Fragments; ///< operand registers of one k-step
  struct Matrix;
  struct Product;
  Value warpAlong(tile_gpu::DotOp op, int64_t fromLast);
  Matrix matrixOf(tile_gpu::DotOp op, Value buffer, int64_t batch);
  Value fragmentWord(const Product &product, SharedAddress &address, int64_t k, int64_t other, bool kContiguous);
  SharedAddress fragmentAddress(const Product &product, const Matrix &matrix, Value first, bool kContiguous);
  void loadFragmentsA(const Product &product, int64_t step, llvm::ArrayRef<int64_t> rows, Fragments &fragments);
  void loadFragmentsB(const Product &product, int64_t step, llvm::ArrayRef<int64_t> columns, Fragments &fragments);
  void emitMma(const std::string &name, llvm::ArrayRef<Value> a, llvm::ArrayRef<Value> right,
               llvm::MutableArrayRef<Value> sums);
  llvm::SmallVector<Value> matrixLoad(Value address, int count, bool transposed);

  // Building blocks
  Value i32(int64_t value);
  Value i64(int64_t value);
  Value add(Value a, Value b); ///< null counts as 0
  Value addConstant(Value a, int64_t c);
  Value mulConstant(Value a, int64_t c);
  Value inlineAsm(llvm::ArrayRef<Type> results, llvm::ArrayRef<Value> operands, const std::string &text,
                  const std::string &constraints, bool sideEffects);
  Value structElement(Value aggregate, int64_t index);
  Value extract(Value vector, int64_t index);
  Value slice(Value vector, int64_t begin, int64_t count); ///< a sub-vector; a scalar for count 1
  Value assemble(Type vectorType, llvm::ArrayRef<Value> elements);
  Value concatenate(llvm::ArrayRef<Value> parts);
  Value splat(Value scalar, int64_t count);
  Value bitcast(Value value, Type type);
  Value intrinsic(Type result, llvm::StringRef name, llvm::ArrayRef<Value> operands);
  Type convertType(Type type);
  Value get(Value value) { return values.lookup(value); }
  /// Run-time part of the coordinates of a thread along `axis`, in the entry block; null for 0.
  Value threadBase(const Dist &layout, int64_t axis);
  /// Condition that this thread is the first of its replicas; null: no replicas.
  Value ownsElements(const Dist &layout);

  tile::KernelOp kernel;
  mlir::ImplicitLocOpBuilder b;
  mlir::LLVM::LLVMFuncOp function;
  mlir::Operation *marker = nullptr;      ///< end of the entry block's prologue
  Value threadId, lane, warp, sharedBase; ///< i32
  int64_t warps = 4;
  std::vector<std::unique_ptr<ParamView>> params;
  llvm::DenseMap<Value, Value> values;
  llvm::DenseMap<Value, ViewState> views;
  llvm::StringMap<Value> symbols; ///< dimension names and scalars, i64 where integer
  llvm::DenseMap<std::pair<mlir::Attribute, int64_t>, Value> bases;
  llvm::DenseMap<mlir::Attribute, Value> owners;
  ScalarFacts facts;
};

} // namespace tessera
#endif // TESSERA_COMPILER_CONVERSION_TILEGPUTONVVM_LOWERING_H
