//===- OpPlan.cpp - from an op's arguments to a sequence of checked launches ---------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Steps are planned with the workspace at an address that no memory has, so that the checks of aliasing see the temporaries apart from the
// caller's tensors; every place that holds such an address is remembered.
//
#include "runtime/Launch/OpPlan.h"

#include "runtime/Launch/Overlap.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace tessera {
namespace {

/// Beyond every user address of the supported systems, and far enough from the end for any workspace.
constexpr uint64_t kNowhere = uint64_t(1) << 62;
constexpr int64_t kMaxWorkspace = int64_t(1) << 61;

Error programError(const char *code, std::string message, std::string remedy) {
  return Error{Fault::Program, std::move(message), std::move(remedy), code};
}

class OpPlanner {
public:
  OpPlanner(const KernelImage &image, const OpInfo &op, std::span<const Argument> arguments)
      : image(image), op(op), arguments(arguments) {}

  Result<OpPlan> run() {
    Result<LaunchPlan> own = planLaunch(op.signature, arguments, &values);
    if (!own)
      return own.error();
    plan.clears = std::move(own->clears);
    // As for a kernel: a launch that can write nothing does nothing.
    if (own->programs == 0)
      return std::move(plan);
    for (size_t i = 0; i < arguments.size(); ++i)
      if (const TensorRef *tensor = std::get_if<TensorRef>(&arguments[i]); tensor && !tensor->isEmpty())
        (op.signature.params[i].mode == ParamMode::In ? plan.read : plan.written).push_back(*tensor);
    if (Result<void> placed = placeTemps(); !placed)
      return placed.error();
    for (size_t i = 0; i < op.steps.size(); ++i)
      if (Result<void> planned = planStep(op.steps[i]); !planned)
        return planned.error();
    return std::move(plan);
  }

private:
  Result<ExprValue> evaluate(const Expr &expr) const {
    return expr.evaluate([this](std::string_view name) -> std::optional<ExprValue> {
      for (const auto &[known, value] : values)
        if (known == name)
          return value;
      return std::nullopt;
    });
  }

  Result<void> placeTemps() {
    std::vector<__int128> sizes;
    for (const TempInfo &temp : op.temps) {
      std::vector<int64_t> shape;
      __int128 bytes = sizeOf(temp.dtype);
      for (const Expr &extent : temp.extents) {
        Result<ExprValue> value = evaluate(extent);
        if (!value)
          return value.error();
        const int64_t *integer = std::get_if<int64_t>(&*value);
        if (!integer || *integer < 0)
          return programError("T0626",
                              fmt::format("the extent '{}' of temporary '{}' of '{}' is {}, expected 0 or more",
                                          extent.pretty(), temp.name, op.signature.name, integer ? *integer : -1),
                              "pass arguments for which it is not negative");
        shape.push_back(*integer);
        bytes = std::min<__int128>(bytes * *integer, kMaxWorkspace);
      }
      if (bytes >= kMaxWorkspace)
        return programError("T0626",
                            fmt::format("temporary '{}' of '{}' has more than 2^61 bytes: extents {}", temp.name,
                                        op.signature.name, shape),
                            "launch over parts of the tensors");
      sizes.push_back((bytes + kWorkspaceAlign - 1) / kWorkspaceAlign * kWorkspaceAlign);
      temps.push_back(TensorRef::contiguous(nullptr, temp.dtype, std::move(shape)));
    }
    std::vector<size_t> order(op.temps.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return sizes[a] > sizes[b]; });
    std::vector<std::pair<size_t, __int128>> placed; // temporary, offset
    __int128 total = 0;
    for (size_t index : order) {
      const TempInfo &temp = op.temps[index];
      std::vector<std::pair<__int128, __int128>> taken; // of those that live at the same time
      for (auto [other, offset] : placed)
        if (op.temps[other].firstStep <= temp.lastStep && temp.firstStep <= op.temps[other].lastStep)
          taken.emplace_back(offset, offset + sizes[other]);
      std::sort(taken.begin(), taken.end());
      __int128 offset = 0;
      for (auto [begin, end] : taken) {
        if (begin >= offset + sizes[index])
          break;
        offset = std::max(offset, end);
      }
      placed.emplace_back(index, offset);
      total = std::max(total, offset + sizes[index]);
      if (total > kMaxWorkspace)
        return programError("T0626",
                            fmt::format("the temporaries of '{}' have more than 2^61 bytes", op.signature.name),
                            "launch over parts of the tensors");
      temps[index].data = reinterpret_cast<void *>(static_cast<uintptr_t>(kNowhere + static_cast<uint64_t>(offset)));
    }
    plan.workspaceBytes = static_cast<int64_t>(total);
    return {};
  }

  const TensorRef &tensorOf(const StepArgument &argument) const {
    return argument.kind == StepArgument::Kind::Temp ? temps[argument.index]
                                                     : *std::get_if<TensorRef>(&arguments[argument.index]);
  }

  Result<Argument> scalarFor(const StepArgument &argument, const ParamInfo &param) const {
    // A scalar that is only passed on keeps its bits: u64 has values that no launch expression holds.
    if (argument.value.kind == Expr::Kind::Symbol)
      for (size_t i = 0; i < arguments.size(); ++i)
        if (const ScalarRef *scalar = std::get_if<ScalarRef>(&arguments[i]);
            scalar && op.signature.params[i].name == argument.value.name && scalar->dtype == param.dtype)
          return Argument(*scalar);
    Result<ExprValue> value = evaluate(argument.value);
    if (!value)
      return value.error();
    std::optional<ScalarRef> scalar;
    if (const int64_t *integer = std::get_if<int64_t>(&*value))
      scalar = ScalarRef::convert(*integer, param.dtype);
    else
      scalar = ScalarRef::convert(*std::get_if<double>(&*value), param.dtype);
    if (scalar)
      return Argument(*scalar);
    return programError("T0602",
                        fmt::format("'{}' of '{}' would be {}, which {} does not hold", param.name, op.signature.name,
                                    argument.value.pretty(), nameOf(param.dtype)),
                        "pass arguments for which it fits");
  }

  Result<void> planStep(const OpStep &step) {
    OpPlan::Step planned;
    if (step.kind == OpStep::Kind::Fill) {
      const TensorRef &tensor = tensorOf(step.arguments[0]);
      planned.fill = FillPlan{tensor, step.pattern};
      planned.fillsWorkspace = step.arguments[0].kind == StepArgument::Kind::Temp;
      if (!tensor.isEmpty())
        plan.steps.push_back(std::move(planned));
      return {};
    }
    const KernelInfo &kernel = image.kernels[step.kernel];
    std::vector<Argument> passed;
    for (size_t i = 0; i < step.arguments.size(); ++i) {
      const StepArgument &argument = step.arguments[i];
      if (argument.kind == StepArgument::Kind::Absent) {
        passed.emplace_back();
      } else if (argument.kind == StepArgument::Kind::Scalar) {
        Result<Argument> scalar = scalarFor(argument, kernel.params[i]);
        if (!scalar)
          return scalar.error();
        passed.push_back(*scalar);
      } else {
        passed.emplace_back(tensorOf(argument));
      }
    }
    Result<LaunchPlan> launch = planLaunch(kernel, passed);
    if (!launch) {
      Error error = launch.error();
      error.message += fmt::format(" (in '{}', line {})", op.signature.name, step.line);
      return error;
    }
    planned.kernel = static_cast<size_t>(step.kernel);
    planned.launch = *std::move(launch);
    size_t slot = 0;
    for (size_t i = 0; i < step.arguments.size(); ++i) {
      const TensorRef *tensor = std::get_if<TensorRef>(&passed[i]);
      if (!tensor)
        continue; // scalars come after all tensors
      if (step.arguments[i].kind == StepArgument::Kind::Temp && !planned.launch.slots.empty()) {
        planned.launch.slots[slot] -= kNowhere;
        planned.workspaceSlots.push_back(slot);
      }
      slot += 1 + tensor->shape.size();
    }
    for (size_t i = 0; i < planned.launch.clears.size(); ++i)
      if (reinterpret_cast<uintptr_t>(planned.launch.clears[i].data) >= kNowhere)
        planned.workspaceClears.push_back(i);
    if (planned.launch.programs > 0 || !planned.launch.clears.empty())
      plan.steps.push_back(std::move(planned));
    return {};
  }

  const KernelImage &image;
  const OpInfo &op;
  std::span<const Argument> arguments;
  NamedValues values;
  std::vector<TensorRef> temps;
  OpPlan plan;
};

/// A tensor of a plan, moved to where the workspace is.
void move(TensorRef &tensor, uintptr_t workspace) {
  tensor.data = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(tensor.data) - kNowhere + workspace);
}

} // namespace

std::vector<OpPlan::Step> OpPlan::at(void *workspace) const {
  auto address = reinterpret_cast<uintptr_t>(workspace);
  std::vector<Step> moved = steps;
  for (Step &step : moved) {
    for (size_t slot : step.workspaceSlots)
      step.launch.slots[slot] += address;
    for (size_t clear : step.workspaceClears)
      move(step.launch.clears[clear], address);
    if (step.fill && step.fillsWorkspace)
      move(step.fill->tensor, address);
  }
  return moved;
}

Result<void> OpPlan::check(const Workspace &workspace) const {
  if (workspaceBytes == 0 || steps.empty())
    return {};
  if (workspace.bytes < static_cast<size_t>(workspaceBytes))
    return programError("T0619",
                        fmt::format("the workspace has {} bytes, expected {} or more", workspace.bytes, workspaceBytes),
                        "ask for the size with the same arguments and allocate that much");
  auto address = reinterpret_cast<uintptr_t>(workspace.data);
  if (address % kWorkspaceAlign != 0)
    return programError(
        "T0619", fmt::format("the workspace lies at 0x{:x}, expected a multiple of {} bytes", address, kWorkspaceAlign),
        "align it: memory of the driver is");
  TensorRef memory = TensorRef::contiguous(workspace.data, DType::U8, {workspaceBytes});
  for (const std::vector<TensorRef> *tensors : {&read, &written})
    for (const TensorRef &tensor : *tensors)
      if (mayShareMemory(memory, tensor))
        return programError("T0610", "the workspace shares memory with an argument", "pass memory of its own");
  return {};
}

Result<OpPlan> planOp(const KernelImage &image, size_t op, std::span<const Argument> arguments) {
  return OpPlanner(image, image.ops[op], arguments).run();
}

} // namespace tessera
