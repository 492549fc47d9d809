//===- ThreadPool.h - a range of work over the cores ---------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// One operation: run a function over 0..count in chunks, on the caller and the pool's threads, and return when all of it is done.
// Chunks are handed out on demand, so programs of unequal length balance.  Why not a library: docs/decisions/thread-pool.md.
//
#ifndef TESSERA_RUNTIME_CPU_THREADPOOL_H
#define TESSERA_RUNTIME_CPU_THREADPOOL_H

#include <cstdint>
#include <functional>
#include <memory>

namespace tessera {

/// Any number of threads may call parallelFor at once; their ranges run one after the other.
class ThreadPool {
public:
  /// `threads` counts the caller; 0 means one for each hardware thread.  Where the system refuses threads the pool has fewer.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// Threads that take part in a range, the caller included; at least 1.
  int size() const;

  /// Calls body(worker, first, last) for chunks that cover 0..count once; `worker` is below size() and no two calls with the same one
  /// run at the same time.  A call from inside a body runs on the calling thread alone.  `body` must not throw.
  void parallelFor(int64_t count, const std::function<void(int worker, int64_t first, int64_t last)> &body);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tessera
#endif // TESSERA_RUNTIME_CPU_THREADPOOL_H
