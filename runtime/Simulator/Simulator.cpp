//===- Simulator.cpp - the functions that simulated code calls ------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// emitSimulatedObject (compiler/Codegen/SimulatedObject.cpp) writes the calls; names and types here must be those there.
//
#include "runtime/Simulator/Simulator.h"

#include "runtime/Cpu/HostLaunch.h"
#include "runtime/Simulator/PtxText.h"
#include "runtime/Support/NarrowFloat.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>

namespace tessera::simulator {
namespace {

/// Texts live as long as the process: a launch that failed hands one out after its code is gone.
const char *keep(const std::string &text) {
  static std::mutex mutex;
  static std::set<std::string> kept;
  std::lock_guard<std::mutex> lock(mutex);
  return kept.insert(text).first->c_str();
}

/// The decoded program of a text, the same for equal ones.
const PtxProgram &programOf(const char *text) {
  thread_local std::map<const char *, const PtxProgram *> seen; // by address: cheaper than by content
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<const PtxProgram>, std::less<>> decoded;
  const PtxProgram *&program = seen[text];
  // Code that was unloaded may have left its address to another text.
  if (!program || program->text != text) {
    std::lock_guard<std::mutex> lock(mutex);
    auto &slot = decoded[text];
    if (!slot)
      slot = std::make_unique<const PtxProgram>(decode(text));
    program = slot.get();
  }
  return *program;
}

//===----------------------------------------------------------------------===//
// Entry and thread
//===----------------------------------------------------------------------===//

/// Programs first <= p < last of a kernel, for its entry point.
void runPrograms(Block::Body body, const uint64_t *slots, int64_t first, int64_t last, void *scratch, int32_t threads,
                 int64_t sharedBytes) {
  HostStatus status;
  std::memcpy(&status, scratch, sizeof(status));
  for (int64_t program = first; program < last && !status.assertion; ++program) {
    Block &block = Block::current();
    if (block.run(body, slots, program, threads, sharedBytes))
      continue;
    status.assertion = HostStatus::kStopped;
    status.program = program;
    status.reason = keep(block.fault());
    std::memcpy(scratch, &status, sizeof(status));
  }
}

int32_t threadNumber() { return Block::current().thread(); }
int32_t programNumber() { return int32_t(Block::current().program()); }
void *sharedMemory() { return Block::current().shared(); }
void barrier() { Block::current().barrier(); }
void runText(const char *text, uint64_t *operands) { execute(Block::current(), programOf(text), operands); }

//===----------------------------------------------------------------------===//
// shfl.sync
//===----------------------------------------------------------------------===//

enum class Shuffle : uint64_t { Up, Down, Xor, Index };

/// Operands of a lane: kind, value (and result), distance, clamp.
void shuffleTogether(Block &block, const void *, uint64_t *const *lanes) {
  uint64_t values[kLanes];
  for (int lane = 0; lane < kLanes; ++lane)
    values[lane] = lanes[lane][1];
  for (int lane = 0; lane < kLanes; ++lane) {
    uint64_t *own = lanes[lane];
    if (own[0] != lanes[0][0])
      block.fail("lanes of a warp shuffle in different ways");
    int by = int(own[2] & 31), clamp = int(own[3] & 31), segment = int(own[3] >> 8 & 31);
    int limit = (lane & segment) | (clamp & ~segment), lowest = lane & segment, from = lane;
    switch (Shuffle(own[0])) {
    case Shuffle::Up:
      from = lane - by >= limit ? lane - by : lane;
      break;
    case Shuffle::Down:
      from = lane + by <= limit ? lane + by : lane;
      break;
    case Shuffle::Xor:
      from = (lane ^ by) <= limit ? lane ^ by : lane;
      break;
    case Shuffle::Index:
      from = (lowest | (by & ~segment)) <= limit ? lowest | (by & ~segment) : lane;
      break;
    }
    own[1] = values[from];
  }
}

int32_t shuffle(int32_t kind, int32_t value, int32_t by, int32_t clamp) {
  uint64_t operands[] = {uint64_t(kind), uint32_t(value), uint32_t(by), uint32_t(clamp)};
  Block::current().meet("shfl.sync", nullptr, operands, shuffleTogether);
  return int32_t(operands[1]);
}

//===----------------------------------------------------------------------===//
// Approximate functions and conversions
//===----------------------------------------------------------------------===//

/// .ftz: subnormal numbers are zeros of their sign.
float flush(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

float exp2Flushed(float x) { return flush(float(std::exp2(double(flush(x))))); }
float exp2Whole(float x) { return float(std::exp2(double(x))); }
float rsqrtFlushed(float x) { return flush(float(1.0 / std::sqrt(double(flush(x))))); }
float rsqrtWhole(float x) { return float(1.0 / std::sqrt(double(x))); }

/// What the host's back end calls where it lacks an instruction: a bf16 is returned in the low bits of a vector register, like a float.
float roundToBrainFloat(float x) { return std::bit_cast<float>(narrow(x, kBF16)); }
float roundDoubleToBrainFloat(double x) { return std::bit_cast<float>(narrow(x, kBF16)); }

} // namespace

std::vector<Symbol> symbols() {
  auto name = [](const char *name, auto *function) { return Symbol{name, reinterpret_cast<void *>(function)}; };
  return {name("tessera_sim_run", runPrograms),         name("tessera_sim_thread", threadNumber),
          name("tessera_sim_program", programNumber),   name("tessera_sim_shared", sharedMemory),
          name("tessera_sim_barrier", barrier),         name("tessera_sim_text", runText),
          name("tessera_sim_shuffle", shuffle),         name("tessera_sim_ex2_ftz", exp2Flushed),
          name("tessera_sim_ex2", exp2Whole),           name("tessera_sim_rsqrt_ftz", rsqrtFlushed),
          name("tessera_sim_rsqrt", rsqrtWhole),        name("__truncsfbf2", roundToBrainFloat),
          name("__truncdfbf2", roundDoubleToBrainFloat)};
}

} // namespace tessera::simulator
