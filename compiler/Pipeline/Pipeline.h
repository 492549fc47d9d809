//===- Pipeline.h - the order of all passes -------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// From tile IR to the LLVM dialect.  Pipeline.cpp tells the story; nothing else in the project orders passes.
//
#ifndef TESSERA_COMPILER_PIPELINE_PIPELINE_H
#define TESSERA_COMPILER_PIPELINE_PIPELINE_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

namespace tessera {

struct TargetInfo;

/// Choices of a schedule; 0 leaves a choice to the compiler.
struct Schedule {
  int64_t warps = 0;
  int64_t stages = 0;
};

/// Every dialect that any stage may contain, with what the passes need of them.
void registerDialects(mlir::DialectRegistry &registry);
/// All passes, by flag, for tessera-opt.
void registerPasses();

/// Numerics and clean-up: tile IR before the fork between targets.
void buildNumericsPipeline(mlir::OpPassManager &manager, const TargetInfo &target);
/// Tile IR (numerics expanded) to tile_gpu with buffers placed and barriers inserted.
void buildGpuPipeline(mlir::OpPassManager &manager, const TargetInfo &target, const Schedule &schedule);
/// tile_gpu to the LLVM dialect.
void buildNvvmPipeline(mlir::OpPassManager &manager);

/// Tile IR (numerics expanded for the host) to the LLVM dialect.
void buildHostPipeline(mlir::OpPassManager &manager, llvm::StringRef fault = "");

} // namespace tessera
#endif // TESSERA_COMPILER_PIPELINE_PIPELINE_H
