//===- EmbeddedOpTest.cpp - ops compiled by tessera_add_kernels ------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The typed functions of an op: launch with and without a workspace, its size, prepared launches, and every refusal.  References are loops.
//
#include "steps.h"

#include <catch2/catch.hpp>

#include <numeric>
#include <type_traits>

using namespace tessera;

namespace {

template <typename T>
T loaded(Result<T> result) {
  if (!result)
    FAIL(result.error().message);
  return *std::move(result);
}

steps::Kernels kernels() { return loaded(steps::Kernels::load(Device::cpu(2))); }

/// Whole numbers, so that the sums of f64 are exact.
struct Problem {
  int64_t rows, columns, pitch;
  std::vector<float> x, bias;
  std::vector<double> total, expected;

  Problem(int64_t rows, int64_t columns, int64_t pad, int64_t times)
      : rows(rows), columns(columns), pitch(columns + pad), x(rows * pitch), bias(columns), total(columns, 3),
        expected(columns, 3) {
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = float(int(i * 7 % 11) - 5);
    std::iota(bias.begin(), bias.end(), -2.0f);
    for (int64_t c = 0; c < columns; ++c) {
      double sum = 0, squares = 0;
      for (int64_t r = 0; r < rows; ++r)
        sum += x[r * pitch + c];
      for (int64_t r = 0; r < rows; ++r) {
        double v = double(x[r * pitch + c]) * double(rows) - sum + bias[c];
        squares += double(float(v * v));
      }
      expected[c] += squares * double(times);
    }
  }
  In<DType::F32, 2> input() const { return {x.data(), {rows, columns}, {pitch, 1}}; }
  In<DType::F32, 1> offsets() const { return {bias.data(), {columns}}; }
  Out<DType::F64, 1> output() { return {total.data(), {columns}}; }
};

} // namespace

TEST_CASE("an op is one typed function") {
  steps::Kernels op = kernels();
  // Aligned dense rows, rows of an odd length, rows that lie apart: two contracts.
  for (auto [rows, columns, pad] : {std::array<int64_t, 3>{16, 64, 0}, {5, 7, 0}, {9, 33, 4}, {1, 1, 0}}) {
    INFO(rows << " x " << columns << " + " << pad);
    Problem problem(rows, columns, pad, 2);
    REQUIRE(op.spread(nullptr, problem.input(), problem.offsets(), problem.output(), 2));
    CHECK(problem.total == problem.expected);
  }
}

TEST_CASE("an op in a workspace of the caller") {
  steps::Kernels op = kernels();
  Problem problem(8, 20, 0, 1);
  // s of f64[20] and d of f32[8, 20], each at a multiple of 256 bytes.
  size_t bytes = loaded(op.spread_workspace_(problem.input(), problem.offsets(), problem.output(), 1));
  CHECK(bytes == 256 + 768);
  alignas(256) static std::array<std::byte, 2048> memory;
  memory.fill(std::byte(0xee));
  REQUIRE(op.spread(nullptr, problem.input(), problem.offsets(), problem.output(), 1, {memory.data(), bytes}));
  CHECK(problem.total == problem.expected);
  CHECK(memory[0] != std::byte(0xee));
  CHECK(std::all_of(memory.begin() + bytes, memory.end(), [](std::byte b) { return b == std::byte(0xee); }));
  auto small = op.spread(nullptr, problem.input(), problem.offsets(), problem.output(), 1, {memory.data(), bytes - 1});
  REQUIRE_FALSE(small);
  CHECK(small.error().code == "T0619");
  auto crooked = op.spread(nullptr, problem.input(), problem.offsets(), problem.output(), 1, {&memory[8], bytes});
  REQUIRE_FALSE(crooked);
  CHECK(crooked.error().code == "T0619");
  CHECK(problem.total == problem.expected);
}

TEST_CASE("prepared launches of ops and kernels") {
  steps::Kernels op = kernels();
  Problem problem(4, 6, 0, 5);
  PreparedLaunch prepared = loaded(op.prepare_spread(problem.input(), problem.offsets(), problem.output(), 5));
  CHECK(prepared.isOp());
  CHECK(prepared.workspaceBytes() == 512);
  REQUIRE(prepared.launch(nullptr));
  CHECK(problem.total == problem.expected);
  double x[3] = {1, 2, 3}, y[3] = {10, 20, 30};
  PreparedLaunch add = loaded(op.prepare_add_({x, {3}}, {y, {3}}, 2));
  CHECK_FALSE(add.isOp());
  CHECK(add.workspaceBytes() == 0);
  REQUIRE(add.launch(nullptr));
  REQUIRE(add.launch(nullptr));
  CHECK(y[2] == 42);
}

TEST_CASE("names that the header would make up give way to those of the program") {
  steps::Kernels op = kernels();
  int32_t ones[5] = {}, twos[5] = {};
  REQUIRE(op.prepare_add(nullptr, {ones, {5}}));
  REQUIRE(op.spread_workspace(nullptr, {twos, {5}}));
  CHECK(ones[4] == 1);
  CHECK(twos[4] == 2);
}

TEST_CASE("an op without steps, and what is wrong") {
  steps::Kernels op = kernels();
  float y[2] = {1, 2};
  REQUIRE(op.nothing(nullptr, {y, {2}}));
  CHECK(loaded(op.nothing_workspace({y, {2}})) == 0);
  Problem problem(4, 6, 0, 1);
  auto shapes = op.spread(nullptr, problem.input(), {problem.bias.data(), {5}}, problem.output(), 1);
  REQUIRE_FALSE(shapes);
  CHECK(shapes.error().code == "T0604");
  auto empty = op.prepare_spread({problem.x.data(), {0, 6}}, problem.offsets(), problem.output(), 1);
  REQUIRE_FALSE(empty);
  CHECK(empty.error().code == "T0606");
  CHECK(problem.total == std::vector<double>(6, 3.0));
}

TEST_CASE("the header is typed: what does not fit is no program of C++") {
  using Tensor = In<DType::F32, 2>;
  STATIC_REQUIRE_FALSE(std::is_convertible_v<In<DType::F32, 1>, Tensor>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<In<DType::F64, 2>, Tensor>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<Out<DType::F32, 2>, Tensor>);
  STATIC_REQUIRE(std::is_same_v<decltype(&steps::Kernels::spread_workspace_),
                                Result<size_t> (steps::Kernels::*)(const Tensor &, const In<DType::F32, 1> &,
                                                                   const Out<DType::F64, 1> &, int64_t) const>);
  STATIC_REQUIRE(std::is_copy_constructible_v<steps::Kernels>);
}

TEST_CASE("launches like earlier ones are right for other memory, other scalars and other contracts") {
  steps::Kernels op = kernels();
  for (int round = 0; round < 4; ++round)
    for (int64_t length : {1, 16, 37, 64})
      for (int64_t offset : {0, 1}) { // an address 8 bytes beyond a multiple of 16 is another contract
        std::vector<double> x(length + 2, 2), y(length + 2, 1);
        REQUIRE(op.add(nullptr, {x.data() + offset, {length}}, {y.data() + offset, {length}}, round));
        for (int64_t i = 0; i < length + 2; ++i)
          CHECK(y[i] == (i >= offset && i < offset + length ? 1 + 2 * round : 1));
      }
}
