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
  Value constant(Type type, const llvm::APFloat &value) { return splat(type, mlir::FloatAttr::get(elementOf(type), value)); }
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
  Value bitcast(Value x, Type element) { return mlir::arith::BitcastOp::create(b, loc, withElement(x.getType(), element), x); }
  template <typename Op>
  Value cast(Value x, Type element) { return Op::create(b, loc, withElement(x.getType(), element), x); }
  template <typename Op>
  Value make(Value x, Value y) { return Op::create(b, loc, x, y); }

  template <typename Op>
  Value apply(Value x) { return Op::create(b, loc, x); }

  Type i1() { return b.getI1Type(); }
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

/// Functions of f32, within 2 ulp over all of f32 (tests/unit/NumericsTest.cpp measures each); arguments and results below 2^-126 count as they are.
mlir::Value expandExp(Arithmetic &a, mlir::Value x);
mlir::Value expandExp2(Arithmetic &a, mlir::Value x);
mlir::Value expandLog(Arithmetic &a, mlir::Value x);
mlir::Value expandLog2(Arithmetic &a, mlir::Value x);
mlir::Value expandTanh(Arithmetic &a, mlir::Value x);

} // namespace tessera::numerics
#endif // TESSERA_COMPILER_NUMERICS_ARITHMETIC_H
