//===- Parser.h - tokens to a syntax tree ---------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Recursive descent with recovery at statements and declarations: a run reports every independent mistake once.  Precedence is Python's table.
// Nesting is limited, so that no input exhausts the stack.
//
#ifndef TESSERA_COMPILER_FRONTEND_PARSER_H
#define TESSERA_COMPILER_FRONTEND_PARSER_H

#include "compiler/Frontend/AST.h"
#include "compiler/Frontend/Diagnostics.h"

#include <string>
#include <string_view>
#include <vector>

namespace tessera::frontend {

/// Parses `source`.  Errors (T0001 to T0019) are appended to `diagnostics`; the tree holds everything that could be understood.
ast::File parse(std::string_view source, const std::string &fileName, std::vector<Diagnostic> &diagnostics);

} // namespace tessera::frontend
#endif // TESSERA_COMPILER_FRONTEND_PARSER_H
