//===- Runner.cpp - compiles a random program everywhere and compares --------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "tests/fuzz/programs/Runner.h"

#include "runtime/Cuda/Context.h"
#include "runtime/Jit/Jit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace tessera::fuzz {
namespace {

constexpr unsigned char kGap = 0xA5; ///< bytes between rows, which no one may write

/// The memory of one tensor.
struct Buffer {
  std::vector<uint64_t> words; ///< aligned storage
  size_t bytes = 0;
  unsigned char *data() { return reinterpret_cast<unsigned char *>(words.data()) + (-uintptr_t(words.data()) & 63); }
};

int64_t offsetOf(const Tensor &tensor, int64_t linear) {
  int64_t offset = 0;
  for (size_t d = tensor.extents.size(); d-- > 0; linear /= tensor.extents[d])
    offset += linear % tensor.extents[d] * tensor.strides[d];
  return offset;
}

Buffer pack(const Tensor &tensor, const std::vector<Element> &elements) {
  int64_t last = 0;
  for (size_t d = 0; d < tensor.extents.size(); ++d)
    last += (tensor.extents[d] - 1) * tensor.strides[d];
  Buffer buffer;
  buffer.bytes = size_t(last + 1) * size_t(sizeOf(tensor.type));
  buffer.words.resize(buffer.bytes / 8 + 17);
  std::memset(buffer.data(), kGap, buffer.bytes);
  for (size_t i = 0; i < elements.size(); ++i)
    store(tensor.type, elements[i], buffer.data() + offsetOf(tensor, int64_t(i)) * sizeOf(tensor.type));
  return buffer;
}

bool agree(const Tensor &tensor, Element found, Element expected) {
  if (same(tensor.type, found, expected))
    return true;
  return tensor.isApproximate && std::fabs(found.number - expected.number) <= 4e-6 * std::fabs(expected.number) + 1e-6;
}

/// The first element that is not as expected, in words; empty if all are.
std::string compare(const Program &program, std::vector<Buffer> &found,
                    const std::vector<std::vector<Element>> &expected) {
  for (size_t t = 0; t < program.tensors.size(); ++t) {
    const Tensor &tensor = program.tensors[t];
    std::vector<bool> isElement(found[t].bytes, false);
    for (size_t i = 0; i < expected[t].size(); ++i) {
      int64_t at = offsetOf(tensor, int64_t(i)) * sizeOf(tensor.type);
      for (int b = 0; b < sizeOf(tensor.type); ++b)
        isElement[size_t(at + b)] = true;
      Element value = load(tensor.type, found[t].data() + at);
      if (!agree(tensor, value, expected[t][i]))
        return fmt::format("{} element {} of {}: expected {}, found {}", tensor.name, i, expected[t].size(),
                           show(tensor.type, expected[t][i]), show(tensor.type, value));
    }
    for (size_t b = 0; b < found[t].bytes; ++b)
      if (!isElement[b] && found[t].data()[b] != kGap)
        return fmt::format("{}: byte {} between rows was written", tensor.name, b);
  }
  return "";
}

std::vector<NamedArgument> arguments(const Program &program, const std::vector<void *> &memory) {
  std::vector<NamedArgument> list;
  for (size_t t = 0; t < program.tensors.size(); ++t) {
    const Tensor &tensor = program.tensors[t];
    list.push_back({tensor.name, TensorRef{memory[t], tensor.type, tensor.extents, tensor.strides, false}});
  }
  for (const ScalarParam &scalar : program.scalars) {
    const Slot &slot = program.slots[size_t(scalar.slot)];
    list.push_back({slot.name, isFloat(slot.type) ? *ScalarRef::convert(scalar.value.number, slot.type)
                                                  : *ScalarRef::convert(scalar.value.integer, slot.type)});
  }
  return list;
}

std::string firstError(const std::vector<Diagnostic> &diagnostics, std::string *code = nullptr) {
  for (const Diagnostic &d : diagnostics)
    if (d.severity == Severity::Error) {
      if (code)
        *code = d.code;
      return fmt::format("{} at line {}: {}", d.code, d.place.line, d.message);
    }
  return "no reason given";
}

/// Errors that a correct program may meet: it needs more than the target has, or this version does not compile it.
bool isRefusal(const std::string &code) {
  return code == "T0225" || (code >= "T0500" && code < "T0520" && code != "T0504");
}

/// Compiles, launches and reads back; the results replace `buffers`.
std::string launch(const Program &program, Jit &jit, const CompileOptions &options, const Device &device,
                   std::vector<Buffer> &buffers, Verdict &verdict) {
  std::vector<void *> memory;
  std::vector<cuda::Memory> onDevice;
  std::optional<cuda::Stream> stream;
  auto failed = [](const Error &error) { return fmt::format("launch: {} {}", error.code, error.message); };
  if (device.isCuda()) {
    Result<cuda::Stream> created = cuda::Stream::create(device.context());
    if (!created)
      return failed(created.error());
    stream.emplace(*std::move(created));
  }
  for (Buffer &buffer : buffers) {
    memory.push_back(buffer.data());
    if (!stream)
      continue;
    Result<cuda::Memory> allocated = cuda::Memory::allocate(device.context(), buffer.bytes);
    if (!allocated)
      return failed(allocated.error());
    if (Result<void> copied = allocated->copyFrom(buffer.data(), stream->get()); !copied)
      return failed(copied.error());
    memory.back() = allocated->get();
    onDevice.push_back(*std::move(allocated));
  }
  std::vector<NamedArgument> named = arguments(program, memory);
  CompileOptions complete = options;
  complete.tensors = Jit::factsOf(named);
  JitResult result = jit.get(complete, device);
  if (auto *failure = std::get_if<JitFailure>(&result)) {
    std::string code, text = firstError(failure->diagnostics, &code);
    if (isRefusal(code)) {
      verdict.refusals.push_back(device.name() + " " + code);
      return "refused";
    }
    return fmt::format("rejected on {}: {} {}", device.name(), text, failure->error.message);
  }
  const JitKernel &kernel = std::get<JitKernel>(result);
  Result<std::vector<Argument>> ordered = orderArguments(kernel.info(), named);
  if (!ordered)
    return failed(ordered.error());
  if (Result<void> done = kernel.image->launch(kernel.index, *ordered, stream ? stream->get() : nullptr); !done)
    return failed(done.error());
  for (size_t t = 0; stream && t < buffers.size(); ++t)
    if (Result<void> copied = onDevice[t].copyTo(buffers[t].data(), stream->get()); !copied)
      return failed(copied.error());
  if (stream)
    if (Result<void> done = stream->synchronize(); !done)
      return failed(done.error());
  return "";
}

std::string assemble(const std::string &ptxas, const std::string &target, const std::string &text) {
  std::string path = fmt::format("/tmp/tessera-fuzz-{}.ptx", getpid());
  std::FILE *file = std::fopen(path.c_str(), "w");
  if (!file)
    return "ptxas: cannot write " + path;
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
  int status = std::system(fmt::format("{} -arch={} {} -o /dev/null", ptxas, target, path).c_str());
  std::remove(path.c_str());
  return status == 0 ? "" : "ptxas refused the code for " + target;
}

} // namespace

Verdict check(const Program &program, const RunOptions &options) {
  static const Device host = Device::cpu(1);
  Verdict verdict;
  std::string source = print(program);
  std::vector<std::vector<Element>> memory = initialMemory(program), expected = memory;
  interpret(program, expected);
  auto fresh = [&] {
    std::vector<Buffer> buffers;
    for (size_t t = 0; t < program.tensors.size(); ++t)
      buffers.push_back(pack(program.tensors[t], memory[t]));
    return buffers;
  };
  Jit jit(source, "random.tile");
  CompileOptions compilation;
  compilation.kernel = "random";
  compilation.lineInfo = false;

  std::vector<std::vector<Element>> atO2;
  for (int level : {2, 0}) {
    std::vector<Buffer> buffers = fresh();
    compilation.optimization = level;
    verdict.failure = launch(program, jit, compilation, host, buffers, verdict);
    if (verdict.failure == "refused") {
      verdict.failure.clear();
      return verdict;
    }
    if (!verdict.failure.empty())
      return verdict;
    if (std::string difference = compare(program, buffers, expected); !difference.empty()) {
      verdict.failure = fmt::format("wrong on the host at -O{}: {}", level, difference);
      return verdict;
    }
    // Approximate results too are the same to the bit at both levels.
    std::vector<std::vector<Element>> values;
    for (size_t t = 0; t < program.tensors.size(); ++t) {
      values.emplace_back();
      for (size_t i = 0; i < expected[t].size(); ++i)
        values[t].push_back(load(program.tensors[t].type, buffers[t].data() + offsetOf(program.tensors[t], int64_t(i)) *
                                                                                  sizeOf(program.tensors[t].type)));
      for (size_t i = 0; !atO2.empty() && i < values[t].size(); ++i)
        if (!same(program.tensors[t].type, values[t][i], atO2[t][i])) {
          verdict.failure = fmt::format("differs between -O2 and -O0: {} element {}", program.tensors[t].name, i);
          return verdict;
        }
    }
    if (atO2.empty())
      atO2 = std::move(values);
  }
  compilation.optimization = 2;

  std::vector<Buffer> buffers = fresh();
  std::vector<void *> addresses;
  for (Buffer &buffer : buffers)
    addresses.push_back(buffer.data());
  compilation.tensors = Jit::factsOf(arguments(program, addresses));
  compilation.sourceName = "random.tile";
  compilation.emit = Emit::Ptx;
  for (size_t i = 0; i < options.targets.size(); ++i) {
    compilation.target = options.targets[i];
    CompileResult compiled = compile(source, compilation);
    if (!compiled.ok()) {
      std::string code, text = firstError(compiled.diagnostics, &code);
      if (isRefusal(code)) {
        verdict.refusals.push_back("gpu " + code);
        continue;
      }
      verdict.failure = fmt::format("rejected for {}: {}", options.targets[i], text);
      return verdict;
    }
    if (i == 0 && !options.ptxas.empty())
      verdict.failure = assemble(options.ptxas, options.targets[i], compiled.text);
    if (!verdict.failure.empty())
      return verdict;
  }

  if (options.device) {
    verdict.failure = launch(program, jit, compilation, *options.device, buffers, verdict);
    if (verdict.failure == "refused")
      verdict.failure.clear();
    else if (verdict.failure.empty())
      if (std::string difference = compare(program, buffers, expected); !difference.empty())
        verdict.failure = fmt::format("wrong on {}: {}", options.device->name(), difference);
  }
  return verdict;
}

} // namespace tessera::fuzz
