//===- Expr.h - launch-time expressions over dimensions and scalars ------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A kernel's grid, its `requires` conditions and the extents of its parameters are functions of dimension names and scalar
// arguments.  The launcher evaluates them before every launch and the compiler evaluates the same ones inside the kernel, so they
// are data: a small tree, written in text as an S-expression.
//
//     0..B by BM          lo = 0    hi = B    step = 128
//     ceildiv(K, 128)     (ceildiv K 128)
//     H % G == 0          (== (% H G) 0)
//     scale > 0.0         (> scale 0.0)
//
// Integer arithmetic is that of the language (language.md): 64 bits, `/` and `%` floor, x / 0 = 0, x % 0 = x, wraps.
// Operators: + - * / % ceildiv min max clamp neg  == != < <= > >=  and or not.
//
#ifndef TESSERA_RUNTIME_IMAGE_EXPR_H
#define TESSERA_RUNTIME_IMAGE_EXPR_H

#include "runtime/Support/Result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tessera {

/// The value of an Expr: an integer (booleans are 0 and 1) or a float.
using ExprValue = std::variant<int64_t, double>;

/// An immutable expression tree.  Leaves are integer or float constants or symbols; a node is an operator with its operands.
struct Expr {
  enum class Kind : uint8_t { Integer, Float, Symbol, Node };
  Kind kind = Kind::Integer;
  int64_t integer = 0;
  double real = 0;
  std::string name; ///< the symbol, or the operator of a Node ("+", "ceildiv", "and"...)
  std::vector<Expr> operands;

  static Expr constant(int64_t value);
  static Expr constant(double value);
  static Expr symbol(std::string name);
  /// A node, folded to a constant when all operands are integer constants.
  static Expr node(std::string op, std::vector<Expr> operands);

  bool isConstant() const { return kind == Kind::Integer; }
  bool operator==(const Expr &) const = default;

  /// The S-expression.  parse(print()) is the identity.
  std::string print() const;
  static Result<Expr> parse(std::string_view text);
  /// The form a person reads: `ceildiv(K, 128)`, `H % G == 0`.
  std::string pretty() const;

  /// Evaluates with `lookup` for symbols; an unknown symbol or a wrong operand count is Fault::Internal.
  Result<ExprValue> evaluate(const std::function<std::optional<ExprValue>(std::string_view)> &lookup) const;
};

/// The integer operators of the language, shared by evaluation and constant folding.
int64_t floorDivide(int64_t a, int64_t b);    ///< x / 0 = 0, MIN / -1 wraps
int64_t floorRemainder(int64_t a, int64_t b); ///< sign of the divisor, x % 0 = x
int64_t ceilDivide(int64_t a, int64_t b);     ///< exact for all signs, x / 0 = 0

} // namespace tessera
#endif // TESSERA_RUNTIME_IMAGE_EXPR_H
