//===- FuzzSyntax.cpp - any bytes through the lexer and the parser ------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Built by the asan preset with libFuzzer.  Holds that no input crashes or hangs, that positions lie inside the source, that an error has a
// code, and that the same text gives the same messages.
//
#include "compiler/Frontend/NameCheck.h"
#include "compiler/Frontend/Parser.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

using namespace tessera;

/// Ends the process, which the fuzzer reports with the input.
static void hold(bool condition) {
  if (!condition)
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string source(reinterpret_cast<const char *>(data), size);
  std::vector<Diagnostic> first, second;
  ast::File file = frontend::parse(source, "fuzz.tile", first), again = frontend::parse(source, "fuzz.tile", second);
  frontend::checkNames(file, first);
  frontend::checkNames(again, second);
  hold(first.size() == second.size());
  int lines = 1 + int(std::count(source.begin(), source.end(), '\n'));
  for (size_t i = 0; i < first.size(); ++i) {
    hold(first[i].message == second[i].message && first[i].place.line == second[i].place.line);
    hold(first[i].place.line >= 0 && first[i].place.line <= lines + 1 && first[i].place.column >= 0);
    hold(!render(first[i], source, false).empty());
    hold(first[i].severity != Severity::Error || first[i].code.size() == 5);
  }
  return 0;
}
