//===- EmbedHeader.cpp - the C++ header of embedded kernels ----------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// One class with one function for each kernel: tensors typed by element type and rank, scalars by value, absent optional tensors left out.
//
#include "compiler/Driver/Embed.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera {
namespace {

/// Words that a name of the language may be and a name in the header may not: C++'s, and those that the class itself uses.
constexpr const char *kTaken[] = {
    "alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
    "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char8_t",
    "char16_t",    "char32_t", "class",      "co_await",  "co_return", "co_yield",     "compl",
    "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
    "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
    "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
    "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
    "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
    "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
    "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
    "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
    "true",        "try",      "typedef",    "typeid",    "typename",  "union",        "unsigned",
    "using",       "virtual",  "void",       "volatile",  "wchar_t",   "while",        "xor",
    "xor_eq",      "Kernels",  "load",       "embedded",  "stream",    "arguments",    "device",
    "tessera"};

bool isTaken(std::string_view name) {
  return llvm::any_of(kTaken, [&](const char *word) { return name == word; });
}

std::string safeName(const std::string &name) { return isTaken(name) ? name + "_" : name; }

std::string dtypeName(DType type) {
  std::string text(nameOf(type));
  if (type == DType::Bool)
    return "tessera::DType::Bool";
  for (char &c : text)
    c = llvm::toUpper(c);
  return "tessera::DType::" + text;
}

/// The C++ type of a scalar parameter; floats that C++ lacks are passed as float and rounded.
std::string scalarType(DType type) {
  switch (type) {
  case DType::Bool:
    return "bool";
  case DType::F64:
    return "double";
  default:
    if (isFloat(type))
      return "float";
    return std::string(isUnsignedInteger(type) ? "uint" : "int") + std::to_string(sizeOf(type) * 8) + "_t";
  }
}

std::string argumentOf(const ParamInfo &param) {
  std::string name = safeName(param.name);
  if (!param.present)
    return "std::monostate()";
  if (param.isTensor)
    return name + ".tensor()";
  switch (param.dtype) {
  case DType::Bool:
  case DType::I32:
  case DType::I64:
  case DType::U32:
  case DType::U64:
  case DType::F32:
  case DType::F64:
    return "tessera::ScalarRef::of(" + name + ")";
  default:
    return "tessera::scalarArgument(" + dtypeName(param.dtype) + ", " +
           (isFloat(param.dtype) ? "double(" : "int64_t(") + name + "))";
  }
}

const char *modeName(ParamMode mode) {
  switch (mode) {
  case ParamMode::In:
    return "in";
  case ParamMode::Out:
    return "out";
  case ParamMode::InOut:
    return "inout";
  case ParamMode::Accum:
    return "accum";
  }
  return "";
}

/// The parameter as the language writes it.
std::string declared(const ParamInfo &param) {
  std::string text = param.name + ": ";
  if (!param.isTensor)
    return text + std::string(nameOf(param.dtype));
  text += std::string(modeName(param.mode)) + " " + std::string(nameOf(param.dtype)) + "[";
  for (size_t d = 0; d < param.extents.size(); ++d)
    text += (d ? ", " : "") + param.extents[d].pretty();
  return text + "]";
}

std::string functionFor(const KernelInfo &kernel) {
  std::string comment, parameters, arguments;
  for (const ParamInfo &param : kernel.params) {
    arguments += (arguments.empty() ? "" : ", ") + argumentOf(param);
    if (!param.present)
      continue;
    comment += (comment.empty() ? "" : ", ") + declared(param);
    std::string type = param.isTensor
                           ? std::string(param.mode == ParamMode::In ? "const tessera::In<" : "const tessera::Out<") +
                                 dtypeName(param.dtype) + ", " + std::to_string(param.extents.size()) + "> &"
                           : scalarType(param.dtype) + " ";
    parameters += ", " + type + safeName(param.name);
  }
  return "  /// " + kernel.name + "(" + comment + ")\n  tessera::Result<void> " + safeName(kernel.name) +
         "(tessera::StreamHandle stream" + parameters + ") const {\n    const tessera::Argument arguments[] = {" +
         arguments + "};\n    return embedded.launch(\"" + kernel.name + "\", arguments, stream);\n  }\n";
}

} // namespace

bool isNamespace(std::string_view text) {
  while (true) {
    size_t cut = text.find("::");
    std::string_view part = text.substr(0, cut);
    bool letters = !part.empty() && (llvm::isAlpha(part[0]) || part[0] == '_') &&
                   llvm::all_of(part, [](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (!letters || isTaken(part))
      return false;
    if (cut == std::string_view::npos)
      return true;
    text.remove_prefix(cut + 2);
  }
}

std::string embedSymbol(std::string_view nameSpace) {
  // `a::b` and `a_b` must not meet: every underscore of a name is written with its length in front, as C++ mangles.
  std::string symbol = "tessera_kernels";
  while (!nameSpace.empty()) {
    size_t cut = std::min(nameSpace.find("::"), nameSpace.size());
    symbol += "_" + std::to_string(cut) + std::string(nameSpace.substr(0, cut));
    nameSpace.remove_prefix(std::min(cut + 2, nameSpace.size()));
  }
  return symbol;
}

std::string writeEmbedHeader(const KernelImage &image, const EmbedOptions &options) {
  std::string symbol = embedSymbol(options.nameSpace), source = image.source;
  source = source.substr(source.find_last_of('/') + 1);
  std::string targets;
  for (const std::string &target : options.targets)
    targets += (targets.empty() ? "" : ", ") + target;
  std::string text =
      "// Made from " + source + " by `tessera compile --emit header` for " + targets +
      ".  Link the archive beside it and tessera::runtime.\n#pragma once\n\n"
      "#include <tessera/embedded.hpp>\n\n"
      "extern \"C\" __attribute__((visibility(\"hidden\"))) const tessera::EmbeddedTable " +
      symbol + ";\n\nnamespace " + options.nameSpace +
      " {\n\n/// The kernels on one device; cheap to copy, any thread may launch.\nclass Kernels {\npublic:\n"
      "  static tessera::Result<Kernels> load(const tessera::Device &device) {\n"
      "    tessera::Result<tessera::EmbeddedKernels> loaded = tessera::EmbeddedKernels::load(" +
      symbol +
      ", device);\n    if (!loaded)\n      return loaded.error();\n    return Kernels(*std::move(loaded));\n  }\n\n";
  for (const KernelInfo &kernel : image.kernels)
    if (!kernel.stepOnly)
      text += functionFor(kernel) + "\n";
  return text +
         "private:\n  explicit Kernels(tessera::EmbeddedKernels kernels) : embedded(std::move(kernels)) {}\n"
         "  tessera::EmbeddedKernels embedded;\n};\n\n} // namespace " +
         options.nameSpace + "\n";
}

} // namespace tessera
