//===- ThreadPool.cpp - a range of work over the cores -------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Workers sleep on a condition until the generation counter moves, then take chunks off an atomic cursor.  The caller takes chunks
// too and waits until every worker that joined has left, so the body may live on the caller's stack.
//
#include "runtime/Cpu/ThreadPool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace tessera {

struct ThreadPool::State {
  std::mutex oneRangeAtATime;
  std::mutex mutex;
  std::condition_variable wake, done;
  // Guarded by `mutex`:
  uint64_t generation = 0;
  int busy = 0;
  bool stopping = false;
  const std::function<void(int, int64_t, int64_t)> *body = nullptr;
  int64_t count = 0, chunk = 1;
  // Shared while a range runs:
  std::atomic<int64_t> cursor{0};
  std::vector<std::thread> workers;

  void drain(int worker) {
    for (;;) {
      int64_t first = cursor.fetch_add(chunk, std::memory_order_relaxed);
      if (first >= count)
        return;
      (*body)(worker, first, std::min(count, first + chunk));
    }
  }
  void work(int worker);
};

namespace {
/// The pool whose body this thread runs: a nested range must not wait for itself.
thread_local const void *insideOf = nullptr;
} // namespace

void ThreadPool::State::work(int worker) {
  insideOf = this;
  uint64_t seen = 0;
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    wake.wait(lock, [&] { return stopping || generation != seen; });
    if (stopping)
      return;
    seen = generation;
    lock.unlock();
    drain(worker);
    lock.lock();
    if (--busy == 0)
      done.notify_one();
  }
}

ThreadPool::ThreadPool(int threads) : state(std::make_unique<State>()) {
  int wanted = threads > 0 ? threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  state->workers.reserve(wanted - 1);
  for (int worker = 1; worker < wanted; ++worker) {
    try {
      state->workers.emplace_back([s = state.get(), worker] { s->work(worker); });
    } catch (const std::system_error &) {
      break; // the library reports a refused thread only this way; fewer threads give the same results
    }
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->stopping = true;
  }
  state->wake.notify_all();
  for (std::thread &worker : state->workers)
    worker.join();
}

int ThreadPool::size() const { return static_cast<int>(state->workers.size()) + 1; }

void ThreadPool::parallelFor(int64_t count, const std::function<void(int, int64_t, int64_t)> &body) {
  if (count <= 0)
    return;
  if (insideOf == state.get()) {
    body(0, 0, count);
    return;
  }
  std::lock_guard<std::mutex> turn(state->oneRangeAtATime);
  const void *outer = std::exchange(insideOf, state.get());
  bool alone = count == 1 || state->workers.empty();
  if (alone) {
    body(0, 0, count);
  } else {
    {
      std::lock_guard<std::mutex> lock(state->mutex);
      state->body = &body;
      state->count = count;
      // Eight chunks a thread balance unequal programs; the cap keeps cursor + chunk * threads inside 64 bits.
      state->chunk = std::clamp<int64_t>(count / (int64_t(size()) * 8), 1, int64_t(1) << 32);
      state->cursor.store(0, std::memory_order_relaxed);
      state->busy = static_cast<int>(state->workers.size());
      ++state->generation;
    }
    state->wake.notify_all();
    state->drain(0);
    std::unique_lock<std::mutex> lock(state->mutex);
    state->done.wait(lock, [&] { return state->busy == 0; });
    state->body = nullptr;
  }
  insideOf = outer;
}

} // namespace tessera
