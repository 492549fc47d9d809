//===- SpecializeBinding.cpp - values of compile-time parameters and dimensions ------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A compile-time parameter is, in this order: bound explicitly (`-D NAME=` or `-D KERNEL.NAME=`), taken from the facts
// about the arguments, or its default.  A dimension name binds where it first stands alone in a shape, failing that at
// `name + constant`.
//
#include "compiler/Frontend/Specializer.h"

#include "compiler/Frontend/Specialize.h"

#include <charconv>
#include <cstdlib>
#include <fmt/format.h>

using namespace mlir;

namespace tessera::frontend {

static constexpr const char *kFlags[] = {"fast", "deterministic"};
static constexpr const char *kScheduleKeys[] = {"stages", "warps", "cluster", "roles", "raster", "persistent", "split"};

const TensorFacts *Specializer::factsOf(const std::string &param) const {
  for (const TensorFacts &facts : options.tensors)
    if (facts.param == param)
      return &facts;
  return nullptr;
}

/// A value as typed after `-D NAME=`.
std::optional<Value> Specializer::parseBinding(const std::string &text) {
  if (text == "true" || text == "false")
    return Value::of(text == "true");
  if (const ast::Function *function = file.findFunction(text))
    return Value::of(fileFunction(*function));
  if (std::optional<DType> type = parseDType(text))
    return Value::of(*type);
  int64_t integer = 0;
  const char *end = text.data() + text.size();
  if (auto [rest, status] = std::from_chars(text.data(), end, integer);
      status == std::errc() && rest == end && !text.empty())
    return Value::of(integer);
  double real = 0;
  if (auto [rest, status] = std::from_chars(text.data(), end, real);
      status == std::errc() && rest == end && !text.empty())
    return Value::of(real);
  if (isCallable(text))
    return Value::of(builtinFunction(text));
  return std::nullopt;
}

std::optional<Value> Specializer::explicitBinding(const std::string &name, At place) {
  const Binding *found = nullptr;
  for (const Binding &binding : options.bindings) {
    if (binding.name == kernel->name + "." + name)
      found = &binding;
    else if (binding.name == name && (!found || found->name == name))
      found = &binding;
  }
  if (!found)
    return std::nullopt;
  std::optional<Value> value = parseBinding(found->value);
  if (!value)
    return error(place, "T0402", fmt::format("'{}={}' binds no value", found->name, found->value),
                 "write an integer, a float, true, false, a type, or a function of the file");
  return value;
}

/// The extents of a tensor beside those of its argument, from the last on; leading dimensions of any rank are left out.
static std::vector<std::pair<const ast::ExprPtr *, int64_t>> factsOfExtents(const ast::Param &tensor,
                                                                            const TensorFacts &facts) {
  std::vector<std::pair<const ast::ExprPtr *, int64_t>> pairs;
  size_t count = tensor.extents.size() - tensor.anyLeading;
  if (facts.shape.size() < count || (!tensor.anyLeading && facts.shape.size() != count))
    return pairs;
  for (size_t i = 1; i <= count; ++i)
    pairs.emplace_back(&tensor.extents[tensor.extents.size() - i], facts.shape[facts.shape.size() - i]);
  std::reverse(pairs.begin(), pairs.end());
  return pairs;
}

/// What the facts about the arguments say about a compile-time parameter.
std::optional<Value> Specializer::bindingFromFacts(const ast::StaticParam &param) {
  auto isName = [&](const ast::ExprPtr &expr) {
    return expr && expr->kind == ast::Expr::Kind::Name && expr->as<ast::NameExpr>().name == param.name;
  };
  for (const ast::Param &tensor : kernel->params) {
    const TensorFacts *facts = factsOf(tensor.name);
    if (!facts || !facts->present)
      continue;
    if (facts->dtype && isName(tensor.type))
      return Value::of(*facts->dtype);
    for (auto [extent, length] : factsOfExtents(tensor, *facts))
      if (isName(*extent) && length >= 0) // negative: not known
        return Value::of(length, param.name);
  }
  return std::nullopt;
}

static const char *kindOf(const Value &value) {
  switch (value.kind) {
  case Value::Kind::Integer:
    return "an integer";
  case Value::Kind::Real:
    return "a float";
  case Value::Kind::Boolean:
    return "a bool";
  case Value::Kind::Type:
    return "a type";
  case Value::Kind::Function:
    return "a function";
  default:
    return "no compile-time value";
  }
}

/// Whether a bound value has the kind that the declaration asks for (`: int`, or the kind of the default).
Value Specializer::checkStaticKind(const ast::StaticParam &param, Value value) {
  if (value.isPoison())
    return value;
  const char *wanted = nullptr;
  if (param.type && param.type->kind == ast::Expr::Kind::Name) {
    const std::string &name = param.type->as<ast::NameExpr>().name;
    wanted = name == "int"     ? "an integer"
             : name == "bool"  ? "a bool"
             : name == "type"  ? "a type"
             : name == "float" ? "a float"
                               : nullptr;
  } else if (param.defaultValue) {
    Value byDefault = eval(*param.defaultValue);
    if (byDefault.isPoison())
      return byDefault;
    wanted = kindOf(byDefault);
    if (byDefault.kind == Value::Kind::Real && value.isInteger())
      value = Value::of(double(value.integer));
  }
  if (wanted && std::string_view(wanted) != kindOf(value))
    return error(at(param.range), "T0402", fmt::format("'{}' is {}, found {}", param.name, wanted, kindOf(value)),
                 "bind a value of that kind");
  if (value.isData() || value.isView() || value.isNone() || value.isTuple())
    return error(at(param.range), "T0402",
                 fmt::format("'{}' is a compile-time value, found {}", param.name, describe(value)), "");
  return value;
}

void Specializer::bindStatic(const ast::StaticParam &param) {
  At place = at(param.range);
  auto isReserved = [&](const char *word) { return param.name == word; };
  if (llvm::any_of(kFlags, isReserved) || llvm::any_of(kScheduleKeys, isReserved)) {
    error(place, "T0414", fmt::format("'{}' belongs to every kernel and is no name for a parameter", param.name),
          "choose another name");
    return;
  }
  std::optional<Value> bound = explicitBinding(param.name, place), known = bindingFromFacts(param);
  if (bound && known && !bound->isPoison() && bound->kind == known->kind) {
    bool agrees = bound->isType() ? bound->dtype == known->dtype : bound->integer == known->integer;
    if (!agrees)
      error(
          place, "T0404",
          fmt::format("'{}' is bound to {}, found an argument with {}", param.name, describe(*bound), describe(*known)),
          "leave the binding out, or pass another argument");
  }
  Value value = bound   ? *bound
                : known ? *known
                : param.defaultValue
                    ? eval(*param.defaultValue)
                    : error(place, "T0401", fmt::format("the compile-time parameter '{}' has no value", param.name),
                            fmt::format("bind it: -D {}=...", param.name));
  value = checkStaticKind(param, std::move(value));
  if (value.isInteger())
    value.origin = param.name;
  environment.declare(param.name, {std::move(value), false});
}

/// `fast` and `deterministic`: a binding, else the `with` clause, else false.
void Specializer::bindFlags() {
  for (const char *flag : kFlags) {
    At place = at(kernel->nameRange);
    Value value = Value::of(false);
    for (const ast::WithClause &clause : kernel->with)
      if (clause.name.name == flag) {
        place = at(clause.name.range);
        value = eval(*clause.value);
      }
    if (std::optional<Value> bound = explicitBinding(flag, place))
      value = *bound;
    if (!value.isBoolean() && !value.isPoison())
      value =
          error(place, "T0402", fmt::format("'{}' is a bool, found {}", flag, describe(value)), "write true or false");
    environment.declare(flag, {std::move(value), false});
  }
  for (const ast::WithClause &clause : kernel->with)
    if (llvm::none_of(kFlags, [&](const char *flag) { return clause.name.name == flag; }))
      error(at(clause.name.range), "T0403", fmt::format("there is no attribute '{}'", clause.name.name),
            "the attributes are fast and deterministic");
}

void Specializer::bindStatics() {
  bindLeading();
  bindFlags();
  for (const ast::StaticParam &param : kernel->staticParams)
    bindStatic(param);
}

//===----------------------------------------------------------------------===//
// Parameters and dimensions
//===----------------------------------------------------------------------===//

void Specializer::checkFacts(const ast::Param &param, const TensorFacts &facts, DType dtype, size_t rank) {
  At place = at(param.range);
  bool isOptional = param.defaultValue && param.defaultValue->kind == ast::Expr::Kind::None;
  if (!facts.present) {
    if (!isOptional)
      error(place, "T0409", fmt::format("'{}' is not optional", param.name),
            fmt::format("declare it so: {}: ... = None", param.name));
    return;
  }
  if (facts.dtype && *facts.dtype != dtype)
    error(place, "T0406",
          fmt::format("'{}' has elements of {}, found an argument of {}", param.name, nameOf(dtype),
                      nameOf(*facts.dtype)),
          "");
  if (!facts.shape.empty() && facts.shape.size() != rank)
    error(
        place, "T0406",
        fmt::format("'{}' has {}, found an argument of {}", param.name, countOf(rank, "dimension"), facts.shape.size()),
        "");
  const TensorContract &contract = facts.contract;
  auto divisorsFit = [&](const std::vector<int64_t> &d) {
    return d.empty() || (d.size() == rank && llvm::all_of(d, [](int64_t n) { return n >= 1; }));
  };
  bool alignFits = contract.align >= 1 && (contract.align & (contract.align - 1)) == 0;
  if (!alignFits || contract.unitDim < -1 || contract.unitDim >= int64_t(rank) || !divisorsFit(contract.strideDiv) ||
      !divisorsFit(contract.extentDiv))
    error(place, "T0406",
          fmt::format("the contract of '{}' does not fit its {}", param.name, countOf(rank, "dimension")), "");
}

void Specializer::bindParams() {
  for (const ast::Param &param : kernel->params) {
    BoundParam bound;
    bound.param = &param;
    bound.written = writtenExtents(param.extents, param.anyLeading);
    Value type = eval(*param.type);
    if (!type.isType()) {
      if (!type.isPoison())
        error(at(param.type->range), "T0218",
              fmt::format("'{}' needs an element type, found {}", param.name, describe(type)), "for instance f32");
      continue;
    }
    bound.dtype = type.dtype;
    bool isOptional = param.defaultValue && param.defaultValue->kind == ast::Expr::Kind::None;
    const TensorFacts *facts = factsOf(param.name);
    bound.isPresent = facts ? facts->present : !isOptional;
    if (facts)
      checkFacts(param, *facts, bound.dtype, bound.written.size());
    if (!param.isTensor)
      symbols[param.name] = bound.dtype;
    params.push_back(std::move(bound));
  }
}

/// Binds a dimension in one extent: a name alone, or (second pass) a name plus a compile-time integer.
bool Specializer::bindDim(const ast::Expr &extent, size_t argument, size_t axis, bool plainOnly) {
  auto isNew = [&](const ast::Expr &e) {
    if (e.kind != ast::Expr::Kind::Name)
      return false;
    const std::string &name = e.as<ast::NameExpr>().name;
    return !symbols.count(name) && !environment.find(name);
  };
  if (extent.kind == ast::Expr::Kind::Name) {
    if (!plainOnly || !isNew(extent))
      return false;
    const std::string &name = extent.as<ast::NameExpr>().name;
    symbols[name] = DType::I64;
    dims.push_back({name, argument, axis, 0});
    return true;
  }
  if (plainOnly || extent.kind != ast::Expr::Kind::Binary)
    return false;
  const auto &binary = extent.as<ast::BinaryExpr>();
  if ((binary.op != ast::BinaryOp::Add && binary.op != ast::BinaryOp::Sub) || !isNew(*binary.left))
    return false;
  std::optional<LaunchValue> offset = launch(*binary.right);
  if (!offset || !offset->constant || !offset->constant->isInteger() || offset->constant->integer == INT64_MIN)
    return false;
  const std::string &name = binary.left->as<ast::NameExpr>().name;
  symbols[name] = DType::I64;
  dims.push_back(
      {name, argument, axis, binary.op == ast::BinaryOp::Add ? offset->constant->integer : -offset->constant->integer});
  return true;
}

void Specializer::bindDims() {
  for (bool plainOnly : {true, false})
    for (auto [index, bound] : llvm::enumerate(params))
      if (bound.param->isTensor && bound.isPresent)
        for (auto [axis, extent] : llvm::enumerate(bound.written))
          bindDim(*extent, index, axis, plainOnly);
  // Names that only occur inside other expressions have no value.
  for (BoundParam &bound : params) {
    if (!bound.param->isTensor || !bound.isPresent)
      continue;
    for (const ast::Expr *extent : bound.written) {
      SmallVector<const ast::Expr *> pending = {extent};
      bool good = true;
      while (!pending.empty()) {
        const ast::Expr &e = *pending.pop_back_val();
        if (e.kind == ast::Expr::Kind::Name) {
          const auto &name = e.as<ast::NameExpr>();
          if (!symbols.count(name.name) && !isShadowed(name.name)) {
            error(
                at(name.range), "T0405", fmt::format("nothing binds the dimension '{}'", name.name),
                fmt::format("let it stand alone in a shape, or make it a compile-time parameter: {}: int", name.name));
            symbols[name.name] = DType::I64;
            good = false;
          }
        } else if (e.kind == ast::Expr::Kind::Binary) {
          pending.push_back(e.as<ast::BinaryExpr>().left.get());
          pending.push_back(e.as<ast::BinaryExpr>().right.get());
        } else if (e.kind == ast::Expr::Kind::Unary) {
          pending.push_back(e.as<ast::UnaryExpr>().operand.get());
        } else if (e.kind == ast::Expr::Kind::Call) {
          for (const ast::Argument &argument : e.as<ast::CallExpr>().arguments)
            pending.push_back(argument.value.get());
        }
      }
      std::optional<LaunchValue> value = good ? launch(*extent) : std::nullopt;
      if (value &&
          ((value->constant && !value->constant->isInteger()) || (!value->constant && !isInteger(value->dtype)))) {
        error(at(extent->range), "T0412", "an extent is an integer", "");
        value = std::nullopt;
      }
      if (value && value->constant && value->constant->integer < 0) {
        error(at(extent->range), "T0406", fmt::format("an extent is at least 0, found {}", value->constant->integer),
              "");
        value = std::nullopt;
      }
      LaunchValue zero;
      zero.constant = Value::of(int64_t(0));
      bound.extents.push_back(value ? *value : zero);
    }
  }
}

} // namespace tessera::frontend

bool tessera::isFullyBound(const ast::Kernel &kernel, const CompileOptions &options) {
  auto isBound = [&](const ast::StaticParam &param) {
    if (param.defaultValue)
      return true;
    for (const Binding &binding : options.bindings)
      if (binding.name == param.name || binding.name == kernel.name + "." + param.name)
        return true;
    auto isName = [&](const ast::ExprPtr &expr) {
      return expr && expr->kind == ast::Expr::Kind::Name && expr->as<ast::NameExpr>().name == param.name;
    };
    for (const ast::Param &tensor : kernel.params)
      for (const TensorFacts &facts : options.tensors) {
        if (facts.param != tensor.name || !facts.present)
          continue;
        if (facts.dtype && isName(tensor.type))
          return true;
        for (auto [extent, length] : frontend::factsOfExtents(tensor, facts))
          if (isName(*extent) && length >= 0)
            return true;
      }
    return false;
  };
  return llvm::all_of(kernel.staticParams, isBound);
}
