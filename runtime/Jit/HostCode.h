//===- HostCode.h - the object file of a host image, linked into the process ---------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// LLVM's ORC behind two functions; no LLVM header is needed to use it.
//
#ifndef TESSERA_RUNTIME_JIT_HOSTCODE_H
#define TESSERA_RUNTIME_JIT_HOSTCODE_H

#include "runtime/Support/Result.h"

#include "runtime/Simulator/Simulator.h"

#include <memory>
#include <string>
#include <vector>

namespace tessera {

/// The processor that host code is compiled for, with its features: code for one is not for another.
std::string hostProcessor();

/// Executable memory with the code of one object file.
class HostCode {
public:
  /// Links `object` and finds `entries`.  It may call only the mathematical and memory functions listed in HostCode.cpp, and `more`.
  static Result<std::shared_ptr<const HostCode>> load(const std::string &object,
                                                      const std::vector<std::string> &entries,
                                                      const std::vector<simulator::Symbol> &more = {});
  ~HostCode();
  HostCode(const HostCode &) = delete;
  HostCode &operator=(const HostCode &) = delete;

  /// The address of one of the entries of load; null for any other name.
  void *find(const std::string &entry) const;

private:
  struct State;
  HostCode();
  std::unique_ptr<State> state;
};

} // namespace tessera
#endif // TESSERA_RUNTIME_JIT_HOSTCODE_H
