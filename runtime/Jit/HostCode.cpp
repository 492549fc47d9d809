//===- HostCode.cpp - the object file of a host image, linked into the process -------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// ORC without its compilers: an execution session, a linking layer, one library.  The symbols that host code may need are given by
// address from a list, not searched in the process: the same list works in a static binary, and a kernel cannot reach anything else.
//
#include "runtime/Jit/HostCode.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"

#include <cmath>
#include <cstring>
#include <map>

// Conversions between half and single precision that the back end calls on processors without the instruction; from the compiler's
// runtime library, so their C++ types do not matter here: only their addresses are taken.
extern "C" {
void __extendhfsf2();
void __truncsfhf2();
void __truncdfhf2();
}

namespace tessera {
namespace {

using namespace llvm;

struct Named {
  const char *name;
  void *address;
};

/// Both precisions of a function of one argument.
#define TESSERA_MATH_1(NAME)                                                                                           \
  Named{#NAME, reinterpret_cast<void *>(static_cast<double (*)(double)>(::NAME))}, Named {                             \
#NAME "f", reinterpret_cast < void *>(static_cast <float (*)(float)>(::NAME##f))                                   \
  }
#define TESSERA_MATH_2(NAME)                                                                                           \
  Named{#NAME, reinterpret_cast<void *>(static_cast<double (*)(double, double)>(::NAME))}, Named {                     \
#NAME "f", reinterpret_cast < void *>(static_cast <float (*)(float, float)>(::NAME##f))                            \
  }

std::vector<Named> allowedSymbols() {
  return {
      {"memcpy", reinterpret_cast<void *>(static_cast<void *(*)(void *, const void *, size_t)>(::memcpy))},
      {"memmove", reinterpret_cast<void *>(static_cast<void *(*)(void *, const void *, size_t)>(::memmove))},
      {"memset", reinterpret_cast<void *>(static_cast<void *(*)(void *, int, size_t)>(::memset))},
      {"fma", reinterpret_cast<void *>(static_cast<double (*)(double, double, double)>(::fma))},
      {"fmaf", reinterpret_cast<void *>(static_cast<float (*)(float, float, float)>(::fmaf))},
      {"__extendhfsf2", reinterpret_cast<void *>(&__extendhfsf2)},
      {"__gnu_h2f_ieee", reinterpret_cast<void *>(&__extendhfsf2)},
      {"__truncsfhf2", reinterpret_cast<void *>(&__truncsfhf2)},
      {"__gnu_f2h_ieee", reinterpret_cast<void *>(&__truncsfhf2)},
      {"__truncdfhf2", reinterpret_cast<void *>(&__truncdfhf2)},
      TESSERA_MATH_1(sqrt),
      TESSERA_MATH_1(floor),
      TESSERA_MATH_1(ceil),
      TESSERA_MATH_1(trunc),
      TESSERA_MATH_1(rint),
      TESSERA_MATH_1(nearbyint),
      TESSERA_MATH_1(round),
      TESSERA_MATH_1(roundeven),
      TESSERA_MATH_1(exp),
      TESSERA_MATH_1(exp2),
      TESSERA_MATH_1(expm1),
      TESSERA_MATH_1(log),
      TESSERA_MATH_1(log2),
      TESSERA_MATH_1(log10),
      TESSERA_MATH_1(log1p),
      TESSERA_MATH_1(sin),
      TESSERA_MATH_1(cos),
      TESSERA_MATH_1(tan),
      TESSERA_MATH_1(tanh),
      TESSERA_MATH_1(erf),
      TESSERA_MATH_1(cbrt),
      TESSERA_MATH_2(pow),
      TESSERA_MATH_2(fmod),
      TESSERA_MATH_2(fmin),
      TESSERA_MATH_2(fmax),
      TESSERA_MATH_2(atan2),
      TESSERA_MATH_2(copysign),
  };
}

tessera::Error internal(std::string what, llvm::Error error) {
  return tessera::Error{Fault::Internal, "cannot link host code: " + std::move(what) + llvm::toString(std::move(error)),
                        "", ""};
}

} // namespace

struct HostCode::State {
  std::unique_ptr<orc::ExecutionSession> session;
  std::unique_ptr<orc::ObjectLinkingLayer> layer;
  std::map<std::string, void *> entries;

  ~State() {
    // The session frees what its layers linked, so it ends first and its layers outlive it.
    if (session)
      llvm::consumeError(session->endSession());
    layer.reset();
    session.reset();
  }
};

HostCode::HostCode() : state(std::make_unique<State>()) {}
HostCode::~HostCode() = default;

Result<std::shared_ptr<const HostCode>> HostCode::load(const std::string &object,
                                                       const std::vector<std::string> &entries,
                                                       const std::vector<simulator::Symbol> &more) {
  auto control = orc::SelfExecutorProcessControl::Create();
  if (!control)
    return internal("", control.takeError());
  std::shared_ptr<HostCode> code(new HostCode);
  State &state = *code->state;
  state.session = std::make_unique<orc::ExecutionSession>(std::move(*control));
  // ORC prints the reason of a failed lookup through this hook and returns only a summary; libraries do not print, so keep it.
  std::string reasons;
  state.session->setErrorReporter(
      [&reasons](llvm::Error error) { reasons += llvm::toString(std::move(error)) + "; "; });
  auto memory = jitlink::InProcessMemoryManager::Create();
  if (!memory)
    return internal("", memory.takeError());
  state.layer = std::make_unique<orc::ObjectLinkingLayer>(*state.session, std::move(*memory));
  auto library = state.session->createJITDylib("kernels");
  if (!library)
    return internal("", library.takeError());

  orc::SymbolMap symbols;
  for (const Named &symbol : allowedSymbols())
    symbols[state.session->intern(symbol.name)] = {orc::ExecutorAddr::fromPtr(symbol.address),
                                                   JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  for (const simulator::Symbol &symbol : more)
    symbols[state.session->intern(symbol.name)] = {orc::ExecutorAddr::fromPtr(symbol.address),
                                                   JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  if (llvm::Error error = library->define(orc::absoluteSymbols(std::move(symbols))))
    return internal("", std::move(error));
  if (llvm::Error error = state.layer->add(*library, MemoryBuffer::getMemBufferCopy(object, "kernels.o")))
    return internal("", std::move(error));
  for (const std::string &entry : entries) {
    auto found = state.session->lookup({&*library}, entry);
    if (!found)
      return internal(reasons, found.takeError());
    state.entries[entry] = found->getAddress().toPtr<void *>();
  }
  state.session->setErrorReporter([](llvm::Error error) { llvm::consumeError(std::move(error)); });
  return std::shared_ptr<const HostCode>(std::move(code));
}

void *HostCode::find(const std::string &entry) const {
  auto found = state->entries.find(entry);
  return found == state->entries.end() ? nullptr : found->second;
}

std::string hostProcessor() {
  std::string text = sys::getProcessTriple() + " " + sys::getHostCPUName().str();
  std::map<std::string, bool> ordered;
  for (const auto &feature : sys::getHostCPUFeatures())
    ordered[feature.getKey().str()] = feature.getValue();
  for (const auto &[name, present] : ordered)
    text += (present ? " +" : " -") + name;
  return text;
}

} // namespace tessera
