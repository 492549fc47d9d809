//===- KernelLowering.cpp - signature, control flow and elementwise ops ---------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "compiler/Conversion/TileGPUToNVVM/Lowering.h"
#include "compiler/Transforms/Passes.h"
#include "runtime/Image/Expr.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::tile_gpu;

/// Registers of a piece of an elementwise chain.  Long enough for packed 16-bit arithmetic and to hide latency, short enough that a function with
/// tens of temporaries does not spill.
static constexpr int64_t kChainPiece = 16;

KernelLowering::KernelLowering(tile::KernelOp kernel, OpBuilder &builder)
    : kernel(kernel), b(kernel.getLoc(), builder) {
  if (auto attr = kernel->getAttrOfType<IntegerAttr>(kWarpsAttr))
    warps = attr.getInt();
}

//===----------------------------------------------------------------------===//
// Building blocks
//===----------------------------------------------------------------------===//

Value KernelLowering::i32(int64_t value) {
  return LLVM::ConstantOp::create(b, b.getI32Type(), b.getI32IntegerAttr(value));
}
Value KernelLowering::i64(int64_t value) {
  return LLVM::ConstantOp::create(b, b.getI64Type(), b.getI64IntegerAttr(value));
}

Value KernelLowering::add(Value a, Value c) {
  if (!a || !c)
    return a ? a : c;
  return LLVM::AddOp::create(b, a, c);
}

Value KernelLowering::addConstant(Value a, int64_t c) {
  if (c == 0)
    return a;
  return LLVM::AddOp::create(b, a, a.getType().isInteger(64) ? i64(c) : i32(c));
}

Value KernelLowering::mulConstant(Value a, int64_t c) {
  if (!a || c == 1)
    return a;
  return LLVM::MulOp::create(b, a, a.getType().isInteger(64) ? i64(c) : i32(c));
}

Value KernelLowering::inlineAsm(ArrayRef<Type> results, ArrayRef<Value> operands, const std::string &text,
                                const std::string &constraints, bool sideEffects) {
  Type type;
  if (results.size() == 1)
    type = results[0];
  else if (results.size() > 1)
    type = LLVM::LLVMStructType::getLiteral(b.getContext(), results);
  auto dialect = LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT);
  auto op = LLVM::InlineAsmOp::create(b, type ? TypeRange(type) : TypeRange(), operands, StringRef(text),
                                      StringRef(constraints), sideEffects, false,
                                      LLVM::tailcallkind::TailCallKind::None, dialect, ArrayAttr());
  return type ? op->getResult(0) : Value();
}

Value KernelLowering::structElement(Value aggregate, int64_t index) {
  return isa<LLVM::LLVMStructType>(aggregate.getType()) ? LLVM::ExtractValueOp::create(b, aggregate, index).getResult()
                                                        : aggregate;
}

Value KernelLowering::extract(Value vector, int64_t index) {
  if (!isa<VectorType>(vector.getType()))
    return vector;
  return LLVM::ExtractElementOp::create(b, vector, i32(index));
}

Value KernelLowering::slice(Value vector, int64_t begin, int64_t count) {
  auto type = cast<VectorType>(vector.getType());
  if (count == 1)
    return extract(vector, begin);
  if (count == type.getNumElements())
    return vector;
  SmallVector<int32_t> mask;
  for (int64_t i = 0; i < count; ++i)
    mask.push_back(begin + i);
  return LLVM::ShuffleVectorOp::create(b, vector, vector, mask);
}

Value KernelLowering::assemble(Type type, ArrayRef<Value> elements) {
  if (!isa<VectorType>(type))
    return elements[0];
  Value result = LLVM::UndefOp::create(b, type);
  int64_t at = 0;
  for (Value element : elements) {
    auto part = dyn_cast<VectorType>(element.getType());
    for (int64_t i = 0, e = part ? part.getNumElements() : 1; i < e; ++i)
      result = LLVM::InsertElementOp::create(b, result, extract(element, i), i32(at++));
  }
  return result;
}

/// Vectors of one element type end to end.
Value KernelLowering::concatenate(ArrayRef<Value> parts) {
  int64_t count = 0;
  for (Value part : parts)
    count += cast<VectorType>(part.getType()).getNumElements();
  return assemble(VectorType::get({count}, cast<VectorType>(parts[0].getType()).getElementType()), parts);
}

Value KernelLowering::splat(Value scalar, int64_t count) {
  auto type = VectorType::get({count}, scalar.getType());
  Value undef = LLVM::UndefOp::create(b, type);
  Value first = LLVM::InsertElementOp::create(b, undef, scalar, i32(0));
  return count == 1 ? first
                    : LLVM::ShuffleVectorOp::create(b, first, undef, SmallVector<int32_t>(count, 0)).getResult();
}

Value KernelLowering::bitcast(Value value, Type type) {
  return value.getType() == type ? value : LLVM::BitcastOp::create(b, type, value).getResult();
}

Value KernelLowering::intrinsic(Type result, StringRef name, ArrayRef<Value> operands) {
  return LLVM::CallIntrinsicOp::create(b, result, b.getStringAttr(name), operands).getResult(0);
}

Type KernelLowering::convertType(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile)
    return type;
  return VectorType::get({layoutOf(tile).numRegisters()}, tile.getElementType());
}

/// Exclusive or of the bases along `axis` of the set bits of `number`; runs of bits with doubling bases become one shift.
static Value bitsToCoordinate(ImplicitLocOpBuilder &b, Value number, const Bases &bases, int64_t axis) {
  Value sum;
  auto constant = [&](int64_t v) { return LLVM::ConstantOp::create(b, b.getI32Type(), b.getI32IntegerAttr(v)); };
  for (size_t bit = 0; bit < bases.size();) {
    int64_t basis = bases[bit][axis];
    size_t run = 1;
    if (basis == 0) {
      ++bit;
      continue;
    }
    while (bit + run < bases.size() && bases[bit + run][axis] == basis << run)
      ++run;
    Value part = number;
    int64_t left = llvm::Log2_64(basis);
    if (bit)
      part = LLVM::LShrOp::create(b, part, constant(bit));
    part = LLVM::AndOp::create(b, part, constant((int64_t(1) << run) - 1));
    if (left)
      part = LLVM::ShlOp::create(b, part, constant(left));
    sum = sum ? LLVM::OrOp::create(b, sum, part).getResult() : part;
    bit += run;
  }
  return sum;
}

Value KernelLowering::threadBase(const Dist &layout, int64_t axis) {
  auto [it, fresh] = bases.try_emplace({layout.attr(b.getContext()), axis}, Value());
  if (!fresh)
    return it->second;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(marker);
  Value fromLane = bitsToCoordinate(b, lane, layout.lanes, axis);
  Value fromWarp = bitsToCoordinate(b, warp, layout.warps, axis);
  Value result = fromLane && fromWarp ? LLVM::OrOp::create(b, fromLane, fromWarp).getResult()
                 : fromLane           ? fromLane
                                      : fromWarp;
  bases[{layout.attr(b.getContext()), axis}] = result;
  return result;
}

Value KernelLowering::ownsElements(const Dist &layout) {
  auto [it, fresh] = owners.try_emplace(layout.attr(b.getContext()), Value());
  if (!fresh)
    return it->second;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(marker);
  Value result;
  auto require = [&](Value number, int64_t mask) {
    if (!mask)
      return;
    Value bits = LLVM::AndOp::create(b, number, i32(mask));
    Value zero = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, bits, i32(0));
    result = result ? LLVM::AndOp::create(b, result, zero).getResult() : zero;
  };
  require(lane, layout.freeLanes());
  require(warp, layout.freeWarps());
  owners[layout.attr(b.getContext())] = result;
  return result;
}

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

FailureOr<LLVM::LLVMFuncOp> KernelLowering::lower() {
  if (failed(createFunction()) || failed(lowerBlock(kernel.getBody().front())))
    return failure();
  LLVM::ReturnOp::create(b, ValueRange());
  marker->erase();
  return function;
}

static SmallVector<int64_t> divisorsOf(tile::KernelOp kernel, unsigned index, StringRef name, int64_t rank) {
  if (auto attr = kernel.getArgAttrOfType<DenseI64ArrayAttr>(index, name))
    return SmallVector<int64_t>(attr.asArrayRef());
  return SmallVector<int64_t>(rank, 1);
}

LogicalResult KernelLowering::createFunction() {
  MLIRContext *context = b.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context, 1), i64Type = b.getI64Type();
  SmallVector<Type> types;
  unsigned numParams = kernel.getNumParams();
  for (unsigned i = 0; i < numParams; ++i)
    if (auto view = dyn_cast<tile::ViewType>(kernel.getArgumentTypes()[i])) {
      types.push_back(pointer);
      types.append(view.getRank(), i64Type);
    }
  types.append(kernel.getDims().size(), i64Type);
  for (unsigned i = 0; i < numParams; ++i)
    if (!isa<tile::ViewType>(kernel.getArgumentTypes()[i])) {
      Type type = kernel.getArgumentTypes()[i];
      types.push_back(type.isInteger(1) ? b.getI8Type() : type);
    }
  types.append(kernel.getGrid().size(), i64Type);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types);
  function = LLVM::LLVMFuncOp::create(b, kernel.getSymName(), type);
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), b.getDenseI32ArrayAttr({int32_t(warps * 32), 1, 1}));
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  marker = LLVM::UndefOp::create(b, b.getI32Type());
  b.setInsertionPoint(marker);
  threadId = NVVM::ThreadIdXOp::create(b, b.getI32Type());
  lane = LLVM::AndOp::create(b, threadId, i32(31));
  warp = LLVM::LShrOp::create(b, threadId, i32(5));
  // Slots, in the order of KernelImage.h.
  unsigned slot = 0;
  for (unsigned i = 0; i < numParams; ++i)
    if (auto view = dyn_cast<tile::ViewType>(kernel.getArgumentTypes()[i])) {
      auto param = std::make_unique<ParamView>();
      param->pointer = entry->getArgument(slot++);
      if (auto unit = kernel.getArgAttrOfType<IntegerAttr>(i, tile::kUnitDimAttr))
        param->unitDim = unit.getInt();
      if (auto align = kernel.getArgAttrOfType<IntegerAttr>(i, tile::kAlignAttr))
        param->align = align.getInt();
      param->readOnly = kernel.getArgAttrOfType<StringAttr>(i, tile::kModeAttr).getValue() == "in";
      param->elementBytes = elementBytes(view.getElementType());
      param->strideDivisors = divisorsOf(kernel, i, tile::kStrideDivAttr, view.getRank());
      param->extentDivisors = divisorsOf(kernel, i, tile::kExtentDivAttr, view.getRank());
      for (int64_t d = 0; d < view.getRank(); ++d) {
        Value stride = entry->getArgument(slot++);
        param->strides.push_back(d == param->unitDim ? i64(1) : stride);
      }
      params.push_back(std::move(param));
    } else {
      params.push_back(nullptr);
    }
  for (StringAttr name : kernel.getDims().getAsRange<StringAttr>())
    symbols[name.getValue()] = entry->getArgument(slot++);
  for (unsigned i = 0; i < numParams; ++i)
    if (!isa<tile::ViewType>(kernel.getArgumentTypes()[i])) {
      Value scalar = entry->getArgument(slot++);
      Type wanted = kernel.getArgumentTypes()[i];
      if (wanted.isInteger(1))
        scalar = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, scalar,
                                      LLVM::ConstantOp::create(b, b.getI8Type(), b.getI8IntegerAttr(0)));
      values[kernel.getArgument(i)] = scalar;
      if (auto name = kernel.getArgAttrOfType<StringAttr>(i, tile::kNameAttr)) {
        auto dtype = kernel.getArgAttrOfType<StringAttr>(i, tile::kDTypeAttr);
        bool isUnsigned = dtype && dtype.getValue().starts_with("u");
        Value wide = scalar;
        if (wanted.isSignlessInteger() && wanted.getIntOrFloatBitWidth() < 64)
          wide = isUnsigned || wanted.isInteger(1) ? LLVM::ZExtOp::create(b, b.getI64Type(), scalar).getResult()
                                                   : LLVM::SExtOp::create(b, b.getI64Type(), scalar).getResult();
        symbols[name.getValue()] = wide;
      }
    }
  SmallVector<Value> counts;
  for (unsigned axis = 0; axis < kernel.getGrid().size(); ++axis)
    counts.push_back(entry->getArgument(slot++));
  // Extents and views of the parameters.
  for (unsigned i = 0; i < numParams; ++i) {
    auto view = dyn_cast<tile::ViewType>(kernel.getArgumentTypes()[i]);
    if (!view)
      continue;
    ParamView &param = *params[i];
    auto dims = kernel.getArgAttrOfType<ArrayAttr>(i, tile::kDimsAttr);
    ViewState state;
    state.param = &param;
    state.pointer = param.pointer;
    for (int64_t d = 0; d < view.getRank(); ++d) {
      Value extent = view.isDynamic(d) ? emitExpression(cast<StringAttr>(dims[d]).getValue()) : i64(view.getShape()[d]);
      if (!extent)
        return failure();
      param.extents.push_back(extent);
      ViewDim dim;
      dim.root = d;
      dim.high = extent;
      dim.highDivisor = view.isDynamic(d) ? param.extentDivisors[d] : (view.getShape()[d] & -view.getShape()[d]);
      dim.staticExtent = view.isDynamic(d) ? -1 : view.getShape()[d];
      state.dims.push_back(dim);
    }
    views[kernel.getArgument(i)] = std::move(state);
  }
  if (failed(createCoordinates(counts)))
    return failure();
  b.setInsertionPointToEnd(entry);
  return success();
}

LogicalResult KernelLowering::createCoordinates(ArrayRef<Value> counts) {
  Value rest = NVVM::BlockIdXOp::create(b, b.getI32Type());
  for (unsigned axis = 0; axis < counts.size(); ++axis) {
    Value number = rest;
    if (axis + 1 < counts.size()) {
      Value count = LLVM::TruncOp::create(b, b.getI32Type(), counts[axis]);
      number = LLVM::URemOp::create(b, rest, count);
      rest = LLVM::UDivOp::create(b, rest, count);
    }
    auto dictionary = cast<DictionaryAttr>(kernel.getGrid()[axis]);
    Value lo = emitExpression(dictionary.getAs<StringAttr>("lo").getValue());
    Value step = emitExpression(dictionary.getAs<StringAttr>("step").getValue());
    if (!lo || !step)
      return failure();
    Value distance = LLVM::MulOp::create(b, LLVM::ZExtOp::create(b, b.getI64Type(), number), step);
    values[kernel.getCoordinate(axis)] = LLVM::AddOp::create(b, lo, distance);
  }
  return success();
}

/// Emits an integer launch expression; null after an error.
static Value emitTree(ImplicitLocOpBuilder &b, const llvm::StringMap<Value> &symbols, const Expr &expression) {
  auto constant = [&](int64_t v) -> Value {
    return LLVM::ConstantOp::create(b, b.getI64Type(), b.getI64IntegerAttr(v));
  };
  if (expression.kind == Expr::Kind::Integer)
    return constant(expression.integer);
  if (expression.kind == Expr::Kind::Symbol)
    return symbols.lookup(expression.name);
  SmallVector<Value> operands;
  for (const Expr &operand : expression.operands) {
    operands.push_back(emitTree(b, symbols, operand));
    if (!operands.back())
      return {};
  }
  const std::string &op = expression.name;
  if (op == "+" && operands.size() == 2)
    return LLVM::AddOp::create(b, operands[0], operands[1]);
  if (op == "-" && operands.size() == 2)
    return LLVM::SubOp::create(b, operands[0], operands[1]);
  if (op == "*" && operands.size() == 2)
    return LLVM::MulOp::create(b, operands[0], operands[1]);
  if (op == "neg" && operands.size() == 1)
    return LLVM::SubOp::create(b, constant(0), operands[0]);
  if (op == "min" && operands.size() == 2)
    return LLVM::SMinOp::create(b, operands[0], operands[1]);
  if (op == "max" && operands.size() == 2)
    return LLVM::SMaxOp::create(b, operands[0], operands[1]);
  if ((op == "/" || op == "ceildiv" || op == "%") && operands.size() == 2) {
    // Floor division by the rules of the language: x / 0 = 0, x % 0 = x, MIN / -1 wraps.
    Value zero = constant(0), one = constant(1), minusOne = constant(-1);
    auto is = [&](Value x, Value y) -> Value { return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, x, y); };
    auto select = [&](Value c, Value x, Value y) -> Value { return LLVM::SelectOp::create(b, c, x, y); };
    Value special = LLVM::OrOp::create(b, is(operands[1], zero), is(operands[1], minusOne));
    Value divisor = select(special, one, operands[1]);
    Value quotient = LLVM::SDivOp::create(b, operands[0], divisor);
    Value remainder = LLVM::SubOp::create(b, operands[0], LLVM::MulOp::create(b, quotient, divisor));
    Value inexact = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, remainder, zero);
    Value signs = LLVM::XOrOp::create(b, remainder, divisor);
    Value differ = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, signs, zero);
    Value down = LLVM::AndOp::create(b, inexact, differ);
    Value floor = LLVM::SubOp::create(b, quotient, LLVM::ZExtOp::create(b, b.getI64Type(), down));
    Value negated = LLVM::SubOp::create(b, zero, operands[0]);
    if (op == "%") {
      Value rest = LLVM::SubOp::create(b, operands[0], LLVM::MulOp::create(b, floor, divisor));
      rest = select(is(operands[1], minusOne), zero, rest);
      return select(is(operands[1], zero), operands[0], rest);
    }
    Value result =
        op == "/" ? floor : LLVM::AddOp::create(b, floor, LLVM::ZExtOp::create(b, b.getI64Type(), inexact)).getResult();
    result = select(is(operands[1], minusOne), negated, result);
    return select(is(operands[1], zero), zero, result);
  }
  return {};
}

Value KernelLowering::emitExpression(StringRef text) {
  Result<Expr> parsed = Expr::parse(std::string_view(text.data(), text.size()));
  Value value = parsed ? emitTree(b, symbols, *parsed) : Value();
  if (!value)
    kernel.emitError() << "internal error: the launch expression '" << text << "' cannot be computed inside the kernel";
  return value;
}

//===----------------------------------------------------------------------===//
// Walk
//===----------------------------------------------------------------------===//

/// Registers of an elementwise op on tiles; 0 for anything else.
static int64_t chainRegisters(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() || !hasLayout(op->getResult(0).getType()) ||
      isa<arith::ConstantOp>(op) || !OpTrait::hasElementwiseMappableTraits(op))
    return 0;
  return registersOf(op->getResult(0).getType());
}

LogicalResult KernelLowering::lowerBlock(Block &block) {
  for (auto it = block.begin(); it != block.end();) {
    // Long vectors, several ops in a row: in pieces, so that a piece's temporaries die before the next begins.
    SmallVector<Operation *> chain;
    int64_t count = chainRegisters(&*it);
    for (auto next = it; count > kChainPiece && next != block.end() && chainRegisters(&*next) == count; ++next)
      chain.push_back(&*next);
    b.setLoc(it->getLoc());
    if (chain.size() > 2) {
      if (failed(lowerChain(chain)))
        return failure();
      std::advance(it, chain.size());
      continue;
    }
    if (failed(lowerOp(&*it)))
      return failure();
    ++it;
  }
  return success();
}

LogicalResult KernelLowering::lowerChain(ArrayRef<Operation *> chain) {
  int64_t count = chainRegisters(chain[0]);
  llvm::SmallDenseSet<Operation *> inside(chain.begin(), chain.end());
  llvm::MapVector<Value, SmallVector<Value>> outputs; ///< results that ops outside the chain want, in pieces
  for (Operation *op : chain)
    if (llvm::any_of(op->getUsers(), [&](Operation *user) { return !inside.contains(user); }))
      outputs[op->getResult(0)] = {};
  for (int64_t begin = 0, size = 0; begin < count; begin += size) {
    // No piece of one register: those are scalars.
    size = count - begin <= kChainPiece + 1 ? count - begin : kChainPiece;
    llvm::DenseMap<Value, Value> pieces;
    for (Operation *op : chain) {
      b.setLoc(op->getLoc());
      SmallVector<Value> operands;
      for (Value operand : op->getOperands()) {
        Value &piece = pieces[operand];
        if (!piece && !get(operand))
          return op->emitError() << "internal error: an operand of '" << op->getName()
                                 << "' has no lowering for the GPU";
        if (!piece) {
          Value whole = get(operand);
          auto vector = dyn_cast<VectorType>(whole.getType());
          DenseElementsAttr splatted;
          if (!vector)
            piece = whole;
          else if (matchPattern(whole, m_Constant(&splatted)) && splatted.isSplat())
            piece =
                arith::ConstantOp::create(b, DenseElementsAttr::get(VectorType::get({size}, vector.getElementType()),
                                                                    splatted.getSplatValue<Attribute>()));
          else
            piece = slice(whole, begin, size);
        }
        operands.push_back(piece);
      }
      Value result;
      if (isa<math::Exp2Op, math::RsqrtOp>(op)) {
        result = mathFunction(op, operands[0]);
        if (!result)
          return failure();
      } else {
        Type type = VectorType::get({size}, getElementTypeOrSelf(op->getResult(0).getType()));
        OperationState state(op->getLoc(), op->getName(), operands, {type}, op->getAttrs());
        result = b.create(state)->getResult(0);
      }
      pieces[op->getResult(0)] = result;
      if (auto it = outputs.find(op->getResult(0)); it != outputs.end())
        it->second.push_back(result);
    }
  }
  for (auto &[value, parts] : outputs)
    values[value] = concatenate(parts);
  return success();
}

LogicalResult KernelLowering::lowerOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<tile::ReturnOp>([](auto) { return success(); })
      .Case<scf::ForOp>([&](auto o) { return lowerFor(o); })
      .Case<scf::IfOp>([&](auto o) { return lowerIf(o); })
      .Case<scf::WhileOp>([&](auto o) { return lowerWhile(o); })
      .Case<scf::YieldOp, scf::ConditionOp>([&](auto o) {
        IRMapping mapping;
        for (Value operand : o->getOperands())
          mapping.map(operand, get(operand));
        b.clone(*o.getOperation(), mapping);
        return success();
      })
      .Case<tile::SubviewOp>([&](auto o) { return lowerSubview(o); })
      .Case<tile::PagedOp>([&](auto o) {
        lowerPaged(o);
        return success();
      })
      .Case<tile::LoadOp>([&](auto o) { return lowerLoad(o); })
      .Case<tile::StoreOp>([&](auto o) { return lowerStore(o); })
      .Case<tile::InsideOp>([&](auto o) { return lowerInside(o); })
      .Case<tile::AccumulateOp>([&](auto o) { return lowerAccumulate(o); })
      .Case<AtomicOp>([&](auto o) { return lowerAtomic(o); })
      .Case<tile::DimOp>([&](auto o) {
        values[o.getResult()] = dimExtent(o);
        return success();
      })
      .Case<tile::IotaOp>([&](auto o) {
        lowerIota(o);
        return success();
      })
      .Case<arith::ConstantOp>([&](auto o) {
        lowerConstant(o);
        return success();
      })
      .Case<tile::BroadcastOp>([&](auto o) { return lowerBroadcast(o); })
      .Case<tile::ExpandDimsOp>([&](tile::ExpandDimsOp o) -> LogicalResult {
        if (!hasLayout(o.getSource().getType())) {
          values[o.getResult()] = splat(get(o.getSource()), registersOf(o.getResult().getType()));
          return success();
        }
        return lowerRearrangement(o.getSource(), o.getResult(), [&](ArrayRef<int64_t> at) {
          SmallVector<int64_t> from(at);
          from.erase(from.begin() + o.getAxis());
          return from;
        });
      })
      .Case<tile::PermuteOp>([&](tile::PermuteOp o) {
        return lowerRearrangement(o.getSource(), o.getResult(), [&](ArrayRef<int64_t> at) {
          SmallVector<int64_t> from(at.size());
          for (auto [i, d] : llvm::enumerate(o.getOrder()))
            from[d] = at[i];
          return from;
        });
      })
      .Case<tile::ExtractOp>([&](tile::ExtractOp o) {
        return lowerRearrangement(o.getSource(), o.getResult(), [&](ArrayRef<int64_t> at) {
          SmallVector<int64_t> from;
          size_t next = 0;
          for (auto [start, width, step] : llvm::zip(o.getStarts(), o.getWidths(), o.getSteps()))
            from.push_back(start + (width > 0 ? at[next++] * step : 0));
          return from;
        });
      })
      .Case<ConvertLayoutOp>([&](ConvertLayoutOp o) -> LogicalResult {
        Conversion conversion = conversionBetween(layoutOf(o.getSource().getType()), layoutOf(o.getResult().getType()));
        if (conversion.movement == Movement::Lanes) {
          shuffleConversion(o, conversion);
          return success();
        }
        return lowerRearrangement(o.getSource(), o.getResult(),
                                  [](ArrayRef<int64_t> at) { return SmallVector<int64_t>(at); });
      })
      .Case<tile::ReduceOp>([&](auto o) { return lowerReduce(o); })
      .Case<tile::ScanOp>([&](tile::ScanOp o) {
        lowerScan(o);
        return success();
      })
      .Case<tile::ReduceByOp>([&](auto o) { return lowerReduceBy(o); })
      .Case<tile::ScanByOp>([&](auto o) { return lowerScanBy(o); })
      .Case<tile::SortOp>([&](tile::SortOp o) {
        lowerSort(o);
        return success();
      })
      .Case<ExchangeOp>([&](auto o) { return lowerExchange(o); })
      .Case<AllocOp>([&](auto o) { return lowerAlloc(o); })
      .Case<SlotOp>([&](SlotOp o) {
        int64_t bytes = cast<BufferType>(o.getResult().getType()).getStageBytes();
        values[o.getResult()] = add(get(o.getRing()), mulConstant(get(o.getIndex()), bytes));
        return success();
      })
      .Case<TransposeOp, ReinterpretOp>([&](auto o) {
        values[o.getResult()] = get(o.getSource());
        return success();
      })
      .Case<CopyOp>([&](auto o) { return lowerCopy(o); })
      .Case<CommitOp>([&](auto) {
        inlineAsm({}, {}, "cp.async.commit_group;", "~{memory}", true);
        return success();
      })
      .Case<WaitOp>([&](WaitOp o) {
        inlineAsm({}, {}, "cp.async.wait_group " + std::to_string(o.getPending()) + ";", "~{memory}", true);
        return success();
      })
      .Case<BarrierOp>([&](auto) {
        emitBarrier();
        return success();
      })
      .Case<WriteOp>([&](auto o) { return lowerWrite(o); })
      .Case<ReadOp>([&](auto o) { return lowerRead(o); })
      .Case<CountOp>([&](CountOp o) {
        lowerCount(o);
        return success();
      })
      .Case<ReadPartOp>([&](auto o) {
        lowerReadPart(o);
        return success();
      })
      .Case<DotOp>([&](auto o) { return lowerDot(o); })
      .Case<tile::AssertOp>([&](auto) { return success(); }) // reported by the host target and under --checked
      .Default([&](Operation *o) -> LogicalResult {
        if (o->getNumRegions() == 0 && o->getNumResults() == 1)
          return lowerElementwise(o);
        return o->emitError() << "internal error: '" << o->getName() << "' has no lowering for the GPU";
      });
}

LogicalResult KernelLowering::lowerRegion(Region &from, Region &to) {
  OpBuilder::InsertionGuard guard(b);
  Block *block = to.empty() ? b.createBlock(&to) : &to.front();
  if (!block->empty() && block->back().hasTrait<OpTrait::IsTerminator>())
    block->back().erase();
  b.setInsertionPointToEnd(block);
  return lowerBlock(from.front());
}

LogicalResult KernelLowering::lowerFor(scf::ForOp loop) {
  SmallVector<Value> inits;
  for (Value init : loop.getInitArgs())
    inits.push_back(get(init));
  auto lowered =
      scf::ForOp::create(b, get(loop.getLowerBound()), get(loop.getUpperBound()), get(loop.getStep()), inits);
  values[loop.getInductionVar()] = lowered.getInductionVar();
  for (auto [old, fresh] : llvm::zip(loop.getRegionIterArgs(), lowered.getRegionIterArgs()))
    values[old] = fresh;
  if (failed(lowerRegion(loop.getRegion(), lowered.getRegion())))
    return failure();
  for (auto [old, fresh] : llvm::zip(loop.getResults(), lowered.getResults()))
    values[old] = fresh;
  return success();
}

LogicalResult KernelLowering::lowerIf(scf::IfOp branch) {
  SmallVector<Type> types;
  for (Type type : branch.getResultTypes())
    types.push_back(convertType(type));
  auto lowered = scf::IfOp::create(b, types, get(branch.getCondition()), !branch.getElseRegion().empty());
  if (failed(lowerRegion(branch.getThenRegion(), lowered.getThenRegion())))
    return failure();
  if (!branch.getElseRegion().empty() && failed(lowerRegion(branch.getElseRegion(), lowered.getElseRegion())))
    return failure();
  for (auto [old, fresh] : llvm::zip(branch.getResults(), lowered.getResults()))
    values[old] = fresh;
  return success();
}

LogicalResult KernelLowering::lowerWhile(scf::WhileOp loop) {
  SmallVector<Value> inits;
  for (Value init : loop.getInits())
    inits.push_back(get(init));
  SmallVector<Type> types;
  for (Type type : loop.getResultTypes())
    types.push_back(convertType(type));
  auto lowered = scf::WhileOp::create(b, types, inits);
  for (auto [from, to] : llvm::zip(loop->getRegions(), lowered->getRegions())) {
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&to);
    for (Value argument : from.front().getArguments())
      values[argument] = block->addArgument(convertType(argument.getType()), argument.getLoc());
    b.setInsertionPointToEnd(block);
    if (failed(lowerBlock(from.front())))
      return failure();
  }
  for (auto [old, fresh] : llvm::zip(loop.getResults(), lowered.getResults()))
    values[old] = fresh;
  return success();
}

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

LogicalResult KernelLowering::lowerElementwise(Operation *op) {
  if (isa<math::Exp2Op, math::RsqrtOp>(op)) {
    Value result = mathFunction(op, get(op->getOperand(0)));
    values[op->getResult(0)] = result;
    return success(bool(result));
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Value value = get(operand);
    if (!value)
      return op->emitError() << "internal error: an operand of '" << op->getName() << "' has no lowering for the GPU";
    operands.push_back(value);
  }
  OperationState state(op->getLoc(), op->getName(), operands, {convertType(op->getResult(0).getType())},
                       op->getAttrs());
  values[op->getResult(0)] = b.create(state)->getResult(0);
  return success();
}

void KernelLowering::lowerConstant(arith::ConstantOp op) {
  Type type = convertType(op.getType());
  TypedAttr attr = op.getValue();
  if (auto vector = dyn_cast<VectorType>(type)) {
    auto dense = cast<DenseElementsAttr>(op.getValue());
    attr = DenseElementsAttr::get(vector, dense.getSplatValue<Attribute>());
  }
  values[op.getResult()] = arith::ConstantOp::create(b, attr);
}

void KernelLowering::lowerIota(tile::IotaOp op) {
  Dist layout = layoutOf(op.getType());
  SmallVector<int64_t> offsets;
  for (int64_t r = 0, e = layout.numRegisters(); r < e; ++r)
    offsets.push_back(layout.offset(r)[0]);
  auto type = VectorType::get({int64_t(offsets.size())}, b.getI64Type());
  Value constant = arith::ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef(offsets)));
  Value base = threadBase(layout, 0);
  if (base)
    constant = LLVM::AddOp::create(b, splat(LLVM::ZExtOp::create(b, b.getI64Type(), base), offsets.size()), constant);
  values[op.getResult()] = constant;
}

LogicalResult KernelLowering::lowerBroadcast(tile::BroadcastOp op) {
  if (!hasLayout(op.getSource().getType())) {
    values[op.getResult()] = splat(get(op.getSource()), registersOf(op.getResult().getType()));
    return success();
  }
  auto source = cast<RankedTensorType>(op.getSource().getType()),
       result = cast<RankedTensorType>(op.getResult().getType());
  int64_t lead = result.getRank() - source.getRank();
  return lowerRearrangement(op.getSource(), op.getResult(), [&](ArrayRef<int64_t> at) {
    SmallVector<int64_t> from(at.drop_front(lead));
    for (int64_t d = 0; d < source.getRank(); ++d)
      if (source.getShape()[d] == 1 && result.getShape()[lead + d] != 1)
        from[d] = 0;
    return from;
  });
}

/// Every result register from the source register whose constant coordinates are `toSource` of its own.  The layouts were chosen so
/// that the run-time parts agree; registers that only hold padding and have no source become 0.
LogicalResult KernelLowering::lowerRearrangement(Value source, Value result,
                                                 function_ref<SmallVector<int64_t>(ArrayRef<int64_t>)> toSource) {
  Dist from = layoutOf(source.getType()), to = layoutOf(result.getType());
  std::map<SmallVector<int64_t>, int32_t> registerAt;
  for (int64_t r = from.numRegisters() - 1; r >= 0; --r)
    registerAt[from.offset(r)] = r;
  SmallVector<int32_t> mask;
  int64_t count = from.numRegisters();
  bool anyMissing = false, identity = to.numRegisters() == count;
  for (int64_t r = 0, e = to.numRegisters(); r < e; ++r) {
    auto it = registerAt.find(toSource(to.offset(r)));
    anyMissing |= it == registerAt.end();
    mask.push_back(it == registerAt.end() ? count : it->second);
    identity &= mask.back() == r;
  }
  Value vector = get(source);
  if (!identity) {
    Value other = vector;
    if (anyMissing)
      other = LLVM::ZeroOp::create(b, vector.getType());
    vector = LLVM::ShuffleVectorOp::create(b, vector, other, mask);
  }
  values[result] = vector;
  return success();
}

Value KernelLowering::mathFunction(Operation *op, Value operand) {
  Type type = operand.getType(), element = getElementTypeOrSelf(type);
  if (!element.isF32()) {
    op->emitError() << "internal error: expected f32 for '" << op->getName() << "' on the GPU, got " << element;
    return {};
  }
  // The expansion of exp keeps subnormal numbers away from ex2; nothing keeps them from rsqrt, whose .ftz form takes them for zero.
  StringRef name = isa<math::Exp2Op>(op) ? "llvm.nvvm.ex2.approx.ftz.f" : "llvm.nvvm.rsqrt.approx.f";
  auto vector = dyn_cast<VectorType>(type);
  SmallVector<Value> elements;
  for (int64_t i = 0, e = vector ? vector.getNumElements() : 1; i < e; ++i)
    elements.push_back(intrinsic(element, name, {extract(operand, i)}));
  return assemble(type, elements);
}
