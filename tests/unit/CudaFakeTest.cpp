//===- CudaFakeTest.cpp - the CUDA wrappers over a driver that is not there ------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A table of functions that record what they are called with and fail on demand: contexts on any thread, ownership, limits, messages.
//
#include "runtime/Cuda/Module.h"
#include "runtime/Launch/Device.h"
#include "runtime/Launch/LoadedImage.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

using namespace tessera;
using namespace tessera::cuda;

namespace {

/// The state of the fake; one test at a time uses it.
struct Fake {
  std::atomic<int> alive{0}; // contexts, streams, events, memory, modules
  std::atomic<int> launches{0};
  std::atomic<int> contextSwitches{0};
  int devices = 2, major = 9, minor = 0;
  std::string failing; // name of a call that fails
  Status failure = 719;
  std::vector<uint64_t> params;
  unsigned grid = 0, block = 0, shared = 0;
  int dynamicShared = -1;
  std::vector<std::vector<size_t>> clears; // pitch, width, rows
  std::vector<std::vector<size_t>> fills;  // bytes of an element, value, pitch, width, rows
} *fake = nullptr;

thread_local ContextHandle current = nullptr;

Status outcome(const char *call) { return fake->failing == call ? fake->failure : 0; }
Status needsContext(const char *call) { return current ? outcome(call) : 201; }

DriverTable makeTable() {
  DriverTable t;
  t.cuInit = [](unsigned) { return outcome("cuInit"); };
  t.cuDriverGetVersion = [](int *v) { return *v = 13000, 0; };
  t.cuGetErrorName = [](Status s, const char **n) {
    return *n = s == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
                : s == 201 ? "CUDA_ERROR_INVALID_CONTEXT"
                           : "CUDA_ERROR_LAUNCH_FAILED",
           0;
  };
  t.cuGetErrorString = [](Status, const char **n) { return *n = "text of the driver", 0; };
  t.cuDeviceGetCount = [](int *n) { return *n = fake->devices, 0; };
  t.cuDeviceGet = [](DeviceOrdinal *d, int i) { return *d = 100 + i, 0; };
  t.cuDeviceGetName = [](char *name, int size, DeviceOrdinal) { return std::strncpy(name, "Fake 9000", size), 0; };
  t.cuDeviceGetAttribute = [](int *v, DeviceAttribute a, DeviceOrdinal) {
    *v = a == DeviceAttribute::ComputeMajor        ? fake->major
         : a == DeviceAttribute::ComputeMinor      ? fake->minor
         : a == DeviceAttribute::MaxSharedPerBlock ? 232448
                                                   : 132;
    return 0;
  };
  t.cuDeviceTotalMem = [](size_t *b, DeviceOrdinal) { return *b = size_t(1) << 37, 0; };
  t.cuDevicePrimaryCtxRetain = [](ContextHandle *c, DeviceOrdinal d) {
    *c = reinterpret_cast<ContextHandle>(static_cast<uintptr_t>(d));
    ++fake->alive;
    return outcome("cuDevicePrimaryCtxRetain");
  };
  t.cuDevicePrimaryCtxRelease = [](DeviceOrdinal) { return --fake->alive, 0; };
  t.cuCtxGetCurrent = [](ContextHandle *c) { return *c = current, 0; };
  t.cuCtxSetCurrent = [](ContextHandle c) { return current = c, ++fake->contextSwitches, 0; };
  t.cuStreamCreate = [](cuda::StreamHandle *s, unsigned) {
    return *s = reinterpret_cast<cuda::StreamHandle>(7), ++fake->alive, needsContext("cuStreamCreate");
  };
  t.cuStreamDestroy = [](cuda::StreamHandle) { return --fake->alive, 0; };
  t.cuStreamSynchronize = [](cuda::StreamHandle) { return needsContext("cuStreamSynchronize"); };
  t.cuEventCreate = [](EventHandle *e, unsigned) {
    return *e = reinterpret_cast<EventHandle>(8), ++fake->alive, needsContext("cuEventCreate");
  };
  t.cuEventDestroy = [](EventHandle) { return --fake->alive, 0; };
  t.cuEventRecord = [](EventHandle, cuda::StreamHandle) { return needsContext("cuEventRecord"); };
  t.cuEventSynchronize = [](EventHandle) { return needsContext("cuEventSynchronize"); };
  t.cuEventElapsedTime = [](float *ms, EventHandle, EventHandle) {
    return *ms = 1.5f, needsContext("cuEventElapsedTime");
  };
  t.cuMemAlloc = [](DevicePointer *p, size_t bytes) -> Status {
    if (Status s = needsContext("cuMemAlloc"))
      return s;
    *p = reinterpret_cast<uintptr_t>(std::malloc(bytes)); // "device memory" that copies can reach
    ++fake->alive;
    return 0;
  };
  t.cuMemFree = [](DevicePointer p) {
    return std::free(reinterpret_cast<void *>(static_cast<uintptr_t>(p))), --fake->alive, 0;
  };
  t.cuMemcpyHtoDAsync = [](DevicePointer to, const void *from, size_t n, cuda::StreamHandle) {
    return std::memcpy(reinterpret_cast<void *>(static_cast<uintptr_t>(to)), from, n),
           needsContext("cuMemcpyHtoDAsync");
  };
  t.cuMemcpyDtoHAsync = [](void *to, DevicePointer from, size_t n, cuda::StreamHandle) {
    return std::memcpy(to, reinterpret_cast<void *>(static_cast<uintptr_t>(from)), n),
           needsContext("cuMemcpyDtoHAsync");
  };
  t.cuMemcpyDtoDAsync = [](DevicePointer, DevicePointer, size_t, cuda::StreamHandle) {
    return needsContext("cuMemcpyDtoDAsync");
  };
  t.cuMemsetD2D8Async = [](DevicePointer, size_t pitch, unsigned char, size_t width, size_t rows, cuda::StreamHandle) {
    return fake->clears.push_back({pitch, width, rows}), needsContext("cuMemsetD2D8Async");
  };
  t.cuMemsetD2D16Async = [](DevicePointer, size_t pitch, unsigned short value, size_t width, size_t rows,
                            cuda::StreamHandle) {
    return fake->fills.push_back({2, value, pitch, width, rows}), needsContext("cuMemsetD2D16Async");
  };
  t.cuMemsetD2D32Async = [](DevicePointer, size_t pitch, unsigned value, size_t width, size_t rows,
                            cuda::StreamHandle) {
    return fake->fills.push_back({4, value, pitch, width, rows}), needsContext("cuMemsetD2D32Async");
  };
  t.cuMemAllocAsync = [](DevicePointer *p, size_t, cuda::StreamHandle) -> Status {
    if (Status s = needsContext("cuMemAllocAsync"))
      return s;
    return *p = 0x700000, ++fake->alive, 0;
  };
  t.cuMemFreeAsync = [](DevicePointer p, cuda::StreamHandle) { return fake->alive -= p == 0x700000, 0; };
  t.cuModuleLoadDataEx = [](ModuleHandle *m, const void *, unsigned count, JitOption *options,
                            void **values) -> Status {
    if (Status s = needsContext("cuModuleLoadDataEx")) {
      if (count == 2 && options[0] == JitOption::ErrorLog && options[1] == JitOption::ErrorLogBytes)
        std::strcpy(static_cast<char *>(values[0]), "ptxas fatal: line 3");
      return s;
    }
    return *m = reinterpret_cast<ModuleHandle>(9), ++fake->alive, 0;
  };
  t.cuModuleUnload = [](ModuleHandle) { return --fake->alive, 0; };
  t.cuModuleGetFunction = [](FunctionHandle *f, ModuleHandle, const char *) {
    return *f = reinterpret_cast<FunctionHandle>(10), needsContext("cuModuleGetFunction");
  };
  t.cuFuncSetAttribute = [](FunctionHandle, FunctionAttribute a, int v) {
    if (a == FunctionAttribute::MaxDynamicShared)
      fake->dynamicShared = v;
    return needsContext("cuFuncSetAttribute");
  };
  t.cuFuncGetAttribute = [](int *v, FunctionAttribute a, FunctionHandle) {
    return *v = a == FunctionAttribute::MaxThreads ? 512 : 96, needsContext("cuFuncGetAttribute");
  };
  t.cuLaunchKernel = [](FunctionHandle, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned, unsigned,
                        unsigned shared, cuda::StreamHandle, void **params, void **) -> Status {
    if (Status s = needsContext("cuLaunchKernel"))
      return s;
    ++fake->launches;
    fake->grid = gx * gy * gz;
    fake->block = bx;
    fake->shared = shared;
    for (uint64_t &value : fake->params)
      std::memcpy(&value, *params++, 8);
    return 0;
  };
  return t;
}

std::shared_ptr<const Context> openContext(int device = 0) {
  auto driver = Driver::fromTable(makeTable());
  REQUIRE(driver);
  auto context = Context::create(*driver, device);
  REQUIRE(context);
  return *context;
}

struct Fixture {
  Fake state;
  Fixture() { fake = &state, current = nullptr; }
  ~Fixture() { fake = nullptr; }
};

} // namespace

TEST_CASE_METHOD(Fixture, "a missing library and a missing symbol are named") {
  auto none = Driver::load("libtessera-no-such-driver.so.1");
  REQUIRE_FALSE(none);
  CHECK(none.error().fault == Fault::Machine);
  CHECK(none.error().code == "T0620");
  CHECK(none.error().message.rfind("no CUDA driver: cannot load libtessera-no-such-driver.so.1", 0) == 0);
  auto wrong = Driver::load("libm.so.6");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message == "the CUDA driver libm.so.6 lacks the function cuInit");
  DriverTable table = makeTable();
  table.cuMemAlloc = nullptr;
  auto partial = Driver::fromTable(table);
  REQUIRE_FALSE(partial);
  CHECK(partial.error().message == "the CUDA driver lacks the function cuMemAlloc_v2");
}

TEST_CASE_METHOD(Fixture, "a driver without devices, a device that is not there") {
  state.failing = "cuInit";
  state.failure = 100;
  auto none = Driver::fromTable(makeTable());
  REQUIRE_FALSE(none);
  CHECK(none.error().code == "T0620");
  CHECK(none.error().remedy == "make a GPU visible (CUDA_VISIBLE_DEVICES, container flags) or use the device cpu");
  state.failing.clear();
  auto driver = Driver::fromTable(makeTable());
  REQUIRE(driver);
  CHECK((*driver)->version() == 13000);
  auto two = Context::create(*driver, 2);
  REQUIRE_FALSE(two);
  CHECK(two.error().code == "T0622");
  CHECK(two.error().message == "there is no device cuda:2; this machine shows 2");
  CHECK(two.error().remedy == "choose cuda:0 to cuda:1");
}

TEST_CASE("compute capabilities have targets") {
  std::tuple<int, int, const char *> known[] = {{8, 0, "sm_80"},    {8, 6, "sm_86"},    {8, 7, "sm_86"},
                                                {8, 9, "sm_89"},    {9, 0, "sm_90a"},   {10, 0, "sm_100a"},
                                                {10, 3, "sm_103a"}, {12, 0, "sm_120a"}, {12, 1, "sm_120a"}};
  for (auto [major, minor, target] : known)
    CHECK(*targetFor(major, minor) == target);
  CHECK(targetFor(7, 5).error().message == "compute capability 7.5 has no target");
  CHECK_FALSE(targetFor(11, 0));
}

TEST_CASE_METHOD(Fixture, "everything that is made is given back, and the caller's context comes back") {
  {
    auto context = openContext(1);
    CHECK(context->info().name == "Fake 9000");
    CHECK(context->info().maxSharedBytes == 232448);
    current = reinterpret_cast<ContextHandle>(55); // a context of the caller
    auto stream = Stream::create(context);
    REQUIRE(stream);
    auto a = Event::create(context), b = Event::create(context);
    REQUIRE(a->record(stream->get()));
    REQUIRE(b->record(stream->get()));
    REQUIRE(b->synchronize());
    CHECK(*b->millisecondsSince(*a) == 1.5f);
    auto memory = Memory::allocate(context, 64);
    REQUIRE(memory);
    char out[64], in[64] = "data";
    REQUIRE(memory->copyFrom(in, stream->get()));
    REQUIRE(memory->copyTo(out, stream->get()));
    CHECK(std::string(out) == "data");
    auto nothing = Memory::allocate(context, 0);
    REQUIRE(nothing);
    CHECK(nothing->get() == nullptr);
    REQUIRE(nothing->copyFrom(nullptr, nullptr));
    Stream moved = *std::move(stream);
    REQUIRE(moved.synchronize());
    auto module = Module::load(context, "ptx");
    REQUIRE(module);
    CHECK(state.alive == 6); // context, stream, two events, memory, module
    CHECK(current == reinterpret_cast<ContextHandle>(55));
  }
  CHECK(state.alive == 0);
}

TEST_CASE_METHOD(Fixture, "launches carry their parameters, from any thread") {
  auto context = openContext();
  auto module = Module::load(context, "ptx");
  REQUIRE(module);
  auto function = (*module)->function("entry", 256, 100000);
  REQUIRE(function);
  CHECK(state.dynamicShared == 100000); // more than the default needs opting in
  uint64_t values[] = {11, 22};
  void *params[] = {&values[0], &values[1]};
  state.params = {0, 0};
  REQUIRE((*module)->launch(*function, 2147483647, params, nullptr));
  CHECK(state.params == std::vector<uint64_t>{11, 22});
  CHECK(state.grid == 2147483647u);
  CHECK(state.block == 256);
  CHECK(state.shared == 100000);
  // A second thread has no current context (field case A17).
  bool launched = false;
  std::thread([&] { launched = bool((*module)->launch(*function, 1, params, nullptr)); }).join();
  CHECK(launched);
  CHECK(state.launches == 2);
  REQUIRE((*module)->launch(*function, 0, params, nullptr)); // an empty grid is no call (A16)
  CHECK(state.launches == 2);
}

TEST_CASE_METHOD(Fixture, "a thread whose context is current already does not switch") {
  auto context = openContext();
  auto module = Module::load(context, "ptx");
  auto function = (*module)->function("entry", 128, 0);
  current = reinterpret_cast<ContextHandle>(100); // the primary context of device 0
  int before = state.contextSwitches;
  REQUIRE((*module)->launch(*function, 1, nullptr, nullptr));
  CHECK(state.contextSwitches == before);
  CHECK(state.dynamicShared == -1); // 0 bytes need no opting in
}

TEST_CASE_METHOD(Fixture, "limits are named before the driver refuses") {
  auto context = openContext();
  auto module = Module::load(context, "ptx");
  auto function = (*module)->function("entry", 128, 0);
  auto grid = (*module)->launch(*function, int64_t(1) << 31, nullptr, nullptr);
  REQUIRE_FALSE(grid);
  CHECK(grid.error().fault == Fault::Program);
  CHECK(grid.error().code == "T0613");
  CHECK(grid.error().message ==
        "the grid has 2147483648 programs, a CUDA device takes at most 2147483647 in one launch");
  auto shared = (*module)->function("entry", 128, 232449);
  REQUIRE_FALSE(shared);
  CHECK(shared.error().code == "T0624");
  CHECK(shared.error().message == "'entry' needs 232449 bytes of shared memory, Fake 9000 allows 232448");
  auto threads = (*module)->function("entry", 1024, 0);
  REQUIRE_FALSE(threads);
  CHECK(threads.error().message ==
        "'entry' needs blocks of 1024 threads, Fake 9000 allows it 512 (96 registers a thread)");
}

TEST_CASE_METHOD(Fixture, "a failure names the call, the driver's error and the remedy") {
  auto context = openContext();
  state.failing = "cuMemAlloc";
  state.failure = 2;
  auto memory = Memory::allocate(context, 1000);
  REQUIRE_FALSE(memory);
  CHECK(memory.error().fault == Fault::Machine);
  CHECK(memory.error().code == "T0623");
  CHECK(memory.error().message == "cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY (2, text of the driver) for 1000 bytes");
  CHECK(memory.error().remedy == "free device memory or use smaller tensors; `nvidia-smi` shows who holds it");
  state.failing = "cuModuleLoadDataEx";
  state.failure = 218;
  auto module = Module::load(context, "ptx");
  REQUIRE_FALSE(module);
  CHECK(module.error().code == "T0621");
  CHECK(module.error().message == "cuModuleLoadDataEx failed: CUDA_ERROR_LAUNCH_FAILED (218, text of the driver); the "
                                  "driver's log: ptxas fatal: line 3");
  state.failing = "cuLaunchKernel";
  state.failure = 719;
  auto good = Module::load(context, "ptx");
  REQUIRE(good);
  auto function = (*good)->function("entry", 128, 0);
  auto launch = (*good)->launch(*function, 1, nullptr, nullptr);
  REQUIRE_FALSE(launch);
  CHECK(launch.error().message == "cuLaunchKernel failed: CUDA_ERROR_LAUNCH_FAILED (719, text of the driver)");
  CHECK(current == nullptr);
}

TEST_CASE_METHOD(Fixture, "an image launches with its slots and clears first") {
  KernelInfo kernel;
  kernel.name = kernel.entry = "fill";
  ParamInfo out;
  out.name = "y";
  out.isTensor = true;
  out.mode = ParamMode::Accum;
  out.clearFirst = true;
  out.extents = {Expr::symbol("R"), Expr::symbol("C")};
  kernel.params = {out};
  kernel.dims = {"R", "C"};
  kernel.grid = {{"r", Expr::constant(int64_t(0)), Expr::symbol("R"), Expr::constant(int64_t(4))}};
  kernel.threads = 128;
  KernelImage image;
  image.target = "sm_90a";
  image.code = "ptx";
  image.kernels = {kernel};
  auto loaded = LoadedImage::onCuda(image, openContext());
  REQUIRE(loaded);
  CHECK((*loaded)->resources(0)->registers == 96);
  float data[10 * 16];
  TensorRef y = TensorRef::contiguous(data, DType::F32, {10, 8});
  y.strides = {16, 1};
  state.params.assign(6, 0);
  std::vector<Argument> arguments = {y};
  REQUIRE((*loaded)->launch(0, arguments, nullptr));
  CHECK(state.clears == std::vector<std::vector<size_t>>{{64, 32, 10}});
  CHECK(state.params ==
        std::vector<uint64_t>{static_cast<uint64_t>(reinterpret_cast<uintptr_t>(data)), 16, 1, 10, 8, 3});
  CHECK(state.grid == 3);
  image.codeKind = KernelImage::Code::HostObject;
  auto wrong = LoadedImage::onCuda(image, openContext());
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == "T0632");
}

TEST_CASE_METHOD(Fixture,
                 "an op allocates in stream order, unless it is given a workspace, and frees after a failure") {
  KernelInfo kernel;
  kernel.name = kernel.entry = "copy";
  auto tensor = [](const char *name, ParamMode mode) {
    ParamInfo param;
    param.name = name;
    param.isTensor = true;
    param.mode = mode;
    param.dtype = DType::F64;
    param.extents = {Expr::symbol("N")};
    return param;
  };
  kernel.params = {tensor("x", ParamMode::In), tensor("y", ParamMode::Out)};
  kernel.dims = {"N"};
  kernel.grid = {{"i", Expr::constant(int64_t(0)), Expr::symbol("N"), Expr::constant(int64_t(4))}};
  kernel.threads = 128;
  OpInfo op;
  op.signature.name = "op";
  op.signature.params = {tensor("z", ParamMode::Out)};
  op.signature.dims = {"N"};
  op.temps = {{"t", DType::F64, {Expr::symbol("N")}, 0, 1}};
  op.steps = {
      {OpStep::Kind::Fill, 0, {{StepArgument::Kind::Temp, 0, {}}}, 0x3ff0000000000001, 1, 1},
      {OpStep::Kind::Launch, 0, {{StepArgument::Kind::Temp, 0, {}}, {StepArgument::Kind::Param, 0, {}}}, 0, 2, 1}};
  KernelImage image;
  image.target = "sm_90a";
  image.code = "ptx";
  image.kernels = {kernel};
  image.ops = {op};
  auto loaded = LoadedImage::onCuda(image, openContext());
  REQUIRE(loaded);
  int before = state.alive;
  alignas(256) double data[10], workspace[32];
  std::vector<Argument> arguments = {TensorRef::contiguous(data, DType::F64, {10})};
  state.params.assign(1, 0);
  REQUIRE((*loaded)->launchOp(0, arguments, nullptr));
  CHECK(state.params[0] == 0x700000);
  CHECK(state.alive == before);
  CHECK(state.fills == std::vector<std::vector<size_t>>{{4, 1, 8, 1, 10}, {4, 0x3ff00000, 8, 1, 10}});
  state.failing = "cuMemAllocAsync";
  REQUIRE((*loaded)->launchOp(0, arguments, nullptr, {workspace, sizeof(workspace)})); // nothing is allocated
  CHECK(state.params[0] == reinterpret_cast<uintptr_t>(workspace));
  CHECK_FALSE((*loaded)->launchOp(0, arguments, nullptr));
  state.failing = "cuLaunchKernel";
  CHECK_FALSE((*loaded)->launchOp(0, arguments, nullptr));
  CHECK(state.alive == before);
}

TEST_CASE("devices are opened by name") {
  auto cpu = Device::open("cpu");
  REQUIRE(cpu);
  CHECK(cpu->target() == "host");
  CHECK_FALSE(cpu->isCuda());
  REQUIRE(cpu->pool());
  CHECK(Device::open("auto")); // never fails
  for (const char *name : {"gpu", "", "cuda:", "cuda:-1", "cuda:x", "cuda:99999999999"}) {
    auto wrong = Device::open(name);
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().fault == Fault::Usage);
    CHECK(wrong.error().message == std::string("there is no kind of device '") + name + "'");
  }
}
