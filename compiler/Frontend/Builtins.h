//===- Builtins.h - the names that the language provides ------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
#ifndef TESSERA_COMPILER_FRONTEND_BUILTINS_H
#define TESSERA_COMPILER_FRONTEND_BUILTINS_H

#include <string_view>
#include <vector>

namespace tessera::frontend {

/// Functions, constants and element types: everything that a file may use without declaring it (and may shadow).
const std::vector<std::string_view> &builtinNames();

} // namespace tessera::frontend
#endif // TESSERA_COMPILER_FRONTEND_BUILTINS_H
