//===- Exits.cpp - what statements assign, and where they leave early ----------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "compiler/Frontend/Exits.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tessera::frontend {

namespace {

class Scan {
public:
  Exits found;

  void block(const ast::Block &b) {
    for (const ast::StmtPtr &s : b.statements)
      statement(*s);
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
        if (target->kind == ast::Expr::Kind::Name)
          found.assigned.push_back(target->as<ast::NameExpr>().name);
      optional(s.as<ast::AssignStmt>().value);
      break;
    case K::Expression:
      optional(s.as<ast::ExprStmt>().value);
      break;
    case K::For:
      loop(s.as<ast::ForStmt>().body);
      break;
    case K::While:
      optional(s.as<ast::WhileStmt>().condition);
      loop(s.as<ast::WhileStmt>().body);
      break;
    case K::Return:
      leave(kInstanceGoesOn);
      break;
    case K::Break:
    case K::Continue:
      if (loops)
        break;
      leave(kIterationGoesOn);
      if (s.kind == K::Break) {
        found.assigned.push_back(kLoopGoesOn);
        found.mayBreak = true;
      }
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
      optional(branch.condition);
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
    case K::Index: {
      const auto &index = e.as<ast::IndexExpr>();
      optional(index.base);
      for (const ast::IndexEntry &entry : index.entries) {
        optional(entry.first);
        optional(entry.second);
        optional(entry.step);
      }
      optional(index.pad);
      break;
    }
    case K::Member:
      optional(e.as<ast::MemberExpr>().base);
      break;
    case K::Tuple:
      for (const ast::ExprPtr &element : e.as<ast::TupleExpr>().elements)
        optional(element);
      break;
    case K::List:
      for (const ast::ExprPtr &element : e.as<ast::ListExpr>().elements)
        optional(element);
      break;
    default:
      break;
    }
  }

private:
  void optional(const ast::ExprPtr &e) {
    if (e)
      expression(*e);
  }
  void loop(const ast::Block &body) {
    ++loops;
    block(body);
    --loops;
  }
  void leave(const char *flag) {
    found.mayLeave = true;
    found.assigned.push_back(flag);
  }

  int loops = 0; ///< loops around, inside what is asked about
};

Exits sorted(Exits exits) {
  llvm::sort(exits.assigned);
  exits.assigned.erase(std::unique(exits.assigned.begin(), exits.assigned.end()), exits.assigned.end());
  return exits;
}

bool isExit(const ast::Stmt &statement) {
  using K = ast::Stmt::Kind;
  return statement.kind == K::Return || statement.kind == K::Break || statement.kind == K::Continue;
}

bool mayLeave(const ast::Block &block) { return exitsOf({&block}).mayLeave; }

/// Whether exits stand only in the block itself, none in an `if` inside.
bool isFlat(const ast::Block &block) {
  return llvm::none_of(block.statements, [](const ast::StmtPtr &s) {
    Scan scan;
    scan.statement(*s);
    return !isExit(*s) && scan.found.mayLeave;
  });
}

} // namespace

Exits exitsOf(llvm::ArrayRef<const ast::Block *> blocks) { return exitsOf(blocks, {}, 0); }

Exits exitsOf(const ast::Expr &expr) {
  Scan scan;
  scan.expression(expr);
  return sorted(std::move(scan.found));
}

Exits exitsOf(llvm::ArrayRef<const ast::Block *> blocks, const std::vector<ast::StmtPtr> &statements, size_t first) {
  Scan scan;
  for (const ast::Block *block : blocks)
    if (block)
      scan.block(*block);
  for (size_t i = first; i < statements.size(); ++i)
    scan.statement(*statements[i]);
  return sorted(std::move(scan.found));
}

std::vector<std::string> assignedNames(llvm::ArrayRef<const ast::Block *> blocks) { return exitsOf(blocks).assigned; }

std::vector<std::string> assignedByLoop(const ast::Block &body) {
  std::vector<std::string> names = assignedNames({&body});
  llvm::erase(names, kIterationGoesOn);
  return names;
}

const ast::IfExpr *asIf(const ast::Stmt &statement) {
  if (statement.kind != ast::Stmt::Kind::Expression || statement.as<ast::ExprStmt>().value->kind != ast::Expr::Kind::If)
    return nullptr;
  return &statement.as<ast::ExprStmt>().value->as<ast::IfExpr>();
}

bool mayLeave(const ast::IfExpr &branch) {
  return mayLeave(branch.thenBlock) || (branch.elseBlock && mayLeave(*branch.elseBlock));
}

bool alwaysLeaves(const ast::Block &block) {
  if (block.statements.empty())
    return false;
  const ast::Stmt &last = *block.statements.back();
  if (isExit(last))
    return true;
  const ast::IfExpr *branch = asIf(last);
  return branch && branch->elseBlock && alwaysLeaves(branch->thenBlock) && alwaysLeaves(*branch->elseBlock);
}

bool needsFlag(const ast::Block &body) {
  return llvm::any_of(body.statements, [](const ast::StmtPtr &statement) {
    const ast::IfExpr *branch = asIf(*statement);
    auto isEasy = [](const ast::Block &b) { return !mayLeave(b) || (alwaysLeaves(b) && isFlat(b)); };
    return branch && (!isEasy(branch->thenBlock) || (branch->elseBlock && !isEasy(*branch->elseBlock)));
  });
}

} // namespace tessera::frontend
