//===- Device.cpp - where a program runs ---------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Opens devices by name.  `auto` never fails: a machine whose driver does not work is a machine without a GPU.
//
#include "runtime/Launch/Device.h"

#include "runtime/Cpu/ThreadPool.h"
#include "runtime/Cuda/Context.h"

#include <fmt/format.h>

#include <charconv>

namespace tessera {

Device Device::cpu(int threads) {
  Device device;
  device.label = "cpu";
  device.compileTarget = "host";
  device.cores = std::make_shared<ThreadPool>(threads);
  return device;
}

Device Device::simulator(std::string target, int threads) {
  Device device = cpu(threads);
  device.label = "simulator:" + target;
  device.compileTarget = std::move(target);
  device.isSimulated = true;
  return device;
}

Result<Device> Device::cuda(int index) {
  Result<std::shared_ptr<const cuda::Driver>> driver = cuda::Driver::load();
  if (!driver)
    return driver.error();
  Result<std::shared_ptr<const cuda::Context>> context = cuda::Context::create(*driver, index);
  if (!context)
    return context.error();
  return fromContext(*std::move(context));
}

Result<Device> Device::cudaContext(void *context) {
  Result<std::shared_ptr<const cuda::Driver>> driver = cuda::Driver::load();
  if (!driver)
    return driver.error();
  Result<std::shared_ptr<const cuda::Context>> adopted =
      cuda::Context::adopt(*driver, static_cast<cuda::ContextHandle>(context));
  if (!adopted)
    return adopted.error();
  return fromContext(*std::move(adopted));
}

Result<Device> Device::fromContext(std::shared_ptr<const cuda::Context> context) {
  Result<std::string> target = cuda::targetFor(context->info().computeMajor, context->info().computeMinor);
  if (!target)
    return target.error();
  Device device;
  device.label = fmt::format("cuda:{}", context->device());
  device.compileTarget = *target;
  device.gpu = std::move(context);
  return device;
}

Result<Device> Device::open(std::string_view name) {
  if (name == "cpu")
    return cpu();
  if (name == "auto") {
    Result<Device> first = cuda(0);
    return first ? std::move(first) : Result<Device>(cpu());
  }
  if (name == "cuda")
    return cuda(0);
  if (name == "simulator")
    return simulator("sm_90a");
  if (name.substr(0, 13) == "simulator:sm_")
    return simulator(std::string(name.substr(10)));
  int index = -1;
  if (name.substr(0, 5) == "cuda:") {
    std::string_view digits = name.substr(5);
    auto [stop, status] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (status == std::errc() && stop == digits.data() + digits.size() && index >= 0)
      return cuda(index);
  }
  return Error{Fault::Usage, fmt::format("there is no kind of device '{}'", name),
               "write auto, cpu, cuda:N or simulator:TARGET", "T0642"};
}

} // namespace tessera
