//===- Element.cpp - the arithmetic of the language on single elements ------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "tests/fuzz/programs/Element.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace tessera::fuzz {
namespace {

/// Significant bits, the exponent of the least normal number, the largest number, and the width of the exponent in memory.
struct Format {
  int precision, leastExponent;
  double largest;
  int exponentBits;
};

Format formatOf(DType type) {
  switch (type) {
  case DType::F16:
    return {11, -14, 65504.0, 5};
  case DType::BF16:
    return {8, -126, 0x1.fep127, 8};
  case DType::F8E4M3:
    return {4, -6, 448.0, 4};
  case DType::F8E5M2:
    return {3, -14, 57344.0, 5};
  case DType::F32:
    return {24, -126, std::numeric_limits<float>::max(), 8};
  default:
    return {53, -1022, std::numeric_limits<double>::max(), 11};
  }
}

bool isUnsigned(DType type) { return isUnsignedInteger(type) || type == DType::Bool; }

bool less(DType type, Element a, Element b) {
  if (isFloat(type))
    return a.number < b.number;
  return isUnsigned(type) ? uint64_t(a.integer) < uint64_t(b.integer) : a.integer < b.integer;
}

int64_t floorDivide(DType type, int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  if (isUnsigned(type))
    return int64_t(uint64_t(a) / uint64_t(b));
  if (b == -1)
    return wrapTo(int64_t(0 - uint64_t(a)), type);
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

int64_t floorRemainder(DType type, int64_t a, int64_t b) {
  return b == 0 ? a : wrapTo(int64_t(uint64_t(a) - uint64_t(floorDivide(type, a, b)) * uint64_t(b)), type);
}

Element integerOp(Op op, DType type, int64_t a, int64_t b) {
  auto wrapped = [&](uint64_t value) { return ofInteger(wrapTo(int64_t(value), type)); };
  switch (op) {
  case Op::Neg:
    return wrapped(0 - uint64_t(a));
  case Op::Complement:
    return wrapped(~uint64_t(a));
  case Op::Not:
    return ofInteger(!a);
  case Op::Abs:
    return !isUnsigned(type) && a < 0 ? wrapped(0 - uint64_t(a)) : ofInteger(a);
  case Op::Add:
    return wrapped(uint64_t(a) + uint64_t(b));
  case Op::Sub:
    return wrapped(uint64_t(a) - uint64_t(b));
  case Op::Mul:
    return wrapped(uint64_t(a) * uint64_t(b));
  case Op::Div:
    return ofInteger(floorDivide(type, a, b));
  case Op::Rem:
    return ofInteger(floorRemainder(type, a, b));
  case Op::CeilDiv: // up: one more than down, unless it comes out even
    return b == 0 ? ofInteger(0)
                  : wrapped(uint64_t(floorDivide(type, a, b)) + (floorRemainder(type, a, b) != 0 ? 1 : 0));
  case Op::BitAnd:
    return ofInteger(a & b);
  case Op::BitOr:
    return ofInteger(a | b);
  case Op::BitXor:
    return ofInteger(a ^ b);
  case Op::Min:
  case Op::MinNum:
    return less(type, ofInteger(b), ofInteger(a)) ? ofInteger(b) : ofInteger(a);
  case Op::Max:
  case Op::MaxNum:
    return less(type, ofInteger(a), ofInteger(b)) ? ofInteger(b) : ofInteger(a);
  default:
    return ofInteger(a);
  }
}

double extremum(bool isMax, bool skipNan, double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return skipNan ? (std::isnan(a) ? b : a) : std::numeric_limits<double>::quiet_NaN();
  if (a == b) // zeros: -0 below +0
    return std::signbit(a) == isMax ? b : a;
  return (a < b) == isMax ? b : a;
}

/// In double for f64, else in f32; both are the machine's own operations.
template <typename T>
T floatOp(Op op, T a, T b) {
  switch (op) {
  case Op::Neg:
    return -a;
  case Op::Abs:
    return std::fabs(a);
  case Op::Floor:
    return std::floor(a);
  case Op::Ceil:
    return std::ceil(a);
  case Op::Round:
    return std::nearbyint(a);
  case Op::Trunc:
    return std::trunc(a);
  case Op::Sqrt:
    return std::sqrt(a);
  case Op::Add:
    return a + b;
  case Op::Sub:
    return a - b;
  case Op::Mul:
    return a * b;
  case Op::Div:
    return a / b;
  case Op::Min:
  case Op::Max:
  case Op::MinNum:
  case Op::MaxNum:
    return T(extremum(op == Op::Max || op == Op::MaxNum, op == Op::MinNum || op == Op::MaxNum, a, b));
  default:
    return a;
  }
}

} // namespace

bool isFp8(DType type) { return type == DType::F8E4M3 || type == DType::F8E5M2; }
bool isHalf(DType type) { return type == DType::F16 || type == DType::BF16; }
bool isInteger(DType type) { return isSignedInteger(type) || isUnsignedInteger(type); }
int bitsOf(DType type) { return type == DType::Bool ? 1 : sizeOf(type) * 8; }

DType sumTypeOf(DType type) {
  if (isFloat(type))
    return type == DType::F64 ? DType::F64 : DType::F32;
  if (bitsOf(type) == 64)
    return type;
  return isUnsignedInteger(type) ? DType::U32 : DType::I32;
}

int64_t leastOf(DType type) { return isUnsigned(type) ? 0 : int64_t(~uint64_t(0) << (bitsOf(type) - 1)); }
int64_t largestOf(DType type) {
  if (isUnsigned(type))
    return int64_t(~uint64_t(0) >> (64 - bitsOf(type)));
  return int64_t(~uint64_t(0) >> (65 - bitsOf(type)));
}

double roundTo(long double value, DType type, bool ieee) {
  Format format = formatOf(type);
  long double rounded = value;
  if (value != 0 && std::isfinite(value)) {
    int exponent = 0;
    (void)std::frexp(value, &exponent); // value is in [0.5, 1) * 2^exponent
    int quantum = std::max(exponent - 1, format.leastExponent) - (format.precision - 1);
    rounded = std::ldexp(std::nearbyint(std::ldexp(value, -quantum)), quantum);
  }
  if (!(std::fabs(rounded) > format.largest)) // NaN too
    return double(rounded);
  double sign = std::signbit(value) ? -1.0 : 1.0;
  if (isFp8(type) && !ieee)
    return sign * format.largest;
  return type == DType::F8E4M3 ? std::numeric_limits<double>::quiet_NaN()
                               : sign * std::numeric_limits<double>::infinity();
}

int64_t wrapTo(int64_t value, DType type) {
  if (type == DType::Bool)
    return value & 1;
  int unused = 64 - bitsOf(type);
  return isUnsigned(type) ? int64_t(uint64_t(value) << unused >> unused) : int64_t(uint64_t(value) << unused) >> unused;
}

Element convert(Element value, DType from, DType to, bool saturate, bool ieee) {
  if (from == to)
    return value;
  if (to == DType::Bool)
    return ofInteger(isFloat(from) ? !(value.number == 0) : value.integer != 0);
  if (isFloat(from)) {
    if (isFloat(to))
      return ofNumber(roundTo(value.number, to, ieee));
    if (std::isnan(value.number))
      return ofInteger(0);
    long double whole = std::trunc(static_cast<long double>(value.number));
    long double low = isUnsigned(to) ? 0.0L : static_cast<long double>(leastOf(to));
    long double high =
        isUnsigned(to) ? static_cast<long double>(uint64_t(largestOf(to))) : static_cast<long double>(largestOf(to));
    if (whole <= low)
      return ofInteger(leastOf(to));
    if (whole >= high)
      return ofInteger(largestOf(to));
    return ofInteger(isUnsigned(to) ? int64_t(uint64_t(whole)) : int64_t(whole));
  }
  if (isFloat(to))
    return ofNumber(roundTo(isUnsigned(from) ? static_cast<long double>(uint64_t(value.integer))
                                             : static_cast<long double>(value.integer),
                            to, ieee));
  if (!saturate)
    return ofInteger(wrapTo(value.integer, to));
  bool below = !isUnsigned(from) && value.integer < 0;
  if (below)
    return ofInteger(isUnsigned(to) ? 0 : std::max(value.integer, leastOf(to)));
  return ofInteger(uint64_t(value.integer) > uint64_t(largestOf(to)) ? largestOf(to) : value.integer);
}

bool isComparison(Op op) { return op >= Op::Eq; }

Element apply(Op op, DType type, Element a, Element b) {
  if (isComparison(op)) {
    bool unordered = isFloat(type) && (std::isnan(a.number) || std::isnan(b.number));
    bool below = less(type, a, b), above = less(type, b, a);
    switch (op) {
    case Op::Eq:
      return ofInteger(!unordered && !below && !above);
    case Op::Ne:
      return ofInteger(unordered || below || above);
    case Op::Lt:
      return ofInteger(!unordered && below);
    case Op::Le:
      return ofInteger(!unordered && !above);
    case Op::Gt:
      return ofInteger(!unordered && above);
    default:
      return ofInteger(!unordered && !below);
    }
  }
  if (!isFloat(type))
    return integerOp(op, type, a.integer, b.integer);
  if (type == DType::F64)
    return ofNumber(floatOp<double>(op, a.number, b.number));
  return ofNumber(roundTo(floatOp<float>(op, float(a.number), float(b.number)), type));
}

Element fusedMultiplyAdd(DType type, Element a, Element b, Element c) {
  if (!isFloat(type))
    return apply(Op::Add, type, apply(Op::Mul, type, a, b), c);
  if (type == DType::F64)
    return ofNumber(std::fma(a.number, b.number, c.number));
  return ofNumber(roundTo(std::fma(float(a.number), float(b.number), float(c.number)), type));
}

Element shift(bool left, DType type, Element value, DType amountType, Element amount) {
  bool isInside = isUnsigned(amountType) ? uint64_t(amount.integer) < uint64_t(bitsOf(type))
                                         : amount.integer >= 0 && amount.integer < bitsOf(type);
  if (left)
    return ofInteger(isInside ? wrapTo(int64_t(uint64_t(value.integer) << amount.integer), type) : 0);
  if (isUnsigned(type))
    return ofInteger(isInside ? int64_t(uint64_t(value.integer) >> amount.integer) : 0);
  return ofInteger(isInside ? value.integer >> amount.integer : value.integer < 0 ? -1 : 0);
}

bool same(DType type, Element a, Element b) {
  if (!isFloat(type))
    return a.integer == b.integer;
  if (std::isnan(a.number) || std::isnan(b.number))
    return std::isnan(a.number) && std::isnan(b.number);
  return std::bit_cast<uint64_t>(a.number) == std::bit_cast<uint64_t>(b.number);
}

void store(DType type, Element value, unsigned char *at) {
  uint64_t bits = uint64_t(value.integer);
  if (type == DType::F64) {
    bits = std::bit_cast<uint64_t>(value.number);
  } else if (type == DType::F32) {
    bits = std::bit_cast<uint32_t>(float(value.number));
  } else if (isFloat(type)) {
    Format format = formatOf(type);
    int stored = format.precision - 1;
    uint64_t infinity = ((uint64_t(1) << format.exponentBits) - 1) << stored;
    double magnitude = std::fabs(value.number);
    if (std::isnan(value.number)) {
      bits = type == DType::F8E4M3 ? 0x7f : infinity | uint64_t(1) << (stored - 1);
    } else if (std::isinf(value.number)) {
      bits = infinity;
    } else if (magnitude < std::ldexp(1.0, format.leastExponent)) {
      bits = uint64_t(std::ldexp(magnitude, stored - format.leastExponent));
    } else {
      int exponent = std::ilogb(magnitude);
      bits = (uint64_t(exponent - format.leastExponent) << stored) + uint64_t(std::ldexp(magnitude, stored - exponent));
    }
    bits |= uint64_t(std::signbit(value.number)) << (sizeOf(type) * 8 - 1);
  }
  std::memcpy(at, &bits, size_t(sizeOf(type))); // little endian, as every target is
}

Element load(DType type, const unsigned char *at) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, size_t(sizeOf(type)));
  if (!isFloat(type))
    return ofInteger(type == DType::Bool ? int64_t(bits != 0) : wrapTo(int64_t(bits), type));
  if (type == DType::F64)
    return ofNumber(std::bit_cast<double>(bits));
  if (type == DType::F32)
    return ofNumber(std::bit_cast<float>(uint32_t(bits)));
  Format format = formatOf(type);
  int stored = format.precision - 1, width = sizeOf(type) * 8;
  uint64_t exponent = bits >> stored & ((uint64_t(1) << format.exponentBits) - 1),
           fraction = bits & ((uint64_t(1) << stored) - 1), top = (uint64_t(1) << format.exponentBits) - 1;
  double magnitude = 0;
  if (exponent == top && (type != DType::F8E4M3 || fraction == 7))
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    magnitude = std::ldexp(double(fraction), format.leastExponent - stored);
  else
    magnitude = std::ldexp(double(fraction | uint64_t(1) << stored), format.leastExponent + int(exponent) - 1 - stored);
  return ofNumber(bits >> (width - 1) & 1 ? -magnitude : magnitude);
}

std::string show(DType type, Element value) {
  if (type == DType::Bool)
    return value.integer ? "true" : "false";
  if (isFloat(type))
    return fmt::format("{:.17g}", value.number);
  return isUnsignedInteger(type) ? fmt::format("{}", uint64_t(value.integer)) : fmt::format("{}", value.integer);
}

} // namespace tessera::fuzz
