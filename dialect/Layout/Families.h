//===- Families.h - the layouts that hardware and memory suggest --------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Constructors of LinearLayout.  Inputs are `register`, `lane`, `warp` (in elements, 32 lanes) or `offset` (elements of shared memory); outputs `dim0`, `dim1`, ...
// with the tile's extents, which are powers of two.  Where a family's block is smaller than the tile, further registers repeat it, the fastest
// dimension first; where it is larger, the surplus places are replicas.
//
// Fragment formulas: PTX ISA 9.0, "Matrix Fragments for mma.m16n8k16 / m16n8k8 / m16n8k32"; ldmatrix: ibid., "ldmatrix"; bank rules: CUDA C++
// Programming Guide, "Shared Memory" (32 banks of 4 bytes; accesses of 8 and 16 bytes go by half and quarter warps).
//
#ifndef TESSERA_DIALECT_LAYOUT_FAMILIES_H
#define TESSERA_DIALECT_LAYOUT_FAMILIES_H

#include "dialect/Layout/LinearLayout.h"

namespace tessera::layout {

/// `dim0`, `dim1`, ...
std::string dimName(int64_t dim);

/// A block of sizePerThread x threadsPerWarp x warpsPerCta elements; order[0] is the fastest dimension.  Every list has the tile's rank and powers of two;
/// `order` is a permutation; the product of threadsPerWarp is 32 on hardware (not demanded here).
LinearLayout blocked(const std::vector<int64_t> &shape, const std::vector<int64_t> &sizePerThread,
                     const std::vector<int64_t> &threadsPerWarp, const std::vector<int64_t> &warpsPerCta,
                     const std::vector<int64_t> &order);

/// How warps share a product: warpsM x warpsN, N fastest.  Powers of two.
struct WarpGrid {
  int64_t m = 1, n = 1;
};

/// Accumulator (C, D) of m16n8 products, tile M x N.
LinearLayout mmaAccumulator(int64_t m, int64_t n, WarpGrid warps);
/// Left operand, tile M x K; elementBits 32 (tf32, k8), 16 (k16) or 8 (k32).  Warps along N hold the same.
LinearLayout mmaOperandA(int64_t m, int64_t k, int elementBits, WarpGrid warps);
/// Right operand, tile K x N.  Warps along M hold the same.
LinearLayout mmaOperandB(int64_t k, int64_t n, int elementBits, WarpGrid warps);

/// Without output `dim` (a reduction's result); the remaining outputs are renamed dim0, dim1, ... in order.
LinearLayout slice(const LinearLayout &layout, int64_t dim);

/// Shared memory, rows x columns, row-major, with groups of `vec` columns exclusive-or'ed by (row / perPhase) % maxPhase.  maxPhase 1: plain.
/// vec * maxPhase <= columns; all powers of two.
LinearLayout sharedSwizzled(int64_t rows, int64_t columns, int64_t vec, int64_t perPhase, int64_t maxPhase);

/// Extra passes over the banks that one access of a warp takes, `vecBytes` (1 to 16) for each lane: 0 is free of conflicts.  -1 if the memory
/// does not hold the tile.  The answer is the same for all registers and warps, because they only exclusive-or a constant into the addresses.
int bankConflicts(const LinearLayout &registers, const LinearLayout &shared, int elementBytes, int vecBytes);

/// How many 8 x 8 matrices of 16-bit places (1, 2 or 4; 0: not possible) one ldmatrix can load for `registers` from `shared`: each row must be 16
/// contiguous, aligned bytes, dealt to lanes as the instruction does.  `transposed`: the .trans form, for 16-bit elements only.
int ldmatrixMatrices(const LinearLayout &registers, const LinearLayout &shared, int elementBytes, bool transposed);

} // namespace tessera::layout
#endif // TESSERA_DIALECT_LAYOUT_FAMILIES_H
