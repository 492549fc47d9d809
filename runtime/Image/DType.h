//===- DType.h - element types of tensors in memory ----------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
#ifndef TESSERA_RUNTIME_IMAGE_DTYPE_H
#define TESSERA_RUNTIME_IMAGE_DTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace tessera {

/// The element types of the language.  Bool is one byte in memory, 0 or 1.
enum class DType : uint8_t { Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, F8E4M3, F8E5M2 };

/// Size of one element in memory, in bytes (1, 2, 4 or 8).
int sizeOf(DType type);
/// The name in the language: `bf16`, `u8`, `f8e4m3`...
std::string_view nameOf(DType type);
/// Inverse of nameOf; nullopt for any other text.
std::optional<DType> parseDType(std::string_view name);
bool isFloat(DType type);
bool isSignedInteger(DType type);
bool isUnsignedInteger(DType type);

} // namespace tessera
#endif // TESSERA_RUNTIME_IMAGE_DTYPE_H
