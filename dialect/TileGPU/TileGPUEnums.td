//===- TileGPUEnums.td - enumerations of the tile_gpu dialect --------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
#ifndef TESSERA_DIALECT_TILEGPU_TILEGPUENUMS_TD
#define TESSERA_DIALECT_TILEGPU_TILEGPUENUMS_TD

include "mlir/IR/EnumAttr.td"

def TileGPU_Mma : I32EnumAttr<"Mma", "what a tensor-core instruction multiplies", [
    I32EnumAttrCase<"F16", 0, "f16">, I32EnumAttrCase<"BF16", 1, "bf16">, I32EnumAttrCase<"TF32", 2, "tf32">,
    I32EnumAttrCase<"Int8", 3, "int8">, I32EnumAttrCase<"E4M3", 4, "e4m3">, I32EnumAttrCase<"E5M2", 5, "e5m2">,
    I32EnumAttrCase<"F64", 6, "f64">]> {
  let cppNamespace = "::tessera::tile_gpu";
  let genSpecializedAttr = 0;
}

#endif // TESSERA_DIALECT_TILEGPU_TILEGPUENUMS_TD
