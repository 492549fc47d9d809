//===- Compiler.h - source text to kernel image --------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The whole compiler behind two functions.  No globals, no printing, no exit; any number of threads may call at once.
//
#ifndef TESSERA_COMPILER_DRIVER_COMPILER_H
#define TESSERA_COMPILER_DRIVER_COMPILER_H

#include "compiler/Frontend/Diagnostics.h"
#include "runtime/Image/KernelImage.h"

#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// What is known about one tensor argument when a kernel is specialized.  All of it is optional: ahead of time the source decides.
struct TensorFacts {
  std::string param;          ///< the parameter's name
  bool present = true;        ///< false: this optional tensor is None
  std::optional<DType> dtype; ///< binds an open element type
  std::optional<size_t> rank; ///< the number of dimensions; none: that of `shape` where there is one
  std::vector<int64_t> shape; ///< run-time extents, used only to bind compile-time dimensions; empty, or -1: unknown
  TensorContract contract;    ///< what the compiled code may take for granted
};

/// One `-D NAME=VALUE`: text as typed (`128`, `bf16`, `true`, `gelu`).
struct Binding {
  std::string name, value;
};

enum class Emit : uint8_t { Tile, Gpu, Nvvm, Llvm, Ptx, Cubin, Image, Object };

struct CompileOptions {
  std::string sourceName = "<input>"; ///< for diagnostics and line information
  std::string kernel;                 ///< empty: every kernel that is fully bound
  std::vector<Binding> bindings;
  std::vector<TensorFacts> tensors; ///< a parameter not named: present unless optional, default contract
  /// Tensors without a contract: take for granted that the base address is a multiple of 16 bytes, the last dimension has stride 1, and, from
  /// rank 2 on, rows are multiples of 16 bytes.  The image says so and the launcher checks it.
  bool alignedTensors = false;
  std::string target = "sm_90a"; ///< a name of the target table, or `host`
  Emit emit = Emit::Image;
  bool simulate = false; ///< GPU targets: the image holds host code for runtime/Simulator
  bool lineInfo = true;
  int warps = 0;        ///< 0: the compiler chooses
  int stages = 0;       ///< 0: the compiler chooses
  int optimization = 2; ///< of host code: 2, or 0 for none by LLVM; results are the same to the bit
  std::vector<std::string> importPaths;
  std::string printAfter;  ///< name of a pass, or `all`; the text goes to CompileResult::log
  bool verifyEach = false; ///< run the verifier after every pass (tests)
  bool warningsAsErrors = false;
  /// Host code: goes before the name of every entry point, so that several objects link into one program; the symbols are hidden.
  std::string entryPrefix;
};

struct CompileResult {
  std::optional<KernelImage> image;    ///< set for Emit::Ptx, Cubin, Image, Object on success
  std::string text;                    ///< set for the textual stages (and the PTX)
  std::vector<Diagnostic> diagnostics; ///< in source order; errors, warnings, remarks
  std::string log;                     ///< printAfter's IR
  std::string report;                  ///< resources and choices, a line each
  bool ok() const;                     ///< no error among the diagnostics
};

/// Syntax, names, and everything that holds for all bindings; then every kernel whose parameters have defaults.
CompileResult check(std::string_view source, const CompileOptions &options);

/// Source text (or printed tile IR, recognized by its first token) to the stage `options.emit`.
CompileResult compile(std::string_view source, const CompileOptions &options);

/// One run-time parameter as declared, before anything is bound.
struct ParamSignature {
  std::string name;
  bool isTensor = false;
  bool optional = false;          ///< `= None`
  ParamMode mode = ParamMode::In; ///< tensors
  bool clearFirst = false;        ///< `accum x: ... = 0`
};

/// What a kernel or op declares: enough to match arguments by position and to name what exists.
struct KernelSignature {
  std::string name;
  bool isOp = false;
  std::vector<ParamSignature> params;   ///< in source order
  std::vector<std::string> compileTime; ///< names of the parameters in < >
};

/// The kernels and ops of a file (not of its imports), in source order; what does not parse is left out.
std::vector<KernelSignature> signatures(std::string_view source, const CompileOptions &options);

} // namespace tessera
#endif // TESSERA_COMPILER_DRIVER_COMPILER_H
