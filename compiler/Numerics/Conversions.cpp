//===- Conversions.cpp - between element types, by the language's rules ---------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Every conversion rounds once.  Where hardware or libraries would round twice (f64 -> bf16, i64 -> f16) the first step rounds to odd, which a second
// rounding to fewer bits cannot see.  fp8 is integer arithmetic on every target.
//
#include "compiler/Numerics/Arithmetic.h"

#include <cmath>

using namespace mlir;
namespace tessera::numerics {

using FP = arith::CmpFPredicate;
using IP = arith::CmpIPredicate;

bool isNarrow(Type type) {
  Type element = Arithmetic::elementOf(type);
  return element.isF16() || element.isBF16();
}

bool isEightBit(Type type) {
  auto element = dyn_cast<FloatType>(Arithmetic::elementOf(type));
  return element && element.getWidth() == 8;
}

namespace {
/// What differs between the two fp8 formats.
struct EightBit {
  int mantissa, bias, largest, infinity, nan; ///< the last three without sign; infinity: what `ieee` overflow gives
};
constexpr EightBit kE4M3{3, 7, 0x7e, 0x7f, 0x7f}, kE5M2{2, 15, 0x7b, 0x7c, 0x7e};
} // namespace

static EightBit formatOf(Type element) { return isa<Float8E5M2Type>(element) ? kE5M2 : kE4M3; }

static Value fromEightBit(Arithmetic &a, Value x) {
  EightBit format = formatOf(Arithmetic::elementOf(x.getType()));
  Value bits = a.cast<arith::ExtUIOp>(a.bitcast(x, a.i8()), a.i32());
  Type type = bits.getType();
  Value size = a.andBits(bits, a.integer(type, 0x7f));
  // The same fields in the place of f32's; the product with a power of two corrects the bias, exactly, subnormals included.
  Value value = a.bitcast(a.shl(size, a.integer(type, 23 - format.mantissa)), a.f32());
  value = a.mul(value, a.constant(value.getType(), std::ldexp(1.0, 127 - format.bias)));
  if (format.infinity != format.nan)
    value = a.select(a.compare(IP::eq, size, a.integer(type, format.infinity)),
                     a.constant(value.getType(), APFloat::getInf(APFloat::IEEEsingle())), value);
  Value isNan = format.infinity == format.nan ? a.compare(IP::eq, size, a.integer(type, format.nan))
                                              : a.compare(IP::ugt, size, a.integer(type, format.infinity));
  value = a.select(isNan, a.constant(value.getType(), APFloat::getNaN(APFloat::IEEEsingle())), value);
  Value sign = a.shl(a.andBits(bits, a.integer(type, 0x80)), a.integer(type, 24));
  return a.bitcast(a.orBits(a.bitcast(value, a.i32()), sign), a.f32());
}

/// f32 to fp8, nearest even.
static Value toEightBit(Arithmetic &a, Value x, Type element, bool ieeeOverflow) {
  EightBit format = formatOf(element);
  int shift = 23 - format.mantissa;
  Value bits = a.bitcast(x, a.i32());
  Type type = bits.getType();
  Value size = a.andBits(bits, a.integer(type, 0x7fffffff));
  Value odd = a.andBits(a.shrUnsigned(size, a.integer(type, shift)), a.integer(type, 1));
  Value rounded = a.add(size, a.add(odd, a.integer(type, (1 << (shift - 1)) - 1)));
  Value normal = a.sub(a.shrUnsigned(rounded, a.integer(type, shift)),
                       a.integer(type, int64_t(127 - format.bias) << format.mantissa));
  // Below the smallest normal number the spacing is constant: adding a number of that spacing rounds, and leaves the result in the low bits.
  double spacing = std::ldexp(1.0, 23 + 1 - format.bias - format.mantissa);
  Value magnitude = a.bitcast(size, a.f32());
  Value sum = a.bitcast(a.add(magnitude, a.constant(magnitude.getType(), spacing)), a.i32());
  Value subnormal = a.andBits(sum, a.integer(type, 0xff));
  Value isSubnormal = a.compare(FP::OLT, magnitude, a.constant(magnitude.getType(), std::ldexp(1.0, 1 - format.bias)));
  Value result = a.select(isSubnormal, subnormal, normal);
  Value overflows = a.compare(IP::sgt, result, a.integer(type, format.largest));
  result = a.select(overflows, a.integer(type, ieeeOverflow ? format.infinity : format.largest), result);
  result = a.select(a.isNan(x), a.integer(type, format.nan), result);
  result = a.orBits(result, a.andBits(a.shrUnsigned(bits, a.integer(type, 24)), a.integer(type, 0x80)));
  return a.bitcast(a.cast<arith::TruncIOp>(result, a.i8()), element);
}

/// f32 -> bf16, nearest even, in integers: for targets without the instruction.
static Value roundToBf16(Arithmetic &a, Value x) {
  Value bits = a.bitcast(x, a.i32());
  Type type = bits.getType();
  Value odd = a.andBits(a.shrUnsigned(bits, a.integer(type, 16)), a.integer(type, 1));
  Value rounded = a.add(bits, a.add(odd, a.integer(type, 0x7fff)));
  Value quiet = a.orBits(bits, a.integer(type, 0x00400000));
  Value result = a.select(a.isNan(x), quiet, rounded);
  Value high = a.cast<arith::TruncIOp>(a.shrUnsigned(result, a.integer(type, 16)), a.i16());
  return a.bitcast(high, BFloat16Type::get(x.getContext()));
}

/// f64 -> f32 rounded to odd: a further rounding to fewer bits is then as if there had been one only.
static Value roundToOdd(Arithmetic &a, Value x) {
  Value nearest = a.cast<arith::TruncFOp>(x, a.f32());
  Value back = a.cast<arith::ExtFOp>(nearest, a.f64());
  Value bits = a.bitcast(nearest, a.i32());
  Type type = bits.getType();
  // Inexact: the two floats around x differ in the last bit; take the odd one.  Away from zero means one down in magnitude.
  Value exact = a.compare(FP::UEQ, back, x);
  Value tooLarge = a.compare(FP::OGT, a.abs(back), a.abs(x));
  Value toward = a.select(tooLarge, a.sub(bits, a.integer(type, 1)), bits);
  Value odd = a.orBits(toward, a.integer(type, 1));
  return a.bitcast(a.select(exact, bits, odd), a.f32());
}

Value narrowFloat(Arithmetic &a, Value x, Type element, ConvertMode mode) {
  Type from = Arithmetic::elementOf(x.getType());
  if (from == element)
    return x;
  if (from.isF64() && element.getIntOrFloatBitWidth() < 32)
    return narrowFloat(a, roundToOdd(a, x), element, mode);
  if (isEightBit(element))
    return toEightBit(a, x, element, mode.ieeeOverflow);
  if (element.isBF16() && mode.host)
    return roundToBf16(a, x);
  return a.cast<arith::TruncFOp>(x, element);
}

Value widenToF32(Arithmetic &a, Value x, bool host) {
  if (isEightBit(x.getType()))
    return fromEightBit(a, x);
  if (!isNarrow(x.getType()))
    return x;
  if (!host || Arithmetic::elementOf(x.getType()).isF16())
    return a.cast<arith::ExtFOp>(x, a.f32());
  // In integers: LLVM narrows what it sees to be an extension around a maximum, and has no bf16 to compute the maximum in.
  Value bits = a.cast<arith::ExtUIOp>(a.bitcast(x, a.i16()), a.i32());
  return a.bitcast(a.shl(bits, a.integer(bits.getType(), 16)), a.f32());
}

static Value convertFloat(Arithmetic &a, Value x, Type element, ConvertMode mode) {
  x = widenToF32(a, x, mode.host);
  if (Arithmetic::elementOf(x.getType()).isF32() && element.isF64())
    return a.cast<arith::ExtFOp>(x, element);
  return narrowFloat(a, x, element, mode);
}

/// Truncates, saturates, NaN -> 0.
static Value floatToInteger(Arithmetic &a, Value x, Type element, ConvertMode mode) {
  bool toUnsigned = mode.toUnsigned;
  x = widenToF32(a, x, mode.host);
  Type type = x.getType();
  unsigned width = cast<IntegerType>(element).getWidth();
  double high = std::ldexp(1.0, toUnsigned ? width : width - 1), low = toUnsigned ? -1.0 : -std::ldexp(1.0, width - 1);
  Value tooHigh = a.compare(FP::OGE, x, a.constant(type, high));
  Value tooLow =
      toUnsigned ? a.compare(FP::OLE, x, a.constant(type, low)) : a.compare(FP::OLT, x, a.constant(type, low));
  Value nan = a.isNan(x);
  Value safe = a.select(a.orBits(a.orBits(tooHigh, tooLow), nan), a.constant(type, 0.0), x);
  Value result = toUnsigned ? a.cast<arith::FPToUIOp>(safe, element) : a.cast<arith::FPToSIOp>(safe, element);
  Type integers = result.getType();
  APInt most = toUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  APInt least = toUnsigned ? APInt(width, 0) : APInt::getSignedMinValue(width);
  result = a.select(tooHigh, a.integer(integers, int64_t(most.getZExtValue())), result);
  return a.select(tooLow, a.integer(integers, int64_t(least.getZExtValue())), result);
}

/// `x` rounded to odd where it is large: the last `bits` bits become zeros, and the bit above them says that something was dropped.
static Value dropToOdd(Arithmetic &a, Value x, int bits, int64_t large, bool isUnsigned) {
  Type type = x.getType();
  int64_t mask = (int64_t(1) << bits) - 1;
  Value zero = a.integer(type, 0);
  Value dropped = a.compare(IP::ne, a.andBits(x, a.integer(type, mask)), zero);
  Value sticky = a.orBits(a.andBits(x, a.integer(type, ~mask)), a.select(dropped, a.integer(type, mask + 1), zero));
  Value isLarge = isUnsigned ? a.compare(IP::ugt, x, a.integer(type, large))
                             : a.orBits(a.compare(IP::sgt, x, a.integer(type, large)),
                                        a.compare(IP::slt, x, a.integer(type, -large)));
  return a.select(isLarge, sticky, x);
}

/// Rounded once, to nearest even.
static Value integerToFloat(Arithmetic &a, Value x, Type element, ConvertMode mode) {
  auto direct = [&](Value integer, Type to) {
    return mode.fromUnsigned ? a.cast<arith::UIToFPOp>(integer, to) : a.cast<arith::SIToFPOp>(integer, to);
  };
  unsigned width = cast<IntegerType>(Arithmetic::elementOf(x.getType())).getWidth();
  if (element.getIntOrFloatBitWidth() >= 32)
    return direct(x, element);
  if (width <= 16) // exact in f32
    return narrowFloat(a, direct(x, a.f32()), element, mode);
  // What the wider float cannot hold is dropped, but that something was dropped is kept, so that the second rounding sees it.
  if (width == 32)
    return narrowFloat(a, direct(dropToOdd(a, x, 8, int64_t(1) << 24, mode.fromUnsigned), a.f32()), element, mode);
  return narrowFloat(a, direct(dropToOdd(a, x, 11, int64_t(1) << 53, mode.fromUnsigned), a.f64()), element, mode);
}

static Value integerToInteger(Arithmetic &a, Value x, Type element, bool fromUnsigned, bool toUnsigned, bool saturate) {
  unsigned from = cast<IntegerType>(Arithmetic::elementOf(x.getType())).getWidth(),
           to = cast<IntegerType>(element).getWidth();
  if (from < to && saturate && toUnsigned && !fromUnsigned) // nothing is too large, but what is negative becomes 0
    x = a.make<arith::MaxSIOp>(x, a.integer(x.getType(), 0));
  if (from < to)
    return fromUnsigned || from == 1 ? a.cast<arith::ExtUIOp>(x, element) : a.cast<arith::ExtSIOp>(x, element);
  if (saturate) {
    Type type = x.getType();
    APInt most = (toUnsigned ? APInt::getMaxValue(to) : APInt::getSignedMaxValue(to)).zext(from);
    Value high = a.integer(type, int64_t(most.getZExtValue()));
    if (fromUnsigned) {
      x = a.make<arith::MinUIOp>(x, high);
    } else {
      APInt least = toUnsigned ? APInt(from, 0) : APInt::getSignedMinValue(to).sext(from);
      x = a.make<arith::MinSIOp>(a.make<arith::MaxSIOp>(x, a.integer(type, least.getSExtValue())), high);
    }
  }
  return from == to ? x : a.cast<arith::TruncIOp>(x, element);
}

Value convertElement(Arithmetic &a, Value x, Type to, ConvertMode mode) {
  Type from = Arithmetic::elementOf(x.getType());
  if (from == to)
    return x;
  if (to.isInteger(1)) {
    if (isa<FloatType>(from)) {
      x = widenToF32(a, x, mode.host);
      return a.compare(FP::UNE, x, a.constant(x.getType(), 0.0));
    }
    return a.compare(IP::ne, x, a.integer(x.getType(), 0));
  }
  if (isa<FloatType>(from))
    return isa<FloatType>(to) ? convertFloat(a, x, to, mode) : floatToInteger(a, x, to, mode);
  mode.fromUnsigned |= from.isInteger(1);
  if (isa<FloatType>(to))
    return integerToFloat(a, x, to, mode);
  return integerToInteger(a, x, to, mode.fromUnsigned, mode.toUnsigned, mode.saturate);
}

} // namespace tessera::numerics
