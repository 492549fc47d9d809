//===- Environment.h - the names that are visible ------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
#ifndef TESSERA_COMPILER_FRONTEND_ENVIRONMENT_H
#define TESSERA_COMPILER_FRONTEND_ENVIRONMENT_H

#include "compiler/Frontend/Value.h"

#include <map>

namespace tessera::frontend {

/// A name: what it holds now, and whether it may be assigned.
struct Variable {
  Value value;
  bool isVar = false;
};

/// Nested scopes of one kernel or one function body.  Names do not shadow, so the innermost is the only one.
class Environment {
public:
  void push() { scopes.emplace_back(); }
  void pop() { scopes.pop_back(); }
  void declare(const std::string &name, Variable variable) { scopes.back()[name] = std::move(variable); }
  Variable *find(const std::string &name) {
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
      if (auto found = scope->find(name); found != scope->end())
        return &found->second;
    return nullptr;
  }
  /// Everything visible, by value: what a closure captures.
  std::map<std::string, Value> snapshot() const {
    std::map<std::string, Value> values;
    for (const auto &scope : scopes)
      for (const auto &[name, variable] : scope)
        values[name] = variable.value;
    return values;
  }

private:
  std::vector<std::map<std::string, Variable>> scopes = std::vector<std::map<std::string, Variable>>(1);
};

} // namespace tessera::frontend
#endif // TESSERA_COMPILER_FRONTEND_ENVIRONMENT_H
