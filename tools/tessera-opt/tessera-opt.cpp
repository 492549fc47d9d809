//===- tessera-opt.cpp - run passes over textual IR ------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "compiler/Pipeline/Pipeline.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tessera::registerDialects(registry);
  tessera::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Tessera pass driver\n", registry));
}
