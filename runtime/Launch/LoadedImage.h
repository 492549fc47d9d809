//===- LoadedImage.h - an image ready to launch on one device ------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Joins a kernel image with the device that runs it: a CUDA context that loads its code, or a thread pool and the entry points of host
// code that somebody else loaded (the JIT, or the linker).  Immutable after loading; any thread may launch.
//
#ifndef TESSERA_RUNTIME_LAUNCH_LOADEDIMAGE_H
#define TESSERA_RUNTIME_LAUNCH_LOADEDIMAGE_H

#include "runtime/Launch/LaunchCache.h"
#include "runtime/Launch/OpPlan.h"

#include <functional>
#include <memory>
#include <string_view>

namespace tessera {

class ThreadPool;
namespace cuda {
class Context;
}

/// The address of an entry point of host code, or null.
using EntryResolver = std::function<void *(const std::string &entry)>;

class LoadedImage {
public:
  /// Loads PTX or a cubin; Fault::Machine where the driver refuses it.
  static Result<std::shared_ptr<const LoadedImage>> onCuda(KernelImage image,
                                                           std::shared_ptr<const cuda::Context> context);
  /// `code` keeps the entry points alive.
  static Result<std::shared_ptr<const LoadedImage>> onHost(KernelImage image, std::shared_ptr<ThreadPool> pool,
                                                           const EntryResolver &resolve,
                                                           std::shared_ptr<const void> code);
  ~LoadedImage();
  LoadedImage(const LoadedImage &) = delete;
  LoadedImage &operator=(const LoadedImage &) = delete;

  const KernelImage &image() const { return content; }
  /// The kernel's index, or Fault::Program (T0615) with the names that exist.  An empty name means the only kernel.
  Result<size_t> find(std::string_view kernel) const;
  /// The op's index, or nothing.
  std::optional<size_t> findOp(std::string_view op) const;

  /// Checks, clears, launches; arguments like earlier ones are not checked again (LaunchCache).  On CUDA asynchronous in stream order; on the
  /// host it returns when the work is done.
  Result<void> launch(size_t kernel, std::span<const Argument> arguments, StreamHandle stream) const;
  /// Launches a plan of planLaunch for the same kernel.
  Result<void> launch(size_t kernel, const LaunchPlan &plan, StreamHandle stream) const;
  /// Launches a checked list of slots; `params[i]` is the address of slot i.  Only the driver's call: nothing is cleared, checked or allocated.
  Result<void> launchSlots(size_t kernel, int64_t programs, const uint64_t *slots, void **params,
                           StreamHandle stream) const;
  /// Clears bytes in stream order.
  Result<void> clear(const ClearRun &run, StreamHandle stream) const;

  /// Checks all of an op, then clears, fills and launches, in stream order.  Without memory in `workspace` the runtime allocates it: on CUDA
  /// in stream order too, so that only a given workspace makes a launch without any allocation.
  Result<void> launchOp(size_t op, std::span<const Argument> arguments, StreamHandle stream,
                        const Workspace &workspace = {}) const;
  /// Launches a plan of planOp for an op of this image.
  Result<void> launchOp(const OpPlan &plan, StreamHandle stream, const Workspace &workspace = {}) const;

  /// Registers and spilled bytes of each kernel as the driver reports them; nullopt on the host.
  struct Resources {
    int registers, localBytes;
  };
  std::optional<Resources> resources(size_t kernel) const;

private:
  struct Backend;
  LoadedImage();
  Result<void> clear(const TensorRef &tensor, StreamHandle stream) const;
  Result<void> fill(const FillPlan &fill, StreamHandle stream) const;
  Result<void> runSteps(const OpPlan &plan, void *workspace, StreamHandle stream) const;
  KernelImage content;
  std::unique_ptr<Backend> backend;
};

} // namespace tessera
#endif // TESSERA_RUNTIME_LAUNCH_LOADEDIMAGE_H
