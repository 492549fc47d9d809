//===- Driver.cpp - the CUDA driver as one symbol table loaded at run time ------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Loading, initialization, and the one place that turns a driver status into an Error with a remedy.
//
#include "runtime/Cuda/Driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace tessera::cuda {
namespace {

/// What a user can do about the driver's more frequent errors (values of CUresult, fixed by its binary interface).
const char *remedyFor(Status status) {
  switch (status) {
  case 2: // CUDA_ERROR_OUT_OF_MEMORY
    return "free device memory or use smaller tensors; `nvidia-smi` shows who holds it";
  case 3:   // CUDA_ERROR_NOT_INITIALIZED
  case 100: // CUDA_ERROR_NO_DEVICE
    return "make a GPU visible (CUDA_VISIBLE_DEVICES, container flags) or use the device cpu";
  case 101: // CUDA_ERROR_INVALID_DEVICE
    return "choose a device number below the number of devices";
  case 200: // CUDA_ERROR_INVALID_IMAGE
  case 209: // CUDA_ERROR_NO_BINARY_FOR_GPU
    return "compile for this device's architecture; `tessera doctor` names it";
  case 201: // CUDA_ERROR_INVALID_CONTEXT
    return "use streams and memory of the device's primary context";
  case 218: // CUDA_ERROR_INVALID_PTX
  case 222: // CUDA_ERROR_UNSUPPORTED_PTX_VERSION
    return "update the driver or compile for an older target; `tessera doctor` names both versions";
  case 700: // CUDA_ERROR_ILLEGAL_ADDRESS
    return "check that every tensor's pointer, shape and strides describe live device memory; the process must be "
           "restarted";
  case 701: // CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
    return "choose smaller tiles or fewer warps";
  case 803: // CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
    return "the kernel module and libcuda differ in version: reload the module or restart the machine";
  case 900: // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
    return "prepare() what is launched before the capture begins: code is not loaded into a stream that is captured";
  default:
    return "run `tessera doctor`; the driver's log may say more";
  }
}

} // namespace

Driver::~Driver() {
  if (library)
    dlclose(library);
}

Result<std::shared_ptr<const Driver>> Driver::load(const char *name) {
  std::shared_ptr<Driver> driver(new Driver);
  driver->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!driver->library) {
    const char *reason = dlerror();
    return Error{Fault::Machine,
                 fmt::format("no CUDA driver: cannot load {} ({})", name, reason ? reason : "no reason given"),
                 "install the NVIDIA driver, or use the device cpu", "T0620"};
  }
#define TESSERA_DRIVER_SYMBOL(member, exported, parameters)                                                            \
  driver->symbols.member = reinterpret_cast<Status(*) parameters>(dlsym(driver->library, exported));                   \
  if (!driver->symbols.member)                                                                                         \
    return Error{Fault::Machine, fmt::format("the CUDA driver {} lacks the function {}", name, exported),              \
                 "update the NVIDIA driver to one of CUDA 12.0 or later", "T0620"};
#include "runtime/Cuda/DriverSymbols.def"
  return initialize(std::move(driver));
}

Result<std::shared_ptr<const Driver>> Driver::fromTable(const DriverTable &table) {
  std::shared_ptr<Driver> driver(new Driver);
#define TESSERA_DRIVER_SYMBOL(member, exported, parameters)                                                            \
  if (!table.member)                                                                                                   \
    return Error{Fault::Machine, fmt::format("the CUDA driver lacks the function {}", exported),                       \
                 "update the NVIDIA driver to one of CUDA 12.0 or later", "T0620"};
#include "runtime/Cuda/DriverSymbols.def"
  driver->symbols = table;
  return initialize(std::move(driver));
}

Result<std::shared_ptr<const Driver>> Driver::initialize(std::shared_ptr<Driver> driver) {
  if (Result<void> status = driver->check(driver->symbols.cuInit(0), "cuInit"); !status) {
    Error error = status.error();
    error.code = "T0620";
    return error;
  }
  if (Result<void> status =
          driver->check(driver->symbols.cuDriverGetVersion(&driver->driverVersion), "cuDriverGetVersion");
      !status)
    return status.error();
  return std::shared_ptr<const Driver>(std::move(driver));
}

Result<int> Driver::deviceCount() const {
  int count = 0;
  if (Result<void> status = check(symbols.cuDeviceGetCount(&count), "cuDeviceGetCount"); !status)
    return status.error();
  return count;
}

Result<void> Driver::check(Status status, const char *call) const {
  if (status == 0)
    return {};
  const char *name = nullptr, *text = nullptr;
  symbols.cuGetErrorName(status, &name);
  symbols.cuGetErrorString(status, &text);
  return Error{Fault::Machine,
               fmt::format("{} failed: {} ({}{}{})", call, name ? name : "unknown error", status, text ? ", " : "",
                           text ? text : ""),
               remedyFor(status), status == 2 ? "T0623" : "T0621"};
}

} // namespace tessera::cuda
