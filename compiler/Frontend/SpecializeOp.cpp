//===- SpecializeOp.cpp - the body of an op ------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// `temp`, `let`, compile-time `if`; calls are in SpecializeOpCall.cpp.
//
#include "compiler/Frontend/OpSpecializer.h"

#include <bit>
#include <fmt/format.h>

using namespace mlir;

namespace tessera::frontend {

static constexpr int64_t kMostDivisor = 64; // as the contracts of arguments

std::optional<OpInfo> specializeOp(const ast::File &file, const ast::Kernel &op, const CompileOptions &options,
                                   MLIRContext &context, std::vector<Diagnostic> &diagnostics, OpCollector &collector) {
  std::map<std::string, int64_t> fixed;
  for (;;) {
    size_t before = diagnostics.size();
    OpSpecializer specializer(file, options, &context, diagnostics, collector);
    std::optional<OpInfo> info = specializer.run(op, fixed);
    size_t known = fixed.size();
    fixed.insert(specializer.wanted.begin(), specializer.wanted.end());
    if (!info || fixed.size() == known)
      return info;
    diagnostics.resize(before); // warnings of the first walk come again
  }
}

bool OpSpecializer::clears(const ast::Param &param) { return param.mode == ast::Mode::Accum && param.defaultValue; }

static ParamMode modeOf(ast::Mode mode) {
  return mode == ast::Mode::Out     ? ParamMode::Out
         : mode == ast::Mode::InOut ? ParamMode::InOut
         : mode == ast::Mode::Accum ? ParamMode::Accum
                                    : ParamMode::In;
}

std::optional<OpInfo> OpSpecializer::run(const ast::Kernel &op, const std::map<std::string, int64_t> &fixed) {
  kernel = &op;
  if (op.hasGrid)
    error(at(op.nameRange), "T0415", fmt::format("op '{}' has a grid", op.name),
          "an op launches kernels, which have grids of their own");
  bindStatics();
  for (const auto &[name, value] : fixed)
    if (!environment.find(name))
      environment.declare(name, {Value::of(value, name), false});
  if (failed())
    return std::nullopt;
  bindParams();
  bindDims();
  if (failed())
    return std::nullopt;
  info.signature.name = op.name;
  // Names that only the launcher knows the values of; launch expressions look into `symbols` first.
  for (const auto &[name, type] : symbols)
    environment.declare(name, {Value::nothing(), false});
  for (const BoundDim &dim : dims) {
    info.signature.dims.push_back(dim.name);
    const TensorFacts *facts = factsOf(params[dim.argument].param->name);
    if (facts && dim.axis < facts->shape.size() && facts->shape[dim.axis] >= 0)
      values[dim.name] = facts->shape[dim.axis] - dim.offset;
  }
  for (auto [index, bound] : llvm::enumerate(params)) {
    ParamInfo param;
    param.name = bound.param->name;
    param.dtype = bound.dtype;
    param.isTensor = bound.param->isTensor;
    param.present = bound.isPresent;
    if (param.isTensor) {
      param.mode = modeOf(bound.param->mode);
      param.clearFirst = bound.isPresent && clears(*bound.param);
      for (const LaunchValue &extent : bound.extents)
        param.extents.push_back(toExpr(extent, {}));
      param.contract = contractOf(*bound.param, bound.dtype, param.extents.size());
      for (auto [axis, extent] : llvm::enumerate(param.extents))
        if (extent.kind == Expr::Kind::Symbol && axis < param.contract.extentDiv.size()) {
          int64_t divisor = param.contract.extentDiv[axis];
          int64_t &best = divisors.try_emplace(extent.name, 1).first->second;
          best = std::max(best, divisor & -divisor);
        }
      if (param.present)
        tensors[param.name] = {{StepArgument::Kind::Param, int(index), {}},
                               param.name,
                               param.dtype,
                               bound.param->mode,
                               param.extents,
                               param.contract};
      environment.declare(param.name, {param.present ? Value::of(View{}) : Value::none(), false});
    }
    info.signature.params.push_back(std::move(param));
  }
  ArrayAttr requirements = requirementsAttribute();
  for (Attribute attr : requirements) {
    auto entry = cast<DictionaryAttr>(attr);
    auto condition = entry.getAs<StringAttr>("cond").getValue();
    if (Result<Expr> parsed = Expr::parse(std::string_view(condition.data(), condition.size())))
      info.signature.requirements.push_back({*parsed, entry.getAs<StringAttr>("text").getValue().str(),
                                             int(entry.getAs<IntegerAttr>("line").getInt()),
                                             int(entry.getAs<IntegerAttr>("column").getInt())});
  }
  if (failed())
    return std::nullopt;
  runBody(op.body);
  if (!failed())
    finishTemps();
  if (failed())
    return std::nullopt;
  return std::move(info);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void OpSpecializer::runBody(const ast::Block &block) {
  environment.push();
  auto outerLets = launchLets;
  auto outerTensors = tensors;
  for (const ast::StmtPtr &statement : block.statements)
    runOpStatement(*statement);
  launchLets = std::move(outerLets);
  tensors = std::move(outerTensors);
  environment.pop();
}

void OpSpecializer::runOpStatement(const ast::Stmt &statement) {
  using K = ast::Stmt::Kind;
  if (!spend(at(statement.range)))
    return;
  switch (statement.kind) {
  case K::Let:
    return runLaunchLet(statement.as<ast::LetStmt>());
  case K::Temp:
    return declareTemp(statement.as<ast::TempStmt>());
  case K::Expression: {
    const ast::Expr &value = *statement.as<ast::ExprStmt>().value;
    if (value.kind == ast::Expr::Kind::If)
      return runOpIf(value.as<ast::IfExpr>());
    if (value.kind == ast::Expr::Kind::Call)
      return runCall(value.as<ast::CallExpr>());
    if (value.kind == ast::Expr::Kind::Error) {
      ++errors;
      return;
    }
    break;
  }
  case K::Error:
    ++errors; // the parser has said why
    return;
  default:
    break;
  }
  error(
      at(statement.range), "T0415", "an op has no statement of this kind",
      "write temp, let, if on a compile-time condition, or the call of a kernel or op; the rest belongs into a kernel");
}

void OpSpecializer::runLaunchLet(const ast::LetStmt &let) {
  if (let.isTuple) {
    error(at(let.range), "T0415", "a 'let' in an op binds one name", "write one 'let' for each");
    return;
  }
  const ast::Binder &name = let.names.front();
  std::optional<LaunchValue> value = launch(*let.value);
  if (!value) {
    declareNew(name.name, name.range, {Value::poison(), false});
    return;
  }
  if (value->constant && (value->constant->isView() || value->constant->isNone())) {
    error(at(let.value->range), "T0415", "a 'let' in an op binds a number, a type or a function, found a tensor",
          "name the tensor itself");
    return;
  }
  declareNew(name.name, name.range, {value->constant ? *value->constant : Value::nothing(), false});
  if (!value->constant)
    launchLets[name.name] = std::move(*value);
}

void OpSpecializer::runOpIf(const ast::IfExpr &branch) {
  std::optional<LaunchValue> condition = launch(*branch.condition);
  if (!condition)
    return;
  if (!condition->constant || !condition->constant->isBoolean()) {
    error(at(branch.condition->range), "T0408",
          condition->constant ? fmt::format("a condition is a bool, found {}", describe(*condition->constant))
                              : std::string("the condition of an 'if' in an op is not known at compile time"),
          "decide in the kernel, or by a compile-time parameter of the op");
    return;
  }
  if (condition->constant->boolean)
    runBody(branch.thenBlock);
  else if (branch.elseBlock)
    runBody(*branch.elseBlock);
}

std::optional<uint64_t> OpSpecializer::patternOf(const ast::Expr &initial, DType dtype) {
  std::optional<LaunchValue> value = launch(initial);
  if (!value)
    return std::nullopt;
  At place = at(initial.range);
  if (!value->constant || (!value->constant->isNumber() && !value->constant->isBoolean())) {
    error(place, "T0408", "a temporary begins with a compile-time number", "let a kernel fill it");
    return std::nullopt;
  }
  Literal fits = literal(context, *value->constant, dtype);
  if (!fits.attribute) {
    error(place, fits.refusal);
    return std::nullopt;
  }
  if (auto integer = dyn_cast<IntegerAttr>(fits.attribute))
    return integer.getValue().getZExtValue();
  return cast<FloatAttr>(fits.attribute).getValue().bitcastToAPInt().getZExtValue();
}

void OpSpecializer::declareTemp(const ast::TempStmt &statement) {
  Value type = eval(*statement.type);
  if (type.isPoison())
    return;
  if (!type.isType()) {
    error(at(statement.type->range), "T0218",
          fmt::format("'{}' needs an element type, found {}", statement.name.name, describe(type)), "for instance f32");
    return;
  }
  Tensor tensor;
  tensor.name = statement.name.name;
  tensor.dtype = type.dtype;
  if (statement.anyLeading && !leading.count(statement.extents.front()->as<ast::NameExpr>().name)) {
    error(at(statement.extents.front()->range), "T0405",
          fmt::format("nothing binds the leading dimensions '{}'", statement.extents.front()->as<ast::NameExpr>().name),
          "use those of a parameter: x: in T[..S, C]");
    return;
  }
  for (const ast::Expr *extent : writtenExtents(statement.extents, statement.anyLeading)) {
    std::optional<LaunchValue> value = launch(*extent);
    if (!value)
      return;
    if (value->constant ? !value->constant->isInteger() : !isInteger(value->dtype)) {
      error(at(extent->range), "T0412", "an extent is an integer", "");
      return;
    }
    if (value->constant && value->constant->integer < 0) {
      error(at(extent->range), "T0406", fmt::format("an extent is at least 0, found {}", value->constant->integer), "");
      return;
    }
    tensor.extents.push_back(toExpr(*value, {}));
  }
  Temp temp;
  temp.statement = &statement;
  if (statement.initial) {
    temp.pattern = patternOf(*statement.initial, tensor.dtype);
    if (!temp.pattern)
      return;
    temp.written = true;
  }
  declareNew(tensor.name, statement.name.range, {Value::of(View{}), false});
  tensor.contract = denseContract(tensor.extents);
  int index = int(info.temps.size());
  tensor.argument = {StepArgument::Kind::Temp, index, {}};
  info.temps.push_back({tensor.name, tensor.dtype, tensor.extents, 0, 0});
  temps[index] = std::move(temp);
  tensors[tensor.name] = std::move(tensor);
}

/// Lifetimes: from the first step that names a temporary to the last.
void OpSpecializer::finishTemps() {
  for (auto &[index, temp] : temps)
    if (!temp.used)
      error(at(temp.statement->name.range), "T0215",
            fmt::format("nobody uses the temporary '{}'", temp.statement->name.name), "remove it");
  for (auto [index, temp] : llvm::enumerate(info.temps)) {
    temp.firstStep = -1;
    for (auto [number, step] : llvm::enumerate(info.steps))
      for (const StepArgument &argument : step.arguments)
        if (argument.kind == StepArgument::Kind::Temp && argument.index == int(index)) {
          if (temp.firstStep < 0)
            temp.firstStep = int(number);
          temp.lastStep = int(number);
        }
    temp.firstStep = std::max(temp.firstStep, 0);
  }
}

//===----------------------------------------------------------------------===//
// What is known of temporaries
//===----------------------------------------------------------------------===//

/// The value of a launch expression where the facts tell it.
std::optional<int64_t> OpSpecializer::known(const Expr &expr) const {
  Result<ExprValue> value = expr.evaluate([&](std::string_view name) -> std::optional<ExprValue> {
    auto found = values.find(std::string(name));
    return found == values.end() ? std::nullopt : std::optional<ExprValue>(found->second);
  });
  const int64_t *integer = value ? std::get_if<int64_t>(&*value) : nullptr;
  return integer ? std::optional(*integer) : std::nullopt;
}

/// A power of two, at most kMostDivisor, that divides the expression whatever the arguments are.
int64_t OpSpecializer::divisorOf(const Expr &expr) const {
  auto lowest = [](int64_t value) {
    return value == 0 ? kMostDivisor
                      : std::min<int64_t>(kMostDivisor, int64_t(1) << std::min(6, std::countr_zero(uint64_t(value))));
  };
  if (expr.isConstant())
    return lowest(expr.integer);
  if (expr.kind == Expr::Kind::Symbol) {
    auto found = divisors.find(expr.name);
    return found == divisors.end() ? 1 : std::min(found->second, kMostDivisor);
  }
  if (expr.kind != Expr::Kind::Node || expr.operands.empty())
    return 1;
  int64_t result = divisorOf(expr.operands[0]);
  for (size_t i = 1; i < expr.operands.size(); ++i) {
    int64_t next = divisorOf(expr.operands[i]);
    if (expr.name == "*")
      result = std::min(result * next, kMostDivisor);
    else if (expr.name == "+" || expr.name == "-" || expr.name == "min" || expr.name == "max")
      result = std::min(result, next);
    else
      return 1;
  }
  return expr.name == "neg" || expr.operands.size() > 1 ? result : 1;
}

/// Temporaries lie densely and start at multiples of the workspace's alignment.
TensorContract OpSpecializer::denseContract(const std::vector<Expr> &extents) const {
  TensorContract contract;
  contract.align = 16;
  size_t rank = extents.size();
  contract.unitDim = int64_t(rank) - 1;
  contract.strideDiv.assign(rank, 1);
  contract.extentDiv.assign(rank, 1);
  int64_t stride = 1;
  for (size_t i = rank; i-- > 0;) {
    contract.strideDiv[i] = stride;
    contract.extentDiv[i] = divisorOf(extents[i]);
    stride = std::min(stride * contract.extentDiv[i], kMostDivisor);
  }
  return contract;
}

} // namespace tessera::frontend
