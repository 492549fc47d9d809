//===- TypeRules.h - promotion and literals: the table of section "Types" ------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Pure functions over element types: what two of them promote to or why they do not, what sums accumulate in, and which
// constant a compile-time number becomes in a type.  They know nothing of programs or places.
//
#ifndef TESSERA_COMPILER_FRONTEND_TYPERULES_H
#define TESSERA_COMPILER_FRONTEND_TYPERULES_H

#include "compiler/Frontend/Value.h"
#include "dialect/Operations/Operations.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace tessera::frontend {

/// Why something is refused: the code of DiagnosticCodes.def, the message, and the remedy.
struct Refusal {
  std::string code, message, remedy;
};

/// The MLIR element type: signless integers, i1 for bool.
mlir::Type elementType(mlir::MLIRContext *context, DType type);
/// Bits of the value (1 for bool).
int bitsOf(DType type);
bool isFp8(DType type);
/// f16 or bf16.
bool isHalf(DType type);
/// Any integer, bool not included.
bool isInteger(DType type);
/// The type in which `sum`, `cumsum` and `@` accumulate.
DType sumType(DType type);

/// Why the operation `name` of the table (dialect/Operations/Operations.def) does not work on elements of `type`; nullopt where it does.  `spelled` is how the
/// program writes the operation, `found` what it gave.
std::optional<Refusal> refuseType(std::string_view name, std::string_view spelled, DType type,
                                  const std::string &found);

/// The common type of two typed operands of arithmetic or comparison, or the refusal.
struct Promotion {
  std::optional<DType> type;
  Refusal refusal;
};
Promotion promote(DType a, DType b);

/// The constant that a compile-time number (or boolean) becomes as a scalar of `type`: an int must be exactly
/// representable, a float rounds to nearest and may not overflow, a float never becomes an integer.
struct Literal {
  mlir::TypedAttr attribute; ///< null when refused
  Refusal refusal;
};
Literal literal(mlir::MLIRContext *context, const Value &number, DType type);

} // namespace tessera::frontend
#endif // TESSERA_COMPILER_FRONTEND_TYPERULES_H
