//===- ExpressionMaker.cpp - random well-typed expressions --------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "tests/fuzz/programs/ExpressionMaker.h"

#include <algorithm>

namespace tessera::fuzz {

Expr ExpressionMaker::index() {
  std::vector<int> scalars;
  if (!inFunction)
    for (int slot : visible)
      if (program.slots[size_t(slot)].type == DType::I64 && program.slots[size_t(slot)].shape.empty())
        scalars.push_back(slot);
  if (scalars.empty() || chance(30))
    return number(pick(12) - 2);
  Expr base = name(oneOf(scalars));
  if (chance(40))
    return base;
  if (chance(50))
    return operate(oneOf({Op::Add, Op::Sub}), DType::I64, {}, {base, number(pick(6))});
  Expr scaled = operate(Op::Mul, DType::I64, {}, {base, number(1 + pick(4))});
  return chance(50) ? scaled : operate(Op::Rem, DType::I64, {}, {scaled, number(2 + pick(7))});
}

bool ExpressionMaker::load(DType type, const Shape &shape, int depth, Expr &result) {
  std::vector<int> fits;
  if (!inFunction)
    for (size_t t = 0; t < program.tensors.size(); ++t)
      if (program.tensors[t].mode == ParamMode::In && program.tensors[t].type == type)
        fits.push_back(int(t));
  if (fits.empty())
    return false;
  int chosen = oneOf(fits);
  const Tensor &tensor = program.tensors[size_t(chosen)];
  size_t rank = tensor.extents.size(), windows = shape.size();
  result = make(Kind::Load, type, shape);
  result.slot = chosen;
  bool gathers = windows > rank || (windows > 0 && depth > 0 && chance(15));
  if (gathers) { // one index tile of the whole shape, or two that span it
    for (size_t d = 0; d < rank; ++d) {
      bool isTile = d == 0 || chance(50);
      result.numbers.insert(result.numbers.end(), {int64_t(isTile ? IndexKind::Tile : IndexKind::Scalar), 1, 1});
      result.in.push_back(isTile ? indexTile(shape, tensor.extents[d], depth - 1) : index());
    }
  } else {
    size_t left = windows;
    for (size_t d = 0; d < rank; ++d) {
      if (left < rank - d && (left == 0 || chance(40))) {
        result.numbers.insert(result.numbers.end(), {int64_t(IndexKind::Scalar), 1, 1});
        result.in.push_back(index());
        continue;
      }
      int64_t width = shape[windows - left--];
      if (tensor.dims[d][0] >= '0' && tensor.dims[d][0] <= '9' && tensor.extents[d] == width && chance(60)) {
        result.numbers.insert(result.numbers.end(), {int64_t(IndexKind::Whole), width, 1});
        continue;
      }
      result.numbers.insert(result.numbers.end(), {int64_t(IndexKind::Window), width, chance(20) ? 1 + pick(3) : 1});
      result.in.push_back(index());
    }
  }
  if (chance(20)) {
    result.hasPad = true;
    result.literal = tensor.isWhole ? (isFloat(type) ? ofNumber(1) : ofInteger(1)) : constant(type);
  }
  return true;
}

Expr ExpressionMaker::indexTile(const Shape &shape, int64_t extent, int depth) {
  Expr e;
  if (depth > 0) {
    e = tile(DType::I64, shape, depth);
    if (e.kind == Kind::Load) { // what lies past its end is said
      e.hasPad = true;
      e.literal = ofInteger(-1);
    }
  } else {
    Expr flat = make(Kind::Iota, DType::I64, {countOf(shape)});
    e = operate(Op::Add, DType::I64, flat.shape,
                {operate(Op::Mul, DType::I64, flat.shape, {flat, number(1 + pick(3))}), index()});
    if (shape.size() != 1)
      e = make(Kind::Reshape, DType::I64, shape, {e});
  }
  return chance(80) ? operate(Op::Rem, DType::I64, shape, {e, number(extent + pick(3))}) : e;
}

Expr ExpressionMaker::leaf(DType type, const Shape &shape) {
  std::vector<int> fits;
  for (int slot : visible)
    if (program.slots[size_t(slot)].type == type && program.slots[size_t(slot)].shape == shape)
      fits.push_back(slot);
  if (!fits.empty() && chance(50))
    return name(oneOf(fits));
  Expr loaded;
  if (chance(75) && load(type, shape, 0, loaded))
    return loaded;
  if (type == DType::I64 && shape.size() == 1 && chance(60))
    return make(Kind::Iota, type, shape);
  if (!inFunction && chance(70)) // a conversion of what there is
    for (DType other : {DType::I32, DType::F32, DType::I64})
      if (other != type && load(other, shape, 0, loaded))
        return make(Kind::Convert, type, shape, {loaded}, {0, 0});
  return full(type, shape);
}

Expr ExpressionMaker::operand(DType type, const Shape &shape, int depth) {
  if (chance(25))
    return literal(type);
  if (chance(12))
    for (auto [wide, narrow] :
         {std::pair(DType::F32, DType::F16), std::pair(DType::F32, DType::BF16), std::pair(DType::F64, DType::F32),
          std::pair(DType::I32, DType::I8), std::pair(DType::I64, DType::I32), std::pair(DType::U32, DType::U8),
          std::pair(DType::U64, DType::U16)})
      if (wide == type && chance(60)) {
        type = narrow;
        break;
      }
  Shape part = shape;
  if (!part.empty() && chance(25)) {
    if (chance(50))
      part[size_t(pick(int64_t(part.size())))] = 1;
    else
      part.erase(part.begin(), part.begin() + 1 + pick(int64_t(part.size())));
  }
  return tile(type, part, depth);
}

bool ExpressionMaker::arithmetic(DType type, const Shape &shape, int depth, Expr &result) {
  auto unary = [&](Op op) { result = operate(op, type, shape, {tile(type, shape, depth)}); };
  auto binary = [&](Op op) { result = operate(op, type, shape, pair(type, shape, depth)); };
  if (chance(20)) { // where, for every type
    std::vector<Expr> sides = pair(type, shape, depth);
    result = make(Kind::Where, type, shape, {tile(DType::Bool, shape, depth), sides[0], sides[1]});
    return true;
  }
  if (chance(20)) {
    DType from = anyType();
    if (from == type)
      return false;
    bool saturate = isInteger(type) && isInteger(from) && chance(30);
    result = make(Kind::Convert, type, shape, {tile(from, shape, depth)},
                  {saturate, isFp8(type) && isFloat(from) && chance(30)});
    return true;
  }
  if (isFp8(type))
    return false;
  if (type == DType::Bool) {
    if (chance(25)) {
      unary(Op::Not);
    } else if (chance(35)) {
      binary(oneOf({Op::BitAnd, Op::BitOr, Op::BitXor}));
      result.text = chance(50) && result.op != Op::BitXor ? "word" : "";
      if (result.in[0].kind == Kind::Literal || result.in[1].kind == Kind::Literal)
        result.text.clear(); // `x and false` is false whatever the shape of x (R11.4)
    } else {
      DType of = anyType();
      bool onlyEquality = of == DType::Bool || isFp8(of);
      result = operate(
          onlyEquality ? oneOf({Op::Eq, Op::Ne}) : oneOf({Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge}), type, shape,
          isFp8(of) ? std::vector<Expr>{tile(of, shape, depth), tile(of, shape, depth)} : pair(of, shape, depth));
      result.numbers = {int64_t(of)};
    }
    return true;
  }
  if (chance(15)) {
    result = make(Kind::Clamp, type, shape, {tile(type, shape, depth), literal(type), operand(type, shape, depth)});
    return true;
  }
  if (isFloat(type)) {
    if (chance(25)) {
      unary(oneOf({Op::Neg, Op::Abs, Op::Floor, Op::Ceil, Op::Round, Op::Trunc, Op::Sqrt}));
    } else if (chance(30)) {
      Kind kind = chance(70) ? Kind::Contract : Kind::Fma;
      std::vector<Expr> in{tile(type, shape, depth), operand(type, shape, depth), tile(type, shape, depth)};
      result = make(kind, type, shape, in, {kind == Kind::Contract ? pick(4) : 0});
    } else {
      binary(oneOf({Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Min, Op::Max, Op::MinNum, Op::MaxNum}));
    }
    return true;
  }
  if (chance(15)) {
    unary(isSignedInteger(type) ? oneOf({Op::Neg, Op::Complement, Op::Abs}) : Op::Complement);
  } else if (chance(15)) {
    DType amount = chance(70) ? type : oneOf({DType::I32, DType::I64, DType::U8});
    Expr by = chance(50) ? literal(type) : tile(amount, shape, depth);
    result = make(Kind::Shift, type, shape, {tile(type, shape, depth), by}, {pick(2)});
  } else {
    binary(oneOf({Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Rem, Op::CeilDiv, Op::BitAnd, Op::BitOr, Op::BitXor, Op::Min,
                  Op::Max}));
  }
  return true;
}

bool ExpressionMaker::reshaping(DType type, const Shape &shape, int depth, Expr &result) {
  if (shape.empty())
    return false;
  switch (pick(7)) {
  case 0: {
    Shape from = shape;
    std::reverse(from.begin(), from.end());
    if (chance(50))
      from = {countOf(shape)};
    result = make(Kind::Reshape, type, shape, {tile(type, from, depth)});
    return true;
  }
  case 1: {
    Indices order(shape.size());
    for (size_t d = 0; d < order.size(); ++d)
      order[d] = int64_t(d);
    for (size_t d = order.size(); d > 1; --d)
      std::swap(order[d - 1], order[size_t(pick(int64_t(d)))]);
    Shape from(shape.size());
    for (size_t d = 0; d < order.size(); ++d)
      from[size_t(order[d])] = shape[d];
    result = make(Kind::Permute, type, shape, {tile(type, from, depth)}, order);
    return true;
  }
  case 2: {
    if (shape.size() < 2)
      return false;
    Shape from = shape;
    std::swap(from[from.size() - 1], from[from.size() - 2]);
    Expr inner = leaf(type, from);
    if (inner.kind != Kind::Name && inner.kind != Kind::Load)
      return false;
    result = make(Kind::Transpose, type, shape, {inner});
    return true;
  }
  case 3: {
    std::vector<int64_t> ones;
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] == 1)
        ones.push_back(int64_t(d));
    if (ones.empty() || shape.size() < 2)
      return false;
    int64_t axis = oneOf(ones);
    Shape from = shape;
    from.erase(from.begin() + axis);
    Expr inner = leaf(type, from);
    if (inner.kind != Kind::Name && inner.kind != Kind::Load)
      return false;
    result = make(Kind::Expand, type, shape, {inner}, {axis});
    return true;
  }
  case 4: {
    Shape from = shape;
    from[size_t(pick(int64_t(from.size())))] = 1;
    result = make(Kind::Broadcast, type, shape, {tile(type, from, depth)});
    return true;
  }
  case 5: {
    int64_t axis = pick(int64_t(shape.size())), cut = shape[size_t(axis)];
    if (cut < 2)
      return false;
    int64_t first = 1 + pick(cut - 1);
    Shape a = shape, b = shape;
    a[size_t(axis)] = first;
    b[size_t(axis)] = cut - first;
    result = make(Kind::Concat, type, shape, {tile(type, a, depth), tile(type, b, depth)}, {axis});
    return true;
  }
  default: {
    int64_t axis = pick(int64_t(shape.size()));
    if (isFp8(type))
      return false;
    if (shape[size_t(axis)] == 2 && chance(60)) {
      Shape from = shape;
      from.erase(from.begin() + axis);
      if (from.empty())
        return false;
      result = make(Kind::Stack, type, shape, {tile(type, from, depth), tile(type, from, depth)}, {axis});
      return true;
    }
    Shape from = shape;
    from[size_t(axis)] = oneOf(pool);
    if (countOf(from) * shape[size_t(axis)] > 3000)
      return false;
    Expr positions = indexTile({shape[size_t(axis)]}, from[size_t(axis)], depth - 1);
    result = make(Kind::Take, type, shape, {tile(type, from, depth), positions}, {axis});
    return true;
  }
  }
}

bool ExpressionMaker::collecting(DType type, const Shape &shape, int depth, Expr &result) {
  int64_t axis = 0;
  switch (pick(5)) {
  case 0:
  case 1: {
    Shape from = withAxis(shape, axis, oneOf(pool));
    if (countOf(from) > 1500 || isFp8(type))
      return false;
    if (shape.empty() && chance(50)) {
      axis = -1;
      if (from[0] < 300 && chance(50))
        from.push_back(oneOf(pool));
    }
    if (type == DType::Bool) {
      result = make(Kind::Reduce, type, shape, {tile(type, from, depth)}, {axis});
      result.text = oneOf({"any", "all"});
    } else if (chance(50)) {
      std::vector<DType> types = summandsOf(type);
      if (types.empty())
        return false;
      DType of = oneOf(types);
      Expr x = tile(of, from, depth);
      result = make(Kind::Reduce, type, shape, {isFloat(of) ? whole(std::move(x), 64) : std::move(x)}, {axis});
      result.text = "sum";
      result = positiveZero(std::move(result));
    } else if (type == DType::I64 && axis >= 0) {
      DType of = anyType();
      if (isFp8(of) || of == DType::Bool)
        return false;
      result = make(Kind::Arg, type, shape, {tile(of, from, depth)}, {axis});
      result.text = oneOf({"argmax", "argmin"});
    } else {
      result = make(Kind::Reduce, type, shape, {tile(type, from, depth)}, {axis});
      result.text = isFloat(type) ? oneOf({"max", "min", "maxnum", "minnum"}) : oneOf({"max", "min"});
    }
    return true;
  }
  case 2: {
    std::vector<DType> types = summandsOf(type);
    if (shape.empty() || types.empty())
      return false;
    DType of = oneOf(types);
    if (of == DType::Bool)
      return false;
    Expr x = tile(of, shape, depth);
    result = make(Kind::Cumsum, type, shape, {isFloat(of) ? whole(std::move(x), 64) : std::move(x)},
                  {pick(int64_t(shape.size())), pick(2)});
    result = positiveZero(std::move(result));
    return true;
  }
  case 3: {
    if (shape.size() != 2)
      return false;
    std::vector<DType> types;
    if (type == DType::F32)
      types = {DType::F16, DType::BF16, DType::F32, DType::F8E4M3, DType::F8E5M2};
    else if (type == DType::F64 || type == DType::I64)
      types = {type};
    else if (type == DType::I32)
      types = {DType::I8, DType::I8, DType::I32, DType::I16};
    if (types.empty())
      return false;
    DType of = oneOf(types);
    int64_t k = oneOf(pool);
    if (shape[0] * shape[1] * k > 40000)
      return false;
    Expr a, b;
    if (isFp8(of)) { // arithmetic on fp8 needs a conversion, so the whole numbers are made wider
      a = make(Kind::Convert, of, {shape[0], k}, {whole(tile(DType::F32, {shape[0], k}, depth), 8)}, {0, 0});
      b = make(Kind::Convert, of, {k, shape[1]}, {whole(tile(DType::F16, {k, shape[1]}, depth), 8)}, {0, 0});
    } else {
      a = tile(of, {shape[0], k}, depth);
      b = tile(of, {k, shape[1]}, depth);
      if (isFloat(of)) {
        a = whole(std::move(a), 8);
        b = whole(std::move(b), 8);
      }
    }
    result = make(Kind::Dot, type, shape, {a, b}, {of == DType::F32 && chance(40)});
    result = positiveZero(std::move(result));
    return true;
  }
  default: {
    if (inFunction || program.functions.size() >= 3 || isFp8(type))
      return false;
    Function function;
    std::vector<Expr> arguments;
    for (int64_t i = 0, n = 1 + pick(2); i < n; ++i) {
      DType of = i == 0 || chance(60) ? type : oneOf({DType::I32, DType::F32, DType::Bool});
      arguments.push_back(tile(of, shape, depth));
      function.parameters.push_back(fresh("a", of, shape));
    }
    function.name = fmt::format("f{}", program.functions.size());
    std::vector<int> outer = function.parameters;
    std::swap(outer, visible);
    inFunction = true;
    function.body = tile(type, shape, 2);
    inFunction = false;
    std::swap(outer, visible);
    result = make(Kind::Call, type, shape, std::move(arguments), {int64_t(program.functions.size())});
    program.functions.push_back(std::move(function));
    return true;
  }
  }
}

} // namespace tessera::fuzz
