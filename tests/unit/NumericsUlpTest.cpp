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
                      22.0})
    x.push_back(edge), x.push_back(-edge);
  for (Function f : {Function{"exp", std::exp},
                     {"exp2", std::exp2},
                     {"log", std::log},
                     {"log2", std::log2},
                     {"tanh", std::tanh},
                     {"rsqrt", [](long double v) { return 1 / std::sqrt(v); }}}) {
    auto y = elementwise<double, double>(fmt::format("%r = math.{} %a : {{I}}", f.name), "f64", "f64", x);
    Measured<double, long double> error;
    for (size_t i = 0; i < x.size(); ++i)
      error.add(x[i], y[i], f.exact(x[i]));
    report(f.name, "f64", error, 2);
  }
}

TEST_CASE("functions of f64 that are missing say so") {
  std::string body = "  %a = tile.load %x[%i] widths [4] steps [1] : !tile.view<?xf64>[i64] -> tensor<4xf64>\n  %r = "
                     "math.sin %a : tensor<4xf64>\n"
                     "  tile.store %r, %x[%i] widths [4] steps [1] : tensor<4xf64>, !tile.view<?xf64>[i64]";
  Result<HostProgram> program =
      compileHost(kernelText({{"x", "f64", "inout", "?", {"N"}}}, {"N"}, {{"i", "0", "N", "4"}}, body));
  REQUIRE_FALSE(program);
  CHECK(program.error().message.find("T0503") != std::string::npos);
}
