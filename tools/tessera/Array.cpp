//===- Array.cpp - a dense tensor that the tool owns ---------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Allocation with overflow checks, element access by type, printing.
//
#include "tools/tessera/Array.h"

#include "runtime/Support/NarrowFloat.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstring>

namespace tessera {
namespace {

constexpr int64_t kAlign = 64;
/// Dimensions longer than kLong show kEdge elements at each end.
constexpr int64_t kLong = 16, kEdge = 4;

template <typename T>
T load(const unsigned char *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <typename T>
void store(unsigned char *at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

/// Wraps like the language's conversion between integers.
uint64_t toInteger(long double value) {
  if (!(value == value))
    return 0;
  value = std::trunc(value);
  if (value >= 9223372036854775808.0L)
    return value >= 18446744073709551616.0L ? UINT64_MAX : static_cast<uint64_t>(value);
  return value <= -9223372036854775808.0L ? uint64_t(1) << 63 : static_cast<uint64_t>(static_cast<int64_t>(value));
}

std::string printElement(const Array &array, int64_t index) {
  long double value = array.get(index);
  if (array.dtype == DType::Bool)
    return value != 0 ? "true" : "false";
  if (isSignedInteger(array.dtype))
    return fmt::format("{}", static_cast<int64_t>(value));
  if (isUnsignedInteger(array.dtype))
    return fmt::format("{}", static_cast<uint64_t>(value));
  return array.dtype == DType::F64 ? fmt::format("{:.12g}", static_cast<double>(value))
                                   : fmt::format("{:.6g}", static_cast<double>(value));
}

std::string printDimension(const Array &array, size_t dimension, int64_t first, int64_t count) {
  if (dimension == array.shape.size())
    return printElement(array, first);
  int64_t extent = array.shape[dimension], step = extent ? count / extent : 0;
  bool innermost = dimension + 1 == array.shape.size();
  std::string separator = innermost ? ", " : ",\n" + std::string(dimension + 1, ' ');
  std::string text = "[";
  for (int64_t i = 0; i < extent; ++i) {
    if (extent > kLong && i == kEdge) {
      text += separator + "...";
      i = extent - kEdge;
    }
    text += (i ? separator : "") + printDimension(array, dimension + 1, first + i * step, step);
  }
  return text + "]";
}

} // namespace

Result<Array> Array::allocate(DType dtype, std::vector<int64_t> shape) {
  __int128 bytes = sizeOf(dtype);
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return Error{Fault::Program, fmt::format("extent {} is negative", extent), "write extents of 0 or more", "T0614"};
    empty |= extent == 0;
    bytes *= std::max<int64_t>(extent, 1);
    if (bytes > INT64_MAX - kAlign)
      return Error{Fault::Program, fmt::format("a tensor of shape {} spans more than 2^63 bytes", shape),
                   "write a smaller shape", "T0614"};
  }
  Array array;
  array.dtype = dtype;
  array.shape = std::move(shape);
  size_t size = empty ? kAlign : static_cast<size_t>((bytes + kAlign - 1) / kAlign * kAlign);
  array.memory.reset(static_cast<unsigned char *>(std::aligned_alloc(kAlign, size)));
  if (!array.memory)
    return Error{Fault::Machine, fmt::format("cannot allocate {} bytes for a tensor of shape {}", size, array.shape),
                 "use a smaller shape or a machine with more memory", "T0623"};
  return array;
}

int64_t Array::elements() const {
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (extent == 0)
      return 0;
    count *= extent;
  }
  return count;
}

long double Array::get(int64_t index) const {
  const unsigned char *at = data() + index * sizeOf(dtype);
  switch (dtype) {
  case DType::Bool:
    return *at != 0;
  case DType::I8:
    return load<int8_t>(at);
  case DType::I16:
    return load<int16_t>(at);
  case DType::I32:
    return load<int32_t>(at);
  case DType::I64:
    return load<int64_t>(at);
  case DType::U8:
    return *at;
  case DType::U16:
    return load<uint16_t>(at);
  case DType::U32:
    return load<uint32_t>(at);
  case DType::U64:
    return load<uint64_t>(at);
  case DType::F16:
    return widen(load<uint16_t>(at), kF16);
  case DType::BF16:
    return widen(load<uint16_t>(at), kBF16);
  case DType::F32:
    return load<float>(at);
  case DType::F64:
    return load<double>(at);
  case DType::F8E4M3:
    return widen(*at, kF8E4M3);
  case DType::F8E5M2:
    return widen(*at, kF8E5M2);
  }
  return 0;
}

void Array::set(int64_t index, long double value) {
  unsigned char *at = data() + index * sizeOf(dtype);
  switch (dtype) {
  case DType::Bool:
    *at = value != 0;
    return;
  case DType::I8:
  case DType::U8:
    *at = static_cast<unsigned char>(toInteger(value));
    return;
  case DType::I16:
  case DType::U16:
    return store(at, static_cast<uint16_t>(toInteger(value)));
  case DType::I32:
  case DType::U32:
    return store(at, static_cast<uint32_t>(toInteger(value)));
  case DType::I64:
  case DType::U64:
    return store(at, toInteger(value));
  case DType::F16:
    return store(at, static_cast<uint16_t>(narrow(static_cast<double>(value), kF16)));
  case DType::BF16:
    return store(at, static_cast<uint16_t>(narrow(static_cast<double>(value), kBF16)));
  case DType::F32:
    return store(at, static_cast<float>(value));
  case DType::F64:
    return store(at, static_cast<double>(value));
  case DType::F8E4M3:
    *at = static_cast<unsigned char>(narrow(static_cast<double>(value), kF8E4M3));
    return;
  case DType::F8E5M2:
    *at = static_cast<unsigned char>(narrow(static_cast<double>(value), kF8E5M2));
    return;
  }
}

std::string Array::describe() const { return fmt::format("{}[{}]", nameOf(dtype), fmt::join(shape, ", ")); }

std::string Array::print() const { return printDimension(*this, 0, 0, elements()); }

} // namespace tessera
