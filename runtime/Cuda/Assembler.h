//===- Assembler.h - PTX to machine code by ptxas ------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The driver assembles PTX when it loads it, a second or so for a large kernel, in every process anew.  The toolkit's ptxas does it ahead of time, with the
// toolkit's version of the assembler instead of the driver's.  Nothing is looked for: the caller names the program.
//
#ifndef TESSERA_RUNTIME_CUDA_ASSEMBLER_H
#define TESSERA_RUNTIME_CUDA_ASSEMBLER_H

#include "runtime/Support/Result.h"

#include <string>

namespace tessera::cuda {

/// A ptxas program.
class Assembler {
public:
  /// Asks the program at `path` for its version: T0625 where it cannot be run or is something else.
  static Result<Assembler> open(std::string path);

  const std::string &path() const { return program; }
  /// As it says itself, `release 13.0, V13.0.88`; what it makes depends on nothing else.
  const std::string &version() const { return release; }

  /// The cubin for `target`.  T0625 with what ptxas said where it refuses the PTX.
  Result<std::string> assemble(const std::string &ptx, const std::string &target) const;

private:
  Assembler(std::string path, std::string version) : program(std::move(path)), release(std::move(version)) {}
  std::string program, release;
};

} // namespace tessera::cuda
#endif // TESSERA_RUNTIME_CUDA_ASSEMBLER_H
