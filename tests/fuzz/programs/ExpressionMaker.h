//===- ExpressionMaker.h - random well-typed expressions ----------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Expressions are made from their type and shape down, so that they are well-typed by construction.  A float that is summed in any order is a small whole number first, so that
// every result can be foretold to the bit.
//
#ifndef TESSERA_TESTS_FUZZ_PROGRAMS_EXPRESSIONMAKER_H
#define TESSERA_TESTS_FUZZ_PROGRAMS_EXPRESSIONMAKER_H

#include "tests/fuzz/programs/Program.h"

#include <fmt/format.h>

namespace tessera::fuzz {

using Indices = std::vector<int64_t>;

struct ExpressionMaker {
  explicit ExpressionMaker(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15u + 0x1234567) { program.seed = seed; }
  Program program;
  uint64_t state;
  std::vector<int> visible;   ///< slots that expressions may name
  std::vector<int> variables; ///< visible slots that may be assigned
  Shape pool;                 ///< extents of this program's tiles
  bool inFunction = false;    ///< no memory, no names of the kernel

  //===--- chance ---===//
  uint64_t random() { // splitmix64
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  int64_t pick(int64_t count) { return int64_t(random() % uint64_t(count)); }
  bool chance(int percent) { return pick(100) < percent; }
  template <typename T>
  T oneOf(std::initializer_list<T> list) {
    return list.begin()[pick(int64_t(list.size()))];
  }
  template <typename T>
  const T &oneOf(const std::vector<T> &list) {
    return list[size_t(pick(int64_t(list.size())))];
  }

  DType anyType() {
    return oneOf({DType::I32, DType::I32, DType::F32, DType::F32, DType::F32, DType::I64, DType::F16, DType::BF16,
                  DType::F64, DType::I8, DType::U8, DType::I16, DType::U16, DType::U32, DType::U64, DType::Bool,
                  DType::F8E4M3, DType::F8E5M2});
  }
  Shape anyShape() {
    Shape shape;
    for (int64_t d = 0, rank = oneOf({0, 1, 1, 2, 2, 2, 3}); d < rank; ++d)
      shape.push_back(oneOf(pool));
    while (countOf(shape) > 600)
      *std::max_element(shape.begin(), shape.end()) = 2;
    return shape;
  }

  //===--- pieces ---===//
  int fresh(const char *prefix, DType type, Shape shape) {
    program.slots.push_back({fmt::format("{}{}", prefix, program.slots.size()), type, std::move(shape)});
    return int(program.slots.size()) - 1;
  }
  Expr make(Kind kind, DType type, Shape shape, std::vector<Expr> in = {}, Indices numbers = {}) {
    Expr e;
    e.kind = kind;
    e.type = type;
    e.shape = std::move(shape);
    e.in = std::move(in);
    e.numbers = std::move(numbers);
    return e;
  }
  Expr name(int slot) {
    const Slot &s = program.slots[size_t(slot)];
    Expr e = make(Kind::Name, s.type, s.shape);
    e.slot = slot;
    return e;
  }
  Expr number(int64_t value) {
    Expr e = make(Kind::Literal, DType::I64, {});
    e.literal = ofInteger(value);
    return e;
  }
  Expr operate(Op op, DType type, Shape shape, std::vector<Expr> in) {
    Expr e = make(Kind::Operate, type, std::move(shape), std::move(in));
    e.op = op;
    return e;
  }

  /// A number that every type of its kind holds.
  Element constant(DType type) {
    if (type == DType::Bool)
      return ofInteger(pick(2));
    if (isFloat(type))
      return ofNumber(roundTo(oneOf({0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -1.5, 0.1, 7.0, -0.25, 100.0, 1e-3, -8.0}), type));
    int64_t value = oneOf({0, 1, 2, 3, 5, 7, 10, 100, 127, 6, 31, 64});
    return ofInteger(isSignedInteger(type) && chance(30) ? -value : value);
  }
  Expr literal(DType type) {
    Expr e = make(Kind::Literal, type, {});
    e.literal = constant(type);
    return e;
  }
  Expr full(DType type, Shape shape) {
    Expr e = make(Kind::Full, type, std::move(shape));
    e.literal = constant(type);
    return e;
  }

  /// A scalar that mostly lies in or near a tensor.
  Expr index();

  /// A load of `shape` from a tensor of the type; nullopt-like Literal when there is none.
  bool load(DType type, const Shape &shape, int depth, Expr &result);

  /// i64 or i32 tile of positions, most of them inside.
  Expr indexTile(const Shape &shape, int64_t extent, int depth);

  Expr leaf(DType type, const Shape &shape);

  /// An operand that broadcasts to `shape`, of the type or one that widens to it.
  Expr operand(DType type, const Shape &shape, int depth);
  /// Two operands of which one has the whole shape and its type.
  std::vector<Expr> pair(DType type, const Shape &shape, int depth) {
    std::vector<Expr> in{tile(type, shape, depth), operand(type, shape, depth)};
    if (chance(40))
      std::swap(in[0], in[1]);
    return in;
  }

  /// A whole number of small size with the type of `e`, NaN apart: sums of it are exact.
  Expr whole(Expr e, int64_t bound) {
    if (e.kind == Kind::Load && program.tensors[size_t(e.slot)].isWhole)
      return e;
    Expr low = make(Kind::Literal, e.type, {}), high = low;
    low.literal = ofNumber(double(-bound));
    high.literal = ofNumber(double(bound));
    DType type = e.type;
    Shape shape = e.shape;
    Expr bounded = operate(Op::Round, type, shape, {make(Kind::Clamp, type, shape, {std::move(e), low, high})});
    Expr zero = make(Kind::Literal, type, {});
    return operate(Op::Add, type, shape, {bounded, zero}); // no -0, whose sum depends on the order
  }
  /// What is added first does not show in a zero.
  Expr positiveZero(Expr e) {
    if (!isFloat(e.type))
      return e;
    DType type = e.type;
    Shape shape = e.shape;
    return operate(Op::Add, type, shape, {std::move(e), make(Kind::Literal, type, {})});
  }

  std::vector<DType> summandsOf(DType sum) {
    std::vector<DType> types;
    for (DType type : {DType::Bool, DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32,
                       DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64})
      if (sumTypeOf(type) == sum)
        types.push_back(type);
    return types;
  }

  Shape withAxis(const Shape &shape, int64_t &axis, int64_t extent) {
    Shape longer = shape;
    axis = pick(int64_t(shape.size()) + 1);
    longer.insert(longer.begin() + axis, extent);
    return longer;
  }

  Expr tile(DType type, const Shape &shape, int depth) {
    if (depth <= 0 || countOf(shape) > 2000)
      return leaf(type, shape);
    for (int attempt = 0; attempt < 4; ++attempt) {
      Expr result;
      bool done = chance(50)   ? arithmetic(type, shape, depth - 1, result)
                  : chance(65) ? reshaping(type, shape, depth - 1, result)
                               : collecting(type, shape, depth - 1, result);
      if (done)
        return result;
    }
    return leaf(type, shape);
  }

  bool arithmetic(DType type, const Shape &shape, int depth, Expr &result);

  bool reshaping(DType type, const Shape &shape, int depth, Expr &result);

  /// Reductions, running sums, products and calls.
  bool collecting(DType type, const Shape &shape, int depth, Expr &result);
};

} // namespace tessera::fuzz
#endif // TESSERA_TESTS_FUZZ_PROGRAMS_EXPRESSIONMAKER_H
