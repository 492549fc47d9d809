//===- Lexer.h - source text to tokens ------------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A newline is no token: a token knows whether one stands before it, and the parser decides whether that ends a statement.  Any bytes are
// accepted; what is no token is reported once per run of such bytes and skipped.
//
#ifndef TESSERA_COMPILER_FRONTEND_LEXER_H
#define TESSERA_COMPILER_FRONTEND_LEXER_H

#include "compiler/Frontend/AST.h"
#include "compiler/Frontend/Diagnostics.h"

#include <string>
#include <string_view>
#include <vector>

namespace tessera::frontend {

struct Token {
  enum class Kind : uint8_t { End, Name, Keyword, Integer, Float, String, Punctuation };
  Kind kind = Kind::End;
  bool newlineBefore = false;
  std::string text; ///< name, keyword, punctuation, or the value of a string
  uint64_t integer = 0;
  double real = 0;
  ast::SourceRange range;
};

/// Reserved words; everything else that looks like a word is a name.
bool isKeyword(std::string_view word);

/// All tokens of `source`, ending with Kind::End.  Errors T0001 to T0003 go to `diagnostics`.
std::vector<Token> lex(std::string_view source, int file, const std::string &fileName,
                       std::vector<Diagnostic> &diagnostics);

} // namespace tessera::frontend
#endif // TESSERA_COMPILER_FRONTEND_LEXER_H
