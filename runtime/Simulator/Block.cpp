//===- Block.cpp - the threads of one program as fibers -------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A fiber begins through makecontext, which gives it a stack; from then on control moves with _setjmp and _longjmp, which do not ask the kernel as
// swapcontext does (20 ns instead of 600).  Fibers are kept: a finished one waits at the end of its loop for the next program.
//
#include "runtime/Simulator/Block.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <utility>

namespace tessera::simulator {
namespace {

/// Host code of a kernel keeps the registers of a thread on its stack.  Pages that are not touched cost nothing.
constexpr size_t kStackBytes = size_t(1) << 20;

void *mapMemory(size_t bytes, int flags) {
  void *memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

} // namespace

Block &Block::current() {
  thread_local Block block;
  return block;
}

Block::~Block() {
  for (Fiber &fiber : fibers)
    if (fiber.stack)
      munmap(fiber.stack, kStackBytes);
  if (sharedMemory)
    munmap(sharedMemory, size_t(sharedCapacity));
}

uint32_t Block::random() { // splitmix64
  uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  return uint32_t((z ^ (z >> 27)) >> 16);
}

void Block::prepare(int threads, int64_t sharedBytes) {
  count = threads;
  // Contexts must not move, so that a vector of them may only be made anew.
  if (int(fibers.size()) < threads) {
    for (Fiber &fiber : fibers)
      munmap(fiber.stack, kStackBytes);
    fibers = std::vector<Fiber>(size_t(threads));
    for (Fiber &fiber : fibers)
      if (!(fiber.stack = mapMemory(kStackBytes, MAP_STACK)))
        throw std::bad_alloc();
  }
  if (!sharedMemory || sharedCapacity < sharedBytes) {
    if (sharedMemory)
      munmap(sharedMemory, size_t(sharedCapacity));
    sharedCapacity = std::max<int64_t>(sharedBytes, 1 << 16);
    // Addresses in shared memory have 32 bits.
    sharedMemory = mapMemory(size_t(sharedCapacity), MAP_32BIT);
    if (!sharedMemory)
      throw std::bad_alloc();
  }
  sharedSize = sharedBytes;
  std::memset(sharedMemory, 0xFF, size_t(sharedBytes)); // NaN in every format
  warps.assign(size_t(threads / kLanes), Warp());
  for (Warp &warp : warps)
    warp.ready = ~0u;
  for (Fiber &fiber : fibers) {
    fiber.open.clear();
    fiber.committed.clear();
  }
  atBarrier = ended = 0;
  preempt = false;
  message.clear();
}

bool Block::run(Body newBody, const uint64_t *newSlots, int64_t program, int threads, int64_t sharedBytes) {
  body = newBody;
  slots = newSlots;
  number = program;
  state = uint64_t(program) * 0x2545F4914F6CDD1Du;
  prepare(threads, sharedBytes);
  running = int(random() % uint32_t(warps.size())) * kLanes;
  if (_setjmp(outside) == 0)
    resume(running);
  if (message.empty())
    return true;
  for (Fiber &fiber : fibers) // they stand in the middle of the program
    fiber.started = false;
  return false;
}

void Block::enter() {
  for (Block &block = current();;) {
    block.body(block.slots);
    block.finish();
  }
}

void Block::resume(int thread) {
  running = thread;
  Fiber &fiber = fibers[size_t(thread)];
  if (fiber.started)
    _longjmp(fiber.place, 1);
  fiber.started = true;
  getcontext(&fiber.origin);
  fiber.origin.uc_stack.ss_sp = fiber.stack;
  fiber.origin.uc_stack.ss_size = kStackBytes;
  fiber.origin.uc_link = nullptr;
  makecontext(&fiber.origin, &Block::enter, 0);
  setcontext(&fiber.origin);
  __builtin_unreachable();
}

int Block::chooseNext() {
  size_t at = size_t(running / kLanes), size = warps.size();
  if (preempt || !warps[at].ready)
    at = random() % size;
  preempt = false;
  for (size_t i = 0; i < size; ++i, at = at + 1 == size ? 0 : at + 1)
    if (warps[at].ready)
      return int(at) * kLanes + std::countr_zero(warps[at].ready);
  int meeting = 0;
  for (const Warp &warp : warps)
    meeting += std::popcount(warp.arrived);
  fail(fmt::format("of {} threads {} wait at a barrier, {} at a warp instruction, and {} have ended", count, atBarrier,
                   meeting, ended));
}

void Block::yield() {
  int next = chooseNext();
  if (next == running)
    return;
  if (_setjmp(fibers[size_t(running)].place) == 0)
    resume(next);
}

void Block::finish() {
  warps[size_t(running / kLanes)].ready &= ~(1u << (running % kLanes));
  ++ended;
  if (_setjmp(fibers[size_t(running)].place) == 0) {
    if (ended == count)
      _longjmp(outside, 1);
    resume(chooseNext());
  }
}

void Block::fail(std::string why) {
  message = std::move(why);
  _longjmp(outside, 1);
}

void Block::meet(const char *name, const void *how, uint64_t *operands, Together together) {
  Warp &warp = warps[size_t(running / kLanes)];
  uint32_t self = 1u << (running % kLanes);
  if (warp.arrived == 0) {
    warp.name = name;
    warp.how = how;
  } else if (warp.name != name || warp.how != how) {
    fail(fmt::format("lanes of warp {} are at different instructions: '{}' and '{}'", running / kLanes, warp.name,
                     name));
  }
  warp.operands[running % kLanes] = operands;
  warp.arrived |= self;
  warp.ready &= ~self;
  if (warp.arrived != ~0u)
    return yield();
  together(*this, how, warp.operands);
  warp.arrived = 0;
  warp.ready = ~0u;
  preempt = random() % 4 == 0;
  yield();
}

void Block::barrier() {
  warps[size_t(running / kLanes)].ready &= ~(1u << (running % kLanes));
  if (++atBarrier == count) {
    atBarrier = 0;
    for (Warp &warp : warps)
      warp.ready = ~0u;
    preempt = true;
  }
  yield();
}

void Block::perform(AsyncCopy &copy) {
  if (copy.isDone)
    return;
  copy.isDone = true;
  auto *target = reinterpret_cast<char *>(uintptr_t(copy.target));
  std::memcpy(target, copy.source, size_t(copy.bytes));
  std::memset(target + copy.bytes, 0, size_t(copy.filled - copy.bytes));
}

void Block::copyLater(AsyncCopy copy) {
  auto base = reinterpret_cast<uintptr_t>(sharedMemory);
  if (copy.target < base || copy.target + uintptr_t(copy.filled) > base + uintptr_t(sharedSize))
    fail("an asynchronous copy goes past the end of shared memory");
  if (random() % 2)
    perform(copy);
  fibers[size_t(running)].open.push_back(copy);
}

void Block::commitCopies() {
  Fiber &fiber = fibers[size_t(running)];
  fiber.committed.push_back(std::exchange(fiber.open, {}));
}

void Block::waitForCopies(int pending) {
  auto &groups = fibers[size_t(running)].committed;
  while (int(groups.size()) > pending) {
    for (AsyncCopy &copy : groups.front())
      perform(copy);
    groups.erase(groups.begin());
  }
}

} // namespace tessera::simulator
