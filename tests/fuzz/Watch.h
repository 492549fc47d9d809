//===- Watch.h - work in a child process that may die or stall ---------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A fuzzer's child works through its seeds; the parent sees it die or hang, takes down the seed, and starts the next child behind it.
//
#ifndef TESSERA_TESTS_FUZZ_WATCH_H
#define TESSERA_TESTS_FUZZ_WATCH_H

#include <cstdint>
#include <functional>
#include <string>

namespace tessera::fuzz {

/// What the child tells the parent; in shared memory, so that it survives the child.
struct Progress {
  volatile uint64_t seed = 0, done = 0;         ///< the seed at work; how many are finished
  volatile uint64_t failures = 0, refusals = 0; ///< counted by the child
  char text[4096] = {};                         ///< free for the two to agree on

  /// Mapped for this process and its children; null when there is no memory.
  static Progress *create();
};

/// Runs `body` in a child until it ends, dies, or spends more than `seconds` of the processor on a seed; says how it went, "" for well.
std::string watch(Progress &progress, int seconds, const std::function<void()> &body);

/// Calls `one` for every seed from `from` to `end` in children; a seed whose child died or hung is printed as `FAIL:`.  The number of such seeds.
uint64_t watchSeeds(Progress &progress, int seconds, uint64_t from, uint64_t end,
                    const std::function<void(uint64_t seed)> &one);

} // namespace tessera::fuzz
#endif // TESSERA_TESTS_FUZZ_WATCH_H
