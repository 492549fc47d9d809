//===- MutatedReaders.cpp - damaged IR and damaged images ---------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
//     mutated_readers --count 2000 FOLDER        the .mlir files of a folder, with tokens exchanged, left out, repeated, and numbers changed
//     mutated_readers --images --count 2000      an image file with flipped bytes, cut off, with bytes repeated
//     mutated_readers --print 17 FOLDER          the damaged text of a seed
//
// Holds that the reader of tile and tile_gpu IR, the verifiers, every pipeline and code generation answer with a diagnostic or with code, and the reader of images with an
// error or with an image: no abort, no hang.
//
#include "compiler/Codegen/Codegen.h"
#include "compiler/Driver/Compiler.h"
#include "compiler/Pipeline/Pipeline.h"
#include "compiler/Target/Target.h"
#include "tests/fuzz/Watch.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace tessera;
using namespace tessera::fuzz;

namespace {

struct Chance {
  uint64_t state;
  uint64_t next() { // splitmix64
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  size_t below(size_t count) { return size_t(next() % count); }
};

/// Words, numbers, and single other characters; their concatenation is the text.
std::vector<std::string> tokensOf(const std::string &text) {
  auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
  std::vector<std::string> tokens;
  for (size_t i = 0; i < text.size();) {
    size_t j = i + 1;
    if (isWord(text[i]))
      while (j < text.size() && isWord(text[j]))
        ++j;
    tokens.push_back(text.substr(i, j - i));
    i = j;
  }
  return tokens;
}

std::string damage(const std::string &text, uint64_t seed) {
  constexpr const char *kNumbers[] = {"0",
                                      "-1",
                                      "1",
                                      "2",
                                      "3",
                                      "7",
                                      "8",
                                      "16",
                                      "17",
                                      "31",
                                      "32",
                                      "33",
                                      "64",
                                      "1024",
                                      "65536",
                                      "2147483648",
                                      "9223372036854775807",
                                      "4294967296"};
  constexpr const char *kWords[] = {"i1",    "i8",  "i32", "i64", "f16", "bf16", "f32",  "f64",    "f8E4M3FN", "f8E5M2",
                                    "index", "sum", "max", "min", "xor", "and",  "tile", "tensor", "true",     "unit"};
  Chance chance{seed};
  std::vector<std::string> tokens = tokensOf(text);
  for (size_t n = 1 + chance.below(3); n > 0 && tokens.size() > 2; --n) {
    size_t at = chance.below(tokens.size());
    // Most of what is between words is blank; damage to words tells more.
    for (int tries = 0; tries < 4 && !std::isalnum(static_cast<unsigned char>(tokens[at][0])); ++tries)
      at = chance.below(tokens.size());
    switch (chance.below(8)) {
    case 0:
      tokens.erase(tokens.begin() + long(at));
      break;
    case 1:
      tokens.insert(tokens.begin() + long(at), tokens[chance.below(tokens.size())]);
      break;
    case 2:
      std::swap(tokens[at], tokens[chance.below(tokens.size())]);
      break;
    case 3:
      tokens[at] = kWords[chance.below(std::size(kWords))];
      break;
    case 4:
      tokens[at][chance.below(tokens[at].size())] = char(33 + chance.below(90));
      break;
    case 5: { // another type where one stands: 4x8xf32
      size_t x = tokens[at].rfind('x');
      tokens[at] = (x == std::string::npos ? "" : tokens[at].substr(0, x + 1)) + kWords[chance.below(10)];
      break;
    }
    default: { // another number, alone or as the first extent of a shape
      while (at + 1 < tokens.size() && !std::isdigit(static_cast<unsigned char>(tokens[at][0])))
        ++at;
      size_t digits = 0;
      while (digits < tokens[at].size() && std::isdigit(static_cast<unsigned char>(tokens[at][digits])))
        ++digits;
      tokens[at] = kNumbers[chance.below(std::size(kNumbers))] + tokens[at].substr(digits);
    }
    }
  }
  std::string result;
  for (const std::string &token : tokens)
    result += token;
  return result;
}

/// The modules of the folder's files, which separate them by lines of dashes.
std::vector<std::string> modulesOf(const std::string &folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".mlir")
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> modules;
  for (const auto &path : paths) {
    std::stringstream whole;
    whole << std::ifstream(path).rdbuf();
    std::string line, part;
    while (std::getline(whole, line))
      if (line.rfind("// -----", 0) == 0)
        modules.push_back(std::exchange(part, ""));
      else if (line.rfind("//", 0) != 0)
        part += line + "\n";
    modules.push_back(part);
  }
  std::erase_if(modules, [](const std::string &text) { return text.find("tile") == std::string::npos; });
  return modules;
}

void readAndCompile(const std::string &text, uint64_t seed) {
  using namespace mlir;
  // MLIR's own reader of dense arrays asks `index` for its width and aborts.
  if (text.find("array<index") != std::string::npos)
    return;
  static const DialectRegistry &registry = *[] {
    auto *fresh = new DialectRegistry;
    registerDialects(*fresh);
    registerCodegenDialects(*fresh);
    return fresh;
  }();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.getDiagEngine().registerHandler([](mlir::Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (!module)
    return;
  std::vector<const TargetInfo *> gpus;
  for (std::string_view name : targetNames())
    if (findTarget(name)->gpu)
      gpus.push_back(findTarget(name));
  const TargetInfo &gpu = *gpus[seed % gpus.size()], &host = *findTarget("host");
  enum { kHost, kGpu, kNvvm };
  for (int way : {kHost, kGpu, kNvvm}) {
    OwningOpRef<ModuleOp> copy = module->clone();
    PassManager manager(&context);
    if (way != kNvvm)
      buildNumericsPipeline(manager, way == kHost ? host : gpu);
    if (way == kHost)
      buildHostPipeline(manager);
    if (way == kGpu)
      buildGpuPipeline(manager, gpu, Schedule());
    if (way != kHost)
      buildNvvmPipeline(manager);
    if (failed(manager.run(*copy)))
      continue;
    if (way == kHost)
      (void)emitHostObject(*copy);
    else
      (void)emitPtx(*copy, gpu);
  }
}

std::string damagedImage(const std::string &bytes, uint64_t seed) {
  Chance chance{seed};
  std::string image = bytes;
  // The head decides how the rest is read, so it is hit more often than its size asks.
  auto place = [&] { return chance.below(chance.below(2) ? image.size() : std::min<size_t>(image.size(), 600)); };
  for (size_t n = 1 + chance.below(4); n > 0 && !image.empty(); --n)
    switch (chance.below(5)) {
    case 0:
      image.resize(place());
      break;
    case 1:
      image[place()] ^= char(1 << chance.below(8));
      break;
    case 2:
      image[place()] = char(chance.next());
      break;
    case 3:
      image.insert(place(), std::string(1 + chance.below(9), char(chance.next())));
      break;
    default:
      for (size_t at = place(), i = 0; i < 8 && at + i < image.size(); ++i)
        image[at + i] = chance.below(2) ? '\xff' : '9';
    }
  return image;
}

std::string goodImage() {
  CompileOptions options;
  options.target = "sm_90a";
  CompileResult result =
      compile("kernel k(x: in f32[R, C], y: out f32[R, C], s: f32)\n  requires C > 0\n"
              "  grid (r in 0..R by 4, c in 0..C by 32)\n{ y[r +: 4, c +: 32] = x[r +: 4, c +: 32] * s }\n",
              options);
  return result.image ? result.image->serialize() : "";
}

} // namespace

int main(int argc, char **argv) {
  uint64_t from = 1, count = 2000;
  int limit = 30;
  bool images = false;
  std::string folder;
  std::optional<uint64_t> printed;
  CLI::App app("Damaged IR and damaged images");
  app.add_option("FOLDER", folder, "where the .mlir files are");
  app.add_option("--from", from, "the first seed");
  app.add_option("--count", count, "how many seeds");
  app.add_option("--time-limit", limit, "seconds of processor time for one input");
  app.add_option("--print", printed, "print the damaged text of this seed");
  app.add_flag("--images", images, "image files");
  CLI11_PARSE(app, argc, argv);
  Progress *progress = Progress::create();
  std::string image = images ? goodImage() : "";
  std::vector<std::string> modules = folder.empty() ? std::vector<std::string>() : modulesOf(folder);
  if (!progress || (images ? image.empty() : modules.empty())) {
    fmt::print("nothing to damage\n");
    return 1;
  }
  auto textOf = [&](uint64_t seed) { return damage(modules[seed % modules.size()], seed); };
  if (printed) {
    fmt::print("{}", textOf(*printed));
    return 0;
  }
  uint64_t deaths = watchSeeds(*progress, limit, from, from + count, [&](uint64_t seed) {
    if (!images)
      return readAndCompile(textOf(seed), seed);
    // What is read is an image like any other: it can be written, and read again.
    if (Result<KernelImage> read = KernelImage::deserialize(damagedImage(image, seed)))
      if (!KernelImage::deserialize(read->serialize()))
        std::abort();
  });
  fmt::print("{} passed, {} failed\n", count - deaths, deaths);
  return deaths != 0;
}
