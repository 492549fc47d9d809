//===- LoadedImage.cpp - an image ready to launch on one device ----------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The two back ends side by side; each is a list of entry points in the order of the image's kernels.
//
#include "runtime/Launch/LoadedImage.h"

#include "runtime/Cpu/HostLaunch.h"
#include "runtime/Cuda/Module.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace tessera {

struct LoadedImage::Backend {
  // CUDA:
  std::shared_ptr<const cuda::Module> module;
  std::vector<cuda::Function> functions;
  // Host:
  std::shared_ptr<ThreadPool> pool;
  std::shared_ptr<const void> code;
  std::vector<HostEntry> entries;
  // Both: launches of each kernel that were checked before.  They refer to this image and live in it.
  std::vector<LaunchCache> known;
};

LoadedImage::LoadedImage() : backend(std::make_unique<Backend>()) {}
LoadedImage::~LoadedImage() = default;

Result<std::shared_ptr<const LoadedImage>> LoadedImage::onCuda(KernelImage image,
                                                               std::shared_ptr<const cuda::Context> context) {
  std::shared_ptr<LoadedImage> loaded(new LoadedImage);
  if (image.codeKind == KernelImage::Code::HostObject)
    return Error{Fault::Program, fmt::format("an image for '{}' cannot run on a CUDA device", image.target),
                 "compile for the device's target", "T0632"};
  Result<std::shared_ptr<const cuda::Module>> module = cuda::Module::load(std::move(context), image.code);
  if (!module)
    return module.error();
  for (const KernelInfo &kernel : image.kernels) {
    Result<cuda::Function> function = (*module)->function(kernel.entry, kernel.threads, kernel.sharedBytes);
    if (!function)
      return function.error();
    loaded->backend->functions.push_back(*function);
  }
  loaded->backend->module = *std::move(module);
  loaded->backend->known.resize(image.kernels.size());
  loaded->content = std::move(image);
  return std::shared_ptr<const LoadedImage>(std::move(loaded));
}

Result<std::shared_ptr<const LoadedImage>> LoadedImage::onHost(KernelImage image, std::shared_ptr<ThreadPool> pool,
                                                               const EntryResolver &resolve,
                                                               std::shared_ptr<const void> code) {
  std::shared_ptr<LoadedImage> loaded(new LoadedImage);
  if (image.codeKind != KernelImage::Code::HostObject)
    return Error{Fault::Program, fmt::format("an image for '{}' cannot run on the cpu", image.target),
                 "compile for the target host", "T0632"};
  for (const KernelInfo &kernel : image.kernels) {
    void *entry = resolve(kernel.entry);
    if (!entry)
      return Error{Fault::Internal, fmt::format("host code has no entry '{}'", kernel.entry), "", ""};
    loaded->backend->entries.push_back(reinterpret_cast<HostEntry>(entry));
  }
  loaded->backend->pool = std::move(pool);
  loaded->backend->known.resize(image.kernels.size());
  loaded->backend->code = std::move(code);
  loaded->content = std::move(image);
  return std::shared_ptr<const LoadedImage>(std::move(loaded));
}

Result<size_t> LoadedImage::find(std::string_view kernel) const {
  std::string names;
  for (size_t i = 0; i < content.kernels.size(); ++i) {
    if (content.kernels[i].stepOnly)
      continue;
    if (content.kernels[i].name == kernel || (kernel.empty() && content.kernels.size() == 1))
      return i;
    names += (names.empty() ? "" : ", ") + content.kernels[i].name;
  }
  if (kernel.empty())
    return Error{Fault::Usage, fmt::format("several kernels to choose from: {}", names), "name one", "T0615"};
  return Error{Fault::Program,
               fmt::format("there is no kernel '{}'; found: {}", kernel, names.empty() ? "none" : names),
               "name one of them", "T0615"};
}

Result<void> LoadedImage::launch(size_t kernel, std::span<const Argument> arguments, StreamHandle stream) const {
  constexpr size_t kMaxKnown = 64;
  std::array<ArgumentView, kMaxKnown> storage;
  std::span<const ArgumentView> views(storage.data(), std::min(arguments.size(), kMaxKnown));
  std::copy_n(arguments.begin(), views.size(), storage.begin());
  const LaunchCache &known = backend->known[kernel];
  bool cacheable = views.size() == arguments.size();
  if (cacheable)
    if (std::optional<Result<void>> done = known.launch(views, stream))
      return *std::move(done);
  Result<LaunchPlan> plan = planLaunch(content.kernels[kernel], arguments);
  if (!plan)
    return plan.error();
  if (cacheable)
    known.remember(views, *this, kernel, *plan);
  return launch(kernel, *plan, stream);
}

Result<void> LoadedImage::clear(const TensorRef &tensor, StreamHandle stream) const {
  for (const ClearRun &run : clearRuns(tensor))
    if (Result<void> status = clear(run, stream); !status)
      return status;
  return {};
}

Result<void> LoadedImage::clear(const ClearRun &run, StreamHandle stream) const {
  if (backend->module)
    return cuda::clear(*backend->module->context(), run.first, run.pitch, run.width, run.rows,
                       static_cast<cuda::StreamHandle>(stream));
  for (size_t row = 0; row < run.rows; ++row)
    std::memset(run.first + row * run.pitch, 0, run.width);
  return {};
}

Result<void> LoadedImage::launch(size_t kernel, const LaunchPlan &plan, StreamHandle stream) const {
  for (const TensorRef &tensor : plan.clears)
    if (Result<void> status = clear(tensor, stream); !status)
      return status;
  std::vector<void *> params(plan.slots.size());
  for (size_t i = 0; i < params.size(); ++i)
    params[i] = const_cast<uint64_t *>(&plan.slots[i]);
  return launchSlots(kernel, plan.programs, plan.slots.data(), params.data(), stream);
}

Result<void> LoadedImage::launchSlots(size_t kernel, int64_t programs, const uint64_t *slots, void **params,
                                      StreamHandle stream) const {
  if (programs == 0)
    return {};
  if (!backend->module) {
    const KernelInfo &info = content.kernels[kernel];
    Result<HostStatus> status =
        launchHost(*backend->pool, backend->entries[kernel], slots, programs, info.scratchBytes);
    if (!status)
      return status.error();
    if (status->assertion == HostStatus::kStopped)
      return Error{Fault::Internal,
                   fmt::format("program {} of '{}' stopped in the simulator of {}: {}", status->program, info.name,
                               content.target, status->reason),
                   "this is a fault of the compiler; please report it with the program that shows it", "T0628"};
    if (status->assertion < 1 || status->assertion > int64_t(info.assertions.size()))
      return {};
    const Assertion &failed = info.assertions[status->assertion - 1];
    return Error{Fault::Program,
                 fmt::format("{}:{}:{}: assertion failed in program {} of '{}': {}", failed.file, failed.line,
                             failed.column, status->program, info.name, failed.text),
                 "the outputs are incomplete; check the arguments", "T0627"};
  }
  return backend->module->launch(backend->functions[kernel], programs, params, static_cast<cuda::StreamHandle>(stream));
}

std::optional<size_t> LoadedImage::findOp(std::string_view op) const {
  for (size_t i = 0; i < content.ops.size(); ++i)
    if (content.ops[i].signature.name == op)
      return i;
  return std::nullopt;
}

Result<void> LoadedImage::fill(const FillPlan &fill, StreamHandle stream) const {
  if (fill.pattern == 0)
    return clear(fill.tensor, stream);
  // Only temporaries have other patterns, and those are dense.
  int64_t count = 1;
  for (int64_t extent : fill.tensor.shape)
    count *= extent;
  int bytes = sizeOf(fill.tensor.dtype);
  if (backend->module)
    return cuda::fill(*backend->module->context(), fill.tensor.data, fill.pattern, bytes, static_cast<size_t>(count),
                      static_cast<cuda::StreamHandle>(stream));
  char *element = static_cast<char *>(fill.tensor.data);
  for (int64_t i = 0; i < count; ++i, element += bytes)
    std::memcpy(element, &fill.pattern, static_cast<size_t>(bytes)); // little endian, as all of the slot format
  return {};
}

Result<void> LoadedImage::runSteps(const OpPlan &plan, void *workspace, StreamHandle stream) const {
  for (const OpPlan::Step &step : plan.at(workspace))
    if (Result<void> status = step.fill ? fill(*step.fill, stream) : launch(step.kernel, step.launch, stream); !status)
      return status;
  return {};
}

Result<void> LoadedImage::launchOp(size_t op, std::span<const Argument> arguments, StreamHandle stream,
                                   const Workspace &workspace) const {
  Result<OpPlan> plan = planOp(content, op, arguments);
  if (!plan)
    return plan.error();
  return launchOp(*plan, stream, workspace);
}

Result<void> LoadedImage::launchOp(const OpPlan &plan, StreamHandle stream, const Workspace &workspace) const {
  if (workspace.data)
    if (Result<void> good = plan.check(workspace); !good)
      return good;
  // A host workspace is had before anything is written; on CUDA the allocation stands in the stream before the first step.
  size_t bytes = workspace.data || plan.steps.empty() ? 0 : static_cast<size_t>(plan.workspaceBytes);
  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> own;
  void *memory = workspace.data;
  auto cudaStream = static_cast<cuda::StreamHandle>(stream);
  if (bytes > 0 && backend->module) {
    Result<void *> allocated = cuda::allocateInStream(*backend->module->context(), bytes, cudaStream);
    if (!allocated)
      return allocated.error();
    memory = *allocated;
  } else if (bytes > 0) {
    own.reset(std::aligned_alloc(kWorkspaceAlign, bytes)); // a multiple of the alignment already
    if (!own)
      return Error{Fault::Machine, fmt::format("cannot allocate a workspace of {} bytes", bytes),
                   "use smaller shapes, or pass a workspace", "T0623"};
    memory = own.get();
  }
  Result<void> status;
  for (const TensorRef &tensor : plan.clears)
    if (status)
      status = clear(tensor, stream);
  if (status)
    status = runSteps(plan, memory, stream);
  if (bytes > 0 && backend->module) {
    Result<void> freed = cuda::freeInStream(*backend->module->context(), memory, cudaStream);
    if (status)
      status = freed;
  }
  return status;
}

std::optional<LoadedImage::Resources> LoadedImage::resources(size_t kernel) const {
  if (!backend->module)
    return std::nullopt;
  return Resources{backend->functions[kernel].registers, backend->functions[kernel].localBytes};
}

} // namespace tessera
