//===- Specializer.h - the walk over a kernel's syntax -------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// One object specializes one kernel.  SpecializeKernel.cpp binds and builds the signature, SpecializeLaunch.cpp turns
// extents, grid and `requires` into launch expressions, SpecializeStatement.cpp, SpecializeLoop.cpp, SpecializeExit.cpp and SpecializeExpression.cpp walk the
// body, SpecializeCall.cpp inlines.
//
#ifndef TESSERA_COMPILER_FRONTEND_SPECIALIZER_H
#define TESSERA_COMPILER_FRONTEND_SPECIALIZER_H

#include "compiler/Driver/Compiler.h"
#include "compiler/Frontend/AST.h"
#include "compiler/Frontend/BuiltinCalls.h"
#include "compiler/Frontend/ControlFlow.h"
#include "compiler/Frontend/Emitter.h"
#include "compiler/Frontend/OpCollector.h"
#include "runtime/Image/Expr.h"

#include "mlir/IR/BuiltinOps.h"

namespace tessera::frontend {

/// A function as a value: of the file, a closure with what it captured, or a builtin.
struct Function {
  std::string name;
  const ast::FnBody *body = nullptr; ///< null: the builtin `name`
  std::map<std::string, Value> captured;
};

/// A launch-time value: a compile-time constant (or the presence of a tensor), or an expression over symbols with its
/// type.
struct LaunchValue {
  std::optional<Value> constant;
  Expr expression;
  DType dtype = DType::I64;
};

class Specializer : public Emitter {
public:
  Specializer(const ast::File &file, const CompileOptions &options, mlir::MLIRContext *context,
              std::vector<Diagnostic> &diagnostics);

  /// Appends the `tile.kernel` to `module`; false after an error.
  bool run(const ast::Kernel &kernel, mlir::ModuleOp module);
  /// What an op that calls the kernel must know of its parameters, after run.
  std::vector<CalleeParam> calleeParams() const;

protected:
  //===--- Binding and signature (SpecializeKernel.cpp, SpecializeBinding.cpp)
  //---------------------------------------------------===//
  struct BoundDim {
    std::string name;
    size_t argument = 0, axis = 0;
    int64_t offset = 0; ///< the extent is the dimension plus this
  };
  void bindStatics();
  void bindStatic(const ast::StaticParam &param);
  std::optional<Value> explicitBinding(const std::string &name, At at);
  std::optional<Value> parseBinding(const std::string &text);
  std::optional<Value> bindingFromFacts(const ast::StaticParam &param);
  Value checkStaticKind(const ast::StaticParam &param, Value value);
  void bindFlags();
  //===--- Leading dimensions of any rank (SpecializeLeading.cpp)
  //--------------------------------------------------------------------===//
  /// One axis of the grid in the IR: dimension `dim` of the written axis, 0 where it is a range.
  struct GridSlot {
    size_t written = 0, dim = 0;
    std::string name;
    const ast::Expr *low = nullptr, *high = nullptr, *step = nullptr; ///< null: 0, -, 1
  };
  void bindLeading();
  /// The dimensions that the name after `..` stands for, as names.
  const std::vector<ast::ExprPtr> &leadingExtents(const ast::Expr &name);
  std::vector<const ast::Expr *> writtenExtents(const std::vector<ast::ExprPtr> &extents, bool anyLeading);
  bool expandGrid();
  void declareLeading();
  void declareCoordinates(mlir::Block &entry);
  bool bindPatternLeading(const ast::FnParam &param, size_t count, Value &argument, At at);
  void bindParams();
  void bindDims();
  bool bindDim(const ast::Expr &extent, size_t argument, size_t axis, bool plainOnly);
  void checkFacts(const ast::Param &param, const TensorFacts &facts, DType dtype, size_t rank);
  bool declareArguments(mlir::ModuleOp module);
  TensorContract contractOf(const ast::Param &param, DType dtype, size_t rank) const;
  mlir::DictionaryAttr argumentAttributes(const ast::Param &param, DType dtype, llvm::ArrayRef<LaunchValue> extents);
  mlir::ArrayAttr paramsAttribute();
  mlir::ArrayAttr gridAttribute();
  mlir::ArrayAttr requirementsAttribute();
  void declareEntryValues(mlir::Block &entry);
  const TensorFacts *factsOf(const std::string &param) const;

  //===--- Launch expressions (SpecializeLaunch.cpp)
  //------------------------------------------------------------------------------===//
  std::optional<LaunchValue> launch(const ast::Expr &expr);
  std::optional<LaunchValue> launchName(const ast::NameExpr &name);
  std::optional<LaunchValue> launchBinary(const ast::BinaryExpr &binary);
  std::optional<LaunchValue> launchCall(const ast::CallExpr &call);
  std::optional<LaunchValue> launchNode(const char *op, llvm::MutableArrayRef<LaunchValue> operands, bool isComparison,
                                        At at);
  /// As an expression; constants in the type of what they stand beside.
  Expr toExpr(const LaunchValue &value, std::optional<DType> beside);

  //===--- Statements
  //-------------------------------------------------------------------------------------------------------------===//
  /// Whether the next statement runs, and if not, what was left (after an error: Returned).
  enum class Flow : uint8_t { Next, Returned, Broke, Continued };
  /// Runs statements from `first` on; with `value`, the last expression's value goes there.
  Flow runStatements(const std::vector<ast::StmtPtr> &statements, size_t first, Value *value);
  Flow runBlock(const ast::Block &block, Value *value = nullptr);
  Flow runStatement(const ast::Stmt &statement);
  Flow runIf(const ast::IfExpr &branch, const std::vector<ast::StmtPtr> &statements, size_t next);
  /// Declares a name; an error if something visible has it already (file-level names and builtins may be hidden).
  void declareNew(const std::string &name, const ast::SourceRange &range, Variable variable);
  void runLet(const ast::LetStmt &let);
  void runAssign(const ast::AssignStmt &assign);
  void assignName(const ast::NameExpr &target, Value value);
  void assignSlice(const ast::IndexExpr &target, std::optional<Operator> op, const ast::Expr *expr, const Value *value,
                   At at);
  void runExpression(const ast::ExprStmt &statement);
  void runFor(const ast::ForStmt &loop);
  void runForRange(const ast::ForStmt &loop, size_t depth, bool mayBreak);
  void runStaticFor(const ast::ForStmt &loop);
  Flow runStaticRange(const ast::ForStmt &loop, size_t depth, mlir::Value notLeft);
  void runWhile(const ast::WhileStmt &loop);
  /// The body of a loop, once.
  Flow runLoopBody(const ast::Block &body);
  Flow runReturn(const ast::ReturnStmt &statement);
  /// break, continue.
  Flow runLoopExit(const ast::Stmt &statement);
  /// Sets a hidden variable (Exits.h) to false where there is one.
  void clearFlag(const char *flag, At place);
  /// The scalar i1 of a run-time condition; a compile-time one goes to `constant`.  Null and no constant after an
  /// error.
  mlir::Value condition(const ast::Expr &expr, std::optional<bool> &constant);

  //===--- Expressions
  //--------------------------------------------------------------------------------------------------------------===//
  /// An operand of `+`: written, or known already (`x` of `x += e`).
  struct Operand {
    const ast::Expr *expr = nullptr;
    std::optional<Value> value;
  };
  Value eval(const ast::Expr &expr);
  Value evalName(const ast::NameExpr &name);
  Value evalUnary(const ast::UnaryExpr &unary);
  Value evalBinary(const ast::BinaryExpr &binary);
  Value evalLogical(const ast::BinaryExpr &binary);
  Value evalOperand(const Operand &operand);
  /// `a + b` and `a - b` with the contraction rule and accumulation into products.
  Value evalSum(bool isSub, const Operand &left, const Operand &right, At at);
  Value contract(const Value &x, const Value &y, const Value &addend, bool isSub, bool productIsLeft, At at);
  std::optional<Value> accumulate(const Operand &left, const Operand &right, At at);
  Value evalIf(const ast::IfExpr &branch);
  Value evalIndex(const ast::IndexExpr &index);
  Value evalIndices(const ast::IndexExpr &index, std::vector<Index> &indices);
  Value evalClosure(const ast::ClosureExpr &closure);
  std::optional<Slice> evalPlace(const ast::Expr &expr, const char *what);

  //===--- Calls
  //----------------------------------------------------------------------------------------------------------------------===//
  Value evalCall(const ast::CallExpr &call);
  std::optional<Value> evalSpecialCall(const std::string &name, const ast::CallExpr &call);
  Value evalStaticAssert(const ast::CallExpr &call);
  Value evalAssert(const ast::CallExpr &call);
  Value evalInside(const ast::CallExpr &call);
  Value evalCombination(bool isScan, const ast::CallExpr &call);
  Value evalAtomic(const std::string &name, const ast::CallExpr &call);
  std::vector<Argument> evalArguments(const ast::CallExpr &call);
  Value inlineCall(const std::shared_ptr<const Function> &function, llvm::ArrayRef<Argument> arguments, At at);
  Value evalFunctionBlock(const std::vector<ast::StmtPtr> &statements);
  Value bindPattern(const ast::FnParam &param, const Argument &argument, const std::string &function);
  Value bindPatternType(const ast::FnParam &param, const Argument &argument);
  bool bindPatternExtent(const ast::FnParam &param, const ast::Expr &extent, size_t axis, Value &argument, At at);
  std::shared_ptr<const Function> fileFunction(const ast::Function &function);
  std::shared_ptr<const Function> builtinFunction(const std::string &name);

  At at(const ast::SourceRange &range) const;
  /// Counts the work of the walk; false (once with an error) when a program expands without end.
  bool spend(At place);
  /// Whether the program gives `name` a meaning of its own.
  bool isShadowed(const std::string &name);

  const ast::File &file;
  const CompileOptions &options;
  const ast::Kernel *kernel = nullptr;
  Environment environment;
  ControlFlow control;
  std::map<std::string, std::shared_ptr<const Function>> functions;
  std::map<std::string, Value> constants;
  std::vector<const ast::FnBody *> active; ///< bodies being inlined, outermost first
  int loopDepth = 0;
  int valueDepth = 0; ///< branches of `if`s used as values, in the innermost loop or function
  int exitDepth = 0;  ///< blocks whose rest stands inside an `if`
  int64_t work = 0;

  // The signature under construction.
  std::map<std::string, DType> symbols;          ///< what launch expressions may name: dimensions and scalars
  std::map<std::string, LaunchValue> launchLets; ///< `let` of an op whose value the launcher computes
  std::vector<BoundDim> dims;
  struct BoundParam {
    const ast::Param *param = nullptr;
    DType dtype = DType::F32;
    bool isPresent = true;
    std::vector<const ast::Expr *> written; ///< the extents as names and expressions, leading dimensions one by one
    std::vector<LaunchValue> extents;
    size_t argument = 0;
  };
  std::vector<BoundParam> params;
  std::map<std::string, size_t> leading;                         ///< how many dimensions `..S` stands for
  std::map<std::string, std::vector<ast::ExprPtr>> leadingNames; ///< and what they are called
  std::vector<GridSlot> gridAxes;
};

} // namespace tessera::frontend
#endif // TESSERA_COMPILER_FRONTEND_SPECIALIZER_H
