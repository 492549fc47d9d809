//===- SpecializeErrorsTest.cpp - every rejection: code, place and exact message ------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A table: one program for each way to be wrong, and the one diagnostic that it gets.  A program of the table has one
// mistake, so a second diagnostic is a cascade and fails the test.
//
#include "compiler/Frontend/Parser.h"
#include "compiler/Frontend/Specialize.h"

#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace tessera;

namespace {

/// Statements inside a kernel that has a parameter of every kind; they begin on line 4 (after what stands before it).
std::string inKernel(const std::string &statements) {
  return std::string("kernel k<T = f32, N: int = 64, W = 16>(x: in T[R, N], a: in i32[R], u: in u32[R], h: in f16[R, "
                     "N], b: in bf16[R, N], q: in f8e4m3[R, N], "
                     "y: out T[R, N], z: inout T[R], c: accum f32[R], o: in T[R] = None, s: f32, n: i32)\n"
                     "  grid (r in 0..R by W)\n{\n") +
         statements + "}\n";
}

struct Case {
  const char *code;
  int line, column;
  const char *message;
  std::string source;
  std::vector<std::string> bindings;
};

/// Lines of a loop that may end its iteration.
std::string exits(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i)
    lines += "    if n == " + std::to_string(i) + " { continue }\n";
  return lines;
}

std::vector<Diagnostic> diagnose(const std::string &source, const std::vector<std::string> &bindings) {
  std::vector<Diagnostic> diagnostics;
  ast::File file = frontend::parse(source, "test.tile", diagnostics);
  REQUIRE(diagnostics.empty());
  CompileOptions options;
  for (const std::string &binding : bindings) {
    size_t equals = binding.find('=');
    options.bindings.push_back({binding.substr(0, equals), binding.substr(equals + 1)});
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  specialize(file, {"k"}, options, context, diagnostics);
  return diagnostics;
}

const std::vector<Case> &cases() {
  // clang-format off
  static const std::vector<Case> kCases = {
    {"T0201", 4, 29, "signed and unsigned integers do not mix, found i32 and u32", inKernel("  z[r +: W] = f32(a[r +: W] + u[r +: W])\n"), {}},
    {"T0202", 4, 25, "an integer does not mix with a float, found i32 and f32", inKernel("  z[r +: W] = a[r +: W] * s\n"), {}},
    {"T0202", 4, 13, "an integer does not mix with a float, found f32 and i64", inKernel("  let m = s / R\n"), {}},
    {"T0202", 4, 13, "an integer does not mix with a float, found the constant 0.5 with i64", inKernel("  let m = r * 0.5\n"), {}},
    {"T0203", 4, 24, "neither of f16 and bf16 holds the other, found f16 and bf16", inKernel("  let p = h[r +: W, :] + b[r +: W, :]\n"), {}},
    {"T0204", 4, 24, "'+' does not work on fp8, found f8e4m3", inKernel("  let p = q[r +: W, :] + q[r +: W, :]\n"), {}},
    {"T0204", 4, 11, "'max' does not work on fp8, found a tile f8e4m3[16, 64]", inKernel("  let p = max(q[r +: W, :], axis = 1)\n"), {}},
    {"T0205", 4, 24, "a bool does not mix with numbers, found f32 and bool", inKernel("  let p = x[r +: W, :] * (x[r +: W, :] > 0.0)\n"), {}},
    {"T0205", 4, 16, "'and' works on bool, found a scalar i32", inKernel("  let p = a[r] and true\n"), {}},
    {"T0205", 4, 11, "the condition of 'where' is a bool, found a tile i32[16]", inKernel("  let p = where(a[r +: W], 1.0, 0.0)\n"), {}},
    {"T0206", 4, 13, "the constant 3000000000 is outside the range of i32", inKernel("  let p = n + 3000000000\n"), {}},
    {"T0206", 4, 16, "the constant -1 is outside the range of u32", inKernel("  let p = u[r] + (-1)\n"), {}},
    {"T0206", 4, 24, "the constant 1000000000 overflows f16", inKernel("  let p = h[r +: W, :] * 1e9\n"), {}},
    {"T0207", 4, 31, "9223372036854775807 + 1 overflows 64 bits at compile time", inKernel("  let p = 9223372036854775807 + 1\n"), {}},
    {"T0207", 4, 11, "the integer 9223372036854775808 is outside 64 bits", inKernel("  let p = 9223372036854775808\n"), {}},
    {"T0208", 4, 6, "a condition is a scalar bool, found a tile bool[16, 64]", inKernel("  if x[r +: W, :] > 0.0 { z[r +: W] = 0.0 }\n"), {}},
    {"T0208", 4, 9, "a condition is a scalar bool, found a scalar i32", inKernel("  while n { z[r] = 0.0 }\n"), {}},
    {"T0209", 4, 11, "an 'if' used as a value needs 'else'", inKernel("  let p = if n > 0 { 1.0 }\n"), {}},
    {"T0209", 4, 11, "an 'if' whose condition is known only at run time cannot choose between a view of 'x' and a view of 'x'", inKernel("  let p = if n > 0 { x[r] } else { x[r + 1] }\n"), {}},
    {"T0205", 4, 11, "a bool does not mix with numbers, found a bool constant with f32", inKernel("  let p = if n > 0 { s } else { true }\n"), {}},
    {"T0210", 4, 3, "expected f32, found a tile f64[16], which is wider", inKernel("  z[r +: W] = f64(x[r +: W, 0])\n"), {}},
    {"T0210", 5, 3, "expected f16, found a scalar f32, which is wider", inKernel("  var p = h[r, 0]\n  p = s\n"), {}},
    {"T0211", 4, 13, "expected a value as operand of '+', found a view of 'x'", inKernel("  let p = x + 1.0\n"), {}},
    {"T0211", 4, 11, "expected a number in 'exp', found a view of 'x'", inKernel("  let p = exp(x[r])\n"), {}},
    {"T0212", 5, 13, "expected a value as operand of '+', found a function", "fn relu(x) => max(x, 0.0)\n" + inKernel("  let p = s + relu\n  \n"), {}},
    {"T0212", 4, 16, "expected a tuple of 2, found a scalar f32", inKernel("  let (p, t) = s\n"), {}},
    {"T0213", 4, 11, "'exp' works on floats, found a scalar i32", inKernel("  let p = exp(a[r])\n"), {}},
    {"T0214", 4, 13, "'%' works on integers, found f32", inKernel("  let p = s % 2.0\n"), {}},
    {"T0214", 4, 13, "'<<' works on integers, found a scalar f32 and a scalar f32", inKernel("  let p = s << 2\n"), {}},
    {"T0214", 4, 13, "expected an integer scalar as an index, found a scalar f32", inKernel("  let p = z[s]\n"), {}},
    {"T0215", 4, 3, "nobody uses this value, a scalar f32", inKernel("  s + 1.0\n"), {}},
    {"T0217", 4, 24, "'@' multiplies tiles of one element type, found f32 and f16", inKernel("  let p = x[r +: W, :] @ h[r +: W, :].T\n"), {}},
    {"T0218", 4, 17, "'zeros' takes an element type here, found the constant 1.0", inKernel("  let p = zeros(1.0, [4])\n"), {}},
    {"T0218", 4, 57, "'precision' is exact, tf32 or fast", inKernel("  let p = dot(x[r +: W, :], x[r +: W, :].T, precision = often)\n"), {}},
    {"T0219", 4, 11, "the name 'zz' is not known here", inKernel("  let p = zz + 1\n"), {}},
    {"T0219", 4, 24, "there is no '.H'", inKernel("  let p = x[r +: W, :].H\n"), {}},
    {"T0220", 4, 11, "'where' needs the argument 'b'", inKernel("  let p = where(s > 0.0, s)\n"), {}},
    {"T0220", 4, 25, "'exp' has no argument 'base'", inKernel("  let p = exp(s, base = 2.0)\n"), {}},
    {"T0220", 4, 18, "'exp' takes 1 argument, found 2", inKernel("  let p = exp(s, s)\n"), {}},
    {"T0221", 7, 13, "'v' of 'f' takes 2 dimensions, found a view of 'z' of 1 dimension", "fn f(v: T[N, D]) => v[0, 0]\nfn g(v, w: int) => v + w\nfn rec(v) => rec(v)\n" + inKernel("  let p = f(z)\n"), {}},
    {"T0221", 7, 16, "'w: int' takes a compile-time integer, found a scalar i32", "fn f(v: T[N, D]) => v[0, 0]\nfn g(v, w: int) => v + w\nfn rec(v) => rec(v)\n" + inKernel("  let p = g(1, n)\n"), {}},
    {"T0220", 7, 11, "'g' needs the argument 'w'", "fn f(v: T[N, D]) => v[0, 0]\nfn g(v, w: int) => v + w\nfn rec(v) => rec(v)\n" + inKernel("  let p = g(1)\n"), {}},
    {"T0222", 3, 14, "'rec' calls itself", "fn f(v: T[N, D]) => v[0, 0]\nfn g(v, w: int) => v + w\nfn rec(v) => rec(v)\n" + inKernel("  let p = rec(s)\n"), {}},
    {"T0223", 1, 17, "the kernel expands to more than 400000 expressions", "fn f0(x) => x + x + x + x + x + x + x + x\nfn f1(x) => f0(f0(f0(f0(x))))\nfn f2(x) => f1(f1(f1(f1(x))))\nfn f3(x) => f2(f2(f2(f2(x))))\nfn f4(x) => f3(f3(f3(f3(x))))\nfn f5(x) => f4(f4(f4(f4(x))))\nfn f6(x) => f5(f5(f5(f5(x))))\nfn f7(x) => f6(f6(f6(f6(x))))\nfn f8(x) => f7(f7(f7(f7(x))))\nfn f9(x) => f8(f8(f8(f8(x))))\n" + inKernel("  let p = f9(s)\n"), {}},
    {"T0224", 4, 19, "a kernel cannot return from inside a loop", inKernel("  for i in 0..4 { return }\n"), {}},
    {"T0224", 4, 22, "a branch of an 'if' used as a value gives one, found 'return'", inKernel("  let p = if n > 0 { return; 1.0 } else { 2.0 }\n"), {}},
    {"T0224", 4, 37, "a branch of an 'if' used as a value gives one, found 'break'", inKernel("  for i in 0..4 { z[r] = if n > 0 { break } else { 2.0 } }\n"), {}},
    {"T0224", 4, 41, "a branch of an 'if' used as a value gives one, found 'continue'", inKernel("  while n > 0 { if if n > 2 { if true { continue }; true } else { false } { z[r] = 1.0 } }\n"), {}},
    {"T0224", 4, 3, "'continue' stands in the body of a loop, found it outside", inKernel("  continue\n"), {}},
    {"T0224", 1, 11, "'break' stands in the body of a loop, found it outside", "fn f(v) { break }\n" + inKernel("  for i in 0..4 { f(i) }\n"), {}},
    {"T0223", 205, 5, "at most 200 statements of a block may leave it early", inKernel("  for i in 0..4 {\n" + exits(201) + "  }\n"), {}},
    {"T0412", 2, 14, "a grid runs over a range lo..hi, or over leading dimensions", "kernel k(x: in i32[N])\n  grid (r in N)\n{\n  let p = x[r]\n}\n", {}},
    {"T0402", 1, 22, "'S' is a number of dimensions, 0 to 16, found the constant -1", "kernel k(x: in i32[..S])\n  grid (r in S)\n{\n  let p = x[r]\n}\n", {"S=-1"}},
    {"T0228", 1, 29, "'S' has a meaning here already", "kernel k<S = 4>(x: in i32[..S])\n  grid (r in 0..4)\n{\n  let p = S\n}\n", {}},
    {"T0405", 2, 14, "nothing binds the leading dimensions 'S'", "kernel k(x: in i32[..S] = None)\n  grid (r in S)\n{\n  let p = 1\n}\n", {}},
    {"T0412", 1, 36, "an extent is an integer", "kernel k(x: in i32[..S], y: in i32[S])\n  grid (r in S)\n{\n  let p = x[r]\n}\n", {}},
    {"T0212", 4, 13, "expected a value as operand of '+', found a tuple of 3", "kernel k(x: in i32[..S])\n  grid (r in S)\n{\n  let p = S + 1\n}\n", {"S=3"}},
    {"T0304", 4, 11, "'x' has 2 dimensions here, found 3 indices", "kernel k(x: in i32[..S])\n  grid (r in S)\n{\n  let p = x[r, 0]\n}\n", {"S=2"}},
    {"T0221", 5, 16, "'..S' of 'b' stands for other dimensions here", "fn f(a: T[..S], b: T[..S]) => a\n" + inKernel("  let p = f(x, z)\n"), {}},
    {"T0221", 5, 13, "'a' of 'f' takes at least 2 dimensions, found a view of 'z' of 1 dimension", "fn f(a: T[..S, M, N]) => a\n" + inKernel("  let p = f(z)\n"), {}},
    {"T0231", 4, 9, "the condition of 'while' is always true, and nothing breaks the loop", inKernel("  while true { z[r] = 0.0 }\n"), {}},
    {"T0231", 4, 9, "the condition of 'while' is always true, and nothing breaks the loop", inKernel("  while N == 64 { if W == 8 { break }; z[r] = 0.0 }\n"), {}},
    {"T0225", 4, 3, "'print' is part of the language, but this version does not compile it yet", inKernel("  print(r)\n"), {}},
    {"T0214", 4, 11, "'histogram' counts a tile of integers, found a tile f32[16]", inKernel("  let p = histogram(z[r +: W], 16)\n"), {}},
    {"T0307", 4, 11, "the extent of a tile is at least 1, found 0", inKernel("  let p = histogram(i32(z[r +: W]), 0)\n"), {}},
    {"T0230", 4, 11, "'bitcast' needs types of one width, found f64 and a tile f32[16]", inKernel("  let p = bitcast(f64, z[r +: W])\n"), {}},
    {"T0230", 4, 11, "'bitcast' takes a scalar or a tile of run time, found the constant 1.0", inKernel("  let p = bitcast(i32, 1.0)\n"), {}},
    {"T0229", 4, 11, "the function of 'reduce' gives 1 value for 2 tiles", inKernel("  let p = reduce((z[r +: W], z[r +: W]), 0, fn (a1, b1, a2, b2) => a1 + a2)\n"), {}},
    {"T0229", 5, 11, "the function of 'scan' gives a tile f32[16], not a scalar", inKernel("  let t = z[r +: W]\n  let p = scan(t, 0, fn (l, m) => l + m + t)\n"), {}},
    {"T0229", 4, 11, "the function of 'reduce' may only compute with its elements and scalars around it", inKernel("  let p = reduce(z[r +: W], 0, fn (l, m) => if l > m { l } else { m })\n"), {}},
    {"T0220", 4, 32, "'reduce' takes a function here, found the constant 3", inKernel("  let p = reduce(z[r +: W], 0, 3)\n"), {}},
    {"T0220", 4, 11, "'scan' needs the argument 'f'", inKernel("  let p = scan(z[r +: W], 0)\n"), {}},
    {"T0302", 4, 11, "expected an axis in 0..1, found 1", inKernel("  let p = scan(z[r +: W], 1, fn (l, m) => l + m)\n"), {}},
    {"T0302", 4, 11, "expected an axis in 0..1, found 2", inKernel("  let p = sort(z[r +: W], axis = 2)\n"), {}},
    {"T0204", 4, 11, "fp8 values have no order, found f8e4m3 in 'sort'", inKernel("  let p = sort(q[r +: W, :], axis = 0)\n"), {}},
    {"T0218", 4, 50, "'descending' is true or false, known at compile time", inKernel("  let p = sort(z[r +: W], axis = 0, descending = 1)\n"), {}},
    {"T0302", 4, 11, "expected a k in 1..17, found 17", inKernel("  let p = topk(z[r +: W], 17, axis = 0)\n"), {}},
    {"T0226", 5, 3, "'p' is no var and keeps its value", inKernel("  let p = 1.0\n  p = 2.0\n"), {}},
    {"T0226", 4, 3, "'s' is no var and keeps its value", inKernel("  s = 2.0\n"), {}},
    {"T0227", 4, 7, "a var holds a scalar or a tile, found a view of 'x'", inKernel("  var p = x[r]\n"), {}},
    {"T0301", 4, 24, "the shapes [16, 64] and [16] do not broadcast: 64 meets 16", inKernel("  let p = x[r +: W, :] - z[r +: W]\n"), {}},
    {"T0301", 4, 11, "a tile f32[16] does not broadcast to [4, 4]", inKernel("  let p = broadcast(z[r +: W], [4, 4])\n"), {}},
    {"T0302", 4, 11, "expected an axis in 0..1, found 1", inKernel("  let p = sum(z[r +: W], axis = 1)\n"), {}},
    {"T0303", 4, 24, "the inner extents of '@' agree: expected 64 rows on the right, found 16 in a tile f32[16, 64] @ a tile f32[16, 64]", inKernel("  let p = x[r +: W, :] @ x[r +: W, :]\n"), {}},
    {"T0303", 4, 21, "'@' multiplies tiles of rank 2 or 3, found a tile f32[16] and a tile f32[16, 64]", inKernel("  let p = z[r +: W] @ x[r +: W, :]\n"), {}},
    {"T0304", 4, 11, "'x' has 2 dimensions here, found 3 indices", inKernel("  let p = x[r, 0, 0]\n"), {}},
    {"T0304", 4, 23, "'x' of 2 dimensions is taken as a view here, which allows only scalars, '..' and ranges a..b", inKernel("  let p = x[r..r + 4, 0 +: 4]\n"), {}},
    {"T0304", 4, 11, "only tensors and tiles have indices, found a scalar f32", inKernel("  let p = s[0]\n"), {}},
    {"T0305", 4, 13, "':' takes a whole dimension of compile-time extent, found the run-time extent 'R' of 'z'", inKernel("  let p = z[:]\n"), {}},
    {"T0306", 4, 13, "the width and step of a slice are compile-time integers of at least 1, found a scalar i32", inKernel("  let p = z[r +: n]\n"), {}},
    {"T0306", 4, 13, "the width and step of a slice are compile-time integers of at least 1, found the constant 0", inKernel("  let p = z[r +: 4 by 0]\n"), {}},
    {"T0307", 4, 22, "the extents of a tile are compile-time integers, found a scalar i32", inKernel("  let p = zeros(f32, [n])\n"), {}},
    {"T0307", 4, 22, "the extent of a tile is at least 1, found 0", inKernel("  let p = zeros(f32, [0])\n"), {}},
    {"T0307", 4, 22, "a tile has at most 268435456 elements", inKernel("  let p = zeros(f32, [65536, 65536])\n"), {}},
    {"T0308", 4, 11, "reshape keeps the number of elements: expected 1024, found 12", inKernel("  let p = reshape(x[r +: W, :], [3, 4])\n"), {}},
    {"T0309", 4, 21, "'.T' swaps the last two dimensions, found a tile f32[16]", inKernel("  let p = z[r +: W].T\n"), {}},
    {"T0310", 4, 3, "a slice of 1 dimension is assigned a tile f32[16, 64]", inKernel("  z[r +: W] = x[r +: W, :]\n"), {}},
    {"T0311", 4, 13, "an integer slice used as an index says what lies past its end: expected 'pad =', found none", inKernel("  let p = z[a[r +: W]]\n"), {}},
    {"T0312", 4, 3, "an assignment with an operator through index tiles would lose updates of duplicates", inKernel("  z[a[r +: W, pad = -1]] += 1.0\n"), {}},
    {"T0313", 5, 11, "expected one index for each dimension of a tile f32[16, 64], found 1", inKernel("  let p = x[r +: W, :]\n  let t = p[0]\n"), {}},
    {"T0313", 5, 13, "the parts of a tile have compile-time positions, found a scalar i32", inKernel("  let p = x[r +: W, :]\n  let t = p[n, 0]\n"), {}},
    {"T0313", 5, 16, "the parts of a tile have compile-time positions, found a scalar i64", inKernel("  let p = x[r +: W, :]\n  let t = p[:, r +: 4]\n"), {}},
    {"T0313", 5, 13, "a tile of indices picks elements of memory, found it on a tile", inKernel("  let p = x[r +: W, :]\n  let t = p[iota(4), 0]\n"), {}},
    {"T0313", 5, 13, "the indices of a tile are numbers, start +: width, ':' and None", inKernel("  let p = x[r +: W, :]\n  let t = p[0..4, :]\n"), {}},
    {"T0306", 5, 16, "the width and step of a slice are compile-time integers of at least 1, found a scalar i32", inKernel("  let p = x[r +: W, :]\n  let t = p[0, 0 +: n]\n"), {}},
    {"T0317", 5, 16, "dimension 1 of a tile f32[16, 64] has the extent 64, found a part of start 60 and width 6", inKernel("  let p = x[r +: W, :]\n  let t = p[:, 60 +: 6]\n"), {}},
    {"T0317", 5, 13, "dimension 0 of a tile f32[16, 64] has the extent 16, found a part of start 0 and width 9 by 2", inKernel("  let p = x[r +: W, :]\n  let t = p[0 +: 9 by 2, :]\n"), {}},
    {"T0317", 5, 13, "dimension 0 of a tile f32[16, 64] has the extent 16, found the position -1", inKernel("  let p = x[r +: W, :]\n  let t = p[-1, :]\n"), {}},
    {"T0314", 4, 11, "'y' is 'out' and cannot be read", inKernel("  let p = y[r, 0]\n"), {}},
    {"T0314", 4, 3, "'x' is 'in' and cannot be written", inKernel("  x[r, 0] = 1.0\n"), {}},
    {"T0314", 4, 3, "'c' is 'accum' and takes only +=", inKernel("  c[r] = 1.0\n"), {}},
    {"T0315", 4, 20, "the step of a loop is at least 1, found 0", inKernel("  for i in 0..4 by 0 { z[r] = 0.0 }\n"), {}},
    {"T0316", 4, 29, "extents 'V' and 'W' meet here and are only equal for this binding (16)", "kernel k<T = f32, N: int = 64, W = 16, V = 16>(x: in T[R, N], a: in i32[R], u: in u32[R], h: in f16[R, N], b: in bf16[R, N], q: in f8e4m3[R, N], y: out T[R, N], z: inout T[R], c: accum f32[R], o: in T[R] = None, s: f32, n: i32)\n  grid (r in 0..R by W)\n{\n  let p = x[r +: W, 0 +: V] - z[r +: W]\n  z[r] = sum(p)\n}\n", {}},
    {"T0401", 1, 10, "the compile-time parameter 'C' has no value", "kernel k<C: int>(x: in f32[R, C])\n  grid (r in 0..R)\n{\n  let p = x[r, :]\n}\n", {}},
    {"T0402", 1, 10, "'T' is a type, found an integer", inKernel("  return\n"), {"T=5"}},
    {"T0402", 1, 32, "'W=often' binds no value", inKernel("  return\n"), {"W=often"}},
    {"T0403", 1, 8, "no kernel has a compile-time parameter 'BM'", inKernel("  return\n"), {"BM=5"}},
    {"T0405", 1, 24, "nothing binds the dimension 'N'", "kernel k(x: in f32[2 * N])\n  grid (r in 0..4)\n{\n  let p = x[r]\n}\n", {}},
    {"T0407", 4, 17, "static assertion failed: W is too small", inKernel("  static_assert(W > 16, \"W is too small\")\n"), {}},
    {"T0408", 4, 17, "'static_assert' takes a bool known at compile time, found a scalar bool", inKernel("  static_assert(n > 16)\n"), {}},
    {"T0412", 2, 17, "the launcher cannot evaluate this expression", "kernel k(x: in i32[N])\n  grid (r in 0..x[0])\n{\n  let p = x[r]\n}\n", {}},
    {"T0412", 2, 17, "the grid runs over integers", "kernel k(x: in i32[N], s: f32)\n  grid (r in 0..s)\n{\n  let p = x[r]\n}\n", {}},
    {"T0205", 2, 12, "'requires' takes a bool", "kernel k(x: in i32[N])\n  requires N + 1\n  grid (r in 0..N)\n{\n  let p = x[r]\n}\n", {}},
    {"T0202", 2, 14, "an integer does not mix with a float, found i64 and f32", "kernel k(x: in i32[N], s: f32)\n  requires N > s\n  grid (r in 0..N)\n{\n  let p = x[r]\n}\n", {}},
    {"T0414", 1, 10, "'stages' belongs to every kernel and is no name for a parameter", "kernel k<stages = 2>(x: in i32[N])\n  grid (r in 0..N)\n{\n  let p = x[r]\n}\n", {}},
    {"T0315", 2, 22, "the step of a grid is at least 1, found 0", "kernel k(x: in i32[N])\n  grid (r in 0..N by 0)\n{\n  let p = x[r]\n}\n", {}},
    {"T0218", 1, 23, "'x' needs an element type, found the constant 4", "kernel k<T = 4>(x: in T[N])\n  grid (r in 0..N)\n{\n  let p = x[r]\n}\n", {}},
    {"T0202", 1, 14, "an integer does not mix with a float, found the constant 0.5 with i32", "fn f(v) => v * 0.5\nkernel k(x: in i32[N], y: out f32[N])\n  grid (r in 0..N)\n{\n  y[r] = f(x[r])\n}\n", {}},
    {"T0228", 4, 7, "'x' has a meaning here already", inKernel("  let x = 1.0\n"), {}},
    {"T0228", 5, 7, "'p' has a meaning here already", inKernel("  let p = 1.0\n  for p in 0..4 { z[p] = 0.0 }\n"), {}},
    {"T0228", 4, 15, "'n' has a meaning here already", inKernel("  let p = fn (n) => n + 1\n"), {}},
    {"T0219", 2, 25, "the name 'r' is not known here", "kernel k(x: in i32[N])\n  grid (r in 0..N, s in r..N)\n{\n  let p = x[r]\n}\n", {}},
    {"T0222", 2, 9, "the constant 'u' is defined by itself", "let u = v + 1\nlet v = u\nkernel k(x: inout i64[N])\n  grid (r in 0..N)\n{\n  x[r] = u\n}\n", {}},
    {"T0314", 4, 3, "'c' is 'accum' and takes only +=", inKernel("  c[r] -= 1.0\n"), {}},
    {"T0314", 4, 11, "'y' is 'out', and an atomic reads and writes", inKernel("  let p = atomic_add(y[r, 0], 1.0)\n"), {}},
    {"T0218", 4, 41, "'order' is relaxed, acquire, release or acq_rel", inKernel("  let p = atomic_add(z[r], 1.0, order = sometimes)\n"), {}},
    {"T0220", 4, 11, "'atomic_cas' takes 3 arguments, found 2", inKernel("  let p = atomic_cas(z[r], 1.0)\n"), {}},
    {"T0214", 4, 11, "'atomic_xor' works on integers and bool, found f32", inKernel("  let p = atomic_xor(z[r +: W], 1.0)\n"), {}},
    {"T0219", 4, 11, "the name 'zz' is not known here", inKernel("  let p = zz\n  let t = p + 1\n  z[r +: W] = t @ p\n"), {}},
  };
  // clang-format on
  return kCases;
}

} // namespace

TEST_CASE("a wrong program gets one diagnostic, at its place", "[specialize]") {
  for (const Case &c : cases()) {
    INFO(c.source);
    std::vector<Diagnostic> found = diagnose(c.source, c.bindings);
    REQUIRE(found.size() == 1);
    CHECK(found[0].code == c.code);
    CHECK(found[0].place.line == c.line);
    CHECK(found[0].place.column == c.column);
    CHECK(found[0].message == c.message);
    CHECK(found[0].place.file == "test.tile");
  }
}

TEST_CASE("an error in a function names the calls around it", "[specialize]") {
  std::vector<Diagnostic> found =
      diagnose("fn g(v) => v * 0.5\nfn f(v) => g(v)\nkernel k(x: in i32[N], y: out f32[N])\n  grid (r in 0..N)\n{\n"
               "  y[r] = f(x[r])\n}\n",
               {});
  REQUIRE(found.size() == 1);
  CHECK(found[0].place.line == 1);
  REQUIRE(found[0].notes.size() == 2);
  CHECK(found[0].notes[0].message == "in the call of 'g' here");
  CHECK(found[0].notes[0].place.line == 2);
  CHECK(found[0].notes[1].message == "in the call of 'f' here");
  CHECK(found[0].notes[1].place.line == 6);
}

TEST_CASE("every code has an entry that explains it", "[specialize]") {
  const std::vector<std::string> kCodes = {
#define TESSERA_CODE(code, title, explanation, wrong, right) #code,
#include "compiler/Frontend/SpecializeCodes.def"
  };
  CHECK(std::is_sorted(kCodes.begin(), kCodes.end()));
  CHECK(std::adjacent_find(kCodes.begin(), kCodes.end()) == kCodes.end());
  for (const Case &c : cases())
    CHECK(std::find(kCodes.begin(), kCodes.end(), c.code) != kCodes.end());
}

TEST_CASE("an unknown kernel is an error of the call", "[specialize]") {
  std::vector<Diagnostic> diagnostics;
  ast::File file = frontend::parse("fn f(x) => x\n", "test.tile", diagnostics);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  CHECK_FALSE(specialize(file, {"k"}, CompileOptions(), context, diagnostics));
  REQUIRE(diagnostics.size() == 1);
  CHECK(diagnostics[0].code == "T0413");
}
