//===- Emitter.cpp - diagnostics, constants, conversions, broadcasting ---------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "compiler/Frontend/Emitter.h"

#include "dialect/Tile/TileDialect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;

namespace tessera::frontend {

std::string_view spelling(Operator op) {
  static constexpr std::string_view kNames[] = {"+",  "-",  "*",  "/",  "%", "&",  "|", "^",
                                                "<<", ">>", "==", "!=", "<", "<=", ">", ">="};
  return kNames[size_t(op)];
}
bool isComparison(Operator op) { return op >= Operator::Eq; }

Emitter::Emitter(MLIRContext *context, std::vector<std::string> files, std::vector<Diagnostic> &diagnostics)
    : builder(context), context(context), files(std::move(files)), diagnostics(diagnostics) {}

SourcePlace Emitter::placeOf(At at) const {
  return {size_t(at.file) < files.size() ? files[at.file] : std::string(), at.line, at.column};
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

std::string countOf(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// A float constant as one would write it.
static std::string realText(double value) {
  std::string text = fmt::format("{}", value);
  return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
}

Value Emitter::error(At at, std::string code, std::string message, std::string remedy) {
  ++errors;
  Diagnostic diagnostic;
  diagnostic.code = std::move(code);
  diagnostic.place = placeOf(at);
  diagnostic.length = at.length;
  diagnostic.message = std::move(message);
  diagnostic.remedy = std::move(remedy);
  for (auto &[place, name] : llvm::reverse(calls))
    diagnostic.notes.push_back({placeOf(place), fmt::format("in the call of '{}' here", name)});
  // A body that is walked twice (two calls of one fn) may say the same thing twice.
  for (const Diagnostic &other : diagnostics)
    if (other.code == diagnostic.code && other.place == diagnostic.place && other.message == diagnostic.message)
      return Value::poison();
  diagnostics.push_back(std::move(diagnostic));
  return Value::poison();
}

void Emitter::note(At at, std::string message) {
  if (!diagnostics.empty())
    diagnostics.back().notes.push_back({placeOf(at), std::move(message)});
}

void Emitter::warn(At at, std::string code, std::string message, std::string remedy) {
  // One warning for a place: the same two extents meet again when the operands are stretched.
  for (const Diagnostic &other : diagnostics)
    if (other.code == code && other.place == placeOf(at))
      return;
  int before = errors;
  size_t count = diagnostics.size();
  error(at, std::move(code), std::move(message), std::move(remedy));
  errors = before;
  if (diagnostics.size() > count)
    diagnostics.back().severity = Severity::Warning;
}

Location Emitter::loc(At at) const {
  auto plain = [&](At place) -> Location {
    return FileLineColLoc::get(context, placeOf(place).file, place.line, place.column);
  };
  Location location = plain(at);
  for (auto &[place, name] : llvm::reverse(calls))
    location = CallSiteLoc::get(location, plain(place));
  return location;
}

std::string Emitter::describe(const Value &value) const {
  switch (value.kind) {
  case Value::Kind::Poison:
    return "an erroneous value";
  case Value::Kind::Nothing:
    return "nothing";
  case Value::Kind::None:
    return "None";
  case Value::Kind::Integer:
    return fmt::format("the constant {}", value.integer);
  case Value::Kind::Real:
    return "the constant " + realText(value.real);
  case Value::Kind::Boolean:
    return fmt::format("the constant {}", value.boolean);
  case Value::Kind::Type:
    return fmt::format("the type {}", nameOf(value.dtype));
  case Value::Kind::Function:
    return "a function";
  case Value::Kind::Tuple:
    return fmt::format("a tuple of {}", value.elements.size());
  case Value::Kind::View:
    return fmt::format("a view of '{}'", value.view->param);
  case Value::Kind::Data:
    break;
  }
  if (value.isScalar())
    return fmt::format("a scalar {}", nameOf(value.dtype));
  return fmt::format("a tile {}[{}]", nameOf(value.dtype), fmt::join(value.shape().begin(), value.shape().end(), ", "));
}

Value Emitter::notAValue(const Value &value, At at, const std::string &what) {
  if (value.isPoison())
    return value;
  if (value.isView())
    return error(at, "T0211", fmt::format("expected {}, found a view of '{}'", what, value.view->param),
                 value.view->extents.empty() ? "load it: write x[]"
                                             : "load it: write one slice for each dimension, x[:] or x[i +: W]");
  return error(at, "T0212", fmt::format("expected {}, found {}", what, describe(value)), "");
}

//===----------------------------------------------------------------------===//
// Constants and conversions
//===----------------------------------------------------------------------===//

Type Emitter::typeOf(DType type, ArrayRef<int64_t> shape) const {
  Type element = elementType(context, type);
  return shape.empty() ? element : Type(RankedTensorType::get(shape, element));
}

Value Emitter::literalOf(const Value &number, DType type, At at) {
  Literal constant = literal(context, number, type);
  if (!constant.attribute)
    return error(at, constant.refusal);
  return Value::data(arith::ConstantOp::create(builder, loc(at), constant.attribute), type);
}

Value Emitter::bitcast(const Value &value, DType type, At at) {
  if (value.isPoison())
    return value;
  if (!value.isData())
    return error(at, "T0230", fmt::format("'bitcast' takes a scalar or a tile of run time, found {}", describe(value)),
                 "give it a type first: bitcast(i32, f32(1.0))");
  bool fits = sizeOf(type) == sizeOf(value.dtype) && (type == DType::Bool) == (value.dtype == DType::Bool);
  if (!fits)
    return error(at, "T0230",
                 fmt::format("'bitcast' needs types of one width, found {} and {}", nameOf(type), describe(value)),
                 fmt::format("{}(x) converts the value", nameOf(type)));
  mlir::Type to = typeOf(type, value.isTile() ? value.shape() : ArrayRef<int64_t>());
  mlir::Value bits = value.ssa;
  if (bits.getType() != to) // integers of either sign are one type
    bits = arith::BitcastOp::create(builder, loc(at), to, bits);
  return Value::data(bits, type, value.origins);
}

Value Emitter::limitOf(DType type, bool isLeast, At at) {
  mlir::Type element = typeOf(type, {});
  TypedAttr limit;
  if (auto number = dyn_cast<FloatType>(element)) {
    limit = FloatAttr::get(number, APFloat::getLargest(number.getFloatSemantics(), isLeast));
  } else {
    unsigned width = element.getIntOrFloatBitWidth();
    bool isUnsigned = isUnsignedInteger(type) || type == DType::Bool;
    limit = IntegerAttr::get(element, isUnsigned ? (isLeast ? APInt::getZero(width) : APInt::getMaxValue(width))
                                      : isLeast  ? APInt::getSignedMinValue(width)
                                                 : APInt::getSignedMaxValue(width));
  }
  return Value::data(arith::ConstantOp::create(builder, loc(at), limit), type);
}

mlir::Value Emitter::indexConstant(int64_t value, At at) {
  return arith::ConstantOp::create(builder, loc(at), builder.getI64IntegerAttr(value));
}

Value Emitter::settle(const Value &value, At at, const char *what) {
  switch (value.kind) {
  case Value::Kind::Integer:
    return literalOf(value, DType::I64, at);
  case Value::Kind::Real:
    return literalOf(value, DType::F32, at);
  case Value::Kind::Boolean:
    return literalOf(value, DType::Bool, at);
  case Value::Kind::Data:
    return value;
  default:
    return notAValue(value, at, what);
  }
}

Value Emitter::toIndex(const Value &value, At at, const char *what) {
  if (value.isInteger())
    return literalOf(value, DType::I64, at);
  if (value.isPoison())
    return value;
  if (!value.isScalar() || !isInteger(value.dtype))
    return error(at, "T0214", fmt::format("expected an integer scalar as {}, found {}", what, describe(value)), "");
  return convertData(value, DType::I64, at, {});
}

Value Emitter::full(const Value &value, DType type, const Shape &shape, At at) {
  if (value.isNumber() || value.isBoolean()) {
    Literal constant = literal(context, value, type);
    if (!constant.attribute)
      return error(at, constant.refusal);
    if (shape.extents.empty())
      return literalOf(value, type, at);
    auto splat =
        DenseElementsAttr::get(cast<RankedTensorType>(typeOf(type, shape.extents)), Attribute(constant.attribute));
    return Value::data(arith::ConstantOp::create(builder, loc(at), splat), type, shape.origins);
  }
  Value scalar = widen(value, type, at);
  return scalar.isPoison() ? scalar : broadcast(scalar, shape.extents, shape.origins, at);
}

Value Emitter::convert(const Value &value, DType type, At at, ConvertModes modes) {
  if (value.kind == Value::Kind::Real && !isFloat(type)) {
    // A written conversion of a constant: by the rule of float -> int, on the f64 constant.
    if (type == DType::Bool)
      return literalOf(Value::of(value.real != 0), type, at);
    return convertData(literalOf(value, DType::F64, at), type, at, modes);
  }
  if (value.isInteger()) {
    if (type == DType::Bool)
      return literalOf(Value::of(value.integer != 0), type, at);
    if (literal(context, value, type).attribute)
      return literalOf(value, type, at);
    return convertData(literalOf(value, DType::I64, at), type, at, modes);
  }
  if (value.isBoolean())
    return type == DType::Bool ? literalOf(value, type, at) : literalOf(Value::of(int64_t(value.boolean)), type, at);
  if (value.kind == Value::Kind::Real) {
    if (literal(context, value, type).attribute)
      return literalOf(value, type, at);
    return convertData(literalOf(value, DType::F64, at), type, at, modes); // overflow: as at run time
  }
  if (!value.isData())
    return notAValue(value, at, "a value to convert");
  return convertData(value, type, at, modes);
}

Value Emitter::convertData(const Value &value, DType type, At at, ConvertModes modes) {
  DType from = value.dtype;
  if (from == type)
    return value;
  Type result = typeOf(type, value.shape());
  Location place = loc(at);
  bool plainFloats = isFloat(from) && isFloat(type) && !isFp8(from) && !isFp8(type);
  mlir::Value ssa = value.ssa;
  if (plainFloats) {
    if (bitsOf(from) == 16 && bitsOf(type) == 16)
      ssa = arith::ExtFOp::create(builder, place, typeOf(DType::F32, value.shape()), ssa);
    ssa = bitsOf(from) < bitsOf(type) ? arith::ExtFOp::create(builder, place, result, ssa).getResult()
                                      : arith::TruncFOp::create(builder, place, result, ssa).getResult();
  } else if (!isFloat(from) && !isFloat(type) && bitsOf(from) == bitsOf(type) && !modes.saturate) {
    // The same bits; only the source type changes.
  } else if (bitsOf(from) == bitsOf(type) && !isFloat(from) && !isFloat(type)) {
    // i32 -> u32 (saturating): clamp at what both hold.
    Value zero = full(Value::of(int64_t(0)), from, {SmallVector<int64_t>(value.shape()), value.origins}, at);
    if (isSignedInteger(from))
      ssa = arith::MaxSIOp::create(builder, place, ssa, zero.ssa);
    else
      ssa = arith::MinUIOp::create(builder, place, ssa,
                                   full(Value::of(int64_t(llvm::maxIntN(bitsOf(type)))), from,
                                        {SmallVector<int64_t>(value.shape()), value.origins}, at)
                                       .ssa);
  } else {
    bool fromUnsigned = from == DType::Bool || isUnsignedInteger(from), toUnsigned = isUnsignedInteger(type);
    ssa = tile::ConvertOp::create(builder, place, result, ssa, fromUnsigned, toUnsigned, modes.saturate,
                                  modes.ieeeOverflow);
  }
  return Value::data(ssa, type, value.origins);
}

Value Emitter::widen(const Value &value, DType type, At at) {
  if (value.isNumber() || value.isBoolean())
    return literalOf(value, type, at);
  if (!value.isData())
    return notAValue(value, at, "a value");
  if (value.dtype == type)
    return value;
  Promotion common = promote(value.dtype, type);
  if (!common.type)
    return error(at, common.refusal);
  if (*common.type != type)
    return error(at, "T0210", fmt::format("expected {}, found {}, which is wider", nameOf(type), describe(value)),
                 fmt::format("write the narrowing: {}(x)", nameOf(type)));
  return convertData(value, type, at, {});
}

//===----------------------------------------------------------------------===//
// Broadcasting
//===----------------------------------------------------------------------===//

void Emitter::warnOrigins(const std::string &a, const std::string &b, int64_t extent, At at) {
  if (extent > 1 && !a.empty() && !b.empty() && a != b)
    warn(at, "T0316",
         fmt::format("extents '{}' and '{}' meet here and are only equal for this binding ({})", a, b, extent),
         "check the axis: t[:, None] or t[None, :]");
}

std::optional<Emitter::Shape> Emitter::commonShape(ArrayRef<Value> values, At at) {
  Shape common;
  auto text = [](ArrayRef<int64_t> shape) { return fmt::format("[{}]", fmt::join(shape.begin(), shape.end(), ", ")); };
  for (const Value &value : values) {
    if (!value.isData())
      continue;
    ArrayRef<int64_t> shape = value.shape();
    if (shape.size() > common.extents.size()) {
      size_t missing = shape.size() - common.extents.size();
      common.extents.insert(common.extents.begin(), missing, 1);
      common.origins.insert(common.origins.begin(), missing, std::string());
    }
    for (size_t i = 0; i < shape.size(); ++i) {
      size_t d = common.extents.size() - shape.size() + i;
      if (common.extents[d] == 1) {
        common.extents[d] = shape[i];
        common.origins[d] = value.origins[i];
      } else if (shape[i] != 1 && shape[i] != common.extents[d]) {
        error(at, "T0301",
              fmt::format("the shapes {} and {} do not broadcast: {} meets {}", text(common.extents), text(shape),
                          common.extents[d], shape[i]),
              "give the smaller one its axis: t[:, None] or t[None, :]");
        return std::nullopt;
      } else if (shape[i] != 1) {
        warnOrigins(common.origins[d], value.origins[i], shape[i], at);
      }
    }
  }
  return common;
}

Value Emitter::broadcast(const Value &value, ArrayRef<int64_t> shape, ArrayRef<std::string> origins, At at) {
  if (value.isPoison() || value.shape() == shape)
    return value;
  ArrayRef<int64_t> from = value.shape();
  bool fits = from.size() <= shape.size();
  for (size_t i = 0; fits && i < from.size(); ++i) {
    size_t d = shape.size() - from.size() + i;
    fits = from[i] == 1 || from[i] == shape[d];
    if (fits && from[i] != 1 && d < origins.size())
      warnOrigins(value.origins[i], origins[d], from[i], at);
  }
  if (!fits)
    return error(
        at, "T0301",
        fmt::format("{} does not broadcast to [{}]", describe(value), fmt::join(shape.begin(), shape.end(), ", ")),
        "give it its axes: t[:, None] or t[None, :]");
  auto op = tile::BroadcastOp::create(builder, loc(at), cast<RankedTensorType>(typeOf(value.dtype, shape)), value.ssa);
  return Value::data(op, value.dtype, std::vector<std::string>(origins.begin(), origins.end()));
}

std::optional<DType> Emitter::commonType(ArrayRef<Value> values, At at) {
  std::optional<DType> type;
  for (const Value &value : values) {
    if (!value.isData())
      continue;
    if (!type) {
      type = value.dtype;
      continue;
    }
    Promotion common = promote(*type, value.dtype);
    if (!common.type) {
      error(at, common.refusal);
      return std::nullopt;
    }
    type = common.type;
  }
  return type;
}

bool Emitter::unify(MutableArrayRef<Value> values, At at) {
  std::optional<DType> type = commonType(values, at);
  if (!type)
    return false;
  std::optional<Shape> shape = commonShape(values, at);
  if (!shape)
    return false;
  for (Value &value : values) {
    value = value.isData() ? broadcast(widen(value, *type, at), shape->extents, shape->origins, at)
                           : full(value, *type, *shape, at);
    if (value.isPoison())
      return false;
  }
  return true;
}

} // namespace tessera::frontend
