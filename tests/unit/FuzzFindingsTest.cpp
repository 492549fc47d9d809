//===- FuzzFindingsTest.cpp - programs that random_programs found wrong, made small ------- SPDX: Apache-2.0 WITH LLVM-exception -===//
#include "runtime/Api/tessera.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace tessera;

// R8.5, seed 4615: an amount of a wider signed type was clamped to the left operand's type, so that -1 became 0 and shifted nothing out of an unsigned value.
TEST_CASE("a negative amount shifts an unsigned value all out, also one of a wider type") {
  ProgramOptions options;
  options.device = Device::cpu(1);
  Expected<Program> program = Program::fromSource("kernel k(x: in u8[N], n: in i32[N], l: out u8[N], r: out u8[N])\n"
                                                  "  grid (i in 0..N by 8)\n{\n"
                                                  "  l[i +: 8] = x[i +: 8] << n[i +: 8]\n"
                                                  "  r[i +: 8] = x[i +: 8] >> n[i +: 8]\n}\n",
                                                  options);
  REQUIRE(program);
  Expected<Kernel> kernel = program->kernel("k");
  REQUIRE(kernel);
  std::vector<uint8_t> x{226, 226, 226, 226, 226, 226}, left(6, 9), right(6, 9);
  std::vector<int32_t> n{-1, INT32_MIN, 0, 1, 8, 256};
  auto ref = [](auto &v, DType type) { return TensorRef::contiguous(v.data(), type, {6}); };
  Expected<void> done =
      kernel->launch(nullptr, ref(x, DType::U8), ref(n, DType::I32), ref(left, DType::U8), ref(right, DType::U8));
  REQUIRE(done);
  CHECK(left == std::vector<uint8_t>{0, 0, 226, 196, 0, 0});
  CHECK(right == std::vector<uint8_t>{0, 0, 226, 113, 0, 0});
}
