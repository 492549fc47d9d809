//===- MemoryFunctions.h - memcpy, memmove and memset of a host object's own ----------- SPDX: Apache-2.0 WITH LLVM-exception -===//
#ifndef TESSERA_COMPILER_CODEGEN_MEMORYFUNCTIONS_H
#define TESSERA_COMPILER_CODEGEN_MEMORYFUNCTIONS_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Module;
}

namespace tessera {

/// Defines those of the three that the optimized module uses, with internal linkage.
void addMemoryFunctions(llvm::Module &module, llvm::StringRef cpu, llvm::StringRef features);

} // namespace tessera
#endif // TESSERA_COMPILER_CODEGEN_MEMORYFUNCTIONS_H
