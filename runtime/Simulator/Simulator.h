//===- Simulator.h - a GPU's execution model on the host ------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Runs what the GPU lowering made, without a GPU: every thread of a program is a fiber, the threads of a warp meet at warp instructions, all of them at
// barriers.  Instructions that the lowering writes as PTX text are executed from that text (PtxText.h); everything else is host code made from the
// same LLVM IR.  What it is for: layouts, guards, shared memory, barriers and tensor-core fragments are tested on any machine, and a program that
// only fails on GPUs can be debugged with the host's tools.
//
// It is unkind where a GPU may be: warps take turns at random (by the number of the program, so that a run can be repeated), asynchronous copies
// happen at once or only when waited for, shared memory starts as NaN.  A missing barrier or wait shows as a wrong result.
//
// Leaves out: time, caches, the exact bits of approximate instructions (they are rounded correctly here), the order of sums inside a tensor-core
// instruction (exact here, then rounded once).
//
#ifndef TESSERA_RUNTIME_SIMULATOR_SIMULATOR_H
#define TESSERA_RUNTIME_SIMULATOR_SIMULATOR_H

#include <vector>

namespace tessera::simulator {

/// A function that simulated code calls, for the linker.
struct Symbol {
  const char *name;
  void *address;
};

/// Everything that objects of emitSimulatedObject may call beyond memory functions.  Code and simulator belong to one build: there is no
/// version between them.
std::vector<Symbol> symbols();

} // namespace tessera::simulator
#endif // TESSERA_RUNTIME_SIMULATOR_SIMULATOR_H
