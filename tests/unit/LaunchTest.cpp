//===- LaunchTest.cpp - the checks of a launch, one negative test a rule --------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Each diagnostic code T0601 to T0618 of the launcher with its exact text; the slot list; no-ops; clearing; contracts.
//
#include "runtime/Launch/LoadedImage.h"
#include "runtime/Launch/Overlap.h"

#include "runtime/Cpu/ThreadPool.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <cstring>

using namespace tessera;

namespace {

Expr parse(const char *text) { return *Expr::parse(text); }

ParamInfo tensorParam(const char *name, ParamMode mode, std::vector<Expr> extents, DType dtype = DType::F32) {
  ParamInfo param;
  param.name = name;
  param.isTensor = true;
  param.dtype = dtype;
  param.mode = mode;
  param.extents = std::move(extents);
  return param;
}

/// linear(x: in f32[B, I], w: in f32[O, I], y: out f32[B, O], scale: f32) requires scale > 0.0 grid (m in 0..B by 16, n in 0..O by 32)
KernelInfo linear() {
  KernelInfo kernel;
  kernel.name = "linear";
  kernel.entry = "linear";
  ParamInfo scale;
  scale.name = "scale";
  kernel.params = {tensorParam("x", ParamMode::In, {parse("B"), parse("I")}),
                   tensorParam("w", ParamMode::In, {parse("O"), parse("I")}),
                   tensorParam("y", ParamMode::Out, {parse("B"), parse("O")}), scale};
  kernel.dims = {"B", "I", "O"};
  kernel.grid = {{"m", parse("0"), parse("B"), parse("16")}, {"n", parse("0"), parse("O"), parse("32")}};
  kernel.requirements = {{parse("(> scale 0.0)"), "scale > 0.0", 3, 12}};
  return kernel;
}

alignas(64) float storage[3][4096];

TensorRef dense(int buffer, std::vector<int64_t> shape, DType dtype = DType::F32) {
  return TensorRef::contiguous(storage[buffer], dtype, std::move(shape));
}

/// Right arguments for linear(): B = 33, I = 8, O = 40.
std::vector<Argument> rightArguments() {
  return {dense(0, {33, 8}), dense(1, {40, 8}), dense(2, {33, 40}), ScalarRef::of(0.5f)};
}

void checkFails(const KernelInfo &kernel, const std::vector<Argument> &arguments, const std::string &code,
                const std::string &message) {
  Result<LaunchPlan> plan = planLaunch(kernel, arguments);
  REQUIRE_FALSE(plan);
  CHECK(plan.error().fault == Fault::Program);
  CHECK(plan.error().code == code);
  CHECK(plan.error().message == message);
  CHECK_FALSE(plan.error().remedy.empty());
}

TensorRef &tensorOf(std::vector<Argument> &arguments, size_t i) { return std::get<TensorRef>(arguments[i]); }

} // namespace

TEST_CASE("right arguments become slots in the documented order") {
  Result<LaunchPlan> plan = planLaunch(linear(), rightArguments());
  REQUIRE(plan);
  CHECK(plan->programs == 3 * 2);
  auto address = [](int i) { return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(storage[i])); };
  CHECK(plan->slots == std::vector<uint64_t>{address(0), 8, 1, address(1), 8, 1, address(2), 40, 1, /*B I O*/ 33, 8, 40,
                                             /*0.5f*/ 0x3f000000, /*grid*/ 3, 2});
  CHECK(plan->clears.empty());
}

TEST_CASE("an absent optional tensor takes no slots") {
  KernelInfo kernel = linear();
  ParamInfo bias = tensorParam("bias", ParamMode::In, {parse("Q")});
  bias.present = false;
  kernel.params.insert(kernel.params.begin() + 2, bias);
  std::vector<Argument> arguments = rightArguments();
  arguments.insert(arguments.begin() + 2, std::monostate());
  Result<LaunchPlan> plan = planLaunch(kernel, arguments);
  REQUIRE(plan);
  CHECK(plan->slots == planLaunch(linear(), rightArguments())->slots);
  arguments[2] = dense(0, {4});
  checkFails(kernel, arguments, "T0618", "argument 'bias' of 'linear' was compiled as absent, found a value");
}

TEST_CASE("T0601, T0602, T0603, T0618: kinds, types, ranks, presence") {
  std::vector<Argument> arguments = rightArguments();
  arguments.pop_back();
  checkFails(linear(), arguments, "T0601", "'linear' takes 4 arguments, found 3");
  arguments = rightArguments();
  arguments[3] = dense(0, {1});
  checkFails(linear(), arguments, "T0601", "argument 'scale' of 'linear' is a tensor, expected a scalar");
  arguments = rightArguments();
  arguments[0] = ScalarRef::of(1.0f);
  checkFails(linear(), arguments, "T0601", "argument 'x' of 'linear' is a scalar, expected a tensor");
  arguments = rightArguments();
  tensorOf(arguments, 1).dtype = DType::BF16;
  checkFails(linear(), arguments, "T0602", "argument 'w' of 'linear' has element type bf16, expected f32");
  arguments = rightArguments();
  arguments[3] = ScalarRef::of(0.5);
  checkFails(linear(), arguments, "T0602", "argument 'scale' of 'linear' has element type f64, expected f32");
  arguments = rightArguments();
  arguments[0] = dense(0, {264});
  checkFails(linear(), arguments, "T0603", "argument 'x' of 'linear' has 1 dimensions, expected 2");
  arguments = rightArguments();
  arguments[2] = std::monostate();
  checkFails(linear(), arguments, "T0618", "argument 'y' of 'linear' is missing");
}

TEST_CASE("T0604, T0605: dimensions and extents") {
  std::vector<Argument> arguments = rightArguments();
  arguments[1] = dense(1, {40, 9});
  checkFails(linear(), arguments, "T0604",
             "argument 'w' of 'linear': extent 1 ('I') is 9, expected 8 as bound by extent 1 of 'x'");
  KernelInfo kernel = linear();
  kernel.params[1].extents[1] = parse("(ceildiv I 3)");
  arguments = rightArguments();
  checkFails(kernel, arguments, "T0605",
             "argument 'w' of 'linear': extent 1 ('ceildiv(I, 3)') is 8, expected 3 where I = 8");
  arguments[1] = dense(1, {40, 3});
  CHECK(planLaunch(kernel, arguments));
  kernel = linear();
  kernel.params[0].extents[1] = kernel.params[1].extents[1] = parse("16");
  kernel.dims = {"B", "O"};
  checkFails(kernel, rightArguments(), "T0605",
             "argument 'x' of 'linear': extent 1 is 8, expected 16 as fixed when the kernel was compiled");
}

TEST_CASE("a dimension binds at its plain occurrence, else at name + c") {
  // varlen(offsets: in i32[S + 1], out: out f32[S])
  KernelInfo kernel;
  kernel.name = "varlen";
  kernel.params = {tensorParam("offsets", ParamMode::In, {parse("(+ S 1)")}, DType::I32),
                   tensorParam("o", ParamMode::Out, {parse("S")})};
  kernel.dims = {"S"};
  kernel.grid = {{"s", parse("0"), parse("S"), parse("1")}};
  std::vector<Argument> arguments = {dense(0, {5}, DType::I32), dense(1, {4})};
  REQUIRE(planLaunch(kernel, arguments));
  arguments[0] = dense(0, {6}, DType::I32);
  checkFails(kernel, arguments, "T0605",
             "argument 'offsets' of 'varlen': extent 0 ('S + 1') is 6, expected 5 where S = 4");

  kernel.params[1].extents = {parse("7")};
  arguments = {dense(0, {5}, DType::I32), dense(1, {7})};
  Result<LaunchPlan> plan = planLaunch(kernel, arguments);
  REQUIRE(plan);
  CHECK(plan->programs == 4);
  for (const char *other : {"(+ 1 S)", "(- S -1)"}) {
    kernel.params[0].extents = {parse(other)};
    CHECK(planLaunch(kernel, arguments)->programs == 4);
  }
  kernel.params[0].extents = {parse("(+ S 1)")};
  arguments[0] = dense(0, {0}, DType::I32);
  checkFails(kernel, arguments, "T0612",
             "argument 'offsets' of 'varlen': extent 0 ('S + 1') is 0, which makes 'S' negative");
  kernel.params[0].extents = {parse("5")};
  arguments[0] = dense(0, {5}, DType::I32);
  checkFails(kernel, arguments, "T0612", "no argument of 'varlen' gives a value to dimension 'S'");
}

TEST_CASE("T0606: requires") {
  std::vector<Argument> arguments = rightArguments();
  arguments[3] = ScalarRef::of(-1.5f);
  checkFails(linear(), arguments, "T0606",
             "'linear' requires scale > 0.0 (line 3, column 12), which is false where scale = -1.5");
  KernelInfo kernel = linear();
  kernel.requirements = {{parse("(== (% O I) 1)"), "O % I == 1", 4, 1}};
  checkFails(kernel, rightArguments(), "T0606",
             "'linear' requires O % I == 1 (line 4, column 1), which is false where O = 40, I = 8");
}

TEST_CASE("T0607, T0608, T0609: the contract of the compiled code") {
  KernelInfo kernel = linear();
  kernel.params[0].contract.align = 16;
  std::vector<Argument> arguments = rightArguments();
  CHECK(planLaunch(kernel, arguments));
  tensorOf(arguments, 0).data = reinterpret_cast<void *>(uintptr_t(0x1004));
  checkFails(kernel, arguments, "T0607", "argument 'x' of 'linear': address 0x1004 is not a multiple of 16 bytes");
  tensorOf(arguments, 0).data = reinterpret_cast<void *>(uintptr_t(0x1002));
  checkFails(linear(), arguments, "T0607", "argument 'x' of 'linear': address 0x1002 is not a multiple of 4 bytes");

  kernel = linear();
  kernel.params[1].contract.unitDim = 1;
  arguments = rightArguments();
  CHECK(planLaunch(kernel, arguments));
  tensorOf(arguments, 1).strides = {1, 40};
  checkFails(kernel, arguments, "T0608", "argument 'w' of 'linear': stride 1 is 40, expected 1");

  kernel = linear();
  kernel.params[0].contract.strideDiv = {8, 1};
  kernel.params[0].contract.extentDiv = {1, 4};
  arguments = rightArguments();
  CHECK(planLaunch(kernel, arguments));
  tensorOf(arguments, 0).strides = {9, 1};
  checkFails(kernel, arguments, "T0609", "argument 'x' of 'linear': stride 0 is 9, expected a multiple of 8");
  kernel.params[0].contract = {};
  kernel.params[0].contract.extentDiv = {32, 1};
  checkFails(kernel, rightArguments(), "T0609", "argument 'x' of 'linear': extent 0 is 33, expected a multiple of 32");
}

TEST_CASE("T0610, T0611: aliasing of what is written") {
  std::vector<Argument> arguments = rightArguments();
  tensorOf(arguments, 1).data = tensorOf(arguments, 0).data; // inputs may overlap
  CHECK(planLaunch(linear(), arguments));
  tensorOf(arguments, 2).data = &storage[0][33 * 8 - 1]; // the last element of x
  checkFails(linear(), arguments, "T0610", "argument 'y' of 'linear' is written, but shares memory with 'x'");
  tensorOf(arguments, 2).mayOverlap = true;
  CHECK(planLaunch(linear(), arguments));
  tensorOf(arguments, 2).mayOverlap = false;
  tensorOf(arguments, 2).data = &storage[0][40 * 8];
  CHECK(planLaunch(linear(), arguments));
  arguments = rightArguments();
  tensorOf(arguments, 2).strides = {0, 1};
  checkFails(linear(), arguments, "T0611",
             "argument 'y' of 'linear' is written, but several of its indices name one element: shape [33, 40], "
             "strides [0, 1]");
}

TEST_CASE("T0613: the grid") {
  KernelInfo kernel = linear();
  kernel.grid[0].step = parse("(- B 33)");
  checkFails(kernel, rightArguments(), "T0613", "the step of grid axis 'm' of 'linear' is 0, expected more than 0");
  kernel = linear();
  kernel.grid = {{"m", parse("0"), parse("4294967296"), parse("1")},
                 {"n", parse("0"), parse("4294967296"), parse("1")}};
  checkFails(kernel, rightArguments(), "T0613", "the grid of 'linear' has more than 2^63 - 1 programs");
  kernel.grid = {{"m", parse("-9223372036854775808"), parse("9223372036854775807"), parse("1")}};
  checkFails(kernel, rightArguments(), "T0613", "the grid of 'linear' has more than 2^63 - 1 programs");
  kernel.grid = {{"m", parse("-9223372036854775808"), parse("9223372036854775807"), parse("4611686018427387904")}};
  CHECK(planLaunch(kernel, rightArguments())->programs == 4);
  kernel.grid = {{"m", parse("5"), parse("3"), parse("1")},
                 {"n", parse("0"), parse("9223372036854775807"), parse("1")}};
  CHECK(planLaunch(kernel, rightArguments())->programs == 0); // an empty axis beside a huge one
}

TEST_CASE("T0614: descriptions of tensors") {
  std::vector<Argument> arguments = rightArguments();
  tensorOf(arguments, 0).strides = {8};
  checkFails(linear(), arguments, "T0614", "argument 'x' of 'linear' has 2 extents but 1 strides");
  arguments = rightArguments();
  tensorOf(arguments, 0).shape = {33, -8};
  checkFails(linear(), arguments, "T0614", "argument 'x' of 'linear': extent 1 is -8, expected 0 or more");
  arguments = rightArguments();
  tensorOf(arguments, 0).data = nullptr;
  checkFails(linear(), arguments, "T0614", "argument 'x' of 'linear' has elements but a null pointer");
  for (int64_t stride : {INT64_MAX, INT64_MIN, INT64_MAX / 64}) {
    arguments = rightArguments();
    tensorOf(arguments, 0).strides = {stride, 1};
    checkFails(linear(), arguments, "T0614",
               "argument 'x' of 'linear' spans more than 2^63 bytes: shape [33, 8], strides [" +
                   std::to_string(stride) + ", 1]");
  }
}

TEST_CASE("empty work is a no-op, after the checks of types, extents and requires") {
  std::vector<Argument> arguments = {TensorRef::contiguous(nullptr, DType::F32, {0, 8}), dense(1, {40, 8}),
                                     TensorRef::contiguous(nullptr, DType::F32, {0, 40}), ScalarRef::of(0.5f)};
  Result<LaunchPlan> plan = planLaunch(linear(), arguments);
  REQUIRE(plan);
  CHECK(plan->programs == 0);
  arguments[3] = ScalarRef::of(-1.0f);
  checkFails(linear(), arguments, "T0606",
             "'linear' requires scale > 0.0 (line 3, column 12), which is false where scale = -1");
  arguments[3] = ScalarRef::of(0.5f);
  arguments[1] = dense(1, {40, 7});
  checkFails(linear(), arguments, "T0604",
             "argument 'w' of 'linear': extent 1 ('I') is 7, expected 8 as bound by extent 1 of 'x'");
}

TEST_CASE("clearing happens with an empty grid, and only where the tensor is") {
  KernelInfo kernel = linear();
  kernel.params[2].mode = ParamMode::Accum;
  kernel.params[2].clearFirst = true;
  kernel.grid[0].hi = parse("I"); // I = 0 makes the grid empty while y has elements
  KernelImage image;
  image.codeKind = KernelImage::Code::HostObject;
  image.kernels = {kernel};
  static std::atomic<int> runs{0};
  auto entry = +[](const uint64_t *, int64_t first, int64_t last, void *) { runs += static_cast<int>(last - first); };
  auto loaded = LoadedImage::onHost(
      image, std::make_shared<ThreadPool>(2), [&](const std::string &) { return reinterpret_cast<void *>(entry); },
      nullptr);
  REQUIRE(loaded);
  std::fill(std::begin(storage[2]), std::end(storage[2]), 1.0f);
  TensorRef y = dense(2, {3, 4});
  y.strides = {10, 2}; // every other element of every tenth
  std::vector<Argument> arguments = {TensorRef::contiguous(nullptr, DType::F32, {3, 0}),
                                     TensorRef::contiguous(nullptr, DType::F32, {4, 0}), y, ScalarRef::of(0.5f)};
  REQUIRE((*loaded)->launch(0, arguments, nullptr));
  CHECK(runs == 0);
  for (int i = 0; i < 4096; ++i) {
    bool inside = i / 10 < 3 && i % 10 < 8 && i % 2 == 0;
    if (storage[2][i] != (inside ? 0.0f : 1.0f))
      FAIL("element " << i);
  }
}

TEST_CASE("clearRuns covers exactly the elements of a tensor") {
  std::pair<std::vector<int64_t>, std::vector<int64_t>> cases[] = {
      {{4, 5}, {5, 1}},        {{4, 5}, {1, 4}}, {{4, 5}, {-5, 1}},  {{4, 5}, {7, 1}},
      {{3, 2, 4}, {20, 9, 2}}, {{}, {}},         {{1, 1}, {99, 77}}, {{2, 3, 2, 2}, {100, 30, 11, 3}},
      {{3, 4}, {4, 3}},        {{0, 4}, {4, 1}}};
  for (auto &[shape, strides] : cases) {
    std::vector<unsigned char> bytes(4096, 1), expected(4096, 1);
    TensorRef tensor;
    tensor.data = bytes.data() + 1000;
    tensor.dtype = DType::F16;
    tensor.shape = shape;
    tensor.strides = strides;
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    for (int64_t n = 0; n < count; ++n) {
      int64_t rest = n, offset = 0;
      for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
        offset += rest % shape[d] * strides[d];
      expected[1000 + 2 * offset] = expected[1001 + 2 * offset] = 0;
    }
    for (const ClearRun &run : clearRuns(tensor))
      for (size_t row = 0; row < run.rows; ++row)
        std::memset(run.first + row * run.pitch, 0, run.width);
    CHECK(bytes == expected);
  }
}

TEST_CASE("an image for another device, an unknown kernel") {
  KernelImage image;
  image.target = "sm_90a";
  image.kernels = {linear()};
  auto pool = std::make_shared<ThreadPool>(1);
  auto none = [](const std::string &) -> void * { return nullptr; };
  auto wrong = LoadedImage::onHost(image, pool, none, nullptr);
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == "T0632");
  CHECK(wrong.error().message == "an image for 'sm_90a' cannot run on the cpu");
  image.codeKind = KernelImage::Code::HostObject;
  auto missing = LoadedImage::onHost(image, pool, none, nullptr);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().fault == Fault::Internal);
  auto some = [](const std::string &) -> void * { return storage; };
  image.kernels.push_back(linear());
  image.kernels[1].name = "other";
  auto loaded = LoadedImage::onHost(image, pool, some, nullptr);
  REQUIRE(loaded);
  CHECK(*(*loaded)->find("other") == 1);
  CHECK((*loaded)->find("lin").error().message == "there is no kernel 'lin'; found: linear, other");
  CHECK((*loaded)->find("").error().message == "several kernels to choose from: linear, other");
}

TEST_CASE("contracts are the widest that hold, capped") {
  auto derive = [](uintptr_t address, std::vector<int64_t> shape, std::vector<int64_t> strides) {
    TensorRef tensor;
    tensor.data = reinterpret_cast<void *>(address);
    tensor.shape = std::move(shape);
    tensor.strides = std::move(strides);
    return deriveContract(tensor);
  };
  CHECK(derive(0x1000, {48, 64}, {64, 1}) == TensorContract{16, 1, {64, 1}, {16, 64}});
  CHECK(derive(0x1008, {33, 256}, {1024, 1}) == TensorContract{8, 1, {64, 1}, {1, 64}});
  CHECK(derive(0x1004, {64, 48}, {1, 100}) == TensorContract{4, 0, {1, 4}, {64, 16}});
  CHECK(derive(0x1001, {5}, {3}) == TensorContract{1, -1, {1}, {1}});
  CHECK(derive(0x1000, {1, 8}, {77, 1}) == TensorContract{16, 1, {64, 1}, {1, 8}}); // one row: any stride
  CHECK(derive(0x1000, {8, 1}, {5, 9}) == TensorContract{16, 1, {1, 64}, {8, 1}});  // a trivial dimension is dense
  CHECK(derive(0x1000, {8, 1}, {1, 1}).unitDim == 0);                               // but a real one comes first
  CHECK(derive(0, {0, 4}, {4, 1}) == TensorContract{16, 1, {64, 1}, {64, 4}});
  CHECK(derive(0x1000, {4}, {-8}).strideDiv == std::vector<int64_t>{8});
  CHECK(derive(0x1000, {}, {}) == TensorContract{16, -1, {}, {}});
}

TEST_CASE("scalars convert where nothing is lost") {
  CHECK(ScalarRef::convert(int64_t(-1), DType::I8)->bits == 0xff);
  CHECK_FALSE(ScalarRef::convert(int64_t(128), DType::I8));
  CHECK_FALSE(ScalarRef::convert(int64_t(-1), DType::U32));
  CHECK(ScalarRef::convert(int64_t(-1), DType::I64)->bits == ~uint64_t(0));
  CHECK_FALSE(ScalarRef::convert(int64_t(2), DType::Bool));
  CHECK(ScalarRef::convert(~uint64_t(0), DType::U64)->bits == ~uint64_t(0));
  CHECK_FALSE(ScalarRef::convert(uint64_t(1) << 63, DType::I64));
  CHECK(ScalarRef::convert(uint64_t(1) << 63, DType::F64)->bits == std::bit_cast<uint64_t>(0x1p63));
  CHECK(ScalarRef::convert(3.0, DType::I32)->bits == 3);
  CHECK_FALSE(ScalarRef::convert(3.5, DType::I32));
  CHECK(ScalarRef::convert(1.0, DType::BF16)->bits == 0x3f80);
  CHECK(ScalarRef::convert(1.0, DType::F16)->bits == 0x3c00);
  CHECK(std::get<int64_t>(ScalarRef::of(int32_t(-5)).value()) == -5);
  CHECK(std::get<double>(ScalarRef::of(0.25f).value()) == 0.25);
}
