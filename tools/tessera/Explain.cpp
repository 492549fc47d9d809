//===- Explain.cpp - `tessera explain` ------------------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Prints the entry of a diagnostic code from the tables that also make docs/errors.md, or of an operation from the one that makes docs/operations.md.
//
#include "tools/tessera/Codes.h"
#include "tools/tessera/Commands.h"
#include "tools/tessera/Terminal.h"

#include "dialect/Operations/Operations.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace tessera {
namespace {

std::string indent(std::string_view text) {
  std::string result = "  ";
  for (char c : text)
    result += c == '\n' ? std::string("\n  ") : std::string(1, c);
  return result;
}

int runExplain(const std::string &code) {
  if (code.empty()) {
    for (const CodeEntry &entry : allCodes())
      fmt::print("{}  {}\n", entry.code, entry.title);
    return 0;
  }
  if (const CodeEntry *entry = findCode(code)) {
    fmt::print("{}: {}\n\n{}\n", entry->code, entry->title, entry->explanation);
    if (!entry->wrong.empty())
      fmt::print("\nwrong:\n{}\n", indent(entry->wrong));
    if (!entry->right.empty())
      fmt::print("\nright:\n{}\n", indent(entry->right));
    return 0;
  }
  if (const Operation *operation = findOperation(code)) {
    fmt::print("{}: {}\n\n  written   {}\n", operation->name, operation->summary, operation->form);
    if (operation->types)
      fmt::print("  types     {}\n", describeTypes(operation->types));
    for (auto [label, ulp] : {std::pair("f32", operation->ulp32), std::pair("f64", operation->ulp64)})
      if (ulp >= 0)
        fmt::print("  error     {}: {}\n", label,
                   ulp == 0 ? "the one right result" : fmt::format("at most {} ulp", ulp));
    fmt::print("  rules     {} (docs/language.md)\n", operation->rules);
    return 0;
  }
  return report(Error{Fault::Usage, fmt::format("there is no diagnostic and no operation '{}'", code),
                      "`tessera explain` lists all codes, docs/operations.md all operations", ""});
}

} // namespace

void addExplain(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand(
      "explain", "Explain a diagnostic code, with a wrong and a right example, or an operation of the language");
  auto code = std::make_shared<std::string>();
  command->add_option(
      "CODE", *code,
      "the code of a message, T0604, or the name of an operation, exp; without one all codes are listed");
  command->footer("Examples:\n"
                  "  tessera explain T0604\n"
                  "  tessera explain exp\n"
                  "  tessera explain");
  command->callback([code, &exitCode] { exitCode = runExplain(*code); });
}

} // namespace tessera
