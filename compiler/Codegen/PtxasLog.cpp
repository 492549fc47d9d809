//===- PtxasLog.cpp - what ptxas says about a kernel ------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The log is a line a fact:
//
//     ptxas info    : Compiling entry function 'f' for 'sm_90a'
//     ptxas info    : Function properties for f
//         0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//     ptxas info    : Used 8 registers, used 1 barriers, 16 bytes smem, 360 bytes cmem[0]
//
#include "compiler/Codegen/PtxasLog.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

using namespace tessera;
using llvm::StringRef;

namespace {

/// The number in front of (`8 registers`) or behind (`used 1 barriers`) is always the one just before `unit`; 0 if absent or absurd.
int64_t numberBefore(StringRef line, StringRef unit) {
  size_t at = line.find(unit);
  if (at == StringRef::npos)
    return 0;
  StringRef digits = line.take_front(at).rtrim();
  size_t start = digits.find_last_not_of("0123456789");
  digits = digits.drop_front(start == StringRef::npos ? 0 : start + 1);
  int64_t value = 0;
  return digits.getAsInteger(10, value) ? 0 : value;
}

/// The text between the n-th pair of single quotes.
StringRef quoted(StringRef line, unsigned n) {
  llvm::SmallVector<StringRef> parts;
  line.split(parts, '\'');
  return parts.size() > 2 * n + 1 ? parts[2 * n + 1] : StringRef();
}

PtxasFunction &functionCalled(PtxasReport &report, StringRef name) {
  for (PtxasFunction &function : report.functions)
    if (function.name == name)
      return function;
  report.functions.emplace_back();
  report.functions.back().name = name.str();
  return report.functions.back();
}

} // namespace

const PtxasFunction *PtxasReport::find(std::string_view name) const {
  for (const PtxasFunction &function : functions)
    if (function.name == name)
      return &function;
  return nullptr;
}

PtxasReport tessera::parsePtxasLog(std::string_view log) {
  PtxasReport report;
  std::string current;    // whose `Used` line comes next
  std::string properties; // whose `stack frame` line comes next
  llvm::SmallVector<StringRef> lines;
  StringRef(log).split(lines, '\n');
  for (StringRef line : lines) {
    line = line.rtrim("\r ");
    auto [head, message] = line.split(" : ");
    head = head.trim();
    message = message.trim();
    if (line.contains("Potential Performance Loss")) {
      report.performanceLosses.push_back((message.empty() ? line : message).str());
    } else if (head.starts_with("ptxas error") || head.starts_with("ptxas fatal") ||
               (head.starts_with("ptxas ") && head.contains("; error"))) {
      report.errors.push_back(message.str());
    } else if (head.starts_with("ptxas warning") || (head.starts_with("ptxas ") && head.contains("; warning"))) {
      report.warnings.push_back(message.str());
    } else if (message.starts_with("Compiling entry function")) {
      current = properties = quoted(message, 0).str();
      PtxasFunction &function = functionCalled(report, current);
      function.isEntry = true;
      function.target = quoted(message, 1).str();
    } else if (message.starts_with("Function properties for ")) {
      properties = message.drop_front(StringRef("Function properties for ").size()).trim().str();
    } else if (line.contains("bytes stack frame") && !properties.empty()) {
      PtxasFunction &function = functionCalled(report, properties);
      function.stackBytes = numberBefore(line, "bytes stack frame");
      function.spillStoreBytes = numberBefore(line, "bytes spill stores");
      function.spillLoadBytes = numberBefore(line, "bytes spill loads");
    } else if (message.starts_with("Used ") && !current.empty()) {
      PtxasFunction &function = functionCalled(report, current);
      function.registers = numberBefore(message, "registers");
      function.barriers = numberBefore(message, "barriers");
      function.sharedBytes = numberBefore(message, "bytes smem");
    }
  }
  return report;
}
