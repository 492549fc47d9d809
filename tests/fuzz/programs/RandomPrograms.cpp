//===- RandomPrograms.cpp - many random programs in one process --------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
//     random_programs --from 1 --count 500                  host at -O2 and -O0 against an interpreter, one GPU target each in turn
//     random_programs --count 1000 --device cuda:0          also on a GPU
//     random_programs --print 17 | --reduce 17              the program of a seed | a smaller one that fails in the same way
//
// A child process works through the seeds; the parent sees it die or stall, takes down the seed and starts the next child behind it.
//
#include "compiler/Target/Target.h"
#include "tests/fuzz/Watch.h"
#include "tests/fuzz/programs/Reduce.h"
#include "tests/fuzz/programs/Runner.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <unistd.h>

using namespace tessera;
using namespace tessera::fuzz;

namespace {

struct Command {
  uint64_t from = 1, count = 500;
  std::string targets = "rotate", device, ptxas;
  int ptxasEvery = 50, timeLimit = 30;
  std::optional<uint64_t> printed, reduced;
};

std::vector<std::string> gpuTargets() {
  std::vector<std::string> names;
  for (std::string_view name : targetNames())
    if (findTarget(name)->gpu)
      names.emplace_back(name);
  return names;
}

RunOptions optionsFor(const Command &command, uint64_t seed) {
  RunOptions options;
  std::vector<std::string> all = gpuTargets();
  if (command.targets == "all")
    options.targets = all;
  else if (command.targets == "rotate")
    options.targets = {all[seed % all.size()]};
  else if (command.targets != "none")
    options.targets = {command.targets};
  if (!command.ptxas.empty() && seed % uint64_t(command.ptxasEvery) == 0)
    options.ptxas = command.ptxas;
  return options;
}

/// A program's verdict from a process of its own.
std::string verdictOf(const Program &program, const Command &command, Progress &progress) {
  progress.text[0] = 0;
  std::string died = watch(progress, command.timeLimit, [&] {
    RunOptions options = optionsFor(command, program.seed);
    if (!command.device.empty())
      if (Result<Device> device = Device::open(command.device))
        options.device = *device;
    std::string failure = check(program, options).failure;
    std::snprintf(progress.text, sizeof progress.text, "%s", failure.c_str());
  });
  return died.empty() ? progress.text : died;
}

int runAll(const Command &command, Progress &progress) {
  auto begin = std::chrono::steady_clock::now();
  uint64_t next = command.from, end = command.from + command.count, deaths = 0;
  while (next < end) {
    std::string died = watch(progress, command.timeLimit, [&] {
      std::optional<Device> device;
      if (!command.device.empty()) {
        Result<Device> opened = Device::open(command.device);
        if (!opened) {
          fmt::print("{} {}\n", opened.error().code, opened.error().message);
          _exit(3);
        }
        device = *opened;
      }
      for (uint64_t seed = next; seed < end; ++seed) {
        progress.seed = seed;
        RunOptions options = optionsFor(command, seed);
        options.device = device;
        Verdict verdict = check(generate(seed), options);
        if (!verdict.failure.empty())
          fmt::print("FAIL: seed {}: {}\n", seed, verdict.failure);
        for (const std::string &code : verdict.refusals)
          fmt::print("refused: seed {}: {}\n", seed, code);
        if (!verdict.failure.empty() || !verdict.refusals.empty())
          std::fflush(stdout);
        progress.refusals = progress.refusals + verdict.refusals.size();
        progress.failures = progress.failures + !verdict.failure.empty();
        progress.done = progress.done + 1;
      }
    });
    if (died.empty())
      break;
    if (progress.seed == 0)
      return 1; // no device
    fmt::print("FAIL: seed {}: {}\n", uint64_t(progress.seed), died);
    ++deaths;
    next = progress.seed + 1;
  }
  uint64_t failed = deaths + progress.failures;
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  fmt::print("{:.1f} programs a second, {} refused for what this version or the target lacks\n",
             double(command.count) / seconds, uint64_t(progress.refusals));
  fmt::print("{} passed, {} failed\n", command.count - failed, failed);
  return failed != 0;
}

} // namespace

int main(int argc, char **argv) {
  Command command;
  CLI::App app("Random programs against an interpreter");
  app.add_option("--from", command.from, "the first seed");
  app.add_option("--count", command.count, "how many seeds");
  app.add_option("--targets", command.targets, "rotate (one GPU target for each seed), all, none, or one name");
  app.add_option("--ptxas", command.ptxas, "path of ptxas, which assembles a sample");
  app.add_option("--ptxas-every", command.ptxasEvery, "the sample: seeds that this divides")
      ->check(CLI::PositiveNumber);
  app.add_option("--device", command.device, "run there too: cuda:0");
  app.add_option("--time-limit", command.timeLimit, "seconds of processor time for one program");
  app.add_option("--print", command.printed, "print the program of this seed");
  app.add_option("--reduce", command.reduced, "make the failing program of this seed smaller");
  CLI11_PARSE(app, argc, argv);
  if (command.printed) {
    fmt::print("{}", print(generate(*command.printed)));
    return 0;
  }
  Progress *progress = Progress::create();
  if (!progress)
    return 1;
  if (!command.reduced)
    return runAll(command, *progress);
  Program program = generate(*command.reduced);
  std::string failure = verdictOf(program, command, *progress);
  if (failure.empty()) {
    fmt::print("seed {} does not fail\n", *command.reduced);
    return 1;
  }
  fmt::print("{}\n", failure);
  auto kindOf = [](const std::string &text) { return text.substr(0, text.find(':')); };
  program = reduce(std::move(program), [&](const Program &smaller) {
    return kindOf(verdictOf(smaller, command, *progress)) == kindOf(failure);
  });
  fmt::print("{}// {}\n", print(program), verdictOf(program, command, *progress));
  return 0;
}
