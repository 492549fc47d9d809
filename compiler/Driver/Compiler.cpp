//===- Compiler.cpp - source text to kernel image ---------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// One MLIR context for each call, so that calls share nothing.  Stages: text -> tree -> tile IR -> numerics -> (GPU: tile_gpu -> LLVM dialect -> PTX | host: LLVM
// dialect -> object).  MLIR's diagnostics become ours: a message that begins with a code (`T0501: ...`) keeps it, anything else is our fault.
//
#include "compiler/Driver/Compiler.h"
#include "compiler/Codegen/Codegen.h"
#include "compiler/Codegen/Passes.h"
#include "compiler/Conversion/TileToHost/Passes.h"
#include "compiler/Driver/ImageBuilder.h"
#include "compiler/Driver/Tuning.h"
#include "compiler/Frontend/NameCheck.h"
#include "compiler/Frontend/Parser.h"
#include "compiler/Frontend/Specialize.h"
#include "compiler/Pipeline/Pipeline.h"
#include "compiler/Target/Target.h"
#include "compiler/Transforms/Passes.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassInstrumentation.h"

using namespace mlir;
namespace tessera {

bool CompileResult::ok() const {
  return llvm::none_of(diagnostics, [](const Diagnostic &d) { return d.severity == Severity::Error; });
}

namespace {

/// The innermost file position of a location.
SourcePlace placeOf(Location location) {
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return {file.getFilename().str(), int(file.getLine()), int(file.getColumn())};
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return placeOf(call.getCallee());
  if (auto name = dyn_cast<NameLoc>(location))
    return placeOf(name.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (SourcePlace place = placeOf(part); place.line > 0)
        return place;
  return {};
}

/// Prints IR after passes into a string.
struct PrintAfter : public PassInstrumentation {
  std::string which;
  std::string *log;
  PrintAfter(std::string which, std::string *log) : which(std::move(which)), log(log) {}
  void runAfterPass(Pass *pass, Operation *op) override {
    if (which != "all" && pass->getArgument() != which)
      return;
    llvm::raw_string_ostream os(*log);
    os << "// ----- after " << pass->getArgument() << " -----\n";
    op->print(os, OpPrintingFlags().useLocalScope());
    os << "\n";
  }
};

class Compilation {
public:
  Compilation(const CompileOptions &options, CompileResult &result)
      : options(options), result(result), context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    context.printOpOnDiagnostic(false); // the reader knows the source, not the IR
    handler = context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
      record(diagnostic);
      return success();
    });
  }
  ~Compilation() { context.getDiagEngine().eraseHandler(handler); }

  void error(Fault fault, std::string message, std::string remedy = "", std::string code = "") {
    Diagnostic diagnostic;
    diagnostic.place.file = options.sourceName;
    diagnostic.code = code.empty() && fault == Fault::Internal ? "T0599" : code;
    diagnostic.message = fault == Fault::Internal ? "internal error: " + message : message;
    diagnostic.remedy = fault == Fault::Internal ? "please report it with the program that shows it" : remedy;
    result.diagnostics.push_back(diagnostic);
  }
  void error(const Error &e) { error(e.fault, e.message, e.remedy, e.code); }

  /// Parses source text or printed tile IR.
  OwningOpRef<ModuleOp> load(std::string_view source, const TargetInfo &target) {
    StringRef text = StringRef(source.data(), source.size());
    if (text.ltrim().starts_with("module") || text.ltrim().starts_with("#") ||
        text.ltrim().starts_with("tile.kernel") || text.ltrim().starts_with("//mlir"))
      return parseSourceString<ModuleOp>(text, &context, options.sourceName);
    ast::File file = frontend::parse(source, options.sourceName, result.diagnostics);
    if (!result.ok())
      return {};
    std::vector<std::string> kernels;
    if (!options.kernel.empty()) {
      if (!file.findKernel(options.kernel)) {
        std::string names;
        for (const ast::Kernel &other : file.kernels)
          names += (names.empty() ? "" : ", ") + other.name;
        error(Fault::Program, "there is no kernel '" + options.kernel + "'",
              names.empty() ? "the file declares no kernel" : "the file has: " + names, "T0413");
        return {};
      }
      kernels.push_back(options.kernel);
    } else {
      for (const ast::Kernel &kernel : file.kernels) {
        if (isFullyBound(kernel, options) && (!kernel.isOp || callsAreBound(file, kernel)))
          kernels.push_back(kernel.name);
        else
          remark(kernel, std::string(kernel.isOp ? "op '" : "kernel '") + kernel.name +
                             "' is left out: it has compile-time parameters without a value");
      }
      if (kernels.empty()) {
        error(Fault::Program, "no kernel of the file is fully bound",
              "bind its compile-time parameters with -D NAME=VALUE", "T0401");
        return {};
      }
    }
    CompileOptions effective = options;
    std::map<std::string, Candidate> chosen;
    if (target.gpu)
      for (const std::string &kernel : kernels)
        if (!tune(file, kernel, target, effective, chosen))
          return {};
    OwningOpRef<ModuleOp> module = specialize(file, kernels, effective, context, result.diagnostics, &ops);
    if (module)
      for (auto kernel : module->getOps<tile::KernelOp>())
        if (auto found = chosen.find(kernel.getSymName().str()); found != chosen.end())
          applySchedule(kernel, found->second);
    return module;
  }

  /// The warps and stages of a candidate, where the passes look for them.
  static void applySchedule(tile::KernelOp kernel, const Candidate &candidate) {
    Builder builder(kernel.getContext());
    if (candidate.warps)
      kernel->setAttr(kTunedWarpsAttr, builder.getI64IntegerAttr(candidate.warps));
    if (candidate.stages)
      kernel->setAttr(kTunedStagesAttr, builder.getI64IntegerAttr(candidate.stages));
  }

  /// Chooses from the kernel's tune block, if it has one; false after an error.
  bool tune(const ast::File &file, const std::string &name, const TargetInfo &target, CompileOptions &effective,
            std::map<std::string, Candidate> &chosen) {
    const ast::Kernel *kernel = file.findKernel(name);
    auto block = llvm::find_if(file.tunes, [&](const ast::Tune &t) { return t.kernel == name; });
    if (block == file.tunes.end() || kernel->isOp)
      return true;
    std::optional<std::vector<Candidate>> candidates = candidatesOf(*block, *kernel, options, result.diagnostics);
    if (!candidates)
      return false;
    if (candidates->size() == 1) {
      const Candidate &only = candidates->front();
      llvm::append_range(effective.bindings, only.bindings);
      chosen[name] = only;
      return true;
    }
    CompileOptions tried;
    CompileResult scratch;
    Compilation trial(tried, scratch);
    bool isWrong = false; // a mistake that has nothing to do with the choice: the real compilation reports it
    auto attempt = [&](const Candidate &candidate) -> Trial {
      if (isWrong)
        return {"not tried", {}};
      tried = options;
      tried.printAfter.clear();
      llvm::append_range(tried.bindings, candidate.bindings);
      scratch = CompileResult();
      OwningOpRef<ModuleOp> module = specialize(file, {name}, tried, trial.context, scratch.diagnostics);
      if (module) {
        auto made = *module->getOps<tile::KernelOp>().begin();
        applySchedule(made, candidate);
        if (trial.run(*module, [&](OpPassManager &manager) {
              buildNumericsPipeline(manager, target);
              buildGpuPipeline(manager, target, {options.warps, options.stages});
            }))
          return {"", estimateResources(made, kWarpsAttr, kSharedBytesAttr)};
      }
      for (const Diagnostic &diagnostic : scratch.diagnostics)
        if (diagnostic.severity == Severity::Error) {
          isWrong |= diagnostic.code != "T0407" && diagnostic.code != "T0501";
          std::string reason = diagnostic.message;
          for (const DiagnosticNote &note : diagnostic.notes)
            reason += "; " + note.message;
          return {reason, {}};
        }
      return {"it does not compile", {}};
    };
    std::optional<TuningChoice> choice =
        choose(*block, *kernel, *candidates, target, attempt, options.sourceName, result.diagnostics);
    if (isWrong) {
      llvm::erase_if(result.diagnostics, [](const Diagnostic &d) { return d.code == "T0502"; });
      return true;
    }
    if (!choice)
      return false;
    llvm::append_range(effective.bindings, choice->best.bindings);
    chosen[name] = choice->best;
    result.report += choice->report;
    return true;
  }

  /// Whether every kernel that the op calls has its parameters bound too, which for some only the arguments do.
  bool callsAreBound(const ast::File &file, const ast::Kernel &op) {
    std::vector<Diagnostic> found;
    if (specialize(file, {op.name}, options, context, found))
      return true;
    return llvm::any_of(found, [](const Diagnostic &d) { return d.severity == Severity::Error && d.code != "T0401"; });
  }

  void remark(const ast::Kernel &kernel, std::string message) {
    Diagnostic diagnostic;
    diagnostic.severity = Severity::Remark;
    diagnostic.place = {options.sourceName, kernel.nameRange.line, kernel.nameRange.column};
    diagnostic.length = int(kernel.nameRange.end - kernel.nameRange.begin);
    diagnostic.message = std::move(message);
    result.diagnostics.push_back(diagnostic);
  }

  bool run(ModuleOp module, llvm::function_ref<void(OpPassManager &)> build) {
    PassManager manager(&context);
#ifdef TESSERA_CHECKS
    manager.enableVerifier(true); // the dev preset trusts no pass
#else
    manager.enableVerifier(options.verifyEach);
#endif
    if (!options.printAfter.empty())
      manager.addInstrumentation(std::make_unique<PrintAfter>(options.printAfter, &result.log));
    build(manager);
    bool good = succeeded(manager.run(module));
    if (!good && result.ok())
      error(Fault::Internal, "a pass failed without a reason");
    return good && result.ok();
  }

  static std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream os(text);
    module.print(os);
    return text;
  }

  void compileGpu(ModuleOp module, const TargetInfo &target);
  void compileHost(ModuleOp module);
  void keepImage(const TargetInfo &target, KernelImage::Code kind, std::string code, std::vector<KernelInfo> kernels);

  const CompileOptions &options;
  CompileResult &result;
  MLIRContext context;
  std::vector<OpInfo> ops; ///< of load

private:
  static const DialectRegistry &makeRegistry() {
    static const DialectRegistry &registry = *[] {
      auto *fresh =
          new DialectRegistry; // immutable after this; never destroyed, so that no order of destruction matters
      registerDialects(*fresh);
      registerCodegenDialects(*fresh);
      return fresh;
    }();
    return registry;
  }

  void record(mlir::Diagnostic &source) {
    Diagnostic diagnostic;
    diagnostic.severity = source.getSeverity() == DiagnosticSeverity::Error     ? Severity::Error
                          : source.getSeverity() == DiagnosticSeverity::Warning ? Severity::Warning
                                                                                : Severity::Remark;
    diagnostic.place = placeOf(source.getLocation());
    if (diagnostic.place.file.empty())
      diagnostic.place.file = options.sourceName;
    std::string text = source.str();
    if (text.size() > 6 && text[0] == 'T' && text[5] == ':') {
      diagnostic.code = text.substr(0, 5);
      text = text.substr(7);
      if (size_t cut = text.find("; "); cut != std::string::npos) {
        diagnostic.remedy = text.substr(cut + 2);
        text.resize(cut);
      }
    } else if (diagnostic.severity == Severity::Error) {
      diagnostic.code = "T0599";
    }
    diagnostic.message = text;
    for (mlir::Diagnostic &note : source.getNotes())
      diagnostic.notes.push_back({placeOf(note.getLocation()), note.str()});
    result.diagnostics.push_back(std::move(diagnostic));
  }

  DiagnosticEngine::HandlerID handler = 0;
};

void Compilation::compileGpu(ModuleOp module, const TargetInfo &target) {
  std::vector<KernelInfo> kernels;
  for (auto kernel : module.getOps<tile::KernelOp>()) {
    Result<KernelInfo> info = describeKernel(kernel);
    if (!info)
      return error(info.error());
    kernels.push_back(*info);
  }
  Schedule schedule{options.warps, options.stages};
  if (!run(module, [&](OpPassManager &manager) {
        buildNumericsPipeline(manager, target);
        buildGpuPipeline(manager, target, schedule);
      }))
    return;
  size_t index = 0;
  for (auto kernel : module.getOps<tile::KernelOp>()) {
    KernelInfo &info = kernels[index++];
    if (auto warps = kernel->getAttrOfType<IntegerAttr>(kWarpsAttr))
      info.threads = int(warps.getInt() * 32);
    if (auto bytes = kernel->getAttrOfType<IntegerAttr>(kSharedBytesAttr))
      info.sharedBytes = bytes.getInt();
    result.report += describeResources(info.name, estimateResources(kernel, kWarpsAttr, kSharedBytesAttr));
  }
  if (options.emit == Emit::Gpu) {
    result.text = print(module);
    return;
  }
  if (!run(module, [&](OpPassManager &manager) {
        buildNvvmPipeline(manager);
        if (options.lineInfo)
          manager.addPass(createAttachDebugInfoPass());
      }))
    return;
  if (options.emit == Emit::Nvvm) {
    result.text = print(module);
    return;
  }
  CodegenOptions codegen;
  if (BudgetExcess excess = findBudgetExcess(module, codegen); excess.function) { // with the kernel's place
    excess.function->emitError() << "T0506: " << excess.message << "; " << excess.remedy;
    return;
  }
  if (options.simulate && options.emit == Emit::Image) {
    std::vector<SimulatedKernel> simulated;
    for (const KernelInfo &info : kernels)
      simulated.push_back({info.entry, info.threads, info.sharedBytes});
    Result<std::string> object = emitSimulatedObject(module, target, simulated, codegen);
    if (!object)
      return error(object.error());
    return keepImage(target, KernelImage::Code::HostObject, std::move(*object), std::move(kernels));
  }
  Result<std::string> text =
      options.emit == Emit::Llvm ? emitLlvm(module, target, codegen) : emitPtx(module, target, codegen);
  if (!text)
    return error(text.error());
  result.text = *text;
  if (options.emit == Emit::Llvm)
    return;
  if (options.emit == Emit::Cubin || options.emit == Emit::Object)
    return error(Fault::Usage, "GPU programs end at PTX here", "assemble the PTX with ptxas, or let the driver do it",
                 "T0505");
  keepImage(target, KernelImage::Code::Ptx, std::move(*text), std::move(kernels));
}

void Compilation::keepImage(const TargetInfo &target, KernelImage::Code kind, std::string code,
                            std::vector<KernelInfo> kernels) {
  KernelImage image;
  image.target = std::string(target.name);
  image.source = options.sourceName;
  image.codeKind = kind;
  image.code = std::move(code);
  image.kernels = std::move(kernels);
  image.ops = std::move(ops);
  result.image = std::move(image);
}

void Compilation::compileHost(ModuleOp module) {
  std::vector<KernelInfo> kernels;
  for (auto kernel : module.getOps<tile::KernelOp>()) {
    Result<KernelInfo> info = describeKernel(kernel);
    if (!info)
      return error(info.error());
    kernels.push_back(*info);
  }
  if (!run(module, [&](OpPassManager &manager) {
        buildNumericsPipeline(manager, *findTarget("host"));
        buildHostPipeline(manager);
      }))
    return;
  for (KernelInfo &info : kernels) {
    auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(info.entry);
    if (auto bytes = function ? function->getAttrOfType<IntegerAttr>(kScratchBytesAttr) : IntegerAttr())
      info.scratchBytes = bytes.getInt();
    result.report += info.name + ": " + std::to_string(info.scratchBytes) + " bytes of scratch a thread\n";
    if (function && !options.entryPrefix.empty()) {
      info.entry = options.entryPrefix + info.entry;
      function.setSymName(info.entry);
      function.setVisibility_(LLVM::Visibility::Hidden);
    }
  }
  if (options.emit == Emit::Nvvm || options.emit == Emit::Gpu) {
    result.text = print(module);
    return;
  }
  if (options.emit == Emit::Ptx || options.emit == Emit::Cubin)
    return error(Fault::Usage, "the host target has no PTX", "choose a GPU target with --target", "T0505");
  if (options.emit == Emit::Llvm) {
    Result<std::string> text = emitLlvm(module, *findTarget("host"));
    if (!text)
      return error(text.error());
    result.text = *text;
    return;
  }
  CodegenOptions codegen;
  codegen.optimization = options.optimization;
  Result<std::string> object = emitHostObject(module, codegen);
  if (!object)
    return error(object.error());
  keepImage(*findTarget("host"), KernelImage::Code::HostObject, std::move(*object), std::move(kernels));
}

} // namespace

CompileResult compile(std::string_view source, const CompileOptions &options) {
  CompileResult result;
  Compilation compilation(options, result);
  const TargetInfo *target = findTarget(options.target);
  if (!target) {
    std::string names;
    for (std::string_view name : targetNames())
      names += (names.empty() ? "" : ", ") + std::string(name);
    compilation.error(Fault::Usage, "there is no target '" + options.target + "'", "the targets are " + names, "T0504");
    return result;
  }
  OwningOpRef<ModuleOp> module = compilation.load(source, *target);
  if (!module || !result.ok())
    return result;
  if (options.emit == Emit::Tile) {
    result.text = Compilation::print(*module);
    return result;
  }
  if (target->gpu)
    compilation.compileGpu(*module, *target);
  else
    compilation.compileHost(*module);
  return result;
}

CompileResult check(std::string_view source, const CompileOptions &options) {
  CompileResult result;
  ast::File file = frontend::parse(source, options.sourceName, result.diagnostics);
  if (!result.ok())
    return result;
  // Names everywhere, also where no binding leads; then with values, which may come upon the same name again.
  std::vector<Diagnostic> names;
  frontend::checkNames(file, names);
  Compilation compilation(options, result);
  for (const ast::Kernel &kernel : file.kernels)
    if (isFullyBound(kernel, options)) {
      std::vector<Diagnostic> found;
      if (specialize(file, {kernel.name}, options, compilation.context, found))
        llvm::append_range(result.diagnostics, found);
      else // what only the arguments of a launch bind does not make an op wrong
        llvm::copy_if(found, std::back_inserter(result.diagnostics),
                      [&](const Diagnostic &d) { return !kernel.isOp || d.code != "T0401"; });
    }
  for (const Diagnostic &name : names)
    if (llvm::none_of(result.diagnostics,
                      [&](const Diagnostic &d) { return d.code == name.code && d.place == name.place; }))
      result.diagnostics.push_back(name);
    else if (!name.remedy.empty()) // the same, without the suggestion
      llvm::find_if(result.diagnostics, [&](const Diagnostic &d) {
        return d.code == name.code && d.place == name.place;
      })->remedy = name.remedy;
  llvm::stable_sort(result.diagnostics, [](const Diagnostic &a, const Diagnostic &b) {
    return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
  });
  // What is part of the language and only not compiled by this version does not make a program wrong.
  for (Diagnostic &diagnostic : result.diagnostics)
    if (diagnostic.code == "T0225" && diagnostic.severity == Severity::Error)
      diagnostic.severity = Severity::Warning;
  return result;
}

std::vector<KernelSignature> signatures(std::string_view source, const CompileOptions &options) {
  std::vector<Diagnostic> ignored;
  ast::File file = frontend::parse(source, options.sourceName, ignored);
  std::vector<KernelSignature> list;
  for (const ast::Kernel &kernel : file.kernels) {
    KernelSignature signature{kernel.name, kernel.isOp, {}, {}};
    for (const ast::Param &param : kernel.params) {
      ParamSignature entry;
      entry.name = param.name;
      entry.isTensor = param.isTensor;
      entry.optional = param.defaultValue && param.defaultValue->kind == ast::Expr::Kind::None;
      entry.mode = param.mode == ast::Mode::Out     ? ParamMode::Out
                   : param.mode == ast::Mode::InOut ? ParamMode::InOut
                   : param.mode == ast::Mode::Accum ? ParamMode::Accum
                                                    : ParamMode::In;
      entry.clearFirst = param.mode == ast::Mode::Accum && param.defaultValue;
      signature.params.push_back(std::move(entry));
    }
    for (const ast::StaticParam &param : kernel.staticParams)
      signature.compileTime.push_back(param.name);
    list.push_back(std::move(signature));
  }
  return list;
}

} // namespace tessera
