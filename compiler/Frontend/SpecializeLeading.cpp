//===- SpecializeLeading.cpp - leading dimensions of any rank -------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// `x: in T[..S, C]`: S stands for as many dimensions as the argument has in front of the others.  How many is known before anything else is bound, so a
// kernel is specialized for ordinary dimensions named S.0, S.1 ..., and S is the tuple of them.
//
#include "compiler/Frontend/Specializer.h"

#include <fmt/format.h>

using namespace mlir;

namespace tessera::frontend {

/// More than any tensor has.
static constexpr int64_t kMostLeading = 16;

static const ast::NameExpr &leadingName(const ast::Param &param) { return param.extents.front()->as<ast::NameExpr>(); }

/// The number of dimensions of an argument, where the facts tell.
static std::optional<size_t> rankOf(const TensorFacts *facts) {
  if (!facts || !facts->present)
    return std::nullopt;
  return facts->rank ? facts->rank : facts->shape.empty() ? std::nullopt : std::optional(facts->shape.size());
}

/// From the arguments, else an explicit binding (`-D S=2`), else one.
void Specializer::bindLeading() {
  for (const ast::Param &param : kernel->params) {
    std::optional<size_t> rank = param.anyLeading ? rankOf(factsOf(param.name)) : std::nullopt;
    if (!rank)
      continue;
    const std::string &name = leadingName(param).name;
    size_t others = param.extents.size() - 1;
    if (*rank < others) {
      error(
          at(param.range), "T0406",
          fmt::format("'{}' has at least {}, found an argument of {}", param.name, countOf(others, "dimension"), *rank),
          "");
      continue;
    }
    auto [known, isNew] = leading.try_emplace(name, *rank - others);
    if (!isNew && known->second != *rank - others)
      error(at(param.range), "T0406",
            fmt::format("'..{}' stands for {}, found an argument of '{}' that has {} in its place", name,
                        countOf(known->second, "dimension"), param.name, *rank - others),
            "pass tensors of the same leading dimensions");
  }
  for (const ast::Param &param : kernel->params) {
    if (!param.anyLeading)
      continue;
    const ast::NameExpr &written = leadingName(param);
    At place = at(written.range);
    if (llvm::any_of(kernel->staticParams, [&](const auto &p) { return p.name == written.name; }) ||
        llvm::any_of(kernel->params, [&](const auto &p) { return p.name == written.name; })) {
      error(place, "T0228", fmt::format("'{}' has a meaning here already", written.name),
            "choose another name for the leading dimensions");
      continue;
    }
    std::optional<Value> bound = explicitBinding(written.name, place);
    if (bound && (!bound->isInteger() || bound->integer < 0 || bound->integer > kMostLeading)) {
      if (!bound->isPoison())
        error(place, "T0402",
              fmt::format("'{}' is a number of dimensions, 0 to {}, found {}", written.name, kMostLeading,
                          describe(*bound)),
              fmt::format("for instance -D {}=2", written.name));
      continue;
    }
    auto [known, isNew] = leading.try_emplace(written.name, bound ? bound->integer : 1);
    if (!isNew && bound && int64_t(known->second) != bound->integer)
      error(place, "T0404",
            fmt::format("'{}' is bound to {}, found arguments with {}", written.name,
                        countOf(size_t(bound->integer), "dimension"), known->second),
            "leave the binding out, or pass other arguments");
    // A tuple from the beginning, so that nothing takes the name for a dimension; the values follow with the entry block.
    environment.declare(written.name, {Value::of(std::vector<Value>(known->second, Value::of(int64_t(1)))), false});
  }
}

const std::vector<ast::ExprPtr> &Specializer::leadingExtents(const ast::Expr &name) {
  const std::string &text = name.as<ast::NameExpr>().name;
  std::vector<ast::ExprPtr> &extents = leadingNames[text];
  auto count = leading.find(text);
  for (size_t i = extents.size(); count != leading.end() && i < count->second; ++i)
    extents.push_back(std::make_unique<ast::NameExpr>(name.range, fmt::format("{}.{}", text, i)));
  return extents;
}

std::vector<const ast::Expr *> Specializer::writtenExtents(const std::vector<ast::ExprPtr> &extents, bool anyLeading) {
  std::vector<const ast::Expr *> all;
  if (anyLeading)
    for (const ast::ExprPtr &extent : leadingExtents(*extents.front()))
      all.push_back(extent.get());
  for (size_t i = anyLeading; i < extents.size(); ++i)
    all.push_back(extents[i].get());
  return all;
}

/// The axes of the grid.  Of `s in S` the last dimension comes first: neighbours in memory are computed one after another.
bool Specializer::expandGrid() {
  for (auto [i, axis] : llvm::enumerate(kernel->grid)) {
    if (!axis.shape) {
      gridAxes.push_back({i, 0, axis.name.name, axis.low.get(), axis.high.get(), axis.step.get()});
      continue;
    }
    bool isLeading = axis.shape->kind == ast::Expr::Kind::Name && leading.count(axis.shape->as<ast::NameExpr>().name);
    if (!isLeading) {
      error(at(axis.shape->range), "T0412", "a grid runs over a range lo..hi, or over leading dimensions",
            "write 0..N, or declare x: in T[..S, N] and write s in S");
      return false;
    }
    const std::vector<ast::ExprPtr> &extents = leadingExtents(*axis.shape);
    for (const ast::ExprPtr &extent : extents) {
      const std::string &name = extent->as<ast::NameExpr>().name;
      if (symbols.count(name) || environment.find(name))
        continue;
      error(at(axis.shape->range), "T0405",
            fmt::format("nothing binds the leading dimensions '{}'", axis.shape->as<ast::NameExpr>().name),
            "let them stand in the shape of a tensor that is always there");
      return false;
    }
    for (size_t d = extents.size(); d-- > 0;)
      gridAxes.push_back({i, d, fmt::format("{}.{}", axis.name.name, d), nullptr, extents[d].get(), nullptr});
  }
  return true;
}

/// Once the dimensions have values: S is the tuple of its own.
void Specializer::declareLeading() {
  for (const auto &[name, count] : leading) {
    std::vector<Value> values;
    for (size_t i = 0; i < count; ++i) {
      Variable *value = environment.find(fmt::format("{}.{}", name, i));
      values.push_back(value ? value->value : Value::poison());
    }
    environment.declare(name, {Value::of(std::move(values)), false});
  }
}

/// The coordinates of `s in S` are one tuple.
void Specializer::declareCoordinates(Block &entry) {
  size_t first = entry.getNumArguments() - gridAxes.size();
  std::vector<std::vector<Value>> coordinates(kernel->grid.size());
  for (size_t k = gridAxes.size(); k-- > 0;) // backwards: the first dimension of a tuple comes first
    coordinates[gridAxes[k].written].push_back(Value::data(entry.getArgument(first + k), DType::I64));
  for (auto [axis, values] : llvm::zip(kernel->grid, coordinates))
    declareNew(axis.name.name, axis.name.range, {axis.shape ? Value::of(values) : values.front(), false});
}

/// `t: T[..S, D]` of a fn: S is the tuple of the argument's extents in front of the others.
bool Specializer::bindPatternLeading(const ast::FnParam &param, size_t count, Value &argument, At place) {
  const std::string &name = param.extents.front()->as<ast::NameExpr>().name;
  std::vector<Value> extents;
  for (size_t axis = 0; axis < count; ++axis)
    extents.push_back(argument.isView() ? extentOf(*argument.view, axis, place) : Value::of(argument.shape()[axis]));
  Variable *bound = environment.find(name);
  if (!bound) {
    environment.declare(name, {Value::of(std::move(extents)), false});
    return true;
  }
  bool agrees = bound->value.isTuple() && bound->value.elements.size() == count;
  for (size_t axis = 0; agrees && axis < count; ++axis) {
    const Value &wanted = bound->value.elements[axis], &found = extents[axis];
    agrees = !wanted.isInteger() || !found.isInteger() || wanted.integer == found.integer;
  }
  if (!agrees)
    error(place, "T0221", fmt::format("'..{}' of '{}' stands for other dimensions here", name, param.name),
          "a name that occurs twice has one value");
  return agrees;
}

} // namespace tessera::frontend
