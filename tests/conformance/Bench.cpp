//===- Bench.cpp - compile once, launch often -------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "runtime/Cuda/Context.h"
#include "tests/conformance/Cases.h"

#include <fmt/format.h>

#include <optional>

namespace tessera::conformance {

struct Bench::Entry {
  std::mutex mutex;
  std::optional<Kernel> kernel;
  std::string error;
};

std::shared_ptr<Bench::Entry> Bench::entryOf(const std::string &source) {
  std::shared_ptr<Entry> entry;
  {
    std::lock_guard<std::mutex> lock(mutex);
    std::shared_ptr<Entry> &slot = entries[source];
    if (!slot)
      slot = std::make_shared<Entry>();
    entry = slot;
  }
  std::lock_guard<std::mutex> lock(entry->mutex);
  if (entry->kernel || !entry->error.empty())
    return entry;
  ProgramOptions options;
  options.sourceName = "conformance.tile";
  options.device = device;
  Expected<Program> program = Program::fromSource(source, options);
  if (!program) {
    entry->error = program.failure().text();
    return entry;
  }
  Expected<Kernel> kernel = program->kernel(program->kernels().front());
  if (kernel)
    entry->kernel = *kernel;
  else
    entry->error = kernel.failure().text();
  return entry;
}

std::string Bench::launch(const std::string &source, const std::vector<Data *> &tensors,
                          const std::vector<int64_t> &scalars) {
  std::shared_ptr<Entry> entry = entryOf(source);
  if (!entry->kernel)
    return entry->error + "\n" + source;
  std::vector<Argument> arguments;
  std::vector<cuda::Memory> memory;
  for (Data *tensor : tensors) {
    void *address = tensor->bytes.data();
    if (device.isCuda()) {
      Result<cuda::Memory> copy = cuda::Memory::allocate(device.context(), std::max<size_t>(tensor->bytes.size(), 1));
      if (!copy)
        return copy.error().message;
      if (!tensor->bytes.empty())
        if (Result<void> status = copy->copyFrom(tensor->bytes.data(), nullptr); !status)
          return status.error().message;
      address = copy->get();
      memory.push_back(std::move(*copy));
    }
    arguments.push_back(TensorRef::contiguous(address, tensor->type, tensor->shape));
  }
  for (int64_t scalar : scalars)
    arguments.push_back(ScalarRef::of(scalar));
  if (Expected<void> done = entry->kernel->launchInOrder(nullptr, arguments); !done)
    return done.failure().text() + "\n" + source;
  for (size_t i = 0; i < memory.size(); ++i)
    if (!tensors[i]->bytes.empty())
      if (Result<void> status = memory[i].copyTo(tensors[i]->bytes.data(), nullptr); !status)
        return status.error().message + "\n" + source;
  if (device.isCuda())
    if (Result<void> status = device.context()->run(
            "cuStreamSynchronize", [](const auto &table) { return table.cuStreamSynchronize(nullptr); });
        !status)
      return status.error().message + "\n" + source;
  return {};
}

std::string compare(const Data &have, const std::function<Want(int64_t)> &want) {
  int64_t wrong = 0;
  std::string first;
  for (int64_t i = 0; i < have.size(); ++i) {
    Want expected = want(i);
    if (expected.holds(have.type, have[i]))
      continue;
    if (++wrong == 1)
      first = fmt::format("element {}: expected {}, found {}", i, expected.text(have.type),
                          Want::exactly(have[i]).text(have.type));
  }
  return wrong > 1 ? fmt::format("{}, and {} more", first, wrong - 1) : first;
}

} // namespace tessera::conformance
