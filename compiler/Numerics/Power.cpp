//===- Power.cpp - powers of f32 and f64 ------------------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// 2^(y log2 |x|).  An error of the exponent is a relative error of the result, and the exponent goes up to 1075: f32 is computed in f64, and f64 with the
// logarithm and the product as sums of two doubles.  Signs and special values are those of IEEE 754 and the same for both types.
//
#include "compiler/Numerics/Arithmetic.h"

using namespace mlir;
namespace tessera::numerics {

using FP = arith::CmpFPredicate;

namespace {
/// An unevaluated sum; |low| is at most about half a unit of the last place of `high`.
struct Pair {
  Value high, low;
};
} // namespace

static Value negative(Arithmetic &a, Value x) { return a.sub(a.constant(x.getType(), -0.0), x); }

/// x + y of |x| >= |y| or x = 0, exactly.
static Pair fastSum(Arithmetic &a, Value x, Value y) {
  Value sum = a.add(x, y);
  return {sum, a.sub(y, a.sub(sum, x))};
}

static Pair product(Arithmetic &a, Value x, Value y) {
  Value high = a.mul(x, y);
  return {high, a.fma(x, y, negative(a, high))};
}

static Pair product(Arithmetic &a, Pair x, Pair y) {
  Pair exact = product(a, x.high, y.high);
  return {exact.high, a.add(exact.low, a.fma(x.high, y.low, a.mul(x.low, y.high)))};
}

/// log2 of a positive finite number with an error of about 2^-65 of the result.
static Pair log2Of(Arithmetic &a, Value x) {
  Type type = x.getType();
  Value small = a.compare(FP::OLT, x, a.constant(type, 0x1p-1022)), one = a.constant(type, 1.0);
  Value bits = a.bitcast(a.select(small, a.mul(x, a.constant(type, 0x1p54)), x), a.i64());
  Type integers = bits.getType();
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)).
  Value e = a.shrSigned(a.sub(bits, a.integer(integers, 0x3fe6a09e667f3bcd)), a.integer(integers, 52));
  Value m = a.bitcast(a.sub(bits, a.shl(e, a.integer(integers, 52))), a.f64());
  Value exponent =
      a.sub(a.cast<arith::SIToFPOp>(e, a.f64()), a.select(small, a.constant(type, 54.0), a.constant(type, 0.0)));
  // log m = 2 artanh(s) with s = f / (2 + f), f = m - 1 exact; 2 + f is a pair, and so is the quotient.
  Value f = a.sub(m, one), two = a.constant(type, 2.0);
  Pair sum = fastSum(a, two, f);
  Value inverse = a.div(one, sum.high), high = a.mul(f, inverse);
  Value rest = a.fma(negative(a, high), sum.low, a.fma(negative(a, high), sum.high, f));
  Pair s = {high, a.mul(rest, inverse)};
  // artanh(s) = s + s z (1/3 + z (1/5 + z/7 + ...)), z = s^2 < 0.0295: from 1/5 on an error of f64 is 2^-65 of the whole.
  Pair z = product(a, s, s);
  Value tail = a.mul(z.high, a.polynomial(z.high, {1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
                                                   1.0 / 9, 1.0 / 7, 1.0 / 5}));
  Pair third = fastSum(a, a.constant(type, 1.0 / 3), tail);
  third.low = a.add(third.low, a.constant(type, 1.850371707708594e-17));
  Pair cube = product(a, s, product(a, z, third));
  Pair artanh = fastSum(a, s.high, cube.high);
  artanh.low = a.add(artanh.low, a.add(cube.low, s.low));
  Pair scaled =
      product(a, artanh, {a.constant(type, 2.8853900817779268), a.constant(type, 4.0710547481862066e-17)}); // 2 / ln 2
  Pair whole = fastSum(a, exponent, scaled.high);
  return fastSum(a, whole.high, a.add(whole.low, scaled.low));
}

/// Signs and special values; `magnitude` is what |x|^y is for positive finite x and finite y.
static Value withSpecials(Arithmetic &a, Value x, Value y, Value magnitude) {
  Type type = x.getType();
  const llvm::fltSemantics &format = cast<FloatType>(Arithmetic::elementOf(type)).getFloatSemantics();
  Value zero = a.constant(type, 0.0), one = a.constant(type, 1.0);
  Value infinity = a.constant(type, APFloat::getInf(format)), nan = a.constant(type, APFloat::getNaN(format));
  Value size = a.abs(x);
  // 0 and infinity on either side: the result is one of them.  (+-1)^(+-inf) = 1.
  Value extreme = a.orBits(a.orBits(a.compare(FP::OEQ, size, zero), a.compare(FP::OEQ, size, infinity)),
                           a.compare(FP::OEQ, a.abs(y), infinity));
  Value grows = a.xorBits(a.compare(FP::OGT, size, one), a.compare(FP::OLT, y, zero));
  Value result = a.select(extreme, a.select(grows, infinity, zero), magnitude);
  result = a.select(a.compare(FP::UNO, x, y), nan, result);
  result = a.select(a.andBits(a.compare(FP::OEQ, size, one), a.compare(FP::ORD, y, y)), one, result);
  Value isInteger = a.compare(FP::OEQ, a.apply<math::FloorOp>(y), y);
  Value half = a.mul(y, a.constant(type, 0.5));
  Value isOdd = a.andBits(isInteger, a.compare(FP::ONE, a.apply<math::FloorOp>(half), half));
  result = a.select(isOdd, a.make<math::CopySignOp>(result, x), result);
  Value finiteNegative =
      a.andBits(a.compare(FP::OLT, x, zero), a.compare(FP::OGT, x, a.constant(type, APFloat::getInf(format, true))));
  result = a.select(a.andBits(finiteNegative, a.compare(FP::UNE, a.apply<math::FloorOp>(y), y)), nan, result);
  result = a.select(a.compare(FP::OEQ, x, one), one, result);
  return a.select(a.compare(FP::OEQ, y, zero), one, result);
}

Value expandPow64(Arithmetic &a, Value x, Value y) {
  Type type = x.getType();
  Pair logarithm = log2Of(a, a.abs(x));
  Pair exponent = product(a, y, logarithm.high);
  exponent.low = a.fma(y, logarithm.low, exponent.low);
  // Past the range the low part would be infinity minus infinity.
  Value inRange = a.compare(FP::OLT, a.abs(exponent.high), a.constant(type, 1100.0));
  Value low = a.select(inRange, exponent.low, a.constant(type, 0.0));
  Value high = a.clamp(exponent.high, -1080.0, 1026.0);
  // 1.5 * 2^52 leaves the nearest integer in the low bits.
  Value shifted = a.add(high, a.constant(type, 6755399441055744.0));
  Value bits = a.bitcast(shifted, a.i64());
  Value n = a.sub(bits, a.integer(bits.getType(), 0x4338000000000000));
  Value r = a.sub(high, a.sub(shifted, a.constant(type, 6755399441055744.0)));
  Pair natural = product(a, r, a.constant(type, 0.69314718055994530942));
  natural.low = a.fma(r, a.constant(type, 2.3190468138462996e-17), natural.low);
  natural.low = a.fma(low, a.constant(type, 0.69314718055994530942), natural.low);
  // exp(high + low) = 1 + e + low (1 + e), e = exp(high) - 1.
  Value e = expMinusOne64(a, natural.high);
  Value power = a.add(a.add(e, a.fma(natural.low, e, natural.low)), a.constant(type, 1.0));
  return withSpecials(a, x, y, scale64(a, power, n));
}

Value expandPow(Arithmetic &a, Value x, Value y) {
  Value logarithm = expandLog2of64(a, a.cast<arith::ExtFOp>(a.abs(x), a.f64()));
  Value exponent = a.mul(logarithm, a.cast<arith::ExtFOp>(y, a.f64()));
  return withSpecials(a, x, y, a.cast<arith::TruncFOp>(expandExp2of64(a, exponent), a.f32()));
}

} // namespace tessera::numerics
