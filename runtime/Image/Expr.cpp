//===- Expr.cpp - launch-time expressions over dimensions and scalars ----------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Construction with folding, the S-expression in both directions, the form for people, and evaluation.  Text may come from a damaged
// file, so parsing bounds its depth and its size; evaluation wraps in unsigned arithmetic and has no undefined case.
//
#include "runtime/Image/Expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace tessera {
namespace {

/// Deeper trees are refused: every recursion below is bounded by it.
constexpr int kMaxDepth = 256;

/// An operator: how many operands it takes and how a person writes it (Python's binding strength; 0 is a call).
struct Operator {
  std::string_view name;
  int minOperands, maxOperands;
  int strength;
};

constexpr int kAny = std::numeric_limits<int>::max();
constexpr int kOr = 1, kAnd = 2, kNot = 3, kCompare = 4, kSum = 5, kProduct = 6, kUnary = 7;

constexpr std::array<Operator, 18> kOperators = {{
    {"+", 2, kAny, kSum},
    {"-", 2, 2, kSum},
    {"*", 2, kAny, kProduct},
    {"/", 2, 2, kProduct},
    {"%", 2, 2, kProduct},
    {"ceildiv", 2, 2, 0},
    {"min", 2, kAny, 0},
    {"max", 2, kAny, 0},
    {"clamp", 3, 3, 0},
    {"neg", 1, 1, kUnary},
    {"==", 2, 2, kCompare},
    {"!=", 2, 2, kCompare},
    {"<", 2, 2, kCompare},
    {"<=", 2, 2, kCompare},
    {">", 2, 2, kCompare},
    {">=", 2, 2, kCompare},
    {"and", 2, kAny, kAnd},
    {"or", 2, kAny, kOr},
}};
constexpr Operator kNotOperator{"not", 1, 1, kNot};

const Operator *findOperator(std::string_view name) {
  if (name == kNotOperator.name)
    return &kNotOperator;
  for (const Operator &op : kOperators)
    if (op.name == name)
      return &op;
  return nullptr;
}

bool takes(const Operator &op, size_t operands) {
  return operands >= static_cast<size_t>(op.minOperands) && operands <= static_cast<size_t>(op.maxOperands);
}

int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }
uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }

/// One binary step on integers; `name` is known to be an operator of two operands.
int64_t applyIntegers(std::string_view name, int64_t a, int64_t b) {
  if (name == "+")
    return wrap(bits(a) + bits(b));
  if (name == "-")
    return wrap(bits(a) - bits(b));
  if (name == "*")
    return wrap(bits(a) * bits(b));
  if (name == "/")
    return floorDivide(a, b);
  if (name == "%")
    return floorRemainder(a, b);
  if (name == "ceildiv")
    return ceilDivide(a, b);
  if (name == "min")
    return std::min(a, b);
  if (name == "max")
    return std::max(a, b);
  if (name == "==")
    return a == b;
  if (name == "!=")
    return a != b;
  if (name == "<")
    return a < b;
  if (name == "<=")
    return a <= b;
  if (name == ">")
    return a > b;
  if (name == ">=")
    return a >= b;
  if (name == "and")
    return a != 0 && b != 0;
  return a != 0 || b != 0;
}

/// min and max propagate NaN and order -0 below +0 (language rule (c)).
double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
double maximum(double a, double b) { return -minimum(-a, -b); }

ExprValue applyFloats(std::string_view name, double a, double b) {
  if (name == "+")
    return a + b;
  if (name == "-")
    return a - b;
  if (name == "*")
    return a * b;
  if (name == "/")
    return a / b;
  if (name == "%")
    return a - std::floor(a / b) * b;
  if (name == "ceildiv")
    return std::ceil(a / b);
  if (name == "min")
    return minimum(a, b);
  if (name == "max")
    return maximum(a, b);
  if (name == "==")
    return int64_t(a == b);
  if (name == "!=")
    return int64_t(a != b);
  if (name == "<")
    return int64_t(a < b);
  if (name == "<=")
    return int64_t(a <= b);
  if (name == ">")
    return int64_t(a > b);
  if (name == ">=")
    return int64_t(a >= b);
  if (name == "and")
    return int64_t(a != 0 && b != 0);
  return int64_t(a != 0 || b != 0);
}

double asReal(const ExprValue &value) {
  if (const int64_t *integer = std::get_if<int64_t>(&value))
    return static_cast<double>(*integer);
  return *std::get_if<double>(&value);
}

ExprValue applyBinary(std::string_view name, const ExprValue &a, const ExprValue &b) {
  const int64_t *x = std::get_if<int64_t>(&a), *y = std::get_if<int64_t>(&b);
  if (x && y)
    return applyIntegers(name, *x, *y);
  return applyFloats(name, asReal(a), asReal(b));
}

/// Applies an operator that takes `values.size()` operands.
ExprValue applyOperator(std::string_view name, const std::vector<ExprValue> &values) {
  if (name == "neg")
    return applyBinary("-", std::holds_alternative<double>(values[0]) ? ExprValue(-0.0) : ExprValue(int64_t(0)),
                       values[0]);
  if (name == "not")
    return int64_t(asReal(values[0]) == 0);
  if (name == "clamp")
    return applyBinary("min", applyBinary("max", values[0], values[1]), values[2]);
  ExprValue result = values[0];
  for (size_t i = 1; i < values.size(); ++i)
    result = applyBinary(name, result, values[i]);
  return result;
}

std::string printReal(double value) {
  if (std::isnan(value))
    return "#nan";
  if (std::isinf(value))
    return value < 0 ? "#-inf" : "#inf";
  std::string text = fmt::format("{}", value); // the shortest text that reads back to the same value
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text;
}

bool isNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// Recursive descent over the S-expression; every failure says at which byte.
class Parser {
public:
  explicit Parser(std::string_view text) : text(text) {}

  Result<Expr> whole() {
    Result<Expr> result = expression(0);
    if (!result)
      return result;
    skipSpace();
    if (at != text.size())
      return fail("text after the end of the expression");
    return result;
  }

private:
  Error fail(std::string_view what) const {
    return Error{Fault::Program, fmt::format("malformed expression at byte {}: {}", at, what), "", "T0630"};
  }

  void skipSpace() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t'))
      ++at;
  }

  std::string_view token() {
    size_t begin = at;
    while (at < text.size() && text[at] != ' ' && text[at] != '\n' && text[at] != '\t' && text[at] != '(' &&
           text[at] != ')')
      ++at;
    return text.substr(begin, at - begin);
  }

  Result<Expr> expression(int depth) {
    if (depth > kMaxDepth)
      return fail(fmt::format("nested deeper than {}", kMaxDepth));
    skipSpace();
    if (at == text.size())
      return fail("unexpected end");
    if (text[at] == '(')
      return list(depth);
    if (text[at] == ')')
      return fail("unexpected ')'");
    return atom(token());
  }

  Result<Expr> list(int depth) {
    ++at;
    skipSpace();
    std::string_view name = token();
    const Operator *op = findOperator(name);
    if (!op)
      return fail(fmt::format("unknown operator '{}'", name));
    Expr result;
    result.kind = Expr::Kind::Node;
    result.name = std::string(name);
    for (skipSpace(); at < text.size() && text[at] != ')'; skipSpace()) {
      Result<Expr> operand = expression(depth + 1);
      if (!operand)
        return operand;
      result.operands.push_back(*std::move(operand));
    }
    if (at == text.size())
      return fail("missing ')'");
    ++at;
    if (!takes(*op, result.operands.size()))
      return fail(fmt::format("operator '{}' does not take {} operands", name, result.operands.size()));
    return result;
  }

  Result<Expr> atom(std::string_view word) {
    if (word == "#nan")
      return Expr::constant(std::numeric_limits<double>::quiet_NaN());
    if (word == "#inf" || word == "#-inf")
      return Expr::constant(word == "#inf" ? HUGE_VAL : -HUGE_VAL);
    bool number = (word[0] >= '0' && word[0] <= '9') || (word[0] == '-' && word.size() > 1);
    if (!number) {
      if (!std::all_of(word.begin(), word.end(), isNameByte))
        return fail(fmt::format("'{}' is neither a number nor a name", word));
      return Expr::symbol(std::string(word));
    }
    const char *begin = word.data(), *end = word.data() + word.size();
    int64_t integer = 0;
    if (auto [stop, status] = std::from_chars(begin, end, integer); status == std::errc() && stop == end)
      return Expr::constant(integer);
    // Only a point or an exponent makes a float: a long integer is an error, not a rounded number.
    double real = 0;
    if (word.find_first_of(".e") != std::string_view::npos)
      if (auto [stop, status] = std::from_chars(begin, end, real); status == std::errc() && stop == end)
        return Expr::constant(real);
    return fail(fmt::format("'{}' is not a number in range", word));
  }

  std::string_view text;
  size_t at = 0;
};

std::string prettyAt(const Expr &expr, int strength, int depth) {
  if (depth > kMaxDepth)
    return "...";
  switch (expr.kind) {
  case Expr::Kind::Integer: {
    std::string text = fmt::format("{}", expr.integer);
    return expr.integer < 0 && strength > kUnary ? "(" + text + ")" : text;
  }
  case Expr::Kind::Float: {
    std::string text = printReal(expr.real);
    if (text[0] == '#')
      text.erase(0, 1);
    return text;
  }
  case Expr::Kind::Symbol:
    return expr.name;
  case Expr::Kind::Node:
    break;
  }
  const Operator *op = findOperator(expr.name);
  std::string text;
  if (!op || op->strength == 0 || !takes(*op, expr.operands.size())) {
    for (const Expr &operand : expr.operands)
      text += (text.empty() ? "" : ", ") + prettyAt(operand, 0, depth + 1);
    return expr.name + "(" + text + ")";
  }
  if (op->maxOperands == 1) {
    text = (expr.name == "neg" ? "-" : "not ") + prettyAt(expr.operands[0], op->strength, depth + 1);
  } else {
    // Operators of equal strength group to the left; comparisons do not chain, so both of their sides bind tighter.
    for (size_t i = 0; i < expr.operands.size(); ++i) {
      bool tighter = i > 0 || op->strength == kCompare;
      text +=
          (i ? " " + expr.name + " " : "") + prettyAt(expr.operands[i], op->strength + (tighter ? 1 : 0), depth + 1);
    }
  }
  return op->strength < strength ? "(" + text + ")" : text;
}

Result<ExprValue> evaluateAt(const Expr &expr, const std::function<std::optional<ExprValue>(std::string_view)> &lookup,
                             int depth) {
  if (depth > kMaxDepth)
    return Error{Fault::Internal, fmt::format("expression nested deeper than {}", kMaxDepth), "", ""};
  switch (expr.kind) {
  case Expr::Kind::Integer:
    return ExprValue(expr.integer);
  case Expr::Kind::Float:
    return ExprValue(expr.real);
  case Expr::Kind::Symbol:
    if (std::optional<ExprValue> value = lookup(expr.name))
      return *value;
    return Error{Fault::Internal, fmt::format("nothing gives a value to '{}'", expr.name), "", ""};
  case Expr::Kind::Node:
    break;
  }
  const Operator *op = findOperator(expr.name);
  if (!op || !takes(*op, expr.operands.size()))
    return Error{Fault::Internal,
                 fmt::format("operator '{}' does not take {} operands", expr.name, expr.operands.size()), "", ""};
  std::vector<ExprValue> values;
  values.reserve(expr.operands.size());
  for (const Expr &operand : expr.operands) {
    Result<ExprValue> value = evaluateAt(operand, lookup, depth + 1);
    if (!value)
      return value;
    values.push_back(*value);
  }
  return applyOperator(expr.name, values);
}

} // namespace

int64_t floorDivide(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  if (b == -1)
    return wrap(-bits(a)); // MIN / -1 would trap
  int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

int64_t floorRemainder(int64_t a, int64_t b) {
  if (b == 0)
    return a;
  if (b == -1)
    return 0;
  int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

int64_t ceilDivide(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  if (b == -1)
    return wrap(-bits(a));
  int64_t quotient = a / b;
  return quotient + (a % b != 0 && (a < 0) == (b < 0));
}

Expr Expr::constant(int64_t value) {
  Expr result;
  result.integer = value;
  return result;
}

Expr Expr::constant(double value) {
  Expr result;
  result.kind = Kind::Float;
  result.real = value;
  return result;
}

Expr Expr::symbol(std::string name) {
  Expr result;
  result.kind = Kind::Symbol;
  result.name = std::move(name);
  return result;
}

Expr Expr::node(std::string op, std::vector<Expr> operands) {
  const Operator *known = findOperator(op);
  if (known && takes(*known, operands.size()) &&
      std::all_of(operands.begin(), operands.end(), [](const Expr &operand) { return operand.isConstant(); })) {
    std::vector<ExprValue> values;
    for (const Expr &operand : operands)
      values.push_back(operand.integer);
    return constant(*std::get_if<int64_t>(&static_cast<const ExprValue &>(applyOperator(op, values))));
  }
  Expr result;
  result.kind = Kind::Node;
  result.name = std::move(op);
  result.operands = std::move(operands);
  return result;
}

std::string Expr::print() const {
  switch (kind) {
  case Kind::Integer:
    return fmt::format("{}", integer);
  case Kind::Float:
    return printReal(real);
  case Kind::Symbol:
    return name;
  case Kind::Node:
    break;
  }
  std::string text = "(" + name;
  for (const Expr &operand : operands)
    text += " " + operand.print();
  return text + ")";
}

Result<Expr> Expr::parse(std::string_view text) { return Parser(text).whole(); }

std::string Expr::pretty() const { return prettyAt(*this, 0, 0); }

Result<ExprValue> Expr::evaluate(const std::function<std::optional<ExprValue>(std::string_view)> &lookup) const {
  return evaluateAt(*this, lookup, 0);
}

} // namespace tessera
