//===- Version.cpp - `tessera version` ------------------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// What this binary is.
//
#include "tools/tessera/Commands.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace tessera {

void addVersion(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand("version", "Print the version of tessera and of its LLVM");
  command->footer("Examples:\n"
                  "  tessera version\n"
                  "  tessera version | head -1");
  command->callback([&exitCode] {
    fmt::print("tessera {}\nLLVM {}\n", TESSERA_VERSION, TESSERA_LLVM_VERSION);
    exitCode = 0;
  });
}

} // namespace tessera
