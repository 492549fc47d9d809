//===- TokenCursor.h - a place among tokens, errors, and going on after one -------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// What the parser stands on.  `panicking` silences errors between the first of a statement and the place where parsing is sure again; `brackets` counts
// open ( and [, inside which newlines do not end a statement; nesting is bounded, so that no input exhausts the stack.
//
#ifndef TESSERA_COMPILER_FRONTEND_TOKENCURSOR_H
#define TESSERA_COMPILER_FRONTEND_TOKENCURSOR_H

#include "compiler/Frontend/Lexer.h"

#include <algorithm>
#include <memory>

namespace tessera::frontend {

class TokenCursor {
public:
  TokenCursor(std::string_view source, const std::string &fileName, std::vector<Diagnostic> &diagnostics)
      : source(source), fileName(fileName), diagnostics(diagnostics), tokens(lex(source, 0, fileName, diagnostics)) {}

protected:
  using SourceRange = ast::SourceRange;
  using ExprPtr = ast::ExprPtr;
  static constexpr int kMostNesting = 200;

  //===--- Tokens ---===//
  const Token &peek(size_t ahead = 0) const { return tokens[std::min(position + ahead, tokens.size() - 1)]; }
  bool atEnd() const { return peek().kind == Token::Kind::End; }
  bool is(std::string_view text, size_t ahead = 0) const {
    const Token &token = peek(ahead);
    return (token.kind == Token::Kind::Punctuation || token.kind == Token::Kind::Keyword) && token.text == text;
  }
  /// A name that means something only here.
  bool isWord(std::string_view text, size_t ahead = 0) const {
    return peek(ahead).kind == Token::Kind::Name && peek(ahead).text == text;
  }
  const Token &take() {
    const Token &token = peek();
    if (position + 1 < tokens.size())
      ++position;
    return token;
  }
  bool accept(std::string_view text) {
    if (!is(text))
      return false;
    take();
    return true;
  }
  /// Whether a statement begins here, on a line of its own, although a bracket is still open.
  bool startsStatement() const {
    if (!peek().newlineBefore || brackets == 0)
      return false;
    if (is("let") || is("var") || is("for") || is("while") || is("return") || is("}"))
      return true;
    // `name =` and `name[...] =` at the start of a line; `name = value` alone may be a named argument.
    if (peek().kind != Token::Kind::Name || !is("[", 1))
      return false;
    int depth = 0;
    for (size_t ahead = 1; peek(ahead).kind != Token::Kind::End && ahead < 64; ++ahead) {
      depth += is("[", ahead) - is("]", ahead);
      if (depth == 0)
        return is("=", ahead + 1) || is("+=", ahead + 1);
    }
    return false;
  }
  bool expect(std::string_view text, const char *where) {
    if (accept(text))
      return true;
    if (position && startsStatement()) {
      // The bracket was forgotten on the line before: say it there, and go on with this statement.
      const SourceRange &last = tokens[position - 1].range;
      SourceRange place = last;
      place.column += int(last.end - last.begin);
      place.begin = place.end = last.end;
      failAt(place, "expected '" + std::string(text) + "' " + where + ", found the end of the line");
      atStatement = true;
      return false;
    }
    fail("expected '" + std::string(text) + "' " + where + ", found " + describe(peek()));
    return false;
  }
  static std::string describe(const Token &token) {
    switch (token.kind) {
    case Token::Kind::End:
      return "the end of the file";
    case Token::Kind::Integer:
    case Token::Kind::Float:
      return "a number";
    case Token::Kind::String:
      return "a string";
    default:
      return "'" + token.text + "'";
    }
  }
  SourceRange from(const SourceRange &start) const {
    SourceRange range = start;
    range.end = position ? tokens[position - 1].range.end : start.end;
    return range;
  }

  //===--- Errors ---===//
  void fail(std::string message, std::string remedy = "", const char *code = "T0004") {
    failAt(peek().range, std::move(message), std::move(remedy), code);
  }
  void failAt(SourceRange range, std::string message, std::string remedy = "", const char *code = "T0004") {
    if (panicking)
      return;
    panicking = true;
    Diagnostic diagnostic;
    diagnostic.code = code;
    diagnostic.place = {fileName, range.line, range.column};
    diagnostic.length = std::max(1, int(range.end - range.begin));
    diagnostic.message = std::move(message);
    diagnostic.remedy = std::move(remedy);
    diagnostics.push_back(std::move(diagnostic));
  }
  ExprPtr errorHere() { return std::make_unique<ast::ErrorExpr>(peek().range); }

  bool startsDeclaration() const {
    if (!peek().newlineBefore && position != 0)
      return false;
    return is("kernel") || (is("fn") && peek(1).kind == Token::Kind::Name) || is("import") ||
           (isWord("op") && peek(1).kind == Token::Kind::Name) || (isWord("tune") && peek(1).kind == Token::Kind::Name);
  }
  void skipToDeclaration(size_t before) {
    panicking = false;
    if (position == before)
      take();
    while (!atEnd() && !startsDeclaration())
      take();
  }
  /// To the end of the statement: the next line, `;` or the brace that closes the block; blocks opened on the way are skipped whole.
  void recoverStatement(size_t begin) {
    panicking = false;
    // The mistake was found at the beginning of a line: that is the next statement.
    bool wasAtStatement = atStatement;
    atStatement = false;
    if (wasAtStatement || (position != begin && peek().newlineBefore))
      return;
    int depth = 0;
    bool first = true;
    while (!atEnd()) {
      if (depth == 0 && (is("}") || is(";") || (!first && peek().newlineBefore)))
        return;
      if (depth == 0 && startsDeclaration() && peek().newlineBefore && is("kernel"))
        return;
      first = false;
      if (is("{"))
        ++depth;
      else if (is("}"))
        --depth;
      take();
    }
  }

  /// Guards recursion: false (after an error) when nesting is too deep.
  struct Nesting {
    TokenCursor &parser;
    bool good;
    explicit Nesting(TokenCursor &p) : parser(p), good(++p.nesting <= kMostNesting) {
      if (!good)
        p.fail("expected at most " + std::to_string(kMostNesting) + " levels of nesting",
               "name parts of the expression with 'let'", "T0005");
    }
    ~Nesting() { --parser.nesting; }
  };
  /// Newlines do not count inside ( ) and [ ], and count again inside { }.
  struct Brackets {
    int &depth, saved;
    Brackets(int &d, int value) : depth(d), saved(d) { depth = value; }
    ~Brackets() { depth = saved; }
  };

  bool name(ast::Binder &binder, const char *what) {
    const Token &token = peek();
    if (token.kind == Token::Kind::Name) {
      binder = {token.text, token.range};
      take();
      return true;
    }
    bool reserved = token.kind == Token::Kind::Keyword;
    fail(std::string("expected ") + what + ", found " + describe(token),
         reserved ? "'" + token.text + "' is reserved; choose another name" : "");
    return false;
  }

  std::string_view source;
  const std::string &fileName;
  std::vector<Diagnostic> &diagnostics;
  std::vector<Token> tokens;
  size_t position = 0;
  int nesting = 0, brackets = 0;
  bool panicking = false, atStatement = false;
};

} // namespace tessera::frontend
#endif // TESSERA_COMPILER_FRONTEND_TOKENCURSOR_H
