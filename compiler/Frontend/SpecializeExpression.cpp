//===- SpecializeExpression.cpp - expressions ----------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "compiler/Frontend/Exits.h"
#include "compiler/Frontend/Specializer.h"

#include "dialect/Tile/TileDialect.h"

#include <fmt/format.h>

using namespace mlir;

namespace tessera::frontend {

/// Nodes that one kernel may evaluate: inlining and static loops expand programs, and no program may expand without
/// end.
static constexpr int64_t kMaxWork = 400'000;

At Specializer::at(const ast::SourceRange &range) const {
  return {range.line, range.column, std::max<int>(1, int(range.end) - int(range.begin)), range.file};
}

bool Specializer::spend(At place) {
  if (++work < kMaxWork)
    return true;
  if (work == kMaxWork)
    error(place, "T0223", fmt::format("the kernel expands to more than {} expressions", kMaxWork),
          "nest fewer calls, or use a loop");
  return false;
}

static Operator operatorOf(ast::BinaryOp op) {
  using B = ast::BinaryOp;
  switch (op) {
  case B::Equal:
    return Operator::Eq;
  case B::NotEqual:
    return Operator::Ne;
  case B::Less:
    return Operator::Lt;
  case B::LessEqual:
    return Operator::Le;
  case B::Greater:
    return Operator::Gt;
  case B::GreaterEqual:
    return Operator::Ge;
  case B::BitOr:
    return Operator::BitOr;
  case B::BitXor:
    return Operator::BitXor;
  case B::BitAnd:
    return Operator::BitAnd;
  case B::ShiftLeft:
    return Operator::Shl;
  case B::ShiftRight:
    return Operator::Shr;
  case B::Sub:
    return Operator::Sub;
  case B::Mul:
    return Operator::Mul;
  case B::Div:
    return Operator::Div;
  case B::Rem:
    return Operator::Rem;
  default:
    return Operator::Add;
  }
}

Value Specializer::eval(const ast::Expr &expr) {
  using K = ast::Expr::Kind;
  At place = at(expr.range);
  if (!spend(place))
    return Value::poison();
  switch (expr.kind) {
  case K::Error:
    ++errors;
    return Value::poison(); // the parser has said why
  case K::Integer: {
    uint64_t value = expr.as<ast::IntegerExpr>().value;
    if (value > uint64_t(INT64_MAX))
      return error(place, "T0207", fmt::format("the integer {} is outside 64 bits", value), "");
    return Value::of(int64_t(value));
  }
  case K::Float:
    return Value::of(expr.as<ast::FloatExpr>().value);
  case K::Bool:
    return Value::of(expr.as<ast::BoolExpr>().value);
  case K::String:
    return error(place, "T0212", "a string is not a value", "strings are the messages of assert and static_assert");
  case K::None:
    return Value::none();
  case K::Name:
    return evalName(expr.as<ast::NameExpr>());
  case K::Unary:
    return evalUnary(expr.as<ast::UnaryExpr>());
  case K::Binary:
    return evalBinary(expr.as<ast::BinaryExpr>());
  case K::Call:
    return evalCall(expr.as<ast::CallExpr>());
  case K::Index:
    return evalIndex(expr.as<ast::IndexExpr>());
  case K::Member: {
    const auto &member = expr.as<ast::MemberExpr>();
    Value base = eval(*member.base);
    if (base.isPoison())
      return base;
    if (member.name != "T")
      return error(at(member.nameRange), "T0219", fmt::format("there is no '.{}'", member.name),
                   "the only one is .T, the transpose");
    return transpose(base, at(member.nameRange));
  }
  case K::Tuple:
  case K::List: {
    const auto &parts = expr.kind == K::Tuple ? expr.as<ast::TupleExpr>().elements : expr.as<ast::ListExpr>().elements;
    std::vector<Value> elements;
    for (const ast::ExprPtr &part : parts) {
      Value element = eval(*part);
      // In a shape, a tuple stands for its elements: [S, 4].
      if (expr.kind == K::List && element.isTuple())
        llvm::append_range(elements, element.elements);
      else
        elements.push_back(std::move(element));
    }
    if (llvm::any_of(elements, [](const Value &v) { return v.isPoison(); }))
      return Value::poison();
    return Value::of(std::move(elements));
  }
  case K::If:
    return evalIf(expr.as<ast::IfExpr>());
  case K::Block: {
    environment.push();
    Value value = Value::nothing();
    runBlock(expr.as<ast::BlockExpr>().block, &value);
    environment.pop();
    return value;
  }
  case K::Closure:
    return evalClosure(expr.as<ast::ClosureExpr>());
  }
  return Value::poison();
}

bool Specializer::isShadowed(const std::string &name) {
  if (environment.find(name) || file.findFunction(name))
    return true;
  return llvm::any_of(file.constants, [&](const ast::Constant &c) { return c.name == name; });
}

Value Specializer::evalName(const ast::NameExpr &name) {
  if (Variable *variable = environment.find(name.name))
    return variable->value;
  if (auto known = constants.find(name.name); known != constants.end()) {
    if (known->second.kind == Value::Kind::Nothing)
      known->second =
          error(at(name.range), "T0222", fmt::format("the constant '{}' is defined by itself", name.name), "");
    return known->second;
  }
  for (const ast::Constant &constant : file.constants) {
    if (constant.name != name.name)
      continue;
    constants[name.name] = Value::nothing(); // until it is known
    Environment outer;
    std::swap(outer, environment);
    Value value = eval(*constant.value);
    std::swap(outer, environment);
    if (value.isData() || value.isView())
      value = error(at(constant.range), "T0408", fmt::format("'{}' is not known at compile time", constant.name), "");
    return constants[name.name] = value;
  }
  if (const ast::Function *function = file.findFunction(name.name))
    return Value::of(fileFunction(*function));
  if (std::optional<DType> type = parseDType(name.name))
    return Value::of(*type);
  if (std::optional<Value> constant = builtinConstant(name.name))
    return *constant;
  if (isCallable(name.name))
    return Value::of(builtinFunction(name.name));
  if (file.findKernel(name.name))
    return error(at(name.range), "T0219", fmt::format("'{}' is a kernel, which only an op calls", name.name),
                 "share the code in a fn");
  return error(at(name.range), "T0219", fmt::format("the name '{}' is not known here", name.name), "");
}

Value Specializer::evalUnary(const ast::UnaryExpr &unary) {
  At place = at(unary.range);
  if (unary.op == ast::UnaryOp::Negate && unary.operand->kind == ast::Expr::Kind::Integer)
    if (unary.operand->as<ast::IntegerExpr>().value == uint64_t(1) << 63)
      return Value::of(INT64_MIN);
  Value operand = eval(*unary.operand);
  if (operand.isPoison())
    return operand;
  switch (unary.op) {
  case ast::UnaryOp::Negate:
    return negate(operand, place);
  case ast::UnaryOp::BitNot:
    return complement(operand, place);
  case ast::UnaryOp::Not:
    return logicalNot(operand, place);
  }
  return Value::poison();
}

Value Specializer::evalLogical(const ast::BinaryExpr &binary) {
  bool isAnd = binary.op == ast::BinaryOp::And;
  Value left = eval(*binary.left);
  // Decision 15: a constant on the left may decide alone; the right side is then not typed.
  if (left.isBoolean() && left.boolean != isAnd)
    return left;
  Value right = eval(*binary.right);
  return logical(isAnd, std::move(left), std::move(right), at(binary.opRange));
}

Value Specializer::evalBinary(const ast::BinaryExpr &binary) {
  At place = at(binary.opRange);
  switch (binary.op) {
  case ast::BinaryOp::And:
  case ast::BinaryOp::Or:
    return evalLogical(binary);
  case ast::BinaryOp::Add:
  case ast::BinaryOp::Sub:
    return evalSum(binary.op == ast::BinaryOp::Sub, {binary.left.get(), {}}, {binary.right.get(), {}}, place);
  case ast::BinaryOp::MatMul: {
    Value left = eval(*binary.left), right = eval(*binary.right);
    return dot(left, right, std::nullopt, tile::Precision::Exact, place);
  }
  default:
    break;
  }
  Value left = eval(*binary.left), right = eval(*binary.right);
  return Emitter::binary(operatorOf(binary.op), std::move(left), std::move(right), place);
}

//===----------------------------------------------------------------------===//
// Sums: contraction and accumulation
//===----------------------------------------------------------------------===//

static const ast::BinaryExpr *asBinary(const ast::Expr *expr, ast::BinaryOp op) {
  if (!expr || expr->kind != ast::Expr::Kind::Binary || expr->parenthesized)
    return nullptr;
  const auto &binary = expr->as<ast::BinaryExpr>();
  return binary.op == op ? &binary : nullptr;
}

Value Specializer::evalOperand(const Operand &operand) { return operand.value ? *operand.value : eval(*operand.expr); }

Value Specializer::contract(const Value &x, const Value &y, const Value &addend, bool isSub, bool productIsLeft,
                            At place) {
  if (x.isPoison() || y.isPoison() || addend.isPoison())
    return Value::poison();
  auto isArithmetic = [](const Value &v) { return v.isNumber() || v.isData(); };
  bool fuses = isArithmetic(x) && isArithmetic(y) && isArithmetic(addend) && (x.isData() || y.isData());
  if (fuses) {
    // The product is rounded in its own type; it fuses only where the sum has that type.
    Value factors[] = {x, y};
    std::optional<DType> type = commonType(factors, place);
    if (!type)
      return Value::poison();
    fuses =
        (*type == DType::F32 || *type == DType::F64) && (!addend.isData() || promote(*type, addend.dtype).type == type);
  }
  if (fuses)
    return multiplyAdd(x, y, addend, isSub && !productIsLeft, isSub && productIsLeft, place);
  Value product = Emitter::binary(Operator::Mul, x, y, place);
  Operator op = isSub ? Operator::Sub : Operator::Add;
  return productIsLeft ? Emitter::binary(op, product, addend, place) : Emitter::binary(op, addend, product, place);
}

/// `acc + a @ b` (either order, `dot` too): one product that starts from acc.  nullopt when neither side is such a
/// product; the sum of what was evaluated when the shapes or types do not fit.
std::optional<Value> Specializer::accumulate(const Operand &left, const Operand &right, At place) {
  auto isDotCall = [&](const ast::Expr *expr) {
    if (!expr || expr->kind != ast::Expr::Kind::Call || expr->parenthesized)
      return false;
    const ast::Expr &callee = *expr->as<ast::CallExpr>().callee;
    return callee.kind == ast::Expr::Kind::Name && callee.as<ast::NameExpr>().name == "dot" && !isShadowed("dot");
  };
  auto isProduct = [&](const ast::Expr *expr) { return asBinary(expr, ast::BinaryOp::MatMul) || isDotCall(expr); };
  bool onRight = isProduct(right.expr);
  if (!onRight && !isProduct(left.expr))
    return std::nullopt;
  const Operand &productSide = onRight ? right : left, &accSide = onRight ? left : right;
  // Of `x * y + a @ b`, the factors are kept: if the shapes do not let `@` start from the product, it is contracted
  // instead.
  const ast::BinaryExpr *factors = asBinary(accSide.expr, ast::BinaryOp::Mul);
  Value x, y, acc;
  if (factors) {
    x = eval(*factors->left);
    y = eval(*factors->right);
    acc = Emitter::binary(Operator::Mul, x, y, at(factors->opRange));
  } else {
    acc = evalOperand(accSide);
  }
  Value product = eval(*productSide.expr);
  if (acc.isPoison() || product.isPoison())
    return Value::poison();
  auto op = product.isData() ? product.ssa.getDefiningOp<tile::DotOp>() : tile::DotOp();
  if (op && acc.isTile() && acc.dtype == product.dtype && acc.ssa.getType() == product.ssa.getType()) {
    for (size_t d = 0; d < acc.origins.size(); ++d)
      warnOrigins(acc.origins[d], product.origins[d], acc.shape()[d], place);
    mlir::Value zero = op.getAcc();
    op.getAccMutable().assign(acc.ssa);
    if (zero.use_empty() && zero.getDefiningOp<arith::ConstantOp>())
      zero.getDefiningOp()->erase();
    return product;
  }
  if (factors)
    return contract(x, y, product, false, onRight, place);
  return onRight ? Emitter::binary(Operator::Add, acc, product, place)
                 : Emitter::binary(Operator::Add, product, acc, place);
}

Value Specializer::evalSum(bool isSub, const Operand &left, const Operand &right, At place) {
  if (!isSub)
    if (std::optional<Value> sum = accumulate(left, right, place))
      return *sum;
  if (const ast::BinaryExpr *product = asBinary(left.expr, ast::BinaryOp::Mul)) {
    Value x = eval(*product->left), y = eval(*product->right);
    Value addend = evalOperand(right);
    return contract(x, y, addend, isSub, true, place);
  }
  Value first = evalOperand(left);
  if (const ast::BinaryExpr *product = asBinary(right.expr, ast::BinaryOp::Mul)) {
    Value x = eval(*product->left), y = eval(*product->right);
    return contract(x, y, first, isSub, false, place);
  }
  return Emitter::binary(isSub ? Operator::Sub : Operator::Add, first, evalOperand(right), place);
}

//===----------------------------------------------------------------------===//
// if, closures
//===----------------------------------------------------------------------===//

Value Specializer::evalIf(const ast::IfExpr &branch) {
  if (!branch.elseBlock)
    return error(at(branch.range), "T0209", "an 'if' used as a value needs 'else'", "");
  std::optional<bool> constant;
  mlir::Value truth = condition(*branch.condition, constant);
  auto side = [&](const ast::Block &block) {
    Value value = Value::nothing();
    ++valueDepth;
    Flow flow = runBlock(block, &value);
    --valueDepth;
    if (flow != Flow::Next)
      return Value::poison(); // reported
    if (value.kind == Value::Kind::Nothing)
      return error(at(block.range), "T0209", "a branch of an 'if' used as a value gives none",
                   "end it with an expression");
    return value;
  };
  if (constant) {
    environment.push();
    Value value = side(*constant ? branch.thenBlock : *branch.elseBlock);
    environment.pop();
    return value;
  }
  if (!truth)
    return Value::poison();
  return control.branch(
      truth, assignedNames({&branch.thenBlock, &*branch.elseBlock}), [&] { return side(branch.thenBlock); },
      [&] { return side(*branch.elseBlock); }, /*isValue=*/true, at(branch.range));
}

Value Specializer::evalClosure(const ast::ClosureExpr &closure) {
  for (const ast::FnParam &param : closure.body.params)
    if (environment.find(param.name))
      return error(at(param.range), "T0228", fmt::format("'{}' has a meaning here already", param.name),
                   "choose another name for the parameter");
  auto function = std::make_shared<Function>();
  function->name = "fn";
  function->body = &closure.body;
  function->captured = environment.snapshot();
  return Value::of(std::shared_ptr<const Function>(std::move(function)));
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Evaluates base and entries.  Gives the base; poison after an error.
Value Specializer::evalIndices(const ast::IndexExpr &index, std::vector<Index> &indices) {
  Value base = eval(*index.base);
  bool good = !base.isPoison();
  for (const ast::IndexEntry &entry : index.entries) {
    Index result;
    result.at = at(entry.range);
    switch (entry.kind) {
    case ast::IndexEntry::Kind::Scalar:
      result.value = eval(*entry.first);
      if (result.value.isTuple()) {
        // A tuple stands for its elements: x[s, c].
        for (const Value &element : result.value.elements) {
          result.value = element;
          result.kind = element.isTile() ? Index::Kind::Tile : Index::Kind::Scalar;
          indices.push_back(result);
          good &= !element.isPoison();
        }
        continue;
      }
      result.kind = result.value.isTile()   ? Index::Kind::Tile
                    : result.value.isNone() ? Index::Kind::NewAxis
                                            : Index::Kind::Scalar;
      if (result.value.isTile() && entry.first->kind == ast::Expr::Kind::Index)
        if (auto load = result.value.ssa.getDefiningOp<tile::LoadOp>())
          result.isUnpaddedSlice = !load.getPad();
      good &= !result.value.isPoison();
      break;
    case ast::IndexEntry::Kind::Width:
      result.kind = Index::Kind::Window;
      result.value = eval(*entry.first);
      result.width = eval(*entry.second);
      if (entry.step)
        result.step = eval(*entry.step);
      good &= !result.value.isPoison() && !result.width.isPoison() && !result.step.isPoison();
      break;
    case ast::IndexEntry::Kind::Range:
      result.kind = Index::Kind::Range;
      result.value = eval(*entry.first);
      result.high = eval(*entry.second);
      good &= !result.value.isPoison() && !result.high.isPoison();
      break;
    case ast::IndexEntry::Kind::Whole:
      result.kind = Index::Kind::Whole;
      break;
    case ast::IndexEntry::Kind::Rest:
      result.kind = Index::Kind::All;
      break;
    case ast::IndexEntry::Kind::NewAxis:
      result.kind = Index::Kind::NewAxis;
      break;
    }
    indices.push_back(std::move(result));
  }
  return good ? base : Value::poison();
}

Value Specializer::evalIndex(const ast::IndexExpr &index) {
  std::vector<Index> indices;
  Value base = evalIndices(index, indices);
  if (base.isPoison())
    return base;
  At place = at(index.range);
  if (base.isTile())
    return index.pad ? error(at(index.pad->range), "T0304", "'pad' belongs to slices of memory, found it on a tile", "")
                     : indexTile(base, indices, place);
  if (!base.isView())
    return error(place, "T0304", fmt::format("only tensors and tiles have indices, found {}", describe(base)), "");
  if (isViewIndexing(*base.view, indices)) {
    if (index.pad)
      return error(at(index.pad->range), "T0304", "'pad' belongs to a load, found it on a view",
                   "write it where the view is sliced");
    return subview(*base.view, indices, place);
  }
  std::optional<Slice> part = slice(*base.view, indices, place);
  if (!part)
    return Value::poison();
  if (!index.pad)
    return load(*part, nullptr, place);
  Value pad = eval(*index.pad);
  return pad.isPoison() ? pad : load(*part, &pad, at(index.pad->range));
}

/// The slice that `x[...]` names, without loading it.
std::optional<Slice> Specializer::evalPlace(const ast::Expr &expr, const char *what) {
  if (expr.kind != ast::Expr::Kind::Index) {
    if (Value value = eval(expr); !value.isPoison())
      error(at(expr.range), "T0212", fmt::format("{} takes a place x[...], found {}", what, describe(value)), "");
    return std::nullopt;
  }
  const auto &index = expr.as<ast::IndexExpr>();
  std::vector<Index> indices;
  Value base = evalIndices(index, indices);
  if (base.isPoison())
    return std::nullopt;
  if (!base.isView()) {
    error(at(index.range), "T0212", fmt::format("{} takes a place x[...] in memory, found {}", what, describe(base)),
          "");
    return std::nullopt;
  }
  if (isViewIndexing(*base.view, indices)) {
    error(at(index.range), "T0304",
          fmt::format("{} takes one index for each dimension of '{}', found {} for {}", what, base.view->param,
                      indices.size(), base.view->extents.size()),
          "");
    return std::nullopt;
  }
  return slice(*base.view, indices, at(index.range));
}

} // namespace tessera::frontend
