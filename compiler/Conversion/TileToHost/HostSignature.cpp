//===- HostSignature.cpp - arguments and coordinates of a host kernel ----------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Unpacks the slots of runtime/Image/KernelImage.h, computes extents and the grid from launch expressions, and turns a program's number into its coordinates.
//
#include "compiler/Conversion/TileToHost/Lowering.h"
#include "runtime/Image/Expr.h"

using namespace mlir;
using namespace tessera;

/// Integer launch expressions, by the rules of the language.
Value HostLowering::emitTree(const Expr &expression) {
  if (expression.kind == Expr::Kind::Integer)
    return i64(expression.integer);
  if (expression.kind == Expr::Kind::Symbol)
    return symbols.lookup(expression.name);
  SmallVector<Value> v;
  for (const Expr &operand : expression.operands) {
    v.push_back(emitTree(operand));
    if (!v.back())
      return {};
  }
  const std::string &op = expression.name;
  if (v.size() == 1 && op == "neg")
    return arith::SubIOp::create(b, i64(0), v[0]);
  if (v.size() != 2)
    return {};
  if (op == "+")
    return arith::AddIOp::create(b, v[0], v[1]);
  if (op == "-")
    return arith::SubIOp::create(b, v[0], v[1]);
  if (op == "*")
    return arith::MulIOp::create(b, v[0], v[1]);
  if (op == "min")
    return arith::MinSIOp::create(b, v[0], v[1]);
  if (op == "max")
    return arith::MaxSIOp::create(b, v[0], v[1]);
  if (op != "/" && op != "%" && op != "ceildiv")
    return {};
  auto is = [&](Value x, int64_t y) -> Value { return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, i64(y)); };
  auto select = [&](Value c, Value x, Value y) -> Value { return arith::SelectOp::create(b, c, x, y); };
  Value zero = is(v[1], 0), minusOne = is(v[1], -1);
  Value divisor = select(arith::OrIOp::create(b, zero, minusOne), i64(1), v[1]);
  Value quotient = arith::DivSIOp::create(b, v[0], divisor);
  Value remainder = arith::SubIOp::create(b, v[0], arith::MulIOp::create(b, quotient, divisor));
  Value inexact = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, remainder, i64(0));
  Value differ =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, arith::XOrIOp::create(b, remainder, divisor), i64(0));
  Value down = arith::AndIOp::create(b, inexact, differ);
  Value floor = arith::SubIOp::create(b, quotient, arith::ExtUIOp::create(b, b.getI64Type(), down));
  if (op == "%") {
    Value rest = arith::SubIOp::create(b, v[0], arith::MulIOp::create(b, floor, divisor));
    return select(zero, v[0], select(minusOne, i64(0), rest));
  }
  Value result = floor;
  if (op == "ceildiv")
    result = arith::AddIOp::create(b, floor, arith::ExtUIOp::create(b, b.getI64Type(), inexact));
  return select(zero, i64(0), select(minusOne, arith::SubIOp::create(b, i64(0), v[0]), result));
}

Value HostLowering::emitExpression(Attribute attr) {
  StringRef text = cast<StringAttr>(attr).getValue();
  Result<Expr> parsed = Expr::parse(std::string_view(text.data(), text.size()));
  Value value = parsed ? emitTree(*parsed) : Value();
  if (!value)
    kernel.emitError() << "internal error: the launch expression '" << text << "' cannot be computed on the host";
  return value;
}

LogicalResult HostLowering::createFunction() {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64Type = b.getI64Type();
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {pointer, i64Type, i64Type, pointer});
  function = LLVM::LLVMFuncOp::create(b, kernel.getSymName(), type);
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  scratch = entry->getArgument(3);
  int64_t slot = 0;
  auto take = [&](Type wanted) -> Value {
    Value at = LLVM::GEPOp::create(b, pointer, i64Type, entry->getArgument(0), ArrayRef<LLVM::GEPArg>{int32_t(slot++)});
    return LLVM::LoadOp::create(b, stored(wanted), at);
  };
  unsigned numParams = kernel.getNumParams();
  for (unsigned i = 0; i < numParams; ++i)
    if (auto view = dyn_cast<tile::ViewType>(kernel.getArgumentTypes()[i])) {
      HostView state;
      state.pointer = take(pointer);
      state.element = view.getElementType();
      for (int64_t d = 0; d < view.getRank(); ++d) {
        HostViewDim dim;
        dim.stride = take(i64Type);
        if (faults.strideIgnored && d + 1 < view.getRank())
          dim.stride = i64(1);
        state.dims.push_back(dim);
      }
      views[kernel.getArgument(i)] = state;
    }
  for (StringAttr name : kernel.getDims().getAsRange<StringAttr>())
    symbols[name.getValue()] = take(i64Type);
  for (unsigned i = 0; i < numParams; ++i) {
    Type wanted = kernel.getArgumentTypes()[i];
    if (isa<tile::ViewType>(wanted))
      continue;
    Value scalar = take(wanted);
    if (wanted.isInteger(1))
      scalar = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, scalar,
                                     arith::ConstantOp::create(b, b.getI8IntegerAttr(0)));
    scalars[kernel.getArgument(i)] = scalar;
    auto name = kernel.getArgAttrOfType<StringAttr>(i, tile::kNameAttr);
    if (!name)
      continue;
    auto dtype = kernel.getArgAttrOfType<StringAttr>(i, tile::kDTypeAttr);
    bool isUnsigned = wanted.isInteger(1) || (dtype && dtype.getValue().starts_with("u"));
    Value wide = scalar;
    if (wanted.isSignlessInteger() && wanted.getIntOrFloatBitWidth() < 64)
      wide = isUnsigned ? arith::ExtUIOp::create(b, i64Type, scalar).getResult()
                        : arith::ExtSIOp::create(b, i64Type, scalar).getResult();
    symbols[name.getValue()] = wide;
  }
  for (unsigned axis = 0; axis < kernel.getGrid().size(); ++axis)
    symbols["#" + std::to_string(axis)] = take(i64Type);
  for (unsigned i = 0; i < numParams; ++i) {
    auto view = dyn_cast<tile::ViewType>(kernel.getArgumentTypes()[i]);
    if (!view)
      continue;
    auto dims = kernel.getArgAttrOfType<ArrayAttr>(i, tile::kDimsAttr);
    for (int64_t d = 0; d < view.getRank(); ++d) {
      Value extent = view.isDynamic(d) ? emitExpression(dims[d]) : i64(view.getShape()[d]);
      if (!extent)
        return failure();
      views[kernel.getArgument(i)].dims[d].high = extent;
    }
  }
  return success();
}

LogicalResult HostLowering::createCoordinates() {
  Value rest = program;
  for (auto [axis, attr] : llvm::enumerate(kernel.getGrid())) {
    auto dictionary = cast<DictionaryAttr>(attr);
    Value count = symbols.lookup("#" + std::to_string(axis)), number = rest;
    if (axis + 1 < kernel.getGrid().size()) {
      number = arith::RemUIOp::create(b, rest, count);
      rest = arith::DivUIOp::create(b, rest, count);
    }
    Value lo = emitExpression(dictionary.get("lo")), step = emitExpression(dictionary.get("step"));
    if (!lo || !step)
      return failure();
    Value distance = arith::MulIOp::create(b, number, step);
    if (faults.gridStepOff)
      distance = arith::AddIOp::create(b, distance, i64(1));
    scalars[kernel.getCoordinate(axis)] = arith::AddIOp::create(b, lo, distance);
  }
  return success();
}
