//===- EmitArithmetic.cpp - operators and elementwise functions ----------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Rounding: f32 and f64 ops round once each; f16 and bf16 ops are arith ops on the narrow type, which later passes
// legalize to one rounding each; functions of narrow types are computed in f32 and rounded once.
//
#include "compiler/Frontend/Emitter.h"

#include "dialect/Tile/TileDialect.h"
#include "runtime/Image/Expr.h"

#include <cmath>
#include <fmt/format.h>

using namespace mlir;

namespace tessera::frontend {

//===----------------------------------------------------------------------===//
// Compile-time numbers
//===----------------------------------------------------------------------===//

Value Emitter::foldInteger(Operator op, int64_t a, int64_t b, At at) {
  int64_t r = 0;
  bool overflow = false;
  switch (op) {
  case Operator::Add:
    overflow = __builtin_add_overflow(a, b, &r);
    break;
  case Operator::Sub:
    overflow = __builtin_sub_overflow(a, b, &r);
    break;
  case Operator::Mul:
    overflow = __builtin_mul_overflow(a, b, &r);
    break;
  case Operator::Div:
    overflow = a == INT64_MIN && b == -1;
    r = floorDivide(a, b);
    break;
  case Operator::Rem:
    r = floorRemainder(a, b);
    break;
  case Operator::BitAnd:
    r = a & b;
    break;
  case Operator::BitOr:
    r = a | b;
    break;
  case Operator::BitXor:
    r = a ^ b;
    break;
  case Operator::Shl:
    if (a != 0 && b >= 0)
      overflow = b > 62 || __builtin_mul_overflow(a, int64_t(1) << b, &r);
    break;
  case Operator::Shr:
    r = b < 0 || b > 63 ? (a < 0 ? -1 : 0) : a >> b;
    break;
  case Operator::Eq:
    return Value::of(a == b);
  case Operator::Ne:
    return Value::of(a != b);
  case Operator::Lt:
    return Value::of(a < b);
  case Operator::Le:
    return Value::of(a <= b);
  case Operator::Gt:
    return Value::of(a > b);
  case Operator::Ge:
    return Value::of(a >= b);
  }
  if (overflow)
    return error(at, "T0207", fmt::format("{} {} {} overflows 64 bits at compile time", a, spelling(op), b), "");
  return Value::of(r);
}

static std::optional<Value> foldReal(Operator op, double a, double b) {
  switch (op) {
  case Operator::Add:
    return Value::of(a + b);
  case Operator::Sub:
    return Value::of(a - b);
  case Operator::Mul:
    return Value::of(a * b);
  case Operator::Div:
    return Value::of(a / b);
  case Operator::Eq:
    return Value::of(a == b);
  case Operator::Ne:
    return Value::of(a != b);
  case Operator::Lt:
    return Value::of(a < b);
  case Operator::Le:
    return Value::of(a <= b);
  case Operator::Gt:
    return Value::of(a > b);
  case Operator::Ge:
    return Value::of(a >= b);
  default:
    return std::nullopt;
  }
}

Value Emitter::foldBinary(Operator op, const Value &a, const Value &b, At at) {
  if (a.isBoolean() && b.isBoolean()) {
    switch (op) {
    case Operator::Eq:
      return Value::of(a.boolean == b.boolean);
    case Operator::Ne:
      return Value::of(a.boolean != b.boolean);
    default:
      break;
    }
    return error(at, "T0205", fmt::format("'{}' does not work on bool", spelling(op)), "use and, or, not, == or !=");
  }
  if (a.isBoolean() || b.isBoolean())
    return error(at, "T0205", "a bool does not mix with numbers", "write if c { 1 } else { 0 }");
  if (a.isInteger() && b.isInteger())
    return foldInteger(op, a.integer, b.integer, at);
  if (std::optional<Value> result = foldReal(op, a.asReal(), b.asReal()))
    return *result;
  return error(at, "T0214", fmt::format("'{}' works on integers, found a float constant", spelling(op)),
               "convert first: i32(x)");
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// Whether the table of operations has this operator for the element type.
static std::optional<Refusal> refuseOperator(Operator op, DType type) {
  static constexpr std::string_view kNames[] = {"add", "sub", "mul", "div", "rem", "bit_and", "bit_or", "bit_xor",
                                                "shl", "shr", "eq",  "ne",  "lt",  "le",      "gt",     "ge"};
  return refuseType(kNames[size_t(op)], spelling(op), type, std::string(nameOf(type)));
}

Value Emitter::binary(Operator op, Value a, Value b, At at) {
  if (a.isPoison() || b.isPoison())
    return Value::poison();
  auto isConstant = [](const Value &v) { return v.isNumber() || v.isBoolean(); };
  // `bias != None`, and equality of types and functions, are known now.
  if (op == Operator::Eq || op == Operator::Ne) {
    bool isEqual = op == Operator::Eq;
    if (a.isNone() || b.isNone())
      return Value::of((a.isNone() && b.isNone()) == isEqual);
    if (a.isType() && b.isType())
      return Value::of((a.dtype == b.dtype) == isEqual);
    if (a.isFunction() && b.isFunction())
      return Value::of((a.function == b.function) == isEqual);
  }
  for (const Value *v : {&a, &b})
    if (!isConstant(*v) && !v->isData())
      return notAValue(*v, at, fmt::format("a value as operand of '{}'", spelling(op)));
  if (isConstant(a) && isConstant(b))
    return foldBinary(op, a, b, at);
  if (isComparison(op))
    return compare(op, a, b, at);
  if (op == Operator::Shl || op == Operator::Shr)
    return shift(op, a, b, at);
  if (op == Operator::BitAnd || op == Operator::BitOr || op == Operator::BitXor)
    return bitwise(op, a, b, at);

  Value operands[] = {std::move(a), std::move(b)};
  if (!unify(operands, at))
    return Value::poison();
  DType type = operands[0].dtype;
  if (std::optional<Refusal> refusal = refuseOperator(op, type))
    return error(at, *refusal);
  mlir::Value l = operands[0].ssa, r = operands[1].ssa, result;
  Location place = loc(at);
  bool isUnsigned = isUnsignedInteger(type);
  if (isFloat(type)) {
    switch (op) {
    case Operator::Add:
      result = arith::AddFOp::create(builder, place, l, r);
      break;
    case Operator::Sub:
      result = arith::SubFOp::create(builder, place, l, r);
      break;
    case Operator::Mul:
      result = arith::MulFOp::create(builder, place, l, r);
      break;
    case Operator::Div:
      result = arith::DivFOp::create(builder, place, l, r);
      break;
    default:
      llvm_unreachable("the table has no remainder of floats");
    }
  } else {
    switch (op) {
    case Operator::Add:
      result = arith::AddIOp::create(builder, place, l, r);
      break;
    case Operator::Sub:
      result = arith::SubIOp::create(builder, place, l, r);
      break;
    case Operator::Mul:
      result = arith::MulIOp::create(builder, place, l, r);
      break;
    case Operator::Div:
      result = tile::DivOp::create(builder, place, l.getType(), l, r, isUnsigned);
      break;
    default:
      result = tile::RemOp::create(builder, place, l.getType(), l, r, isUnsigned);
      break;
    }
  }
  return Value::data(result, type, operands[0].origins);
}

Value Emitter::compare(Operator op, Value a, Value b, At at) {
  Value operands[] = {std::move(a), std::move(b)};
  if (!unify(operands, at))
    return Value::poison();
  DType type = operands[0].dtype;
  if (std::optional<Refusal> refusal = refuseOperator(op, type))
    return error(at, *refusal);
  auto pick = [&](auto eq, auto ne, auto lt, auto le, auto gt, auto ge) {
    switch (op) {
    case Operator::Eq:
      return eq;
    case Operator::Ne:
      return ne;
    case Operator::Lt:
      return lt;
    case Operator::Le:
      return le;
    case Operator::Gt:
      return gt;
    default:
      return ge;
    }
  };
  mlir::Value result;
  if (isFloat(type)) {
    // NaN: every comparison is false but `!=`.  fp8 compares as f32, which holds every one of its values.
    if (isFp8(type))
      for (Value &v : operands)
        v = convertData(v, DType::F32, at, {});
    using P = arith::CmpFPredicate;
    result = arith::CmpFOp::create(builder, loc(at), pick(P::OEQ, P::UNE, P::OLT, P::OLE, P::OGT, P::OGE),
                                   operands[0].ssa, operands[1].ssa);
  } else {
    using P = arith::CmpIPredicate;
    auto predicate = isUnsignedInteger(type) ? pick(P::eq, P::ne, P::ult, P::ule, P::ugt, P::uge)
                                             : pick(P::eq, P::ne, P::slt, P::sle, P::sgt, P::sge);
    result = arith::CmpIOp::create(builder, loc(at), predicate, operands[0].ssa, operands[1].ssa);
  }
  return Value::data(result, DType::Bool, operands[0].origins);
}

Value Emitter::bitwise(Operator op, Value a, Value b, At at) {
  Value operands[] = {std::move(a), std::move(b)};
  if (!unify(operands, at))
    return Value::poison();
  DType type = operands[0].dtype;
  if (std::optional<Refusal> refusal = refuseOperator(op, type))
    return error(at, *refusal);
  mlir::Value l = operands[0].ssa, r = operands[1].ssa;
  mlir::Value result = op == Operator::BitAnd  ? arith::AndIOp::create(builder, loc(at), l, r).getResult()
                       : op == Operator::BitOr ? arith::OrIOp::create(builder, loc(at), l, r).getResult()
                                               : arith::XOrIOp::create(builder, loc(at), l, r).getResult();
  return Value::data(result, type, operands[0].origins);
}

Value Emitter::shift(Operator op, Value a, Value b, At at) {
  // The type is the left operand's; a constant on the left takes the amount's type.
  if (!a.isData())
    a = literalOf(a, b.dtype, at);
  if (!b.isData())
    b = literalOf(b, b.isInteger() && literal(context, b, a.dtype).attribute ? a.dtype : DType::I64, at);
  if (a.isPoison() || b.isPoison())
    return Value::poison();
  if (!isInteger(a.dtype) || !isInteger(b.dtype))
    return error(at, "T0214",
                 fmt::format("'{}' works on integers, found {} and {}", spelling(op), describe(a), describe(b)), "");
  if (b.dtype != a.dtype && bitsOf(b.dtype) > bitsOf(a.dtype)) {
    // Keep an amount that is too large too large when it is narrowed: saturate.  A negative one is as good as a large one; clamped it would be 0.
    DType bits = bitsOf(b.dtype) == 16 ? DType::U16 : bitsOf(b.dtype) == 32 ? DType::U32 : DType::U64;
    b = convertData(convertData(b, bits, at, {}), a.dtype, at, {.saturate = true});
  } else {
    b = convertData(b, a.dtype, at, {});
  }
  Value operands[] = {a, b};
  if (!unify(operands, at))
    return Value::poison();
  bool isUnsigned = isUnsignedInteger(a.dtype);
  mlir::Value l = operands[0].ssa, r = operands[1].ssa;
  mlir::Value result = op == Operator::Shl
                           ? tile::ShlOp::create(builder, loc(at), l.getType(), l, r, isUnsigned).getResult()
                           : tile::ShrOp::create(builder, loc(at), l.getType(), l, r, isUnsigned).getResult();
  return Value::data(result, a.dtype, operands[0].origins);
}

Value Emitter::multiplyAdd(Value a, Value b, Value c, bool negateProduct, bool negateAddend, At at) {
  Value operands[] = {std::move(a), std::move(b), std::move(c)};
  for (const Value &v : operands)
    if (!v.isNumber() && !v.isData())
      return notAValue(v, at, "a number");
  if (llvm::none_of(operands, [](const Value &v) { return v.isData(); })) {
    Value product = foldBinary(Operator::Mul, operands[0], operands[1], at);
    if (product.isPoison())
      return product;
    if (negateProduct)
      return foldBinary(Operator::Sub, operands[2], product, at);
    return foldBinary(negateAddend ? Operator::Sub : Operator::Add, product, operands[2], at);
  }
  if (!unify(operands, at))
    return Value::poison();
  DType type = operands[0].dtype;
  if (!isFloat(type) || isFp8(type)) {
    Value product = binary(Operator::Mul, operands[0], operands[1], at);
    if (negateProduct)
      return binary(Operator::Sub, operands[2], product, at);
    return binary(negateAddend ? Operator::Sub : Operator::Add, product, operands[2], at);
  }
  Location place = loc(at);
  bool isNarrow = isHalf(type);
  if (isNarrow)
    for (Value &v : operands)
      v = convertData(v, DType::F32, at, {});
  mlir::Value x = operands[0].ssa, z = operands[2].ssa;
  if (negateProduct)
    x = arith::NegFOp::create(builder, place, x);
  if (negateAddend)
    z = arith::NegFOp::create(builder, place, z);
  Value result =
      Value::data(math::FmaOp::create(builder, place, x, operands[1].ssa, z), operands[0].dtype, operands[0].origins);
  return isNarrow ? convertData(result, type, at, {}) : result;
}

Value Emitter::negate(const Value &value, At at) {
  if (value.isInteger())
    return foldInteger(Operator::Sub, 0, value.integer, at);
  if (value.kind == Value::Kind::Real)
    return Value::of(-value.real);
  if (!value.isData())
    return notAValue(value, at, "a number as operand of '-'");
  if (std::optional<Refusal> refusal = refuseType("neg", "-", value.dtype, describe(value)))
    return error(at, *refusal);
  if (isFloat(value.dtype))
    return Value::data(arith::NegFOp::create(builder, loc(at), value.ssa), value.dtype, value.origins);
  Value zero = full(Value::of(int64_t(0)), value.dtype, {SmallVector<int64_t>(value.shape()), value.origins}, at);
  return Value::data(arith::SubIOp::create(builder, loc(at), zero.ssa, value.ssa), value.dtype, value.origins);
}

Value Emitter::complement(const Value &value, At at) {
  if (value.isInteger())
    return Value::of(~value.integer);
  if (value.isBoolean())
    return Value::of(!value.boolean);
  if (!value.isData())
    return notAValue(value, at, "an integer as operand of '~'");
  if (std::optional<Refusal> refusal = refuseType("bit_not", "~", value.dtype, describe(value)))
    return error(at, *refusal);
  Shape shape{SmallVector<int64_t>(value.shape()), value.origins};
  Value ones = value.dtype == DType::Bool     ? full(Value::of(true), DType::Bool, shape, at)
               : isSignedInteger(value.dtype) ? full(Value::of(int64_t(-1)), value.dtype, shape, at)
                                              : Value::data(full(Value::of(int64_t(-1)),
                                                                 bitsOf(value.dtype) == 8    ? DType::I8
                                                                 : bitsOf(value.dtype) == 16 ? DType::I16
                                                                 : bitsOf(value.dtype) == 32 ? DType::I32
                                                                                             : DType::I64,
                                                                 shape, at)
                                                                .ssa,
                                                            value.dtype, value.origins);
  return Value::data(arith::XOrIOp::create(builder, loc(at), value.ssa, ones.ssa), value.dtype, value.origins);
}

Value Emitter::logicalNot(const Value &value, At at) {
  if (value.isBoolean())
    return Value::of(!value.boolean);
  if (value.isPoison())
    return value;
  if (!value.isData())
    return notAValue(value, at, "a bool as operand of 'not'");
  if (value.dtype != DType::Bool)
    return error(at, "T0205", fmt::format("'not' works on bool, found {}", describe(value)),
                 "compare: x == 0; or write ~x");
  return complement(value, at);
}

Value Emitter::logical(bool isAnd, Value a, Value b, At at) {
  if (a.isPoison() || b.isPoison())
    return Value::poison();
  std::string_view word = isAnd ? "and" : "or";
  for (const Value *v : {&a, &b}) {
    if (v->isBoolean() || (v->isData() && v->dtype == DType::Bool))
      continue;
    if (v->isView())
      return notAValue(*v, at, fmt::format("a bool as operand of '{}'", word));
    return error(at, "T0205", fmt::format("'{}' works on bool, found {}", word, describe(*v)), "compare first: x != 0");
  }
  // A constant either decides or drops out; dropping it keeps the other's shape.
  if (a.isBoolean() && b.isBoolean())
    return Value::of(isAnd ? a.boolean && b.boolean : a.boolean || b.boolean);
  if (a.isBoolean() || b.isBoolean()) {
    const Value &constant = a.isBoolean() ? a : b, &other = a.isBoolean() ? b : a;
    if (constant.boolean == isAnd)
      return other;
  }
  return bitwise(isAnd ? Operator::BitAnd : Operator::BitOr, a, b, at);
}

Value Emitter::select(Value condition, Value a, Value b, At at) {
  if (condition.isPoison() || a.isPoison() || b.isPoison())
    return Value::poison();
  if (!condition.isBoolean() && !(condition.isData() && condition.dtype == DType::Bool))
    return condition.isView()
               ? notAValue(condition, at, "a mask")
               : error(at, "T0205", fmt::format("the condition of 'where' is a bool, found {}", describe(condition)),
                       "compare first: x != 0");
  for (const Value *v : {&a, &b})
    if (!v->isNumber() && !v->isBoolean() && !v->isData())
      return notAValue(*v, at, "a value to select");
  Value sides[] = {a, b};
  if (!a.isData() && !b.isData()) {
    if (condition.isBoolean())
      return condition.boolean ? a : b;
    // Two constants: a float beside an integer makes both floats; what meets no type becomes i64 or f32.
    DType type = a.isBoolean() && b.isBoolean()   ? DType::Bool
                 : a.isInteger() && b.isInteger() ? DType::I64
                                                  : DType::F32;
    for (Value &side : sides)
      if ((side = literalOf(side, type, at)).isPoison())
        return side;
  } else if (!unify(sides, at)) {
    return Value::poison();
  }
  if (condition.isBoolean())
    return condition.boolean ? sides[0] : sides[1];
  Value all[] = {condition, sides[0], sides[1]};
  std::optional<Shape> shape = commonShape(all, at);
  if (!shape)
    return Value::poison();
  for (Value &v : all)
    if ((v = broadcast(v, shape->extents, shape->origins, at)).isPoison())
      return v;
  return Value::data(arith::SelectOp::create(builder, loc(at), all[0].ssa, all[1].ssa, all[2].ssa), all[1].dtype,
                     shape->origins);
}

} // namespace tessera::frontend
