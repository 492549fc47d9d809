//===- LayoutTest.cpp - the layout algebra and its families -------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Families against the fragment formulas of the PTX ISA, written here a second time as the manual has them; laws of the algebra on random layouts,
// each checked point by point; inversion exhaustively on small spaces.
//
#include "dialect/Layout/Families.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>

using namespace tessera;
using namespace tessera::layout;

namespace {

using Point = std::vector<int64_t>;

Point at(const LinearLayout &layout, const LinearLayout::Coordinates &place) {
  Point point;
  for (auto &[name, value] : layout.apply(place))
    point.push_back(value);
  return point;
}

Point at(const LinearLayout &layout, int64_t reg, int64_t lane, int64_t warp) {
  return at(layout, {{"register", reg}, {"lane", lane}, {"warp", warp}});
}

/// Calls `visit` with every place of the layout's inputs.
template <typename Visit>
void forEachPlace(const LinearLayout &layout, Visit visit) {
  LinearLayout::Coordinates place;
  for (const auto &in : layout.inputs())
    place.emplace_back(in.name, 0);
  for (int64_t flat = 0, e = int64_t(1) << layout.totalInputBits(); flat < e; ++flat) {
    int64_t rest = flat;
    for (size_t i = 0; i < place.size(); ++i) {
      int bits = layout.inputs()[i].bases.size();
      place[i].second = rest & ((int64_t(1) << bits) - 1);
      rest >>= bits;
    }
    visit(place);
  }
}

std::mt19937 &randomness() {
  static std::mt19937 engine(20240817);
  return engine;
}
int64_t pick(int64_t below) { return int64_t(randomness()() % uint64_t(below)); }

LinearLayout randomLayout(const std::vector<std::pair<std::string, int>> &inBits,
                          const std::vector<std::pair<std::string, int>> &outBits) {
  std::vector<LinearLayout::Output> outs;
  for (auto &[name, bits] : outBits)
    outs.push_back({name, int64_t(1) << bits});
  std::vector<LinearLayout::Input> ins;
  for (auto &[name, bits] : inBits) {
    LinearLayout::Input in{name, {}};
    for (int bit = 0; bit < bits; ++bit) {
      std::vector<int64_t> basis;
      for (auto &out : outs)
        basis.push_back(pick(4) ? pick(out.size) : 0);
      in.bases.push_back(basis);
    }
    ins.push_back(in);
  }
  std::string why;
  auto layout = LinearLayout::tryCreate(ins, outs, &why);
  INFO(why);
  REQUIRE(layout);
  return *layout;
}

/// The number of different points, counted.
size_t imageSize(const LinearLayout &layout) {
  std::set<Point> points;
  forEachPlace(layout, [&](const LinearLayout::Coordinates &place) { points.insert(at(layout, place)); });
  return points.size();
}

} // namespace

TEST_CASE("the example of the header") {
  auto l =
      LinearLayout::tryCreate({{"register", {{0, 1}, {1, 0}}}, {"lane", {{0, 2}, {2, 0}}}}, {{"dim0", 4}, {"dim1", 4}});
  REQUIRE(l);
  CHECK(at(*l, 3, 2, 0) == Point{3, 1});
  // The picture, row by row: lane * 4 + register.
  int picture[4][4] = {{0, 1, 4, 5}, {2, 3, 6, 7}, {8, 9, 12, 13}, {10, 11, 14, 15}};
  for (int row = 0; row < 4; ++row)
    for (int col = 0; col < 4; ++col)
      CHECK(at(*l, picture[row][col] % 4, picture[row][col] / 4, 0) == Point{row, col});
  CHECK(l->isBijective());
  LinearLayout rows = slice(*l, 1);
  CHECK(rows.print() == "{register = [[0], [1]], lane = [[0], [2]]} -> [dim0: 4]");
  CHECK(rows.freeVariableMasks() == std::map<std::string, int64_t>{{"register", 1}, {"lane", 1}});
}

TEST_CASE("what is no layout is refused with its reason") {
  auto why = [](std::vector<LinearLayout::Input> ins, std::vector<LinearLayout::Output> outs) {
    std::string reason;
    CHECK(!LinearLayout::tryCreate(ins, outs, &reason));
    return reason;
  };
  CHECK(why({}, {{"dim0", 3}}) == "expected a power of two as the size of output 'dim0', found 3");
  CHECK(why({}, {{"dim0", 0}}) == "expected a power of two as the size of output 'dim0', found 0");
  CHECK(why({}, {{"dim0", -4}}) == "expected a power of two as the size of output 'dim0', found -4");
  CHECK(why({}, {{"a", 2}, {"a", 2}}) == "output 'a' occurs twice");
  CHECK(why({{"a", {}}, {"a", {}}}, {}) == "input 'a' occurs twice");
  CHECK(why({{"a", {{1}}}}, {{"x", 2}, {"y", 2}}) == "expected 2 coordinates in each basis of 'a', found 1");
  CHECK(why({{"a", {{4}}}}, {{"x", 4}}) == "expected a coordinate from 0 to 3 along 'x' in a basis of 'a', found 4");
  CHECK(why({{"a", {{-1}}}}, {{"x", 4}}) == "expected a coordinate from 0 to 3 along 'x' in a basis of 'a', found -1");
  CHECK(why({{"", {}}}, {}) == "expected a name for every input");
  CHECK(why({{"a", std::vector<Point>(63, Point{0})}}, {{"x", 2}}) == "input 'a' has more than 62 bits");
  CHECK(why({}, {{"x", int64_t(1) << 40}, {"y", int64_t(1) << 40}}) == "expected at most 62 bits on each side");
}

TEST_CASE("text goes both ways") {
  for (int i = 0; i < 50; ++i) {
    LinearLayout l = randomLayout({{"register", int(pick(4))}, {"lane", 3}}, {{"dim0", int(pick(4))}, {"dim1", 2}});
    auto back = LinearLayout::parse(l.print());
    REQUIRE(back);
    CHECK(*back == l);
  }
  CHECK(LinearLayout::parse(" { a=[ [1],[2] ] }->[ x:4 ] ") == LinearLayout::identity1D(4, "a", "x"));
  CHECK(LinearLayout::parse("{} -> []") == LinearLayout());
  for (const char *bad :
       {"", "{", "{a = [[1]}", "{a = [[1]]} -> [x: 4] y", "{a = [[9]]} -> [x: 4]", "{a = [[-1]]} -> [x: 4]",
        "{a} -> [x: 4]", "{a = [[1]]} [x: 4]", "{a = [[99999999999999999999999]]} -> [x: 4]"}) {
    std::string why;
    INFO(bad);
    CHECK(!LinearLayout::parse(bad, &why));
    CHECK(!why.empty());
  }
}

TEST_CASE("accumulators hold what the PTX ISA says") {
  for (auto [m, n, wm, wn] :
       {std::tuple{16, 8, 1, 1}, {64, 64, 2, 2}, {128, 32, 4, 1}, {16, 64, 1, 4}, {16, 8, 2, 2}}) {
    LinearLayout l = mmaAccumulator(m, n, {wm, wn});
    CHECK(l.isSurjective());
    for (int warp = 0; warp < wm * wn; ++warp)
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < 4; ++i) {
          int group = lane >> 2, inGroup = lane % 4;
          int row = group + (i < 2 ? 0 : 8), col = inGroup * 2 + (i & 1);
          // Warps: N fastest; a warp beyond the tile repeats the first.
          int64_t warpRow = (warp / wn) * 16 % m, warpCol = (warp % wn) * 8 % n;
          CHECK(at(l, i, lane, warp) == Point{row + warpRow, col + warpCol});
        }
    // The rest of the tile is repeated in registers.
    int64_t covered = std::min<int64_t>(16 * wm, m) * std::min<int64_t>(8 * wn, n);
    CHECK(l.inputSize("register") == 4 * m * n / covered);
  }
}

TEST_CASE("operands of 16, 32 and 8 bits hold what the PTX ISA says") {
  for (int lane = 0; lane < 32; ++lane) {
    int group = lane >> 2, inGroup = lane % 4;
    LinearLayout a16 = mmaOperandA(16, 16, 16, {}), b16 = mmaOperandB(16, 8, 16, {});
    for (int i = 0; i < 8; ++i)
      CHECK(at(a16, i, lane, 0) ==
            Point{(i < 2 || (i >= 4 && i < 6)) ? group : group + 8, inGroup * 2 + (i & 1) + (i >= 4 ? 8 : 0)});
    for (int i = 0; i < 4; ++i)
      CHECK(at(b16, i, lane, 0) == Point{inGroup * 2 + (i & 1) + (i >= 2 ? 8 : 0), group});
    LinearLayout a32 = mmaOperandA(16, 8, 32, {}), b32 = mmaOperandB(8, 8, 32, {});
    for (int i = 0; i < 4; ++i)
      CHECK(at(a32, i, lane, 0) ==
            Point{(i == 0 || i == 2) ? group : group + 8, (i == 0 || i == 1) ? inGroup : inGroup + 4});
    for (int i = 0; i < 2; ++i)
      CHECK(at(b32, i, lane, 0) == Point{i == 0 ? inGroup : inGroup + 4, group});
    LinearLayout a8 = mmaOperandA(16, 32, 8, {}), b8 = mmaOperandB(32, 8, 8, {});
    for (int i = 0; i < 16; ++i)
      CHECK(at(a8, i, lane, 0) ==
            Point{(i < 4 || (i >= 8 && i < 12)) ? group : group + 8, inGroup * 4 + (i & 3) + (i >= 8 ? 16 : 0)});
    for (int i = 0; i < 8; ++i)
      CHECK(at(b8, i, lane, 0) == Point{inGroup * 4 + (i & 3) + (i >= 4 ? 16 : 0), group});
  }
}

TEST_CASE("warps share operands: those along the other side hold the same") {
  for (int bits : {8, 16, 32}) {
    LinearLayout a = mmaOperandA(64, 64, bits, {2, 2}), b = mmaOperandB(64, 64, bits, {2, 2});
    CHECK(a.isSurjective());
    CHECK(b.isSurjective());
    CHECK(a.freeVariableMasks().at("warp") == 1);
    CHECK(b.freeVariableMasks().at("warp") == 2);
    CHECK(at(a, 0, 0, 2) == Point{16, 0});
    CHECK(at(b, 0, 0, 1) == Point{0, 8});
  }
}

TEST_CASE("blocked layouts against counting") {
  struct Case {
    Point shape, perThread, lanes, warps, order;
  };
  for (const Case &c : {Case{{32, 64}, {1, 4}, {4, 8}, {2, 2}, {1, 0}},
                        {{64, 16}, {4, 1}, {16, 2}, {1, 4}, {0, 1}},
                        {{256}, {2}, {32}, {4}, {0}},
                        {{8, 16}, {1, 8}, {2, 16}, {4, 1}, {1, 0}},
                        {{4, 8, 16}, {1, 2, 2}, {2, 2, 8}, {2, 1, 1}, {2, 0, 1}}}) {
    LinearLayout l = blocked(c.shape, c.perThread, c.lanes, c.warps, c.order);
    CHECK(l.isSurjective());
    size_t rank = c.shape.size();
    auto product = [](const Point &p) {
      int64_t r = 1;
      for (int64_t v : p)
        r *= v;
      return r;
    };
    auto split = [&](int64_t number, const Point &sizes) { // mixed radix, order[0] fastest
      Point digits(rank);
      for (int64_t d : c.order) {
        digits[d] = number % sizes[d];
        number /= sizes[d];
      }
      return digits;
    };
    for (int64_t w = 0; w < product(c.warps); ++w)
      for (int64_t lane = 0; lane < product(c.lanes); ++lane)
        for (int64_t r = 0; r < product(c.perThread); ++r) {
          Point pr = split(r, c.perThread), pl = split(lane, c.lanes), pw = split(w, c.warps), expected(rank);
          for (size_t d = 0; d < rank; ++d)
            expected[d] = (pr[d] + c.perThread[d] * (pl[d] + c.lanes[d] * pw[d])) % c.shape[d];
          CHECK(at(l, r, lane, w) == expected);
        }
  }
}

TEST_CASE("laws of the algebra, point by point on random layouts") {
  for (int round = 0; round < 60; ++round) {
    LinearLayout f = randomLayout({{"register", 2}, {"lane", 3}}, {{"m", 2}, {"n", 3}});
    LinearLayout g = randomLayout({{"n", 3}, {"m", 2}}, {{"x", 3}, {"y", 2}});
    LinearLayout h = randomLayout({{"lane", 1}, {"warp", 2}}, {{"n", 2}, {"k", 1}});
    auto fg = f.compose(g);
    REQUIRE(fg);
    forEachPlace(f, [&](const LinearLayout::Coordinates &place) { CHECK(at(*fg, place) == at(g, f.apply(place))); });

    LinearLayout product = f * h; // outputs m, n, k; lane 3 + 1 bits
    forEachPlace(product, [&](const LinearLayout::Coordinates &place) {
      int64_t reg = place[0].second, lane = place[1].second, warp = place[2].second;
      Point a = at(f, {{"register", reg}, {"lane", lane & 7}}), b = at(h, {{"lane", lane >> 3}, {"warp", warp}});
      CHECK(at(product, place) == Point{a[0], a[1] + 8 * b[0], b[1]});
    });
    CHECK((f * h) * g == f * (h * g));
    CHECK(f * LinearLayout() == f);
    CHECK(LinearLayout() * f == f);

    // Linearity, rank, injectivity, surjectivity by counting.
    size_t image = imageSize(f);
    CHECK(image == size_t(1) << f.rank());
    CHECK(f.isSurjective() == (image == 32));
    CHECK(f.isInjective() == (image == 32));

    // Rearrangements.
    LinearLayout flat = f.flattenOuts("all");
    auto reshaped = f.reshapeOuts({{"p", 8}, {"q", 4}});
    auto swapped = f.transposeOuts({"n", "m"});
    REQUIRE((reshaped && swapped));
    CHECK(!f.reshapeOuts({{"p", 8}, {"q", 8}}));
    CHECK(!f.transposeOuts({"n", "n"}));
    CHECK(!f.transposeOuts({"n"}));
    forEachPlace(f, [&](const LinearLayout::Coordinates &place) {
      Point p = at(f, place);
      int64_t number = p[0] + 4 * p[1];
      CHECK(at(flat, place) == Point{number});
      CHECK(at(*reshaped, place) == Point{number % 8, number / 8});
      CHECK(at(*swapped, place) == Point{p[1], p[0]});
      CHECK(at(f.sublayout({"lane"}, {"n"}), place) == Point{at(f, {{"lane", place[1].second}})[1]});
      CHECK(at(f.flattenIns("thread"), {{"thread", place[0].second + 4 * place[1].second}}) == p);
    });

    // Free variables: clearing them loses no element; without them the map is injective.
    auto masks = f.freeVariableMasks();
    std::set<Point> kept;
    int64_t places = 0;
    forEachPlace(f, [&](const LinearLayout::Coordinates &place) {
      if ((place[0].second & masks["register"]) || (place[1].second & masks["lane"]))
        return;
      ++places;
      kept.insert(at(f, place));
    });
    CHECK(kept.size() == image);
    CHECK(places == int64_t(image));
  }
}

TEST_CASE("inversion, exhaustively on all maps of 3 bits to 2 and of 2 to 2") {
  for (int inBits : {2, 3})
    for (int number = 0; number < 1 << (2 * inBits); ++number) {
      LinearLayout::Input in{"i", {}};
      for (int bit = 0; bit < inBits; ++bit)
        in.bases.push_back({number >> (2 * bit) & 1, number >> (2 * bit + 1) & 1});
      LinearLayout f({in}, {{"x", 2}, {"y", 2}});
      bool surjective = imageSize(f) == 4;
      CHECK(f.isSurjective() == surjective);
      auto back = f.pseudoInvert();
      CHECK(bool(back) == surjective);
      CHECK(bool(f.invert()) == (surjective && inBits == 2));
      if (!back)
        continue;
      int64_t free = f.freeVariableMasks().at("i");
      for (int x = 0; x < 2; ++x)
        for (int y = 0; y < 2; ++y) {
          auto place = back->apply({{"x", x}, {"y", y}});
          CHECK(at(f, place) == Point{x, y});
          CHECK((place[0].second & free) == 0);
        }
      if (inBits == 2)
        CHECK(f.compose(*back)->isIdentity());
    }
}

TEST_CASE("conversions bring each element from where it is held") {
  std::vector<LinearLayout> layouts = {mmaAccumulator(32, 32, {2, 2}),
                                       mmaOperandA(32, 32, 16, {2, 2}),
                                       mmaOperandB(32, 32, 16, {2, 2}),
                                       blocked({32, 32}, {1, 8}, {8, 4}, {4, 1}, {1, 0}),
                                       blocked({32, 32}, {1, 4}, {2, 16}, {2, 2}, {1, 0}),
                                       sharedSwizzled(32, 32, 8, 2, 4)};
  for (const LinearLayout &wanted : layouts)
    for (const LinearLayout &held : layouts) {
      auto c = wanted.invertAndCompose(held);
      REQUIRE(c);
      forEachPlace(wanted, [&](const LinearLayout::Coordinates &place) {
        CHECK(at(held, c->apply(place)) == at(wanted, place));
      });
      if (&wanted == &held)
        CHECK(c->isIdentity()); // replicas included: nothing moves
    }
  LinearLayout half({{"lane", {{0, 1}}}}, {{"dim0", 2}, {"dim1", 2}}),
      whole = LinearLayout::identity1D(2, "lane", "dim0") * LinearLayout::identity1D(2, "lane", "dim1");
  CHECK(!whole.invertAndCompose(half)); // held nowhere
  CHECK(half.invertAndCompose(whole));
  CHECK(!half.invertAndCompose(whole.renameOut("dim1", "dim2")));
  // The order of outputs does not matter.
  CHECK(half.invertAndCompose(*whole.transposeOuts({"dim1", "dim0"})) == half.invertAndCompose(whole));
}

TEST_CASE("consecutive places against a search") {
  for (int round = 0; round < 200; ++round) {
    LinearLayout f = randomLayout({{"register", 3}, {"lane", 2}}, {{"m", 5}});
    if (round % 2) // make runs likely
      f = LinearLayout::identity1D(int64_t(1) << pick(3), "register", "m") *
          randomLayout({{"register", 1}, {"lane", 2}}, {{"m", 3}});
    int64_t most = 1;
    for (int64_t n = 2; n <= f.inputSize("register"); n *= 2) {
      bool fine = true;
      forEachPlace(f, [&](const LinearLayout::Coordinates &place) {
        int64_t inside = place[0].second % n;
        int64_t start = at(f, {{"register", place[0].second - inside}, {"lane", place[1].second}})[0];
        fine &= start % n == 0 && at(f, place)[0] == start + inside;
      });
      if (fine)
        most = n;
    }
    INFO(f.print());
    CHECK(f.numConsecutiveInOut() == most);
  }
}

TEST_CASE("swizzled memory is a permutation with the formula of the manual's diagrams") {
  for (auto [rows, columns, vec, perPhase, maxPhase] :
       {std::tuple{64, 64, 8, 1, 8}, {32, 32, 8, 2, 4}, {16, 128, 4, 1, 8}, {8, 16, 1, 1, 1}}) {
    LinearLayout l = sharedSwizzled(rows, columns, vec, perPhase, maxPhase);
    CHECK(l.isBijective());
    for (int row = 0; row < rows; ++row)
      for (int col = 0; col < columns; ++col) {
        int stored = ((col / vec) ^ (row / perPhase % maxPhase)) * vec + col % vec;
        CHECK(at(l, {{"offset", row * columns + stored}}) == Point{row, col});
      }
  }
}

TEST_CASE("bank conflicts") {
  // One lane a row, reading 16 bytes at the same column: 8 lanes of a quarter warp meet one group of banks unless swizzled.
  LinearLayout rows = blocked({32, 64}, {1, 8}, {32, 1}, {1, 1}, {1, 0});
  CHECK(bankConflicts(rows, sharedSwizzled(32, 64, 1, 1, 1), 2, 16) == 4 * 7);
  CHECK(bankConflicts(rows, sharedSwizzled(32, 64, 8, 1, 8), 2, 16) == 0);
  CHECK(bankConflicts(rows, sharedSwizzled(32, 64, 8, 1, 4), 2, 16) == 4 * 1);
  // Neighbouring words are free; the same word for all is a broadcast.
  LinearLayout line = blocked({1, 32}, {1, 1}, {1, 32}, {1, 1}, {1, 0});
  CHECK(bankConflicts(line, sharedSwizzled(1, 32, 1, 1, 1), 4, 4) == 0);
  LinearLayout same = blocked({1, 1}, {1, 1}, {1, 32}, {1, 1}, {1, 0});
  CHECK(bankConflicts(same, sharedSwizzled(1, 1, 1, 1, 1), 4, 4) == 0);
  // A column of f32 with a pitch of 32 words: 32 ways.
  LinearLayout column = blocked({32, 32}, {1, 1}, {32, 1}, {1, 1}, {1, 0});
  CHECK(bankConflicts(column, sharedSwizzled(32, 32, 1, 1, 1), 4, 4) == 31);
  CHECK(bankConflicts(column, sharedSwizzled(32, 32, 1, 1, 32), 4, 4) == 0);
  // A register of two 16-bit elements: words are shared by no two lanes here.
  CHECK(bankConflicts(mmaOperandA(16, 16, 16, {}), sharedSwizzled(16, 64, 1, 1, 1), 2, 4) == -1); // another tile
}

TEST_CASE("ldmatrix loads operands from rows of 16 bytes") {
  LinearLayout a = mmaOperandA(64, 64, 16, {2, 2}), b = mmaOperandB(64, 64, 16, {2, 2});
  LinearLayout rowMajor = sharedSwizzled(64, 64, 8, 1, 8), plain = sharedSwizzled(64, 64, 1, 1, 1),
               fine = sharedSwizzled(64, 64, 4, 1, 8);
  CHECK(ldmatrixMatrices(a, rowMajor, 2, false) == 4);
  CHECK(ldmatrixMatrices(a, plain, 2, false) == 4);
  CHECK(ldmatrixMatrices(a, rowMajor, 2, true) == 0);
  CHECK(ldmatrixMatrices(b, rowMajor, 2, false) == 0);
  CHECK(ldmatrixMatrices(b, rowMajor, 2, true) == 4); // K x N with rows along N: the transposed form
  CHECK(ldmatrixMatrices(a, fine, 2, false) == 0);    // groups of 8 bytes break the rows
  CHECK(ldmatrixMatrices(mmaOperandB(16, 8, 16, {}), *sharedSwizzled(8, 16, 8, 1, 2).transposeOuts({"dim1", "dim0"}), 2,
                         false) == 0); // names differ
  CHECK(ldmatrixMatrices(mmaOperandB(16, 8, 16, {}), sharedSwizzled(16, 8, 1, 1, 1), 2, true) == 2);
  CHECK(ldmatrixMatrices(mmaOperandA(16, 32, 8, {}), sharedSwizzled(16, 32, 16, 1, 2), 1, false) == 4);
  CHECK(ldmatrixMatrices(mmaOperandA(16, 8, 32, {}), sharedSwizzled(16, 8, 4, 1, 2), 4, false) == 4);
  CHECK(ldmatrixMatrices(blocked({32, 64}, {1, 8}, {32, 1}, {1, 1}, {1, 0}), sharedSwizzled(32, 64, 8, 1, 8), 2,
                         false) == 0);
}
