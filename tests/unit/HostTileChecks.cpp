//===- HostTileChecks.cpp - reductions, products and control flow on the host ----------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "HostChecks.h"
#include "HostHarness.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::test {
namespace {

double identity(const std::string &kind) {
  double infinity = std::numeric_limits<double>::infinity();
  return kind == "product"         ? 1
         : kind.starts_with("max") ? -infinity
         : kind.starts_with("min") ? infinity
         : kind == "and"           ? -1
                                   : 0;
}

double combine(const std::string &kind, double a, double b) {
  if (kind == "sum")
    return a + b;
  if (kind == "product")
    return a * b;
  if (kind == "and" || kind == "or" || kind == "xor") {
    int64_t x = int64_t(a), y = int64_t(b);
    return double(kind == "and" ? x & y : kind == "or" ? x | y : x ^ y);
  }
  if (kind == "maxnum" || kind == "minnum")
    return kind == "maxnum" ? std::fmax(a, b) : std::fmin(a, b);
  if (std::isnan(a) || std::isnan(b))
    return std::nan("");
  return kind.starts_with("max") ? std::max(a, b) : std::min(a, b);
}

/// Every kind along every axis of [3, 5, 37]; NaN where the rule asks.
std::string reductions(const std::string &fault) {
  struct Case {
    const char *kind, *dtype;
    bool nan;
  };
  const int64_t shape[] = {3, 5, 37};
  for (Case c : {Case{"sum", "f32", false},
                 {"sum", "i32", false},
                 {"sum", "f64", false},
                 {"product", "f32", false},
                 {"max", "f32", true},
                 {"min", "f32", true},
                 {"maxnum", "f32", true},
                 {"minnum", "f32", true},
                 {"max", "bf16", true},
                 {"max", "f16", false},
                 {"max", "i8", false},
                 {"min", "i32", false},
                 {"maxu", "u8", false},
                 {"minu", "u32", false},
                 {"and", "i32", false},
                 {"or", "bool", false},
                 {"xor", "i64", false}})
    for (int64_t axis = 0; axis < 3; ++axis) {
      Index rest;
      std::string restShape, restIndex, restWidths, restSteps;
      for (int64_t d = 0; d < 3; ++d)
        if (d != axis) {
          rest.push_back(shape[d]);
          restShape += std::to_string(shape[d]) + "x";
        }
      Tensor x(c.dtype, {3, 5, 37}), y(c.dtype, rest);
      bool isInteger = c.dtype[0] == 'i' || c.dtype[0] == 'u';
      x.random(11, isInteger && c.dtype[0] == 'i' ? -100 : 0.5, isInteger ? 200 * 0.6 : 1.5), y.fill(0);
      if (c.nan)
        x.set({1, 2, 5}, std::nan("")), x.set({0, 0, 36}, std::nan(""));
      std::string type = irType(c.dtype);
      std::string ir = kernelText({{"x", c.dtype, "in", "3x5x37", {"3", "5", "37"}},
                                   {"y",
                                    c.dtype,
                                    "out",
                                    restShape.substr(0, restShape.size() - 1),
                                    {std::to_string(rest[0]), std::to_string(rest[1])}}},
                                  {}, {{"i", "0", "1", "1"}},
                                  fmt::format(R"(
  %c0 = arith.constant 0 : i64
  %a = tile.load %x[%c0, %c0, %c0] widths [3, 5, 37] steps [1, 1, 1] : !tile.view<3x5x37x{0}>[i64, i64, i64] -> tensor<3x5x37x{0}>
  %s = tile.reduce {1} %a, {2} : tensor<3x5x37x{0}> -> tensor<{3}{0}>
  tile.store %s, %y[%c0, %c0] widths [{4}, {5}] steps [1, 1] : tensor<{3}{0}>, !tile.view<{3}{0}>[i64, i64])",
                                              type, c.kind, axis, restShape, rest[0], rest[1]));
      std::string wrong = launch(ir, fault, {&x, &y}, {1}, 1);
      if (wrong.empty())
        wrong = compare(
            y,
            [&](const Index &at) {
              double total = std::string(c.kind).ends_with("num") ? std::nan("") : identity(c.kind);
              for (int64_t i = 0; i < shape[axis]; ++i) {
                Index from(at);
                from.insert(from.begin() + axis, i);
                total = combine(c.kind, total, x.get(from));
              }
              return total;
            },
            std::string(c.kind) == "product"                    ? 1e-1
            : c.dtype[0] == 'f' && std::string(c.kind) == "sum" ? 1e-4
                                                                : 0);
      if (!wrong.empty())
        return fmt::format("{} of {} along {}: {}", c.kind, c.dtype, axis, wrong);
    }
  return "";
}

/// Running sums and maxima both ways along both axes, and a concatenation of them.
std::string scans(const std::string &fault) {
  struct Case {
    const char *kind, *dtype;
    int64_t axis;
    bool reverse;
  };
  for (Case c : {Case{"sum", "i32", 0, false},
                 {"sum", "i64", 1, true},
                 {"max", "bf16", 1, false},
                 {"min", "f16", 0, true},
                 {"max", "f32", 1, true}}) {
    Tensor x(c.dtype, {5, 7}), y(c.dtype, {10, 7});
    x.random(22, -50, 50), y.fill(0);
    if (c.dtype[0] != 'i')
      x.set({2, 3}, std::nan(""));
    std::string ir = kernelText({{"x", c.dtype, "in", "5x7", {"5", "7"}}, {"y", c.dtype, "out", "10x7", {"10", "7"}}},
                                {}, {{"i", "0", "1", "1"}},
                                fmt::format(R"(
  %c0 = arith.constant 0 : i64
  %a = tile.load %x[%c0, %c0] widths [5, 7] steps [1, 1] : !tile.view<5x7x{0}>[i64, i64] -> tensor<5x7x{0}>
  %s = tile.scan {1} %a, {2} {3} : tensor<5x7x{0}>
  %r = tile.concat %s, %a, 0 : tensor<5x7x{0}>, tensor<5x7x{0}> -> tensor<10x7x{0}>
  tile.store %r, %y[%c0, %c0] widths [10, 7] steps [1, 1] : tensor<10x7x{0}>, !tile.view<10x7x{0}>[i64, i64])",
                                            irType(c.dtype), c.kind, c.axis, c.reverse ? "reverse" : ""));
    std::string wrong = launch(ir, fault, {&x, &y}, {1}, 1);
    if (wrong.empty())
      wrong = compare(y, [&](const Index &at) {
        if (at[0] >= 5)
          return x.get({at[0] - 5, at[1]});
        Index from(at);
        double total = x.get(at);
        int64_t last = c.axis == 0 ? 4 : 6, step = c.reverse ? 1 : -1;
        for (int64_t i = at[size_t(c.axis)] + step; i >= 0 && i <= last; i += step) {
          from[size_t(c.axis)] = i;
          total = combine(c.kind, total, x.get(from));
        }
        return total;
      });
    if (!wrong.empty())
      return fmt::format("{} of {} along {}: {}", c.kind, c.dtype, c.axis, wrong);
  }
  return "";
}

/// Fused into one: the reduction of a computed tile to a scalar, and a normalization that uses rows and sums together.
std::string softmaxRows(const std::string &fault) {
  for (int64_t n : {1, 16, 37}) {
    Tensor x("f32", {5, n}), y("f32", {5, n});
    x.random(12, -4, 4), y.fill(-1);
    std::string ir = kernelText({{"x", "f32", "in", "?x?", {"M", "N"}}, {"y", "f32", "out", "?x?", {"M", "N"}}},
                                {"M", "N"}, {{"i", "0", "M", "2"}}, R"(
  %c0 = arith.constant 0 : i64
  %inf = arith.constant 0xFF800000 : f32
  %a = tile.load %x[%i, %c0] widths [2, 40] steps [1, 1] pad %inf : !tile.view<?x?xf32>[i64, i64] pad f32 -> tensor<2x40xf32>
  %m = tile.reduce max %a, 1 : tensor<2x40xf32> -> tensor<2xf32>
  %me = tile.expand_dims %m, 1 : tensor<2xf32> -> tensor<2x1xf32>
  %mb = tile.broadcast %me : tensor<2x1xf32> -> tensor<2x40xf32>
  %d = arith.subf %a, %mb : tensor<2x40xf32>
  %e = math.exp %d : tensor<2x40xf32>
  %s = tile.reduce sum %e, 1 : tensor<2x40xf32> -> tensor<2xf32>
  %se = tile.expand_dims %s, 1 : tensor<2xf32> -> tensor<2x1xf32>
  %sb = tile.broadcast %se : tensor<2x1xf32> -> tensor<2x40xf32>
  %r = arith.divf %e, %sb : tensor<2x40xf32>
  tile.store %r, %y[%i, %c0] widths [2, 40] steps [1, 1] : tensor<2x40xf32>, !tile.view<?x?xf32>[i64, i64])");
    std::string wrong = launch(ir, fault, {&x, &y}, {5, slot(n), 3}, 3);
    if (wrong.empty())
      wrong = compare(
          y,
          [&](const Index &at) {
            double sum = 0;
            for (int64_t j = 0; j < n; ++j)
              sum += std::exp(x.get({at[0], j}));
            return std::exp(x.get(at)) / sum;
          },
          1e-6);
    if (!wrong.empty())
      return wrong;
  }
  return "";
}

/// acc + a @ b of every operand type; transposed operands, batches, extents that are a multiple of nothing.
std::string products(const std::string &fault) {
  struct Case {
    const char *dtype, *acc, *flags;
    int64_t batch, m, n, k;
    bool transposed;
  };
  for (Case c : {Case{"f32", "f32", "", 0, 5, 19, 17, false},
                 {"f32", "f32", "", 0, 5, 19, 17, true},
                 {"f32", "f32", "", 2, 3, 4, 9, true},
                 {"f16", "f32", "", 0, 4, 33, 16, true},
                 {"bf16", "f32", "", 0, 4, 8, 1, false},
                 {"f64", "f64", "", 0, 1, 1, 23, false},
                 {"i8", "i32", "", 0, 3, 7, 20, false},
                 {"u8", "i32", "{unsigned_a, unsigned_b}", 0, 3, 7, 20, false},
                 {"i64", "i64", "", 0, 2, 3, 5, false},
                 {"f8e4m3", "f32", "", 0, 3, 5, 12, true},
                 {"f8e5m2", "f32", "", 2, 3, 5, 12, false}}) {
    auto shape = [&](int64_t rows, int64_t columns) {
      Index s{rows, columns};
      if (c.batch)
        s.insert(s.begin(), c.batch);
      return s;
    };
    auto text = [](const Index &s) {
      std::string t;
      for (int64_t e : s)
        t += std::to_string(e) + "x";
      return t;
    };
    auto list = [](const Index &s) {
      std::vector<std::string> l;
      for (int64_t e : s)
        l.push_back(std::to_string(e));
      return l;
    };
    Index as = shape(c.m, c.k), bs = shape(c.k, c.n), cs = shape(c.m, c.n), bm = c.transposed ? shape(c.n, c.k) : bs;
    Tensor x(c.dtype, as), w(c.dtype, bm), z(c.acc, cs), y(c.acc, cs);
    bool isInteger = c.dtype[0] != 'f' && c.dtype[0] != 'b';
    x.random(13, c.dtype[0] == 'u' ? 0 : isInteger ? -100 : -2, isInteger ? 127 : 2);
    w.random(14,
             c.dtype[0] == 'u' ? 0
             : isInteger       ? -100
                               : -2,
             c.dtype[0] == 'u' ? 255
             : isInteger       ? 127
                               : 2),
        z.random(15), y.fill(0);
    std::string type = irType(c.dtype), zero = c.batch ? "%c0, %c0, %c0" : "%c0, %c0",
                i64s = c.batch ? "i64, i64, i64" : "i64, i64";
    std::string ones = c.batch ? "1, 1, 1" : "1, 1";
    auto load = [&](const char *name, const char *view, const Index &s, const std::string &element) {
      std::string widths = fmt::format("{}", fmt::join(s, ", "));
      return fmt::format(
          "  %{0} = tile.load %{1}[{2}] widths [{3}] steps [{4}] : !tile.view<{5}{6}>[{7}] -> tensor<{5}{6}>\n", name,
          view, zero, widths, ones, text(s), element, i64s);
    };
    std::string ir = "  %c0 = arith.constant 0 : i64\n" + load("a", "x", as, type) + load("b0", "w", bm, type) +
                     load("c", "z", cs, c.acc);
    if (c.transposed)
      ir += fmt::format("  %b = tile.permute %b0 [{0}] : tensor<{1}{3}> -> tensor<{2}{3}>\n",
                        c.batch ? "0, 2, 1" : "1, 0", text(bm), text(bs), type);
    ir += fmt::format("  %d = tile.dot %a, %{0}, %c {1} : tensor<{2}{5}>, tensor<{3}{5}> -> tensor<{4}{6}>\n",
                      c.transposed ? "b" : "b0", c.flags, text(as), text(bs), text(cs), type, c.acc);
    ir += fmt::format("  tile.store %d, %y[{0}] widths [{1}] steps [{2}] : tensor<{3}{4}>, !tile.view<{3}{4}>[{5}]",
                      zero, fmt::join(cs, ", "), ones, text(cs), c.acc, i64s);
    auto strip = [](std::string s) { return s.substr(0, s.size() - 1); };
    ir = kernelText({{"x", c.dtype, "in", strip(text(as)), list(as)},
                     {"w", c.dtype, "in", strip(text(bm)), list(bm)},
                     {"z", c.acc, "in", strip(text(cs)), list(cs)},
                     {"y", c.acc, "out", strip(text(cs)), list(cs)}},
                    {}, {{"i", "0", "1", "1"}}, ir);
    std::string wrong = launch(ir, fault, {&x, &w, &z, &y}, {1}, 1);
    if (wrong.empty())
      wrong = compare(
          y,
          [&](const Index &at) {
            double sum = z.get(at);
            for (int64_t k = 0; k < c.k; ++k) {
              Index ai(at), bi(at);
              ai.back() = k;
              bi[bi.size() - 2] = k;
              if (c.transposed)
                std::swap(bi[bi.size() - 2], bi.back());
              sum += x.get(ai) * w.get(bi);
            }
            return sum;
          },
          isInteger         ? 0
          : c.acc[1] == '6' ? 1e-12
                            : 1e-4);
    if (!wrong.empty())
      return fmt::format("{} {}x{}x{}: {}", c.dtype, c.m, c.n, c.k, wrong);
  }
  return "";
}

/// A blocked product: the accumulator is carried, and the scale of every step.
std::string carriedProduct(const std::string &fault) {
  for (int64_t k : {0, 1, 8, 21}) {
    const int64_t m = 6, n = 10;
    Tensor x("bf16", {m, k}), w("bf16", {n, k}), y("f32", {m, n}), z("f32", {m, n});
    x.random(16), w.random(17), y.fill(-1), z.fill(-1);
    std::string ir = kernelText({{"x", "bf16", "in", "?x?", {"M", "K"}},
                                 {"w", "bf16", "in", "?x?", {"N", "K"}},
                                 {"y", "f32", "out", "?x?", {"M", "N"}},
                                 {"z", "f32", "out", "?x?", {"M", "N"}}},
                                {"M", "N", "K"}, {{"i", "0", "M", "4"}, {"j", "0", "N", "8"}}, R"(
  %c0 = arith.constant 0 : i64
  %c8 = arith.constant 8 : i64
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %half = arith.constant dense<0.5> : tensor<4x8xf32>
  %K = tile.dim %x, 1 : !tile.view<?x?xbf16>
  %r:2 = scf.for %q = %c0 to %K step %c8 iter_args(%acc = %zero, %sum = %zero) -> (tensor<4x8xf32>, tensor<4x8xf32>) : i64 {
    %a = tile.load %x[%i, %q] widths [4, 8] steps [1, 1] : !tile.view<?x?xbf16>[i64, i64] -> tensor<4x8xbf16>
    %b0 = tile.load %w[%j, %q] widths [8, 8] steps [1, 1] : !tile.view<?x?xbf16>[i64, i64] -> tensor<8x8xbf16>
    %b = tile.permute %b0 [1, 0] : tensor<8x8xbf16> -> tensor<8x8xbf16>
    %d = tile.dot %a, %b, %acc : tensor<4x8xbf16>, tensor<8x8xbf16> -> tensor<4x8xf32>
    %h = arith.mulf %sum, %half : tensor<4x8xf32>
    %s = tile.dot %a, %b, %h : tensor<4x8xbf16>, tensor<8x8xbf16> -> tensor<4x8xf32>
    scf.yield %d, %s : tensor<4x8xf32>, tensor<4x8xf32>
  }
  tile.store %r#0, %y[%i, %j] widths [4, 8] steps [1, 1] : tensor<4x8xf32>, !tile.view<?x?xf32>[i64, i64]
  tile.store %r#1, %z[%i, %j] widths [4, 8] steps [1, 1] : tensor<4x8xf32>, !tile.view<?x?xf32>[i64, i64])");
    std::string wrong = launch(ir, fault, {&x, &w, &y, &z}, {slot(m), slot(n), slot(k), 2, 2}, 4);
    auto step = [&](const Index &at, int64_t from) {
      double sum = 0;
      for (int64_t q = from; q < std::min(from + 8, k); ++q)
        sum += x.get({at[0], q}) * w.get({at[1], q});
      return sum;
    };
    auto total = [&](const Index &at, double factor) {
      double sum = 0;
      for (int64_t q = 0; q < k; q += 8)
        sum = sum * factor + step(at, q);
      return sum;
    };
    if (wrong.empty())
      wrong = compare(
          y, [&](const Index &at) { return total(at, 1); }, 1e-4);
    if (wrong.empty())
      wrong = compare(
          z, [&](const Index &at) { return total(at, 0.5); }, 1e-4);
    if (!wrong.empty())
      return fmt::format("k = {}: {}", k, wrong);
  }
  return "";
}

/// Carried tiles that change places, a carried scalar, run-time bounds and steps, a step of 0, an end near the largest integer.
std::string loops(const std::string &fault) {
  struct Case {
    int64_t lo, hi, step;
  };
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  for (Case c : {Case{0, 5, 1}, {0, 0, 1}, {3, 1, 1}, {-4, 9, 3}, {0, 5, 0}, {0, 5, -1}, {kMax - 7, kMax, 3}}) {
    Tensor x("f32", {4}), y("f32", {3, 4}), n("i64", {});
    x.random(18), y.fill(-1), n.fill(-1);
    std::string ir = kernelText({{"x", "f32", "in", "4", {"4"}},
                                 {"y", "f32", "out", "3x4", {"3", "4"}},
                                 {"n", "i64", "out", "", {}},
                                 {"lo", "i64", "", "", {}},
                                 {"hi", "i64", "", "", {}},
                                 {"st", "i64", "", "", {}}},
                                {}, {{"i", "0", "1", "1"}}, R"(
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %a = tile.load %x[%c0] widths [4] steps [1] : !tile.view<4xf32>[i64] -> tensor<4xf32>
  %r:4 = scf.for %q = %lo to %hi step %st iter_args(%p = %a, %s = %one, %t = %a, %k = %c0) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, i64) : i64 {
    %u = arith.addf %p, %s : tensor<4xf32>
    %v = arith.subf %t, %u : tensor<4xf32>
    %k1 = arith.addi %k, %c1 : i64
    scf.yield %s, %p, %v, %k1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, i64
  }
  tile.store %r#0, %y[%c0, %c0] widths [0, 4] steps [1, 1] : tensor<4xf32>, !tile.view<3x4xf32>[i64, i64]
  tile.store %r#1, %y[%c1, %c0] widths [0, 4] steps [1, 1] : tensor<4xf32>, !tile.view<3x4xf32>[i64, i64]
  tile.store %r#2, %y[%c2, %c0] widths [0, 4] steps [1, 1] : tensor<4xf32>, !tile.view<3x4xf32>[i64, i64]
  tile.store %r#3, %n[] widths [] steps [] : i64, !tile.view<i64>)");
    std::string wrong = launch(ir, fault, {&x, &y, &n}, {slot(c.lo), slot(c.hi), slot(c.step), 1}, 1);
    int64_t count = c.step <= 0 || c.lo >= c.hi ? 0 : (c.hi - c.lo - 1) / c.step + 1;
    if (wrong.empty())
      wrong = compare(n, [&](const Index &) { return double(count); });
    if (wrong.empty())
      wrong = compare(y, [&](const Index &at) {
        float p = float(x.get({at[1]})), s = 1, t = p;
        for (int64_t i = 0; i < count; ++i) {
          t = t - (p + s);
          std::swap(p, s);
        }
        return at[0] == 0 ? p : at[0] == 1 ? s : t;
      });
    if (!wrong.empty())
      return fmt::format("{}..{} by {}: {}", c.lo, c.hi, c.step, wrong);
  }
  return "";
}

/// Tiles out of `if`, and carried by `while` through both of its regions.
std::string branches(const std::string &fault) {
  for (int64_t k : {0, 1, 2, 5}) {
    Tensor x("f32", {4}), y("f32", {2, 4});
    x.random(19), y.fill(-1);
    std::string ir =
        kernelText({{"x", "f32", "in", "4", {"4"}}, {"y", "f32", "out", "2x4", {"2", "4"}}, {"k", "i64", "", "", {}}},
                   {}, {{"i", "0", "1", "1"}},
                   R"(
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %a = tile.load %x[%c0] widths [4] steps [1] : !tile.view<4xf32>[i64] -> tensor<4xf32>
  %few = arith.cmpi slt, %k, %c2 : i64
  %b = scf.if %few -> tensor<4xf32> {
    %s = tile.reduce max %a, 0 : tensor<4xf32> -> f32
    %sb = tile.broadcast %s : f32 -> tensor<4xf32>
    scf.yield %sb : tensor<4xf32>
  } else {
    %s = tile.reduce min %a, 0 : tensor<4xf32> -> f32
    %sb = tile.broadcast %s : f32 -> tensor<4xf32>
    %t = arith.addf %sb, %a : tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  }
  %w:2 = scf.while (%n = %c0, %p = %a) : (i64, tensor<4xf32>) -> (tensor<4xf32>, i64) {
    %more = arith.cmpi slt, %n, %k : i64
    %q = arith.addf %p, %one : tensor<4xf32>
    scf.condition(%more) %q, %n : tensor<4xf32>, i64
  } do {
  ^bb0(%q: tensor<4xf32>, %n: i64):
    %n1 = arith.addi %n, %c1 : i64
    %r = arith.mulf %q, %b : tensor<4xf32>
    scf.yield %n1, %r : i64, tensor<4xf32>
  }
  tile.store %b, %y[%c0, %c0] widths [0, 4] steps [1, 1] : tensor<4xf32>, !tile.view<2x4xf32>[i64, i64]
  tile.store %w#0, %y[%c1, %c0] widths [0, 4] steps [1, 1] : tensor<4xf32>, !tile.view<2x4xf32>[i64, i64])");
    std::string wrong = launch(ir, fault, {&x, &y}, {slot(k), 1}, 1);
    float most = -1e30f, least = 1e30f;
    x.each(
        [&](const Index &at) { most = std::max(most, float(x.get(at))), least = std::min(least, float(x.get(at))); });
    if (wrong.empty())
      wrong = compare(y, [&](const Index &at) {
        float a = float(x.get({at[1]})), b = k < 2 ? most : least + a, p = a;
        for (int64_t n = 0; n < k; ++n)
          p = (p + 1) * b;
        return at[0] == 0 ? b : p + 1;
      });
    if (!wrong.empty())
      return fmt::format("k = {}: {}", k, wrong);
  }
  return "";
}

/// A value that reads what a store of the same program replaces; a tile that is read after its loop has changed it; a list of constants.
std::string inPlace(const std::string &fault) {
  Tensor x("i32", {8}), y("i32", {8});
  x.random(20, -50, 50), y.fill(-1);
  std::string ir =
      kernelText({{"x", "i32", "inout", "8", {"8"}}, {"y", "i32", "out", "8", {"8"}}}, {}, {{"i", "0", "1", "1"}}, R"(
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c3 = arith.constant 3 : i64
  %list = arith.constant dense<[3, 1, 4, 1, 5, 9, 2, 6]> : tensor<8xi32>
  %a = tile.load %x[%c1] widths [8] steps [1] : !tile.view<8xi32>[i64] -> tensor<8xi32>
  %b = arith.addi %a, %list : tensor<8xi32>
  tile.store %b, %x[%c0] widths [8] steps [1] : tensor<8xi32>, !tile.view<8xi32>[i64]
  %r = scf.for %q = %c0 to %c3 step %c1 iter_args(%p = %a) -> tensor<8xi32> : i64 {
    %s = arith.muli %p, %list : tensor<8xi32>
    scf.yield %s : tensor<8xi32>
  }
  %d = arith.subi %r, %a : tensor<8xi32>
  tile.store %d, %y[%c0] widths [8] steps [1] : tensor<8xi32>, !tile.view<8xi32>[i64])");
  Tensor before = x;
  std::string wrong = launch(ir, fault, {&x, &y}, {1}, 1);
  const int list[] = {3, 1, 4, 1, 5, 9, 2, 6};
  auto a = [&](int64_t i) { return i + 1 < 8 ? before.get({i + 1}) : 0.0; };
  if (wrong.empty())
    wrong = compare(x, [&](const Index &at) { return a(at[0]) + list[at[0]]; });
  if (wrong.empty())
    wrong = compare(y, [&](const Index &at) { return a(at[0]) * std::pow(list[at[0]], 3) - a(at[0]); });
  return wrong;
}

} // namespace

const std::vector<HostCheck> &tileChecks() {
  // The longest last: with a planted fault the first red check ends the search.
  static const std::vector<HostCheck> checks = {{"softmax", softmaxRows}, {"carried product", carriedProduct},
                                                {"loops", loops},         {"branches", branches},
                                                {"in place", inPlace},    {"scans", scans},
                                                {"products", products},   {"reductions", reductions}};
  return checks;
}

} // namespace tessera::test
