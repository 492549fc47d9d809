//===- Layouts.cpp - building, slicing and comparing layouts of tiles ----------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "dialect/TileGPU/Layouts.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace tessera::tile_gpu {

static Bases unpack(ArrayRef<int64_t> flat, int64_t rank) {
  Bases bases;
  for (size_t i = 0; i + rank <= flat.size() && rank > 0; i += rank)
    bases.emplace_back(flat.slice(i, rank));
  return bases;
}

static SmallVector<int64_t> pack(const Bases &bases) {
  SmallVector<int64_t> flat;
  for (auto &basis : bases)
    flat.append(basis.begin(), basis.end());
  return flat;
}

Dist Dist::of(DistAttr attr) {
  int64_t rank = attr.getReps().size();
  return {unpack(attr.getRegisters(), rank), unpack(attr.getLanes(), rank), unpack(attr.getWarps(), rank),
          SmallVector<int64_t>(attr.getReps())};
}

DistAttr Dist::attr(MLIRContext *context) const {
  return DistAttr::get(context, pack(registers), pack(lanes), pack(warps), reps);
}

int64_t Dist::numRegisters() const {
  int64_t count = blockRegisters();
  for (int64_t rep : reps)
    count *= rep;
  return count;
}

int64_t Dist::blockExtent(int64_t axis) const {
  int64_t bits = 0;
  for (const Bases *bases : {&registers, &lanes, &warps})
    for (auto &basis : *bases)
      bits |= basis[axis];
  return bits + 1;
}

SmallVector<int64_t> Dist::offset(int64_t r) const {
  SmallVector<int64_t> at(rank(), 0);
  int64_t inner = r % blockRegisters(), rep = r / blockRegisters();
  for (size_t bit = 0; bit < registers.size(); ++bit)
    if (inner >> bit & 1)
      for (int64_t d = 0; d < rank(); ++d)
        at[d] ^= registers[bit][d];
  for (int64_t d = rank() - 1; d >= 0; --d) {
    at[d] += rep % reps[d] * blockExtent(d);
    rep /= reps[d];
  }
  return at;
}

SmallVector<int64_t> Dist::base(int64_t lane, int64_t warp) const {
  SmallVector<int64_t> at(rank(), 0);
  auto apply = [&](const Bases &bases, int64_t number) {
    for (size_t bit = 0; bit < bases.size(); ++bit)
      if (number >> bit & 1)
        for (int64_t d = 0; d < rank(); ++d)
          at[d] ^= bases[bit][d];
  };
  apply(lanes, lane);
  apply(warps, warp);
  return at;
}

static int64_t bitsAlong(const Bases &bases, int64_t axis) {
  int64_t mask = 0;
  for (size_t bit = 0; bit < bases.size(); ++bit)
    if (bases[bit][axis] != 0)
      mask |= int64_t(1) << bit;
  return mask;
}

static int64_t zeroBits(const Bases &bases) {
  int64_t mask = 0;
  for (size_t bit = 0; bit < bases.size(); ++bit)
    if (llvm::all_of(bases[bit], [](int64_t v) { return v == 0; }))
      mask |= int64_t(1) << bit;
  return mask;
}

int64_t Dist::laneMask(int64_t axis) const { return bitsAlong(lanes, axis); }
int64_t Dist::warpMask(int64_t axis) const { return bitsAlong(warps, axis); }
int64_t Dist::freeLanes() const { return zeroBits(lanes); }
int64_t Dist::freeWarps() const { return zeroBits(warps); }

int64_t Dist::contiguous(int64_t axis) const {
  int64_t run = 1;
  for (auto &basis : registers) {
    for (int64_t d = 0; d < rank(); ++d)
      if (basis[d] != (d == axis ? run : 0))
        return run;
    run *= 2;
  }
  return run;
}

bool hasLayout(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile && isa_and_nonnull<DistAttr>(tile.getEncoding());
}

Dist layoutOf(Type type) { return Dist::of(cast<DistAttr>(cast<RankedTensorType>(type).getEncoding())); }

RankedTensorType withLayout(RankedTensorType type, const Dist &layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), layout.attr(type.getContext()));
}

int64_t registersOf(Type type) { return hasLayout(type) ? layoutOf(type).numRegisters() : 1; }

Dist blockedLayout(ArrayRef<int64_t> shape, int64_t vector, int64_t fastest, int64_t warps) {
  Dist layout;
  int64_t rank = shape.size();
  SmallVector<int64_t> filled(rank, 1); // extent of the block so far
  auto addBit = [&](Bases &bases, int64_t axis) {
    SmallVector<int64_t> basis(rank, 0);
    if (axis >= 0) {
      basis[axis] = filled[axis];
      filled[axis] *= 2;
    }
    bases.push_back(basis);
  };
  SmallVector<int64_t> axes{fastest};
  for (int64_t d = rank - 1; d >= 0; --d)
    if (d != fastest)
      axes.push_back(d);
  while (filled[fastest] < vector && filled[fastest] < shape[fastest])
    addBit(layout.registers, fastest);
  // The first of `candidates` that is not full yet; -1: all full, so the bit only replicates.
  auto roomy = [&](auto candidates) -> int64_t {
    for (int64_t axis : candidates)
      if (filled[axis] < shape[axis])
        return axis;
    return -1;
  };
  for (int bit = 0; bit < kLaneBits; ++bit)
    addBit(layout.lanes, roomy(axes));
  // Warps spread over the other dimensions first: a row within a warp needs no shared memory to be reduced.
  SmallVector<int64_t> warpAxes(axes.rbegin(), axes.rend());
  for (int64_t bit = 0; bit < int64_t(llvm::Log2_64(warps)); ++bit)
    addBit(layout.warps, roomy(warpAxes));
  for (int64_t d = 0; d < rank; ++d)
    layout.reps.push_back(llvm::divideCeil(shape[d], filled[d]));
  return layout;
}

/// Appends the bits of warps along M (dimension 0, from `extentM`) and N (dimension 1, from `extentN`).
static void addWarps(Dist &layout, int64_t extentM, int64_t extentN, int64_t warpsM, int64_t warpsN) {
  for (int64_t n = 1; n < warpsN; n *= 2)
    layout.warps.push_back({0, extentN * n});
  for (int64_t m = 1; m < warpsM; m *= 2)
    layout.warps.push_back({extentM * m, 0});
}

Dist mmaAccumulator(ArrayRef<int64_t> shape, int64_t warpsM, int64_t warpsN) {
  Dist layout;
  layout.registers = {{0, 1}, {8, 0}};
  layout.lanes = {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}};
  // Instructions side by side belong to one warp as far as a power of two goes: its rows are long in memory.
  int64_t columns = 8;
  while (shape[1] % (2 * columns * warpsN) == 0) {
    layout.registers.push_back({0, columns});
    columns *= 2;
  }
  addWarps(layout, 16, columns, warpsM, warpsN);
  layout.reps = {int64_t(llvm::divideCeil(shape[0], 16 * warpsM)),
                 int64_t(llvm::divideCeil(shape[1], columns * warpsN))};
  return layout;
}

Dist mmaOperandA(ArrayRef<int64_t> shape, int64_t warpsM, int64_t warpsN) {
  Dist layout;
  layout.registers = {{0, 1}, {8, 0}, {0, 8}};
  layout.lanes = {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}};
  for (int64_t n = 1; n < warpsN; n *= 2)
    layout.warps.push_back({0, 0});
  for (int64_t m = 1; m < warpsM; m *= 2)
    layout.warps.push_back({16 * m, 0});
  layout.reps = {int64_t(llvm::divideCeil(shape[0], 16 * warpsM)), int64_t(llvm::divideCeil(shape[1], 16))};
  return layout;
}

Dist plainAccumulator(ArrayRef<int64_t> shape, int64_t warpsM, int64_t warpsN) {
  Dist layout;
  layout.registers = {{0, 1}, {0, 2}};
  layout.lanes = {{0, 4}, {0, 8}, {0, 16}, {1, 0}, {2, 0}};
  addWarps(layout, 4, 32, warpsM, warpsN);
  layout.reps = {int64_t(llvm::divideCeil(shape[0], 4 * warpsM)), int64_t(llvm::divideCeil(shape[1], 32 * warpsN))};
  return layout;
}

Dist batchedLayout(const Dist &matrix, int64_t batches, int64_t warpsL) {
  Dist layout = expandLayout(matrix, 0);
  for (int64_t l = 1; l < warpsL; l *= 2) {
    SmallVector<int64_t> basis(layout.rank(), 0);
    basis[0] = l;
    layout.warps.push_back(basis);
  }
  layout.reps[0] = llvm::divideCeil(batches, warpsL);
  return layout;
}

Dist sortLayout(ArrayRef<int64_t> shape, int64_t axis, int64_t warps) {
  return scanLayout(shape, axis, warps, /*longestRun=*/shape[axis]);
}

Dist scanLayout(ArrayRef<int64_t> shape, int64_t axis, int64_t warps, int64_t longestRun) {
  Dist layout;
  int64_t rank = shape.size();
  SmallVector<int64_t> filled(rank, 1);
  auto addBit = [&](Bases &bases, int64_t d) {
    SmallVector<int64_t> basis(rank, 0);
    if (d >= 0) {
      basis[d] = filled[d];
      filled[d] *= 2;
    }
    bases.push_back(basis);
  };
  auto other = [&]() -> int64_t {
    for (int64_t d = rank - 1; d >= 0; --d)
      if (d != axis && filled[d] < shape[d])
        return d;
    return -1;
  };
  while (filled[axis] < longestRun && filled[axis] * 32 < shape[axis])
    addBit(layout.registers, axis);
  for (int bit = 0; bit < kLaneBits; ++bit)
    addBit(layout.lanes, filled[axis] < shape[axis] ? axis : other());
  for (int64_t bit = 0; bit < int64_t(llvm::Log2_64(warps)); ++bit)
    addBit(layout.warps, other());
  for (int64_t d = 0; d < rank; ++d)
    layout.reps.push_back(llvm::divideCeil(shape[d], filled[d]));
  return layout;
}

Dist restrictLayout(const Dist &layout, int64_t axis) {
  Dist result = layout;
  llvm::erase_if(result.registers, [&](const SmallVector<int64_t> &basis) { return basis[axis] != 0; });
  for (Bases *bases : {&result.lanes, &result.warps})
    for (auto &basis : *bases)
      basis[axis] = 0;
  result.reps[axis] = 1;
  return result;
}

Dist sliceLayout(const Dist &layout, int64_t axis) {
  Dist result = restrictLayout(layout, axis);
  for (Bases *bases : {&result.registers, &result.lanes, &result.warps})
    for (auto &basis : *bases)
      basis.erase(basis.begin() + axis);
  result.reps.erase(result.reps.begin() + axis);
  return result;
}

std::optional<Dist> partLayout(const Dist &layout, ArrayRef<int64_t> shape, ArrayRef<int64_t> starts,
                               ArrayRef<int64_t> widths, ArrayRef<int64_t> steps) {
  Dist result = layout;
  for (int64_t d = layout.rank() - 1; d >= 0; --d) {
    if (starts[d] == 0 && widths[d] == shape[d])
      continue;
    bool spread = layout.laneMask(d) || layout.warpMask(d);
    if (!spread) {
      // A thread that has one element along this dimension has all of them.
      if (widths[d] == 0) {
        result = sliceLayout(result, d);
        continue;
      }
      result = restrictLayout(result, d);
      result.reps[d] = widths[d];
      continue;
    }
    // Whole repetitions; the last one may hold padding.
    int64_t block = layout.blockExtent(d), end = starts[d] + widths[d];
    if (widths[d] == 0 || steps[d] != 1 || starts[d] % block || (end % block && end != shape[d]))
      return std::nullopt;
    result.reps[d] = llvm::divideCeil(widths[d], block);
  }
  return result;
}

Dist expandLayout(const Dist &layout, int64_t axis) {
  Dist result = layout;
  for (Bases *bases : {&result.registers, &result.lanes, &result.warps})
    for (auto &basis : *bases)
      basis.insert(basis.begin() + axis, 0);
  result.reps.insert(result.reps.begin() + axis, 1);
  return result;
}

Dist permuteLayout(const Dist &layout, ArrayRef<int64_t> order) {
  Dist result = layout;
  auto permuted = [&](ArrayRef<int64_t> from) {
    SmallVector<int64_t> to;
    for (int64_t d : order)
      to.push_back(from[d]);
    return to;
  };
  for (Bases *bases : {&result.registers, &result.lanes, &result.warps})
    for (auto &basis : *bases)
      basis = permuted(basis);
  result.reps = permuted(layout.reps);
  return result;
}

std::optional<SmallVector<int64_t>> registerMap(const Dist &source, const Dist &result) {
  // Coordinates are base(thread) + offset(register) on both sides.  If the bases agree for every thread, the map is one of constants.
  if (source.lanes.size() != result.lanes.size() || source.warps.size() != result.warps.size())
    return std::nullopt;
  llvm::DenseMap<int64_t, int64_t> registerAt;
  auto key = [](ArrayRef<int64_t> at) {
    int64_t k = 0;
    for (int64_t v : at)
      k = k * (int64_t(1) << 20) + v;
    return k;
  };
  // A lane or warp bit may be a replica in the result where it is a position in the source only if the two agree everywhere.
  if (source.lanes != result.lanes || source.warps != result.warps)
    return std::nullopt;
  for (int64_t r = 0, e = source.numRegisters(); r < e; ++r)
    registerAt.try_emplace(key(source.offset(r)), r);
  SmallVector<int64_t> map;
  for (int64_t r = 0, e = result.numRegisters(); r < e; ++r) {
    auto it = registerAt.find(key(result.offset(r)));
    // Beyond what the source covers there is only padding: any register will do, its value is never used.
    map.push_back(it == registerAt.end() ? -1 : it->second);
  }
  return map;
}

std::optional<LinearLayout> linearLayout(const Dist &layout) {
  std::vector<LinearLayout::Output> outputs;
  for (int64_t d = 0; d < layout.rank(); ++d) {
    if (!llvm::isPowerOf2_64(layout.reps[d]))
      return std::nullopt;
    outputs.push_back({"dim" + std::to_string(d), layout.coverage(d)});
  }
  auto input = [&](const char *name, const Bases &bases) {
    LinearLayout::Input result{name, {}};
    for (auto &basis : bases)
      result.bases.emplace_back(basis.begin(), basis.end());
    return result;
  };
  LinearLayout::Input registers = input("register", layout.registers);
  for (int64_t d = layout.rank() - 1; d >= 0; --d) // repetitions are row-major: the last dimension has the low bits
    for (int64_t rep = 1; rep < layout.reps[d]; rep *= 2) {
      std::vector<int64_t> basis(layout.rank(), 0);
      basis[d] = layout.blockExtent(d) * rep;
      registers.bases.push_back(basis);
    }
  return LinearLayout::tryCreate({registers, input("lane", layout.lanes), input("warp", layout.warps)}, outputs);
}

Conversion conversionBetween(const Dist &source, const Dist &result) {
  Conversion conversion;
  if (registerMap(source, result)) {
    conversion.movement = Movement::Registers;
    return conversion;
  }
  std::optional<LinearLayout> from = linearLayout(source), to = linearLayout(result);
  std::optional<LinearLayout> map = from && to ? to->invertAndCompose(*from) : std::nullopt;
  if (!map)
    return conversion;
  for (size_t bit = 0; bit < result.warps.size(); ++bit)
    if (map->basis("warp", bit, "warp") != int64_t(1) << bit || map->basis("warp", bit, "lane") ||
        map->basis("warp", bit, "register"))
      return conversion;
  for (int bit = 0; bit < map->inputBits("register"); ++bit)
    if (map->basis("register", bit, "warp"))
      return conversion;
  for (int bit = 0; bit < kLaneBits; ++bit) {
    if (map->basis("lane", bit, "warp") || map->basis("lane", bit, "register"))
      return conversion;
    conversion.laneBases.push_back(map->basis("lane", bit, "lane"));
  }
  for (int64_t r = 0, e = result.numRegisters(); r < e; ++r) {
    int64_t sourceRegister = 0, lane = 0;
    for (int bit = 0; bit < map->inputBits("register"); ++bit)
      if (r >> bit & 1) {
        sourceRegister ^= map->basis("register", bit, "register");
        lane ^= map->basis("register", bit, "lane");
      }
    conversion.sourceRegister.push_back(sourceRegister);
    conversion.laneOf.push_back(lane);
  }
  conversion.movement = Movement::Lanes;
  return conversion;
}

int64_t elementBytes(Type type) { return std::max<int64_t>(1, getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8); }

SharedAttr sharedLayout(MLIRContext *context, ArrayRef<int64_t> shape, int64_t bytes, int64_t fastest) {
  SmallVector<int64_t> order;
  for (int64_t d = 0; d < int64_t(shape.size()); ++d)
    if (d != fastest)
      order.push_back(d);
  order.push_back(fastest);
  int64_t chunks = llvm::divideCeil(shape[fastest] * bytes, 16);
  if (chunks % 8 == 0)
    return SharedAttr::get(context, order, chunks * 16, 7, 0);
  if (chunks == 4)
    return SharedAttr::get(context, order, 64, 3, 1);
  if (chunks == 2)
    return SharedAttr::get(context, order, 32, 1, 2);
  // An odd number of chunks a row walks through all bank groups by itself.
  return SharedAttr::get(context, order, (chunks | 1) * 16, 0, 0);
}

SharedAttr plainShared(MLIRContext *context, ArrayRef<int64_t> shape, int64_t bytes) {
  SmallVector<int64_t> order;
  for (int64_t d = 0; d < int64_t(shape.size()); ++d)
    order.push_back(d);
  int64_t chunks = llvm::divideCeil(shape.empty() ? bytes : shape.back() * bytes, 16);
  return SharedAttr::get(context, order, (chunks | 1) * 16, 0, 0);
}

} // namespace tessera::tile_gpu
