//===- ImageTest.cpp - element types and the kernel image file ------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Everything survives the file; no damaged file is accepted or read beyond its end (run under the address sanitizer too).
//
#include "runtime/Image/KernelImage.h"

#include <catch2/catch.hpp>

#include <random>

using namespace tessera;

namespace {

KernelImage sample() {
  KernelImage image;
  image.target = "sm_90a";
  image.source = "linear.tile";
  image.code = std::string("PTX\0text", 8);
  KernelInfo kernel;
  kernel.name = "linear";
  kernel.entry = "linear_1";
  ParamInfo x;
  x.name = "x";
  x.isTensor = true;
  x.dtype = DType::BF16;
  x.mode = ParamMode::Accum;
  x.clearFirst = true;
  x.extents = {Expr::symbol("B"), Expr::node("ceildiv", {Expr::symbol("K"), Expr::constant(int64_t(128))})};
  x.contract = {16, 1, {8, 1}, {1, 64}};
  ParamInfo bias;
  bias.name = "bias";
  bias.isTensor = true;
  bias.present = false;
  ParamInfo scale;
  scale.name = "scale";
  scale.dtype = DType::F64;
  kernel.params = {x, bias, scale};
  kernel.dims = {"B", "K"};
  kernel.grid = {{"m", Expr::constant(int64_t(0)), Expr::symbol("B"), Expr::constant(int64_t(128))}};
  kernel.requirements = {{*Expr::parse("(> scale 0.0)"), "scale > 0.0", 12, 3}};
  kernel.threads = 128;
  kernel.sharedBytes = 65536;
  kernel.scratchBytes = 4096;
  kernel.stepOnly = true;
  kernel.extensions = {{"hint", false, std::string("\0\1", 2)}};
  image.kernels = {kernel, KernelInfo{}};
  OpInfo op;
  op.signature.name = "twice";
  op.signature.params = {x, scale};
  op.temps = {{"part", DType::F32, {Expr::symbol("B"), Expr::constant(int64_t(4))}, 0, 1}};
  op.steps = {{OpStep::Kind::Fill, 0, {{StepArgument::Kind::Temp, 0, {}}}, 0x3f800000, 4, 3},
              {OpStep::Kind::Launch,
               0,
               {{StepArgument::Kind::Temp, 0, {}}, {}, {StepArgument::Kind::Scalar, 0, Expr::symbol("scale")}},
               0,
               5,
               3}};
  image.ops = {op};
  return image;
}

} // namespace

TEST_CASE("element types have names and sizes") {
  std::pair<const char *, int> expected[] = {{"bool", 1}, {"i8", 1},  {"i16", 2}, {"i32", 4},    {"i64", 8},
                                             {"u8", 1},   {"u16", 2}, {"u32", 4}, {"u64", 8},    {"f16", 2},
                                             {"bf16", 2}, {"f32", 4}, {"f64", 8}, {"f8e4m3", 1}, {"f8e5m2", 1}};
  for (int i = 0; i < 15; ++i) {
    DType type = static_cast<DType>(i);
    CHECK(nameOf(type) == expected[i].first);
    CHECK(sizeOf(type) == expected[i].second);
    CHECK(parseDType(expected[i].first) == type);
    CHECK(isFloat(type) == (std::string(expected[i].first).find('f') != std::string::npos));
  }
  CHECK(isSignedInteger(DType::I8));
  CHECK_FALSE(isSignedInteger(DType::U8));
  CHECK(isUnsignedInteger(DType::U64));
  CHECK_FALSE(isUnsignedInteger(DType::Bool));
  CHECK_FALSE(parseDType("float"));
  CHECK_FALSE(parseDType(""));
}

TEST_CASE("an image survives its file") {
  KernelImage image = sample();
  Result<KernelImage> back = KernelImage::deserialize(image.serialize());
  REQUIRE(back);
  CHECK(back->target == "sm_90a");
  CHECK(back->source == "linear.tile");
  CHECK(back->code == image.code);
  CHECK(back->codeKind == KernelImage::Code::Ptx);
  REQUIRE(back->kernels.size() == 2);
  const KernelInfo &kernel = back->kernels[0];
  CHECK(kernel.name == "linear");
  CHECK(kernel.entry == "linear_1");
  REQUIRE(kernel.params.size() == 3);
  CHECK(kernel.params[0].mode == ParamMode::Accum);
  CHECK(kernel.params[0].clearFirst);
  CHECK(kernel.params[0].present);
  CHECK(kernel.params[0].dtype == DType::BF16);
  CHECK(kernel.params[0].extents == image.kernels[0].params[0].extents);
  CHECK(kernel.params[0].contract == image.kernels[0].params[0].contract);
  CHECK_FALSE(kernel.params[1].present);
  CHECK_FALSE(kernel.params[2].isTensor);
  CHECK(kernel.dims == std::vector<std::string>{"B", "K"});
  CHECK(kernel.grid[0].hi == Expr::symbol("B"));
  CHECK(kernel.requirements[0].text == "scale > 0.0");
  CHECK(kernel.requirements[0].line == 12);
  CHECK(kernel.threads == 128);
  CHECK(kernel.sharedBytes == 65536);
  CHECK(kernel.scratchBytes == 4096);
  CHECK(kernel.stepOnly);
  CHECK(kernel.extensions == image.kernels[0].extensions);
  REQUIRE(back->ops.size() == 1);
  const OpInfo &op = back->ops[0];
  CHECK(op.signature.name == "twice");
  CHECK(op.temps[0].name == "part");
  CHECK(op.temps[0].extents == image.ops[0].temps[0].extents);
  CHECK(op.temps[0].lastStep == 1);
  REQUIRE(op.steps.size() == 2);
  CHECK(op.steps[0].kind == OpStep::Kind::Fill);
  CHECK(op.steps[0].pattern == 0x3f800000);
  CHECK(op.steps[1].arguments[2].value == Expr::symbol("scale"));
  CHECK(op.steps[1].arguments[0].kind == StepArgument::Kind::Temp);
  CHECK(op.steps[1].line == 5);
  CHECK(back->serialize() == image.serialize());
}

TEST_CASE("an op whose indices lead nowhere is damage, a required extension is a newer version") {
  auto refused = [](auto change) {
    KernelImage image = sample();
    change(image);
    Result<KernelImage> back = KernelImage::deserialize(image.serialize());
    REQUIRE_FALSE(back);
    return back.error();
  };
  CHECK(refused([](KernelImage &i) { i.ops[0].steps[1].kernel = 2; }).code == "T0630");
  CHECK(refused([](KernelImage &i) { i.ops[0].steps[1].arguments.pop_back(); }).code == "T0630");
  CHECK(refused([](KernelImage &i) { i.ops[0].steps[0].arguments[0].index = 1; }).code == "T0630");
  CHECK(refused([](KernelImage &i) { i.ops[0].steps[1].arguments[2].kind = StepArgument::Kind::Temp; }).code ==
        "T0630");
  CHECK(refused([](KernelImage &i) {
          i.ops[0].steps[1].arguments[0] = {StepArgument::Kind::Param, 1, {}}; // a scalar
        }).code == "T0630");
  CHECK(refused([](KernelImage &i) { i.ops[0].temps[0].lastStep = 2; }).code == "T0630");
  CHECK(refused([](KernelImage &i) { i.ops[0].temps[0].lastStep = 0; }).code == "T0630"); // step 1 uses it
  Error newer = refused([](KernelImage &i) { i.kernels[1].extensions = {{"tensor-maps", true, ""}}; });
  CHECK(newer.code == "T0631");
  CHECK(newer.message == "the kernel image needs 'tensor-maps', which this version of tessera does not have");
}

TEST_CASE("a flipped byte anywhere is found") {
  std::string file = sample().serialize();
  for (size_t i = 0; i < file.size(); ++i) {
    for (int flip : {0x01, 0x80, 0xff}) {
      std::string damaged = file;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      Result<KernelImage> result = KernelImage::deserialize(damaged);
      INFO("byte " << i);
      REQUIRE_FALSE(result);
      CHECK(result.error().fault == Fault::Program);
    }
  }
}

TEST_CASE("a file cut off anywhere, or with more at its end, is refused") {
  std::string file = sample().serialize();
  for (size_t size = 0; size < file.size(); ++size)
    CHECK_FALSE(KernelImage::deserialize(std::string_view(file).substr(0, size)));
  CHECK_FALSE(KernelImage::deserialize(file + "x"));
}

TEST_CASE("damage under a right checksum is bounded by the reader") {
  // The checksum is no protection against a file made to harm: recompute it after random damage and read on.
  std::string file = sample().serialize();
  std::mt19937 engine(3);
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = file;
    for (int k = 0; k < 1 + round % 4; ++k)
      damaged[32 + engine() % (file.size() - 32)] = static_cast<char>(engine());
    uint64_t hash = 0xcbf29ce484222325ull;
    for (size_t i = 32; i < damaged.size(); ++i)
      hash = (hash ^ static_cast<unsigned char>(damaged[i])) * 0x100000001b3ull;
    for (int i = 0; i < 8; ++i)
      damaged[24 + i] = static_cast<char>(hash >> (8 * i));
    Result<KernelImage> result = KernelImage::deserialize(damaged);
    if (result) {
      ++accepted; // a changed letter of a name is a legal image; whatever is accepted can be written and read again
      CHECK(KernelImage::deserialize(result->serialize()));
    }
  }
  CHECK(accepted > 0);
  CHECK(accepted < 20000);
}

TEST_CASE("refusals say what is wrong") {
  CHECK(KernelImage::deserialize("hello").error().message ==
        "not a kernel image: the file does not begin with the mark of one");
  std::string file = sample().serialize();
  file[8] = 99;
  Result<KernelImage> version = KernelImage::deserialize(file);
  // The current number stands in the header of every file; 99 is not it.
  int current = static_cast<unsigned char>(sample().serialize()[8]);
  CHECK(version.error().message == "the kernel image has format version 99, expected " + std::to_string(current));
  CHECK(version.error().code == "T0631");
  file = sample().serialize();
  file.back() ^= 1;
  CHECK(KernelImage::deserialize(file).error().message == "the kernel image is damaged: its checksum does not match");
}
