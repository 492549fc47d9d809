//===- NarrowFloat.h - f16, bf16, f8e4m3, f8e5m2 on the host -------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Conversions between the narrow floating-point formats (as raw bits) and float, in integer arithmetic.  To a narrow format they round
// once, to nearest even; overflow of f16 and bf16 is infinity, of the 8-bit formats the largest finite number (language rule: to f8
// saturates, infinity included; NaN stays NaN).  For arguments and checks of tools and launchers, not for kernels.
//
#ifndef TESSERA_RUNTIME_SUPPORT_NARROWFLOAT_H
#define TESSERA_RUNTIME_SUPPORT_NARROWFLOAT_H

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace tessera {

/// Layout of a binary format narrower than f32: sign, exponent, mantissa from the top.
struct NarrowFormat {
  int exponentBits, mantissaBits;
  bool hasInfinity; ///< false: the top exponent holds numbers, and only all ones is NaN (f8e4m3)
  bool saturates;   ///< overflow and infinity become the largest finite number
};

inline constexpr NarrowFormat kF16{5, 10, true, false};
inline constexpr NarrowFormat kBF16{8, 7, true, false};
inline constexpr NarrowFormat kF8E4M3{4, 3, false, true};
inline constexpr NarrowFormat kF8E5M2{5, 2, true, true};

/// The float that `bits` stand for; exact.
inline float widen(uint32_t bits, NarrowFormat format) {
  const int bias = (1 << (format.exponentBits - 1)) - 1;
  const uint32_t mantissaMask = (1u << format.mantissaBits) - 1, exponentMask = (1u << format.exponentBits) - 1;
  const bool negative = (bits >> (format.exponentBits + format.mantissaBits)) & 1;
  const uint32_t exponent = (bits >> format.mantissaBits) & exponentMask, mantissa = bits & mantissaMask;
  float value;
  if (format.hasInfinity && exponent == exponentMask)
    value = mantissa ? std::bit_cast<float>(0x7fc00000u) : std::bit_cast<float>(0x7f800000u);
  else if (!format.hasInfinity && exponent == exponentMask && mantissa == mantissaMask)
    value = std::bit_cast<float>(0x7fc00000u);
  else if (exponent == 0)
    value = std::ldexp(static_cast<float>(mantissa), 1 - bias - format.mantissaBits);
  else
    value = std::ldexp(static_cast<float>(mantissa | (mantissaMask + 1)),
                       static_cast<int>(exponent) - bias - format.mantissaBits);
  return negative ? -value : value;
}

/// The nearest value of `format` to `value`, ties to even, as bits.  Takes double so that a decimal number rounds only once.
inline uint32_t narrow(double value, NarrowFormat format) {
  const int bias = (1 << (format.exponentBits - 1)) - 1;
  const uint32_t mantissaMask = (1u << format.mantissaBits) - 1, exponentMask = (1u << format.exponentBits) - 1;
  const uint32_t sign = std::signbit(value) ? 1u << (format.exponentBits + format.mantissaBits) : 0;
  const uint32_t infinity = exponentMask << format.mantissaBits;
  const uint32_t nan = format.hasInfinity ? infinity | (1u << (format.mantissaBits - 1)) : infinity | mantissaMask;
  const uint32_t largest = format.hasInfinity ? infinity - 1 : nan - 1;
  if (std::isnan(value))
    return sign | nan;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude))
    return sign | (format.saturates ? largest : infinity);
  if (magnitude == 0)
    return sign;
  // The unit of the last place is that of the value's own exponent, or of the subnormals.
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  const double scaled = std::ldexp(magnitude, format.mantissaBits - exponent);
  const double below = std::floor(scaled), rest = scaled - below; // both exact: below < 2^(mantissaBits + 1)
  uint64_t units = static_cast<uint64_t>(below);
  if (rest > 0.5 || (rest == 0.5 && (units & 1)))
    ++units;
  // A carry into the next exponent, and the step from subnormal to normal, both fall out of the plain addition.
  const int64_t bits = (static_cast<int64_t>(exponent + bias - 1) << format.mantissaBits) + static_cast<int64_t>(units);
  if (bits > static_cast<int64_t>(largest))
    return sign | (format.saturates ? largest : infinity);
  return sign | static_cast<uint32_t>(bits);
}

} // namespace tessera
#endif // TESSERA_RUNTIME_SUPPORT_NARROWFLOAT_H
