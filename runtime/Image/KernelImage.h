//===- KernelImage.h - what the compiler hands to the runtime ------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A compiled program: its code and everything a launcher must know to check and launch it.  No LLVM, no driver; std only.
//
// An image holds kernels, and ops: sequences of launches and fills over the caller's tensors and over temporaries.  The temporaries lie in one
// workspace, whose size is a function of the arguments; two of them share memory when no step needs both.
//
// Argument ABI, the same on every target.  A kernel's arguments are a list of 8-byte slots, in this order:
//
//     for every tensor parameter that is present, in source order:  base pointer, stride[0] .. stride[rank-1]   (in elements)
//     for every name in KernelInfo::dims, in order:                 its value (i64)
//     for every scalar parameter, in source order:                  its value, in the low bytes of the slot
//     for every grid axis, in order:                                number of programs along that axis (i64)
//
// CUDA: every slot is one `.param` of its own type (u64, s64, or the scalar's type), so kernelParams[i] = &slot[i].  The launch
// is one-dimensional: blockIdx.x is the program's linear number, the first axis fastest.
// Host: `void entry(const uint64_t *slots, int64_t first, int64_t last, void *scratch)` runs programs first <= p < last;
// `scratch` is 64-byte aligned, KernelInfo::scratchBytes large, and belongs to the calling thread.
//
#ifndef TESSERA_RUNTIME_IMAGE_KERNELIMAGE_H
#define TESSERA_RUNTIME_IMAGE_KERNELIMAGE_H

#include "runtime/Image/DType.h"
#include "runtime/Image/Expr.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

enum class ParamMode : uint8_t { In, Out, InOut, Accum };

/// What compiled code took for granted about a tensor argument beyond its type.  The launcher checks it; the JIT derives the widest
/// contract that its actual arguments satisfy.  The default promises nothing but the element's natural alignment.
struct TensorContract {
  int64_t align = 1;    ///< base address is a multiple of this many bytes
  int64_t unitDim = -1; ///< this dimension has stride 1 (-1: no such promise)
  std::vector<int64_t>
      strideDiv; ///< per dimension: the stride is a multiple of this many elements (1 promises nothing)
  std::vector<int64_t> extentDiv; ///< per dimension: the extent is a multiple of this (1 promises nothing)
  bool operator==(const TensorContract &) const = default;
};

/// One run-time parameter of a kernel, tensor or scalar.
struct ParamInfo {
  std::string name;
  bool isTensor = false;
  bool present = true; ///< false: an optional tensor compiled as None; takes no slots
  DType dtype = DType::F32;
  // Tensors only:
  ParamMode mode = ParamMode::In;
  std::vector<Expr> extents; ///< one per dimension; a bare symbol in KernelInfo::dims binds or must agree
  TensorContract contract;
  bool clearFirst = false; ///< `accum x: ... = 0`: the launch clears it, even with an empty grid
};

/// One axis of the launch grid: programs at lo, lo + step, ... below hi.
struct GridAxis {
  std::string name;
  Expr lo, hi, step;
};

/// A launch-time condition of `requires`.
struct Requirement {
  Expr condition;
  std::string text; ///< as written
  int line = 0, column = 0;
};

/// An `assert` of the body.  Host code that finds one false stores its number, counted from 1, and the program's as two i64 at the
/// beginning of its scratch, unless one is stored already.
struct Assertion {
  std::string text; ///< the message
  std::string file; ///< where it stands
  int line = 0, column = 0;
};

/// What a later version says of a kernel (tensor maps, clusters) without a change of the format.  A reader that does not know a required
/// extension refuses the image; others pass it on untouched.
struct Extension {
  std::string tag;
  bool required = false;
  std::string bytes;
  bool operator==(const Extension &) const = default;
};

/// One kernel of an image.
struct KernelInfo {
  std::string name;              ///< as in the source
  std::string entry;             ///< symbol in the code
  bool stepOnly = false;         ///< specialized for a step of an op: launched by the op, not by name
  std::vector<ParamInfo> params; ///< in source order, absent ones included
  std::vector<std::string> dims; ///< dimension names passed as slots, in slot order
  std::vector<GridAxis> grid;
  std::vector<Requirement> requirements;
  std::vector<Assertion> assertions; ///< checked by host code; GPU code leaves them out
  // Resources:
  int threads = 1;          ///< threads of a block (GPU)
  int64_t sharedBytes = 0;  ///< dynamic shared memory of a block (GPU)
  int64_t scratchBytes = 0; ///< per-thread scratch (host)
  std::vector<Extension> extensions;
};

/// A temporary of an op: a dense row-major tensor in the op's workspace, alive from its first step to its last.
struct TempInfo {
  std::string name;
  DType dtype = DType::F32;
  std::vector<Expr> extents; ///< over the op's dimensions and scalars
  int firstStep = 0, lastStep = 0;
};

/// What a step passes on.
struct StepArgument {
  enum class Kind : uint8_t { Absent, Param, Temp, Scalar };
  Kind kind = Kind::Absent;
  int index = 0; ///< Param: of OpInfo::signature.params, a tensor; Temp: of OpInfo::temps
  Expr value;    ///< Scalar: over the op's dimensions and scalars; the launcher converts it to the parameter's type
};

/// One step of an op.
struct OpStep {
  enum class Kind : uint8_t { Launch, Fill };
  Kind kind = Kind::Launch;
  int kernel = 0;                      ///< Launch: of KernelImage::kernels
  std::vector<StepArgument> arguments; ///< Launch: one for each parameter of the kernel; Fill: the tensor to fill
  uint64_t pattern = 0;                ///< Fill: the bits of an element, in the low bytes
  int line = 0, column = 0;            ///< of the call, for messages
};

/// A composition: one callable of several launches, in stream order.
struct OpInfo {
  /// Name, parameters, dimensions and requirements as those of a kernel; no grid and no code.
  KernelInfo signature;
  std::vector<TempInfo> temps;
  std::vector<OpStep> steps;
};

/// A compiled program.  One file, versioned (serialize / deserialize).
struct KernelImage {
  enum class Code : uint8_t { Ptx, Cubin, HostObject };
  std::string target; ///< sm_90a, ..., host
  std::string source; ///< name of the source file, for messages
  Code codeKind = Code::Ptx;
  std::string code; ///< PTX text, cubin bytes or an object file
  std::vector<KernelInfo> kernels;
  std::vector<OpInfo> ops;

  std::string serialize() const;
  /// Fault::Program for bytes that are not an image, are damaged, or are of another version; never reads outside `bytes`.
  static Result<KernelImage> deserialize(std::string_view bytes);
};

} // namespace tessera
#endif // TESSERA_RUNTIME_IMAGE_KERNELIMAGE_H
