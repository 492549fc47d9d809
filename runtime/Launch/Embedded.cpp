//===- Embedded.cpp - kernels that were linked into the program ----------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Chooses the images of a device, and among them the first whose contract the arguments satisfy.
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

} // namespace

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
  EmbeddedKernels kernels;
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
    kernels.loaded.push_back(*std::move(loaded));
  }
  return kernels;
}

Result<void> EmbeddedKernels::launch(std::string_view kernel, std::span<const Argument> arguments,
                                     StreamHandle stream) const {
  Error last{Fault::Program, fmt::format("there is no embedded kernel '{}'", kernel),
             "call one that the header declares", "T0615"};
  for (const std::shared_ptr<const LoadedImage> &image : loaded) {
    Result<size_t> index = image->find(kernel);
    if (!index)
      continue; // not every kernel compiles under every contract
    Result<LaunchPlan> plan = planLaunch(image->image().kernels[*index], arguments);
    if (plan)
      return image->launch(*index, *plan, stream);
    last = plan.error();
    if (!isBrokenContract(last))
      break;
  }
  return last;
}

} // namespace tessera
