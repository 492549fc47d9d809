//===- HostTest.cpp - the host target against loops written here ------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Every check passes without a fault, and every planted fault turns some check red: what the checks cannot see is not checked.
//
#include "HostChecks.h"
#include "HostHarness.h"

#include "compiler/Conversion/TileToHost/Lowering.h"

#include <catch2/catch.hpp>

using namespace tessera;
using namespace tessera::test;

TEST_CASE("memory on the host") {
  for (const HostCheck &check : memoryChecks()) {
    INFO(check.name);
    CHECK(check.run("") == "");
  }
}

TEST_CASE("tiles on the host") {
  for (const HostCheck &check : tileChecks()) {
    INFO(check.name);
    CHECK(check.run("") == "");
  }
}

TEST_CASE("each planted fault turns a check red") {
  REQUIRE(HostFaults::names().size() == 20);
  for (llvm::StringRef fault : HostFaults::names()) {
    INFO(fault.str());
    bool red = false;
    for (const auto &checks : {memoryChecks(), tileChecks()})
      for (const HostCheck &check : checks)
        red = red || !check.run(fault.str()).empty();
    CHECK(red);
  }
}

TEST_CASE("an assertion reports its number and the first program") {
  std::string ir = kernelText({{"x", "f32", "in", "?", {"N"}}}, {"N"}, {{"i", "0", "N", "4"}}, R"(
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %c100 = arith.constant 100 : i64
  %a = tile.load %x[%i] widths [4] steps [1] : !tile.view<?xf32>[i64] -> tensor<4xf32>
  %small = arith.cmpi slt, %i, %c100 : i64
  tile.assert %small, "i is small" : i1
  %positive = arith.cmpf oge, %a, %zero : tensor<4xf32>
  tile.assert %positive, "x is positive" : tensor<4xi1>)");
  Result<HostProgram> program = compileHost(ir);
  REQUIRE(program);
  Tensor x("f32", {30});
  x.random(1, 0.5, 1);
  std::vector<uint64_t> slots;
  x.pushSlots(slots);
  slots.insert(slots.end(), {30, 8});
  CHECK(program->run(slots, 0, 8) == std::pair<int64_t, int64_t>(0, 0));
  x.set({13}, -1);
  x.set({22}, -1);
  CHECK(program->run(slots, 0, 8) == std::pair<int64_t, int64_t>(2, 3));
  CHECK(program->run(slots, 4, 8) == std::pair<int64_t, int64_t>(2, 5));
  CHECK(program->run(slots, 0, 27) == std::pair<int64_t, int64_t>(2, 3));
}

TEST_CASE("what the host cannot hold is an error") {
  auto message = [](const std::string &ir) {
    Result<HostProgram> program = compileHost(ir);
    return program ? std::string("compiled") : program.error().message;
  };
  std::string body = R"(
  %c0 = arith.constant 0 : i64
  %a = tile.load %x[%c0, %c0] widths [4294967296, 4294967296] steps [1, 1] : !tile.view<?x?xf32>[i64, i64] -> tensor<4294967296x4294967296xf32>
  tile.store %a, %x[%c0, %c0] widths [4294967296, 4294967296] steps [1, 1] : tensor<4294967296x4294967296xf32>, !tile.view<?x?xf32>[i64, i64])";
  CHECK(message(kernelText({{"x", "f32", "inout", "?x?", {"M", "M"}}}, {"M"}, {{"i", "0", "1", "1"}}, body))
            .find("T0508") != std::string::npos);
  std::string renamed = kernelText({}, {}, {{"i", "0", "1", "1"}}, "");
  renamed.replace(renamed.find("@k"), 2, "@memset");
  CHECK(message(renamed).find("T0507") != std::string::npos);
}

TEST_CASE("a chain of thousands of operations neither overflows the stack nor takes long") {
  std::string body = "  %c0 = arith.constant 0 : i64\n  %v0 = tile.load %x[%c0] widths [8] steps [1] : "
                     "!tile.view<8xi32>[i64] -> tensor<8xi32>\n";
  for (int i = 0; i < 5000; ++i)
    body += fmt::format("  %v{0} = arith.{2} %v{1}, %v{1} : tensor<8xi32>\n", i + 1, i, i % 2 ? "addi" : "muli");
  body += "  tile.store %v5000, %x[%c0] widths [8] steps [1] : tensor<8xi32>, !tile.view<8xi32>[i64]\n";
  Tensor x("i32", {8});
  x.random(3, 1, 50);
  Tensor before = x;
  CHECK(launch(kernelText({{"x", "i32", "inout", "8", {"8"}}}, {}, {{"i", "0", "1", "1"}}, body), "", {&x}, {1}, 1) ==
        "");
  CHECK(compare(x, [&](const Index &at) {
          uint32_t value = uint32_t(int32_t(before.get(at)));
          for (int i = 0; i < 5000; ++i)
            value = i % 2 ? value + value : value * value;
          return double(int32_t(value));
        }) == "");
}
