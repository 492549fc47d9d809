//===- EmitFunctions.cpp - elementwise functions: min, max, ceildiv, exp, sqrt ... ---- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Functions of f16 and bf16 are computed in f32 and rounded once; of compile-time numbers they fold in double.
//
#include "compiler/Frontend/Emitter.h"

#include "dialect/Tile/TileDialect.h"
#include "runtime/Image/Expr.h"

#include <cmath>
#include <fmt/format.h>

using namespace mlir;

namespace tessera::frontend {

/// min and max of constants, by the rules for NaN and -0.
static double foldExtremum(bool isMax, bool skipsNan, double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return skipsNan ? (std::isnan(a) ? b : a) : std::nan("");
  if (a == b)
    return std::signbit(a) == isMax ? b : a;
  return (a < b) == isMax ? b : a;
}

Value Emitter::extremum(std::string_view name, Value a, Value b, At at) {
  if (a.isPoison() || b.isPoison())
    return Value::poison();
  bool isMax = name.starts_with("max"), skipsNan = name.ends_with("num");
  for (const Value *v : {&a, &b})
    if (!v->isNumber() && !v->isData())
      return notAValue(*v, at, fmt::format("a number in '{}'", name));
  if (a.isInteger() && b.isInteger())
    return Value::of(isMax ? std::max(a.integer, b.integer) : std::min(a.integer, b.integer));
  if (a.isNumber() && b.isNumber())
    return Value::of(foldExtremum(isMax, skipsNan, a.asReal(), b.asReal()));
  Value operands[] = {std::move(a), std::move(b)};
  if (!unify(operands, at))
    return Value::poison();
  DType type = operands[0].dtype;
  if (std::optional<Refusal> refusal = refuseType(name, name, type, describe(operands[0])))
    return error(at, *refusal);
  mlir::Value l = operands[0].ssa, r = operands[1].ssa, result;
  Location place = loc(at);
  if (isFloat(type)) {
    if (skipsNan)
      result = isMax ? arith::MaxNumFOp::create(builder, place, l, r).getResult()
                     : arith::MinNumFOp::create(builder, place, l, r).getResult();
    else
      result = isMax ? arith::MaximumFOp::create(builder, place, l, r).getResult()
                     : arith::MinimumFOp::create(builder, place, l, r).getResult();
  } else if (isUnsignedInteger(type)) {
    result = isMax ? arith::MaxUIOp::create(builder, place, l, r).getResult()
                   : arith::MinUIOp::create(builder, place, l, r).getResult();
  } else {
    result = isMax ? arith::MaxSIOp::create(builder, place, l, r).getResult()
                   : arith::MinSIOp::create(builder, place, l, r).getResult();
  }
  return Value::data(result, type, operands[0].origins);
}

Value Emitter::ceilDiv(Value a, Value b, At at) {
  if (a.isPoison() || b.isPoison())
    return Value::poison();
  if (a.isInteger() && b.isInteger()) {
    if (a.integer == INT64_MIN && b.integer == -1)
      return error(at, "T0207", "ceildiv overflows 64 bits at compile time", "");
    return Value::of(ceilDivide(a.integer, b.integer));
  }
  for (const Value *v : {&a, &b})
    if (!v->isInteger() && !(v->isData() && isInteger(v->dtype)))
      return v->isView() ? notAValue(*v, at, "an integer in 'ceildiv'")
                         : error(at, "T0214", fmt::format("'ceildiv' works on integers, found {}", describe(*v)), "");
  Value operands[] = {std::move(a), std::move(b)};
  if (!unify(operands, at))
    return Value::poison();
  auto op = tile::CeilDivOp::create(builder, loc(at), operands[0].ssa.getType(), operands[0].ssa, operands[1].ssa,
                                    isUnsignedInteger(operands[0].dtype));
  return Value::data(op, operands[0].dtype, operands[0].origins);
}

/// The value of a function of a constant.
static std::optional<double> foldMath(std::string_view name, double x) {
  if (name == "exp")
    return std::exp(x);
  if (name == "exp2")
    return std::exp2(x);
  if (name == "log")
    return std::log(x);
  if (name == "log2")
    return std::log2(x);
  if (name == "sqrt")
    return std::sqrt(x);
  if (name == "rsqrt")
    return 1.0 / std::sqrt(x);
  if (name == "sin")
    return std::sin(x);
  if (name == "cos")
    return std::cos(x);
  if (name == "tanh")
    return std::tanh(x);
  if (name == "erf")
    return std::erf(x);
  if (name == "floor")
    return std::floor(x);
  if (name == "ceil")
    return std::ceil(x);
  if (name == "round")
    return std::nearbyint(x);
  if (name == "trunc")
    return std::trunc(x);
  if (name == "abs")
    return std::fabs(x);
  return std::nullopt;
}

static mlir::Value emitMath(OpBuilder &builder, Location place, std::string_view name, mlir::Value x) {
  if (name == "exp")
    return math::ExpOp::create(builder, place, x);
  if (name == "exp2")
    return math::Exp2Op::create(builder, place, x);
  if (name == "log")
    return math::LogOp::create(builder, place, x);
  if (name == "log2")
    return math::Log2Op::create(builder, place, x);
  if (name == "sqrt")
    return math::SqrtOp::create(builder, place, x);
  if (name == "rsqrt")
    return math::RsqrtOp::create(builder, place, x);
  if (name == "sin")
    return math::SinOp::create(builder, place, x);
  if (name == "cos")
    return math::CosOp::create(builder, place, x);
  if (name == "tanh")
    return math::TanhOp::create(builder, place, x);
  if (name == "erf")
    return math::ErfOp::create(builder, place, x);
  if (name == "floor")
    return math::FloorOp::create(builder, place, x);
  if (name == "ceil")
    return math::CeilOp::create(builder, place, x);
  if (name == "round")
    return math::RoundEvenOp::create(builder, place, x);
  if (name == "trunc")
    return math::TruncOp::create(builder, place, x);
  return math::AbsFOp::create(builder, place, x);
}

Value Emitter::math(std::string_view name, const Value &value, At at) {
  if (value.isPoison())
    return value;
  if (value.isInteger() && name == "abs") {
    if (value.integer == INT64_MIN)
      return error(at, "T0207", "abs overflows 64 bits at compile time", "");
    return Value::of(std::abs(value.integer));
  }
  if (value.isNumber())
    if (std::optional<double> folded = foldMath(name, value.asReal()))
      return Value::of(*folded);
  if (!value.isData())
    return notAValue(value, at, fmt::format("a number in '{}'", name));
  DType type = value.dtype;
  if (std::optional<Refusal> refusal = refuseType(name, name, type, describe(value)))
    return error(at, *refusal);
  if (name == "abs" && isUnsignedInteger(type))
    return value;
  if (name == "abs" && isSignedInteger(type))
    return Value::data(math::AbsIOp::create(builder, loc(at), value.ssa), type, value.origins);
  Value wide = isHalf(type) ? convertData(value, DType::F32, at, {}) : value;
  Value result = Value::data(emitMath(builder, loc(at), name, wide.ssa), wide.dtype, value.origins);
  return isHalf(type) ? convertData(result, type, at, {}) : result;
}

Value Emitter::power(Value a, Value b, At at) {
  if (a.isPoison() || b.isPoison())
    return Value::poison();
  if (a.isNumber() && b.isNumber())
    return Value::of(std::pow(a.asReal(), b.asReal()));
  for (const Value *v : {&a, &b})
    if (!v->isNumber() && !v->isData())
      return notAValue(*v, at, "a number in 'pow'");
  Value operands[] = {std::move(a), std::move(b)};
  if (!unify(operands, at))
    return Value::poison();
  DType type = operands[0].dtype;
  if (std::optional<Refusal> refusal = refuseType("pow", "pow", type, std::string(nameOf(type))))
    return error(at, *refusal);
  if (isHalf(type))
    for (Value &v : operands)
      v = convertData(v, DType::F32, at, {});
  Value result = Value::data(math::PowFOp::create(builder, loc(at), operands[0].ssa, operands[1].ssa),
                             operands[0].dtype, operands[0].origins);
  return isHalf(type) ? convertData(result, type, at, {}) : result;
}

} // namespace tessera::frontend
