//===- Trigonometry64.cpp - sine and cosine of f64 for any argument -------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// As Trigonometry.cpp, with more of everything: 192 bits of 2/pi times the 53 bits of x, of which 128 are kept, and the angle as a sum of two doubles.  No f64
// comes closer to a multiple of pi/2 than 2^-61 of a quadrant, so 64 good bits are left in the worst case.  One path for all arguments: a tile has no
// branches, and a second, shorter reduction for small ones would be computed on top of this one.  The words of 2/pi come from tools/scripts/fit_functions.py.
//
#include "compiler/Numerics/Arithmetic.h"

#include <array>

using namespace mlir;
namespace tessera::numerics {

using FP = arith::CmpFPredicate;
using IP = arith::CmpIPredicate;

namespace {
/// |x| = quadrant * pi/2 + high + low, |high| <= pi/4; the quadrant (i64) modulo 4.
struct Turn {
  Value quadrant, high, low;
};
} // namespace

/// 64 zero bits, then the binary fraction of 2/pi.
static constexpr std::array<uint64_t, 20> kTwoOverPi = {0,
                                                        0xa2f9836e4e441529,
                                                        0xfc2757d1f534ddc0,
                                                        0xdb6295993c439041,
                                                        0xfe5163abdebbc561,
                                                        0xb7246e3a424dd2e0,
                                                        0x06492eea09d1921c,
                                                        0xfe1deb1cb129a73e,
                                                        0xe88235f52ebb4484,
                                                        0xe99c7026b45f7e41,
                                                        0x3991d639835339f4,
                                                        0x9c845f8bbdf9283b,
                                                        0x1ff897ffde05980f,
                                                        0xef2f118b5a0a6d1f,
                                                        0x6d367ecf27cb09b7,
                                                        0x4f463f669e5fea2d,
                                                        0x7527bac7ebe5f17b,
                                                        0x3d0739f78a5292ea,
                                                        0x6bfb5fb11f8d5d08,
                                                        0x56033046fc7b6bab};

/// The 192 bits of kTwoOverPi from bit `start` on.
static std::array<Value, 3> windowOf(Arithmetic &a, Value start) {
  Type type = start.getType();
  std::array<Value, 20> words;
  for (size_t i = 0; i < words.size(); ++i)
    words[i] = a.integer(type, int64_t(kTwoOverPi[i]));
  // From the highest bit of the word's number down; what later steps cannot reach any more is left out.
  for (size_t step : {16, 8, 4, 2, 1}) {
    Value taken = a.compare(IP::ne, a.andBits(start, a.integer(type, int64_t(step) << 6)), a.integer(type, 0));
    size_t reach = std::min(step + 3, words.size() - step);
    for (size_t i = 0; i < reach; ++i)
      words[i] = a.select(taken, words[i + step], words[i]);
  }
  Value shift = a.andBits(start, a.integer(type, 63)), rest = a.sub(a.integer(type, 63), shift);
  std::array<Value, 3> window;
  for (size_t i = 0; i < window.size(); ++i) {
    Value carried = a.shrUnsigned(a.shrUnsigned(words[i + 1], a.integer(type, 1)), rest);
    window[i] = a.orBits(a.shl(words[i], shift), carried);
  }
  return window;
}

/// Upper half of the product of `x` < 2^53 and `y` < 2^64, by halves of 32 bits, of which every target multiplies many at a time.
static Value multiplyHigh(Arithmetic &a, Value x, Value y) {
  Type type = x.getType();
  Value half = a.integer(type, 32), mask = a.integer(type, 0xffffffff);
  Value xHigh = a.shrUnsigned(x, half), xLow = a.andBits(x, mask);
  Value yHigh = a.shrUnsigned(y, half), yLow = a.andBits(y, mask);
  Value middle = a.add(a.mul(xLow, yHigh), a.shrUnsigned(a.mul(xLow, yLow), half));
  Value other = a.add(a.mul(xHigh, yLow), a.andBits(middle, mask));
  return a.add(a.mul(xHigh, yHigh), a.add(a.shrUnsigned(middle, half), a.shrUnsigned(other, half)));
}

static Turn reduceTurn(Arithmetic &a, Value x) {
  Type type = x.getType();
  Value size = a.abs(x), bits = a.bitcast(size, a.i64());
  Type integers = bits.getType();
  auto number = [&](int64_t value) { return a.integer(integers, value); };
  // The window begins where the bits of 2/pi times the last bit of x weigh 2; those above make multiples of 4.
  Value start = a.sub(a.shrUnsigned(bits, number(52)), number(1013));
  start = a.make<arith::MinSIOp>(a.make<arith::MaxSIOp>(start, number(0)), number(1033));
  std::array<Value, 3> window = windowOf(a, start);
  Value mantissa = a.orBits(a.andBits(bits, number((int64_t(1) << 52) - 1)), number(int64_t(1) << 52));
  // |x| * 2/pi modulo 4 in units of 2^-126: 64 bits and 64 bits.
  Value middle = a.mul(mantissa, window[1]);
  Value lower = a.add(middle, multiplyHigh(a, mantissa, window[2]));
  Value upper = a.add(a.mul(mantissa, window[0]), multiplyHigh(a, mantissa, window[1]));
  upper = a.add(upper, a.select(a.compare(IP::ult, lower, middle), number(1), number(0)));
  Value quadrant = a.shrUnsigned(a.add(upper, number(int64_t(1) << 61)), number(62));
  upper = a.sub(upper, a.shl(quadrant, number(62)));
  // Four pieces of 32 bits as doubles, the first with the sign; their sum as two doubles.  Where the angle is close to 0 the first two cancel exactly.
  auto piece = [&](Value word, bool isUpper, bool isSigned, double unit) {
    Value half = a.cast<arith::TruncIOp>(isUpper ? a.shrUnsigned(word, number(32)) : word, a.i32());
    Value value = isSigned ? a.cast<arith::SIToFPOp>(half, a.f64()) : a.cast<arith::UIToFPOp>(half, a.f64());
    return a.mul(value, a.constant(type, unit));
  };
  Value first = piece(upper, true, true, 0x1p-30), second = piece(upper, false, false, 0x1p-62);
  Value sum = a.add(first, second);
  Value rest = a.add(a.sub(second, a.sub(sum, first)), piece(lower, true, false, 0x1p-94));
  Value turns = a.add(sum, rest);
  Value tail = a.add(a.sub(rest, a.sub(turns, sum)), piece(lower, false, false, 0x1p-126));
  Value halfPi = a.constant(type, 0x1.921fb54442d18p+0);
  Value high = a.mul(turns, halfPi);
  Value low = a.fma(turns, halfPi, a.sub(a.constant(type, -0.0), high));
  low = a.fma(tail, halfPi, a.fma(turns, a.constant(type, 6.123233995736766e-17), low));
  Value small = a.compare(FP::OLT, size, a.constant(type, 0.78));
  return {a.select(small, number(0), quadrant), a.select(small, size, high),
          a.select(small, a.constant(type, 0.0), low)};
}

/// sin(high + low + quadrant * pi/2).
static Value sineOf(Arithmetic &a, const Turn &turn, Value quadrant) {
  Value r = turn.high, low = turn.low;
  Type type = r.getType(), integers = quadrant.getType();
  Value one = a.constant(type, 1.0), z = a.mul(r, r);
  Value half = a.mul(z, a.constant(type, 0.5)), rest = a.sub(one, half);
  // Taylor series: on |r| <= pi/4 what follows is below 2^-62 of the result.
  Value p = a.polynomial(z, {1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800,
                             1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6});
  Value sine = a.add(r, a.fma(a.mul(z, r), p, a.mul(low, rest)));
  Value q = a.polynomial(z, {1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320,
                             -1.0 / 720, 1.0 / 24});
  // 1 - z/2 rounds; what it lost is added again with the tail.
  Value lost = a.sub(a.sub(one, rest), half);
  Value cosine = a.add(rest, a.add(lost, a.fma(a.mul(z, z), q, a.mul(a.sub(a.constant(type, -0.0), r), low))));
  Value zero = a.integer(integers, 0);
  Value result = a.select(a.compare(IP::ne, a.andBits(quadrant, a.integer(integers, 1)), zero), cosine, sine);
  Value sign = a.shl(a.andBits(quadrant, a.integer(integers, 2)), a.integer(integers, 62));
  return a.bitcast(a.xorBits(a.bitcast(result, a.i64()), sign), a.f64());
}

/// NaN for infinities and NaN.
static Value finiteOnly(Arithmetic &a, Value x, Value result) {
  Value finite = a.compare(FP::OLT, a.abs(x), a.constant(x.getType(), APFloat::getInf(APFloat::IEEEdouble())));
  return a.select(finite, result, a.constant(x.getType(), APFloat::getNaN(APFloat::IEEEdouble())));
}

Value expandSin64(Arithmetic &a, Value x) {
  Turn turn = reduceTurn(a, x);
  Value bits = a.bitcast(x, a.i64());
  Value sign = a.andBits(bits, a.integer(bits.getType(), std::numeric_limits<int64_t>::min()));
  Value sine = a.bitcast(sineOf(a, turn, turn.quadrant), a.i64());
  return finiteOnly(a, x, a.bitcast(a.xorBits(sine, sign), a.f64()));
}

Value expandCos64(Arithmetic &a, Value x) {
  Turn turn = reduceTurn(a, x);
  return finiteOnly(a, x, sineOf(a, turn, a.add(turn.quadrant, a.integer(turn.quadrant.getType(), 1))));
}

} // namespace tessera::numerics
