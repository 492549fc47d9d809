//===- TileLayoutTest.cpp - layouts of tiles against the algebra and against brute force - SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Every constructor covers its tile, and conversions say of every element of every thread what enumeration says.
//
#include "dialect/Layout/Families.h"
#include "dialect/TileGPU/Layouts.h"

#include <catch2/catch.hpp>

#include <map>
#include <set>

using namespace tessera;
using namespace tessera::tile_gpu;

namespace {

using Place = std::vector<int64_t>;

Place placeOf(const Dist &layout, int64_t r, int64_t lane, int64_t warp) {
  auto offset = layout.offset(r), base = layout.base(lane, warp);
  Place place;
  for (int64_t d = 0; d < layout.rank(); ++d)
    place.push_back(offset[d] + base[d]);
  return place;
}

/// Elements that some thread holds.
std::set<Place> held(const Dist &layout) {
  std::set<Place> places;
  for (int64_t warp = 0; warp < int64_t(1) << layout.warps.size(); ++warp)
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t r = 0; r < layout.numRegisters(); ++r)
        places.insert(placeOf(layout, r, lane, warp));
  return places;
}

bool covers(const Dist &layout, llvm::ArrayRef<int64_t> shape) {
  std::set<Place> places = held(layout);
  for (int64_t i = 0; i < shape[0]; ++i)
    for (int64_t j = 0; j < (shape.size() > 1 ? shape[1] : 1); ++j)
      if (!places.count(shape.size() > 1 ? Place{i, j} : Place{i}))
        return false;
  return true;
}

/// Checks a conversion by enumeration; returns its movement.
Movement checked(const Dist &source, const Dist &result) {
  Conversion conversion = conversionBetween(source, result);
  int64_t warps = int64_t(1) << result.warps.size();
  if (conversion.movement == Movement::Registers) {
    auto map = registerMap(source, result);
    REQUIRE(map);
    for (int64_t warp = 0; warp < warps; ++warp)
      for (int64_t lane = 0; lane < 32; ++lane)
        for (int64_t r = 0; r < result.numRegisters(); ++r)
          if ((*map)[r] >= 0)
            REQUIRE(placeOf(source, (*map)[r], lane, warp) == placeOf(result, r, lane, warp));
  } else if (conversion.movement == Movement::Lanes) {
    for (int64_t warp = 0; warp < warps; ++warp)
      for (int64_t lane = 0; lane < 32; ++lane)
        for (int64_t r = 0; r < result.numRegisters(); ++r) {
          int64_t from = conversion.laneOf[r];
          for (int bit = 0; bit < kLaneBits; ++bit)
            if (lane >> bit & 1)
              from ^= conversion.laneBases[bit];
          REQUIRE(placeOf(source, conversion.sourceRegister[r], from, warp) == placeOf(result, r, lane, warp));
        }
  }
  return conversion.movement;
}

} // namespace

TEST_CASE("every constructor covers its tile") {
  for (int64_t rows : {1, 3, 16, 37, 72, 128})
    for (int64_t columns : {1, 8, 40, 64, 96, 256})
      for (int64_t warps : {1, 2, 4, 8}) {
        int64_t shape[] = {rows, columns};
        for (int64_t vector : {1, 4, 8})
          for (int64_t fastest : {0, 1})
            CHECK(covers(blockedLayout(shape, vector, fastest, warps), shape));
        for (int64_t warpsM = 1; warpsM <= warps; warpsM *= 2) {
          CHECK(covers(mmaAccumulator(shape, warpsM, warps / warpsM), shape));
          CHECK(covers(mmaOperandA(shape, warpsM, warps / warpsM), shape));
          CHECK(covers(plainAccumulator(shape, warpsM, warps / warpsM), shape));
        }
      }
}

TEST_CASE("a slice holds what the layout holds, without the dimension") {
  int64_t shape[] = {32, 64};
  Dist layout = mmaAccumulator(shape, 2, 2);
  for (int64_t axis : {0, 1}) {
    std::set<Place> expected;
    for (Place place : held(layout)) {
      place.erase(place.begin() + axis);
      expected.insert(place);
    }
    CHECK(held(sliceLayout(layout, axis)) == expected);
    CHECK(held(restrictLayout(layout, axis)).size() == expected.size());
    CHECK(sliceLayout(expandLayout(sliceLayout(layout, axis), axis), axis) == sliceLayout(layout, axis));
  }
}

TEST_CASE("the fragments are those of the algebra") {
  // One warp, one instruction tile: registers and lanes as the PTX ISA has them, which LayoutTest checks for the families.
  int64_t tile[] = {16, 8}, operand[] = {16, 16};
  auto own = linearLayout(mmaAccumulator(tile, 1, 1));
  auto family = layout::mmaAccumulator(16, 8, layout::WarpGrid{1, 1});
  REQUIRE(own);
  for (int64_t r = 0; r < 4; ++r)
    for (int64_t lane = 0; lane < 32; ++lane)
      CHECK(own->apply({{"register", r}, {"lane", lane}}) == family.apply({{"register", r}, {"lane", lane}}));
  auto ownA = linearLayout(mmaOperandA(operand, 1, 1));
  auto familyA = layout::mmaOperandA(16, 16, 16, layout::WarpGrid{1, 1});
  REQUIRE(ownA);
  for (int64_t r = 0; r < 8; ++r)
    for (int64_t lane = 0; lane < 32; ++lane)
      CHECK(ownA->apply({{"register", r}, {"lane", lane}}) == familyA.apply({{"register", r}, {"lane", lane}}));
}

TEST_CASE("conversions move what enumeration says") {
  int64_t shape[] = {64, 64}, wide[] = {64, 96};
  Dist acc = mmaAccumulator(shape, 4, 1), blocked = blockedLayout(shape, 4, 1, 4);
  CHECK(checked(acc, acc) == Movement::Registers);
  CHECK(checked(acc, mmaOperandA(shape, 4, 1)) ==
        Movement::Registers); // P of attention reaches the second product in registers
  CHECK(checked(mmaAccumulator(wide, 4, 1), mmaOperandA(wide, 4, 1)) ==
        Movement::Registers); // and where repetitions are no power of two
  CHECK(checked(mmaAccumulator(shape, 2, 2), mmaOperandA(shape, 2, 2)) ==
        Movement::Shared); // the columns of two warps are wanted by both
  CHECK(checked(acc, blocked) == Movement::Shared);
  // Lanes of one warp in another order.
  Dist across = blockedLayout(llvm::ArrayRef<int64_t>(shape), 1, 1, 4), down = across;
  std::swap(down.lanes[0], down.lanes[4]);
  CHECK(checked(across, down) == Movement::Lanes);
  // All pairs of a family: whatever is claimed must hold.
  std::vector<Dist> all;
  for (int64_t vector : {1, 2, 4, 8})
    for (int64_t fastest : {0, 1})
      all.push_back(blockedLayout(shape, vector, fastest, 4));
  for (int64_t warpsM : {1, 2, 4}) {
    all.push_back(mmaAccumulator(shape, warpsM, 4 / warpsM));
    all.push_back(mmaOperandA(shape, warpsM, 4 / warpsM));
    all.push_back(plainAccumulator(shape, warpsM, 4 / warpsM));
  }
  std::map<Movement, int> seen;
  for (const Dist &a : all)
    for (const Dist &b : all)
      ++seen[checked(a, b)];
  CHECK(seen[Movement::Registers] >= int(all.size()));
  // Row vectors of one accumulator held as those of another.
  for (const Dist &a : all)
    for (const Dist &b : all)
      for (int64_t axis : {0, 1})
        checked(sliceLayout(a, axis), sliceLayout(b, axis));
}
