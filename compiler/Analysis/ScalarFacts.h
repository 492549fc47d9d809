//===- ScalarFacts.h - divisors and signs of index scalars ----------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// What can be said of an i64 scalar of a kernel at compile time: by which power of two it is divisible, and whether it can be negative.  Follows
// constants, sums, products, minima, loop variables, grid coordinates and dimensions; anything else is unknown (divisor 1, may be
// negative).  Used for access widths and bounds; a wrong "yes" would be a wrong result, so unknown is always right.
//
#ifndef TESSERA_COMPILER_ANALYSIS_SCALARFACTS_H
#define TESSERA_COMPILER_ANALYSIS_SCALARFACTS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera {

class ScalarFacts {
public:
  /// The largest power of two, at most 2^30, that is known to divide `value`.
  int64_t divisor(mlir::Value value);
  /// Whether `value` is known to be at least 0.  Sums and products are taken not to overflow where all parts are extents, coordinates or
  /// compile-time numbers: those are bounded by sizes of memory.
  bool isNonNegative(mlir::Value value);

private:
  llvm::DenseMap<mlir::Value, int64_t> divisors;
  llvm::DenseMap<mlir::Value, bool> signs;
};

} // namespace tessera
#endif // TESSERA_COMPILER_ANALYSIS_SCALARFACTS_H
