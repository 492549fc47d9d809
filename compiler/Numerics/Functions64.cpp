//===- Functions64.cpp - mathematical functions of f64 in plain arithmetic ------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The same shapes as in Functions.cpp with more terms: Taylor series on the reduced range, but for erf, whose polynomials are minimax
// (tools/scripts/fit_functions.py).
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

Value scale64(Arithmetic &a, Value y, Value n) {
  Value half = a.shrSigned(n, a.integer(n.getType(), 1));
  return a.mul(a.mul(y, a.power(half)), a.power(a.sub(n, half)));
}

Value expMinusOne64(Arithmetic &a, Value r) {
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
  return scale64(a, a.add(expMinusOne64(a, parts.r), a.constant(input.getType(), 1.0)), parts.n);
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
  Value p = a.add(a.add(expMinusOne64(a, high), low), a.constant(type, 1.0));
  return scale64(a, p, integerOf(a, shifted));
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
  Value e = a.fma(power, expMinusOne64(a, parts.r), a.sub(power, one));
  // From 1/2 on as 1 - 2 / (e + 2), where the error of the quotient counts half or less; below, what the sum and the quotient lost is added.
  Value two = a.constant(type, 2.0), isLarge = a.compare(FP::OGT, e, two);
  Value numerator = a.select(isLarge, two, e), sum = a.add(e, two);
  Value quotient = a.div(numerator, sum), minusQuotient = a.sub(a.constant(type, -0.0), quotient);
  Value lost = a.fma(minusQuotient, a.sub(e, a.sub(sum, two)), a.fma(minusQuotient, sum, numerator));
  quotient = a.add(quotient, a.div(lost, sum));
  return a.make<math::CopySignOp>(a.select(isLarge, a.sub(one, quotient), quotient), x);
}

Value expandErf64(Arithmetic &a, Value x) {
  Type type = x.getType();
  Value size = a.abs(x), z = a.mul(x, x), one = a.constant(type, 1.0);
  // Below 1 an odd polynomial; above, 1 - exp(-x^2) g with g = exp(x^2) erfc(x) as a polynomial in (|x| - 3) / (|x| + 3); from 6 on the result is 1.
  Value p = a.polynomial(z, {5.9606853385209710332e-11, -1.1374955736070149599e-9, 1.4660328722742259544e-8,
                             -1.6350396222864616262e-7, 1.6461008477802701324e-6, -0.000014925595772180905342,
                             0.00012055331132955819588, -0.00085483269814255420875, 0.0052239776248284306696,
                             -0.026866170645077875148, 0.11283791670954884473, -0.37612638903183748178,
                             0.12837916709551257377});
  Value near = a.fma(p, x, x);
  Value far = a.make<arith::MinimumFOp>(size, a.constant(type, 6.0)), three = a.constant(type, 3.0);
  Value t = a.div(a.sub(far, three), a.add(far, three));
  Value g =
      a.polynomial(t, {-8.139090846564930379e-6, -0.000011236342934275253338, 0.000065242891709623250783,
                       0.000045432862945470154453, -0.00059719854992863827148, 0.00070768214473317005097,
                       0.0042691315366698718073, -0.024392496430267883993, 0.071665837932092276256,
                       -0.1501159364657451955, 0.24560380170505003253, -0.3262335600439589932, 0.17900115118136228019});
  Value e = expandExp64(a, a.mul(a.sub(a.constant(type, -0.0), far), far));
  Value result = a.fma(a.sub(a.constant(type, -0.0), e), g, one);
  return a.select(a.compare(FP::OLT, size, one), near, a.make<math::CopySignOp>(result, x));
}

} // namespace tessera::numerics
