//===- ThreadsTest.cpp - sixteen threads compile and launch --------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// One program, one device, one cache folder, and threads that check, compile, load, launch and prepare at once, each with results of its
// own to compare.  Under ThreadSanitizer this shows that nothing is shared unguarded.
//
#include "runtime/Api/tessera.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace tessera;

namespace {

constexpr int kThreads = 16;
constexpr const char *kSource = R"(
kernel scale<T = f32, BN = 64, C: int>(x: in T[N], y: out T[N], s: f32) grid (i in 0..N by BN) {
  y[i +: BN] = T(f32(x[i +: BN]) * s + C)
}
kernel total<BN = 32>(x: in f32[N], y: accum f32[1] = 0) grid (i in 0..N by BN) {
  y[0] += sum(x[i +: BN], axis = 0)
}
kernel broken<BN = 32>(x: in f32[N], y: out f32[N]) requires BN > 64 grid (i in 0..N by BN) {
  y[i +: BN] = x[i +: BN]
}
)";

/// What went wrong first, from any thread.
struct Outcome {
  std::mutex mutex;
  std::string text;
  void wrong(const std::string &what) {
    std::lock_guard<std::mutex> lock(mutex);
    if (text.empty())
      text = what;
  }
};

TensorRef ref(std::vector<float> &data) {
  return TensorRef::contiguous(data.data(), DType::F32, {static_cast<int64_t>(data.size())});
}

/// Kernels of its own thread and of all, launched cold, warm and prepared.
void work(const Program &program, int thread, Outcome &outcome) {
  for (int round = 0; round < 3; ++round) {
    int constant = round < 2 ? round : 100 + thread; // shared by all, and of this thread alone
    auto kernel = program.kernel("scale", {{"C", constant}, {"BN", 32 << (thread % 2)}});
    if (!kernel)
      return outcome.wrong(kernel.failure().text());
    for (size_t length : {17, 64, 200}) {
      std::vector<float> x(length), y(length);
      for (size_t i = 0; i < length; ++i)
        x[i] = static_cast<float>(i);
      for (int s = 1; s <= 4; ++s) {
        auto prepared = kernel->prepare(ref(x), ref(y), float(-s));
        auto done = kernel->launch(nullptr, ref(x), ref(y), float(s));
        if (!done || !prepared)
          return outcome.wrong((done ? prepared.failure() : done.failure()).text());
        for (size_t i = 0; i < length; ++i)
          if (y[i] != static_cast<float>(i) * static_cast<float>(s) + static_cast<float>(constant))
            return outcome.wrong("a launch gave another result");
        if (!prepared->launch(nullptr) || y[1] != static_cast<float>(constant - s))
          return outcome.wrong("a prepared launch gave another result");
      }
    }
    std::vector<float> x(1000, 0.5f), y(1);
    auto total = program.kernel("total");
    if (!total || !total->launch(nullptr, ref(x), ref(y)) || y[0] != 500.0f)
      return outcome.wrong("a sum over programs gave another result");
    auto broken = program.kernel("broken");
    if (!broken || broken->launch(nullptr, ref(x), ref(x)))
      return outcome.wrong("a wrong launch was accepted");
  }
}

} // namespace

TEST_CASE("sixteen threads compile and launch one program") {
  std::string pattern = (std::filesystem::temp_directory_path() / "tessera-threads-XXXXXX").string();
  std::string folder = mkdtemp(pattern.data());
  // The second program finds on disk what the first has compiled.
  for (int pass = 0; pass < 2; ++pass) {
    ProgramOptions options;
    options.sourceName = "threads.tile";
    options.device = Device::cpu(3);
    options.cacheFolder = folder;
    Expected<Program> program = Program::fromSource(kSource, options);
    INFO((program ? std::string() : program.failure().text()));
    REQUIRE(program);
    Outcome outcome;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] { work(*program, t, outcome); });
    for (std::thread &thread : threads)
      thread.join();
    INFO(outcome.text);
    REQUIRE(outcome.text.empty());
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("threads have programs and devices of their own") {
  Outcome outcome;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      ProgramOptions options;
      options.device = Device::cpu(1 + t % 2);
      // Every fourth is wrong, so that diagnostics are made at the same time too.
      Expected<Program> program =
          Program::fromSource(t % 4 ? kSource : "kernel k(x: in f32[N]) grid (i in 0..N) { y = }", options);
      if (bool(program) != (t % 4 != 0))
        return outcome.wrong("a program was not what it is");
      if (!program && program.failure().messages.empty())
        return outcome.wrong("a wrong program without a message");
      if (program)
        work(*program, t, outcome);
    });
  for (std::thread &thread : threads)
    thread.join();
  INFO(outcome.text);
  CHECK(outcome.text.empty());
}
