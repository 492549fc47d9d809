//===- FakeDriver.h - a CUDA driver that is not there ---------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A table of functions that record what they are called with and fail on demand, for tests of contexts, ownership, launches and limits.
//
#ifndef TESSERA_TESTS_UNIT_FAKEDRIVER_H
#define TESSERA_TESTS_UNIT_FAKEDRIVER_H

#include "runtime/Cuda/Module.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

namespace tessera::fake_driver {

using namespace tessera::cuda;

/// The state of the fake; one test at a time uses it.
struct Fake {
  std::atomic<int> alive{0}; // contexts, streams, events, memory, modules
  std::atomic<int> launches{0};
  std::atomic<int> contextSwitches{0};
  int devices = 2, major = 9, minor = 0;
  bool capturing = false; // a stream is being captured
  std::string failing;    // name of a call that fails
  Status failure = 719;
  std::vector<uint64_t> params;
  unsigned grid = 0, block = 0, shared = 0;
  int dynamicShared = -1;
  std::vector<std::vector<size_t>> clears; // pitch, width, rows
  std::vector<std::vector<size_t>> fills;  // bytes of an element, value, pitch, width, rows
};
inline Fake *fake = nullptr;

inline thread_local ContextHandle current = nullptr;

/// Calls that a capturing stream records.
inline constexpr std::array<std::string_view, 6> kCapturable = {"cuLaunchKernel",     "cuMemsetD2D8Async",
                                                                "cuMemsetD2D16Async", "cuMemsetD2D32Async",
                                                                "cuMemAllocAsync",    "cuMemFreeAsync"};

/// A call fails on demand, and while a stream is captured when capturing does not allow it.
inline Status outcome(const char *call) {
  if (fake->capturing && std::find(kCapturable.begin(), kCapturable.end(), std::string_view(call)) == kCapturable.end())
    return 900; // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
  return fake->failing == call ? fake->failure : 0;
}
inline Status needsContext(const char *call) { return current ? outcome(call) : 201; }

inline DriverTable makeTable() {
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
  // The primary context of device 100 + i is 100 + i; a caller's context of that device is 100 + i plus some thousands.
  t.cuCtxGetDevice = [](DeviceOrdinal *d) -> Status {
    return *d = static_cast<DeviceOrdinal>(reinterpret_cast<uintptr_t>(current) % 1000), needsContext("cuCtxGetDevice");
  };
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

inline std::shared_ptr<const Context> openContext(int device = 0) {
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

} // namespace tessera::fake_driver
#endif // TESSERA_TESTS_UNIT_FAKEDRIVER_H
