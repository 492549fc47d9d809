//===- AttachDebugInfo.cpp - source locations to line information ---------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Upstream's pass gives all frames the subprogram of the enclosing function, which loses the middle frames of `fn` in `fn`, and prints line 0 for
// fused locations.  This one flattens a location into its frames, outermost first, and rebuilds it with one subprogram a frame.
// Needs: the LLVM dialect.  Gives: locations the translation understands.  Linear in the number of ops (locations are memoized).
//
#include "compiler/Codegen/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/BinaryFormat/Dwarf.h"

namespace tessera {
#define GEN_PASS_DEF_ATTACHDEBUGINFOPASS
#include "compiler/Codegen/Passes.h.inc"
} // namespace tessera

using namespace mlir;

namespace {

/// One frame of a location: where, and the name of the `fn` it lies in (null: not known).
struct Frame {
  FileLineColLoc place;
  StringAttr function;
};

/// Appends the frames of `location`, outermost first; an unknown location has none.
void collectFrames(Location location, StringAttr function, SmallVectorImpl<Frame> &frames) {
  if (auto place = dyn_cast<FileLineColLoc>(location)) {
    frames.push_back({place, function});
  } else if (auto range = dyn_cast<FileLineColRange>(location)) {
    frames.push_back(
        {FileLineColLoc::get(range.getFilename(), range.getStartLine(), range.getStartColumn()), function});
  } else if (auto name = dyn_cast<NameLoc>(location)) {
    collectFrames(name.getChildLoc(), name.getName(), frames);
  } else if (auto call = dyn_cast<CallSiteLoc>(location)) {
    collectFrames(call.getCaller(), nullptr, frames);
    collectFrames(call.getCallee(), nullptr, frames);
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (size_t before = frames.size(); Location part : fused.getLocations()) {
      collectFrames(part, function, frames);
      if (frames.size() != before)
        return;
    }
  }
}

/// The subprograms of one module and the locations rewritten so far.
class DebugInfoBuilder {
public:
  explicit DebugInfoBuilder(MLIRContext *context) : context(context) {}

  void attach(LLVM::LLVMFuncOp function) {
    SmallVector<Frame> frames;
    collectFrames(function.getLoc(), nullptr, frames);
    Frame home = frames.empty() ? Frame{FileLineColLoc::get(StringAttr::get(context, "<unknown>"), 1, 1), nullptr}
                                : frames.front();
    LLVM::DISubprogramAttr own = createSubprogram(function.getSymNameAttr(), home.place);
    memo.clear();
    function->walk([&](Operation *op) {
      if (op != function)
        op->setLoc(rewrite(op->getLoc(), own, home));
    });
    function->setLoc(FusedLoc::get(context, {home.place}, own));
  }

private:
  LLVM::DIFileAttr fileOf(FileLineColLoc place) {
    return LLVM::DIFileAttr::get(context, place.getFilename(), StringAttr::get(context, ""));
  }

  LLVM::DISubprogramAttr createSubprogram(StringAttr name, FileLineColLoc place) {
    LLVM::DIFileAttr file = fileOf(place);
    auto distinct = [&] { return DistinctAttr::create(UnitAttr::get(context)); };
    if (!unit)
      unit = LLVM::DICompileUnitAttr::get(distinct(), llvm::dwarf::DW_LANG_C, file, StringAttr::get(context, "tessera"),
                                          /*isOptimized=*/true, LLVM::DIEmissionKind::DebugDirectivesOnly);
    auto flags = LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized;
    auto type = LLVM::DISubroutineTypeAttr::get(context, ArrayRef<LLVM::DITypeAttr>());
    return LLVM::DISubprogramAttr::get(context, distinct(), unit, file, name, StringAttr(), file, place.getLine(),
                                       place.getLine(), flags, type, {}, {});
  }

  /// The subprogram of a called `fn`: one a name and file.
  LLVM::DISubprogramAttr calleeSubprogram(const Frame &frame) {
    StringAttr name = frame.function ? frame.function : StringAttr::get(context, "fn");
    LLVM::DISubprogramAttr &entry = callees[{frame.place.getFilename(), name}];
    if (!entry)
      entry = createSubprogram(name, frame.place);
    return entry;
  }

  Location rewrite(Location location, LLVM::DISubprogramAttr own, const Frame &home) {
    LocationAttr &entry = memo[location];
    if (entry)
      return entry;
    SmallVector<Frame> frames;
    collectFrames(location, nullptr, frames);
    if (frames.empty())
      frames.push_back(home);
    Location result = FusedLoc::get(context, {frames[0].place}, own);
    for (const Frame &frame : ArrayRef(frames).drop_front()) {
      Location leaf = FusedLoc::get(context, {frame.place}, calleeSubprogram(frame));
      result = CallSiteLoc::get(leaf, result);
    }
    entry = result;
    return result;
  }

  MLIRContext *context;
  LLVM::DICompileUnitAttr unit;
  DenseMap<std::pair<StringAttr, StringAttr>, LLVM::DISubprogramAttr> callees; // looked up, never iterated
  DenseMap<Attribute, LocationAttr> memo;                                      // of the current function
};

struct AttachDebugInfo final : tessera::impl::AttachDebugInfoPassBase<AttachDebugInfo> {
  void runOnOperation() override {
    DebugInfoBuilder builder(&getContext());
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (!function.isExternal() && !isa<FusedLocWith<LLVM::DISubprogramAttr>>(function.getLoc()))
        builder.attach(function);
  }
};

} // namespace
