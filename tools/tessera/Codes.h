//===- Codes.h - every diagnostic code, in one list ------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
#ifndef TESSERA_TOOLS_TESSERA_CODES_H
#define TESSERA_TOOLS_TESSERA_CODES_H

#include <string_view>
#include <vector>

namespace tessera {

/// One entry of the tables; examples may be empty and may have several lines.
struct CodeEntry {
  std::string_view code, title, explanation, wrong, right;
};

/// All codes of the compiler, the runtime and the tools, sorted.
const std::vector<CodeEntry> &allCodes();

/// The entry of `code` (`T0604`), or null.
const CodeEntry *findCode(std::string_view code);

} // namespace tessera
#endif // TESSERA_TOOLS_TESSERA_CODES_H
