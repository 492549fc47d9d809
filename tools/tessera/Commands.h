//===- Commands.h - the subcommands of `tessera` -------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Each function adds one subcommand with its options to the application; when the command line chooses it, it runs and stores the exit
// code.  Exit codes: 0 right, 1 the program or its data, 2 usage, 3 the machine, 70 our own fault.
//
#ifndef TESSERA_TOOLS_TESSERA_COMMANDS_H
#define TESSERA_TOOLS_TESSERA_COMMANDS_H

namespace CLI {
class App;
}

namespace tessera {

void addCheck(CLI::App &app, int &exitCode);
void addCompile(CLI::App &app, int &exitCode);
void addRun(CLI::App &app, int &exitCode);
void addExplain(CLI::App &app, int &exitCode);
void addCache(CLI::App &app, int &exitCode);
void addDoctor(CLI::App &app, int &exitCode);
void addBench(CLI::App &app, int &exitCode);
void addVersion(CLI::App &app, int &exitCode);

} // namespace tessera
#endif // TESSERA_TOOLS_TESSERA_COMMANDS_H
