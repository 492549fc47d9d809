//===- BuiltinCalls.cpp - the functions that the language provides -------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "compiler/Frontend/BuiltinCalls.h"

#include "dialect/Operations/Operations.h"
#include "dialect/Tile/TileDialect.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>

using namespace mlir;

namespace tessera::frontend {

namespace {

/// One call: checks its arguments against the parameter names of the builtin and hands them out by position.
class Call {
public:
  Call(Emitter &emitter, std::string name, ArrayRef<Argument> arguments, At at)
      : emitter(emitter), name(std::move(name)), arguments(arguments), at(at) {}

  /// Matches arguments to parameters; those after `required` may be absent.  False after an error (or for a poison
  /// argument).
  bool bind(std::initializer_list<const char *> parameters, size_t required) {
    bound.assign(parameters.size(), nullptr);
    size_t next = 0;
    for (const Argument &argument : arguments) {
      size_t slot = next;
      if (argument.name.empty()) {
        ++next;
      } else {
        slot = 0;
        for (const char *parameter : parameters) {
          if (argument.name == parameter)
            break;
          ++slot;
        }
        if (slot == parameters.size()) {
          emitter.error(argument.at, "T0220", fmt::format("'{}' has no argument '{}'", name, argument.name),
                        fmt::format("its arguments: {}", list(parameters)));
          return false;
        }
      }
      if (slot >= parameters.size()) {
        emitter.error(
            argument.at, "T0220",
            fmt::format("'{}' takes {}, found {}", name, countOf(parameters.size(), "argument"), arguments.size()),
            fmt::format("its arguments: {}", list(parameters)));
        return false;
      }
      if (bound[slot]) {
        emitter.error(argument.at, "T0220",
                      fmt::format("the argument '{}' of '{}' is given twice", *(parameters.begin() + slot), name), "");
        return false;
      }
      bound[slot] = &argument;
    }
    for (size_t i = 0; i < required; ++i)
      if (!bound[i]) {
        emitter.error(at, "T0220", fmt::format("'{}' needs the argument '{}'", name, *(parameters.begin() + i)),
                      fmt::format("its arguments: {}", list(parameters)));
        return false;
      }
    return llvm::none_of(arguments, [](const Argument &a) { return a.value.isPoison(); });
  }

  const Value &operator[](size_t i) const { return bound[i]->value; }
  At place(size_t i) const { return bound[i] ? bound[i]->at : at; }
  bool has(size_t i) const { return bound[i] != nullptr; }

  /// The compile-time type in slot `i`.
  std::optional<DType> type(size_t i) {
    if ((*this)[i].isType())
      return (*this)[i].dtype;
    emitter.error(place(i), "T0218",
                  fmt::format("'{}' takes an element type here, found {}", name, emitter.describe((*this)[i])),
                  "for instance f32");
    return std::nullopt;
  }
  /// The compile-time integer in slot `i`.
  std::optional<int64_t> integer(size_t i) {
    if ((*this)[i].isInteger())
      return (*this)[i].integer;
    emitter.error(place(i), "T0302",
                  fmt::format("'{}' takes a compile-time integer here, found {}", name, emitter.describe((*this)[i])),
                  "");
    return std::nullopt;
  }
  /// The shape `[BM, BN]` in slot `i`.
  std::optional<Emitter::Shape> shape(size_t i) {
    const Value &value = (*this)[i];
    Emitter::Shape shape;
    if (!value.isTuple()) {
      emitter.error(place(i), "T0307", fmt::format("'{}' takes a shape here, found {}", name, emitter.describe(value)),
                    "write [N] or [M, N]");
      return std::nullopt;
    }
    for (const Value &extent : value.elements) {
      if (extent.isPoison())
        return std::nullopt;
      if (!extent.isInteger()) {
        emitter.error(
            place(i), "T0307",
            fmt::format("the extents of a tile are compile-time integers, found {}", emitter.describe(extent)),
            "make it a compile-time parameter: kernel k<W = 64>");
        return std::nullopt;
      }
      shape.extents.push_back(extent.integer);
      shape.origins.push_back(extent.origin);
    }
    if (!emitter.checkExtents(shape.extents, place(i)))
      return std::nullopt;
    return shape;
  }

private:
  static std::string list(std::initializer_list<const char *> parameters) {
    std::string text;
    for (const char *parameter : parameters)
      text += (text.empty() ? "" : ", ") + std::string(parameter);
    return text;
  }

  Emitter &emitter;
  std::string name;
  ArrayRef<Argument> arguments;
  At at;
  SmallVector<const Argument *> bound;
};

/// A function of one operand that the emitter knows by its name alone.
bool isFunctionOfOne(const Operation &operation) {
  return operation.kind == Operation::Kind::Function && operation.most == 1 &&
         operation.shape == Operation::Shape::Elementwise;
}

} // namespace

std::optional<Value> builtinConstant(std::string_view name) {
  if (name == "inf")
    return Value::of(std::numeric_limits<double>::infinity());
  if (name == "nan")
    return Value::of(std::numeric_limits<double>::quiet_NaN());
  if (name == "log2e")
    return Value::of(1.4426950408889634074);
  if (name == "ln2")
    return Value::of(0.69314718055994530942);
  return std::nullopt;
}

/// stack(a, b, axis = k): a new dimension of extent 2 at `axis`, chosen by its index.  Exact: nothing is computed with
/// the elements.
static Value stack(Emitter &e, Value a, Value b, int64_t axis, At at) {
  Value pair[2] = {std::move(a), std::move(b)};
  for (const Value &v : pair)
    if (!v.isData())
      return e.notAValue(v, at, "a tile in 'stack'");
  if (!e.unify(pair, at))
    return Value::poison();
  int64_t rank = pair[0].shape().size();
  if (axis < 0 || axis > rank)
    return e.error(at, "T0302", fmt::format("expected an axis in 0..{}, found {}", rank + 1, axis), "");
  Value first = e.binary(Operator::Eq, e.iota(Value::of(int64_t(2)), at), Value::of(int64_t(0)), at);
  for (int64_t d = axis; d < rank; ++d)
    first = e.expandDims(first, first.shape().size(), at);
  return e.select(first, e.expandDims(pair[0], axis, at), e.expandDims(pair[1], axis, at), at);
}

/// split(x, axis = k): the slices along `axis` as a tuple.  Each is picked out by a reduction whose other elements are
/// neutral, and exact for every element, NaN and -0 included.
static Value split(Emitter &e, const Value &x, int64_t axis, At at) {
  if (!x.isTile())
    return e.notAValue(x, at, "a tile in 'split'");
  int64_t rank = x.shape().size();
  if (axis < 0 || axis >= rank)
    return e.error(at, "T0302", fmt::format("expected an axis in 0..{}, found {}", rank, axis), "");
  int64_t count = x.shape()[axis];
  if (count > 64)
    return e.error(at, "T0302", fmt::format("'split' gives at most 64 parts, found an axis of {}", count), "");
  Value position = e.iota(Value::of(count), at);
  for (int64_t d = axis + 1; d < rank; ++d)
    position = e.expandDims(position, position.shape().size(), at);
  std::vector<Value> parts;
  for (int64_t i = 0; i < count; ++i) {
    Value here = e.binary(Operator::Eq, position, Value::of(i), at);
    bool isFloating = isFloat(x.dtype);
    Value neutral = isFloating               ? Value::of(std::numeric_limits<double>::quiet_NaN())
                    : x.dtype == DType::Bool ? Value::of(false)
                                             : Value::of(int64_t(0));
    Value wide = isFp8(x.dtype) ? e.convert(x, DType::F32, at) : x;
    Value masked = e.select(here, wide, neutral, at);
    Value part = isFloating               ? e.reduce("maxnum", masked, axis, at)
                 : x.dtype == DType::Bool ? e.reduce("any", masked, axis, at)
                                          : e.reduce("sum", masked, axis, at);
    if (part.isPoison())
      return part;
    // Every value comes from the narrow type; infinities of f8e5m2 must not saturate on the way back.
    parts.push_back(e.convert(part, x.dtype, at, {.ieeeOverflow = isFp8(x.dtype)}));
  }
  return Value::of(std::move(parts));
}

/// Philox4x32-10 of counter n / 4 under `seed`; word n % 4 as a float in [0, 1).  All in i64 tiles that hold 32-bit
/// words.
static Value uniform(Emitter &e, const Value &seed, const Value &n, At at) {
  if (!(seed.isInteger() || (seed.isScalar() && isInteger(seed.dtype))) ||
      !(n.isInteger() || (n.isData() && isInteger(n.dtype))))
    return e.error(at, "T0214",
                   fmt::format("'uniform' takes an integer seed and integer positions, found {} and {}",
                               e.describe(seed), e.describe(n)),
                   "");
  auto number = [](int64_t v) { return Value::of(v); };
  Value position = e.convert(n, DType::U64, at), key = e.convert(seed, DType::U64, at);
  auto low = [&](const Value &v) { return e.binary(Operator::BitAnd, v, number(0xffffffff), at); };
  auto high = [&](const Value &v) { return e.binary(Operator::Shr, v, number(32), at); };
  Value counter = e.binary(Operator::Shr, position, number(2), at);
  Value word[4] = {low(counter), high(counter), number(0), number(0)};
  Value keys[2] = {low(key), high(key)};
  for (int round = 0; round < 10; ++round) {
    Value p0 = e.binary(Operator::Mul, word[0], number(0xD2511F53), at),
          p1 = e.binary(Operator::Mul, word[2], number(0xCD9E8D57), at);
    auto mix = [&](const Value &product, const Value &other, const Value &k) {
      Value top = product.isInteger() ? number(int64_t(uint64_t(product.integer) >> 32)) : high(product);
      return e.binary(Operator::BitXor, e.binary(Operator::BitXor, top, other, at), k, at);
    };
    Value next0 = mix(p1, word[1], keys[0]), next2 = mix(p0, word[3], keys[1]);
    word[0] = next0;
    word[1] = low(p1);
    word[2] = next2;
    word[3] = low(p0);
    keys[0] = low(e.binary(Operator::Add, keys[0], number(0x9E3779B9), at));
    keys[1] = low(e.binary(Operator::Add, keys[1], number(0xBB67AE85), at));
  }
  Value lane = e.binary(Operator::BitAnd, position, number(3), at);
  Value chosen = word[3];
  for (int i = 2; i >= 0; --i)
    chosen = e.select(e.binary(Operator::Eq, lane, number(i), at), word[i], chosen, at);
  Value top24 = e.binary(Operator::Shr, chosen, number(8), at);
  return e.binary(Operator::Mul, e.convert(e.convert(top24, DType::I32, at), DType::F32, at), Value::of(0x1p-24), at);
}

static Value callDot(Emitter &e, ArrayRef<Argument> arguments, At at) {
  tile::Precision precision = tile::Precision::Exact;
  SmallVector<Argument> plain;
  for (const Argument &argument : arguments) {
    if (argument.name != "precision") {
      plain.push_back(argument);
      continue;
    }
    // The walk hands over the word as an origin: `exact`, `tf32`, `fast` are no values.
    const std::string &word = argument.value.origin;
    if (word == "tf32")
      precision = tile::Precision::Tf32;
    else if (word == "fast")
      precision = tile::Precision::Fast;
    else if (word != "exact")
      return argument.value.isPoison() ? Value::poison()
                                       : e.error(argument.at, "T0218", "'precision' is exact, tf32 or fast", "");
  }
  Call call(e, "dot", plain, at);
  if (!call.bind({"a", "b", "precision", "acc"}, 2))
    return Value::poison();
  std::optional<DType> sums;
  if (call.has(3) && !(sums = call.type(3)))
    return Value::poison();
  return e.dot(call[0], call[1], sums, precision, at);
}

static Value callShaped(Emitter &e, const std::string &name, Call &call, At at) {
  if (name == "zeros" || name == "full") {
    bool isFull = name == "full";
    if (!(isFull ? call.bind({"type", "shape", "value"}, 3) : call.bind({"type", "shape"}, 2)))
      return Value::poison();
    std::optional<DType> type = call.type(0);
    std::optional<Emitter::Shape> shape = type ? call.shape(1) : std::nullopt;
    if (!shape)
      return Value::poison();
    Value fill = isFull ? call[2] : *type == DType::Bool ? Value::of(false) : Value::of(int64_t(0));
    if (fill.isTile())
      return e.error(call.place(2), "T0212", fmt::format("'full' takes a scalar, found {}", e.describe(fill)),
                     "write broadcast(t, shape)");
    return e.full(fill, *type, *shape, at);
  }
  if (name == "reshape" || name == "broadcast") {
    if (!call.bind({"x", "shape"}, 2))
      return Value::poison();
    std::optional<Emitter::Shape> shape = call.shape(1);
    if (!shape)
      return Value::poison();
    if (name == "reshape")
      return e.reshape(call[0], *shape, at);
    Value settled = e.settle(call[0], call.place(0), "a value to broadcast");
    return settled.isPoison() ? settled : e.broadcast(settled, shape->extents, shape->origins, at);
  }
  if (!call.bind({"x", "order"}, 2))
    return Value::poison();
  const Value &tile = call[0], &order = call[1];
  if (!tile.isTile())
    return e.notAValue(tile, call.place(0), "a tile in 'permute'");
  SmallVector<int64_t> axes;
  llvm::SmallDenseSet<int64_t> seen;
  int64_t rank = tile.shape().size();
  for (const Value &axis : order.elements)
    if (axis.isInteger() && axis.integer >= 0 && axis.integer < rank && seen.insert(axis.integer).second)
      axes.push_back(axis.integer);
  if (!order.isTuple() || int64_t(axes.size()) != rank || int64_t(order.elements.size()) != rank)
    return e.error(call.place(1), "T0302", fmt::format("'permute' takes every axis of 0..{} once", rank),
                   "for instance permute(t, [1, 0])");
  return e.permute(tile, axes, at);
}

/// argmax, argmin: the lowest position that holds the extremum, or a NaN.
static Value argExtremum(Emitter &e, bool isMax, const Value &x, int64_t axis, At at) {
  Value best = e.reduce(isMax ? "max" : "min", x, axis, at);
  if (best.isPoison())
    return best;
  Value wide = e.expandDims(best, axis, at);
  Value here = e.binary(Operator::Eq, x, wide, at);
  if (isFloat(x.dtype))
    here = e.logical(false, here, e.binary(Operator::Ne, x, x, at), at);
  Value position = e.iota(Value::of(x.shape()[axis]), at);
  for (int64_t d = axis + 1; d < int64_t(x.shape().size()); ++d)
    position = e.expandDims(position, position.shape().size(), at);
  return e.reduce("min", e.select(here, position, Value::of(x.shape()[axis]), at), axis, at);
}

static Value callReduction(Emitter &e, const std::string &name, Call &call, At at) {
  if (!call.bind({"x", "axis"}, 1))
    return Value::poison();
  std::optional<int64_t> axis;
  if (call.has(1) && !(axis = call.integer(1)))
    return Value::poison();
  return e.reduce(name, call[0], axis, at);
}

Value callBuiltin(Emitter &e, const std::string &name, ArrayRef<Argument> arguments, At at) {
  Call call(e, name, arguments, at);
  const Operation *operation = findOperation(name);
  if (operation && isFunctionOfOne(*operation))
    return call.bind({"x"}, 1) ? e.math(name, call[0], at) : Value::poison();
  if (operation && operation->shape == Operation::Shape::ElementwiseOrReduced) {
    bool isReduction =
        arguments.size() < 2 || llvm::any_of(arguments, [](const Argument &a) { return a.name == "axis"; });
    if (isReduction)
      return callReduction(e, name, call, at);
    return call.bind({"a", "b"}, 2) ? e.extremum(name, call[0], call[1], at) : Value::poison();
  }
  if (name == "sum" || name == "any" || name == "all")
    return callReduction(e, name, call, at);
  if (name == "where")
    return call.bind({"condition", "a", "b"}, 3) ? e.select(call[0], call[1], call[2], at) : Value::poison();
  if (name == "clamp")
    return call.bind({"x", "lo", "hi"}, 3) ? e.extremum("min", e.extremum("max", call[0], call[1], at), call[2], at)
                                           : Value::poison();
  if (name == "fma")
    return call.bind({"a", "b", "c"}, 3) ? e.multiplyAdd(call[0], call[1], call[2], false, false, at) : Value::poison();
  if (name == "pow")
    return call.bind({"x", "y"}, 2) ? e.power(call[0], call[1], at) : Value::poison();
  if (name == "ceildiv")
    return call.bind({"a", "b"}, 2) ? e.ceilDiv(call[0], call[1], at) : Value::poison();
  if (name == "iota")
    return call.bind({"n"}, 1) ? e.iota(call[0], at) : Value::poison();
  if (name == "dot")
    return callDot(e, arguments, at);
  if (name == "sum_type") {
    if (!call.bind({"type"}, 1))
      return Value::poison();
    std::optional<DType> type = call.type(0);
    return type ? Value::of(sumType(*type)) : Value::poison();
  }
  if (name == "argmax" || name == "argmin") {
    if (!call.bind({"x", "axis"}, 2))
      return Value::poison();
    std::optional<int64_t> axis = call.integer(1);
    return axis ? argExtremum(e, name == "argmax", call[0], *axis, at) : Value::poison();
  }
  if (name == "uniform")
    return call.bind({"seed", "n"}, 2) ? uniform(e, call[0], call[1], at) : Value::poison();
  if (name == "stack" || name == "split") {
    bool isStack = name == "stack";
    if (!(isStack ? call.bind({"a", "b", "axis"}, 3) : call.bind({"x", "axis"}, 2)))
      return Value::poison();
    std::optional<int64_t> axis = call.integer(isStack ? 2 : 1);
    if (!axis)
      return Value::poison();
    return isStack ? stack(e, call[0], call[1], *axis, at) : split(e, call[0], *axis, at);
  }
  if (name == "cumsum") {
    if (!call.bind({"x", "axis", "reverse"}, 2))
      return Value::poison();
    std::optional<int64_t> axis = call.integer(1);
    if (call.has(2) && !call[2].isBoolean())
      return e.error(at, "T0218", "'reverse' is true or false", "");
    return axis ? e.cumsum(call[0], *axis, call.has(2) && call[2].boolean, at) : Value::poison();
  }
  if (name == "concat" || name == "take") {
    bool isConcat = name == "concat";
    if (!(isConcat ? call.bind({"a", "b", "axis"}, 3) : call.bind({"x", "index", "axis"}, 3)))
      return Value::poison();
    std::optional<int64_t> axis = call.integer(2);
    if (!axis)
      return Value::poison();
    return isConcat ? e.concat(call[0], call[1], *axis, at) : e.take(call[0], call[1], *axis, at);
  }
  if (name == "sort") {
    if (!call.bind({"x", "axis", "descending"}, 2))
      return Value::poison();
    std::optional<int64_t> axis = call.integer(1);
    if (call.has(2) && !call[2].isBoolean())
      return e.error(call.place(2), "T0218", "'descending' is true or false, known at compile time", "");
    return axis ? e.sort(call[0], *axis, call.has(2) && call[2].boolean, at) : Value::poison();
  }
  if (name == "histogram") {
    if (!call.bind({"x", "bins"}, 2))
      return Value::poison();
    std::optional<int64_t> bins = call.integer(1);
    return bins ? e.histogram(call[0], *bins, at) : Value::poison();
  }
  if (name == "bitcast") {
    if (!call.bind({"type", "x"}, 2))
      return Value::poison();
    std::optional<DType> type = call.type(0);
    return type ? e.bitcast(call[1], *type, at) : Value::poison();
  }
  if (name == "lowest" || name == "highest") {
    if (!call.bind({"type"}, 1))
      return Value::poison();
    std::optional<DType> type = call.type(0);
    return type ? e.limitOf(*type, name == "lowest", at) : Value::poison();
  }
  if (name == "paged")
    return call.bind({"pool", "table", "n"}, 3) ? e.paged(call[0], call[1], call[2], at) : Value::poison();
  if (name == "topk") {
    if (!call.bind({"x", "k", "axis"}, 3))
      return Value::poison();
    std::optional<int64_t> k = call.integer(1), axis = call.integer(2);
    return k && axis ? e.topk(call[0], *k, *axis, at) : Value::poison();
  }
  if (name == "zeros" || name == "full" || name == "reshape" || name == "broadcast" || name == "permute")
    return callShaped(e, name, call, at);
  return e.error(at, "T0225",
                 fmt::format("'{}' is part of the language, but this version does not compile it yet", name), "");
}

Value callConversion(Emitter &e, DType type, ArrayRef<Argument> arguments, At at) {
  ConvertModes modes;
  Call call(e, std::string(nameOf(type)), arguments, at);
  if (!call.bind({"x", "saturate", "overflow"}, 1))
    return Value::poison();
  if (call.has(1)) {
    if (!call[1].isBoolean())
      return e.error(call.place(1), "T0218", "'saturate' is true or false, known at compile time", "");
    modes.saturate = call[1].boolean;
  }
  if (call.has(2)) {
    const std::string &word = call[2].origin;
    if ((word != "ieee" && word != "saturate") || !isFp8(type))
      return e.error(call.place(2), "T0218", "'overflow' is ieee or saturate, in conversions to fp8", "");
    modes.ieeeOverflow = word == "ieee";
  }
  if (call[0].isTuple() || call[0].isFunction() || call[0].isType() || call[0].isNone() || call[0].isView())
    return e.notAValue(call[0], call.place(0), "a value to convert");
  return e.convert(call[0], type, at, modes);
}

} // namespace tessera::frontend
