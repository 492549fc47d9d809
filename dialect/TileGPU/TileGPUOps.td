//===- TileGPUOps.td - the tile_gpu dialect: who holds what, and where data moves -------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The second level of a GPU kernel.  Tiles carry a layout as the encoding of their tensor type (`#tile_gpu.dist`: which thread holds which
// element in which register); shared memory is made of buffers with a layout of their own (`#tile_gpu.shared`); movement between
// memory, shared memory and registers is explicit.  Kernels are still `tile.kernel` and elementwise work is still `arith` and `math`.
// Layouts.h explains both layouts.
//
#ifndef TESSERA_DIALECT_TILEGPU_TILEGPUOPS_TD
#define TESSERA_DIALECT_TILEGPU_TILEGPUOPS_TD

include "dialect/Tile/TileDialect.td"
include "dialect/TileGPU/TileGPUEnums.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/BuiltinTypeInterfaces.td"

def TileGPU_Dialect : Dialect {
  let name = "tile_gpu";
  let cppNamespace = "::tessera::tile_gpu";
  let summary = "Layouts, shared memory, copies, barriers and tensor-core products";
  let description = [{
    A kernel carries `tile_gpu.warps`, the warps of a program.
    Rules: warps_c1 it is an i64, and a power of two from 1 to 32 (a block has at most 1,024 threads).
  }];
  let hasOperationAttrVerify = 1;
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::tessera::tile::TileDialect"];
}

class TileGPU_Attr<string name, string attrMnemonic> : AttrDef<TileGPU_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def TileGPU_DistAttr : TileGPU_Attr<"Dist", "dist"> {
  let summary = "Which thread holds which element of a tile in which register";
  let description = [{
    `<register = [[0, 1], [8, 0]], lane = [[0, 2], ...], warp = [...], reps = [2, 4]>`: a linear layout over a power-of-two block, repeated.
    Each list has one basis vector per bit of the register, lane or warp number; the position of an element in the block is the exclusive or of the
    bases of its set bits.  `reps` says how often the block is repeated along each dimension, so extents need not be powers of two.
    Register number = repetition (row-major) * registers of the block + register in the block.  A zero basis means replication.
    Rules: dist_c1 every basis has the rank of `reps`; dist_c2 lane has 5 bases; dist_c3 repetitions are at least 1; dist_c4 the nonzero bases are
    distinct powers of two along one dimension each, and fill their block.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$registers, ArrayRefParameter<"int64_t">:$lanes, ArrayRefParameter<"int64_t">:$warps,
      ArrayRefParameter<"int64_t">:$reps);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TileGPU_SharedAttr : TileGPU_Attr<"Shared", "shared"> {
  let summary = "Where the elements of a buffer lie in shared memory";
  let description = [{
    Rows of `pitch` bytes along the fastest dimension (the last of `order`); 16-byte chunk c of row r lies at chunk c xor ((r >> `shift`) & `mask`).
    With the right mask the 8 rows that one `ldmatrix` reads fall into 8 different bank groups.
    Rules: shared_c1 `order` is a permutation; shared_c2 `pitch` is positive; shared_c3 `mask` is 0, 1, 3 or 7 and `shift` is 0 to 3.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$order, "int64_t":$pitch, "int64_t":$mask, "int64_t":$shift);
  let assemblyFormat = "`<` `order` `=` `[` $order `]` `,` `pitch` `=` $pitch `,` `mask` `=` $mask `,` `shift` `=` $shift `>`";
  let genVerifyDecl = 1;
}

def TileGPU_BufferType : TypeDef<TileGPU_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "A tile in shared memory, or a ring of them";
  let description = "`!tile_gpu.buffer<128x64xbf16, #shared>`; with `stages = 3` a ring of three, of which `tile_gpu.slot` takes one.";
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, "SharedAttr":$layout, "int64_t":$stages);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    /// Bytes of one stage.
    int64_t getStageBytes() const;
    /// The same buffer with `stages`.
    BufferType withStages(int64_t stages) const;
  }];
}

class TileGPU_Op<string mnemonic, list<Trait> traits = []> : Op<TileGPU_Dialect, mnemonic, traits>;

def TileGPU_ConvertLayoutOp : TileGPU_Op<"convert_layout", [Pure]> {
  let summary = "The same tile held by other threads or registers";
  let description = "Rule convert_layout_c1: source and result have the same shape and element type, and both have a layout.";
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TileGPU_AllocOp : TileGPU_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Shared memory of a block";
  let description = "`offset` (bytes from the block's base) is set by tile-gpu-allocate-shared.";
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs TileGPU_BufferType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def TileGPU_SlotOp : TileGPU_Op<"slot", [Pure]> {
  let summary = "One stage of a ring of buffers";
  let description = "Rule slot_c1: the result is the ring's buffer with one stage.";
  let arguments = (ins TileGPU_BufferType:$ring, I32:$index);
  let results = (outs TileGPU_BufferType:$result);
  let assemblyFormat = "$ring `[` $index `]` attr-dict `:` type($ring) `->` type($result)";
  let hasVerifier = 1;
}

def TileGPU_TransposeOp : TileGPU_Op<"transpose", [Pure]> {
  let summary = "The last two dimensions of a buffer swapped; no data moves";
  let description = "Rule transpose_c1: rank 2 or 3; the last two entries of the shape, and what the order says of them, are the source's swapped.";
  let arguments = (ins TileGPU_BufferType:$source);
  let results = (outs TileGPU_BufferType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The type of the transpose of a buffer; null for other ranks.
    static BufferType transposed(BufferType source);
  }];
}

def TileGPU_ReinterpretOp : TileGPU_Op<"reinterpret", [Pure]> {
  let summary = "The bytes of a buffer under another shape; no data moves";
  let description = "Rule reinterpret_c1: both buffers are dense (no padding between rows, no exclusive or) and hold as many elements.";
  let arguments = (ins TileGPU_BufferType:$source);
  let results = (outs TileGPU_BufferType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def TileGPU_CopyOp : TileGPU_Op<"copy", [AttrSizedOperandSegments]> {
  let summary = "Slice of a view -> shared memory, asynchronous where alignment allows";
  let description = [{
    The slice's elements outside the view read `pad`; elements of the buffer beyond the slice's shape become 0.  Nothing is copied
    unless `predicate` holds (absent: true).  The data has arrived after `tile_gpu.wait` covers this copy's group.
    Rules: copy_c1 the slice fits the buffer (same rank, no larger extent); copy_c2 same element type; copy_c3 no index tiles; copy_c4 steps are at least 1.
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<I64>:$indices, DenseI64ArrayAttr:$widths, DenseI64ArrayAttr:$steps, Optional<Tile_Scalar>:$pad,
      Optional<I1>:$predicate, TileGPU_BufferType:$buffer);
  let assemblyFormat = [{
    $view `[` $indices `]` `widths` $widths `steps` $steps (`pad` $pad^)? (`if` $predicate^)? `into` $buffer attr-dict `:` type($view) (`pad` type($pad)^)? `,` type($buffer)
  }];
  let hasVerifier = 1;
}

def TileGPU_CommitOp : TileGPU_Op<"commit"> {
  let summary = "Close the group of the copies issued since the last commit";
  let assemblyFormat = "attr-dict";
}

def TileGPU_WaitOp : TileGPU_Op<"wait"> {
  let summary = "Wait until at most `pending` of this thread's groups are under way";
  let arguments = (ins I64Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
}

def TileGPU_BarrierOp : TileGPU_Op<"barrier"> {
  let summary = "All threads of the block arrive; earlier shared and global accesses are ordered before later ones";
  let assemblyFormat = "attr-dict";
}

def TileGPU_WriteOp : TileGPU_Op<"write"> {
  let summary = "Registers -> shared memory";
  let description = [{
    Elements of the buffer beyond the tile's shape become 0, unless `offsets` places the tile inside the buffer: then only its own elements are written.
    Rule write_c1: same rank and element type, no larger extent, offsets included.
  }];
  let arguments = (ins Tile_Tile:$value, TileGPU_BufferType:$buffer, OptionalAttr<DenseI64ArrayAttr>:$offsets);
  let assemblyFormat = "$value `,` $buffer (`at` $offsets^)? attr-dict `:` type($value) `,` type($buffer)";
  let hasVerifier = 1;
}

def TileGPU_ReadOp : TileGPU_Op<"read"> {
  let summary = "Shared memory -> registers";
  let description = "Rule read_c1: same rank and element type, no larger extent.";
  let arguments = (ins TileGPU_BufferType:$buffer);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}

def TileGPU_ReadPartOp : TileGPU_Op<"read_part"> {
  let summary = "Part of a buffer -> registers";
  let description = [{
    Starts, widths and steps as for tile.extract; a part without dimensions is a scalar, the same in all threads.
    Rules: read_part_c1 the part lies inside the buffer; read_part_c2 the result is the part's shape of the buffer's element type.
  }];
  let arguments = (ins TileGPU_BufferType:$buffer, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$widths, DenseI64ArrayAttr:$steps);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$buffer `at` $starts `widths` $widths `steps` $steps attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}

def TileGPU_CountOp : TileGPU_Op<"count"> {
  let summary = "Add 1 to element v of a buffer for every element v of a tile";
  let description = [{
    By atomics in shared memory; replicas of an element count once, values without an element in the buffer not at all.
    Rule count_c1: integers of 32 or 64 bits, and a buffer of one dimension of i32.
  }];
  let arguments = (ins Tile_Tile:$value, TileGPU_BufferType:$buffer);
  let assemblyFormat = "$value `,` $buffer attr-dict `:` type($value) `,` type($buffer)";
  let hasVerifier = 1;
}

def TileGPU_ExchangeOp : TileGPU_Op<"exchange"> {
  let summary = "Finish a reduction across the warps of a block";
  let description = [{
    `value` holds, in every warp, that warp's part of a reduction; `buffer` (one row per warp) is scratch.  The result holds the combination in every
    warp.  `warp_mask` has a bit set for every bit of the warp number along which to combine.  Contains its own barrier between writing and reading;
    the parts are combined in order of the warp number.
  }];
  let arguments = (ins Tile_ReduceKindAttr:$kind, Tile_Value:$value, TileGPU_BufferType:$buffer, I64Attr:$warp_mask);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$kind $value `,` $buffer `warps` $warp_mask attr-dict `:` type($value) `,` type($buffer) `->` type($result)";
}

def TileGPU_AtomicOp : TileGPU_Op<"atomic", [AttrSizedOperandSegments]> {
  let summary = "tile.atomic on a block: every element by one thread";
  let description = [{
    A scalar goes through `buffer`, which hands its result to all threads, with the barriers that takes.  Of a tile, the first of the threads that hold an element performs it;
    the result is right in that thread alone, so a tile with replicas is written to a buffer and read again where its result is wanted.  A release has a barrier in front,
    so that it publishes the stores of all threads (fences are cumulative), an acquire one behind.  The rules are those of tile.atomic, and atomic_c6: `buffer` is given
    exactly for a scalar.
  }];
  let arguments = (ins Tile_AtomicKindAttr:$kind, Tile_Value:$value, Optional<Tile_Value>:$compare, Tile_ViewType:$view, Variadic<Tile_Index>:$indices,
      DenseI64ArrayAttr:$widths, DenseI64ArrayAttr:$steps, Tile_OrderAttr:$order, Optional<Tile_Scalar>:$pad, UnitAttr:$is_unsigned,
      Optional<TileGPU_BufferType>:$buffer);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $kind $value (`if` $compare^)? `,` $view `[` $indices `]` `widths` $widths `steps` $steps `order` $order (`pad` $pad^)? (`unsigned` $is_unsigned^)? (`through` $buffer^)? attr-dict
    `:` type($value) (`if` type($compare)^)? `,` type($view) (`[` type($indices)^ `]`)? (`pad` type($pad)^)? (`through` type($buffer)^)? `->` type($result)
  }];
  let hasVerifier = 1;
}

def TileGPU_MmaAttr : EnumAttr<TileGPU_Dialect, TileGPU_Mma, "mma">;

def TileGPU_Operand : AnyTypeOf<[TileGPU_BufferType, Tile_Tile]>;

def TileGPU_DotOp : TileGPU_Op<"dot", [AllTypesMatch<["acc", "result"]>, MemoryEffects<[MemRead]>]> {
  let summary = "acc + a @ b on one block's operands";
  let description = [{
    a: [L x] M x K, b: [L x] K x N, each a buffer (extents padded to the instruction's) or, for a, a tile in the operand layout.  `mma` selects the tensor-core
    instruction (Products.h); without it products are computed by plain fused multiply-adds, exact in the accumulator's type.  `warps` is the arrangement
    of the warps over the dimensions of the result.
    Rules: dot_c5 padded shapes agree; dot_c6 one number of warps for each dimension of the result, each a power of two; dot_c7 the element types are
    those of the instruction.
  }];
  let arguments = (ins TileGPU_Operand:$a, TileGPU_Operand:$b, Tile_Tile:$acc, OptionalAttr<TileGPU_MmaAttr>:$mma, UnitAttr:$unsigned_a, UnitAttr:$unsigned_b,
      DenseI64ArrayAttr:$warps);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$a `,` $b `,` $acc attr-dict `:` type($a) `,` type($b) `->` type($result)";
  let hasVerifier = 1;
}

#endif // TESSERA_DIALECT_TILEGPU_TILEGPUOPS_TD
