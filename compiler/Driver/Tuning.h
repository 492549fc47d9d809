//===- Tuning.h - the choice of a schedule from a kernel's tune block ----------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The candidates are the product of the block's lists; what is bound explicitly is no choice.  Each is compiled as far as its resources are
// known; what does not fit is rejected with the reason, the cheapest of the rest is taken.  The choice is a function of the compiler, the
// target and the bindings, of nothing measured and of no extent that is only known at launch.
//
// The model compares candidates of one kernel on one target; its unit is meaningless.  A product's iteration takes as long as the slowest of
// tensor cores, reads of shared memory and loads, plus what its barriers and the wait for data leave uncovered by other resident blocks.  A
// kernel without products takes the time of its bytes, stretched where few blocks or few bytes in flight leave the memory idle.
// Constants are fits to docs/performance.md.
//
#ifndef TESSERA_COMPILER_DRIVER_TUNING_H
#define TESSERA_COMPILER_DRIVER_TUNING_H

#include "compiler/Analysis/ResourceEstimate.h"
#include "compiler/Driver/Compiler.h"
#include "compiler/Frontend/AST.h"
#include "compiler/Target/Target.h"

#include <functional>

namespace tessera {

/// One way to bind what the tune block leaves open.
struct Candidate {
  std::vector<Binding> bindings; ///< `KERNEL.NAME=VALUE`
  int warps = 0, stages = 0;     ///< 0: as without a tune block
  std::string text() const;      ///< `BM = 128, stages = 3`
};

/// What came of compiling a candidate: a reason against it, or what it uses.
struct Trial {
  std::string rejected;
  ResourceEstimate use;
};

struct TuningChoice {
  Candidate best;
  std::string report; ///< why this one, and what was rejected
};

/// The candidates of a block that passed the check of names.  T0104 for one that is no list of values, or has too many.
std::optional<std::vector<Candidate>> candidatesOf(const ast::Tune &tune, const ast::Kernel &kernel,
                                                   const CompileOptions &options, std::vector<Diagnostic> &diagnostics);

/// The cost of a candidate; nullopt with the reason in `why` where it does not fit the target.
std::optional<double> costOf(const ResourceEstimate &use, const TargetInfo &target, std::string &why);

/// Tries all; T0502 with the reasons where none is left.
std::optional<TuningChoice> choose(const ast::Tune &tune, const ast::Kernel &kernel,
                                   const std::vector<Candidate> &candidates, const TargetInfo &target,
                                   const std::function<Trial(const Candidate &)> &attempt, const std::string &file,
                                   std::vector<Diagnostic> &diagnostics);

/// What a kernel uses, a line and one for each buffer.
std::string describeResources(const std::string &kernel, const ResourceEstimate &use);

} // namespace tessera
#endif // TESSERA_COMPILER_DRIVER_TUNING_H
