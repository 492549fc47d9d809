//===- ResourceEstimate.h - what a scheduled kernel uses and moves -------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Needs a kernel after tile-gpu-insert-barriers: layouts, buffers and barriers are decided.  Gives counts that a cost model and a report
// read.  Registers are an estimate from the tiles that live at one time; everything else is exact.  Leaves out: what ptxas makes of it.
//
#ifndef TESSERA_COMPILER_ANALYSIS_RESOURCEESTIMATE_H
#define TESSERA_COMPILER_ANALYSIS_RESOURCEESTIMATE_H

#include "dialect/Tile/TileDialect.h"

#include <string>
#include <vector>

namespace tessera {

struct ResourceEstimate {
  struct Buffer {
    std::string tile; ///< `bf16[128, 64]`
    int64_t bytes = 0, stages = 1;
  };
  int64_t warps = 4, sharedBytes = 0;
  int64_t registers = 0; ///< of a thread, estimated
  std::vector<Buffer> buffers;
  int64_t conversions = 0;    ///< layout conversions that go through shared memory or lanes
  int64_t barriers = 0;       ///< outside of loops
  int64_t barriersInLoop = 0; ///< of the busiest loop, an iteration
  // Of one iteration of the busiest loop with products; without products, of the whole program with loops counted once:
  double flops = 0;
  double loaded = 0, stored = 0; ///< bytes from and to global memory
  bool tensorCores = false;      ///< some product runs on them
  double sharedRead = 0;         ///< bytes that products read from shared memory
};

/// `warpsAttr` and `sharedAttr` name the attributes in which the pipeline left the warps and the bytes.
ResourceEstimate estimateResources(tile::KernelOp kernel, llvm::StringRef warpsAttr, llvm::StringRef sharedAttr);

} // namespace tessera
#endif // TESSERA_COMPILER_ANALYSIS_RESOURCEESTIMATE_H
