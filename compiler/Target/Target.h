//===- Target.h - the machines, as plain data ----------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// One row per target that `--target` accepts.  Read by the pipeline, the legality verifier, code generation and the planner; no code
// decides anything by a target's name.  Needs: nothing.  Leaves out: clocks, bandwidths, and everything that varies within a target.
//
// Sources of the numbers.  [G] CUDA C++ Programming Guide 13.0, "Compute Capabilities", table "Technical Specifications per Compute
// Capability".  [P] PTX ISA 9.0: section "Release Notes" (table of PTX versions and targets) and the "Target ISA Notes" of each
// instruction.  [L] the versions LLVM 22's NVPTX back end and ptxas 13.0 accept, which the unit tests and assemble_ptx.py check.
// [W] the architecture white papers, for the number of SMs of the common product.
//
#ifndef TESSERA_COMPILER_TARGET_TARGET_H
#define TESSERA_COMPILER_TARGET_TARGET_H

#include <cstdint>
#include <string_view>
#include <vector>

namespace tessera {

/// One target.  Rows are constants; pointers to them stay valid for the life of the program.
struct TargetInfo {
  std::string_view name;    ///< what `--target` takes: sm_80 ... sm_120a, host
  bool gpu = false;         ///< false: the CPU this program runs on
  std::string_view llvmCpu; ///< LLVM's cpu name [L]; on the host the baseline of ahead-of-time objects
  /// LLVM feature string `+ptxNN`: the smallest PTX version that the back end accepts for the cpu [L] and that has every
  /// instruction whose flag below is set [P] (mma on e4m3 came with 8.4), so that old drivers accept the text.  Empty on the host.
  std::string_view ptxFeature;
  int ptxVersion = 0; ///< the same as a number: major * 10 + minor
  int sm = 0;         ///< compute capability: major * 10 + minor; 0 on the host

  int maxSharedPerBlock = 0;      ///< bytes a block may have after opting in [G]
  int maxSharedPerSm = 0;         ///< bytes of an SM, including 1 KB the system keeps per block [G]
  int reservedSharedPerBlock = 0; ///< bytes the system keeps per resident block [G]
  int registersPerSm = 0;         ///< 32-bit registers of an SM [G]
  int maxRegistersPerThread = 0;  ///< [G]
  int warpsPerSm = 0;             ///< resident warps [G]
  int blocksPerSm = 0;            ///< resident blocks [G]
  int maxThreadsPerBlock = 0;     ///< [G]
  int typicalSms = 0;             ///< SMs of the common product, for planning without a device [W]

  bool bf16Mma = false;  ///< mma.sync on bf16, f16, tf32: sm_80 [P]
  bool ldmatrix = false; ///< ldmatrix .b16: sm_75 [P]
  bool stmatrix = false; ///< stmatrix .b16: sm_90 [P]
  bool cpAsync = false;  ///< cp.async: sm_80 [P]
  bool wgmma = false;    ///< wgmma.mma_async: sm_90a alone [P]
  bool tma = false;      ///< cp.async.bulk.tensor, mbarrier transactions: sm_90 [P]
  bool cluster = false;  ///< clusters, distributed shared memory: sm_90 [P]
  bool fp8Mma = false;   ///< mma.sync on e4m3, e5m2: sm_89, PTX 8.4 [P]
  bool tcgen05 = false;  ///< tcgen05.*: sm_100a, sm_103a [P]
};

/// The row called `name`, or null.  Exact match: `sm_90` is not `sm_90a`.
const TargetInfo *findTarget(std::string_view name);

/// Every name, oldest GPU first, `host` last.
std::vector<std::string_view> targetNames();

/// The same rows, in the order of targetNames().
std::vector<const TargetInfo *> allTargets();

} // namespace tessera
#endif // TESSERA_COMPILER_TARGET_TARGET_H
