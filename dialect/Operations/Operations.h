//===- Operations.h - what the language can do, as data -------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The table Operations.def by name.  Front end and verifiers take from it which element types an operation works on, the reference page and the conformance
// matrix are made from it.  Standard library only.
//
#ifndef TESSERA_DIALECT_OPERATIONS_OPERATIONS_H
#define TESSERA_DIALECT_OPERATIONS_OPERATIONS_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tessera {

/// A set of element types; bit n is the n-th of runtime/Image/DType.h.
using TypeSet = uint32_t;

inline constexpr TypeSet kNone = 0;
inline constexpr TypeSet kBool = 1u << 0;
inline constexpr TypeSet kI8 = 1u << 1, kI16 = 1u << 2, kI32 = 1u << 3, kI64 = 1u << 4;
inline constexpr TypeSet kU8 = 1u << 5, kU16 = 1u << 6, kU32 = 1u << 7, kU64 = 1u << 8;
inline constexpr TypeSet kF16 = 1u << 9, kBF16 = 1u << 10, kF32 = 1u << 11, kF64 = 1u << 12;
inline constexpr TypeSet kF8E4M3 = 1u << 13, kF8E5M2 = 1u << 14;
inline constexpr TypeSet kSigned = kI8 | kI16 | kI32 | kI64, kUnsigned = kU8 | kU16 | kU32 | kU64;
inline constexpr TypeSet kInteger = kSigned | kUnsigned;
inline constexpr TypeSet kF8 = kF8E4M3 | kF8E5M2;
inline constexpr TypeSet kFloat = kF16 | kBF16 | kF32 | kF64; ///< those with arithmetic
inline constexpr TypeSet kNumber = kInteger | kFloat;
inline constexpr TypeSet kData = kNumber | kBool | kF8;
inline constexpr TypeSet kAccumulated = kI32 | kI64 | kU32 | kU64 | kF32 | kF64;

inline constexpr double kNoUlp = -1, kAnyOrder = -2;

/// One entry of the table; Operations.def explains the fields.
struct Operation {
  enum class Kind : uint8_t {
    Function,   ///< called by name, gives a value and does nothing else
    Action,     ///< called by name and does something: a statement may consist of it
    Operator,   ///< written with signs or words around its operands
    Conversion, ///< an element type called as a function
    Memory,     ///< a tensor with brackets
    Constant
  };
  enum class Result : uint8_t { Same, Bool, I32, I64, F32, Sum, SameWithI64, Given, CompileTime, Nothing };
  enum class Shape : uint8_t {
    Elementwise,          ///< operands broadcast against each other
    ElementwiseOrReduced, ///< of two operands elementwise, of one reduced
    Reduced,              ///< the dimension goes; without an axis a scalar comes out
    SameShape,            ///< that of the operand
    Given,                ///< an argument says it
    Permuted,             ///< the same extents, in another order or with a 1
    Part,                 ///< a part along a dimension
    Stacked,              ///< a new dimension of extent 2
    Concatenated,         ///< extents along the dimension add up
    Taken,                ///< the extent along the dimension is the number of positions
    Product,              ///< [.., M, K] and [.., K, N] give [.., M, N]
    Slice,                ///< the widths in the brackets
    CompileTime           ///< no tile
  };
  enum class Cost : uint8_t {
    Free,     ///< no instruction
    Cheap,    ///< about one instruction an element
    Short,    ///< a few
    Long,     ///< ten to a hundred
    Exchange, ///< elements may cross threads: shuffles or shared memory
    Product,  ///< tensor cores where the types have them
    Memory,   ///< one access an element, as wide as alignment allows
    Atomic    ///< one atomic access an element
  };
  Kind kind;
  std::string_view name;
  int least, most; ///< arguments: fewest in all, most by position
  std::string_view form;
  TypeSet types;
  Result result;
  Shape shape;
  Cost cost;
  double ulp32, ulp64;
  std::string_view rules, summary;
};

/// Cells of the conformance matrix that have no case, and why.
struct Uncovered {
  std::string_view name;
  TypeSet types;
  std::string_view reason;
};

std::span<const Operation> operations();
std::span<const Uncovered> uncoveredCells();
/// Names of the element types that a program may use, `int` for compile-time integers among them.
std::span<const std::string_view> elementTypeNames();

/// The entry of that name, or null.
const Operation *findOperation(std::string_view name);
/// Whether `name` is called like a function.
bool isCallable(std::string_view name);
/// What a set holds, in words: `integers and bool`, `floats of 16 bits or more`.
std::string describeTypes(TypeSet types);

} // namespace tessera
#endif // TESSERA_DIALECT_OPERATIONS_OPERATIONS_H
