//===- Lowering.h - one walk from tile IR to scalar loops ------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A tile is either in a buffer (row-major, in the thread's scratch) or a recipe: the value of any element can be emitted where a loop needs it.  What is
// read from memory, reduced, multiplied or carried by control flow is in a buffer; chains of elementwise ops that end in one consumer
// are recipes, evaluated in that consumer's loop.  `planTiles` decides; files by op group:
//
//     HostLowering.cpp      the walk, recipes
//     HostSignature.cpp     arguments, coordinates, launch expressions
//     HostControlFlow.cpp   loops, branches, assertions
//     HostMemory.cpp        views, loads and stores
//     HostAtomics.cpp       accumulation and atomics
//     HostTiles.cpp         reductions and products
//     HostSequences.cpp     reductions and scans by a function, sorting
//
#ifndef TESSERA_COMPILER_CONVERSION_TILETOHOST_LOWERING_H
#define TESSERA_COMPILER_CONVERSION_TILETOHOST_LOWERING_H

#include "dialect/Tile/TileDialect.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <map>

namespace tessera {

/// Mistakes that tests plant to see that some check turns red.
struct HostFaults {
  bool maxSkipsNan = false, lastDepthDropped = false, padIgnored = false, lowBoundIgnored = false,
       highBoundIgnored = false, storeUnguarded = false, accumulatorIgnored = false, reduceSkipsFirst = false,
       broadcastWrongAxis = false, permuteIgnored = false, subviewOffsetIgnored = false, viewBoundIgnored = false,
       loopSkipsLast = false, selectSwapped = false, iotaFromOne = false, gridStepOff = false, minBecomesMax = false,
       expandTransposed = false, carriedNotUpdated = false, strideIgnored = false;
  /// Sets the fault called `name`; false for an unknown name.
  bool set(llvm::StringRef name);
  static llvm::ArrayRef<llvm::StringRef> names();
};

/// The most scratch that a thread may need: far more than a cache holds, and offsets stay small.
inline constexpr int64_t kMaxScratchBytes = int64_t(1) << 30;

/// The type of a tile; null for a scalar.
inline mlir::RankedTensorType tileType(mlir::Value value) {
  return llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
}
/// How an element is held in SSA: bf16 and the fp8 formats as integers of their bits, since the back end turns even a selection of bf16 into a call.
inline mlir::Type held(mlir::Type element) {
  bool asBits = element.isBF16() || (llvm::isa<mlir::FloatType>(element) && element.getIntOrFloatBitWidth() == 8);
  return asBits ? mlir::Type(mlir::IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth())) : element;
}
/// The type of an element in memory: bool is a byte.
inline mlir::Type stored(mlir::Type element) {
  return element.isInteger(1) ? mlir::Type(mlir::IntegerType::get(element.getContext(), 8)) : held(element);
}
inline int64_t bytesOf(mlir::Type element) { return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8); }

struct HostPages;

/// One dimension of a view: element e is at root index offset + e and exists iff low <= offset + e < high.
struct HostViewDim {
  mlir::Value stride, offset, low, high; ///< i64; offset and low may be null: 0
  std::shared_ptr<HostPages> pages;      ///< of rows behind a page table; stride is then that of a row in its page
};
struct HostView {
  mlir::Value pointer; ///< of the element at root index 0 of all dimensions that remain
  mlir::Value valid;   ///< i1: scalar indices on the way were inside; null: true
  llvm::SmallVector<HostViewDim> dims;
  mlir::Type element;
};

/// The page table behind a dimension.
struct HostPages {
  HostView table;
  mlir::Value rowsOfPage, poolOffset, poolLow, poolHigh, pageStride; ///< i64; poolOffset and poolLow may be null: 0
};

class HostLowering {
public:
  HostLowering(tile::KernelOp kernel, mlir::OpBuilder &builder, const HostFaults &faults)
      : kernel(kernel), b(kernel.getLoc(), builder), faults(faults) {}
  mlir::LogicalResult lower();

private:
  using Value = mlir::Value;
  using Type = mlir::Type;
  using Indices = llvm::SmallVector<Value>;

  // HostSignature.cpp
  mlir::LogicalResult createFunction();
  mlir::LogicalResult createCoordinates();
  Value emitTree(const struct Expr &expression);
  Value emitExpression(mlir::Attribute text);

  // HostLowering.cpp
  void planTiles();
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  Value elementOf(Value tile, const Indices &indices);
  Value recipeElement(mlir::Operation *op, const Indices &indices);
  Indices extractedFrom(tile::ExtractOp op, const Indices &indices);
  Value emitScalarOp(mlir::Operation *op, llvm::SmallVector<Value> operands);
  Value heldConstant(mlir::Attribute value);
  Value hold(Value value);
  Value unhold(Value value, Type element);
  void materialize(Value tile, Value pointer);
  mlir::LogicalResult writeConstant(mlir::arith::ConstantOp constant, Value pointer);

  // HostControlFlow.cpp
  void lowerAssert(tile::AssertOp op);
  mlir::LogicalResult lowerFor(mlir::scf::ForOp loop);
  mlir::LogicalResult lowerIf(mlir::scf::IfOp branch);
  mlir::LogicalResult lowerWhile(mlir::scf::WhileOp loop);
  void copyTile(Value from, Value to, Type tileType);

  // HostMemory.cpp
  /// Where one element lies (a pointer, or bytes from one), and whether it is inside.
  struct Place {
    Value pointer, inside;
  };
  void lowerSubview(tile::SubviewOp op);
  void lowerPaged(tile::PagedOp op);
  bool goesByRows(Value view, llvm::ArrayRef<int64_t> widths);
  Value dimExtent(tile::DimOp op);
  /// Bytes from the view's pointer to element `element` (offset included) of a dimension, and whether it exists.
  Place placeInDimension(const HostViewDim &dim, Value element, mlir::Type type);
  mlir::LogicalResult lowerLoad(tile::LoadOp op);
  mlir::LogicalResult lowerStore(tile::StoreOp op);
  Value insideElement(tile::InsideOp op, const Indices &indices);
  Place placeOf(Value view, mlir::ValueRange indices, llvm::ArrayRef<int64_t> widths, llvm::ArrayRef<int64_t> steps,
                const Indices &at);
  /// A slice whose last tile dimension is a plain range: everything about one row.
  struct Row {
    Value pointer;    ///< of tile column 0 (which may be outside)
    Value stride;     ///< bytes between columns
    Value first, end; ///< columns inside: first <= c < end
  };
  Row rowOf(Value view, mlir::ValueRange indices, llvm::ArrayRef<int64_t> widths, llvm::ArrayRef<int64_t> steps,
            const Indices &outer);
  Value loadScalar(Type element, Value pointer);
  void storeScalar(Value value, Value pointer);
  Value offsetPointer(Value pointer, Value bytes);

  // HostAtomics.cpp
  void lowerAccumulate(tile::AccumulateOp op);
  void lowerAtomic(tile::AtomicOp op);
  Value atomicElement(tile::AtomicOp op, Value pointer, Value value, Value compare);
  Value combineFloats(tile::AtomicKind kind, Type element, Value a, Value b);

  // HostTiles.cpp
  void lowerReduce(tile::ReduceOp op);
  void lowerScan(tile::ScanOp op);
  void lowerDot(tile::DotOp op);
  void reduceLastAxis(tile::ReduceOp op, Type accumulator, Value out);
  Value widened(Value x, Type element);
  Value combine(tile::ReduceKind kind, Value x, Value y);
  bool updatesInPlace(tile::DotOp op);
  void multiply(tile::DotOp op, Value a, Value b, Value out);
  Value identityOf(tile::ReduceKind kind, Type element);

  // HostSequences.cpp
  void lowerReduceBy(tile::ReduceByOp op);
  void lowerScanBy(tile::ScanByOp op);
  void lowerSort(tile::SortOp op);
  void lowerHistogram(tile::HistogramOp op);
  llvm::SmallVector<Value> combineBy(mlir::Region &function, llvm::ArrayRef<Value> left, llvm::ArrayRef<Value> right);

  // Building blocks
  Value i64(int64_t value);
  void loop(Value low, Value high, int64_t step, llvm::function_ref<void(Value)> body);
  void loopOver(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(const Indices &)> body);
  int64_t allocate(Type tileType);
  Value scratchPointer(int64_t offset);
  /// Address of an element of a row-major buffer.
  Value bufferElement(Value pointer, Type tileType, const Indices &indices);
  Value get(Value value) { return scalars.lookup(value); }

  tile::KernelOp kernel;
  mlir::ImplicitLocOpBuilder b;
  const HostFaults &faults;
  mlir::LLVM::LLVMFuncOp function;
  Value scratch;
  int64_t scratchTop = 64, scratchMost = 64; ///< the first 64 bytes belong to the runtime's status record
  llvm::DenseMap<Value, Value> scalars;      ///< scalar values, and pointers of tiles in buffers
  llvm::DenseMap<Value, HostView> views;
  llvm::DenseSet<Value> inBuffer; ///< tiles that planTiles wants in a buffer
  llvm::StringMap<Value> symbols;
  std::map<std::pair<void *, std::vector<void *>>, Value>
      emitted;            ///< elements emitted in the current innermost loop body
  Value program;          ///< the linear number of the program that runs
  int64_t assertions = 0; ///< lowered so far, in order of the walk
  bool failedInside = false;
};

} // namespace tessera
#endif // TESSERA_COMPILER_CONVERSION_TILETOHOST_LOWERING_H
