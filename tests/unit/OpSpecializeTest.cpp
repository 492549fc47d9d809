//===- OpSpecializeTest.cpp - compositions: steps, temporaries, every rejection -------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// What an op becomes is compared with what its text says; one program for each way to be wrong, each with one diagnostic.
//
#include "compiler/Frontend/Parser.h"
#include "compiler/Frontend/Specialize.h"

#include "dialect/Tile/TileDialect.h"

#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>

using namespace tessera;

namespace {

/// Kernels for the ops of the tests; they take lines 1 to 5.
const std::string kKernels =
    "kernel copy<T = f32, W = 16>(x: in T[N], y: out T[N]) grid (i in 0..N by W) { y[i +: W] = x[i +: W] }\n"
    "kernel scale<T = f32, W = 16, act = identity>(x: inout T[N], k: f32) requires k != 0.0 grid (i in 0..N by W) { "
    "x[i +: W] = T(act(f32(x[i +: W]) * k)) }\n"
    "kernel total<W = 16>(x: in f32[N], s: accum f32[M] = 0) grid (i in 0..N by W) { s[0] += sum(x[i +: W]) }\n"
    "kernel rows<C: int, T = f32>(x: in T[R, C], b: in T[C] = None, y: out T[R, C], n: i32) grid (r in 0..R) { "
    "y[r, :] = if b != None { x[r, :] + b[:] } else { x[r, :] } }\n"
    "fn identity(x) => x\n";

struct Outcome {
  std::vector<OpInfo> ops;
  std::vector<Diagnostic> diagnostics;
  std::vector<std::string> symbols;
  bool good = false;
};

Outcome run(const std::string &source, CompileOptions options = {}, const std::string &op = "f") {
  Outcome outcome;
  ast::File file = frontend::parse(kKernels + source, "test.tile", outcome.diagnostics);
  REQUIRE(outcome.diagnostics.empty());
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = specialize(file, {op}, options, context, outcome.diagnostics, &outcome.ops);
  outcome.good = bool(module);
  if (module)
    for (auto kernel : module->getOps<tile::KernelOp>())
      outcome.symbols.push_back(kernel.getSymName().str());
  return outcome;
}

OpInfo good(const std::string &source, CompileOptions options = {}) {
  Outcome outcome = run(source, std::move(options));
  for (const Diagnostic &d : outcome.diagnostics)
    UNSCOPED_INFO(d.code << " " << d.place.line << ":" << d.place.column << " " << d.message);
  REQUIRE(outcome.good);
  REQUIRE(outcome.ops.size() == 1);
  return outcome.ops[0];
}

TensorFacts facts(const char *name, std::vector<int64_t> shape, int64_t divisor = 1) {
  TensorFacts f;
  f.param = name;
  f.dtype = DType::F32;
  f.contract.strideDiv.assign(shape.size(), 1);
  f.contract.extentDiv.assign(shape.size(), divisor);
  f.shape = std::move(shape);
  return f;
}

} // namespace

TEST_CASE("an op becomes steps over parameters and temporaries") {
  OpInfo op = good("op f<T = f32>(x: in T[N], y: out T[N], s: f32)\n  requires N > 0\n{\n"
                   "  temp t: T[N]\n  let m = N * 2\n  temp u: T[m] = 1.5\n"
                   "  copy(x, t)\n  scale(t, s)\n  copy(y = y, x = t)\n  scale(u, k = s * 2.0)\n}\n");
  CHECK(op.signature.name == "f");
  CHECK(op.signature.dims == std::vector<std::string>{"N"});
  REQUIRE(op.signature.params.size() == 3);
  CHECK(op.signature.params[1].mode == ParamMode::Out);
  CHECK(op.signature.requirements[0].text == "N > 0");
  REQUIRE(op.temps.size() == 2);
  CHECK(op.temps[1].extents == std::vector<Expr>{*Expr::parse("(* N 2)")});
  REQUIRE(op.steps.size() == 5);
  CHECK((op.temps[0].firstStep == 0 && op.temps[0].lastStep == 2));
  CHECK((op.temps[1].firstStep == 3 && op.temps[1].lastStep == 4)); // filled right before its first use
  CHECK(op.steps[3].kind == OpStep::Kind::Fill);
  CHECK(op.steps[3].pattern == 0x3fc00000);
  CHECK(op.steps[2].arguments[0].kind == StepArgument::Kind::Temp); // by name, in any order
  CHECK(op.steps[2].arguments[1].kind == StepArgument::Kind::Param);
  CHECK(op.steps[2].arguments[1].index == 1);
  CHECK(op.steps[1].arguments[1].value == Expr::symbol("s"));
  CHECK(op.steps[4].arguments[1].value == *Expr::parse("(* s 2.0)"));
  CHECK(op.steps[1].line == 13);
}

TEST_CASE("kernels are specialized for what the op knows, once for equal facts") {
  Outcome outcome = run("op f<T = f32>(x: in T[N], y: out T[N], z: out T[N])\n{\n  copy(x, y)\n  copy(x, z)\n"
                        "  copy(x, y, W = 32)\n}\n");
  REQUIRE(outcome.good);
  CHECK(outcome.symbols == std::vector<std::string>{"f_copy", "f_copy_2"});
  CHECK(outcome.ops[0].steps[0].kernel == 0);
  CHECK(outcome.ops[0].steps[1].kernel == 0);
  CHECK(outcome.ops[0].steps[2].kernel == 1);
  CompileOptions options;
  options.bindings = {{"copy.W", "32"}};
  CHECK(run("op f<T = f32>(x: in T[N], y: out T[N])\n{\n  copy(x, y)\n  copy(x, y, W = 64)\n}\n", options)
            .symbols.size() == 2); // the call goes before -D
  CHECK(run("op f(x: in f32[N], y: out f32[N])\n{\n  copy(x, y)\n  copy(x, y, W = 32)\n}\n", options).symbols.size() ==
        1);
}

TEST_CASE("dimensions that a kernel needs as numbers become numbers of the op") {
  CompileOptions options;
  options.tensors = {facts("x", {4, 24}, 4), facts("y", {4, 24}, 4)};
  const char *source = "op f(x: in f32[R, C], y: out f32[R, C])\n{\n  temp t: f32[R, C]\n  rows(x, y = t, n = 1)\n"
                       "  rows(x = t, y = y, n = 2)\n}\n";
  OpInfo op = good(source, options);
  CHECK(op.signature.params[0].extents == std::vector<Expr>{Expr::symbol("R"), Expr::constant(int64_t(24))});
  CHECK(op.temps[0].extents == op.signature.params[0].extents);
  CHECK(op.signature.dims == std::vector<std::string>{"R"});
  Outcome open = run(source);
  CHECK_FALSE(open.good);
  REQUIRE(open.diagnostics.size() >= 1);
  CHECK(open.diagnostics[0].code == "T0401");
  CHECK(open.diagnostics[0].message == "'C' of 'rows' is not known in this call");
  // Bound in the op, no argument is needed.
  CHECK(good("op f<C = 8>(x: in f32[R, C], y: out f32[R, C])\n{\n  rows(x, y = y, n = 1)\n}\n").steps.size() == 1);
}

TEST_CASE("optional tensors and compile-time conditions choose steps") {
  const char *source = "op f<C = 8, twice = false>(x: in f32[R, C], b: in f32[C] = None, y: out f32[R, C])\n{\n"
                       "  if b != None { rows(x, b, y, 1) } else { rows(x, b, y, 2) }\n"
                       "  if twice { rows(x, None, y, 3) }\n}\n";
  CompileOptions options;
  OpInfo op = good(source, options);
  REQUIRE(op.steps.size() == 1);
  CHECK(op.steps[0].arguments[1].kind == StepArgument::Kind::Absent);
  CHECK(op.steps[0].arguments[3].value == Expr::constant(int64_t(2)));
  options.tensors = {facts("b", {8})};
  options.bindings = {{"twice", "true"}};
  op = good(source, options);
  REQUIRE(op.steps.size() == 2);
  CHECK(op.steps[0].arguments[1].index == 1);
  CHECK(op.steps[0].kernel != op.steps[1].kernel);
}

TEST_CASE("an op that is called is dissolved into its caller") {
  OpInfo op = good("op g(p: in f32[K], q: out f32[K], acc: accum f32[J] = 0, a: f32)\n  requires K < 100\n{\n"
                   "  temp t: f32[K + 1] = 0\n  copy(p, q)\n  scale(t, a + 1.0)\n}\n"
                   "op f(x: in f32[N], y: out f32[M], z: out f32[2], s: f32)\n{\n"
                   "  temp t: f32[N] = 0\n  scale(t, s)\n  g(x, y, z, s * s)\n}\n");
  REQUIRE(op.steps.size() == 6); // fill t, scale t, clear z, copy, fill g.t, scale g.t
  CHECK(op.steps[2].kind == OpStep::Kind::Fill);
  CHECK(op.steps[2].arguments[0].kind == StepArgument::Kind::Param);
  CHECK(op.steps[2].arguments[0].index == 2);
  CHECK(op.steps[3].arguments[1].index == 1);
  REQUIRE(op.temps.size() == 2);
  CHECK(op.temps[1].name == "g.t");
  CHECK(op.temps[1].extents == std::vector<Expr>{*Expr::parse("(+ N 1)")});
  CHECK((op.temps[1].firstStep == 4 && op.temps[1].lastStep == 5));
  CHECK(op.steps[5].arguments[1].value == *Expr::parse("(+ (* s s) 1.0)"));
  // K is the extent of x and of y, so they must agree; and g's own condition.
  REQUIRE(op.signature.requirements.size() == 2);
  CHECK(op.signature.requirements[0].condition == *Expr::parse("(== M N)"));
  CHECK(op.signature.requirements[0].text == "extent 0 of 'y' to be that of 'q' in 'g'");
  CHECK(op.signature.requirements[1].condition == *Expr::parse("(< N 100)"));
}

TEST_CASE("a wrong op gets one diagnostic, at its place") {
  struct Case {
    const char *code;
    int line, column;
    const char *message, *source;
  };
  // The op begins on line 6, its statements on line 7.
#define OP(BODY)                                                                                                       \
  "op f(x: in f32[N], y: out f32[N], z: inout f32[N], c: accum f32[N], h: in f16[N], s: f32, n: i32)\n{ " BODY " }\n"
  const Case cases[] = {
      {"T0102", 7, 3, "there is no kernel 'cop'", OP("cop(x, y)")},
      {"T0215", 7, 8, "nobody uses the temporary 't'", OP("temp t: f32[N]")},
      {"T0220", 7, 3, "'copy' needs the argument 'y'", OP("copy(x)")},
      {"T0220", 7, 14, "'copy' takes 2 arguments, found more", OP("copy(x, y, z)")},
      {"T0220", 7, 14, "'copy' has no argument 'V'", OP("copy(x, y, V = 3)")},
      {"T0220", 7, 11, "'copy' is given 'x' twice", OP("copy(x, x = z)")},
      {"T0402", 7, 18, "'W' of 'copy' takes a compile-time value: a number, a bool, a type, or a function of the file",
       OP("copy(x, y, W = x)")},
      {"T0408", 7, 18, "'W' of 'copy' takes a compile-time value", OP("copy(x, y, W = n)")},
      {"T0408", 7, 6, "the condition of an 'if' in an op is not known at compile time", OP("if n > 0 { copy(x, y) }")},
      {"T0409", 7, 8, "'x' of 'copy' is not optional", OP("copy(None, y)")},
      {"T0415", 7, 3, "an op has no statement of this kind", OP("y[0] = 1.0")},
      {"T0415", 7, 3, "an op has no statement of this kind", OP("for i in 0..4 { copy(x, y) }")},
      {"T0415", 7, 3, "an op has no statement of this kind", OP("var t = 1")},
      {"T0415", 7, 3, "an op has no statement of this kind", OP("return")},
      {"T0415", 7, 11, "a 'let' in an op binds a number, a type or a function, found a tensor", OP("let t = x")},
      {"T0416", 7, 8, "'copy' takes a tensor here, found an expression", OP("copy(x[0..4], y)")},
      {"T0416", 7, 8, "'copy' takes a tensor here, found 's'", OP("copy(s, y)")},
      {"T0416", 7, 12, "'k' of 'scale' is a scalar, found something else", OP("scale(z, x)")},
      {"T0416", 7, 9, "'x' of 'scale' is 'inout', but 'x' is only read by the op", OP("scale(x, s)")},
      {"T0416", 7, 8, "'x' of 'copy' reads 'y', which is 'out' in the op", OP("copy(y, z)")},
      {"T0416", 7, 11, "'y' of 'copy' is 'out', but 'c' is 'accum' in the op", OP("copy(x, c)")},
      {"T0416", 7, 12, "'s' of 'total' clears 'c', which is 'accum' in the op", OP("total(x, c)")},
      {"T0416", 7, 11, "'z' is passed for 'x' and 'y' of 'copy', and one of them is written", OP("copy(z, z)")},
      {"T0416", 7, 31, "'x' of 'copy' has 1 dimension, found 't' with 2", OP("temp t: f32[N, 2] = 0; copy(t, y)")},
      {"T0417", 7, 24, "'x' of 'copy' reads the temporary 't', which nothing has written",
       OP("temp t: f32[N]; copy(t, y)")},
      {"T0210", 7, 12, "'k' of 'scale' is f32, found i64", OP("scale(z, N)")},
      {"T0202", 7, 20, "an integer does not mix with a float, found the constant 1.5 with i32",
       OP("temp t: i32[N] = 1.5; copy(x, y)")},
      {"T0408", 7, 20, "a temporary begins with a compile-time number", OP("temp t: f32[N] = s; copy(x, y)")},
      {"T0412", 7, 15, "an extent is an integer", OP("temp t: f32[s]; copy(x, y)")},
      {"T0406", 7, 15, "an extent is at least 0, found -1", OP("temp t: f32[-1]; copy(x, y)")},
      {"T0218", 8, 11, "'t' needs an element type, found the constant 4",
       "let four = 4\nop f(x: in f32[N], y: out f32[N])\n{ temp t: four[N]; copy(x, y) }\n"},
      {"T0228", 7, 7, "'s' has a meaning here already", OP("let s = 1")},
      {"T0222", 7, 3, "'f' calls itself", OP("f(x, y, z, c, h, s, n)")},
      {"T0415", 6, 4, "op 'f' has a grid", "op f(x: in f32[N]) grid (i in 0..N) { }\n"},
      {"T0401", 7, 3, "'C' of 'rows' is not known in this call",
       "op f(x: in f32[R, K], y: out f32[R, K])\n{ rows(x, None, y, 1) }\n"},
  };
#undef OP
  for (const Case &c : cases) {
    INFO(c.source);
    Outcome outcome = run(c.source);
    CHECK_FALSE(outcome.good);
    CHECK(outcome.ops.empty());
    for (const Diagnostic &d : outcome.diagnostics)
      UNSCOPED_INFO(d.code << " " << d.place.line << ":" << d.place.column << " " << d.message);
    CHECK(outcome.diagnostics.size() == 1);
    if (outcome.diagnostics.empty())
      continue;
    const Diagnostic &found = outcome.diagnostics[0];
    CHECK(found.code == c.code);
    CHECK(found.place.line == c.line);
    CHECK(found.place.column == c.column);
    CHECK(found.message == c.message);
  }
}

TEST_CASE("an error in a called kernel says where it is called") {
  Outcome outcome = run("op f(x: in f16[N], y: out f32[N])\n{\n  copy(x, y)\n}\n");
  CHECK_FALSE(outcome.good);
  REQUIRE_FALSE(outcome.diagnostics.empty());
  const Diagnostic &found = outcome.diagnostics[0];
  CHECK(found.place.line == 1); // `y` of copy is T, and T is f16
  REQUIRE_FALSE(found.notes.empty());
  CHECK(found.notes.back().message == "'copy' is called here, in op 'f'");
  CHECK(found.notes.back().place.line == 8);
}

TEST_CASE("a binding without a kernel's name is meant for the op") {
  CompileOptions options;
  options.bindings = {{"W", "32"}};
  Outcome outcome = run("op f(x: in f32[N], y: out f32[N])\n{\n  copy(x, y)\n}\n", options);
  REQUIRE(outcome.diagnostics.size() == 1);
  CHECK(outcome.diagnostics[0].code == "T0403");
  CHECK(outcome.diagnostics[0].message == "op 'f' has no compile-time parameter 'W'");
  CHECK(outcome.diagnostics[0].remedy.find(".W=32") != std::string::npos);
}
