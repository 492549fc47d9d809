//===- NameCheck.h - every name stands for something ----------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// What can be said of names before anything is bound: of every kernel, op and function, of branches that a binding would drop, and of kernels whose
// compile-time parameters have no value.  The specializer looks at names again, with values; this looks everywhere.
//
#ifndef TESSERA_COMPILER_FRONTEND_NAMECHECK_H
#define TESSERA_COMPILER_FRONTEND_NAMECHECK_H

#include "compiler/Frontend/AST.h"
#include "compiler/Frontend/Diagnostics.h"

#include <vector>

namespace tessera::frontend {

/// Reports unknown names (T0219) with the nearest known one as the remedy, unknown kernels and parameters in ops and tune blocks (T0102), and control flow
/// that leads nowhere: break and continue outside loops, return inside them (T0103).
void checkNames(const ast::File &file, std::vector<Diagnostic> &diagnostics);

} // namespace tessera::frontend
#endif // TESSERA_COMPILER_FRONTEND_NAMECHECK_H
