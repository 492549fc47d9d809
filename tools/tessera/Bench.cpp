//===- Bench.cpp - `tessera bench` ---------------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// What this machine gives, for measurements to be compared with: the rate at which a device copies its memory, and what a launch costs the
// calling thread.  Three launches of one kernel with eight arguments take turns: the bare call of the driver with ready parameters,
// Kernel::launch with arguments it has seen the like of, and PreparedLaunch.
//
#include "runtime/Api/tessera.hpp"
#include "runtime/Cuda/Module.h"
#include "tools/tessera/Commands.h"
#include "tools/tessera/Terminal.h"

#include "compiler/Driver/Compiler.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>

namespace tessera {
namespace {

constexpr const char *kSource = R"(
kernel eight(a: in f32[N], b: in f32[N], c: in f32[N], d: in f32[N], e: in f32[N], y: out f32[N], s: f32, t: f32)
  grid (i in 0..N by 128)
{
  y[i +: 128] = (a[i +: 128] + b[i +: 128]) * s + (c[i +: 128] + d[i +: 128] + e[i +: 128]) * t
}
)";
constexpr int64_t kElements = 1024; // the kernel is over before the next one is launched
constexpr size_t kTensors = 6, kSets = 2;
constexpr int kBatches = 200,
              kBatch = 64; // a batch fits into the queue of a stream, so that no launch waits for the device

struct BenchCommand {
  std::string device = "auto";
  bool json = false;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

/// A way to launch; `set` says which of the two sets of tensors.
struct Way {
  const char *name;
  std::function<bool(size_t set)> launch;
  std::vector<double> nanoseconds;
};

/// Memory of either device for the tensors of both sets.
class Tensors {
public:
  Result<void> make(const Device &device) {
    size_t bytes = kElements * sizeof(float);
    host.assign(kTensors * kSets * kElements, 1.0f);
    for (size_t i = 0; i < kTensors * kSets; ++i) {
      void *address = host.data() + i * kElements;
      if (device.isCuda()) {
        Result<cuda::Memory> memory = cuda::Memory::allocate(device.context(), bytes);
        if (!memory)
          return memory.error();
        if (Result<void> copied = memory->copyFrom(address, nullptr); !copied)
          return copied;
        address = memory->get();
        owned.push_back(*std::move(memory));
      }
      refs.push_back(TensorRef::contiguous(address, DType::F32, {kElements}));
    }
    return {};
  }
  const TensorRef &operator()(size_t set, size_t i) const { return refs[set * kTensors + i]; }

private:
  std::vector<float> host;
  std::vector<cuda::Memory> owned;
  std::vector<TensorRef> refs;
};

/// Bytes read and written a second by a device's copy of half a gibibyte.
Result<double> copyRate(const std::shared_ptr<const cuda::Context> &context) {
  constexpr size_t kBytes = size_t(1) << 29;
  constexpr int kRounds = 21;
  Result<cuda::Memory> from = cuda::Memory::allocate(context, kBytes), to = cuda::Memory::allocate(context, kBytes);
  if (!from || !to)
    return from ? to.error() : from.error();
  Result<cuda::Stream> stream = cuda::Stream::create(context);
  if (!stream)
    return stream.error();
  std::vector<cuda::Event> events;
  for (int i = 0; i <= kRounds; ++i) {
    Result<cuda::Event> event = cuda::Event::create(context);
    if (!event)
      return event.error();
    events.push_back(*std::move(event));
  }
  auto address = [](const cuda::Memory &memory) {
    return static_cast<cuda::DevicePointer>(reinterpret_cast<uintptr_t>(memory.get()));
  };
  for (int i = 0; i <= kRounds; ++i) {
    Result<void> copied = context->run("cuMemcpyDtoDAsync", [&](auto &t) {
      return t.cuMemcpyDtoDAsync(address(*to), address(*from), kBytes, stream->get());
    });
    if (!copied)
      return copied.error();
    if (Result<void> recorded = events[i].record(stream->get()); !recorded)
      return recorded.error();
  }
  if (Result<void> done = stream->synchronize(); !done)
    return done.error();
  std::vector<double> rates;
  for (int i = 1; i <= kRounds; ++i) {
    Result<float> milliseconds = events[i].millisecondsSince(events[i - 1]);
    if (!milliseconds)
      return milliseconds.error();
    rates.push_back(2.0 * kBytes / (*milliseconds * 1e-3));
  }
  return median(rates);
}

class Bench {
public:
  explicit Bench(const BenchCommand &command) : command(command) {}

  Result<void> run() {
    Result<Device> opened = Device::open(command.device);
    if (!opened)
      return opened.error();
    device.emplace(*opened);
    if (Result<void> made = tensors.make(*device); !made)
      return made;
    ProgramOptions options;
    options.sourceName = "<bench>";
    options.device = *device;
    Expected<Program> program = Program::fromSource(kSource, options);
    if (!program)
      return program.failure().error;
    Expected<Kernel> kernel = program->kernel("eight");
    if (!kernel)
      return kernel.failure().error;
    std::vector<PreparedLaunch> prepared;
    for (size_t set = 0; set < kSets; ++set) {
      auto bound = kernel->prepare(tensors(set, 0), tensors(set, 1), tensors(set, 2), tensors(set, 3), tensors(set, 4),
                                   tensors(set, 5), 2.0f, 3.0f);
      if (!bound)
        return bound.failure().error;
      prepared.push_back(*bound);
    }
    if (device->isCuda()) {
      Result<cuda::Stream> created = cuda::Stream::create(device->context());
      if (!created)
        return created.error();
      stream.emplace(*std::move(created));
      if (Result<void> loaded = addBare(prepared); !loaded)
        return loaded;
    }
    StreamHandle handle = stream ? stream->get() : nullptr;
    ways.push_back({"warm",
                    [&](size_t set) {
                      return bool(kernel->launch(handle, tensors(set, 0), tensors(set, 1), tensors(set, 2),
                                                 tensors(set, 3), tensors(set, 4), tensors(set, 5), 2.0f, 3.0f));
                    },
                    {}});
    ways.push_back({"prepared", [&](size_t set) { return bool(prepared[set].launch(handle)); }, {}});
    if (Result<void> measured = measure(); !measured)
      return measured;
    return show();
  }

private:
  /// The same code loaded by hand: what a caller of the driver would write.
  Result<void> addBare(const std::vector<PreparedLaunch> &prepared) {
    const LoadedImage &image = *prepared[0].image();
    const KernelInfo &info = image.image().kernels[prepared[0].kernel()];
    Result<std::shared_ptr<const cuda::Module>> loaded = cuda::Module::load(device->context(), image.image().code);
    if (!loaded)
      return loaded.error();
    module = *loaded;
    Result<cuda::Function> found = module->function(info.entry, info.threads, info.sharedBytes);
    if (!found)
      return found.error();
    for (size_t set = 0; set < kSets; ++set) {
      slots[set] = prepared[set].plan().slots;
      for (uint64_t &slot : slots[set])
        params[set].push_back(&slot);
    }
    auto programs = static_cast<unsigned>(prepared[0].plan().programs);
    // The context is current on this thread while the ways are measured, as in a program that uses the runtime API of CUDA.
    ways.push_back({"bare",
                    [this, function = *found, programs](size_t set) {
                      return device->context()->driver().table().cuLaunchKernel(
                                 function.handle, programs, 1, 1, static_cast<unsigned>(function.threads), 1, 1,
                                 static_cast<unsigned>(function.sharedBytes), stream->get(), params[set].data(),
                                 nullptr) == 0;
                    },
                    {}});
    return {};
  }

  Result<void> measure() {
    bool launched = true;
    auto all = [&](auto &) {
      for (int batch = -10; batch < kBatches && launched; ++batch)
        for (Way &way : ways) {
          auto begin = std::chrono::steady_clock::now();
          for (int i = 0; i < kBatch; ++i)
            launched &= way.launch(static_cast<size_t>(i) % kSets);
          auto end = std::chrono::steady_clock::now();
          if (batch >= 0)
            way.nanoseconds.push_back(std::chrono::duration<double, std::nano>(end - begin).count() / kBatch);
          if (stream)
            launched &= bool(stream->synchronize());
        }
      return 0;
    };
    if (device->isCuda()) {
      if (Result<void> done = device->context()->run("launch", all); !done)
        return done;
    } else {
      all(launched);
    }
    if (!launched)
      return Error{Fault::Machine, "a launch failed while it was measured", "run `tessera doctor`", "T0621"};
    return {};
  }

  Result<void> show() {
    std::string json;
    double bare = 0;
    for (const Way &way : ways) {
      double time = median(way.nanoseconds);
      if (std::string_view(way.name) == "bare")
        bare = time;
      std::string ratio = bare > 0 ? fmt::format("   {:.2f} x bare", time / bare) : "";
      json += fmt::format("{}\"{}_ns\": {:.1f}", json.empty() ? "" : ", ", way.name, time);
      if (!command.json)
        fmt::print("launch, 8 arguments, {:<9} {:9.0f} ns{}\n", way.name, time, ratio);
    }
    if (device->isCuda()) {
      Result<double> rate = copyRate(device->context());
      if (!rate)
        return rate.error();
      json += fmt::format(", \"copy_bytes_per_second\": {:.6g}", *rate);
      if (!command.json)
        fmt::print("device copy, 512 MiB          {:9.3f} TB/s read and written\n", *rate / 1e12);
    }
    if (command.json)
      fmt::print("{{\"device\": {}, {}}}\n", quoteJson(device->name()), json);
    return {};
  }

  const BenchCommand &command;
  std::optional<Device> device;
  std::optional<cuda::Stream> stream;
  Tensors tensors;
  std::shared_ptr<const cuda::Module> module;
  std::array<std::vector<uint64_t>, kSets> slots;
  std::array<std::vector<void *>, kSets> params;
  std::vector<Way> ways;
};

} // namespace

void addBench(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand("bench", "Measure what a launch costs and how fast the device copies memory");
  auto state = std::make_shared<BenchCommand>();
  command->add_option("--device", state->device, "auto (the first GPU, else the cpu), cpu, cuda:N")
      ->capture_default_str()
      ->type_name("DEVICE");
  command->add_flag("--json", state->json, "one JSON object on standard output");
  command->callback([state, &exitCode] {
    Result<void> status = Bench(*state).run();
    exitCode = status ? 0 : report(status.error());
  });
}

} // namespace tessera
