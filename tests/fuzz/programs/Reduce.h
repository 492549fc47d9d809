//===- Reduce.h - a smaller program that still fails -------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
#ifndef TESSERA_TESTS_FUZZ_PROGRAMS_REDUCE_H
#define TESSERA_TESTS_FUZZ_PROGRAMS_REDUCE_H

#include "tests/fuzz/programs/Program.h"

#include <functional>

namespace tessera::fuzz {

/// Leaves out statements and replaces expressions by their parts or by constants, as long as `stillFails` holds.
Program reduce(Program program, const std::function<bool(const Program &)> &stillFails);

} // namespace tessera::fuzz
#endif // TESSERA_TESTS_FUZZ_PROGRAMS_REDUCE_H
