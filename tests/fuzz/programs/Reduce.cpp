//===- Reduce.cpp - a smaller program that still fails ------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "tests/fuzz/programs/Reduce.h"

namespace tessera::fuzz {
namespace {

template <typename Visit>
void visitExpr(Expr &e, Visit visit) {
  visit(e);
  for (Expr &operand : e.in)
    visitExpr(operand, visit);
}

/// Every expression of a block, operands after what uses them.
template <typename Visit>
void visitBlock(std::vector<Statement> &block, Visit visit) {
  for (Statement &s : block) {
    visitExpr(s.value, visit);
    visitExpr(s.place, visit);
    for (Expr &bound : s.bounds)
      visitExpr(bound, visit);
    visitBlock(s.body, visit);
    visitBlock(s.other, visit);
  }
}

std::vector<std::vector<Statement> *> blocksOf(std::vector<Statement> &block) {
  std::vector<std::vector<Statement> *> all{&block};
  for (Statement &s : block)
    for (std::vector<Statement> *inner : {&s.body, &s.other})
      for (std::vector<Statement> *deeper : blocksOf(*inner))
        all.push_back(deeper);
  return all;
}

/// Every name that is read or assigned is still declared somewhere.
bool isComplete(Program &program) {
  std::vector<bool> declared(program.slots.size(), false);
  for (const ScalarParam &scalar : program.scalars)
    declared[size_t(scalar.slot)] = true;
  for (int slot : program.dimSlots)
    declared[size_t(slot)] = true;
  for (const Axis &axis : program.axes)
    declared[size_t(axis.slot)] = true;
  for (const Function &function : program.functions)
    for (int slot : function.parameters)
      declared[size_t(slot)] = true;
  bool complete = true;
  for (std::vector<Statement> *block : blocksOf(program.body))
    for (const Statement &s : *block)
      if (s.kind == Statement::Kind::Let || s.kind == Statement::Kind::Var || s.kind == Statement::Kind::For)
        declared[size_t(s.slot)] = true;
      else if (s.kind == Statement::Kind::Assign || s.kind == Statement::Kind::AddAssign)
        complete &= declared[size_t(s.slot)];
  auto check = [&](Expr &e) { complete &= e.kind != Kind::Name || declared[size_t(e.slot)]; };
  visitBlock(program.body, check);
  return complete;
}

bool dropStatements(Program &program, const std::function<bool(const Program &)> &stillFails) {
  bool changed = false;
  for (size_t b = 0; b < blocksOf(program.body).size(); ++b)
    for (size_t i = blocksOf(program.body)[b]->size(); i-- > 0;) {
      Program smaller = program;
      std::vector<Statement> &block = *blocksOf(smaller.body)[b];
      block.erase(block.begin() + int64_t(i));
      bool stores = false; // a loop or branch without statements does not parse as one that matters
      for (std::vector<Statement> *left : blocksOf(smaller.body))
        stores |= !left->empty();
      if (!stores || !isComplete(smaller) || !stillFails(smaller))
        continue;
      program = std::move(smaller);
      changed = true;
      if (b >= blocksOf(program.body).size())
        return true;
    }
  return changed;
}

bool shrinkExpressions(Program &program, const std::function<bool(const Program &)> &stillFails) {
  bool changed = false;
  auto nth = [](Program &p, size_t wanted) -> Expr * {
    Expr *found = nullptr;
    size_t at = 0;
    visitBlock(p.body, [&](Expr &e) {
      if (at++ == wanted)
        found = &e;
    });
    return found;
  };
  for (size_t n = 0;; ++n) {
    Expr *e = nth(program, n);
    if (!e)
      return changed;
    if (e->kind == Kind::Name || e->kind == Kind::Literal || e->kind == Kind::Full)
      continue;
    std::vector<Expr> instead;
    for (const Expr &operand : e->in)
      if (operand.type == e->type && operand.shape == e->shape && operand.kind != Kind::Literal)
        instead.push_back(operand);
    Expr constant;
    constant.kind = Kind::Full;
    constant.type = e->type;
    constant.shape = e->shape;
    instead.push_back(constant);
    for (const Expr &other : instead) {
      Program smaller = program;
      *nth(smaller, n) = other;
      if (!isComplete(smaller) || !stillFails(smaller))
        continue;
      program = std::move(smaller);
      changed = true;
      break;
    }
  }
}

} // namespace

Program reduce(Program program, const std::function<bool(const Program &)> &stillFails) {
  while (dropStatements(program, stillFails) || shrinkExpressions(program, stillFails)) {
  }
  return program;
}

} // namespace tessera::fuzz
