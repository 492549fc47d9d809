//===- Element.h - the arithmetic of the language on single elements -------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Written from docs/language.md alone, by other means than the compiler: every rounding goes through exact arithmetic in long double.  What the fuzzer compares with.
//
#ifndef TESSERA_TESTS_FUZZ_PROGRAMS_ELEMENT_H
#define TESSERA_TESTS_FUZZ_PROGRAMS_ELEMENT_H

#include "runtime/Image/DType.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::fuzz {

/// One element: `number` for floats, `integer` for integers (u64 by its bits) and bool (0 or 1).
struct Element {
  double number = 0;
  int64_t integer = 0;
};

inline Element ofNumber(double number) { return {number, 0}; }
inline Element ofInteger(int64_t integer) { return {0, integer}; }

bool isFp8(DType type);
/// f16 and bf16, which compute as f32 and round.
bool isHalf(DType type);
bool isInteger(DType type); ///< without bool
int bitsOf(DType type);
/// What `sum`, `cumsum` and `@` add in (R10.1).
DType sumTypeOf(DType type);
/// The least and the largest integer of a type, u64 by its bits.
int64_t leastOf(DType type);
int64_t largestOf(DType type);

/// `value` rounded once to nearest even; overflow gives infinity, in fp8 the largest number, or with `ieee` NaN (e4m3) and infinity (e5m2).
double roundTo(long double value, DType type, bool ieee = false);
/// The low bits of an integer, extended by the type's sign.
int64_t wrapTo(int64_t value, DType type);
Element convert(Element value, DType from, DType to, bool saturate = false, bool ieee = false);

/// Operators and elementwise functions, by what they are called in the language.
enum class Op : uint8_t {
  Neg,
  Complement,
  Not,
  Abs,
  Floor,
  Ceil,
  Round,
  Trunc,
  Sqrt, // one operand
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  CeilDiv,
  BitAnd,
  BitOr,
  BitXor,
  Min,
  Max,
  MinNum,
  MaxNum, // two of one type
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge, // two of one type, giving bool
};
bool isComparison(Op op);
Element apply(Op op, DType type, Element a, Element b = {});
/// a * b + c with one rounding in f32 and f64 (R8.2); narrow floats compute in f32; integers wrap.
Element fusedMultiplyAdd(DType type, Element a, Element b, Element c);
/// `amount` is of `amountType`; outside 0 to width - 1 everything is shifted out (R8.5).
Element shift(bool left, DType type, Element value, DType amountType, Element amount);
/// Equal, or both NaN.
bool same(DType type, Element a, Element b);

/// The bits of an element in memory, and back.
void store(DType type, Element value, unsigned char *at);
Element load(DType type, const unsigned char *at);
std::string show(DType type, Element value);

} // namespace tessera::fuzz
#endif // TESSERA_TESTS_FUZZ_PROGRAMS_ELEMENT_H
