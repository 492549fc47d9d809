//===- Pipeline.cpp - the order of all passes, and why --------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "compiler/Pipeline/Pipeline.h"
#include "compiler/Codegen/Passes.h"
#include "compiler/Conversion/TileGPUToNVVM/Passes.h"
#include "compiler/Conversion/TileToHost/Passes.h"
#include "compiler/Numerics/Passes.h"
#include "compiler/Target/Target.h"
#include "compiler/Transforms/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tessera {

void registerDialects(DialectRegistry &registry) {
  registry.insert<tile::TileDialect, tile_gpu::TileGPUDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                  tensor::TensorDialect, cf::ControlFlowDialect, func::FuncDialect, memref::MemRefDialect,
                  ub::UBDialect, vector::VectorDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertMemRefToLLVMInterface(registry);
  index::registerConvertIndexToLLVMInterface(registry);
  ub::registerConvertUBToLLVMInterface(registry);
}

void registerPasses() {
  registerTesseraTransformsPasses();
  registerTesseraTileGPUToNVVMPasses();
  registerTesseraNumericsPasses();
  registerTesseraTileToHostPasses();
  registerTesseraCodegenPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerLoopInvariantCodeMotionPass();
  mlir::registerSCFToControlFlowPass();
  mlir::registerConvertToLLVMPass();
}

void buildNumericsPipeline(OpPassManager &manager, const TargetInfo &target) {
  // The front end writes operations as the source has them; folding first leaves the expansions less to do.
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  // What functions and conversions mean, before the targets part: so they agree by construction.
  ExpandNumericsPassOptions options;
  options.target = target.gpu ? "gpu" : "host";
  options.eightBitProducts = target.fp8Mma;
  manager.addPass(createExpandNumericsPass(options));
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  // Masks and scales that do not change in a loop are computed once; tile values are still single ops here.
  manager.addPass(createLoopInvariantCodeMotionPass());
}

void buildGpuPipeline(OpPassManager &manager, const TargetInfo &target, const Schedule &schedule) {
  int64_t sharedBytes = target.maxSharedPerBlock;
  OpPassManager &kernels = manager.nest<tile::KernelOp>();
  // Where operands of products live decides layouts, so it comes first.
  StageOperandsPassOptions stage;
  stage.warps = schedule.warps;
  kernels.addPass(createStageOperandsPass(stage));
  kernels.addPass(createAssignLayoutsPass());
  // Copies are still whole ops in the loop that uses them: the last moment to move them ahead, and the first at which all
  // buffers of products are known.
  PipelineLoopsPassOptions pipeline;
  pipeline.stages = schedule.stages;
  pipeline.sharedBytes = sharedBytes;
  kernels.addPass(createPipelineLoopsPass(pipeline));
  // Conversions bring scratch buffers; after this every buffer is explicit.
  kernels.addPass(createLowerConversionsPass());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  AllocateSharedPassOptions allocate;
  allocate.sharedBytes = sharedBytes;
  allocate.target = std::string(target.name);
  kernels.addPass(createAllocateSharedPass(allocate));
  // Needs the places of buffers: two that share memory conflict.
  kernels.addPass(createInsertBarriersPass());
}

void buildNvvmPipeline(OpPassManager &manager) {
  manager.addPass(createTileGPUToNVVMPass());
  manager.addPass(createCSEPass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  manager.addPass(createCSEPass());
}

void buildHostPipeline(OpPassManager &manager, llvm::StringRef fault) {
  TileToHostPassOptions options;
  options.fault = fault.str();
  manager.addPass(createTileToHostPass(options));
  // Index arithmetic is emitted plainly; most of it folds or repeats.
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createLoopInvariantCodeMotionPass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

} // namespace tessera
