//===- Functions64.cpp - mathematical functions of f64 in plain arithmetic ------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The same shapes as in Functions.cpp with more terms: Taylor series on the reduced range throughout, so no coefficient needs a source.  Also pow of f32,
// which needs more than f32 holds.
//
#include "compiler/Numerics/Arithmetic.h"

using namespace mlir;
namespace tessera::numerics {

using FP = arith::CmpFPredicate;
static constexpr double kMagic = 6755399441055744.0; // 1.5 * 2^52: leaves the nearest integer in the low bits
static constexpr double kLn2High = 6.93147180369123816490e-01,
                        kLn2Low = 1.90821492927058770002e-10; // the first has 32 zero bits at its end

/// The integer in the low bits of `shifted`, as i64.
static Value integerOf(Arithmetic &a, Value shifted) {
  Value bits = a.bitcast(shifted, a.i64());
  return a.sub(bits, a.integer(bits.getType(), 0x4338000000000000));
}

/// y * 2^n in two factors, so that denormal results come out.
static Value scale(Arithmetic &a, Value y, Value n) {
  Value half = a.shrSigned(n, a.integer(n.getType(), 1));
  return a.mul(a.mul(y, a.power(half)), a.power(a.sub(n, half)));
}

/// exp(r) - 1 for |r| < 0.55.
static Value expMinusOne(Arithmetic &a, Value r) {
  Value p = a.polynomial(r, {1.0 / 355687428096000, 1.0 / 20922789888000, 1.0 / 1307674368000, 1.0 / 87178291200,
                             1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
                             1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5});
  return a.fma(a.mul(r, r), p, r);
}

namespace {
/// x = n ln 2 + r.
struct ExpParts {
  Value n, r;
};
} // namespace

/// n is 0 for arguments below `unreduced`, which may be up to 0.55.
static ExpParts reduceExp(Arithmetic &a, Value x, double unreduced = 0) {
  Type type = x.getType();
  Value shifted = a.fma(x, a.constant(type, 1.4426950408889634074), a.constant(type, kMagic));
  if (unreduced > 0)
    shifted = a.select(a.compare(FP::OLT, x, a.constant(type, unreduced)), a.constant(type, kMagic), shifted);
  Value n = a.sub(shifted, a.constant(type, kMagic));
  Value r = a.fma(n, a.constant(type, -kLn2High), x);
  return {integerOf(a, shifted), a.fma(n, a.constant(type, -kLn2Low), r)};
}

Value expandExp64(Arithmetic &a, Value input) {
  ExpParts parts = reduceExp(a, a.clamp(input, -747.0, 711.0));
  return scale(a, a.add(expMinusOne(a, parts.r), a.constant(input.getType(), 1.0)), parts.n);
}

Value expandExp2of64(Arithmetic &a, Value input) {
  Type type = input.getType();
  Value x = a.clamp(input, -1077.0, 1026.0);
  Value shifted = a.add(x, a.constant(type, kMagic));
  Value r = a.sub(x, a.sub(shifted, a.constant(type, kMagic)));
  // The product with ln 2 in two parts; the second only matters in the linear term.
  Value high = a.mul(r, a.constant(type, 0.69314718055994530942));
  Value low = a.fma(r, a.constant(type, 0.69314718055994530942), a.sub(a.constant(type, -0.0), high));
  low = a.fma(r, a.constant(type, 2.3190468138462996e-17), low);
  Value p = a.add(a.add(expMinusOne(a, high), low), a.constant(type, 1.0));
  return scale(a, p, integerOf(a, shifted));
}

namespace {
/// x = m * 2^exponent with m in [sqrt(1/2), sqrt(2)); f = m - 1, h = f * f / 2; log m = f - h + tail.
struct LogParts {
  Value exponent, f, h, tail;
};
} // namespace

static LogParts reduceLog(Arithmetic &a, Value x) {
  Type type = x.getType();
  Value small = a.compare(FP::OLT, x, a.constant(type, 0x1p-1022));
  Value scaled = a.select(small, a.mul(x, a.constant(type, 0x1p54)), x);
  Value bits = a.bitcast(scaled, a.i64());
  Type integers = bits.getType();
  Value above = a.sub(bits, a.integer(integers, 0x3fe6a09e667f3bcd)); // sqrt(1/2)
  Value e = a.shrSigned(above, a.integer(integers, 52));
  Value m = a.bitcast(a.sub(bits, a.shl(e, a.integer(integers, 52))), a.f64());
  Value exponent =
      a.sub(a.cast<arith::SIToFPOp>(e, a.f64()), a.select(small, a.constant(type, 54.0), a.constant(type, 0.0)));
  Value f = a.sub(m, a.constant(type, 1.0));
  // log(1 + f) = 2 artanh(s), s = f / (2 + f), |s| < 0.172.
  Value s = a.div(f, a.add(f, a.constant(type, 2.0)));
  Value z = a.mul(s, s);
  Value r = a.mul(z, a.polynomial(z, {2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9,
                                      2.0 / 7, 2.0 / 5, 2.0 / 3}));
  Value h = a.mul(a.mul(f, f), a.constant(type, 0.5));
  return {exponent, f, h, a.mul(s, a.add(h, r))};
}

/// log of 0, negative numbers, infinity and NaN.
static Value logSpecials(Arithmetic &a, Value x, Value result) {
  Type type = x.getType();
  Value zero = a.constant(type, 0.0), infinity = a.constant(type, APFloat::getInf(APFloat::IEEEdouble()));
  result = a.select(a.compare(FP::OEQ, x, infinity), x, result);
  result =
      a.select(a.compare(FP::OEQ, x, zero), a.constant(type, APFloat::getInf(APFloat::IEEEdouble(), true)), result);
  return a.select(a.compare(FP::OGE, x, zero), result, a.constant(type, APFloat::getNaN(APFloat::IEEEdouble())));
}

Value expandLog64(Arithmetic &a, Value x) {
  Type type = x.getType();
  LogParts parts = reduceLog(a, x);
  Value low = a.fma(parts.exponent, a.constant(type, kLn2Low), parts.tail);
  Value sum = a.sub(parts.f, a.sub(parts.h, low));
  return logSpecials(a, x, a.fma(parts.exponent, a.constant(type, kLn2High), sum));
}

Value expandLog2of64(Arithmetic &a, Value x) {
  Type type = x.getType();
  LogParts parts = reduceLog(a, x);
  // log m as high + low, the high part of 21 bits, so that its product with the high part of 1 / ln 2 is exact.
  Value bits = a.bitcast(a.sub(parts.f, parts.h), a.i64());
  Value high = a.bitcast(a.andBits(bits, a.integer(bits.getType(), ~int64_t(0xffffffff))), a.f64());
  Value low = a.add(a.sub(a.sub(parts.f, high), parts.h), parts.tail);
  Value invHigh = a.constant(type, 1.44269504072144627571e+00), invLow = a.constant(type, 1.67517131648865118353e-10);
  Value main = a.mul(high, invHigh);
  Value rest = a.fma(a.add(low, high), invLow, a.mul(low, invHigh));
  Value sum = a.add(parts.exponent, main);
  rest = a.add(rest, a.add(a.sub(parts.exponent, sum), main));
  return logSpecials(a, x, a.add(rest, sum));
}

Value expandTanh64(Arithmetic &a, Value x) {
  Type type = x.getType();
  Value size = a.abs(x), one = a.constant(type, 1.0);
  // e = exp(2 |x|) - 1 without cancellation; tanh = e / (e + 2).  Small arguments are not reduced: n = 1 would cost e a bit.
  ExpParts parts = reduceExp(a, a.make<arith::MinimumFOp>(a.add(size, size), a.constant(type, 44.0)), 0.55);
  Value power = a.power(parts.n);
  Value e = a.fma(power, expMinusOne(a, parts.r), a.sub(power, one));
  // From 1/2 on as 1 - 2 / (e + 2), where the error of the quotient counts half or less; below, what the sum and the quotient lost is added.
  Value two = a.constant(type, 2.0), isLarge = a.compare(FP::OGT, e, two);
  Value numerator = a.select(isLarge, two, e), sum = a.add(e, two);
  Value quotient = a.div(numerator, sum), minusQuotient = a.sub(a.constant(type, -0.0), quotient);
  Value lost = a.fma(minusQuotient, a.sub(e, a.sub(sum, two)), a.fma(minusQuotient, sum, numerator));
  quotient = a.add(quotient, a.div(lost, sum));
  return a.make<math::CopySignOp>(a.select(isLarge, a.sub(one, quotient), quotient), x);
}

Value expandPow(Arithmetic &a, Value x, Value y) {
  Type type = x.getType();
  Value zero = a.constant(type, 0.0), one = a.constant(type, 1.0);
  Value size = a.abs(x);
  Value exponent = a.mul(expandLog2of64(a, a.cast<arith::ExtFOp>(size, a.f64())), a.cast<arith::ExtFOp>(y, a.f64()));
  Value result = a.cast<arith::TruncFOp>(expandExp2of64(a, exponent), a.f32());
  // (-1)^(+-inf) = 1, where 0 * inf gave NaN.
  result = a.select(a.andBits(a.compare(FP::OEQ, size, one), a.compare(FP::ORD, y, y)), one, result);
  Value isInteger = a.compare(FP::OEQ, a.apply<math::FloorOp>(y), y);
  Value half = a.mul(y, a.constant(type, 0.5));
  Value isOdd = a.andBits(isInteger, a.compare(FP::ONE, a.apply<math::FloorOp>(half), half));
  result = a.select(isOdd, a.make<math::CopySignOp>(result, x), result);
  Value finiteNegative =
      a.andBits(a.compare(FP::OLT, x, zero),
                a.compare(FP::OGT, x, a.constant(type, APFloat::getInf(APFloat::IEEEsingle(), true))));
  result = a.select(a.andBits(finiteNegative, a.compare(FP::UNE, a.apply<math::FloorOp>(y), y)),
                    a.constant(type, APFloat::getNaN(APFloat::IEEEsingle())), result);
  result = a.select(a.compare(FP::OEQ, x, one), one, result);
  return a.select(a.compare(FP::OEQ, y, zero), one, result);
}

} // namespace tessera::numerics
