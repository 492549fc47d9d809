//===- BuiltinCalls.h - the functions that the language provides ---------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Calls whose arguments are plain values.  What takes a place instead (`inside`, `atomic_add`) or acts on the program
// (`static_assert`) belongs to the walk over the syntax.
//
#ifndef TESSERA_COMPILER_FRONTEND_BUILTINCALLS_H
#define TESSERA_COMPILER_FRONTEND_BUILTINCALLS_H

#include "compiler/Frontend/Emitter.h"

namespace tessera::frontend {

/// One argument of a call.
struct Argument {
  std::string name; ///< empty: positional
  Value value;
  At at;
};

/// A constant of the language: `inf nan log2e ln2`; nullopt for other names.
std::optional<Value> builtinConstant(std::string_view name);
/// The call; poison after an error.
Value callBuiltin(Emitter &emitter, const std::string &name, llvm::ArrayRef<Argument> arguments, At at);
/// The conversion `T(x, saturate = true)`.
Value callConversion(Emitter &emitter, DType type, llvm::ArrayRef<Argument> arguments, At at);

} // namespace tessera::frontend
#endif // TESSERA_COMPILER_FRONTEND_BUILTINCALLS_H
