//===- Compile.cpp - `tessera compile` ------------------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Source text to any stage of the compiler, to a file or to standard output.
//
#include "tools/tessera/Commands.h"
#include "tools/tessera/CompileHeader.h"
#include "tools/tessera/Crash.h"
#include "tools/tessera/ProgramOptions.h"
#include "tools/tessera/Ptxas.h"

#include <fmt/format.h>

#include <map>
#include <unistd.h>

namespace tessera {
namespace {

struct CompileCommand {
  SharedOptions shared;
  std::string target = "sm_90a", emit, output = "-", report, nameSpace, ptxas = "off";
  std::vector<std::string> with;
  bool anyLayout = false;
};

const std::map<std::string, Emit> &stages() {
  static const std::map<std::string, Emit> kStages = {
      {"tile", Emit::Tile}, {"gpu", Emit::Gpu},     {"nvvm", Emit::Nvvm},   {"llvm", Emit::Llvm},
      {"ptx", Emit::Ptx},   {"cubin", Emit::Cubin}, {"image", Emit::Image}, {"object", Emit::Object}};
  return kStages;
}

/// The stage that was asked for, or else that of the output's extension, or else the natural one of the target.
Emit chooseStage(const CompileCommand &command) {
  if (!command.emit.empty())
    return stages().at(command.emit);
  static const std::map<std::string, Emit> kExtensions = {{".ptx", Emit::Ptx},  {".cubin", Emit::Cubin},
                                                          {".o", Emit::Object}, {".mlir", Emit::Tile},
                                                          {".ll", Emit::Llvm},  {".tessera", Emit::Image}};
  size_t dot = command.output.rfind('.');
  if (dot != std::string::npos)
    if (auto found = kExtensions.find(command.output.substr(dot)); found != kExtensions.end())
      return found->second;
  if (command.target == "host")
    return command.output == "-" ? Emit::Llvm : Emit::Object;
  return Emit::Ptx;
}

/// The bytes to write.
Result<std::string> outputOf(const CompileResult &result, Emit emit) {
  if (emit == Emit::Image || emit == Emit::Cubin || emit == Emit::Object) {
    if (!result.image)
      return Error{Fault::Internal, "the compiler gave no image and no error", "", ""};
    return emit == Emit::Image ? result.image->serialize() : result.image->code;
  }
  return result.text;
}

bool wantsHeader(const CompileCommand &command) {
  return command.emit.empty() ? command.output.ends_with(".h") || command.output.ends_with(".hpp")
                              : command.emit == "header";
}

int runCompile(const CompileCommand &command) {
  if (wantsHeader(command))
    return runCompileHeader(command.shared, {command.target, command.output, command.nameSpace, command.with,
                                             command.anyLayout, !command.report.empty()});
  const SharedOptions &shared = command.shared;
  Report report{{}, shared.file == "-" ? "<stdin>" : shared.file, "", shared.json};
  Result<CompileOptions> options = shared.toCompileOptions();
  if (!options)
    return report.finish(&options.error());
  options->target = command.target;
  options->emit = chooseStage(command);
  options->alignedTensors = !command.anyLayout;
  bool binary = options->emit == Emit::Cubin || options->emit == Emit::Image || options->emit == Emit::Object;
  Error toTerminal{Fault::Usage, "binary output would go to the terminal", "write -o FILE", "T0643"};
  if (binary && command.output == "-" && isatty(STDOUT_FILENO))
    return report.finish(&toTerminal);
  Error twoOutputs{Fault::Usage, "--json and the code would both go to standard output", "write -o FILE", "T0643"};
  if (shared.json && command.output == "-")
    return report.finish(&twoOutputs);
  Result<std::string> source = readFile(shared.file);
  if (!source)
    return report.finish(&source.error());
  report.source = *source;
  guardSource(*source);
  // An image holds PTX, for the driver to assemble, unless an assembler is named.
  Emit emit = options->emit;
  bool gpu = options->target != "host";
  bool assembled = gpu && (emit == Emit::Cubin || (emit == Emit::Image && command.ptxas != "off"));
  std::shared_ptr<const cuda::Assembler> assembler;
  if (assembled) {
    Result<std::shared_ptr<const cuda::Assembler>> opened = openPtxas(command.ptxas == "off" ? "auto" : command.ptxas);
    if (!opened)
      return report.finish(&opened.error());
    assembler = *std::move(opened);
    options->emit = Emit::Image;
  }
  CompileResult result = compile(*source, *options);
  report.diagnostics = std::move(result.diagnostics);
  if (!result.log.empty())
    fmt::print(stderr, "{}", result.log);
  bool failed = false;
  for (const Diagnostic &diagnostic : report.diagnostics)
    failed |= diagnostic.severity == Severity::Error;
  if (failed)
    return report.finish(nullptr);
  if (assembler && result.image) {
    Result<std::string> cubin = assembler->assemble(result.image->code, result.image->target);
    if (!cubin)
      return report.finish(&cubin.error());
    result.image->code = *std::move(cubin);
    result.image->codeKind = KernelImage::Code::Cubin;
  }
  Result<std::string> bytes = outputOf(result, emit);
  if (!bytes)
    return report.finish(&bytes.error());
  if (Result<void> written = writeFile(command.output, *bytes); !written)
    return report.finish(&written.error());
  if (command.report == "json" && !shared.json)
    fmt::print(stderr, "{{\"report\": {}}}\n", quoteJson(result.report));
  else if (!command.report.empty() && !shared.json)
    fmt::print(stderr, "{}", result.report);
  return report.finish(nullptr, command.report.empty() ? "" : "\"report\": " + quoteJson(result.report));
}

} // namespace

void addCompile(CLI::App &app, int &exitCode) {
  CLI::App *command =
      app.add_subcommand("compile", "Compile a program to PTX, to an object file, or to any stage between");
  auto state = std::make_shared<CompileCommand>();
  state->shared.addTo(*command);
  state->shared.addCompilationTo(*command);
  command
      ->add_option(
          "--target", state->target,
          "what to compile for: sm_80 ... sm_120a, or host (`tessera doctor` lists them); a header takes several, "
          "separated by commas")
      ->capture_default_str()
      ->type_name("TARGET");
  std::vector<std::string> names;
  for (const auto &[name, stage] : stages())
    names.push_back(name);
  names.push_back("header");
  command->add_option("--emit", state->emit, "the stage to stop at (default: by the output's name, else ptx)")
      ->type_name("STAGE")
      ->check(CLI::IsMember(names));
  command->add_option("-o,--output", state->output, "output file; - is standard output")
      ->capture_default_str()
      ->type_name("OUT");
  command->add_option("--report", state->report, "print resources and choices to standard error")
      ->type_name("[text|json]")
      ->expected(0, 1)
      ->default_str("text")
      ->check(CLI::IsMember({"text", "json"}));
  command
      ->add_option("--ptxas", state->ptxas,
                   "put machine code into an image, assembled by the toolkit's ptxas: off, auto, or its path; --emit "
                   "cubin needs one")
      ->capture_default_str()
      ->type_name("PTXAS");
  command->add_flag("--any-layout", state->anyLayout,
                    "code for tensors of any strides and alignment (default: rows lie side by side and start at "
                    "multiples of 16 bytes; the launcher checks)");
  SharedOptions::list(command->add_option("--with", state->with,
                                          "header: an optional tensor that the functions take; others are absent"),
                      "NAME");
  command
      ->add_option("--namespace", state->nameSpace,
                   "header: namespace of the class Kernels (default: the name of the file)")
      ->type_name("NAME");
  command->footer("Examples:\n"
                  "  tessera compile attention.tile -k attention_forward -D causal=true --target sm_90a -o a.ptx\n"
                  "  tessera compile linear.tile -k linear_forward -D act=gelu --emit tile\n"
                  "  tessera compile linear.tile --target host,sm_90a --with bias -o linear.h     (and linear.a)");
  command->callback([state, &exitCode] { exitCode = runCompile(*state); });
}

} // namespace tessera
