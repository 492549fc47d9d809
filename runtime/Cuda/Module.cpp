//===- Module.cpp - loaded code and its kernels --------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The driver assembles PTX when it loads it; its log goes into the Error.
//
#include "runtime/Cuda/Module.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::cuda {
namespace {

/// A block has this much dynamic shared memory without opting in.
constexpr int64_t kDefaultSharedBytes = 48 * 1024;
constexpr size_t kLogBytes = 8192;

} // namespace

Result<std::shared_ptr<const Module>> Module::load(std::shared_ptr<const Context> context, const std::string &code) {
  std::shared_ptr<Module> module(new Module(std::move(context)));
  std::string log(kLogBytes, '\0');
  JitOption options[] = {JitOption::ErrorLog, JitOption::ErrorLogBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(kLogBytes)};
  // std::string ends with a null byte, which PTX needs.
  Result<void> s = module->owner->run("cuModuleLoadDataEx", [&](auto &t) {
    return t.cuModuleLoadDataEx(&module->handle, code.c_str(), 2, options, values);
  });
  if (!s) {
    module->handle = nullptr;
    Error error = s.error();
    log.resize(std::min(log.find('\0'), log.size()));
    if (!log.empty())
      error.message += "; the driver's log: " + log;
    return error;
  }
  return std::shared_ptr<const Module>(std::move(module));
}

Module::~Module() {
  if (handle)
    (void)owner->run("cuModuleUnload", [&](auto &t) { return t.cuModuleUnload(handle); });
}

Result<Function> Module::function(const std::string &entry, int threads, int64_t sharedBytes) const {
  int64_t limit = owner->info().maxSharedBytes;
  if (sharedBytes > limit)
    return Error{Fault::Machine,
                 fmt::format("'{}' needs {} bytes of shared memory, {} allows {}", entry, sharedBytes,
                             owner->info().name, limit),
                 "choose smaller tiles or fewer stages", "T0624"};
  Function function;
  function.threads = threads;
  function.sharedBytes = static_cast<int>(sharedBytes);
  Result<void> s = owner->run("cuModuleGetFunction",
                              [&](auto &t) { return t.cuModuleGetFunction(&function.handle, handle, entry.c_str()); });
  if (!s) {
    Error error = s.error();
    error.message += fmt::format(" for '{}'", entry);
    return error;
  }
  if (sharedBytes > kDefaultSharedBytes) {
    s = owner->run("cuFuncSetAttribute", [&](auto &t) {
      return t.cuFuncSetAttribute(function.handle, FunctionAttribute::MaxDynamicShared, function.sharedBytes);
    });
    if (!s)
      return s.error();
  }
  int maxThreads = 0;
  const std::pair<FunctionAttribute, int *> attributes[] = {{FunctionAttribute::MaxThreads, &maxThreads},
                                                            {FunctionAttribute::Registers, &function.registers},
                                                            {FunctionAttribute::LocalBytes, &function.localBytes}};
  for (auto [attribute, value] : attributes) {
    s = owner->run("cuFuncGetAttribute",
                   [&, a = attribute, v = value](auto &t) { return t.cuFuncGetAttribute(v, a, function.handle); });
    if (!s)
      return s.error();
  }
  if (threads > maxThreads)
    return Error{Fault::Machine,
                 fmt::format("'{}' needs blocks of {} threads, {} allows it {} ({} registers a thread)", entry, threads,
                             owner->info().name, maxThreads, function.registers),
                 "choose fewer warps or smaller tiles", "T0624"};
  return function;
}

Result<void> Module::launch(const Function &function, int64_t programs, void **params, StreamHandle stream) const {
  if (programs <= 0)
    return {};
  if (programs > kMaxPrograms)
    return Error{
        Fault::Program,
        fmt::format("the grid has {} programs, a CUDA device takes at most {} in one launch", programs, kMaxPrograms),
        "choose larger tiles, or launch over parts of the tensors", "T0613"};
  return owner->run("cuLaunchKernel", [&](auto &t) {
    return t.cuLaunchKernel(function.handle, static_cast<unsigned>(programs), 1, 1,
                            static_cast<unsigned>(function.threads), 1, 1, static_cast<unsigned>(function.sharedBytes),
                            stream, params, nullptr);
  });
}

} // namespace tessera::cuda
