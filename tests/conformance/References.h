//===- References.h - what elementwise operations must give ----------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
#ifndef TESSERA_TESTS_CONFORMANCE_REFERENCES_H
#define TESSERA_TESTS_CONFORMANCE_REFERENCES_H

#include "tests/conformance/Bits.h"

namespace tessera::conformance {

/// Whether `reference` knows the elementwise operation.
bool hasReference(const std::string &operation);
/// The result on elements of `type`; `ulp` is the largest error of the table.
Want reference(const std::string &operation, DType type, uint64_t a, uint64_t b, uint64_t c, double ulp);
/// The language's conversion (R7.5).
uint64_t converted(DType from, uint64_t bits, DType to, bool saturate, bool ieee);
/// max and min (R8.7): NaN wins, or loses with `skipsNan`; -0 is below +0.
uint64_t extremum(DType type, bool isMax, bool skipsNan, uint64_t a, uint64_t b);

} // namespace tessera::conformance
#endif // TESSERA_TESTS_CONFORMANCE_REFERENCES_H
