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
    return {isUnsigned ? a.shrUnsigned(x, shift) : a.shrSigned(x, shift),
            a.andBits(x, a.integer(type, constant->getSExtValue() - 1))};
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
  Value wrongSign =
      a.andBits(a.compare(IP::ne, remainder, zero), a.compare(IP::slt, a.xorBits(remainder, divisor), zero));
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
// fp8 on the GPU
//===----------------------------------------------------------------------===//

/// Operands of products become f16, which holds every fp8 number; their products are exact in f32 as before.
void prepareEightBitProducts(tile::KernelOp kernel, bool multipliesBytes) {
  kernel.walk([&](tile::DotOp dot) {
    Type element = Arithmetic::elementOf(dot.getA().getType());
    if (!isEightBit(element))
      return;
    if (multipliesBytes) {
      dot.setBytesOfAttr(TypeAttr::get(element));
      return;
    }
    OpBuilder builder(dot);
    Arithmetic a(builder, dot.getLoc());
    Type half = builder.getF16Type();
    for (OpOperand *operand : {&dot.getAMutable(), &dot.getBMutable()})
      operand->set(a.cast<arith::TruncFOp>(widenToF32(a, operand->get(), /*host=*/false), half));
  });
}

/// Sums of f16 are computed in f32 on the host and rounded at the end of each product.
void sumInF32(tile::KernelOp kernel) {
  SmallVector<tile::DotOp> dots;
  kernel.walk([&](tile::DotOp dot) {
    if (Arithmetic::elementOf(dot.getType()).isF16())
      dots.push_back(dot);
  });
  for (tile::DotOp dot : dots) {
    OpBuilder builder(dot);
    Arithmetic a(builder, dot.getLoc());
    Value start = a.cast<arith::ExtFOp>(dot.getAcc(), a.f32());
    Value sum = tile::DotOp::create(builder, dot.getLoc(), start.getType(), dot.getA(), dot.getB(), start,
                                    dot.getPrecision(), false, false, TypeAttr());
    dot.getResult().replaceAllUsesWith(a.cast<arith::TruncFOp>(sum, builder.getF16Type()));
    dot.erase();
  }
}

Type withoutEightBit(Type type) {
  auto view = dyn_cast<tile::ViewType>(type);
  Type element = view ? view.getElementType() : Arithmetic::elementOf(type);
  if (!isEightBit(element))
    return type;
  Type byte = IntegerType::get(type.getContext(), 8);
  return view ? Type(tile::ViewType::get(type.getContext(), view.getShape(), byte))
              : Arithmetic::withElement(type, byte);
}

/// The rest only moves fp8 values: as bytes, since LLVM has no such types.
void holdEightBitAsBytes(tile::KernelOp kernel) {
  auto retype = [](Value value) {
    if (Type type = withoutEightBit(value.getType()); type != value.getType())
      value.setType(type);
  };
  SmallVector<Operation *> casts;
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      retype(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          retype(argument);
    auto constant = dyn_cast<arith::ConstantOp>(op);
    Type byte = IntegerType::get(op->getContext(), 8);
    if (auto dense = constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue()) : DenseFPElementsAttr();
        dense && isEightBit(dense.getElementType()))
      constant.setValueAttr(dense.mapValues(byte, [](const APFloat &value) { return value.bitcastToAPInt(); }));
    else if (auto number = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
             number && isEightBit(number.getType()))
      constant.setValueAttr(IntegerAttr::get(byte, number.getValue().bitcastToAPInt()));
    if (auto cast = dyn_cast<arith::BitcastOp>(op); cast && cast.getIn().getType() == cast.getType())
      casts.push_back(op);
  });
  for (Operation *op : casts) {
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  }
  SmallVector<Type> types = llvm::map_to_vector(kernel.getFunctionType().getInputs(), withoutEightBit);
  kernel.setFunctionType(FunctionType::get(kernel.getContext(), types, {}));
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

struct ExpandNumerics final : public tessera::impl::ExpandNumericsPassBase<ExpandNumerics> {
  using ExpandNumericsPassBase::ExpandNumericsPassBase;

  void runOnOperation() override {
    bool host = target == "host";
    for (auto kernel : getOperation().getOps<tile::KernelOp>())
      host ? sumInF32(kernel) : prepareEightBitProducts(kernel, eightBitProducts);
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (op->getNumResults() == 1 && op->getNumRegions() == 0)
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      OpBuilder builder(op);
      Arithmetic a(builder, op->getLoc());
      Value result = expand(builder, a, op, host);
      if (!result)
        continue;
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    }
    if (!host)
      for (auto kernel : getOperation().getOps<tile::KernelOp>())
        holdEightBitAsBytes(kernel);
  }

  static Value expand(OpBuilder &builder, Arithmetic &a, Operation *op, bool host) {
    ConvertMode mode;
    mode.host = host;
    if (auto o = dyn_cast<tile::ConvertOp>(op)) {
      mode = {o.getFromUnsigned(), o.getToUnsigned(), o.getSaturate(), o.getIeeeOverflow(), host};
      return convertElement(a, o.getSource(), Arithmetic::elementOf(o.getType()), mode);
    }
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
      if (twice || isEightBit(to) || (host && to.isBF16()))
        return narrowFloat(a, widenToF32(a, o.getIn(), host), to, mode);
      return {};
    }
    if (auto o = dyn_cast<arith::ExtFOp>(op)) {
      Type from = Arithmetic::elementOf(o.getIn().getType());
      if (isEightBit(from) || (host && from.isBF16()))
        return convertElement(a, o.getIn(), Arithmetic::elementOf(o.getType()), mode);
      return {};
    }
    // x86 has no such instruction and returns either zero for two zeros; PTX orders them.
    if (host && isa<arith::MaxNumFOp, arith::MinNumFOp>(op) &&
        !isNarrow(Arithmetic::elementOf(op->getResult(0).getType())))
      return extremumOfNumbers(a, isa<arith::MaxNumFOp>(op), op->getOperand(0), op->getOperand(1));
    bool isFunction = isa<math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op, math::TanhOp, math::RsqrtOp,
                          math::ErfOp, math::SinOp, math::CosOp, math::PowFOp>(op);
    Type element = Arithmetic::elementOf(op->getResult(0).getType());
    if (isFunction && !isNarrow(element)) {
      return element.isF64() ? function64(a, op) : function32(a, op, op->getOperands(), host);
    }
    return isFunction || host || isa<math::SqrtOp>(op) || isComparisonOfEightBit(op) ? widen(builder, a, op, host)
                                                                                     : Value();
  }

  static bool isComparisonOfEightBit(Operation *op) {
    return isa<arith::CmpFOp>(op) && isEightBit(op->getOperand(0).getType());
  }

  /// Null: stays as it is.
  static Value function32(Arithmetic &a, Operation *op, ValueRange operands, bool host) {
    Value x = operands[0];
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
    if (isa<math::ErfOp>(op))
      return expandErf(a, x);
    if (isa<math::SinOp>(op))
      return expandSin(a, x);
    if (isa<math::CosOp>(op))
      return expandCos(a, x);
    if (isa<math::PowFOp>(op))
      return expandPow(a, x, operands[1]);
    if (isa<math::RsqrtOp>(op) && host)
      return a.div(a.constant(x.getType(), 1.0), a.apply<math::SqrtOp>(x));
    return {};
  }

  static Value function64(Arithmetic &a, Operation *op) {
    Value x = op->getOperand(0);
    if (isa<math::ExpOp>(op))
      return expandExp64(a, x);
    if (isa<math::Exp2Op>(op))
      return expandExp2of64(a, x);
    if (isa<math::LogOp>(op))
      return expandLog64(a, x);
    if (isa<math::Log2Op>(op))
      return expandLog2of64(a, x);
    if (isa<math::TanhOp>(op))
      return expandTanh64(a, x);
    if (isa<math::ErfOp>(op))
      return expandErf64(a, x);
    if (isa<math::SinOp>(op))
      return expandSin64(a, x);
    if (isa<math::CosOp>(op))
      return expandCos64(a, x);
    if (isa<math::PowFOp>(op))
      return expandPow64(a, x, op->getOperand(1));
    return a.div(a.constant(x.getType(), 1.0), a.apply<math::SqrtOp>(x)); // rsqrt
  }

  /// maxnum and minnum of widened operands: LLVM narrows its own maxnum back to f16, and then calls fmaxf.
  static Value extremumOfNumbers(Arithmetic &a, bool isMax, Value x, Value y) {
    Value result = isMax ? a.make<arith::MaximumFOp>(x, y) : a.make<arith::MinimumFOp>(x, y);
    return a.select(a.isNan(x), y, a.select(a.isNan(y), x, result));
  }

  /// Arithmetic on narrow floats: widened exactly, computed in f32, rounded once.  (For + - * / and sqrt the double rounding through f32 is
  /// innocuous: 24 >= 2 * 11 + 2.)
  static Value widen(OpBuilder &builder, Arithmetic &a, Operation *op, bool host) {
    auto isSmall = [](Type type) { return isNarrow(type) || isEightBit(type); };
    Type result = op->getResult(0).getType();
    if (!llvm::any_of(op->getOperandTypes(), isSmall) || !(isa<arith::CmpFOp>(op) || isSmall(result)) ||
        !OpTrait::hasElementwiseMappableTraits(op) ||
        isa<arith::SelectOp, arith::BitcastOp, arith::ExtFOp, arith::TruncFOp>(op))
      return {};
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(widenToF32(a, operand, host));
    Value value = function32(a, op, operands, host);
    if (host && isa<arith::MaxNumFOp, arith::MinNumFOp>(op))
      value = extremumOfNumbers(a, isa<arith::MaxNumFOp>(op), operands[0], operands[1]);
    if (!value) {
      Type wide = isSmall(result) ? Arithmetic::withElement(result, a.f32()) : result;
      OperationState state(op->getLoc(), op->getName(), operands, {wide}, op->getAttrs());
      value = builder.create(state)->getResult(0);
    }
    ConvertMode mode;
    mode.host = host;
    return isSmall(result) ? narrowFloat(a, value, Arithmetic::elementOf(result), mode) : value;
  }
};

} // namespace
