//===- CudaFakeTest.cpp - the CUDA wrappers over a driver that is not there ------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A table of functions that record what they are called with and fail on demand: contexts on any thread, ownership, limits, messages.
//
#include "runtime/Cuda/Module.h"
#include "runtime/Launch/Device.h"
#include "runtime/Launch/LoadedImage.h"
#include "tests/unit/FakeDriver.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

using namespace tessera;
using namespace tessera::cuda;
using namespace tessera::fake_driver;

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
