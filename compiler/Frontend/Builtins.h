//===- Builtins.h - the names that the language provides ------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The table Builtins.def, by name.  What a builtin computes is the specializer's affair.
//
#ifndef TESSERA_COMPILER_FRONTEND_BUILTINS_H
#define TESSERA_COMPILER_FRONTEND_BUILTINS_H

#include <cstdint>
#include <string_view>
#include <vector>

namespace tessera::frontend {

struct Builtin {
  enum class Kind : uint8_t {
    Function, ///< gives a value and does nothing else
    Action,   ///< does something: a statement may consist of it
    Value,
    Type
  };
  std::string_view name;
  Kind kind;
  int least = 0, most = 0; ///< arguments: fewest in all, most by position (functions and actions)
};

/// Functions, constants and element types: everything that a file may use without declaring it (and may shadow).
const std::vector<Builtin> &builtins();

} // namespace tessera::frontend
#endif // TESSERA_COMPILER_FRONTEND_BUILTINS_H
