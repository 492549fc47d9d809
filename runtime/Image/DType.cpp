//===- DType.cpp - element types of tensors in memory --------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// One table, indexed by the enumeration, answers every question about an element type.
//
#include "runtime/Image/DType.h"

#include <array>

namespace tessera {
namespace {

enum class Class : uint8_t { Bool, Signed, Unsigned, Float };

struct Row {
  DType type;
  std::string_view name;
  int size;
  Class kind;
};

constexpr std::array<Row, 15> kRows = {{
    {DType::Bool, "bool", 1, Class::Bool},
    {DType::I8, "i8", 1, Class::Signed},
    {DType::I16, "i16", 2, Class::Signed},
    {DType::I32, "i32", 4, Class::Signed},
    {DType::I64, "i64", 8, Class::Signed},
    {DType::U8, "u8", 1, Class::Unsigned},
    {DType::U16, "u16", 2, Class::Unsigned},
    {DType::U32, "u32", 4, Class::Unsigned},
    {DType::U64, "u64", 8, Class::Unsigned},
    {DType::F16, "f16", 2, Class::Float},
    {DType::BF16, "bf16", 2, Class::Float},
    {DType::F32, "f32", 4, Class::Float},
    {DType::F64, "f64", 8, Class::Float},
    {DType::F8E4M3, "f8e4m3", 1, Class::Float},
    {DType::F8E5M2, "f8e5m2", 1, Class::Float},
}};

constexpr bool rowsFollowTheEnumeration() {
  for (size_t i = 0; i < kRows.size(); ++i)
    if (static_cast<size_t>(kRows[i].type) != i)
      return false;
  return true;
}
static_assert(rowsFollowTheEnumeration());

const Row &rowOf(DType type) {
  size_t index = static_cast<size_t>(type);
  return kRows[index < kRows.size() ? index : 0];
}

} // namespace

int sizeOf(DType type) { return rowOf(type).size; }

std::string_view nameOf(DType type) { return rowOf(type).name; }

std::optional<DType> parseDType(std::string_view name) {
  for (const Row &row : kRows)
    if (row.name == name)
      return row.type;
  return std::nullopt;
}

bool isFloat(DType type) { return rowOf(type).kind == Class::Float; }
bool isSignedInteger(DType type) { return rowOf(type).kind == Class::Signed; }
bool isUnsignedInteger(DType type) { return rowOf(type).kind == Class::Unsigned; }

} // namespace tessera
