//===- SpecializeLaunch.cpp - extents, grid and `requires` as launch expressions ------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The launcher evaluates these before every launch, so they may use only what it knows: dimensions, scalar parameters
// and what is already constant.  The types are those of the body, checked by the same rules.
//
#include "compiler/Frontend/Specializer.h"

#include <fmt/format.h>

using namespace mlir;

namespace tessera::frontend {

static constexpr const char *kAllowed =
    "allowed are dimensions, scalar parameters, constants, + - * / % ceildiv min max clamp, comparisons, and, or, not";

static LaunchValue constantValue(Value value) {
  LaunchValue result;
  result.dtype = value.isBoolean() ? DType::Bool : value.kind == Value::Kind::Real ? DType::F32 : DType::I64;
  result.constant = std::move(value);
  return result;
}

Expr Specializer::toExpr(const LaunchValue &value, std::optional<DType> beside) {
  if (!value.constant)
    return value.expression;
  const Value &constant = *value.constant;
  if (constant.isBoolean())
    return Expr::constant(int64_t(constant.boolean));
  bool asFloat = constant.kind == Value::Kind::Real || (beside && isFloat(*beside));
  if (!asFloat)
    return Expr::constant(constant.integer);
  // What the kernel would compare with: the constant rounded to the other operand's type.
  double real = constant.asReal();
  if (beside && isFloat(*beside))
    if (auto rounded = dyn_cast_or_null<FloatAttr>(literal(context, constant, *beside).attribute)) {
      llvm::APFloat exact = rounded.getValue();
      bool lost = false;
      exact.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
      real = exact.convertToDouble();
    }
  return Expr::constant(real);
}

std::optional<LaunchValue> Specializer::launch(const ast::Expr &expr) {
  using K = ast::Expr::Kind;
  At place = at(expr.range);
  switch (expr.kind) {
  case K::Error:
    ++errors;
    return std::nullopt;
  case K::Integer:
  case K::Float:
  case K::Bool:
  case K::None: {
    Value value = eval(expr);
    return value.isPoison() ? std::nullopt : std::optional(constantValue(std::move(value)));
  }
  case K::Name:
    return launchName(expr.as<ast::NameExpr>());
  case K::Binary:
    return launchBinary(expr.as<ast::BinaryExpr>());
  case K::Call:
    return launchCall(expr.as<ast::CallExpr>());
  case K::Unary: {
    const auto &unary = expr.as<ast::UnaryExpr>();
    std::optional<LaunchValue> operand = launch(*unary.operand);
    if (!operand || unary.op == ast::UnaryOp::BitNot)
      break;
    if (operand->constant) {
      Value value =
          unary.op == ast::UnaryOp::Negate ? negate(*operand->constant, place) : logicalNot(*operand->constant, place);
      return value.isPoison() ? std::nullopt : std::optional(constantValue(std::move(value)));
    }
    bool isNot = unary.op == ast::UnaryOp::Not;
    if (isNot != (operand->dtype == DType::Bool)) {
      error(place, "T0205", isNot ? "'not' works on bool" : "'-' does not work on bool",
            isNot ? "compare: x == 0" : "write not x");
      return std::nullopt;
    }
    operand->expression = Expr::node(isNot ? "not" : "neg", {operand->expression});
    return operand;
  }
  default:
    break;
  }
  if (!failed())
    error(place, "T0412", "the launcher cannot evaluate this expression", kAllowed);
  return std::nullopt;
}

std::optional<LaunchValue> Specializer::launchName(const ast::NameExpr &name) {
  if (auto symbol = symbols.find(name.name); symbol != symbols.end()) {
    LaunchValue result;
    result.expression = Expr::symbol(name.name);
    result.dtype = symbol->second;
    return result;
  }
  if (auto known = launchLets.find(name.name); known != launchLets.end())
    return known->second;
  Value value = evalName(name);
  if (value.isPoison())
    return std::nullopt;
  if (value.isData()) {
    error(at(name.range), "T0412", fmt::format("'{}' is not known at launch", name.name), kAllowed);
    return std::nullopt;
  }
  return constantValue(std::move(value));
}

std::optional<LaunchValue> Specializer::launchNode(const char *op, MutableArrayRef<LaunchValue> operands,
                                                   bool isComparison, At place) {
  std::optional<DType> type;
  for (const LaunchValue &operand : operands) {
    if (operand.constant)
      continue;
    Promotion common = type ? promote(*type, operand.dtype) : Promotion{operand.dtype, {}};
    if (!common.type) {
      error(place, common.refusal);
      return std::nullopt;
    }
    type = common.type;
  }
  SmallVector<Expr> expressions;
  for (const LaunchValue &operand : operands) {
    if (operand.constant) {
      if (!operand.constant->isNumber() && !operand.constant->isBoolean()) {
        notAValue(*operand.constant, place, fmt::format("a number as operand of '{}'", op));
        return std::nullopt;
      }
      if (Literal fits = literal(context, *operand.constant, *type); !fits.attribute) {
        error(place, fits.refusal);
        return std::nullopt;
      }
    }
    expressions.push_back(toExpr(operand, type));
  }
  LaunchValue result;
  result.expression = Expr::node(op, std::vector<Expr>(expressions.begin(), expressions.end()));
  result.dtype = isComparison ? DType::Bool : *type;
  return result;
}

std::optional<LaunchValue> Specializer::launchBinary(const ast::BinaryExpr &binary) {
  At place = at(binary.opRange);
  std::optional<LaunchValue> left = launch(*binary.left);
  if (!left)
    return std::nullopt;
  bool isAnd = binary.op == ast::BinaryOp::And, isLogical = isAnd || binary.op == ast::BinaryOp::Or;
  if (isLogical && left->constant && left->constant->isBoolean()) {
    if (left->constant->boolean != isAnd)
      return left;
    return launch(*binary.right);
  }
  std::optional<LaunchValue> right = launch(*binary.right);
  if (!right)
    return std::nullopt;
  if (isLogical) {
    if (left->dtype != DType::Bool || right->dtype != DType::Bool) {
      error(place, "T0205", fmt::format("'{}' works on bool", ast::spelling(binary.op)), "compare first: x != 0");
      return std::nullopt;
    }
    LaunchValue result;
    result.dtype = DType::Bool;
    result.expression = Expr::node(isAnd ? "and" : "or", {toExpr(*left, {}), toExpr(*right, {})});
    return result;
  }
  using B = ast::BinaryOp;
  static constexpr std::pair<B, Operator> kOperators[] = {
      {B::Equal, Operator::Eq},     {B::NotEqual, Operator::Ne}, {B::Less, Operator::Lt},
      {B::LessEqual, Operator::Le}, {B::Greater, Operator::Gt},  {B::GreaterEqual, Operator::Ge},
      {B::Add, Operator::Add},      {B::Sub, Operator::Sub},     {B::Mul, Operator::Mul},
      {B::Div, Operator::Div},      {B::Rem, Operator::Rem}};
  const auto *entry = llvm::find_if(kOperators, [&](auto pair) { return pair.first == binary.op; });
  if (entry == std::end(kOperators)) {
    error(place, "T0412", fmt::format("the launcher has no '{}'", ast::spelling(binary.op)), kAllowed);
    return std::nullopt;
  }
  auto isPresence = [](const LaunchValue &v) { return v.constant && (v.constant->isNone() || v.constant->isView()); };
  if ((left->constant && right->constant) || isPresence(*left) || isPresence(*right)) {
    if (!left->constant || !right->constant) {
      error(place, "T0412", "a tensor is compared with None only", kAllowed);
      return std::nullopt;
    }
    Value value = Emitter::binary(entry->second, *left->constant, *right->constant, place);
    return value.isPoison() ? std::nullopt : std::optional(constantValue(std::move(value)));
  }
  LaunchValue operands[] = {*left, *right};
  bool comparison = isComparison(entry->second);
  bool hasBool = left->dtype == DType::Bool || right->dtype == DType::Bool;
  bool hasFloat = isFloat(left->dtype) || isFloat(right->dtype);
  if (hasBool && entry->second != Operator::Eq && entry->second != Operator::Ne) {
    error(place, "T0205", fmt::format("'{}' does not work on bool", ast::spelling(binary.op)), "");
    return std::nullopt;
  }
  if (hasFloat && entry->second == Operator::Rem) {
    error(place, "T0214", "'%' works on integers", "");
    return std::nullopt;
  }
  return launchNode(ast::spelling(binary.op), operands, comparison, place);
}

std::optional<LaunchValue> Specializer::launchCall(const ast::CallExpr &call) {
  At place = at(call.range);
  static constexpr std::pair<const char *, size_t> kFunctions[] = {
      {"ceildiv", 2}, {"min", 2}, {"max", 2}, {"clamp", 3}};
  const std::string *name =
      call.callee->kind == ast::Expr::Kind::Name ? &call.callee->as<ast::NameExpr>().name : nullptr;
  const auto *entry = name && !isShadowed(*name)
                          ? llvm::find_if(kFunctions, [&](auto pair) { return *name == pair.first; })
                          : std::end(kFunctions);
  if (entry == std::end(kFunctions)) {
    error(place, "T0412", "the launcher cannot evaluate this call", kAllowed);
    return std::nullopt;
  }
  SmallVector<LaunchValue> operands;
  for (const ast::Argument &argument : call.arguments) {
    std::optional<LaunchValue> value = launch(*argument.value);
    if (!value)
      return std::nullopt;
    operands.push_back(std::move(*value));
  }
  if (operands.size() != entry->second) {
    error(
        place, "T0220",
        fmt::format("'{}' takes {} here, found {}", entry->first, countOf(entry->second, "argument"), operands.size()),
        "");
    return std::nullopt;
  }
  if (llvm::all_of(operands, [](const LaunchValue &v) { return v.constant.has_value(); })) {
    std::vector<Argument> arguments;
    for (auto [value, written] : llvm::zip(operands, call.arguments))
      arguments.push_back({"", *value.constant, at(written.value->range)});
    Value value = callBuiltin(*this, *name, arguments, place);
    return value.isPoison() ? std::nullopt : std::optional(constantValue(std::move(value)));
  }
  for (const LaunchValue &operand : operands)
    if (operand.dtype == DType::Bool || (*name == "ceildiv" && isFloat(operand.dtype))) {
      error(place, "T0214", fmt::format("'{}' works on {}", *name, *name == "ceildiv" ? "integers" : "numbers"), "");
      return std::nullopt;
    }
  return launchNode(entry->first, operands, false, place);
}

} // namespace tessera::frontend
