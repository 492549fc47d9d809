//===- Diagnostics.cpp - how a diagnostic is shown -------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "compiler/Frontend/Diagnostics.h"

#include <algorithm>

namespace tessera {

/// Line `number` (from 1) of `source`, without its newline.
static std::string_view lineOf(std::string_view source, int number) {
  for (int line = 1; line < number; ++line) {
    size_t newline = source.find('\n');
    if (newline == std::string_view::npos)
      return {};
    source.remove_prefix(newline + 1);
  }
  return source.substr(0, source.find('\n'));
}

static std::string placeText(const SourcePlace &place) {
  if (place.line <= 0)
    return place.file;
  return place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

std::string render(const Diagnostic &diagnostic, std::string_view source, bool color) {
  const char *bold = color ? "\033[1m" : "", *plain = color ? "\033[0m" : "", *green = color ? "\033[32m" : "";
  const char *tint = !color                                     ? ""
                     : diagnostic.severity == Severity::Error   ? "\033[31m"
                     : diagnostic.severity == Severity::Warning ? "\033[35m"
                                                                : "\033[36m";
  const char *kind = diagnostic.severity == Severity::Error     ? "error"
                     : diagnostic.severity == Severity::Warning ? "warning"
                                                                : "remark";
  std::string text =
      std::string(bold) + placeText(diagnostic.place) + ": " + tint + kind + ": " + plain + bold + diagnostic.message;
  if (!diagnostic.code.empty())
    text += " [" + diagnostic.code + "]";
  text += std::string(plain) + "\n";
  std::string_view line = diagnostic.place.line > 0 ? lineOf(source, diagnostic.place.line) : std::string_view();
  if (!line.empty()) {
    std::string number = std::to_string(diagnostic.place.line);
    std::string margin(std::max<size_t>(5, number.size() + 1), ' ');
    std::string shown, marks;
    int column = diagnostic.place.column, last = column + std::max(1, diagnostic.length);
    for (int i = 0; i < int(line.size()) && i < 400; ++i) {
      unsigned char c = line[i];
      shown += c == '\t' || c < 0x20 ? ' ' : char(c);
      marks += i + 1 == column ? '^' : i + 1 > column && i + 1 < last ? '~' : ' ';
    }
    if (column > int(line.size()))
      marks += std::string(std::min<size_t>(400, column - marks.size() - 1), ' ') + "^";
    marks.erase(marks.find_last_not_of(' ') + 1);
    text +=
        margin.substr(number.size()) + number + " | " + shown + "\n" + margin + " | " + green + marks + plain + "\n";
  }
  if (!diagnostic.remedy.empty())
    text += "      help: " + diagnostic.remedy + "\n";
  for (const DiagnosticNote &note : diagnostic.notes)
    text += placeText(note.place) + ": note: " + note.message + "\n";
  return text;
}

} // namespace tessera
