//===- AST.h - a source file as the parser leaves it ----------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Plain structs, one per construct, each with the place it was written at.  Nothing is resolved: names are text, types are expressions, and
// a kernel is the same tree for every binding of its compile-time parameters.  Nodes carry a kind tag; `as<T>` casts after the tag was looked
// at.  A node with errors inside is never handed out as a good one: the parser puts an `Expr::Kind::Error` there.
//
#ifndef TESSERA_COMPILER_FRONTEND_AST_H
#define TESSERA_COMPILER_FRONTEND_AST_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::ast {

/// Bytes [begin, end) of a file, and the line and column (from 1, in bytes) of the first.
struct SourceRange {
  int file = 0; ///< index into File::files
  uint32_t begin = 0, end = 0;
  int line = 0, column = 0;
};

struct Expr;
struct Stmt;
using ExprPtr = std::unique_ptr<Expr>;
using StmtPtr = std::unique_ptr<Stmt>;

/// Statements in order; their value, where one is asked for, is that of the last expression statement.
struct Block {
  SourceRange range;
  std::vector<StmtPtr> statements;
};

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

enum class UnaryOp : uint8_t { Negate, BitNot, Not };
enum class BinaryOp : uint8_t {
  Or,
  And,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  BitOr,
  BitXor,
  BitAnd,
  ShiftLeft,
  ShiftRight,
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  MatMul
};
/// As written: `+`, `and`, `<<`...
const char *spelling(BinaryOp op);
const char *spelling(UnaryOp op);

struct Expr {
  enum class Kind : uint8_t {
    Error,
    Integer,
    Float,
    Bool,
    String,
    None,
    Name,
    Unary,
    Binary,
    Call,
    Index,
    Member,
    Tuple,
    List,
    If,
    Block,
    Closure
  };
  Kind kind;
  bool parenthesized = false; ///< stood in parentheses of its own: not contracted with its surroundings
  SourceRange range;
  explicit Expr(Kind kind, SourceRange range) : kind(kind), range(range) {}
  virtual ~Expr() = default;
  template <typename T>
  T &as() {
    return static_cast<T &>(*this);
  }
  template <typename T>
  const T &as() const {
    return static_cast<const T &>(*this);
  }
};

struct ErrorExpr : Expr {
  explicit ErrorExpr(SourceRange r) : Expr(Kind::Error, r) {}
};
struct IntegerExpr : Expr {
  uint64_t value = 0; ///< magnitude; a sign is a Unary around it
  IntegerExpr(SourceRange r, uint64_t v) : Expr(Kind::Integer, r), value(v) {}
};
struct FloatExpr : Expr {
  double value = 0;
  FloatExpr(SourceRange r, double v) : Expr(Kind::Float, r), value(v) {}
};
struct BoolExpr : Expr {
  bool value = false;
  BoolExpr(SourceRange r, bool v) : Expr(Kind::Bool, r), value(v) {}
};
struct StringExpr : Expr {
  std::string value; ///< escapes resolved
  StringExpr(SourceRange r, std::string v) : Expr(Kind::String, r), value(std::move(v)) {}
};
struct NoneExpr : Expr {
  explicit NoneExpr(SourceRange r) : Expr(Kind::None, r) {}
};
struct NameExpr : Expr {
  std::string name;
  NameExpr(SourceRange r, std::string n) : Expr(Kind::Name, r), name(std::move(n)) {}
};
struct UnaryExpr : Expr {
  UnaryOp op;
  ExprPtr operand;
  UnaryExpr(SourceRange r, UnaryOp o, ExprPtr e) : Expr(Kind::Unary, r), op(o), operand(std::move(e)) {}
};
struct BinaryExpr : Expr {
  BinaryOp op;
  SourceRange opRange;
  ExprPtr left, right;
  BinaryExpr(SourceRange r, BinaryOp o, SourceRange at, ExprPtr a, ExprPtr b)
      : Expr(Kind::Binary, r), op(o), opRange(at), left(std::move(a)), right(std::move(b)) {}
};
/// An argument of a call, or of `pad = v` inside an index.
struct Argument {
  std::string name; ///< empty: positional
  SourceRange nameRange;
  ExprPtr value;
};
struct CallExpr : Expr {
  ExprPtr callee;
  std::vector<Argument> arguments;
  CallExpr(SourceRange r, ExprPtr c, std::vector<Argument> a)
      : Expr(Kind::Call, r), callee(std::move(c)), arguments(std::move(a)) {}
};
/// One entry between the brackets of an index.
struct IndexEntry {
  enum class Kind : uint8_t {
    Scalar, ///< `e`: a scalar or an index tile
    Width,  ///< `start +: width [by step]`
    Range,  ///< `lo..hi`: a view
    Whole,  ///< `:`: a static dimension, whole, as a tile
    Rest,   ///< `..`: a whole dimension of any size, as a view
    NewAxis ///< `None`
  };
  Kind kind = Kind::Scalar;
  SourceRange range;
  ExprPtr first;  ///< e, start, lo
  ExprPtr second; ///< width, hi
  ExprPtr step;   ///< of `by`; null: 1
};
struct IndexExpr : Expr {
  ExprPtr base;
  std::vector<IndexEntry> entries;
  ExprPtr pad; ///< of `pad = e`; null: none
  IndexExpr(SourceRange r, ExprPtr b) : Expr(Kind::Index, r), base(std::move(b)) {}
};
struct MemberExpr : Expr { ///< `.T` is the only member there is
  ExprPtr base;
  std::string name;
  SourceRange nameRange;
  MemberExpr(SourceRange r, ExprPtr b, std::string n, SourceRange nr)
      : Expr(Kind::Member, r), base(std::move(b)), name(std::move(n)), nameRange(nr) {}
};
struct TupleExpr : Expr {
  std::vector<ExprPtr> elements;
  TupleExpr(SourceRange r, std::vector<ExprPtr> e) : Expr(Kind::Tuple, r), elements(std::move(e)) {}
};
struct ListExpr : Expr { ///< a shape: `[BM, BN]`
  std::vector<ExprPtr> elements;
  ListExpr(SourceRange r, std::vector<ExprPtr> e) : Expr(Kind::List, r), elements(std::move(e)) {}
};
/// `if c { a } else { b }`, as an expression or (through ExprStmt) as a statement.
struct IfExpr : Expr {
  ExprPtr condition;
  Block thenBlock;
  std::optional<Block> elseBlock; ///< `else if` is a block with one IfExpr
  IfExpr(SourceRange r, ExprPtr c) : Expr(Kind::If, r), condition(std::move(c)) {}
};
struct BlockExpr : Expr {
  Block block;
  BlockExpr(SourceRange r, Block b) : Expr(Kind::Block, r), block(std::move(b)) {}
};

/// A parameter of a function: `x`, `BN: int`, `q: T[N, D]`.
struct FnParam {
  std::string name;
  SourceRange range;
  ExprPtr type;          ///< element type or `int`; null: anything
  bool hasShape = false; ///< `[...]` was written, maybe empty
  std::vector<ExprPtr> extents;
  bool anyLeading = false; ///< `[..S, N]`: the first extent names all leading dimensions
};
/// A function body: an expression (`=> e`) or a block whose last statement returns.
struct FnBody {
  std::vector<FnParam> params;
  ExprPtr expression;
  std::optional<Block> block;
};
struct ClosureExpr : Expr { ///< `fn (x, r, c) => e`
  FnBody body;
  ClosureExpr(SourceRange r, FnBody b) : Expr(Kind::Closure, r), body(std::move(b)) {}
};

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

struct Stmt {
  enum class Kind : uint8_t { Error, Let, Var, Assign, Expression, For, While, Return, Break, Continue, Temp };
  Kind kind;
  SourceRange range;
  explicit Stmt(Kind kind, SourceRange range) : kind(kind), range(range) {}
  virtual ~Stmt() = default;
  template <typename T>
  T &as() {
    return static_cast<T &>(*this);
  }
  template <typename T>
  const T &as() const {
    return static_cast<const T &>(*this);
  }
};

struct ErrorStmt : Stmt {
  explicit ErrorStmt(SourceRange r) : Stmt(Kind::Error, r) {}
};
/// A name being bound.
struct Binder {
  std::string name;
  SourceRange range;
};
/// `let a = e`, `let (a, b) = e`; `var` the same.
struct LetStmt : Stmt {
  std::vector<Binder> names;
  bool isTuple = false;
  ExprPtr value;
  LetStmt(Kind k, SourceRange r) : Stmt(k, r) {} ///< Kind::Let or Kind::Var
};
/// `a = e`, `x[...] += e`, `(a, b) = e`.
struct AssignStmt : Stmt {
  std::vector<ExprPtr> targets; ///< names or slices
  bool isTuple = false;
  std::optional<BinaryOp> op; ///< of `+=` and its kin
  ExprPtr value;
  explicit AssignStmt(SourceRange r) : Stmt(Kind::Assign, r) {}
};
struct ExprStmt : Stmt {
  ExprPtr value;
  ExprStmt(SourceRange r, ExprPtr v) : Stmt(Kind::Expression, r), value(std::move(v)) {}
};
/// One index of a `for`: `k in lo..hi by step`, `c in reverse(lo..hi by step)`.
struct LoopRange {
  Binder name;
  ExprPtr low, high, step; ///< step null: 1
  bool reverse = false;
};
struct ForStmt : Stmt {
  std::vector<LoopRange> ranges;
  bool isStatic = false; ///< `for static`: the index is a compile-time number
  Block body;
  explicit ForStmt(SourceRange r) : Stmt(Kind::For, r) {}
};
struct WhileStmt : Stmt {
  ExprPtr condition;
  Block body;
  explicit WhileStmt(SourceRange r) : Stmt(Kind::While, r) {}
};
struct ReturnStmt : Stmt {
  ExprPtr value; ///< null in kernels
  ReturnStmt(SourceRange r, ExprPtr v) : Stmt(Kind::Return, r), value(std::move(v)) {}
};
struct BreakStmt : Stmt {
  explicit BreakStmt(SourceRange r) : Stmt(Kind::Break, r) {}
};
struct ContinueStmt : Stmt {
  explicit ContinueStmt(SourceRange r) : Stmt(Kind::Continue, r) {}
};
/// `temp part: f32[S, M, N] = 0` in an op.
struct TempStmt : Stmt {
  Binder name;
  ExprPtr type;
  std::vector<ExprPtr> extents;
  bool anyLeading = false; ///< `[..S, C]`
  ExprPtr initial;         ///< null: uninitialized
  explicit TempStmt(SourceRange r) : Stmt(Kind::Temp, r) {}
};

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

enum class Mode : uint8_t { Scalar, In, Out, InOut, Accum };

/// A compile-time parameter: `T = bf16`, `C: int`, `BR: int = 4`.
struct StaticParam {
  std::string name;
  SourceRange range;
  ExprPtr type;         ///< of `: int`; null: whatever the default or binding is
  ExprPtr defaultValue; ///< null: must be bound
};
/// A run-time parameter: `x: in T[B, I]`, `bias: in T[O] = None`, `scale: f32 = 1.0`, `dg: accum f32[C] = 0`.
struct Param {
  std::string name;
  SourceRange range;
  Mode mode = Mode::Scalar;
  ExprPtr type; ///< element type
  bool isTensor = false;
  std::vector<ExprPtr> extents;
  bool anyLeading = false; ///< `[..S, C]`
  ExprPtr defaultValue;    ///< None, a number, or null
};
/// `m in lo..hi by step`, or `s in S`: every position of the leading dimensions S.
struct GridAxis {
  Binder name;
  ExprPtr low, high, step; ///< step null: 1
  ExprPtr shape;           ///< S; null: low, high and step count
};
struct Requirement {
  ExprPtr condition;
  std::string text; ///< as written
};
/// `with fast = true`
struct WithClause {
  Binder name;
  ExprPtr value;
};
/// A kernel or an op (an op has no grid).
struct Kernel {
  std::string name;
  SourceRange range, nameRange;
  bool isOp = false;
  std::vector<StaticParam> staticParams;
  std::vector<Param> params;
  std::vector<Requirement> requirements;
  std::vector<WithClause> with;
  std::vector<GridAxis> grid;
  bool hasGrid = false;
  Block body;
};
struct Function {
  std::string name;
  SourceRange range, nameRange;
  FnBody body;
};
/// `let x = e` at file level.
struct Constant {
  std::string name;
  SourceRange range;
  ExprPtr value;
};
/// `BM in [64, 128]` or `BK = 64`
struct TuneEntry {
  Binder name;
  std::vector<ExprPtr> values;
};
struct Tune {
  std::string kernel;
  SourceRange range, kernelRange;
  std::vector<TuneEntry> entries;
};
struct Import {
  std::string path;
  SourceRange range;
};

/// A source file.
struct File {
  std::vector<std::string> files; ///< names, by SourceRange::file; [0] is the file itself, the others are imported
  std::vector<Import> imports;
  std::vector<Constant> constants;
  std::vector<Function> functions;
  std::vector<Kernel> kernels; ///< kernels and ops, in order
  std::vector<Tune> tunes;

  const Kernel *findKernel(const std::string &name) const {
    for (const Kernel &kernel : kernels)
      if (kernel.name == name)
        return &kernel;
    return nullptr;
  }
  const Function *findFunction(const std::string &name) const {
    for (const Function &function : functions)
      if (function.name == name)
        return &function;
    return nullptr;
  }
};

} // namespace tessera::ast
#endif // TESSERA_COMPILER_FRONTEND_AST_H
