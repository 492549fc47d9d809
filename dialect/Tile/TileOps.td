//===- TileOps.td - operations of the tile dialect --------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Every rule that a verifier enforces is numbered in the op's description (`load_c1`); the verifier cites the number in its message and
// tests/Dialect/tile-invalid.mlir has one negative test named after it.
//
// How a slice is written.  `tile.load`, `tile.store`, `tile.inside` and `tile.atomic` index a view with one entry per dimension, given
// by one operand of `indices` and one entry each of `widths` and `steps`:
//     width w > 0   `start +: w by s`: elements start, start + s, ...; the operand is the i64 start
//     width 0       the operand is an i64 scalar: a single index, the dimension is dropped
//     width -1      the operand is a tensor of i64: an index tile.  All index tiles of one slice broadcast against each other and
//                   their dimensions stand where the first of them stands.
// Elements outside the view (below zero or past the extent, of it or of any view it was taken from) touch no memory: loads give
// the padding value, stores drop them.
//
#ifndef TESSERA_DIALECT_TILE_TILEOPS_TD
#define TESSERA_DIALECT_TILE_TILEOPS_TD

include "dialect/Tile/TileDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"
include "mlir/IR/SymbolInterfaces.td"

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def Tile_KernelOp : Tile_Op<"kernel", [FunctionOpInterface, IsolatedFromAbove, AutomaticAllocationScope]> {
  let summary = "One kernel: the program instance that computes one block";
  let description = [{
    The arguments are the run-time parameters that are present, in source order, then the grid coordinates (i64).  Argument attributes:

    | attribute | on | meaning |
    |---|---|---|
    | `tile.name` (string) | all | name in the source |
    | `tile.mode` (`"in" "out" "inout" "accum"`) | views | how the kernel may use it |
    | `tile.dtype` (string) | views, scalars | element type in the source, with signedness (`"u8"`) |
    | `tile.dims` (array of strings) | views | extents as launch expressions (runtime/Image/Expr.h), one per dimension |
    | `tile.align` (i64) | views | the base address is a multiple of this many bytes |
    | `tile.unit_dim` (i64) | views | this dimension has stride 1; absent: not promised |
    | `tile.stride_div`, `tile.extent_div` (array<i64>) | views | strides / extents are multiples of these |
    | `tile.clear` (unit) | accum views | the launch clears it |
    | `tile.coord` (string) | coordinates | this argument is the grid coordinate of that name |

    Attributes of the op: `dims` (names passed as slots, see runtime/Image/KernelImage.h), `grid` (array of dictionaries with strings
    `name`, `lo`, `hi`, `step`, expressions), `params` (dictionary array: all parameters in source order, absent ones too, for the image),
    `requirements` (dictionaries `cond`, `text`, `line`, `column`: the `requires` of the source).

    Rules: kernel_c1 every argument is a view, a scalar, or a coordinate (i64); kernel_c2 coordinates come last and are as many as `grid`
    has axes; kernel_c3 every view argument has `tile.name`, `tile.mode`, `tile.dtype` and `tile.dims` of its rank; kernel_c4 every symbol of an
    expression is in `dims` or names a scalar argument; kernel_c5 no results; kernel_c6 `tile.align` is a power of two, `tile.unit_dim`
    is a dimension, the divisors are positive and as many as the rank.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type, StrArrayAttr:$dims, ArrayAttr:$grid,
      OptionalAttr<ArrayAttr>:$params, OptionalAttr<ArrayAttr>:$requirements, OptionalAttr<DictArrayAttr>:$arg_attrs,
      OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Types of all arguments, coordinates included.
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// Number of parameters (arguments that are not coordinates).
    unsigned getNumParams() { return getNumArguments() - getGrid().size(); }
    /// The coordinate argument of a grid axis.
    ::mlir::BlockArgument getCoordinate(unsigned axis) { return getArgument(getNumParams() + axis); }
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, HasParent<"KernelOp">, Terminator]> {
  let summary = "End of the program instance";
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

def Tile_DimOp : Tile_Op<"dim", [Pure]> {
  let summary = "Run-time extent of a view";
  let description = "Rule dim_c1: `axis` is a dimension of the view.  For a range of a view (`q[q0..q1]`) the extent is max(q1 - q0, 0).";
  let arguments = (ins Tile_ViewType:$view, I64Attr:$axis);
  let results = (outs I64:$result);
  let assemblyFormat = "$view `,` $axis attr-dict `:` type($view)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_SubviewOp : Tile_Op<"subview", [Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "A view of part of a view: `k[b, g]`, `q[q0..q1, h]`, `pool[.., .., g]`";
  let description = [{
    `kinds` has one entry per dimension of the source: 0 a scalar index (one operand; the dimension is dropped), 1 the whole dimension (no
    operand), 2 a range lo..hi (two operands).  An element is inside iff it is inside its own range and inside the source: nothing is clamped.
    Rules: subview_c1 one kind per dimension, each 0, 1 or 2; subview_c2 as many operands as the kinds ask for; subview_c3 the result
    has the kept dimensions (ranges dynamic, whole ones unchanged) and the same element type.
  }];
  let arguments = (ins Tile_ViewType:$source, Variadic<I64>:$bounds, DenseI32ArrayAttr:$kinds);
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = "$source `[` $bounds `]` `kinds` $kinds attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_PagedOp : Tile_Op<"paged", [Pure]> {
  let summary = "Rows scattered over pages as one view: `paged(pool, table, n)`";
  let description = [{
    Row r of the result is row r % P of page `table[r / P]` of the pool, P being the pool's second extent; the pool's other dimensions follow.  A row is inside iff
    0 <= r < n, r / P is inside the table, and the entry is inside the pool.  The table is read at every access.
    Rules: paged_c1 the pool has rank 2 or more; paged_c2 the table has rank 1 and i32 or i64 elements; paged_c3 the result has a dynamic
    dimension, then those of the pool from the third on, and the pool's element type.
  }];
  let arguments = (ins Tile_ViewType:$pool, Tile_ViewType:$table, I64:$rows);
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = "$pool `,` $table `,` $rows attr-dict `:` type($pool) `,` type($table) `->` type($result)";
  let hasVerifier = 1;
}

class Tile_SliceOp<string mnemonic, list<Trait> traits = []> : Tile_Op<mnemonic, traits> {
  let extraClassDeclaration = [{
    /// Shape of the slice: its tile dimensions in order (empty for a scalar).
    ::llvm::SmallVector<int64_t> getSliceShape() { return ::tessera::tile::sliceShape(getIndices(), getWidths()); }
  }];
  let hasVerifier = 1;
}

def Tile_LoadOp : Tile_SliceOp<"load", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Read a slice of a view";
  let description = [{
    Elements outside read `pad` (+0.0, 0, false when absent).
    Rules (slice_c1 to slice_c4 hold for every op that takes a slice): slice_c1 one index, width and step per dimension; slice_c2 widths are -1, 0
    or positive and agree with the kind of the operand (tensor for -1, scalar otherwise); slice_c3 steps are at least 1, and 1 where the width is not positive; slice_c4 the
    index tiles broadcast; load_c1 the result is the slice's shape (a scalar when it has none) of the view's element type; load_c2 `pad` has the element type;
    load_c3 the view is not of mode `out` or `accum`.
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Tile_Index>:$indices, DenseI64ArrayAttr:$widths, DenseI64ArrayAttr:$steps,
      Optional<Tile_Scalar>:$pad);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $view `[` $indices `]` `widths` $widths `steps` $steps (`pad` $pad^)? attr-dict `:` type($view) (`[` type($indices)^ `]`)? (`pad` type($pad)^)? `->` type($result)
  }];
}

def Tile_StoreOp : Tile_SliceOp<"store", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Write a slice of a view";
  let description = [{
    All elements of `value` are computed before any is written; elements outside are dropped; of duplicate targets one value is written, unspecified which.
    Rules: store_c1 `value` is the slice's shape (a scalar when it has none) of the view's element type; store_c2 the view is not of mode `in` or `accum`.
  }];
  let arguments = (ins Tile_Value:$value, Tile_ViewType:$view, Variadic<Tile_Index>:$indices, DenseI64ArrayAttr:$widths, DenseI64ArrayAttr:$steps);
  let assemblyFormat = [{
    $value `,` $view `[` $indices `]` `widths` $widths `steps` $steps attr-dict `:` type($value) `,` type($view) (`[` type($indices)^ `]`)?
  }];
}

def Tile_AccumulateOp : Tile_SliceOp<"accumulate", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Add a tile to a slice of an `accum` view: the sums of all programs add up";
  let description = [{
    Elements outside are dropped; duplicate targets add up.  The order of the additions is free.
    Rules: accumulate_c1 `value` is the slice's shape (a scalar when it has none) of the view's element type; accumulate_c2 the view is of mode `accum`;
    accumulate_c3 the element type is f32, f64, i32 or i64.
  }];
  let arguments = (ins Tile_Value:$value, Tile_ViewType:$view, Variadic<Tile_Index>:$indices, DenseI64ArrayAttr:$widths, DenseI64ArrayAttr:$steps);
  let assemblyFormat = [{
    $value `,` $view `[` $indices `]` `widths` $widths `steps` $steps attr-dict `:` type($value) `,` type($view) (`[` type($indices)^ `]`)?
  }];
}

def Tile_AtomicOp : Tile_SliceOp<"atomic", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Read, combine and write every element of a slice, each at once; the result is what stood there before";
  let description = [{
    Each element is performed exactly once; an element that the slice names several times is performed that many times, in no particular order, and the results are what each of
    them found.  `order` is one of relaxed, acquire, release and acq_rel, at the scope of the device: release publishes all earlier stores of the program, acquire shows what others
    released to all its later loads.  Outside the view nothing happens and the result is `pad` (0 when absent).  `max`/`min` on floats propagate NaN and order -0 below +0; on
    integers they are unsigned with `unsigned`.  `cas` stores `value` where the bits of the element equal those of `compare`.
    Rules: atomic_c1 `value` and the result are the slice's shape (a scalar when it has none) of the view's element type; atomic_c2 the view is of mode `inout`; atomic_c3 the
    kind fits the element type (`add max min`: integers of 8 bits and more, f16, bf16, f32, f64; `and or xor`: integers and bool; `exchange cas`: all); atomic_c4 `compare` is
    given exactly for `cas`, of the type of `value`; atomic_c5 `pad` has the element type.
  }];
  let arguments = (ins Tile_AtomicKindAttr:$kind, Tile_Value:$value, Optional<Tile_Value>:$compare, Tile_ViewType:$view, Variadic<Tile_Index>:$indices,
      DenseI64ArrayAttr:$widths, DenseI64ArrayAttr:$steps, Tile_OrderAttr:$order, Optional<Tile_Scalar>:$pad, UnitAttr:$is_unsigned);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $kind $value (`if` $compare^)? `,` $view `[` $indices `]` `widths` $widths `steps` $steps `order` $order (`pad` $pad^)? (`unsigned` $is_unsigned^)? attr-dict
    `:` type($value) (`if` type($compare)^)? `,` type($view) (`[` type($indices)^ `]`)? (`pad` type($pad)^)? `->` type($result)
  }];
}

def Tile_InsideOp : Tile_SliceOp<"inside", [Pure]> {
  let summary = "Which elements of a slice lie inside its view";
  let description = "Rule inside_c1: the result is the slice's shape (a scalar when it has none) of i1.";
  let arguments = (ins Tile_ViewType:$view, Variadic<Tile_Index>:$indices, DenseI64ArrayAttr:$widths, DenseI64ArrayAttr:$steps);
  let results = (outs AnyTypeOf<[I1, StaticShapeTensorOf<[I1]>]>:$result);
  let assemblyFormat = [{
    $view `[` $indices `]` `widths` $widths `steps` $steps attr-dict `:` type($view) (`[` type($indices)^ `]`)? `->` type($result)
  }];
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

def Tile_IotaOp : Tile_Op<"iota", [Pure]> {
  let summary = "0, 1, 2, ... as a tile of i64";
  let description = "Rule iota_c1: the result has rank 1.";
  let results = (outs StaticShapeTensorOf<[I64]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "Stretch a scalar or a tile to a larger shape";
  let description = [{
    Dimensions align at the end; a missing one or one of extent 1 stretches.
    Rules: broadcast_c1 same element type; broadcast_c2 every source dimension is 1 or equals the result's; the rank does not shrink.
  }];
  let arguments = (ins Tile_Value:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ExpandDimsOp : Tile_Op<"expand_dims", [Pure]> {
  let summary = "Insert a dimension of extent 1: `t[:, None]`";
  let description = "Rule expand_dims_c1: `axis` is in 0..rank and the result is the source's shape with a 1 inserted there.  The source may be a scalar.";
  let arguments = (ins Tile_Value:$source, I64Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source `,` $axis attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure]> {
  let summary = "The same elements in row-major order under another shape";
  let description = "Rules: reshape_c1 same element type; reshape_c2 same number of elements.  A tile of one element reshapes to a scalar and back.";
  let arguments = (ins Tile_Value:$source);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_PermuteOp : Tile_Op<"permute", [Pure]> {
  let summary = "Reorder dimensions: result dimension d is source dimension order[d]";
  let description = "Rules: permute_c1 `order` is a permutation of the dimensions; permute_c2 the result's shape follows it.";
  let arguments = (ins Tile_Tile:$source, DenseI64ArrayAttr:$order);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source $order attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ExtractOp : Tile_Op<"extract", [Pure]> {
  let summary = "Part of a tile at compile-time positions: `t[0]`, `t[:, 0 +: 64]`";
  let description = [{
    One start, width and step per dimension: a width w > 0 keeps elements start, start + step, ... (w of them); width 0 keeps the one at start and drops the dimension.
    Rules: extract_c1 one start, width and step per dimension of the source, widths at least 0 and steps at least 1; extract_c2 every element lies inside the source;
    extract_c3 the result is the kept dimensions (a scalar when there are none) of the source's element type.
  }];
  let arguments = (ins Tile_Tile:$source, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$widths, DenseI64ArrayAttr:$steps);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$source `at` $starts `widths` $widths `steps` $steps attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Reductions and products
//===----------------------------------------------------------------------===//

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "Combine the elements along one dimension";
  let description = [{
    `max`/`min` on floats propagate NaN and order -0 below +0; `maxnum`/`minnum` skip NaN; `maxu`/`minu` are unsigned; `and`/`or` on i1 are `all`/`any`.
    A rank-1 source gives a scalar.  The order of float additions is free (rule Order).
    Rules: reduce_c1 `axis` is a dimension; reduce_c2 the result is the source's shape without it (a scalar for rank 1) of the same element type; reduce_c3 the
    kind fits the element type (`maxu minu and or xor`: integers, `maxnum minnum`: floats).
  }];
  let arguments = (ins Tile_ReduceKindAttr:$kind, Tile_Tile:$source, I64Attr:$axis);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$kind $source `,` $axis attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ScanOp : Tile_Op<"scan", [Pure, SameOperandsAndResultType]> {
  let summary = "Running combination along one dimension: element i combines elements 0..i, or i.. with `reverse`";
  let description = [{
    Operands are never swapped; the bracketing is free.
    Rules: scan_c1 `axis` is a dimension; scan_c2 the kind fits the element type, as for tile.reduce.
  }];
  let arguments = (ins Tile_ReduceKindAttr:$kind, Tile_Tile:$source, I64Attr:$axis, UnitAttr:$reverse);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$kind $source `,` $axis (`reverse` $reverse^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

class Tile_CombineOp<string mnemonic> : Tile_Op<mnemonic, [Pure, SingleBlock]> {
  let regions = (region SizedRegion<1>:$combine);
  let hasVerifier = 1;
}

def Tile_ReduceByOp : Tile_CombineOp<"reduce_by"> {
  let summary = "Combine the elements along one dimension by a function of several tiles at once";
  let description = [{
    The region takes the elements of all sources on the left, then those on the right, and yields their combination.  It is taken for associative: elements are
    combined from left to right under any bracketing, never swapped, and it needs no neutral element.
    Rules (combine_c1 to combine_c4 hold for tile.scan_by too): combine_c1 at least one source, all of one shape, and `axis` is a dimension; combine_c2 the region's arguments are the
    sources' element types twice; combine_c3 the region ends in a tile.yield of those types once; combine_c4 the region computes with scalars only: no tiles, memory or control flow;
    reduce_by_c1 one result a source, of its shape without the axis (a scalar for rank 1) and its element type.
  }];
  let arguments = (ins Variadic<Tile_Tile>:$sources, I64Attr:$axis);
  let results = (outs Variadic<Tile_Value>:$results);
  let assemblyFormat = "$sources `axis` $axis attr-dict `:` functional-type($sources, $results) $combine";
}

def Tile_ScanByOp : Tile_CombineOp<"scan_by"> {
  let summary = "Running combination by a function: element i combines elements 0..i, or i.. with `reverse`";
  let description = [{
    As tile.reduce_by: element i of the results is the combination of elements 0 to i from left to right (of i to the last with `reverse`; the operands are not swapped then either).
    Rule scan_by_c1: one result a source, of its type.
  }];
  let arguments = (ins Variadic<Tile_Tile>:$sources, I64Attr:$axis, UnitAttr:$reverse);
  let results = (outs Variadic<Tile_Tile>:$results);
  let assemblyFormat = "$sources `axis` $axis (`reverse` $reverse^)? attr-dict `:` functional-type($sources, $results) $combine";
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ParentOneOf<["ReduceByOp", "ScanByOp"]>]> {
  let summary = "What a combining function gives";
  let arguments = (ins Variadic<Tile_Scalar>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Tile_SortOp : Tile_Op<"sort", [Pure]> {
  let summary = "Order the elements along one dimension by integer keys; other tiles move along";
  let description = [{
    The first `keys` sources are signed integers, compared one after the other, ascending; what is equal in all of them may be exchanged, so a stable order has the position as
    its last key.  Every target runs the same network of comparisons.
    Rules: sort_c1 all sources have one shape, and `axis` is a dimension; sort_c2 `keys` is in 1..number of sources, and the keys are integers of 8 bits and more;
    sort_c3 one result a source, of its type.
  }];
  let arguments = (ins Variadic<Tile_Tile>:$sources, I64Attr:$axis, I64Attr:$keys);
  let results = (outs Variadic<Tile_Tile>:$results);
  let assemblyFormat = "$sources `axis` $axis `keys` $keys attr-dict `:` functional-type($sources, $results)";
  let hasVerifier = 1;
}

def Tile_HistogramOp : Tile_Op<"histogram", [Pure]> {
  let summary = "How often each of 0, 1, ... occurs among the elements of a tile";
  let description = [{
    Elements below 0 or beyond the last bin are not counted.
    Rules: histogram_c1 the source has elements i32 or i64 (signed); histogram_c2 the result is a vector of i32, one element for each bin.
  }];
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ConcatOp : Tile_Op<"concat", [Pure]> {
  let summary = "Two tiles one behind the other along a dimension";
  let description = "Rules: concat_c1 `axis` is a dimension and all three have one rank and element type; concat_c2 extents add up along `axis` and agree elsewhere.";
  let arguments = (ins Tile_Tile:$first, Tile_Tile:$second, I64Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$first `,` $second `,` $axis attr-dict `:` type($first) `,` type($second) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "acc + a @ b";
  let description = [{
    a: [L.., M, K], b: [L.., K, N], acc and result: [L.., M, N]; rank 2 or 3.  `unsigned_a`, `unsigned_b` say how integer operands extend.
    The additions may be done in any order (rule Order); products are exact in the accumulator's type for f16, bf16 and integers.  `bytes_of`: the
    operands are bytes that hold numbers of this fp8 type (tile-expand-numerics).
    Rules: dot_c1 shapes agree; dot_c2 a and b have the same element type; dot_c3 the accumulator's element type is f32 for f16, bf16, f32 and fp8, f64 for f64,
    i32 for integers up to 32 bits, i64 for i64; or by choice f16 for f16, f64 for f32, i64 for narrower integers; dot_c4 `tf32` needs f32 operands and sums;
    dot_c5 `bytes_of` is an fp8 type, the operands i8, the sums f32.
  }];
  let arguments = (ins Tile_Tile:$a, Tile_Tile:$b, Tile_Tile:$acc,
      DefaultValuedAttr<Tile_PrecisionAttr, "::tessera::tile::Precision::Exact">:$precision, UnitAttr:$unsigned_a, UnitAttr:$unsigned_b,
      OptionalAttr<TypeAttr>:$bytes_of);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$a `,` $b `,` $acc attr-dict `:` type($a) `,` type($b) `->` type($result)";
  let hasVerifier = 1;

}

//===----------------------------------------------------------------------===//
// Numerics by the language's rules.  tile-expand-numerics turns these into arith before the fork.
//===----------------------------------------------------------------------===//

def Tile_ConvertOp : Tile_Op<"convert", [Pure, SameOperandsAndResultShape]> {
  let summary = "Convert between element types by the language's rules";
  let description = [{
    float -> int truncates, saturates, NaN -> 0 (an unsigned target with `to_unsigned`); int -> narrower int wraps, or saturates with `saturate`; int -> wider extends
    by `from_unsigned`; to float rounds once, to nearest even; to fp8 saturates (infinities too) unless `ieee_overflow`; x -> i1 is x != 0.
    Rule convert_c1: source and result differ in element type.
  }];
  let arguments = (ins Tile_Value:$source, UnitAttr:$from_unsigned, UnitAttr:$to_unsigned, UnitAttr:$saturate, UnitAttr:$ieee_overflow);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

class Tile_IntBinaryOp<string mnemonic, string rule> : Tile_Op<mnemonic, [Pure, SameOperandsAndResultType]> {
  let summary = rule;
  let arguments = (ins Tile_IntValue:$lhs, Tile_IntValue:$rhs, UnitAttr:$is_unsigned);
  let results = (outs Tile_IntValue:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}
def Tile_DivOp : Tile_IntBinaryOp<"div", "Integer division, floor; x / 0 = 0, MIN / -1 wraps"> { let hasFolder = 1; }
def Tile_RemOp : Tile_IntBinaryOp<"rem", "Remainder with the divisor's sign; x % 0 = x"> { let hasFolder = 1; }
def Tile_CeilDivOp : Tile_IntBinaryOp<"ceildiv", "Integer division, ceiling, exact for all signs; x / 0 = 0"> { let hasFolder = 1; }
def Tile_ShlOp : Tile_IntBinaryOp<"shl", "Shift left; an amount outside 0..width-1 shifts all out">;
def Tile_ShrOp : Tile_IntBinaryOp<"shr", "Shift right, arithmetic unless `is_unsigned`; an amount outside 0..width-1 shifts all out">;

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "Report when a condition does not hold";
  let arguments = (ins AnyTypeOf<[I1, StaticShapeTensorOf<[I1]>]>:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}

#endif // TESSERA_DIALECT_TILE_TILEOPS_TD
