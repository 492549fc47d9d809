//===- LinearLayout.h - who holds which element ------------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// 1. An example.  A 4 x 4 tile is held by 4 lanes with 4 registers each.  Every lane holds a 2 x 2 block:
//
//              col 0  1  2  3                     register bit 0 moves one column        (0, 1)
//        row 0   a0 a1 b0 b1                      register bit 1 moves one row           (1, 0)
//        row 1   a2 a3 b2 b3        a, b, c, d:   lane bit 0 moves two columns           (0, 2)
//        row 2   c0 c1 d0 d1        lanes 0..3    lane bit 1 moves two rows              (2, 0)
//        row 3   c2 c3 d2 d3
//
//    These four pairs are the whole layout.  To find register 3 of lane 2, take the pairs of the bits that are set, 3 = 0b11 and 2 = 0b10, and combine
//    them with exclusive or, coordinate by coordinate:  (0,1) ^ (1,0) ^ (2,0) = (3, 1): c3, as in the picture.
//
//        LinearLayout l = *LinearLayout::tryCreate({{"register", {{0, 1}, {1, 0}}}, {"lane", {{0, 2}, {2, 0}}}}, {{"dim0", 4}, {"dim1", 4}});
//        l.apply({{"register", 3}, {"lane", 2}})                // {{"dim0", 3}, {"dim1", 1}}
//
//    An 8 x 8 tile in shared memory, where row r is stored with its columns exclusive-or'ed by r so that a column meets all banks:
//
//        offset bits 0, 1, 2 (columns):  (0,1) (0,2) (0,4)          offset bits 3, 4, 5 (rows):  (1,1) (2,2) (4,4)
//
//    So a swizzle is nothing special: bases with more than one coordinate.  And where does lane 2's register 3 of a tile lie in that memory?  At the
//    offset that the inverse of the memory's layout gives for the coordinates:  registers.invertAndCompose(memory).  Everything the compiler asks about
//    a conversion is a question about that one map: is it the identity (nothing to do), does it keep lanes (rename registers), warps (shuffles), how
//    many low bits of `register` go to low bits of `offset` (width of an access), which banks do the lanes meet.
//
// 2. Replication.  A basis of zero means that changing the bit changes nothing: several registers, lanes or warps hold the same element.  Row maxima of the
//    tile above are `slice(l, "dim1")`: register = [[0], [1]], lane = [[0], [2]], so lanes 0 and 1 both hold rows 0 and 1.
//
// 3. Why from hardware to element, and not the other way.  Replication makes "which lane holds this element" ambiguous, while "which element is here"
//    always has one answer; and code is generated for a thread that knows where it is.  Why bits and not strides: strides cannot say exclusive or, and the
//    inverse of a strided map is divisions.  The price: extents are powers of two; other extents repeat a power-of-two block.
//
// 4. The maths.  Numbers of n bits are vectors over GF(2), the field with 0 + 1 = 1, 1 + 1 = 0 (addition is exclusive or).  A layout is a linear map, its bases
//    the columns of its matrix.  Composition is the matrix product; rank by elimination tells whether each element is held (surjective) and by one place
//    only (injective); a product of layouts (`operator*`) is the block-diagonal matrix.  All of it is exact, and cheap: a layout has at most 62 bits.
//
// 5. Sources.  K. Zhou et al., "Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using F2", arXiv 2505.23819, and Triton's
//    include/triton/Tools/LinearLayout.h, from which come the idea and the names of operations; the code here is our own.
//
#ifndef TESSERA_DIALECT_LAYOUT_LINEARLAYOUT_H
#define TESSERA_DIALECT_LAYOUT_LINEARLAYOUT_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {

/// A linear map over GF(2) from named input dimensions to named output dimensions.  A value type; all operations are pure.
/// Dimensions are ordered: the first is the fastest (lowest bits) when several are read as one number.
class LinearLayout {
public:
  /// One input dimension: for each bit of its index, where it moves, a coordinate per output dimension.
  struct Input {
    std::string name;
    std::vector<std::vector<int64_t>> bases;
    bool operator==(const Input &) const = default;
  };
  /// One output dimension and its extent, a power of two.
  struct Output {
    std::string name;
    int64_t size = 1;
    bool operator==(const Output &) const = default;
  };
  using Coordinates = std::vector<std::pair<std::string, int64_t>>;

  /// The empty layout: no inputs, no outputs; neutral for operator*.
  LinearLayout() = default;

  /// For untrusted input.  Empty, and the reason in `why`, unless: names are not empty and differ, extents are powers of two, every basis has
  /// one coordinate a dimension inside its extent, and neither side has more than 62 bits.
  static std::optional<LinearLayout> tryCreate(std::vector<Input> inputs, std::vector<Output> outputs,
                                               std::string *why = nullptr);
  /// For the compiler's own constructions: the same, and a violation is a programming error (assert; the empty layout without assertions).
  LinearLayout(std::vector<Input> inputs, std::vector<Output> outputs);

  /// `in` index i is `out` coordinate i; size a power of two.
  static LinearLayout identity1D(int64_t size, std::string in, std::string out);
  /// `in` of `inSize` places, all at coordinate 0 of `out`.
  static LinearLayout zeros1D(int64_t inSize, std::string in, std::string out, int64_t outSize = 1);

  const std::vector<Input> &inputs() const { return ins; }
  const std::vector<Output> &outputs() const { return outs; }
  bool hasInput(std::string_view name) const;
  bool hasOutput(std::string_view name) const;
  int inputBits(std::string_view name) const; ///< 0 for a name it lacks
  int64_t inputSize(std::string_view name) const { return int64_t(1) << inputBits(name); }
  int64_t outputSize(std::string_view name) const; ///< 1 for a name it lacks
  int totalInputBits() const;
  int totalOutputBits() const;
  /// Basis of one bit, a coordinate per output dimension.
  const std::vector<int64_t> &basis(std::string_view in, int bit) const;
  /// Coordinate of that basis along `out`.
  int64_t basis(std::string_view in, int bit, std::string_view out) const;

  /// Where a place lies.  Inputs not named are 0; bits beyond an input's size are ignored.
  Coordinates apply(const Coordinates &place) const;

  /// Block product: inputs and outputs that both have get the bits of `other` above their own; others are appended.  `l * identity1D(2, "warp",
  /// "dim0")` puts a copy of l, held by a second warp, behind l along dim0.
  LinearLayout operator*(const LinearLayout &other) const;
  /// outer(this(x)).  Needs: the outputs of this are the inputs of `outer`, no larger.  Empty optional otherwise.
  std::optional<LinearLayout> compose(const LinearLayout &outer) const;
  /// The inverse of a bijective layout; empty if it is not.
  std::optional<LinearLayout> invert() const;
  /// For a surjective layout: a map back, outputs to inputs, with this(back(y)) = y; of the places that hold y it names the one whose replicated bits are
  /// zero.  Empty if some element is held nowhere.
  std::optional<LinearLayout> pseudoInvert() const;
  /// The conversion: c from the inputs of this to the inputs of `source` with source(c(x)) = this(x): where `source` keeps what x shall hold.
  /// A bit that moves equally in both is kept, so that what can stay in its lane does; otherwise replicated bits are zero.  Both must have the same
  /// output names and sizes (any order).  Empty if `source` does not hold everything.
  std::optional<LinearLayout> invertAndCompose(const LinearLayout &source) const;

  /// Reads all outputs as one number, the first fastest, and splits it anew; the product of sizes must be the same (else empty).
  std::optional<LinearLayout> reshapeOuts(const std::vector<Output> &newOuts) const;
  /// One output `name`.
  LinearLayout flattenOuts(std::string name) const;
  /// One input `name`.
  LinearLayout flattenIns(std::string name) const;
  /// The same map with outputs in another order; `order` has every name once (else empty).
  std::optional<LinearLayout> transposeOuts(const std::vector<std::string> &order) const;
  /// The same map with inputs in another order (else empty).
  std::optional<LinearLayout> transposeIns(const std::vector<std::string> &order) const;
  /// Only these inputs and outputs, in the given order; names it lacks are skipped.
  LinearLayout sublayout(const std::vector<std::string> &inNames, const std::vector<std::string> &outNames) const;
  LinearLayout renameOut(std::string_view from, std::string to) const;

  int rank() const;
  bool isSurjective() const { return rank() == totalOutputBits(); }
  bool isInjective() const { return rank() == totalInputBits(); }
  bool isBijective() const { return isSurjective() && isInjective(); }
  /// Each bit moves only the equal bit of the output of the same name, so that the map does nothing.
  bool isIdentity() const;

  /// The largest power of two n such that the first n indices of the first input lie at consecutive, n-aligned places of the outputs read as one number
  /// wherever the other bits move: the width of a memory access, in elements.
  int64_t numConsecutiveInOut() const;
  /// For each input the bits that say nothing new: zero bases, and those that are sums of earlier ones.  Threads with such a bit set are replicas.
  std::map<std::string, int64_t> freeVariableMasks() const;

  /// Same names in the same order, same extents, same bases.
  bool operator==(const LinearLayout &) const = default;

  /// `{register = [[0, 1], [1, 0]], lane = [[0, 2], [2, 0]]} -> [dim0: 4, dim1: 4]`
  std::string print() const;
  /// Reads what `print` writes (white space free); empty, and the reason with its position in `why`, otherwise.
  static std::optional<LinearLayout> parse(std::string_view text, std::string *why = nullptr);

private:
  /// Matrix columns: input bits in order, outputs as one number.
  std::vector<uint64_t> columns() const;
  static LinearLayout fromColumns(const std::vector<std::pair<std::string, int>> &inBits,
                                  const std::vector<Output> &outs, const std::vector<uint64_t> &columns);
  std::vector<std::pair<std::string, int>> inputShape() const;
  std::vector<std::pair<std::string, int>> outputShape() const;

  std::vector<Input> ins;
  std::vector<Output> outs;
};

} // namespace tessera
#endif // TESSERA_DIALECT_LAYOUT_LINEARLAYOUT_H
