//===- JitKey.cpp - what a compilation depends on ------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Fields with their lengths in front, so that none runs into the next.  A new option that is not named here does not compile.
//
#include "runtime/Jit/JitKey.h"

#include "runtime/Jit/CompilerIdentity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tessera {
namespace {

void append(std::string &key, std::string_view field) { key += fmt::format("{}:{}", field.size(), field); }

void appendFacts(std::string &key, const TensorFacts &facts, bool withShape) {
  const auto &[param, present, dtype, rank, shape, contract] = facts;
  const auto &[align, unitDim, strideDiv, extentDiv] = contract;
  append(key, param);
  append(key, fmt::format("{} {} {} {} {} {} {} {}", present, dtype ? nameOf(*dtype) : "", align, unitDim,
                          fmt::join(strideDiv, ","), fmt::join(extentDiv, ","), rank ? int64_t(*rank) : -1,
                          withShape ? shape.size() : 0));
  if (withShape)
    append(key, fmt::format("{}", fmt::join(shape, ",")));
}

std::string keyOf(const CompileOptions &options, bool withShapes) {
  const auto &[sourceName, kernel, bindings, tensors, alignedTensors, target, emit, simulate, lineInfo, warps, stages,
               optimization, importPaths, printAfter, verifyEach, warningsAsErrors, entryPrefix] = options;
  std::string key;
  append(key, sourceName);
  append(key, kernel);
  append(key, target);
  append(key, printAfter);
  append(key, entryPrefix);
  append(key, fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}", int(emit), simulate, alignedTensors, lineInfo, warps,
                          stages, optimization, verifyEach, warningsAsErrors, bindings.size(), tensors.size(),
                          importPaths.size()));
  for (const auto &[name, value] : bindings) {
    append(key, name);
    append(key, value);
  }
  for (const std::string &path : importPaths)
    append(key, path);
  for (const TensorFacts &facts : tensors)
    appendFacts(key, facts, withShapes);
  return key;
}

} // namespace

std::string keyOfOptions(const CompileOptions &options) { return keyOf(options, /*withShapes=*/false); }

std::string keyOfCompilation(std::string_view source, const CompileOptions &options, std::string_view hostProcessor,
                             std::string_view assembler) {
  std::string compiler = compilerIdentity();
  // What an imported file says is not part of the key, so that programs with imports have none.
  if (compiler.empty() || source.find("import") != std::string_view::npos)
    return "";
  std::string key = "tessera compilation 1";
  append(key, compiler);
  append(key, options.target == "host" || options.simulate ? hostProcessor : std::string_view());
  append(key, assembler);
  append(key, source);
  return key + keyOf(options, /*withShapes=*/true);
}

} // namespace tessera
