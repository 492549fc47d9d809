//===- References.cpp - what elementwise operations must give --------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Integers in 128 bits; f32 and f64 arithmetic by the machine's own IEEE operations; functions in long double, with the error that the table allows.
//
#include "tests/conformance/References.h"

#include <cmath>
#include <functional>
#include <limits>
#include <map>

namespace tessera::conformance {
namespace {

constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

Wide floorDivide(Wide a, Wide b) {
  if (b == 0)
    return 0;
  Wide q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

uint64_t wholeResult(const std::string &op, DType type, uint64_t x, uint64_t y, uint64_t z) {
  Wide a = wideOf(type, x), b = wideOf(type, y), c = wideOf(type, z);
  Wide width = widthOf(type);
  if (op == "add")
    return wrap(type, a + b);
  if (op == "sub")
    return wrap(type, a - b);
  if (op == "mul")
    return (x * y) & maskOf(type);
  if (op == "fma")
    return (x * y + z) & maskOf(type);
  if (op == "div")
    return wrap(type, floorDivide(a, b));
  if (op == "rem")
    return wrap(type, b == 0 ? a : a - floorDivide(a, b) * b);
  if (op == "ceildiv")
    return wrap(type, -floorDivide(-a, b));
  if (op == "neg")
    return wrap(type, -a);
  if (op == "abs")
    return wrap(type, a < 0 ? -a : a);
  if (op == "bit_and" || op == "logical_and")
    return x & y;
  if (op == "bit_or" || op == "logical_or")
    return x | y;
  if (op == "bit_xor")
    return x ^ y;
  if (op == "bit_not" || op == "logical_not")
    return ~x & maskOf(type);
  if (op == "shl")
    return b < 0 || b >= width ? 0 : (x << unsigned(b)) & maskOf(type);
  if (op == "shr")
    return wrap(type, b < 0 || b >= width ? (a < 0 ? -1 : 0) : a >> unsigned(b));
  if (op == "clamp") {
    Wide low = a < b ? b : a;
    return wrap(type, low > c ? c : low);
  }
  return wrap(type, (op.substr(0, 3) == "max") == (a > b) ? a : b);
}

/// One operation of IEEE 754 in the type itself; narrow types from exact or nearly exact values, rounded once.
template <typename Float>
Real arithmetic(const std::string &op, Float a, Float b, Float c) {
  volatile Float r = 0;
  if (op == "add")
    r = a + b;
  else if (op == "sub")
    r = a - b;
  else if (op == "mul")
    r = a * b;
  else if (op == "div")
    r = a / b;
  else if (op == "sqrt")
    r = std::sqrt(a);
  else if (op == "fma")
    r = std::fma(a, b, c);
  return r;
}

Real roundHalfEven(Real x) {
  Real below = std::floor(x), rest = x - below;
  Real result = rest > 0.5L || (rest == 0.5L && std::fmod(below, 2) != 0) ? below + 1 : below;
  return std::copysign(result, x);
}

using Function = Real (*)(Real, Real);
const std::map<std::string, Function> &functions() {
  static const std::map<std::string, Function> kFunctions = {
      {"exp", [](Real a, Real) { return std::exp(a); }},        {"exp2", [](Real a, Real) { return std::exp2(a); }},
      {"log", [](Real a, Real) { return std::log(a); }},        {"log2", [](Real a, Real) { return std::log2(a); }},
      {"sin", [](Real a, Real) { return std::sin(a); }},        {"cos", [](Real a, Real) { return std::cos(a); }},
      {"tanh", [](Real a, Real) { return std::tanh(a); }},      {"erf", [](Real a, Real) { return std::erf(a); }},
      {"expm1", [](Real a, Real) { return std::expm1(a); }},    {"log1p", [](Real a, Real) { return std::log1p(a); }},
      {"rsqrt", [](Real a, Real) { return 1 / std::sqrt(a); }}, {"pow", [](Real a, Real b) { return std::pow(a, b); }},
  };
  return kFunctions;
}

/// The results that the error bound allows around the exact one.
Want allowed(DType type, Real exact, double ulp) {
  DType computed = type == DType::F64 ? DType::F64 : DType::F32;
  if (std::isnan(exact) || std::isinf(exact) || exact == 0)
    return Want::exactly(bitsOf(type, exact));
  Real error = ulpOf(computed, exact) * Real(ulp);
  Real low = exact - error, high = exact + error;
  if (type != computed) // one more rounding, which is monotone
    low = realOf(type, bitsOf(type, low)), high = realOf(type, bitsOf(type, high));
  Real largest =
      computed == DType::F64 ? Real(std::numeric_limits<double>::max()) : Real(std::numeric_limits<float>::max());
  Want want = Want::between(low < -largest ? -kInfinity : low, high > largest ? kInfinity : high);
  want.mayBeZero = std::fabs(exact) < (computed == DType::F64 ? 0x1p-1022L : 0x1p-126L) + 2 * error;
  return want;
}

} // namespace

uint64_t extremum(DType type, bool isMax, bool skipsNan, uint64_t a, uint64_t b) {
  if (!isFloat(type))
    return (wideOf(type, a) < wideOf(type, b)) == isMax ? b : a;
  if (isNan(type, a) || isNan(type, b))
    return isNan(type, a) == skipsNan ? b : a;
  Real x = realOf(type, a), y = realOf(type, b);
  if (x == y)
    return std::signbit(x) == isMax ? b : a;
  return (x < y) == isMax ? b : a;
}

bool hasReference(const std::string &operation) {
  for (const char *name :
       {"add", "sub", "mul",         "div",        "rem",         "neg",     "ceildiv", "fma",     "abs",
        "max", "min", "maxnum",      "minnum",     "clamp",       "eq",      "ne",      "lt",      "le",
        "gt",  "ge",  "logical_and", "logical_or", "logical_not", "bit_and", "bit_or",  "bit_xor", "bit_not",
        "shl", "shr", "where",       "sqrt",       "floor",       "ceil",    "round",   "trunc"})
    if (operation == name)
      return true;
  return functions().count(operation) != 0;
}

Want reference(const std::string &op, DType type, uint64_t x, uint64_t y, uint64_t z, double ulp) {
  Real a = realOf(type, x), b = realOf(type, y), c = realOf(type, z);
  if (op == "eq" || op == "ne" || op == "lt" || op == "le" || op == "gt" || op == "ge") {
    bool less = a<b, equal = a == b, more = a> b; // all false with NaN
    return Want::exactly(op == "eq"   ? equal
                         : op == "ne" ? !equal
                         : op == "lt" ? less
                         : op == "le" ? less || equal
                         : op == "gt" ? more
                                      : more || equal);
  }
  if (!isFloat(type))
    return Want::exactly(wholeResult(op, type, x, y, z));
  if (op == "max" || op == "min" || op == "maxnum" || op == "minnum")
    return Want::exactly(extremum(type, op[1] == 'a', op.size() > 3, x, y));
  if (op == "clamp")
    return Want::exactly(extremum(type, false, false, extremum(type, true, false, x, y), z));
  if (op == "neg")
    return Want::exactly(bitsOf(type, -a));
  if (op == "abs")
    return Want::exactly(bitsOf(type, std::fabs(a)));
  if (op == "floor" || op == "ceil" || op == "trunc" || op == "round")
    return Want::exactly(bitsOf(type, std::isfinite(a) ? op == "floor"   ? std::floor(a)
                                                         : op == "ceil"  ? std::ceil(a)
                                                         : op == "trunc" ? std::trunc(a)
                                                                         : roundHalfEven(a)
                                                       : a));
  if (auto function = functions().find(op); function != functions().end()) {
    Want want = allowed(type, function->second(a, b), ulp);
    return want;
  }
  if (type == DType::F64)
    return Want::exactly(bitsOf(type, arithmetic<double>(op, double(a), double(b), double(c))));
  if (type == DType::F32)
    return Want::exactly(bitsOf(type, arithmetic<float>(op, float(a), float(b), float(c))));
  if (op == "fma") // in f32, then rounded to the narrow type
    return Want::exactly(bitsOf(type, arithmetic<float>(op, float(a), float(b), float(c))));
  return Want::exactly(bitsOf(type, arithmetic<double>(op, double(a), double(b), double(c))));
}

uint64_t converted(DType from, uint64_t bits, DType to, bool saturate, bool ieee) {
  if (from == to)
    return bits;
  if (to == DType::Bool)
    return isFloat(from) ? realOf(from, bits) != 0 : bits != 0;
  if (isWhole(to)) {
    Wide least = isSignedInteger(to) ? -(Wide(1) << (widthOf(to) - 1)) : 0, most = least + Wide(maskOf(to));
    if (!isFloat(from)) {
      Wide value = wideOf(from, bits);
      return wrap(to, saturate ? (value < least ? least : value > most ? most : value) : value);
    }
    Real value = std::trunc(realOf(from, bits));
    if (std::isnan(value))
      return 0;
    return wrap(to, value <= Real(least) ? least : value >= Real(most) ? most : Wide(value));
  }
  Real value = realOf(from, bits);
  if (ieee && std::isfinite(value)) {
    // Overflow is decided after rounding: past the largest number by half a unit or more, ties away since the largest is odd (e5m2) or even (e4m3).
    Real limit = to == DType::F8E4M3 ? 464 : 61440;
    bool over = to == DType::F8E4M3 ? std::fabs(value) > limit : std::fabs(value) >= limit;
    if (!over)
      return bitsOf(to, value);
  }
  if (ieee && !std::isnan(value))
    return to == DType::F8E4M3 ? (std::signbit(value) ? 0xff : 0x7f) : (std::signbit(value) ? 0xfc : 0x7c);
  return bitsOf(to, value);
}

} // namespace tessera::conformance
