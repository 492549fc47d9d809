//===- Target.cpp - the target table --------------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The rows of Target.h.  The unit test repeats the rules that tie the columns together.
//
#include "compiler/Target/Target.h"

using namespace tessera;

namespace {

constexpr int kKb = 1024;

/// What all GPU targets share.
constexpr TargetInfo gpu(std::string_view name, std::string_view ptxFeature, int ptxVersion, int sm) {
  TargetInfo t;
  t.name = t.llvmCpu = name;
  t.gpu = true;
  t.ptxFeature = ptxFeature;
  t.ptxVersion = ptxVersion;
  t.sm = sm;
  t.reservedSharedPerBlock = 1 * kKb;
  t.registersPerSm = 64 * kKb;
  t.maxRegistersPerThread = 255;
  t.maxThreadsPerBlock = 1024;
  t.bf16Mma = t.ldmatrix = t.cpAsync = true;
  return t;
}

/// Shared memory of an SM (a block gets all but the reserved KB), resident warps and blocks, SMs.
constexpr TargetInfo sized(TargetInfo t, int sharedKb, int warps, int blocks, int sms) {
  t.maxSharedPerSm = sharedKb * kKb;
  t.maxSharedPerBlock = (sharedKb - 1) * kKb;
  t.warpsPerSm = warps;
  t.blocksPerSm = blocks;
  t.typicalSms = sms;
  return t;
}

constexpr TargetInfo withFp8(TargetInfo t) {
  t.fp8Mma = true;
  return t;
}

/// What arrived with sm_90 and stayed.
constexpr TargetInfo withHopper(TargetInfo t) {
  t.stmatrix = t.tma = t.cluster = t.fp8Mma = true;
  return t;
}

constexpr TargetInfo withWgmma(TargetInfo t) {
  t.wgmma = true;
  return t;
}

constexpr TargetInfo withTcgen05(TargetInfo t) {
  t.tcgen05 = true;
  return t;
}

constexpr TargetInfo host() {
  TargetInfo t;
  t.name = "host";
  t.llvmCpu = "x86-64-v3";
  return t;
}

constexpr TargetInfo kTargets[] = {
    sized(gpu("sm_80", "+ptx70", 70, 80), 164, 64, 32, 108),                             // A100
    sized(gpu("sm_86", "+ptx71", 71, 86), 100, 48, 16, 84),                              // A40, RTX A6000
    withFp8(sized(gpu("sm_89", "+ptx84", 84, 89), 100, 48, 24, 142)),                    // L40S
    withWgmma(withHopper(sized(gpu("sm_90a", "+ptx84", 84, 90), 228, 64, 32, 132))),     // H100, H200 SXM
    withTcgen05(withHopper(sized(gpu("sm_100a", "+ptx86", 86, 100), 228, 64, 32, 148))), // B200
    withTcgen05(withHopper(sized(gpu("sm_103a", "+ptx88", 88, 103), 228, 64, 32, 148))), // B300
    withHopper(sized(gpu("sm_120a", "+ptx87", 87, 120), 100, 48, 24, 188)),              // RTX PRO 6000 Blackwell
    host(),
};

} // namespace

const TargetInfo *tessera::findTarget(std::string_view name) {
  for (const TargetInfo &target : kTargets)
    if (target.name == name)
      return &target;
  return nullptr;
}

std::vector<std::string_view> tessera::targetNames() {
  std::vector<std::string_view> names;
  for (const TargetInfo &target : kTargets)
    names.push_back(target.name);
  return names;
}

std::vector<const TargetInfo *> tessera::allTargets() {
  std::vector<const TargetInfo *> rows;
  for (const TargetInfo &target : kTargets)
    rows.push_back(&target);
  return rows;
}
