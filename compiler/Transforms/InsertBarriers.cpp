//===- InsertBarriers.cpp - barriers between conflicting accesses ---------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Walks the kernel in program order with the set of accesses since the last barrier.  An access that overlaps one of them, one of the two being a write,
// gets a barrier in front.  Shared memory overlaps by bytes, so reuse of memory by another buffer is seen; parameters that the kernel
// reads and writes count as memory of their own.  At the end of a loop's body the walk enters it again with what is pending, until that
// adds nothing.  Data of a copy is written when the copy is issued and once more when a wait lets it arrive.
//
// Two accesses to different stages of one ring do not conflict: PipelineLoops keeps stages apart by its own barrier.
//
#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/SharedAccess.h"

namespace tessera {
#define GEN_PASS_DEF_INSERTBARRIERSPASS
#include "compiler/Transforms/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::tile_gpu;

namespace {

/// Bytes [begin, end) of shared memory, or of the parameter `param`.
struct Access {
  int64_t begin = 0, end = 0;
  int param = -1;
  bool write = false;
  Operation *alloc = nullptr;
  Value stage;
  bool operator==(const Access &) const = default;
};

bool conflict(const Access &a, const Access &b) {
  if (!a.write && !b.write)
    return false;
  if (a.param != b.param)
    return false;
  if (a.param >= 0)
    return true;
  if (a.alloc == b.alloc && a.stage && b.stage && a.stage != b.stage)
    return false;
  return a.begin < b.end && b.begin < a.end;
}

struct State {
  SmallVector<Access> pending; ///< accesses since the last barrier
  SmallVector<Access> flying;  ///< copies issued and not waited for
  void add(SmallVector<Access> &list, const Access &access) {
    if (!llvm::is_contained(list, access))
      list.push_back(access);
  }
  void merge(const State &other) {
    for (const Access &access : other.pending)
      add(pending, access);
    for (const Access &access : other.flying)
      add(flying, access);
  }
  bool covers(const State &other) const {
    return llvm::all_of(other.pending, [&](const Access &a) { return llvm::is_contained(pending, a); }) &&
           llvm::all_of(other.flying, [&](const Access &a) { return llvm::is_contained(flying, a); });
  }
};

struct InsertBarriers final : public tessera::impl::InsertBarriersPassBase<InsertBarriers> {
  void runOnOperation() override {
    State state;
    walkBlock(getOperation().getBody().front(), state);
  }

  static Access shared(Value buffer, bool write) {
    Value stage;
    AllocOp alloc = allocOf(buffer, stage);
    auto type = cast<BufferType>(alloc.getResult().getType());
    int64_t offset = alloc.getOffset().value_or(0);
    return {offset, offset + type.getStageBytes() * type.getStages(), -1, write, alloc, stage};
  }

  /// Accesses of parameters matter only where the kernel both reads and writes one.
  static std::optional<Access> global(Value view, bool write) {
    BlockArgument root = tile::rootParameter(view);
    auto kernel = cast<tile::KernelOp>(root.getOwner()->getParentOp());
    if (kernel.getArgAttrOfType<StringAttr>(root.getArgNumber(), tile::kModeAttr).getValue() != "inout")
      return std::nullopt;
    return Access{0, 0, int(root.getArgNumber()), write, nullptr, Value()};
  }

  void access(Operation *op, State &state, ArrayRef<Access> accesses) {
    for (const Access &one : accesses)
      if (llvm::any_of(state.pending, [&](const Access &other) { return conflict(one, other); })) {
        OpBuilder builder(op);
        BarrierOp::create(builder, op->getLoc());
        state.pending.clear();
        break;
      }
    for (const Access &one : accesses)
      state.add(state.pending, one);
  }

  void walkBlock(Block &block, State &state) {
    for (Operation &op : llvm::make_early_inc_range(block))
      visit(&op, state);
  }

  /// An atomic on a scalar stands between barriers of its own; after the second only the read of its scratch is pending.  One on a tile is an access like
  /// others, with a barrier of its own in front of a release and behind an acquire.
  void visitAtomic(AtomicOp atomic, State &state) {
    if (atomic.getBuffer()) {
      state.pending.clear();
      state.add(state.pending, shared(atomic.getBuffer(), false));
      return;
    }
    tile::Order order = atomic.getOrder();
    if (order == tile::Order::Release || order == tile::Order::AcqRel)
      state.pending.clear();
    if (auto one = global(atomic.getView(), true))
      access(atomic, state, {*one});
    if (order == tile::Order::Acquire || order == tile::Order::AcqRel)
      state.pending.clear();
  }

  void visit(Operation *op, State &state) {
    if (isa<BarrierOp>(op)) {
      state.pending.clear();
    } else if (auto copy = dyn_cast<CopyOp>(op)) {
      SmallVector<Access> accesses{shared(copy.getBuffer(), true)};
      if (auto read = global(copy.getView(), false))
        accesses.push_back(*read);
      access(op, state, accesses);
      state.add(state.flying, accesses[0]);
    } else if (isa<WaitOp>(op)) {
      for (const Access &arrived : state.flying)
        state.add(state.pending, arrived);
      if (cast<WaitOp>(op).getPending() == 0)
        state.flying.clear();
    } else if (auto write = dyn_cast<WriteOp>(op)) {
      access(op, state, {shared(write.getBuffer(), true)});
    } else if (auto read = dyn_cast<ReadOp>(op)) {
      access(op, state, {shared(read.getBuffer(), false)});
    } else if (auto read = dyn_cast<ReadPartOp>(op)) {
      access(op, state, {shared(read.getBuffer(), false)});
    } else if (auto count = dyn_cast<CountOp>(op)) {
      access(op, state, {shared(count.getBuffer(), true)});
    } else if (auto exchange = dyn_cast<ExchangeOp>(op)) {
      // Writes, passes its own barrier, reads.
      access(op, state, {shared(exchange.getBuffer(), true)});
      state.pending.clear();
      state.add(state.pending, shared(exchange.getBuffer(), false));
    } else if (auto atomic = dyn_cast<AtomicOp>(op)) {
      visitAtomic(atomic, state);
    } else if (auto dot = dyn_cast<DotOp>(op)) {
      SmallVector<Access> accesses;
      for (Value operand : {dot.getA(), dot.getB()})
        if (isa<BufferType>(operand.getType()))
          accesses.push_back(shared(operand, false));
      access(op, state, accesses);
    } else if (auto load = dyn_cast<tile::LoadOp>(op)) {
      if (auto one = global(load.getView(), false))
        access(op, state, {*one});
    } else if (auto store = dyn_cast<tile::StoreOp>(op)) {
      if (auto one = global(store.getView(), true))
        access(op, state, {*one});
    } else if (isa<scf::ForOp, scf::WhileOp>(op)) {
      // A further round sees what the end of the body leaves behind; barriers inserted in one round stay.
      while (true) {
        State before = state;
        for (Region &region : op->getRegions())
          walkBlock(region.front(), state);
        State after = state;
        state.merge(before); // a loop may also run zero times
        if (before.covers(after))
          break;
      }
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      State other = state;
      walkBlock(branch.getThenRegion().front(), state);
      if (!branch.getElseRegion().empty())
        walkBlock(branch.getElseRegion().front(), other);
      state.merge(other);
    }
  }
};

} // namespace
