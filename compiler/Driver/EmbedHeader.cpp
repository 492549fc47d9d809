//===- EmbedHeader.cpp - the C++ header of embedded kernels ----------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// One class with functions for each kernel and op: tensors typed by element type and rank, scalars by value, absent optional tensors left out.
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
    "workspace",   "tessera"};

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
    return "std::nullopt";
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

/// Names of the class that are in use; `prefer`, or that with underscores behind it.
std::string unused(std::vector<std::string> &names, std::string prefer) {
  while (isTaken(prefer) || llvm::is_contained(names, prefer))
    prefer += "_";
  names.push_back(prefer);
  return prefer;
}

/// The functions of a kernel, or of an op: launch, prepare, and how much memory an op's temporaries need.
std::string functionsFor(const KernelInfo &kernel, const OpInfo *op, const std::string &name,
                         std::vector<std::string> &names) {
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
  if (arguments.empty())
    arguments = "std::nullopt"; // C++ has no empty arrays; the span below is cut to what there is
  size_t count = kernel.params.size();
  std::string list = "    const tessera::ArgumentView arguments[] = {" + arguments + "};\n",
              call = "(\"" + kernel.name + "\", " +
                     (count ? "arguments" : "std::span(arguments, size_t(0))"); // as many as it has parameters
  std::string only = parameters.empty() ? "" : parameters.substr(2);
  std::string text = "  /// " + kernel.name + "(" + comment + ")";
  if (op)
    text += "\n  /// " + std::to_string(op->steps.size()) +
            " steps; without memory in `workspace` the runtime allocates what the temporaries need, in stream order.";
  text += "\n  tessera::Result<void> " + name + "(tessera::StreamHandle stream" + parameters +
          (op ? ", const tessera::Workspace &workspace = {}" : "") + ") const {\n" + list +
          "    return embedded.launch" + call + ", stream" + (op ? ", workspace" : "") + ");\n  }\n";
  text += "  /// Checks now; the result launches again and again with these very arguments, also into a stream that is "
          "captured.\n"
          "  tessera::Result<tessera::PreparedLaunch> " +
          unused(names, "prepare_" + kernel.name) + "(" + only + ") const {\n" + list + "    return embedded.prepare" +
          call + ");\n  }\n";
  if (op)
    text += "  /// Bytes of the workspace for such arguments.\n  tessera::Result<size_t> " +
            unused(names, kernel.name + "_workspace") + "(" + only + ") const {\n" + list +
            "    return embedded.workspaceBytes" + call + ");\n  }\n";
  return text;
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
  // The names of the language first: what is made up gives way.
  std::vector<std::string> names, own;
  for (const KernelInfo &kernel : image.kernels)
    own.push_back(kernel.stepOnly ? "" : unused(names, safeName(kernel.name)));
  for (const OpInfo &op : image.ops)
    own.push_back(unused(names, safeName(op.signature.name)));
  size_t next = 0;
  for (const KernelInfo &kernel : image.kernels)
    if (const std::string &name = own[next++]; !kernel.stepOnly)
      text += functionsFor(kernel, nullptr, name, names) + "\n";
  for (const OpInfo &op : image.ops)
    text += functionsFor(op.signature, &op, own[next++], names) + "\n";
  return text +
         "private:\n  explicit Kernels(tessera::EmbeddedKernels kernels) : embedded(std::move(kernels)) {}\n"
         "  tessera::EmbeddedKernels embedded;\n};\n\n} // namespace " +
         options.nameSpace + "\n";
}

} // namespace tessera
