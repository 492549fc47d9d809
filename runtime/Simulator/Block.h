//===- Block.h - the threads of one program as fibers ---------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A thread runs until it must wait: for the other lanes of its warp at a warp instruction, or for the other threads at a barrier.  Then another one
// runs.  All of it happens on one thread of the host, so that nothing here is locked; several programs run side by side on several.
//
#ifndef TESSERA_RUNTIME_SIMULATOR_BLOCK_H
#define TESSERA_RUNTIME_SIMULATOR_BLOCK_H

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <ucontext.h>
#include <vector>

namespace tessera::simulator {

inline constexpr int kLanes = 32;

/// A copy from global to shared memory that may still be under way.
struct AsyncCopy {
  uint32_t target;     ///< address in shared memory
  const void *source;  ///< address in global memory
  int bytes, filled;   ///< bytes copied; bytes written, zeros after the copied ones
  bool isDone = false; ///< it happened as soon as it was issued
};

class Block {
public:
  using Body = void (*)(const uint64_t *slots);
  /// What a warp does together, on the operands of its lanes.
  using Together = void (*)(Block &block, const void *how, uint64_t *const *lanes);

  /// The one of this thread of the host.
  static Block &current();
  ~Block();

  /// Runs a program to its end; false when it failed, see fault().
  bool run(Body body, const uint64_t *slots, int64_t program, int threads, int64_t sharedBytes);
  const std::string &fault() const { return message; }

  // What the code of a thread asks for.
  int thread() const { return running; }
  int64_t program() const { return number; }
  void *shared() const { return sharedMemory; }
  /// Waits until the 32 lanes of the warp are here; the last one does `together` for all.  `name` tells instructions apart.
  void meet(const char *name, const void *how, uint64_t *operands, Together together);
  void barrier();
  void copyLater(AsyncCopy copy);
  void commitCopies();
  /// Finishes all but the newest `pending` committed groups of the thread.
  void waitForCopies(int pending);
  /// Ends the program.  `why` says what is wrong with it.
  [[noreturn]] void fail(std::string why);

private:
  struct Fiber {
    void *stack = nullptr;
    bool started = false;
    ucontext_t origin;
    jmp_buf place;
    std::vector<AsyncCopy> open;                   ///< issued and not committed
    std::vector<std::vector<AsyncCopy>> committed; ///< oldest first
  };
  struct Warp {
    uint32_t ready = 0, arrived = 0; ///< lanes, a bit each
    const char *name = nullptr;
    const void *how = nullptr;
    uint64_t *operands[kLanes];
  };

  static void enter();
  void prepare(int threads, int64_t sharedBytes);
  void finish();
  void yield();
  [[noreturn]] void resume(int thread);
  int chooseNext();
  uint32_t random();
  void perform(AsyncCopy &copy);

  std::vector<Fiber> fibers;
  std::vector<Warp> warps;
  Body body = nullptr;
  const uint64_t *slots = nullptr;
  int64_t number = 0;
  int count = 0, running = 0, atBarrier = 0, ended = 0;
  bool preempt = false;
  uint64_t state = 0;
  void *sharedMemory = nullptr;
  int64_t sharedSize = 0, sharedCapacity = 0;
  jmp_buf outside;
  std::string message;
};

} // namespace tessera::simulator
#endif // TESSERA_RUNTIME_SIMULATOR_BLOCK_H
