//===- SpecializeStatement.cpp - statements ---------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Blocks, variables and assignments.  Statements that leave early: SpecializeExit.cpp; loops: SpecializeLoop.cpp.
//
#include "compiler/Frontend/Exits.h"
#include "compiler/Frontend/Specializer.h"

#include "dialect/Tile/TileDialect.h"

#include <fmt/format.h>

using namespace mlir;

namespace tessera::frontend {

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Specializer::Flow Specializer::runBlock(const ast::Block &block, Value *value) {
  return runStatements(block.statements, 0, value);
}

Specializer::Flow Specializer::runStatements(const std::vector<ast::StmtPtr> &statements, size_t first, Value *value) {
  for (size_t i = first; i < statements.size(); ++i) {
    const ast::Stmt &statement = *statements[i];
    if (!spend(at(statement.range)))
      return Flow::Returned;
    bool isExpression = statement.kind == ast::Stmt::Kind::Expression;
    if (value && isExpression && i + 1 == statements.size()) {
      *value = eval(*statement.as<ast::ExprStmt>().value);
      return Flow::Next;
    }
    if (const ast::IfExpr *branch = asIf(statement))
      if (valueDepth == 0 && (loopDepth > 0 || active.empty()) && mayLeave(*branch))
        return runIf(*branch, statements, i + 1);
    if (Flow flow = runStatement(statement); flow != Flow::Next)
      return flow;
  }
  return Flow::Next;
}

mlir::Value Specializer::condition(const ast::Expr &expr, std::optional<bool> &constant) {
  Value value = eval(expr);
  At place = at(expr.range);
  if (value.isBoolean()) {
    constant = value.boolean;
    return {};
  }
  if (value.isPoison())
    return {};
  if (value.isTile() && value.dtype == DType::Bool) {
    error(place, "T0208", fmt::format("a condition is a scalar bool, found {}", describe(value)),
          "decide for each element with where(mask, a, b), or reduce: any(mask)");
    return {};
  }
  if (!value.isScalar() || value.dtype != DType::Bool) {
    error(place, "T0208", fmt::format("a condition is a scalar bool, found {}", describe(value)),
          value.isView() ? "load it first" : "compare: x != 0");
    return {};
  }
  return value.ssa;
}

Specializer::Flow Specializer::runStatement(const ast::Stmt &statement) {
  using K = ast::Stmt::Kind;
  switch (statement.kind) {
  case K::Error:
    error(at(statement.range), "T0219", "the statement has errors", "");
    return Flow::Next;
  case K::Let:
  case K::Var:
    runLet(statement.as<ast::LetStmt>());
    return Flow::Next;
  case K::Assign:
    runAssign(statement.as<ast::AssignStmt>());
    return Flow::Next;
  case K::Expression:
    runExpression(statement.as<ast::ExprStmt>());
    return Flow::Next;
  case K::For: {
    const auto &loop = statement.as<ast::ForStmt>();
    if (loop.isStatic)
      runStaticFor(loop);
    else
      runFor(loop);
    return Flow::Next;
  }
  case K::While:
    runWhile(statement.as<ast::WhileStmt>());
    return Flow::Next;
  case K::Return:
    return runReturn(statement.as<ast::ReturnStmt>());
  case K::Break:
  case K::Continue:
    return runLoopExit(statement);
  case K::Temp:
    error(at(statement.range), "T0225", "'temp' stands in an op; inside a kernel this version does not compile it yet",
          "");
    return Flow::Next;
  }
  return Flow::Next;
}

void Specializer::runExpression(const ast::ExprStmt &statement) {
  const ast::Expr &expr = *statement.value;
  At place = at(expr.range);
  if (expr.kind == ast::Expr::Kind::If) {
    const auto &branch = expr.as<ast::IfExpr>();
    std::optional<bool> constant;
    mlir::Value truth = condition(*branch.condition, constant);
    if (constant) {
      environment.push();
      if (*constant)
        runBlock(branch.thenBlock);
      else if (branch.elseBlock)
        runBlock(*branch.elseBlock);
      environment.pop();
      return;
    }
    if (!truth)
      return;
    std::vector<const ast::Block *> blocks = {&branch.thenBlock};
    if (branch.elseBlock)
      blocks.push_back(&*branch.elseBlock);
    auto side = [&](const ast::Block *block) {
      if (block)
        runBlock(*block);
      return Value::nothing();
    };
    control.branch(
        truth, assignedNames(blocks), [&] { return side(&branch.thenBlock); },
        [&] { return side(branch.elseBlock ? &*branch.elseBlock : nullptr); }, /*isValue=*/false, place);
    return;
  }
  if (expr.kind == ast::Expr::Kind::Block) {
    if (exitsOf(expr).mayLeave) {
      error(place, "T0224", "a block of its own cannot be left early", "let the return stand in an if");
      return;
    }
    environment.push();
    runBlock(expr.as<ast::BlockExpr>().block);
    environment.pop();
    return;
  }
  Value value = eval(expr);
  // An atomic acts; what it gives may be ignored.
  bool acts = value.isData() && isa_and_nonnull<tile::AtomicOp>(value.ssa.getDefiningOp());
  if (!value.isPoison() && !acts && value.kind != Value::Kind::Nothing)
    error(place, "T0215", fmt::format("nobody uses this value, {}", describe(value)),
          "name it with let, or end the line before with its operator");
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

void Specializer::declareNew(const std::string &name, const ast::SourceRange &range, Variable variable) {
  if (environment.find(name))
    error(at(range), "T0228", fmt::format("'{}' has a meaning here already", name),
          "choose another name; a var takes new values with =");
  // Declared all the same, so that what follows means the new one.
  environment.declare(name, std::move(variable));
}

void Specializer::runLet(const ast::LetStmt &let) {
  bool isVar = let.kind == ast::Stmt::Kind::Var;
  Value value = eval(*let.value);
  std::vector<Value> values;
  if (!let.isTuple) {
    values.push_back(std::move(value));
  } else if (value.isTuple() && value.elements.size() == let.names.size()) {
    values = value.elements;
  } else {
    if (!value.isPoison())
      error(at(let.value->range), "T0212",
            fmt::format("expected a tuple of {}, found {}", let.names.size(), describe(value)), "");
    values.assign(let.names.size(), Value::poison());
  }
  for (auto [name, each] : llvm::zip(let.names, values)) {
    if (each.kind == Value::Kind::Nothing)
      each = error(at(let.value->range), "T0212", "expected a value, found a call that returns nothing", "");
    if (isVar && !each.isPoison()) {
      if (each.isView() || each.isFunction() || each.isType() || each.isNone() || each.isTuple())
        each = error(at(name.range), "T0227", fmt::format("a var holds a scalar or a tile, found {}", describe(each)),
                     "name it with let");
      else
        each = settle(each, at(let.value->range), "a scalar or a tile");
    }
    declareNew(name.name, name.range, {std::move(each), isVar});
  }
}

void Specializer::runAssign(const ast::AssignStmt &assign) {
  At place = at(assign.range);
  if (assign.isTuple) {
    Value value = eval(*assign.value);
    if (value.isPoison())
      return;
    if (!value.isTuple() || value.elements.size() != assign.targets.size()) {
      error(at(assign.value->range), "T0212",
            fmt::format("expected a tuple of {}, found {}", assign.targets.size(), describe(value)), "");
      return;
    }
    for (auto [target, element] : llvm::zip(assign.targets, value.elements)) {
      if (target->kind == ast::Expr::Kind::Name)
        assignName(target->as<ast::NameExpr>(), element);
      else if (target->kind == ast::Expr::Kind::Index)
        assignSlice(target->as<ast::IndexExpr>(), std::nullopt, nullptr, &element, place);
    }
    return;
  }
  const ast::Expr &target = *assign.targets.front();
  std::optional<Operator> op;
  if (assign.op) {
    using B = ast::BinaryOp;
    static constexpr std::pair<B, Operator> kOperators[] = {
        {B::Add, Operator::Add},       {B::Sub, Operator::Sub},       {B::Mul, Operator::Mul},
        {B::Div, Operator::Div},       {B::Rem, Operator::Rem},       {B::BitAnd, Operator::BitAnd},
        {B::BitOr, Operator::BitOr},   {B::BitXor, Operator::BitXor}, {B::ShiftLeft, Operator::Shl},
        {B::ShiftRight, Operator::Shr}};
    for (auto [written, meant] : kOperators)
      if (written == *assign.op)
        op = meant;
    if (!op) {
      error(place, "T0225", fmt::format("'{}=' is not an assignment of the language", ast::spelling(*assign.op)),
            "write x = x op e");
      return;
    }
  }
  if (target.kind == ast::Expr::Kind::Index) {
    assignSlice(target.as<ast::IndexExpr>(), op, assign.value.get(), nullptr, place);
    return;
  }
  if (target.kind != ast::Expr::Kind::Name) {
    if (target.kind != ast::Expr::Kind::Error)
      error(at(target.range), "T0226", "only a var or a slice of memory can be assigned", "");
    return;
  }
  const auto &name = target.as<ast::NameExpr>();
  if (!op) {
    assignName(name, eval(*assign.value));
    return;
  }
  Value old = evalName(name);
  if (*op == Operator::Add || *op == Operator::Sub)
    assignName(name, evalSum(*op == Operator::Sub, {nullptr, old}, {assign.value.get(), {}}, place));
  else
    assignName(name, Emitter::binary(*op, old, eval(*assign.value), place));
}

void Specializer::assignName(const ast::NameExpr &target, Value value) {
  At place = at(target.range);
  Variable *variable = environment.find(target.name);
  if (!variable) {
    evalName(target); // reports the unknown name
    return;
  }
  if (!variable->isVar) {
    if (!variable->value.isPoison())
      error(place, "T0226", fmt::format("'{}' is no var and keeps its value", target.name), "declare it with var");
    return;
  }
  if (value.isPoison() || variable->value.isPoison())
    return;
  const Value &old = variable->value;
  if (!value.isNumber() && !value.isBoolean() && !value.isData()) {
    notAValue(value, place, fmt::format("a value for the var '{}'", target.name));
    return;
  }
  Shape shape{SmallVector<int64_t>(old.shape()), old.origins};
  if (value.isData() && value.shape().size() > shape.extents.size()) {
    error(place, "T0301", fmt::format("the var '{}' is {}, found {}", target.name, describe(old), describe(value)),
          "its first value fixes the shape");
    return;
  }
  Value stored = value.isData() ? broadcast(widen(value, old.dtype, place), shape.extents, shape.origins, place)
                                : full(value, old.dtype, shape, place);
  if (!stored.isPoison())
    variable->value = stored;
}

void Specializer::assignSlice(const ast::IndexExpr &target, std::optional<Operator> op, const ast::Expr *expr,
                              const Value *value, At place) {
  if (target.pad)
    error(at(target.pad->range), "T0304", "'pad' belongs to loads, found it on a store", "");
  std::optional<Slice> part = evalPlace(target, "an assignment");
  if (!part) {
    if (expr)
      eval(*expr);
    return;
  }
  if (!op) {
    store(*part, value ? *value : eval(*expr), place);
    return;
  }
  if (part->view.mode == ParamMode::Accum) {
    Value added = eval(*expr);
    if (*op != Operator::Add && !added.isPoison())
      error(place, "T0314", fmt::format("'{}' is 'accum' and takes only +=", part->view.param), "");
    else
      accumulateInto(*part, added, place);
    return;
  }
  if (part->hasIndexTiles) {
    error(place, "T0312", "an assignment with an operator through index tiles would lose updates of duplicates",
          "declare the parameter 'accum', or use atomic_add");
    return;
  }
  Value old = load(*part, nullptr, place);
  if (old.isPoison())
    return;
  if (*op == Operator::Add || *op == Operator::Sub)
    store(*part, evalSum(*op == Operator::Sub, {nullptr, old}, {expr, {}}, place), place);
  else
    store(*part, Emitter::binary(*op, old, eval(*expr), place), place);
}

} // namespace tessera::frontend
