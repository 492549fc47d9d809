//===- TileToHost.cpp - the pass around HostLowering ------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "compiler/Conversion/TileToHost/Lowering.h"
#include "compiler/Conversion/TileToHost/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_TILETOHOSTPASS
#include "compiler/Conversion/TileToHost/Passes.h.inc"
} // namespace tessera

using namespace mlir;

namespace {
struct NamedFault {
  llvm::StringRef name;
  bool tessera::HostFaults::*member;
};
using tessera::HostFaults;
constexpr NamedFault kFaults[] = {{"max-skips-nan", &HostFaults::maxSkipsNan},
                                  {"last-depth-dropped", &HostFaults::lastDepthDropped},
                                  {"pad-ignored", &HostFaults::padIgnored},
                                  {"low-bound-ignored", &HostFaults::lowBoundIgnored},
                                  {"high-bound-ignored", &HostFaults::highBoundIgnored},
                                  {"store-unguarded", &HostFaults::storeUnguarded},
                                  {"accumulator-ignored", &HostFaults::accumulatorIgnored},
                                  {"reduce-skips-first", &HostFaults::reduceSkipsFirst},
                                  {"broadcast-wrong-axis", &HostFaults::broadcastWrongAxis},
                                  {"permute-ignored", &HostFaults::permuteIgnored},
                                  {"subview-offset-ignored", &HostFaults::subviewOffsetIgnored},
                                  {"view-bound-ignored", &HostFaults::viewBoundIgnored},
                                  {"loop-skips-last", &HostFaults::loopSkipsLast},
                                  {"select-swapped", &HostFaults::selectSwapped},
                                  {"iota-from-one", &HostFaults::iotaFromOne},
                                  {"grid-step-off", &HostFaults::gridStepOff},
                                  {"min-becomes-max", &HostFaults::minBecomesMax},
                                  {"expand-transposed", &HostFaults::expandTransposed},
                                  {"carried-not-updated", &HostFaults::carriedNotUpdated},
                                  {"stride-ignored", &HostFaults::strideIgnored}};
} // namespace

bool tessera::HostFaults::set(llvm::StringRef name) {
  for (const NamedFault &fault : kFaults)
    if (fault.name == name)
      return this->*fault.member = true;
  return false;
}

llvm::ArrayRef<llvm::StringRef> tessera::HostFaults::names() {
  static const std::vector<llvm::StringRef> &list = *[] {
    auto *all = new std::vector<llvm::StringRef>;
    for (const NamedFault &fault : kFaults)
      all->push_back(fault.name);
    return all;
  }();
  return list;
}

namespace {
struct TileToHost final : public tessera::impl::TileToHostPassBase<TileToHost> {
  using TileToHostPassBase::TileToHostPassBase;
  void runOnOperation() override {
    tessera::HostFaults faults;
    if (!fault.empty() && !faults.set(fault)) {
      getOperation().emitError() << "there is no fault '" << fault << "'";
      return signalPassFailure();
    }
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<tessera::tile::KernelOp>())) {
      OpBuilder builder(kernel);
      if (failed(tessera::HostLowering(kernel, builder, faults).lower()))
        return signalPassFailure();
      kernel.erase();
    }
  }
};
} // namespace
