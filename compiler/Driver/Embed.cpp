//===- Embed.cpp - kernels as an archive and a typed C++ header ------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// One compilation for each target and contract.  The wide one takes aligned dense rows for granted, the narrow one nothing; the launch chooses.  The
// code of host images moves out of the image into an object of its own, under a prefix that keeps several archives apart.
//
#include "compiler/Driver/Embed.h"
#include "compiler/Codegen/EmbedArchive.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera {

bool EmbedResult::ok() const {
  return !error && llvm::none_of(diagnostics, [](const Diagnostic &d) { return d.severity == Severity::Error; });
}

/// What is wrong with `with` and the namespace, before anything is compiled.
static std::optional<Error> checkOptions(std::string_view source, const EmbedOptions &options) {
  if (!isNamespace(options.nameSpace))
    return Error{Fault::Usage, "'" + options.nameSpace + "' is no namespace of C++", "write --namespace a or a::b",
                 "T0643"};
  std::vector<KernelSignature> known = signatures(source, options.compile);
  for (const std::string &name : options.with) {
    std::string optional;
    bool found = false;
    for (const KernelSignature &kernel : known)
      for (const ParamSignature &param : kernel.params)
        if (param.isTensor && param.optional &&
            (options.compile.kernel.empty() || kernel.name == options.compile.kernel)) {
          found |= param.name == name;
          optional += (optional.empty() ? "" : ", ") + param.name;
        }
    if (!found)
      return Error{Fault::Usage, "no kernel has an optional tensor '" + name + "'",
                   optional.empty() ? "there is none; leave --with out" : "the optional tensors are " + optional,
                   "T0616"};
  }
  return std::nullopt;
}

static void merge(std::vector<Diagnostic> &all, const std::vector<Diagnostic> &fresh) {
  for (const Diagnostic &diagnostic : fresh)
    if (llvm::none_of(all, [&](const Diagnostic &d) {
          return d.code == diagnostic.code && d.message == diagnostic.message && d.place == diagnostic.place;
        }))
      all.push_back(diagnostic);
}

EmbedResult embed(std::string_view source, const EmbedOptions &options) {
  EmbedResult result;
  if ((result.error = checkOptions(source, options)))
    return result;
  EmbedContents contents;
  contents.symbol = embedSymbol(options.nameSpace);
  std::optional<KernelImage> described; // signatures are the same for every target
  for (const std::string &target : options.targets) {
    for (bool aligned : {true, false}) {
      if (aligned && options.anyLayoutOnly)
        continue;
      CompileOptions compileOptions = options.compile;
      compileOptions.target = target;
      compileOptions.emit = Emit::Image;
      compileOptions.alignedTensors = aligned;
      compileOptions.entryPrefix = contents.symbol + (aligned ? "_aligned_" : "_any_");
      for (const std::string &name : options.with)
        compileOptions.tensors.push_back({name, true, {}, {}, {}});
      CompileResult compiled = compile(source, compileOptions);
      merge(result.diagnostics, compiled.diagnostics);
      if (!compiled.ok())
        return result;
      result.report += target + (aligned ? ", aligned rows: " : ", any layout: ") + compiled.report;
      KernelImage image = *std::move(compiled.image);
      if (!described)
        described = image;
      if (image.codeKind == KernelImage::Code::HostObject) {
        for (const KernelInfo &kernel : image.kernels)
          contents.entries.push_back(kernel.entry);
        contents.objects.push_back(std::move(image.code));
        image.code.clear();
      }
      contents.images.push_back({target, image.serialize()});
    }
  }
  Result<std::string> archive = emitEmbedArchive(contents);
  if (!archive) {
    result.error = archive.error();
    return result;
  }
  result.archive = *std::move(archive);
  result.header = writeEmbedHeader(*described, options);
  return result;
}

} // namespace tessera
