//===- Bits.cpp - elements as bits and as exact numbers --------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "tests/conformance/Bits.h"

#include "runtime/Support/NarrowFloat.h"

#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace tessera::conformance {
namespace {

const NarrowFormat *formatOf(DType type) {
  switch (type) {
  case DType::F16:
    return &kF16;
  case DType::BF16:
    return &kBF16;
  case DType::F8E4M3:
    return &kF8E4M3;
  case DType::F8E5M2:
    return &kF8E5M2;
  default:
    return nullptr;
  }
}

/// To odd: 53 bits of which the last remembers what was cut off, so that a second rounding is as good as one.
double roundToOdd(Real value) {
  double nearest = double(value);
  if (Real(nearest) == value || !std::isfinite(nearest))
    return nearest;
  uint64_t bits = std::bit_cast<uint64_t>(nearest);
  if (bits & 1)
    return nearest;
  bool away = std::fabs(value) > std::fabs(Real(nearest));
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

} // namespace

Wide wideOf(DType type, uint64_t bits) {
  bits &= maskOf(type);
  if (isSignedInteger(type) && (bits >> (widthOf(type) - 1)))
    return Wide(bits) - (Wide(1) << widthOf(type));
  return Wide(bits);
}

Real realOf(DType type, uint64_t bits) {
  if (const NarrowFormat *format = formatOf(type))
    return widen(uint32_t(bits), *format);
  if (type == DType::F32)
    return std::bit_cast<float>(uint32_t(bits));
  if (type == DType::F64)
    return std::bit_cast<double>(bits);
  return Real(wideOf(type, bits));
}

uint64_t wrap(DType type, Wide value) { return uint64_t(value) & maskOf(type); }

uint64_t bitsOf(DType type, Real value) {
  if (const NarrowFormat *format = formatOf(type))
    return narrow(roundToOdd(value), *format);
  if (type == DType::F32)
    return std::bit_cast<uint32_t>(float(value));
  if (type == DType::F64)
    return std::bit_cast<uint64_t>(double(value));
  return type == DType::Bool ? value != 0 : wrap(type, Wide(value));
}

bool isNan(DType type, uint64_t bits) { return isFloat(type) && std::isnan(realOf(type, bits)); }

Real ulpOf(DType type, Real value) {
  int digits = type == DType::F64 ? 53 : 24, least = type == DType::F64 ? -1021 : -125, exponent = 0;
  if (!std::isfinite(value))
    return 0;
  std::frexp(value, &exponent);
  return std::ldexp(Real(1), std::max(exponent, least) - digits);
}

Data::Data(DType type, std::vector<int64_t> extents, uint64_t fill) : type(type), shape(std::move(extents)) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  bytes.resize(size_t(count * sizeOf(type)));
  for (int64_t i = 0; i < count; ++i)
    set(i, fill);
}

Data Data::of(DType type, const std::vector<uint64_t> &elements) {
  Data data(type, {int64_t(elements.size())});
  for (size_t i = 0; i < elements.size(); ++i)
    data.set(int64_t(i), elements[i]);
  return data;
}

std::vector<uint64_t> specialsOf(DType type) {
  std::vector<uint64_t> list;
  if (type == DType::Bool)
    return {0, 1};
  if (isWhole(type)) {
    int width = widthOf(type);
    uint64_t top = uint64_t(1) << (width - 1);
    for (uint64_t v : {uint64_t(0), uint64_t(1), uint64_t(2), uint64_t(3), uint64_t(7), uint64_t(width - 1),
                       uint64_t(width), uint64_t(width + 1), top, top - 1, top + 1, top >> 1, ~uint64_t(0),
                       ~uint64_t(1), ~uint64_t(6), uint64_t(0x5555555555555555)})
      list.push_back(v & maskOf(type));
    return list;
  }
  Real infinity = std::numeric_limits<Real>::infinity();
  int exponentBits = type == DType::F64 ? 11 : type == DType::F32 ? 8 : formatOf(type)->exponentBits;
  int mantissaBits = type == DType::F64 ? 52 : type == DType::F32 ? 23 : formatOf(type)->mantissaBits;
  uint64_t normal = uint64_t(1) << mantissaBits, sign = uint64_t(1) << (exponentBits + mantissaBits);
  uint64_t largest = bitsOf(type, type == DType::F64   ? Real(std::numeric_limits<double>::max())
                                  : type == DType::F32 ? Real(std::numeric_limits<float>::max())
                                                       : Real(0));
  if (const NarrowFormat *format = formatOf(type))
    largest = (((uint64_t(1) << format->exponentBits) - 1) << format->mantissaBits) +
              (format->hasInfinity ? 0 : (uint64_t(1) << format->mantissaBits) - 1) - 1;
  for (uint64_t v : {uint64_t(0), uint64_t(1), uint64_t(2), normal - 1, normal, normal + 1, largest, largest - 1})
    list.push_back(v), list.push_back(v | sign);
  for (Real v : {Real(0.5), Real(1), Real(1.5), Real(2), Real(2.5), Real(3), Real(7.25), Real(1) / 3, Real(100)})
    list.push_back(bitsOf(type, v)), list.push_back(bitsOf(type, -v));
  if (type != DType::F8E4M3)
    list.push_back(type == DType::F8E5M2 ? 0x7c : bitsOf(type, infinity)), list.push_back(list.back() | sign);
  list.push_back(bitsOf(type, std::numeric_limits<Real>::quiet_NaN()) & ~sign);
  return list;
}

uint64_t randomBits(DType type, uint64_t i) {
  uint64_t z = i * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  if (type == DType::Bool)
    return z & 1;
  if (isFloat(type) && (i & 1))
    return bitsOf(type, Real(int64_t(z)) * 0x1p-60L); // -8 to 8
  if (isWhole(type) && (i & 1))
    return wrap(type, Wide(int64_t(z) >> 58));
  return z & maskOf(type);
}

bool Want::holds(DType type, uint64_t have) const {
  if (isOpen)
    return true;
  if (!isRange)
    return isNan(type, bits) ? isNan(type, have) : have == bits;
  Real value = realOf(type, have);
  return (value >= low && value <= high) || (mayBeZero && value == 0);
}

std::string Want::text(DType type) const {
  if (isRange)
    return fmt::format("from {:.9g} to {:.9g}{}", double(low), double(high), mayBeZero ? ", or 0" : "");
  return fmt::format("{:.9g} ({:#x})", double(realOf(type, bits)), bits);
}

} // namespace tessera::conformance
