//===- MemoryFunctionsTest.cpp - host objects bring their own memcpy ------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Copies, moves and fills of every length around the chunks, at every offset and overlap, against loops over bytes.
//
#include "compiler/Codegen/Codegen.h"
#include "runtime/Jit/HostCode.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace tessera;

namespace {

const char *kSource = R"(
llvm.func @copy(%to: !llvm.ptr, %from: !llvm.ptr, %n: i64) {
  "llvm.intr.memcpy"(%to, %from, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.return
}
llvm.func @move(%to: !llvm.ptr, %from: !llvm.ptr, %n: i64) {
  "llvm.intr.memmove"(%to, %from, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.return
}
llvm.func @set(%to: !llvm.ptr, %value: i8, %n: i64) {
  "llvm.intr.memset"(%to, %value, %n) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
  llvm.return
})";

using Bytes = std::vector<unsigned char>;

Bytes numbered(size_t count) {
  Bytes bytes(count);
  for (size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<unsigned char>(i * 37 + 11);
  return bytes;
}

} // namespace

TEST_CASE("copies, moves and fills of host code are right for every length, offset and overlap") {
  for (int level : {0, 2}) {
    mlir::DialectRegistry registry;
    registerCodegenDialects(registry);
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(kSource, mlir::ParserConfig(&context));
    REQUIRE(module);
    CodegenOptions options;
    options.optimization = level;
    Result<std::string> object = emitHostObject(*module, options);
    if (!object)
      FAIL(object.error().message);
    auto code = HostCode::load(*object, {"copy", "move", "set"});
    if (!code)
      FAIL(code.error().message);
    auto copy = reinterpret_cast<void (*)(void *, const void *, int64_t)>((*code)->find("copy"));
    auto move = reinterpret_cast<void (*)(void *, const void *, int64_t)>((*code)->find("move"));
    auto set = reinterpret_cast<void (*)(void *, char, int64_t)>((*code)->find("set"));
    int wrong = 0;
    for (size_t length = 0; length < 140; ++length)
      for (size_t offset : {0, 1, 7, 31}) {
        Bytes bytes(256, 0xaa), expected = bytes, source = numbered(256);
        copy(&bytes[offset + 3], &source[offset], int64_t(length));
        for (size_t i = 0; i < length; ++i)
          expected[offset + 3 + i] = source[offset + i];
        wrong += bytes != expected;
        set(&bytes[offset], char(0xc3), int64_t(length));
        for (size_t i = 0; i < length; ++i)
          expected[offset + i] = 0xc3;
        wrong += bytes != expected;
        // Overlaps of every distance, to both sides.
        for (int distance : {-100, -33, -32, -31, -1, 0, 1, 5, 31, 32, 33, 64, 100}) {
          Bytes moved = numbered(400), wanted = moved, before = moved;
          size_t from = 110 + offset, to = size_t(int(from) + distance);
          move(&moved[to], &moved[from], int64_t(length));
          for (size_t i = 0; i < length; ++i)
            wanted[to + i] = before[from + i];
          wrong += moved != wanted;
        }
      }
    CHECK(wrong == 0);
  }
}
