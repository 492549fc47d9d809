//===- Context.h - a device's primary context, streams, events, memory ---------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Owners of driver objects.  Each holds what it needs alive, sets its context current for the length of a call and puts the previous one
// back, so that any thread may use any of them and a caller's own context stays undisturbed.  Destructors ignore errors: a context that
// has died takes its objects along.
//
#ifndef TESSERA_RUNTIME_CUDA_CONTEXT_H
#define TESSERA_RUNTIME_CUDA_CONTEXT_H

#include "runtime/Cuda/Driver.h"

#include <functional>
#include <utility>

namespace tessera::cuda {

/// What a device is.
struct DeviceInfo {
  std::string name;
  int computeMajor = 0, computeMinor = 0;
  int multiprocessors = 0;
  int maxSharedBytes = 0; ///< dynamic shared memory that a block may have
  uint64_t memoryBytes = 0;
};

/// The compile target for a compute capability: 9.0 gives `sm_90a`.  A minor version without a target of its own gets the nearest lower
/// one of the same generation; an unknown generation is Fault::Machine (T0622).
Result<std::string> targetFor(int computeMajor, int computeMinor);

/// A context: the primary one of a device, retained, or one of the caller's.
class Context {
public:
  static Result<std::shared_ptr<const Context>> create(std::shared_ptr<const Driver> driver, int device);
  /// The caller's context, which must live as long as anything that was made in it; it is not released.
  static Result<std::shared_ptr<const Context>> adopt(std::shared_ptr<const Driver> driver, ContextHandle handle);
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  const Driver &driver() const { return *owner; }
  const DeviceInfo &info() const { return deviceInfo; }
  int device() const { return number; }
  /// Differs between contexts that live at the same time.
  const void *identity() const { return handle; }

  /// Runs one driver call with this context current on the calling thread; the Error names `call`.
  template <typename Call>
  Result<void> run(const char *call, Call &&body) const {
    ContextHandle previous = nullptr;
    if (Result<void> status = enter(previous); !status)
      return status;
    Result<void> status = owner->check(body(owner->table()), call);
    leave(previous);
    return status;
  }

private:
  Context() = default;
  Result<void> enter(ContextHandle &previous) const;
  void leave(ContextHandle previous) const;

  std::shared_ptr<const Driver> owner;
  DeviceInfo deviceInfo;
  int number = 0;
  bool retained = false;
  DeviceOrdinal ordinal = 0;
  ContextHandle handle = nullptr;
};

/// A non-blocking stream.
class Stream {
public:
  static Result<Stream> create(std::shared_ptr<const Context> context);
  Stream(Stream &&other) noexcept : context(std::move(other.context)), handle(std::exchange(other.handle, nullptr)) {}
  Stream &operator=(Stream &&other) noexcept;
  ~Stream();
  StreamHandle get() const { return handle; }
  Result<void> synchronize() const;

private:
  Stream(std::shared_ptr<const Context> context, StreamHandle handle) : context(std::move(context)), handle(handle) {}
  std::shared_ptr<const Context> context;
  StreamHandle handle;
};

/// A point in a stream's time.
class Event {
public:
  static Result<Event> create(std::shared_ptr<const Context> context);
  Event(Event &&other) noexcept : context(std::move(other.context)), handle(std::exchange(other.handle, nullptr)) {}
  Event &operator=(Event &&other) noexcept;
  ~Event();
  Result<void> record(StreamHandle stream) const;
  Result<void> synchronize() const;
  /// Milliseconds from `earlier` to this event; both must have completed.
  Result<float> millisecondsSince(const Event &earlier) const;

private:
  Event(std::shared_ptr<const Context> context, EventHandle handle) : context(std::move(context)), handle(handle) {}
  std::shared_ptr<const Context> context;
  EventHandle handle;
};

/// Device memory; aligned to 256 bytes by the driver.  Zero bytes are a null pointer.
class Memory {
public:
  static Result<Memory> allocate(std::shared_ptr<const Context> context, size_t bytes);
  Memory(Memory &&other) noexcept
      : context(std::move(other.context)), address(std::exchange(other.address, 0)),
        bytes(std::exchange(other.bytes, 0)) {}
  Memory &operator=(Memory &&other) noexcept;
  ~Memory();
  void *get() const { return reinterpret_cast<void *>(static_cast<uintptr_t>(address)); }
  size_t size() const { return bytes; }
  /// Copies size() bytes from or to host memory, in stream order; pageable memory makes the call wait.
  Result<void> copyFrom(const void *host, StreamHandle stream) const;
  Result<void> copyTo(void *host, StreamHandle stream) const;

private:
  Memory(std::shared_ptr<const Context> context, DevicePointer address, size_t bytes)
      : context(std::move(context)), address(address), bytes(bytes) {}
  std::shared_ptr<const Context> context;
  DevicePointer address;
  size_t bytes;
};

/// Sets `rows` rows of `rowBytes` bytes, `pitch` bytes apart, to zero, in stream order.
Result<void> clear(const Context &context, void *address, size_t pitch, size_t rowBytes, size_t rows,
                   StreamHandle stream);

/// Sets `count` elements of 1, 2, 4 or 8 bytes to the low bytes of `pattern`, in stream order.
Result<void> fill(const Context &context, void *address, uint64_t pattern, int elementBytes, size_t count,
                  StreamHandle stream);

/// Memory that exists between two points of a stream: from here to freeInStream.  Aligned to 256 bytes; may be captured in a graph.
Result<void *> allocateInStream(const Context &context, size_t bytes, StreamHandle stream);
Result<void> freeInStream(const Context &context, void *address, StreamHandle stream);

} // namespace tessera::cuda
#endif // TESSERA_RUNTIME_CUDA_CONTEXT_H
