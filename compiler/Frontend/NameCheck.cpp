//===- NameCheck.cpp - every name stands for something --------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "compiler/Frontend/NameCheck.h"

#include "dialect/Operations/Operations.h"

#include <algorithm>
#include <set>
#include <string>

namespace tessera::frontend {
using namespace ast;

namespace {

/// Number of edits between two names, at most `most` + 1.
size_t distance(std::string_view a, std::string_view b, size_t most) {
  if (a.size() > b.size() + most || b.size() > a.size() + most)
    return most + 1;
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t next = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = row[j];
      row[j] = next;
    }
  }
  return row[b.size()];
}

class NameChecker {
public:
  NameChecker(const File &file, std::vector<Diagnostic> &diagnostics) : file(file), diagnostics(diagnostics) {
    std::set<std::string> names;
    for (const Operation &operation : operations())
      if (isCallable(operation.name) || operation.kind == Operation::Kind::Constant)
        names.emplace(operation.name);
    names.insert(elementTypeNames().begin(), elementTypeNames().end());
    for (const Function &function : file.functions)
      names.insert(function.name);
    for (const Constant &constant : file.constants)
      names.insert(constant.name);
    scopes.push_back(std::move(names));
  }

  void run() {
    if (!file.imports.empty())
      return; // what an import brings is known to the specializer
    for (const Constant &constant : file.constants)
      expression(constant.value.get());
    for (const Function &function : file.functions)
      body(function.body);
    for (const Kernel &kernel : file.kernels)
      this->kernel(kernel);
    for (const Tune &tune : file.tunes)
      this->tune(tune);
  }

private:
  void report(const SourceRange &range, const char *code, std::string message, std::string remedy) {
    Diagnostic diagnostic;
    diagnostic.code = code;
    diagnostic.place = {file.files.empty() ? "" : file.files[range.file], range.line, range.column};
    diagnostic.length = std::max(1, int(range.end - range.begin));
    diagnostic.message = std::move(message);
    diagnostic.remedy = std::move(remedy);
    diagnostics.push_back(std::move(diagnostic));
  }

  bool known(const std::string &name) const {
    return std::any_of(scopes.begin(), scopes.end(), [&](const auto &scope) { return scope.count(name); });
  }
  void declare(const std::string &name) { scopes.back().insert(name); }

  void use(const SourceRange &range, const std::string &name) {
    if (known(name))
      return;
    std::string nearest;
    size_t best = name.size() < 2 ? 0 : name.size() < 4 ? 2 : 3; // one more than the edits that still look like a slip
    for (const auto &scope : scopes)
      for (const std::string &other : scope)
        if (size_t edits = distance(name, other, 2); edits < best) {
          best = edits;
          nearest = other;
        }
    report(range, "T0219", "the name '" + name + "' is not known here",
           nearest.empty() ? "" : "did you mean '" + nearest + "'?");
  }

  struct Scope {
    NameChecker &checker;
    explicit Scope(NameChecker &c) : checker(c) { c.scopes.emplace_back(); }
    ~Scope() { checker.scopes.pop_back(); }
  };

  /// Names that stand in extents bind there.
  void bindExtent(const Expr *extent) {
    if (!extent)
      return;
    if (extent->kind == Expr::Kind::Name)
      declare(extent->as<NameExpr>().name);
    else if (extent->kind == Expr::Kind::Binary)
      bindExtent(extent->as<BinaryExpr>().left.get()); // S + 1 binds S
  }

  void kernel(const Kernel &kernel) {
    Scope scope(*this);
    for (const StaticParam &param : kernel.staticParams) {
      expression(param.defaultValue.get());
      declare(param.name);
    }
    for (const Param &param : kernel.params) {
      declare(param.name);
      if (param.type)
        expression(param.type.get());
      for (const ExprPtr &extent : param.extents)
        bindExtent(extent.get());
    }
    for (const Param &param : kernel.params) {
      for (const ExprPtr &extent : param.extents)
        expression(extent.get());
      expression(param.defaultValue.get());
    }
    for (const Requirement &requirement : kernel.requirements)
      expression(requirement.condition.get());
    for (const WithClause &clause : kernel.with)
      expression(clause.value.get());
    for (const GridAxis &axis : kernel.grid) {
      expression(axis.low.get());
      expression(axis.high.get());
      expression(axis.step.get());
      expression(axis.shape.get());
    }
    for (const GridAxis &axis : kernel.grid)
      declare(axis.name.name);
    inOp = kernel.isOp;
    block(kernel.body);
    inOp = false;
  }

  void body(const FnBody &body) {
    Scope scope(*this);
    for (const FnParam &param : body.params) {
      declare(param.name);
      bindExtent(param.type.get());
      for (const ExprPtr &extent : param.extents)
        bindExtent(extent.get());
    }
    int savedLoops = loops;
    loops = 0;
    expression(body.expression.get());
    if (body.block)
      block(*body.block);
    loops = savedLoops;
  }

  /// Whether the parameter is the element type or an extent of a tensor.
  static bool bindsByArguments(const Kernel &kernel, const std::string &name) {
    auto isName = [&](const ExprPtr &e) { return e && e->kind == Expr::Kind::Name && e->as<NameExpr>().name == name; };
    return std::any_of(kernel.params.begin(), kernel.params.end(), [&](const Param &param) {
      return isName(param.type) || std::any_of(param.extents.begin(), param.extents.end(), isName);
    });
  }

  void tune(const Tune &tune) {
    const Kernel *kernel = file.findKernel(tune.kernel);
    if (!kernel)
      return report(tune.kernelRange, "T0102", "there is no kernel '" + tune.kernel + "' to tune",
                    "tune a kernel of this file");
    static constexpr std::string_view kSchedule[] = {"stages",     "warps",  "cluster", "roles",
                                                     "persistent", "raster", "split"};
    for (const Tune &other : file.tunes)
      if (&other < &tune && other.kernel == tune.kernel)
        return report(tune.kernelRange, "T0104", "'" + tune.kernel + "' has a tune block already",
                      "join the two blocks");
    std::set<std::string> listed;
    for (const TuneEntry &entry : tune.entries) {
      if (!listed.insert(entry.name.name).second) {
        report(entry.name.range, "T0104", "'" + entry.name.name + "' is listed twice", "join the two lists");
        continue;
      }
      if (bindsByArguments(*kernel, entry.name.name)) {
        report(entry.name.range, "T0104",
               "'" + entry.name.name + "' is no choice: the arguments of '" + tune.kernel + "' bind it",
               "tune a parameter that only the program uses");
        continue;
      }
      bool found = std::find(std::begin(kSchedule), std::end(kSchedule), entry.name.name) != std::end(kSchedule) ||
                   std::any_of(kernel->staticParams.begin(), kernel->staticParams.end(),
                               [&](const auto &param) { return param.name == entry.name.name; });
      if (!found)
        report(entry.name.range, "T0102",
               "'" + tune.kernel + "' has no compile-time parameter '" + entry.name.name + "'",
               "tune a parameter in < >, or one of stages, warps, cluster");
    }
  }

  void block(const Block &block) {
    Scope scope(*this);
    for (const StmtPtr &statement : block.statements)
      this->statement(*statement);
  }

  void statement(const Stmt &statement) {
    switch (statement.kind) {
    case Stmt::Kind::Let:
    case Stmt::Kind::Var: {
      const auto &let = statement.as<LetStmt>();
      expression(let.value.get());
      for (const Binder &name : let.names)
        declare(name.name);
      return;
    }
    case Stmt::Kind::Assign: {
      const auto &assign = statement.as<AssignStmt>();
      for (const ExprPtr &target : assign.targets)
        expression(target.get());
      expression(assign.value.get());
      return;
    }
    case Stmt::Kind::Expression: {
      const Expr *value = statement.as<ExprStmt>().value.get();
      if (inOp && value && value->kind == Expr::Kind::Call)
        return kernelCall(value->as<CallExpr>());
      expression(value);
      return;
    }
    case Stmt::Kind::For: {
      const auto &loop = statement.as<ForStmt>();
      Scope scope(*this);
      for (const LoopRange &range : loop.ranges) {
        expression(range.low.get());
        expression(range.high.get());
        expression(range.step.get());
        declare(range.name.name);
      }
      ++loops;
      block(loop.body);
      --loops;
      return;
    }
    case Stmt::Kind::While:
      expression(statement.as<WhileStmt>().condition.get());
      ++loops;
      block(statement.as<WhileStmt>().body);
      --loops;
      return;
    case Stmt::Kind::Return:
      expression(statement.as<ReturnStmt>().value.get());
      if (loops)
        report(statement.range, "T0103", "'return' stands inside a loop",
               "leave the loop by its condition, then return");
      return;
    case Stmt::Kind::Break:
    case Stmt::Kind::Continue:
      if (!loops)
        report(statement.range, "T0103",
               std::string("'") + (statement.kind == Stmt::Kind::Break ? "break" : "continue") +
                   "' stands outside a loop",
               "remove it");
      return;
    case Stmt::Kind::Temp: {
      const auto &temp = statement.as<TempStmt>();
      expression(temp.type.get());
      for (const ExprPtr &extent : temp.extents)
        expression(extent.get());
      expression(temp.initial.get());
      declare(temp.name.name);
      return;
    }
    case Stmt::Kind::Error:
      return;
    }
  }

  /// A statement of an op: a kernel or op of the file, with arguments.
  void kernelCall(const CallExpr &call) {
    if (call.callee->kind == Expr::Kind::Name) {
      const std::string &name = call.callee->as<NameExpr>().name;
      if (!file.findKernel(name) && !known(name))
        report(call.callee->range, "T0102", "there is no kernel '" + name + "'", "call a kernel or an op of this file");
    }
    for (const Argument &argument : call.arguments)
      expression(argument.value.get());
  }

  void expression(const Expr *expr) {
    if (!expr)
      return;
    switch (expr->kind) {
    case Expr::Kind::Name:
      return use(expr->range, expr->as<NameExpr>().name);
    case Expr::Kind::Unary:
      return expression(expr->as<UnaryExpr>().operand.get());
    case Expr::Kind::Binary:
      expression(expr->as<BinaryExpr>().left.get());
      return expression(expr->as<BinaryExpr>().right.get());
    case Expr::Kind::Call: {
      const auto &call = expr->as<CallExpr>();
      expression(call.callee.get());
      for (const Argument &argument : call.arguments) {
        // Options take words of their own: order = acq_rel, precision = tf32.
        bool isOption = argument.name == "order" || argument.name == "precision" || argument.name == "overflow" ||
                        argument.name == "rounding";
        if (!isOption)
          expression(argument.value.get());
      }
      return;
    }
    case Expr::Kind::Index: {
      const auto &index = expr->as<IndexExpr>();
      expression(index.base.get());
      for (const IndexEntry &entry : index.entries) {
        expression(entry.first.get());
        expression(entry.second.get());
        expression(entry.step.get());
      }
      return expression(index.pad.get());
    }
    case Expr::Kind::Member:
      return expression(expr->as<MemberExpr>().base.get());
    case Expr::Kind::Tuple:
      for (const ExprPtr &element : expr->as<TupleExpr>().elements)
        expression(element.get());
      return;
    case Expr::Kind::List:
      for (const ExprPtr &element : expr->as<ListExpr>().elements)
        expression(element.get());
      return;
    case Expr::Kind::If: {
      const auto &branch = expr->as<IfExpr>();
      expression(branch.condition.get());
      block(branch.thenBlock);
      if (branch.elseBlock)
        block(*branch.elseBlock);
      return;
    }
    case Expr::Kind::Block:
      return block(expr->as<BlockExpr>().block);
    case Expr::Kind::Closure:
      return body(expr->as<ClosureExpr>().body);
    default:
      return;
    }
  }

  const File &file;
  std::vector<Diagnostic> &diagnostics;
  std::vector<std::set<std::string>> scopes;
  int loops = 0;
  bool inOp = false;
};

} // namespace

void checkNames(const File &file, std::vector<Diagnostic> &diagnostics) { NameChecker(file, diagnostics).run(); }

} // namespace tessera::frontend
