//===- Tuning.cpp - the choice of a schedule from a kernel's tune block --------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
#include "compiler/Driver/Tuning.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tessera {
namespace {

constexpr size_t kMostCandidates = 256;

// Rates of an SM, a clock.  Only their ratios matter.
constexpr double kFlops = 2600;              ///< mma.sync on 16-bit operands
constexpr double kPlainFlops = 200;          ///< fused multiply-adds
constexpr double kSharedBytes = 128;         ///< reads of shared memory
constexpr double kGlobalBytes = 25;          ///< memory behind the cache
constexpr double kCachedBytes = 48;          ///< operands of products, which neighbours load too
constexpr double kLatency = 800;             ///< clocks until loaded data arrives
constexpr double kBarrier = 20;              ///< clocks, and as many again for four warps
constexpr double kBytesInFlight = 24 * 1024; ///< that keep the memory busy

std::string listBuffers(const ResourceEstimate &use) {
  std::string text;
  for (const ResourceEstimate::Buffer &buffer : use.buffers)
    text += fmt::format("{}{} bytes for {}{}", text.empty() ? "" : ", ", buffer.bytes, buffer.tile,
                        buffer.stages > 1 ? fmt::format(" in {} stages", buffer.stages) : "");
  return text;
}

std::optional<std::string> literalText(const ast::Expr &expr) {
  switch (expr.kind) {
  case ast::Expr::Kind::Integer:
    return std::to_string(expr.as<ast::IntegerExpr>().value);
  case ast::Expr::Kind::Bool:
    return expr.as<ast::BoolExpr>().value ? "true" : "false";
  case ast::Expr::Kind::Name:
    return expr.as<ast::NameExpr>().name;
  default:
    return std::nullopt;
  }
}

Diagnostic problem(const ast::SourceRange &range, const std::string &file, const char *code, std::string message,
                   std::string remedy) {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.place = {file, range.line, range.column};
  diagnostic.length = std::max(1, int(range.end) - int(range.begin));
  diagnostic.message = std::move(message);
  diagnostic.remedy = std::move(remedy);
  return diagnostic;
}

} // namespace

std::string Candidate::text() const {
  std::vector<std::string> parts;
  for (const Binding &binding : bindings)
    parts.push_back(fmt::format("{} = {}", binding.name.substr(binding.name.find('.') + 1), binding.value));
  if (warps)
    parts.push_back(fmt::format("warps = {}", warps));
  if (stages)
    parts.push_back(fmt::format("stages = {}", stages));
  return parts.empty() ? "the defaults" : fmt::format("{}", fmt::join(parts, ", "));
}

std::optional<std::vector<Candidate>> candidatesOf(const ast::Tune &tune, const ast::Kernel &kernel,
                                                   const CompileOptions &options,
                                                   std::vector<Diagnostic> &diagnostics) {
  std::vector<Candidate> list(1);
  for (const ast::TuneEntry &entry : tune.entries) {
    const std::string &name = entry.name.name;
    bool isWarps = name == "warps", isStages = name == "stages";
    bool isParameter = llvm::any_of(kernel.staticParams, [&](const auto &p) { return p.name == name; });
    if (!isParameter && !isWarps && !isStages) {
      // Choices that this version's schedules do not have; any other word is a slip.
      static constexpr std::string_view kWithoutEffect[] = {"cluster", "roles", "raster", "persistent", "split"};
      if (llvm::is_contained(kWithoutEffect, name))
        continue;
      diagnostics.push_back(problem(entry.name.range, options.sourceName, "T0102",
                                    fmt::format("'{}' has no compile-time parameter '{}'", kernel.name, name),
                                    "tune a parameter in < >, or one of stages, warps, cluster"));
      return std::nullopt;
    }
    bool isBound = (isWarps && options.warps) || (isStages && options.stages) ||
                   llvm::any_of(options.bindings,
                                [&](const Binding &b) { return b.name == name || b.name == kernel.name + "." + name; });
    if (isBound)
      continue;
    std::vector<Candidate> longer;
    for (const Candidate &candidate : list)
      for (const ast::ExprPtr &value : entry.values) {
        std::optional<std::string> text = literalText(*value);
        bool isNumber = value->kind == ast::Expr::Kind::Integer;
        uint64_t number = isNumber ? value->as<ast::IntegerExpr>().value : 0;
        if (!text || ((isWarps || isStages) && (number < 1 || number > (isWarps ? 32 : 16))) ||
            (isWarps && (number & (number - 1)) != 0)) {
          diagnostics.push_back(problem(value->range, options.sourceName, "T0104",
                                        fmt::format("'{}' takes {} here", name,
                                                    isWarps    ? "powers of two up to 32"
                                                    : isStages ? "numbers from 1 to 16"
                                                               : "numbers, true, false, types and functions by name"),
                                        "list the values: " + name + " in [...]"));
          return std::nullopt;
        }
        longer.push_back(candidate);
        if (isWarps)
          longer.back().warps = int(number);
        else if (isStages)
          longer.back().stages = int(number);
        else
          longer.back().bindings.push_back({kernel.name + "." + name, *text});
        if (longer.size() > kMostCandidates) {
          diagnostics.push_back(problem(tune.kernelRange, options.sourceName, "T0104",
                                        fmt::format("the block has more than {} candidates", kMostCandidates),
                                        "shorten its lists, or bind parameters with -D"));
          return std::nullopt;
        }
      }
    list = std::move(longer);
  }
  return list;
}

std::optional<double> costOf(const ResourceEstimate &use, const TargetInfo &target, std::string &why) {
  int64_t threads = use.warps * 32;
  if (threads > target.maxThreadsPerBlock) {
    why = fmt::format("{} threads, the target allows {}", threads, target.maxThreadsPerBlock);
    return std::nullopt;
  }
  int64_t limit = std::min<int64_t>(target.maxRegistersPerThread, target.registersPerSm / threads);
  if (use.registers > limit) {
    why = fmt::format("about {} registers a thread, {} threads may have {}", use.registers, threads, limit);
    return std::nullopt;
  }
  if (use.sharedBytes > target.maxSharedPerBlock) {
    why = fmt::format("{} bytes of shared memory, the target allows {}: {}", use.sharedBytes, target.maxSharedPerBlock,
                      listBuffers(use));
    return std::nullopt;
  }
  double resident =
      std::min({double(target.blocksPerSm), double(target.warpsPerSm / use.warps),
                std::floor(double(target.registersPerSm) / double(threads * std::max<int64_t>(use.registers, 32))),
                std::floor(double(target.maxSharedPerSm) / double(use.sharedBytes + target.reservedSharedPerBlock))});
  resident = std::max(resident, 1.0);
  double barrier = kBarrier * (1 + double(use.warps) / 4);
  if (use.flops > 0) {
    int64_t stages = 1;
    for (const ResourceEstimate::Buffer &buffer : use.buffers)
      stages = std::max(stages, buffer.stages);
    bool onTensorCores = use.sharedRead > 0 && target.bf16Mma;
    double work = std::max(
        {use.flops / (onTensorCores ? kFlops : kPlainFlops), use.sharedRead / kSharedBytes, use.loaded / kCachedBytes});
    // What other blocks and the stages ahead do not cover.
    double wait = std::max(0.0, kLatency - work * (double(stages) - 1 + resident - 1));
    double step = work + (double(use.barriersInLoop) * barrier + wait) / resident;
    return step / use.flops * 1e6;
  }
  double bytes = std::max(use.loaded + use.stored, 1.0);
  double moved = bytes / kGlobalBytes;
  double busy = std::min(1.0, resident * std::max(use.loaded, use.stored) / kBytesInFlight);
  double phases = (resident + 0.2) / resident; // one block alone loads, computes and stores in turn
  double fixed = (200 + double(use.barriers + use.barriersInLoop) * barrier) / resident;
  double exposed = 1 + 2 / (resident * double(use.warps)); // arithmetic that too few warps do not hide
  return (moved * phases / std::max(busy, 0.05) + fixed) / moved * exposed;
}

std::optional<TuningChoice> choose(const ast::Tune &tune, const ast::Kernel &kernel,
                                   const std::vector<Candidate> &candidates, const TargetInfo &target,
                                   const std::function<Trial(const Candidate &)> &attempt, const std::string &file,
                                   std::vector<Diagnostic> &diagnostics) {
  struct Scored {
    const Candidate *candidate;
    double cost;
  };
  std::vector<Scored> good;
  struct Rejected {
    const Candidate *candidate;
    std::string reason;
  };
  std::vector<Rejected> rejected;
  for (const Candidate &candidate : candidates) {
    Trial trial = attempt(candidate);
    std::optional<double> cost;
    if (trial.rejected.empty())
      cost = costOf(trial.use, target, trial.rejected);
    if (cost)
      good.push_back({&candidate, *cost});
    else
      rejected.push_back({&candidate, trial.rejected});
  }
  if (good.empty()) {
    Diagnostic diagnostic =
        problem(tune.kernelRange, file, "T0502",
                fmt::format("none of the {} candidates for '{}' fits {}", candidates.size(), kernel.name, target.name),
                "list smaller tiles or fewer stages");
    for (const Rejected &one : rejected)
      if (diagnostic.notes.size() < 8)
        diagnostic.notes.push_back({diagnostic.place, one.candidate->text() + ": " + one.reason});
    diagnostics.push_back(std::move(diagnostic));
    return std::nullopt;
  }
  // The first of equals: the order of the lists is the author's preference.
  std::stable_sort(good.begin(), good.end(), [](const Scored &a, const Scored &b) { return a.cost < b.cost; });
  TuningChoice choice{*good.front().candidate, {}};
  choice.report = fmt::format("{}: {}: the least estimated cost of {} candidates that fit, {} rejected\n", kernel.name,
                              choice.best.text(), good.size(), rejected.size());
  for (size_t i = 1; i < std::min<size_t>(good.size(), 4); ++i)
    choice.report +=
        fmt::format("  next: {}: {:.3f} times that\n", good[i].candidate->text(), good[i].cost / good[0].cost);
  // One line for each reason; the lists of a block are long, and many candidates fail alike.
  for (auto begin = rejected.begin(); begin != rejected.end();) {
    auto same = [&](const Rejected &other) { return other.reason == begin->reason; };
    auto end = std::find_if_not(begin, rejected.end(), same);
    choice.report += fmt::format("  rejected: {}{}: {}\n", begin->candidate->text(),
                                 end - begin > 1 ? fmt::format(" and {} more", end - begin - 1) : "", begin->reason);
    begin = end;
  }
  return choice;
}

std::string describeResources(const std::string &kernel, const ResourceEstimate &use) {
  std::string text = fmt::format(
      "{}: {} threads, {} bytes of shared memory, about {} registers a thread, {} conversions, "
      "barriers: {} outside of loops, {} in an iteration\n",
      kernel, use.warps * 32, use.sharedBytes, use.registers, use.conversions, use.barriers, use.barriersInLoop);
  for (const ResourceEstimate::Buffer &buffer : use.buffers)
    text += fmt::format("  {} bytes for {}{}\n", buffer.bytes, buffer.tile,
                        buffer.stages > 1 ? fmt::format(" in {} stages", buffer.stages) : "");
  return text;
}

} // namespace tessera
