//===- LeadingTest.cpp - leading dimensions of any rank ------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// One program, launched with tensors of several ranks, with strides of their own, and through an op; against loops over the positions.
//
#include "runtime/Api/tessera.hpp"

#include <catch2/catch.hpp>

#include <numeric>

using namespace tessera;

namespace {

const char *kSource = R"(
kernel center<BC = 8>(x: in f32[..S, C], mean: out f32[..S], y: out f32[..S, C])
  grid (s in S)
{
  var sum_of_row = 0.0
  for c in 0..C by BC { sum_of_row += sum(x[s, c +: BC]) }
  let m = sum_of_row / f32(C)
  mean[s] = m
  for c in 0..C by BC { y[s, c +: BC] = x[s, c +: BC] - m }
}
kernel add(a: in f32[..S, C], b: in f32[..S, C], y: out f32[..S, C])
  grid (s in S, c in 0..C)
{
  y[s, c] = a[s, c] + b[s, c]
}
op twice(x: in f32[..S, C], mean: out f32[..S], y: out f32[..S, C])
{
  temp t: f32[..S, C]
  temp m: f32[..S]
  center(x, m, t)
  add(t, t, y)
  center(x, mean, t)
}
)";

Program programOnHost() {
  ProgramOptions options;
  options.device = Device::cpu(1);
  Expected<Program> program = Program::fromSource(kSource, options);
  REQUIRE(program);
  return *std::move(program);
}

/// Sets shape and strides so that dimension i lies at `order[i]` in memory (0: outermost).
TensorRef permuted(float *data, const std::vector<int64_t> &shape, const std::vector<size_t> &order) {
  TensorRef tensor = TensorRef::contiguous(data, DType::F32, shape);
  int64_t stride = 1;
  for (size_t place = shape.size(); place-- > 0;)
    for (size_t d = 0; d < shape.size(); ++d)
      if (order[d] == place) {
        tensor.strides[d] = stride;
        stride *= shape[d];
      }
  return tensor;
}

} // namespace

TEST_CASE("a kernel of leading dimensions takes tensors of every rank, in any order of memory") {
  Program program = programOnHost();
  for (const char *name : {"center", "twice"}) {
    Expected<Kernel> kernel = program.kernel(name);
    REQUIRE(kernel);
    // The same ranks twice and in turns: an image of one rank must not serve another.
    for (const std::vector<int64_t> &lead :
         {std::vector<int64_t>{}, {4}, {2, 3}, {1}, {2, 3, 2}, {}, {3, 1, 2, 2}, {2, 3}}) {
      for (int64_t columns : {1, 13}) {
        std::vector<int64_t> shape = lead;
        shape.push_back(columns);
        int64_t rows = std::accumulate(lead.begin(), lead.end(), int64_t(1), std::multiplies<>());
        std::vector<float> x(rows * columns), y(rows * columns, -1), mean(rows, -1);
        for (size_t i = 0; i < x.size(); ++i)
          x[i] = float((i * 29) % 17);
        std::vector<size_t> order(shape.size());
        std::iota(order.begin(), order.end(), 0);
        if (shape.size() > 2)
          std::swap(order.front(), order[order.size() - 2]);
        TensorRef in = permuted(x.data(), shape, order);
        Expected<void> done = kernel->launch(nullptr, in, TensorRef::contiguous(mean.data(), DType::F32, lead),
                                             TensorRef::contiguous(y.data(), DType::F32, shape));
        INFO(name << ", rank " << shape.size() << (done ? "" : ": " + done.failure().text()));
        REQUIRE(done);
        for (int64_t r = 0; r < rows; ++r) {
          int64_t rest = r, offset = 0;
          for (size_t d = lead.size(); d-- > 0; rest /= lead[d])
            offset += rest % lead[d] * in.strides[d];
          double sum = 0;
          for (int64_t c = 0; c < columns; ++c)
            sum += x[offset + c * in.strides.back()];
          float expected = float(sum) / float(columns);
          CHECK(mean[r] == expected);
          for (int64_t c = 0; c < columns; ++c)
            CHECK(y[r * columns + c] ==
                  (x[offset + c * in.strides.back()] - expected) * (std::string(name) == "twice" ? 2.0f : 1.0f));
        }
      }
    }
  }
}

TEST_CASE("leading dimensions of one name agree") {
  Program program = programOnHost();
  Expected<Kernel> kernel = program.kernel("add");
  REQUIRE(kernel);
  std::vector<float> a(24, 1), b(24, 2), y(24);
  auto tensor = [](std::vector<float> &data, std::vector<int64_t> shape) {
    return TensorRef::contiguous(data.data(), DType::F32, std::move(shape));
  };
  Expected<void> ranks = kernel->launch(nullptr, tensor(a, {2, 3, 4}), tensor(b, {6, 4}), tensor(y, {2, 3, 4}));
  REQUIRE_FALSE(ranks);
  CHECK_THAT(ranks.failure().text(), Catch::Contains("T0406"));
  CHECK_THAT(ranks.failure().text(),
             Catch::Contains("'..S' stands for 2 dimensions, found an argument of 'b' that has 1 in its place"));
  Expected<void> extents = kernel->launch(nullptr, tensor(a, {2, 3, 4}), tensor(b, {3, 2, 4}), tensor(y, {2, 3, 4}));
  REQUIRE_FALSE(extents);
  CHECK_THAT(extents.failure().text(), Catch::Contains("S.0"));
  Expected<Kernel> center = program.kernel("center");
  REQUIRE(center);
  Expected<void> tooFew = center->launch(nullptr, tensor(a, {}), tensor(b, {}), tensor(y, {}));
  REQUIRE_FALSE(tooFew);
  CHECK_THAT(tooFew.failure().text(), Catch::Contains("'x' has at least 1 dimension, found an argument of 0"));
}
