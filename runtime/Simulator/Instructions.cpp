//===- Instructions.cpp - instructions of one thread ----------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Semantics after PTX ISA 9.0, chapter "Instruction Set".  Programs that run side by side share global memory, so atomic operations take a lock.
//
#include "runtime/Simulator/PtxText.h"

#include "runtime/Support/NarrowFloat.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

namespace tessera::simulator {
namespace {

int64_t signExtend(uint64_t bits, int width) {
  return width == 64 ? int64_t(bits) : int64_t(bits << (64 - width)) >> (64 - width);
}

double toDouble(uint64_t bits, PtxType type) {
  if (type.kind == 'B')
    return widen(uint32_t(bits & 0xFFFF), kBF16);
  if (type.bits == 16)
    return widen(uint32_t(bits & 0xFFFF), kF16);
  if (type.bits == 32)
    return std::bit_cast<float>(uint32_t(bits));
  return std::bit_cast<double>(bits);
}

uint64_t fromDouble(double value, PtxType type) {
  if (type.kind == 'B')
    return narrow(value, kBF16);
  if (type.bits == 16)
    return narrow(value, kF16);
  if (type.bits == 32)
    return std::bit_cast<uint32_t>(float(value));
  return std::bit_cast<uint64_t>(value);
}

bool isFloat(PtxType type) { return type.kind == 'f' || type.kind == 'B'; }

/// The smaller or larger; NaN wins, and -0 is below 0.
double extremum(double a, double b, bool isMin) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  if (a == b)
    return std::signbit(a) == isMin ? a : b;
  return (a < b) == isMin ? a : b;
}

uint64_t combine(std::string_view name, PtxType type, uint64_t a, uint64_t b) {
  if (name == "and")
    return a & b;
  if (name == "or")
    return a | b;
  if (name == "xor")
    return a ^ b;
  if (name == "exch")
    return b;
  bool isMin = name == "min";
  if (name == "add") // of two numbers of 32 bits or fewer, the sum in double is exact enough to be rounded once
    return isFloat(type) ? fromDouble(toDouble(a, type) + toDouble(b, type), type) : a + b;
  if (isFloat(type))
    return fromDouble(extremum(toDouble(a, type), toDouble(b, type), isMin), type);
  if (type.kind == 's')
    return (signExtend(a, type.bits) < signExtend(b, type.bits)) == isMin ? a : b;
  return (a < b) == isMin ? a : b;
}

/// The address of a memory argument, which must be a multiple of what is accessed there.
char *address(PtxFrame &frame, const PtxArgument &argument, int bytes, bool isShared) {
  uint64_t place = frame.read(argument.values[0]);
  if (isShared)
    place = uint32_t(place);
  if (place % uint64_t(bytes))
    frame.block.fail(
        fmt::format("'{}' at address {:#x}, which is no multiple of {}", frame.program.text, place, bytes));
  return reinterpret_cast<char *>(uintptr_t(place));
}

uint64_t loadBits(const char *place, int bits) {
  uint64_t value = 0;
  std::memcpy(&value, place, size_t(bits / 8));
  return value;
}

void storeBits(char *place, uint64_t value, int bits) { std::memcpy(place, &value, size_t(bits / 8)); }

std::mutex &atomicLock() {
  static std::mutex mutex;
  return mutex;
}

void runLoad(PtxFrame &frame, const PtxStatement &s) {
  const auto &results = s.arguments[0].values;
  int bytes = s.type.bits / 8;
  char *place = address(frame, s.arguments[1], bytes * int(results.size()), s.has("shared"));
  std::unique_lock<std::mutex> lock(atomicLock(), std::defer_lock);
  if (s.has("relaxed"))
    lock.lock();
  for (size_t i = 0; i < results.size(); ++i)
    frame.write(results[i], loadBits(place + i * size_t(bytes), s.type.bits), s.type.bits);
}

void runStore(PtxFrame &frame, const PtxStatement &s) {
  const auto &values = s.arguments[1].values;
  int bytes = s.type.bits / 8;
  char *place = address(frame, s.arguments[0], bytes * int(values.size()), s.has("shared"));
  for (size_t i = 0; i < values.size(); ++i)
    storeBits(place + i * size_t(bytes), frame.read(values[i]), s.type.bits);
}

/// `red` and `atom`: name and type are the last parts.
void runAtomic(PtxFrame &frame, const PtxStatement &s) {
  bool returns = s.parts[0] == "atom", isCas = s.has("cas");
  std::string_view name;
  for (const char *each : {"add", "min", "max", "and", "or", "xor", "exch"})
    if (s.has(each))
      name = each;
  size_t next = returns;
  char *place = address(frame, s.arguments[next++], s.type.bits / 8, s.has("shared"));
  uint64_t first = frame.read(s.arguments[next++].values[0]), old;
  uint64_t mask = s.type.bits == 64 ? ~uint64_t(0) : (uint64_t(1) << s.type.bits) - 1;
  {
    std::lock_guard<std::mutex> lock(atomicLock());
    old = loadBits(place, s.type.bits);
    if (!isCas)
      storeBits(place, combine(name, s.type, old, first & mask), s.type.bits);
    else if (old == (first & mask))
      storeBits(place, frame.read(s.arguments[next].values[0]), s.type.bits);
  }
  if (returns)
    frame.write(s.arguments[0].values[0], old, s.type.bits);
}

void runCopy(PtxFrame &frame, const PtxStatement &s) {
  int filled = int(s.arguments[2].values[0].number);
  int64_t bytes = s.arguments.size() > 3 ? signExtend(frame.read(s.arguments[3].values[0]), 32) : filled;
  if (bytes < 0 || bytes > filled)
    frame.block.fail(fmt::format("'{}' of {} bytes", frame.program.text, bytes));
  char *target = address(frame, s.arguments[0], filled, true);
  const char *source = address(frame, s.arguments[1], filled, false);
  frame.block.copyLater({uint32_t(reinterpret_cast<uintptr_t>(target)), source, int(bytes), filled});
}

void runCommit(PtxFrame &frame, const PtxStatement &) { frame.block.commitCopies(); }
void runWait(PtxFrame &frame, const PtxStatement &s) {
  frame.block.waitForCopies(int(s.arguments[0].values[0].number));
}

void runMove(PtxFrame &frame, const PtxStatement &s) {
  frame.write(s.arguments[0].values[0], frame.read(s.arguments[1].values[0]), s.type.bits);
}

void runBinary(PtxFrame &frame, const PtxStatement &s) {
  uint64_t mask = s.type.bits == 64 ? ~uint64_t(0) : (uint64_t(1) << s.type.bits) - 1;
  uint64_t a = frame.read(s.arguments[1].values[0]) & mask, b = frame.read(s.arguments[2].values[0]) & mask;
  frame.write(s.arguments[0].values[0], combine(s.parts[0], s.type, a, b), s.type.bits);
}

void runNot(PtxFrame &frame, const PtxStatement &s) {
  frame.write(s.arguments[0].values[0], ~frame.read(s.arguments[1].values[0]), s.type.bits);
}

void runShiftLeft(PtxFrame &frame, const PtxStatement &s) {
  uint64_t by = frame.read(s.arguments[2].values[0]);
  frame.write(s.arguments[0].values[0], by < uint64_t(s.type.bits) ? frame.read(s.arguments[1].values[0]) << by : 0,
              s.type.bits);
}

void runBitField(PtxFrame &frame, const PtxStatement &s) {
  uint64_t from = frame.read(s.arguments[2].values[0]), length = frame.read(s.arguments[3].values[0]);
  uint64_t field = frame.read(s.arguments[1].values[0]) >> from & ((uint64_t(1) << length) - 1);
  frame.write(s.arguments[0].values[0], s.type.kind == 's' ? uint64_t(signExtend(field, int(length))) : field,
              s.type.bits);
}

void runFma(PtxFrame &frame, const PtxStatement &s) {
  auto operand = [&](size_t i) { return toDouble(frame.read(s.arguments[i].values[0]), s.type); };
  frame.write(s.arguments[0].values[0], fromDouble(std::fma(operand(1), operand(2), operand(3)), s.type), s.type.bits);
}

void runCompare(PtxFrame &frame, const PtxStatement &s) {
  uint64_t a = frame.read(s.arguments[1].values[0]), b = frame.read(s.arguments[2].values[0]);
  const std::string &name = s.parts[1];
  auto decide = [&](auto x, auto y) {
    return name == "eq" ? x == y : name == "ne" ? x != y : name == "lt" ? x < y : x > y;
  };
  bool result;
  if (isFloat(s.type)) {
    double x = toDouble(a, s.type), y = toDouble(b, s.type);
    result = name == "nan" ? std::isnan(x) || std::isnan(y) : decide(x, y);
  } else if (s.type.kind == 's') {
    result = decide(signExtend(a, s.type.bits), signExtend(b, s.type.bits));
  } else {
    result = decide(a, b);
  }
  frame.write(s.arguments[0].values[0], result, 1);
}

void runSelect(PtxFrame &frame, const PtxStatement &s) {
  bool first = frame.read(s.arguments[3].values[0]) & 1;
  frame.write(s.arguments[0].values[0], frame.read(s.arguments[first ? 1 : 2].values[0]), s.type.bits);
}

/// f32 to tf32: to nearest, ties away from zero.
void runRoundTf32(PtxFrame &frame, const PtxStatement &s) {
  auto bits = uint32_t(frame.read(s.arguments[1].values[0]));
  if ((bits & 0x7F800000u) != 0x7F800000u)
    bits = (bits + 0x1000u) & ~0x1FFFu;
  frame.write(s.arguments[0].values[0], bits, 32);
}

void runNarrowInteger(PtxFrame &frame, const PtxStatement &s) {
  frame.write(s.arguments[0].values[0], frame.read(s.arguments[1].values[0]), 32);
}

void runBranch(PtxFrame &, const PtxStatement &) {} // execute() does it

} // namespace

PtxStatement::Run findInstruction(const std::vector<std::string> &parts) {
  std::string whole = fmt::format("{}", fmt::join(parts, "."));
  auto begins = [&](std::string_view start) { return whole.starts_with(start); };
  if (begins("ld.global.") || begins("ld.relaxed.gpu.global.") || begins("ld.shared."))
    return runLoad;
  if (begins("st.global.") || begins("st.shared."))
    return runStore;
  if (begins("red.") || begins("atom."))
    return runAtomic;
  if (begins("cp.async.cg.shared.global") || begins("cp.async.ca.shared.global"))
    return runCopy;
  if (whole == "cp.async.commit_group")
    return runCommit;
  if (whole == "cp.async.wait_group")
    return runWait;
  if (begins("ldmatrix.sync.aligned.m8n8."))
    return runLdmatrix;
  if (begins("mma.sync.aligned."))
    return runMma;
  if (begins("mov."))
    return runMove;
  if (begins("and.") || begins("or.") || begins("xor.") || begins("add.") || begins("min.") || begins("max."))
    return runBinary;
  if (begins("not."))
    return runNot;
  if (begins("shl."))
    return runShiftLeft;
  if (begins("bfe."))
    return runBitField;
  if (begins("fma.rn."))
    return runFma;
  if (begins("setp."))
    return runCompare;
  if (begins("selp."))
    return runSelect;
  if (whole == "cvt.rna.tf32.f32")
    return runRoundTf32;
  if (whole == "cvt.u32.u64")
    return runNarrowInteger;
  if (whole == "bra")
    return runBranch;
  return nullptr;
}

} // namespace tessera::simulator
