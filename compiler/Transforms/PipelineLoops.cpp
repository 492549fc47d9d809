//===- PipelineLoops.cpp - copies run ahead of the loop that uses them ----------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A loop qualifies when all its copies stand directly in its body, read parameters of mode `in`, and depend only on the induction variable and on
// values from outside.  With S stages, iteration i reads stage i mod S while the copies of iteration i + S - 1 fill the stage that iteration
// i - 1 read; one barrier an iteration, right after the wait, covers both directions:
//
//     wait S-2        my copies for iteration i have arrived
//     barrier         everybody's have, and everybody is done with iteration i - 1
//     copy i + S - 1  into the stage of iteration i - 1, under the condition that such an iteration exists
//
// Groups are committed in every iteration, empty or not, so that counting them stays right at the end of the loop.
//
#include "compiler/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace tessera {
#define GEN_PASS_DEF_PIPELINELOOPSPASS
#include "compiler/Transforms/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::tile_gpu;

namespace {

/// The ops of `loop`'s body that `copy` needs, in body order; false if one of them cannot be repeated elsewhere.
bool collectSlice(scf::ForOp loop, CopyOp copy, llvm::SetVector<Operation *> &slice) {
  SmallVector<Value> open{copy.getView()};
  llvm::append_range(open, copy.getIndices());
  if (copy.getPad())
    open.push_back(copy.getPad());
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == loop.getBody() && argument != loop.getInductionVar())
        return false; // loop-carried
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!loop->isProperAncestor(op))
      continue;
    if (op->getBlock() != loop.getBody() || op->getNumRegions() || !isMemoryEffectFree(op))
      return false;
    if (slice.insert(op))
      llvm::append_range(open, op->getOperands());
  }
  return true;
}

bool readsOnlyParameter(CopyOp copy) {
  BlockArgument root = tile::rootParameter(copy.getView());
  auto kernel = cast<tile::KernelOp>(root.getOwner()->getParentOp());
  return kernel.getArgAttrOfType<StringAttr>(root.getArgNumber(), tile::kModeAttr).getValue() == "in";
}

/// One loop with everything its rewriting needs.
struct Candidate {
  scf::ForOp loop;
  SmallVector<CopyOp> copies;
  llvm::SetVector<Operation *> slice;
  int64_t stageBytes = 0;
};

std::optional<Candidate> examine(scf::ForOp loop) {
  Candidate candidate{loop, {}, {}, 0};
  for (Operation &op : *loop.getBody()) {
    auto copy = dyn_cast<CopyOp>(op);
    if (!copy)
      continue;
    auto alloc = copy.getBuffer().getDefiningOp<AllocOp>();
    if (!alloc || alloc->getBlock() != loop.getBody() || copy.getPredicate() || !readsOnlyParameter(copy) ||
        !collectSlice(loop, copy, candidate.slice))
      return std::nullopt;
    candidate.copies.push_back(copy);
    candidate.stageBytes += cast<BufferType>(alloc.getResult().getType()).getStageBytes();
  }
  if (candidate.copies.empty())
    return std::nullopt;
  return candidate;
}

struct PipelineLoops final : public tessera::impl::PipelineLoopsPassBase<PipelineLoops> {
  using PipelineLoopsPassBase::PipelineLoopsPassBase;

  void runOnOperation() override {
    SmallVector<Candidate> candidates;
    int64_t total = 0;
    getOperation().walk([&](Operation *op) {
      if (auto alloc = dyn_cast<AllocOp>(op))
        total += cast<BufferType>(alloc.getResult().getType()).getStageBytes();
      else if (auto loop = dyn_cast<scf::ForOp>(op))
        if (auto candidate = examine(loop))
          candidates.push_back(std::move(*candidate));
    });
    // A tune block's choice, unless the option says otherwise; docs/performance.md: a third stage seldom pays.
    int64_t wanted = stages;
    auto tuned = getOperation()->getAttrOfType<IntegerAttr>(kTunedStagesAttr);
    if (wanted == 0)
      wanted = tuned ? tuned.getInt() : 2;
    for (Candidate &candidate : candidates) {
      // The most stages that leave room for everything else.  Conservative: other buffers may yet share memory.
      int64_t count = wanted;
      while (count > 1 && total + (count - 1) * candidate.stageBytes > sharedBytes)
        --count;
      if (count > 1) {
        rewrite(candidate, count);
        total += (count - 1) * candidate.stageBytes;
      }
    }
  }

  static Value constantLike(OpBuilder &builder, Location loc, Type type, int64_t value) {
    return arith::ConstantOp::create(builder, loc, IntegerAttr::get(type, value));
  }

  /// Issues the copies of the iteration with induction value `at` into stage `slot`, if `condition`.
  static void issue(OpBuilder &builder, Candidate &candidate, ArrayRef<Value> rings, Value at, Value slot,
                    Value condition) {
    IRMapping mapping;
    mapping.map(candidate.loop.getInductionVar(), at);
    for (Operation &op : *candidate.loop.getBody())
      if (candidate.slice.contains(&op))
        builder.clone(op, mapping);
    for (auto [copy, ring] : llvm::zip(candidate.copies, rings)) {
      auto type = cast<BufferType>(ring.getType());
      Value stage = SlotOp::create(builder, copy.getLoc(), type.withStages(1), ring, slot);
      SmallVector<Value> indices;
      for (Value index : copy.getIndices())
        indices.push_back(mapping.lookupOrDefault(index));
      Value pad = copy.getPad() ? mapping.lookupOrDefault(copy.getPad()) : Value();
      CopyOp::create(builder, copy.getLoc(), mapping.lookupOrDefault(copy.getView()), indices, copy.getWidths(),
                     copy.getSteps(), pad, condition, stage);
    }
    CommitOp::create(builder, candidate.loop.getLoc());
  }

  void rewrite(Candidate &candidate, int64_t count) {
    scf::ForOp loop = candidate.loop;
    Location loc = loop.getLoc();
    OpBuilder builder(loop);
    Type i32 = builder.getI32Type(), indexType = loop.getInductionVar().getType();
    SmallVector<Value> rings;
    for (CopyOp copy : candidate.copies) {
      auto type = cast<BufferType>(copy.getBuffer().getType());
      rings.push_back(AllocOp::create(builder, copy.getBuffer().getLoc(), type.withStages(count), IntegerAttr()));
    }
    Value lower = loop.getLowerBound(), upper = loop.getUpperBound(), step = loop.getStep();
    for (int64_t s = 0; s + 1 < count; ++s) {
      Value distance = arith::MulIOp::create(builder, loc, step, constantLike(builder, loc, indexType, s));
      Value at = arith::AddIOp::create(builder, loc, lower, distance);
      Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, at, upper);
      issue(builder, candidate, rings, at, constantLike(builder, loc, i32, s), exists);
    }
    Value ahead = arith::MulIOp::create(builder, loc, step, constantLike(builder, loc, indexType, count - 1));
    SmallVector<Value> inits(loop.getInitArgs());
    inits.push_back(constantLike(builder, loc, i32, 0));         // the stage that this iteration reads
    inits.push_back(constantLike(builder, loc, i32, count - 1)); // the stage that it fills
    auto newLoop = scf::ForOp::create(builder, loc, lower, upper, step, inits);
    Block *body = newLoop.getBody();
    if (!body->empty() && body->mightHaveTerminator())
      body->getTerminator()->erase();
    builder.setInsertionPointToStart(body);
    unsigned carried = loop.getNumRegionIterArgs();
    Value reading = newLoop.getRegionIterArg(carried), filling = newLoop.getRegionIterArg(carried + 1);
    WaitOp::create(builder, loc, count - 2);
    BarrierOp::create(builder, loc);
    Value next = arith::AddIOp::create(builder, loc, newLoop.getInductionVar(), ahead);
    Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, next, upper);
    issue(builder, candidate, rings, next, filling, exists);
    moveBody(builder, candidate, newLoop, rings, reading);
    auto yield = cast<scf::YieldOp>(body->getTerminator());
    builder.setInsertionPoint(yield);
    auto advance = [&](Value stage) -> Value {
      Value one = constantLike(builder, loc, i32, 1), plusOne = arith::AddIOp::create(builder, loc, stage, one);
      Value wraps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, plusOne,
                                          constantLike(builder, loc, i32, count));
      return arith::SelectOp::create(builder, loc, wraps, constantLike(builder, loc, i32, 0), plusOne);
    };
    SmallVector<Value> yielded(yield.getOperands());
    yielded.push_back(advance(reading));
    yielded.push_back(advance(filling));
    scf::YieldOp::create(builder, yield.getLoc(), yielded);
    yield.erase();
    builder.setInsertionPointAfter(newLoop);
    WaitOp::create(builder, loc, 0);
    for (auto [old, fresh] : llvm::zip(loop.getResults(), newLoop.getResults()))
      old.replaceAllUsesWith(fresh);
    loop.erase();
  }

  /// The old body behind the new prologue, with the buffers replaced by the stage that is read, without its copies and waits.
  static void moveBody(OpBuilder &builder, Candidate &candidate, scf::ForOp newLoop, ArrayRef<Value> rings,
                       Value reading) {
    scf::ForOp loop = candidate.loop;
    for (auto [copy, ring] : llvm::zip(candidate.copies, rings)) {
      Operation *alloc = copy.getBuffer().getDefiningOp();
      Value stage =
          SlotOp::create(builder, copy.getLoc(), cast<BufferType>(ring.getType()).withStages(1), ring, reading);
      copy.erase();
      alloc->getResult(0).replaceAllUsesWith(stage);
      alloc->erase();
    }
    for (Operation &op : llvm::make_early_inc_range(*loop.getBody()))
      if (isa<CommitOp, WaitOp>(op))
        op.erase();
    loop.getInductionVar().replaceAllUsesWith(newLoop.getInductionVar());
    for (auto [old, fresh] : llvm::zip(loop.getRegionIterArgs(), newLoop.getRegionIterArgs()))
      old.replaceAllUsesWith(fresh);
    newLoop.getBody()->getOperations().splice(newLoop.getBody()->end(), loop.getBody()->getOperations());
  }
};

} // namespace
