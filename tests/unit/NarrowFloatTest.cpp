//===- NarrowFloatTest.cpp - narrow floating-point formats on the host ----------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// f16 against the compiler's own type, the others against nearest values found by enumeration; every pattern, and the points between.
//
#include "runtime/Support/NarrowFloat.h"

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace tessera;

namespace {

/// The nearest finite value by exhaustive search, ties to the even pattern; overflow as `format` says.
uint32_t nearest(double value, NarrowFormat format, uint32_t largest, double overflowAt) {
  double magnitude = std::fabs(value);
  uint32_t sign = std::signbit(value) ? 1u << (format.exponentBits + format.mantissaBits) : 0;
  if (magnitude >= overflowAt)
    return sign | (format.saturates ? largest : largest + 1);
  uint32_t best = 0;
  for (uint32_t bits = 1; bits <= largest; ++bits) {
    double now = std::fabs(static_cast<double>(widen(bits, format)) - magnitude);
    double then = std::fabs(static_cast<double>(widen(best, format)) - magnitude);
    if (now < then || (now == then && bits % 2 == 0))
      best = bits;
  }
  return sign | best;
}

} // namespace

TEST_CASE("f16 is the compiler's") {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    float expected = static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(bits)));
    float found = widen(bits, kF16);
    if (std::isnan(expected)) {
      REQUIRE(std::isnan(found));
      continue;
    }
    REQUIRE(std::bit_cast<uint32_t>(found) == std::bit_cast<uint32_t>(expected));
    REQUIRE(narrow(found, kF16) == bits);
  }
  std::mt19937_64 engine(5);
  for (int i = 0; i < 200000; ++i) {
    float value = std::ldexp(static_cast<float>(static_cast<int32_t>(engine())), static_cast<int>(engine() % 60) - 60);
    REQUIRE(narrow(value, kF16) == std::bit_cast<uint16_t>(static_cast<_Float16>(value)));
  }
}

TEST_CASE("bf16 is the upper half of f32") {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    float expected = std::bit_cast<float>(bits << 16);
    float found = widen(bits, kBF16);
    if (std::isnan(expected)) {
      REQUIRE(std::isnan(found));
      continue;
    }
    REQUIRE(std::bit_cast<uint32_t>(found) == bits << 16);
    REQUIRE(narrow(found, kBF16) == bits);
    if ((bits & 0x7fff) >= 0x7f7f)
      continue;
    // Between two neighbours: below, at and above the middle.
    uint32_t low = bits << 16;
    REQUIRE(narrow(std::bit_cast<float>(low | 0x7fff), kBF16) == bits);
    REQUIRE(narrow(std::bit_cast<float>(low | 0x8000), kBF16) == bits + (bits & 1));
    REQUIRE(narrow(std::bit_cast<float>(low | 0x8001), kBF16) == bits + 1);
  }
  CHECK(narrow(3.4e38, kBF16) == 0x7f80);
}

TEST_CASE("8-bit floats round to the nearest and saturate") {
  CHECK(widen(0x7e, kF8E4M3) == 448);
  CHECK(widen(0x01, kF8E4M3) == std::ldexp(1.0f, -9));
  CHECK(std::isnan(widen(0x7f, kF8E4M3)));
  CHECK(widen(0x7b, kF8E5M2) == 57344);
  CHECK(std::isinf(widen(0x7c, kF8E5M2)));
  CHECK(widen(0x01, kF8E5M2) == std::ldexp(1.0f, -16));
  double infinity = std::numeric_limits<double>::infinity();
  for (auto [format, largest, top] : {std::tuple(kF8E4M3, 0x7eu, 448.0), std::tuple(kF8E5M2, 0x7bu, 57344.0)}) {
    CHECK(narrow(infinity, format) == largest);
    CHECK(narrow(-infinity, format) == (largest | 0x80));
    CHECK(narrow(top * 100, format) == largest);
    CHECK(std::isnan(widen(narrow(std::nan(""), format), format)));
    std::mt19937_64 engine(9);
    for (uint32_t bits = 0; bits <= largest; ++bits) {
      double a = widen(bits, format), b = bits < largest ? widen(bits + 1, format) : a;
      for (double value : {a, -a, (a + b) / 2, std::nextafter((a + b) / 2, 0.0), std::nextafter((a + b) / 2, infinity)})
        REQUIRE(narrow(value, format) == nearest(value, format, largest, infinity));
    }
  }
}
