//===- Compare.h - `--check NAME=FILE.npy[:rtol=..][:atol=..]` ------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Compares a result with a reference element by element: |found - expected| <= atol + rtol * |expected|, NaN equal to NaN, infinities
// equal by sign.  The reference may have another element type (a float64 reference of a bf16 result).
//
#ifndef TESSERA_TOOLS_TESSERA_COMPARE_H
#define TESSERA_TOOLS_TESSERA_COMPARE_H

#include "tools/tessera/Array.h"

#include <optional>
#include <string>
#include <string_view>

namespace tessera {

struct CheckSpec {
  std::string name, path;
  std::optional<DType> dtype; ///< how to read a raw view
  std::optional<double> rtol, atol;
};

/// Fault::Usage (T0643) for text of another form.
Result<CheckSpec> parseCheck(std::string_view text);

struct Comparison {
  int64_t elements = 0, wrong = 0;
  double maxError = 0; ///< largest |found - expected| of finite pairs
  int64_t worst = -1;  ///< the first element out of tolerance, in row-major order
  double rtol = 0, atol = 0;
  std::string describe(const Array &found, const Array &expected) const;
};

/// Fault::Program (T0640) when the shapes differ.  Default tolerances: 0 for integers and bool, else a few units of the result's type.
Result<Comparison> compare(const Array &found, const Array &expected, const CheckSpec &spec);

} // namespace tessera
#endif // TESSERA_TOOLS_TESSERA_COMPARE_H
