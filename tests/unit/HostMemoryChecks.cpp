//===- HostMemoryChecks.cpp - loads, stores, views, shapes on the host ------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "HostChecks.h"
#include "HostHarness.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::test {
namespace {

/// y = x * 2.5 + z, ragged in both dimensions, rows with gaps.
std::string elementwise(const std::string &fault) {
  for (auto [m, n] : {std::pair<int64_t, int64_t>{7, 13}, {1, 1}, {8, 16}, {3, 40}}) {
    Tensor x("f32", {m, n}, {n + 3, 1}), z("f32", {n}), y("f32", {m, n}, {n + 5, 1});
    x.random(1), z.random(2), y.fill(-1);
    std::string ir = kernelText(
        {{"x", "f32", "in", "?x?", {"M", "N"}}, {"z", "f32", "in", "?", {"N"}}, {"y", "f32", "out", "?x?", {"M", "N"}}},
        {"M", "N"}, {{"i", "0", "M", "4"}, {"j", "0", "N", "8"}}, R"(
  %c = arith.constant dense<2.5> : tensor<4x8xf32>
  %a = tile.load %x[%i, %j] widths [4, 8] steps [1, 1] : !tile.view<?x?xf32>[i64, i64] -> tensor<4x8xf32>
  %r = tile.load %z[%j] widths [8] steps [1] : !tile.view<?xf32>[i64] -> tensor<8xf32>
  %w = tile.broadcast %r : tensor<8xf32> -> tensor<4x8xf32>
  %s = arith.mulf %a, %c : tensor<4x8xf32>
  %t = arith.addf %s, %w : tensor<4x8xf32>
  tile.store %t, %y[%i, %j] widths [4, 8] steps [1, 1] : tensor<4x8xf32>, !tile.view<?x?xf32>[i64, i64])");
    std::string wrong = launch(ir, fault, {&x, &z, &y}, {slot(m), slot(n), slot((m + 3) / 4), slot((n + 7) / 8)},
                               (m + 3) / 4 * ((n + 7) / 8));
    if (wrong.empty())
      wrong = compare(y, [&](const Index &at) { return float(float(x.get(at) * 2.5f) + float(z.get({at[1]}))); });
    if (!wrong.empty())
      return wrong;
  }
  return "";
}

/// What lies outside reads the padding; starts below zero and past the end; steps; single indices.
std::string padding(const std::string &fault) {
  for (const char *pad : {"7.0", "0.0"}) {
    const int64_t m = 5, n = 9;
    Tensor x("f32", {m, n}), y("f32", {8, 16}), s("f32", {4});
    x.random(3), y.fill(-1), s.fill(-1);
    std::string ir = kernelText({{"x", "f32", "in", "?x?", {"M", "N"}},
                                 {"y", "f32", "out", "8x16", {"8", "16"}},
                                 {"s", "f32", "out", "4", {"4"}}},
                                {"M", "N"}, {{"i", "0", "1", "1"}},
                                fmt::format(R"(
  %p = arith.constant {} : f32
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %m2 = arith.constant -2 : i64
  %m5 = arith.constant -5 : i64
  %c9 = arith.constant 9 : i64
  %a = tile.load %x[%m2, %m5] widths [8, 16] steps [1, 2] pad %p : !tile.view<?x?xf32>[i64, i64] pad f32 -> tensor<8x16xf32>
  tile.store %a, %y[%c0, %c0] widths [8, 16] steps [1, 1] : tensor<8x16xf32>, !tile.view<8x16xf32>[i64, i64]
  %e0 = tile.load %x[%c3, %c3] widths [0, 0] steps [1, 1] pad %p : !tile.view<?x?xf32>[i64, i64] pad f32 -> f32
  %e1 = tile.load %x[%m2, %c3] widths [0, 0] steps [1, 1] pad %p : !tile.view<?x?xf32>[i64, i64] pad f32 -> f32
  %e2 = tile.load %x[%c0, %c9] widths [0, 0] steps [1, 1] pad %p : !tile.view<?x?xf32>[i64, i64] pad f32 -> f32
  tile.store %e0, %s[%c0] widths [0] steps [1] : f32, !tile.view<4xf32>[i64]
  tile.store %e1, %s[%c1] widths [0] steps [1] : f32, !tile.view<4xf32>[i64]
  tile.store %e2, %s[%c2] widths [0] steps [1] : f32, !tile.view<4xf32>[i64]
  tile.store %e2, %s[%m2] widths [0] steps [1] : f32, !tile.view<4xf32>[i64])",
                                            pad));
    std::string wrong = launch(ir, fault, {&x, &y, &s}, {slot(m), slot(n), 1}, 1);
    double p = std::stod(pad);
    auto at = [&](int64_t i, int64_t j) { return i >= 0 && i < m && j >= 0 && j < n ? x.get({i, j}) : p; };
    if (wrong.empty())
      wrong = compare(y, [&](const Index &i) { return at(i[0] - 2, i[1] * 2 - 5); });
    if (wrong.empty())
      wrong = compare(s, [&](const Index &i) { return i[0] == 0 ? at(3, 3) : i[0] == 3 ? -1 : p; });
    if (!wrong.empty())
      return wrong;
  }
  return "";
}

/// Stores reach only what exists, below zero too; strided columns.
std::string stores(const std::string &fault) {
  const int64_t m = 5, n = 9;
  Tensor y("f32", {m, n}, {1, m + 2}), z("i64", {6});
  y.fill(-1), z.fill(-1);
  std::string ir = kernelText({{"y", "f32", "out", "?x?", {"M", "N"}}, {"z", "i64", "out", "?", {"6"}}}, {"M", "N"},
                              {{"i", "0", "1", "1"}}, R"(
  %m2 = arith.constant -2 : i64
  %m3 = arith.constant -3 : i64
  %n = tile.iota : tensor<4xi64>
  %e = tile.expand_dims %n, 1 : tensor<4xi64> -> tensor<4x1xi64>
  %w = tile.broadcast %e : tensor<4x1xi64> -> tensor<4x16xi64>
  %f = tile.convert %w : tensor<4x16xi64> -> tensor<4x16xf32>
  tile.store %f, %y[%m2, %m3] widths [4, 16] steps [1, 1] : tensor<4x16xf32>, !tile.view<?x?xf32>[i64, i64]
  tile.store %n, %z[%m2] widths [4] steps [3] : tensor<4xi64>, !tile.view<?xi64>[i64])");
  std::string wrong = launch(ir, fault, {&y, &z}, {slot(m), slot(n), 1}, 1);
  if (wrong.empty())
    wrong = compare(y, [&](const Index &at) { return at[0] < 2 ? double(at[0] + 2) : -1.0; });
  if (wrong.empty())
    wrong = compare(z, [&](const Index &at) { return (at[0] + 2) % 3 == 0 ? double((at[0] + 2) / 3) : -1.0; });
  return wrong;
}

/// Views of views: a dropped dimension, a range, a range of it; inverted and outside ranges; inside; dim.
std::string views(const std::string &fault) {
  const int64_t b = 3, n = 10;
  Tensor x("f32", {b, n}), y("f32", {4, 16}), in("bool", {4, 16}), d("i64", {4, 2});
  x.random(5), y.fill(-1), in.fill(0), d.fill(-1);
  struct Case {
    int64_t row, lo, hi, lo2, hi2;
  };
  Case cases[] = {{1, 2, 8, 1, 4}, {2, -3, 20, 4, 30}, {-1, 0, 10, 0, 10}, {0, 6, 3, -2, 5}};
  std::string ir = kernelText({{"x", "f32", "in", "?x?", {"B", "N"}},
                               {"y", "f32", "out", "4x16", {"4", "16"}},
                               {"in", "bool", "out", "4x16", {"4", "16"}},
                               {"d", "i64", "out", "4x2", {"4", "2"}},
                               {"q", "i64", "", "", {}},
                               {"row", "i64", "", "", {}},
                               {"lo", "i64", "", "", {}},
                               {"hi", "i64", "", "", {}},
                               {"lo2", "i64", "", "", {}},
                               {"hi2", "i64", "", "", {}}},
                              {"B", "N"}, {{"i", "0", "1", "1"}}, R"(
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %m2 = arith.constant -2 : i64
  %v = tile.subview %x[%row, %lo, %hi] kinds [0, 2] : !tile.view<?x?xf32> -> !tile.view<?xf32>
  %w = tile.subview %v[%lo2, %hi2] kinds [2] : !tile.view<?xf32> -> !tile.view<?xf32>
  %a = tile.load %w[%m2] widths [16] steps [1] : !tile.view<?xf32>[i64] -> tensor<16xf32>
  %s = tile.inside %w[%m2] widths [16] steps [1] : !tile.view<?xf32>[i64] -> tensor<16xi1>
  %d0 = tile.dim %v, 0 : !tile.view<?xf32>
  %d1 = tile.dim %w, 0 : !tile.view<?xf32>
  tile.store %a, %y[%q, %c0] widths [0, 16] steps [1, 1] : tensor<16xf32>, !tile.view<4x16xf32>[i64, i64]
  tile.store %s, %in[%q, %c0] widths [0, 16] steps [1, 1] : tensor<16xi1>, !tile.view<4x16xi1>[i64, i64]
  tile.store %d0, %d[%q, %c0] widths [0, 0] steps [1, 1] : i64, !tile.view<4x2xi64>[i64, i64]
  tile.store %d1, %d[%q, %c1] widths [0, 0] steps [1, 1] : i64, !tile.view<4x2xi64>[i64, i64])");
  for (int64_t q = 0; q < 4; ++q) {
    const Case &c = cases[q];
    std::string wrong =
        launch(ir, fault, {&x, &y, &in, &d},
               {slot(b), slot(n), slot(q), slot(c.row), slot(c.lo), slot(c.hi), slot(c.lo2), slot(c.hi2), 1}, 1);
    if (!wrong.empty())
      return wrong;
  }
  auto place = [&](const Index &at) {
    const Case &c = cases[at[0]];
    int64_t inner = at[1] - 2, middle = inner + c.lo2, outer = middle + c.lo;
    bool inside = c.row >= 0 && c.row < b && inner >= 0 && inner < c.hi2 - c.lo2 && middle >= 0 &&
                  middle < c.hi - c.lo && outer >= 0 && outer < n;
    return std::pair(inside, outer);
  };
  std::string wrong = compare(y, [&](const Index &at) {
    return place(at).first ? x.get({cases[at[0]].row, place(at).second}) : 0.0;
  });
  if (wrong.empty())
    wrong = compare(in, [&](const Index &at) { return double(place(at).first); });
  if (wrong.empty())
    wrong = compare(d, [&](const Index &at) {
      const Case &c = cases[at[0]];
      return double(std::max<int64_t>(at[1] ? c.hi2 - c.lo2 : c.hi - c.lo, 0));
    });
  return wrong;
}

/// Index tiles that broadcast against each other, some outside.
std::string gather(const std::string &fault) {
  const int64_t v = 6, c = 7, r = 5;
  Tensor x("f16", {v, 2, c}), rows("i64", {r}), columns("i64", {4}), y("f16", {r, 4, 2}), z("f16", {v, c});
  x.random(6), y.fill(-1), z.fill(-1);
  int64_t rowList[] = {0, 5, -1, 2, 6}, columnList[] = {6, 1, 7, 3};
  for (int64_t i = 0; i < r; ++i)
    rows.set({i}, double(rowList[i]));
  for (int64_t i = 0; i < 4; ++i)
    columns.set({i}, double(columnList[i]));
  std::string ir = kernelText({{"x", "f16", "in", "?x2x?", {"V", "2", "C"}},
                               {"rows", "i64", "in", "?", {"R"}},
                               {"cols", "i64", "in", "4", {"4"}},
                               {"y", "f16", "out", "?x4x2", {"R", "4", "2"}},
                               {"z", "f16", "out", "?x?", {"V", "C"}}},
                              {"V", "C", "R"}, {{"i", "0", "1", "1"}}, R"(
  %c0 = arith.constant 0 : i64
  %out = arith.constant -1 : i64
  %p = arith.constant 3.0 : f16
  %r0 = tile.load %rows[%c0] widths [5] steps [1] pad %out : !tile.view<?xi64>[i64] pad i64 -> tensor<5xi64>
  %r = tile.expand_dims %r0, 1 : tensor<5xi64> -> tensor<5x1xi64>
  %c = tile.load %cols[%c0] widths [4] steps [1] : !tile.view<4xi64>[i64] -> tensor<4xi64>
  %a = tile.load %x[%r, %c0, %c] widths [-1, 2, -1] steps [1, 1, 1] pad %p : !tile.view<?x2x?xf16>[tensor<5x1xi64>, i64, tensor<4xi64>] pad f16 -> tensor<5x4x2xf16>
  tile.store %a, %y[%c0, %c0, %c0] widths [5, 4, 2] steps [1, 1, 1] : tensor<5x4x2xf16>, !tile.view<?x4x2xf16>[i64, i64, i64]
  %n = tile.convert %r : tensor<5x1xi64> -> tensor<5x1xf16>
  %w = tile.broadcast %n : tensor<5x1xf16> -> tensor<5x4xf16>
  tile.store %w, %z[%r, %c] widths [-1, -1] steps [1, 1] : tensor<5x4xf16>, !tile.view<?x?xf16>[tensor<5x1xi64>, tensor<4xi64>])");
  std::string wrong = launch(ir, fault, {&x, &rows, &columns, &y, &z}, {slot(v), slot(c), slot(r), 1}, 1);
  if (wrong.empty())
    wrong = compare(y, [&](const Index &at) {
      int64_t i = rowList[at[0]], j = columnList[at[1]];
      return i >= 0 && i < v && j >= 0 && j < c ? x.get({i, at[2], j}) : 3.0;
    });
  if (wrong.empty())
    wrong = compare(z, [&](const Index &at) {
      bool row = std::ranges::find(rowList, at[0]) != std::end(rowList),
           column = std::ranges::find(columnList, at[1]) != std::end(columnList);
      return row && column ? double(at[0]) : -1.0;
    });
  return wrong;
}

/// permute, expand_dims, broadcast, reshape, iota, select; a lookalike of a transposition in square shapes.
std::string shapes(const std::string &fault) {
  Tensor x("f32", {8, 8}), v("f32", {8}), y("f32", {6, 8, 8});
  x.random(7), v.random(8), y.fill(-1);
  auto store = [](const char *value, int plane) {
    return fmt::format("  %p{} = arith.constant {} : i64\n  tile.store {}, %y[%p{}, %c0, %c0] widths [0, 8, 8] steps "
                       "[1, 1, 1] : tensor<8x8xf32>, !tile.view<6x8x8xf32>[i64, i64, i64]\n",
                       plane, plane, value, plane);
  };
  std::string ir = kernelText({{"x", "f32", "in", "8x8", {"8", "8"}},
                               {"v", "f32", "in", "8", {"8"}},
                               {"y", "f32", "out", "6x8x8", {"6", "8", "8"}}},
                              {}, {{"i", "0", "1", "1"}},
                              R"(
  %c0 = arith.constant 0 : i64
  %a = tile.load %x[%c0, %c0] widths [8, 8] steps [1, 1] : !tile.view<8x8xf32>[i64, i64] -> tensor<8x8xf32>
  %r = tile.load %v[%c0] widths [8] steps [1] : !tile.view<8xf32>[i64] -> tensor<8xf32>
  %t = tile.permute %a [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %row = tile.broadcast %r : tensor<8xf32> -> tensor<8x8xf32>
  %e = tile.expand_dims %r, 1 : tensor<8xf32> -> tensor<8x1xf32>
  %column = tile.broadcast %e : tensor<8x1xf32> -> tensor<8x8xf32>
  %double = arith.addf %a, %a : tensor<8x8xf32>
  %flat = tile.reshape %double : tensor<8x8xf32> -> tensor<2x4x8xf32>
  %turned = tile.permute %flat [2, 0, 1] : tensor<2x4x8xf32> -> tensor<8x2x4xf32>
  %back = tile.reshape %turned : tensor<8x2x4xf32> -> tensor<8x8xf32>
  %n = tile.iota : tensor<8xi64>
  %ne = tile.expand_dims %n, 1 : tensor<8xi64> -> tensor<8x1xi64>
  %ni = tile.broadcast %ne : tensor<8x1xi64> -> tensor<8x8xi64>
  %nj = tile.broadcast %n : tensor<8xi64> -> tensor<8x8xi64>
  %lower = arith.cmpi sge, %ni, %nj : tensor<8x8xi64>
  %s = arith.select %lower, %a, %row : tensor<8x8xi1>, tensor<8x8xf32>
  %number = tile.convert %nj : tensor<8x8xi64> -> tensor<8x8xf32>
)" + store("%t", 0) + store("%row", 1) +
                                  store("%column", 2) + store("%back", 3) + store("%s", 4) + store("%number", 5));
  std::string wrong = launch(ir, fault, {&x, &v, &y}, {1}, 1);
  if (wrong.empty())
    wrong = compare(y, [&](const Index &at) {
      int64_t i = at[1], j = at[2];
      switch (at[0]) {
      case 0:
        return x.get({j, i});
      case 1:
        return v.get({j});
      case 2:
        return v.get({i});
      case 3: // [2x4][8] turned to [8][2x4]
        return 2 * x.get({j, i});
      case 4:
        return i >= j ? x.get({i, j}) : v.get({j});
      default:
        return double(j);
      }
    });
  return wrong;
}

/// Every element type comes in and goes out unchanged, rank 0 and scalar parameters too.
std::string types(const std::string &fault) {
  for (const char *dtype :
       {"bool", "i8", "u8", "i16", "i32", "u32", "i64", "f16", "bf16", "f32", "f64", "f8e4m3", "f8e5m2"}) {
    Tensor x(dtype, {11}), y(dtype, {11}), r(dtype, {});
    x.random(9, 0, 100), y.fill(0), r.fill(0);
    std::string type = irType(dtype);
    std::string ir = kernelText({{"x", dtype, "in", "?", {"N"}},
                                 {"y", dtype, "out", "?", {"N"}},
                                 {"r", dtype, "out", "", {}},
                                 {"v", dtype, "", "", {}}},
                                {"N"}, {{"i", "0", "N", "4"}},
                                fmt::format(R"(
  %a = tile.load %x[%i] widths [4] steps [1] : !tile.view<?x{0}>[i64] -> tensor<4x{0}>
  %vs = tile.broadcast %v : {0} -> tensor<4x{0}>
  %n = tile.iota : tensor<4xi64>
  %c1 = arith.constant dense<1> : tensor<4xi64>
  %m = arith.cmpi eq, %n, %c1 : tensor<4xi64>
  %s = arith.select %m, %vs, %a : tensor<4xi1>, tensor<4x{0}>
  tile.store %s, %y[%i] widths [4] steps [1] : tensor<4x{0}>, !tile.view<?x{0}>[i64]
  tile.store %v, %r[] widths [] steps [] : {0}, !tile.view<{0}>)",
                                            type));
    std::string wrong = launch(ir, fault, {&x, &y, &r}, {11, x.bits({5}), 3}, 3);
    if (wrong.empty())
      wrong = compare(y, [&](const Index &at) { return x.get({at[0] % 4 == 1 ? 5 : at[0]}); });
    if (wrong.empty())
      wrong = compare(r, [&](const Index &) { return x.get({5}); });
    if (!wrong.empty())
      return std::string(dtype) + ": " + wrong;
  }
  return "";
}

/// Sums of all programs into one tensor, duplicate targets included; atomics inside and outside.
std::string atomics(const std::string &fault) {
  const int64_t n = 50;
  Tensor x("i64", {n}), h("f32", {5}), a("i32", {6}), old("i32", {n, 6});
  x.random(21, -1, 6), h.fill(0.5), a.fill(10), old.fill(-1);
  std::string atoms;
  const char *kinds[] = {"add", "max", "min", "exchange", "xor", "add"};
  for (int64_t k = 0; k < 6; ++k) // the last one outside
    atoms += fmt::format(
        "  %k{0} = arith.constant {1} : i64\n  %d{0} = arith.constant {0} : i64\n"
        "  %o{0} = tile.atomic {2} %v, %a[%k{0}] widths [0] steps [1] order {3} : i32, !tile.view<6xi32>[i64] -> i32\n"
        "  tile.store %o{0}, %old[%q, %d{0}] widths [0, 0] steps [1, 1] : i32, !tile.view<?x6xi32>[i64, i64]\n",
        k, k == 5 ? 6 : k, kinds[k], k % 2 ? "acq_rel" : "relaxed");
  std::string ir = kernelText({{"x", "i64", "in", "?", {"N"}},
                               {"h", "f32", "accum", "5", {"5"}},
                               {"a", "i32", "inout", "6", {"6"}},
                               {"old", "i32", "out", "?x6", {"N", "6"}}},
                              {"N"}, {{"q", "0", "N", "1"}}, R"(
  %out = arith.constant -1 : i64
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %i = tile.load %x[%q] widths [4] steps [1] pad %out : !tile.view<?xi64>[i64] pad i64 -> tensor<4xi64>
  tile.accumulate %one, %h[%i] widths [-1] steps [1] : tensor<4xf32>, !tile.view<5xf32>[tensor<4xi64>]
  %v = arith.trunci %q : i64 to i32
)" + atoms);
  std::string wrong = launch(ir, fault, {&x, &h, &a, &old}, {slot(n), slot(n)}, n);
  if (wrong.empty())
    wrong = compare(h, [&](const Index &at) {
      double sum = 0.5;
      for (int64_t q = 0; q < n; ++q)
        for (int64_t i = q; i < std::min(q + 4, n); ++i)
          sum += x.get({i}) == double(at[0]);
      return sum;
    });
  auto after = [&](int64_t k, int64_t programs) {
    int64_t value = 10;
    for (int64_t q = 0; q < programs; ++q)
      value = k == 0   ? value + q
              : k == 1 ? std::max(value, q)
              : k == 2 ? std::min(value, q)
              : k == 3 ? q
              : k == 4 ? value ^ q
                       : value;
    return double(value);
  };
  if (wrong.empty())
    wrong = compare(a, [&](const Index &at) { return after(at[0], n); });
  if (wrong.empty())
    wrong = compare(old, [&](const Index &at) { return at[1] == 5 ? 0 : after(at[1], at[0]); });
  return wrong;
}

/// The grid: offsets, steps, expressions; each program once, any split of the range.
std::string grid(const std::string &fault) {
  const int64_t n = 29, k = 3;
  Tensor y("i64", {n, 4});
  y.fill(-1);
  std::string ir = kernelText({{"y", "i64", "inout", "?x4", {"N", "4"}}, {"k", "i32", "", "", {}}}, {"N"},
                              {{"i", "(+ 2 (% N 3))", "(- N 1)", "(ceildiv N (* k 4))"}, {"j", "0", "4", "1"}}, R"(
  %ten = arith.constant 10 : i64
  %a = arith.muli %i, %ten : i64
  %b = arith.addi %a, %j : i64
  tile.store %b, %y[%i, %j] widths [0, 0] steps [1, 1] : i64, !tile.view<?x4xi64>[i64, i64])");
  Result<HostProgram> program = compileHost(ir, fault);
  if (!program)
    return program.error().message;
  int64_t lo = 2 + n % 3, step = (n + 11) / 12, count = (n - 1 - lo + step - 1) / step;
  std::vector<uint64_t> slots;
  y.pushSlots(slots);
  slots.insert(slots.end(), {slot(n), slot(k), slot(count), 4});
  program->run(slots, 0, 1);
  program->run(slots, 1, 7);
  program->run(slots, 7, 7);
  program->run(slots, 7, count * 4);
  if (!y.guardsIntact())
    return "wrote outside a tensor";
  return compare(y, [&](const Index &at) {
    bool hit = at[0] >= lo && at[0] < n - 1 && (at[0] - lo) % step == 0;
    return hit ? double(at[0] * 10 + at[1]) : -1.0;
  });
}

} // namespace

const std::vector<HostCheck> &memoryChecks() {
  static const std::vector<HostCheck> checks = {
      {"elementwise", elementwise}, {"padding", padding}, {"stores", stores}, {"views", views},    {"gather", gather},
      {"shapes", shapes},           {"types", types},     {"grid", grid},     {"atomics", atomics}};
  return checks;
}

} // namespace tessera::test
