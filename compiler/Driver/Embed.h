//===- Embed.h - kernels as an archive and a typed C++ header --------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Compiles the kernels of a file for several targets, each under a wide and a narrow contract, for a program that links them and has no compiler in it.
//
#ifndef TESSERA_COMPILER_DRIVER_EMBED_H
#define TESSERA_COMPILER_DRIVER_EMBED_H

#include "compiler/Driver/Compiler.h"

namespace tessera {

struct EmbedOptions {
  CompileOptions compile;           ///< source, kernel, bindings, schedule; target, tensors and emit are set here
  std::vector<std::string> targets; ///< names of the target table; at least one
  std::vector<std::string> with;    ///< optional tensors that the functions take; the others are absent
  std::string nameSpace;            ///< of the header, `a::b`; also names the archive's symbol
  bool anyLayoutOnly = false;       ///< no code for aligned rows
};

struct EmbedResult {
  std::string archive, header;
  std::vector<Diagnostic> diagnostics; ///< each once, though several targets are compiled
  std::string report;
  std::optional<Error> error; ///< what is wrong with the options
  bool ok() const;
};

EmbedResult embed(std::string_view source, const EmbedOptions &options);

/// The symbol of the table for a namespace.
std::string embedSymbol(std::string_view nameSpace);
/// True for `a` and `a::b` of identifiers that C++ allows.
bool isNamespace(std::string_view text);
/// The header for kernels of an image.
std::string writeEmbedHeader(const KernelImage &image, const EmbedOptions &options);

} // namespace tessera
#endif // TESSERA_COMPILER_DRIVER_EMBED_H
