//===- Embedded.cpp - kernels that were linked into the program ----------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Chooses the images of a device, and among them the first whose contract the arguments satisfy.  A launch that the cache remembers was planned under
// the widest contract that such arguments satisfy, since the cache tells apart everything that a contract speaks of.
//
#include "runtime/Launch/Embedded.h"

#include <fmt/format.h>

#include <charconv>

namespace tessera {
namespace {

/// The number in `sm_90a`; 0 for other names.
int computeCapability(std::string_view target) {
  int number = 0;
  if (target.substr(0, 3) == "sm_")
    std::from_chars(target.data() + 3, target.data() + target.size(), number);
  return number;
}

/// PTX of a target without a letter runs on every later GPU; with one only on its own.
bool runsOnLater(std::string_view target) {
  return computeCapability(target) > 0 && target.back() >= '0' && target.back() <= '9';
}

/// The target to take for a device, or nothing.
std::string_view chooseTarget(const EmbeddedTable &table, std::string_view device) {
  std::string_view best;
  for (uint64_t i = 0; i < table.imageCount; ++i) {
    std::string_view target = table.images[i].target;
    if (target == device)
      return target;
    if (runsOnLater(target) && computeCapability(target) <= computeCapability(device) &&
        computeCapability(target) > computeCapability(best))
      best = target;
  }
  return best;
}

bool isBrokenContract(const Error &error) {
  return error.code == "T0607" || error.code == "T0608" || error.code == "T0609";
}

Error unknown(std::string_view name) {
  return Error{Fault::Program, fmt::format("there is no embedded kernel '{}'", name),
               "call one that the header declares", "T0615"};
}

/// A kernel or an op in every image that has it: not all compile under every contract.
struct Callable {
  struct Variant {
    std::shared_ptr<const LoadedImage> image;
    size_t index; ///< among the image's kernels, or its ops
  };
  std::string name;
  bool isOp = false;
  std::vector<Variant> variants; ///< widest contract first
  LaunchCache known;             ///< launches of a kernel that were checked before

  Result<PreparedLaunch> prepare(std::span<const ArgumentView> views) const {
    std::vector<Argument> arguments;
    for (const ArgumentView &view : views)
      arguments.push_back(view.toArgument());
    Error last;
    for (const Variant &variant : variants) {
      const KernelImage &image = variant.image->image();
      if (isOp) {
        Result<OpPlan> plan = planOp(image, variant.index, arguments);
        if (plan)
          return PreparedLaunch(variant.image, *std::move(plan));
        last = plan.error();
      } else {
        Result<LaunchPlan> plan = planLaunch(image.kernels[variant.index], arguments);
        if (plan) {
          known.remember(views, *variant.image, variant.index, *plan);
          return PreparedLaunch(variant.image, variant.index, *std::move(plan));
        }
        last = plan.error();
      }
      if (!isBrokenContract(last))
        break;
    }
    return last;
  }
};

} // namespace

struct EmbeddedKernels::State {
  std::vector<std::shared_ptr<const LoadedImage>> images;
  std::vector<Callable> callables;

  const Callable *find(std::string_view name) const {
    for (const Callable &callable : callables)
      if (callable.name == name)
        return &callable;
    return nullptr;
  }

  void add(const std::string &name, bool isOp, const std::shared_ptr<const LoadedImage> &image, size_t index) {
    auto *known = const_cast<Callable *>(find(name));
    if (!known) {
      known = &callables.emplace_back();
      known->name = name;
      known->isOp = isOp;
    }
    known->variants.push_back({image, index});
  }

  void collect() {
    for (const std::shared_ptr<const LoadedImage> &image : images) {
      const KernelImage &content = image->image();
      for (size_t i = 0; i < content.kernels.size(); ++i)
        if (!content.kernels[i].stepOnly)
          add(content.kernels[i].name, /*isOp=*/false, image, i);
      for (size_t i = 0; i < content.ops.size(); ++i)
        add(content.ops[i].signature.name, /*isOp=*/true, image, i);
    }
  }
};

Result<EmbeddedKernels> EmbeddedKernels::load(const EmbeddedTable &table, const Device &device) {
  if (table.version != EmbeddedTable::kVersion)
    return Error{
        Fault::Program,
        fmt::format("the embedded kernels have format {}, expected {}", table.version, EmbeddedTable::kVersion),
        "compile them again with the tessera of this runtime", "T0631"};
  std::string_view target = chooseTarget(table, device.target());
  if (target.empty()) {
    std::string names;
    for (uint64_t i = 0; i < table.imageCount; ++i)
      if (names.find(table.images[i].target) == std::string::npos)
        names += (names.empty() ? "" : ", ") + std::string(table.images[i].target);
    return Error{Fault::Program,
                 fmt::format("no embedded kernel is for the device '{}' ({}); there are images for {}", device.name(),
                             device.target(), names.empty() ? "no target" : names),
                 fmt::format("compile with --target {} too", device.target()), "T0632"};
  }
  auto state = std::make_shared<State>();
  for (uint64_t i = 0; i < table.imageCount; ++i) {
    const EmbeddedImage &embedded = table.images[i];
    if (embedded.target != target)
      continue;
    Result<KernelImage> image =
        KernelImage::deserialize(std::string_view(static_cast<const char *>(embedded.bytes), embedded.size));
    if (!image)
      return image.error();
    auto resolve = [&table](const std::string &entry) -> void * {
      for (uint64_t e = 0; e < table.entryCount; ++e)
        if (entry == table.entries[e].name)
          return table.entries[e].address;
      return nullptr;
    };
    Result<std::shared_ptr<const LoadedImage>> loaded =
        device.isCuda() ? LoadedImage::onCuda(*std::move(image), device.context())
                        : LoadedImage::onHost(*std::move(image), device.pool(), resolve, nullptr);
    if (!loaded)
      return loaded.error();
    state->images.push_back(*std::move(loaded));
  }
  state->collect();
  return EmbeddedKernels(std::move(state));
}

const std::vector<std::shared_ptr<const LoadedImage>> &EmbeddedKernels::images() const { return state->images; }

Result<PreparedLaunch> EmbeddedKernels::prepare(std::string_view name, std::span<const ArgumentView> arguments) const {
  const Callable *callable = state->find(name);
  if (!callable)
    return unknown(name);
  return callable->prepare(arguments);
}

Result<size_t> EmbeddedKernels::workspaceBytes(std::string_view name, std::span<const ArgumentView> arguments) const {
  Result<PreparedLaunch> prepared = prepare(name, arguments);
  if (!prepared)
    return prepared.error();
  return prepared->workspaceBytes();
}

Result<void> EmbeddedKernels::launch(std::string_view name, std::span<const ArgumentView> arguments,
                                     StreamHandle stream, const Workspace &workspace) const {
  const Callable *callable = state->find(name);
  if (!callable)
    return unknown(name);
  if (std::optional<Result<void>> done = callable->known.launch(arguments, stream))
    return *std::move(done);
  Result<PreparedLaunch> prepared = callable->prepare(arguments);
  if (!prepared)
    return prepared.error();
  return prepared->launch(stream, workspace);
}

} // namespace tessera
