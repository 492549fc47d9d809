//===- HostHarness.h - tile IR to running host code, for tests -------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Compiles IR text through the host pipeline into this process, and runs it on tensors that stand between guard bytes.  Elements are read and written
// as double through runtime/Support/NarrowFloat.h, which shares no code with the compiler.
//
#ifndef TESSERA_TESTS_UNIT_HOSTHARNESS_H
#define TESSERA_TESTS_UNIT_HOSTHARNESS_H

#include "runtime/Image/DType.h"
#include "runtime/Support/Result.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tessera {
class HostCode;

namespace test {

/// A kernel parameter in IR: `shape` as in the view type ("?x8"), `dims` as launch expressions; a scalar when `mode` is empty.
struct Param {
  std::string name, dtype, mode, shape;
  std::vector<std::string> dims;
};
struct Axis {
  std::string name, lo, hi, step;
};

/// IR of a kernel `k` around `body`; parameters and coordinates are `%name`.
std::string kernelText(const std::vector<Param> &params, const std::vector<std::string> &dims,
                       const std::vector<Axis> &grid, const std::string &body);
/// `bf16` -> `bf16`, `u8` -> `i8`, `bool` -> `i1`, `f8e4m3` -> `f8E4M3FN`.
std::string irType(const std::string &dtype);

/// Compiled host code with one kernel `k`.
struct HostProgram {
  std::shared_ptr<const HostCode> code;
  void (*entry)(const uint64_t *, int64_t, int64_t, void *) = nullptr;
  int64_t scratchBytes = 0;
  /// Runs programs first..last with fresh scratch; the i64 pair at its beginning: failed assertion, program.
  std::pair<int64_t, int64_t> run(const std::vector<uint64_t> &slots, int64_t first, int64_t last) const;
};

/// All messages on failure.  `fault`: HostFaults of the lowering.
Result<HostProgram> compileHost(const std::string &ir, const std::string &fault = "");

/// A tensor in memory with guard bytes around it and in the gaps of its strides.
class Tensor {
public:
  /// `strides` in elements; empty: row-major without gaps.
  Tensor(std::string dtype, std::vector<int64_t> shape, std::vector<int64_t> strides = {});
  double get(const std::vector<int64_t> &index) const;
  void set(const std::vector<int64_t> &index, double value);
  /// Raw bits of an element, and setting them.
  uint64_t bits(const std::vector<int64_t> &index) const;
  void setBits(const std::vector<int64_t> &index, uint64_t value);
  /// Random numbers of small size that narrow types hold exactly or nearly; deterministic.
  Tensor &random(uint32_t seed, double low = -2, double high = 2);
  Tensor &fill(double value);
  /// Nothing but elements has changed since construction.
  bool guardsIntact() const;
  void pushSlots(std::vector<uint64_t> &slots) const;
  const std::vector<int64_t> &extents() const { return shape; }
  /// Every index in row-major order.
  template <typename Function>
  void each(Function function) const {
    std::vector<int64_t> index(shape.size(), 0);
    for (int64_t extent : shape)
      if (extent == 0)
        return;
    for (;;) {
      function(const_cast<const std::vector<int64_t> &>(index));
      size_t d = shape.size();
      while (d > 0 && ++index[d - 1] == shape[d - 1])
        index[--d] = 0;
      if (d == 0)
        return;
    }
  }

private:
  int64_t offset(const std::vector<int64_t> &index) const;
  std::string dtype;
  DType type;
  int64_t size;
  std::vector<int64_t> shape, strides;
  std::vector<uint8_t> memory, isElement;
};

using Index = std::vector<int64_t>;
inline uint64_t slot(int64_t value) { return uint64_t(value); }

/// Compiles, packs the slots (tensors, then `rest`), runs all programs, looks at the guards.  What is wrong, or nothing.
std::string launch(const std::string &ir, const std::string &fault, const std::vector<const Tensor *> &tensors,
                   const std::vector<uint64_t> &rest, int64_t programs);

/// The first element that differs from `expected(index)` by more than `tolerance`, or nothing.
template <typename Function>
std::string compare(const Tensor &out, Function expected, double tolerance = 0) {
  std::string wrong;
  out.each([&](const Index &index) {
    double want = expected(index), have = out.get(index);
    bool same = std::isnan(want) ? std::isnan(have) : std::fabs(want - have) <= tolerance || want == have;
    if (!same && wrong.empty()) {
      wrong = "at";
      for (int64_t i : index)
        wrong += fmt::format(" {}", i);
      wrong += fmt::format(": expected {}, found {}", want, have);
    }
  });
  return wrong;
}

} // namespace test
} // namespace tessera
#endif // TESSERA_TESTS_UNIT_HOSTHARNESS_H
