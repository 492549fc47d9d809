//===- Jit.h - a program compiled for its arguments, once ----------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Holds a source text and the images compiled from it so far.  A request says which kernel, which bindings, what is known of the tensor
// arguments, and the device; an image that was compiled under the same facts is used again.  Facts are coarse (element types, presence,
// contracts with capped divisors); extents count only where the compiled image fixed one, so dynamic shapes do not compile again.
// That cache lives in memory and never shrinks while the Jit lives; a DiskCache may stand behind it.
//
#ifndef TESSERA_RUNTIME_JIT_JIT_H
#define TESSERA_RUNTIME_JIT_JIT_H

#include "compiler/Driver/Compiler.h"
#include "runtime/Cuda/Assembler.h"
#include "runtime/Jit/DiskCache.h"
#include "runtime/Launch/Device.h"
#include "runtime/Launch/LoadedImage.h"

#include <memory>
#include <string>
#include <vector>

namespace tessera {

/// An argument by the name of its parameter.
struct NamedArgument {
  std::string name;
  Argument value;
};

/// Why no kernel came out: an Error, and the compiler's diagnostics where it was the program.
struct JitFailure {
  Error error;
  std::vector<Diagnostic> diagnostics;
};

/// A kernel or an op, ready to launch.
struct JitKernel {
  std::shared_ptr<const LoadedImage> image;
  size_t index = 0; ///< of the image's kernels, or of its ops
  bool isOp = false;
  bool fromDisk = false;               ///< not compiled: the disk cache had it
  std::vector<Diagnostic> diagnostics; ///< warnings and remarks of the compilation
  std::string report, log;             ///< see CompileResult

  /// Name, parameters, requirements.
  const KernelInfo &info() const { return isOp ? image->image().ops[index].signature : image->image().kernels[index]; }
};

/// What came of a request.
using JitResult = std::variant<JitKernel, JitFailure>;

/// What a Jit may use beyond the compiler; each is optional.
struct JitServices {
  std::shared_ptr<const DiskCache> disk; ///< images are looked for here before they are compiled, and kept here
  std::shared_ptr<const cuda::Assembler>
      assembler; ///< makes the code for GPUs; without one the driver does, at every load
};

/// Any number of threads may use one Jit.
class Jit {
public:
  explicit Jit(std::string source, std::string sourceName = "<program>", JitServices services = {});
  ~Jit();
  Jit(const Jit &) = delete;
  Jit &operator=(const Jit &) = delete;

  const std::string &source() const { return text; }

  /// The kernel specialized for `options` (kernel, bindings, tensors, importPaths, warps, stages, lineInfo; the target is the device's)
  /// and loaded on `device`.  Two threads that ask for the same kernel compile it once.
  JitResult get(const CompileOptions &options, const Device &device);

  /// What the compiler may know of named arguments: element types, shapes, derived contracts.
  static std::vector<TensorFacts> factsOf(const std::vector<NamedArgument> &arguments);

private:
  struct Cache;
  std::string text, name;
  JitServices services;
  std::unique_ptr<Cache> cache;
};

/// Puts named arguments into the order of the kernel's parameters.  T0616 for a name that the kernel does not have (the message lists
/// those it has), T0617 for one given twice.  Parameters without an argument stay empty.
Result<std::vector<Argument>> orderArguments(const KernelInfo &kernel, const std::vector<NamedArgument> &arguments);

} // namespace tessera
#endif // TESSERA_RUNTIME_JIT_JIT_H
