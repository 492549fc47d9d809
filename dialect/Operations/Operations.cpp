//===- Operations.cpp - the table of operations ---------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "dialect/Operations/Operations.h"

#include <array>
#include <vector>

namespace tessera {

std::span<const Operation> operations() {
  static constexpr Operation kOperations[] = {
#define TESSERA_OPERATION(kind, name, least, most, form, types, result, shape, cost, ulp32, ulp64, rules, summary)     \
  {Operation::Kind::kind, #name, least, most,  form,   types, Operation::Result::result, Operation::Shape::shape,      \
   Operation::Cost::cost, ulp32, ulp64, rules, summary},
#include "dialect/Operations/Operations.def"
  };
  return kOperations;
}

std::span<const Uncovered> uncoveredCells() {
  static const std::vector<Uncovered> kCells = {
#define TESSERA_UNCOVERED(name, types, reason) {#name, types, reason},
#include "dialect/Operations/Operations.def"
  };
  return kCells;
}

std::span<const std::string_view> elementTypeNames() {
  static constexpr std::string_view kNames[] = {
#define TESSERA_BUILTIN_TYPE(name) #name,
#include "dialect/Operations/Operations.def"
  };
  return kNames;
}

const Operation *findOperation(std::string_view name) {
  for (const Operation &operation : operations())
    if (operation.name == name)
      return &operation;
  return nullptr;
}

bool isCallable(std::string_view name) {
  const Operation *operation = findOperation(name);
  return operation && (operation->kind == Operation::Kind::Function || operation->kind == Operation::Kind::Action);
}

std::string describeTypes(TypeSet types) {
  std::vector<std::string_view> parts;
  auto take = [&](TypeSet set, std::string_view words) {
    if ((types & set) != set)
      return;
    parts.push_back(words);
    types &= ~set;
  };
  take(kFloat | kF8, "floats");
  take(kNumber, "integers and floats of 16 bits or more");
  take(kFloat, "floats of 16 bits or more");
  take(kInteger, "integers");
  take(kF8, "fp8");
  take(kBool, "bool");
  constexpr std::array<std::string_view, 15> kNames = {"bool", "i8",  "i16",  "i32", "i64", "u8",     "u16",   "u32",
                                                       "u64",  "f16", "bf16", "f32", "f64", "f8e4m3", "f8e5m2"};
  for (size_t i = 0; i < kNames.size(); ++i)
    take(types & (1u << i) ? 1u << i : ~0u, kNames[i]);
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i)
    text += std::string(i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + std::string(parts[i]);
  return text;
}

} // namespace tessera
