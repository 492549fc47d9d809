//===- ArgumentSpec.h - `--arg NAME=SPEC` --------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
//     x.npy   x.npy:bf16   0.125   3:i32   true   randn:bf16:4x8:seed=1   uniform:f32:4x8   zeros:f32:8   empty:f32:8   arange:i32:8
//     scratch:4096
//
// Parsing reads no file; making the data does, through a function that the caller gives.
//
#ifndef TESSERA_TOOLS_TESSERA_ARGUMENTSPEC_H
#define TESSERA_TOOLS_TESSERA_ARGUMENTSPEC_H

#include "tools/tessera/Array.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace tessera {

/// What a SPEC says.
struct ArgumentSpec {
  enum class Kind { File, Number, Normal, Uniform, Zeros, Empty, Range, Scratch };
  Kind kind = Kind::Number;
  std::string path;           ///< File
  std::optional<DType> dtype; ///< File: how to read raw elements; Number: its type, or the parameter's
  std::vector<int64_t> shape;
  std::optional<uint64_t> seed; ///< Normal, Uniform
  double low = 0, high = 1;     ///< Uniform
  std::variant<int64_t, uint64_t, double>
      number; ///< Number; uint64_t only above the range of int64_t; booleans are 0 and 1
};

/// `NAME=REST` split at the first `=`; Fault::Usage (T0643) without a name.
Result<std::pair<std::string, std::string>> splitAssignment(std::string_view text, std::string_view option);

/// Fault::Usage (T0643) names the part that is wrong and the forms that exist.
Result<ArgumentSpec> parseSpec(std::string_view text);

/// The tensor of a SPEC that is not a Number.  `seed` is used where the SPEC has none.  Empty memory holds all ones (NaN, -1; false for
/// bool), so that an element that a kernel forgot is seen.
Result<Array> makeArray(const ArgumentSpec &spec, uint64_t seed,
                        const std::function<Result<std::string>(const std::string &path)> &readFile);

/// The scalar of a Number for a parameter of type `dtype`; without one the literal's own type.  T0602 when the type cannot hold it.
Result<ScalarRef> makeScalar(const ArgumentSpec &spec, std::optional<DType> dtype);

} // namespace tessera
#endif // TESSERA_TOOLS_TESSERA_ARGUMENTSPEC_H
