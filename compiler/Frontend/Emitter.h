//===- Emitter.h - operations on values of the language -> tile IR -------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Everything that a program can do to values, without its syntax: promotion, broadcasting, arithmetic, reductions,
// products, shapes. Compile-time numbers fold exactly; data becomes ops at the builder's insertion point.  A refusal is
// a diagnostic and a poison value; a poison operand makes a poison result and no further message.
//
#ifndef TESSERA_COMPILER_FRONTEND_EMITTER_H
#define TESSERA_COMPILER_FRONTEND_EMITTER_H

#include "compiler/Frontend/Diagnostics.h"
#include "compiler/Frontend/TypeRules.h"
#include "compiler/Frontend/Value.h"

#include "mlir/IR/Builders.h"

namespace tessera::tile {
enum class ReduceKind : uint32_t;
enum class Precision : uint32_t;
enum class AtomicKind : uint32_t;
enum class Order : uint32_t;
} // namespace tessera::tile

namespace tessera::frontend {

/// A stretch of the source: line and column count from 1, length in bytes.
struct At {
  int line = 0, column = 0, length = 1;
  int file = 0; ///< index into the names given to Emitter
};

enum class Operator : uint8_t { Add, Sub, Mul, Div, Rem, BitAnd, BitOr, BitXor, Shl, Shr, Eq, Ne, Lt, Le, Gt, Ge };
/// As written: `+`, `<=`...
std::string_view spelling(Operator op);
bool isComparison(Operator op);

/// `1 argument`, `2 arguments`.
std::string countOf(size_t count, std::string_view what);

/// Modes of a written conversion `T(x, saturate = true)`.
struct ConvertModes {
  bool saturate = false, ieeeOverflow = false;
};

/// One index of `x[...]`, evaluated.
struct Index {
  enum class Kind : uint8_t { Scalar, Tile, Window, Whole, All, Range, NewAxis };
  Kind kind = Kind::Whole;
  Value value; ///< Scalar, Tile: the index; Window: the start; Range: the low bound
  Value high;  ///< Range: the high bound
  Value width = Value::of(int64_t(1)), step = Value::of(int64_t(1)); ///< Window: both compile-time
  bool isUnpaddedSlice = false; ///< Tile: an integer slice without `pad =` (decision 9)
  At at;
};

/// The operands of a slice of a view, as TileOps.td describes them.
struct Slice {
  View view;
  llvm::SmallVector<mlir::Value> indices;
  llvm::SmallVector<int64_t> widths, steps;
  llvm::SmallVector<int64_t> shape;
  std::vector<std::string> origins;
  bool hasIndexTiles = false;
};

class Emitter {
public:
  Emitter(mlir::MLIRContext *context, std::vector<std::string> files, std::vector<Diagnostic> &diagnostics);

  mlir::OpBuilder builder;
  mlir::MLIRContext *context;

  //===--- Diagnostics
  //-------------------------------------------------------------------------------------------------------===//
  /// Reports an error at `at`, with a note for every function call around it; gives poison.
  Value error(At at, std::string code, std::string message, std::string remedy = {});
  Value error(At at, const Refusal &refusal) { return error(at, refusal.code, refusal.message, refusal.remedy); }
  /// Adds a note to the last diagnostic.
  void note(At at, std::string message);
  void warn(At at, std::string code, std::string message, std::string remedy = {});
  bool failed() const { return errors > 0; }
  /// Where generated ops come from: the place, wrapped in the call sites around it.
  mlir::Location loc(At at) const;
  /// What a value is, for messages: `tile f32[128, 64]`, `i64 scalar`, `view of q`...
  std::string describe(const Value &value) const;

  //===--- Constants and conversions
  //--------------------------------------------------------------------------------------------===//
  /// A compile-time number or boolean as a scalar constant of `type`.
  Value literalOf(const Value &number, DType type, At at);
  /// A value that can live at run time: numbers become i64, f32 or bool; data stays; the rest is an error about `what`.
  Value settle(const Value &value, At at, const char *what);
  /// The error that `value` is no number or tile: how to load a view, or what was expected.
  Value notAValue(const Value &value, At at, const std::string &what);
  /// The written conversion `type(value)`.
  Value convert(const Value &value, DType type, At at, ConvertModes modes = {});
  /// The same bits as another type of the same width.
  Value bitcast(const Value &value, DType type, At at);
  /// The greatest finite number of a type, or the least.
  Value limitOf(DType type, bool isLeast, At at);
  /// The implicit one: compile-time numbers and promotion; never narrows.
  Value widen(const Value &value, DType type, At at);
  /// Stretches to `shape`; an error if it does not.
  Value broadcast(const Value &value, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<std::string> origins, At at);
  /// The common shape of several data values.
  struct Shape {
    llvm::SmallVector<int64_t> extents;
    std::vector<std::string> origins;
  };
  std::optional<Shape> commonShape(llvm::ArrayRef<Value> values, At at);
  /// The type that the data among `values` promotes to; nullopt after an error.  At least one is data.
  std::optional<DType> commonType(llvm::ArrayRef<Value> values, At at);
  /// Promotes and broadcasts; numbers take the type and the shape of the data.
  bool unify(llvm::MutableArrayRef<Value> values, At at);
  /// A constant of every element.
  Value full(const Value &value, DType type, const Shape &shape, At at);
  /// Whether a tile may have these extents; an error if not.
  bool checkExtents(llvm::ArrayRef<int64_t> extents, At at);
  mlir::Type typeOf(DType type, llvm::ArrayRef<int64_t> shape) const;
  /// An i64 scalar from a number or an integer scalar; poison and an error about `what` otherwise.
  Value toIndex(const Value &value, At at, const char *what);
  mlir::Value indexConstant(int64_t value, At at);

  //===--- Arithmetic
  //-----------------------------------------------------------------------------------------------------------===//
  Value binary(Operator op, Value a, Value b, At at);
  /// a * b + c (or - c; or c - a * b with `negateProduct`) rounded once, when the contraction rule says so.
  Value multiplyAdd(Value a, Value b, Value c, bool negateProduct, bool negateAddend, At at);
  Value negate(const Value &value, At at);
  Value complement(const Value &value, At at);
  Value logicalNot(const Value &value, At at);
  Value logical(bool isAnd, Value a, Value b, At at);
  Value select(Value condition, Value a, Value b, At at);
  /// `max min maxnum minnum` of two.
  Value extremum(std::string_view name, Value a, Value b, At at);
  Value ceilDiv(Value a, Value b, At at);
  /// exp, sqrt, floor, abs ... of one operand.
  Value math(std::string_view name, const Value &value, At at);
  Value power(Value a, Value b, At at);

  //===--- Shapes, reductions, products
  //-----------------------------------------------------------------------------------------===//
  Value iota(const Value &extent, At at);
  Value expandDims(const Value &tile, int64_t axis, At at);
  Value reshape(const Value &value, const Shape &shape, At at);
  Value permute(const Value &tile, llvm::ArrayRef<int64_t> order, At at);
  Value transpose(const Value &tile, At at);
  /// `sum max min maxnum minnum any all`; without axis over all of them.
  Value reduce(std::string_view name, const Value &tile, std::optional<int64_t> axis, At at);
  Value cumsum(const Value &tile, int64_t axis, bool reverse, At at);
  /// `reduce` and `scan` (with `isScan`) by a function: `sources` is a tile or a tuple of them, and so is the result.  `combine` emits one combination from
  /// the elements on the left and those on the right.
  Value combineAlong(bool isScan, const Value &sources, int64_t axis, bool reverse,
                     llvm::function_ref<Value(llvm::ArrayRef<Value>, llvm::ArrayRef<Value>)> combine, At at);
  /// `sort`: a tile, or a tuple of which the first is sorted and the others move along.
  Value sort(const Value &sources, int64_t axis, bool descending, At at);
  Value concat(Value a, Value b, int64_t axis, At at);
  /// How often each of 0 to bins - 1 occurs.
  Value histogram(const Value &x, int64_t bins, At at);
  Value take(const Value &x, const Value &index, int64_t axis, At at);
  /// A tuple: the k largest and their positions.
  Value topk(const Value &x, int64_t k, int64_t axis, At at);
  /// a @ b, added to `acc` where it is given (of the result's type and shape).
  /// `sums`: the element type of the sums; none: sum_type of the operands.
  Value dot(const Value &a, const Value &b, std::optional<DType> sums, tile::Precision precision, At at);
  /// The type and shape of a @ b; nullopt after an error.
  std::optional<std::pair<DType, Shape>> dotType(const Value &a, const Value &b, At at);

  //===--- Memory
  //---------------------------------------------------------------------------------------------------------------===//
  /// The extent of a dimension: a compile-time number or an i64 scalar made here.
  Value extentOf(const View &view, size_t axis, At at);
  /// Whether the indices take part of the view rather than its elements (decision 6).
  static bool isViewIndexing(const View &view, llvm::ArrayRef<Index> indices);
  Value subview(const View &view, llvm::ArrayRef<Index> indices, At at);
  /// `paged(pool, table, n)`: rows scattered over pages as one view.
  Value paged(const Value &pool, const Value &table, const Value &rows, At at);
  std::optional<Slice> slice(const View &view, llvm::ArrayRef<Index> indices, At at);
  Value load(const Slice &slice, const Value *pad, At at);
  void store(const Slice &slice, const Value &value, At at);
  Value inside(const Slice &slice, At at);
  /// `c[...] += value` of an `accum` parameter.
  void accumulateInto(const Slice &slice, const Value &value, At at);
  /// An atomic on every element of a slice; gives what stood there, `pad` outside.  `compare` for cas only.
  Value atomic(tile::AtomicKind kind, tile::Order order, const Slice &slice, const Value &value, const Value *compare,
               const Value *pad, At at);
  /// `t[:, None]`, `t[0]`: indices of a tile.
  Value indexTile(const Value &tile, llvm::ArrayRef<Index> indices, At at);

  /// The fn calls around the current place, outermost first: where, and of what.
  std::vector<std::pair<At, std::string>> calls;

protected:
  Value foldBinary(Operator op, const Value &a, const Value &b, At at);
  Value foldInteger(Operator op, int64_t a, int64_t b, At at);
  Value compare(Operator op, Value a, Value b, At at);
  Value bitwise(Operator op, Value a, Value b, At at);
  Value shift(Operator op, Value a, Value b, At at);
  Value convertData(const Value &value, DType type, At at, ConvertModes modes);
  void warnOrigins(const std::string &a, const std::string &b, int64_t extent, At at);

  SourcePlace placeOf(At at) const;

  std::vector<std::string> files;
  std::vector<Diagnostic> &diagnostics;
  int errors = 0;
};

} // namespace tessera::frontend
#endif // TESSERA_COMPILER_FRONTEND_EMITTER_H
