//===- Builtins.cpp - the names that the language provides ----------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "compiler/Frontend/Builtins.h"

namespace tessera::frontend {

const std::vector<Builtin> &builtins() {
  using K = Builtin::Kind;
  static const std::vector<Builtin> kBuiltins{
#define TESSERA_BUILTIN(name, least, most) {#name, K::Function, least, most},
#define TESSERA_ACTION(name, least, most) {#name, K::Action, least, most},
#define TESSERA_BUILTIN_VALUE(name) {#name, K::Value},
#define TESSERA_BUILTIN_TYPE(name) {#name, K::Type},
#include "compiler/Frontend/Builtins.def"
  };
  return kBuiltins;
}

} // namespace tessera::frontend
