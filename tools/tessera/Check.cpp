//===- Check.cpp - `tessera check` ---------------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Syntax, names, and all that holds whatever is bound; then the kernels whose parameters have defaults.
//
#include "tools/tessera/Commands.h"
#include "tools/tessera/Crash.h"
#include "tools/tessera/ProgramOptions.h"

namespace tessera {
namespace {

int runCheck(const SharedOptions &shared) {
  Report report{{}, shared.file == "-" ? "<stdin>" : shared.file, "", shared.json};
  Result<CompileOptions> options = shared.toCompileOptions();
  if (!options)
    return report.finish(&options.error());
  Result<std::string> source = readFile(shared.file);
  if (!source)
    return report.finish(&source.error());
  report.source = *source;
  guardSource(*source);
  CompileResult result = check(*source, *options);
  report.diagnostics = std::move(result.diagnostics);
  return report.finish(nullptr);
}

} // namespace

void addCheck(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand("check", "Check a program without compiling it");
  auto shared = std::make_shared<SharedOptions>();
  shared->addTo(*command);
  command->add_option("-k,--kernel", shared->kernel, "check this kernel only")->type_name("KERNEL");
  command->footer("Examples:\n"
                  "  tessera check examples/linear/linear.tile\n"
                  "  tessera check attention.tile -k attention_forward -D D=72 --json");
  command->callback([shared, &exitCode] { exitCode = runCheck(*shared); });
}

} // namespace tessera
