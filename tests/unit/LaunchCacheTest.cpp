//===- LaunchCacheTest.cpp - launches that were checked before ------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A remembered launch must give the driver what planLaunch gives, refuse what planLaunch refuses, and do neither more nor slower: no
// allocation, no call of the driver but the launch, from any thread, into a stream that is captured.
//
#include "runtime/Launch/Device.h"
#include "runtime/Launch/LoadedImage.h"
#include "runtime/Launch/PreparedLaunch.h"
#include "tests/unit/FakeDriver.h"

#include <catch2/catch.hpp>

#include <new>
#include <random>
#include <thread>

using namespace tessera;
using namespace tessera::fake_driver;

namespace {
thread_local int allocations = 0;
} // namespace

// Counts what this thread allocates.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TESSERA_UNDER_TSAN
#endif
#endif
#ifdef TESSERA_UNDER_TSAN
namespace {
constexpr int kCounted = 0; // ThreadSanitizer has operators of its own that cannot be replaced
} // namespace
#else
namespace {
constexpr int kCounted = 1;
} // namespace
// The replacements pair with each other, whatever the compiler thinks of free() and new.
void *operator new(std::size_t bytes) {
  ++allocations;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  std::abort();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace {

/// What the last launch of this thread gave the driver.
struct Launched {
  std::array<uint64_t, 64> slots{};
  size_t wanted = 0;
  unsigned grid = 0;
  ContextHandle context = nullptr;
  int count = 0;
};
thread_local Launched last;

DriverTable recordingTable() {
  DriverTable table = makeTable();
  table.cuLaunchKernel = [](FunctionHandle, unsigned gx, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                            cuda::StreamHandle, void **params, void **) -> Status {
    if (Status s = needsContext("cuLaunchKernel"))
      return s;
    for (size_t i = 0; i < last.wanted; ++i)
      std::memcpy(&last.slots[i], params[i], 8);
    last.grid = gx;
    last.context = current;
    ++last.count;
    return 0;
  };
  return table;
}

/// k(x: in f32[R, C], y: out f32[R, C], z: accum f32[R] = 0, n: i32, s: f32) requires n > 0, grid (r in 0..R by n).
KernelInfo makeKernel() {
  auto tensor = [](const char *name, ParamMode mode, std::vector<Expr> extents) {
    ParamInfo param;
    param.name = name;
    param.isTensor = true;
    param.mode = mode;
    param.extents = std::move(extents);
    return param;
  };
  auto scalar = [](const char *name, DType dtype) {
    ParamInfo param;
    param.name = name;
    param.dtype = dtype;
    return param;
  };
  KernelInfo kernel;
  kernel.name = kernel.entry = "k";
  kernel.params = {tensor("x", ParamMode::In, {Expr::symbol("R"), Expr::symbol("C")}),
                   tensor("y", ParamMode::Out, {Expr::symbol("R"), Expr::symbol("C")}),
                   tensor("z", ParamMode::Accum, {Expr::symbol("R")}), scalar("n", DType::I32),
                   scalar("s", DType::F32)};
  kernel.params[0].contract.align = 8;
  kernel.params[2].clearFirst = true;
  kernel.dims = {"R", "C"};
  kernel.requirements = {{Expr::node(">", {Expr::symbol("n"), Expr::constant(int64_t(0))}), "n > 0", 1, 1}};
  kernel.grid = {{"r", Expr::constant(int64_t(0)), Expr::symbol("R"), Expr::symbol("n")}};
  kernel.threads = 128;
  return kernel;
}

struct Loaded : Fake {
  std::shared_ptr<const LoadedImage> image;
  KernelInfo kernel = makeKernel();

  Loaded() {
    fake = this;
    current = nullptr;
    last = {};
    last.wanted = 13; // x: 3, y: 3, z: 2, R, C, n, s, grid
    image = load(0);
  }
  ~Loaded() {
    image.reset();
    fake = nullptr;
  }
  std::shared_ptr<const LoadedImage> load(int device) {
    auto driver = Driver::fromTable(recordingTable());
    REQUIRE(driver);
    auto context = Context::create(*driver, device);
    REQUIRE(context);
    KernelImage content;
    content.target = "sm_90a";
    content.code = "ptx";
    content.kernels = {kernel};
    auto result = LoadedImage::onCuda(std::move(content), *context);
    REQUIRE(result);
    return *result;
  }
};

TensorRef at(uint64_t address, std::vector<int64_t> shape) {
  return TensorRef::contiguous(reinterpret_cast<void *>(static_cast<uintptr_t>(address)), DType::F32, std::move(shape));
}

std::vector<Argument> arguments(uint64_t x, uint64_t y, uint64_t z, int64_t rows, int64_t columns, int32_t n, float s) {
  return {at(x, {rows, columns}), at(y, {rows, columns}), at(z, {rows}), ScalarRef::of(n), ScalarRef::of(s)};
}

/// Launches and compares with planLaunch: the same slots and grid, or the same refusal.
bool agrees(const Loaded &loaded, const std::vector<Argument> &list) {
  int before = last.count;
  Result<void> done = loaded.image->launch(0, list, nullptr);
  Result<LaunchPlan> plan = planLaunch(loaded.kernel, list);
  if (!plan)
    return !done && done.error().code == plan.error().code && done.error().message == plan.error().message &&
           last.count == before;
  return done && last.count == before + (plan->programs > 0) &&
         (plan->programs == 0 || (int64_t(last.grid) == plan->programs &&
                                  std::equal(plan->slots.begin(), plan->slots.end(), last.slots.begin())));
}

} // namespace

TEST_CASE_METHOD(Loaded, "a launch like an earlier one allocates nothing and is the same launch") {
  REQUIRE(agrees(*this, arguments(0x10000, 0x20000, 0x30000, 16, 8, 4, 1.5f)));
  CHECK(clears.size() == 1);
  std::vector<Argument> other = arguments(0x50000, 0x60000, 0x70010, 16, 8, 4, 2.5f);
  clears.reserve(8);
  clears.clear();
  // The fake's own record of a clear is the one allocation that a launch with `= 0` sees.
  int before = allocations;
  Result<void> done = image->launch(0, other, nullptr);
  CHECK(allocations - before == kCounted);
  REQUIRE(done);
  CHECK(clears == std::vector<std::vector<size_t>>{{64, 64, 1}});
  CHECK(last.slots[0] == 0x50000);
  CHECK(last.slots[3] == 0x60000);
  CHECK(last.slots[6] == 0x70010);
  CHECK(last.slots[11] == 0x40200000); // 2.5f
  CHECK(agrees(*this, other));
}

TEST_CASE_METHOD(Loaded, "whatever planLaunch refuses is refused after a right launch too") {
  REQUIRE(agrees(*this, arguments(0x10000, 0x20000, 0x30000, 16, 8, 4, 1)));
  struct {
    const char *code;
    std::vector<Argument> list;
  } cases[] = {{"T0606", arguments(0x10000, 0x20000, 0x30000, 16, 8, 0, 1)},
               {"T0607", arguments(0x10004, 0x20000, 0x30000, 16, 8, 4, 1)},
               {"T0610", arguments(0x10000, 0x10010, 0x30000, 16, 8, 4, 1)},
               {"T0610", arguments(0x10000, 0x20000, 0x200f0, 16, 8, 4, 1)},
               {"T0614", arguments(0, 0x20000, 0x30000, 16, 8, 4, 1)},
               {"T0614", arguments(0x10000, 0x20000, 0x30000, -16, 8, 4, 1)}};
  for (auto &[code, list] : cases) {
    INFO(code);
    Result<void> done = image->launch(0, list, nullptr);
    REQUIRE_FALSE(done);
    CHECK(done.error().code == code);
    CHECK(agrees(*this, list));
  }
  std::vector<Argument> wrong = arguments(0x10000, 0x20000, 0x30000, 16, 8, 4, 1);
  std::get<TensorRef>(wrong[2]).shape = {15};
  CHECK(agrees(*this, wrong));
  std::get<TensorRef>(wrong[2]).strides = {};
  CHECK(agrees(*this, wrong));
  wrong.pop_back();
  CHECK(agrees(*this, wrong));
  CHECK(agrees(*this, {}));
  wrong = arguments(0x10000, 0x20000, 0x30000, 16, 8, 4, 1);
  wrong[4] = ScalarRef::of(1.0); // f64 for an f32
  CHECK(agrees(*this, wrong));
}

TEST_CASE_METHOD(Loaded, "tensors packed in one buffer are known by how they lie") {
  // Two halves of rows 16 wide: the ranges meet, no element is shared.
  auto halves = [](uint64_t x, uint64_t y) {
    std::vector<Argument> list = arguments(x, y, 0x90000, 16, 8, 4, 1);
    std::get<TensorRef>(list[0]).strides = std::get<TensorRef>(list[1]).strides = {16, 1};
    return list;
  };
  REQUIRE(agrees(*this, halves(0x10000, 0x10020)));
  REQUIRE(agrees(*this, halves(0x20000, 0x20020)));
  std::vector<Argument> again = halves(0x30000, 0x30020);
  clears.reserve(8);
  int before = allocations;
  Result<void> done = image->launch(0, again, nullptr);
  CHECK(allocations - before == kCounted); // as above
  CHECK(done);
  CHECK(agrees(*this, halves(0x20000, 0x20010))); // these do share: T0610
  CHECK(agrees(*this, halves(0x20020, 0x20000)));
  CHECK(agrees(*this, halves(0x20000, 0x20020)));
}

TEST_CASE_METHOD(Loaded, "ten thousand random launches") {
  std::mt19937 random(7);
  auto pick = [&](std::initializer_list<uint64_t> list) { return *(list.begin() + random() % list.size()); };
  for (int i = 0; i < 10000; ++i) {
    auto address = [&] { return pick({0x10000, 0x10020, 0x10100, 0x20000, 0x20008, 0x20010, 0x30004, 0x40000, 0}); };
    auto list = arguments(address(), address(), address(), int64_t(pick({0, 1, 4, 7})), int64_t(pick({1, 8, 5})),
                          int32_t(pick({0, 1, 3})), float(random() % 3));
    if (random() % 4 == 0)
      std::get<TensorRef>(list[random() % 2]).strides = {int64_t(pick({1, 8, 16, uint64_t(-8)})),
                                                         int64_t(pick({1, 2, 0}))};
    std::get<TensorRef>(list[1]).mayOverlap = random() % 5 == 0;
    INFO(i);
    REQUIRE(agrees(*this, list));
  }
}

TEST_CASE_METHOD(Loaded, "sixteen threads, more kinds of launches than there are places") {
  // The fake's record of clears is not made for threads: this kernel has none.
  kernel.params[2].clearFirst = false;
  image = load(0);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      last.wanted = 13;
      std::mt19937 random(t);
      for (int i = 0; i < 2000; ++i) {
        uint64_t base = uint64_t(1 + random() % 1000) << 24;
        wrong += !agrees(*this, arguments(base, base + 0x100000, base + 0x200000, 1 + random() % 150, 8,
                                          1 + random() % 2, float(t)));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(wrong == 0);
}

TEST_CASE_METHOD(Loaded, "a prepared launch is the driver's call and nothing else, on any thread") {
  kernel.params[2].clearFirst = false;
  image = load(0);
  auto list = arguments(0x10000, 0x20000, 0x30000, 16, 8, 4, 1);
  auto made = PreparedLaunch::make(image, 0, list);
  REQUIRE(made);
  PreparedLaunch copy = *made;
  int before = allocations;
  bool launched = bool(copy.launch(nullptr));
  CHECK(allocations == before);
  CHECK(launched);
  CHECK(last.count == 1);
  CHECK(std::equal(copy.plan().slots.begin(), copy.plan().slots.end(), last.slots.begin()));
  image.reset(); // the launch keeps what it needs
  bool elsewhere = false;
  std::thread([&] { elsewhere = copy.launch(nullptr) && last.count == 1; }).join();
  CHECK(elsewhere);
  CHECK(PreparedLaunch().launch(nullptr));
  auto refused = PreparedLaunch::make(load(0), 0, arguments(0x10004, 0x20000, 0x30000, 16, 8, 4, 1));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == "T0607");
}

TEST_CASE_METHOD(Loaded, "launches can be captured: no call that a capturing stream refuses") {
  auto list = arguments(0x10000, 0x20000, 0x30000, 16, 8, 4, 1);
  auto prepared = PreparedLaunch::make(image, 0, list);
  REQUIRE(prepared);
  capturing = true;
  CHECK(image->launch(0, list, nullptr)); // planned here for the first time
  CHECK(image->launch(0, list, nullptr));
  CHECK(prepared->launch(nullptr));
  CHECK(last.count == 3);
  CHECK(clears.size() == 3);
}

TEST_CASE_METHOD(Loaded, "code is not loaded while a stream is captured, and the error says where it failed") {
  auto context = openContext();
  KernelImage content;
  content.target = "sm_90a";
  content.kernels = {kernel};
  capturing = true;
  auto loaded = LoadedImage::onCuda(content, context);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().message.rfind("cuModuleLoadDataEx failed", 0) == 0);
  CHECK(loaded.error().remedy.find("prepare") != std::string::npos);
}

TEST_CASE_METHOD(Loaded, "a caller's own context is used, and stays the caller's") {
  auto driver = Driver::fromTable(recordingTable());
  REQUIRE(driver);
  int before = alive;
  {
    // A context of device 1, current on some other thread.
    auto context = Context::adopt(*driver, reinterpret_cast<ContextHandle>(5101));
    REQUIRE(context);
    CHECK((*context)->device() == 1);
    CHECK((*context)->info().computeMajor == 9);
    auto device = Device::fromContext(*context);
    REQUIRE(device);
    CHECK(device->name() == "cuda:1");
    CHECK(device->target() == "sm_90a");
    KernelImage content;
    content.target = "sm_90a";
    content.kernels = {kernel};
    auto loaded = LoadedImage::onCuda(content, *context);
    REQUIRE(loaded);
    REQUIRE((*loaded)->launch(0, arguments(0x10000, 0x20000, 0x30000, 16, 8, 4, 1), nullptr));
    CHECK(last.context == reinterpret_cast<ContextHandle>(5101));
    CHECK(current == nullptr);
    CHECK(alive == before + 1); // the module
  }
  CHECK(alive == before); // and no context was released
  auto none = Context::adopt(*driver, nullptr);
  REQUIRE_FALSE(none);
  CHECK(none.error().code == "T0622");
}

TEST_CASE_METHOD(Loaded, "each device launches its own copy of an image, and the caller's context comes back") {
  auto second = load(1);
  auto list = arguments(0x10000, 0x20000, 0x30000, 16, 8, 4, 1);
  auto caller = reinterpret_cast<ContextHandle>(55);
  current = caller;
  for (int round = 0; round < 3; ++round) {
    REQUIRE(image->launch(0, list, nullptr));
    CHECK(last.context == reinterpret_cast<ContextHandle>(100));
    CHECK(current == caller);
    REQUIRE(second->launch(0, list, nullptr));
    CHECK(last.context == reinterpret_cast<ContextHandle>(101));
    CHECK(current == caller);
  }
}
