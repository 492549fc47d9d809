//===- PtxText.cpp - the instructions that the lowering writes as text ----------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The grammar is the part of PTX ISA 9.0 that inline assembly uses: statements ended by `;`, guards, labels, `.reg`, braces around a scope.
//
#include "runtime/Simulator/PtxText.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <map>

namespace tessera::simulator {
namespace {

/// Words (with points), `$n`, numbers, and single characters.
std::vector<std::string> tokensOf(std::string_view text) {
  std::vector<std::string> tokens;
  auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
  for (size_t i = 0; i < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[i]))) {
      ++i;
      continue;
    }
    size_t end = i + 1;
    if (isWord(text[i]) || text[i] == '$' || text[i] == '-')
      while (end < text.size() && isWord(text[end]))
        ++end;
    tokens.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return tokens;
}

class Decoder {
public:
  explicit Decoder(std::string_view text) : tokens(tokensOf(text)) { program.text = text; }

  PtxProgram run() {
    while (at < tokens.size() && program.error.empty())
      statement();
    for (auto &[index, label] : branches) {
      auto found = labels.find(label);
      if (found == labels.end())
        complain("no label " + label);
      else
        program.statements[index].target = found->second;
    }
    return std::move(program);
  }

private:
  void complain(std::string why) {
    if (program.error.empty())
      program.error = std::move(why);
  }
  std::string next() { return at < tokens.size() ? tokens[at++] : std::string(); }
  bool take(std::string_view token) {
    if (at >= tokens.size() || tokens[at] != token)
      return false;
    ++at;
    return true;
  }

  void statement() {
    if (take("{") || take("}") || take(";"))
      return;
    if (take(".reg")) {
      next(); // the type: registers hold 64 bits
      while (at < tokens.size() && !take(";"))
        if (std::string name = next(); name != ",")
          registers.emplace(name, int64_t(registers.size()));
      if (registers.size() > kRegisters)
        complain("too many registers");
      return;
    }
    if (at + 1 < tokens.size() && tokens[at + 1] == ":") {
      labels[tokens[at]] = int(program.statements.size());
      at += 2;
      return;
    }
    PtxStatement made;
    if (take("@")) {
      made.isGuarded = true;
      made.isNegated = take("!");
      made.guard = value(next());
    }
    opcode(made, next());
    while (at < tokens.size() && !take(";")) {
      if (take(","))
        continue;
      if (made.parts[0] == "bra")
        branches.emplace_back(program.statements.size(), next());
      else
        made.arguments.push_back(argument());
    }
    made.run = findInstruction(made.parts);
    if (!made.run)
      complain("the instruction " + made.parts[0] + " is not known in this form");
    program.statements.push_back(std::move(made));
  }

  static void opcode(PtxStatement &made, const std::string &word) {
    for (size_t from = 0; from <= word.size();) {
      size_t end = std::min(word.find('.', from), word.size());
      made.parts.push_back(word.substr(from, end - from));
      from = end + 1;
    }
    for (const std::string &part : made.parts) {
      size_t letters = part.starts_with("bf") ? 2 : 1;
      int bits = 0;
      auto [stop, status] =
          std::from_chars(part.data() + std::min(letters, part.size()), part.data() + part.size(), bits);
      if (status == std::errc() && stop == part.data() + part.size() &&
          std::string_view("fsub").find(part[0]) != std::string_view::npos &&
          (bits == 8 || bits == 16 || bits == 32 || bits == 64))
        made.type = {letters == 2 ? 'B' : part[0], bits};
    }
  }

  PtxArgument argument() {
    PtxArgument made;
    if (take("[")) {
      made.isMemory = true;
      made.values.push_back(value(next()));
      if (!take("]"))
        complain("expected ] after an address");
    } else if (take("{")) {
      while (at < tokens.size() && !take("}"))
        if (!take(","))
          made.values.push_back(value(next()));
    } else {
      made.values.push_back(value(next()));
    }
    return made;
  }

  PtxValue value(const std::string &token) {
    PtxValue made;
    if (auto found = registers.find(token); found != registers.end())
      return {PtxValue::Register, found->second};
    std::string_view digits = token;
    bool isOperand = digits.starts_with("$"), isHex = digits.starts_with("0x");
    if (isOperand || isHex)
      digits.remove_prefix(isHex ? 2 : 1);
    auto [stop, status] = std::from_chars(digits.data(), digits.data() + digits.size(), made.number, isHex ? 16 : 10);
    if (status != std::errc() || stop != digits.data() + digits.size())
      complain(fmt::format("'{}' is no operand", token));
    made.kind = isOperand ? PtxValue::Operand : PtxValue::Immediate;
    return made;
  }

  PtxProgram program;
  std::vector<std::string> tokens;
  size_t at = 0;
  std::map<std::string, int64_t> registers;
  std::map<std::string, int> labels;
  std::vector<std::pair<size_t, std::string>> branches;
};

} // namespace

bool PtxStatement::has(std::string_view part) const {
  for (const std::string &each : parts)
    if (each == part)
      return true;
  return false;
}

PtxProgram decode(std::string_view text) { return Decoder(text).run(); }

uint64_t PtxFrame::read(const PtxValue &value) const {
  switch (value.kind) {
  case PtxValue::Operand:
    return operands[value.number];
  case PtxValue::Register:
    return registers[value.number];
  case PtxValue::Immediate:
    break;
  }
  return uint64_t(value.number);
}

void PtxFrame::write(const PtxValue &value, uint64_t bits, int width) {
  if (width < 64)
    bits &= (uint64_t(1) << width) - 1;
  (value.kind == PtxValue::Register ? registers : operands)[value.number] = bits;
}

void execute(Block &block, const PtxProgram &program, uint64_t *operands) {
  if (!program.error.empty())
    block.fail(fmt::format("cannot simulate '{}': {}", program.text, program.error));
  PtxFrame frame{block, program, operands, {}};
  for (size_t at = 0; at < program.statements.size();) {
    const PtxStatement &statement = program.statements[at++];
    if (statement.isGuarded && bool(frame.read(statement.guard) & 1) == statement.isNegated)
      continue;
    if (statement.target >= 0)
      at = size_t(statement.target);
    else
      statement.run(frame, statement);
  }
}

} // namespace tessera::simulator
