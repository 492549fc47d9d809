//===- Tiles.cpp - reductions, running sums and shapes of the matrix --------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Every extent is a tile of its own in one kernel for each cell and axis: the extents 1, 2, 15, 16, 17, 24, 32 and 33, which no layout may show.
//
#include "tests/conformance/Cases.h"
#include "tests/conformance/References.h"

#include <cmath>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace tessera::conformance {
namespace {

constexpr int64_t kExtents[] = {1, 2, 15, 16, 17, 24, 32, 33};
constexpr int64_t kRows = 3;

/// A tile of two dimensions in row-major order.
struct Tile {
  DType type;
  int64_t rows, columns;
  std::vector<uint64_t> bits;
  uint64_t at(int64_t r, int64_t c) const { return bits[size_t(r * columns + c)]; }
};

DType sumTypeOf(DType type) {
  if (type == DType::F64 || type == DType::I64 || type == DType::U64)
    return type;
  if (isFloat(type))
    return DType::F32;
  return isUnsignedInteger(type) ? DType::U32 : DType::I32;
}

/// The sum of `terms` in `result`, in any order of additions; `size` is the sum of their magnitudes.
Want sumOfReals(DType result, Real total, Real size, size_t terms) {
  if (!std::isfinite(size))
    return Want::exactly(bitsOf(result, total));
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  Real largest = realOf(result, bitsOf(result, result == DType::F64 ? Real(std::numeric_limits<double>::max())
                                                                    : Real(std::numeric_limits<float>::max())));
  // Some order may overflow on the way, and stay there.
  if (size > largest)
    return Want::between(-kInfinity, kInfinity);
  Real error = size * Real(terms) * (result == DType::F64 ? 0x1p-53L : 0x1p-24L);
  return Want::between(total - error, total + error);
}

Want sumOf(DType type, const std::vector<uint64_t> &parts) {
  DType result = sumTypeOf(type);
  if (!isFloat(type)) {
    Wide total = 0;
    for (uint64_t bits : parts)
      total += wideOf(type, bits);
    return Want::exactly(wrap(result, total));
  }
  Real total = 0, size = 0;
  for (uint64_t bits : parts)
    total += realOf(type, bits), size += std::fabs(realOf(type, bits));
  return sumOfReals(result, total, size, parts.size());
}

/// A row of one operand times a column of the other.
Want productOf(DType type, const std::vector<uint64_t> &a, const std::vector<uint64_t> &b) {
  DType result = sumTypeOf(type);
  uint64_t whole = 0;
  bool isOver = false;
  Real total = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!isFloat(type)) {
      whole += uint64_t(int64_t(wideOf(type, a[i]))) * uint64_t(int64_t(wideOf(type, b[i])));
      continue;
    }
    Real product = realOf(type, a[i]) * realOf(type, b[i]);
    // Beyond the result's range it is an infinity, or not, if an earlier sum is of the other sign: the order decides what comes out, NaN included.
    isOver |= std::isfinite(product) && std::isinf(realOf(result, bitsOf(result, product)));
    total += product, size += std::fabs(product);
  }
  if (!isFloat(type))
    return Want::exactly(whole & maskOf(result));
  if (isOver)
    return Want::anything();
  Want want = sumOfReals(result, total, size, a.size() + 1);
  if (want.isRange) // products below the smallest number lose digits each
    want.low -= Real(a.size()) * (result == DType::F64 ? 0x1p-1074L : 0x1p-149L),
        want.high += Real(a.size()) * (result == DType::F64 ? 0x1p-1074L : 0x1p-149L);
  return want;
}

/// Whether `a` comes before `b` as a maximum (or minimum): NaN first.
bool wins(DType type, bool isMax, uint64_t a, uint64_t b) {
  if (isNan(type, a) || isNan(type, b))
    return isNan(type, a) && !isNan(type, b);
  return isMax ? realOf(type, a) > realOf(type, b) : realOf(type, a) < realOf(type, b);
}

/// The value of one line of a reduction.
Want reduced(const std::string &op, DType type, const std::vector<uint64_t> &line) {
  if (op == "sum")
    return sumOf(type, line);
  if (op == "argmax" || op == "argmin") {
    size_t best = 0;
    for (size_t i = 1; i < line.size(); ++i)
      if (wins(type, op == "argmax", line[i], line[best]))
        best = i;
    return Want::exactly(best);
  }
  uint64_t result = line[0];
  for (size_t i = 1; i < line.size(); ++i)
    result = op == "any"   ? result | line[i]
             : op == "all" ? result & line[i]
                           : extremum(type, op[1] == 'a', op.size() > 3, result, line[i]);
  return Want::exactly(result);
}

/// One form of an operation on a tile t of [3, E]: what it gives, of which type and shape, and the expected elements.
struct Form {
  std::string label, expression;
  DType result;
  std::vector<int64_t> shape;
  std::function<std::vector<Want>(const Tile &t, const Tile &u)> expected;
  std::string prelude = {}; ///< statements before it
};

std::vector<Want> exactly(const std::vector<uint64_t> &bits) {
  std::vector<Want> wants;
  for (uint64_t b : bits)
    wants.push_back(Want::exactly(b));
  return wants;
}

/// Lines of a tile along an axis.
std::vector<std::vector<uint64_t>> linesOf(const Tile &t, int axis) {
  std::vector<std::vector<uint64_t>> lines(size_t(axis == 0 ? t.columns : t.rows));
  for (int64_t r = 0; r < t.rows; ++r)
    for (int64_t c = 0; c < t.columns; ++c)
      lines[size_t(axis == 0 ? c : r)].push_back(t.at(r, c));
  return lines;
}

std::vector<Form> formsOf(const std::string &op, DType type, int64_t rows, int64_t columns) {
  std::vector<Form> forms;
  bool isReduction = op == "sum" || op == "any" || op == "all" || op == "argmax" || op == "argmin" || op == "max" ||
                     op == "min" || op == "maxnum" || op == "minnum";
  if (isReduction) {
    DType result = op == "sum" ? sumTypeOf(type) : op[0] == 'a' && op[1] == 'r' ? DType::I64 : type;
    for (int axis : {0, 1})
      forms.push_back({fmt::format("axis {}", axis),
                       fmt::format("{}(t, axis = {})", op, axis),
                       result,
                       {axis == 0 ? columns : rows},
                       [=](const Tile &t, const Tile &) {
                         std::vector<Want> wants;
                         for (const auto &line : linesOf(t, axis))
                           wants.push_back(reduced(op, type, line));
                         return wants;
                       }});
    if (result != DType::I64 || op == "sum" || op == "max" || op == "min" || op == "maxnum" || op == "minnum")
      forms.push_back({"whole", fmt::format("{}(t)", op), result, {}, [=](const Tile &t, const Tile &) {
                         return std::vector<Want>{reduced(op, type, t.bits)};
                       }});
    return forms;
  }
  if (op == "cumsum") {
    for (int axis : {0, 1})
      for (bool reverse : {false, true})
        forms.push_back({fmt::format("axis {}{}", axis, reverse ? " reversed" : ""),
                         fmt::format("cumsum(t, axis = {}, reverse = {})", axis, reverse),
                         sumTypeOf(type),
                         {rows, columns},
                         [=](const Tile &t, const Tile &) {
                           std::vector<Want> wants(t.bits.size());
                           auto lines = linesOf(t, axis);
                           for (size_t l = 0; l < lines.size(); ++l)
                             for (size_t i = 0; i < lines[l].size(); ++i) {
                               auto middle = lines[l].begin() + long(i);
                               std::vector<uint64_t> part(reverse ? middle : lines[l].begin(),
                                                          reverse ? lines[l].end() : middle + 1);
                               wants[axis == 0 ? i * size_t(t.columns) + l : l * size_t(t.columns) + i] =
                                   sumOf(type, part);
                             }
                           return wants;
                         }});
    return forms;
  }
  if (op == "matmul" || op == "dot") {
    for (int inner : {1, 0}) { // t @ u.T has E products in each sum, t.T @ u three
      std::string a = inner == 1 ? "t" : "t.T", b = inner == 1 ? "u.T" : "u";
      int64_t n = inner == 1 ? rows : columns;
      forms.push_back({inner == 1 ? "t @ u.T" : "t.T @ u",
                       op == "dot" ? fmt::format("dot({}, {})", a, b) : a + " @ " + b,
                       sumTypeOf(type),
                       {n, n},
                       [=](const Tile &t, const Tile &u) {
                         auto left = linesOf(t, inner), right = linesOf(u, inner);
                         std::vector<Want> wants;
                         for (const auto &row : left)
                           for (const auto &column : right)
                             wants.push_back(productOf(type, row, column));
                         return wants;
                       }});
    }
    return forms;
  }
  if (op == "topk") {
    for (int axis : {0, 1}) {
      int64_t extent = axis == 0 ? rows : columns, k = std::min<int64_t>(extent, 3);
      for (bool places : {false, true})
        forms.push_back({fmt::format("axis {} {}", axis, places ? "positions" : "values"),
                         places ? fmt::format("p{}", axis) : fmt::format("v{}", axis), places ? DType::I64 : type,
                         axis == 0 ? std::vector<int64_t>{k, columns} : std::vector<int64_t>{rows, k},
                         [=](const Tile &t, const Tile &) {
                           auto lines = linesOf(t, axis);
                           std::vector<Want> wants(lines.size() * size_t(k));
                           for (size_t l = 0; l < lines.size(); ++l) {
                             std::vector<size_t> order(lines[l].size());
                             for (size_t i = 0; i < order.size(); ++i)
                               order[i] = i;
                             std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
                               return wins(type, true, lines[l][a], lines[l][b]);
                             });
                             for (size_t i = 0; i < size_t(k); ++i)
                               wants[axis == 0 ? i * lines.size() + l : l * size_t(k) + i] =
                                   Want::exactly(places ? order[i] : lines[l][order[i]]);
                           }
                           return wants;
                         },
                         places ? "" : fmt::format("  let (v{0}, p{0}) = topk(t, {1}, axis = {0})\n", axis, k)});
    }
    return forms;
  }
  auto add = [&](std::string label, std::string expression, std::vector<int64_t> shape,
                 std::function<uint64_t(const Tile &, const Tile &, int64_t)> element) {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    forms.push_back(
        {std::move(label), std::move(expression), type, std::move(shape), [=](const Tile &t, const Tile &u) {
           std::vector<uint64_t> bits;
           for (int64_t i = 0; i < count; ++i)
             bits.push_back(element(t, u, i));
           return exactly(bits);
         }});
  };
  auto same = [](const Tile &t, const Tile &, int64_t i) { return t.bits[size_t(i)]; };
  if (op == "reshape") {
    add("turned", fmt::format("reshape(t, [{}, {}])", columns, rows), {columns, rows}, same);
    add("flat", fmt::format("reshape(t, [{}])", columns * rows), {columns * rows}, same);
  } else if (op == "permute") {
    add("1 0", "permute(t, [1, 0])", {columns, rows},
        [=](const Tile &t, const Tile &, int64_t i) { return t.at(i % rows, i / rows); });
    add("0 1", "permute(t, [0, 1])", {rows, columns}, same);
  } else if (op == "transpose") {
    add("T", "t.T", {columns, rows}, [=](const Tile &t, const Tile &, int64_t i) { return t.at(i % rows, i / rows); });
  } else if (op == "broadcast") {
    add("to three dimensions", fmt::format("broadcast(t, [2, {}, {}])", rows, columns), {2, rows, columns},
        [=](const Tile &t, const Tile &, int64_t i) { return t.bits[size_t(i % (rows * columns))]; });
  } else if (op == "expand") {
    add("middle", "t[:, None, :]", {rows, 1, columns}, same);
  } else if (op == "stack") {
    for (int axis : {0, 1, 2})
      add(fmt::format("axis {}", axis), fmt::format("stack(t, u, axis = {})", axis),
          axis == 0   ? std::vector<int64_t>{2, rows, columns}
          : axis == 1 ? std::vector<int64_t>{rows, 2, columns}
                      : std::vector<int64_t>{rows, columns, 2},
          [=](const Tile &t, const Tile &u, int64_t i) {
            int64_t inner = axis == 0 ? rows * columns : axis == 1 ? columns : 1;
            int64_t which = i / inner % 2, rest = i / (inner * 2) * inner + i % inner;
            return (which ? u : t).bits[size_t(rest)];
          });
  } else if (op == "split") {
    for (int64_t r : {0, 1, 2})
      add(fmt::format("part {}", r), fmt::format("s{}", r), {columns},
          [=](const Tile &t, const Tile &, int64_t i) { return t.at(r, i); });
    forms[0].prelude = "  let (s0, s1, s2) = split(t, axis = 0)\n";
  } else if (op == "concat") {
    add("axis 0", "concat(t, u, axis = 0)", {2 * rows, columns}, [=](const Tile &t, const Tile &u, int64_t i) {
      return i < rows * columns ? t.bits[size_t(i)] : u.bits[size_t(i - rows * columns)];
    });
    add("axis 1", "concat(t, u, axis = 1)", {rows, 2 * columns}, [=](const Tile &t, const Tile &u, int64_t i) {
      int64_t r = i / (2 * columns), c = i % (2 * columns);
      return c < columns ? t.at(r, c) : u.at(r, c - columns);
    });
  } else if (op == "take") {
    add("axis 0", "take(t, iota(5) * 2 - 1, axis = 0)", {5, columns}, [=](const Tile &t, const Tile &, int64_t i) {
      int64_t r = i / columns * 2 - 1;
      return r < 0 || r >= rows ? 0 : t.at(r, i % columns);
    });
    add("axis 1", "take(t, iota(6) * 7 - 1, axis = 1)", {rows, 6}, [=](const Tile &t, const Tile &, int64_t i) {
      int64_t c = i % 6 * 7 - 1;
      return c < 0 || c >= columns ? 0 : t.at(i / 6, c);
    });
  } else if (op == "zeros") {
    add("two dimensions", fmt::format("zeros({}, [{}, {}])", nameOf(type), rows, columns), {rows, columns},
        [](const Tile &, const Tile &, int64_t) { return uint64_t(0); });
  } else if (op == "full") {
    bool isBool = type == DType::Bool;
    uint64_t bits = isBool ? 1 : bitsOf(type, 3);
    add("two dimensions",
        fmt::format("full({}, [{}, {}], {})", nameOf(type), rows, columns,
                    isBool          ? "true"
                    : isFloat(type) ? "3.0"
                                    : "3"),
        {rows, columns}, [=](const Tile &, const Tile &, int64_t) { return bits; });
  } else if (op == "iota") {
    add("one dimension", fmt::format("iota({})", columns), {columns},
        [](const Tile &, const Tile &, int64_t i) { return uint64_t(i); });
  }
  return forms;
}

Tile tileOf(DType type, int64_t rows, int64_t columns, bool specials, uint64_t seed) {
  Tile tile{type, rows, columns, {}};
  std::vector<uint64_t> list = specialsOf(type);
  for (int64_t i = 0; i < rows * columns; ++i)
    tile.bits.push_back(specials ? list[(uint64_t(i) * 5 + seed + (uint64_t(i) >> 3)) % list.size()]
                                 : randomBits(type, (uint64_t(i) + seed * 1000) * 2 + 1));
  return tile;
}

std::string brackets(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t extent : shape)
    text += fmt::format("{}0 +: {}", text.empty() ? "" : ", ", extent);
  return shape.empty() ? "0" : text;
}
std::string extents(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t extent : shape)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", extent);
  return shape.empty() ? "1" : text;
}

} // namespace

void addTiles(const Operation &operation, DType type, std::vector<Case> &cases) {
  std::string op(operation.name), word(nameOf(type));
  for (int64_t extent : kExtents) {
    std::vector<Form> forms = formsOf(op, type, kRows, extent);
    if (forms.empty())
      return;
    std::string params = fmt::format("x: in {0}[{1}, {2}], z: in {0}[{1}, {2}], ", word, kRows, extent), body;
    for (size_t f = 0; f < forms.size(); ++f) {
      params += fmt::format("y{}: out {}[{}], ", f, nameOf(forms[f].result), extents(forms[f].shape));
      body += forms[f].prelude + fmt::format("  y{}[{}] = {}\n", f, brackets(forms[f].shape), forms[f].expression);
    }
    auto source =
        std::make_shared<std::string>(fmt::format("kernel k({0}n: i64)\n  grid (i in 0..n)\n{{\n  let t = x[0 +: {1}, "
                                                  "0 +: {2}]\n  let u = z[0 +: {1}, 0 +: {2}]\n{3}}}\n",
                                                  params, kRows, extent, body));
    auto shared = std::make_shared<std::vector<Form>>(forms);
    for (size_t f = 0; f < forms.size(); ++f)
      for (bool specials : {false, true}) {
        if (op == "zeros" || op == "full" || op == "iota") {
          if (specials)
            continue;
        }
        cases.push_back(
            {op, type, fmt::format("{} extent {}{}", forms[f].label, extent, specials ? " specials" : ""),
             [=](Bench &bench) {
               Tile t = tileOf(type, kRows, extent, specials, 1), u = tileOf(type, kRows, extent, specials, 4);
               Data x = Data::of(type, t.bits), z = Data::of(type, u.bits);
               x.shape = z.shape = {kRows, extent};
               std::vector<Data> tensors{std::move(x), std::move(z)};
               for (const Form &form : *shared)
                 tensors.emplace_back(form.result, form.shape.empty() ? std::vector<int64_t>{1} : form.shape,
                                      0x5a5a5a5a5a5a5a5au & maskOf(form.result));
               std::vector<Data *> pointers;
               for (Data &tensor : tensors)
                 pointers.push_back(&tensor);
               if (std::string error = bench.launch(*source, pointers, {1}); !error.empty())
                 return error;
               std::vector<Want> wants = (*shared)[f].expected(t, u);
               return compare(tensors[2 + f], [&](int64_t i) { return wants[size_t(i)]; });
             }});
      }
  }
}

} // namespace tessera::conformance
