//===- FieldEmbeddingTest.cpp - field cases that need one process ------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Those cases of tests/field_cases that are about a host program: several launches of one kernel, several threads, the cost of a launch, memory that the
// command line could not make.
//
#include "runtime/Api/tessera.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

using namespace tessera;

namespace {

std::string textOf(const Expected<void> &result) { return result ? std::string() : result.failure().text(); }

void require(const Expected<void> &done) {
  INFO(textOf(done));
  REQUIRE(done);
}

Kernel kernelOf(const std::string &source, const std::string &name, int threads = 2) {
  ProgramOptions options;
  options.sourceName = "field.tile";
  options.device = Device::cpu(threads);
  Expected<Program> program = Program::fromSource(source, options);
  INFO((program ? source : program.failure().text()));
  REQUIRE(program);
  Expected<Kernel> kernel = program->kernel(name);
  REQUIRE(kernel);
  return *kernel;
}

TensorRef ref(std::vector<int32_t> &data, std::vector<int64_t> shape) {
  return TensorRef::contiguous(data.data(), DType::I32, std::move(shape));
}

/// A launch of one program whose kernel reads none of its `count` scalars.
std::string manyScalars(int count) {
  std::string parameters;
  for (int i = 0; i < count; ++i)
    parameters += fmt::format(", a{}: i32", i);
  return fmt::format("kernel k(y: out i32[N]{})\n  grid (i in 0..N by 64)\n{{\n  y[i +: 64] = full(i32, [64], 5)\n}}\n",
                     parameters);
}

/// Nanoseconds of each of `rounds` warm launches, sorted.
std::vector<double> timeLaunches(const Kernel &kernel, int count, int rounds) {
  std::vector<int32_t> y(1);
  TensorRef written = ref(y, {1});
  std::vector<int> scalars(static_cast<size_t>(count), 3);
  std::vector<ArgumentView> views{ArgumentView(written)};
  for (const int &scalar : scalars)
    views.emplace_back(scalar);
  require(kernel.launchViews(nullptr, views));
  std::vector<double> times;
  bool good = true;
  for (int i = 0; i < rounds; ++i) {
    auto begin = std::chrono::steady_clock::now();
    good &= bool(kernel.launchViews(nullptr, views));
    times.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count());
  }
  REQUIRE(good);
  CHECK(y[0] == 5);
  std::sort(times.begin(), times.end());
  return times;
}

} // namespace

TEST_CASE("a constant outside of the kernel changes, in one process (A15)") {
  for (const char *constant : {"123", "1234", "123"}) {
    Kernel kernel =
        kernelOf(fmt::format("let FACTOR = {}\nkernel k(x: in i32[N], y: out i32[N])\n  grid (i in 0..N by 8)\n{{\n"
                             "  y[i +: 8] = x[i +: 8] * FACTOR\n}}\n",
                             constant),
                 "k");
    std::vector<int32_t> x{1, 2, 3}, y(3);
    require(kernel.launch(nullptr, ref(x, {3}), ref(y, {3})));
    CHECK(y == std::vector<int32_t>{std::stoi(constant), 2 * std::stoi(constant), 3 * std::stoi(constant)});
  }
}

TEST_CASE("empty grids before and after others (A16)") {
  Kernel kernel = kernelOf(
      "kernel count(x: inout i32[N], nx: i32, ny: i32, nz: i32)\n  grid (a in 0..nx, b in 0..ny, c in 0..nz)\n{\n"
      "  atomic_add(x[0], 1)\n}\n",
      "count");
  std::vector<int32_t> x(1, 0);
  int expected = 0;
  struct Launch {
    int nx, ny, nz;
  };
  // Empty first, then warm, then empty along each axis, then again; a negative bound is empty too.
  for (Launch l :
       {Launch{0, 1, 1}, {1, 1, 1}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {1, 1, 1}, {0, 0, 0}, {-3, 1, 1}, {2, 3, 4}}) {
    INFO(l.nx << " x " << l.ny << " x " << l.nz);
    require(kernel.launch(nullptr, ref(x, {1}), l.nx, l.ny, l.nz));
    expected += std::max(l.nx, 0) * std::max(l.ny, 0) * std::max(l.nz, 0);
    CHECK(x[0] == expected);
  }
}

TEST_CASE("a thread that only launches (A17)") {
  Kernel kernel =
      kernelOf("kernel add(x: inout i32[N], v: i32)\n  grid (i in 0..N by 16)\n{\n  x[i +: 16] += v\n}\n", "add");
  std::vector<int32_t> x(100, 0);
  require(kernel.launch(nullptr, ref(x, {100}), 1));
  std::string failure = "not launched";
  std::thread([&] { failure = textOf(kernel.launch(nullptr, ref(x, {100}), 2)); }).join();
  CHECK(failure.empty());
  CHECK(x == std::vector<int32_t>(100, 3));
}

TEST_CASE("the cost of a launch hardly depends on the number of arguments (A18)") {
  std::vector<double> medians;
  for (int count : {0, 8, 19, 32}) {
    Kernel kernel = kernelOf(manyScalars(count), "k", 1);
    std::vector<double> times = timeLaunches(kernel, count, 10000);
    medians.push_back(times[times.size() / 2]);
    WARN(count << " scalars: median " << times[times.size() / 2] << " ns, 99th percentile "
               << times[times.size() * 99 / 100] << " ns");
    CHECK(medians.back() <
          20000); // low microseconds; the bound leaves room for a busy machine and for builds without optimization
  }
  // Each argument costs some tens of nanoseconds, where planning anew would cost microseconds.
  CHECK(medians.back() - medians.front() < 5000);
}

TEST_CASE("an element beyond 4 GiB is the one that is read (A23)") {
  // 2^19 + 1 rows of 8192 bytes.  Pages that nobody writes take no memory; the first pages, where a wrapped address would lead, hold other values.
  constexpr size_t kColumns = 8192, kRows = (size_t(1) << 19) + 1, kBytes = kColumns * kRows;
  void *memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    WARN("no address space of 4 GiB: not tested here");
    return;
  }
  auto *bytes = static_cast<uint8_t *>(memory);
  Kernel kernel = kernelOf("kernel far(x: inout u8[R, C], y: out u8[M], row: i32, column: i32)\n  grid (i in "
                           "0..1)\n{\n  y[0] = x[row, column]\n"
                           "  y[1 +: 16] = x[row, column +: 16]\n  y[17] = x[row + iota(1), column + iota(1)][0]\n  "
                           "x[row, column + 1 +: 2] = full(u8, [2], 99)\n}\n",
                           "far");
  for (size_t i = 0; i < 64; ++i) {
    bytes[i] = 7;
    bytes[(kRows - 1) * kColumns + i] = static_cast<uint8_t>(i + 1);
  }
  std::vector<uint8_t> y(18);
  require(kernel.launch(nullptr, TensorRef::contiguous(bytes, DType::U8, {int64_t(kRows), int64_t(kColumns)}),
                        TensorRef::contiguous(y.data(), DType::U8, {18}), int(kRows - 1), 3));
  CHECK(y[0] == 4);
  for (int i = 0; i < 16; ++i)
    CHECK(y[1 + i] == 4 + i);
  CHECK(y[17] == 4);
  CHECK(bytes[(kRows - 1) * kColumns + 4] == 99);
  CHECK(std::all_of(bytes, bytes + 64, [](uint8_t b) { return b == 7; }));
  munmap(memory, kBytes);
}
