//===- RunArguments.h - the data of `tessera run` ------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Turns `--arg` texts into host arrays and scalars, carries arrays to a GPU and back.
//
#ifndef TESSERA_TOOLS_TESSERA_RUNARGUMENTS_H
#define TESSERA_TOOLS_TESSERA_RUNARGUMENTS_H

#include "runtime/Cuda/Context.h"
#include "runtime/Jit/Launcher.h"
#include "tools/tessera/Array.h"

namespace tessera {

/// One `--arg`.
struct RunArgument {
  std::string name;
  std::optional<Array> array;           ///< tensors
  std::optional<cuda::Memory> onDevice; ///< its copy, on a CUDA device
  ScalarRef scalar;                     ///< scalars

  TensorRef ref() const;
};

/// All arguments of a launch.
class RunArguments {
public:
  /// Parses and makes every argument; each random tensor without a seed of its own gets one from `seed` and its name.
  static Result<RunArguments> make(const std::vector<std::string> &texts, uint64_t seed);

  /// Copies the tensors to `device` (nothing on the host) in the order of `stream`.
  Result<void> upload(const Device &device, StreamHandle stream);
  /// Copies one tensor back.
  Result<void> download(RunArgument &argument, StreamHandle stream) const;

  std::vector<NamedArgument> named() const;
  /// The tensor argument of that name, or Fault::Usage (T0616) with the names that exist.
  Result<RunArgument *> tensor(const std::string &name, const char *option);

private:
  std::vector<RunArgument> arguments;
};

} // namespace tessera
#endif // TESSERA_TOOLS_TESSERA_RUNARGUMENTS_H
