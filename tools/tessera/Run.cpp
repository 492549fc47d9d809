//===- Run.cpp - `tessera run` -------------------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Compiles a kernel for its arguments, launches it, writes, prints and checks results, and measures.
//
#include "runtime/Cuda/Context.h"
#include "runtime/Jit/Launcher.h"
#include "tools/tessera/CacheFolder.h"
#include "tools/tessera/Commands.h"
#include "tools/tessera/Compare.h"
#include "tools/tessera/Crash.h"
#include "tools/tessera/Npy.h"
#include "tools/tessera/ProgramOptions.h"
#include "tools/tessera/Ptxas.h"
#include "tools/tessera/RunArguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

namespace tessera {
namespace {

struct RunCommand {
  SharedOptions shared;
  std::string device = "auto", cache = "auto", ptxas = "off";
  uint64_t cacheLimit = DiskCache::kDefaultLimit;
  std::vector<std::string> arguments, outputs, checks, prints;
  uint64_t seed = 1;
  bool time = false;
  int repeat = 20;
};

/// Microseconds of each repetition.
using Times = std::vector<double>;

/// One run of the command; every step says what failed, and `json` collects what the JSON form shows.
class Session {
public:
  Session(const RunCommand &command, Report &report) : command(command), report(report) {}

  Result<void> run() {
    using Step = Result<void> (Session::*)();
    for (Step step : {&Session::open, &Session::launch, &Session::measure, &Session::showResults})
      if (Result<void> status = (this->*step)(); !status)
        return status;
    return {};
  }

  std::string fields() const { return fmt::format("{}", fmt::join(json, ", ")); }

private:
  Result<void> open() {
    Result<CompileOptions> parsed = command.shared.toCompileOptions();
    if (!parsed)
      return parsed.error();
    options = *std::move(parsed);
    Result<std::string> source = readFile(command.shared.file);
    if (!source)
      return source.error();
    report.source = *source;
    guardSource(*source);
    if (Result<void> found = findKernel(*source); !found)
      return found;
    Result<Device> opened = Device::open(command.device);
    if (!opened)
      return opened.error();
    device.emplace(*opened);
    Result<RunArguments> made = RunArguments::make(command.arguments, command.seed);
    if (!made)
      return made.error();
    arguments = *std::move(made);
    if (device->isCuda()) {
      Result<cuda::Stream> created = cuda::Stream::create(device->context());
      if (!created)
        return created.error();
      stream.emplace(*std::move(created));
    }
    Result<std::shared_ptr<const cuda::Assembler>> assembler = openPtxas(command.ptxas);
    if (!assembler)
      return assembler.error();
    jit.emplace(*std::move(source), options.sourceName,
                JitServices{openCache(command.cache, command.cacheLimit), *assembler});
    return {};
  }

  Result<void> findKernel(const std::string &source) {
    std::vector<KernelSignature> all = signatures(source, options);
    std::vector<std::string> names;
    for (const KernelSignature &candidate : all) {
      names.push_back(candidate.name);
      if (candidate.name == options.kernel || (options.kernel.empty() && all.size() == 1))
        signature = candidate;
    }
    if (!signature.name.empty())
      return {};
    // A file that does not parse has no kernels to list; its own errors say more.
    CompileOptions whole = options;
    whole.kernel.clear();
    CompileResult checked = check(source, whole);
    if (!checked.ok()) {
      report.diagnostics = std::move(checked.diagnostics);
      return Error{Fault::Program, fmt::format("'{}' does not compile", options.sourceName), "", ""};
    }
    if (options.kernel.empty())
      return Error{Fault::Usage, fmt::format("several kernels to choose from: {}", fmt::join(names, ", ")),
                   "name one with -k", "T0615"};
    return Error{Fault::Program,
                 fmt::format("there is no kernel '{}'; found: {}", options.kernel,
                             names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))),
                 "name one of them with -k", "T0615"};
  }

  StreamHandle handle() const { return stream ? stream->get() : nullptr; }
  Result<void> wait() const { return stream ? stream->synchronize() : Result<void>(); }

  Result<void> launch() {
    if (Result<void> named = checkNames(); !named)
      return named;
    if (Result<void> copied = arguments.upload(*device, handle()); !copied)
      return copied;
    auto outcome = prepareLaunch(*jit, signature, options, *device, arguments.named());
    if (JitFailure *failure = std::get_if<JitFailure>(&outcome)) {
      report.diagnostics = std::move(failure->diagnostics);
      return failure->error;
    }
    prepared = std::get<JitLaunch>(std::move(outcome));
    report.diagnostics = prepared.kernel.diagnostics;
    json.push_back(fmt::format("\"from_cache\": {}", prepared.kernel.fromDisk));
    if (!prepared.kernel.log.empty())
      fmt::print(stderr, "{}", prepared.kernel.log);
    if (Result<void> launched = prepared.launch(handle()); !launched)
      return launched;
    return wait();
  }

  /// Names in --out, --check and --print, before the work and not after it.
  Result<void> checkNames() {
    for (const std::string &name : command.prints)
      if (Result<RunArgument *> found = arguments.tensor(name, "--print"); !found)
        return found.error();
    for (const std::string &text : command.outputs) {
      Result<std::pair<std::string, std::string>> parts = splitAssignment(text, "--out");
      if (!parts)
        return parts.error();
      Result<RunArgument *> found = arguments.tensor(parts->first, "--out");
      if (!found)
        return found.error();
      outputs.push_back({*found, parts->second});
    }
    for (const std::string &text : command.checks) {
      Result<CheckSpec> spec = parseCheck(text);
      if (!spec)
        return spec.error();
      if (Result<RunArgument *> found = arguments.tensor(spec->name, "--check"); !found)
        return found.error();
      checks.push_back(*std::move(spec));
    }
    return {};
  }

  /// Results are taken home first: repetitions run on the same memory and may change it (inout, accum).
  Result<void> measure() {
    for (const NamedArgument &named : arguments.named()) {
      Result<RunArgument *> argument = arguments.tensor(named.name, "--out");
      if (!argument)
        continue; // a scalar
      if (Result<void> copied = arguments.download(**argument, handle()); !copied)
        return copied;
    }
    if (Result<void> done = wait(); !done)
      return done;
    if (!command.time)
      return {};
    if (!device->isCuda()) // the host's repetitions write to the arrays themselves: results are shown first
      return {};
    return finishTimes(timeOnDevice());
  }

  Result<Times> timeOnDevice() {
    std::vector<cuda::Event> events;
    for (int i = 0; i <= command.repeat; ++i) {
      Result<cuda::Event> event = cuda::Event::create(device->context());
      if (!event)
        return event.error();
      events.push_back(*std::move(event));
    }
    // Back to back, with an event between: what is measured is the device's time for a launch, not the host's.
    for (int i = 0; i <= command.repeat; ++i) {
      if (i > 0)
        if (Result<void> launched = prepared.launch(handle()); !launched)
          return launched.error();
      if (Result<void> recorded = events[i].record(stream->get()); !recorded)
        return recorded.error();
    }
    if (Result<void> done = wait(); !done)
      return done.error();
    Times times;
    for (int i = 1; i <= command.repeat; ++i) {
      Result<float> milliseconds = events[i].millisecondsSince(events[i - 1]);
      if (!milliseconds)
        return milliseconds.error();
      times.push_back(*milliseconds * 1000.0);
    }
    return times;
  }

  Result<Times> timeOnHost() {
    Times times;
    for (int i = 0; i < command.repeat; ++i) {
      auto begin = std::chrono::steady_clock::now();
      if (Result<void> launched = prepared.launch(nullptr); !launched)
        return launched.error();
      times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
    }
    return times;
  }

  Result<void> finishTimes(Result<Times> measured) {
    if (!measured)
      return measured.error();
    Times times = *std::move(measured);
    std::sort(times.begin(), times.end());
    size_t count = times.size();
    double median = (times[(count - 1) / 2] + times[count / 2]) / 2;
    say(fmt::format("time: median {:.2f} us, least {:.2f} us, most {:.2f} us, {} launches on {}", median, times.front(),
                    times.back(), count, device->name()));
    json.push_back(fmt::format(
        "\"time\": {{\"median_us\": {:.3f}, \"min_us\": {:.3f}, \"max_us\": {:.3f}, \"repeat\": {}, \"device\": {}}}",
        median, times.front(), times.back(), count, quoteJson(device->name())));
    return {};
  }

  void say(const std::string &line) const {
    if (!report.json)
      fmt::print("{}\n", line);
  }

  Result<void> showResults() {
    for (const std::string &name : command.prints) {
      RunArgument *argument = *arguments.tensor(name, "--print");
      say(fmt::format("{}: {} = {}", name, argument->array->describe(), argument->array->print()));
      json.push_back(fmt::format("{}: {}", quoteJson("print " + name), quoteJson(argument->array->print())));
    }
    for (auto &[argument, path] : outputs)
      if (Result<void> written = writeFile(path, formatNpy(*argument->array)); !written)
        return written;
    int failures = 0;
    for (const CheckSpec &spec : checks)
      if (Result<void> checked = checkResult(spec, failures); !checked)
        return checked;
    if (command.time && !device->isCuda())
      if (Result<void> timed = finishTimes(timeOnHost()); !timed)
        return timed;
    if (failures > 0)
      return Error{Fault::Program, fmt::format("{} of {} checks failed", failures, checks.size()), "", "T0640"};
    return {};
  }

  Result<void> checkResult(const CheckSpec &spec, int &failures) {
    Result<std::string> bytes = readFile(spec.path);
    if (!bytes)
      return bytes.error();
    Result<Array> expected = parseNpy(*bytes, spec.dtype);
    if (!expected)
      return expected.error();
    const Array &found = *(*arguments.tensor(spec.name, "--check"))->array;
    Result<Comparison> comparison = compare(found, *expected, spec);
    if (!comparison)
      return comparison.error();
    failures += comparison->wrong > 0;
    say(fmt::format("check {}: {}: {}", spec.name, comparison->wrong ? "FAILED" : "ok",
                    comparison->describe(found, *expected)));
    json.push_back(fmt::format("{}: {{\"ok\": {}, \"max_error\": {:g}, \"wrong\": {}, \"elements\": {}}}",
                               quoteJson("check " + spec.name), comparison->wrong == 0, comparison->maxError,
                               comparison->wrong, comparison->elements));
    return {};
  }

  const RunCommand &command;
  Report &report;
  CompileOptions options;
  KernelSignature signature;
  std::optional<Device> device;
  std::optional<cuda::Stream> stream;
  std::optional<Jit> jit;
  RunArguments arguments;
  JitLaunch prepared;
  std::vector<std::pair<RunArgument *, std::string>> outputs;
  std::vector<CheckSpec> checks;
  std::vector<std::string> json;
};

int runRun(const RunCommand &command) {
  Report report{{}, command.shared.file == "-" ? "<stdin>" : command.shared.file, "", command.shared.json};
  Session session(command, report);
  Result<void> status = session.run();
  return report.finish(status ? nullptr : &status.error(), session.fields());
}

} // namespace

void addRun(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand("run", "Compile a kernel for its arguments and run it on this machine");
  auto state = std::make_shared<RunCommand>();
  state->shared.addTo(*command);
  state->shared.addCompilationTo(*command);
  command->add_option("--device", state->device, "where to run: auto (the first GPU, else the cpu), cpu, cuda:N")
      ->capture_default_str()
      ->type_name("DEVICE");
  SharedOptions::list(
      command->add_option("--arg", state->arguments, "an argument; tensors that are not given are absent"),
      "NAME=SPEC");
  SharedOptions::list(command->add_option("--out", state->outputs, "write a tensor after the launch"), "NAME=FILE.npy");
  SharedOptions::list(command->add_option("--check", state->checks, "compare a tensor with a reference"),
                      "NAME=FILE.npy[:rtol=R][:atol=A]");
  SharedOptions::list(command->add_option("--print", state->prints, "print a tensor"), "NAME");
  command
      ->add_option("--cache", state->cache,
                   "keep compiled images in this folder: auto (`tessera cache path` names it), off, or a folder")
      ->capture_default_str()
      ->type_name("FOLDER");
  addCacheLimit(*command, state->cacheLimit);
  command
      ->add_option(
          "--ptxas", state->ptxas,
          "assemble code for GPUs with the toolkit's ptxas and keep the result: off (the driver does it), auto, "
          "or its path")
      ->capture_default_str()
      ->type_name("PTXAS");
  command->add_option("--seed", state->seed, "seed of the random arguments")->capture_default_str()->type_name("N");
  command->add_flag("--time", state->time, "measure: median of repeated launches after the first");
  command->add_option("--repeat", state->repeat, "launches that --time measures")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  command->footer(
      "SPEC is one of\n"
      "  FILE.npy[:dtype]              a file; dtype reads raw elements as bf16, f8e4m3, f8e5m2\n"
      "  NUMBER[:dtype]                a scalar; without a dtype that of the parameter\n"
      "  randn:DTYPE:AxB[:seed=N]      normal numbers; uniform:DTYPE:AxB[:low=L][:high=H][:seed=N]\n"
      "  zeros: empty: arange:DTYPE:AxB    empty memory is filled with NaN or -1\n"
      "  scratch:BYTES                 u8 memory of that size\n\n"
      "Examples:\n"
      "  tessera run linear.tile -k linear_forward -D T=f32 -D act=gelu --device cpu --arg x=x.npy --arg w=w.npy \\\n"
      "      --arg y=empty:f32:37x53 --out y=y.npy\n"
      "  tessera run matmul.tile --device cuda:0 --arg a=randn:bf16:1x4096x4096 --arg b=randn:bf16:1x4096x4096 \\\n"
      "      --arg c=empty:bf16:1x4096x4096 --time --repeat 50 --json");
  command->callback([state, &exitCode] { exitCode = runRun(*state); });
}

} // namespace tessera
