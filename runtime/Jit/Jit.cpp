//===- Jit.cpp - a program compiled for its arguments, once --------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The cache has two levels: a key of everything but extents, and under it the images, told apart by the extents that each has fixed.
// A group is locked while one of its members compiles, so equal requests wait for one compilation; different groups do not wait.
//
#include "runtime/Jit/Jit.h"

#include "runtime/Cuda/Context.h"
#include "runtime/Jit/HostCode.h"
#include "runtime/Jit/JitKey.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>

namespace tessera {
namespace {

/// All images with one key.
struct Group {
  std::mutex mutex;
  std::vector<JitKernel> kernels;
};

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
  Result<std::shared_ptr<const HostCode>> code = HostCode::load(
      image.code, entries, device.isSimulator() ? simulator::symbols() : std::vector<simulator::Symbol>());
  if (!code)
    return code.error();
  std::shared_ptr<const HostCode> owner = *code;
  return LoadedImage::onHost(
      std::move(image), device.pool(), [&](const std::string &entry) { return owner->find(entry); }, owner);
}

/// The kernel or op of an image, loaded.
Result<JitKernel> loadKernel(KernelImage image, const std::string &kernel, const Device &device) {
  Result<std::shared_ptr<const LoadedImage>> loaded = load(std::move(image), device);
  if (!loaded)
    return loaded.error();
  JitKernel found;
  found.image = *std::move(loaded);
  if (std::optional<size_t> op = found.image->findOp(kernel)) {
    found.index = *op;
    found.isOp = true;
    return found;
  }
  // The runtime launches kernels of one image by their own names.
  Result<size_t> index = found.image->find(kernel);
  if (!index)
    return index.error();
  found.index = *index;
  return found;
}

/// A result as the disk cache keeps it: the length of the report in decimal and a line end, the report, the image.
std::string pack(const std::string &report, const KernelImage &image) {
  return fmt::format("{}\n{}{}", report.size(), report, image.serialize());
}

/// What was kept; nullopt where it is of no use, for whatever reason: the program is compiled then.
std::optional<JitKernel> unpack(std::string_view kept, const std::string &kernel, const Device &device) {
  size_t length = 0;
  auto [stop, status] = std::from_chars(kept.data(), kept.data() + kept.size(), length);
  if (status != std::errc() || stop == kept.data() + kept.size() || *stop != '\n')
    return std::nullopt;
  kept.remove_prefix(static_cast<size_t>(stop + 1 - kept.data()));
  if (length > kept.size())
    return std::nullopt;
  Result<KernelImage> image = KernelImage::deserialize(kept.substr(length));
  if (!image)
    return std::nullopt;
  Result<JitKernel> loaded = loadKernel(*std::move(image), kernel, device);
  if (!loaded)
    return std::nullopt;
  loaded->report = kept.substr(0, length);
  loaded->fromDisk = true;
  return *std::move(loaded);
}

JitResult build(std::string_view source, const CompileOptions &options, const Device &device,
                const JitServices &services) {
  const DiskCache *disk = services.disk.get();
  const cuda::Assembler *assembler = device.isCuda() ? services.assembler.get() : nullptr;
  std::string key = disk && options.printAfter.empty()
                        ? keyOfCompilation(source, options, hostProcessor(), assembler ? assembler->version() : "")
                        : "";
  if (!key.empty())
    if (std::optional<std::string> kept = disk->load(key))
      if (std::optional<JitKernel> kernel = unpack(*kept, options.kernel, device))
        return *std::move(kernel);
  CompileResult compiled = compile(source, options);
  if (!compiled.ok())
    return JitFailure{Error{Fault::Program, fmt::format("'{}' does not compile", options.sourceName), "", ""},
                      std::move(compiled.diagnostics)};
  if (!compiled.image)
    return JitFailure{Error{Fault::Internal, "the compiler gave no image and no error", "", ""},
                      std::move(compiled.diagnostics)};
  if (assembler) {
    Result<std::string> cubin = assembler->assemble(compiled.image->code, compiled.image->target);
    if (!cubin)
      return JitFailure{cubin.error(), std::move(compiled.diagnostics)};
    compiled.image->code = *std::move(cubin);
    compiled.image->codeKind = KernelImage::Code::Cubin;
  }
  // Warnings are shown again each time: what has some is compiled again.
  if (!key.empty() && compiled.diagnostics.empty())
    disk->store(key, pack(compiled.report, *compiled.image));
  Result<JitKernel> kernel = loadKernel(*std::move(compiled.image), options.kernel, device);
  if (!kernel)
    return JitFailure{kernel.error(), std::move(compiled.diagnostics)};
  kernel->diagnostics = std::move(compiled.diagnostics);
  kernel->report = std::move(compiled.report);
  kernel->log = std::move(compiled.log);
  return *std::move(kernel);
}

} // namespace

struct Jit::Cache {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Group>, std::less<>> groups;
};

Jit::Jit(std::string source, std::string sourceName, JitServices services)
    : text(std::move(source)), name(std::move(sourceName)), services(std::move(services)),
      cache(std::make_unique<Cache>()) {}
Jit::~Jit() = default;

JitResult Jit::get(const CompileOptions &options, const Device &device) {
  CompileOptions complete = options;
  complete.sourceName = name;
  complete.target = device.target();
  complete.simulate = device.isSimulator();
  complete.emit = Emit::Image;
  // Code is loaded once for each context.
  std::string key = fmt::format("{} {}\n", device.name(), device.isCuda() ? device.context()->identity() : nullptr) +
                    keyOfOptions(complete);
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
  JitResult result = build(text, complete, device, services);
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
      fact.rank = tensor->shape.size();
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
