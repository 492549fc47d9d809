//===- CodegenTest.cpp - PTX and host objects ------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Determinism, versions, time, budgets, line information, symbols.
//
#include "compiler/Codegen/Codegen.h"
#include "compiler/Codegen/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

using namespace mlir;
using namespace tessera;

namespace {

/// A context of its own and the module in it.
struct Parsed {
  explicit Parsed(const std::string &text) : context(registry(), MLIRContext::Threading::DISABLED) {
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  }
  static DialectRegistry registry() {
    DialectRegistry result;
    registerCodegenDialects(result);
    return result;
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

const char *kSmall = R"(
llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
llvm.func @kernel(%p: !llvm.ptr<1>, %n: i64, %f: f32) attributes {nvvm.kernel} {
  %s = llvm.mlir.addressof @shared : !llvm.ptr<3>
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %slot = llvm.getelementptr %s[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  %g = llvm.getelementptr %p[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %x = llvm.load %g : !llvm.ptr<1> -> f32
  %m = llvm.fmul %x, %f : f32
  %a = llvm.fadd %m, %f : f32
  llvm.store %a, %slot : f32, !llvm.ptr<3>
  nvvm.barrier0
  %y = llvm.load %slot : !llvm.ptr<3> -> f32
  llvm.store %y, %g : f32, !llvm.ptr<1>
  llvm.return
}
)";

/// `count` dependent integer and float instructions that nothing folds.
std::string straightLine(int count) {
  std::string text =
      "llvm.func @long(%p: !llvm.ptr<1>, %n: i32, %f: f32) attributes {nvvm.kernel} {\n  %v0 = llvm.mul %n, %n : i32\n";
  int at = 0;
  for (int i = 0; i < count - 3; i += 4, ++at) {
    std::string from = "%v" + std::to_string(at), to = std::to_string(at + 1);
    text += "  %c" + to + " = llvm.mlir.constant(" + std::to_string(i * 7 + 3) + " : i32) : i32\n";
    text += "  %a" + to + " = llvm.mul " + from + ", %n : i32\n";
    text += "  %b" + to + " = llvm.add %a" + to + ", %c" + to + " : i32\n";
    text += "  %g" + to + " = llvm.getelementptr %p[%b" + to + "] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32\n";
    text += "  %v" + to + " = llvm.load %g" + to + " : !llvm.ptr<1> -> i32\n";
  }
  return text + "  llvm.store %v" + std::to_string(at) + ", %p : i32, !llvm.ptr<1>\n  llvm.return\n}\n";
}

std::string ptx(const std::string &text, const char *target = "sm_90a", CodegenOptions options = {}) {
  Parsed parsed(text);
  REQUIRE(parsed.module);
  Result<std::string> result = emitPtx(*parsed.module, *findTarget(target), options);
  if (!result)
    FAIL(result.error().message);
  return *result;
}

double milliseconds(const std::string &text) {
  Parsed parsed(text);
  REQUIRE(parsed.module);
  auto start = std::chrono::steady_clock::now();
  REQUIRE(emitPtx(*parsed.module, *findTarget("sm_90a")));
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("each target's PTX header") {
  for (auto [target, version] : {std::pair{"sm_80", "7.0"},
                                 {"sm_86", "7.1"},
                                 {"sm_89", "8.4"},
                                 {"sm_90a", "8.4"},
                                 {"sm_100a", "8.6"},
                                 {"sm_103a", "8.8"},
                                 {"sm_120a", "8.7"}}) {
    std::string text = ptx(kSmall, target);
    CHECK(contains(text, std::string(".version ") + version + "\n"));
    CHECK(contains(text, std::string(".target ") + target + "\n"));
    CHECK(contains(text, ".visible .entry kernel("));
  }
}

TEST_CASE("products and sums are never fused behind the program's back, and shared addresses have 32 bits") {
  for (bool full : {false, true}) {
    CodegenOptions options;
    options.fullOptimization = full;
    std::string text = ptx(kSmall, "sm_90a", options);
    CHECK(contains(text, "mul.rn.f32"));
    CHECK(contains(text, "add.rn.f32"));
    CHECK(!contains(text, "fma"));
    CHECK(!contains(text, "st.shared.b32 \t[%rd"));
    CHECK(contains(text, "st.shared.b32 \t[%r"));
  }
}

TEST_CASE("PTX is the same from run to run and from thread to thread") {
  std::string big = straightLine(4000), one = ptx(big);
  std::string first, second;
  // Catch's assertions are not for several threads: the threads only compute.
  auto compute = [&](std::string &result) {
    Parsed parsed(big);
    if (Result<std::string> text = emitPtx(*parsed.module, *findTarget("sm_90a")))
      result = *text;
  };
  std::thread a([&] { compute(first); }), b([&] { compute(second); });
  a.join();
  b.join();
  CHECK(one == ptx(big));
  CHECK(first == one);
  CHECK(second == one);
}

TEST_CASE("20,000 instructions generate in time because the quadratic pass is blocked, which changes nothing") {
  std::string text = straightLine(19990);
  Parsed parsed(text);
  REQUIRE(parsed.module);
  CHECK(countInstructions(*parsed.module).instructions > 19900);
  // Against a quarter of it in the same process, so that a busy machine slows both: linear is 4, the quadratic pass makes it 16 and more.
  std::string quarter = straightLine(5000);
  double time = std::min(milliseconds(text), milliseconds(text)),
         part = std::min(milliseconds(quarter), milliseconds(quarter));
  WARN("20,000 instructions: " << time << " ms, 5,000: " << part << " ms");
  CHECK(time < 9 * part);
  CodegenOptions ungated;
  ungated.blockSlowPasses = false;
  std::string small = straightLine(400);
  CHECK(ptx(small) == ptx(small, "sm_90a", ungated));
}

TEST_CASE("the budget refuses and names the function") {
  std::string text = straightLine(21000);
  Parsed parsed(text);
  REQUIRE(parsed.module);
  Result<std::string> result = emitPtx(*parsed.module, *findTarget("sm_80"));
  REQUIRE(!result);
  CHECK(result.error().fault == Fault::Program);
  CHECK(contains(result.error().message, "'long' needs 2"));
  CHECK(contains(result.error().message, "expected at most 20000"));
  CHECK(result.error().code == "T0506");
  CHECK(contains(result.error().remedy, "by a factor of 2"));
  CodegenOptions wide;
  wide.elementBudget = 100;
  Parsed vectors("llvm.func @v(%a: vector<128xf32>) -> vector<128xf32> { %b = llvm.fadd %a, %a : vector<128xf32> "
                 "llvm.return %b : vector<128xf32> }");
  REQUIRE(vectors.module);
  CHECK(!emitPtx(*vectors.module, *findTarget("sm_80"), wide));
}

TEST_CASE("inline assembly that LLVM cannot satisfy is an error, not the end of the process") {
  Parsed parsed("llvm.func @f(%a: i32) attributes {nvvm.kernel} {\n"
                "  %r = llvm.inline_asm has_side_effects asm_dialect = att \"mov $0, $1;\", \"=Z,Z\" %a : (i32) -> "
                "i32\n  llvm.return\n}\n");
  REQUIRE(parsed.module);
  Result<std::string> result = emitPtx(*parsed.module, *findTarget("sm_80"));
  REQUIRE(!result);
  CHECK(result.error().fault == Fault::Internal);
}

TEST_CASE("lines: the innermost place goes into .loc, the chain into its comment, and nothing is line 0") {
  const char *text = R"(
#attn = loc("attn.tile":10:5)
llvm.func @attn(%p: !llvm.ptr<1>, %f: f32) attributes {nvvm.kernel} {
  %a = llvm.fadd %f, %f : f32 loc(callsite(callsite("deep"("lib/deep.tile":7:9) at "gelu"("lib/gelu.tile":2:7)) at "attn.tile":10:5))
  %b = llvm.fmul %a, %f : f32 loc(fused[unknown, "attn.tile":11:3, "attn.tile":12:3])
  %c = llvm.fsub %b, %a : f32 loc(unknown)
  llvm.store %c, %p : f32, !llvm.ptr<1> loc("attn.tile":13:1)
  llvm.return loc("attn.tile":14:1)
} loc("attn.tile":3:1)
)";
  auto emit = [&] {
    Parsed parsed(text);
    REQUIRE(parsed.module);
    PassManager passes(&parsed.context);
    passes.addPass(createAttachDebugInfoPass());
    REQUIRE(succeeded(passes.run(*parsed.module)));
    Result<std::string> result = emitPtx(*parsed.module, *findTarget("sm_90a"));
    if (!result)
      FAIL(result.error().message);
    return *result;
  };
  std::string result = emit();
  INFO(result);
  CHECK(contains(result, ".target sm_90a\n")); // without `, debug`
  CHECK(contains(result, "7 9"));
  CHECK(contains(result, "deep.tile:7:9 @[ lib/gelu.tile:2:7 @[ attn.tile:10:5 ] ]"));
  CHECK(contains(result, " 11 3"));
  CHECK(!contains(result, " 12 3"));
  CHECK(contains(result, " 3 1"));
  CHECK(contains(result, " 13 1"));
  CHECK(contains(result, "\"lib/deep.tile\""));
  for (int file = 1; file < 5; ++file)
    CHECK(!contains(result, ".loc\t" + std::to_string(file) + " 0 "));
  CHECK(emit() == result);
}

TEST_CASE("LLVM IR text carries layout, cpu and features") {
  Parsed parsed(kSmall);
  REQUIRE(parsed.module);
  Result<std::string> text = emitLlvm(*parsed.module, *findTarget("sm_90a"));
  REQUIRE(text);
  CHECK(contains(*text, "e-p3:32:32"));
  CHECK(contains(*text, "\"target-cpu\"=\"sm_90a\""));
  CHECK(contains(*text, "ptx_kernel"));
}

TEST_CASE("a host object calls nothing but memory functions") {
  Parsed loop(R"(
llvm.func @copy(%p: !llvm.ptr, %q: !llvm.ptr, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^body, ^exit
^body:
  %from = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %to = llvm.getelementptr %q[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %x = llvm.load %from : !llvm.ptr -> f32
  %y = llvm.intr.sqrt(%x) : (f32) -> f32
  %h = llvm.fptrunc %y : f32 to f16
  %z = llvm.fpext %h : f16 to f32
  llvm.store %z, %to : f32, !llvm.ptr
  %next = llvm.add %i, %one : i64
  llvm.br ^head(%next : i64)
^exit:
  llvm.return
}
)");
  REQUIRE(loop.module);
  Result<std::string> object = emitHostObject(*loop.module);
  if (!object)
    FAIL(object.error().message);
  CHECK(object->substr(0, 4) == "\x7f"
                                "ELF");
  CHECK(contains(*object, "copy"));

  Parsed again(R"(llvm.func @f(%a: f64) -> f16 { %b = llvm.fptrunc %a : f64 to f16 llvm.return %b : f16 })");
  REQUIRE(again.module);
  Result<std::string> refused = emitHostObject(*again.module);
  REQUIRE(!refused);
  CHECK(contains(refused.error().message, "llvm.fptrunc cannot be generated for host"));
}

TEST_CASE("bf16 values that cross blocks on the host are moved, not rounded again") {
  Parsed parsed(R"(
llvm.func @guarded(%p: !llvm.ptr, %q: !llvm.ptr, %i: i64, %n: i64, %flag: i1) {
  %zero = llvm.mlir.constant(0.0 : bf16) : bf16
  %start = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^head(%start, %zero : i64, bf16)
^head(%k: i64, %last: bf16):
  %more = llvm.icmp "slt" %k, %n : i64
  llvm.cond_br %more, ^body, ^exit
^body:
  %inside = llvm.icmp "slt" %k, %i : i64
  llvm.cond_br %inside, ^load, ^join(%last : bf16)
^load:
  %from = llvm.getelementptr %p[%k] : (!llvm.ptr, i64) -> !llvm.ptr, bf16
  %x = llvm.load volatile %from : !llvm.ptr -> bf16
  llvm.br ^join(%x : bf16)
^join(%v: bf16):
  %to = llvm.getelementptr %q[%k] : (!llvm.ptr, i64) -> !llvm.ptr, bf16
  llvm.store %v, %to : bf16, !llvm.ptr
  %next = llvm.add %k, %one : i64
  llvm.br ^head(%next, %v : i64, bf16)
^exit:
  llvm.return
}
)");
  REQUIRE(parsed.module);
  Result<std::string> object = emitHostObject(*parsed.module);
  if (!object)
    FAIL(object.error().message);
  CHECK(!contains(*object, "__trunc"));
}
