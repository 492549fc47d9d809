//===- Functions.cpp - mathematical functions of f32 in plain arithmetic --------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Range reduction, a polynomial, reconstruction, selections for the special values; no table, no branch, no conversion that could be undefined.
// Rounding to an integer is the addition of 1.5 * 2^23, which leaves the integer in the low bits; a NaN passes through all of it and makes the result NaN.
// Coefficients: Taylor or minimax on the reduced range; the error of each function is measured, not derived.
//
#include "compiler/Numerics/Arithmetic.h"

using namespace mlir;
namespace tessera::numerics {

static constexpr double kMagic = 12582912.0; // 1.5 * 2^23

/// 2^n for the integer that `shifted` = n + kMagic holds in its low bits, times `y`.  Two factors, so that denormal results come out.
static Value scale(Arithmetic &a, Value y, Value shifted) {
  Value bits = a.bitcast(shifted, a.i32());
  Type type = bits.getType();
  Value n = a.sub(bits, a.integer(type, 0x4b400000));
  Value half = a.shrSigned(n, a.integer(type, 1)), rest = a.sub(n, half);
  return a.mul(a.mul(y, a.power(half)), a.power(rest));
}

Value expandExp(Arithmetic &a, Value input) {
  Type type = input.getType();
  Value x = a.clamp(input, -106.0, 90.0);
  Value shifted = a.fma(x, a.constant(type, 1.44269504088896341), a.constant(type, kMagic));
  Value n = a.sub(shifted, a.constant(type, kMagic));
  // ln 2 in two parts, the first exact in the product with n.
  Value r = a.fma(n, a.constant(type, -0.693145751953125), x);
  r = a.fma(n, a.constant(type, -1.42860682030941723e-6), r);
  Value p = a.polynomial(r, {1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0});
  return scale(a, p, shifted);
}

Value expandExp2(Arithmetic &a, Value input) {
  Type type = input.getType();
  Value x = a.clamp(input, -152.0, 130.0);
  Value shifted = a.add(x, a.constant(type, kMagic));
  Value r = a.sub(x, a.sub(shifted, a.constant(type, kMagic)));
  Value p = a.polynomial(r, {1.52527338040598e-5, 1.54035303933816e-4, 1.33335581464284e-3, 9.61812910762848e-3,
                             5.55041086648216e-2, 2.40226506959101e-1, 6.93147180559945e-1, 1.0});
  return scale(a, p, shifted);
}

namespace {
/// x = m * 2^e with m in [sqrt(1/2), sqrt(2)); f = m - 1 and the parts of log m = f - h + s * (h + R).
struct LogParts {
  Value exponent, f, h, tail;
};
} // namespace

static LogParts reduceLog(Arithmetic &a, Value x) {
  Type type = x.getType();
  Value small = a.compare(arith::CmpFPredicate::OLT, x, a.constant(type, 1.17549435e-38));
  Value scaled = a.select(small, a.mul(x, a.constant(type, 8388608.0)), x);
  Value bits = a.bitcast(scaled, a.i32());
  Type integers = bits.getType();
  Value above = a.sub(bits, a.integer(integers, 0x3f3504f3)); // sqrt(1/2)
  Value e = a.shrSigned(above, a.integer(integers, 23));
  Value m = a.bitcast(a.sub(bits, a.shl(e, a.integer(integers, 23))), a.f32());
  Value exponent = a.cast<arith::SIToFPOp>(e, a.f32());
  exponent = a.sub(exponent, a.select(small, a.constant(type, 23.0), a.constant(type, 0.0)));
  Value f = a.sub(m, a.constant(type, 1.0));
  Value s = a.div(f, a.add(f, a.constant(type, 2.0)));
  Value z = a.mul(s, s);
  Value r = a.mul(z, a.polynomial(z, {0.24279078841, 0.28498786688, 0.40000972152, 0.66666662693}));
  Value h = a.mul(a.mul(f, f), a.constant(type, 0.5));
  return {exponent, f, h, a.mul(s, a.add(h, r))};
}

/// log of 0, negative numbers, infinity and NaN.
static Value logSpecials(Arithmetic &a, Value x, Value result) {
  Type type = x.getType();
  Value zero = a.constant(type, 0.0);
  Value infinity = a.constant(type, APFloat::getInf(APFloat::IEEEsingle()));
  result = a.select(a.compare(arith::CmpFPredicate::OEQ, x, infinity), x, result);
  result = a.select(a.compare(arith::CmpFPredicate::OEQ, x, zero),
                    a.constant(type, APFloat::getInf(APFloat::IEEEsingle(), true)), result);
  return a.select(a.compare(arith::CmpFPredicate::UGE, x, zero),
                  a.select(a.compare(arith::CmpFPredicate::UNO, x, x), x, result),
                  a.constant(type, APFloat::getNaN(APFloat::IEEEsingle())));
}

Value expandLog(Arithmetic &a, Value x) {
  Type type = x.getType();
  LogParts parts = reduceLog(a, x);
  // e * ln 2 in two parts, the first exact.
  Value low = a.fma(parts.exponent, a.constant(type, 9.0580006145e-6), parts.tail);
  Value sum = a.sub(parts.f, a.sub(parts.h, low));
  return logSpecials(a, x, a.fma(parts.exponent, a.constant(type, 6.9313812256e-1), sum));
}

Value expandLog2(Arithmetic &a, Value x) {
  Type type = x.getType();
  LogParts parts = reduceLog(a, x);
  // log m as high + low, the high part of 12 bits, so that its product with the high part of 1 / ln 2 is exact.
  Value high = a.sub(parts.f, parts.h);
  Value bits = a.bitcast(high, a.i32());
  high = a.bitcast(a.andBits(bits, a.integer(bits.getType(), 0xfffff000)), a.f32());
  Value low = a.add(a.sub(a.sub(parts.f, high), parts.h), parts.tail);
  Value invHigh = a.constant(type, 1.4428710938), invLow = a.constant(type, -1.7605285393e-4);
  Value sum = a.mul(a.add(low, high), invLow);
  sum = a.fma(low, invHigh, sum);
  sum = a.fma(high, invHigh, sum);
  return logSpecials(a, x, a.add(sum, parts.exponent));
}

Value expandTanh(Arithmetic &a, Value x) {
  Type type = x.getType();
  Value size = a.abs(x);
  // Near 0 an odd polynomial; elsewhere 1 - 2 / (exp(2 |x|) + 1), whose subtraction no longer cancels.
  Value z = a.mul(x, x);
  Value p =
      a.polynomial(z, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1});
  Value near = a.fma(a.mul(p, z), x, x);
  Value doubled = a.make<arith::MinimumFOp>(a.add(size, size), a.constant(type, 40.0));
  Value e = expandExp(a, doubled);
  Value far = a.sub(a.constant(type, 1.0), a.div(a.constant(type, 2.0), a.add(e, a.constant(type, 1.0))));
  // The sign of x for both, -0 included.
  return a.make<math::CopySignOp>(
      a.select(a.compare(arith::CmpFPredicate::OLT, size, a.constant(type, 0.625)), near, far), x);
}

Value expandErf(Arithmetic &a, Value x) {
  Type type = x.getType();
  Value size = a.abs(x), z = a.mul(x, x);
  // Below 0.925 an odd polynomial; above, 1 - exp(-t * (1 + q(t))); from 4 on the result is 1.
  Value p = a.polynomial(z, {-5.94121657419e-4, 4.98346822642e-3, -2.6760027863e-2, 1.12816358154e-1, -3.76124766463e-1,
                             1.28379147023e-1});
  Value near = a.fma(p, x, x);
  Value t = a.make<arith::MinimumFOp>(size, a.constant(type, 4.0));
  Value q = a.polynomial(t, {1.07634219834e-5, -3.1806211607e-4, 3.62292836977e-3, -2.37202057205e-2, 1.06187632906e-1,
                             6.35181485239e-1, 1.28640966891e-1});
  Value exponent = a.fma(q, a.sub(a.constant(type, -0.0), t), a.sub(a.constant(type, -0.0), t));
  Value far = a.make<math::CopySignOp>(a.sub(a.constant(type, 1.0), expandExp(a, exponent)), x);
  return a.select(a.compare(arith::CmpFPredicate::OLT, size, a.constant(type, 0.925)), near, far);
}

} // namespace tessera::numerics
