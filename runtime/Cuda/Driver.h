//===- Driver.h - the CUDA driver as one symbol table loaded at run time -------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Nothing here needs the CUDA toolkit: the few types are declared below with the driver's binary layout, the functions are found in
// libcuda.so.1 when a Driver is loaded.  A machine without it gets an Error, not a program that does not start.  Tests pass a table of
// their own.  Every failure names the call, the driver's error and what to do.
//
#ifndef TESSERA_RUNTIME_CUDA_DRIVER_H
#define TESSERA_RUNTIME_CUDA_DRIVER_H

#include "runtime/Support/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace tessera::cuda {

using Status = int; ///< CUresult; 0 is success
using DeviceOrdinal = int;
using DevicePointer = unsigned long long;
using ContextHandle = struct OpaqueContext *;
using StreamHandle =
    struct OpaqueStream *; ///< binary compatible with CUstream and cudaStream_t; null is the default stream
using EventHandle = struct OpaqueEvent *;
using ModuleHandle = struct OpaqueModule *;
using FunctionHandle = struct OpaqueFunction *;

enum class DeviceAttribute : int {
  MultiprocessorCount = 16,
  ComputeMajor = 75,
  ComputeMinor = 76,
  MaxSharedPerBlock = 97, ///< what a kernel may ask for after opting in
};
enum class FunctionAttribute : int {
  MaxThreads = 0,
  StaticSharedBytes = 1,
  LocalBytes = 3,
  Registers = 4,
  MaxDynamicShared = 8
};
enum class JitOption : int { ErrorLog = 5, ErrorLogBytes = 6 };

/// The driver's functions; all set after Driver::load.
struct DriverTable {
#define TESSERA_DRIVER_SYMBOL(member, exported, parameters) Status(*member) parameters = nullptr;
#include "runtime/Cuda/DriverSymbols.def"
};

/// A loaded and initialized driver.  Immutable, shared, safe from any thread.
class Driver {
public:
  /// Opens `library`, finds every symbol, initializes.  Fault::Machine with T0620 when there is no library, a symbol is missing, or the
  /// driver finds no device.
  static Result<std::shared_ptr<const Driver>> load(const char *library = "libcuda.so.1");
  /// A driver over a given table (tests); initializes it too.
  static Result<std::shared_ptr<const Driver>> fromTable(const DriverTable &table);
  ~Driver();
  Driver(const Driver &) = delete;
  Driver &operator=(const Driver &) = delete;

  const DriverTable &table() const { return symbols; }
  int version() const { return driverVersion; } ///< 13000 for 13.0
  Result<int> deviceCount() const;

  /// Success, or Fault::Machine that says `call` failed, the driver's name of the error, and a remedy.
  Result<void> check(Status status, const char *call) const;

private:
  Driver() = default;
  static Result<std::shared_ptr<const Driver>> initialize(std::shared_ptr<Driver> driver);

  DriverTable symbols;
  void *library = nullptr;
  int driverVersion = 0;
};

} // namespace tessera::cuda
#endif // TESSERA_RUNTIME_CUDA_DRIVER_H
