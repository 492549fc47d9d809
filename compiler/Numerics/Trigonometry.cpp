//===- Trigonometry.cpp - sine and cosine of f32 for any argument ---------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// |x| * 2/pi modulo 4 by the method of Payne and Hanek: 96 bits of 2/pi, chosen by the exponent of x, times the 24 bits of x, in integers.  Exact enough for
// every f32; no argument is "too large".  Then a Taylor polynomial on [-pi/4, pi/4].
//
#include "compiler/Numerics/Arithmetic.h"

#include <array>

using namespace mlir;
namespace tessera::numerics {

using FP = arith::CmpFPredicate;
using IP = arith::CmpIPredicate;

namespace {
/// |x| = quadrant * pi/2 + r, |r| <= pi/4; the quadrant (i32) modulo 4.
struct Turn {
  Value quadrant, r;
};
} // namespace

/// 32 zero bits, then the binary fraction of 2/pi.
static constexpr std::array<uint32_t, 8> kTwoOverPi = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                                       0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};

static Turn reduceTurn(Arithmetic &a, Value x) {
  Value size = a.abs(x);
  Value bits = a.bitcast(size, a.i32());
  Type narrow = bits.getType(), wide = Arithmetic::withElement(narrow, a.i64());
  auto extend = [&](Value v) { return a.cast<arith::ExtUIOp>(v, a.i64()); };
  auto bit = [&](Value v, int64_t mask) {
    return a.compare(IP::ne, a.andBits(v, a.integer(narrow, mask)), a.integer(narrow, 0));
  };
  // The window of 2/pi * 2^e begins at weight 2^24: what is left of it is a multiple of 4 even for the last bit of x.
  Value start = a.sub(a.shrUnsigned(bits, a.integer(narrow, 23)), a.integer(narrow, 127 - 7));
  start = a.make<arith::MinSIOp>(a.make<arith::MaxSIOp>(start, a.integer(narrow, 0)), a.integer(narrow, 134));
  Value word = a.shrUnsigned(start, a.integer(narrow, 5));
  std::array<Value, 8> words;
  for (size_t i = 0; i < words.size(); ++i)
    words[i] = a.integer(narrow, int32_t(kTwoOverPi[i]));
  Value one = bit(word, 1), two = bit(word, 2), four = bit(word, 4);
  std::array<Value, 6> byOne;
  std::array<Value, 4> window;
  for (size_t i = 0; i < byOne.size(); ++i)
    byOne[i] = a.select(one, words[i + 1], words[i]);
  for (size_t i = 0; i < window.size(); ++i)
    window[i] = extend(a.select(four, words[i + 4], a.select(two, byOne[i + 2], byOne[i])));
  auto shift32 = a.integer(wide, 32);
  Value high = a.orBits(a.shl(window[0], shift32), window[1]), low = a.orBits(a.shl(window[2], shift32), window[3]);
  Value shift = extend(a.andBits(start, a.integer(narrow, 31)));
  Value carried = a.shrUnsigned(a.shrUnsigned(low, a.integer(wide, 1)), a.sub(a.integer(wide, 63), shift));
  high = a.orBits(a.shl(high, shift), carried);
  low = a.shrUnsigned(a.shl(low, shift), shift32);
  Value mantissa = extend(a.orBits(a.andBits(bits, a.integer(narrow, 0x7fffff)), a.integer(narrow, 0x800000)));
  // |x| * 2/pi modulo 4, in units of 2^-62.
  Value product = a.add(a.mul(high, mantissa), a.shrUnsigned(a.mul(low, mantissa), shift32));
  Value quadrant = a.shrUnsigned(a.add(product, a.integer(wide, int64_t(1) << 61)), a.integer(wide, 62));
  Value fraction = a.sub(product, a.shl(quadrant, a.integer(wide, 62)));
  Value angle = a.cast<arith::SIToFPOp>(fraction, a.f64());
  angle = a.mul(angle, a.constant(angle.getType(), 1.57079632679489661923 * 0x1p-62));
  Value small = a.compare(FP::OLT, size, a.constant(x.getType(), 0.78));
  return {a.select(small, a.integer(narrow, 0), a.cast<arith::TruncIOp>(quadrant, a.i32())),
          a.select(small, size, a.cast<arith::TruncFOp>(angle, a.f32()))};
}

/// sin(r + quadrant * pi/2).
static Value sineOf(Arithmetic &a, Value r, Value quadrant) {
  Type type = r.getType(), integers = quadrant.getType();
  Value z = a.mul(r, r);
  Value sine = a.fma(a.mul(z, a.polynomial(z, {1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6})), r, r);
  Value tail = a.polynomial(z, {-1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24});
  Value cosine = a.fma(a.mul(z, z), tail, a.fma(z, a.constant(type, -0.5), a.constant(type, 1.0)));
  Value zero = a.integer(integers, 0);
  Value result = a.select(a.compare(IP::ne, a.andBits(quadrant, a.integer(integers, 1)), zero), cosine, sine);
  Value sign = a.shl(a.andBits(quadrant, a.integer(integers, 2)), a.integer(integers, 30));
  return a.bitcast(a.xorBits(a.bitcast(result, a.i32()), sign), a.f32());
}

/// NaN for infinities and NaN.
static Value finiteOnly(Arithmetic &a, Value x, Value result) {
  Value finite = a.compare(FP::OLT, a.abs(x), a.constant(x.getType(), APFloat::getInf(APFloat::IEEEsingle())));
  return a.select(finite, result, a.constant(x.getType(), APFloat::getNaN(APFloat::IEEEsingle())));
}

Value expandSin(Arithmetic &a, Value x) {
  Turn turn = reduceTurn(a, x);
  Value bits = a.bitcast(x, a.i32());
  Value sign = a.andBits(bits, a.integer(bits.getType(), int32_t(0x80000000)));
  Value result = a.bitcast(a.xorBits(a.bitcast(sineOf(a, turn.r, turn.quadrant), a.i32()), sign), a.f32());
  return finiteOnly(a, x, result);
}

Value expandCos(Arithmetic &a, Value x) {
  Turn turn = reduceTurn(a, x);
  return finiteOnly(a, x, sineOf(a, turn.r, a.add(turn.quadrant, a.integer(turn.quadrant.getType(), 1))));
}

} // namespace tessera::numerics
