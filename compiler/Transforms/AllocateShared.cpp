//===- AllocateShared.cpp - buffers share memory when they never live together -------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Ops are numbered in program order.  A buffer lives from its first to its last use, widened to the whole of every loop that contains a use but not the
// alloc; largest first, each goes to the lowest offset that no buffer living at the same time occupies.  Quadratic in the number of
// buffers, of which there are tens.
//
#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/SharedAccess.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace tessera {
#define GEN_PASS_DEF_ALLOCATESHAREDPASS
#include "compiler/Transforms/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::tile_gpu;

namespace {

struct Buffer {
  AllocOp alloc;
  int64_t first = -1, last = -1, bytes = 0, offset = 0;
};

struct AllocateShared final : public tessera::impl::AllocateSharedPassBase<AllocateShared> {
  using AllocateSharedPassBase::AllocateSharedPassBase;

  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    SmallVector<Buffer> buffers = measure(kernel);
    SmallVector<Buffer *> order;
    for (Buffer &buffer : buffers)
      order.push_back(&buffer);
    llvm::stable_sort(order, [](Buffer *a, Buffer *b) { return a->bytes > b->bytes; });
    int64_t total = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      place(*order[i], ArrayRef(order).take_front(i));
      total = std::max(total, order[i]->offset + order[i]->bytes);
    }
    Builder builder(&getContext());
    for (Buffer &buffer : buffers)
      buffer.alloc.setOffsetAttr(builder.getI64IntegerAttr(buffer.offset));
    kernel->setAttr(kSharedBytesAttr, builder.getI64IntegerAttr(total));
    if (total > sharedBytes)
      reject(kernel, buffers, total);
  }

  static SmallVector<Buffer> measure(tile::KernelOp kernel) {
    // Each op has a number; a region op also knows the number of the last op inside it.
    llvm::DenseMap<Operation *, int64_t> begin, end;
    int64_t counter = 0;
    kernel->walk([&](Operation *op, const WalkStage &stage) {
      if (stage.isBeforeAllRegions())
        begin[op] = counter++;
      if (stage.isAfterAllRegions())
        end[op] = counter++;
    });
    SmallVector<Buffer> buffers;
    kernel.walk([&](AllocOp alloc) {
      Buffer buffer{alloc};
      auto type = cast<BufferType>(alloc.getResult().getType());
      buffer.bytes = type.getStageBytes() * type.getStages();
      buffer.first = buffer.last = begin[alloc];
      SmallVector<Value> open{alloc.getResult()};
      while (!open.empty())
        for (Operation *user : open.pop_back_val().getUsers()) {
          if (isa<SlotOp, TransposeOp, ReinterpretOp>(user))
            open.push_back(user->getResult(0));
          Operation *outer = user; // the outermost op around the user within the alloc's block
          while (outer->getBlock() != alloc->getBlock())
            outer = outer->getParentOp();
          buffer.last = std::max(buffer.last, outer == user ? begin[user] : end[outer]);
        }
      buffers.push_back(buffer);
    });
    return buffers;
  }

  static void place(Buffer &buffer, ArrayRef<Buffer *> placed) {
    bool moved = true;
    while (moved) {
      moved = false;
      for (Buffer *other : placed) {
        bool together = other->first <= buffer.last && buffer.first <= other->last;
        bool overlap = other->offset < buffer.offset + buffer.bytes && buffer.offset < other->offset + other->bytes;
        if (together && overlap) {
          buffer.offset = llvm::alignTo(other->offset + other->bytes, 1024);
          moved = true;
        }
      }
    }
  }

  void reject(tile::KernelOp kernel, MutableArrayRef<Buffer> buffers, int64_t total) {
    InFlightDiagnostic diagnostic = kernel.emitError()
                                    << "T0501: '" << kernel.getSymName() << "' needs " << total
                                    << " bytes of shared memory, " << StringRef(target) << " allows "
                                    << int64_t(sharedBytes) << "; smaller tiles or fewer stages need less";
    for (Buffer &buffer : buffers) {
      auto type = cast<BufferType>(buffer.alloc.getResult().getType());
      std::string tile;
      llvm::raw_string_ostream text(tile);
      text << type.getElementType() << "[";
      llvm::interleaveComma(type.getShape(), text);
      text << "]";
      if (type.getStages() > 1)
        text << " in " << type.getStages() << " stages";
      diagnostic.attachNote(buffer.alloc.getLoc()) << buffer.bytes << " bytes for a tile " << tile;
    }
    signalPassFailure();
  }
};

} // namespace
