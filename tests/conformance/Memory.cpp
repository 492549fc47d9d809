//===- Memory.cpp - slices, views and index tiles of the matrix -------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// One program reads or writes a slice of 24 that begins before the tensor, inside it or past its end, of tensors of every extent.
//
#include "tests/conformance/Cases.h"

#include <fmt/format.h>

#include <memory>

namespace tessera::conformance {
namespace {

constexpr int64_t kWidth = 24;
constexpr int64_t kExtents[] = {1, 2, 15, 16, 17, 24, 25};
constexpr int64_t kStarts[] = {-3, 0, 5, 30};

/// A form: the expression for y[0 +: 24], and which element of x stands at place i (-1: padding), of x with `extent` elements from `start` on.
struct Access {
  const char *label, *expression;
  int64_t (*element)(int64_t i, int64_t start, int64_t extent);
};

std::vector<Access> accessesOf(const std::string &op) {
  if (op == "load")
    return {{"plain", "x[s +: 24]", [](int64_t i, int64_t s, int64_t) { return s + i; }},
            {"by 3", "x[s +: 24 by 3]", [](int64_t i, int64_t s, int64_t) { return s + 3 * i; }}};
  if (op == "gather")
    return {{"backwards", "x[s + 23 - iota(24)]", [](int64_t i, int64_t s, int64_t) { return s + 23 - i; }},
            {"spread", "x[iota(24) * 5 % 7 + s]", [](int64_t i, int64_t s, int64_t) { return i * 5 % 7 + s; }}};
  if (op == "view")
    return {{"range", "x[2..N - 1][s +: 24]",
             [](int64_t i, int64_t s, int64_t n) { return s + i < 0 || 2 + s + i >= n - 1 ? -1 : 2 + s + i; }}};
  return {};
}

} // namespace

void addMemory(const Operation &operation, DType type, std::vector<Case> &cases) {
  std::string op(operation.name), word(nameOf(type));
  auto push = [&](std::string label, std::string source, int64_t extent, int64_t start, bool writes,
                  std::function<Want(const Data &, int64_t)> want, DType result) {
    cases.push_back({op, type, fmt::format("{} extent {} from {}", label, extent, start), [=](Bench &bench) {
                       Data x(type, {extent}),
                           y(result, {writes ? extent : kWidth}, 0x5a5a5a5a5a5a5a5au & maskOf(result));
                       Data v(type, {kWidth});
                       for (int64_t i = 0; i < extent; ++i)
                         x.set(i, randomBits(type, uint64_t(i)));
                       for (int64_t i = 0; i < kWidth; ++i)
                         v.set(i, randomBits(type, uint64_t(i + 300)));
                       if (std::string error = bench.launch(source, {writes ? &v : &x, &y}, {start}); !error.empty())
                         return error;
                       const Data &read = writes ? v : x;
                       return compare(y, [&](int64_t i) { return want(read, i); });
                     }});
  };
  for (int64_t extent : kExtents)
    for (int64_t start : kStarts) {
      for (const Access &access : accessesOf(op)) {
        std::string source = fmt::format(
            "kernel k(x: in {0}[N], y: out {0}[24], s: i64)\n  grid (g in 0..1)\n{{\n  y[0 +: 24] = {1}\n}}\n", word,
            access.expression);
        auto element = access.element;
        push(
            access.label, source, extent, start, false,
            [=](const Data &x, int64_t i) {
              int64_t at = element(i, start, extent);
              return Want::exactly(at < 0 || at >= extent ? 0 : x[at]);
            },
            type);
      }
      if (op == "inside")
        push(
            "slice",
            fmt::format("kernel k(x: in {}[N], y: out bool[24], s: i64)\n  grid (g in 0..1)\n{{\n  y[0 +: 24] = "
                        "inside(x[s +: 24])\n}}\n",
                        word),
            extent, start, false,
            [=](const Data &, int64_t i) { return Want::exactly(start + i >= 0 && start + i < extent); }, DType::Bool);
      if (op == "store" || op == "scatter") {
        std::string index = op == "store" ? "s +: 24" : "s + 23 - iota(24)";
        push(
            "slice",
            fmt::format(
                "kernel k(v: in {0}[24], y: out {0}[N], s: i64)\n  grid (g in 0..1)\n{{\n  y[{1}] = v[0 +: 24]\n}}\n",
                word, index),
            extent, start, true,
            [=](const Data &v, int64_t at) {
              int64_t i = op == "store" ? at - start : start + 23 - at;
              return Want::exactly(i < 0 || i >= kWidth ? 0x5a5a5a5a5a5a5a5au & maskOf(type) : v[i]);
            },
            type);
      }
    }
}

} // namespace tessera::conformance
