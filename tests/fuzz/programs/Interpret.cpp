//===- Interpret.cpp - runs a random program as the specification says ------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "tests/fuzz/programs/Program.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::fuzz {

int64_t countOf(const Shape &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

namespace {

struct Tile {
  Shape shape;
  std::vector<Element> data;
};

Shape unflatten(int64_t linear, const Shape &shape) {
  Shape index(shape.size());
  for (size_t d = shape.size(); d-- > 0; linear /= shape[d])
    index[d] = linear % shape[d];
  return index;
}

int64_t flatten(const Shape &index, const Shape &shape) {
  int64_t linear = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    linear = linear * shape[d] + index[d];
  return linear;
}

/// The element of `tile` that broadcasting (aligned at the end) puts at `index`.
const Element &spread(const Tile &tile, const Shape &index) {
  int64_t linear = 0;
  size_t skip = index.size() - tile.shape.size();
  for (size_t d = 0; d < tile.shape.size(); ++d)
    linear = linear * tile.shape[d] + (tile.shape[d] == 1 ? 0 : index[skip + d]);
  return tile.data[size_t(linear)];
}

template <typename Function>
Tile make(const Shape &shape, Function element) {
  Tile tile{shape, {}};
  for (int64_t i = 0, n = countOf(shape); i < n; ++i)
    tile.data.push_back(element(unflatten(i, shape)));
  return tile;
}

double mathOf(const std::string &name, double x) {
  if (name == "exp")
    return std::exp(x);
  if (name == "exp2")
    return std::exp2(x);
  if (name == "log")
    return std::log(x);
  if (name == "log2")
    return std::log2(x);
  if (name == "sin")
    return std::sin(x);
  if (name == "cos")
    return std::cos(x);
  if (name == "tanh")
    return std::tanh(x);
  if (name == "erf")
    return std::erf(x);
  return 1.0 / std::sqrt(x);
}

struct Machine {
  const Program &program;
  std::vector<std::vector<Element>> &memory;
  std::vector<Tile> values = std::vector<Tile>(program.slots.size());

  int64_t scalar(const Expr &e) { return eval(e).data[0].integer; }

  /// Places of a slice's elements in row-major order of the slice, -1 outside.
  std::vector<int64_t> places(const Expr &e) {
    const Tensor &tensor = program.tensors[size_t(e.slot)];
    std::vector<Tile> operands;
    for (const Expr &index : e.in)
      operands.push_back(eval(index));
    Shape tileShape; // of the index tiles, broadcast against each other
    size_t next = 0;
    for (size_t d = 0; d < tensor.extents.size(); ++d) {
      IndexKind kind = IndexKind(e.numbers[d * 3]);
      if (kind == IndexKind::Tile) {
        const Shape &shape = operands[next].shape;
        while (tileShape.size() < shape.size())
          tileShape.insert(tileShape.begin(), 1);
        for (size_t i = 0; i < shape.size(); ++i)
          tileShape[tileShape.size() - shape.size() + i] =
              std::max(tileShape[tileShape.size() - shape.size() + i], shape[i]);
      }
      next += kind != IndexKind::Whole;
    }
    std::vector<int64_t> result;
    for (int64_t i = 0, n = countOf(e.shape); i < n; ++i) {
      Shape at = unflatten(i, e.shape);
      size_t dim = 0;
      Shape tileIndex;
      int64_t linear = 0;
      bool isInside = true;
      next = 0;
      for (size_t d = 0; d < tensor.extents.size(); ++d) {
        int64_t position = 0, step = e.numbers[d * 3 + 2];
        switch (IndexKind(e.numbers[d * 3])) {
        case IndexKind::Scalar:
          position = operands[next++].data[0].integer;
          break;
        case IndexKind::Window:
          position = int64_t(uint64_t(operands[next++].data[0].integer) + uint64_t(at[dim++]) * uint64_t(step));
          break;
        case IndexKind::Whole:
          position = at[dim++];
          break;
        case IndexKind::Tile:
          if (tileIndex.empty()) { // the first one: here stand the dimensions of all
            tileIndex.assign(at.begin() + int64_t(dim), at.begin() + int64_t(dim + tileShape.size()));
            dim += tileShape.size();
          }
          position = spread(operands[next++], tileIndex).integer;
          break;
        }
        isInside &= position >= 0 && position < tensor.extents[d];
        linear = linear * tensor.extents[d] + (isInside ? position : 0);
      }
      result.push_back(isInside ? linear : -1);
    }
    return result;
  }

  Tile reduce(const Expr &e, const Tile &x, DType type) {
    int64_t axis = e.numbers[0];
    const std::string &f = e.text;
    auto combine = [&](Element a, Element b) {
      if (f == "sum")
        return apply(Op::Add, e.type, a, b);
      if (f == "any" || f == "all")
        return apply(f == "any" ? Op::BitOr : Op::BitAnd, DType::Bool, a, b);
      return apply(f == "max" ? Op::Max : f == "min" ? Op::Min : f == "maxnum" ? Op::MaxNum : Op::MinNum, type, a, b);
    };
    auto first = [&](Element a) { return f == "sum" ? convert(a, type, e.type) : a; };
    if (axis < 0) {
      Element total = first(x.data[0]);
      for (size_t i = 1; i < x.data.size(); ++i)
        total = combine(total, first(x.data[i]));
      return {{}, {total}};
    }
    return make(e.shape, [&](Shape index) {
      index.insert(index.begin() + axis, 0);
      Element total = first(x.data[size_t(flatten(index, x.shape))]);
      while (++index[size_t(axis)] < x.shape[size_t(axis)])
        total = combine(total, first(x.data[size_t(flatten(index, x.shape))]));
      return total;
    });
  }

  Tile argExtremum(const Expr &e, const Tile &x, DType type) {
    size_t axis = size_t(e.numbers[0]);
    return make(e.shape, [&](Shape index) {
      index.insert(index.begin() + int64_t(axis), 0);
      int64_t best = 0;
      Element value = x.data[size_t(flatten(index, x.shape))];
      while (++index[axis] < x.shape[axis]) {
        Element other = x.data[size_t(flatten(index, x.shape))];
        if (isFloat(type) && std::isnan(value.number))
          break; // the first NaN wins
        if ((isFloat(type) && std::isnan(other.number)) ||
            apply(e.text == "argmax" ? Op::Gt : Op::Lt, type, other, value).integer) {
          value = other;
          best = index[axis];
        }
      }
      return ofInteger(best);
    });
  }

  Tile eval(const Expr &e) {
    if (e.kind == Kind::Name)
      return values[size_t(e.slot)];
    if (e.kind == Kind::Call) {
      const Function &function = program.functions[size_t(e.numbers[0])];
      std::vector<Tile> arguments;
      for (const Expr &argument : e.in)
        arguments.push_back(eval(argument));
      for (size_t i = 0; i < arguments.size(); ++i)
        values[size_t(function.parameters[i])] = std::move(arguments[i]);
      return eval(function.body);
    }
    if (e.kind == Kind::Load || e.kind == Kind::Inside) {
      std::vector<int64_t> at = places(e);
      Tile tile{e.shape, {}};
      for (int64_t place : at)
        tile.data.push_back(e.kind == Kind::Inside ? ofInteger(place >= 0)
                            : place >= 0           ? memory[size_t(e.slot)][size_t(place)]
                                                   : e.literal);
      return tile;
    }
    if (e.kind == Kind::Choose)
      return widened(e.in[scalar(e.in[0]) ? 1 : 2], e.type);
    std::vector<Tile> in;
    for (const Expr &operand : e.in)
      in.push_back(eval(operand));
    auto typeOf = [&](size_t i) { return e.in[i].type; };
    // Operand i at an index, converted to a wider type where the operation has one.
    auto at = [&](size_t i, const Shape &index, DType type) { return convert(spread(in[i], index), typeOf(i), type); };
    switch (e.kind) {
    case Kind::Literal:
    case Kind::Full:
      return make(e.shape, [&](const Shape &) { return e.literal; });
    case Kind::Iota:
      return make(e.shape, [&](const Shape &i) { return ofInteger(i[0]); });
    case Kind::Operate: {
      DType type = in.size() == 2 && isComparison(e.op) ? DType(e.numbers[0]) : e.type;
      return make(e.shape, [&](const Shape &i) {
        return apply(e.op, type, at(0, i, type), in.size() == 2 ? at(1, i, type) : Element());
      });
    }
    case Kind::Shift:
      return make(e.shape, [&](const Shape &i) {
        return shift(e.numbers[0] != 0, e.type, spread(in[0], i), typeOf(1), spread(in[1], i));
      });
    case Kind::Contract:
    case Kind::Fma:
      return make(e.shape, [&](const Shape &i) {
        int64_t form = e.kind == Kind::Fma ? 0 : e.numbers[0];
        Element a = at(0, i, e.type), b = at(1, i, e.type), c = at(2, i, e.type);
        if (e.kind == Kind::Contract && (isHalf(e.type) || !isFloat(e.type))) { // two roundings
          Element product = apply(Op::Mul, e.type, a, b);
          return form == 1   ? apply(Op::Sub, e.type, product, c)
                 : form == 2 ? apply(Op::Sub, e.type, c, product)
                             : apply(Op::Add, e.type, product, c);
        }
        return fusedMultiplyAdd(e.type, form == 2 ? apply(Op::Neg, e.type, a) : a, b,
                                form == 1 ? apply(Op::Neg, e.type, c) : c);
      });
    case Kind::Clamp:
      return make(e.shape, [&](const Shape &i) {
        return apply(Op::Min, e.type, apply(Op::Max, e.type, at(0, i, e.type), at(1, i, e.type)), at(2, i, e.type));
      });
    case Kind::Where:
      return make(e.shape,
                  [&](const Shape &i) { return spread(in[0], i).integer ? at(1, i, e.type) : at(2, i, e.type); });
    case Kind::Convert:
      return make(e.shape, [&](const Shape &i) {
        return convert(spread(in[0], i), typeOf(0), e.type, e.numbers[0] != 0, e.numbers[1] != 0);
      });
    case Kind::Math:
      return make(e.shape, [&](const Shape &i) { return ofNumber(mathOf(e.text, spread(in[0], i).number)); });
    case Kind::Reshape:
    case Kind::Expand:
      return {e.shape, in[0].data};
    case Kind::Broadcast:
      return make(e.shape, [&](const Shape &i) { return spread(in[0], i); });
    case Kind::Permute:
      return make(e.shape, [&](const Shape &i) {
        Shape from(i.size());
        for (size_t d = 0; d < i.size(); ++d)
          from[size_t(e.numbers[d])] = i[d];
        return in[0].data[size_t(flatten(from, in[0].shape))];
      });
    case Kind::Transpose:
      return make(e.shape, [&](Shape i) {
        std::swap(i[i.size() - 1], i[i.size() - 2]);
        return in[0].data[size_t(flatten(i, in[0].shape))];
      });
    case Kind::Reduce:
      return reduce(e, in[0], typeOf(0));
    case Kind::Arg:
      return argExtremum(e, in[0], typeOf(0));
    case Kind::Cumsum:
      return make(e.shape, [&](Shape i) {
        size_t axis = size_t(e.numbers[0]);
        int64_t last = i[axis];
        Element total;
        for (int64_t k = e.numbers[1] ? last : 0, end = e.numbers[1] ? e.shape[axis] : last + 1; k < end; ++k) {
          i[axis] = k;
          total = apply(Op::Add, e.type, total, convert(in[0].data[size_t(flatten(i, e.shape))], typeOf(0), e.type));
        }
        return total;
      });
    case Kind::Concat:
      return make(e.shape, [&](Shape i) {
        int64_t &k = i[size_t(e.numbers[0])], first = in[0].shape[size_t(e.numbers[0])];
        bool isSecond = k >= first;
        if (isSecond)
          k -= first;
        return in[isSecond].data[size_t(flatten(i, in[isSecond].shape))];
      });
    case Kind::Stack:
      return make(e.shape, [&](Shape i) {
        int64_t which = i[size_t(e.numbers[0])];
        i.erase(i.begin() + e.numbers[0]);
        return in[size_t(which)].data[size_t(flatten(i, in[size_t(which)].shape))];
      });
    case Kind::Take:
      return make(e.shape, [&](Shape i) {
        int64_t &k = i[size_t(e.numbers[0])];
        k = in[1].data[size_t(k)].integer;
        return k < 0 || k >= in[0].shape[size_t(e.numbers[0])] ? Element()
                                                               : in[0].data[size_t(flatten(i, in[0].shape))];
      });
    case Kind::Dot: {
      int64_t depth = in[0].shape[1];
      return make(e.shape, [&](const Shape &i) {
        Element total;
        for (int64_t k = 0; k < depth; ++k) {
          Element a = convert(in[0].data[size_t(i[0] * depth + k)], typeOf(0), e.type),
                  b = convert(in[1].data[size_t(k * e.shape[1] + i[1])], typeOf(1), e.type);
          total = apply(Op::Add, e.type, total, apply(Op::Mul, e.type, a, b));
        }
        return total;
      });
    }
    default:
      return {};
    }
  }

  /// The value of an expression in a wider type.
  Tile widened(const Expr &e, DType type) {
    Tile tile = eval(e);
    for (Element &element : tile.data)
      element = convert(element, e.type, type);
    return tile;
  }

  void run(const std::vector<Statement> &block) {
    for (const Statement &s : block)
      run(s);
  }

  void run(const Statement &s) {
    switch (s.kind) {
    case Statement::Kind::Let:
    case Statement::Kind::Var:
      values[size_t(s.slot)] = eval(s.value);
      return;
    case Statement::Kind::Assign: {
      const Slot &slot = program.slots[size_t(s.slot)];
      Tile tile = widened(s.value, slot.type);
      values[size_t(s.slot)] = make(slot.shape, [&](const Shape &i) { return spread(tile, i); });
      return;
    }
    case Statement::Kind::AddAssign: {
      const Slot &slot = program.slots[size_t(s.slot)];
      Tile tile = widened(s.value, slot.type), old = values[size_t(s.slot)];
      values[size_t(s.slot)] =
          make(slot.shape, [&](const Shape &i) { return apply(Op::Add, slot.type, spread(old, i), spread(tile, i)); });
      return;
    }
    case Statement::Kind::Split: {
      Tile tile = eval(s.value);
      int64_t axis = std::stoll(s.text);
      for (size_t k = 0; k < s.slots.size(); ++k)
        values[size_t(s.slots[k])] = make(program.slots[size_t(s.slots[k])].shape, [&](Shape i) {
          i.insert(i.begin() + axis, int64_t(k));
          return tile.data[size_t(flatten(i, tile.shape))];
        });
      return;
    }
    case Statement::Kind::For: {
      int64_t low = scalar(s.bounds[0]), high = scalar(s.bounds[1]), step = scalar(s.bounds[2]);
      for (int64_t i = low; i < high; i += step) {
        values[size_t(s.slot)] = {{}, {ofInteger(i)}};
        run(s.body);
      }
      return;
    }
    case Statement::Kind::If:
      return run(scalar(s.value) ? s.body : s.other);
    case Statement::Kind::Store:
    case Statement::Kind::Accumulate:
    case Statement::Kind::Atomic: {
      const Tensor &tensor = program.tensors[size_t(s.place.slot)];
      std::vector<int64_t> at = places(s.place);
      Tile tile = widened(s.value, tensor.type);
      Op op = s.text == "atomic_min"   ? Op::Min
              : s.text == "atomic_max" ? Op::Max
              : s.text == "atomic_and" ? Op::BitAnd
              : s.text == "atomic_or"  ? Op::BitOr
              : s.text == "atomic_xor" ? Op::BitXor
                                       : Op::Add;
      for (size_t i = 0; i < at.size(); ++i) {
        if (at[i] < 0)
          continue;
        Element &target = memory[size_t(s.place.slot)][size_t(at[i])];
        Element value = spread(tile, unflatten(int64_t(i), s.place.shape));
        target = s.kind == Statement::Kind::Store ? value : apply(op, tensor.type, target, value);
      }
      return;
    }
    }
  }
};

} // namespace

void interpret(const Program &program, std::vector<std::vector<Element>> &memory) {
  Machine machine{program, memory};
  for (const ScalarParam &scalar : program.scalars)
    machine.values[size_t(scalar.slot)] = {{}, {scalar.value}};
  for (size_t i = 0; i < program.dims.size(); ++i)
    machine.values[size_t(program.dimSlots[i])] = {{}, {ofInteger(program.dims[i].second)}};
  std::vector<int64_t> at(program.axes.size(), 0);
  for (size_t done = 0; done < at.size();) {
    for (size_t a = 0; a < at.size(); ++a)
      machine.values[size_t(program.axes[a].slot)] = {{}, {ofInteger(at[a])}};
    machine.run(program.body);
    for (done = 0; done < at.size(); ++done) {
      at[done] += program.axes[done].step;
      if (at[done] < program.axes[done].count)
        break;
      at[done] = 0;
    }
  }
}

} // namespace tessera::fuzz
