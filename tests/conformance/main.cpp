//===- main.cpp - tessera-conformance: the matrix of operations, types and shapes -------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
//     tessera-conformance [--device cpu|cuda:0] [--filter TEXT] [--threads N] [--list] [--verbose]
//
// One file that runs on a machine without toolchain.  Prints every failure, a table of operations and types, and `N passed, M failed`.
//
#include "tests/conformance/Cases.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <set>
#include <thread>

using namespace tessera;
using namespace tessera::conformance;

namespace {

struct Options {
  std::string device = "cpu", filter;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  bool list = false, verbose = false;
};

int usage(const std::string &why) {
  fmt::print(stderr,
             "tessera-conformance: {}\nusage: tessera-conformance [--device cpu|cuda:0] [--filter TEXT] [--threads N] "
             "[--list] [--verbose]\n",
             why);
  return 2;
}

/// Passed and run, by operation and type.
void printTable(const std::vector<Case> &cases, const std::vector<std::string> &outcome) {
  std::map<std::string, std::map<int, std::pair<int, int>>> cells;
  std::set<int> types;
  std::vector<std::string> order;
  for (size_t i = 0; i < cases.size(); ++i) {
    auto [row, isNew] = cells.try_emplace(cases[i].operation);
    if (isNew)
      order.push_back(cases[i].operation);
    auto &[passed, all] = row->second[int(cases[i].type)];
    passed += outcome[i].empty();
    ++all;
    types.insert(int(cases[i].type));
  }
  fmt::print("\n{:16}", "cases");
  for (int type : types)
    fmt::print("{:>8}", nameOf(DType(type)));
  fmt::print("\n");
  for (const std::string &operation : order) {
    fmt::print("{:16}", operation);
    for (int type : types) {
      auto cell = cells[operation].find(type);
      if (cell == cells[operation].end())
        fmt::print("{:>8}", "");
      else if (cell->second.first == cell->second.second)
        fmt::print("{:>8}", cell->second.second);
      else
        fmt::print("{:>8}", fmt::format("{}/{}!", cell->second.first, cell->second.second));
    }
    fmt::print("\n");
  }
  fmt::print("\n");
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    bool takesValue = word == "--device" || word == "--filter" || word == "--threads";
    if (takesValue && i + 1 == argc)
      return usage(word + " needs a value");
    if (word == "--device")
      options.device = argv[++i];
    else if (word == "--filter")
      options.filter = argv[++i];
    else if (word == "--threads")
      options.threads = unsigned(std::max(1, std::atoi(argv[++i])));
    else if (word == "--list")
      options.list = true;
    else if (word == "--verbose")
      options.verbose = true;
    else
      return usage("unknown argument '" + word + "'");
  }
  Matrix all = matrix();
  std::vector<Case> &cases = all.cases;
  auto isOut = [&](const Case &c) { return c.name().find(options.filter) == std::string::npos; };
  std::erase_if(cases, isOut);
  std::erase_if(all.excused, isOut);
  if (options.list) {
    for (const Case &c : cases)
      fmt::print("conformance: {}\n", c.name());
    return 0;
  }
  // Each case runs on the thread that takes it; the host's own pool would only get in the way.
  Result<Device> device = options.device == "cpu" ? Result<Device>(Device::cpu(1)) : Device::open(options.device);
  if (!device) {
    fmt::print(stderr, "tessera-conformance: {}\n", device.error().message);
    return 3;
  }
  auto started = std::chrono::steady_clock::now();
  Bench bench(*device);
  std::vector<std::string> outcome(cases.size());
  // A cell's cases share kernels, so that one thread takes all of them.
  std::vector<size_t> cells;
  for (size_t i = 0; i < cases.size(); ++i)
    if (i == 0 || cases[i].operation != cases[i - 1].operation || cases[i].type != cases[i - 1].type)
      cells.push_back(i);
  cells.push_back(cases.size());
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t cell; (cell = next.fetch_add(1)) + 1 < cells.size();)
      for (size_t i = cells[cell]; i < cells[cell + 1]; ++i)
        outcome[i] = cases[i].run(bench);
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < options.threads; ++t)
    threads.emplace_back(work);
  for (std::thread &thread : threads)
    thread.join();
  int failed = 0;
  std::string last;
  for (size_t i = 0; i < cases.size(); ++i) {
    if (options.verbose && outcome[i].empty())
      fmt::print("ok   {}\n", cases[i].name());
    if (outcome[i].empty())
      continue;
    ++failed;
    // The same message (a kernel that does not compile) is not repeated for every case of a cell.
    fmt::print("FAILED {}: {}\n", cases[i].name(), outcome[i] == last ? "as before" : outcome[i]);
    last = outcome[i];
  }
  // The cells themselves: none empty without a reason, no reason out of date.
  std::vector<std::string> problems;
  if (options.filter.empty())
    for (const std::string &cell : all.empty)
      problems.push_back(cell + ": no case, and no TESSERA_UNCOVERED in Operations.def says why");
  for (const Case &c : all.excused)
    if (c.run(bench).empty())
      problems.push_back(c.name() + ": Operations.def gives a reason why this has no case, but it works");
  for (const std::string &problem : problems)
    fmt::print("FAILED {}\n", problem);
  failed += int(problems.size());
  printTable(cases, outcome);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  fmt::print("{} cases on {} with {} threads in {:.1f} s\n", cases.size(), device->name(), options.threads, seconds);
  fmt::print("{} passed, {} failed\n", cases.size() + problems.size() - size_t(failed), failed);
  return failed ? 1 : 0;
}
