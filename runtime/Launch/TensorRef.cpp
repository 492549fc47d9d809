//===- TensorRef.cpp - a caller's tensor, and what holds about it --------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Construction, scalars in the slot format, and the derivation of contracts.
//
#include "runtime/Launch/TensorRef.h"

#include "runtime/Support/NarrowFloat.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tessera {
namespace {

constexpr int64_t kMaxDivisor = 64;
constexpr int64_t kMaxAlign = 16;

/// The largest power of two that divides `value`, at most `cap`; 0 is divisible by everything.
int64_t powerOfTwoDivisor(uint64_t value, int64_t cap) {
  if (value == 0)
    return cap;
  int zeros = std::countr_zero(value);
  return zeros >= 62 ? cap : std::min(cap, int64_t(1) << zeros);
}

std::optional<NarrowFormat> narrowFormat(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return kF16;
  case DType::BF16:
    return kBF16;
  case DType::F8E4M3:
    return kF8E4M3;
  case DType::F8E5M2:
    return kF8E5M2;
  default:
    return std::nullopt;
  }
}

uint64_t lowBytes(uint64_t bits, DType dtype) {
  int size = sizeOf(dtype);
  return size == 8 ? bits : bits & ((uint64_t(1) << (8 * size)) - 1);
}

} // namespace

TensorRef TensorRef::contiguous(void *data, DType dtype, std::vector<int64_t> shape) {
  TensorRef tensor;
  tensor.data = data;
  tensor.dtype = dtype;
  tensor.strides.resize(shape.size());
  uint64_t stride = 1; // unsigned: a product that overflows is caught at launch
  for (size_t i = shape.size(); i-- > 0;) {
    tensor.strides[i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(std::max<int64_t>(shape[i], 1));
  }
  tensor.shape = std::move(shape);
  return tensor;
}

bool TensorRef::isEmpty() const {
  for (int64_t extent : shape)
    if (extent == 0)
      return true;
  return false;
}

ScalarRef ScalarRef::of(bool value) { return {DType::Bool, value}; }
ScalarRef ScalarRef::of(int32_t value) { return {DType::I32, static_cast<uint32_t>(value)}; }
ScalarRef ScalarRef::of(int64_t value) { return {DType::I64, static_cast<uint64_t>(value)}; }
ScalarRef ScalarRef::of(uint32_t value) { return {DType::U32, value}; }
ScalarRef ScalarRef::of(uint64_t value) { return {DType::U64, value}; }
ScalarRef ScalarRef::of(float value) { return {DType::F32, std::bit_cast<uint32_t>(value)}; }
ScalarRef ScalarRef::of(double value) { return {DType::F64, std::bit_cast<uint64_t>(value)}; }

std::optional<ScalarRef> ScalarRef::convert(double value, DType dtype) {
  if (std::optional<NarrowFormat> format = narrowFormat(dtype))
    return ScalarRef{dtype, narrow(value, *format)};
  if (dtype == DType::F32)
    return of(static_cast<float>(value));
  if (dtype == DType::F64)
    return of(value);
  // An integer type takes a float only when it is a whole number that fits.
  if (!(std::floor(value) == value) || !(std::fabs(value) < 9.2e18))
    return std::nullopt;
  return convert(static_cast<int64_t>(value), dtype);
}

std::optional<ScalarRef> ScalarRef::convert(int64_t value, DType dtype) {
  if (isFloat(dtype))
    return convert(static_cast<double>(value), dtype);
  int bits = 8 * sizeOf(dtype);
  bool fits = true;
  if (dtype == DType::Bool)
    fits = value == 0 || value == 1;
  else if (isUnsignedInteger(dtype))
    fits = value >= 0 && (bits == 64 || value < (int64_t(1) << bits));
  else if (bits < 64)
    fits = value >= -(int64_t(1) << (bits - 1)) && value < (int64_t(1) << (bits - 1));
  if (!fits)
    return std::nullopt;
  return ScalarRef{dtype, lowBytes(static_cast<uint64_t>(value), dtype)};
}

std::optional<ScalarRef> ScalarRef::convert(uint64_t value, DType dtype) {
  if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    return convert(static_cast<int64_t>(value), dtype);
  if (isFloat(dtype))
    return convert(static_cast<double>(value), dtype);
  return dtype == DType::U64 ? std::optional(of(value)) : std::nullopt;
}

ExprValue ScalarRef::value() const {
  if (std::optional<NarrowFormat> format = narrowFormat(dtype))
    return static_cast<double>(widen(static_cast<uint32_t>(bits), *format));
  switch (dtype) {
  case DType::F32:
    return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  case DType::F64:
    return std::bit_cast<double>(bits);
  case DType::I8:
    return int64_t(static_cast<int8_t>(bits));
  case DType::I16:
    return int64_t(static_cast<int16_t>(bits));
  case DType::I32:
    return int64_t(static_cast<int32_t>(bits));
  default:
    return static_cast<int64_t>(lowBytes(bits, dtype));
  }
}

ScalarRef ScalarRef::adapt(DType to) const {
  if (dtype == to)
    return *this;
  ExprValue found = value();
  std::optional<ScalarRef> converted;
  if (dtype == DType::U64) // may lie beyond the int64_t of an expression's value
    converted = convert(bits, to);
  else if (const int64_t *integer = std::get_if<int64_t>(&found))
    converted = convert(*integer, to);
  else if (isFloat(to))
    converted = convert(*std::get_if<double>(&found), to);
  return converted ? *converted : *this;
}

TensorContract deriveContract(const TensorRef &tensor) {
  TensorContract contract;
  size_t rank = tensor.shape.size();
  contract.align = powerOfTwoDivisor(reinterpret_cast<uintptr_t>(tensor.data), kMaxAlign);
  contract.strideDiv.assign(rank, 1);
  contract.extentDiv.assign(rank, 1);
  int64_t trivialUnit = -1;
  for (size_t i = 0; i < rank && i < tensor.strides.size(); ++i) {
    int64_t extent = tensor.shape[i], stride = tensor.strides[i];
    contract.extentDiv[i] = powerOfTwoDivisor(static_cast<uint64_t>(extent), kMaxDivisor);
    contract.strideDiv[i] = extent <= 1 ? kMaxDivisor : powerOfTwoDivisor(static_cast<uint64_t>(stride), kMaxDivisor);
    if (extent > 1 && stride == 1)
      contract.unitDim = static_cast<int64_t>(i);
    else if (extent <= 1)
      trivialUnit = static_cast<int64_t>(i);
  }
  if (contract.unitDim < 0)
    contract.unitDim = trivialUnit;
  return contract;
}

} // namespace tessera
