//===- OpPlanTest.cpp - ops at launch: workspace, steps, refusals --------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Images made by hand, with host entries of this file: what is planned is what runs.
//
#include "runtime/Cpu/ThreadPool.h"
#include "runtime/Launch/LoadedImage.h"

#include <catch2/catch.hpp>

#include <cstring>

using namespace tessera;

namespace {

Expr parse(const char *text) { return *Expr::parse(text); }

ParamInfo tensor(const char *name, ParamMode mode, const char *extent) {
  ParamInfo param;
  param.name = name;
  param.isTensor = true;
  param.mode = mode;
  param.extents = {parse(extent)};
  return param;
}

ParamInfo scalar(const char *name, DType dtype) {
  ParamInfo param;
  param.name = name;
  param.dtype = dtype;
  return param;
}

StepArgument param(int index) { return {StepArgument::Kind::Param, index, {}}; }
StepArgument temp(int index) { return {StepArgument::Kind::Temp, index, {}}; }
StepArgument value(const char *text) { return {StepArgument::Kind::Scalar, 0, parse(text)}; }

/// kernel addTo(x: in f32[N], y: inout f32[N], by: f32) grid (i in 0..N): y += by * x, one element a program.
KernelInfo addTo() {
  KernelInfo kernel;
  kernel.name = kernel.entry = "addTo";
  kernel.params = {tensor("x", ParamMode::In, "N"), tensor("y", ParamMode::InOut, "N"), scalar("by", DType::F32)};
  kernel.dims = {"N"};
  kernel.grid = {{"i", parse("0"), parse("N"), parse("1")}};
  kernel.requirements = {{parse("(> by 0.0)"), "by > 0.0", 7, 2}};
  return kernel;
}

void runAddTo(const uint64_t *slots, int64_t first, int64_t last, void *) {
  // x, stride, y, stride, N, by, programs
  auto *x = reinterpret_cast<const float *>(slots[0]);
  auto *y = reinterpret_cast<float *>(slots[2]);
  float by;
  std::memcpy(&by, &slots[5], 4);
  for (int64_t i = first; i < last; ++i)
    y[i * static_cast<int64_t>(slots[3])] += by * x[i * static_cast<int64_t>(slots[1])];
}

/// op twice(a: in f32[N], out: inout f32[N], s: f32): t = 0.5 everywhere; t += s a; u = 0; u += 2 t; out += u.
KernelImage twice() {
  KernelImage image;
  image.target = "host";
  image.codeKind = KernelImage::Code::HostObject;
  image.kernels = {addTo()};
  image.kernels[0].stepOnly = true;
  OpInfo op;
  op.signature.name = "twice";
  op.signature.params = {tensor("a", ParamMode::In, "N"), tensor("out", ParamMode::InOut, "N"),
                         scalar("s", DType::F32)};
  op.signature.dims = {"N"};
  op.signature.requirements = {{parse("(< N 1000)"), "N < 1000", 2, 3}};
  op.temps = {{"t", DType::F32, {parse("N")}, 0, 3}, {"u", DType::F32, {parse("N")}, 2, 4}};
  op.steps = {{OpStep::Kind::Fill, 0, {temp(0)}, 0x3f000000, 3, 1},
              {OpStep::Kind::Launch, 0, {param(0), temp(0), value("s")}, 0, 4, 1},
              {OpStep::Kind::Fill, 0, {temp(1)}, 0, 5, 1},
              {OpStep::Kind::Launch, 0, {temp(0), temp(1), value("2.0")}, 0, 6, 1},
              {OpStep::Kind::Launch, 0, {temp(1), param(1), value("1.0")}, 0, 7, 1}};
  image.ops = {op};
  return image;
}

std::shared_ptr<const LoadedImage> load(const KernelImage &image) {
  auto loaded = LoadedImage::onHost(
      image, std::make_shared<ThreadPool>(2), [](const std::string &) { return reinterpret_cast<void *>(&runAddTo); },
      nullptr);
  REQUIRE(loaded);
  return *loaded;
}

alignas(256) float a[1024], result[1024], memory[4096];

std::vector<Argument> arguments(int64_t n, float s = 3.0f) {
  for (int i = 0; i < 1024; ++i) {
    a[i] = static_cast<float>(i);
    result[i] = 1.0f;
  }
  return {TensorRef::contiguous(a, DType::F32, {n}), TensorRef::contiguous(result, DType::F32, {n}), ScalarRef::of(s)};
}

void checkResult(int n) {
  for (int i = 0; i < 1024; ++i)
    if (result[i] != (i < n ? 1.0f + 2 * (0.5f + 3 * i) : 1.0f))
      FAIL("element " << i << " is " << result[i]);
}

} // namespace

TEST_CASE("an op runs its steps in its own workspace or in the caller's") {
  auto image = load(twice());
  CHECK(*image->findOp("twice") == 0);
  CHECK_FALSE(image->findOp("addTo"));
  CHECK(image->find("addTo").error().code == "T0615"); // belongs to the op
  REQUIRE(image->launchOp(0, arguments(100), nullptr));
  checkResult(100);
  auto plan = planOp(image->image(), 0, arguments(100));
  REQUIRE(plan);
  CHECK(plan->workspaceBytes == 2 * 512); // 400 bytes each, and both live in step 3
  REQUIRE(image->launchOp(*plan, nullptr, {memory, sizeof(memory)}));
  checkResult(100);
  // The same plan with its workspace elsewhere.
  arguments(100);
  REQUIRE(image->launchOp(*plan, nullptr, {memory + 512, 1024}));
  checkResult(100);
  REQUIRE(image->launchOp(0, arguments(0), nullptr));
  checkResult(0);
}

TEST_CASE("temporaries share memory where no step needs both") {
  KernelImage image = twice();
  OpInfo &op = image.ops[0];
  auto bytes = [&] { return planOp(image, 0, arguments(100))->workspaceBytes; };
  op.temps.push_back({"v", DType::F64, {parse("(* N 2)")}, 4, 4}); // 1600 -> 1792 bytes; u is alive, t is not
  CHECK(bytes() == 1792 + 512);
  op.temps.push_back({"w", DType::F64, {parse("(* N 2)")}, 0, 1}); // at the place of v, which pushes t, and t pushes u
  CHECK(bytes() == 1792 + 512 + 512);
  op.temps.push_back({"x", DType::F64, {parse("(* N 2)")}, 1, 4});
  CHECK(bytes() == 1792 + 1792 + 512 + 512);
  // No two that live together overlap: every step sees its own.
  auto plan = planOp(image, 0, arguments(100));
  std::vector<uint64_t> offsets = {plan->steps[1].launch.slots[2], plan->steps[3].launch.slots[2]};
  CHECK(offsets[0] != offsets[1]);
  CHECK(plan->steps[3].launch.slots[0] == offsets[0]); // t where it was written
  CHECK(plan->steps[4].launch.slots[0] == offsets[1]);
}

TEST_CASE("everything is checked before the first step") {
  auto image = load(twice());
  auto fails = [&](const std::vector<Argument> &list, const char *code, const std::string &message,
                   const Workspace &workspace = {}) {
    std::vector<float> before(result, result + 1024);
    auto status = image->launchOp(0, list, nullptr, workspace);
    REQUIRE_FALSE(status);
    CHECK(status.error().code == code);
    CHECK(status.error().message == message);
    CHECK_FALSE(status.error().remedy.empty());
    CHECK(std::equal(before.begin(), before.end(), result)); // the inout tensor is untouched
  };
  fails(arguments(1000), "T0606", "'twice' requires N < 1000 (line 2, column 3), which is false where N = 1000");
  fails(arguments(8, -1.0f), "T0606",
        "'addTo' requires by > 0.0 (line 7, column 2), which is false where by = -1 (in 'twice', line 4)");
  auto aliased = arguments(8);
  aliased[0] = aliased[1];
  fails(aliased, "T0610", "argument 'out' of 'twice' is written, but shares memory with 'a'");
  fails(arguments(100), "T0619", "the workspace has 1000 bytes, expected 1024 or more", {memory, 1000});
  CHECK(image->launchOp(0, arguments(100), nullptr, {memory + 1, 4096}).error().code == "T0619");
  fails(arguments(100), "T0610", "the workspace shares memory with an argument", {result, sizeof(result)});
  fails({arguments(8)[0]}, "T0601", "'twice' takes 3 arguments, found 1");

  KernelImage bad = twice();
  bad.ops[0].temps[0].extents = {parse("(- N 4)")};
  CHECK(planOp(bad, 0, arguments(2)).error().message ==
        "the extent 'N - 4' of temporary 't' of 'twice' is -2, expected 0 or more");
  CHECK(planOp(bad, 0, arguments(2)).error().code == "T0626");
  bad.ops[0].temps[0].extents = {parse("(* N 1000000000000000000)")};
  CHECK(planOp(bad, 0, arguments(9)).error().code == "T0626");
  bad = twice();
  bad.kernels[0].params[2].dtype = DType::I8;
  bad.kernels[0].requirements.clear();
  bad.ops[0].steps[1].arguments[2] = value("(* N 100)");
  CHECK(planOp(bad, 0, arguments(8)).error().message == "'by' of 'twice' would be N * 100, which i8 does not hold");
}
