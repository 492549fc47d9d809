//===- Launcher.cpp - from named arguments to a launch -------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Names are matched against the signature first, so that a misspelt argument is an error of its own and not one of specialization.
//
#include "runtime/Jit/Launcher.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tessera {
namespace {

Result<void> checkNames(const KernelSignature &signature, const std::vector<NamedArgument> &arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const NamedArgument &argument = arguments[i];
    auto param = std::find_if(signature.params.begin(), signature.params.end(),
                              [&](auto &p) { return p.name == argument.name; });
    if (param == signature.params.end()) {
      std::vector<std::string> names;
      for (const ParamSignature &known : signature.params)
        names.push_back(known.name);
      return Error{
          Fault::Program,
          fmt::format("'{}' has no parameter '{}'; it has {}", signature.name, argument.name, fmt::join(names, ", ")),
          "name one of them", "T0616"};
    }
    if (std::any_of(arguments.begin(), arguments.begin() + i, [&](auto &other) { return other.name == argument.name; }))
      return Error{Fault::Program, fmt::format("parameter '{}' of '{}' is given twice", argument.name, signature.name),
                   "give it once", "T0617"};
    if (!std::holds_alternative<std::monostate>(argument.value) &&
        param->isTensor != std::holds_alternative<TensorRef>(argument.value))
      return Error{Fault::Program,
                   fmt::format("argument '{}' of '{}' is a {}, expected a {}", argument.name, signature.name,
                               param->isTensor ? "scalar" : "tensor", param->isTensor ? "tensor" : "scalar"),
                   "pass a value of the declared kind", "T0601"};
  }
  for (const ParamSignature &param : signature.params) {
    auto given = std::find_if(arguments.begin(), arguments.end(), [&](auto &a) { return a.name == param.name; });
    bool absent = given == arguments.end() || std::holds_alternative<std::monostate>(given->value);
    if (absent && !(param.isTensor && param.optional))
      return Error{Fault::Program, fmt::format("argument '{}' of '{}' is missing", param.name, signature.name),
                   param.isTensor ? "pass a tensor" : "pass a value", "T0618"};
  }
  return {};
}

/// True when no element can be written and none is to be cleared: the launch does nothing whatever the kernel is.
bool writesNothing(const KernelSignature &signature, const std::vector<NamedArgument> &arguments) {
  for (const NamedArgument &argument : arguments) {
    const TensorRef *tensor = std::get_if<TensorRef>(&argument.value);
    if (!tensor)
      continue;
    for (const ParamSignature &param : signature.params)
      if (param.name == argument.name && param.mode != ParamMode::In && !tensor->isEmpty())
        return false;
  }
  return true;
}

/// Checks the arguments against the kernel or op.
Result<PreparedLaunch> plan(const JitKernel &found, const std::vector<NamedArgument> &arguments) {
  const KernelInfo &kernel = found.info();
  Result<std::vector<Argument>> ordered = orderArguments(kernel, arguments);
  if (!ordered)
    return ordered.error();
  for (size_t i = 0; i < ordered->size(); ++i)
    if (ScalarRef *scalar = std::get_if<ScalarRef>(&(*ordered)[i]); scalar && !kernel.params[i].isTensor)
      *scalar = scalar->adapt(kernel.params[i].dtype);
  if (found.isOp) {
    Result<OpPlan> op = planOp(found.image->image(), found.index, *ordered);
    if (!op)
      return op.error();
    return PreparedLaunch(found.image, *std::move(op));
  }
  return PreparedLaunch::make(found.image, found.index, *ordered);
}

} // namespace

std::variant<JitLaunch, JitFailure> prepareLaunch(Jit &jit, const KernelSignature &signature, CompileOptions options,
                                                  const Device &device, const std::vector<NamedArgument> &arguments) {
  if (Result<void> names = checkNames(signature, arguments); !names)
    return JitFailure{names.error(), {}};
  options.kernel = signature.name;
  options.tensors = Jit::factsOf(arguments);
  JitResult result = jit.get(options, device);
  if (JitFailure *failure = std::get_if<JitFailure>(&result)) {
    if (!writesNothing(signature, arguments))
      return std::move(*failure);
    // A compile-time extent of 0 makes no kernel, yet the launch is a no-op.  Its types and dimensions are still checked: with every
    // extent of 0 taken as 1, which keeps equal extents equal.
    std::vector<NamedArgument> stretched = arguments;
    for (NamedArgument &argument : stretched)
      if (TensorRef *tensor = std::get_if<TensorRef>(&argument.value)) {
        std::replace(tensor->shape.begin(), tensor->shape.end(), int64_t(0), int64_t(1));
        tensor->mayOverlap = true;
        tensor->data = reinterpret_cast<void *>(uintptr_t(256)); // never read: only its alignment is looked at
      }
    options.tensors = Jit::factsOf(stretched);
    JitResult again = jit.get(options, device);
    JitKernel *kernel = std::get_if<JitKernel>(&again);
    if (!kernel)
      return std::move(*failure);
    if (Result<PreparedLaunch> checked = plan(*kernel, stretched); !checked)
      return JitFailure{checked.error(), {}};
    return JitLaunch{};
  }
  JitKernel kernel = std::get<JitKernel>(std::move(result));
  Result<PreparedLaunch> prepared = plan(kernel, arguments);
  if (!prepared)
    return JitFailure{prepared.error(), std::move(kernel.diagnostics)};
  return JitLaunch{std::move(kernel), *std::move(prepared)};
}

} // namespace tessera
