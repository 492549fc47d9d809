//===- JitKey.h - what a compilation depends on --------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Texts that are equal exactly where a compilation may be used again.
//
#ifndef TESSERA_RUNTIME_JIT_JITKEY_H
#define TESSERA_RUNTIME_JIT_JITKEY_H

#include "compiler/Driver/Compiler.h"

#include <string>
#include <string_view>

namespace tessera {

/// Everything but the source and the extents of tensors: within one process an image says itself which extents it has fixed.
std::string keyOfOptions(const CompileOptions &options);

/// Everything: the compiler's build, the source text, the options, the extents, for host code the processor, and the version of an
/// assembler whose code is kept (empty: PTX is kept, which depends on no driver).  Empty where one of
/// them is unknown: a compiler without a build id, or a program that imports files.
std::string keyOfCompilation(std::string_view source, const CompileOptions &options, std::string_view hostProcessor,
                             std::string_view assembler = {});

} // namespace tessera
#endif // TESSERA_RUNTIME_JIT_JITKEY_H
