//===- CompileHeader.cpp - `tessera compile --emit header` ---------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Kernels for a C++ program that has no compiler in it: `x.h` with typed functions, and `x.a` with the code for every target.
//
#include "tools/tessera/CompileHeader.h"
#include "tools/tessera/Crash.h"

#include "compiler/Driver/Embed.h"

#include <fmt/format.h>

#include <cctype>

namespace tessera {
namespace {

std::vector<std::string> splitAtCommas(const std::string &text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// `layer` for `build/layer.h`, with what C++ does not take replaced.
std::string namespaceFor(const std::string &stem) {
  std::string name = stem.substr(stem.find_last_of('/') + 1);
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)))
      c = '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])))
    name = "k" + name;
  return isNamespace(name) ? name : name + "_kernels";
}

} // namespace

int runCompileHeader(const SharedOptions &shared, const HeaderOptions &options) {
  Report report{{}, shared.file == "-" ? "<stdin>" : shared.file, "", shared.json};
  Error noFile{Fault::Usage, "a header comes with an archive beside it, so it needs the name of a file",
               "write -o FILE.h", "T0643"};
  size_t dot = options.output.rfind('.');
  if (options.output == "-" || dot == std::string::npos || options.output.substr(dot) == ".a")
    return report.finish(&noFile);
  std::string stem = options.output.substr(0, dot);
  Result<CompileOptions> compileOptions = shared.toCompileOptions();
  if (!compileOptions)
    return report.finish(&compileOptions.error());
  EmbedOptions embedOptions;
  embedOptions.compile = *compileOptions;
  embedOptions.targets = splitAtCommas(options.targets);
  embedOptions.with = options.with;
  embedOptions.nameSpace = options.nameSpace.empty() ? namespaceFor(stem) : options.nameSpace;
  embedOptions.anyLayoutOnly = options.anyLayout;
  Result<std::string> source = readFile(shared.file);
  if (!source)
    return report.finish(&source.error());
  report.source = *source;
  guardSource(*source);
  EmbedResult result = embed(*source, embedOptions);
  report.diagnostics = result.diagnostics;
  if (!result.ok())
    return report.finish(result.error ? &*result.error : nullptr);
  // The header last: a build that finds it finds its archive.
  if (Result<void> written = writeFile(stem + ".a", result.archive); !written)
    return report.finish(&written.error());
  if (Result<void> written = writeFile(options.output, result.header); !written)
    return report.finish(&written.error());
  if (options.showReport && !shared.json)
    fmt::print(stderr, "{}", result.report);
  return report.finish(nullptr, options.showReport ? "\"report\": " + quoteJson(result.report) : "");
}

} // namespace tessera
