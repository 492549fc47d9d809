//===- SpecializeOpCall.cpp - what an op calls ---------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A call is matched with the callee's parameters, checked against their modes, and becomes a step; the call of an op becomes the steps of
// that op, with the caller's expressions in place of its names.
//
#include "compiler/Frontend/OpSpecializer.h"
#include "compiler/Frontend/Specialize.h"

#include "dialect/Tile/TileDialect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;

namespace tessera::frontend {

/// `expr` with the names in `map` replaced.
static Expr substitute(const Expr &expr, const std::map<std::string, Expr> &map) {
  if (expr.kind == Expr::Kind::Symbol) {
    auto found = map.find(expr.name);
    return found == map.end() ? expr : found->second;
  }
  if (expr.kind != Expr::Kind::Node)
    return expr;
  std::vector<Expr> operands;
  for (const Expr &operand : expr.operands)
    operands.push_back(substitute(operand, map));
  return Expr::node(expr.name, std::move(operands));
}

static const char *modeName(ast::Mode mode) {
  switch (mode) {
  case ast::Mode::Out:
    return "out";
  case ast::Mode::InOut:
    return "inout";
  case ast::Mode::Accum:
    return "accum";
  default:
    return "in";
  }
}

static const ast::StaticParam *findStatic(const ast::Kernel &kernel, const std::string &name) {
  for (const ast::StaticParam &param : kernel.staticParams)
    if (param.name == name)
      return &param;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// What holds for the callee whatever the call says: the flags of this op, and bindings that name a kernel.
CompileOptions OpSpecializer::optionsFor(const ast::Kernel &callee) {
  CompileOptions inner = options;
  inner.tensors.clear();
  inner.bindings.clear();
  for (const char *flag : {"fast", "deterministic"})
    if (Variable *value = environment.find(flag); value && value->value.isBoolean() && value->value.boolean)
      inner.bindings.push_back({callee.name + "." + flag, "true"});
  for (const Binding &binding : options.bindings)
    if (binding.name.find('.') != std::string::npos)
      inner.bindings.push_back(binding);
  return inner;
}

/// `causal = causal`: a compile-time parameter of the callee, by name.
bool OpSpecializer::bindCallee(const ast::Kernel &callee, const ast::Argument &written, CompileOptions &inner) {
  std::optional<LaunchValue> value = launch(*written.value);
  if (!value)
    return false;
  At place = at(written.value->range);
  std::string text;
  if (value->constant) {
    const Value &constant = *value->constant;
    if (constant.isInteger())
      text = fmt::format("{}", constant.integer);
    else if (constant.kind == Value::Kind::Real)
      text = fmt::format("{}", constant.real);
    else if (constant.isBoolean())
      text = constant.boolean ? "true" : "false";
    else if (constant.isType())
      text = nameOf(constant.dtype);
    else if (constant.isFunction() && constant.function->captured.empty())
      text = constant.function->name;
  }
  if (text.empty()) {
    error(place, value->constant ? "T0402" : "T0408",
          fmt::format("'{}' of '{}' takes a compile-time value{}", written.name, callee.name,
                      value->constant ? ": a number, a bool, a type, or a function of the file" : ""),
          "");
    return false;
  }
  llvm::erase_if(inner.bindings, [&](const Binding &b) { return b.name == callee.name + "." + written.name; });
  inner.bindings.push_back({callee.name + "." + written.name, text});
  return true;
}

std::optional<OpSpecializer::Tensor> OpSpecializer::tensorOf(const ast::Expr &expr, const std::string &callee) {
  if (expr.kind == ast::Expr::Kind::Name) {
    const std::string &name = expr.as<ast::NameExpr>().name;
    if (auto found = tensors.find(name); found != tensors.end())
      return found->second;
    Value value = evalName(expr.as<ast::NameExpr>());
    if (value.isPoison())
      return std::nullopt;
    error(at(expr.range), "T0416", fmt::format("'{}' takes a tensor here, found '{}'", callee, name),
          "pass a parameter or a temporary of the op");
    return std::nullopt;
  }
  error(at(expr.range), "T0416", fmt::format("'{}' takes a tensor here, found an expression", callee),
        "an op passes its parameters and temporaries whole; take parts of them inside the kernel");
  return std::nullopt;
}

bool OpSpecializer::passArgument(const ast::Kernel &callee, const ast::Argument &written, Passed &passed) {
  passed.at = at(written.value->range);
  const ast::Param &param = *passed.param;
  if (!param.isTensor) {
    passed.scalar = launch(*written.value);
    if (passed.scalar && passed.scalar->constant && !passed.scalar->constant->isNumber() &&
        !passed.scalar->constant->isBoolean()) {
      error(passed.at, "T0416", fmt::format("'{}' of '{}' is a scalar, found something else", param.name, callee.name),
            "pass a number, a dimension or a scalar parameter");
      return false;
    }
    return passed.scalar.has_value();
  }
  bool isAbsent = written.value->kind == ast::Expr::Kind::None;
  if (written.value->kind == ast::Expr::Kind::Name)
    if (Variable *known = environment.find(written.value->as<ast::NameExpr>().name))
      isAbsent |= known->value.isNone(); // an optional tensor of the op that is absent
  if (isAbsent) {
    if (param.defaultValue && param.defaultValue->kind == ast::Expr::Kind::None)
      return true;
    error(passed.at, "T0409", fmt::format("'{}' of '{}' is not optional", param.name, callee.name),
          "pass a tensor, or decide with 'if x != None'");
    return false;
  }
  passed.tensor = tensorOf(*written.value, callee.name);
  if (!passed.tensor)
    return false;
  size_t rank = passed.tensor->extents.size();
  size_t count = param.extents.size() - param.anyLeading;
  if (param.anyLeading ? rank < count : rank != count) {
    error(passed.at, "T0416",
          fmt::format("'{}' of '{}' has {}{}, found '{}' with {}", param.name, callee.name,
                      param.anyLeading ? "at least " : "", countOf(count, "dimension"), passed.tensor->name, rank),
          "pass a tensor of that rank");
    return false;
  }
  return true;
}

bool OpSpecializer::matchArguments(const ast::Kernel &callee, const ast::CallExpr &call, std::vector<Passed> &passed,
                                   CompileOptions &inner) {
  At place = at(call.range);
  passed.resize(callee.params.size());
  for (auto [entry, param] : llvm::zip(passed, callee.params)) {
    entry.param = &param;
    entry.at = place;
  }
  std::set<std::string> given;
  size_t next = 0;
  bool good = true;
  for (const ast::Argument &written : call.arguments) {
    At where = at(written.name.empty() ? written.value->range : written.nameRange);
    if (written.name.empty() && next >= passed.size()) {
      error(where, "T0220", fmt::format("'{}' takes {}, found more", callee.name, countOf(passed.size(), "argument")),
            "compile-time parameters are bound by name");
      return false;
    }
    const std::string &name = written.name.empty() ? callee.params[next].name : written.name;
    if (written.name.empty())
      ++next;
    if (!given.insert(name).second) {
      error(where, "T0220", fmt::format("'{}' is given '{}' twice", callee.name, name), "give it once");
      return false;
    }
    auto found = llvm::find_if(passed, [&](const Passed &p) { return p.param->name == name; });
    if (found != passed.end()) {
      good &= passArgument(callee, written, *found);
      continue;
    }
    if (!findStatic(callee, name) && name != "fast" && name != "deterministic") {
      std::vector<std::string> names;
      for (const ast::Param &p : callee.params)
        names.push_back(p.name);
      for (const ast::StaticParam &p : callee.staticParams)
        names.push_back(p.name);
      error(where, "T0220", fmt::format("'{}' has no argument '{}'", callee.name, name),
            fmt::format("it has {}", fmt::join(names, ", ")));
      return false;
    }
    good &= bindCallee(callee, written, inner);
  }
  for (Passed &entry : passed) {
    const ast::Param &param = *entry.param;
    if (given.count(param.name))
      continue;
    bool isOptional = param.defaultValue && param.defaultValue->kind == ast::Expr::Kind::None;
    if (!param.isTensor && param.defaultValue && !isOptional) {
      entry.scalar = launch(*param.defaultValue);
      good &= entry.scalar.has_value();
    } else if (!isOptional) {
      error(place, "T0220", fmt::format("'{}' needs the argument '{}'", callee.name, param.name), "");
      return false;
    }
  }
  for (const Passed &entry : passed) {
    if (!entry.param->isTensor)
      continue;
    TensorFacts facts;
    facts.param = entry.param->name;
    facts.present = entry.tensor.has_value();
    if (entry.tensor) {
      facts.dtype = entry.tensor->dtype;
      facts.contract = entry.tensor->contract;
      facts.rank = entry.tensor->extents.size();
      for (const Expr &extent : entry.tensor->extents)
        facts.shape.push_back(known(extent).value_or(-1));
    }
    inner.tensors.push_back(std::move(facts));
  }
  return good;
}

//===----------------------------------------------------------------------===//
// Rules of use
//===----------------------------------------------------------------------===//

/// Modes, temporaries that nothing has written, one tensor in two places.
bool OpSpecializer::checkUse(const ast::Kernel &callee, std::vector<Passed> &passed) {
  bool good = true;
  auto refuse = [&](const Passed &entry, const char *code, std::string message, std::string remedy) {
    error(entry.at, code, std::move(message), std::move(remedy));
    good = false;
  };
  for (auto [index, entry] : llvm::enumerate(passed)) {
    if (!entry.tensor)
      continue;
    const Tensor &tensor = *entry.tensor;
    ast::Mode wants = entry.param->mode;
    bool clearing = clears(*entry.param), isAccum = wants == ast::Mode::Accum;
    bool reads = wants == ast::Mode::In || wants == ast::Mode::InOut || (isAccum && !clearing);
    std::string parameter = fmt::format("'{}' of '{}'", entry.param->name, callee.name);
    for (const Passed &other : llvm::ArrayRef(passed).take_front(index))
      if (other.tensor && other.tensor->name == tensor.name &&
          (wants != ast::Mode::In || other.param->mode != ast::Mode::In))
        refuse(entry, "T0416",
               fmt::format("'{}' is passed for '{}' and '{}' of '{}', and one of them is written", tensor.name,
                           other.param->name, entry.param->name, callee.name),
               "pass different tensors, or call a kernel that works in place");
    if (tensor.argument.kind == StepArgument::Kind::Temp) {
      auto temp = temps.find(tensor.argument.index);
      if (temp == temps.end())
        continue;
      if (reads && !temp->second.written)
        refuse(
            entry, "T0417",
            fmt::format("{} reads the temporary '{}', which nothing has written", parameter, tensor.name),
            fmt::format("call the kernel that writes it before, or begin with a value: temp {}: ... = 0", tensor.name));
      temp->second.used = true;
      temp->second.written |= wants != ast::Mode::In;
      continue;
    }
    if (tensor.mode == ast::Mode::In && wants != ast::Mode::In)
      refuse(entry, "T0416",
             fmt::format("{} is '{}', but '{}' is only read by the op", parameter, modeName(wants), tensor.name),
             fmt::format("declare it {} in the op", modeName(wants)));
    else if (tensor.mode == ast::Mode::Out && reads)
      refuse(entry, "T0416", fmt::format("{} reads '{}', which is 'out' in the op", parameter, tensor.name),
             "declare it inout in the op");
    else if (tensor.mode == ast::Mode::Accum && (!isAccum || clearing))
      refuse(entry, "T0416",
             clearing && isAccum
                 ? fmt::format("{} clears '{}', which is 'accum' in the op", parameter, tensor.name)
                 : fmt::format("{} is '{}', but '{}' is 'accum' in the op", parameter, modeName(wants), tensor.name),
             "declare it out or inout in the op");
  }
  return good;
}

/// What the callee has become against what it is given.
bool OpSpecializer::checkTypes(const ast::Kernel &callee, const std::vector<Passed> &passed,
                               const std::vector<CalleeParam> &params) {
  bool good = true;
  for (auto [entry, param] : llvm::zip(passed, params)) {
    if (entry.scalar) {
      DType found = entry.scalar->dtype;
      if (entry.scalar->constant) {
        if (Literal fits = literal(context, *entry.scalar->constant, param.dtype); !fits.attribute) {
          error(entry.at, fits.refusal);
          good = false;
        }
      } else if (found != param.dtype && promote(found, param.dtype).type != param.dtype) {
        error(entry.at, "T0210",
              fmt::format("'{}' of '{}' is {}, found {}", param.name, callee.name, nameOf(param.dtype), nameOf(found)),
              "declare the kernel's parameter so that it holds the value");
        good = false;
      }
      continue;
    }
    if (!entry.tensor)
      continue;
    for (auto [extent, fixed] : llvm::zip(entry.tensor->extents, param.extents))
      if (fixed && extent.isConstant() && extent.integer != *fixed) {
        error(entry.at, "T0416",
              fmt::format("'{}' of '{}' has an extent of {}, found '{}' with {}", param.name, callee.name, *fixed,
                          entry.tensor->name, extent.integer),
              "make them equal, or bind the kernel's parameter");
        good = false;
      }
    wantExtents(*entry.tensor, param);
  }
  return good;
}

/// Where the callee has fixed an extent that the op leaves open, the op's dimensions become numbers too, if they are known.
void OpSpecializer::wantExtents(const Tensor &tensor, const CalleeParam &param) {
  for (auto [extent, fixed] : llvm::zip(tensor.extents, param.extents)) {
    if (!fixed || extent.isConstant() || !known(extent))
      continue;
    SmallVector<const Expr *> pending = {&extent};
    while (!pending.empty()) {
      const Expr &e = *pending.pop_back_val();
      if (e.kind == Expr::Kind::Symbol)
        wanted[e.name] = values.at(e.name);
      for (const Expr &operand : e.operands)
        pending.push_back(&operand);
    }
  }
}

Expr OpSpecializer::scalarFor(const Passed &passed, DType dtype) { return toExpr(*passed.scalar, dtype); }

/// `temp x = v`: filled before the first step that takes it.
void OpSpecializer::fillBeforeUse(const std::vector<Passed> &passed) {
  for (const Passed &entry : passed) {
    if (!entry.tensor || entry.tensor->argument.kind != StepArgument::Kind::Temp)
      continue;
    auto temp = temps.find(entry.tensor->argument.index);
    if (temp == temps.end() || !temp->second.pattern || temp->second.filled)
      continue;
    temp->second.filled = true;
    const ast::SourceRange &range = temp->second.statement->range;
    info.steps.push_back(
        {OpStep::Kind::Fill, 0, {entry.tensor->argument}, *temp->second.pattern, range.line, range.column});
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void OpSpecializer::noteCall(size_t first, const ast::Kernel &callee, At place) {
  for (size_t i = first; i < diagnostics.size(); ++i)
    diagnostics[i].notes.push_back(
        {placeOf(place), fmt::format("'{}' is called here, in op '{}'", callee.name, kernel->name)});
}

void OpSpecializer::runCall(const ast::CallExpr &call) {
  At place = at(call.range);
  const std::string *name =
      call.callee->kind == ast::Expr::Kind::Name ? &call.callee->as<ast::NameExpr>().name : nullptr;
  if (name && *name == "static_assert" && !file.findKernel(*name)) {
    evalStaticAssert(call);
    return;
  }
  const ast::Kernel *callee = name ? file.findKernel(*name) : nullptr;
  if (!callee) {
    error(at(call.callee->range), "T0102",
          name ? fmt::format("there is no kernel '{}'", *name) : std::string("an op calls kernels and ops by name"),
          "call a kernel or an op of this file");
    return;
  }
  CompileOptions inner = optionsFor(*callee);
  std::vector<Passed> passed;
  if (!matchArguments(*callee, call, passed, inner) || !checkUse(*callee, passed))
    return;
  if (!isFullyBound(*callee, inner)) {
    std::string missing;
    for (const ast::StaticParam &param : callee->staticParams) {
      if (param.defaultValue)
        continue;
      bool bound =
          llvm::any_of(inner.bindings, [&](const Binding &b) { return b.name == callee->name + "." + param.name; });
      if (!bound)
        missing += (missing.empty() ? "'" : ", '") + param.name + "'";
    }
    error(place, "T0401", fmt::format("{} of '{}' is not known in this call", missing, callee->name),
          fmt::format("make the extent a compile-time parameter of the op, or bind it: {}(..., NAME = VALUE)",
                      callee->name));
    return;
  }
  if (callee->isOp)
    dissolveOp(*callee, passed, inner, place);
  else
    launchKernel(*callee, passed, inner, place);
}

const StepKernel *OpSpecializer::specializeKernel(const ast::Kernel &callee, const CompileOptions &inner, At place) {
  std::string key = callee.name;
  for (const Binding &binding : inner.bindings)
    if (StringRef(binding.name).starts_with(callee.name + "."))
      key += fmt::format(" {}={}", binding.name, binding.value);
  for (const TensorFacts &facts : inner.tensors) {
    const TensorContract &c = facts.contract;
    key += fmt::format(" {}:{}:{}:{}:{}:{}:{}:{}", facts.param, facts.present, facts.dtype ? nameOf(*facts.dtype) : "",
                       fmt::join(facts.shape, ","), c.align, c.unitDim, fmt::join(c.strideDiv, ","),
                       fmt::join(c.extentDiv, ","));
  }
  if (auto found = collector.kernels.find(key); found != collector.kernels.end())
    return &found->second;
  size_t first = diagnostics.size();
  Specializer specializer(file, inner, context, diagnostics);
  bool good = specializer.run(callee, collector.module);
  noteCall(first, callee, place);
  if (!good) {
    ++errors;
    return nullptr;
  }
  int index = -1;
  tile::KernelOp made;
  for (auto op : collector.module.getOps<tile::KernelOp>()) {
    ++index;
    made = op;
  }
  // A symbol that says whose kernel it is, apart from every name of the file and from the symbols before it.
  std::string outermost = collector.active.empty() ? kernel->name : collector.active.front();
  std::string symbol = outermost + "_" + callee.name, plain = symbol;
  auto taken = [&] {
    if (file.findKernel(symbol))
      return true;
    for (auto op : collector.module.getOps<tile::KernelOp>())
      if (op != made && op.getSymName() == symbol)
        return true;
    return false;
  };
  for (int number = 2; taken(); ++number)
    symbol = fmt::format("{}_{}", plain, number);
  made.setSymName(symbol);
  made->setAttr(kStepOfAttr, builder.getStringAttr(callee.name));
  return &(collector.kernels[key] = {index, specializer.calleeParams()});
}

void OpSpecializer::launchKernel(const ast::Kernel &callee, std::vector<Passed> &passed, const CompileOptions &inner,
                                 At place) {
  const StepKernel *made = specializeKernel(callee, inner, place);
  if (!made || !checkTypes(callee, passed, made->params))
    return;
  fillBeforeUse(passed);
  OpStep step;
  step.kernel = made->index;
  step.line = place.line;
  step.column = place.column;
  for (auto [entry, param] : llvm::zip(passed, made->params))
    step.arguments.push_back(entry.tensor   ? entry.tensor->argument
                             : entry.scalar ? StepArgument{StepArgument::Kind::Scalar, 0, scalarFor(entry, param.dtype)}
                                            : StepArgument{});
  info.steps.push_back(std::move(step));
}

void OpSpecializer::dissolveOp(const ast::Kernel &callee, std::vector<Passed> &passed, const CompileOptions &inner,
                               At place) {
  collector.active.push_back(kernel->name);
  struct Leave {
    std::vector<std::string> &active;
    ~Leave() { active.pop_back(); }
  } leave{collector.active};
  if (llvm::is_contained(collector.active, callee.name)) {
    error(place, "T0222", fmt::format("'{}' calls itself", callee.name), "an op is dissolved where it is called");
    return;
  }
  size_t first = diagnostics.size();
  std::map<std::string, int64_t> fixed;
  std::optional<OpSpecializer> walk;
  std::optional<OpInfo> made;
  for (bool again = true; again;) {
    diagnostics.resize(first);
    walk.emplace(file, inner, context, diagnostics, collector);
    made = walk->run(callee, fixed);
    size_t known = fixed.size();
    fixed.insert(walk->wanted.begin(), walk->wanted.end());
    again = made && fixed.size() != known;
  }
  noteCall(first, callee, place);
  if (!made) {
    ++errors;
    return;
  }
  std::vector<CalleeParam> calleeParams = walk->calleeParams();
  if (!checkTypes(callee, passed, calleeParams))
    return;
  // The caller's expressions for the callee's names.
  std::map<std::string, Expr> names;
  for (auto [entry, param] : llvm::zip(passed, calleeParams))
    if (entry.scalar)
      names[param.name] = scalarFor(entry, param.dtype);
  for (const BoundDim &dim : walk->boundDims()) {
    const Expr &extent = passed[dim.argument].tensor->extents[dim.axis];
    names[dim.name] = dim.offset ? Expr::node("-", {extent, Expr::constant(dim.offset)}) : extent;
  }
  for (auto [entry, param] : llvm::zip(passed, made->signature.params)) {
    if (!entry.tensor)
      continue;
    for (auto [axis, extent] : llvm::enumerate(param.extents)) {
      Expr expected = substitute(extent, names), found = entry.tensor->extents[axis];
      if (expected == found)
        continue;
      Expr agree = Expr::node("==", {found, expected});
      info.signature.requirements.push_back({agree,
                                             fmt::format("extent {} of '{}' to be that of '{}' in '{}'", axis,
                                                         entry.tensor->name, param.name, callee.name),
                                             place.line, place.column});
    }
  }
  for (Requirement requirement : made->signature.requirements) {
    requirement.condition = substitute(requirement.condition, names);
    info.signature.requirements.push_back(std::move(requirement));
  }
  fillBeforeUse(passed);
  for (auto [entry, param] : llvm::zip(passed, made->signature.params))
    if (entry.tensor && param.clearFirst)
      info.steps.push_back({OpStep::Kind::Fill, 0, {entry.tensor->argument}, 0, place.line, place.column});
  int firstTemp = int(info.temps.size());
  for (TempInfo temp : made->temps) {
    temp.name = callee.name + "." + temp.name;
    for (Expr &extent : temp.extents)
      extent = substitute(extent, names);
    info.temps.push_back(std::move(temp));
  }
  for (OpStep step : made->steps) {
    for (StepArgument &argument : step.arguments) {
      if (argument.kind == StepArgument::Kind::Param)
        argument = passed[argument.index].tensor->argument;
      else if (argument.kind == StepArgument::Kind::Temp)
        argument.index += firstTemp;
      else
        argument.value = substitute(argument.value, names);
    }
    info.steps.push_back(std::move(step));
  }
}

} // namespace tessera::frontend
