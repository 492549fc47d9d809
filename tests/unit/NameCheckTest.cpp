//===- NameCheckTest.cpp - names, control flow, and where recovery goes on -------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "compiler/Frontend/NameCheck.h"
#include "compiler/Frontend/Parser.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <fstream>
#include <sstream>

using namespace tessera;

namespace {
/// `line:column code message | remedy` of every diagnostic.
std::vector<std::string> diagnosticsOf(const std::string &text, bool names) {
  std::vector<Diagnostic> diagnostics;
  ast::File file = frontend::parse(text, "t.tile", diagnostics);
  if (names && diagnostics.empty())
    frontend::checkNames(file, diagnostics);
  std::vector<std::string> lines;
  for (const Diagnostic &d : diagnostics)
    lines.push_back(fmt::format("{}:{} {} {}{}", d.place.line, d.place.column, d.code, d.message,
                                d.remedy.empty() ? "" : " | " + d.remedy));
  return lines;
}

struct Case {
  const char *text;
  std::vector<std::string> expected;
};
} // namespace

TEST_CASE("names are known, in every branch and without bindings") {
  const std::string head = "kernel k<C: int>(x: in f32[N, C], y: out f32[N, C]) grid (i in 0..N by 4) {\n";
  const Case cases[] = {
      {"  y[i +: 4, :] = xs[i +: 4, :]\n}", {"2:18 T0219 the name 'xs' is not known here | did you mean 'x'?"}},
      {"  if C == 1 { y[i +: 4, :] = unheard }\n}", {"2:30 T0219 the name 'unheard' is not known here"}},
      {"  let a = 1.0\n  if C > 1 { let b = a }\n  y[i +: 4, :] = b + 0.0\n}",
       {"4:18 T0219 the name 'b' is not known here"}},
      {"  for j in 0..N { return }\n}",
       {"2:19 T0103 'return' stands inside a loop | leave the loop by its condition, then return"}},
      {"  break\n}", {"2:3 T0103 'break' stands outside a loop | remove it"}},
      {"  let f = fn (a, b) => a + bb\n}", {"2:28 T0219 the name 'bb' is not known here | did you mean 'b'?"}},
      {"  for j in 0..N { continue }\n  y[i +: 4, :] = exp(x[i +: 4, :]) * log2e\n}", {}},
  };
  for (const Case &one : cases) {
    INFO(one.text);
    CHECK(diagnosticsOf(head + one.text, true) == one.expected);
  }
  CHECK(diagnosticsOf("tune nothing { BM in [1] }", true) ==
        std::vector<std::string>{"1:6 T0102 there is no kernel 'nothing' to tune | tune a kernel of this file"});
  CHECK(diagnosticsOf("kernel k<BM = 1>(x: in f32[N]) grid (i in 0..N) { }\ntune k { BN in [1, 2]\n stages in [3] }",
                      true) == std::vector<std::string>{"2:10 T0102 'k' has no compile-time parameter 'BN' | tune a "
                                                        "parameter in < >, or one of stages, warps, cluster"});
  CHECK(diagnosticsOf("op o(x: in f32[N]) {\n  missing(x)\n}", true) ==
        std::vector<std::string>{"2:3 T0102 there is no kernel 'missing' | call a kernel or an op of this file"});
}

TEST_CASE("the acceptance programs have no unknown name") {
  std::ifstream file(TESSERA_ACCEPTANCE_FILE);
  std::stringstream text;
  text << file.rdbuf();
  REQUIRE(text.str().size() > 1000);
  CHECK(diagnosticsOf(text.str(), true).empty());
}

TEST_CASE("a mistake does not swallow what follows") {
  const std::string head = "kernel k(x: in f32[N], y: out f32[N]) grid (i in 0..N by 4) {\n";
  const Case cases[] = {
      // A bracket forgotten: said at the end of its line; the next statements are read.
      {"  let v = x[i +: 4\n  let w = 1 +\n  y[i +: 4] = v $ w\n}",
       {"2:19 T0004 expected ']' after the index, found the end of the line",
        "4:13 T0008 expected the end of the statement, found '=' | put the next statement on a line of its own"}},
      {"  let v = (1 + 2\n  y[i +: 4] = x[i +: 4]\n}",
       {"2:17 T0004 expected ')' after the expression, found the end of the line"}},
      {"  let v = 1 +\n  let w = (2\n  y[i +: 4] = x[i +: 4] + 3 4\n}",
       {"3:3 T0004 expected an expression, found 'let'",
        "3:13 T0004 expected ')' after the expression, found the end of the line",
        "4:29 T0008 expected the end of the statement, found a number | put the next statement on a line of its own"}},
      // Newlines inside brackets stay free.
      {"  let v = (1 +\n    2\n  + 3)\n  y[i +: 4] = x[i\n    +: 4] + v\n}", {}},
  };
  for (const Case &one : cases) {
    INFO(one.text);
    CHECK(diagnosticsOf(head + one.text, false) == one.expected);
  }
}

TEST_CASE("comparisons do not chain, and functions without a name stand alone (R2.5, R12.1)") {
  const std::string head = "kernel k(x: in f32[N], y: out f32[N]) grid (i in 0..N by 4) {\n";
  const Case cases[] = {
      {"  let v = 1 < 2 < 3\n}",
       {"2:17 T0006 expected one comparison, found a second | comparisons do not chain; write a < b and b < c"}},
      {"  let v = 1 < 2 and 2 < 3 or not 3 == 4\n}", {}},
      {"  let v = 1 + fn (a) => a\n}",
       {"2:15 T0004 expected an expression, found 'fn' | a function without a name is an "
        "expression of its own; put it in parentheses"}},
      {"  let f = fn (a) => a + 1\n  let g = (fn (a) => a)(2)\n}", {}},
  };
  for (const Case &one : cases) {
    INFO(one.text);
    CHECK(diagnosticsOf(head + one.text, false) == one.expected);
  }
  CHECK(diagnosticsOf("let a = 1; let b = 2;\n;\nfn f(x) => x;\n", false).empty()); // `;` ends a declaration too
}

TEST_CASE("nesting ends in an error, never in the stack") {
  for (const char *open : {"(", "[", "f(", "x[", "-", "not ", "if a { ", "fn (a) => "}) {
    std::string text = "kernel k(x: in f32[N]) grid (i in 0..N) { let v = ";
    for (int i = 0; i < 100000; ++i)
      text += open;
    std::vector<std::string> lines = diagnosticsOf(text, false);
    INFO(open);
    REQUIRE(!lines.empty());
    CHECK(lines[0].find("T0005 expected at most 200 levels of nesting") != std::string::npos);
  }
  std::string bytes;
  for (int i = 0; i < 4096; ++i)
    bytes += char(i * 37);
  CHECK(!diagnosticsOf(bytes, true).empty());
  CHECK(diagnosticsOf("", true).empty());
}

TEST_CASE("a tune block lists choices, each once") {
  const std::string kernel =
      "kernel k<T = f32, C: int, B = 4>(x: in T[R, C], y: out T[R, C]) grid (r in 0..R by B) { y[r, :] = x[r, :] }\n";
  const std::pair<const char *, const char *> cases[] = {
      {"tune k { C in [64, 128] }\n", "'C' is no choice: the arguments of 'k' bind it"},
      {"tune k { T in [f32, f16] }\n", "'T' is no choice: the arguments of 'k' bind it"},
      {"tune k { B in [1, 2], B = 4 }\n", "'B' is listed twice"},
      {"tune k { B in [1, 2] }\ntune k { warps in [4, 8] }\n", "'k' has a tune block already"}};
  for (auto &[text, message] : cases) {
    std::vector<Diagnostic> found;
    ast::File file = frontend::parse(kernel + text, "test.tile", found);
    REQUIRE(found.empty());
    frontend::checkNames(file, found);
    INFO(text);
    REQUIRE(found.size() == 1);
    CHECK(found[0].code == "T0104");
    CHECK(found[0].message == message);
    CHECK(found[0].place.line == (std::string(text).find("\ntune") == std::string::npos ? 2 : 3));
  }
  std::vector<Diagnostic> good;
  ast::File file = frontend::parse(kernel + "tune k { B in [1, 2], warps in [4, 8], stages = 2 }\n", "test.tile", good);
  frontend::checkNames(file, good);
  CHECK(good.empty());
}
