//===- InstructionCount.cpp - what a function will cost -------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Optimization and code generation take time in proportion to instructions, and PTX text to elements; both are bounded before LLVM
// starts.  Needs: the LLVM dialect.
//
#include "compiler/Codegen/Codegen.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tessera;

static bool isConstantLike(Operation *op) {
  return isa<LLVM::ConstantOp, LLVM::UndefOp, LLVM::PoisonOp, LLVM::ZeroOp, LLVM::AddressOfOp, LLVM::LLVMFuncOp,
             LLVM::GlobalOp, ModuleOp>(op);
}

/// Registers that the op touches: whole vectors for elementwise ops, one element for those that take out or put in.
static int64_t elementsOf(Operation *op) {
  if (isa<LLVM::ExtractElementOp, LLVM::InsertElementOp, LLVM::ShuffleVectorOp, LLVM::BitcastOp, LLVM::ExtractValueOp,
          LLVM::InsertValueOp>(op))
    return 1;
  int64_t most = 1;
  auto count = [&](Type type) {
    if (auto vector = dyn_cast<VectorType>(type); vector && vector.hasStaticShape())
      most = std::max(most, vector.getNumElements());
  };
  for (Type type : op->getResultTypes())
    count(type);
  for (Type type : op->getOperandTypes())
    count(type);
  return most;
}

InstructionCount tessera::countInstructions(Operation *op) {
  InstructionCount total;
  op->walk([&](Operation *nested) {
    if (isConstantLike(nested))
      return;
    ++total.instructions;
    total.elements += elementsOf(nested);
  });
  return total;
}

BudgetExcess tessera::findBudgetExcess(ModuleOp module, const CodegenOptions &options) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    InstructionCount count = countInstructions(function);
    auto tooBig = [&](int64_t found, int64_t budget, const char *what) {
      int64_t times = (found + budget - 1) / budget;
      return BudgetExcess{function,
                          fmt::format("'{}' needs {} {} for each thread, expected at most {}",
                                      function.getSymName().str(), found, what, budget),
                          fmt::format("make the tiles smaller by a factor of {0}, use {0} times as many warps, or turn "
                                      "a static loop into one that runs",
                                      times)};
    };
    if (count.instructions > options.instructionBudget)
      return tooBig(count.instructions, options.instructionBudget, "instructions");
    if (count.elements > options.elementBudget)
      return tooBig(count.elements, options.elementBudget, "element operations");
  }
  return {};
}

Result<void> tessera::checkBudget(ModuleOp module, const CodegenOptions &options) {
  if (BudgetExcess excess = findBudgetExcess(module, options); excess.function)
    return Error{Fault::Program, excess.message, excess.remedy, "T0506"};
  return {};
}
