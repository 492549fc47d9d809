//===- TypeRules.cpp - promotion and literals ----------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "compiler/Frontend/TypeRules.h"

#include "mlir/IR/Builders.h"

#include <cmath>
#include <fmt/format.h>

namespace tessera::frontend {

mlir::Type elementType(mlir::MLIRContext *context, DType type) {
  switch (type) {
  case DType::F16:
    return mlir::Float16Type::get(context);
  case DType::BF16:
    return mlir::BFloat16Type::get(context);
  case DType::F32:
    return mlir::Float32Type::get(context);
  case DType::F64:
    return mlir::Float64Type::get(context);
  case DType::F8E4M3:
    return mlir::Float8E4M3FNType::get(context);
  case DType::F8E5M2:
    return mlir::Float8E5M2Type::get(context);
  default:
    return mlir::IntegerType::get(context, bitsOf(type));
  }
}

int bitsOf(DType type) { return type == DType::Bool ? 1 : sizeOf(type) * 8; }
bool isFp8(DType type) { return type == DType::F8E4M3 || type == DType::F8E5M2; }
bool isHalf(DType type) { return type == DType::F16 || type == DType::BF16; }
bool isInteger(DType type) { return isSignedInteger(type) || isUnsignedInteger(type); }

DType sumType(DType type) {
  switch (type) {
  case DType::F64:
  case DType::I64:
  case DType::U64:
    return type;
  case DType::U8:
  case DType::U16:
  case DType::U32:
    return DType::U32;
  case DType::Bool:
  case DType::I8:
  case DType::I16:
  case DType::I32:
    return DType::I32;
  default:
    return DType::F32;
  }
}

static_assert(kI8 == 1u << unsigned(DType::I8) && kU64 == 1u << unsigned(DType::U64) &&
                  kF16 == 1u << unsigned(DType::F16) && kF8E5M2 == 1u << unsigned(DType::F8E5M2),
              "the bits of a TypeSet are those of the enumeration");

std::optional<Refusal> refuseType(std::string_view name, std::string_view spelled, DType type,
                                  const std::string &found) {
  const Operation *operation = findOperation(name);
  if (!operation || (operation->types & (1u << unsigned(type))))
    return std::nullopt;
  bool reduces = operation->shape == Operation::Shape::Reduced;
  auto worksOn = [&](const char *code, const std::string &what, const char *remedy) {
    return Refusal{
        code, fmt::format("'{}' {} {}, found {}", spelled, reduces ? "reduces a tile of" : "works on", what, found),
        remedy};
  };
  if (operation->types == kBool)
    return worksOn("T0205", "bool", "compare first: x != 0");
  if (type == DType::Bool)
    return Refusal{"T0205", fmt::format("'{}' does not work on bool", spelled),
                   operation->result == Operation::Result::Bool ? "bool knows only == and !="
                   : operation->shape == Operation::Shape::ElementwiseOrReduced
                       ? "use any or all; of two: a and b, a or b"
                   : operation->kind == Operation::Kind::Action ? "write atomic_or or atomic_and"
                                                                : "use where(mask, x, 0), or convert: i32(mask)"};
  if (isFp8(type))
    return Refusal{"T0204", fmt::format("'{}' does not work on fp8, found {}", spelled, found),
                   "convert first: f32(x)"};
  if (!(operation->types & kInteger))
    return worksOn("T0213", "floats", "convert first: f32(x)");
  return worksOn("T0214", describeTypes(operation->types), isFloat(type) ? "convert first: i32(x)" : "");
}

static Promotion refuse(const char *code, std::string message, std::string remedy) {
  return {std::nullopt, {code, std::move(message), std::move(remedy)}};
}

Promotion promote(DType a, DType b) {
  if (a == b)
    return {a, {}};
  auto both = [&](const char *rule) { return fmt::format("{}, found {} and {}", rule, nameOf(a), nameOf(b)); };
  if (a == DType::Bool || b == DType::Bool)
    return refuse("T0205", both("a bool does not mix with numbers"),
                  "select with where(mask, x, 0), or convert the mask: T(mask)");
  if (isFp8(a) || isFp8(b))
    return refuse("T0204", both("fp8 values do not take part in arithmetic"), "convert first: f32(x)");
  if (isFloat(a) != isFloat(b))
    return refuse("T0202", both("an integer does not mix with a float"),
                  fmt::format("convert the integer: {}(x)", nameOf(isFloat(a) ? a : b)));
  if (isFloat(a)) {
    if (isHalf(a) && isHalf(b))
      return refuse("T0203", both("neither of f16 and bf16 holds the other"), "convert one, or both to f32");
    return {bitsOf(a) > bitsOf(b) ? a : b, {}};
  }
  if (isSignedInteger(a) != isSignedInteger(b))
    return refuse("T0201", both("signed and unsigned integers do not mix"),
                  fmt::format("convert one: {}(x)", nameOf(bitsOf(a) >= bitsOf(b) ? a : b)));
  return {bitsOf(a) > bitsOf(b) ? a : b, {}};
}

static Literal refuseLiteral(const Value &number, DType type, const char *why, const char *remedy) {
  std::string text =
      number.kind == Value::Kind::Integer ? fmt::format("{}", number.integer) : fmt::format("{}", number.real);
  return {nullptr, {"T0206", fmt::format("the constant {} {} {}", text, why, nameOf(type)), remedy}};
}

static Literal integerLiteral(mlir::MLIRContext *context, const Value &number, DType type) {
  if (number.kind == Value::Kind::Real)
    return {
        nullptr,
        {"T0202",
         fmt::format("an integer does not mix with a float, found the constant {} with {}", number.real, nameOf(type)),
         "convert the other operand: f32(x)"}};
  int bits = bitsOf(type);
  bool fits = isSignedInteger(type) ? llvm::isIntN(bits, number.integer)
                                    : number.integer >= 0 && llvm::isUIntN(bits, number.integer);
  if (!fits)
    return refuseLiteral(number, type, "is outside the range of", "use a wider type, or another constant");
  llvm::APInt value(bits, uint64_t(number.integer), false, /*implicitTrunc=*/true);
  return {mlir::IntegerAttr::get(mlir::IntegerType::get(context, bits), value), {}};
}

Literal literal(mlir::MLIRContext *context, const Value &number, DType type) {
  if (number.isBoolean()) {
    if (type == DType::Bool)
      return {mlir::IntegerAttr::get(mlir::IntegerType::get(context, 1), number.boolean ? 1 : 0), {}};
    return {nullptr,
            {"T0205", fmt::format("a bool does not mix with numbers, found a bool constant with {}", nameOf(type)),
             "select with where(mask, x, 0)"}};
  }
  if (type == DType::Bool)
    return {nullptr,
            {"T0205", "a bool does not mix with numbers, found a number constant with bool",
             "write true or false, or compare"}};
  if (!isFloat(type))
    return integerLiteral(context, number, type);
  auto floatType = mlir::cast<mlir::FloatType>(elementType(context, type));
  const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
  llvm::APFloat value(semantics);
  bool inexact = false;
  if (number.kind == Value::Kind::Integer) {
    auto status =
        value.convertFromAPInt(llvm::APInt(64, uint64_t(number.integer)), true, llvm::APFloat::rmNearestTiesToEven);
    if (status != llvm::APFloat::opOK)
      return refuseLiteral(number, type, "is not exactly representable in",
                           "write it as a float, or convert with T(x)");
  } else {
    value = llvm::APFloat(number.real);
    bool finite = std::isfinite(number.real);
    if (std::isinf(number.real) && type == DType::F8E4M3)
      return refuseLiteral(number, type, "has no counterpart in", "use 448.0, the largest f8e4m3");
    value.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &inexact);
    if (finite && !value.isFinite())
      return refuseLiteral(number, type, "overflows", "use a wider type, or inf");
  }
  return {mlir::FloatAttr::get(floatType, value), {}};
}

} // namespace tessera::frontend
