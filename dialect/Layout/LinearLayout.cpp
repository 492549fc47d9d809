//===- LinearLayout.cpp - linear maps over GF(2) ------------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The header explains.  Elimination works on 64-bit columns: a column of the matrix is where one input bit moves, outputs read as one number.
//
#include "dialect/Layout/LinearLayout.h"

#include <bit>
#include <cassert>
#include <cctype>

using namespace tessera;

static constexpr int kMaxBits = 62;

static bool isPowerOfTwo(int64_t value) { return value > 0 && std::has_single_bit(uint64_t(value)); }
static int log2Of(int64_t value) { return std::bit_width(uint64_t(value)) - 1; }

namespace {

/// The span of columns seen so far, with the combination of them that gives each vector.
class Span {
public:
  /// Reduces `vector`; gives what remains and which columns were added.
  std::pair<uint64_t, uint64_t> reduce(uint64_t vector) const {
    uint64_t combination = 0;
    for (const Row &row : rows)
      if (vector >> row.pivot & 1) {
        vector ^= row.vector;
        combination ^= row.combination;
      }
    return {vector, combination};
  }
  /// Adds column number `index`; false if it says nothing new.
  bool add(uint64_t vector, int index) {
    auto [rest, combination] = reduce(vector);
    if (!rest)
      return false;
    rows.push_back({rest, combination ^ (uint64_t(1) << index), std::countr_zero(rest)});
    return true;
  }
  /// The combination of added columns that gives `vector`.
  std::optional<uint64_t> solve(uint64_t vector) const {
    auto [rest, combination] = reduce(vector);
    if (rest)
      return std::nullopt;
    return combination;
  }
  int rank() const { return rows.size(); }

private:
  struct Row {
    uint64_t vector, combination;
    int pivot;
  };
  std::vector<Row> rows; // in order of insertion: a later row is zero at the pivots of earlier ones
};

std::optional<LinearLayout> fail(std::string *why, std::string reason) {
  if (why)
    *why = std::move(reason);
  return std::nullopt;
}

} // namespace

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

static std::string invalid(const std::vector<LinearLayout::Input> &ins, const std::vector<LinearLayout::Output> &outs) {
  int inBits = 0, outBits = 0;
  for (size_t i = 0; i < outs.size(); ++i) {
    if (outs[i].name.empty())
      return "expected a name for every output";
    if (!isPowerOfTwo(outs[i].size))
      return "expected a power of two as the size of output '" + outs[i].name + "', found " +
             std::to_string(outs[i].size);
    outBits += log2Of(outs[i].size);
    for (size_t j = 0; j < i; ++j)
      if (outs[j].name == outs[i].name)
        return "output '" + outs[i].name + "' occurs twice";
  }
  for (size_t i = 0; i < ins.size(); ++i) {
    if (ins[i].name.empty())
      return "expected a name for every input";
    for (size_t j = 0; j < i; ++j)
      if (ins[j].name == ins[i].name)
        return "input '" + ins[i].name + "' occurs twice";
    if (ins[i].bases.size() > size_t(kMaxBits))
      return "input '" + ins[i].name + "' has more than 62 bits";
    inBits += ins[i].bases.size();
    for (const auto &basis : ins[i].bases) {
      if (basis.size() != outs.size())
        return "expected " + std::to_string(outs.size()) + " coordinates in each basis of '" + ins[i].name +
               "', found " + std::to_string(basis.size());
      for (size_t d = 0; d < basis.size(); ++d)
        if (basis[d] < 0 || basis[d] >= outs[d].size)
          return "expected a coordinate from 0 to " + std::to_string(outs[d].size - 1) + " along '" + outs[d].name +
                 "' in a basis of '" + ins[i].name + "', found " + std::to_string(basis[d]);
    }
  }
  return inBits > kMaxBits || outBits > kMaxBits ? "expected at most 62 bits on each side" : "";
}

std::optional<LinearLayout> LinearLayout::tryCreate(std::vector<Input> inputs, std::vector<Output> outputs,
                                                    std::string *why) {
  if (std::string reason = invalid(inputs, outputs); !reason.empty())
    return fail(why, std::move(reason));
  LinearLayout layout;
  layout.ins = std::move(inputs);
  layout.outs = std::move(outputs);
  return layout;
}

LinearLayout::LinearLayout(std::vector<Input> inputs, std::vector<Output> outputs) {
  std::optional<LinearLayout> layout = tryCreate(std::move(inputs), std::move(outputs));
  assert(layout && "not a layout");
  if (layout)
    *this = std::move(*layout);
}

LinearLayout LinearLayout::identity1D(int64_t size, std::string in, std::string out) {
  assert(isPowerOfTwo(size));
  Input input{std::move(in), {}};
  for (int64_t basis = 1; basis < size; basis *= 2)
    input.bases.push_back({basis});
  return LinearLayout({std::move(input)}, {{std::move(out), size}});
}

LinearLayout LinearLayout::zeros1D(int64_t inSize, std::string in, std::string out, int64_t outSize) {
  assert(isPowerOfTwo(inSize));
  Input input{std::move(in), {}};
  for (int64_t place = 1; place < inSize; place *= 2)
    input.bases.push_back({0});
  return LinearLayout({std::move(input)}, {{std::move(out), outSize}});
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

template <typename List>
static int indexOf(const List &list, std::string_view name) {
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].name == name)
      return i;
  return -1;
}

bool LinearLayout::hasInput(std::string_view name) const { return indexOf(ins, name) >= 0; }
bool LinearLayout::hasOutput(std::string_view name) const { return indexOf(outs, name) >= 0; }

int LinearLayout::inputBits(std::string_view name) const {
  int i = indexOf(ins, name);
  return i < 0 ? 0 : ins[i].bases.size();
}

int64_t LinearLayout::outputSize(std::string_view name) const {
  int i = indexOf(outs, name);
  return i < 0 ? 1 : outs[i].size;
}

int LinearLayout::totalInputBits() const {
  int bits = 0;
  for (const Input &in : ins)
    bits += in.bases.size();
  return bits;
}

int LinearLayout::totalOutputBits() const {
  int bits = 0;
  for (const Output &out : outs)
    bits += log2Of(out.size);
  return bits;
}

const std::vector<int64_t> &LinearLayout::basis(std::string_view in, int bit) const {
  int i = indexOf(ins, in);
  assert(i >= 0 && bit >= 0 && size_t(bit) < ins[i].bases.size());
  return ins[i].bases[bit];
}

int64_t LinearLayout::basis(std::string_view in, int bit, std::string_view out) const {
  int d = indexOf(outs, out);
  assert(d >= 0);
  return basis(in, bit)[d];
}

LinearLayout::Coordinates LinearLayout::apply(const Coordinates &place) const {
  Coordinates result;
  for (const Output &out : outs)
    result.emplace_back(out.name, 0);
  for (const auto &[name, index] : place) {
    int i = indexOf(ins, name);
    for (size_t bit = 0; i >= 0 && bit < ins[i].bases.size(); ++bit)
      if (index >> bit & 1)
        for (size_t d = 0; d < outs.size(); ++d)
          result[d].second ^= ins[i].bases[bit][d];
  }
  return result;
}

std::vector<std::pair<std::string, int>> LinearLayout::inputShape() const {
  std::vector<std::pair<std::string, int>> shape;
  for (const Input &in : ins)
    shape.emplace_back(in.name, in.bases.size());
  return shape;
}

std::vector<std::pair<std::string, int>> LinearLayout::outputShape() const {
  std::vector<std::pair<std::string, int>> shape;
  for (const Output &out : outs)
    shape.emplace_back(out.name, log2Of(out.size));
  return shape;
}

std::vector<uint64_t> LinearLayout::columns() const {
  std::vector<uint64_t> result;
  for (const Input &in : ins)
    for (const auto &basis : in.bases) {
      uint64_t column = 0;
      int shift = 0;
      for (size_t d = 0; d < outs.size(); ++d) {
        column |= uint64_t(basis[d]) << shift;
        shift += log2Of(outs[d].size);
      }
      result.push_back(column);
    }
  return result;
}

LinearLayout LinearLayout::fromColumns(const std::vector<std::pair<std::string, int>> &inBits,
                                       const std::vector<Output> &outs, const std::vector<uint64_t> &columns) {
  LinearLayout layout;
  layout.outs = outs;
  size_t next = 0;
  for (const auto &[name, bits] : inBits) {
    Input in{name, {}};
    for (int bit = 0; bit < bits; ++bit) {
      uint64_t column = columns[next++];
      std::vector<int64_t> basis;
      for (const Output &out : outs) {
        basis.push_back(column & uint64_t(out.size - 1));
        column >>= log2Of(out.size);
      }
      in.bases.push_back(std::move(basis));
    }
    layout.ins.push_back(std::move(in));
  }
  return layout;
}

int LinearLayout::rank() const {
  Span span;
  int index = 0;
  for (uint64_t column : columns())
    span.add(column, index++);
  return span.rank();
}

bool LinearLayout::isIdentity() const {
  for (const Input &in : ins)
    for (size_t bit = 0; bit < in.bases.size(); ++bit)
      for (size_t d = 0; d < outs.size(); ++d)
        if (in.bases[bit][d] != (outs[d].name == in.name ? int64_t(1) << bit : 0))
          return false;
  for (const Input &in : ins)
    if (!in.bases.empty() && !hasOutput(in.name))
      return false;
  return true;
}

int64_t LinearLayout::numConsecutiveInOut() const {
  if (ins.empty())
    return 1;
  std::vector<uint64_t> all = columns();
  size_t bits = 0;
  while (bits < ins[0].bases.size() && all[bits] == uint64_t(1) << bits)
    ++bits;
  // Another bit that moves inside the run would break its alignment.
  for (size_t i = bits; i < all.size(); ++i)
    if (all[i])
      bits = std::min<size_t>(bits, std::countr_zero(all[i]));
  // Shortening the run leaves bits of the run itself above it; those lie at or above the new end.
  return int64_t(1) << bits;
}

std::map<std::string, int64_t> LinearLayout::freeVariableMasks() const {
  std::map<std::string, int64_t> masks;
  std::vector<uint64_t> all = columns();
  Span span;
  int next = 0;
  for (const Input &in : ins) {
    int64_t mask = 0;
    for (size_t bit = 0; bit < in.bases.size(); ++bit, ++next)
      if (!span.add(all[next], next))
        mask |= int64_t(1) << bit;
    masks[in.name] = mask;
  }
  return masks;
}

//===----------------------------------------------------------------------===//
// Algebra
//===----------------------------------------------------------------------===//

LinearLayout LinearLayout::operator*(const LinearLayout &other) const {
  LinearLayout result;
  result.outs = outs;
  std::vector<int64_t> scale; // of the outputs of `other`: the size that this has already
  std::vector<size_t> position;
  for (const Output &out : other.outs) {
    int d = indexOf(result.outs, out.name);
    scale.push_back(d < 0 ? 1 : result.outs[d].size);
    if (d < 0) {
      d = result.outs.size();
      result.outs.push_back({out.name, 1});
    }
    result.outs[d].size *= out.size;
    position.push_back(d);
  }
  result.ins = ins;
  for (Input &in : result.ins)
    for (auto &basis : in.bases)
      basis.resize(result.outs.size(), 0);
  for (const Input &in : other.ins) {
    int i = indexOf(result.ins, in.name);
    if (i < 0) {
      i = result.ins.size();
      result.ins.push_back({in.name, {}});
    }
    for (const auto &basis : in.bases) {
      std::vector<int64_t> moved(result.outs.size(), 0);
      for (size_t d = 0; d < basis.size(); ++d)
        moved[position[d]] = basis[d] * scale[d];
      result.ins[i].bases.push_back(std::move(moved));
    }
  }
  assert(result.totalInputBits() <= kMaxBits && result.totalOutputBits() <= kMaxBits);
  return result;
}

std::optional<LinearLayout> LinearLayout::compose(const LinearLayout &outer) const {
  if (outs.size() != outer.ins.size())
    return std::nullopt;
  for (const Output &out : outs)
    if (!outer.hasInput(out.name) || outer.inputSize(out.name) < out.size)
      return std::nullopt;
  LinearLayout result;
  result.outs = outer.outs;
  for (const Input &in : ins) {
    Input moved{in.name, {}};
    for (const auto &basis : in.bases) {
      Coordinates middle;
      for (size_t d = 0; d < outs.size(); ++d)
        middle.emplace_back(outs[d].name, basis[d]);
      std::vector<int64_t> coordinates;
      for (const auto &[name, value] : outer.apply(middle))
        coordinates.push_back(value);
      moved.bases.push_back(std::move(coordinates));
    }
    result.ins.push_back(std::move(moved));
  }
  return result;
}

std::optional<LinearLayout> LinearLayout::invert() const { return isInjective() ? pseudoInvert() : std::nullopt; }

std::optional<LinearLayout> LinearLayout::pseudoInvert() const {
  Span span;
  int index = 0;
  for (uint64_t column : columns())
    span.add(column, index++);
  std::vector<uint64_t> back;
  for (int bit = 0, e = totalOutputBits(); bit < e; ++bit) {
    std::optional<uint64_t> places = span.solve(uint64_t(1) << bit);
    if (!places)
      return std::nullopt;
    back.push_back(*places);
  }
  std::vector<Output> places;
  for (const Input &in : ins)
    places.push_back({in.name, int64_t(1) << in.bases.size()});
  return fromColumns(outputShape(), places, back);
}

std::optional<LinearLayout> LinearLayout::invertAndCompose(const LinearLayout &source) const {
  std::vector<std::string> order;
  for (const Output &out : outs) {
    order.push_back(out.name);
    if (!source.hasOutput(out.name) || source.outputSize(out.name) != out.size)
      return std::nullopt;
  }
  std::optional<LinearLayout> aligned = source.transposeOuts(order);
  if (!aligned)
    return std::nullopt;
  std::vector<uint64_t> wanted = columns(), held = aligned->columns();
  Span span;
  for (size_t i = 0; i < held.size(); ++i)
    span.add(held[i], i);
  std::vector<uint64_t> result;
  for (size_t i = 0, next = 0; i < ins.size(); ++i) {
    int first = 0, same = -1; // first column of the input of the same name in `source`
    for (const Input &in : aligned->ins) {
      if (in.name == ins[i].name)
        same = first;
      first += in.bases.size();
    }
    for (size_t bit = 0; bit < ins[i].bases.size(); ++bit, ++next) {
      if (same >= 0 && int(bit) < aligned->inputBits(ins[i].name) && held[same + bit] == wanted[next]) {
        result.push_back(uint64_t(1) << (same + bit));
        continue;
      }
      std::optional<uint64_t> places = span.solve(wanted[next]);
      if (!places)
        return std::nullopt;
      result.push_back(*places);
    }
  }
  std::vector<Output> places;
  for (const Input &in : aligned->ins)
    places.push_back({in.name, int64_t(1) << in.bases.size()});
  return fromColumns(inputShape(), places, result);
}

//===----------------------------------------------------------------------===//
// Rearrangement of dimensions
//===----------------------------------------------------------------------===//

std::optional<LinearLayout> LinearLayout::reshapeOuts(const std::vector<Output> &newOuts) const {
  if (!invalid({}, newOuts).empty())
    return std::nullopt;
  LinearLayout result = fromColumns(inputShape(), newOuts, columns());
  if (result.totalOutputBits() != totalOutputBits())
    return std::nullopt;
  return result;
}

LinearLayout LinearLayout::flattenOuts(std::string name) const {
  return fromColumns(inputShape(), {{std::move(name), int64_t(1) << totalOutputBits()}}, columns());
}

LinearLayout LinearLayout::flattenIns(std::string name) const {
  return fromColumns({{std::move(name), totalInputBits()}}, outs, columns());
}

LinearLayout LinearLayout::sublayout(const std::vector<std::string> &inNames,
                                     const std::vector<std::string> &outNames) const {
  LinearLayout result;
  std::vector<int> kept;
  for (const std::string &name : outNames)
    if (int d = indexOf(outs, name); d >= 0 && indexOf(result.outs, name) < 0) {
      kept.push_back(d);
      result.outs.push_back(outs[d]);
    }
  for (const std::string &name : inNames)
    if (int i = indexOf(ins, name); i >= 0 && indexOf(result.ins, name) < 0) {
      Input in{name, {}};
      for (const auto &basis : ins[i].bases) {
        std::vector<int64_t> part;
        for (int d : kept)
          part.push_back(basis[d]);
        in.bases.push_back(std::move(part));
      }
      result.ins.push_back(std::move(in));
    }
  return result;
}

template <typename List>
static std::vector<std::string> namesOf(const List &list) {
  std::vector<std::string> names;
  for (const auto &entry : list)
    names.push_back(entry.name);
  return names;
}

std::optional<LinearLayout> LinearLayout::transposeOuts(const std::vector<std::string> &order) const {
  LinearLayout result = sublayout(namesOf(ins), order);
  if (order.size() != outs.size() || result.outs.size() != outs.size())
    return std::nullopt;
  return result;
}

std::optional<LinearLayout> LinearLayout::transposeIns(const std::vector<std::string> &order) const {
  LinearLayout result = sublayout(order, namesOf(outs));
  if (order.size() != ins.size() || result.ins.size() != ins.size())
    return std::nullopt;
  return result;
}

LinearLayout LinearLayout::renameOut(std::string_view from, std::string to) const {
  LinearLayout result = *this;
  int d = indexOf(result.outs, from);
  assert((d < 0 || from == to || !hasOutput(to)) && "the new name is taken");
  if (d >= 0)
    result.outs[d].name = std::move(to);
  return result;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string LinearLayout::print() const {
  std::string text = "{";
  for (size_t i = 0; i < ins.size(); ++i) {
    text += (i ? ", " : "") + ins[i].name + " = [";
    for (size_t bit = 0; bit < ins[i].bases.size(); ++bit) {
      text += bit ? ", [" : "[";
      for (size_t d = 0; d < outs.size(); ++d)
        text += (d ? ", " : "") + std::to_string(ins[i].bases[bit][d]);
      text += "]";
    }
    text += "]";
  }
  text += "} -> [";
  for (size_t d = 0; d < outs.size(); ++d)
    text += (d ? ", " : "") + outs[d].name + ": " + std::to_string(outs[d].size);
  return text + "]";
}

namespace {

/// A cursor over the text; after the first mismatch everything fails.
struct Reader {
  std::string_view text;
  size_t at = 0;
  std::string problem;

  void skip() {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])))
      ++at;
  }
  bool peek(std::string_view token) {
    skip();
    return problem.empty() && text.substr(at, token.size()) == token;
  }
  bool take(std::string_view token) {
    if (!peek(token))
      return false;
    at += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token))
      refuse("'" + std::string(token) + "'");
  }
  void refuse(const std::string &expected) {
    if (problem.empty())
      problem = "expected " + expected + " at position " + std::to_string(at);
  }
  std::string name() {
    skip();
    size_t start = at;
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_'))
      ++at;
    if (at == start)
      refuse("a name");
    return std::string(text.substr(start, at - start));
  }
  int64_t number() {
    skip();
    size_t start = at;
    int64_t value = 0;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9' && value < (int64_t(1) << 58))
      value = value * 10 + (text[at++] - '0');
    if (at == start)
      refuse("a number");
    return value;
  }
  /// `[` items separated by commas `]`, with the brackets given.
  template <typename Item>
  void list(std::string_view open, std::string_view close, Item item) {
    expect(open);
    if (take(close))
      return;
    do
      item();
    while (take(","));
    expect(close);
  }
};

} // namespace

std::optional<LinearLayout> LinearLayout::parse(std::string_view text, std::string *why) {
  Reader reader{text, 0, {}};
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  reader.list("{", "}", [&] {
    Input in{reader.name(), {}};
    reader.expect("=");
    reader.list("[", "]", [&] {
      std::vector<int64_t> basis;
      reader.list("[", "]", [&] { basis.push_back(reader.number()); });
      in.bases.push_back(std::move(basis));
    });
    inputs.push_back(std::move(in));
  });
  reader.expect("->");
  reader.list("[", "]", [&] {
    std::string name = reader.name();
    reader.expect(":");
    outputs.push_back({std::move(name), reader.number()});
  });
  reader.skip();
  if (reader.at != text.size())
    reader.refuse("the end");
  if (!reader.problem.empty())
    return fail(why, reader.problem);
  return tryCreate(std::move(inputs), std::move(outputs), why);
}
