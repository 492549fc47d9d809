//===- SpecializeExit.cpp - return, break, continue ----------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Control flow of the IR is structured, so leaving early nests what follows: `if c { continue } rest` becomes `if not c { rest }`.  Where neither branch of
// an `if` always leaves, a hidden variable (Exits.h) says whether the rest runs.  A `break` also clears the variable that its loop asks before every
// iteration.
//
#include "compiler/Frontend/Exits.h"
#include "compiler/Frontend/Specializer.h"

#include "dialect/Tile/TileDialect.h"

#include <fmt/format.h>

using namespace mlir;

namespace tessera::frontend {

/// How deep the rests of blocks may nest.
static constexpr int kMostExits = 200;

/// An `if` with an exit inside, and the statements after it in its block.
Specializer::Flow Specializer::runIf(const ast::IfExpr &branch, const std::vector<ast::StmtPtr> &statements,
                                     size_t next) {
  At place = at(branch.range);
  if (exitDepth >= kMostExits) {
    error(place, "T0223", fmt::format("at most {} statements of a block may leave it early", kMostExits),
          "join conditions with or");
    return Flow::Returned;
  }
  struct Deeper {
    int &depth;
    explicit Deeper(int &d) : depth(++d) {}
    ~Deeper() { --depth; }
  } deeper(exitDepth);

  const ast::Block *thenBlock = &branch.thenBlock, *elseBlock = branch.elseBlock ? &*branch.elseBlock : nullptr;
  auto rest = [&] { return runStatements(statements, next, nullptr); };
  std::optional<bool> constant;
  mlir::Value truth = condition(*branch.condition, constant);
  if (constant) {
    const ast::Block *taken = *constant ? thenBlock : elseBlock;
    if (!taken)
      return rest();
    environment.push();
    Flow flow = runBlock(*taken);
    environment.pop();
    if (flow != Flow::Next)
      return flow;
    if (!exitsOf({taken}).mayLeave)
      return rest();
    // The branch may have been left at run time, inside an `if` of its own.
  } else {
    if (!truth)
      return Flow::Returned;
    bool thenLeaves = alwaysLeaves(*thenBlock), elseLeaves = elseBlock && alwaysLeaves(*elseBlock);
    bool thenMay = exitsOf({thenBlock}).mayLeave, elseMay = exitsOf({elseBlock}).mayLeave;
    bool restInThen = elseLeaves && !thenMay, restInElse = thenLeaves && !elseMay, isNested = restInThen || restInElse;
    Exits exits = exitsOf({thenBlock, elseBlock}, statements, isNested ? next : statements.size());
    auto side = [&](const ast::Block *block, bool withRest) {
      if (block)
        runBlock(*block);
      if (withRest)
        rest();
      return Value::nothing();
    };
    auto thenSide = [&] { return side(thenBlock, restInThen); };
    auto elseSide = [&] { return side(elseBlock, restInElse); };
    if (restInElse && thenBlock->statements.size() == 1) {
      // `if c { return }`: the rest runs under `not c`, and there is no else.
      Value live = logicalNot(Value::data(truth, DType::Bool), at(branch.condition->range));
      control.branch(live.ssa, exits.assigned, elseSide, thenSide, /*isValue=*/false, place);
    } else {
      control.branch(truth, exits.assigned, thenSide, elseSide, /*isValue=*/false, place);
    }
    if (isNested)
      return Flow::Next;
    if (thenLeaves && elseLeaves)
      return loopDepth > 0 ? Flow::Continued : Flow::Returned;
  }
  if (next >= statements.size())
    return Flow::Next;
  Variable *goesOn = environment.find(loopDepth > 0 ? kIterationGoesOn : kInstanceGoesOn);
  if (!goesOn || !goesOn->value.isData())
    return rest();
  control.branch(
      goesOn->value.ssa, exitsOf({}, statements, next).assigned,
      [&] {
        rest();
        return Value::nothing();
      },
      [] { return Value::nothing(); }, /*isValue=*/false, place);
  return Flow::Next;
}

void Specializer::clearFlag(const char *flag, At place) {
  Variable *variable = environment.find(flag);
  if (variable && variable->value.isData())
    variable->value.ssa = literalOf(Value::of(false), DType::Bool, place).ssa;
}

Specializer::Flow Specializer::runReturn(const ast::ReturnStmt &statement) {
  At place = at(statement.range);
  if (!active.empty()) {
    error(place, "T0224", "in a fn, 'return' is the last statement, or the last of both branches of a final 'if'",
          "give the value with an if expression");
  } else if (loopDepth > 0) {
    error(place, "T0224", "a kernel cannot return from inside a loop", "leave the loop with break, then return");
  } else if (valueDepth > 0) {
    error(place, "T0224", "a branch of an 'if' used as a value gives one, found 'return'",
          "return before it: if c { return }");
  } else if (statement.value) {
    error(at(statement.value->range), "T0224", "a kernel returns nothing, found a value", "store it: y[i] = v");
  } else {
    clearFlag(kInstanceGoesOn, place);
  }
  return Flow::Returned;
}

Specializer::Flow Specializer::runLoopExit(const ast::Stmt &statement) {
  bool isBreak = statement.kind == ast::Stmt::Kind::Break;
  const char *word = isBreak ? "break" : "continue";
  At place = at(statement.range);
  if (loopDepth == 0) {
    error(place, "T0224", fmt::format("'{}' stands in the body of a loop, found it outside", word), "remove it");
    return Flow::Returned;
  }
  if (valueDepth > 0) {
    error(place, "T0224", fmt::format("a branch of an 'if' used as a value gives one, found '{}'", word),
          fmt::format("leave before it: if c {{ {} }}", word));
    return Flow::Returned;
  }
  clearFlag(kIterationGoesOn, place);
  if (isBreak)
    clearFlag(kLoopGoesOn, place);
  return isBreak ? Flow::Broke : Flow::Continued;
}

} // namespace tessera::frontend
