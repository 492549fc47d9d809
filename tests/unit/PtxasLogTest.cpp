//===- PtxasLogTest.cpp - reading ptxas -v ------------------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Logs as ptxas 13.0 printed them (names shortened).
//
#include "compiler/Codegen/PtxasLog.h"

#include <catch2/catch.hpp>

using namespace tessera;

TEST_CASE("one clean kernel") {
  PtxasReport report =
      parsePtxasLog("ptxas info    : 0 bytes gmem\n"
                    "ptxas info    : Compiling entry function 'gemm' for 'sm_90a'\n"
                    "ptxas info    : Function properties for gemm\n"
                    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                    "ptxas info    : Used 240 registers, used 1 barriers, 512 bytes smem, 560 bytes cmem[0]\n"
                    "ptxas info    : Compile time = 12.250 ms\n");
  REQUIRE(report.functions.size() == 1);
  const PtxasFunction &f = report.functions[0];
  CHECK(f.name == "gemm");
  CHECK(f.target == "sm_90a");
  CHECK(f.isEntry);
  CHECK(f.registers == 240);
  CHECK(f.barriers == 1);
  CHECK(f.sharedBytes == 512);
  CHECK(f.stackBytes == 0);
  CHECK(!f.spills());
  CHECK(report.performanceLosses.empty());
  CHECK(report.errors.empty());
}

TEST_CASE("two kernels and a device function, one spills") {
  PtxasReport report = parsePtxasLog("ptxas info    : Compiling entry function 'a' for 'sm_80'\r\n"
                                     "ptxas info    : Function properties for a\r\n"
                                     "    328 bytes stack frame, 324 bytes spill stores, 400 bytes spill loads\r\n"
                                     "ptxas info    : Used 255 registers, 384 bytes cmem[0]\r\n"
                                     "ptxas info    : Compiling entry function 'b' for 'sm_80'\n"
                                     "ptxas info    : Function properties for b\n"
                                     "    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                                     "ptxas info    : Used 12 registers, used 0 barriers, 372 bytes cmem[0]\n"
                                     "ptxas info    : Function properties for helper\n"
                                     "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n");
  REQUIRE(report.functions.size() == 3);
  const PtxasFunction *a = report.find("a"), *b = report.find("b"), *helper = report.find("helper");
  REQUIRE((a && b && helper));
  CHECK(a->spills());
  CHECK(a->stackBytes == 328);
  CHECK(a->spillStoreBytes == 324);
  CHECK(a->spillLoadBytes == 400);
  CHECK(a->registers == 255);
  CHECK(a->sharedBytes == 0);
  CHECK(!b->spills());
  CHECK(b->stackBytes == 8);
  CHECK(b->registers == 12);
  CHECK(!helper->isEntry);
  CHECK(!report.find("c"));
}

TEST_CASE("performance losses, warnings, errors") {
  PtxasReport report = parsePtxasLog(
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to "
      "insufficient register "
      "resources for the wgmma pipeline in the function 'f'\n"
      "ptxas warning : Value of threads per SM for entry f is out of range. .minnctapersm will be ignored\n"
      "ptxas a.ptx, line 9; error   : Feature 'stmatrix' requires .target sm_90 or higher\n"
      "ptxas fatal   : Ptx assembly aborted due to errors\n");
  REQUIRE(report.performanceLosses.size() == 1);
  CHECK(report.performanceLosses[0].find("(C7510) Potential Performance Loss: wgmma") == 0);
  REQUIRE(report.warnings.size() == 1);
  REQUIRE(report.errors.size() == 2);
  CHECK(report.errors[0] == "Feature 'stmatrix' requires .target sm_90 or higher");
}

TEST_CASE("any text is survived") {
  CHECK(parsePtxasLog("").functions.empty());
  CHECK(parsePtxasLog("ptxas info    : Compiling entry function").functions.size() <= 1);
  PtxasReport report =
      parsePtxasLog("ptxas info : Compiling entry function 'x' for 'y'\n"
                    "99999999999999999999999 bytes stack frame, bytes spill stores\nptxas info : Used registers");
  REQUIRE(report.functions.size() == 1);
  CHECK(report.functions[0].stackBytes == 0);
  CHECK(report.functions[0].registers == 0);
}
