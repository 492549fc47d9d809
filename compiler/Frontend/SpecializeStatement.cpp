//===- SpecializeStatement.cpp - statements and early return ---------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// An early `return` of a kernel nests what follows it: `if c { return } rest` becomes `if not c { rest }`.  Where
// neither branch always returns, the hidden variable `$alive` says whether the program instance goes on.
//
#include "compiler/Frontend/Specializer.h"

#include "dialect/Tile/TileDialect.h"

#include <fmt/format.h>

using namespace mlir;

namespace tessera::frontend {

static constexpr const char *kAlive = "$alive";

//===----------------------------------------------------------------------===//
// Questions about syntax
//===----------------------------------------------------------------------===//

namespace {

/// Collects assigned names, and whether there is a `return`, below statements and the blocks inside expressions.
struct Scan {
  std::vector<std::string> assigned;
  bool hasReturn = false;

  void name(const ast::Expr &target) {
    if (target.kind == ast::Expr::Kind::Name)
      assigned.push_back(target.as<ast::NameExpr>().name);
  }
  void block(const ast::Block &b) {
    for (const ast::StmtPtr &s : b.statements)
      statement(*s);
  }
  void optional(const ast::ExprPtr &e) {
    if (e)
      expression(*e);
  }
  void statement(const ast::Stmt &s) {
    using K = ast::Stmt::Kind;
    switch (s.kind) {
    case K::Let:
    case K::Var:
      optional(s.as<ast::LetStmt>().value);
      break;
    case K::Assign:
      for (const ast::ExprPtr &target : s.as<ast::AssignStmt>().targets)
        name(*target);
      optional(s.as<ast::AssignStmt>().value);
      break;
    case K::Expression:
      optional(s.as<ast::ExprStmt>().value);
      break;
    case K::For:
      block(s.as<ast::ForStmt>().body);
      break;
    case K::While:
      block(s.as<ast::WhileStmt>().body);
      break;
    case K::Return:
      hasReturn = true;
      assigned.push_back(kAlive);
      break;
    default:
      break;
    }
  }
  void expression(const ast::Expr &e) {
    using K = ast::Expr::Kind;
    switch (e.kind) {
    case K::If: {
      const auto &branch = e.as<ast::IfExpr>();
      block(branch.thenBlock);
      if (branch.elseBlock)
        block(*branch.elseBlock);
      break;
    }
    case K::Block:
      block(e.as<ast::BlockExpr>().block);
      break;
    case K::Unary:
      optional(e.as<ast::UnaryExpr>().operand);
      break;
    case K::Binary:
      optional(e.as<ast::BinaryExpr>().left);
      optional(e.as<ast::BinaryExpr>().right);
      break;
    case K::Call:
      for (const ast::Argument &argument : e.as<ast::CallExpr>().arguments)
        optional(argument.value);
      break;
    case K::Tuple:
      for (const ast::ExprPtr &element : e.as<ast::TupleExpr>().elements)
        optional(element);
      break;
    default:
      break;
    }
  }
};

bool hasReturn(const ast::Block &block) {
  Scan scan;
  scan.block(block);
  return scan.hasReturn;
}

} // namespace

bool alwaysReturns(const ast::Block &block) {
  if (block.statements.empty())
    return false;
  const ast::Stmt &last = *block.statements.back();
  if (last.kind == ast::Stmt::Kind::Return)
    return true;
  if (last.kind != ast::Stmt::Kind::Expression || last.as<ast::ExprStmt>().value->kind != ast::Expr::Kind::If)
    return false;
  const auto &branch = last.as<ast::ExprStmt>().value->as<ast::IfExpr>();
  return branch.elseBlock && alwaysReturns(branch.thenBlock) && alwaysReturns(*branch.elseBlock);
}

static std::vector<std::string> unique(std::vector<std::string> names) {
  llvm::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

/// The `if` of a statement, null for other statements.
static const ast::IfExpr *asIf(const ast::Stmt &statement) {
  if (statement.kind != ast::Stmt::Kind::Expression || statement.as<ast::ExprStmt>().value->kind != ast::Expr::Kind::If)
    return nullptr;
  return &statement.as<ast::ExprStmt>().value->as<ast::IfExpr>();
}

bool needsAlive(const ast::Block &body) {
  for (const ast::StmtPtr &statement : body.statements) {
    const ast::IfExpr *branch = asIf(*statement);
    if (!branch)
      continue;
    bool thenMay = hasReturn(branch->thenBlock), elseMay = branch->elseBlock && hasReturn(*branch->elseBlock);
    bool thenDoes = alwaysReturns(branch->thenBlock), elseDoes = branch->elseBlock && alwaysReturns(*branch->elseBlock);
    // Nested returns: the outer `if` has to ask.
    auto isFlat = [](const ast::Block &b) {
      return llvm::none_of(b.statements, [](const ast::StmtPtr &s) {
        Scan scan;
        scan.statement(*s);
        return s->kind != ast::Stmt::Kind::Return && scan.hasReturn;
      });
    };
    if ((thenMay && (!thenDoes || !isFlat(branch->thenBlock))) ||
        (elseMay && (!elseDoes || !isFlat(*branch->elseBlock))))
      return true;
  }
  return false;
}

std::vector<std::string> assignedNames(ArrayRef<const ast::Block *> blocks) {
  Scan scan;
  for (const ast::Block *block : blocks)
    scan.block(*block);
  return unique(std::move(scan.assigned));
}

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
      if (active.empty() && loopDepth == 0 &&
          (hasReturn(branch->thenBlock) || (branch->elseBlock && hasReturn(*branch->elseBlock))))
        return runIf(*branch, statements, i + 1);
    if (runStatement(statement) == Flow::Returned)
      return Flow::Returned;
  }
  return Flow::Next;
}

/// An `if` of a kernel with a `return` inside, and the statements after it in its block.
Specializer::Flow Specializer::runIf(const ast::IfExpr &branch, const std::vector<ast::StmtPtr> &statements,
                                     size_t next) {
  std::optional<bool> constant;
  mlir::Value truth = condition(*branch.condition, constant);
  if (constant) {
    Flow flow = Flow::Next;
    environment.push();
    if (*constant)
      flow = runBlock(branch.thenBlock);
    else if (branch.elseBlock)
      flow = runBlock(*branch.elseBlock);
    environment.pop();
    if (flow == Flow::Returned)
      return flow;
    // A branch may have returned at run time, inside an `if` of its own.
    if (!hasReturn(*constant || !branch.elseBlock ? branch.thenBlock : *branch.elseBlock) ||
        (!*constant && !branch.elseBlock))
      return runStatements(statements, next, nullptr);
  } else {
    if (!truth)
      return Flow::Returned;
    bool thenReturns = alwaysReturns(branch.thenBlock),
         elseReturns = branch.elseBlock && alwaysReturns(*branch.elseBlock);
    bool thenMay = hasReturn(branch.thenBlock), elseMay = branch.elseBlock && hasReturn(*branch.elseBlock);
    Scan scan;
    scan.block(branch.thenBlock);
    if (branch.elseBlock)
      scan.block(*branch.elseBlock);
    bool restInThen = elseReturns && !thenMay, restInElse = thenReturns && !elseMay;
    if (restInThen || restInElse)
      for (size_t i = next; i < statements.size(); ++i)
        scan.statement(*statements[i]);
    auto side = [&](const ast::Block *block, bool withRest) {
      if (block)
        runBlock(*block);
      if (withRest)
        runStatements(statements, next, nullptr);
      return Value::nothing();
    };
    auto thenSide = [&] { return side(&branch.thenBlock, restInThen); };
    auto elseSide = [&] { return side(branch.elseBlock ? &*branch.elseBlock : nullptr, restInElse); };
    std::vector<std::string> assigned = unique(std::move(scan.assigned));
    if (restInElse && branch.thenBlock.statements.size() == 1) {
      // `if c { return }`: the rest runs under `not c`, and there is no else.
      Value live = logicalNot(Value::data(truth, DType::Bool), at(branch.condition->range));
      control.branch(live.ssa, assigned, elseSide, thenSide, /*isValue=*/false, at(branch.range));
    } else {
      control.branch(truth, assigned, thenSide, elseSide, /*isValue=*/false, at(branch.range));
    }
    if (restInThen || restInElse)
      return Flow::Next;
    if (thenReturns && elseReturns)
      return Flow::Returned;
  }
  if (next >= statements.size())
    return Flow::Next;
  Variable *alive = environment.find(kAlive);
  if (!alive || !alive->value.isData())
    return runStatements(statements, next, nullptr);
  Scan scan;
  for (size_t i = next; i < statements.size(); ++i)
    scan.statement(*statements[i]);
  control.branch(
      alive->value.ssa, unique(std::move(scan.assigned)),
      [&] {
        runStatements(statements, next, nullptr);
        return Value::nothing();
      },
      [] { return Value::nothing(); }, /*isValue=*/false, at(branch.range));
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
      runStaticFor(loop, 0);
    else
      runFor(loop, 0);
    return Flow::Next;
  }
  case K::While:
    runWhile(statement.as<ast::WhileStmt>());
    return Flow::Next;
  case K::Return:
    return runReturn(statement.as<ast::ReturnStmt>());
  case K::Break:
  case K::Continue:
    error(at(statement.range), "T0225",
          "'break' and 'continue' are part of the language, but this version does not compile them yet",
          "use while with a condition");
    return Flow::Next;
  case K::Temp:
    error(at(statement.range), "T0225", "'temp' stands in an op; inside a kernel this version does not compile it yet",
          "");
    return Flow::Next;
  }
  return Flow::Next;
}

Specializer::Flow Specializer::runReturn(const ast::ReturnStmt &statement) {
  At place = at(statement.range);
  if (!active.empty()) {
    error(place, "T0224", "in a fn, 'return' is the last statement, or the last of both branches of a final 'if'",
          "give the value with an if expression");
    return Flow::Returned;
  }
  if (loopDepth > 0) {
    error(place, "T0224", "a kernel cannot return from inside a loop",
          "leave the loop by its condition: while not done { ... }");
    return Flow::Returned;
  }
  if (statement.value)
    error(at(statement.value->range), "T0224", "a kernel returns nothing, found a value", "store it: y[i] = v");
  if (Variable *alive = environment.find(kAlive))
    alive->value.ssa = literalOf(Value::of(false), DType::Bool, place).ssa;
  return Flow::Returned;
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
    if (hasReturn(expr.as<ast::BlockExpr>().block)) {
      error(place, "T0224", "a block of its own cannot return", "let the return stand in an if");
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
