//===- LegalityTest.cpp - the list of what LLVM can do ------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Both sides: what is on the list generates on every target (alone and as vectors), and what is not is refused with its place.
//
#include "compiler/Codegen/Legality.h"
#include "compiler/Codegen/Codegen.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace tessera;

namespace {

struct Parsed {
  explicit Parsed(const std::string &text) : context(registry(), MLIRContext::Threading::DISABLED) {
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  }
  static DialectRegistry registry() {
    DialectRegistry result;
    registerCodegenDialects(result);
    result.insert<math::MathDialect>();
    return result;
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

constexpr std::pair<uint32_t, const char *> kTypeNames[] = {{kI1, "i1"},     {kI8, "i8"},   {kI16, "i16"},
                                                            {kI32, "i32"},   {kI64, "i64"}, {kF16, "f16"},
                                                            {kBF16, "bf16"}, {kF32, "f32"}, {kF64, "f64"}};

std::string sized(const std::string &element, int width) {
  return width == 1 ? element : "vector<" + std::to_string(width) + "x" + element + ">";
}

/// Wraps one op in a function that stores its result, so that it stays.  `op` with %a, %b, %c of type `in`.
std::string function(int number, const std::string &in, const std::string &out, const std::string &op) {
  return "llvm.func @f" + std::to_string(number) + "(%a: " + in + ", %b: " + in + ", %c: " + in +
         ", %p: !llvm.ptr) {\n  %r = " + op + "\n  llvm.store %r, %p : " + out + ", !llvm.ptr\n  llvm.return\n}\n";
}

std::string generic(const std::string &name, int arity, const std::string &in, const std::string &out,
                    const std::string &attributes = "") {
  std::string operands, types;
  for (int i = 0; i < arity; ++i) {
    operands += (i ? ", %" : "%") + std::string(1, char('a' + i));
    types += (i ? ", " : "") + in;
  }
  return "\"" + name + "\"(" + operands + ")" + attributes + " : (" + types + ") -> " + out;
}

void mustGenerate(const std::string &text, Where where) {
  for (const TargetInfo *target : allTargets()) {
    if (!(uint8_t(where) & uint8_t(target->gpu ? Where::Gpu : Where::Host)))
      continue;
    Parsed parsed(text);
    INFO(std::string(target->name) << "\n" << text);
    REQUIRE(parsed.module);
    CodegenOptions options;
    Result<std::string> result =
        target->gpu ? emitPtx(*parsed.module, *target, options) : emitHostObject(*parsed.module, options);
    if (!result)
      FAIL(result.error().message);
    if (target->gpu)
      CHECK(result->find(".extern .func") == std::string::npos);
  }
}

/// The message with which `body` (the ops of a kernel with a few parameters) is refused; empty if it is not.
std::string refusal(const std::string &text, const char *target) {
  Parsed parsed(text);
  INFO(text);
  REQUIRE(parsed.module);
  Result<void> result = verifyLegality(*parsed.module, *findTarget(target));
  return result ? "" : result.error().message;
}

std::string body(const std::string &ops) {
  return "llvm.func @f(%x: f32, %d: f64, %i: i32, %h: bf16, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>) {\n" + ops +
         "\n  llvm.return\n}\n";
}

bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("every row with an arity generates for every target and type, alone and as vectors") {
  for (const OpRule &rule : opRules()) {
    if (rule.arity == 0 || rule.minSm)
      continue;
    std::string text;
    int number = 0;
    bool scalarOnly = rule.name.starts_with("nvvm.");
    for (auto [bit, name] : kTypeNames)
      for (int width : {1, 2, 3, 4, 8})
        if ((rule.in & bit) && (width == 1 || !scalarOnly))
          text += function(number++, sized(name, width), sized(name, width),
                           generic(rule.name.str(), rule.arity, sized(name, width), sized(name, width)));
    mustGenerate(text, rule.where);
  }
}

TEST_CASE("conversions, comparisons and counted intrinsics of the list generate") {
  for (const OpRule &rule : opRules()) {
    std::string name = rule.name.str(), attributes;
    bool compare = name == "llvm.icmp" || name == "llvm.fcmp", counted = false;
    if (name == "llvm.intr.abs")
      counted = true, attributes = " <{is_int_min_poison = false}>";
    else if (name == "llvm.intr.ctlz" || name == "llvm.intr.cttz")
      counted = true, attributes = " <{is_zero_poison = false}>";
    else if (compare)
      attributes = name == "llvm.icmp" ? " <{predicate = 3 : i64}>" : " <{predicate = 9 : i64}>";
    bool conversion = name == "llvm.trunc" || name == "llvm.zext" || name == "llvm.sext" || name == "llvm.fpext" ||
                      name == "llvm.fptrunc" || name == "llvm.fptosi" || name == "llvm.fptoui" ||
                      name == "llvm.sitofp" || name == "llvm.uitofp";
    if (!compare && !counted && !conversion)
      continue;
    std::string text;
    int number = 0;
    auto width = [](uint32_t bit) {
      return bit == kI1 ? 1 : bit == kI8 ? 8 : bit & (kI16 | kF16 | kBF16) ? 16 : bit & (kI32 | kF32) ? 32 : 64;
    };
    for (auto [in, inName] : kTypeNames)
      for (auto [out, outName] : kTypeNames)
        for (int lanes : {1, 2, 3, 4, 8}) {
          if (!(rule.in & in) || !(rule.out & out) || (counted && in != out))
            continue;
          if ((name == "llvm.trunc" || name == "llvm.fptrunc") && width(in) <= width(out))
            continue;
          if ((name == "llvm.zext" || name == "llvm.sext" || name == "llvm.fpext") && width(in) >= width(out))
            continue;
          text += function(number++, sized(inName, lanes), sized(outName, lanes),
                           generic(name, compare ? 2 : 1, sized(inName, lanes), sized(outName, lanes), attributes));
        }
    REQUIRE(number > 0);
    mustGenerate(text, rule.where);
  }
}

TEST_CASE("odd lanes of a vector, found by optimization as a cut to one bit, generate") {
  mustGenerate("llvm.func @odd(%a: vector<2xi32>, %b: vector<2xf32>, %p: !llvm.ptr) {\n"
               "  %one = llvm.mlir.constant(dense<1> : vector<2xi32>) : vector<2xi32>\n"
               "  %zero = llvm.mlir.constant(dense<0> : vector<2xi32>) : vector<2xi32>\n"
               "  %bit = llvm.and %a, %one : vector<2xi32>\n  %set = llvm.icmp \"ne\" %bit, %zero : vector<2xi32>\n"
               "  %n = llvm.fneg %b : vector<2xf32>\n  %r = llvm.select %set, %b, %n : vector<2xi1>, vector<2xf32>\n"
               "  llvm.store %r, %p : vector<2xf32>, !llvm.ptr\n  llvm.return\n}\n",
               Where::Both);
}

TEST_CASE("byte swaps that optimization finds in vectors generate") {
  std::string text = "llvm.func @swap(%a: vector<2xi32>, %p: !llvm.ptr) {\n"
                     "  %c24 = llvm.mlir.constant(dense<24> : vector<2xi32>) : vector<2xi32>\n"
                     "  %c8 = llvm.mlir.constant(dense<8> : vector<2xi32>) : vector<2xi32>\n"
                     "  %m1 = llvm.mlir.constant(dense<65280> : vector<2xi32>) : vector<2xi32>\n"
                     "  %l = llvm.shl %a, %c24 : vector<2xi32>\n  %r = llvm.lshr %a, %c24 : vector<2xi32>\n"
                     "  %x = llvm.and %a, %m1 : vector<2xi32>\n  %xl = llvm.shl %x, %c8 : vector<2xi32>\n"
                     "  %y = llvm.lshr %a, %c8 : vector<2xi32>\n  %yr = llvm.and %y, %m1 : vector<2xi32>\n"
                     "  %o1 = llvm.or %l, %r : vector<2xi32>\n  %o2 = llvm.or %xl, %yr : vector<2xi32>\n"
                     "  %o = llvm.or %o1, %o2 : vector<2xi32>\n"
                     "  llvm.store %o, %p : vector<2xi32>, !llvm.ptr\n  llvm.return\n}\n";
  mustGenerate(text, Where::Both);
}

TEST_CASE("atomics of the list generate") {
  std::string text;
  int number = 0;
  for (const char *space : {"", "<1>", "<3>"})
    for (auto [type, ops] : {std::pair{"i32", "add xchg max umin _and"},
                             {"i64", "add xchg max umin _or"},
                             {"f32", "fadd fmax xchg"},
                             {"f64", "fadd"},
                             {"f16", "fadd"},
                             {"bf16", "fadd"},
                             {"i16", "add"}}) {
      StringRef rest = ops;
      while (!rest.empty()) {
        auto [op, tail] = rest.split(' ');
        rest = tail;
        text += "llvm.func @a" + std::to_string(number++) + "(%p: !llvm.ptr" + space + ", %v: " + type + ") -> " +
                type + " {\n  %r = llvm.atomicrmw " + op.str() + " %p, %v monotonic : !llvm.ptr" + space + ", " + type +
                "\n  llvm.return %r : " + type + "\n}\n";
      }
    }
  mustGenerate(text, Where::Gpu);
}

TEST_CASE("machine ops of the list generate") {
  mustGenerate(R"(
llvm.func @f(%p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %i: i32, %x: f32) {
  %lane = nvvm.read.ptx.sreg.laneid : i32
  %all = llvm.mlir.constant(-1 : i32) : i32
  %c31 = llvm.mlir.constant(31 : i32) : i32
  %y = nvvm.shfl.sync bfly %all, %x, %lane, %c31 : f32 -> f32
  nvvm.cp.async.shared.global %s, %p, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 0
  nvvm.barrier0
  %m = nvvm.ldmatrix %s {num = 4 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
  %m0 = llvm.extractvalue %m[0] : !llvm.struct<(i32, i32, i32, i32)>
  %e = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%y) : (f32) -> f32
  %g = llvm.call_intrinsic "llvm.nvvm.lg2.approx.ftz.f"(%e) : (f32) -> f32
  %q = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%g) : (f32) -> f32
  %t = llvm.call_intrinsic "llvm.fptosi.sat.i32.f32"(%q) : (f32) -> i32
  %a = llvm.add %t, %m0 : i32
  llvm.store %a, %p : i32, !llvm.ptr<1>
  llvm.return
}
)",
               Where::Gpu);
}

TEST_CASE("stack slots and constant tables generate") {
  mustGenerate(R"(
llvm.mlir.global internal constant @table(dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>) {addr_space = 4 : i32} : !llvm.array<4 x f32>
llvm.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {nvvm.kernel} {
  %four = llvm.mlir.constant(4 : i32) : i32
  %slot = llvm.alloca %four x i32 : (i32) -> !llvm.ptr
  %q = llvm.getelementptr %slot[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i32
  llvm.store volatile %i, %q : i32, !llvm.ptr
  %v = llvm.load volatile %slot : !llvm.ptr -> i32
  %t = llvm.mlir.addressof @table : !llvm.ptr<4>
  %e = llvm.getelementptr %t[%i] : (!llvm.ptr<4>, i32) -> !llvm.ptr<4>, f32
  %x = llvm.load %e : !llvm.ptr<4> -> f32
  %b = llvm.bitcast %x : f32 to i32
  %s = llvm.add %v, %b : i32
  llvm.store %s, %p : i32, !llvm.ptr<1>
  llvm.return
}
)",
               Where::Gpu);
}

TEST_CASE("what LLVM would abort on is refused with its place") {
  std::string sine = refusal(body("  %r = llvm.intr.sin(%x) : (f32) -> f32 loc(\"gelu.tile\":4:9)"), "sm_90a");
  CHECK(sine == "gelu.tile:4:9: llvm.intr.sin cannot be generated for sm_90a: the op is not on the list");
  CHECK(contains(refusal(body("  %r = math.exp %x : f32"), "sm_80"), "math.exp cannot be generated"));
  CHECK(contains(refusal(body("  %r = llvm.intr.exp2(%d) : (f64) -> f64"), "sm_80"),
                 "not for these types: (f64) -> f64"));
  CHECK(refusal(body("  %r = llvm.intr.exp2(%x) : (f32) -> f32"), "sm_80").empty());
  CHECK(contains(refusal(body("  %r = llvm.intr.exp2(%x) : (f32) -> f32"), "host"), "not for these types"));
  CHECK(contains(refusal(body("  %r = llvm.fadd %h, %h : bf16"), "host"), "not for these types"));
  CHECK(refusal(body("  %r = llvm.fadd %h, %h : bf16"), "sm_80").empty());
  CHECK(contains(refusal(body("  %r = llvm.intr.pow(%x, %x) : (f32, f32) -> f32"), "sm_80"), "llvm.intr.pow"));
  CHECK(contains(refusal(body("  %r = llvm.call_intrinsic \"llvm.nvvm.tanh.approx.z\"(%x) : (f32) -> f32"), "sm_80"),
                 "is not on the list"));
  CHECK(contains(refusal(body("  %r = llvm.call_intrinsic \"llvm.sin.f32\"(%x) : (f32) -> f32"), "sm_80"),
                 "llvm.sin.f32 is not on the list"));
  CHECK(contains(refusal(body("  %r = llvm.zext %i : i32 to i128"), "sm_80"), "type i128"));
  CHECK(contains(refusal(body("  %r = llvm.addrspacecast %s : !llvm.ptr<3> to !llvm.ptr"), "sm_80"),
                 "never cast to generic"));
  CHECK(refusal(body("  %r = llvm.addrspacecast %p : !llvm.ptr<1> to !llvm.ptr"), "sm_80").empty());
  CHECK(contains(refusal("llvm.func @g(i32)\n" + body("  llvm.call @g(%i) : (i32) -> ()"), "sm_80"),
                 "a declared function"));
  CHECK(contains(refusal("llvm.func @f(%s: !llvm.ptr<3>) attributes {nvvm.kernel} { llvm.return }", "sm_80"),
                 "kernel parameter"));
  CHECK(contains(refusal("llvm.mlir.global internal @s(1 : i32) {addr_space = 3 : i32} : i32", "sm_80"),
                 "no initial value"));
  CHECK(contains(refusal(body("  %r = nvvm.elect.sync -> i1"), "sm_80"), "nvvm.elect.sync"));
  CHECK(refusal(body("  %r = nvvm.elect.sync -> i1"), "sm_90a").empty());
  CHECK(contains(refusal(body("  %r = nvvm.read.ptx.sreg.laneid : i32"), "host"), "not for these types"));
}

TEST_CASE("calls of functions in the module generate") {
  mustGenerate("llvm.func internal @g(%i: i32) -> i32 attributes {no_inline} { %r = llvm.mul %i, %i : i32 llvm.return "
               "%r : i32 }\n"
               "llvm.func @f(%p: !llvm.ptr, %i: i32) { %r = llvm.call @g(%i) : (i32) -> i32 llvm.store %r, %p : i32, "
               "!llvm.ptr llvm.return }\n",
               Where::Both);
}
