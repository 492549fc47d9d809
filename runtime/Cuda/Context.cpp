//===- Context.cpp - a device's primary context, streams, events, memory -------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The owners of driver objects.  No call here reads the environment or keeps a global.
//
#include "runtime/Cuda/Context.h"

#include <fmt/format.h>

#include <array>

namespace tessera::cuda {
namespace {

constexpr unsigned kNonBlockingStream = 1; // CU_STREAM_NON_BLOCKING

DevicePointer addressOf(void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }

Result<DeviceInfo> readInfo(const Driver &driver, DeviceOrdinal device) {
  const DriverTable &table = driver.table();
  DeviceInfo info;
  std::array<char, 256> name{};
  size_t bytes = 0;
  if (Result<void> s = driver.check(table.cuDeviceGetName(name.data(), name.size() - 1, device), "cuDeviceGetName"); !s)
    return s.error();
  if (Result<void> s = driver.check(table.cuDeviceTotalMem(&bytes, device), "cuDeviceTotalMem"); !s)
    return s.error();
  const std::pair<DeviceAttribute, int *> attributes[] = {{DeviceAttribute::ComputeMajor, &info.computeMajor},
                                                          {DeviceAttribute::ComputeMinor, &info.computeMinor},
                                                          {DeviceAttribute::MultiprocessorCount, &info.multiprocessors},
                                                          {DeviceAttribute::MaxSharedPerBlock, &info.maxSharedBytes}};
  for (auto [attribute, value] : attributes)
    if (Result<void> s = driver.check(table.cuDeviceGetAttribute(value, attribute, device), "cuDeviceGetAttribute"); !s)
      return s.error();
  info.name = name.data();
  info.memoryBytes = bytes;
  return info;
}

} // namespace

Result<std::string> targetFor(int major, int minor) {
  // Newest first; within a generation the first that is not newer than the device.
  struct Row {
    int major, minor;
    const char *target;
  };
  static constexpr Row kRows[] = {{12, 0, "sm_120a"}, {10, 3, "sm_103a"}, {10, 0, "sm_100a"}, {9, 0, "sm_90a"},
                                  {8, 9, "sm_89"},    {8, 6, "sm_86"},    {8, 0, "sm_80"}};
  for (const Row &row : kRows)
    if (row.major == major && row.minor <= minor)
      return std::string(row.target);
  return Error{Fault::Machine, fmt::format("compute capability {}.{} has no target", major, minor),
               "use a GPU of generation 8, 9, 10 or 12, or the device cpu", "T0622"};
}

Result<std::shared_ptr<const Context>> Context::create(std::shared_ptr<const Driver> driver, int device) {
  Result<int> count = driver->deviceCount();
  if (!count)
    return count.error();
  if (device < 0 || device >= *count)
    return Error{
        Fault::Machine, fmt::format("there is no device cuda:{}; this machine shows {}", device, *count),
        *count > 0 ? fmt::format("choose cuda:0{}", *count > 1 ? fmt::format(" to cuda:{}", *count - 1) : std::string())
                   : std::string("use the device cpu"),
        "T0622"};
  std::shared_ptr<Context> context(new Context);
  context->number = device;
  if (Result<void> s = driver->check(driver->table().cuDeviceGet(&context->ordinal, device), "cuDeviceGet"); !s)
    return s.error();
  Result<DeviceInfo> info = readInfo(*driver, context->ordinal);
  if (!info)
    return info.error();
  context->deviceInfo = *std::move(info);
  if (Result<void> s = driver->check(driver->table().cuDevicePrimaryCtxRetain(&context->handle, context->ordinal),
                                     "cuDevicePrimaryCtxRetain");
      !s)
    return s.error();
  context->retained = true;
  context->owner = std::move(driver);
  return std::shared_ptr<const Context>(std::move(context));
}

Result<std::shared_ptr<const Context>> Context::adopt(std::shared_ptr<const Driver> driver, ContextHandle handle) {
  if (!handle)
    return Error{Fault::Program, "the context is null", "pass a CUcontext, or open the device by its number", "T0622"};
  std::shared_ptr<Context> context(new Context);
  context->owner = std::move(driver);
  context->handle = handle;
  if (Result<void> s = context->run("cuCtxGetDevice", [&](auto &t) { return t.cuCtxGetDevice(&context->ordinal); }); !s)
    return s.error();
  Result<int> count = context->owner->deviceCount();
  if (!count)
    return count.error();
  // Devices are counted as everywhere: by the number under which cuDeviceGet knows them.
  for (int i = 0; i < *count; ++i) {
    DeviceOrdinal ordinal = -1;
    Result<void> s = context->owner->check(context->owner->table().cuDeviceGet(&ordinal, i), "cuDeviceGet");
    if (!s)
      return s.error();
    if (ordinal == context->ordinal)
      context->number = i;
  }
  Result<DeviceInfo> info = readInfo(*context->owner, context->ordinal);
  if (!info)
    return info.error();
  context->deviceInfo = *std::move(info);
  return std::shared_ptr<const Context>(std::move(context));
}

Context::~Context() {
  if (retained)
    (void)owner->table().cuDevicePrimaryCtxRelease(ordinal);
}

Result<void> Context::enter(ContextHandle &previous) const {
  if (Result<void> s = owner->check(owner->table().cuCtxGetCurrent(&previous), "cuCtxGetCurrent"); !s)
    return s;
  if (previous == handle)
    return {};
  return owner->check(owner->table().cuCtxSetCurrent(handle), "cuCtxSetCurrent");
}

void Context::leave(ContextHandle previous) const {
  if (previous != handle)
    (void)owner->table().cuCtxSetCurrent(previous);
}

Result<Stream> Stream::create(std::shared_ptr<const Context> context) {
  StreamHandle handle = nullptr;
  Result<void> s =
      context->run("cuStreamCreate", [&](auto &t) { return t.cuStreamCreate(&handle, kNonBlockingStream); });
  if (!s)
    return s.error();
  return Stream(std::move(context), handle);
}

Stream &Stream::operator=(Stream &&other) noexcept {
  std::swap(context, other.context);
  std::swap(handle, other.handle);
  return *this;
}

Stream::~Stream() {
  if (handle)
    (void)context->run("cuStreamDestroy", [&](auto &t) { return t.cuStreamDestroy(handle); });
}

Result<void> Stream::synchronize() const {
  return context->run("cuStreamSynchronize", [&](auto &t) { return t.cuStreamSynchronize(handle); });
}

Result<Event> Event::create(std::shared_ptr<const Context> context) {
  EventHandle handle = nullptr;
  Result<void> s = context->run("cuEventCreate", [&](auto &t) { return t.cuEventCreate(&handle, 0); });
  if (!s)
    return s.error();
  return Event(std::move(context), handle);
}

Event &Event::operator=(Event &&other) noexcept {
  std::swap(context, other.context);
  std::swap(handle, other.handle);
  return *this;
}

Event::~Event() {
  if (handle)
    (void)context->run("cuEventDestroy", [&](auto &t) { return t.cuEventDestroy(handle); });
}

Result<void> Event::record(StreamHandle stream) const {
  return context->run("cuEventRecord", [&](auto &t) { return t.cuEventRecord(handle, stream); });
}

Result<void> Event::synchronize() const {
  return context->run("cuEventSynchronize", [&](auto &t) { return t.cuEventSynchronize(handle); });
}

Result<float> Event::millisecondsSince(const Event &earlier) const {
  float milliseconds = 0;
  Result<void> s = context->run("cuEventElapsedTime",
                                [&](auto &t) { return t.cuEventElapsedTime(&milliseconds, earlier.handle, handle); });
  if (!s)
    return s.error();
  return milliseconds;
}

Result<Memory> Memory::allocate(std::shared_ptr<const Context> context, size_t bytes) {
  DevicePointer address = 0;
  if (bytes > 0) {
    Result<void> s = context->run("cuMemAlloc", [&](auto &t) { return t.cuMemAlloc(&address, bytes); });
    if (!s) {
      Error error = s.error();
      error.message += fmt::format(" for {} bytes", bytes);
      return error;
    }
  }
  return Memory(std::move(context), address, bytes);
}

Memory &Memory::operator=(Memory &&other) noexcept {
  std::swap(context, other.context);
  std::swap(address, other.address);
  std::swap(bytes, other.bytes);
  return *this;
}

Memory::~Memory() {
  if (address)
    (void)context->run("cuMemFree", [&](auto &t) { return t.cuMemFree(address); });
}

Result<void> Memory::copyFrom(const void *host, StreamHandle stream) const {
  if (bytes == 0)
    return {};
  return context->run("cuMemcpyHtoDAsync", [&](auto &t) { return t.cuMemcpyHtoDAsync(address, host, bytes, stream); });
}

Result<void> Memory::copyTo(void *host, StreamHandle stream) const {
  if (bytes == 0)
    return {};
  return context->run("cuMemcpyDtoHAsync", [&](auto &t) { return t.cuMemcpyDtoHAsync(host, address, bytes, stream); });
}

Result<void> clear(const Context &context, void *address, size_t pitch, size_t rowBytes, size_t rows,
                   StreamHandle stream) {
  if (rowBytes == 0 || rows == 0)
    return {};
  return context.run("cuMemsetD2D8Async", [&](auto &t) {
    return t.cuMemsetD2D8Async(addressOf(address), pitch, 0, rowBytes, rows, stream);
  });
}

Result<void> fill(const Context &context, void *address, uint64_t pattern, int elementBytes, size_t count,
                  StreamHandle stream) {
  if (count == 0)
    return {};
  DevicePointer first = addressOf(address);
  auto words = [&](DevicePointer at, uint32_t value, size_t pitch, size_t width, size_t rows) {
    return context.run("cuMemsetD2D32Async",
                       [&](auto &t) { return t.cuMemsetD2D32Async(at, pitch, value, width, rows, stream); });
  };
  switch (elementBytes) {
  case 1:
    return context.run("cuMemsetD2D8Async", [&](auto &t) {
      return t.cuMemsetD2D8Async(first, count, static_cast<unsigned char>(pattern), count, 1, stream);
    });
  case 2:
    return context.run("cuMemsetD2D16Async", [&](auto &t) {
      return t.cuMemsetD2D16Async(first, 2 * count, static_cast<unsigned short>(pattern), count, 1, stream);
    });
  case 4:
    return words(first, static_cast<uint32_t>(pattern), 4 * count, count, 1);
  default: // the driver has no pattern of 8 bytes: one column of low words, one of high words
    if (Result<void> low = words(first, static_cast<uint32_t>(pattern), 8, 1, count); !low)
      return low;
    return words(first + 4, static_cast<uint32_t>(pattern >> 32), 8, 1, count);
  }
}

Result<void *> allocateInStream(const Context &context, size_t bytes, StreamHandle stream) {
  DevicePointer address = 0;
  Result<void> status =
      context.run("cuMemAllocAsync", [&](auto &t) { return t.cuMemAllocAsync(&address, bytes, stream); });
  if (!status)
    return status.error();
  return reinterpret_cast<void *>(static_cast<uintptr_t>(address));
}

Result<void> freeInStream(const Context &context, void *address, StreamHandle stream) {
  return context.run("cuMemFreeAsync", [&](auto &t) { return t.cuMemFreeAsync(addressOf(address), stream); });
}

} // namespace tessera::cuda
