//===- HostRandomTest.cpp - random programs against an interpreter ---------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Programs of tile ops on i32 with loops, branches, loads and stores of one tensor, compiled for the host and interpreted here.  Looks for what no handwritten case
// would: a buffer reused too early, a recipe evaluated after what it reads has changed, an index renamed wrongly.
//
#include <catch2/catch.hpp>

#include "HostHarness.h"

#include <algorithm>
#include <map>

using namespace tessera;
using namespace tessera::test;

namespace {

struct Tile {
  Index shape;
  std::vector<int32_t> data;
};

int64_t elements(const Index &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

struct Op {
  std::string kind;
  std::vector<int> in, out, arguments; ///< value numbers; arguments: of the body of a loop
  Index numbers;                       ///< offsets, axis, order, count
  std::vector<Op> body, other;
  std::vector<int> yields, otherYields;
};

constexpr int64_t kRows = 7, kColumns = 9, kOut = 128;

/// Makes a program; remembers the shape of every value.
struct Generator {
  explicit Generator(uint32_t seed) : state(seed * 2654435761u + 99991u) {}
  uint32_t state;
  std::vector<Index> shapes;

  int64_t pick(int64_t count) {
    state = state * 1664525u + 1013904223u;
    return int64_t((uint64_t(state >> 4) * uint64_t(count)) >> 28);
  }
  int fresh(Index shape) {
    shapes.push_back(std::move(shape));
    return int(shapes.size()) - 1;
  }
  int choose(const std::vector<int> &from) {
    // Recent values more often.
    int64_t back = std::min(pick(int64_t(from.size())), pick(int64_t(from.size())));
    return from[from.size() - 1 - size_t(back)];
  }
  int sameShape(const std::vector<int> &from, int like) {
    std::vector<int> fits;
    for (int value : from)
      if (shapes[size_t(value)] == shapes[size_t(like)])
        fits.push_back(value);
    return choose(fits);
  }
  int load(std::vector<Op> &block, std::vector<int> &available, Index shape) {
    int value = fresh(std::move(shape));
    block.push_back({"load", {}, {value}, {}, {pick(10) - 2, pick(12) - 3}, {}, {}, {}, {}});
    available.push_back(value);
    return value;
  }
  Index loadShape() { return {1 + pick(4), 1 + pick(5)}; }

  void step(std::vector<Op> &block, std::vector<int> &available, int depth) {
    int x = choose(available);
    const Index shape = shapes[size_t(x)];
    auto emit = [&](const char *kind, std::vector<int> in, Index result, Index numbers = {}) {
      int value = fresh(std::move(result));
      block.push_back({kind, std::move(in), {value}, {}, std::move(numbers), {}, {}, {}, {}});
      available.push_back(value);
    };
    switch (pick(depth > 0 ? 15 : 13)) {
    case 0:
    case 1:
      return emit("addi", {x, sameShape(available, x)}, shape);
    case 2:
      return emit("muli", {x, sameShape(available, x)}, shape);
    case 3:
      return emit("subi", {x, sameShape(available, x)}, shape);
    case 4:
      return emit("where", {x, sameShape(available, x), sameShape(available, x)}, shape);
    case 5: {
      Index order(shape.size()), result(shape.size());
      for (size_t d = 0; d < order.size(); ++d)
        order[d] = int64_t(d);
      for (size_t d = order.size(); d > 1; --d)
        std::swap(order[d - 1], order[size_t(pick(int64_t(d)))]);
      for (size_t d = 0; d < order.size(); ++d)
        result[d] = shape[size_t(order[d])];
      return emit("permute", {x}, result, order);
    }
    case 6: {
      if (shape.size() >= 3)
        return;
      int64_t axis = pick(int64_t(shape.size()) + 1);
      Index result(shape);
      result.insert(result.begin() + axis, 1);
      return emit("expand_dims", {x}, result, {axis});
    }
    case 7: {
      Index result(shape);
      for (int64_t &extent : result)
        if (extent == 1)
          extent = 1 + pick(4);
      if (result.size() < 3 && pick(2))
        result.insert(result.begin(), 1 + pick(3));
      return elements(result) > kOut || result == shape ? void() : emit("broadcast", {x}, result);
    }
    case 8: {
      Index result(shape);
      std::reverse(result.begin(), result.end());
      if (pick(2))
        result = {elements(shape)};
      return emit("reshape", {x}, result);
    }
    case 9: {
      if (shape.size() < 2)
        return;
      int64_t axis = pick(int64_t(shape.size()));
      Index result(shape);
      result.erase(result.begin() + axis);
      const char *kinds[] = {"sum", "max", "xor"};
      return emit(kinds[pick(3)], {x}, result, {axis});
    }
    case 10: {
      if (shape.size() != 2)
        return;
      int right = load(block, available, {shape[1], 1 + pick(5)});
      int sum = load(block, available, {shape[0], shapes[size_t(right)][1]});
      return emit("dot", {x, right, sameShape(available, sum)}, shapes[size_t(sum)]);
    }
    case 11:
      load(block, available, loadShape());
      return;
    case 12:
      if (shape.size() == 2)
        block.push_back({"store", {x}, {}, {}, {pick(10) - 2, pick(12) - 3}, {}, {}, {}, {}});
      return;
    case 13: {
      Op loop{"for", {}, {}, {}, {pick(4)}, {}, {}, {}, {}};
      std::vector<int> inner(available);
      for (int64_t i = 0, count = 1 + pick(3); i < count; ++i) {
        loop.in.push_back(choose(available));
        loop.arguments.push_back(fresh(shapes[size_t(loop.in.back())]));
        inner.push_back(loop.arguments.back());
      }
      fill(loop.body, inner, depth - 1);
      for (int argument : loop.arguments)
        loop.yields.push_back(sameShape(inner, argument));
      for (int argument : loop.arguments) {
        loop.out.push_back(fresh(shapes[size_t(argument)]));
        available.push_back(loop.out.back());
      }
      block.push_back(std::move(loop));
      return;
    }
    default: {
      Op branch{"if", {}, {}, {}, {pick(2)}, {}, {}, {}, {}};
      std::vector<int> left(available), right(available);
      fill(branch.body, left, depth - 1);
      fill(branch.other, right, depth - 1);
      for (int64_t i = 0, count = 1 + pick(2); i < count; ++i) {
        int like = choose(available);
        branch.yields.push_back(sameShape(left, like));
        branch.otherYields.push_back(sameShape(right, like));
        branch.out.push_back(fresh(shapes[size_t(like)]));
      }
      available.insert(available.end(), branch.out.begin(), branch.out.end());
      block.push_back(std::move(branch));
    }
    }
  }
  void fill(std::vector<Op> &block, std::vector<int> &available, int depth) {
    for (int64_t i = 0, count = 3 + pick(8); i < count; ++i)
      step(block, available, depth);
  }
};

/// IR text of a block.
struct Printer {
  const std::vector<Index> &shapes;
  int constants = 0;
  std::string text;

  std::string type(int value) const { return fmt::format("tensor<{}xi32>", fmt::join(shapes[size_t(value)], "x")); }
  std::string constant(int64_t value) {
    text += fmt::format("  %c{} = arith.constant {} : i64\n", constants, value);
    return fmt::format("%c{}", constants++);
  }
  static std::string names(const std::vector<int> &values) {
    std::string list;
    for (int value : values)
      list += (list.empty() ? "%v" : ", %v") + std::to_string(value);
    return list;
  }
  std::string types(const std::vector<int> &values) const {
    std::string list;
    for (int value : values)
      list += (list.empty() ? "" : ", ") + type(value);
    return list;
  }
  void results(const Op &op, const std::string &group) {
    for (size_t i = 0; i < op.out.size(); ++i) // a copy gives the result its own name
      text += fmt::format("  %v{} = tile.permute {}#{} [{}] : {} -> {}\n", op.out[i], group, i, identity(op.out[i]),
                          type(op.out[i]), type(op.out[i]));
  }
  std::string identity(int value) const {
    std::string order;
    for (size_t d = 0; d < shapes[size_t(value)].size(); ++d)
      order += (d ? ", " : "") + std::to_string(d);
    return order;
  }
  void print(const std::vector<Op> &block) {
    for (const Op &op : block)
      print(op);
  }
  void print(const Op &op) {
    const std::string &k = op.kind;
    if (k == "load" || k == "store") {
      int value = k == "load" ? op.out[0] : op.in[0];
      std::string row = constant(op.numbers[0]), column = constant(op.numbers[1]);
      std::string slice =
          fmt::format("%m[{}, {}] widths [{}] steps [1, 1]", row, column, fmt::join(shapes[size_t(value)], ", "));
      text +=
          k == "load"
              ? fmt::format("  %v{} = tile.load {} : !tile.view<?x?xi32>[i64, i64] -> {}\n", value, slice, type(value))
              : fmt::format("  tile.store %v{}, {} : {}, !tile.view<?x?xi32>[i64, i64]\n", value, slice, type(value));
    } else if (k == "where") {
      std::string mask = fmt::format("tensor<{}xi1>", fmt::join(shapes[size_t(op.out[0])], "x"));
      text += fmt::format("  %w{0} = arith.cmpi slt, {1} : {2}\n  %v{0} = arith.select %w{0}, {3} : {4}, {2}\n",
                          op.out[0], names({op.in[0], op.in[1]}), type(op.in[0]), names({op.in[1], op.in[2]}), mask);
    } else if (k == "permute" || k == "expand_dims" || k == "broadcast" || k == "reshape") {
      std::string detail = k == "permute"       ? fmt::format(" [{}]", fmt::join(op.numbers, ", "))
                           : k == "expand_dims" ? fmt::format(", {}", op.numbers[0])
                                                : "";
      text += fmt::format("  %v{} = tile.{} %v{}{} : {} -> {}\n", op.out[0], k, op.in[0], detail, type(op.in[0]),
                          type(op.out[0]));
    } else if (k == "sum" || k == "max" || k == "xor") {
      text += fmt::format("  %v{} = tile.reduce {} %v{}, {} : {} -> {}\n", op.out[0], k, op.in[0], op.numbers[0],
                          type(op.in[0]), type(op.out[0]));
    } else if (k == "dot") {
      text += fmt::format("  %v{} = tile.dot {} : {}, {} -> {}\n", op.out[0], names(op.in), type(op.in[0]),
                          type(op.in[1]), type(op.out[0]));
    } else if (k == "for") {
      std::string zero = constant(0), one = constant(1), count = constant(op.numbers[0]),
                  group = fmt::format("%l{}", op.out[0]);
      std::string inits;
      for (size_t i = 0; i < op.in.size(); ++i)
        inits += fmt::format("{}%v{} = %v{}", i ? ", " : "", op.arguments[i], op.in[i]);
      text += fmt::format("  {}:{} = scf.for %q{} = {} to {} step {} iter_args({}) -> ({}) : i64 {{\n", group,
                          op.out.size(), op.out[0], zero, count, one, inits, types(op.out));
      print(op.body);
      text += fmt::format("  scf.yield {} : {}\n  }}\n", names(op.yields), types(op.yields));
      results(op, group);
    } else if (k == "if") {
      std::string other = constant(op.numbers[0]), group = fmt::format("%l{}", op.out[0]);
      text += fmt::format("  %f{0} = arith.cmpi eq, %flag, {1} : i64\n  {2}:{3} = scf.if %f{0} -> ({4}) {{\n",
                          op.out[0], other, group, op.out.size(), types(op.out));
      print(op.body);
      text += fmt::format("  scf.yield {} : {}\n  }} else {{\n", names(op.yields), types(op.yields));
      print(op.other);
      text += fmt::format("  scf.yield {} : {}\n  }}\n", names(op.otherYields), types(op.otherYields));
      results(op, group);
    } else {
      text += fmt::format("  %v{} = arith.{} {} : {}\n", op.out[0], k, names(op.in), type(op.out[0]));
    }
  }
};

/// Runs a block on values.
struct Interpreter {
  const std::vector<Index> &shapes;
  std::vector<int32_t> memory; ///< kRows x kColumns
  int64_t flag;
  std::map<int, Tile> values;

  static Index unflatten(int64_t linear, const Index &shape) {
    Index index(shape.size());
    for (size_t d = shape.size(); d-- > 0; linear /= shape[d])
      index[d] = linear % shape[d];
    return index;
  }
  static int32_t at(const Tile &tile, const Index &index) {
    int64_t linear = 0;
    for (size_t d = 0; d < index.size(); ++d)
      linear = linear * tile.shape[d] + index[d];
    return tile.data[size_t(linear)];
  }
  template <typename Function>
  void make(int value, Function element) {
    Tile tile{shapes[size_t(value)], {}};
    for (int64_t i = 0; i < elements(tile.shape); ++i)
      tile.data.push_back(int32_t(element(unflatten(i, tile.shape))));
    values[value] = std::move(tile);
  }
  int32_t *place(const Op &op, const Index &index) {
    int64_t row = op.numbers[0] + index[0], column = op.numbers[1] + index[1];
    return row < 0 || row >= kRows || column < 0 || column >= kColumns ? nullptr
                                                                       : &memory[size_t(row * kColumns + column)];
  }
  std::vector<Tile> take(const std::vector<int> &list) {
    std::vector<Tile> tiles;
    for (int value : list)
      tiles.push_back(values[value]);
    return tiles;
  }
  void give(const std::vector<int> &list, std::vector<Tile> tiles) {
    for (size_t i = 0; i < list.size(); ++i)
      values[list[i]] = std::move(tiles[i]);
  }

  void run(const std::vector<Op> &block) {
    for (const Op &op : block)
      run(op);
  }
  void run(const Op &op) {
    const std::string &k = op.kind;
    auto in = [&](size_t i) -> const Tile & { return values[op.in[i]]; };
    if (k == "load")
      return make(op.out[0], [&](const Index &i) { return place(op, i) ? *place(op, i) : 0; });
    if (k == "store") {
      const Tile tile = in(0);
      for (int64_t i = 0; i < elements(tile.shape); ++i)
        if (int32_t *target = place(op, unflatten(i, tile.shape)))
          *target = tile.data[size_t(i)];
      return;
    }
    if (k == "for") {
      std::vector<Tile> carried = take(op.in);
      for (int64_t i = 0; i < op.numbers[0]; ++i) {
        give(op.arguments, carried);
        run(op.body);
        carried = take(op.yields);
      }
      return give(op.out, carried);
    }
    if (k == "if") {
      run(flag == op.numbers[0] ? op.body : op.other);
      return give(op.out, take(flag == op.numbers[0] ? op.yields : op.otherYields));
    }
    make(op.out[0], [&](const Index &i) -> int64_t {
      if (k == "addi" || k == "subi" || k == "muli") {
        int64_t a = at(in(0), i), b = at(in(1), i);
        return k == "addi" ? a + b : k == "subi" ? a - b : a * b;
      }
      if (k == "where")
        return at(in(0), i) < at(in(1), i) ? at(in(1), i) : at(in(2), i);
      if (k == "reshape") {
        int64_t linear = 0;
        for (size_t d = 0; d < i.size(); ++d)
          linear = linear * shapes[size_t(op.out[0])][d] + i[d];
        return in(0).data[size_t(linear)];
      }
      Index from(i);
      if (k == "permute")
        for (size_t d = 0; d < i.size(); ++d)
          from[size_t(op.numbers[d])] = i[d];
      if (k == "expand_dims")
        from.erase(from.begin() + op.numbers[0]);
      if (k == "broadcast") {
        from.erase(from.begin(), from.begin() + int64_t(i.size() - in(0).shape.size()));
        for (size_t d = 0; d < from.size(); ++d)
          from[d] = in(0).shape[d] == 1 ? 0 : from[d];
      }
      if (k == "permute" || k == "expand_dims" || k == "broadcast")
        return at(in(0), from);
      if (k == "dot") {
        uint32_t sum = uint32_t(at(in(2), i));
        for (int64_t q = 0; q < in(0).shape[1]; ++q)
          sum += uint32_t(at(in(0), {i[0], q})) * uint32_t(at(in(1), {q, i[1]}));
        return int32_t(sum);
      }
      // Reductions.
      from.insert(from.begin() + op.numbers[0], 0);
      int64_t total = k == "max" ? INT32_MIN : 0;
      for (int64_t q = 0; q < in(0).shape[size_t(op.numbers[0])]; ++q) {
        from[size_t(op.numbers[0])] = q;
        int64_t element = at(in(0), from);
        total = k == "max" ? std::max(total, element) : k == "sum" ? total + element : total ^ element;
      }
      return total;
    });
  }
};

std::string checkProgram(uint32_t seed) {
  Generator generator(seed);
  std::vector<Op> block;
  std::vector<int> available;
  generator.load(block, available, generator.loadShape());
  generator.load(block, available, generator.loadShape());
  for (int i = 0; i < 2; ++i)
    generator.fill(block, available, 2);
  // The last values go out, one a row.
  std::vector<int> observed(available.end() - std::min<int64_t>(6, int64_t(available.size())), available.end());
  Printer printer{generator.shapes};
  printer.print(block);
  std::string zero = printer.constant(0);
  for (size_t i = 0; i < observed.size(); ++i) {
    int64_t count = elements(generator.shapes[size_t(observed[i])]);
    std::string row = printer.constant(int64_t(i));
    printer.text += fmt::format("  %r{0} = tile.reshape %v{1} : {2} -> tensor<{3}xi32>\n"
                                "  tile.store %r{0}, %y[{4}, {5}] widths [0, {3}] steps [1, 1] : tensor<{3}xi32>, "
                                "!tile.view<6x{6}xi32>[i64, i64]\n",
                                i, observed[i], printer.type(observed[i]), count, row, zero, kOut);
  }
  std::string ir = kernelText({{"m", "i32", "inout", "?x?", {"M", "N"}},
                               {"y", "i32", "out", fmt::format("6x{}", kOut), {"6", std::to_string(kOut)}},
                               {"flag", "i64", "", "", {}}},
                              {"M", "N"}, {{"p", "0", "1", "1"}}, printer.text);
  Tensor m("i32", {kRows, kColumns}), y("i32", {6, kOut});
  m.random(seed, -9, 9), y.fill(-77);
  Interpreter interpreter{generator.shapes, {}, int64_t(seed & 1), {}};
  m.each([&](const Index &at) { interpreter.memory.push_back(int32_t(m.get(at))); });
  interpreter.run(block);
  std::string wrong = launch(ir, "", {&m, &y}, {slot(kRows), slot(kColumns), slot(seed & 1), 1}, 1);
  if (wrong.empty())
    wrong = compare(m, [&](const Index &at) { return double(interpreter.memory[size_t(at[0] * kColumns + at[1])]); });
  if (wrong.empty())
    wrong = compare(y, [&](const Index &at) {
      if (at[0] >= int64_t(observed.size()))
        return -77.0;
      const Tile &tile = interpreter.values[observed[size_t(at[0])]];
      return at[1] < int64_t(tile.data.size()) ? double(tile.data[size_t(at[1])]) : -77.0;
    });
  return wrong.empty() ? "" : fmt::format("seed {}: {}\n{}", seed, wrong, ir);
}

} // namespace

TEST_CASE("random programs do what the interpreter does") {
  for (uint32_t seed = 1; seed <= 60; ++seed)
    REQUIRE(checkProgram(seed) == "");
}

TEST_CASE("many random programs do what the interpreter does", "[.long]") {
  for (uint32_t seed = 1000; seed < 3000; ++seed)
    REQUIRE(checkProgram(seed) == "");
}
