//===- ApiTest.cpp - tessera.hpp from a C++ program ------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A program as a user writes it: source text in, results or messages out, on the host's cores.
//
#include "runtime/Api/tessera.hpp"

#include <catch2/catch.hpp>

#include <thread>
#include <vector>

using namespace tessera;

namespace {

constexpr const char *kSource = R"(
kernel axpy<T = f32, BN = 64>(x: in T[N], y: in T[N] = None, z: out T[N], a: f32)
  requires a > 0.0
  grid (i in 0..N by BN)
{
  if y != None {
    z[i +: BN] = T(a * f32(x[i +: BN]) + f32(y[i +: BN]))
  } else {
    z[i +: BN] = T(a * f32(x[i +: BN]))
  }
}
)";

Program program() {
  ProgramOptions options;
  options.sourceName = "axpy.tile";
  options.device = Device::cpu(2);
  Expected<Program> result = Program::fromSource(kSource, options);
  INFO((result ? std::string() : result.failure().text()));
  REQUIRE(result);
  return *result;
}

struct Data {
  std::vector<float> x, y, z;
  explicit Data(int64_t n) : x(n), y(n), z(n, -1.0f) {
    for (int64_t i = 0; i < n; ++i) {
      x[i] = static_cast<float>(i % 17);
      y[i] = static_cast<float>(i % 5);
    }
  }
  static TensorRef ref(std::vector<float> &v) {
    return TensorRef::contiguous(v.data(), DType::F32, {static_cast<int64_t>(v.size())});
  }
};

std::string textOf(const Expected<void> &result) { return result ? std::string() : result.failure().text(); }

} // namespace

TEST_CASE("a kernel runs with arguments by position and by name") {
  Program axpy = program();
  CHECK(axpy.kernels() == std::vector<std::string>{"axpy"});
  Expected<Kernel> kernel = axpy.kernel("axpy", {{"T", "f32"}, {"BN", 32}});
  REQUIRE(kernel);
  for (int64_t n : {1, 31, 32, 33, 1000}) {
    Data data(n);
    auto done = kernel->launch(nullptr, Data::ref(data.x), Data::ref(data.y), Data::ref(data.z), 2.0f);
    INFO(textOf(done));
    REQUIRE(done);
    for (int64_t i = 0; i < n; ++i)
      REQUIRE(data.z[i] == 2 * data.x[i] + data.y[i]); // small whole numbers: exact
    REQUIRE(kernel->launchNamed(
        nullptr, {{"a", 3}, {"z", Data::ref(data.z)}, {"x", Data::ref(data.x)}})); // 3 becomes the f32 that `a` is
    for (int64_t i = 0; i < n; ++i)
      REQUIRE(data.z[i] == 3 * data.x[i]);
  }
}

TEST_CASE("strided memory, and no work at all") {
  Program axpy = program();
  Expected<Kernel> kernel = axpy.kernel("axpy");
  REQUIRE(kernel);
  Data data(300);
  TensorRef x = Data::ref(data.x), z = Data::ref(data.z);
  x.shape = z.shape = {100};
  x.strides = {3};
  z.strides = {2};
  REQUIRE(kernel->launch(nullptr, x, std::nullopt, z, 1.0f));
  for (int64_t i = 0; i < 300; ++i)
    REQUIRE(data.z[i] == (i % 2 == 0 && i < 200 ? data.x[i / 2 * 3] : -1.0f));
  TensorRef none = TensorRef::contiguous(nullptr, DType::F32, {0});
  CHECK(kernel->launch(nullptr, none, none, none, 1.0f));
}

TEST_CASE("many threads launch one kernel, the first of them compiling it") {
  Program axpy = program();
  Expected<Kernel> kernel = axpy.kernel("axpy");
  REQUIRE(kernel);
  std::vector<int> right(8, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      Data data(500 + t);
      bool ok = bool(kernel->launch(nullptr, Data::ref(data.x), Data::ref(data.y), Data::ref(data.z), 2.0f));
      for (size_t i = 0; i < data.z.size(); ++i)
        ok &= data.z[i] == 2 * data.x[i] + data.y[i];
      right[t] = ok;
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(right == std::vector<int>(8, 1));
}

TEST_CASE("failures are values that say what is wrong") {
  Program axpy = program();
  Expected<Kernel> missing = axpy.kernel("axpi");
  REQUIRE_FALSE(missing);
  CHECK(missing.failure().error.message == "there is no kernel 'axpi'; found: axpy");
  Expected<Kernel> kernel = axpy.kernel("axpy");
  REQUIRE(kernel);
  Data data(8), longer(9);
  auto shapes = kernel->launch(nullptr, Data::ref(data.x), Data::ref(longer.y), Data::ref(data.z), 1.0f);
  REQUIRE_FALSE(shapes);
  CHECK(shapes.failure().error.message ==
        "argument 'y' of 'axpy': extent 0 ('N') is 9, expected 8 as bound by extent 0 of 'x'");
  auto condition = kernel->launch(nullptr, Data::ref(data.x), Data::ref(data.y), Data::ref(data.z), -1.0f);
  REQUIRE_FALSE(condition);
  CHECK(condition.failure().error.code == "T0606");
  auto count = kernel->launch(nullptr, Data::ref(data.x));
  REQUIRE_FALSE(count);
  CHECK(count.failure().error.message == "'axpy' takes 4 arguments, found 1");
  auto name = kernel->launchNamed(nullptr, {{"X", Data::ref(data.x)}});
  REQUIRE_FALSE(name);
  CHECK(name.failure().error.message == "'axpy' has no parameter 'X'; it has x, y, z, a");
  auto alias = kernel->launch(nullptr, Data::ref(data.x), std::nullopt, Data::ref(data.x), 1.0f);
  REQUIRE_FALSE(alias);
  CHECK(alias.failure().error.code == "T0610");

  Expected<Program> broken = Program::fromSource("kernel k(x: in f32[N]) grid (i in 0..N) { x[i] = }");
  REQUIRE_FALSE(broken);
  REQUIRE_FALSE(broken.failure().messages.empty());
  CHECK(broken.failure().messages[0].line == 1);
  CHECK_FALSE(broken.failure().messages[0].code.empty());
  CHECK_FALSE(broken.failure().text().empty());
}

TEST_CASE("prepare compiles without touching memory") {
  Program axpy = program();
  Expected<Kernel> kernel = axpy.kernel("axpy");
  REQUIRE(kernel);
  TensorRef imaginary = TensorRef::contiguous(reinterpret_cast<void *>(uintptr_t(0x10000)), DType::F32, {1000});
  TensorRef other = imaginary;
  other.data = reinterpret_cast<void *>(uintptr_t(0x20000));
  auto prepared = kernel->prepare(imaginary, std::nullopt, other, 1.0f);
  INFO((prepared ? std::string() : prepared.failure().text()));
  CHECK(prepared);
}
