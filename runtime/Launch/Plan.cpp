//===- Plan.cpp - from arguments to a launch that is known to be right ---------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// One class walks the checks in the order of Plan.h.  Names are few, so they live in a vector and are found by comparison.
//
#include "runtime/Launch/Plan.h"

#include "runtime/Launch/Overlap.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tessera {
namespace {

Error programError(const char *code, std::string message, std::string remedy) {
  return Error{Fault::Program, std::move(message), std::move(remedy), code};
}

/// Appends the symbols of `expr`, each once, in order of appearance.
void collectSymbols(const Expr &expr, std::vector<std::string> &names) {
  if (expr.kind == Expr::Kind::Symbol && std::find(names.begin(), names.end(), expr.name) == names.end())
    names.push_back(expr.name);
  for (const Expr &operand : expr.operands)
    collectSymbols(operand, names);
}

/// `name + c` or `name - c` with a constant c: the name and c.
std::optional<std::pair<std::string, int64_t>> nameAndOffset(const Expr &expr) {
  if (expr.kind != Expr::Kind::Node || expr.operands.size() != 2 || (expr.name != "+" && expr.name != "-"))
    return std::nullopt;
  const Expr &left = expr.operands[0], &right = expr.operands[1];
  if (left.kind == Expr::Kind::Symbol && right.isConstant())
    return std::pair(left.name,
                     expr.name == "+" ? right.integer : static_cast<int64_t>(-static_cast<uint64_t>(right.integer)));
  if (expr.name == "+" && left.isConstant() && right.kind == Expr::Kind::Symbol)
    return std::pair(right.name, left.integer);
  return std::nullopt;
}

std::string describe(const ExprValue &value) {
  if (const int64_t *integer = std::get_if<int64_t>(&value))
    return fmt::format("{}", *integer);
  return fmt::format("{}", *std::get_if<double>(&value));
}

class Planner {
public:
  Planner(const KernelInfo &kernel, std::span<const Argument> arguments) : kernel(kernel), arguments(arguments) {}

  NamedValues values() const {
    NamedValues list;
    for (const Binding &binding : bindings)
      list.emplace_back(binding.name, binding.value);
    return list;
  }

  Result<LaunchPlan> run() {
    using Step = Result<void> (Planner::*)();
    for (Step step : {&Planner::checkTypes, &Planner::checkShapes, &Planner::bindDimensions, &Planner::checkExtents,
                      &Planner::checkRequirements})
      if (Result<void> status = (this->*step)(); !status)
        return status.error();
    for (size_t i = 0; i < arguments.size(); ++i)
      if (kernel.params[i].clearFirst && tensor(i) && !tensor(i)->isEmpty())
        plan.clears.push_back(*tensor(i));
    if (plan.clears.empty() && nothingToWrite())
      return std::move(plan);
    for (Step step : {&Planner::checkContracts, &Planner::checkOverlap, &Planner::countPrograms})
      if (Result<void> status = (this->*step)(); !status)
        return status.error();
    if (plan.programs > 0)
      if (Result<void> status = packSlots(); !status)
        return status.error();
    return std::move(plan);
  }

private:
  struct Binding {
    std::string_view name;
    ExprValue value;
    std::string by; ///< "extent 1 of 'x'"
  };

  const TensorRef *tensor(size_t i) const { return std::get_if<TensorRef>(&arguments[i]); }
  const ScalarRef *scalar(size_t i) const { return std::get_if<ScalarRef>(&arguments[i]); }
  std::string argumentName(size_t i) const {
    return fmt::format("argument '{}' of '{}'", kernel.params[i].name, kernel.name);
  }

  const Binding *find(std::string_view name) const {
    for (const Binding &binding : bindings)
      if (binding.name == name)
        return &binding;
    return nullptr;
  }

  Result<ExprValue> evaluate(const Expr &expr) const {
    return expr.evaluate([this](std::string_view name) -> std::optional<ExprValue> {
      const Binding *binding = find(name);
      return binding ? std::optional<ExprValue>(binding->value) : std::nullopt;
    });
  }

  Result<int64_t> evaluateInteger(const Expr &expr) const {
    Result<ExprValue> value = evaluate(expr);
    if (!value)
      return value.error();
    if (const int64_t *integer = std::get_if<int64_t>(&*value))
      return *integer;
    return Error{Fault::Internal, fmt::format("'{}' of '{}' is not an integer", expr.pretty(), kernel.name), "", ""};
  }

  Result<void> checkTypes() {
    if (arguments.size() != kernel.params.size())
      return programError(
          "T0601",
          fmt::format("'{}' takes {} arguments, found {}", kernel.name, kernel.params.size(), arguments.size()),
          "pass one argument for each parameter, an empty one for an absent optional tensor");
    for (size_t i = 0; i < arguments.size(); ++i) {
      const ParamInfo &param = kernel.params[i];
      bool absent = std::holds_alternative<std::monostate>(arguments[i]);
      if (!param.present) {
        if (!absent)
          return programError("T0618", fmt::format("{} was compiled as absent, found a value", argumentName(i)),
                              "leave it out, or specialize the kernel with it");
        continue;
      }
      if (absent)
        return programError("T0618", fmt::format("{} is missing", argumentName(i)),
                            param.isTensor ? "pass a tensor, or specialize the kernel without it" : "pass a value");
      if (param.isTensor != (tensor(i) != nullptr))
        return programError("T0601",
                            fmt::format("{} is a {}, expected a {}", argumentName(i),
                                        param.isTensor ? "scalar" : "tensor", param.isTensor ? "tensor" : "scalar"),
                            "pass a value of the declared kind");
      DType found = param.isTensor ? tensor(i)->dtype : scalar(i)->dtype;
      if (found != param.dtype)
        return programError(
            "T0602",
            fmt::format("{} has element type {}, expected {}", argumentName(i), nameOf(found), nameOf(param.dtype)),
            fmt::format("convert it to {}, or bind the kernel's types to it", nameOf(param.dtype)));
      if (param.isTensor && tensor(i)->shape.size() != param.extents.size())
        return programError("T0603",
                            fmt::format("{} has {} dimensions, expected {}", argumentName(i), tensor(i)->shape.size(),
                                        param.extents.size()),
                            "reshape it to the declared dimensions");
    }
    return {};
  }

  Result<void> checkShapes() {
    for (size_t i = 0; i < arguments.size(); ++i) {
      const TensorRef *ref = tensor(i);
      if (!ref)
        continue;
      if (ref->strides.size() != ref->shape.size())
        return programError(
            "T0614",
            fmt::format("{} has {} extents but {} strides", argumentName(i), ref->shape.size(), ref->strides.size()),
            "give one stride, in elements, for each dimension");
      for (size_t d = 0; d < ref->shape.size(); ++d)
        if (ref->shape[d] < 0)
          return programError("T0614",
                              fmt::format("{}: extent {} is {}, expected 0 or more", argumentName(i), d, ref->shape[d]),
                              "pass the number of elements along each dimension");
      if (ref->isEmpty())
        continue;
      if (!ref->data)
        return programError("T0614", fmt::format("{} has elements but a null pointer", argumentName(i)),
                            "pass the address of its memory");
      __int128 span = sizeOf(ref->dtype);
      for (size_t d = 0; d < ref->shape.size(); ++d) {
        __int128 step = __int128(ref->shape[d] - 1) * ref->strides[d];
        span += (step < 0 ? -step : step) > INT64_MAX ? __int128(INT64_MAX)
                                                      : (step < 0 ? -step : step) * sizeOf(ref->dtype);
      }
      if (span > INT64_MAX)
        return programError("T0614",
                            fmt::format("{} spans more than 2^63 bytes: shape {}, strides {}", argumentName(i),
                                        ref->shape, ref->strides),
                            "pass the extents and strides of real memory");
    }
    return {};
  }

  /// Scalars first; then plain occurrences; then `name + c`.
  Result<void> bindDimensions() {
    for (size_t i = 0; i < arguments.size(); ++i)
      if (const ScalarRef *value = scalar(i))
        bindings.push_back(
            {kernel.params[i].name, value->value(), fmt::format("argument '{}'", kernel.params[i].name)});
    for (bool plain : {true, false})
      for (size_t i = 0; i < arguments.size(); ++i)
        for (size_t d = 0; tensor(i) && d < kernel.params[i].extents.size(); ++d)
          if (Result<void> status = bindAt(i, d, plain); !status)
            return status;
    for (const std::string &name : kernel.dims)
      if (!find(name))
        return programError("T0612",
                            fmt::format("no argument of '{}' gives a value to dimension '{}'", kernel.name, name),
                            fmt::format("pass a tensor with a dimension '{}'", name));
    return {};
  }

  Result<void> bindAt(size_t i, size_t d, bool plain) {
    const Expr &extent = kernel.params[i].extents[d];
    int64_t found = tensor(i)->shape[d];
    if (plain) {
      if (extent.kind == Expr::Kind::Symbol && !find(extent.name))
        bindings.push_back({extent.name, found, fmt::format("extent {} of '{}'", d, kernel.params[i].name)});
      return {};
    }
    auto offset = nameAndOffset(extent);
    if (!offset || find(offset->first))
      return {};
    __int128 value = __int128(found) - offset->second;
    if (value < 0 || value > INT64_MAX)
      return programError("T0612",
                          fmt::format("{}: extent {} ('{}') is {}, which makes '{}' {}", argumentName(i), d,
                                      extent.pretty(), found, offset->first, value < 0 ? "negative" : "too large"),
                          fmt::format("pass an extent of at least {}", offset->second));
    // The name lives in the kernel's expression, which outlives this object; `offset` does not.
    const Expr &symbol = extent.operands[extent.operands[0].kind == Expr::Kind::Symbol ? 0 : 1];
    bindings.push_back(
        {symbol.name, static_cast<int64_t>(value), fmt::format("extent {} of '{}'", d, kernel.params[i].name)});
    return {};
  }

  Result<void> checkExtents() {
    for (size_t i = 0; i < arguments.size(); ++i) {
      for (size_t d = 0; tensor(i) && d < kernel.params[i].extents.size(); ++d) {
        const Expr &extent = kernel.params[i].extents[d];
        int64_t found = tensor(i)->shape[d];
        Result<int64_t> expected = evaluateInteger(extent);
        if (!expected)
          return expected.error();
        if (found == *expected)
          continue;
        if (extent.kind == Expr::Kind::Symbol)
          return programError("T0604",
                              fmt::format("{}: extent {} ('{}') is {}, expected {} as bound by {}", argumentName(i), d,
                                          extent.name, found, *expected, find(extent.name)->by),
                              fmt::format("pass tensors that agree on '{}'", extent.name));
        if (extent.isConstant())
          return programError("T0605",
                              fmt::format("{}: extent {} is {}, expected {} as fixed when the kernel was compiled",
                                          argumentName(i), d, found, *expected),
                              "pass a tensor of that extent, or specialize the kernel for this one");
        return programError("T0605",
                            fmt::format("{}: extent {} ('{}') is {}, expected {} {}", argumentName(i), d,
                                        extent.pretty(), found, *expected, valuesOf(extent)),
                            "pass a tensor of that extent");
      }
    }
    return {};
  }

  /// "where H = 6, G = 4".
  std::string valuesOf(const Expr &expr) const {
    std::vector<std::string> names;
    collectSymbols(expr, names);
    std::string text;
    for (const std::string &name : names)
      if (const Binding *binding = find(name))
        text += fmt::format("{}{} = {}", text.empty() ? "where " : ", ", name, describe(binding->value));
    return text;
  }

  Result<void> checkRequirements() {
    for (const Requirement &requirement : kernel.requirements) {
      Result<ExprValue> holds = evaluate(requirement.condition);
      if (!holds)
        return holds.error();
      if (const int64_t *integer = std::get_if<int64_t>(&*holds); integer && *integer != 0)
        continue;
      std::string values = valuesOf(requirement.condition);
      return programError("T0606",
                          fmt::format("'{}' requires {} (line {}, column {}), which is false{}{}", kernel.name,
                                      requirement.text, requirement.line, requirement.column, values.empty() ? "" : " ",
                                      values),
                          "pass arguments for which it holds");
    }
    return {};
  }

  bool nothingToWrite() const {
    for (size_t i = 0; i < arguments.size(); ++i)
      if (tensor(i) && kernel.params[i].mode != ParamMode::In && !tensor(i)->isEmpty())
        return false;
    return true;
  }

  Result<void> checkContracts() {
    for (size_t i = 0; i < arguments.size(); ++i) {
      const TensorRef *ref = tensor(i);
      if (!ref || ref->isEmpty())
        continue;
      const TensorContract &contract = kernel.params[i].contract;
      int64_t align = std::max<int64_t>(contract.align, sizeOf(ref->dtype));
      uint64_t address = reinterpret_cast<uintptr_t>(ref->data);
      if (address % static_cast<uint64_t>(align) != 0)
        return programError(
            "T0607", fmt::format("{}: address 0x{:x} is not a multiple of {} bytes", argumentName(i), address, align),
            contract.align > sizeOf(ref->dtype) ? "align the memory, or specialize the kernel for this tensor"
                                                : "align the memory to its element type");
      int64_t unit = contract.unitDim;
      if (unit >= 0 && unit < ref->rank() && ref->shape[unit] > 1 && ref->strides[unit] != 1)
        return programError("T0608",
                            fmt::format("{}: stride {} is {}, expected 1", argumentName(i), unit, ref->strides[unit]),
                            "pass a tensor that is dense in that dimension, or specialize the kernel for this one");
      for (size_t d = 0; d < ref->shape.size(); ++d) {
        int64_t strideDiv = d < contract.strideDiv.size() ? contract.strideDiv[d] : 1;
        int64_t extentDiv = d < contract.extentDiv.size() ? contract.extentDiv[d] : 1;
        if (ref->shape[d] > 1 && ref->strides[d] % strideDiv != 0)
          return programError("T0609",
                              fmt::format("{}: stride {} is {}, expected a multiple of {}", argumentName(i), d,
                                          ref->strides[d], strideDiv),
                              "pad the rows, or specialize the kernel for this tensor");
        if (ref->shape[d] % extentDiv != 0)
          return programError("T0609",
                              fmt::format("{}: extent {} is {}, expected a multiple of {}", argumentName(i), d,
                                          ref->shape[d], extentDiv),
                              "pad the tensor, or specialize the kernel for this one");
      }
    }
    return {};
  }

  Result<void> checkOverlap() {
    for (size_t i = 0; i < arguments.size(); ++i) {
      const TensorRef *written = tensor(i);
      if (!written || kernel.params[i].mode == ParamMode::In || written->mayOverlap)
        continue;
      if (mayOverlapItself(*written))
        return programError(
            "T0611",
            fmt::format("{} is written, but several of its indices name one element: shape {}, strides {}",
                        argumentName(i), written->shape, written->strides),
            "pass a tensor whose elements are distinct");
      for (size_t j = 0; j < arguments.size(); ++j) {
        const TensorRef *other = tensor(j);
        bool checkedBefore = j < i && other && kernel.params[j].mode != ParamMode::In && !other->mayOverlap;
        if (i == j || !other || checkedBefore || !mayShareMemory(*written, *other))
          continue;
        return programError(
            "T0610", fmt::format("{} is written, but shares memory with '{}'", argumentName(i), kernel.params[j].name),
            "pass separate memory; a kernel that works in place declares the tensor `inout`");
      }
    }
    return {};
  }

  Result<void> countPrograms() {
    __int128 total = 1;
    for (const GridAxis &axis : kernel.grid) {
      Result<int64_t> lo = evaluateInteger(axis.lo), hi = evaluateInteger(axis.hi), step = evaluateInteger(axis.step);
      for (const Result<int64_t> *value : {&lo, &hi, &step})
        if (!*value)
          return value->error();
      if (*step <= 0)
        return programError("T0613",
                            fmt::format("the step of grid axis '{}' of '{}' is {}, expected more than 0", axis.name,
                                        kernel.name, *step),
                            "pass arguments that make the step positive");
      __int128 length = __int128(*hi) - *lo;
      __int128 count = length <= 0 ? 0 : (length + *step - 1) / *step;
      if (count > INT64_MAX)
        return tooManyPrograms();
      counts.push_back(static_cast<int64_t>(count));
    }
    if (std::find(counts.begin(), counts.end(), 0) != counts.end())
      total = 0;
    for (int64_t count : counts) {
      total *= count;
      if (total > INT64_MAX)
        return tooManyPrograms();
    }
    plan.programs = static_cast<int64_t>(total);
    return {};
  }

  Error tooManyPrograms() const {
    return programError("T0613", fmt::format("the grid of '{}' has more than 2^63 - 1 programs", kernel.name),
                        "choose larger tiles, or launch over parts of the tensors");
  }

  Result<void> packSlots() {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (const TensorRef *ref = tensor(i)) {
        plan.slots.push_back(reinterpret_cast<uintptr_t>(ref->data));
        // The stride of an extent of 1 may be anything, also no multiple of what the code takes for granted: with 0, lanes past the end, which copy no
        // byte but name an address, name an aligned one.
        for (size_t d = 0; d < ref->strides.size(); ++d)
          plan.slots.push_back(ref->shape[d] > 1 ? static_cast<uint64_t>(ref->strides[d]) : 0);
      }
    }
    for (const std::string &name : kernel.dims) {
      const int64_t *value = std::get_if<int64_t>(&find(name)->value);
      if (!value)
        return Error{Fault::Internal, fmt::format("dimension '{}' of '{}' is not an integer", name, kernel.name), "",
                     ""};
      plan.slots.push_back(static_cast<uint64_t>(*value));
    }
    for (size_t i = 0; i < arguments.size(); ++i)
      if (const ScalarRef *value = scalar(i))
        plan.slots.push_back(value->bits);
    for (int64_t count : counts)
      plan.slots.push_back(static_cast<uint64_t>(count));
    return {};
  }

  const KernelInfo &kernel;
  std::span<const Argument> arguments;
  std::vector<Binding> bindings;
  std::vector<int64_t> counts;
  LaunchPlan plan;
};

} // namespace

Result<LaunchPlan> planLaunch(const KernelInfo &kernel, std::span<const Argument> arguments, NamedValues *values) {
  Planner planner(kernel, arguments);
  Result<LaunchPlan> plan = planner.run();
  if (values && plan)
    *values = planner.values();
  return plan;
}

std::vector<ClearRun> clearRuns(const TensorRef &tensor) {
  if (tensor.isEmpty())
    return {};
  struct Dim {
    int64_t extent, stride; // bytes
  };
  std::vector<Dim> dims;
  char *first = static_cast<char *>(tensor.data);
  int64_t size = sizeOf(tensor.dtype);
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    int64_t extent = tensor.shape[d], stride = tensor.strides[d] * size;
    if (extent == 1 || stride == 0)
      continue;
    if (stride < 0)
      first += (extent - 1) * stride;
    dims.push_back({extent, stride < 0 ? -stride : stride});
  }
  std::sort(dims.begin(), dims.end(), [](const Dim &a, const Dim &b) { return a.stride < b.stride; });
  size_t width = static_cast<size_t>(size), next = 0;
  while (next < dims.size() && static_cast<size_t>(dims[next].stride) == width)
    width *= static_cast<size_t>(dims[next++].extent);
  ClearRun run{first, width, width, 1};
  if (next < dims.size() && static_cast<size_t>(dims[next].stride) > width && dims[next].stride <= INT32_MAX) {
    run.pitch = static_cast<size_t>(dims[next].stride);
    run.rows = static_cast<size_t>(dims[next++].extent);
  }
  std::vector<ClearRun> runs = {run};
  for (; next < dims.size(); ++next) {
    size_t count = runs.size();
    for (int64_t i = 1; i < dims[next].extent; ++i)
      for (size_t k = 0; k < count; ++k) {
        runs.push_back(runs[k]);
        runs.back().first += i * dims[next].stride;
      }
  }
  return runs;
}

} // namespace tessera
