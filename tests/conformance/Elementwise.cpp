//===- Elementwise.cpp - elementwise operations and conversions of the matrix ----------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The program of a cell is the operation's form in the table.  One kernel serves every case of the cell: a range lo..hi of long tensors, which hold every
// combination of special values, all values of 8 and 16 bits, and random ones.
//
#include "tests/conformance/Cases.h"
#include "tests/conformance/References.h"

#include <fmt/format.h>

#include <memory>

namespace tessera::conformance {
namespace {

constexpr int64_t kTile = 32;
constexpr int64_t kExtents[] = {0, 1, 2, 15, 16, 17, 24, kTile, kTile + 1};
constexpr uint64_t kPoison = 0xa5a5a5a5a5a5a5a5u;

/// Operands of a cell: columns of bits, specials first.
struct Inputs {
  std::vector<uint64_t> column[3];
  int64_t specials = 0;
};

Inputs inputsOf(DType type, int operands) {
  Inputs in;
  std::vector<uint64_t> special = specialsOf(type);
  auto add = [&](uint64_t a, uint64_t b, uint64_t c) {
    in.column[0].push_back(a), in.column[1].push_back(b), in.column[2].push_back(c);
  };
  size_t third = operands > 2 ? special.size() : 1;
  for (uint64_t a : special)
    for (size_t j = 0; j < (operands > 1 ? special.size() : 1); ++j)
      for (size_t k = 0; k<third; k += operands> 2 ? 2 : 1)
        add(a, special[j], special[(k + j) % special.size()]);
  in.specials = int64_t(in.column[0].size());
  int width = widthOf(type);
  if (operands == 1 && width <= 16)
    for (uint64_t a = 0; a <= maskOf(type); ++a)
      add(a, 0, 0);
  else if (operands == 2 && width <= 8)
    for (uint64_t a = 0; a <= maskOf(type); ++a)
      for (uint64_t b = 0; b <= maskOf(type); ++b)
        add(a, b, 0);
  else
    for (uint64_t i = 0; i < 6000; ++i)
      add(randomBits(type, i), randomBits(type, i + 100001 + (i >> 1)), randomBits(type, i + 777777));
  return in;
}

/// The first form, as an expression of a, b, c and m.
std::string expressionOf(const Operation &operation) {
  std::string form(operation.form);
  return operation.name == "bit_or" ? form : form.substr(0, form.find(" | "));
}

std::string programOf(const std::string &operands, const std::string &type,
                      const std::vector<std::pair<std::string, std::string>> &results) {
  std::string params, body = fmt::format("");
  for (char name : operands) {
    params += fmt::format("x{}: in {}[L], ", name, name == 'm' ? "bool" : type);
    body += fmt::format("  let v{0} = x{0}[lo..hi]\n  let {0} = v{0}[i +: {1}]\n", name, kTile);
  }
  for (size_t r = 0; r < results.size(); ++r) {
    params += fmt::format("y{}: out {}[L], ", r, results[r].first);
    body += fmt::format("  let w{0} = y{0}[lo..hi]\n  w{0}[i +: {1}] = {2}\n", r, kTile, results[r].second);
  }
  return fmt::format("kernel k({}lo: i64, hi: i64)\n  grid (i in 0..hi - lo by {})\n{{\n{}}}\n", params, kTile, body);
}

/// Launches lo..hi and looks at all of output `shown`, the untouched elements too.
std::string runRange(Bench &bench, const std::string &source, DType type, const std::string &operands, const Inputs &in,
                     const std::vector<DType> &outputs, size_t shown, int64_t lo, int64_t hi,
                     const std::function<Want(int64_t)> &want) {
  int64_t count = int64_t(in.column[0].size());
  std::vector<Data> tensors;
  for (char name : operands) {
    if (name == 'm') {
      Data mask(DType::Bool, {count});
      for (int64_t i = 0; i < count; ++i)
        mask.set(i, randomBits(DType::Bool, uint64_t(i)));
      tensors.push_back(std::move(mask));
    } else {
      tensors.push_back(Data::of(type, in.column[name - 'a']));
    }
  }
  for (DType output : outputs)
    tensors.emplace_back(output, std::vector<int64_t>{count}, kPoison & maskOf(output));
  std::vector<Data *> pointers;
  for (Data &tensor : tensors)
    pointers.push_back(&tensor);
  if (std::string error = bench.launch(source, pointers, {lo, hi}); !error.empty())
    return error;
  const Data &output = tensors[tensors.size() - outputs.size() + shown];
  uint64_t poison = kPoison & maskOf(output.type);
  return compare(output, [&](int64_t i) { return i >= lo && i < hi ? want(i) : Want::exactly(poison); });
}

} // namespace

void addElementwise(const Operation &operation, DType type, std::vector<Case> &cases) {
  std::string name(operation.name);
  if (!hasReference(name))
    return;
  std::string expression = expressionOf(operation), operands;
  int count = name == "where" ? 2 : operation.shape == Operation::Shape::ElementwiseOrReduced ? 2 : operation.most;
  operands = std::string("abc").substr(0, size_t(count));
  if (name == "where")
    operands += 'm';
  DType result = operation.result == Operation::Result::Bool ? DType::Bool : type;
  auto source = std::make_shared<std::string>(
      programOf(operands, std::string(nameOf(type)), {{std::string(nameOf(result)), expression}}));
  auto in = std::make_shared<Inputs>(inputsOf(type, count));
  int64_t length = int64_t(in->column[0].size());
  double ulp = type == DType::F64 ? operation.ulp64 : operation.ulp32;
  auto add = [&](std::string label, int64_t lo, int64_t hi) {
    cases.push_back({name, type, std::move(label), [=](Bench &bench) {
                       return runRange(bench, *source, type, operands, *in, {result}, 0, lo, hi, [&](int64_t i) {
                         if (name == "where")
                           return Want::exactly(in->column[randomBits(DType::Bool, uint64_t(i)) ? 0 : 1][size_t(i)]);
                         return reference(name, type, in->column[0][size_t(i)], in->column[1][size_t(i)],
                                          in->column[2][size_t(i)], ulp);
                       });
                     }});
  };
  for (int64_t extent : kExtents)
    if (int64_t lo = std::min<int64_t>(7, length - 1); lo + extent <= length)
      add(fmt::format("extent {}", extent), lo, lo + extent);
  add("specials", 0, in->specials);
  add(length - in->specials > 6000 || widthOf(type) <= 8 ? "all" : "random", in->specials, length);
}

void addConversions(const Operation &operation, DType type, std::vector<Case> &cases) {
  if (operation.name != "convert")
    return;
  auto in = std::make_shared<Inputs>(inputsOf(type, 1));
  std::vector<std::pair<std::string, std::string>> results;
  struct Target {
    DType type;
    bool saturate, ieee;
  };
  auto targets = std::make_shared<std::vector<Target>>();
  auto outputs = std::make_shared<std::vector<DType>>();
  auto add = [&](DType to, bool saturate, bool ieee) {
    std::string word(nameOf(to));
    results.push_back({word, word + (saturate ? "(a, saturate = true)" : ieee ? "(a, overflow = ieee)" : "(a)")});
    targets->push_back({to, saturate, ieee});
    outputs->push_back(to);
  };
  for (int t = 0; t <= int(DType::F8E5M2); ++t) {
    DType to = DType(t);
    add(to, false, false);
    if (isWhole(to) && isWhole(type))
      add(to, true, false);
    if (sizeOf(to) == 1 && isFloat(to) && !(isFloat(type) && sizeOf(type) == 1))
      add(to, false, true);
  }
  auto source = std::make_shared<std::string>(programOf("a", std::string(nameOf(type)), results));
  for (size_t r = 0; r < results.size(); ++r) {
    auto one = [&](std::string label, int64_t lo, int64_t hi) {
      cases.push_back({"convert", type, results[r].second + " " + label, [=](Bench &bench) {
                         Target to = (*targets)[r];
                         return runRange(bench, *source, type, "a", *in, *outputs, r, lo, hi, [&](int64_t i) {
                           return Want::exactly(
                               converted(type, in->column[0][size_t(i)], to.type, to.saturate, to.ieee));
                         });
                       }});
    };
    one("extent 17", 0, std::min<int64_t>(17, int64_t(in->column[0].size())));
    one("specials", 0, in->specials);
    one(widthOf(type) <= 16 ? "all" : "random", in->specials, int64_t(in->column[0].size()));
  }
}

} // namespace tessera::conformance
