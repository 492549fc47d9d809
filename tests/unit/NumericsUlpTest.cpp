//===- NumericsUlpTest.cpp - the error of every function, measured ---------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Every 1009th float and the edges, through the host pipeline, against libm in double; f64 against long double.  The table is printed and bounded.
//
#include <catch2/catch.hpp>

#include "Elementwise.h"

#include <bit>
#include <cstdio>
#include <functional>
#include <limits>

using namespace tessera;
using namespace tessera::test;

namespace {

std::vector<float> floats() {
  std::vector<float> list;
  for (uint64_t bits = 0; bits <= 0xffffffff; bits += 1009)
    list.push_back(std::bit_cast<float>(uint32_t(bits)));
  const float infinity = std::numeric_limits<float>::infinity();
  for (float edge : {0.0f,
                     0x1p-149f,
                     0x1.fffffcp-127f,
                     0x1p-126f,
                     0x1.fffffep127f,
                     infinity,
                     std::nanf(""),
                     0.5f,
                     1.0f,
                     2.0f,
                     0.625f,
                     0.925f,
                     4.0f,
                     0.78f,
                     0.70710678f,
                     1.41421356f,
                     0x1.fffffep-1f,
                     0x1.000002p0f,
                     88.72283f,
                     88.72284f,
                     87.33654f,
                     103.97208f,
                     103.97209f,
                     127.99999f,
                     128.0f,
                     149.0f,
                     150.0f,
                     3.14159274f,
                     1.57079637f,
                     6.2831855f,
                     16367173.0f * 0x1p72f,
                     0x1p-12f,
                     0x1p24f}) {
    list.push_back(edge);
    list.push_back(-edge);
  }
  return list;
}

template <typename Float, typename Wide>
struct Measured {
  double ulp = 0;  ///< where the result is normal
  double tiny = 0; ///< where it is subnormal
  Float at = 0;
  int wrong = 0; ///< NaN, infinity or the sign of zero
  Float wrongAt = 0;

  void add(Float x, Float have, Wide want) {
    Float rounded = Float(want);
    if (std::isnan(rounded) || std::isinf(rounded) || rounded == 0) {
      bool same =
          std::isnan(rounded) ? std::isnan(have) : have == rounded && std::signbit(have) == std::signbit(rounded);
      // Half of the smallest number may go either way.
      if (!same && !(rounded == 0 && std::fabs(want) > Wide(std::numeric_limits<Float>::denorm_min()) / 4 &&
                     std::fabs(have) <= std::numeric_limits<Float>::denorm_min())) {
        ++wrong;
        wrongAt = x;
      }
      return;
    }
    int exponent = 0;
    std::frexp(want, &exponent);
    exponent = std::max(exponent - std::numeric_limits<Float>::digits,
                        std::numeric_limits<Float>::min_exponent - std::numeric_limits<Float>::digits);
    double error = std::isfinite(have) ? double(std::fabs(Wide(have) - want) / std::ldexp(Wide(1), exponent)) : 1e30;
    double &most = std::fabs(rounded) < std::numeric_limits<Float>::min() ? tiny : ulp;
    if (error > most) {
      most = error;
      at = x;
    }
  }
};

template <typename E>
void report(const char *name, const char *type, const E &error, double bound) {
  std::printf("%-6s %s  %.3f ulp (subnormal results %.3f), worst at %.9g\n", name, type, error.ulp, error.tiny,
              double(error.at));
  INFO(name << " " << type << ", first wrong special at " << double(error.wrongAt));
  CHECK(error.wrong == 0);
  CHECK(error.ulp <= bound);
  CHECK(error.tiny <= bound);
}

} // namespace

TEST_CASE("functions of f32 are within 2 ulp") {
  struct Function {
    const char *name;
    double (*exact)(double);
  };
  std::vector<float> x = floats();
  for (Function f : {Function{"exp", std::exp},
                     {"exp2", std::exp2},
                     {"log", std::log},
                     {"log2", std::log2},
                     {"tanh", std::tanh},
                     {"erf", std::erf},
                     {"sin", std::sin},
                     {"cos", std::cos},
                     {"rsqrt", [](double v) { return 1 / std::sqrt(v); }}}) {
    auto y = elementwise<float, float>(fmt::format("%r = math.{} %a : {{I}}", f.name), "f32", "f32", x);
    Measured<float, double> error;
    for (size_t i = 0; i < x.size(); ++i)
      error.add(x[i], y[i], f.exact(x[i]));
    report(f.name, "f32", error, 2);
  }
  auto roots = elementwise<float, float>("%r = math.sqrt %a : {I}", "f32", "f32", x);
  for (size_t i = 0; i < x.size(); ++i)
    if (!(std::isnan(roots[i]) && std::isnan(std::sqrt(x[i]))))
      REQUIRE(roots[i] == std::sqrt(x[i]));
}

TEST_CASE("powers of f32 are within 2 ulp") {
  std::vector<float> all = floats(), x, y;
  const float infinity = std::numeric_limits<float>::infinity();
  const float special[] = {0.0f, -0.0f, 1.0f,  -1.0f,  2.0f,      -2.0f,    0.5f,      -0.5f,
                           3.0f, -3.0f, 1e30f, -1e30f, 0x1p-149f, infinity, -infinity, std::nanf("")};
  for (float a : special)
    for (float b : special)
      x.push_back(a), y.push_back(b);
  uint32_t state = 1;
  for (float a : all) {
    state = state * 1664525u + 1013904223u;
    x.push_back(state & 64 ? std::fabs(a) : std::ldexp(1.0f + float(state >> 9) * 0x1p-23f, int(state & 3) - 2));
    state = state * 1664525u + 1013904223u;
    y.push_back(state & 64 ? float(int32_t(state)) * 0x1p-26f : float(int32_t(state) >> 26));
  }
  auto z = elementwise<float, float>("%r = math.powf %a, %b : {I}", "f32", "f32", x, y);
  Measured<float, double> error;
  for (size_t i = 0; i < x.size(); ++i)
    error.add(x[i], z[i], std::pow(double(x[i]), double(y[i])));
  report("pow", "f32", error, 2);
}

TEST_CASE("functions of f64 are within 2 ulp") {
  struct Function {
    const char *name;
    long double (*exact)(long double);
  };
  std::vector<double> x;
  uint64_t state = 7;
  for (int i = 0; i < 400000; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    double whole = std::bit_cast<double>(state ^ (state >> 29));
    double unit = double(int64_t(state)) * 0x1p-63;
    x.push_back(i % 4 == 0 ? whole : i % 4 == 1 ? unit * 745 : i % 4 == 2 ? 1 + unit : unit * 3);
  }
  const double infinity = std::numeric_limits<double>::infinity();
  for (double edge : {0.0,
                      0x1p-1074,
                      0x1p-1022,
                      0x1.fffffffffffffp1023,
                      infinity,
                      std::nan(""),
                      1.0,
                      0.5,
                      2.0,
                      709.782712893384,
                      709.8,
                      744.9,
                      745.2,
                      1023.9999,
                      1024.0,
                      1074.0,
                      1075.0,
                      0x1.fffffffffffffp-1,
                      0x1.0000000000001p0,
                      1e-9,
                      22.0,
                      0.78,
                      0x1.921fb54442d18p-1,
                      5.9215871957945065,
                      6.0,
                      0x1.6ac5b262ca1ffp849}) // 2^-61 of a quadrant from a multiple of pi/2, the closest of all
    x.push_back(edge), x.push_back(-edge);
  // Where sine and cosine have few bits left.
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    x.push_back(double(1.57079632679489661923132169163975144L * (long double)(state >> (11 + i % 50))));
  }
  for (Function f : {Function{"exp", std::exp},
                     {"exp2", std::exp2},
                     {"log", std::log},
                     {"log2", std::log2},
                     {"tanh", std::tanh},
                     {"erf", std::erf},
                     {"sin", std::sin},
                     {"cos", std::cos},
                     {"rsqrt", [](long double v) { return 1 / std::sqrt(v); }}}) {
    auto y = elementwise<double, double>(fmt::format("%r = math.{} %a : {{I}}", f.name), "f64", "f64", x);
    Measured<double, long double> error;
    for (size_t i = 0; i < x.size(); ++i)
      error.add(x[i], y[i], f.exact(x[i]));
    report(f.name, "f64", error, 2);
  }
}

TEST_CASE("powers of f64 are within 2 ulp") {
  const double infinity = std::numeric_limits<double>::infinity();
  const double special[] = {0.0,
                            -0.0,
                            1.0,
                            -1.0,
                            2.0,
                            -2.0,
                            0.5,
                            -0.5,
                            3.0,
                            -3.0,
                            1e300,
                            -1e300,
                            0x1p-1074,
                            infinity,
                            -infinity,
                            std::nan(""),
                            0x1p53,
                            0x1p53 + 2,
                            -0x1.fffffffffffffp52,
                            0x1.0000000000001p0,
                            0x1.fffffffffffffp-1};
  std::vector<double> x, y;
  for (double a : special)
    for (double b : special)
      x.push_back(a), y.push_back(b);
  uint64_t state = 1;
  auto next = [&] { return state = state * 6364136223846793005ull + 1442695040888963407ull; };
  for (int i = 0; i < 400000; ++i) {
    double base = std::bit_cast<double>((next() >> 12) | 0x3ff0000000000000);
    double unit = double(int64_t(next())) * 0x1p-63;
    switch (i % 5) {
    case 0: // any magnitude, results over the whole range
      base = std::ldexp(base, int(next() >> 53) - 1024);
      unit *= 1080 / std::max(std::fabs(std::log2(base)), 0.01);
      break;
    case 1: // around 1, to large powers
      base = 1 + std::ldexp(base - 1.5, -int(next() >> 58));
      unit *= 1080 / std::max(std::fabs(std::log2(base)), 1e-18);
      break;
    case 2: // negative bases, integers
      base = -base;
      unit = std::floor(unit * 1000);
      break;
    case 3:
      base = std::ldexp(base, int(next() >> 62) - 2);
      unit *= 10;
      break;
    default:
      base = std::bit_cast<double>(next());
      unit = std::ldexp(unit, int(next() >> 58) - 32);
    }
    x.push_back(base), y.push_back(unit);
  }
  auto z = elementwise<double, double>("%r = math.powf %a, %b : {I}", "f64", "f64", x, y);
  Measured<double, long double> error;
  for (size_t i = 0; i < x.size(); ++i)
    error.add(x[i], z[i], std::pow((long double)x[i], (long double)y[i]));
  report("pow", "f64", error, 2);
}
