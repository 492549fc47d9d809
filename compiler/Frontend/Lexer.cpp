//===- Lexer.cpp - source text to tokens ----------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "compiler/Frontend/Lexer.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace tessera::frontend {

bool isKeyword(std::string_view word) {
  static constexpr std::array<std::string_view, 24> kWords{
      "kernel", "fn",  "let", "var", "for",  "while", "if",   "else",   "return",   "break", "continue", "in",
      "by",     "and", "or",  "not", "true", "false", "None", "import", "requires", "grid",  "with",     "xor"};
  return word != "xor" && std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

namespace {

/// Longest first, so that the first match is the right one.
constexpr std::array<std::string_view, 46> kPunctuation{
    "<<=", ">>=", "..", "+:", "=>", "==", "!=", "<=", ">=", "<<", ">>", "+=", "-=", "*=", "/=", "%=",
    "@=",  "|=",  "&=", "^=", "(",  ")",  "[",  "]",  "{",  "}",  "<",  ">",  ",",  ";",  ":",  "=",
    "+",   "-",   "*",  "/",  "%",  "@",  "|",  "&",  "^",  "~",  ".",  "!",  "?",  "$"};

bool isWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isWord(char c) { return isWordStart(c) || isDigit(c); }

class Lexer {
public:
  Lexer(std::string_view source, int file, const std::string &fileName, std::vector<Diagnostic> &diagnostics)
      : source(source), file(file), fileName(fileName), diagnostics(diagnostics) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    while (true) {
      skipBlanks();
      Token token;
      token.newlineBefore = newline;
      newline = false;
      token.range = here();
      if (at >= source.size()) {
        token.newlineBefore = true;
        tokens.push_back(token);
        return tokens;
      }
      if (next(token)) {
        token.range.end = uint32_t(at);
        tokens.push_back(std::move(token));
      } else if (token.newlineBefore) {
        newline = true;
      }
    }
  }

private:
  ast::SourceRange here() const { return {file, uint32_t(at), uint32_t(at), line, int(at - lineStart) + 1}; }

  void skipBlanks() {
    while (at < source.size()) {
      char c = source[at];
      if (c == '\n') {
        newline = true;
        ++at;
        ++line;
        lineStart = at;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at;
      } else if (c == '/' && at + 1 < source.size() && source[at + 1] == '/') {
        while (at < source.size() && source[at] != '\n')
          ++at;
      } else {
        return;
      }
    }
  }

  bool next(Token &token) {
    char c = source[at];
    if (isWordStart(c)) {
      size_t start = at;
      while (at < source.size() && isWord(source[at]))
        ++at;
      token.text = std::string(source.substr(start, at - start));
      token.kind = isKeyword(token.text) ? Token::Kind::Keyword : Token::Kind::Name;
      return true;
    }
    if (isDigit(c))
      return number(token);
    if (c == '"')
      return string(token);
    for (std::string_view punctuation : kPunctuation)
      if (source.substr(at, punctuation.size()) == punctuation) {
        at += punctuation.size();
        token.kind = Token::Kind::Punctuation;
        token.text = std::string(punctuation);
        return true;
      }
    return unknown();
  }

  bool unknown() {
    ast::SourceRange range = here();
    size_t start = at;
    auto known = [&](char c) {
      return isWord(c) || c == '"' || c == '\n' ||
             std::string_view(" \t\r()[]{}<>,;:=+-*/%@|&^~.").find(c) != std::string_view::npos;
    };
    while (at < source.size() && !known(source[at]))
      ++at;
    if (at == start)
      ++at;
    std::string shown;
    for (unsigned char byte : source.substr(start, std::min<size_t>(at - start, 12)))
      shown += byte >= 0x20 && byte < 0x7f
                   ? std::string(1, char(byte))
                   : "\\x" + std::string{"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
    report(range, "T0001", "expected a token, found '" + shown + "'", "remove it");
    return false;
  }

  bool number(Token &token) {
    ast::SourceRange range = here();
    size_t start = at;
    bool hex = source[at] == '0' && at + 1 < source.size() && (source[at + 1] == 'x' || source[at + 1] == 'X');
    bool isFloat = false;
    if (hex) {
      at += 2;
      while (at < source.size() && isWord(source[at]))
        ++at;
    } else {
      auto digits = [&] {
        while (at < source.size() && (isDigit(source[at]) || source[at] == '_'))
          ++at;
      };
      digits();
      // `0..n` is a range, `1.0` a number.
      if (at + 1 < source.size() && source[at] == '.' && isDigit(source[at + 1])) {
        isFloat = true;
        ++at;
        digits();
      }
      if (at < source.size() && (source[at] == 'e' || source[at] == 'E')) {
        size_t mark = at++;
        if (at < source.size() && (source[at] == '+' || source[at] == '-'))
          ++at;
        if (at < source.size() && isDigit(source[at])) {
          isFloat = true;
          digits();
        } else {
          at = mark;
        }
      }
      if (at < source.size() && isWordStart(source[at])) {
        while (at < source.size() && isWord(source[at]))
          ++at;
        report(range, "T0002",
               "expected a number, found '" + std::string(source.substr(start, std::min<size_t>(at - start, 40))) + "'",
               "put a space or an operator between the number and the name");
        token.kind = Token::Kind::Integer;
        return true;
      }
    }
    std::string text(source.substr(start, at - start));
    text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
    if (isFloat) {
      token.kind = Token::Kind::Float;
      token.real = std::strtod(text.c_str(), nullptr);
      return true;
    }
    token.kind = Token::Kind::Integer;
    uint64_t value = 0;
    bool good = !hex || text.size() > 2;
    for (char c : hex ? std::string_view(text).substr(2) : std::string_view(text)) {
      int digit = isDigit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
      unsigned base = hex ? 16 : 10;
      if (digit >= int(base) || value > (UINT64_MAX - digit) / base) {
        good = false;
        break;
      }
      value = value * base + digit;
    }
    if (!good)
      report(range, "T0002", "expected a number below 2^64, found '" + text.substr(0, 40) + "'",
             "write a smaller number");
    token.integer = good ? value : 0;
    return true;
  }

  bool string(Token &token) {
    ast::SourceRange range = here();
    ++at;
    token.kind = Token::Kind::String;
    while (at < source.size() && source[at] != '"' && source[at] != '\n') {
      if (source[at] == '\\' && at + 1 < source.size() && source[at + 1] != '\n') {
        ++at;
        token.text += source[at] == 'n' ? '\n' : source[at] == 't' ? '\t' : source[at];
      } else {
        token.text += source[at];
      }
      ++at;
    }
    if (at < source.size() && source[at] == '"') {
      ++at;
      return true;
    }
    report(range, "T0003", "expected '\"' before the end of the line", "close the string");
    return true;
  }

  void report(ast::SourceRange range, const char *code, std::string message, std::string remedy) {
    Diagnostic diagnostic;
    diagnostic.code = code;
    diagnostic.place = {fileName, range.line, range.column};
    diagnostic.length = std::max(1, int(at - range.begin));
    diagnostic.message = std::move(message);
    diagnostic.remedy = std::move(remedy);
    diagnostics.push_back(std::move(diagnostic));
  }

  std::string_view source;
  int file;
  const std::string &fileName;
  std::vector<Diagnostic> &diagnostics;
  size_t at = 0, lineStart = 0;
  int line = 1;
  bool newline = false;
};

} // namespace

std::vector<Token> lex(std::string_view source, int file, const std::string &fileName,
                       std::vector<Diagnostic> &diagnostics) {
  return Lexer(source, file, fileName, diagnostics).run();
}

} // namespace tessera::frontend
