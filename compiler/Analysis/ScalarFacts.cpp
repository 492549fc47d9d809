//===- ScalarFacts.cpp - divisors and signs of index scalars --------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "compiler/Analysis/ScalarFacts.h"
#include "dialect/Tile/TileDialect.h"

using namespace mlir;
namespace tessera {

static constexpr int64_t kMost = int64_t(1) << 30;

static int64_t powerOfTwoIn(int64_t value) { return value == 0 ? kMost : std::min(kMost, value & -value); }

static std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) && constant.getSignificantBits() <= 64)
    return constant.getSExtValue();
  return std::nullopt;
}

/// A field of the grid axis that `coordinate` belongs to, if it is a plain integer.
static std::optional<int64_t> gridConstant(BlockArgument coordinate, StringRef field) {
  auto kernel = dyn_cast<tile::KernelOp>(coordinate.getOwner()->getParentOp());
  if (!kernel || coordinate.getArgNumber() < kernel.getNumParams())
    return std::nullopt;
  auto axis = cast<DictionaryAttr>(kernel.getGrid()[coordinate.getArgNumber() - kernel.getNumParams()]);
  int64_t number;
  if (axis.getAs<StringAttr>(field).getValue().getAsInteger(10, number))
    return std::nullopt;
  return number;
}

int64_t ScalarFacts::divisor(Value value) {
  auto [it, fresh] = divisors.try_emplace(value, 1);
  if (!fresh)
    return it->second;
  int64_t result = 1;
  if (auto constant = constantOf(value)) {
    result = powerOfTwoIn(*constant);
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument == loop.getInductionVar()) {
      result = std::min(divisor(loop.getLowerBound()), divisor(loop.getStep()));
    } else if (auto step = gridConstant(argument, "step")) {
      if (auto lo = gridConstant(argument, "lo"))
        result = std::min(powerOfTwoIn(*lo), powerOfTwoIn(*step));
    }
  } else if (auto dim = value.getDefiningOp<tile::DimOp>()) {
    if (auto root = dyn_cast<BlockArgument>(dim.getView())) {
      auto kernel = cast<tile::KernelOp>(root.getOwner()->getParentOp());
      if (auto known = kernel.getArgAttrOfType<DenseI64ArrayAttr>(root.getArgNumber(), tile::kExtentDivAttr))
        result = powerOfTwoIn(known[dim.getAxis()]);
    }
  } else if (Operation *op = value.getDefiningOp()) {
    if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp>(op))
      result = std::min(divisor(op->getOperand(0)), divisor(op->getOperand(1)));
    else if (isa<arith::MulIOp>(op))
      result = std::min(kMost, divisor(op->getOperand(0)) * divisor(op->getOperand(1)));
    else if (isa<arith::SelectOp>(op))
      result = std::min(divisor(op->getOperand(1)), divisor(op->getOperand(2)));
  }
  divisors[value] = result;
  return result;
}

bool ScalarFacts::isNonNegative(Value value) {
  auto [it, fresh] = signs.try_emplace(value, false);
  if (!fresh)
    return it->second;
  bool result = false;
  if (auto constant = constantOf(value)) {
    result = *constant >= 0;
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument == loop.getInductionVar())
      result = isNonNegative(loop.getLowerBound());
    else if (auto lo = gridConstant(argument, "lo"))
      result = *lo >= 0;
  } else if (value.getDefiningOp<tile::DimOp>()) {
    result = true;
  } else if (Operation *op = value.getDefiningOp()) {
    if (isa<arith::AddIOp, arith::MulIOp, arith::MinSIOp>(op))
      result = isNonNegative(op->getOperand(0)) && isNonNegative(op->getOperand(1));
    else if (isa<arith::MaxSIOp>(op))
      result = isNonNegative(op->getOperand(0)) || isNonNegative(op->getOperand(1));
    else if (isa<arith::SelectOp>(op))
      result = isNonNegative(op->getOperand(1)) && isNonNegative(op->getOperand(2));
    else if (isa<arith::DivUIOp, arith::ExtUIOp>(op))
      result = false;
    else if (isa<arith::ShRSIOp>(op))
      result = isNonNegative(op->getOperand(0));
    else if (isa<tile::DivOp, tile::CeilDivOp>(op))
      result = isNonNegative(op->getOperand(0)) && isNonNegative(op->getOperand(1));
  }
  signs[value] = result;
  return result;
}

} // namespace tessera
