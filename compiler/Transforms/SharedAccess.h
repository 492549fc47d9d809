//===- SharedAccess.h - which buffer an op touches, and how ---------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// What allocation and barrier insertion need to know of every op that touches shared memory.
//
#ifndef TESSERA_COMPILER_TRANSFORMS_SHAREDACCESS_H
#define TESSERA_COMPILER_TRANSFORMS_SHAREDACCESS_H

#include "dialect/TileGPU/TileGPUDialect.h"

namespace tessera {

/// The alloc behind a buffer value: follows slot, transpose and reinterpret.  `stage` becomes the index of the slot on the way, null if none.
inline tile_gpu::AllocOp allocOf(mlir::Value buffer, mlir::Value &stage) {
  while (mlir::Operation *op = buffer.getDefiningOp()) {
    if (auto alloc = llvm::dyn_cast<tile_gpu::AllocOp>(op))
      return alloc;
    if (auto slot = llvm::dyn_cast<tile_gpu::SlotOp>(op))
      stage = slot.getIndex();
    buffer = op->getOperand(0);
  }
  return {};
}

} // namespace tessera
#endif // TESSERA_COMPILER_TRANSFORMS_SHAREDACCESS_H
