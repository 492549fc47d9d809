//===- ImageBuilder.h - what a kernel's attributes say to the launcher ------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
#ifndef TESSERA_COMPILER_DRIVER_IMAGEBUILDER_H
#define TESSERA_COMPILER_DRIVER_IMAGEBUILDER_H

#include "dialect/Tile/TileDialect.h"
#include "runtime/Image/KernelImage.h"

namespace tessera {

/// Reads parameters, dimensions, grid and requirements of `kernel` (TileOps.td documents the attributes).  Resources are left for later stages.
/// Fault::Internal for attributes that do not parse.
Result<KernelInfo> describeKernel(tile::KernelOp kernel);

} // namespace tessera
#endif // TESSERA_COMPILER_DRIVER_IMAGEBUILDER_H
