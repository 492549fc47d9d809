//===- Terminal.h - files, messages and exit codes of the command line ---------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The only part of the tool that reads and writes: input files, output files (complete or not at all), messages in the
// style of clang.
// `-` is standard input or output.
//
#ifndef TESSERA_TOOLS_TESSERA_TERMINAL_H
#define TESSERA_TOOLS_TESSERA_TERMINAL_H

#include "compiler/Frontend/Diagnostics.h"
#include "runtime/Support/Result.h"

#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Fault::Program (T0644) when the file cannot be read, with the system's reason.
Result<std::string> readFile(const std::string &path);

/// Writes a neighbour and renames it, so that a reader never sees half a file.  Fault::Machine (T0645) when that fails.
Result<void> writeFile(const std::string &path, std::string_view bytes);

/// Prints `error` to standard error; gives the exit code.
int report(const Error &error);

/// What a command has to say at its end: diagnostics of the compiler and at most one error, as text or as one JSON
/// object.
struct Report {
  std::vector<Diagnostic> diagnostics;
  std::string sourceName, source; ///< for the caret
  bool json = false;

  /// Prints the diagnostics (text: standard error).  With `error`, that too; gives the exit code: the error's, else
  /// that of the worst diagnostic, else 0.  An internal error leaves a reproducer in the folder for temporary files.
  /// JSON goes to standard output: {"diagnostics": [...], "error": {...}} with `fields` (JSON members) inside.
  int finish(const Error *error, const std::string &fields = "") const;
};

/// JSON text of a string, quoted.
std::string quoteJson(std::string_view text);

} // namespace tessera
#endif // TESSERA_TOOLS_TESSERA_TERMINAL_H
