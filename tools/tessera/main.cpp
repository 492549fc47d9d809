//===- main.cpp - tessera, the command line ------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Collects the subcommands and turns the outcome into an exit code.
//
#include "tools/tessera/Commands.h"

#include <CLI/CLI.hpp>

int main(int argc, char **argv) {
  CLI::App app("Tessera: tile programs to PTX and to the CPU.", "tessera");
  app.footer("Examples:\n"
             "  tessera run examples/vector_add/vector_add.tile --arg x=randn:f32:1000 --arg y=randn:f32:1000 --arg "
             "z=empty:f32:1000 --print z\n"
             "  tessera compile examples/attention/attention.tile -k attention_forward -D causal=true --target sm_90a "
             "-o a.ptx\n\n"
             "Exit codes: 0 right, 1 the program or its data is wrong, 2 usage, 3 the machine, 70 our own fault.\n"
             "`tessera COMMAND --help` shows the options of a command.");
  app.require_subcommand(1);
  int exitCode = 0;
  tessera::addCheck(app, exitCode);
  tessera::addCompile(app, exitCode);
  tessera::addRun(app, exitCode);
  tessera::addExplain(app, exitCode);
  tessera::addCache(app, exitCode);
  tessera::addDoctor(app, exitCode);
  tessera::addBench(app, exitCode);
  tessera::addVersion(app, exitCode);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return exitCode;
}
