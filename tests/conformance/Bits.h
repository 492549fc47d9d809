//===- Bits.h - elements as bits and as exact numbers ----------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The references of the conformance matrix compute on bits, `long double` and 128-bit integers, and share nothing with the compiler.
//
#ifndef TESSERA_TESTS_CONFORMANCE_BITS_H
#define TESSERA_TESTS_CONFORMANCE_BITS_H

#include "runtime/Image/DType.h"
#include "runtime/Launch/TensorRef.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace tessera::conformance {

using Real = long double; ///< holds every element type exactly
using Wide = __int128;

inline int widthOf(DType type) { return type == DType::Bool ? 1 : sizeOf(type) * 8; }
inline bool isWhole(DType type) { return isSignedInteger(type) || isUnsignedInteger(type); }
inline uint64_t maskOf(DType type) { return widthOf(type) == 64 ? ~uint64_t(0) : (uint64_t(1) << widthOf(type)) - 1; }

/// The number that the bits stand for.
Real realOf(DType type, uint64_t bits);
Wide wideOf(DType type, uint64_t bits);
/// The bits of a number, rounded once to nearest even; fp8 saturates.  Of integers: the low bits.
uint64_t bitsOf(DType type, Real value);
uint64_t wrap(DType type, Wide value);
bool isNan(DType type, uint64_t bits);
/// One unit of the last place of a float type (f32, f64) at `value`.
Real ulpOf(DType type, Real value);

/// A tensor in host memory: elements in row-major order.
struct Data {
  DType type = DType::F32;
  std::vector<int64_t> shape;
  std::vector<unsigned char> bytes;

  Data() = default;
  Data(DType type, std::vector<int64_t> shape, uint64_t fill = 0);
  /// One dimension with these elements.
  static Data of(DType type, const std::vector<uint64_t> &elements);
  int64_t size() const { return int64_t(bytes.size()) / sizeOf(type); }
  uint64_t operator[](int64_t i) const {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * sizeOf(type), sizeOf(type));
    return bits;
  }
  void set(int64_t i, uint64_t bits) { std::memcpy(bytes.data() + i * sizeOf(type), &bits, sizeOf(type)); }
};

/// Bits at which mistakes show: zeros, subnormals, ties, powers, the ends of the range, infinities, NaN.
std::vector<uint64_t> specialsOf(DType type);
/// Element number `i` of a fixed sequence: any bits, or small numbers in every other place.
uint64_t randomBits(DType type, uint64_t i);

/// What an element must be.
struct Want {
  uint64_t bits = 0;    ///< exactly this (any NaN for a NaN), unless `isRange`
  bool isRange = false; ///< a number from `low` to `high`
  bool mayBeZero = false, isOpen = false;
  Real low = 0, high = 0;

  static Want exactly(uint64_t bits) {
    Want want;
    want.bits = bits;
    return want;
  }
  static Want between(Real low, Real high) {
    Want want;
    want.isRange = true, want.low = low, want.high = high;
    return want;
  }
  /// The language leaves it open.
  static Want anything() {
    Want want;
    want.isOpen = true;
    return want;
  }
  bool holds(DType type, uint64_t have) const;
  std::string text(DType type) const;
};

} // namespace tessera::conformance
#endif // TESSERA_TESTS_CONFORMANCE_BITS_H
