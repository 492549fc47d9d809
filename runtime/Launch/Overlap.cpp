//===- Overlap.cpp - do two tensors share an element? --------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The bounded search of Overlap.h, in 128 bits so that no product of a checked tensor overflows.
//
#include "runtime/Launch/Overlap.h"

#include <algorithm>
#include <vector>

namespace tessera {
namespace {

using Wide = __int128;

/// Steps of a search; real layouts need fewer than a hundred.
constexpr int kMaxSteps = 20000;

/// A digit x in low..high that counts `stride` > 0 bytes.
struct Digit {
  Wide stride, low, high;
};

Wide divideDown(Wide a, Wide b) { return a / b - (a % b != 0 && a < 0); }
Wide divideUp(Wide a, Wide b) { return a / b + (a % b != 0 && a > 0); }

/// Searches for digits whose sum, with a rest in restLow..restHigh, is a target.
class Search {
public:
  Search(std::vector<Digit> list, Wide restLow, Wide restHigh) : digits(std::move(list)) {
    std::stable_sort(digits.begin(), digits.end(), [](const Digit &a, const Digit &b) { return a.stride > b.stride; });
    // Equal strides are one digit; reach[i] is what the digits from i on, and the rest, can sum to.
    std::vector<Digit> merged;
    for (const Digit &digit : digits) {
      if (!merged.empty() && merged.back().stride == digit.stride) {
        merged.back().low += digit.low;
        merged.back().high += digit.high;
      } else {
        merged.push_back(digit);
      }
    }
    digits = std::move(merged);
    reach.assign(digits.size() + 1, {restLow, restHigh});
    for (size_t i = digits.size(); i-- > 0;)
      reach[i] = {reach[i + 1].first + digits[i].low * digits[i].stride,
                  reach[i + 1].second + digits[i].high * digits[i].stride};
  }

  /// True when a solution exists or the steps ran out.
  bool finds(Wide target, size_t level = 0) {
    if (++steps > kMaxSteps)
      return true;
    if (target < reach[level].first || target > reach[level].second)
      return false;
    if (level == digits.size())
      return true;
    const Digit &digit = digits[level];
    Wide first = std::max(digit.low, divideUp(target - reach[level + 1].second, digit.stride));
    Wide last = std::min(digit.high, divideDown(target - reach[level + 1].first, digit.stride));
    for (Wide x = first; x <= last; ++x)
      if (finds(target - x * digit.stride, level + 1))
        return true;
    return false;
  }

private:
  std::vector<Digit> digits;
  std::vector<std::pair<Wide, Wide>> reach;
  int steps = 0;
};

/// First byte of a tensor and its digits with positive strides (a negative stride is the same set, walked from its other end).
struct Footprint {
  Wide first, end;
  std::vector<Digit> digits; // low = 0
};

Footprint footprintOf(const TensorRef &tensor) {
  Footprint result{Wide(reinterpret_cast<uintptr_t>(tensor.data)), 0, {}};
  Wide size = sizeOf(tensor.dtype), span = 0;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    Wide last = Wide(tensor.shape[i]) - 1, stride = Wide(tensor.strides[i]) * size;
    if (last <= 0 || stride == 0)
      continue;
    if (stride < 0) {
      result.first += last * stride;
      stride = -stride;
    }
    span += last * stride;
    result.digits.push_back({stride, 0, last});
  }
  result.end = result.first + span + size;
  return result;
}

} // namespace

bool mayShareMemory(const TensorRef &a, const TensorRef &b) {
  if (a.isEmpty() || b.isEmpty())
    return false;
  Footprint fa = footprintOf(a), fb = footprintOf(b);
  if (fa.end <= fb.first || fb.end <= fa.first)
    return false;
  std::vector<Digit> digits = fb.digits;
  for (const Digit &digit : fa.digits)
    digits.push_back({digit.stride, -digit.high, 0});
  // Byte u of an element of a is byte v of one of b: a + i.s + u = b + j.t + v.
  return Search(std::move(digits), 1 - Wide(sizeOf(a.dtype)), Wide(sizeOf(b.dtype)) - 1).finds(fa.first - fb.first);
}

bool mayOverlapItself(const TensorRef &tensor) {
  if (tensor.isEmpty())
    return false;
  for (size_t i = 0; i < tensor.shape.size(); ++i)
    if (tensor.shape[i] > 1 && tensor.strides[i] == 0)
      return true;
  std::vector<Digit> digits = footprintOf(tensor).digits;
  std::sort(digits.begin(), digits.end(), [](const Digit &a, const Digit &b) { return a.stride < b.stride; });
  // A mixed radix: every stride steps over all that the smaller ones reach.
  Wide reach = 0;
  bool radix = true;
  for (const Digit &digit : digits) {
    radix &= digit.stride > reach;
    reach += digit.high * digit.stride;
  }
  if (radix)
    return false;
  // Two index tuples with one address differ by digits that sum to zero; some digit, in order, is the first that is not zero.
  std::vector<Digit> rest;
  for (const Digit &digit : digits) {
    Search search(rest, 0, 0);
    for (Wide x = 1; x <= digit.high; ++x) {
      if (x > kMaxSteps || search.finds(-x * digit.stride))
        return true;
      // Beyond what the smaller digits reach no larger x can be undone.
      Wide smaller = 0;
      for (const Digit &other : rest)
        smaller += other.high * other.stride;
      if (x * digit.stride > smaller)
        break;
    }
    rest.push_back({digit.stride, -digit.high, digit.high});
  }
  return false;
}

} // namespace tessera
