//===- EmbeddedTest.cpp - kernels compiled by tessera_add_kernels ----------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Links two archives with kernels of one name, launches them under both contracts, and provokes every refusal.
//
#include "first.h"
#include "other.h"

#include <catch2/catch.hpp>

using namespace tessera;

namespace {

template <typename T>
T loaded(Result<T> result) {
  if (!result)
    FAIL(result.error().message);
  return *std::move(result);
}

std::vector<float> ramp(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = float(i) - 7;
  return values;
}

} // namespace

TEST_CASE("kernels of one name from two archives run side by side") {
  auto first = loaded(product::first::Kernels::load(Device::cpu()));
  auto other = loaded(other::Kernels::load(Device::cpu()));
  std::vector<float> x = ramp(12), y(12, -1), z(12, -1), bias = {1, 2, 3, 4};
  REQUIRE(first.scale(nullptr, {x.data(), {3, 4}}, {bias.data(), {4}}, {y.data(), {3, 4}}, 2));
  REQUIRE(other.scale(nullptr, {x.data(), {12}}, {z.data(), {12}}));
  for (int i = 0; i < 12; ++i) {
    CHECK(y[i] == x[i] * 2 + float(i % 4 + 1));
    CHECK(z[i] == x[i] * 3);
  }
}

TEST_CASE("a launch takes the widest contract that its arguments satisfy, and any layout works") {
  auto kernels = loaded(product::first::Kernels::load(Device::cpu()));
  // Transposed, reversed, and at an address that is no multiple of 16.
  alignas(16) float x[40], y[40], bias[8] = {};
  for (int i = 0; i < 40; ++i)
    x[i] = float(i);
  REQUIRE(kernels.scale(nullptr, {x + 1, {5, 4}, {1, 7}}, {bias + 1, {4}}, {y + 19, {5, 4}, {-4, -1}}, 10));
  for (int r = 0; r < 5; ++r)
    for (int c = 0; c < 4; ++c)
      CHECK(y[19 - 4 * r - c] == x[1 + r + 7 * c] * 10);
}

TEST_CASE("names that C++ has taken, and element types that it lacks") {
  auto kernels = loaded(product::first::Kernels::load(Device::cpu()));
  int32_t x[3] = {1, 2, 3}, y[3];
  REQUIRE(kernels.double_(nullptr, {x, {3}}, {y, {3}}, 100));
  CHECK(y[2] == 106);
  uint16_t h[2] = {0x3C00, 0xC500}, g[2]; // 1 and -5
  REQUIRE(kernels.halve(nullptr, {h, {2}}, {g, {2}}));
  CHECK(g[0] == 0x3800);
  CHECK(g[1] == 0xC100);
}

TEST_CASE("the types of tensors are checked by C++") {
  STATIC_REQUIRE(isElement<float>(DType::F32));
  STATIC_REQUIRE(isElement<const int64_t>(DType::I64));
  STATIC_REQUIRE(isElement<long long>(DType::I64));
  STATIC_REQUIRE(isElement<void>(DType::BF16));
  STATIC_REQUIRE(isElement<uint16_t>(DType::BF16));
  STATIC_REQUIRE_FALSE(isElement<int16_t>(DType::BF16));
  STATIC_REQUIRE_FALSE(isElement<double>(DType::F32));
  STATIC_REQUIRE_FALSE(isElement<uint32_t>(DType::I32));
  STATIC_REQUIRE_FALSE(isElement<uint8_t>(DType::Bool));
  STATIC_REQUIRE_FALSE(isElement<bool>(DType::U8));
}

TEST_CASE("what is wrong comes back with its reason") {
  auto kernels = loaded(product::first::Kernels::load(Device::cpu()));
  float x[16] = {}, y[16] = {}, bias[4] = {};
  SECTION("dimensions that disagree") {
    auto done = kernels.scale(nullptr, {x, {2, 4}}, {bias, {3}}, {y, {2, 4}}, 1);
    REQUIRE_FALSE(done);
    CHECK(done.error().code == "T0604");
  }
  SECTION("a written tensor that shares memory") {
    auto done = kernels.scale(nullptr, {x, {2, 4}}, {bias, {4}}, {x + 1, {2, 4}}, 1);
    REQUIRE_FALSE(done);
    CHECK(done.error().code == "T0610");
  }
  SECTION("a requirement") {
    std::vector<float> big(1000 * 4), out(1000 * 4);
    auto done = kernels.scale(nullptr, {big.data(), {1000, 4}}, {bias, {4}}, {out.data(), {1000, 4}}, 1);
    REQUIRE_FALSE(done);
    CHECK(done.error().code == "T0606");
  }
}

TEST_CASE("tables that do not fit the runtime or the device are refused") {
  EmbeddedTable table = {};
  table.version = EmbeddedTable::kVersion + 1;
  auto newer = EmbeddedKernels::load(table, Device::cpu());
  REQUIRE_FALSE(newer);
  CHECK(newer.error().code == "T0631");
  EmbeddedImage image = {"sm_90a", "", 0};
  table = {EmbeddedTable::kVersion, 1, &image, 0, nullptr};
  auto none = EmbeddedKernels::load(table, Device::cpu());
  REQUIRE_FALSE(none);
  CHECK(none.error().code == "T0632");
  CHECK(none.error().message.find("sm_90a") != std::string::npos);
  image = {"host", "garbage", 7};
  auto damaged = EmbeddedKernels::load(table, Device::cpu());
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().code == "T0630");
}
