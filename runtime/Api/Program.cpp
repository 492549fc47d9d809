//===- Program.cpp - tile programs from C++ ------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The implementation of tessera.hpp over the JIT: copies the compiler's diagnostics into messages that need no compiler header.
//
#include "runtime/Api/tessera.hpp"

#include "runtime/Jit/Launcher.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tessera {
namespace {

Message toMessage(const Diagnostic &diagnostic, std::string_view source) {
  Message message;
  message.kind = diagnostic.severity == Severity::Error     ? Message::Kind::Error
                 : diagnostic.severity == Severity::Warning ? Message::Kind::Warning
                                                            : Message::Kind::Remark;
  message.code = diagnostic.code;
  message.file = diagnostic.place.file;
  message.line = diagnostic.place.line;
  message.column = diagnostic.place.column;
  message.text = diagnostic.message;
  message.remedy = diagnostic.remedy;
  message.rendered = render(diagnostic, source, /*color=*/false);
  return message;
}

Failure toFailure(const Error &error, const std::vector<Diagnostic> &diagnostics, std::string_view source) {
  Failure failure{error, {}};
  for (const Diagnostic &diagnostic : diagnostics)
    failure.messages.push_back(toMessage(diagnostic, source));
  return failure;
}

} // namespace

struct Program::State {
  std::unique_ptr<Jit> jit;
  std::optional<Device> device; ///< always set
  CompileOptions options;
  std::vector<KernelSignature> signatures;
};

struct Kernel::State {
  std::shared_ptr<const Program::State> program;
  const KernelSignature *signature = nullptr;
  CompileOptions options;

  LaunchCache known; ///< launches that were checked before; their images live in the program's JIT

  Result<std::vector<NamedArgument>> name(std::span<const ArgumentView> arguments) const {
    if (arguments.size() != signature->params.size())
      return Error{
          Fault::Program,
          fmt::format("'{}' takes {} arguments, found {}", signature->name, signature->params.size(), arguments.size()),
          "pass one argument for each parameter, std::nullopt for an absent optional tensor", "T0601"};
    std::vector<NamedArgument> named;
    for (size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i].kind() != ArgumentView::Kind::Absent)
        named.push_back({signature->params[i].name, arguments[i].toArgument()});
    return named;
  }

  Expected<PreparedLaunch> prepare(const std::vector<NamedArgument> &named) const {
    auto planned = prepareLaunch(*program->jit, *signature, options, *program->device, named);
    if (auto *failure = std::get_if<JitFailure>(&planned))
      return toFailure(failure->error, failure->diagnostics, program->jit->source());
    return std::get<JitLaunch>(std::move(planned)).prepared;
  }

  Expected<PreparedLaunch> prepare(std::span<const ArgumentView> arguments) const {
    Result<std::vector<NamedArgument>> named = name(arguments);
    if (!named)
      return Failure{named.error(), {}};
    Expected<PreparedLaunch> prepared = prepare(*named);
    if (prepared && prepared->image() && !prepared->isOp())
      known.remember(arguments, *prepared->image(), prepared->kernel(), prepared->plan());
    return prepared;
  }

  static Expected<void> finish(const Expected<PreparedLaunch> &prepared, StreamHandle stream,
                               const Workspace &workspace = {}) {
    if (!prepared)
      return prepared.failure();
    if (Result<void> status = prepared->launch(stream, workspace); !status)
      return Failure{status.error(), {}};
    return {};
  }
};

std::string Failure::text() const {
  std::string result;
  for (const Message &message : messages)
    result += message.rendered + (message.rendered.empty() || message.rendered.back() != '\n' ? "\n" : "");
  result += "error: " + error.message + (error.code.empty() ? "" : " [" + error.code + "]") + "\n";
  if (!error.remedy.empty())
    result += "  remedy: " + error.remedy + "\n";
  return result;
}

Expected<Program> Program::fromSource(std::string text, ProgramOptions options) {
  auto state = std::make_shared<State>();
  state->options.sourceName = options.sourceName;
  state->options.importPaths = options.importPaths;
  CompileResult checked = check(text, state->options);
  if (!checked.ok())
    return toFailure(Error{Fault::Program, fmt::format("'{}' is not a right program", options.sourceName), "", ""},
                     checked.diagnostics, text);
  if (options.device) {
    state->device = options.device;
  } else {
    Result<Device> device = Device::open("auto");
    if (!device)
      return Failure{device.error(), {}};
    state->device = *device;
  }
  state->signatures = signatures(text, state->options);
  JitServices services;
  if (!options.cacheFolder.empty())
    services.disk = std::make_shared<DiskCache>(options.cacheFolder, options.cacheBytes);
  if (!options.ptxas.empty()) {
    Result<cuda::Assembler> assembler = cuda::Assembler::open(options.ptxas);
    if (!assembler)
      return Failure{assembler.error(), {}};
    services.assembler = std::make_shared<cuda::Assembler>(*std::move(assembler));
  }
  state->jit = std::make_unique<Jit>(std::move(text), options.sourceName, std::move(services));
  return Program(std::move(state));
}

Expected<Kernel> Program::kernel(const std::string &name, std::initializer_list<Bind> bindings) const {
  return kernel(name, std::vector<Bind>(bindings));
}

Expected<Kernel> Program::kernel(const std::string &name, const std::vector<Bind> &bindings) const {
  for (const KernelSignature &signature : state->signatures) {
    if (signature.name != name)
      continue;
    auto kernel = std::make_shared<Kernel::State>();
    kernel->program = state;
    kernel->signature = &signature;
    kernel->options = state->options;
    for (const Bind &bind : bindings)
      kernel->options.bindings.push_back({bind.name, bind.value});
    return Kernel(std::move(kernel));
  }
  return Failure{Error{Fault::Program,
                       fmt::format("there is no kernel '{}'; found: {}", name, fmt::join(kernels(), ", ")),
                       "name one of them", "T0615"},
                 {}};
}

const Device &Program::device() const { return *state->device; }

std::vector<std::string> Program::kernels() const {
  std::vector<std::string> names;
  for (const KernelSignature &signature : state->signatures)
    names.push_back(signature.name);
  return names;
}

Expected<void> Kernel::launchViews(StreamHandle stream, std::span<const ArgumentView> arguments,
                                   const Workspace &workspace) const {
  if (std::optional<Result<void>> done = state->known.launch(arguments, stream)) {
    if (*done)
      return {};
    return Failure{done->error(), {}};
  }
  return State::finish(state->prepare(arguments), stream, workspace);
}

Expected<void> Kernel::launchInOrder(StreamHandle stream, const std::vector<Argument> &arguments,
                                     const Workspace &workspace) const {
  return launchViews(stream, std::vector<ArgumentView>(arguments.begin(), arguments.end()), workspace);
}

Expected<size_t> Kernel::workspaceBytesInOrder(const std::vector<Argument> &arguments) const {
  Expected<PreparedLaunch> prepared = prepareInOrder(arguments);
  if (!prepared)
    return prepared.failure();
  return prepared->workspaceBytes();
}

Expected<void> Kernel::launchNamed(StreamHandle stream, const std::vector<Named> &arguments) const {
  std::vector<NamedArgument> named;
  for (const Named &argument : arguments)
    named.push_back({argument.name, argument.value});
  return State::finish(state->prepare(named), stream);
}

Expected<PreparedLaunch> Kernel::prepareInOrder(const std::vector<Argument> &arguments) const {
  return state->prepare(std::vector<ArgumentView>(arguments.begin(), arguments.end()));
}

} // namespace tessera
