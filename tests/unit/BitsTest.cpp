//===- BitsTest.cpp - bitcast, limits of types, histograms ------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// On the host: every pair of types of one width keeps every bit; limits against std::numeric_limits and the formats' definitions; counts against a loop.
//
#include "runtime/Api/tessera.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <limits>
#include <vector>

using namespace tessera;

namespace {

Kernel kernelOf(const std::string &source) {
  ProgramOptions options;
  options.device = Device::cpu(1);
  Expected<Program> program = Program::fromSource(source, options);
  INFO((program ? source : program.failure().text()));
  REQUIRE(program);
  Expected<Kernel> kernel = program->kernel("k");
  INFO((kernel ? source : kernel.failure().text()));
  REQUIRE(kernel);
  return *kernel;
}

template <typename... Arguments>
void launch(const std::string &source, Arguments &&...arguments) {
  Kernel kernel = kernelOf(source);
  Expected<void> done = kernel.launch(nullptr, std::forward<Arguments>(arguments)...);
  INFO((done ? source : done.failure().text()));
  REQUIRE(done);
}

/// The bits of a limit of a type, stored by a kernel.
uint64_t limitOf(const char *which, DType type) {
  uint64_t bits = 0;
  launch(fmt::format("kernel k(y: out {0}[1]) grid (i in 0..1) {{ y[0] = {1}({0}) }}\n", nameOf(type), which),
         TensorRef::contiguous(&bits, type, {1}));
  return bits;
}

template <typename T>
uint64_t bitsOf(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

} // namespace

TEST_CASE("bitcast keeps every bit between all types of one width") {
  const std::vector<std::vector<DType>> widths = {
      {DType::I8, DType::U8, DType::F8E4M3, DType::F8E5M2},
      {DType::I16, DType::U16, DType::F16, DType::BF16},
      {DType::I32, DType::U32, DType::F32},
      {DType::I64, DType::U64, DType::F64},
  };
  for (const std::vector<DType> &types : widths) {
    int64_t bytes = sizeOf(types[0]), count = 512;
    std::vector<unsigned char> x(count * bytes);
    // Every byte value in every place, so NaNs with payloads, infinities and subnormals too; 16 bits in steps.
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<unsigned char>(i * 131 + i / 256 * 17);
    for (DType from : types)
      for (DType to : types) {
        std::vector<unsigned char> y(x.size(), 0xaa);
        launch(
            fmt::format("kernel k(x: in {0}[512], y: out {1}[512]) grid (i in 0..1) {{ y[:] = bitcast({1}, x[:]) }}\n",
                        nameOf(from), nameOf(to)),
            TensorRef::contiguous(x.data(), from, {count}), TensorRef::contiguous(y.data(), to, {count}));
        INFO(nameOf(from) << " to " << nameOf(to));
        CHECK(x == y);
      }
  }
}

TEST_CASE("bitcast of a scalar") {
  float x = -1.5F;
  int32_t y = 0;
  launch("kernel k(x: in f32[1], y: out i32[1]) grid (i in 0..1) { y[0] = bitcast(i32, x[0]) }\n",
         TensorRef::contiguous(&x, DType::F32, {1}), TensorRef::contiguous(&y, DType::I32, {1}));
  CHECK(y == std::bit_cast<int32_t>(x));
}

TEST_CASE("lowest and highest are the finite limits of a type") {
  CHECK(limitOf("lowest", DType::I8) == bitsOf(std::numeric_limits<int8_t>::lowest()));
  CHECK(limitOf("highest", DType::I16) == bitsOf(std::numeric_limits<int16_t>::max()));
  CHECK(limitOf("lowest", DType::I64) == bitsOf(std::numeric_limits<int64_t>::lowest()));
  CHECK(limitOf("highest", DType::I32) == bitsOf(std::numeric_limits<int32_t>::max()));
  CHECK(limitOf("lowest", DType::U32) == 0);
  CHECK(limitOf("highest", DType::U64) == ~uint64_t(0));
  CHECK(limitOf("highest", DType::Bool) == 1);
  CHECK(limitOf("lowest", DType::F32) == bitsOf(std::numeric_limits<float>::lowest()));
  CHECK(limitOf("highest", DType::F64) == bitsOf(std::numeric_limits<double>::max()));
  CHECK(limitOf("highest", DType::F16) == 0x7bff);  // 65504
  CHECK(limitOf("lowest", DType::BF16) == 0xff7f);  // -(2 - 2^-7) * 2^127
  CHECK(limitOf("highest", DType::F8E4M3) == 0x7e); // 448
  CHECK(limitOf("lowest", DType::F8E5M2) == 0xfb);  // -57344
}

TEST_CASE("a histogram counts what has a bin") {
  for (const char *type : {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"}) {
    DType dtype = *parseDType(type);
    int64_t bytes = sizeOf(dtype), count = 7 * 37;
    std::vector<unsigned char> x(count * bytes, 0);
    std::vector<int32_t> expected(19, 0), found(19, -1);
    for (int64_t i = 0; i < count; ++i) {
      int64_t value = (i * i + 3 * i) % 29 - 5; // some negative, some beyond the last bin; 3 is always empty
      if (value == 3)
        value = 4;
      std::memcpy(x.data() + i * bytes, &value, bytes);
      // Negative values of an unsigned type are large numbers, which have no bin either.
      if (value >= 0 && value < 19)
        ++expected[value];
    }
    launch(
        fmt::format("kernel k(x: in {0}[7, 37], h: out i32[19]) grid (i in 0..1) {{ h[:] = histogram(x[:, :], 19) }}\n",
                    type),
        TensorRef::contiguous(x.data(), dtype, {7, 37}), TensorRef::contiguous(found.data(), DType::I32, {19}));
    INFO(type);
    CHECK(found == expected);
  }
}
