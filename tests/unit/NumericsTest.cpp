//===- NumericsTest.cpp - conversions and integer rules, exhaustively where they are small - SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// References: integer code of runtime/Support, rounding in long double, and the sentences of the language written as C++.
//
#include <catch2/catch.hpp>

#include "Elementwise.h"
#include "runtime/Support/NarrowFloat.h"

#include <bit>
#include <limits>

using namespace tessera;
using namespace tessera::test;

namespace {

struct NarrowType {
  const char *name;
  NarrowFormat format;
  int bits;
};
const NarrowType kTypes[] = {{"f16", kF16, 16}, {"bf16", kBF16, 16}, {"f8e4m3", kF8E4M3, 8}, {"f8e5m2", kF8E5M2, 8}};

/// Elementwise with the element type in memory chosen by width.
template <typename In>
std::vector<uint32_t> toBits(const std::string &op, const std::string &in, const NarrowType &type,
                             std::span<const In> x) {
  std::vector<uint32_t> bits;
  if (type.bits == 8)
    for (uint8_t b : elementwise<uint8_t, In>(op, in, type.name, x))
      bits.push_back(b);
  else
    for (uint16_t b : elementwise<uint16_t, In>(op, in, type.name, x))
      bits.push_back(b);
  return bits;
}

bool isNaN(uint32_t bits, NarrowFormat format) { return std::isnan(widen(bits, format)); }

/// The nearest value of `format`, ties to even, as bits; from 64 bits of precision.
uint32_t roundExactly(long double value, NarrowFormat format) {
  if (std::isnan(value) || std::isinf(value))
    return narrow(double(value), format);
  int bias = (1 << (format.exponentBits - 1)) - 1, exponent = 0;
  std::frexp(value, &exponent);
  int unit = std::max(exponent - 1, 1 - bias) - format.mantissaBits;
  long double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  return narrow(double(std::copysign(rounded, value)), format); // exact now, or an overflow
}

/// Numbers around every boundary between neighbours of the format.
template <typename Float>
std::vector<Float> boundaries(const NarrowType &type) {
  std::vector<Float> list;
  for (uint32_t bits = 0; bits < (1u << type.bits); ++bits) {
    double low = widen(bits, type.format), high = widen(bits + 1, type.format);
    if (std::isnan(low) || (bits & (1u << (type.bits - 1)) && type.bits == 16))
      continue;
    Float middle = std::isfinite(high) ? Float((low + high) / 2) : Float(low);
    for (Float x : {Float(low), middle, std::nextafter(middle, Float(0)), std::nextafter(middle, Float(INFINITY))})
      list.push_back(x), list.push_back(-x);
  }
  for (Float x : {Float(0), Float(1e30), std::numeric_limits<Float>::max(), std::numeric_limits<Float>::infinity(),
                  std::numeric_limits<Float>::quiet_NaN(), std::numeric_limits<Float>::denorm_min(), Float(65519.99),
                  Float(65520), Float(448), Float(464), Float(465), Float(480), Float(61440), Float(61439)})
    list.push_back(x), list.push_back(-x);
  return list;
}

void checkBits(std::span<const uint32_t> have, const std::function<uint32_t(size_t)> &want, NarrowFormat format,
               const std::function<double(size_t)> &x) {
  int wrong = 0;
  for (size_t i = 0; i < have.size(); ++i)
    if (have[i] != want(i) && !(isNaN(have[i], format) && isNaN(want(i), format)) && wrong++ == 0) {
      INFO("value " << x(i) << ", expected bits " << want(i) << ", found " << have[i]);
      CHECK(have[i] == want(i));
    }
  CHECK(wrong == 0);
}

} // namespace

TEST_CASE("narrow floats widen exactly, all of them") {
  for (const NarrowType &type : kTypes) {
    INFO(type.name);
    std::vector<uint16_t> x(1u << type.bits);
    std::vector<uint8_t> small(x.size());
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = uint16_t(i), small[i] = uint8_t(i);
    std::vector<float> y =
        type.bits == 8 ? elementwise<float, uint8_t>("%r = tile.convert %a : {I} -> {O}", type.name, "f32", small)
                       : elementwise<float, uint16_t>("%r = tile.convert %a : {I} -> {O}", type.name, "f32", x);
    for (uint32_t i = 0; i < x.size(); ++i) {
      float want = widen(i, type.format);
      if (std::isnan(want) ? !std::isnan(y[i]) : std::bit_cast<uint32_t>(y[i]) != std::bit_cast<uint32_t>(want))
        REQUIRE(y[i] == want);
    }
  }
}

TEST_CASE("floats narrow with one rounding") {
  for (const NarrowType &type : kTypes) {
    INFO(type.name);
    std::vector<float> x = boundaries<float>(type);
    for (uint64_t bits = 0; bits <= 0xffffffff; bits += 7001)
      x.push_back(std::bit_cast<float>(uint32_t(bits)));
    auto y = toBits<float>("%r = tile.convert %a : {I} -> {O}", "f32", type, x);
    checkBits(
        y, [&](size_t i) { return roundExactly(x[i], type.format); }, type.format, [&](size_t i) { return x[i]; });
    std::vector<double> d = boundaries<double>(type);
    auto z = toBits<double>("%r = tile.convert %a : {I} -> {O}", "f64", type, d);
    checkBits(
        z, [&](size_t i) { return roundExactly(d[i], type.format); }, type.format, [&](size_t i) { return d[i]; });
    if (type.bits == 8) {
      auto w = toBits<float>("%r = tile.convert %a {ieee_overflow} : {I} -> {O}", "f32", type, x);
      NarrowFormat ieee = type.format;
      ieee.saturates = false;
      checkBits(
          w,
          [&](size_t i) {
            // e4m3 has no infinity: beyond 464, where 480 would be nearest, is NaN.
            if (!ieee.hasInfinity)
              return std::fabs(x[i]) > 464 ? 0x7fu : roundExactly(x[i], type.format);
            return std::fabs(x[i]) >= 61440 ? (std::signbit(x[i]) ? 0xfcu : 0x7cu) : roundExactly(x[i], type.format);
          },
          type.format, [&](size_t i) { return x[i]; });
    }
  }
}

TEST_CASE("integers become floats with one rounding") {
  std::vector<int64_t> wide;
  uint64_t state = 3;
  for (int i = 0; i < 60000; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    wide.push_back(int64_t(state) >> (i % 64));
    // Just above and below the middle between two neighbours of 8, 11 and 24 bits.
    int digits = i % 3 == 0 ? 8 : i % 3 == 1 ? 11 : 24, shift = int(state >> 58) % (63 - digits);
    int64_t middle = ((int64_t(state >> 33) | (int64_t(1) << 30)) >> (31 - digits) << 1 | 1) << shift;
    wide.insert(wide.end(), {middle, middle + 1, middle - 1, -middle, -middle - 1, 1 - middle});
  }
  for (int64_t x : {int64_t(0), std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(),
                    int64_t(65504), int64_t(65519), int64_t(65520)})
    wide.push_back(x);
  std::vector<int32_t> narrower(wide.begin(), wide.end());
  std::vector<int16_t> shorts(wide.begin(), wide.end());
  std::vector<uint64_t> unsignedWide(wide.begin(), wide.end());
  std::vector<uint32_t> unsignedNarrow(wide.begin(), wide.end());
  for (const NarrowType &type : kTypes) {
    INFO(type.name);
    auto check = [&](const std::vector<uint32_t> &y, auto &x) {
      checkBits(
          y, [&](size_t i) { return roundExactly((long double)x[i], type.format); }, type.format,
          [&](size_t i) { return double(x[i]); });
    };
    check(toBits<int64_t>("%r = tile.convert %a : {I} -> {O}", "i64", type, wide), wide);
    check(toBits<int32_t>("%r = tile.convert %a : {I} -> {O}", "i32", type, narrower), narrower);
    check(toBits<int16_t>("%r = tile.convert %a : {I} -> {O}", "i16", type, shorts), shorts);
    check(toBits<uint64_t>("%r = tile.convert %a {from_unsigned} : {I} -> {O}", "u64", type, unsignedWide),
          unsignedWide);
    check(toBits<uint32_t>("%r = tile.convert %a {from_unsigned} : {I} -> {O}", "u32", type, unsignedNarrow),
          unsignedNarrow);
  }
  auto f =
      elementwise<float, uint64_t>("%r = tile.convert %a {from_unsigned} : {I} -> {O}", "u64", "f32", unsignedWide);
  auto g = elementwise<float, int64_t>("%r = tile.convert %a : {I} -> {O}", "i64", "f32", wide);
  auto h =
      elementwise<double, uint64_t>("%r = tile.convert %a {from_unsigned} : {I} -> {O}", "u64", "f64", unsignedWide);
  for (size_t i = 0; i < wide.size(); ++i) {
    REQUIRE(f[i] == float((long double)unsignedWide[i]));
    REQUIRE(g[i] == float((long double)wide[i]));
    REQUIRE(h[i] == double((long double)unsignedWide[i]));
  }
}

namespace {

template <typename Int, typename Float>
Int saturated(Float x) {
  if (std::isnan(x))
    return 0;
  long double t = std::trunc((long double)x);
  if (t > (long double)std::numeric_limits<Int>::max())
    return std::numeric_limits<Int>::max();
  return t < (long double)std::numeric_limits<Int>::min() ? std::numeric_limits<Int>::min() : Int(t);
}

template <typename Int, typename Float>
void checkToInteger(const char *from, const char *to) {
  std::vector<Float> x;
  for (int e = -3; e < 70; ++e)
    for (Float f :
         {Float(1), Float(1.5), std::nextafter(Float(1), Float(0)), std::nextafter(Float(1), Float(2)), Float(1.999)})
      x.push_back(std::ldexp(f, e)), x.push_back(-std::ldexp(f, e));
  for (Float f : {std::numeric_limits<Float>::infinity(), std::numeric_limits<Float>::quiet_NaN(),
                  std::numeric_limits<Float>::max(), Float(0), Float(0.99), Float(127.9), Float(128.5), Float(255.5),
                  Float(256), Float(32767.5)})
    x.push_back(f), x.push_back(-f);
  bool isUnsigned = std::is_unsigned_v<Int>;
  auto y = elementwise<Int, Float>(
      fmt::format("%r = tile.convert %a {} : {{I}} -> {{O}}", isUnsigned ? "{to_unsigned}" : ""), from, to, x);
  for (size_t i = 0; i < x.size(); ++i) {
    INFO(from << " -> " << to << " of " << x[i]);
    REQUIRE(y[i] == (saturated<Int, Float>(x[i])));
  }
}

} // namespace

TEST_CASE("floats become integers: truncate, saturate, NaN is 0") {
  checkToInteger<int8_t, float>("f32", "i8");
  checkToInteger<uint8_t, float>("f32", "u8");
  checkToInteger<int16_t, double>("f64", "i16");
  checkToInteger<int32_t, float>("f32", "i32");
  checkToInteger<uint32_t, float>("f32", "u32");
  checkToInteger<int32_t, double>("f64", "i32");
  checkToInteger<int64_t, float>("f32", "i64");
  checkToInteger<uint64_t, float>("f32", "u64");
  checkToInteger<int64_t, double>("f64", "i64");
  checkToInteger<uint64_t, double>("f64", "u64");
}

TEST_CASE("integers become integers: wrap, or saturate by name; bool is != 0") {
  std::vector<int16_t> x(65536);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = int16_t(i);
  auto wrapped = elementwise<int8_t, int16_t>("%r = tile.convert %a : {I} -> {O}", "i16", "i8", x);
  auto saturated = elementwise<int8_t, int16_t>("%r = tile.convert %a {saturate} : {I} -> {O}", "i16", "i8", x);
  auto positive =
      elementwise<uint8_t, int16_t>("%r = tile.convert %a {saturate, to_unsigned} : {I} -> {O}", "i16", "u8", x);
  auto both = elementwise<uint8_t, int16_t>("%r = tile.convert %a {saturate, from_unsigned, to_unsigned} : {I} -> {O}",
                                            "u16", "u8", x);
  auto toSigned =
      elementwise<int8_t, int16_t>("%r = tile.convert %a {saturate, from_unsigned} : {I} -> {O}", "u16", "i8", x);
  auto wide = elementwise<int64_t, int16_t>("%r = tile.convert %a : {I} -> {O}", "i16", "i64", x);
  auto wideUnsigned =
      elementwise<int64_t, int16_t>("%r = tile.convert %a {from_unsigned} : {I} -> {O}", "u16", "i64", x);
  auto widePositive = // found by random programs, seed 28: a wider type holds no negative number either
      elementwise<uint32_t, int16_t>("%r = tile.convert %a {saturate, to_unsigned} : {I} -> {O}", "i16", "u32", x);
  auto truth = elementwise<uint8_t, int16_t>("%r = tile.convert %a : {I} -> {O}", "i16", "bool", x);
  for (size_t i = 0; i < x.size(); ++i) {
    INFO(x[i]);
    int value = x[i], bits = uint16_t(x[i]);
    REQUIRE(wrapped[i] == int8_t(value));
    REQUIRE(saturated[i] == std::clamp(value, -128, 127));
    REQUIRE(positive[i] == std::clamp(value, 0, 255));
    REQUIRE(both[i] == std::min(bits, 255));
    REQUIRE(toSigned[i] == std::min(bits, 127));
    REQUIRE(wide[i] == value);
    REQUIRE(wideUnsigned[i] == bits);
    REQUIRE(widePositive[i] == uint32_t(std::max(value, 0)));
    REQUIRE(truth[i] == (value != 0));
  }
}

namespace {

/// The rules as sentences, on numbers too small to overflow.
int floorDivide(int x, int y) { return y == 0 ? 0 : int(std::floor(double(x) / y)); }
int ceilDivide(int x, int y) { return y == 0 ? 0 : int(std::ceil(double(x) / y)); }
int remainder(int x, int y) { return y == 0 ? x : x - floorDivide(x, y) * y; }
int shiftLeft(int x, int amount) { return amount < 0 || amount > 7 ? 0 : x * (1 << amount); }
int shiftRight(int x, int amount) { return amount < 0 || amount > 7 ? (x < 0 ? -1 : 0) : floorDivide(x, 1 << amount); }

} // namespace

TEST_CASE("integer division, remainder and shifts, all pairs of 8 bits") {
  struct Rule {
    const char *op;
    int (*exact)(int, int);
  };
  std::vector<int8_t> x, y;
  for (int i = 0; i < 65536; ++i)
    x.push_back(int8_t(i >> 8)), y.push_back(int8_t(i));
  for (Rule rule :
       {Rule{"div", floorDivide}, {"rem", remainder}, {"ceildiv", ceilDivide}, {"shl", shiftLeft}, {"shr", shiftRight}})
    for (bool isUnsigned : {false, true}) {
      auto z = elementwise<int8_t, int8_t>(
          fmt::format("%r = tile.{} %a, %b {} : {{I}}", rule.op, isUnsigned ? "{is_unsigned}" : ""), "i8", "i8", x, y);
      for (size_t i = 0; i < x.size(); ++i) {
        int want = isUnsigned ? rule.exact(uint8_t(x[i]), uint8_t(y[i])) : rule.exact(x[i], y[i]);
        INFO(rule.op << " " << int(x[i]) << " " << int(y[i]) << " unsigned " << isUnsigned);
        REQUIRE(z[i] == int8_t(want));
      }
    }
}

TEST_CASE("integer division by constants") {
  struct Rule {
    const char *op;
    int (*exact)(int, int);
  };
  std::vector<int8_t> x(256);
  for (int i = 0; i < 256; ++i)
    x[size_t(i)] = int8_t(i);
  for (Rule rule :
       {Rule{"div", floorDivide}, {"rem", remainder}, {"ceildiv", ceilDivide}, {"shl", shiftLeft}, {"shr", shiftRight}})
    for (bool isUnsigned : {false, true})
      for (int constant : {0, 1, 2, 3, 7, 8, 64, 100, -1, -2, -7, -128}) {
        std::string flags = isUnsigned ? "{is_unsigned}" : "";
        auto z = elementwise<int8_t, int8_t>(
            fmt::format("%c = arith.constant dense<{}> : {{I}}\n  %r = tile.{} %a, %c {} : {{I}}", constant, rule.op,
                        flags),
            "i8", "i8", x);
        for (size_t i = 0; i < x.size(); ++i) {
          int want = isUnsigned ? rule.exact(uint8_t(x[i]), uint8_t(constant)) : rule.exact(x[i], constant);
          INFO(rule.op << " " << int(x[i]) << " " << constant << " unsigned " << isUnsigned);
          REQUIRE(z[i] == int8_t(want));
        }
      }
}

TEST_CASE("arithmetic of f16 and bf16 rounds once to its type") {
  for (const NarrowType &type : {kTypes[0], kTypes[1]}) {
    std::vector<uint16_t> x, y;
    uint32_t state = 5;
    for (int i = 0; i < 100000; ++i) {
      state = state * 1664525u + 1013904223u;
      x.push_back(uint16_t(state >> 16));
      state = state * 1664525u + 1013904223u;
      // Half of the second operands are of a size like the first's.
      y.push_back(i % 2 ? uint16_t(state >> 16) : uint16_t((x.back() & 0xf800) | (state >> 21)));
    }
    struct Rule {
      const char *op;
      double (*exact)(double, double);
    };
    for (Rule rule : {Rule{"addf", [](double a, double b) { return a + b; }},
                      {"subf", [](double a, double b) { return a - b; }},
                      {"mulf", [](double a, double b) { return a * b; }},
                      {"maxnumf", [](double a, double b) { return std::fmax(a, b); }},
                      {"maximumf",
                       [](double a, double b) {
                         return std::isnan(a) || std::isnan(b)                                  ? NAN
                                : std::fmax(a, b) == 0 && !(std::signbit(a) && std::signbit(b)) ? 0.0
                                                                                                : std::fmax(a, b);
                       }},
                      {"minimumf",
                       [](double a, double b) {
                         return std::isnan(a) || std::isnan(b)                                 ? NAN
                                : std::fmin(a, b) == 0 && (std::signbit(a) || std::signbit(b)) ? -0.0
                                                                                               : std::fmin(a, b);
                       }},
                      {"divf", [](double a, double b) { return a / b; }}}) {
      auto z = elementwise<uint16_t, uint16_t>(fmt::format("%r = arith.{} %a, %b : {{I}}", rule.op), type.name,
                                               type.name, x, y);
      std::vector<uint32_t> have(z.begin(), z.end());
      // In double the sum of far numbers is inexact, by less than what a second rounding to so few bits could see unless it lies in the middle; long double for the rest.
      checkBits(
          have,
          [&](size_t i) {
            double a = widen(x[i], type.format), b = widen(y[i], type.format);
            long double exact = rule.op[0] == 'a'   ? (long double)a + b
                                : rule.op[0] == 's' ? (long double)a - b
                                                    : rule.exact(a, b);
            return roundExactly(exact, type.format);
          },
          type.format, [&](size_t i) { return widen(x[i], type.format); });
    }
  }
}
