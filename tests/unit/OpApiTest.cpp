//===- OpApiTest.cpp - compositions from C++, on the host's cores ---------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
#include "runtime/Api/tessera.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using namespace tessera;

namespace {

// mean and variance of the columns, with temporaries of several sizes; integers keep the references exact.
constexpr const char *kSource = R"(
kernel column_sums<W = 16>(x: in f32[R, C], s: accum f64[C] = 0) grid (r in 0..R, c in 0..C by W)
{
  s[c +: W] += f64(x[r, c +: W])
}
kernel deviations<W = 16>(x: in f32[R, C], s: in f64[C], d: out f32[R, C]) grid (r in 0..R, c in 0..C by W)
{
  let v = f64(x[r, c +: W]) * f64(R) - s[c +: W]
  d[r, c +: W] = f32(v * v)
}
kernel add<T: type, W = 16>(x: in T[C], y: inout T[C], times: i64) grid (c in 0..C by W)
{
  y[c +: W] = y[c +: W] + x[c +: W] * T(times)
}
op spread(x: in f32[R, C], out_sum: inout f64[C], seed: i64)
  requires R > 0
{
  temp s: f64[C]
  temp d: f32[R, C]
  temp total: f64[C] = 2.5
  column_sums(x, s)
  deviations(x, s, d)
  column_sums(d, s)
  add(s, total, seed + 1)
  add(total, out_sum, 2)
}
op nothing(x: inout f32[N]) { }
)";

Kernel spread() {
  ProgramOptions options;
  options.device = Device::cpu(2);
  auto program = Program::fromSource(kSource, options);
  INFO((program ? std::string() : program.failure().text()));
  REQUIRE(program);
  CHECK(program->kernels().size() == 5);
  auto kernel = program->kernel("spread");
  REQUIRE(kernel);
  return *kernel;
}

struct Data {
  int64_t rows, columns;
  std::vector<float> x;
  std::vector<double> out, expected;
  Data(int64_t r, int64_t c, int64_t seed) : rows(r), columns(c), x(r * c), out(c, 1.0), expected(c, 1.0) {
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(static_cast<int>(i * 7 % 11) - 5);
    for (int64_t j = 0; j < c; ++j) {
      double sum = 0, squares = 0;
      for (int64_t i = 0; i < r; ++i)
        sum += x[i * c + j];
      for (int64_t i = 0; i < r; ++i)
        squares += (x[i * c + j] * r - sum) * (x[i * c + j] * r - sum);
      expected[j] += 2 * (2.5 + squares * (seed + 1));
    }
  }
  TensorRef input() { return TensorRef::contiguous(x.data(), DType::F32, {rows, columns}); }
  TensorRef output() { return TensorRef::contiguous(out.data(), DType::F64, {columns}); }
};

std::string textOf(const Expected<void> &result) { return result ? std::string() : result.failure().text(); }

} // namespace

TEST_CASE("an op is one callable, with the runtime's workspace or the caller's") {
  Kernel kernel = spread();
  alignas(256) static char memory[1 << 16];
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{1, 1}, {7, 33}, {16, 64}, {3, 1000}}) {
    Data own(rows, columns, 4), given(rows, columns, 4);
    auto done = kernel.launch(nullptr, own.input(), own.output(), 4);
    INFO(textOf(done));
    REQUIRE(done);
    CHECK(own.out == own.expected);
    auto bytes = kernel.workspaceBytes(given.input(), given.output(), 4);
    REQUIRE(bytes);
    // d meets s, s meets total, and d is gone when total comes: the larger of the two beside s.
    auto rounded = [](int64_t n) { return static_cast<size_t>((n + 255) / 256 * 256); };
    CHECK(*bytes == std::max(rounded(rows * columns * 4), rounded(columns * 8)) + rounded(columns * 8));
    REQUIRE(*bytes <= sizeof(memory));
    auto placed = kernel.launchIn({memory, *bytes}, nullptr, given.input(), given.output(), 4);
    INFO(textOf(placed));
    REQUIRE(placed);
    CHECK(given.out == given.expected);
    if (*bytes > 256)
      CHECK(kernel.launchIn({memory, *bytes - 1}, nullptr, given.input(), given.output(), 4).failure().error.code ==
            "T0619");
  }
}

TEST_CASE("an op that cannot run writes nothing") {
  Kernel kernel = spread();
  Data data(4, 8, 0);
  std::vector<double> before = data.out;
  TensorRef longer = TensorRef::contiguous(data.out.data(), DType::F64, {7});
  CHECK(kernel.launch(nullptr, data.input(), longer, 0).failure().error.code == "T0604");
  CHECK(kernel.launch(nullptr, data.input(), data.output()).failure().error.code == "T0601");
  CHECK(data.out == before);
  TensorRef none = TensorRef::contiguous(data.x.data(), DType::F32, {0, 8});
  CHECK(kernel.launch(nullptr, none, data.output(), 0).failure().error.code == "T0606");
  TensorRef empty = TensorRef::contiguous(data.x.data(), DType::F32, {4, 0});
  TensorRef nowhere = TensorRef::contiguous(nullptr, DType::F64, {0});
  CHECK(kernel.launch(nullptr, empty, nowhere, 0)); // nothing can be written
}
