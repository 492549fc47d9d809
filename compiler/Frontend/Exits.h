//===- Exits.h - what statements assign, and where they leave early ------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Questions about syntax, asked before anything is evaluated.  An *exit* of a block is a `return`, or a `break` or `continue` of the loop whose body the
// block belongs to; those of loops inside the block are their own.  At run time three hidden variables say who has left.
//
#ifndef TESSERA_COMPILER_FRONTEND_EXITS_H
#define TESSERA_COMPILER_FRONTEND_EXITS_H

#include "compiler/Frontend/AST.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace tessera::frontend {

/// Hidden variables, true until someone leaves: the program instance, this iteration, the innermost loop.
inline constexpr const char *kInstanceGoesOn = "$instance";
inline constexpr const char *kIterationGoesOn = "$iteration";
inline constexpr const char *kLoopGoesOn = "$loop";

/// The names that some statements assign, hidden ones included, sorted; and how the statements may be left.
struct Exits {
  std::vector<std::string> assigned;
  bool mayLeave = false; ///< an exit of the surrounding block stands somewhere
  bool mayBreak = false; ///< one of them is a `break`
};
Exits exitsOf(llvm::ArrayRef<const ast::Block *> blocks);
/// Of an expression: blocks may stand inside.
Exits exitsOf(const ast::Expr &expr);
/// Of the statements from `first` on, besides what `blocks` do.
Exits exitsOf(llvm::ArrayRef<const ast::Block *> blocks, const std::vector<ast::StmtPtr> &statements, size_t first);

/// The names that statements of these blocks assign, nested ones included.
std::vector<std::string> assignedNames(llvm::ArrayRef<const ast::Block *> blocks);
/// The names that a loop assigns in its iterations; whether one of them goes on concerns nobody outside.
std::vector<std::string> assignedByLoop(const ast::Block &body);

/// The `if` of a statement, null for other statements.
const ast::IfExpr *asIf(const ast::Stmt &statement);
/// Whether an exit stands in a branch.
bool mayLeave(const ast::IfExpr &branch);
/// Whether the block leaves on every path, as far as its last statement tells.
bool alwaysLeaves(const ast::Block &block);

/// Whether the exits of a body (of a kernel, or of a loop) need a hidden variable: nesting what follows an `if` in its other branch is not enough.
bool needsFlag(const ast::Block &body);

} // namespace tessera::frontend
#endif // TESSERA_COMPILER_FRONTEND_EXITS_H
