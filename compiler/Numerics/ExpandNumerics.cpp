//===- ExpandNumerics.cpp - conversions, integer rules and functions in plain arithmetic - SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// One walk; every op is replaced by the ops that compute it, on scalars and tiles alike.  What LLVM leaves undefined (division by zero, shifts past the width,
// floats out of an integer's range) never reaches it: operands are replaced by harmless ones first and the result is selected after.
//
#include "compiler/Numerics/Arithmetic.h"
#include "compiler/Numerics/Passes.h"
#include "dialect/Tile/TileDialect.h"

namespace tessera {
#define GEN_PASS_DEF_EXPANDNUMERICSPASS
#include "compiler/Numerics/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::numerics;

namespace {

using FP = arith::CmpFPredicate;
using IP = arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// The constant of a scalar or a splat.
std::optional<APInt> constantOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant;
  return std::nullopt;
}

/// Truncating quotient and remainder of operands that are safe to divide.
struct Quotient {
  Value quotient, remainder;
};

/// Floor quotient and remainder with every special case of the language.
Quotient divideFloor(Arithmetic &a, Value x, Value y, bool isUnsigned) {
  Type type = x.getType();
  Value zero = a.integer(type, 0), one = a.integer(type, 1);
  if (auto constant = constantOf(y); constant && constant->isPowerOf2() && (isUnsigned || !constant->isNegative())) {
    Value shift = a.integer(type, constant->logBase2());
    return {isUnsigned ? a.shrUnsigned(x, shift) : a.shrSigned(x, shift), a.andBits(x, a.integer(type, constant->getSExtValue() - 1))};
  }
  Value isZero = a.compare(IP::eq, y, zero);
  if (isUnsigned) {
    Value divisor = a.select(isZero, one, y);
    Value quotient = a.make<arith::DivUIOp>(x, divisor);
    Value remainder = a.sub(x, a.mul(quotient, divisor));
    return {a.select(isZero, zero, quotient), a.select(isZero, x, remainder)};
  }
  Value minusOne = a.integer(type, -1), isMinusOne = a.compare(IP::eq, y, minusOne);
  Value divisor = a.select(a.orBits(isZero, isMinusOne), one, y);
  Value quotient = a.make<arith::DivSIOp>(x, divisor);
  Value remainder = a.sub(x, a.mul(quotient, divisor));
  Value wrongSign = a.andBits(a.compare(IP::ne, remainder, zero), a.compare(IP::slt, a.xorBits(remainder, divisor), zero));
  quotient = a.select(wrongSign, a.sub(quotient, one), quotient);
  remainder = a.select(wrongSign, a.add(remainder, divisor), remainder);
  quotient = a.select(isMinusOne, a.sub(zero, x), quotient);
  remainder = a.select(isMinusOne, zero, remainder);
  return {a.select(isZero, zero, quotient), a.select(isZero, x, remainder)};
}

Value divideCeil(Arithmetic &a, Value x, Value y, bool isUnsigned) {
  Quotient floor = divideFloor(a, x, y, isUnsigned);
  Type type = x.getType();
  Value zero = a.integer(type, 0);
  Value inexact = a.andBits(a.compare(IP::ne, floor.remainder, zero), a.compare(IP::ne, y, zero));
  return a.select(inexact, a.add(floor.quotient, a.integer(type, 1)), floor.quotient);
}

Value shift(Arithmetic &a, Value x, Value amount, bool left, bool isUnsigned) {
  Type type = x.getType();
  unsigned width = cast<IntegerType>(Arithmetic::elementOf(type)).getWidth();
  Value outside = a.compare(IP::uge, amount, a.integer(type, width));
  Value safe = a.select(outside, a.integer(type, 0), amount);
  if (left)
    return a.select(outside, a.integer(type, 0), a.shl(x, safe));
  if (isUnsigned)
    return a.select(outside, a.integer(type, 0), a.shrUnsigned(x, safe));
  return a.shrSigned(x, a.select(outside, a.integer(type, width - 1), amount));
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// f32 -> bf16, nearest even, in integers: for targets without the instruction.
Value roundToBf16(Arithmetic &a, Value x) {
  Value bits = a.bitcast(x, a.i32());
  Type type = bits.getType();
  Value odd = a.andBits(a.shrUnsigned(bits, a.integer(type, 16)), a.integer(type, 1));
  Value rounded = a.add(bits, a.add(odd, a.integer(type, 0x7fff)));
  Value quiet = a.orBits(bits, a.integer(type, 0x00400000));
  Value result = a.select(a.compare(FP::UNO, x, x), quiet, rounded);
  Value high = a.cast<arith::TruncIOp>(a.shrUnsigned(result, a.integer(type, 16)), a.i16());
  return a.bitcast(high, BFloat16Type::get(x.getContext()));
}

/// f64 -> f32 rounded to odd: a further rounding to fewer bits is then as if there had been one only.
Value roundToOdd(Arithmetic &a, Value x) {
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

/// Float to a narrower float, rounded once.
Value narrowFloat(Arithmetic &a, Value x, Type element, bool host) {
  Type from = Arithmetic::elementOf(x.getType());
  if (from.isF64() && element.getIntOrFloatBitWidth() < 32)
    return narrowFloat(a, roundToOdd(a, x), element, host);
  if (element.isBF16() && host)
    return roundToBf16(a, x);
  return a.cast<arith::TruncFOp>(x, element);
}

Value convertFloat(Arithmetic &a, Value x, Type element, bool host) {
  unsigned from = Arithmetic::elementOf(x.getType()).getIntOrFloatBitWidth(), to = element.getIntOrFloatBitWidth();
  if (from == to) // f16 <-> bf16
    return narrowFloat(a, a.cast<arith::ExtFOp>(x, a.f32()), element, host);
  return from < to ? a.cast<arith::ExtFOp>(x, element) : narrowFloat(a, x, element, host);
}

/// Truncates, saturates, NaN -> 0.
Value floatToInteger(Arithmetic &a, Value x, Type element, bool toUnsigned) {
  if (Arithmetic::elementOf(x.getType()).getIntOrFloatBitWidth() < 32)
    x = a.cast<arith::ExtFOp>(x, a.f32());
  Type type = x.getType();
  unsigned width = cast<IntegerType>(element).getWidth();
  double high = std::ldexp(1.0, toUnsigned ? width : width - 1), low = toUnsigned ? -1.0 : -std::ldexp(1.0, width - 1);
  Value tooHigh = a.compare(FP::OGE, x, a.constant(type, high));
  Value tooLow = toUnsigned ? a.compare(FP::OLE, x, a.constant(type, low)) : a.compare(FP::OLT, x, a.constant(type, low));
  Value nan = a.compare(FP::UNO, x, x);
  Value safe = a.select(a.orBits(a.orBits(tooHigh, tooLow), nan), a.constant(type, 0.0), x);
  Value result = toUnsigned ? a.cast<arith::FPToUIOp>(safe, element) : a.cast<arith::FPToSIOp>(safe, element);
  Type integers = result.getType();
  APInt most = toUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  APInt least = toUnsigned ? APInt(width, 0) : APInt::getSignedMinValue(width);
  result = a.select(tooHigh, a.integer(integers, int64_t(most.getZExtValue())), result);
  return a.select(tooLow, a.integer(integers, int64_t(least.getZExtValue())), result);
}

/// Rounded once, to nearest even.
Value integerToFloat(Arithmetic &a, Value x, Type element, bool fromUnsigned, bool host) {
  auto direct = [&](Type to) {
    return fromUnsigned ? a.cast<arith::UIToFPOp>(x, to) : a.cast<arith::SIToFPOp>(x, to);
  };
  unsigned width = cast<IntegerType>(Arithmetic::elementOf(x.getType())).getWidth();
  if (element.getIntOrFloatBitWidth() >= 32)
    return direct(element);
  if (width <= 32) // exact in f64
    return narrowFloat(a, direct(a.f64()), element, host);
  // 64 bits: drop what f64 cannot hold but keep that something was dropped, so that the second rounding sees it.
  Type type = x.getType();
  Value dropped = a.compare(IP::ne, a.andBits(x, a.integer(type, 0x7ff)), a.integer(type, 0));
  Value sticky = a.orBits(a.andBits(x, a.integer(type, ~int64_t(0x7ff))), a.select(dropped, a.integer(type, 0x800), a.integer(type, 0)));
  Value large = fromUnsigned ? a.compare(IP::ugt, x, a.integer(type, int64_t(1) << 53))
                             : a.orBits(a.compare(IP::sgt, x, a.integer(type, int64_t(1) << 53)), a.compare(IP::slt, x, a.integer(type, -(int64_t(1) << 53))));
  x = a.select(large, sticky, x);
  return narrowFloat(a, direct(a.f64()), element, host);
}

Value integerToInteger(Arithmetic &a, Value x, Type element, bool fromUnsigned, bool toUnsigned, bool saturate) {
  unsigned from = cast<IntegerType>(Arithmetic::elementOf(x.getType())).getWidth(), to = cast<IntegerType>(element).getWidth();
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

Value convert(Arithmetic &a, tile::ConvertOp op, bool host) {
  Value x = op.getSource();
  Type from = Arithmetic::elementOf(x.getType()), to = Arithmetic::elementOf(op.getResult().getType());
  if (to.isInteger(1)) {
    if (isa<FloatType>(from))
      return a.compare(FP::UNE, x, a.constant(x.getType(), 0.0));
    return a.compare(IP::ne, x, a.integer(x.getType(), 0));
  }
  if (isa<FloatType>(from))
    return isa<FloatType>(to) ? convertFloat(a, x, to, host) : floatToInteger(a, x, to, op.getToUnsigned());
  bool fromUnsigned = op.getFromUnsigned() || from.isInteger(1);
  if (isa<FloatType>(to))
    return integerToFloat(a, x, to, fromUnsigned, host);
  return integerToInteger(a, x, to, fromUnsigned, op.getToUnsigned(), op.getSaturate());
}

bool isNarrow(Type type) {
  Type element = Arithmetic::elementOf(type);
  return element.isF16() || element.isBF16();
}
bool isEightBit(Type type) {
  auto element = dyn_cast<FloatType>(Arithmetic::elementOf(type));
  return element && element.getWidth() == 8;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

struct ExpandNumerics final : public tessera::impl::ExpandNumericsPassBase<ExpandNumerics> {
  using ExpandNumericsPassBase::ExpandNumericsPassBase;

  void runOnOperation() override {
    bool host = target == "host";
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (op->getNumResults() == 1 && op->getNumRegions() == 0)
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      OpBuilder builder(op);
      Arithmetic a(builder, op->getLoc());
      if (isa<tile::ConvertOp>(op) && (isEightBit(op->getOperand(0).getType()) || isEightBit(op->getResult(0).getType()))) {
        op->emitError() << "T0503: conversions of 8-bit floats are not supported yet; load them for '@' or store them as they are";
        return signalPassFailure();
      }
      Value result = expand(a, op, host);
      if (!result && host)
        result = widenNarrow(builder, a, op);
      if (!result)
        continue;
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    }
  }

  static Value expand(Arithmetic &a, Operation *op, bool host) {
    if (auto o = dyn_cast<tile::ConvertOp>(op))
      return convert(a, o, host);
    if (auto o = dyn_cast<tile::DivOp>(op))
      return divideFloor(a, o.getLhs(), o.getRhs(), o.getIsUnsigned()).quotient;
    if (auto o = dyn_cast<tile::RemOp>(op))
      return divideFloor(a, o.getLhs(), o.getRhs(), o.getIsUnsigned()).remainder;
    if (auto o = dyn_cast<tile::CeilDivOp>(op))
      return divideCeil(a, o.getLhs(), o.getRhs(), o.getIsUnsigned());
    if (auto o = dyn_cast<tile::ShlOp>(op))
      return shift(a, o.getLhs(), o.getRhs(), true, false);
    if (auto o = dyn_cast<tile::ShrOp>(op))
      return shift(a, o.getLhs(), o.getRhs(), false, o.getIsUnsigned());
    if (auto o = dyn_cast<arith::TruncFOp>(op)) {
      Type from = Arithmetic::elementOf(o.getIn().getType()), to = Arithmetic::elementOf(o.getType());
      bool twice = from.isF64() && to.getIntOrFloatBitWidth() < 32;
      if (twice || (host && to.isBF16()))
        return narrowFloat(a, o.getIn(), to, host);
      return {};
    }
    if (!isa<math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op, math::TanhOp, math::RsqrtOp>(op) ||
        !Arithmetic::elementOf(op->getResult(0).getType()).isF32())
      return {};
    Value x = op->getOperand(0);
    if (isa<math::ExpOp>(op))
      return expandExp(a, x);
    if (isa<math::Exp2Op>(op))
      return host ? expandExp2(a, x) : Value();
    if (isa<math::LogOp>(op))
      return expandLog(a, x);
    if (isa<math::Log2Op>(op))
      return expandLog2(a, x);
    if (isa<math::TanhOp>(op))
      return expandTanh(a, x);
    if (host)
      return a.div(a.constant(x.getType(), 1.0), a.apply<math::SqrtOp>(x));
    return {};
  }

  /// Arithmetic of f16 and bf16 on the host: widened exactly, computed in f32, rounded once.  (For + - * / and sqrt the double rounding through f32 is
  /// innocuous: 24 >= 2 * 11 + 2.)
  static Value widenNarrow(OpBuilder &builder, Arithmetic &a, Operation *op) {
    bool any = llvm::any_of(op->getOperandTypes(), isNarrow);
    if (!any || !(isa<arith::CmpFOp>(op) || isNarrow(op->getResult(0).getType())) ||
        !OpTrait::hasElementwiseMappableTraits(op) || isa<arith::SelectOp, arith::BitcastOp, arith::ExtFOp, arith::TruncFOp>(op))
      return {};
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isNarrow(operand.getType()) ? a.cast<arith::ExtFOp>(operand, a.f32()) : operand);
    Type result = op->getResult(0).getType();
    Type wide = isNarrow(result) ? Arithmetic::withElement(result, a.f32()) : result;
    OperationState state(op->getLoc(), op->getName(), operands, {wide}, op->getAttrs());
    Value value = builder.create(state)->getResult(0);
    return isNarrow(result) ? narrowFloat(a, value, Arithmetic::elementOf(result), true) : value;
  }
};

} // namespace
