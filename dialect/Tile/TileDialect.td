//===- TileDialect.td - the tile dialect ------------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// What programs mean: values are tiles (builtin ranked tensors of static shape) and scalars, tensors in memory are views.  No
// hardware.  Elementwise arithmetic, comparison and selection are `arith` and `math` ops on tensors; control flow is `scf`.
//
#ifndef TESSERA_DIALECT_TILE_TILEDIALECT_TD
#define TESSERA_DIALECT_TILE_TILEDIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tessera::tile";
  let summary = "Block-level tile programs: values and memory views, no hardware";
  let description = [{
    A `tile.kernel` is one program instance: its arguments are views of tensors, scalars, and its grid coordinates.  Tiles are
    `tensor<...>` values of static shape; every extent is at least 1.  Integers are signless; the ops whose meaning depends on
    signedness say so by attribute.  A view is never carried by a loop, selected or returned: it is always an argument of the
    kernel or a `tile.subview` of one, so that every access is a slice of a parameter.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

class Tile_Type<string name, string typeMnemonic, list<Trait> traits = []> : TypeDef<Tile_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

def Tile_ViewType : Tile_Type<"View", "view"> {
  let summary = "A tensor in memory: run-time extents and strides, static element type";
  let description = [{
    `!tile.view<?x128xbf16>` has two dimensions, the first of run-time extent.  Strides are a run-time property of the parameter
    behind it.  Elements of type i1 occupy one byte.  Rank 0 is `!tile.view<f32>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    bool isDynamic(int64_t axis) const { return ::mlir::ShapedType::isDynamic(getShape()[axis]); }
  }];
}

def Tile_Scalar : AnyTypeOf<[AnySignlessInteger, AnyFloat], "scalar">;
def Tile_Tile : StaticShapeTensorOf<[AnySignlessInteger, AnyFloat]>;
def Tile_Value : AnyTypeOf<[Tile_Scalar, Tile_Tile], "scalar or tile">;
def Tile_IntValue : AnyTypeOf<[AnySignlessInteger, StaticShapeTensorOf<[AnySignlessInteger]>], "integer scalar or tile">;
def Tile_Index : AnyTypeOf<[I64, StaticShapeTensorOf<[I64]>], "i64 scalar or tile of i64">;

def Tile_ReduceKind : I32EnumAttr<"ReduceKind", "how a reduction combines", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Product", 1, "product">,
    I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">,
    I32EnumAttrCase<"MaxU", 4, "maxu">, I32EnumAttrCase<"MinU", 5, "minu">,
    I32EnumAttrCase<"MaxNum", 6, "maxnum">, I32EnumAttrCase<"MinNum", 7, "minnum">,
    I32EnumAttrCase<"And", 8, "and">, I32EnumAttrCase<"Or", 9, "or">, I32EnumAttrCase<"Xor", 10, "xor">]> {
  let cppNamespace = "::tessera::tile";
  let genSpecializedAttr = 0;
}
def Tile_ReduceKindAttr : EnumAttr<Tile_Dialect, Tile_ReduceKind, "reduce_kind">;

def Tile_AtomicKind : I32EnumAttr<"AtomicKind", "what an atomic does", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Min", 1, "min">, I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"And", 3, "and">,
    I32EnumAttrCase<"Or", 4, "or">, I32EnumAttrCase<"Xor", 5, "xor">, I32EnumAttrCase<"Exchange", 6, "exchange">,
    I32EnumAttrCase<"Cas", 7, "cas">]> {
  let cppNamespace = "::tessera::tile";
  let genSpecializedAttr = 0;
}
def Tile_AtomicKindAttr : EnumAttr<Tile_Dialect, Tile_AtomicKind, "atomic_kind">;

def Tile_Order : I32EnumAttr<"Order", "what an atomic orders", [
    I32EnumAttrCase<"Relaxed", 0, "relaxed">, I32EnumAttrCase<"Acquire", 1, "acquire">, I32EnumAttrCase<"Release", 2, "release">,
    I32EnumAttrCase<"AcqRel", 3, "acq_rel">]> {
  let cppNamespace = "::tessera::tile";
  let genSpecializedAttr = 0;
}
def Tile_OrderAttr : EnumAttr<Tile_Dialect, Tile_Order, "order">;

def Tile_Precision : I32EnumAttr<"Precision", "how a product of f32 may be computed", [
    I32EnumAttrCase<"Exact", 0, "exact">, I32EnumAttrCase<"Tf32", 1, "tf32">, I32EnumAttrCase<"Fast", 2, "fast">]> {
  let cppNamespace = "::tessera::tile";
  let genSpecializedAttr = 0;
}
def Tile_PrecisionAttr : EnumAttr<Tile_Dialect, Tile_Precision, "precision">;

#endif // TESSERA_DIALECT_TILE_TILEDIALECT_TD
