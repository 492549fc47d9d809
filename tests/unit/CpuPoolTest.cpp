//===- CpuPoolTest.cpp - the thread pool and host launches ----------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Every index exactly once, from one caller and from many; worker numbers are exclusive; scratch is aligned and private.
//
#include "runtime/Cpu/HostLaunch.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

using namespace tessera;

TEST_CASE("a range is covered once, for all counts and pool sizes") {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    CHECK(pool.size() >= 1);
    CHECK(pool.size() <= threads);
    for (int64_t count : {0, 1, 2, 3, 7, 64, 1000, 4097}) {
      std::vector<std::atomic<int>> seen(count);
      std::vector<std::atomic<int>> inside(pool.size());
      std::atomic<bool> exclusive{true}, bounded{true};
      pool.parallelFor(count, [&](int worker, int64_t first, int64_t last) {
        if (worker < 0 || worker >= pool.size() || first < 0 || last > count || first >= last) {
          bounded = false;
          return;
        }
        if (inside[worker].fetch_add(1) != 0)
          exclusive = false;
        for (int64_t i = first; i < last; ++i)
          seen[i].fetch_add(1);
        inside[worker].fetch_sub(1);
      });
      CHECK(bounded);
      CHECK(exclusive);
      bool once = true;
      for (auto &times : seen)
        once &= times == 1;
      CHECK(once);
    }
  }
}

TEST_CASE("many callers share a pool") {
  ThreadPool pool(3);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 6; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round)
        pool.parallelFor(100, [&](int, int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i)
            sum += i;
        });
    });
  for (std::thread &caller : callers)
    caller.join();
  CHECK(sum == 6 * 50 * 4950);
}

TEST_CASE("a range inside a range runs on its thread") {
  ThreadPool pool(4);
  std::atomic<int> inner{0};
  pool.parallelFor(8, [&](int, int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      pool.parallelFor(10, [&](int, int64_t a, int64_t b) { inner += static_cast<int>(b - a); });
  });
  CHECK(inner == 80);
}

namespace {

struct Seen {
  std::atomic<int> programs[100];
  std::atomic<bool> aligned{true};
  std::atomic<bool> own{true};
};

void entry(const uint64_t *slots, int64_t first, int64_t last, void *scratch) {
  Seen &seen = *reinterpret_cast<Seen *>(slots[0]);
  if (reinterpret_cast<uintptr_t>(scratch) % 64 != 0)
    seen.aligned = false;
  for (int64_t p = first; p < last; ++p) {
    // Private scratch keeps what its thread wrote.
    auto *mine = static_cast<volatile int64_t *>(scratch);
    for (int i = 0; i < 16; ++i)
      mine[i] = p + i;
    for (int i = 0; i < 16; ++i)
      if (mine[i] != p + i)
        seen.own = false;
    seen.programs[p]++;
  }
}

} // namespace

TEST_CASE("a host launch runs every program once with its own scratch") {
  ThreadPool pool(4);
  Seen seen{};
  uint64_t slot = reinterpret_cast<uintptr_t>(&seen);
  REQUIRE(launchHost(pool, entry, &slot, 100, 128));
  for (auto &times : seen.programs)
    CHECK(times == 1);
  CHECK(seen.aligned);
  CHECK(seen.own);
  REQUIRE(launchHost(pool, entry, &slot, 0, 128)); // an empty grid
  CHECK(seen.programs[0] == 1);
}

TEST_CASE("scratch that cannot be had is a machine error") {
  ThreadPool pool(2);
  uint64_t slot = 0;
  for (int64_t bytes : {INT64_MAX, INT64_MAX - 100, int64_t(-1)}) {
    Result<HostStatus> status = launchHost(pool, entry, &slot, 1, bytes);
    REQUIRE_FALSE(status);
    CHECK(status.error().fault == Fault::Machine);
    CHECK(status.error().code == "T0623");
  }
}
