//===- Diagnostics.h - what is wrong, where, and what to do --------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Every rejection of a program is a Diagnostic: code, place, what was expected and found, a remedy, and notes that point to the
// other place involved.  The list of codes is in DiagnosticCodes.def, the one table behind `tessera explain` and docs/errors.md.
//
#ifndef TESSERA_COMPILER_FRONTEND_DIAGNOSTICS_H
#define TESSERA_COMPILER_FRONTEND_DIAGNOSTICS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

enum class Severity : uint8_t { Error, Warning, Remark };

/// A position in a source file; line and column count from 1, column in bytes.
struct SourcePlace {
  std::string file;
  int line = 0, column = 0;
  bool operator==(const SourcePlace &) const = default;
};

/// A second place that a diagnostic talks about.
struct DiagnosticNote {
  SourcePlace place;
  std::string message;
};

struct Diagnostic {
  Severity severity = Severity::Error;
  std::string code; ///< "T0123"
  SourcePlace place;
  int length = 1;          ///< bytes to underline
  std::string message;     ///< lower-case start, no final period: "expected X, found Y"
  std::string remedy;      ///< "write T(x)"; may be empty
  std::string replacement; ///< if the remedy can be applied by machine: the text that replaces the underlined bytes
  bool hasReplacement = false;
  std::vector<DiagnosticNote> notes;
};

/// The message as clang would print it, with the source line and a caret.  `source` is the file's text (may be empty).
std::string render(const Diagnostic &diagnostic, std::string_view source, bool color);

} // namespace tessera
#endif // TESSERA_COMPILER_FRONTEND_DIAGNOSTICS_H
