//===- ProgramOptions.h - options that several subcommands share ---------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// One description of FILE, -k, -D, -I and the rest, so that they mean and say the same everywhere.
//
#ifndef TESSERA_TOOLS_TESSERA_PROGRAMOPTIONS_H
#define TESSERA_TOOLS_TESSERA_PROGRAMOPTIONS_H

#include "compiler/Driver/Compiler.h"
#include "tools/tessera/ArgumentSpec.h"
#include "tools/tessera/Terminal.h"

#include <CLI/CLI.hpp>

namespace tessera {

struct SharedOptions {
  std::string file, kernel;
  std::vector<std::string> definitions, importPaths;
  bool json = false, lineInfo = true, warningsAsErrors = false;
  int warps = 0, stages = 0, optimization = 2;
  std::string printAfter;

  /// FILE, -D, -I, --json.
  void addTo(CLI::App &command) {
    command.add_option("FILE", file, "source file, or - for standard input")->required();
    list(command.add_option("-D", definitions, "bind a compile-time parameter"), "NAME=VALUE");
    list(command.add_option("-I", importPaths, "folder to search for imports"), "DIR");
    command.add_flag("--json", json, "diagnostics as one JSON object on standard output");
    command.add_flag("--werror", warningsAsErrors, "take warnings for errors");
  }
  /// -k, schedule and line information, --print-after.
  void addCompilationTo(CLI::App &command) {
    command.add_option("-k,--kernel", kernel, "the kernel or op to take")->type_name("KERNEL");
    command.add_option("--warps", warps, "warps of a block (default: the compiler chooses)")
        ->type_name("N")
        ->check(CLI::Range(1, 32));
    command.add_option("--stages", stages, "stages of a pipelined loop (default: the compiler chooses)")
        ->type_name("N")
        ->check(CLI::Range(1, 16));
    command
        .add_option("-O", optimization,
                    "LLVM's level for host code: 0 or 2; results are the same to the bit (default: 2)")
        ->type_name("LEVEL")
        ->check(CLI::IsMember({0, 2}));
    command.add_flag("!--no-lineinfo,--lineinfo", lineInfo, "source lines in the code, for profilers (default: on)");
    command.add_option("--print-after", printAfter, "print the IR after this pass, or after all")
        ->type_name("PASS|all");
  }
  /// An option that may be repeated and takes one value each time.
  static CLI::Option *list(CLI::Option *option, const char *type) {
    return option->type_name(type)->allow_extra_args(false)->take_all();
  }

  Result<CompileOptions> toCompileOptions() const {
    CompileOptions options;
    options.sourceName = file == "-" ? "<stdin>" : file;
    options.kernel = kernel;
    options.importPaths = importPaths;
    options.lineInfo = lineInfo;
    options.warps = warps;
    options.stages = stages;
    options.optimization = optimization;
    options.printAfter = printAfter;
    options.warningsAsErrors = warningsAsErrors;
    for (const std::string &definition : definitions) {
      Result<std::pair<std::string, std::string>> parts = splitAssignment(definition, "-D");
      if (!parts)
        return parts.error();
      options.bindings.push_back({parts->first, parts->second});
    }
    return options;
  }
};

} // namespace tessera
#endif // TESSERA_TOOLS_TESSERA_PROGRAMOPTIONS_H
