//===- Families.cpp - the layouts that hardware and memory suggest ------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Each family is a list of bases, read off the formulas that Families.h cites, and the common rule that fits it to the tile.
//
#include "dialect/Layout/Families.h"

#include <algorithm>
#include <cassert>
#include <set>

using namespace tessera;
using namespace tessera::layout;

using Bases = std::vector<std::vector<int64_t>>;

std::string layout::dimName(int64_t dim) { return "dim" + std::to_string(dim); }

namespace {

/// Collects bases and tracks how far the block reaches along each dimension.
class Builder {
public:
  explicit Builder(std::vector<int64_t> shape) : shape(std::move(shape)), reach(this->shape.size(), 1) {}

  /// Adds bits to `list` that walk `count` places along `dim`, beyond what is covered; replicas where the tile ends.
  void walk(Bases &list, int64_t dim, int64_t count) {
    for (int64_t step = 1; step < count; step *= 2)
      push(list, dim, reach[dim]);
  }
  /// Adds one bit that moves by `distance` along `dim`.
  void push(Bases &list, int64_t dim, int64_t distance) {
    std::vector<int64_t> basis(shape.size(), 0);
    if (distance < shape[dim]) {
      basis[dim] = distance;
      reach[dim] = std::max(reach[dim], distance * 2);
    }
    list.push_back(std::move(basis));
  }
  void replicate(Bases &list, int64_t count) {
    for (int64_t step = 1; step < count; step *= 2)
      list.push_back(std::vector<int64_t>(shape.size(), 0));
  }
  /// Repeats the block in registers until it covers the tile.
  LinearLayout finish(const std::vector<int64_t> &order) {
    for (int64_t dim : order)
      walk(registers, dim, shape[dim] / std::min(reach[dim], shape[dim]));
    std::vector<LinearLayout::Output> outs;
    for (size_t d = 0; d < shape.size(); ++d)
      outs.push_back({dimName(d), shape[d]});
    return LinearLayout({{"register", std::move(registers)}, {"lane", std::move(lanes)}, {"warp", std::move(warps)}},
                        std::move(outs));
  }

  Bases registers, lanes, warps;

private:
  std::vector<int64_t> shape, reach;
};

} // namespace

LinearLayout layout::blocked(const std::vector<int64_t> &shape, const std::vector<int64_t> &sizePerThread,
                             const std::vector<int64_t> &threadsPerWarp, const std::vector<int64_t> &warpsPerCta,
                             const std::vector<int64_t> &order) {
  assert(shape.size() == sizePerThread.size() && shape.size() == threadsPerWarp.size() &&
         shape.size() == warpsPerCta.size() && shape.size() == order.size());
  Builder builder(shape);
  for (int64_t dim : order)
    builder.walk(builder.registers, dim, sizePerThread[dim]);
  for (int64_t dim : order)
    builder.walk(builder.lanes, dim, threadsPerWarp[dim]);
  for (int64_t dim : order)
    builder.walk(builder.warps, dim, warpsPerCta[dim]);
  return builder.finish(order);
}

LinearLayout layout::mmaAccumulator(int64_t m, int64_t n, WarpGrid warps) {
  Builder builder({m, n});
  builder.push(builder.registers, 1, 1); // c0 c1: neighbouring columns
  builder.push(builder.lanes, 1, 2);     // threadID_in_group: column pairs
  builder.push(builder.lanes, 1, 4);
  for (int64_t row : {1, 2, 4}) // groupID: rows
    builder.push(builder.lanes, 0, row);
  builder.push(builder.registers, 0, 8); // c2 c3: eight rows below
  builder.walk(builder.warps, 1, warps.n);
  builder.walk(builder.warps, 0, warps.m);
  return builder.finish({1, 0});
}

LinearLayout layout::mmaOperandA(int64_t m, int64_t k, int elementBits, WarpGrid warps) {
  assert(elementBits == 8 || elementBits == 16 || elementBits == 32);
  int64_t packed = 32 / elementBits; // elements of a 32-bit register, neighbours along k
  Builder builder({m, k});
  builder.walk(builder.registers, 1, packed);
  builder.push(builder.lanes, 1, packed);
  builder.push(builder.lanes, 1, 2 * packed);
  for (int64_t row : {1, 2, 4})
    builder.push(builder.lanes, 0, row);
  builder.push(builder.registers, 0, 8);          // second register: rows 8 to 15
  builder.push(builder.registers, 1, 4 * packed); // third and fourth: the upper half of k
  builder.replicate(builder.warps, warps.n);
  builder.walk(builder.warps, 0, warps.m);
  return builder.finish({1, 0});
}

LinearLayout layout::mmaOperandB(int64_t k, int64_t n, int elementBits, WarpGrid warps) {
  assert(elementBits == 8 || elementBits == 16 || elementBits == 32);
  int64_t packed = 32 / elementBits;
  Builder builder({k, n});
  builder.walk(builder.registers, 0, packed);
  builder.push(builder.lanes, 0, packed);
  builder.push(builder.lanes, 0, 2 * packed);
  for (int64_t column : {1, 2, 4})
    builder.push(builder.lanes, 1, column);
  builder.push(builder.registers, 0, 4 * packed); // second register: the upper half of k
  builder.walk(builder.warps, 1, warps.n);
  builder.replicate(builder.warps, warps.m);
  return builder.finish({0, 1});
}

LinearLayout layout::slice(const LinearLayout &layout, int64_t dim) {
  std::vector<std::string> inNames, outNames;
  for (const auto &in : layout.inputs())
    inNames.push_back(in.name);
  for (size_t d = 0; d < layout.outputs().size(); ++d)
    if (int64_t(d) != dim)
      outNames.push_back(layout.outputs()[d].name);
  LinearLayout part = layout.sublayout(inNames, outNames);
  std::vector<LinearLayout::Output> outs = part.outputs();
  for (size_t d = 0; d < outs.size(); ++d)
    outs[d].name = dimName(d);
  return LinearLayout(part.inputs(), std::move(outs));
}

LinearLayout layout::sharedSwizzled(int64_t rows, int64_t columns, int64_t vec, int64_t perPhase, int64_t maxPhase) {
  assert(vec * maxPhase <= columns);
  Bases bases;
  for (int64_t column = 1; column < columns; column *= 2)
    bases.push_back({0, column});
  for (int64_t row = 1; row < rows; row *= 2)
    bases.push_back({row, vec * ((row / perPhase) % maxPhase)});
  return LinearLayout({{"offset", std::move(bases)}}, {{"dim0", rows}, {"dim1", columns}});
}

int layout::bankConflicts(const LinearLayout &registers, const LinearLayout &shared, int elementBytes, int vecBytes) {
  std::optional<LinearLayout> toOffset = registers.invertAndCompose(shared);
  if (!toOffset || elementBytes <= 0 || vecBytes <= 0 || vecBytes > 16)
    return -1;
  int lanes = registers.inputSize("lane"), phases = std::max(1, vecBytes / 4), extra = 0;
  int lanesPerPhase = std::max(1, lanes / phases);
  for (int first = 0; first < lanes; first += lanesPerPhase) {
    std::vector<std::set<int64_t>> words(32); // 4-byte words asked of each bank; the same word is broadcast
    for (int lane = first; lane < std::min(lanes, first + lanesPerPhase); ++lane) {
      int64_t byte = toOffset->apply({{"lane", lane}})[0].second * elementBytes;
      for (int64_t word = byte / 4; word <= (byte + vecBytes - 1) / 4; ++word)
        words[word % 32].insert(word);
    }
    size_t most = 1;
    for (const auto &bank : words)
      most = std::max(most, bank.size());
    extra += most - 1;
  }
  return extra;
}

int layout::ldmatrixMatrices(const LinearLayout &registers, const LinearLayout &shared, int elementBytes,
                             bool transposed) {
  std::optional<LinearLayout> conversion = registers.invertAndCompose(shared);
  if (!conversion || registers.inputBits("lane") != 5 ||
      (elementBytes != 1 && elementBytes != 2 && elementBytes != 4) || (transposed && elementBytes != 2))
    return 0;
  int packed = elementBytes == 1 ? 2 : elementBytes == 2 ? 1 : 0; // register bits inside 32 bits
  if (conversion->inputBits("register") < packed)
    return 0;
  // The places that walk along a row of 16 bytes, lowest first; everything else must leave those bits of the offset alone.
  std::vector<std::pair<std::string, int>> row;
  if (transposed) {
    row = {{"lane", 2}, {"lane", 3}, {"lane", 4}};
  } else {
    for (int bit = 0; bit < packed; ++bit)
      row.emplace_back("register", bit);
    row.emplace_back("lane", 0);
    row.emplace_back("lane", 1);
  }
  int64_t rowElements = 16 / elementBytes;
  for (const auto &in : conversion->inputs())
    for (size_t bit = 0; bit < in.bases.size(); ++bit) {
      auto at = std::find(row.begin(), row.end(), std::pair(in.name, int(bit)));
      int64_t offset = in.bases[bit][0];
      if (at != row.end() ? offset != int64_t(1) << (at - row.begin()) : (offset & (rowElements - 1)) != 0)
        return 0;
    }
  int more = conversion->inputBits("register") - packed; // each register bit beyond doubles the matrices
  return more >= 2 ? 4 : more == 1 ? 2 : 1;
}
