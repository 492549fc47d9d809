//===- ResourceEstimate.cpp - what a scheduled kernel uses and moves ------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Registers: at every op, the elements a thread holds of all tiles that live there, in units of 32 bits; fragments of products; a fixed
// part for addresses and loop state.  Masks live in predicates and index tiles are computed where they are used: both count little.
//
#include "compiler/Analysis/ResourceEstimate.h"

#include "dialect/TileGPU/Layouts.h"
#include "dialect/TileGPU/TileGPUDialect.h"

#include "mlir/Analysis/Liveness.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tessera {
namespace {

constexpr double kFixedRegisters = 28;

double bytesOf(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  Type element = shaped ? shaped.getElementType() : type;
  double elements = shaped ? double(shaped.getNumElements()) : 1;
  return elements * std::max(8u, element.getIntOrFloatBitWidth()) / 8;
}

double registersFor(Value value) {
  // Stretched tiles repeat the registers of what was stretched.
  while (auto stretched = value.getDefiningOp<tile::BroadcastOp>())
    value = stretched->getOperand(0);
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  if (!tile || !tile_gpu::hasLayout(tile))
    return 0;
  Operation *maker = value.getDefiningOp();
  if (maker && maker->hasTrait<OpTrait::ConstantLike>())
    return 0;
  double bits = tile.getElementType().getIntOrFloatBitWidth();
  if (bits == 1)
    bits = 2;
  else if (tile.getElementType().isInteger(64))
    bits = 16;
  return double(tile_gpu::registersOf(tile)) * bits / 32;
}

class Estimator {
public:
  explicit Estimator(tile::KernelOp kernel) : kernel(kernel), liveness(kernel) {}

  void run(ResourceEstimate &result) {
    kernel.walk([&](Operation *op) { visit(op, result); });
    const Traffic *busiest = nullptr;
    for (auto &[loop, traffic] : loops) {
      result.barriersInLoop = std::max(result.barriersInLoop, traffic.barriers);
      if (traffic.flops > 0 && (!busiest || traffic.flops > busiest->flops))
        busiest = &traffic;
    }
    const Traffic &counted = busiest ? *busiest : all;
    result.barriers = outside;
    result.flops = counted.flops;
    result.loaded = counted.loaded;
    result.stored = counted.stored;
    result.sharedRead = counted.sharedRead;
    result.registers = int64_t(kFixedRegisters + most);
  }

private:
  struct Traffic {
    double flops = 0, loaded = 0, stored = 0, sharedRead = 0;
    int64_t barriers = 0;
  };

  /// Counts `add` for the program and for every loop around `op`.
  template <typename Add>
  void count(Operation *op, Add &&add) {
    add(all);
    for (auto loop = op->getParentOfType<scf::ForOp>(); loop; loop = loop->getParentOfType<scf::ForOp>())
      add(loops[loop.getOperation()]);
  }

  void visit(Operation *op, ResourceEstimate &result) {
    double live = liveAt(op);
    if (auto dot = dyn_cast<tile_gpu::DotOp>(op)) {
      auto shape = cast<RankedTensorType>(dot.getResult().getType()).getShape();
      ArrayRef<int64_t> warps = dot.getWarps();
      auto b = cast<ShapedType>(bufferType(dot.getB()));
      double k = double(b.getShape()[b.getShape().size() - 2]);
      size_t rank = shape.size(); // a batch in front counts as so many products
      double batch = 1;
      for (int64_t extent : shape.drop_back(2))
        batch *= double(extent);
      double m = double(shape[rank - 2]), n = double(shape[rank - 1]);
      double rows = m / double(warps[rank - 2]), columns = n / double(warps[rank - 1]);
      double element = double(b.getElementType().getIntOrFloatBitWidth()) / 8;
      bool fromRegisters = isa<RankedTensorType>(dot.getA().getType());
      double read =
          (columns + (fromRegisters ? 0 : rows)) * k * element * double(warps[rank - 2] * warps[rank - 1]) * batch;
      count(op, [&](Traffic &t) {
        t.flops += 2 * m * n * k * batch;
        t.sharedRead += read;
      });
      result.tensorCores |= dot.getMma().has_value();
      if (dot.getMma().has_value())
        live += rows / 16 * 4 + columns / 8 * 2; // fragments of one step over k
    } else if (auto load = dyn_cast<tile::LoadOp>(op)) {
      count(op, [&](Traffic &t) { t.loaded += bytesOf(load.getResult().getType()); });
    } else if (auto copy = dyn_cast<tile_gpu::CopyOp>(op)) {
      double elements = 1;
      for (int64_t width : copy.getWidths())
        elements *= double(std::max<int64_t>(width, 1));
      Type element = cast<tile_gpu::BufferType>(copy.getBuffer().getType()).getElementType();
      count(op, [&](Traffic &t) { t.loaded += elements * element.getIntOrFloatBitWidth() / 8; });
    } else if (auto store = dyn_cast<tile::StoreOp>(op)) {
      count(op, [&](Traffic &t) { t.stored += bytesOf(store.getValue().getType()); });
    } else if (auto alloc = dyn_cast<tile_gpu::AllocOp>(op)) {
      auto type = cast<tile_gpu::BufferType>(alloc.getResult().getType());
      std::string tile;
      llvm::raw_string_ostream text(tile);
      text << type.getElementType() << "[";
      llvm::interleaveComma(type.getShape(), text);
      text << "]";
      result.buffers.push_back({tile, type.getStageBytes() * type.getStages(), type.getStages()});
    } else if (isa<tile_gpu::BarrierOp>(op)) {
      if (!op->getParentOfType<scf::ForOp>())
        ++outside;
      count(op, [&](Traffic &t) { ++t.barriers; });
    } else if (isa<tile_gpu::ConvertLayoutOp, tile_gpu::ReadOp>(op)) {
      ++result.conversions;
    }
    most = std::max(most, live);
  }

  static ShapedType bufferShape(tile_gpu::BufferType type) {
    return RankedTensorType::get(type.getShape(), type.getElementType());
  }
  static ShapedType bufferType(Value value) {
    if (auto buffer = dyn_cast<tile_gpu::BufferType>(value.getType()))
      return bufferShape(buffer);
    return cast<ShapedType>(value.getType());
  }

  /// Registers of all values that live at `op`, those that only live around its loops included.  An operand that dies here leaves its
  /// registers to the result; what a loop begins with lives on as its argument, and its results are its last arguments.
  double liveAt(Operation *op) {
    double sum = 0;
    llvm::SmallPtrSet<Value, 32> seen;
    for (Operation *at = op; at && at != kernel; at = at->getParentOp()) {
      const LivenessBlockInfo *info = liveness.getLiveness(at->getBlock());
      if (!info)
        continue;
      for (Value value : info->currentlyLiveValues(at)) {
        if (at != op && value.getDefiningOp() == at)
          continue;
        bool dies = info->getEndOperation(value, info->getStartOperation(value)) == at && value.getDefiningOp() != at &&
                    !info->isLiveOut(value);
        bool usedInside = llvm::any_of(value.getUsers(), [&](Operation *user) { return at->isProperAncestor(user); });
        if ((!dies || usedInside) && seen.insert(value).second)
          sum += registersFor(value);
      }
    }
    return sum;
  }

  tile::KernelOp kernel;
  Liveness liveness;
  Traffic all;
  llvm::MapVector<Operation *, Traffic> loops; // in program order, so that nothing depends on addresses
  int64_t outside = 0;
  double most = 0;
};

} // namespace

ResourceEstimate estimateResources(tile::KernelOp kernel, StringRef warpsAttr, StringRef sharedAttr) {
  ResourceEstimate result;
  if (auto warps = kernel->getAttrOfType<IntegerAttr>(warpsAttr))
    result.warps = warps.getInt();
  if (auto bytes = kernel->getAttrOfType<IntegerAttr>(sharedAttr))
    result.sharedBytes = bytes.getInt();
  Estimator(kernel).run(result);
  return result;
}

} // namespace tessera
