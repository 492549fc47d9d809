//===- Legality.h - what LLVM can be trusted with --------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// LLVM ends the process when it meets an operation that a target cannot select, or silently calls a library that is not there.  So every op, intrinsic and
// type must stand on a list (LegalityRules.cpp) before translation.  Needs: a module that MLIR verified.  Leaves out: budgets (InstructionCount.cpp).
//
#ifndef TESSERA_COMPILER_CODEGEN_LEGALITY_H
#define TESSERA_COMPILER_CODEGEN_LEGALITY_H

#include "compiler/Target/Target.h"
#include "runtime/Support/Result.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace mlir {
class ModuleOp;
class Type;
} // namespace mlir

namespace tessera {

/// Classes of element types, as bits.  A vector counts as its element, a structure as the union of its members.
enum TypeBits : uint32_t {
  kI1 = 1,
  kI8 = 2,
  kI16 = 4,
  kI32 = 8,
  kI64 = 16,
  kF16 = 32,
  kBF16 = 64,
  kF32 = 128,
  kF64 = 256,
  kPointer = 512,
  kIntegers = kI1 | kI8 | kI16 | kI32 | kI64,
  kBytes = kI8 | kI16 | kI32 | kI64,
  kFloats = kF16 | kBF16 | kF32 | kF64,
  kHostFloats = kF16 | kF32 | kF64,
  kAny = kIntegers | kFloats | kPointer,
};

enum class Where : uint8_t { Gpu = 1, Host = 2, Both = 3 };

/// An op (or, for `llvm.call_intrinsic`, an intrinsic) with the types it may take and give.  An op is legal if one of its rows fits.
struct OpRule {
  llvm::StringLiteral
      name; ///< `llvm.intr.fma`, `nvvm.shfl.sync`; or an intrinsic `llvm.nvvm.ex2.approx.ftz.f`, also with `.suffix`
  Where where;
  int minSm;        ///< first capability, major * 10 + minor; 0: any
  uint32_t in, out; ///< allowed TypeBits of operands and of results
  int8_t arity;     ///< operands, all of the result's type: unit tests generate such ops; 0: of another form
};

llvm::ArrayRef<OpRule> opRules();        ///< ops, by name
llvm::ArrayRef<OpRule> intrinsicRules(); ///< what `llvm.call_intrinsic` may call

/// The TypeBits of `type`; 0 if it, or a part of it, must not reach LLVM (odd integer widths, fp8, scalable or huge vectors, dialect types).
uint32_t typeBits(mlir::Type type);

/// Success, or Fault::Internal that names the place, the op, and what is not allowed about it.
Result<void> verifyLegality(mlir::ModuleOp module, const TargetInfo &target);

/// `file:line:column` of the innermost frame, or `unknown place`.
std::string describeLocation(mlir::Location location);

} // namespace tessera
#endif // TESSERA_COMPILER_CODEGEN_LEGALITY_H
