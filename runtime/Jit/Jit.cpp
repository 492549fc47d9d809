//===- Jit.cpp - a program compiled for its arguments, once --------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The cache has two levels: a key of everything but extents, and under it the images, told apart by the extents that each has fixed.
// A group is locked while one of its members compiles, so equal requests wait for one compilation; different groups do not wait.
//
#include "runtime/Jit/Jit.h"

#include "runtime/Jit/HostCode.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <mutex>

namespace tessera {
namespace {

/// All images with one key.
struct Group {
  std::mutex mutex;
  std::vector<JitKernel> kernels;
};

/// A field of a key, with its length in front so that fields cannot run together.
void append(std::string &key, std::string_view field) { key += fmt::format("{}:{}", field.size(), field); }

std::string keyOf(const CompileOptions &options, const Device &device) {
  std::string key;
  append(key, device.name());
  append(key, options.kernel);
  for (const Binding &binding : options.bindings) {
    append(key, binding.name);
    append(key, binding.value);
  }
  append(key, fmt::format("w{} s{} l{} o{}", options.warps, options.stages, options.lineInfo, options.optimization));
  for (const TensorFacts &facts : options.tensors) {
    append(key, facts.param);
    const TensorContract &contract = facts.contract;
    append(key, fmt::format("{} {} {} {} {} {}", facts.present, facts.dtype ? nameOf(*facts.dtype) : "", contract.align,
                            contract.unitDim, fmt::join(contract.strideDiv, ","), fmt::join(contract.extentDiv, ",")));
  }
  return key;
}

/// True when every extent that the image fixed is that of the tensors at hand.
bool fits(const KernelInfo &kernel, const std::vector<TensorFacts> &tensors) {
  for (const ParamInfo &param : kernel.params) {
    auto facts =
        std::find_if(tensors.begin(), tensors.end(), [&](const TensorFacts &f) { return f.param == param.name; });
    if (!param.isTensor || facts == tensors.end() || facts->shape.size() != param.extents.size())
      continue;
    for (size_t d = 0; d < param.extents.size(); ++d)
      if (param.extents[d].isConstant() && param.extents[d].integer != facts->shape[d])
        return false;
  }
  return true;
}

Result<std::shared_ptr<const LoadedImage>> load(KernelImage image, const Device &device) {
  if (device.isCuda())
    return LoadedImage::onCuda(std::move(image), device.context());
  std::vector<std::string> entries;
  for (const KernelInfo &kernel : image.kernels)
    entries.push_back(kernel.entry);
  Result<std::shared_ptr<const HostCode>> code = HostCode::load(image.code, entries);
  if (!code)
    return code.error();
  std::shared_ptr<const HostCode> owner = *code;
  return LoadedImage::onHost(
      std::move(image), device.pool(), [&](const std::string &entry) { return owner->find(entry); }, owner);
}

JitResult build(std::string_view source, const CompileOptions &options, const Device &device) {
  CompileResult compiled = compile(source, options);
  if (!compiled.ok())
    return JitFailure{Error{Fault::Program, fmt::format("'{}' does not compile", options.sourceName), "", ""},
                      std::move(compiled.diagnostics)};
  if (!compiled.image)
    return JitFailure{Error{Fault::Internal, "the compiler gave no image and no error", "", ""},
                      std::move(compiled.diagnostics)};
  // The runtime launches kernels of one image by their own names.
  Result<std::shared_ptr<const LoadedImage>> loaded = load(*std::move(compiled.image), device);
  if (!loaded)
    return JitFailure{loaded.error(), std::move(compiled.diagnostics)};
  if (std::optional<size_t> op = (*loaded)->findOp(options.kernel))
    return JitKernel{
        *std::move(loaded),     *op, /*isOp=*/true, std::move(compiled.diagnostics), std::move(compiled.report),
        std::move(compiled.log)};
  Result<size_t> index = (*loaded)->find(options.kernel);
  if (!index)
    return JitFailure{index.error(), std::move(compiled.diagnostics)};
  return JitKernel{
      *std::move(loaded),     *index, /*isOp=*/false, std::move(compiled.diagnostics), std::move(compiled.report),
      std::move(compiled.log)};
}

} // namespace

struct Jit::Cache {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Group>, std::less<>> groups;
};

Jit::Jit(std::string source, std::string sourceName)
    : text(std::move(source)), name(std::move(sourceName)), cache(std::make_unique<Cache>()) {}
Jit::~Jit() = default;

JitResult Jit::get(const CompileOptions &options, const Device &device) {
  std::string key = keyOf(options, device);
  std::shared_ptr<Group> group;
  {
    std::lock_guard<std::mutex> lock(cache->mutex);
    std::shared_ptr<Group> &slot = cache->groups[key];
    if (!slot)
      slot = std::make_shared<Group>();
    group = slot;
  }
  std::lock_guard<std::mutex> lock(group->mutex);
  for (const JitKernel &kernel : group->kernels)
    if (fits(kernel.info(), options.tensors))
      return kernel;
  CompileOptions complete = options;
  complete.sourceName = name;
  complete.target = device.target();
  complete.emit = Emit::Image;
  JitResult result = build(text, complete, device);
  if (const JitKernel *kernel = std::get_if<JitKernel>(&result))
    group->kernels.push_back(*kernel);
  return result;
}

std::vector<TensorFacts> Jit::factsOf(const std::vector<NamedArgument> &arguments) {
  std::vector<TensorFacts> facts;
  for (const NamedArgument &argument : arguments) {
    if (const TensorRef *tensor = std::get_if<TensorRef>(&argument.value)) {
      TensorFacts fact;
      fact.param = argument.name;
      fact.dtype = tensor->dtype;
      fact.shape = tensor->shape;
      fact.contract = deriveContract(*tensor);
      facts.push_back(std::move(fact));
    }
  }
  return facts;
}

Result<std::vector<Argument>> orderArguments(const KernelInfo &kernel, const std::vector<NamedArgument> &arguments) {
  std::vector<Argument> ordered(kernel.params.size());
  std::vector<bool> given(kernel.params.size(), false);
  for (const NamedArgument &argument : arguments) {
    size_t index = 0;
    while (index < kernel.params.size() && kernel.params[index].name != argument.name)
      ++index;
    if (index == kernel.params.size()) {
      std::vector<std::string> names;
      for (const ParamInfo &param : kernel.params)
        names.push_back(param.name);
      return Error{
          Fault::Program,
          fmt::format("'{}' has no parameter '{}'; it has {}", kernel.name, argument.name, fmt::join(names, ", ")),
          "name one of them", "T0616"};
    }
    if (given[index])
      return Error{Fault::Program, fmt::format("parameter '{}' of '{}' is given twice", argument.name, kernel.name),
                   "give it once", "T0617"};
    given[index] = true;
    ordered[index] = argument.value;
  }
  return ordered;
}

} // namespace tessera
