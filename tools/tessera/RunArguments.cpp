//===- RunArguments.cpp - the data of `tessera run` ----------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Data in, data out.
//
#include "tools/tessera/RunArguments.h"

#include "tools/tessera/ArgumentSpec.h"
#include "tools/tessera/Terminal.h"

#include <fmt/format.h>

namespace tessera {
namespace {

/// Two tensors of one command line must not hold the same numbers.
uint64_t seedFor(uint64_t seed, const std::string &name) {
  uint64_t hash = 0xcbf29ce484222325ull ^ seed;
  for (char byte : name)
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3ull;
  return hash;
}

} // namespace

TensorRef RunArgument::ref() const {
  TensorRef tensor = array->ref();
  if (onDevice)
    tensor.data = onDevice->get();
  return tensor;
}

Result<RunArguments> RunArguments::make(const std::vector<std::string> &texts, uint64_t seed) {
  RunArguments result;
  for (const std::string &text : texts) {
    Result<std::pair<std::string, std::string>> parts = splitAssignment(text, "--arg");
    if (!parts)
      return parts.error();
    Result<ArgumentSpec> spec = parseSpec(parts->second);
    if (!spec)
      return spec.error();
    RunArgument argument;
    argument.name = parts->first;
    if (spec->kind == ArgumentSpec::Kind::Number) {
      Result<ScalarRef> scalar = makeScalar(*spec, std::nullopt);
      if (!scalar)
        return scalar.error();
      argument.scalar = *scalar;
    } else {
      Result<Array> array = makeArray(*spec, seedFor(seed, argument.name), readFile);
      if (!array)
        return array.error();
      argument.array = *std::move(array);
    }
    result.arguments.push_back(std::move(argument));
  }
  return result;
}

Result<void> RunArguments::upload(const Device &device, StreamHandle stream) {
  if (!device.isCuda())
    return {};
  for (RunArgument &argument : arguments) {
    if (!argument.array)
      continue;
    Result<cuda::Memory> memory = cuda::Memory::allocate(device.context(), argument.array->bytes());
    if (!memory)
      return memory.error();
    argument.onDevice = *std::move(memory);
    Result<void> copied = argument.onDevice->copyFrom(argument.array->data(), static_cast<cuda::StreamHandle>(stream));
    if (!copied)
      return copied;
  }
  return {};
}

Result<void> RunArguments::download(RunArgument &argument, StreamHandle stream) const {
  if (!argument.onDevice)
    return {};
  return argument.onDevice->copyTo(argument.array->data(), static_cast<cuda::StreamHandle>(stream));
}

std::vector<NamedArgument> RunArguments::named() const {
  std::vector<NamedArgument> list;
  for (const RunArgument &argument : arguments)
    list.push_back({argument.name, argument.array ? Argument(argument.ref()) : Argument(argument.scalar)});
  return list;
}

Result<RunArgument *> RunArguments::tensor(const std::string &name, const char *option) {
  std::string names;
  for (RunArgument &argument : arguments) {
    if (!argument.array)
      continue;
    if (argument.name == name)
      return &argument;
    names += (names.empty() ? "" : ", ") + argument.name;
  }
  return Error{
      Fault::Usage,
      fmt::format("{} '{}': there is no tensor of that name; found: {}", option, name, names.empty() ? "none" : names),
      "name one that --arg gives", "T0616"};
}

} // namespace tessera
