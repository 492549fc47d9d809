//===- TargetTest.cpp - the target table ------------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Names, the rules that tie the columns together, and the numbers of the programming guide written a second time in other units.
//
#include "compiler/Target/Target.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <string>

using namespace tessera;

TEST_CASE("targets are found by exact name") {
  for (std::string_view name : targetNames()) {
    const TargetInfo *target = findTarget(name);
    REQUIRE(target);
    CHECK(target->name == name);
  }
  CHECK(targetNames().size() == 8);
  CHECK(targetNames().back() == "host");
  for (std::string_view wrong : {"", "sm_90", "sm_100", "SM_80", "sm_90a ", "sm_75", "gpu"})
    CHECK(!findTarget(wrong));
}

TEST_CASE("columns agree with each other") {
  for (const TargetInfo *t : allTargets()) {
    INFO(std::string(t->name));
    if (!t->gpu) {
      CHECK(t->sm == 0);
      CHECK(t->ptxFeature.empty());
      continue;
    }
    CHECK(t->llvmCpu == t->name);
    CHECK(std::string(t->name).find("sm_" + std::to_string(t->sm)) == 0);
    CHECK(t->ptxFeature == "+ptx" + std::to_string(t->ptxVersion));
    CHECK(t->maxSharedPerBlock + t->reservedSharedPerBlock == t->maxSharedPerSm);
    CHECK(t->cpAsync);
    CHECK(t->bf16Mma);
    CHECK(t->ldmatrix);
    CHECK(t->stmatrix == (t->sm >= 90));
    CHECK(t->tma == (t->sm >= 90));
    CHECK(t->cluster == (t->sm >= 90));
    CHECK(t->fp8Mma == (t->sm >= 89));
    CHECK(t->wgmma == (t->name == "sm_90a"));
    CHECK(t->tcgen05 == (t->sm == 100 || t->sm == 103));
    if (t->fp8Mma)
      CHECK(t->ptxVersion >= 84);
    CHECK(t->registersPerSm == 65536);
    CHECK(t->maxRegistersPerThread == 255);
    CHECK(t->maxThreadsPerBlock <= 32 * t->warpsPerSm);
  }
}

TEST_CASE("numbers of the programming guide") {
  struct Row {
    const char *name;
    int sharedBlockKb, threadsPerSm, blocks;
  };
  for (Row row : {Row{"sm_80", 163, 2048, 32},
                  {"sm_86", 99, 1536, 16},
                  {"sm_89", 99, 1536, 24},
                  {"sm_90a", 227, 2048, 32},
                  {"sm_100a", 227, 2048, 32},
                  {"sm_103a", 227, 2048, 32},
                  {"sm_120a", 99, 1536, 24}}) {
    INFO(row.name);
    const TargetInfo *t = findTarget(row.name);
    REQUIRE(t);
    CHECK(t->maxSharedPerBlock == row.sharedBlockKb << 10);
    CHECK(t->warpsPerSm * 32 == row.threadsPerSm);
    CHECK(t->blocksPerSm == row.blocks);
  }
}

TEST_CASE("the script that assembles PTX knows the same targets and versions") {
  std::ifstream file(TESSERA_SOURCE_DIR "/tools/scripts/assemble_ptx.py");
  std::stringstream text;
  text << file.rdbuf();
  std::string expected;
  for (const TargetInfo *t : allTargets())
    if (t->gpu)
      expected += fmt::format("{}\"{}\": \"{}.{}\"", expected.empty() ? "" : ", ", t->name, t->ptxVersion / 10,
                              t->ptxVersion % 10);
  CHECK(text.str().find("MINIMUM = {" + expected + "}") != std::string::npos);
}
