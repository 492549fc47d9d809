//===- Codes.cpp - every diagnostic code, in one list ---------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Joins the tables of the compiler and of the runtime.  Each table undefines the macro at its end.
//
#include "tools/tessera/Codes.h"

#include <algorithm>

namespace tessera {

const std::vector<CodeEntry> &allCodes() {
  static const std::vector<CodeEntry> kCodes = [] {
    std::vector<CodeEntry> list = {
#define TESSERA_CODE(code, title, explanation, wrong, right) {#code, title, explanation, wrong, right},
#include "compiler/Frontend/DiagnosticCodes.def"
#define TESSERA_CODE(code, title, explanation, wrong, right) {#code, title, explanation, wrong, right},
#include "compiler/Frontend/SpecializeCodes.def"
#define TESSERA_CODE(code, title, explanation, wrong, right) {#code, title, explanation, wrong, right},
#include "runtime/Support/RuntimeCodes.def"
    };
    std::sort(list.begin(), list.end(), [](const CodeEntry &a, const CodeEntry &b) { return a.code < b.code; });
    return list;
  }();
  return kCodes;
}

const CodeEntry *findCode(std::string_view code) {
  for (const CodeEntry &entry : allCodes())
    if (entry.code == code)
      return &entry;
  return nullptr;
}

} // namespace tessera
