//===- Layouts.h - building, slicing and comparing layouts of tiles ------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A tile of 4 x 8 elements held by 2 warps of 4 lanes (real warps have 32), two registers a thread:
//
//     register = [[0, 1]]                 bit 0 of the register number moves one column
//     lane     = [[0, 2], [0, 4]]         the four lanes lie side by side, each with two neighbouring columns
//     warp     = [[1, 0]]                 the two warps lie below each other
//     reps     = [2, 1]                   and this 2 x 8 block is repeated twice, downwards
//
//              column 0      1      2 ...      7
//     row 0  w0.l0.r0  w0.l0.r1  w0.l1.r0 ... w0.l3.r1
//     row 1  w1.l0.r0  w1.l0.r1  ...
//     row 2  w0.l0.r2  w0.l0.r3  ...          registers 2, 3 are the second repetition
//     row 3  w1.l0.r2  ...
//
// Where a thread's register r lies is always
//
//     coordinate = base(lane, warp) + offset(r)          base: an exclusive or of bases;  offset: a compile-time constant
//
// because the bases of lanes and warps never share a bit with those of registers.  So one base per tile and thread is computed at run
// time and everything else is an immediate.
//
// Why repetition beside the linear algebra: extents such as 72, 96 or 192 are no powers of two, and a linear layout has only those.  What
// varies in whole blocks needs no algebra; it is a list of registers.
//
// Zero bases mean that several lanes or warps hold the same element.  Slicing a dimension away (`sliceLayout`) turns the bases of that
// dimension into zeros: the row maxima of a tile are held by all the lanes that shared the row.
//
#ifndef TESSERA_DIALECT_TILEGPU_LAYOUTS_H
#define TESSERA_DIALECT_TILEGPU_LAYOUTS_H

#include "dialect/Layout/LinearLayout.h"
#include "dialect/TileGPU/TileGPUDialect.h"

namespace tessera::tile_gpu {

inline constexpr int kLaneBits = 5;

/// Basis vectors as rows; `bases[bit][dimension]`.
using Bases = llvm::SmallVector<llvm::SmallVector<int64_t>>;

/// The lists of a DistAttr unpacked.
struct Dist {
  Bases registers, lanes, warps;
  llvm::SmallVector<int64_t> reps;

  static Dist of(DistAttr attr);
  DistAttr attr(mlir::MLIRContext *context) const;

  int64_t rank() const { return reps.size(); }
  int64_t blockRegisters() const { return int64_t(1) << registers.size(); }
  int64_t numRegisters() const;
  /// Extent of the block along `axis` (a power of two).
  int64_t blockExtent(int64_t axis) const;
  /// Extent that the layout covers along `axis`: block times repetitions.
  int64_t coverage(int64_t axis) const { return blockExtent(axis) * reps[axis]; }
  /// Constant part of the coordinates of register `r`.
  llvm::SmallVector<int64_t> offset(int64_t r) const;
  /// Run-time part of the coordinates, evaluated for one thread.
  llvm::SmallVector<int64_t> base(int64_t lane, int64_t warp) const;
  /// Bits of the lane (warp) number whose basis moves along `axis`.
  int64_t laneMask(int64_t axis) const;
  int64_t warpMask(int64_t axis) const;
  /// Bits of the lane (warp) number whose basis is zero: replicas.
  int64_t freeLanes() const;
  int64_t freeWarps() const;
  /// Number of registers from register 0 on that lie side by side along `axis`, a power of two, no more than a block's.
  int64_t contiguous(int64_t axis) const;
  bool operator==(const Dist &) const = default;
};

/// The layout of a tile type; the type must have one.
Dist layoutOf(mlir::Type type);
bool hasLayout(mlir::Type type);
/// The type with this layout.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, const Dist &layout);
/// Registers a thread needs for a value: the layout's for a tile, 1 for a scalar.
int64_t registersOf(mlir::Type type);

/// A layout for elementwise work and memory: `vector` neighbouring elements a thread along `fastest`; lanes along `fastest` first, then along the
/// other dimensions from the last to the first; warps the other way round; replicated when the tile has fewer elements than threads.
Dist blockedLayout(llvm::ArrayRef<int64_t> shape, int64_t vector, int64_t fastest, int64_t warps);

/// Accumulator of m16n8 tensor-core products (PTX ISA, "Matrix Fragments for mma.m16n8k16"): lane l holds rows l / 4 and l / 4 + 8, columns 2 * (l % 4) and the
/// next.  `warpsM` x `warpsN` warps (powers of two), blocks repeated to cover the shape.
Dist mmaAccumulator(llvm::ArrayRef<int64_t> shape, int64_t warpsM, int64_t warpsN);

/// Operand A of m16n8k16 (16-bit elements) in registers, for the same arrangement of warps.
Dist mmaOperandA(llvm::ArrayRef<int64_t> shape, int64_t warpsM, int64_t warpsN);

/// Accumulator of plain multiply-adds: a thread holds 4 neighbouring columns; 4 x 8 lanes; blocks repeated.
Dist plainAccumulator(llvm::ArrayRef<int64_t> shape, int64_t warpsM, int64_t warpsN);

/// `matrix` for each of `batches` matrices, dealt out to `warpsL` groups of warps: dimension 0 of the result.
Dist batchedLayout(const Dist &matrix, int64_t batches, int64_t warpsL);

/// For scans: registers, then the low bits of the lane, then repetitions run along `axis`; what lanes and all warps are left over goes to other dimensions.
/// A thread has a run of at most `longestRun` elements.
Dist scanLayout(llvm::ArrayRef<int64_t> shape, int64_t axis, int64_t warps, int64_t longestRun = 4);

/// For sorting: as for scans, but runs are as long as it takes to have no repetitions along `axis`.
Dist sortLayout(llvm::ArrayRef<int64_t> shape, int64_t axis, int64_t warps);

/// Layout of the tile without dimension `axis`.
Dist sliceLayout(const Dist &layout, int64_t axis);
/// Layout of the tile with an extent of 1 along `axis`.
Dist restrictLayout(const Dist &layout, int64_t axis);
/// Layout of the tile with a dimension of extent 1 inserted at `axis`.
Dist expandLayout(const Dist &layout, int64_t axis);
/// Layout of a part of a tile (starts, widths and steps as in tile.extract) that every thread finds among its own registers of `layout`; nullopt where
/// elements would have to move.
std::optional<Dist> partLayout(const Dist &layout, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> starts,
                               llvm::ArrayRef<int64_t> widths, llvm::ArrayRef<int64_t> steps);
/// Result dimension d is source dimension order[d].
Dist permuteLayout(const Dist &layout, llvm::ArrayRef<int64_t> order);

/// For a conversion within each thread: the source register of every result register; nullopt when some thread lacks an element.
std::optional<llvm::SmallVector<int64_t>> registerMap(const Dist &source, const Dist &result);

/// The layout as one linear map from `register`, `lane` and `warp` to `dim0`, `dim1`, ... (dialect/Layout/LinearLayout.h), repetitions being the high bits of the
/// register.  Needs powers of two: nullopt when a repetition is none.
std::optional<LinearLayout> linearLayout(const Dist &layout);

/// What it takes to hold a tile of one layout in another.
enum class Movement : uint8_t {
  Registers, ///< every thread has what it shall hold: renaming
  Lanes, ///< the same warp has it, and which register of the other lane is wanted does not depend on the lane: one shuffle a register
  Shared ///< anything else: through shared memory
};
/// For Movement::Lanes: register r of the result, in lane l, is register `sourceRegister[r]` of the lane laneBits(l) ^ laneOf[r].
struct Conversion {
  Movement movement = Movement::Shared;
  llvm::SmallVector<int64_t> sourceRegister, laneOf;
  llvm::SmallVector<int64_t> laneBases; ///< source lane of each bit of the own lane
};
/// Derived from the algebra: the source composed with the inverse of the result says where each place's element is kept.
Conversion conversionBetween(const Dist &source, const Dist &result);

/// A shared layout for `shape` that `ldmatrix` reads without bank conflicts; `fastest` is the contiguous dimension.
SharedAttr sharedLayout(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
                        int64_t fastest);
/// Rows of `pitch` bytes with no exclusive or: for scratch.
SharedAttr plainShared(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape, int64_t elementBytes);

/// Bytes of an element in shared memory (i1 takes one).
int64_t elementBytes(mlir::Type type);

} // namespace tessera::tile_gpu
#endif // TESSERA_DIALECT_TILEGPU_LAYOUTS_H
