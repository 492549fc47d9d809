//===- AtomicsTest.cpp - values of atomics on tiles ------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Every kind on every element type that has it, on the host's cores, against a reference on the bits: ragged slices, steps, index tiles with places outside
// and places named twice, old values and padding.
//
#include "runtime/Api/tessera.hpp"
#include "runtime/Support/NarrowFloat.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

using namespace tessera;

namespace {

/// Elements as bits, whatever their type.
struct Bits {
  DType type;
  std::vector<unsigned char> bytes;
  Bits(DType type, int64_t count) : type(type), bytes(count * sizeOf(type), 0) {}
  int64_t size() const { return int64_t(bytes.size()) / sizeOf(type); }
  uint64_t operator[](int64_t i) const {
    uint64_t value = 0;
    std::memcpy(&value, bytes.data() + i * sizeOf(type), sizeOf(type));
    return value;
  }
  void set(int64_t i, uint64_t value) { std::memcpy(bytes.data() + i * sizeOf(type), &value, sizeOf(type)); }
  TensorRef ref(std::vector<int64_t> shape = {}) {
    return TensorRef::contiguous(bytes.data(), type, shape.empty() ? std::vector<int64_t>{size()} : shape);
  }
};

bool isFloatType(DType type) {
  return type == DType::F16 || type == DType::BF16 || type == DType::F32 || type == DType::F64;
}
bool isSignedType(DType type) {
  return type == DType::I8 || type == DType::I16 || type == DType::I32 || type == DType::I64;
}

double toNumber(DType type, uint64_t bits) {
  switch (type) {
  case DType::F16:
    return widen(uint32_t(bits), kF16);
  case DType::BF16:
    return widen(uint32_t(bits), kBF16);
  case DType::F32:
    return std::bit_cast<float>(uint32_t(bits));
  default:
    return std::bit_cast<double>(bits);
  }
}
uint64_t fromNumber(DType type, double value) {
  switch (type) {
  case DType::F16:
    return narrow(value, kF16);
  case DType::BF16:
    return narrow(value, kBF16);
  case DType::F32:
    return std::bit_cast<uint32_t>(float(value));
  default:
    return std::bit_cast<uint64_t>(value);
  }
}

uint64_t maskOf(DType type) { return sizeOf(type) == 8 ? ~uint64_t(0) : (uint64_t(1) << (sizeOf(type) * 8)) - 1; }
int64_t extend(DType type, uint64_t bits) {
  int shift = 64 - int(sizeOf(type)) * 8;
  return int64_t(bits << shift) >> shift;
}

/// What the language says an atomic leaves behind.
uint64_t reference(const std::string &kind, DType type, uint64_t old, uint64_t value, uint64_t compare) {
  if (kind == "exchange")
    return value;
  if (kind == "cas")
    return old == compare ? value : old;
  if (kind == "and")
    return old & value;
  if (kind == "or")
    return old | value;
  if (kind == "xor")
    return old ^ value;
  bool isMax = kind == "max";
  if (isFloatType(type)) {
    double a = toNumber(type, old), b = toNumber(type, value);
    if (kind == "add") // a sum of two narrow numbers is exact in double; of f32 it rounds once in float
      return type == DType::F32 ? fromNumber(type, float(a) + float(b)) : fromNumber(type, a + b);
    if (std::isnan(a) || std::isnan(b))
      return fromNumber(type, std::nan(""));
    if (a == b) // zeros: -0 below +0
      return std::signbit(a) == isMax ? value : old;
    return (a < b) == isMax ? value : old;
  }
  if (kind == "add")
    return (old + value) & maskOf(type);
  bool less = isSignedType(type) ? extend(type, old) < extend(type, value) : old < value;
  return less == isMax ? value : old;
}

bool same(DType type, uint64_t a, uint64_t b) {
  if (isFloatType(type) && std::isnan(toNumber(type, a)))
    return std::isnan(toNumber(type, b));
  return a == b;
}

std::vector<std::string> kindsOf(DType type) {
  if (type == DType::Bool)
    return {"and", "or", "xor", "exchange", "cas"};
  if (isFloatType(type))
    return {"add", "min", "max", "exchange", "cas"};
  return {"add", "min", "max", "and", "or", "xor", "exchange", "cas"};
}

/// Numbers at which mistakes show: signs, zeros, NaN, the ends of the range.
uint64_t sample(DType type, int64_t i) {
  if (type == DType::Bool)
    return (i * 7 / 3) & 1;
  if (isFloatType(type)) {
    constexpr double kFloats[] = {0.0, -0.0, 1.5, -2.25, NAN, INFINITY, -INFINITY, 0.3125, 17.0, -16.5, 1.0 / 3, 255.0};
    return fromNumber(type, kFloats[(i * 5) % 12]);
  }
  constexpr uint64_t kIntegers[] = {0, 1, ~uint64_t(0), 0x80, 0x7f, 0x8000, 0x7fff, 0x80000000, 0x7fffffff, 5, 0xfe};
  uint64_t least = uint64_t(1) << (sizeOf(type) * 8 - 1);
  return (i % 13 == 0 ? least : i % 17 == 0 ? least - 1 : kIntegers[(i * 3) % 11]) & maskOf(type);
}

std::string declaration(const std::string &kind, const std::string &order) {
  std::string call = kind == "cas" ? "c[at, c0], v[at, c0]" : "v[at, c0]";
  auto place = [&](std::string text, const std::string &index) {
    for (size_t p; (p = text.find("at, c0")) != std::string::npos;)
      text.replace(p, 6, index);
    return text;
  };
  return fmt::format(R"(
kernel sliced<T = i32>(x: inout T[R, 31], v: in T[R, C], c: in T[R, C], old: out T[R, C])
  grid (r in 0..R by 4, i in 0..C by 5)
{{
  old[r +: 4, i +: 5] = atomic_{0}(x[r +: 4, 3 * i + 2 +: 5 by 3], {1}, order = {3})
}}
kernel gathered<T = i32>(x: inout T[R, 31], rows: in i32[R], v: in T[R, C], c: in T[R, C], old: out T[R, C])
  grid (r in 0..R by 4, i in 0..C by 6)
{{
  let p = rows[r +: 4, pad = -1]
  old[r +: 4, i +: 6] = atomic_{0}(x[p[:, None], 2 * (i + iota(6)) + 1], {2}, order = {3})
}}
kernel single<T = i32>(x: inout T[R, 31], v: in T[R, C], c: in T[R, C], old: out T[R, C])
  grid (r in 0..R, i in 0..C)
{{
  old[r, i] = atomic_{0}(x[r, 4 * i], {4}, order = {3})
}}
)",
                     kind, place(call, "r +: 4, i +: 5"), place(call, "r +: 4, i +: 6"), order, place(call, "r, i"));
}

Kernel kernelOf(const std::string &source, const std::string &name, DType type, int threads) {
  ProgramOptions options;
  options.sourceName = "atomics.tile";
  options.device = Device::cpu(threads);
  Expected<Program> program = Program::fromSource(source, options);
  INFO((program ? source : program.failure().text()));
  REQUIRE(program);
  std::vector<Bind> bindings;
  if (source.find(name + "<T") != std::string::npos)
    bindings.push_back({"T", std::string(nameOf(type))});
  Expected<Kernel> kernel = program->kernel(name, bindings);
  REQUIRE(kernel);
  return *kernel;
}

void require(const Expected<void> &done) {
  INFO((done ? std::string() : done.failure().text()));
  REQUIRE(done);
}

constexpr DType kTypes[] = {DType::Bool, DType::I8,  DType::I16, DType::I32,  DType::I64, DType::U8, DType::U16,
                            DType::U32,  DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64};

} // namespace

TEST_CASE("every kind of atomic on every type, on slices with steps, index tiles and single elements") {
  constexpr int64_t kRows = 7, kColumns = 9, kWidth = 31;
  const int32_t rows[kRows] = {4, -1, 0, 6, 99, 2, 1};
  int turn = 0;
  for (DType type : kTypes)
    for (const std::string &kind : kindsOf(type))
      for (const char *name : {"sliced", "gathered", "single"}) {
        const char *order = std::vector<const char *>{"relaxed", "acquire", "release", "acq_rel"}[turn++ % 4];
        INFO(name << " " << kind << " " << nameOf(type) << " " << order);
        Bits x(type, kRows * kWidth), v(type, kRows * kColumns), c(type, kRows * kColumns), old(type, v.size());
        for (int64_t i = 0; i < x.size(); ++i)
          x.set(i, sample(type, i));
        for (int64_t i = 0; i < v.size(); ++i)
          v.set(i, sample(type, 2 * i + 1));
        std::string which = name;
        auto target = [&](int64_t r, int64_t i) -> int64_t {
          int64_t row = which == "gathered" ? rows[r] : r;
          int64_t column = which == "gathered" ? 2 * i + 1 : which == "sliced" ? 3 * i + 2 : 4 * i;
          return row < 0 || row >= kRows || column >= kWidth ? -1 : row * kWidth + column;
        };
        for (int64_t i = 0; i < c.size(); ++i) { // every other comparison holds
          int64_t t = target(i / kColumns, i % kColumns);
          c.set(i, t >= 0 && i % 2 ? x[t] : sample(type, i + 4));
        }
        Bits expected = x, expectedOld(type, v.size());
        // The last tile of a row reaches past the operands' columns, where they read 0, but not always past those of x.
        int64_t by = which == "gathered" ? 6 : which == "sliced" ? 5 : 1;
        for (int64_t r = 0; r < kRows; ++r)
          for (int64_t i = 0; i < (kColumns + by - 1) / by * by; ++i)
            if (int64_t t = target(r, i), at = r * kColumns + i; t >= 0) {
              bool exists = i < kColumns;
              if (exists)
                expectedOld.set(at, expected[t]);
              expected.set(t, reference(kind, type, expected[t], exists ? v[at] : 0, exists ? c[at] : 0));
            }
        Kernel kernel = kernelOf(declaration(kind, order), name, type, 2);
        TensorRef indices = TensorRef::contiguous(const_cast<int32_t *>(rows), DType::I32, {kRows});
        std::vector<int64_t> shape{kRows, kColumns};
        if (which == "gathered")
          require(kernel.launch(nullptr, x.ref({kRows, kWidth}), indices, v.ref(shape), c.ref(shape), old.ref(shape)));
        else
          require(kernel.launch(nullptr, x.ref({kRows, kWidth}), v.ref(shape), c.ref(shape), old.ref(shape)));
        for (int64_t i = 0; i < x.size(); ++i) {
          INFO("element " << i << ": " << x[i] << ", expected " << expected[i]);
          REQUIRE(same(type, expected[i], x[i]));
        }
        for (int64_t i = 0; i < v.size(); ++i) {
          INFO("old " << i << ": " << old[i] << ", expected " << expectedOld[i]);
          REQUIRE(same(type, expectedOld[i], old[i]));
        }
      }
}

TEST_CASE("places named several times by one tile are performed each time, for any number of threads") {
  constexpr const char *kSource = R"(
kernel count(at: in i32[N], x: inout i32[K], h: inout u8[K], old: out i32[N])
  grid (i in 0..N by 48)
{
  let p = at[i +: 48, pad = -1]
  old[i +: 48] = atomic_add(x[p, pad = -5], 1)
  atomic_add(h[p], 1)
}
)";
  constexpr int64_t kCount = 1003, kBins = 5;
  for (int threads : {1, 3}) {
    std::vector<int32_t> at(kCount), x(kBins), old(kCount, 77);
    std::vector<uint8_t> h(kBins);
    std::vector<std::vector<int32_t>> found(kBins);
    for (int64_t i = 0; i < kCount; ++i)
      at[i] = int32_t(i * i % 7) - 1; // -1 and 5 are outside
    Kernel kernel = kernelOf(kSource, "count", DType::I32, threads);
    require(kernel.launch(nullptr, TensorRef::contiguous(at.data(), DType::I32, {kCount}),
                          TensorRef::contiguous(x.data(), DType::I32, {kBins}),
                          TensorRef::contiguous(h.data(), DType::U8, {kBins}),
                          TensorRef::contiguous(old.data(), DType::I32, {kCount})));
    for (int64_t i = 0; i < kCount; ++i) {
      if (at[i] >= 0 && at[i] < kBins)
        found[at[i]].push_back(old[i]);
      else
        REQUIRE(old[i] == -5);
    }
    for (int64_t k = 0; k < kBins; ++k) {
      std::sort(found[k].begin(), found[k].end());
      REQUIRE(x[k] == int32_t(found[k].size()));
      REQUIRE(h[k] == uint8_t(found[k].size()));
      for (size_t j = 0; j < found[k].size(); ++j)
        REQUIRE(found[k][j] == int32_t(j)); // every value once: nothing lost, nothing doubled
    }
  }
}

TEST_CASE("the old value of a one-element tile reaches every lane that broadcasts it (A04)") {
  constexpr const char *kSource = R"(
kernel ticket(counter: inout i32[N], y: out i32[R, 8])
  grid (i in 0..1)
{
  let row = atomic_add(counter[0 +: 1], 1)
  y[row[:, None], iota(8)] = full(i32, [1, 8], 2)
}
)";
  std::vector<int32_t> counter{1}, y(16, 0);
  Kernel kernel = kernelOf(kSource, "ticket", DType::I32, 2);
  require(kernel.launch(nullptr, TensorRef::contiguous(counter.data(), DType::I32, {1}),
                        TensorRef::contiguous(y.data(), DType::I32, {2, 8})));
  CHECK(counter[0] == 2);
  for (int i = 0; i < 8; ++i) {
    CHECK(y[i] == 0);
    CHECK(y[8 + i] == 2);
  }
}

TEST_CASE("what an atomic may not do is said with the remedy") {
  auto failure = [](const std::string &type, const std::string &mode, const std::string &statement) {
    std::string source =
        fmt::format("kernel k(x: {} {}[N])\n  grid (i in 0..N by 8)\n{{\n  {}\n}}\n", mode, type, statement);
    ProgramOptions options;
    options.device = Device::cpu(1);
    Expected<Program> program = Program::fromSource(source, options);
    return program ? std::string("compiles") : program.failure().text();
  };
  CHECK_THAT(failure("f32", "inout", "atomic_and(x[i +: 8], 1.0)"), Catch::Contains("T0214"));
  CHECK_THAT(failure("bool", "inout", "atomic_add(x[i +: 8], true)"), Catch::Contains("T0205"));
  CHECK_THAT(failure("f8e4m3", "inout", "atomic_max(x[i +: 8], 1.0)"), Catch::Contains("T0204"));
  CHECK_THAT(failure("i32", "out", "atomic_max(x[i +: 8], 1)"), Catch::Contains("T0314"));
  CHECK_THAT(failure("i32", "inout", "atomic_max(x[i +: 8], zeros(i32, [2, 8]))"), Catch::Contains("T0310"));
  CHECK_THAT(failure("i32", "inout", "atomic_add(x[i], zeros(i32, [8]))"), Catch::Contains("T0212"));
  CHECK_THAT(failure("i32", "inout", "atomic_add(x[i], 1, order = strong)"), Catch::Contains("T0218"));
  CHECK_THAT(failure("i16", "inout", "atomic_add(x[i, pad = 70000], 1)"), Catch::Contains("T0206"));
  CHECK(failure("f8e4m3", "inout", "atomic_exchange(x[i +: 8], 1.0)") == "compiles");
}
