//===- TilePartsTest.cpp - values of parts of tiles --------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Parts of a tile against index arithmetic on the memory that it was loaded from: starts, widths, steps, dropped dimensions, new ones, of every size of element.
//
#include "runtime/Api/tessera.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <numeric>

using namespace tessera;

namespace {

/// Runs `part`, an expression of the tile t (5 x 24) whose shape is `shape`, on elements 1, 2, 3...
template <typename T>
std::vector<T> partOf(const std::string &part, const std::string &type, const std::vector<int64_t> &shape) {
  std::string declared, whole;
  for (int64_t extent : shape) {
    declared += (declared.empty() ? "" : ", ") + std::to_string(extent);
    whole += whole.empty() ? ":" : ", :";
  }
  std::string source = fmt::format("kernel k(x: in {0}[5, 24], y: out {0}[{1}]) grid (i in 0..1) {{\n"
                                   "  let t = x[:, :]\n  y[{2}] = {3}\n}}\n",
                                   type, declared, whole, part);
  ProgramOptions options;
  options.device = Device::cpu(1);
  Expected<Program> program = Program::fromSource(source, options);
  INFO(source);
  REQUIRE(program);
  Expected<Kernel> kernel = program->kernel("k");
  REQUIRE(kernel);
  std::vector<T> x(5 * 24);
  std::iota(x.begin(), x.end(), T(1));
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  std::vector<T> y(count, T(0));
  DType dtype = *parseDType(type);
  Expected<void> done = kernel->launch(nullptr, TensorRef::contiguous(x.data(), dtype, {5, 24}),
                                       TensorRef::contiguous(y.data(), dtype, shape));
  INFO((done ? std::string() : done.failure().text()));
  REQUIRE(done);
  return y;
}

struct Part {
  const char *text;
  std::vector<int64_t> shape;
  int64_t row, rowStep, column, columnStep; ///< of the elements, row-major
  int64_t rows, columns;
};

template <typename T>
void check(const std::string &type) {
  const std::vector<Part> parts = {
      {"t[:, 0 +: 12]", {5, 12}, 0, 1, 0, 1, 5, 12},
      {"t[:, 12 +: 12]", {5, 12}, 0, 1, 12, 1, 5, 12},
      {"t[1 +: 3, 23 +: 1]", {3, 1}, 1, 1, 23, 1, 3, 1},
      {"t[:, 1 +: 8 by 3]", {5, 8}, 0, 1, 1, 3, 5, 8},
      {"t[0 +: 3 by 2, 2 +: 2 by 21]", {3, 2}, 0, 2, 2, 21, 3, 2},
      {"t[4, :]", {24}, 4, 1, 0, 1, 1, 24},
      {"t[:, 7]", {5}, 0, 1, 7, 1, 5, 1},
      {"t[2, 5 +: 4 by 2]", {4}, 2, 1, 5, 2, 1, 4},
      {"t[None, 3, 4 +: 2]", {1, 2}, 3, 1, 4, 1, 1, 2},
      {"t[:, None, 9]", {5, 1}, 0, 1, 9, 1, 5, 1},
      {"t[:, :][1, :][2 +: 5][4] + zeros(", {1}, 1, 1, 6, 1, 1, 1},
  };
  for (Part part : parts) {
    std::string text = part.text;
    if (text.ends_with("("))
      text += type + ", [1])"; // a scalar, which stretches
    INFO(type << " " << text);
    std::vector<T> found = partOf<T>(text, type, part.shape);
    size_t next = 0;
    for (int64_t r = 0; r < part.rows; ++r)
      for (int64_t c = 0; c < part.columns; ++c)
        CHECK(found[next++] == T((part.row + r * part.rowStep) * 24 + part.column + c * part.columnStep + 1));
  }
}

} // namespace

TEST_CASE("a part of a tile holds the elements that its indices name") {
  check<uint8_t>("u8");
  check<int16_t>("i16");
  check<float>("f32");
  check<int64_t>("i64");
  check<double>("f64");
}

TEST_CASE("parts are values: what they came from may change, and they add up to the whole") {
  const char *source = R"(
kernel k(x: in f32[N, 32], y: out f32[N, 32])
  grid (i in 0..N by 4)
{
  var t = x[i +: 4, :]
  let (even, odd) = (t[:, 0 +: 16 by 2], t[:, 1 +: 16 by 2])
  t = zeros(f32, [4, 32])
  for k in 0..3 { t += stack(even, odd, axis = 2)[:, :, 0][:, None, :][:, 0, :][:, 0 +: 1] * f32(k) }
  y[i +: 4, 0 +: 16 by 2] = odd
  y[i +: 4, 1 +: 16 by 2] = even + t[:, 0 +: 16]
}
)";
  ProgramOptions options;
  options.device = Device::cpu(1);
  Expected<Program> program = Program::fromSource(source, options);
  REQUIRE(program);
  Expected<Kernel> kernel = program->kernel("k");
  REQUIRE(kernel);
  std::vector<float> x(6 * 32), y(6 * 32, -1);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float((i * 37) % 101);
  REQUIRE(kernel->launch(nullptr, TensorRef::contiguous(x.data(), DType::F32, {6, 32}),
                         TensorRef::contiguous(y.data(), DType::F32, {6, 32})));
  for (int64_t r = 0; r < 6; ++r)
    for (int64_t c = 0; c < 16; ++c) {
      CHECK(y[r * 32 + 2 * c] == x[r * 32 + 2 * c + 1]);
      CHECK(y[r * 32 + 2 * c + 1] == x[r * 32 + 2 * c] + 3 * x[r * 32]);
    }
}
