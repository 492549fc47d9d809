//===- SpecializeTest.cpp - kernels become verified tile IR --------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The acceptance programs specialize, verify and survive printing; and the rules that the IR shows directly: binding,
// contraction, accumulation into products, folding of `if`, early return, locations.
//
#include "compiler/Frontend/Specialize.h"
#include "compiler/Frontend/Parser.h"

#include "dialect/Tile/TileDialect.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <map>
#include <sstream>

using namespace tessera;

namespace {

/// A source, its options, and the module that came of it.
struct Program {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::vector<Diagnostic> diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  tile::KernelOp kernel;

  Program(const std::string &source, const CompileOptions &options = {}, const std::string &name = "k") {
    ast::File file = frontend::parse(source, "test.tile", diagnostics);
    REQUIRE(diagnostics.empty());
    module = specialize(file, {name}, options, context, diagnostics);
    if (module)
      kernel = *module->getOps<tile::KernelOp>().begin();
  }
  template <typename Op>
  int count() {
    int n = 0;
    module->walk([&](Op) { ++n; });
    return n;
  }
  std::string firstCode() const { return diagnostics.empty() ? "" : diagnostics.front().code; }
};

std::string acceptanceSource() {
  std::ifstream in(TESSERA_ACCEPTANCE_FILE);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

CompileOptions bind(std::initializer_list<Binding> bindings) {
  CompileOptions options;
  options.bindings = bindings;
  return options;
}

TensorFacts factsOf(const std::string &param) {
  TensorFacts facts;
  facts.param = param;
  return facts;
}

/// A kernel that stores `expression` over tiles a, b, c of type `type`.
std::string elementwise(const std::string &type, const std::string &expression) {
  return "kernel k<W = 16>(x: in " + type + "[R], y: in " + type + "[R], z: in " + type + "[R], o: out " + type +
         "[R])\n  grid (r in 0..R by W)\n{\n  let (a, b, c) = (x[r +: W], y[r +: W], z[r +: W])\n  o[r +: W] = " +
         expression + "\n}\n";
}

std::string printed(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, mlir::OpPrintingFlags().enableDebugInfo());
  return text;
}

} // namespace

TEST_CASE("the acceptance kernels specialize, verify and survive printing", "[specialize]") {
  std::vector<Diagnostic> diagnostics;
  ast::File file = frontend::parse(acceptanceSource(), "kernels.tile", diagnostics);
  REQUIRE(diagnostics.empty());
  int compiled = 0;
  for (const ast::Kernel &kernel : file.kernels) {
    if (kernel.isOp)
      continue;
    INFO(kernel.name);
    CompileOptions options;
    for (const ast::StaticParam &param : kernel.staticParams)
      if (!param.defaultValue)
        options.bindings.push_back({kernel.name + "." + param.name, "64"});
    CHECK(isFullyBound(kernel, options));
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    std::vector<Diagnostic> found;
    auto module = specialize(file, {kernel.name}, options, context, found);
    REQUIRE(module);
    CHECK(found.empty());
    CHECK(mlir::succeeded(mlir::verify(*module)));
    std::string text = printed(*module);
    auto again = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    REQUIRE(again);
    CHECK(printed(*again) == text);
    ++compiled;
  }
  CHECK(compiled == 34);
}

TEST_CASE("a kernel without a default is not fully bound", "[specialize]") {
  std::vector<Diagnostic> diagnostics;
  ast::File file =
      frontend::parse("kernel k<T = f32, C: int>(x: in T[R, C])\n  grid (r in 0..R)\n{\n}\n", "test.tile", diagnostics);
  REQUIRE(file.kernels.size() == 1);
  CompileOptions options;
  CHECK_FALSE(isFullyBound(file.kernels[0], options));
  options.tensors.push_back(factsOf("x"));
  options.tensors.back().shape = {3, 8};
  CHECK(isFullyBound(file.kernels[0], options));
  CHECK(isFullyBound(file.kernels[0], bind({{"k.C", "8"}})));
  CHECK_FALSE(isFullyBound(file.kernels[0], bind({{"other.C", "8"}})));
}

TEST_CASE("facts bind types and dimensions; -D goes first", "[specialize]") {
  const std::string source =
      "kernel k<T = f32, C: int>(x: in T[R, C], y: out T[R, C])\n  grid (r in 0..R)\n{\n  y[r, :] = x[r, :]\n}\n";
  CompileOptions options;
  options.tensors.push_back(factsOf("x"));
  options.tensors.back().dtype = DType::BF16;
  options.tensors.back().shape = {3, 8};
  options.tensors.back().contract = {16, 1, {8, 1}, {1, 8}};
  Program program(source, options);
  REQUIRE(program.module);
  auto view = mlir::cast<tile::ViewType>(program.kernel.getArgumentTypes()[0]);
  CHECK(view.getElementType().isBF16());
  CHECK(view.getShape()[1] == 8);
  CHECK(view.isDynamic(0));
  CHECK(program.kernel.getArgAttrOfType<mlir::IntegerAttr>(0, tile::kAlignAttr).getInt() == 16);
  CHECK(program.kernel.getArgAttrOfType<mlir::IntegerAttr>(0, tile::kUnitDimAttr).getInt() == 1);
  CHECK(program.kernel.getArgAttrOfType<mlir::DenseI64ArrayAttr>(0, tile::kStrideDivAttr)[0] == 8);
  CHECK_FALSE(program.kernel.getArgAttr(1, tile::kAlignAttr));

  options.bindings = {{"C", "16"}};
  CHECK(Program(source, options).firstCode() == "T0404");
  options.bindings = {{"C", "8"}, {"k.T", "bf16"}, {"T", "f16"}};
  CHECK(Program(source, options).module); // the qualified binding is nearer
  options.bindings = {{"C", "8"}, {"T", "f16"}};
  CHECK(Program(source, options).firstCode() == "T0404");
  CHECK(Program(source).firstCode() == "T0401");
}

TEST_CASE("facts that do not fit are errors", "[specialize]") {
  const std::string source = "kernel k(x: in f32[R])\n  grid (r in 0..R)\n{\n}\n";
  auto with = [&](const std::string &param, auto change) {
    CompileOptions options;
    options.tensors.push_back(factsOf(param));
    change(options.tensors.back());
    return Program(source, options).firstCode();
  };
  CHECK(with("x", [](TensorFacts &) {}) == "");
  CHECK(with("w", [](TensorFacts &) {}) == "T0406");
  CHECK(with("x", [](TensorFacts &f) { f.dtype = DType::F16; }) == "T0406");
  CHECK(with("x", [](TensorFacts &f) { f.shape = {2, 2}; }) == "T0406");
  CHECK(with("x", [](TensorFacts &f) { f.contract.align = 3; }) == "T0406");
  CHECK(with("x", [](TensorFacts &f) { f.contract.unitDim = 1; }) == "T0406");
  CHECK(with("x", [](TensorFacts &f) { f.contract.strideDiv = {1, 1}; }) == "T0406");
  CHECK(with("x", [](TensorFacts &f) { f.present = false; }) == "T0409");
}

TEST_CASE("an absent tensor is no argument, but a parameter", "[specialize]") {
  const std::string source =
      "kernel k(x: in f32[R], b: in f32[Q] = None, y: out f32[R])\n  requires b == None or Q > 0\n  grid (r in 0..R)\n"
      "{\n  var v = x[r]\n  if b != None { v += b[0] }\n  y[r] = v\n}\n";
  Program absent(source);
  REQUIRE(absent.module);
  CHECK(absent.kernel.getNumArguments() == 3);
  CHECK(absent.kernel.getParams()->size() == 3);
  CHECK(absent.kernel.getDims().size() == 1);
  CHECK(absent.kernel.getRequirements()->empty());
  CHECK(absent.count<mlir::arith::AddFOp>() == 0);
  CompileOptions options;
  options.tensors.push_back(factsOf("b"));
  Program present(source, options);
  REQUIRE(present.module);
  CHECK(present.kernel.getNumArguments() == 4);
  CHECK(present.kernel.getRequirements()->size() == 1);
  CHECK(present.count<mlir::arith::AddFOp>() == 1);
}

TEST_CASE("a dimension binds at name + constant when it stands nowhere alone", "[specialize]") {
  Program program("kernel k(cu: in i32[S + 1], o: out i32[ceildiv(S, 4)], p: f32)\n  requires p < 0.1\n  grid (s in "
                  "0..S by 2)\n{\n  o[s] = i32(S)\n}\n");
  REQUIRE(program.module);
  CHECK(mlir::cast<mlir::StringAttr>(program.kernel.getDims()[0]).getValue() == "S");
  auto dims = program.kernel.getArgAttrOfType<mlir::ArrayAttr>(1, tile::kDimsAttr);
  CHECK(mlir::cast<mlir::StringAttr>(dims[0]).getValue() == "(ceildiv S 4)");
  // 0.1 is compared in f32, as the kernel would.
  auto requirement = mlir::cast<mlir::DictionaryAttr>((*program.kernel.getRequirements())[0]);
  CHECK(mlir::cast<mlir::StringAttr>(requirement.get("cond")).getValue() ==
        Expr::node("<", {Expr::symbol("p"), Expr::constant(double(0.1f))}).print());
  CHECK(mlir::cast<mlir::IntegerAttr>(requirement.get("line")).getInt() == 2);
  CHECK(program.count<tile::DimOp>() == 1);
  CHECK(program.count<mlir::arith::SubIOp>() == 1);
}

TEST_CASE("contraction: unparenthesized products beside + and -, in f32 and f64 only", "[specialize]") {
  struct Case {
    const char *type, *expression;
    int fused, multiplied;
  };
  const Case kCases[] = {{"f32", "a * b + c", 1, 0}, {"f32", "(a * b) + c", 0, 1}, {"f32", "c + a * b", 1, 0},
                         {"f32", "a * b - c", 1, 0}, {"f32", "c - a * b", 1, 0},   {"f32", "a * b + b * c", 1, 1},
                         {"f64", "a * b + c", 1, 0}, {"f16", "a * b + c", 0, 1},   {"f16", "fma(a, b, c)", 1, 0},
                         {"i32", "a * b + c", 0, 1}, {"f32", "a * b * c", 0, 2},   {"f32", "-(a * b) + c", 0, 1}};
  for (const Case &c : kCases) {
    INFO(c.type << ": " << c.expression);
    Program program(elementwise(c.type, c.expression));
    REQUIRE(program.module);
    CHECK(program.count<mlir::math::FmaOp>() == c.fused);
    CHECK(program.count<mlir::arith::MulFOp>() + program.count<mlir::arith::MulIOp>() == c.multiplied);
  }
  // `x += e` is `x = x + e`.
  Program compound("kernel k(x: inout f32[R])\n  grid (r in 0..R)\n{\n  x[r] += x[r] * 3.0\n}\n");
  CHECK(compound.count<mlir::math::FmaOp>() == 1);
}

TEST_CASE("acc + a @ b is one product that starts from acc", "[specialize]") {
  auto product = [](const std::string &statement) {
    return "kernel k<W = 16>(x: in f16[R, R], s: f32, y: inout f32[R, R])\n  grid (r in 0..R by W)\n{\n  let a = x[r "
           "+: W, r +: W]\n"
           "  var acc = y[r +: W, r +: W]\n  " +
           statement + "\n  y[r +: W, r +: W] = acc\n}\n";
  };
  for (const char *statement :
       {"acc += a @ a", "acc = acc + a @ a", "acc = a @ a + acc", "acc = acc * s + a @ a", "acc += dot(a, a)"}) {
    INFO(statement);
    Program program(product(statement));
    REQUIRE(program.module);
    CHECK(program.count<tile::DotOp>() == 1);
    CHECK(program.count<mlir::arith::AddFOp>() == 0);
    CHECK(program.count<mlir::math::FmaOp>() == 0);
  }
  Program scaled(product("acc += a @ a * s")); // the product of @ and a scalar is contracted with the sum
  CHECK(scaled.count<mlir::math::FmaOp>() == 1);
  Program apart(product("acc += (a @ a)"));
  CHECK(apart.count<mlir::arith::AddFOp>() == 1);
}

TEST_CASE("constants fold and dropped branches are not typed", "[specialize]") {
  Program program("kernel k<C = 4, flag = false>(x: inout i64[R])\n  grid (r in 0..R)\n{\n  if flag and x[r] + 1.5 > 0 "
                  "{ x[r] = 1.5 }\n"
                  "  x[r] = if C * 2 == 8 { 7 / -2 + 7 % -2 + ceildiv(7, -2) } else { 1.5 }\n}\n");
  REQUIRE(program.module);
  bool found = false;
  program.module->walk([&](mlir::arith::ConstantOp constant) {
    if (auto value = mlir::dyn_cast<mlir::IntegerAttr>(constant.getValue()))
      found |= value.getInt() == -8; // -4 + -1 + -3
  });
  CHECK(found);
}

TEST_CASE("early return nests the rest, nested returns ask again", "[specialize]") {
  Program flat("kernel k(x: inout f32[R], n: i32)\n  grid (r in 0..R)\n{\n  if r >= n { return }\n  x[r] = 1.0\n}\n");
  REQUIRE(flat.module);
  CHECK(flat.count<mlir::scf::IfOp>() == 1);
  flat.module->walk([](tile::StoreOp store) { CHECK(mlir::isa<mlir::scf::IfOp>(store->getParentOp())); });
  flat.module->walk([](mlir::scf::IfOp branch) { CHECK(branch.getElseRegion().empty()); });
  Program nested("kernel k(x: inout f32[R], n: i32)\n  grid (r in 0..R)\n{\n  var v = 1.0\n  if r >= n {\n    if r > 7 "
                 "{ return }\n    v = 2.0\n  }\n"
                 "  x[r] = v\n}\n");
  REQUIRE(nested.module);
  CHECK(nested.count<mlir::scf::IfOp>() == 3);
}

TEST_CASE("inlined code carries its call sites", "[specialize]") {
  Program program("fn f(v) => v * v\nkernel k(x: inout f32[R])\n  grid (r in 0..R)\n{\n  x[r] = f(x[r] + 1.0)\n}\n");
  REQUIRE(program.module);
  program.module->walk([](mlir::arith::MulFOp op) {
    auto site = mlir::dyn_cast<mlir::CallSiteLoc>(op.getLoc());
    REQUIRE(site);
    CHECK(mlir::cast<mlir::FileLineColLoc>(site.getCallee()).getLine() == 1);
    CHECK(mlir::cast<mlir::FileLineColLoc>(site.getCaller()).getLine() == 5);
  });
}

TEST_CASE("a step that only run time knows is guarded", "[specialize]") {
  Program program("kernel k(x: inout f32[R], n: i32)\n  grid (r in 0..R)\n{\n  for i in 0..R by n { x[i] = 0.0 }\n}\n");
  REQUIRE(program.module);
  CHECK(program.count<mlir::arith::SelectOp>() == 1);
  CHECK(program.count<mlir::arith::MaxSIOp>() == 1);
}

TEST_CASE("fast and deterministic are attributes of the kernel", "[specialize]") {
  const std::string source = "kernel k(x: inout f32[R])\n  with fast = true\n  grid (r in 0..R)\n{\n  x[r] = if "
                             "deterministic { 1.0 } else { 0.0 }\n}\n";
  Program program(source);
  REQUIRE(program.module);
  CHECK(program.kernel->hasAttr("tile.fast"));
  CHECK_FALSE(program.kernel->hasAttr("tile.deterministic"));
  Program bound(source, bind({{"deterministic", "true"}, {"fast", "false"}}));
  REQUIRE(bound.module);
  CHECK(bound.kernel->hasAttr("tile.deterministic"));
  CHECK_FALSE(bound.kernel->hasAttr("tile.fast"));
}
