//===- Runner.h - compiles a random program everywhere and compares ----------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
#ifndef TESSERA_TESTS_FUZZ_PROGRAMS_RUNNER_H
#define TESSERA_TESTS_FUZZ_PROGRAMS_RUNNER_H

#include "runtime/Launch/Device.h"
#include "tests/fuzz/programs/Program.h"

#include <optional>

namespace tessera::fuzz {

struct RunOptions {
  std::vector<std::string> targets; ///< GPU targets to compile for, to PTX
  std::string ptxas;                ///< path of an assembler for the first of them; empty: none
  std::optional<Device> device;     ///< runs there too
};

/// What became of a program.  An empty `failure` means that everything agreed; `refusals` are codes of errors that a correct program may meet (it does not fit, this version
/// does not compile it), one a target.
struct Verdict {
  std::string failure; ///< its first word is the kind: rejected, wrong, differs, launch, ptxas
  std::vector<std::string> refusals;
};

Verdict check(const Program &program, const RunOptions &options);

} // namespace tessera::fuzz
#endif // TESSERA_TESTS_FUZZ_PROGRAMS_RUNNER_H
