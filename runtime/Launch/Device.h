//===- Device.h - where a program runs ------------------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A shared handle to the host's cores or to one GPU; cheap to copy, safe from any thread.
//
#ifndef TESSERA_RUNTIME_LAUNCH_DEVICE_H
#define TESSERA_RUNTIME_LAUNCH_DEVICE_H

#include "runtime/Support/Result.h"

#include <memory>
#include <string>
#include <string_view>

namespace tessera {

class ThreadPool;
namespace cuda {
class Context;
}

class Device {
public:
  /// The host's cores; `threads` 0 means all of them.
  static Device cpu(int threads = 0);
  /// GPU number `index`, through its primary context.  Fault::Machine: T0620 without a driver, T0622 without such a device.
  static Result<Device> cuda(int index = 0);
  /// The GPU of a CUcontext of the caller's, which must outlive everything made with this device; kernels are loaded and launched in it.
  static Result<Device> cudaContext(void *context);
  /// The same over a driver that is loaded already.
  static Result<Device> fromContext(std::shared_ptr<const cuda::Context> context);
  /// The host's cores running what is compiled for the GPU target `target`, instruction by instruction: a thousand times slower than a GPU, for tests and
  /// for finding faults (runtime/Simulator/Simulator.h).
  static Device simulator(std::string target, int threads = 0);
  /// `cpu`, `cuda`, `cuda:N`, `simulator`, `simulator:sm_80`, or `auto`: the first GPU where there is one, else the host.  Other text is Fault::Usage
  /// (T0642).
  static Result<Device> open(std::string_view name);

  bool isCuda() const { return gpu != nullptr; }
  bool isSimulator() const { return isSimulated; }
  const std::string &name() const { return label; }           ///< `cpu`, `cuda:0` or `simulator:sm_90a`
  const std::string &target() const { return compileTarget; } ///< what to compile for: `host`, `sm_90a`...
  const std::shared_ptr<const cuda::Context> &context() const { return gpu; } ///< null on the host
  const std::shared_ptr<ThreadPool> &pool() const { return cores; }           ///< null on a GPU

private:
  Device() = default;
  std::string label, compileTarget;
  std::shared_ptr<const cuda::Context> gpu;
  std::shared_ptr<ThreadPool> cores;
  bool isSimulated = false;
};

} // namespace tessera
#endif // TESSERA_RUNTIME_LAUNCH_DEVICE_H
