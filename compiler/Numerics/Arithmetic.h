//===- Arithmetic.h - writing elementwise arithmetic on scalars and tiles alike -------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A thin builder: every function takes and gives values of one shape, which may be none.
//
#ifndef TESSERA_COMPILER_NUMERICS_ARITHMETIC_H
#define TESSERA_COMPILER_NUMERICS_ARITHMETIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace tessera::numerics {

class Arithmetic {
public:
  using Value = mlir::Value;
  using Type = mlir::Type;
  Arithmetic(mlir::OpBuilder &builder, mlir::Location loc) : b(builder), loc(loc) {}

  /// `type` with another element type.
  static Type withElement(Type type, Type element) {
    auto tile = llvm::dyn_cast<mlir::RankedTensorType>(type);
    return tile ? Type(tile.clone(element)) : element;
  }
  static Type elementOf(Type type) { return mlir::getElementTypeOrSelf(type); }

  Value constant(Type type, double value) {
    auto element = llvm::cast<mlir::FloatType>(elementOf(type));
    return splat(type, b.getFloatAttr(element, value));
  }
  Value constant(Type type, const llvm::APFloat &value) {
    return splat(type, mlir::FloatAttr::get(elementOf(type), value));
  }
  /// `value` truncated to the element's width.
  Value integer(Type type, int64_t value) {
    auto element = llvm::cast<mlir::IntegerType>(elementOf(type));
    return splat(type, mlir::IntegerAttr::get(element, llvm::APInt(element.getWidth(), uint64_t(value), false, true)));
  }

  Value add(Value x, Value y) { return isFloat(x) ? make<mlir::arith::AddFOp>(x, y) : make<mlir::arith::AddIOp>(x, y); }
  Value sub(Value x, Value y) { return isFloat(x) ? make<mlir::arith::SubFOp>(x, y) : make<mlir::arith::SubIOp>(x, y); }
  Value mul(Value x, Value y) { return isFloat(x) ? make<mlir::arith::MulFOp>(x, y) : make<mlir::arith::MulIOp>(x, y); }
  Value div(Value x, Value y) { return make<mlir::arith::DivFOp>(x, y); }
  Value fma(Value x, Value y, Value z) { return mlir::math::FmaOp::create(b, loc, x, y, z); }
  Value abs(Value x) { return mlir::math::AbsFOp::create(b, loc, x); }
  Value andBits(Value x, Value y) { return make<mlir::arith::AndIOp>(x, y); }
  Value orBits(Value x, Value y) { return make<mlir::arith::OrIOp>(x, y); }
  Value xorBits(Value x, Value y) { return make<mlir::arith::XOrIOp>(x, y); }
  Value shl(Value x, Value y) { return make<mlir::arith::ShLIOp>(x, y); }
  Value shrSigned(Value x, Value y) { return make<mlir::arith::ShRSIOp>(x, y); }
  Value shrUnsigned(Value x, Value y) { return make<mlir::arith::ShRUIOp>(x, y); }
  Value select(Value c, Value x, Value y) { return mlir::arith::SelectOp::create(b, loc, c, x, y); }
  Value compare(mlir::arith::CmpFPredicate p, Value x, Value y) { return mlir::arith::CmpFOp::create(b, loc, p, x, y); }
  Value compare(mlir::arith::CmpIPredicate p, Value x, Value y) { return mlir::arith::CmpIOp::create(b, loc, p, x, y); }
  Value bitcast(Value x, Type element) {
    return mlir::arith::BitcastOp::create(b, loc, withElement(x.getType(), element), x);
  }
  template <typename Op>
  Value cast(Value x, Type element) {
    return Op::create(b, loc, withElement(x.getType(), element), x);
  }
  template <typename Op>
  Value make(Value x, Value y) {
    return Op::create(b, loc, x, y);
  }

  template <typename Op>
  Value apply(Value x) {
    return Op::create(b, loc, x);
  }

  /// The number 2^n of f32 (i32 `n`) or f64 (i64 `n`), -126 <= n <= 127 and -1022 <= n <= 1023.
  Value power(Value n) {
    bool wide = elementOf(n.getType()).isInteger(64);
    Value bits = shl(add(n, integer(n.getType(), wide ? 1023 : 127)), integer(n.getType(), wide ? 52 : 23));
    return bitcast(bits, wide ? f64() : f32());
  }
  /// `fromHighest[0] * x^(n-1) + ... + fromHighest[n-1]`, by Horner's scheme with fused steps.
  Value polynomial(Value x, llvm::ArrayRef<double> fromHighest) {
    Value sum = constant(x.getType(), fromHighest[0]);
    for (double coefficient : fromHighest.drop_front())
      sum = fma(sum, x, constant(x.getType(), coefficient));
    return sum;
  }
  /// x limited to low..high; NaN stays NaN.
  Value clamp(Value x, double low, double high) {
    return make<mlir::arith::MinimumFOp>(make<mlir::arith::MaximumFOp>(x, constant(x.getType(), low)),
                                         constant(x.getType(), high));
  }
  Value isNan(Value x) { return compare(mlir::arith::CmpFPredicate::UNO, x, x); }

  Type i1() { return b.getI1Type(); }
  Type i8() { return b.getI8Type(); }
  Type i16() { return b.getI16Type(); }
  Type i32() { return b.getI32Type(); }
  Type i64() { return b.getI64Type(); }
  Type f32() { return b.getF32Type(); }
  Type f64() { return b.getF64Type(); }

private:
  static bool isFloat(Value x) { return llvm::isa<mlir::FloatType>(elementOf(x.getType())); }
  Value splat(Type type, mlir::TypedAttr attr) {
    if (auto tile = llvm::dyn_cast<mlir::RankedTensorType>(type))
      return mlir::arith::ConstantOp::create(b, loc, mlir::SplatElementsAttr::get(tile, mlir::Attribute(attr)));
    return mlir::arith::ConstantOp::create(b, loc, attr);
  }
  mlir::OpBuilder &b;
  mlir::Location loc;
};

//===----------------------------------------------------------------------===//
// Functions, within 2 ulp over the whole type (tests/unit/NumericsUlpTest.cpp measures each); of f32 unless it says otherwise.
//===----------------------------------------------------------------------===//

mlir::Value expandExp(Arithmetic &a, mlir::Value x);
mlir::Value expandExp2(Arithmetic &a, mlir::Value x);
mlir::Value expandLog(Arithmetic &a, mlir::Value x);
mlir::Value expandLog2(Arithmetic &a, mlir::Value x);
mlir::Value expandTanh(Arithmetic &a, mlir::Value x);
mlir::Value expandErf(Arithmetic &a, mlir::Value x);
/// f64 only.
mlir::Value expandExp64(Arithmetic &a, mlir::Value x);
mlir::Value expandExp2of64(Arithmetic &a, mlir::Value x);
mlir::Value expandLog64(Arithmetic &a, mlir::Value x);
mlir::Value expandLog2of64(Arithmetic &a, mlir::Value x);
mlir::Value expandTanh64(Arithmetic &a, mlir::Value x);
mlir::Value expandErf64(Arithmetic &a, mlir::Value x);
mlir::Value expandSin64(Arithmetic &a, mlir::Value x);
mlir::Value expandCos64(Arithmetic &a, mlir::Value x);
mlir::Value expandPow64(Arithmetic &a, mlir::Value x, mlir::Value y);
/// exp(r) - 1 for |r| < 0.55.
mlir::Value expMinusOne64(Arithmetic &a, mlir::Value r);
/// y * 2^n (i64) in two factors, so that denormal results come out.
mlir::Value scale64(Arithmetic &a, mlir::Value y, mlir::Value n);
/// f32 only; computed in f64.
mlir::Value expandPow(Arithmetic &a, mlir::Value x, mlir::Value y);
/// f32 only; any argument, however large.
mlir::Value expandSin(Arithmetic &a, mlir::Value x);
mlir::Value expandCos(Arithmetic &a, mlir::Value x);

//===----------------------------------------------------------------------===//
// Conversions by the language's rules
//===----------------------------------------------------------------------===//

/// Attributes of `tile.convert`, and whether the target is the host (which has no instruction for f32 -> bf16).
struct ConvertMode {
  bool fromUnsigned = false, toUnsigned = false, saturate = false, ieeeOverflow = false, host = false;
};

/// `x` as `element` (scalar type).
mlir::Value convertElement(Arithmetic &a, mlir::Value x, mlir::Type element, ConvertMode mode);
/// A float of any format as f32 (f64 stays); exact.
mlir::Value widenToF32(Arithmetic &a, mlir::Value x, bool host);
/// f32 or f64 to a float of at most its width, rounded once.
mlir::Value narrowFloat(Arithmetic &a, mlir::Value x, mlir::Type element, ConvertMode mode);
/// f16 and bf16.
bool isNarrow(mlir::Type type);
/// The two fp8 formats.
bool isEightBit(mlir::Type type);

} // namespace tessera::numerics
#endif // TESSERA_COMPILER_NUMERICS_ARITHMETIC_H
