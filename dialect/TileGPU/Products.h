//===- Products.h - the tensor-core instructions and the layouts of products ----------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// All instructions used are m16n8: a step multiplies 16 rows by 8 columns over `k`, 32 bytes of each operand's row, and their fragments are
// alike (PTX ISA, "Matrix Fragments").  With g = lane / 4, t = lane % 4 and w elements in a register:
//
//     A   register q: row g + 8 * (q % 2), k = w * t + (q / 2) * k / 2        B   register h: k = w * t + h * k / 2, column g
//
// f64 is the exception: m8n8k4, twice for the 16 rows, one register of A for each half and one of B.
//
#ifndef TESSERA_DIALECT_TILEGPU_PRODUCTS_H
#define TESSERA_DIALECT_TILEGPU_PRODUCTS_H

#include "dialect/TileGPU/Layouts.h"

namespace tessera::tile_gpu {

struct MmaFacts {
  int64_t k;           ///< depth of one step
  int64_t perRegister; ///< elements of an operand's register
  int64_t registersA, registersB;
};

constexpr MmaFacts factsOf(Mma kind) {
  switch (kind) {
  case Mma::F16:
  case Mma::BF16:
    return {16, 2, 4, 2};
  case Mma::TF32:
    return {8, 1, 4, 2};
  case Mma::Int8:
  case Mma::E4M3:
  case Mma::E5M2:
    return {32, 4, 4, 2};
  case Mma::F64:
    return {4, 1, 2, 1};
  }
  return {};
}

/// Whether the instruction takes operands held as `element` and sums as `acc` (fp8 operands are held as bytes).
inline bool multiplies(Mma kind, mlir::Type element, mlir::Type acc) {
  switch (kind) {
  case Mma::F16:
    return element.isF16() && (acc.isF32() || acc.isF16());
  case Mma::BF16:
    return element.isBF16() && acc.isF32();
  case Mma::TF32:
    return element.isF32() && acc.isF32();
  case Mma::Int8:
    return element.isInteger(8) && acc.isInteger(32);
  case Mma::E4M3:
  case Mma::E5M2:
    return element.isInteger(8) && acc.isF32();
  case Mma::F64:
    return element.isF64() && acc.isF64();
  }
  return false;
}

/// The layout that a product computes its sums in.
Dist productLayout(DotOp dot);
/// The layout of a left operand in registers.
Dist leftOperandLayout(DotOp dot);

} // namespace tessera::tile_gpu
#endif // TESSERA_DIALECT_TILEGPU_PRODUCTS_H
