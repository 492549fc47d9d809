//===- PtxText.h - the instructions that the lowering writes as text ------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A text of inline assembly is decoded once into statements and then executed for every thread.  Registers and operands are 64 bits; a narrower one
// stands in the low bits.
//
#ifndef TESSERA_RUNTIME_SIMULATOR_PTXTEXT_H
#define TESSERA_RUNTIME_SIMULATOR_PTXTEXT_H

#include "runtime/Simulator/Block.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::simulator {

/// `.f32`, `.b16`, `.bf16`: f float, B bfloat, s signed, u unsigned, b bits.
struct PtxType {
  char kind = 'b';
  int bits = 32;
};

struct PtxValue {
  enum Kind : uint8_t { Operand, Register, Immediate } kind = Immediate;
  int64_t number = 0; ///< of the operand or register, or the value itself
};

/// `$0`, `[$1]` or `{$0, $1}`.
struct PtxArgument {
  std::vector<PtxValue> values;
  bool isMemory = false;
};

struct PtxStatement;
struct PtxProgram;

/// Registers that a text may declare.
inline constexpr size_t kRegisters = 16;

/// What a running thread has: operands of the text, results first, and registers.
struct PtxFrame {
  Block &block;
  const PtxProgram &program;
  uint64_t *operands;
  uint64_t registers[kRegisters];

  uint64_t read(const PtxValue &value) const;
  void write(const PtxValue &value, uint64_t bits, int width);
};

struct PtxStatement {
  using Run = void (*)(PtxFrame &frame, const PtxStatement &statement);
  Run run = nullptr;
  std::vector<std::string> parts; ///< the opcode, cut at its points
  PtxType type;                   ///< the last part that is one
  std::vector<PtxArgument> arguments;
  bool isGuarded = false, isNegated = false;
  PtxValue guard;
  int target = -1; ///< of a branch: the statement it goes to

  bool has(std::string_view part) const;
};

struct PtxProgram {
  std::string text, error; ///< `error`: why it cannot be executed
  std::vector<PtxStatement> statements;
};

/// Never fails: what is not understood is an error of the result.
PtxProgram decode(std::string_view text);

/// What executes an opcode; null for an unknown one.  (Instructions.cpp)
PtxStatement::Run findInstruction(const std::vector<std::string> &parts);

/// Runs all of it for the running thread.
void execute(Block &block, const PtxProgram &program, uint64_t *operands);

// Warp instructions (WarpInstructions.cpp).
void runMma(PtxFrame &frame, const PtxStatement &statement);
void runLdmatrix(PtxFrame &frame, const PtxStatement &statement);

} // namespace tessera::simulator
#endif // TESSERA_RUNTIME_SIMULATOR_PTXTEXT_H
