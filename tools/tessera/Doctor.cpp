//===- Doctor.cpp - `tessera doctor` -------------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Says what this machine has of what Tessera can use, a line each, with the remedy where something is missing.
//
#include "compiler/Target/Target.h"
#include "runtime/Cpu/ThreadPool.h"
#include "runtime/Cuda/Context.h"
#include "runtime/Launch/Device.h"
#include "tools/tessera/Commands.h"
#include "tools/tessera/Ptxas.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

namespace tessera {
namespace {

void printGpus() {
  Result<std::shared_ptr<const cuda::Driver>> driver = cuda::Driver::load();
  if (!driver) {
    fmt::print("driver:   none: {}\n          {}\n", driver.error().message, driver.error().remedy);
    return;
  }
  int version = (*driver)->version();
  fmt::print("driver:   CUDA {}.{}\n", version / 1000, version % 1000 / 10);
  Result<int> count = (*driver)->deviceCount();
  for (int i = 0; count && i < *count; ++i) {
    Result<std::shared_ptr<const cuda::Context>> context = cuda::Context::create(*driver, i);
    if (!context) {
      fmt::print("cuda:{}:   {}\n", i, context.error().message);
      continue;
    }
    const cuda::DeviceInfo &info = (*context)->info();
    Result<std::string> target = cuda::targetFor(info.computeMajor, info.computeMinor);
    fmt::print(
        "cuda:{}:   {}, compute {}.{}, target {}, {} multiprocessors, {} bytes of shared memory a block, {:.1f} GiB\n",
        i, info.name, info.computeMajor, info.computeMinor, target ? *target : "none", info.multiprocessors,
        info.maxSharedBytes, static_cast<double>(info.memoryBytes) / (1 << 30));
  }
}

int runDoctor() {
  fmt::print("tessera:  {} with LLVM {}\n", TESSERA_VERSION, TESSERA_LLVM_VERSION);
  fmt::print("cpu:      {} threads, target host\n", Device::cpu().pool()->size());
  printGpus();
  std::string ptxas = findPtxas();
  fmt::print(
      "ptxas:    {}\n",
      ptxas.empty()
          ? "none; it assembles PTX ahead of time: install the CUDA toolkit or the Python package nvidia-cuda-nvcc"
          : ptxas);
  fmt::print("targets:  {}\n", fmt::join(targetNames(), " "));
  return 0;
}

} // namespace

void addDoctor(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand("doctor", "Say what this machine has: driver, devices, assembler, targets");
  command->footer("Examples:\n"
                  "  tessera doctor\n"
                  "  CUDA_VISIBLE_DEVICES=1 tessera doctor");
  command->callback([&exitCode] { exitCode = runDoctor(); });
}

} // namespace tessera
