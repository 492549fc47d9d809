//===- ExprTest.cpp - launch-time expressions ------------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Arithmetic against definitions in 128 bits (floor, ceiling and wrapping as the language's rules state them, computed another way),
// text round trips, and malformed text.
//
#include "runtime/Image/Expr.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <random>

using namespace tessera;

namespace {

using Wide = __int128;
constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();

int64_t wrap(Wide value) { return static_cast<int64_t>(static_cast<uint64_t>(value)); }

/// The largest q with q * b <= a (b > 0) or q * b >= a (b < 0), found by correction, not by the sign rules of the implementation.
Wide floorOf(Wide a, Wide b) {
  if (b < 0)
    return floorOf(-a, -b);
  Wide q = a / b;
  while (q * b > a)
    --q;
  return q;
}

int64_t evaluateInteger(const std::string &op, std::vector<int64_t> values) {
  Expr expr;
  expr.kind = Expr::Kind::Node; // not Expr::node: evaluation is under test, not folding
  expr.name = op;
  for (size_t i = 0; i < values.size(); ++i)
    expr.operands.push_back(Expr::symbol(std::string(1, static_cast<char>('a' + i))));
  Result<ExprValue> result = expr.evaluate(
      [&](std::string_view name) -> std::optional<ExprValue> { return ExprValue(values[name[0] - 'a']); });
  REQUIRE(result);
  REQUIRE(std::holds_alternative<int64_t>(*result));
  return std::get<int64_t>(*result);
}

std::vector<int64_t> interesting() {
  std::vector<int64_t> values = {kMin, kMin + 1, kMax, kMax - 1, 0,  1,   -1,   2,
                                 -2,   3,        -3,   7,        -7, 128, -128, int64_t(1) << 32};
  std::mt19937_64 engine(7);
  for (int i = 0; i < 16; ++i)
    values.push_back(static_cast<int64_t>(engine() >> (i * 4)));
  return values;
}

} // namespace

TEST_CASE("integer operators agree with 128-bit definitions and with folding") {
  for (int64_t a : interesting()) {
    for (int64_t b : interesting()) {
      Wide x = a, y = b;
      int64_t quotient = b == 0 ? 0 : wrap(floorOf(x, y));
      std::pair<const char *, int64_t> expected[] = {{"+", wrap(x + y)},
                                                     {"-", wrap(x - y)},
                                                     {"*", wrap(x * y)},
                                                     {"/", quotient},
                                                     {"%", b == 0 ? a : wrap(x - floorOf(x, y) * y)},
                                                     {"ceildiv", b == 0 ? 0 : wrap(-floorOf(-x, y))},
                                                     {"min", a < b ? a : b},
                                                     {"max", a < b ? b : a},
                                                     {"==", a == b},
                                                     {"!=", a != b},
                                                     {"<", a < b},
                                                     {"<=", a <= b},
                                                     {">", a > b},
                                                     {">=", a >= b},
                                                     {"and", a && b},
                                                     {"or", a || b}};
      for (auto [op, value] : expected) {
        INFO(op << " of " << a << " and " << b);
        CHECK(evaluateInteger(op, {a, b}) == value);
        CHECK(Expr::node(op, {Expr::constant(a), Expr::constant(b)}) == Expr::constant(value));
      }
    }
    CHECK(evaluateInteger("neg", {a}) == wrap(-Wide(a)));
    CHECK(evaluateInteger("not", {a}) == (a == 0));
  }
  CHECK(evaluateInteger("clamp", {5, 0, 3}) == 3);
  CHECK(evaluateInteger("clamp", {-5, 0, 3}) == 0);
  CHECK(evaluateInteger("clamp", {2, 5, 3}) == 3); // min(max(2, 5), 3)
}

TEST_CASE("float operators follow the language") {
  auto run = [](const std::string &text, double a, double b) {
    Result<Expr> expr = Expr::parse(text);
    REQUIRE(expr);
    Result<ExprValue> value = expr->evaluate(
        [&](std::string_view name) -> std::optional<ExprValue> { return ExprValue(name == "a" ? a : b); });
    REQUIRE(value);
    return *value;
  };
  CHECK(std::get<double>(run("(/ a b)", 1, 4)) == 0.25);
  CHECK(std::isinf(std::get<double>(run("(/ a b)", 1, 0))));
  CHECK(std::get<double>(run("(% a b)", -7, 3)) == 2);
  double nan = std::nan("");
  for (const char *op : {"(min a b)", "(max a b)"}) {
    CHECK(std::isnan(std::get<double>(run(op, nan, 1))));
    CHECK(std::isnan(std::get<double>(run(op, 1, nan))));
  }
  CHECK(std::signbit(std::get<double>(run("(min a b)", 0.0, -0.0))));
  CHECK_FALSE(std::signbit(std::get<double>(run("(max a b)", -0.0, 0.0))));
  CHECK(std::signbit(std::get<double>(run("(neg a)", 0.0, 0))));
  CHECK(std::get<int64_t>(run("(> a 0.0)", 0.125, 0)) == 1);
  CHECK(std::get<int64_t>(run("(< a b)", nan, 1)) == 0);
  CHECK(std::get<int64_t>(run("(!= a b)", nan, nan)) == 1);
}

TEST_CASE("text round trips and reads well") {
  std::pair<const char *, const char *> cases[] = {
      {"(ceildiv K 128)", "ceildiv(K, 128)"},
      {"(== (% H G) 0)", "H % G == 0"},
      {"(> scale 0.0)", "scale > 0.0"},
      {"(- a (- b c))", "a - (b - c)"},
      {"(- (- a b) c)", "a - b - c"},
      {"(* (+ a 1) b)", "(a + 1) * b"},
      {"(not (and a (or b c)))", "not (a and (b or c))"},
      {"(neg (+ a 1))", "-(a + 1)"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"#-inf", "-inf"},
      {"(min x 1e-300 #inf)", "min(x, 1e-300, inf)"},
      {"(== (< a b) (< c d))", "(a < b) == (c < d)"},
  };
  for (auto [text, pretty] : cases) {
    Result<Expr> expr = Expr::parse(text);
    INFO(text);
    REQUIRE(expr);
    CHECK(expr->print() == text);
    CHECK(expr->pretty() == pretty);
    CHECK(*Expr::parse(expr->print()) == *expr);
  }
  for (double value : {0.1, 1e300, 5e-324, -0.0, 3.0}) {
    Expr expr = Expr::constant(value);
    REQUIRE(Expr::parse(expr.print()));
    CHECK(*Expr::parse(expr.print()) == expr);
  }
}

TEST_CASE("folding needs integer constants only") {
  CHECK(Expr::node("+", {Expr::constant(int64_t(2)), Expr::constant(int64_t(3))}).isConstant());
  CHECK_FALSE(Expr::node("+", {Expr::symbol("N"), Expr::constant(int64_t(3))}).isConstant());
  CHECK_FALSE(Expr::node("+", {Expr::constant(1.0), Expr::constant(int64_t(3))}).isConstant());
  CHECK_FALSE(
      Expr::node("%", {Expr::constant(int64_t(3))}).isConstant()); // wrong count: kept, and an error when evaluated
}

TEST_CASE("what cannot be evaluated is an internal error") {
  auto nothing = [](std::string_view) -> std::optional<ExprValue> { return std::nullopt; };
  Result<ExprValue> unknown = Expr::symbol("N").evaluate(nothing);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().fault == Fault::Internal);
  CHECK(unknown.error().message == "nothing gives a value to 'N'");
  Result<ExprValue> count = Expr::node("%", {Expr::constant(int64_t(3))}).evaluate(nothing);
  REQUIRE_FALSE(count);
  CHECK(count.error().message == "operator '%' does not take 1 operands");
  Expr deep = Expr::symbol("N");
  for (int i = 0; i < 1000; ++i)
    deep = Expr::node("neg", {deep});
  CHECK_FALSE(deep.evaluate(nothing));
}

TEST_CASE("malformed text is refused") {
  for (const char *text : {"", " ", "(", ")", "()", "(+ 1 2", "(+ 1)", "(foo 1 2)", "1 2", "(+ 1 2))", "12abc",
                           "99999999999999999999", "-", "a,b", "\"x\"", "#foo", "(not 1 2)", "(clamp 1 2)"}) {
    INFO(text);
    Result<Expr> expr = Expr::parse(text);
    REQUIRE_FALSE(expr);
    CHECK(expr.error().fault == Fault::Program);
    CHECK_FALSE(expr.error().message.empty());
  }
  CHECK_FALSE(Expr::parse(std::string(1000000, '(')));
  std::string nested;
  for (int i = 0; i < 100000; ++i)
    nested += "(neg ";
  CHECK_FALSE(Expr::parse(nested));
}
