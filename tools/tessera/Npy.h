//===- Npy.h - the exchange format of the command line -------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Reads and writes NumPy's .npy in memory (docs/decisions/npy.md says why not by a library).  Safe for arbitrary bytes.
//
#ifndef TESSERA_TOOLS_TESSERA_NPY_H
#define TESSERA_TOOLS_TESSERA_NPY_H

#include "tools/tessera/Array.h"

#include <optional>
#include <string_view>

namespace tessera {

/// Parses a file of version 1, 2 or 3, little endian, in C or Fortran order; the result is row-major.  `as` reinterprets elements of
/// the same size: bf16 from `<u2` or `|V2`, f8 from `|u1` or `|V1`.  Fault::Program (T0641) for everything else.
Result<Array> parseNpy(std::string_view bytes, std::optional<DType> as = std::nullopt);

/// The file for `array`, version 1, C order; bf16 as `<u2`, f8 as `|u1`.
std::string formatNpy(const Array &array);

} // namespace tessera
#endif // TESSERA_TOOLS_TESSERA_NPY_H
