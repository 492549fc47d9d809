//===- StageOperands.cpp - operands of products to where tensor cores read them ------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Needs tile ops without layouts; gives tile_gpu.dot on buffers.  Decides the number of warps and their arrangement, because buffers are
// padded to whole instructions of every warp.  A slice of memory is copied straight to shared memory (its other users read it
// back from there); a value computed in registers is written; the left operand that is computed from another product of the same
// arrangement stays in registers, since the accumulator's layout is almost the operand's (Layouts.h).
//
#include "compiler/Transforms/Passes.h"
#include "dialect/TileGPU/Products.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace tessera {
#define GEN_PASS_DEF_STAGEOPERANDSPASS
#include "compiler/Transforms/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::tile_gpu;

namespace {

/// How one product is computed.
struct Plan {
  std::optional<Mma> mma;
  bool chained = false;
  int64_t warpsL = 1, warpsM = 1, warpsN = 1;
};

/// Rows, columns and number of matrices of a product.
struct Extents {
  int64_t l, m, n;
};

RankedTensorType tileOf(Value value) { return cast<RankedTensorType>(value.getType()); }

Extents extentsOf(tile::DotOp dot) {
  ArrayRef<int64_t> shape = tileOf(dot.getResult()).getShape();
  return {shape.size() == 3 ? shape[0] : 1, shape[shape.size() - 2], shape.back()};
}

/// The tensor-core instruction for a product; none for f32 exactly, wide integers and sums of another type.
std::optional<Mma> instructionOf(tile::DotOp dot) {
  Type element = tileOf(dot.getA()).getElementType(), acc = tileOf(dot.getResult()).getElementType();
  if (std::optional<Type> held = dot.getBytesOf())
    return isa<Float8E5M2Type>(*held) ? Mma::E5M2 : Mma::E4M3;
  for (Mma kind : {Mma::F16, Mma::BF16, Mma::Int8, Mma::F64})
    if (multiplies(kind, element, acc))
      return kind;
  if (dot.getPrecision() == tile::Precision::Tf32)
    return Mma::TF32;
  return std::nullopt;
}

/// Whether `value` is computed, by elementwise ops of its own block or outer ones, from a product.
bool comesFromProduct(Value value, int depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > 64)
    return false;
  if (isa<tile::DotOp, DotOp>(op))
    return true;
  if (!OpTrait::hasElementwiseMappableTraits(op) && !isa<tile::ConvertOp>(op))
    return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return isa<RankedTensorType>(operand.getType()) && comesFromProduct(operand, depth + 1);
  });
}

/// The slice behind an operand: a load, possibly transposed.  Null when the operand is computed, or when the slice cannot be copied.
tile::LoadOp loadBehind(Value operand, bool &transposed) {
  transposed = false;
  if (auto permute = operand.getDefiningOp<tile::PermuteOp>()) {
    ArrayRef<int64_t> order = permute.getOrder();
    transposed = order.back() + 2 == int64_t(order.size());
    if (order.size() == 3 && order[0] != 0)
      return {};
    operand = permute.getSource();
  }
  auto load = operand.getDefiningOp<tile::LoadOp>();
  if (!load || tileOf(load.getResult()).getRank() < 2 || tileOf(load.getResult()).getRank() > 3 ||
      llvm::is_contained(load.getWidths(), -1) || tile::isPaged(load.getView()))
    return {};
  return load;
}

struct StageOperands final : public tessera::impl::StageOperandsPassBase<StageOperands> {
  using StageOperandsPassBase::StageOperandsPassBase;
  llvm::MapVector<Operation *, Plan> plans;
  llvm::MapVector<Operation *, Value> staged; ///< load -> its buffer
  int64_t numWarps = 4;

  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    plans.clear();
    staged.clear();
    SmallVector<tile::DotOp> dots;
    kernel.walk([&](tile::DotOp dot) { dots.push_back(dot); });
    chooseWarps(dots);
    kernel->setAttr(kWarpsAttr, IntegerAttr::get(IntegerType::get(&getContext(), 64), numWarps));
    for (tile::DotOp dot : dots)
      plans[dot] = choosePlan(dot);
    // One arrangement for a chain: the consumer reads the producer's rows from the same warps.
    if (llvm::any_of(plans, [](auto &entry) { return entry.second.chained; }))
      for (auto &[op, plan] : plans)
        if (plan.mma)
          arrangeRows(cast<tile::DotOp>(op), plan);
    for (tile::DotOp dot : dots)
      rewrite(dot, plans[dot]);
    eraseDeadLoads();
  }

  /// With products: at most 128 accumulators of the largest a thread.  Without: about 32 elements of the largest tile a thread.
  void chooseWarps(ArrayRef<tile::DotOp> dots) {
    int64_t largest = 0;
    for (tile::DotOp dot : dots)
      largest = std::max(largest, tileOf(dot.getResult()).getNumElements());
    numWarps = largest > 8192 ? 8 : 4;
    if (dots.empty()) {
      getOperation().walk([&](Operation *op) {
        for (Type type : op->getResultTypes())
          if (auto tile = dyn_cast<RankedTensorType>(type))
            largest = std::max(largest, tile.getNumElements());
      });
      numWarps = std::clamp<int64_t>(llvm::bit_floor(uint64_t(largest) / 1024), 4, 16);
    }
    if (auto tuned = getOperation()->getAttrOfType<IntegerAttr>(kTunedWarpsAttr))
      numWarps = tuned.getInt();
    if (warps > 0)
      numWarps = warps;
  }

  Plan choosePlan(tile::DotOp dot) {
    Plan plan;
    plan.mma = instructionOf(dot);
    plan.chained = (plan.mma == Mma::F16 || plan.mma == Mma::BF16) && comesFromProduct(dot.getA());
    auto [l, m, n] = extentsOf(dot);
    int64_t blockM = plan.mma ? 16 : 4, blockN = plan.mma ? 8 : 32;
    // The squarest part of a warp reads the least shared memory; parts smaller than an instruction only replicate.
    double best = 0;
    for (int64_t warpsL = 1; warpsL <= std::min<int64_t>(numWarps, llvm::PowerOf2Ceil(l)); warpsL *= 2)
      for (int64_t warpsM = 1; warpsM <= numWarps / warpsL; warpsM *= 2) {
        int64_t warpsN = numWarps / warpsL / warpsM;
        double rows = std::max<double>(blockM, double(m) / warpsM),
               columns = std::max<double>(blockN, double(n) / warpsN);
        double cost = double(llvm::divideCeil(l, warpsL)) * (rows * columns + (rows + columns));
        if (best == 0 || cost < best) {
          best = cost;
          plan.warpsL = warpsL;
          plan.warpsM = warpsM;
          plan.warpsN = warpsN;
        }
      }
    return plan;
  }

  /// All warps below each other, as far as there are rows, then one matrix after the other.
  void arrangeRows(tile::DotOp dot, Plan &plan) {
    auto [l, m, n] = extentsOf(dot);
    plan.warpsM = std::min<int64_t>(numWarps, llvm::PowerOf2Ceil(llvm::divideCeil(m, 16)));
    plan.warpsL = std::min<int64_t>(numWarps / plan.warpsM, llvm::PowerOf2Ceil(l));
    plan.warpsN = numWarps / plan.warpsM / plan.warpsL;
  }

  void rewrite(tile::DotOp dot, const Plan &plan) {
    OpBuilder builder(dot);
    RankedTensorType result = tileOf(dot.getResult());
    bool batched = result.getRank() == 3;
    auto [l, m, n] = extentsOf(dot);
    int64_t k = tileOf(dot.getA()).getShape().back();
    // The matrices of a batch begin at multiples of 8 rows (DotLowering.cpp), whichever of their dimensions the rows are.
    int64_t least = batched ? 8 : 1;
    int64_t blockK = std::max(least, plan.mma ? factsOf(*plan.mma).k : 4);
    int64_t paddedM = llvm::alignTo(m, std::max(least, (plan.mma ? 16 : 4) * plan.warpsM));
    int64_t paddedN = llvm::alignTo(n, (plan.mma ? 16 : 32) * plan.warpsN);
    int64_t paddedK = llvm::alignTo(k, blockK), paddedL = llvm::alignTo(l, plan.warpsL);
    auto shapeOf = [&](int64_t rows, int64_t columns) {
      return batched ? SmallVector<int64_t>{paddedL, rows, columns} : SmallVector<int64_t>{rows, columns};
    };
    Value a = dot.getA();
    if (!(plan.chained && plan.warpsN == 1))
      a = stage(dot.getA(), shapeOf(paddedM, paddedK), dot);
    Value b = stage(dot.getB(), shapeOf(paddedK, paddedN), dot);
    SmallVector<int64_t> warpGrid{plan.warpsM, plan.warpsN};
    if (batched)
      warpGrid.insert(warpGrid.begin(), plan.warpsL);
    auto kind = plan.mma ? MmaAttr::get(builder.getContext(), *plan.mma) : MmaAttr();
    auto product = DotOp::create(builder, dot.getLoc(), result, a, b, dot.getAcc(), kind, dot.getUnsignedA(),
                                 dot.getUnsignedB(), warpGrid);
    dot.getResult().replaceAllUsesWith(product.getResult());
    dot.erase();
  }

  /// The operand as a buffer of `shape` (padded).
  Value stage(Value operand, ArrayRef<int64_t> shape, tile::DotOp dot) {
    bool transposed;
    SmallVector<int64_t> own(shape);
    tile::LoadOp load = loadBehind(operand, transposed);
    if (transposed && load)
      std::swap(own[own.size() - 2], own.back());
    Value buffer = load ? copySlice(load, own, dot) : writeValue(operand, own, dot);
    if (!load || !transposed)
      return buffer;
    OpBuilder builder(dot);
    return TransposeOp::create(builder, dot.getLoc(), TransposeOp::transposed(cast<BufferType>(buffer.getType())),
                               buffer);
  }

  Value allocate(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape, Type element, int64_t fastest) {
    SharedAttr layout = sharedLayout(builder.getContext(), shape, elementBytes(element), fastest);
    return AllocOp::create(builder, loc, BufferType::get(builder.getContext(), shape, element, layout, 1),
                           IntegerAttr());
  }

  /// The dimension of the slice along which memory is contiguous; of a batch, one of the matrix.
  static int64_t fastestDimension(tile::LoadOp load) {
    BlockArgument root = tile::rootParameter(load.getView());
    auto kernel = cast<tile::KernelOp>(root.getOwner()->getParentOp());
    auto unit = kernel.getArgAttrOfType<IntegerAttr>(root.getArgNumber(), tile::kUnitDimAttr);
    // The dimensions of the root that the view keeps, then those that the slice keeps.
    SmallVector<int64_t> kept;
    for (int64_t d = 0; d < cast<tile::ViewType>(root.getType()).getRank(); ++d)
      kept.push_back(d);
    SmallVector<tile::SubviewOp> chain;
    for (Value view = load.getView(); auto subview = view.getDefiningOp<tile::SubviewOp>(); view = subview.getSource())
      chain.push_back(subview);
    for (tile::SubviewOp subview : llvm::reverse(chain)) {
      SmallVector<int64_t> next;
      for (auto [dimension, kind] : llvm::zip(kept, subview.getKinds()))
        if (kind != 0)
          next.push_back(dimension);
      kept = next;
    }
    int64_t position = 0, rank = tileOf(load.getResult()).getRank();
    for (auto [dimension, width] : llvm::zip(kept, load.getWidths())) {
      if (width <= 0)
        continue;
      if (unit && unit.getInt() == dimension && position + 2 >= rank)
        return position;
      ++position;
    }
    return position - 1;
  }

  /// Whether the buffer of a staged load is large enough for another use.
  static bool covers(Value buffer, ArrayRef<int64_t> shape) {
    auto type = cast<BufferType>(buffer.getType());
    return type.getShape() == shape;
  }

  Value copySlice(tile::LoadOp load, ArrayRef<int64_t> shape, tile::DotOp dot) {
    auto it = staged.find(load);
    if (it != staged.end() && covers(it->second, shape))
      return it->second;
    OpBuilder builder(load);
    Value buffer =
        allocate(builder, load.getLoc(), shape, tileOf(load.getResult()).getElementType(), fastestDimension(load));
    CopyOp::create(builder, load.getLoc(), load.getView(), load.getIndices(), load.getWidths(), load.getSteps(),
                   load.getPad(), Value(), buffer);
    CommitOp::create(builder, load.getLoc());
    // Wait as late as possible: before whatever in this block contains the first user.
    SmallVector<Operation *> users(load->getUsers());
    for (Operation *user : SmallVector<Operation *>(users))
      if (isa<tile::PermuteOp>(user))
        users.append(user->getUsers().begin(), user->getUsers().end());
    Operation *first = nullptr;
    for (Operation *user : users) {
      if (isa<tile::PermuteOp>(user))
        continue;
      Operation *ancestor = load->getBlock()->findAncestorOpInBlock(*user);
      if (ancestor && (!first || ancestor->isBeforeInBlock(first)))
        first = ancestor;
    }
    // A product that was rewritten already no longer uses the load.
    if (Operation *own = load->getBlock()->findAncestorOpInBlock(*dot); own && (!first || own->isBeforeInBlock(first)))
      first = own;
    builder.setInsertionPoint(first);
    if (!isa_and_nonnull<WaitOp>(first->getPrevNode()))
      WaitOp::create(builder, load.getLoc(), 0);
    staged[load] = buffer;
    return buffer;
  }

  Value writeValue(Value operand, ArrayRef<int64_t> shape, tile::DotOp dot) {
    OpBuilder builder(dot);
    Value buffer = allocate(builder, dot.getLoc(), shape, tileOf(operand).getElementType(), shape.size() - 1);
    WriteOp::create(builder, dot.getLoc(), operand, buffer, DenseI64ArrayAttr());
    return buffer;
  }

  /// Staged loads with other users are read back from shared memory; permutations and loads without users go.
  void eraseDeadLoads() {
    SmallVector<Operation *> dead;
    getOperation().walk([&](tile::PermuteOp permute) {
      if (permute->use_empty())
        dead.push_back(permute);
    });
    for (Operation *op : dead)
      op->erase();
    for (auto &[op, buffer] : staged) {
      auto load = cast<tile::LoadOp>(op);
      for (OpOperand &use : llvm::make_early_inc_range(load->getUses())) {
        OpBuilder builder(use.getOwner());
        use.set(ReadOp::create(builder, load.getLoc(), load.getResult().getType(), buffer));
      }
    }
    SmallVector<Operation *> loads;
    getOperation().walk([&](tile::LoadOp load) {
      if (staged.count(load))
        loads.push_back(load);
    });
    for (Operation *load : loads)
      load->erase();
  }
};

} // namespace
