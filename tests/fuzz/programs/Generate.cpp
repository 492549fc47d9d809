//===- Generate.cpp - a random well-typed program ----------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The kernel around the expressions: parameters, grid, statements.  Instances write only what they own, or what commutes.
//
#include "tests/fuzz/programs/ExpressionMaker.h"

#include <algorithm>
#include <cmath>

namespace tessera::fuzz {
namespace {

struct Generator : ExpressionMaker {
  using ExpressionMaker::ExpressionMaker;

  //===--- the kernel ---===//
  void declareDimension(const std::string &dim, int64_t extent) {
    for (auto &known : program.dims)
      if (known.first == dim)
        return;
    program.dims.push_back({dim, extent});
    int slot = fresh("", DType::I64, {});
    program.slots[size_t(slot)].name = dim;
    program.dimSlots.push_back(slot);
    visible.push_back(slot);
  }

  void declareInputs() {
    for (int64_t t = 0, n = 3 + pick(3); t < n; ++t) {
      Tensor tensor;
      tensor.name = fmt::format("x{}", t);
      tensor.type = t == 0 ? DType::I32 : t == 1 ? DType::F32 : anyType();
      tensor.isWhole = isFloat(tensor.type) && t != 1 && chance(50);
      for (int64_t d = 0, rank = 1 + pick(3); d < rank; ++d) {
        int64_t extent = chance(60) ? oneOf(pool) : 1 + pick(20);
        tensor.extents.push_back(extent);
        tensor.dims.push_back(chance(50) ? fmt::format("{}", extent) : fmt::format("D{}{}", t, d));
        if (tensor.dims.back()[0] == 'D')
          declareDimension(tensor.dims.back(), extent);
      }
      layOut(tensor);
      program.tensors.push_back(std::move(tensor));
    }
  }

  /// Row-major, with pitch, transposed, or reversed.
  void layOut(Tensor &tensor) {
    size_t rank = tensor.extents.size();
    std::vector<size_t> order(rank);
    for (size_t d = 0; d < rank; ++d)
      order[d] = d;
    if (rank > 1 && chance(15))
      std::swap(order[rank - 1], order[rank - 2]);
    tensor.strides.assign(rank, 0);
    int64_t stride = 1;
    for (size_t i = rank; i-- > 0;) {
      tensor.strides[order[i]] = stride;
      stride *= tensor.extents[order[i]];
      if (chance(15))
        stride += 1 + pick(5);
      else if (chance(30))
        stride = (stride + 15) / 16 * 16;
    }
  }

  /// An output whose leading dimensions belong to the instance.
  int declareOutput(DType type, const Shape &inner, ParamMode mode) {
    Tensor tensor;
    tensor.name = fmt::format("y{}", program.tensors.size());
    tensor.mode = mode;
    tensor.type = type;
    for (const Axis &axis : program.axes) {
      tensor.extents.push_back(axis.count);
      tensor.dims.push_back(axis.extent);
    }
    for (int64_t extent : inner) {
      int64_t room = extent + (chance(30) ? pick(4) : 0);
      tensor.extents.push_back(room);
      tensor.dims.push_back(fmt::format("{}", room));
    }
    layOut(tensor);
    program.tensors.push_back(std::move(tensor));
    return int(program.tensors.size()) - 1;
  }
  /// The instance's part of an output: one element or one block of each grid axis, then `inner`.
  Expr ownPlace(int tensor, const Shape &inner) {
    const Tensor &t = program.tensors[size_t(tensor)];
    Expr place = make(Kind::Load, t.type, {});
    place.slot = tensor;
    for (size_t d = 0; d < t.extents.size(); ++d) {
      if (d < program.axes.size()) {
        bool isBlock = program.axes[d].step > 1;
        place.numbers.insert(place.numbers.end(),
                             {int64_t(isBlock ? IndexKind::Window : IndexKind::Scalar), program.axes[d].step, 1});
        place.in.push_back(name(program.axes[d].slot));
        if (isBlock)
          place.shape.push_back(program.axes[d].step);
        continue;
      }
      int64_t width = inner[d - program.axes.size()];
      place.shape.push_back(width);
      if (t.extents[d] == width && chance(50)) {
        place.numbers.insert(place.numbers.end(), {int64_t(IndexKind::Whole), width, 1});
      } else {
        place.numbers.insert(place.numbers.end(), {int64_t(IndexKind::Window), width, 1});
        place.in.push_back(number(pick(3) - (chance(20) ? 1 : 0)));
      }
    }
    return place;
  }

  Statement statement(Statement::Kind kind, int slot = -1, Expr value = {}) {
    Statement s;
    s.kind = kind;
    s.slot = slot;
    s.value = std::move(value);
    return s;
  }

  void store(std::vector<Statement> &block, int depth) {
    Shape inner;
    for (int64_t d = 0, rank = pick(3); d < rank; ++d)
      inner.push_back(oneOf(pool));
    while (countOf(inner) > 300)
      inner.pop_back();
    DType type = anyType();
    int tensor = declareOutput(type, inner, chance(80) ? ParamMode::Out : ParamMode::InOut);
    Statement s = statement(Statement::Kind::Store);
    s.place = ownPlace(tensor, inner);
    s.value = tile(type, s.place.shape, depth);
    block.push_back(s);
    if (program.tensors[size_t(tensor)].mode == ParamMode::InOut && chance(60)) { // and again, reading what was stored
      Statement again = statement(Statement::Kind::Store);
      again.place = ownPlace(tensor, inner);
      Expr old = ownPlace(tensor, inner);
      again.value = make(Kind::Where, type, s.place.shape,
                         {tile(DType::Bool, s.place.shape, 1), old, tile(type, s.place.shape, 1)});
      block.push_back(again);
    }
  }

  /// Results of a function with a published error, stored as they are.
  void storeFunction(std::vector<Statement> &block) {
    int tensor = declareOutput(DType::F32, {oneOf(pool)}, ParamMode::Out);
    program.tensors[size_t(tensor)].isApproximate = true;
    Statement s = statement(Statement::Kind::Store);
    s.place = ownPlace(tensor, {program.tensors[size_t(tensor)].extents.back()});
    Expr low = make(Kind::Literal, DType::F32, {}), high = low;
    low.literal = ofNumber(-20);
    high.literal = ofNumber(20);
    Expr x = make(Kind::Clamp, DType::F32, s.place.shape, {tile(DType::F32, s.place.shape, 1), low, high});
    s.value = make(Kind::Math, DType::F32, s.place.shape, {x});
    s.value.text = oneOf({"exp", "exp2", "sin", "cos", "tanh", "erf", "log", "log2", "rsqrt"});
    block.push_back(s);
  }

  /// += of all instances on one tensor, or one kind of atomic: both commute.
  void combine(std::vector<Statement> &block) {
    bool isAtomic = chance(50);
    DType type = isAtomic ? oneOf({DType::I32, DType::U32, DType::I64, DType::F32, DType::U8, DType::I16, DType::F16})
                          : oneOf({DType::I32, DType::U32, DType::I64, DType::F32, DType::F64});
    Tensor tensor;
    tensor.name = fmt::format("y{}", program.tensors.size());
    tensor.mode = isAtomic ? ParamMode::InOut : ParamMode::Accum;
    tensor.type = type;
    tensor.isWhole = true;
    for (int64_t d = 0, rank = 1 + pick(2); d < rank; ++d) {
      tensor.extents.push_back(oneOf(pool));
      tensor.dims.push_back(fmt::format("{}", tensor.extents.back()));
    }
    layOut(tensor);
    if (isAtomic)
      tensor.atomic =
          type == DType::F16 ? oneOf({"atomic_max", "atomic_min"}) // its sums grow past what it holds exactly
          : isFloat(type)    ? oneOf({"atomic_add", "atomic_max", "atomic_min"})
                          : oneOf({"atomic_add", "atomic_max", "atomic_min", "atomic_and", "atomic_or", "atomic_xor"});
    program.tensors.push_back(tensor);
    Statement s = statement(isAtomic ? Statement::Kind::Atomic : Statement::Kind::Accumulate);
    s.text = tensor.atomic;
    s.place = make(Kind::Load, type, {});
    s.place.slot = int(program.tensors.size()) - 1;
    bool gathers = chance(30);
    for (size_t d = 0; d < tensor.extents.size(); ++d) {
      int64_t width = oneOf(pool);
      if (gathers && d == 0) {
        s.place.numbers.insert(s.place.numbers.end(), {int64_t(IndexKind::Tile), 1, 1});
        s.place.in.push_back(indexTile({width}, tensor.extents[d], 1));
        s.place.shape.push_back(width);
      } else {
        if (countOf(s.place.shape) * width > 300)
          width = 1;
        s.place.numbers.insert(s.place.numbers.end(), {int64_t(IndexKind::Window), width, 1});
        s.place.in.push_back(index());
        s.place.shape.push_back(width);
      }
    }
    s.value = tile(type, s.place.shape, 1);
    if (isFloat(type)) // few enough instances that f16 holds the sum
      s.value = whole(std::move(s.value), 4);
    block.push_back(s);
  }

  /// acc += a @ b along a dimension of run-time extent, as every product is written.
  void product(std::vector<Statement> &block) {
    DType of = oneOf({DType::F16, DType::BF16, DType::F32, DType::I8, DType::F64});
    DType type = sumTypeOf(of);
    int64_t m = oneOf({4, 8, 16, 16, 32}), n = oneOf({4, 8, 16, 16, 32}), bk = oneOf({8, 16, 16, 32}), k = 1 + pick(70);
    std::string dim = fmt::format("K{}", program.tensors.size());
    Expr operands[2];
    int indexSlot = fresh("k", DType::I64, {});
    bool transposed[2] = {chance(25), chance(50)};
    declareDimension(dim, k);
    for (int side = 0; side < 2; ++side) {
      Tensor tensor;
      tensor.name = fmt::format("z{}", program.tensors.size());
      tensor.type = of;
      tensor.isWhole = isFloat(of);
      int64_t other = side == 0 ? m : n, room = other + pick(5) - 2;
      room = std::max<int64_t>(room, 1);
      bool kFirst = (side == 1) != transposed[side];
      tensor.extents = kFirst ? Shape{k, room} : Shape{room, k};
      std::string extent = fmt::format("{}", room);
      tensor.dims = kFirst ? std::vector<std::string>{dim, extent} : std::vector<std::string>{extent, dim};
      layOut(tensor);
      program.tensors.push_back(tensor);
      Shape shape = kFirst ? Shape{bk, other} : Shape{other, bk};
      Expr slice = make(Kind::Load, of, shape, {}, {1, shape[0], 1, 1, shape[1], 1});
      slice.slot = int(program.tensors.size()) - 1;
      Expr zero = number(0), at = name(indexSlot);
      slice.in = kFirst ? std::vector<Expr>{at, zero} : std::vector<Expr>{zero, at};
      operands[side] = transposed[side] ? make(Kind::Transpose, of, Shape{shape[1], shape[0]}, {slice}) : slice;
    }
    int acc = fresh("v", type, {m, n});
    Expr zeros = make(Kind::Full, type, {m, n});
    block.push_back(statement(Statement::Kind::Var, acc, zeros));
    Statement loop = statement(Statement::Kind::For, indexSlot);
    int dimSlot = program.dimSlots.back();
    loop.bounds = {number(0), name(dimSlot), number(bk)};
    loop.body.push_back(
        statement(Statement::Kind::AddAssign, acc,
                  make(Kind::Dot, type, {m, n}, {operands[0], operands[1]}, {of == DType::F32 && chance(50)})));
    block.push_back(loop);
    int sum = fresh("t", type, {m, n}); // the accumulator itself may hold -0
    block.push_back(statement(Statement::Kind::Let, sum, positiveZero(name(acc))));
    visible.push_back(sum);
    pool.push_back(m);
    pool.push_back(n);
  }

  void fill(std::vector<Statement> &block, int depth, int statements) {
    size_t seen = visible.size(), assignable = variables.size();
    for (int i = 0; i < statements; ++i) {
      int64_t what = pick(100);
      if (what < 35) {
        DType type = anyType();
        Shape shape = anyShape();
        Expr value = tile(type, shape, 3);
        if (chance(15))
          value = make(Kind::Choose, type, shape, {tile(DType::Bool, {}, 1), value, tile(type, shape, 1)});
        int slot = fresh("t", type, shape);
        block.push_back(statement(Statement::Kind::Let, slot, value));
        visible.push_back(slot);
      } else if (what < 45) {
        DType type = oneOf({DType::I32, DType::F32, DType::I64, DType::F16, DType::U8, DType::BF16, DType::Bool});
        Shape shape = anyShape();
        Expr value = tile(type, shape, 1);
        int slot = fresh("v", type, shape);
        block.push_back(statement(Statement::Kind::Var, slot, value));
        visible.push_back(slot);
        variables.push_back(slot);
      } else if (what < 60 && !variables.empty()) {
        int slot = oneOf(variables);
        const Slot target = program.slots[size_t(slot)];
        bool adds = target.type != DType::Bool && chance(40);
        Expr value = tile(target.type, target.shape, 2);
        // `x += a * b + c` would fuse or not by where its parentheses are; a sum alone says it.
        block.push_back(statement(adds ? Statement::Kind::AddAssign : Statement::Kind::Assign, slot, value));
      } else if (what < 72 && depth > 0) {
        Statement loop = statement(Statement::Kind::For, fresh("j", DType::I64, {}));
        Expr high = chance(50) ? number(pick(4)) : operate(Op::Min, DType::I64, {}, {index(), number(3)});
        loop.bounds = {number(oneOf({0, 0, 1, -1})), high, number(oneOf({1, 1, 2, 3}))};
        visible.push_back(loop.slot);
        fill(loop.body, depth - 1, 2 + int(pick(3)));
        visible.resize(size_t(std::find(visible.begin(), visible.end(), loop.slot) - visible.begin()));
        block.push_back(std::move(loop));
      } else if (what < 82 && depth > 0) {
        Statement branch = statement(Statement::Kind::If, -1, tile(DType::Bool, {}, 2));
        fill(branch.body, depth - 1, 1 + int(pick(3)));
        if (chance(60))
          fill(branch.other, depth - 1, 1 + int(pick(2)));
        block.push_back(std::move(branch));
      } else if (what < 92) {
        store(block, 2);
      } else if (what < 96) {
        combine(block);
      } else {
        storeFunction(block);
      }
    }
    visible.resize(seen);
    variables.resize(assignable);
  }

  Program run() {
    for (int64_t i = 0, n = 2 + pick(3); i < n; ++i)
      pool.push_back(oneOf({1, 2, 2, 3, 4, 4, 5, 7, 8, 8, 9, 12, 15, 16, 16, 17, 24, 31, 32, 33}));
    declareInputs();
    for (int64_t a = 0, n = 1 + pick(2); a < n; ++a) {
      Axis axis;
      axis.extent = fmt::format("G{}", a);
      axis.count = 1 + pick(6);
      axis.step = chance(60) ? 1 : 2 + pick(3);
      declareDimension(axis.extent, axis.count);
      axis.slot = fresh("p", DType::I64, {});
      visible.push_back(axis.slot);
      program.axes.push_back(axis);
    }
    for (int64_t i = 0, n = pick(3); i < n; ++i) {
      DType type = oneOf({DType::I32, DType::F32, DType::I64});
      int slot = fresh("s", type, {});
      program.scalars.push_back({slot, constant(type)});
      visible.push_back(slot);
    }
    if (chance(25))
      product(program.body);
    std::vector<Statement> rest;
    size_t seen = visible.size();
    fill(rest, 2, 4 + int(pick(6)));
    visible.resize(seen);
    for (Statement &s : rest)
      program.body.push_back(std::move(s));
    store(program.body, 3);
    for (int slot : std::vector<int>(visible)) // what a product gave is seen by a store
      if (program.slots[size_t(slot)].name[0] == 't' && program.slots[size_t(slot)].shape.size() == 2) {
        const Slot value = program.slots[size_t(slot)];
        bool blocks = std::any_of(program.axes.begin(), program.axes.end(), [](const Axis &a) { return a.step > 1; });
        if (blocks)
          continue;
        int tensor = declareOutput(value.type, value.shape, ParamMode::Out);
        Statement s = statement(Statement::Kind::Store, -1, name(slot));
        s.place = ownPlace(tensor, value.shape);
        program.body.push_back(s);
      }
    return std::move(program);
  }
};

} // namespace

Program generate(uint64_t seed) { return Generator(seed).run(); }

std::vector<std::vector<Element>> initialMemory(const Program &program) {
  Generator chance(program.seed ^ 0x5bd1e995);
  std::vector<std::vector<Element>> memory;
  for (const Tensor &tensor : program.tensors) {
    std::vector<Element> data;
    for (int64_t i = 0, n = countOf(tensor.extents); i < n; ++i) {
      Element value;
      if (tensor.isWhole) {
        int64_t small = chance.pick(9) - (isUnsignedInteger(tensor.type) ? 0 : 4);
        value = isFloat(tensor.type) ? ofNumber(double(small)) : ofInteger(small);
      } else if (isFloat(tensor.type)) {
        double random = std::ldexp(double(chance.pick(1 << 20)) - double(1 << 19), int(chance.pick(14)) - 22);
        int64_t special = chance.pick(60);
        value = ofNumber(roundTo(special == 0   ? std::nan("")
                                 : special == 1 ? HUGE_VAL
                                 : special == 2 ? -HUGE_VAL
                                 : special == 3 ? -0.0
                                 : special == 4 ? std::ldexp(random, -130)
                                 : special == 5 ? std::ldexp(random, 100)
                                                : random,
                                 tensor.type, true));
      } else {
        int64_t special = chance.pick(20);
        value = ofInteger(wrapTo(special == 0   ? leastOf(tensor.type)
                                 : special == 1 ? largestOf(tensor.type)
                                 : special < 6  ? int64_t(chance.random())
                                                : chance.pick(40) - 12,
                                 tensor.type));
      }
      data.push_back(value);
    }
    memory.push_back(std::move(data));
  }
  return memory;
}

} // namespace tessera::fuzz
