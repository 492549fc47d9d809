//===- HostCodeTest.cpp - object files linked into the process ------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// An object of the C compiler stands for the compiler's: it runs over a grid, two of them live side by side, and what does not link is an
// error.
//
#include "runtime/Jit/HostCode.h"
#include "runtime/Cpu/HostLaunch.h"

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <fstream>
#include <sstream>

using namespace tessera;

namespace {

std::string object(const char *path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void checkAxpy(const HostCode &code) {
  ThreadPool pool(3);
  constexpr int64_t n = 1000;
  std::vector<float> x(n), y(n), z(n + 1, -1.0f);
  for (int64_t i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i) * 0.37f;
    y[i] = static_cast<float>(n - i) * 1.7f;
  }
  float a = 0.3f;
  uint64_t slots[] = {reinterpret_cast<uintptr_t>(x.data()), reinterpret_cast<uintptr_t>(y.data()),
                      reinterpret_cast<uintptr_t>(z.data()), n, std::bit_cast<uint32_t>(a)};
  REQUIRE(launchHost(pool, reinterpret_cast<HostEntry>(code.find("axpy")), slots, (n + 127) / 128, 512));
  for (int64_t i = 0; i < n; ++i)
    // Double holds the product exactly; its sum rounds twice, so the fused result is at most one unit away.
    REQUIRE(std::fabs(z[i] - static_cast<float>(static_cast<double>(a) * x[i] + y[i])) <= std::fabs(z[i]) * 0x1p-23f);
  CHECK(z[n] == -1.0f);
}

} // namespace

TEST_CASE("host code runs, and two images with the same names do not meet") {
  std::string bytes = object(TESSERA_HOST_OBJECT);
  auto first = HostCode::load(bytes, {"axpy"});
  INFO((first ? std::string() : first.error().message));
  REQUIRE(first);
  auto second = HostCode::load(bytes, {"axpy"});
  REQUIRE(second);
  CHECK((*first)->find("axpy") != (*second)->find("axpy"));
  CHECK((*first)->find("outside") == nullptr); // not asked for
  checkAxpy(**first);
  first = Error{};
  checkAxpy(**second);
}

TEST_CASE("what does not link is an internal error that names the symbol") {
  std::string bytes = object(TESSERA_HOST_OBJECT_OUTSIDE);
  auto missing = HostCode::load(bytes, {"outside"});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().fault == Fault::Internal);
  INFO(missing.error().message);
  CHECK(missing.error().message.find("notAllowed") != std::string::npos);
  auto absent = HostCode::load(object(TESSERA_HOST_OBJECT), {"nothing"});
  REQUIRE_FALSE(absent);
  CHECK(absent.error().message.find("nothing") != std::string::npos);
}

TEST_CASE("bytes that are no object are refused") {
  std::string bytes = object(TESSERA_HOST_OBJECT);
  CHECK_FALSE(HostCode::load("", {"axpy"}));
  CHECK_FALSE(HostCode::load("hello", {"axpy"}));
  CHECK_FALSE(HostCode::load(bytes.substr(0, 40), {"axpy"}));
}
