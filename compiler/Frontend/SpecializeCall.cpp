//===- SpecializeCall.cpp - calls: inlining, patterns, assertions --------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A function is inlined at its call; what it emits carries the call site.  It sees its parameters, the names that its
// parameter patterns bind, and (a closure) what it captured.
//
#include "compiler/Frontend/Exits.h"
#include "compiler/Frontend/Specializer.h"

#include "dialect/Tile/TileDialect.h"

#include <fmt/format.h>

using namespace mlir;

namespace tessera::frontend {

static constexpr size_t kMaxCallDepth = 64;

std::shared_ptr<const Function> Specializer::fileFunction(const ast::Function &function) {
  auto &known = functions[function.name];
  if (!known) {
    auto made = std::make_shared<Function>();
    made->name = function.name;
    made->body = &function.body;
    known = std::move(made);
  }
  return known;
}

std::shared_ptr<const Function> Specializer::builtinFunction(const std::string &name) {
  auto &known = functions["builtin " + name];
  if (!known) {
    auto made = std::make_shared<Function>();
    made->name = name;
    known = std::move(made);
  }
  return known;
}

std::vector<Argument> Specializer::evalArguments(const ast::CallExpr &call) {
  std::vector<Argument> arguments;
  for (const ast::Argument &argument : call.arguments) {
    Argument result{argument.name, Value::nothing(), at(argument.value->range)};
    // The words of options (`precision = tf32`) are no names of the program.
    bool isOption = argument.name == "precision" || argument.name == "order" || argument.name == "overflow";
    if (isOption && argument.value->kind == ast::Expr::Kind::Name)
      result.value.origin = argument.value->as<ast::NameExpr>().name;
    else
      result.value = eval(*argument.value);
    arguments.push_back(std::move(result));
  }
  return arguments;
}

Value Specializer::evalCall(const ast::CallExpr &call) {
  At place = at(call.range);
  if (call.callee->kind == ast::Expr::Kind::Name) {
    const std::string &name = call.callee->as<ast::NameExpr>().name;
    if (!isShadowed(name))
      if (std::optional<Value> value = evalSpecialCall(name, call))
        return *value;
  }
  Value callee = eval(*call.callee);
  std::vector<Argument> arguments = evalArguments(call);
  if (callee.isPoison())
    return callee;
  if (llvm::any_of(arguments, [](const Argument &a) { return a.value.isPoison(); }))
    return Value::poison();
  if (callee.isType())
    return callConversion(*this, callee.dtype, arguments, place);
  if (!callee.isFunction())
    return error(at(call.callee->range), "T0220",
                 fmt::format("only functions and types are called, found {}", describe(callee)), "");
  return callee.function->body ? inlineCall(callee.function, arguments, place)
                               : callBuiltin(*this, callee.function->name, arguments, place);
}

//===----------------------------------------------------------------------===//
// Calls that take places, or act
//===----------------------------------------------------------------------===//

std::optional<Value> Specializer::evalSpecialCall(const std::string &name, const ast::CallExpr &call) {
  if (name == "static_assert")
    return evalStaticAssert(call);
  if (name == "assert")
    return evalAssert(call);
  if (name == "inside")
    return evalInside(call);
  if (name.starts_with("atomic_"))
    return evalAtomic(name, call);
  if (name == "reduce" || name == "scan")
    return evalCombination(name == "scan", call);
  if (name == "print" || name == "assume")
    return error(at(call.range), "T0225",
                 fmt::format("'{}' is part of the language, but this version does not compile it yet", name), "");
  return std::nullopt;
}

/// The text of an assertion: its second argument, or the condition's place.
static std::string messageOf(const ast::CallExpr &call, const char *otherwise) {
  if (call.arguments.size() > 1 && call.arguments[1].value->kind == ast::Expr::Kind::String)
    return call.arguments[1].value->as<ast::StringExpr>().value;
  return otherwise;
}

Value Specializer::evalStaticAssert(const ast::CallExpr &call) {
  At place = at(call.range);
  if (call.arguments.empty() || call.arguments.size() > 2)
    return error(place, "T0220",
                 fmt::format("'static_assert' takes a condition and a text, found {}",
                             countOf(call.arguments.size(), "argument")),
                 "");
  Value value = eval(*call.arguments[0].value);
  if (value.isPoison())
    return value;
  At where = at(call.arguments[0].value->range);
  if (!value.isBoolean())
    return error(where, value.isData() ? "T0408" : "T0205",
                 fmt::format("'static_assert' takes a bool known at compile time, found {}", describe(value)),
                 value.isData() ? "write it as requires (at launch) or assert (at run time)" : "compare: x != 0");
  if (!value.boolean)
    return error(where, "T0407",
                 fmt::format("static assertion failed: {}", messageOf(call, "the condition is false for this binding")),
                 "bind other values with -D");
  return Value::nothing();
}

Value Specializer::evalAssert(const ast::CallExpr &call) {
  At place = at(call.range);
  if (call.arguments.empty() || call.arguments.size() > 2)
    return error(
        place, "T0220",
        fmt::format("'assert' takes a condition and a text, found {}", countOf(call.arguments.size(), "argument")), "");
  Value value = eval(*call.arguments[0].value);
  if (value.isPoison())
    return value;
  if (value.isBoolean())
    value = literalOf(value, DType::Bool, place);
  if (!value.isData() || value.dtype != DType::Bool)
    return error(at(call.arguments[0].value->range), "T0205",
                 fmt::format("'assert' takes a bool, found {}", describe(value)), "compare: x != 0");
  tile::AssertOp::create(builder, loc(place), value.ssa, messageOf(call, "assertion failed"));
  return Value::nothing();
}

Value Specializer::evalInside(const ast::CallExpr &call) {
  At place = at(call.range);
  if (call.arguments.size() != 1)
    return error(place, "T0220",
                 fmt::format("'inside' takes one place x[...], found {}", countOf(call.arguments.size(), "argument")),
                 "");
  std::optional<Slice> part = evalPlace(*call.arguments[0].value, "'inside'");
  return part ? inside(*part, place) : Value::poison();
}

/// `reduce(x, axis, f)`, `scan((a, b), axis, f, reverse = true)`.
Value Specializer::evalCombination(bool isScan, const ast::CallExpr &call) {
  static constexpr const char *kParameters[] = {"x", "axis", "f", "reverse"};
  const char *name = isScan ? "scan" : "reduce";
  size_t most = isScan ? 4 : 3, next = 0;
  At place = at(call.range);
  std::vector<Argument> arguments = evalArguments(call);
  const Argument *bound[4] = {};
  for (const Argument &argument : arguments) {
    size_t slot = argument.name.empty() ? next++ : 0;
    while (!argument.name.empty() && slot < most && argument.name != kParameters[slot])
      ++slot;
    if (slot >= most || bound[slot])
      return error(argument.at, "T0220", fmt::format("'{}' has no place for this argument", name),
                   isScan ? "its arguments: x, axis, f, reverse" : "its arguments: x, axis, f");
    bound[slot] = &argument;
  }
  for (size_t i = 0; i < 3; ++i)
    if (!bound[i])
      return error(place, "T0220", fmt::format("'{}' needs the argument '{}'", name, kParameters[i]),
                   isScan ? "its arguments: x, axis, f, reverse" : "its arguments: x, axis, f");
  if (llvm::any_of(arguments, [](const Argument &a) { return a.value.isPoison(); }))
    return Value::poison();
  if (!bound[1]->value.isInteger())
    return error(bound[1]->at, "T0302",
                 fmt::format("'{}' takes a compile-time integer here, found {}", name, describe(bound[1]->value)), "");
  const Value &function = bound[2]->value;
  if (!function.isFunction())
    return error(bound[2]->at, "T0220", fmt::format("'{}' takes a function here, found {}", name, describe(function)),
                 "for instance fn (a, b) => a + b");
  if (bound[3] && !bound[3]->value.isBoolean())
    return error(bound[3]->at, "T0218", "'reverse' is true or false, known at compile time", "");
  auto combine = [&](ArrayRef<Value> left, ArrayRef<Value> right) {
    std::vector<Argument> elements;
    for (ArrayRef<Value> side : {left, right})
      for (const Value &value : side)
        elements.push_back({"", value, place});
    return function.function->body ? inlineCall(function.function, elements, place)
                                   : callBuiltin(*this, function.function->name, elements, place);
  };
  return combineAlong(isScan, bound[0]->value, bound[1]->value.integer, bound[3] && bound[3]->value.boolean, combine,
                      place);
}

/// `atomic_add(x[i], v, order = acq_rel)`, `atomic_cas(x[i], compare, v)`.  Relaxed when no order is written.
Value Specializer::evalAtomic(const std::string &name, const ast::CallExpr &call) {
  using K = tile::AtomicKind;
  static constexpr std::pair<const char *, K> kKinds[] = {
      {"atomic_add", K::Add}, {"atomic_min", K::Min}, {"atomic_max", K::Max},           {"atomic_and", K::And},
      {"atomic_or", K::Or},   {"atomic_xor", K::Xor}, {"atomic_exchange", K::Exchange}, {"atomic_cas", K::Cas}};
  using O = tile::Order;
  static constexpr std::pair<const char *, O> kOrders[] = {
      {"relaxed", O::Relaxed}, {"acquire", O::Acquire}, {"release", O::Release}, {"acq_rel", O::AcqRel}};
  At place = at(call.range);
  const auto *kind = llvm::find_if(kKinds, [&](auto entry) { return name == entry.first; });
  if (kind == std::end(kKinds))
    return error(at(call.callee->range), "T0219", fmt::format("the name '{}' is not known here", name), "");
  O order = O::Relaxed;
  std::vector<const ast::Argument *> plain;
  for (const ast::Argument &argument : call.arguments) {
    if (argument.name != "order") {
      plain.push_back(&argument);
      continue;
    }
    bool isName = argument.value->kind == ast::Expr::Kind::Name;
    const auto *found = llvm::find_if(
        kOrders, [&](auto entry) { return isName && argument.value->as<ast::NameExpr>().name == entry.first; });
    if (found == std::end(kOrders))
      return error(at(argument.value->range), "T0218", "'order' is relaxed, acquire, release or acq_rel", "");
    order = found->second;
  }
  size_t wanted = kind->second == K::Cas ? 3 : 2;
  if (plain.size() != wanted)
    return error(place, "T0220",
                 fmt::format("'{}' takes {}, found {}", name, countOf(wanted, "argument"), plain.size()), "");
  std::optional<Slice> part = evalPlace(*plain[0]->value, "an atomic");
  Value value = eval(*plain.back()->value);
  Value compare = wanted == 3 ? eval(*plain[1]->value) : Value::nothing();
  Value pad = Value::nothing();
  bool isPadded = plain[0]->value->kind == ast::Expr::Kind::Index && plain[0]->value->as<ast::IndexExpr>().pad;
  if (isPadded)
    pad = eval(*plain[0]->value->as<ast::IndexExpr>().pad);
  if (!part || value.isPoison() || compare.isPoison() || pad.isPoison())
    return Value::poison();
  return atomic(kind->second, order, *part, value, wanted == 3 ? &compare : nullptr, isPadded ? &pad : nullptr, place);
}

//===----------------------------------------------------------------------===//
// Inlining
//===----------------------------------------------------------------------===//

Value Specializer::inlineCall(const std::shared_ptr<const Function> &function, ArrayRef<Argument> arguments, At place) {
  const ast::FnBody &body = *function->body;
  if (llvm::is_contained(active, &body))
    return error(place, "T0222", fmt::format("'{}' calls itself", function->name),
                 "functions are inlined; write a loop");
  if (active.size() >= kMaxCallDepth)
    return error(place, "T0223", fmt::format("calls nest deeper than {}", kMaxCallDepth), "");
  // Arguments to parameters, by position and by name.
  std::vector<const Argument *> bound(body.params.size(), nullptr);
  size_t next = 0;
  for (const Argument &argument : arguments) {
    size_t slot = next;
    if (argument.name.empty())
      ++next;
    else
      slot = llvm::find_if(body.params, [&](const ast::FnParam &p) { return p.name == argument.name; }) -
             body.params.begin();
    if (slot >= bound.size())
      return argument.name.empty()
                 ? error(argument.at, "T0220",
                         fmt::format("'{}' takes {}, found {}", function->name, countOf(bound.size(), "argument"),
                                     arguments.size()),
                         "")
                 : error(argument.at, "T0220", fmt::format("'{}' has no parameter '{}'", function->name, argument.name),
                         "");
    if (bound[slot])
      return error(argument.at, "T0220",
                   fmt::format("the parameter '{}' of '{}' is given twice", body.params[slot].name, function->name),
                   "");
    bound[slot] = &argument;
  }
  for (auto [param, argument] : llvm::zip(body.params, bound))
    if (!argument)
      return error(place, "T0220", fmt::format("'{}' needs the argument '{}'", function->name, param.name), "");

  Environment outer;
  std::swap(outer, environment);
  int outerLoops = std::exchange(loopDepth, 0), outerValues = std::exchange(valueDepth, 0);
  for (const auto &[name, value] : function->captured)
    environment.declare(name, {value, false});
  environment.push();
  bool good = true;
  // Patterns report at the call; the body reports at its own place with the call as a note.
  for (auto [param, argument] : llvm::zip(body.params, bound)) {
    Value value = bindPattern(param, *argument, function->name);
    good &= !value.isPoison();
    environment.declare(param.name, {std::move(value), false});
  }
  Value result = Value::poison();
  if (good) {
    active.push_back(&body);
    calls.emplace_back(place, function->name);
    result = body.expression ? eval(*body.expression)
             : body.block    ? evalFunctionBlock(body.block->statements)
                             : Value::nothing();
    calls.pop_back();
    active.pop_back();
  }
  loopDepth = outerLoops;
  valueDepth = outerValues;
  std::swap(outer, environment);
  return result;
}

Value Specializer::evalFunctionBlock(const std::vector<ast::StmtPtr> &statements) {
  for (size_t i = 0; i < statements.size(); ++i) {
    const ast::Stmt &statement = *statements[i];
    bool isLast = i + 1 == statements.size();
    if (isLast && statement.kind == ast::Stmt::Kind::Return) {
      const auto &value = statement.as<ast::ReturnStmt>().value;
      return value ? eval(*value) : Value::nothing();
    }
    if (isLast && statement.kind == ast::Stmt::Kind::Expression) {
      const ast::Expr &expr = *statement.as<ast::ExprStmt>().value;
      if (expr.kind != ast::Expr::Kind::If)
        return eval(expr);
      const auto &branch = expr.as<ast::IfExpr>();
      if (branch.elseBlock && alwaysLeaves(branch.thenBlock) && alwaysLeaves(*branch.elseBlock)) {
        std::optional<bool> constant;
        mlir::Value truth = condition(*branch.condition, constant);
        if (constant) {
          environment.push();
          Value value = evalFunctionBlock((*constant ? branch.thenBlock : *branch.elseBlock).statements);
          environment.pop();
          return value;
        }
        if (!truth)
          return Value::poison();
        return control.branch(
            truth, assignedNames({&branch.thenBlock, &*branch.elseBlock}),
            [&] { return evalFunctionBlock(branch.thenBlock.statements); },
            [&] { return evalFunctionBlock(branch.elseBlock->statements); }, /*isValue=*/true, at(branch.range));
      }
    }
    if (!spend(at(statement.range)))
      return Value::poison();
    runStatement(statement);
  }
  return Value::nothing();
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// `x: T`, `x: f32`, `x: int`: checks or binds the element type.
Value Specializer::bindPatternType(const ast::FnParam &param, const Argument &argument) {
  const Value &value = argument.value;
  const std::string *name =
      param.type && param.type->kind == ast::Expr::Kind::Name ? &param.type->as<ast::NameExpr>().name : nullptr;
  if (!param.type)
    return value;
  if (!name)
    return error(at(param.type->range), "T0221", "the type of a parameter is a name", "");
  if (*name == "int" && !param.hasShape)
    return value.isInteger()
               ? value
               : error(argument.at, "T0221",
                       fmt::format("'{}: int' takes a compile-time integer, found {}", param.name, describe(value)),
                       "");
  std::optional<DType> wanted = parseDType(*name);
  if (!wanted)
    if (Variable *bound = environment.find(*name); bound && bound->value.isType())
      wanted = bound->value.dtype;
  if (wanted && (value.isNumber() || value.isBoolean()) && !param.hasShape)
    return literalOf(value, *wanted, argument.at);
  std::optional<DType> found = value.isView()   ? std::optional(value.view->dtype)
                               : value.isData() ? std::optional(value.dtype)
                                                : std::nullopt;
  if (!found)
    return error(
        argument.at, "T0221",
        fmt::format("'{}: {}' takes a tensor or a number of that type, found {}", param.name, *name, describe(value)),
        "");
  if (!wanted)
    environment.declare(*name, {Value::of(*found), false});
  else if (*wanted != *found)
    return error(argument.at, "T0221",
                 fmt::format("'{}: {}' is {} here, found {}", param.name, *name, nameOf(*wanted), describe(value)),
                 fmt::format("convert: {}(x)", nameOf(*wanted)));
  return value;
}

/// One extent of `q: T[N, D]`: binds its name or checks it.
bool Specializer::bindPatternExtent(const ast::FnParam &param, const ast::Expr &extent, size_t axis, Value &argument,
                                    At place) {
  Value found = argument.isView() ? extentOf(*argument.view, axis, place) : Value::of(argument.shape()[axis]);
  std::string origin;
  Value wanted;
  if (extent.kind == ast::Expr::Kind::Name) {
    const std::string &name = extent.as<ast::NameExpr>().name;
    Variable *bound = environment.find(name);
    origin = name;
    if (!bound) {
      if (found.isInteger())
        found.origin = name;
      environment.declare(name, {found, false});
      wanted = found;
    } else {
      wanted = bound->value;
    }
  } else {
    wanted = eval(extent);
  }
  if (wanted.isPoison())
    return false;
  if (wanted.isInteger() && found.isInteger() && wanted.integer != found.integer) {
    error(place, "T0221",
          fmt::format("dimension {} of '{}' is {} here, found {}", axis, param.name, wanted.integer, found.integer),
          "a name that occurs twice has one value");
    return false;
  }
  if (argument.isView()) {
    ViewExtent &slot = argument.view->extents[axis];
    slot.origin = origin;
    if (!slot.fixed)
      slot.value = found.ssa;
  } else {
    argument.origins[axis] = origin;
  }
  return true;
}

Value Specializer::bindPattern(const ast::FnParam &param, const Argument &argument, const std::string &function) {
  Value value = bindPatternType(param, argument);
  if (value.isPoison() || !param.hasShape)
    return value;
  size_t rank = value.isView() ? value.view->extents.size() : value.isData() ? value.shape().size() : 0;
  size_t count = param.extents.size() - param.anyLeading;
  if ((!value.isView() && !value.isData()) || (param.anyLeading ? rank < count : rank != count))
    return error(argument.at, "T0221",
                 fmt::format("'{}' of '{}' takes {}{}, found {}{}", param.name, function,
                             param.anyLeading ? "at least " : "", countOf(count, "dimension"), describe(value),
                             value.isView() ? " of " + countOf(rank, "dimension") : std::string()),
                 "index it: x[b, h] gives a view of the rest");
  // The callee's names replace the caller's, on a copy.
  if (value.isView())
    value = Value::of(View(*value.view));
  if (param.anyLeading && !bindPatternLeading(param, rank - count, value, argument.at))
    return Value::poison();
  for (size_t i = 0; i < count; ++i)
    if (!bindPatternExtent(param, *param.extents[i + param.anyLeading], rank - count + i, value, argument.at))
      return Value::poison();
  return value;
}

} // namespace tessera::frontend
