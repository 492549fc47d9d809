//===- Ptxas.h - the assembler that the command line may use -------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
#ifndef TESSERA_TOOLS_TESSERA_PTXAS_H
#define TESSERA_TOOLS_TESSERA_PTXAS_H

#include "runtime/Cuda/Assembler.h"

#include <memory>
#include <string>

namespace tessera {

/// The first executable `ptxas` on PATH, in $CUDA_HOME or in the toolkit's usual place; empty when there is none.
std::string findPtxas();

/// What `--ptxas` says: `off` (null: the driver assembles), `auto` (the one of findPtxas, an error without one), or a path.
Result<std::shared_ptr<const cuda::Assembler>> openPtxas(const std::string &choice);

} // namespace tessera
#endif // TESSERA_TOOLS_TESSERA_PTXAS_H
