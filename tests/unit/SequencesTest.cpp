//===- SequencesTest.cpp - values of reduce, scan, sort and topk ------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// On the host, against recurrences and std::stable_sort computed here: several tiles at once, both directions, every axis, functions that do not
// commute, extents that are no powers of two, every element type with NaN, zeros of both signs and ties.
//
#include "runtime/Api/tessera.hpp"
#include "runtime/Support/NarrowFloat.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

using namespace tessera;

namespace {

Kernel kernelOf(const std::string &source, const std::string &name, const std::vector<Bind> &bindings) {
  ProgramOptions options;
  options.sourceName = "sequences.tile";
  options.device = Device::cpu(1);
  Expected<Program> program = Program::fromSource(source, options);
  INFO((program ? source : program.failure().text()));
  REQUIRE(program);
  Expected<Kernel> kernel = program->kernel(name, bindings);
  INFO((kernel ? source : kernel.failure().text()));
  REQUIRE(kernel);
  return *kernel;
}

void require(const Expected<void> &done) {
  INFO((done ? std::string() : done.failure().text()));
  REQUIRE(done);
}

template <typename T>
TensorRef ref(std::vector<T> &data, DType type, std::vector<int64_t> shape) {
  return TensorRef::contiguous(data.data(), type, std::move(shape));
}

uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ (x >> 16);
}

constexpr const char *kCombinations = R"(
fn affine(a1, b1, a2, b2) => (a1 * a2, a2 * b1 + b2)
fn product(a, b, c, d, e, f, g, h) => (a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h)
kernel lines<T = i32, L: int, BACK = false>(a: in T[L], b: in T[L], c: out T[L], d: out T[L], t: out T[2]) grid (i in 0..1)
{
  let (p, q) = scan((a[:], b[:]), 0, affine, reverse = BACK)
  c[:] = p
  d[:] = q
  let (u, v) = reduce((a[:], b[:]), 0, affine)
  t[0] = u
  t[1] = v
}
kernel columns<T = i32, R: int, L: int, BACK = false>(a: in T[R, L], b: in T[R, L], c: out T[R, L], d: out T[R, L], t: out T[2, L]) grid (i in 0..1)
{
  let (p, q) = scan((a[:, :], b[:, :]), axis = 0, f = affine, reverse = BACK)
  c[:, :] = p
  d[:, :] = q
  let (u, v) = reduce((a[:, :], b[:, :]), 0, affine)
  t[0, 0 +: L] = u
  t[1, 0 +: L] = v
}
kernel matrices<L: int>(x: in i32[4, L], y: out i32[4, L], t: out i32[4]) grid (i in 0..1)
{
  let (p, q, r, s) = scan((x[0, 0 +: L], x[1, 0 +: L], x[2, 0 +: L], x[3, 0 +: L]), 0, product)
  y[0, 0 +: L] = p
  y[1, 0 +: L] = q
  y[2, 0 +: L] = r
  y[3, 0 +: L] = s
  let (e, f, g, h) = reduce((x[0, 0 +: L], x[1, 0 +: L], x[2, 0 +: L], x[3, 0 +: L]), 0, product)
  t[0] = e
  t[1] = f
  t[2] = g
  t[3] = h
}
)";

struct Pair {
  uint32_t a, b;
};
Pair affine(Pair x, Pair y) { return {x.a * y.a, y.a * x.b + y.b}; }

} // namespace

TEST_CASE("affine recurrences by scan and reduce, in both directions (A02)") {
  for (int64_t length : {1, 2, 3, 17, 32, 40, 128, 1000, 1024})
    for (bool back : {false, true})
      for (int64_t rows : {int64_t(0), int64_t(5)}) {
        if (rows && length > 128)
          continue;
        INFO(length << (back ? " reversed" : "") << " rows " << rows);
        // Along the columns of [rows, length] where there are rows.
        int64_t count = rows ? rows * length : length, steps = rows ? rows : length, lines = rows ? length : 1;
        std::vector<uint32_t> a(count), b(count), c(count), d(count), t(2 * lines);
        for (int64_t i = 0; i < count; ++i)
          a[i] = mix(uint32_t(2 * i)), b[i] = mix(uint32_t(2 * i + 1));
        std::vector<Bind> bindings{{"L", std::to_string(length)}, {"BACK", back ? "true" : "false"}};
        if (rows)
          bindings.push_back({"R", std::to_string(rows)});
        Kernel kernel = kernelOf(kCombinations, rows ? "columns" : "lines", bindings);
        std::vector<int64_t> shape = rows ? std::vector<int64_t>{rows, length} : std::vector<int64_t>{length};
        std::vector<int64_t> totals = rows ? std::vector<int64_t>{2, length} : std::vector<int64_t>{2};
        require(kernel.launch(nullptr, ref(a, DType::I32, shape), ref(b, DType::I32, shape), ref(c, DType::I32, shape),
                              ref(d, DType::I32, shape), ref(t, DType::I32, totals)));
        for (int64_t line = 0; line < lines; ++line) {
          auto at = [&](int64_t i) { return i * lines + line; };
          Pair whole{1, 0};
          for (int64_t i = 0; i < steps; ++i)
            whole = affine(whole, {a[at(i)], b[at(i)]});
          CHECK(t[line] == whole.a);
          CHECK(t[lines + line] == whole.b);
          Pair running{1, 0};
          for (int64_t i = 0; i < steps; ++i) {
            int64_t place = at(back ? steps - 1 - i : i);
            Pair own{a[place], b[place]};
            running = back ? affine(own, running) : affine(running, own);
            REQUIRE(c[place] == running.a);
            REQUIRE(d[place] == running.b);
          }
        }
      }
}

TEST_CASE("products of 2x2 integer matrices by scan and reduce (A02)") {
  for (int64_t length : {2, 24, 96, 300}) {
    INFO(length);
    std::vector<uint32_t> x(4 * length), y(4 * length), t(4), want{1, 0, 0, 1};
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = mix(uint32_t(i + 99));
    Kernel kernel = kernelOf(kCombinations, "matrices", {{"L", std::to_string(length)}});
    require(kernel.launch(nullptr, ref(x, DType::I32, {4, length}), ref(y, DType::I32, {4, length}),
                          ref(t, DType::I32, {4})));
    for (int64_t i = 0; i < length; ++i) {
      uint32_t e = x[i], f = x[length + i], g = x[2 * length + i], h = x[3 * length + i];
      want = {want[0] * e + want[1] * g, want[0] * f + want[1] * h, want[2] * e + want[3] * g,
              want[2] * f + want[3] * h};
      for (int64_t k = 0; k < 4; ++k)
        REQUIRE(y[k * length + i] == want[k]);
    }
    CHECK(t == want);
  }
}

namespace {

struct Bits {
  DType type;
  std::vector<unsigned char> bytes;
  Bits(DType type, int64_t count) : type(type), bytes(count * sizeOf(type), 0) {}
  uint64_t operator[](int64_t i) const {
    uint64_t value = 0;
    std::memcpy(&value, bytes.data() + i * sizeOf(type), sizeOf(type));
    return value;
  }
  void set(int64_t i, uint64_t value) { std::memcpy(bytes.data() + i * sizeOf(type), &value, sizeOf(type)); }
};

bool isFloatType(DType type) {
  return type == DType::F16 || type == DType::BF16 || type == DType::F32 || type == DType::F64;
}
double toNumber(DType type, uint64_t bits) {
  if (type == DType::F16 || type == DType::BF16)
    return widen(uint32_t(bits), type == DType::F16 ? kF16 : kBF16);
  return type == DType::F32 ? double(std::bit_cast<float>(uint32_t(bits))) : std::bit_cast<double>(bits);
}
uint64_t sample(DType type, uint32_t i) {
  if (type == DType::Bool)
    return mix(i) & 1;
  if (isFloatType(type)) {
    constexpr double kFloats[] = {0.0, -0.0, 1.5, -2.25, NAN, INFINITY, -INFINITY, 0.3125, 17.0, -16.5, 1.0 / 3, 255.0};
    double value = kFloats[mix(i) % 12];
    if (type == DType::F16 || type == DType::BF16)
      return narrow(value, type == DType::F16 ? kF16 : kBF16);
    return type == DType::F32 ? std::bit_cast<uint32_t>(float(value)) : std::bit_cast<uint64_t>(value);
  }
  uint64_t mask = sizeOf(type) == 8 ? ~uint64_t(0) : (uint64_t(1) << (sizeOf(type) * 8)) - 1;
  uint64_t spread = uint64_t(mix(i)) << 32 | mix(i + 7);
  return (i % 3 == 0 ? spread : i % 3 == 1 ? spread % 5 : ~(spread % 3)) & mask; // small numbers tie
}
/// The order of R10.6, from the text of the rule.
bool before(DType type, uint64_t x, uint64_t y) {
  if (isFloatType(type)) {
    double a = toNumber(type, x), b = toNumber(type, y);
    if (std::isnan(a) || std::isnan(b))
      return !std::isnan(a) && std::isnan(b);
    return a < b || (a == b && std::signbit(a) && !std::signbit(b));
  }
  bool isSigned = type == DType::I8 || type == DType::I16 || type == DType::I32 || type == DType::I64;
  if (!isSigned)
    return x < y;
  int shift = 64 - int(sizeOf(type)) * 8;
  return int64_t(x << shift) < int64_t(y << shift);
}
bool same(DType type, uint64_t x, uint64_t y) {
  return x == y || (isFloatType(type) && std::isnan(toNumber(type, x)) && std::isnan(toNumber(type, y)));
}

constexpr const char *kSorting = R"(
kernel along<T = f32, N: int, M: int, K: int, DOWN = false>(x: in T[N, M], y: out T[N, M], p: out i64[N, M], v: out T[N, K], w: out i64[N, K]) grid (i in 0..1)
{
  let (s, at) = sort((x[:, :], iota(M)), axis = 1, descending = DOWN)
  y[:, :] = s
  p[:, :] = at
  let (best, places) = topk(x[:, :], K, axis = 1)
  v[:, :] = best
  w[:, :] = places
}
kernel across<T = f32, N: int, M: int, K: int, DOWN = false>(x: in T[M, N], y: out T[M, N], p: out i64[M, N], v: out T[K, N], w: out i64[K, N]) grid (i in 0..1)
{
  let (s, at) = sort((x[:, :], iota(M)[:, None]), axis = 0, descending = DOWN)
  y[:, :] = s
  p[:, :] = at
  let (best, places) = topk(x[:, :], K, axis = 0)
  v[:, :] = best
  w[:, :] = places
}
)";

} // namespace

TEST_CASE("sort is stable in both directions and topk is its head, for every type and axis") {
  constexpr DType kTypes[] = {DType::Bool, DType::I8,  DType::I16, DType::I32,  DType::I64, DType::U8, DType::U16,
                              DType::U32,  DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64};
  constexpr std::pair<int64_t, int64_t> kCases[] = {{1, 1}, {7, 3}, {24, 24}, {40, 2}, {129, 5}};
  int turn = 0;
  for (DType type : kTypes)
    for (auto [extent, k] : kCases) {
      bool down = ++turn % 2, isAcross = turn % 4 < 2;
      constexpr int64_t kLines = 3;
      INFO(nameOf(type) << " " << extent << (down ? " descending" : "") << (isAcross ? " across" : ""));
      Bits x(type, kLines * extent), y(type, kLines * extent), v(type, kLines * k);
      std::vector<int64_t> p(kLines * extent), w(kLines * k);
      for (int64_t i = 0; i < kLines * extent; ++i)
        x.set(i, sample(type, uint32_t(i + turn)));
      Kernel kernel = kernelOf(kSorting, isAcross ? "across" : "along",
                               {{"T", std::string(nameOf(type))},
                                {"N", std::to_string(kLines)},
                                {"M", std::to_string(extent)},
                                {"K", std::to_string(k)},
                                {"DOWN", down ? "true" : "false"}});
      auto shape = [&](int64_t n) {
        return isAcross ? std::vector<int64_t>{n, kLines} : std::vector<int64_t>{kLines, n};
      };
      auto bits = [&](Bits &b, int64_t n) { return TensorRef::contiguous(b.bytes.data(), type, shape(n)); };
      require(kernel.launch(nullptr, bits(x, extent), bits(y, extent), ref(p, DType::I64, shape(extent)), bits(v, k),
                            ref(w, DType::I64, shape(k))));
      for (int64_t line = 0; line < kLines; ++line) {
        auto at = [&](int64_t i, int64_t n) { return isAcross ? i * kLines + line : line * n + i; };
        auto sorted = [&](bool descending) {
          std::vector<int64_t> order(extent);
          std::iota(order.begin(), order.end(), 0);
          std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
            uint64_t a = x[at(i, extent)], b = x[at(j, extent)];
            return descending ? before(type, b, a) : before(type, a, b);
          });
          return order;
        };
        std::vector<int64_t> order = sorted(down), greatest = sorted(true);
        for (int64_t i = 0; i < extent; ++i) {
          REQUIRE(p[at(i, extent)] == order[i]);
          REQUIRE(same(type, y[at(i, extent)], x[at(order[i], extent)]));
        }
        for (int64_t i = 0; i < k; ++i) {
          REQUIRE(w[at(i, k)] == greatest[i]);
          REQUIRE(same(type, v[at(i, k)], x[at(greatest[i], extent)]));
        }
      }
    }
}
