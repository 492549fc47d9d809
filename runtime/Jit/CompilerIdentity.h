//===- CompilerIdentity.h - which compiler is in this process ------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
#ifndef TESSERA_RUNTIME_JIT_COMPILERIDENTITY_H
#define TESSERA_RUNTIME_JIT_COMPILERIDENTITY_H

#include <string>

namespace tessera {

/// A text that differs between builds of the compiler, LLVM included, however alike their versions are: the versions, and the build ids that
/// the linker computed of the files they were loaded from.  Empty where a file carries none, which makes the compiler unknown.
std::string compilerIdentity();

} // namespace tessera
#endif // TESSERA_RUNTIME_JIT_COMPILERIDENTITY_H
