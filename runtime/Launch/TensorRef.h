//===- TensorRef.h - a caller's tensor, and what holds about it ----------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The view of memory that a caller hands to a launch: it owns nothing.  deriveContract says what may be taken for granted about it, so
// that the JIT can specialize; equal contracts share one compiled kernel, hence the caps.
//
#ifndef TESSERA_RUNTIME_LAUNCH_TENSORREF_H
#define TESSERA_RUNTIME_LAUNCH_TENSORREF_H

#include "runtime/Image/KernelImage.h"

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace tessera {

/// A tensor in the memory of the device that the launch runs on.
struct TensorRef {
  void *data = nullptr;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides; ///< in elements; may be 0 or negative
  /// The caller vouches that a written tensor shares no element with another argument, where the launcher cannot prove it.
  bool mayOverlap = false;

  /// A dense row-major tensor.
  static TensorRef contiguous(void *data, DType dtype, std::vector<int64_t> shape);
  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  /// True when some extent is 0: there is no element.
  bool isEmpty() const;
};

/// A scalar argument: its type and its value in the low bytes.
struct ScalarRef {
  DType dtype = DType::F32;
  uint64_t bits = 0;

  static ScalarRef of(bool value);
  static ScalarRef of(int32_t value);
  static ScalarRef of(int64_t value);
  static ScalarRef of(uint32_t value);
  static ScalarRef of(uint64_t value);
  static ScalarRef of(float value);
  static ScalarRef of(double value);
  /// The number as `dtype`, rounded to nearest for floats; nullopt where an integer type does not hold it.
  static std::optional<ScalarRef> convert(double value, DType dtype);
  static std::optional<ScalarRef> convert(int64_t value, DType dtype);
  static std::optional<ScalarRef> convert(uint64_t value, DType dtype);
  /// The value for launch-time expressions.
  ExprValue value() const;
  /// The scalar as `dtype` where the conversion keeps its value (integers) or rounds it (floats); otherwise unchanged.
  ScalarRef adapt(DType dtype) const;
};

/// One argument of a launch; monostate is an absent optional tensor.
using Argument = std::variant<std::monostate, TensorRef, ScalarRef>;

/// The widest contract that `tensor` satisfies: `align` is 16, 8, 4 or less; unitDim the last dimension of stride 1 (one with more than
/// one element first); divisors are powers of two up to 64.  An extent of 0 or 1 leaves its stride free.
TensorContract deriveContract(const TensorRef &tensor);

} // namespace tessera
#endif // TESSERA_RUNTIME_LAUNCH_TENSORREF_H
