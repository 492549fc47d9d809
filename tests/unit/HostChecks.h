//===- HostChecks.h - checks of the host target, each on its own ------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A check compiles a kernel, runs it and compares with loops of this file.  It returns what is wrong, or nothing; HostTest.cpp runs each without a fault and all
// of them with every planted fault.
//
#ifndef TESSERA_TESTS_UNIT_HOSTCHECKS_H
#define TESSERA_TESTS_UNIT_HOSTCHECKS_H

#include <string>
#include <vector>

namespace tessera::test {

struct HostCheck {
  const char *name;
  std::string (*run)(const std::string &fault);
};
/// Elementwise, memory and view checks; reductions, products and control flow.
const std::vector<HostCheck> &memoryChecks();
const std::vector<HostCheck> &tileChecks();

} // namespace tessera::test
#endif // TESSERA_TESTS_UNIT_HOSTCHECKS_H
