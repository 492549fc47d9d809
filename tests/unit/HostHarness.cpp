//===- HostHarness.cpp - tile IR to running host code, for tests ------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "HostHarness.h"

#include "compiler/Codegen/Codegen.h"
#include "compiler/Conversion/TileToHost/Passes.h"
#include "compiler/Pipeline/Pipeline.h"
#include "compiler/Target/Target.h"
#include "runtime/Jit/HostCode.h"
#include "runtime/Support/NarrowFloat.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

namespace tessera::test {

static constexpr int64_t kGuard = 1 << 14;
static constexpr uint8_t kGuardByte = 0x7f; // large or NaN in every float format, never 0

std::string irType(const std::string &dtype) {
  if (dtype == "bool")
    return "i1";
  if (dtype == "f8e4m3")
    return "f8E4M3FN";
  if (dtype == "f8e5m2")
    return "f8E5M2";
  return dtype[0] == 'u' ? "i" + dtype.substr(1) : dtype;
}

std::string kernelText(const std::vector<Param> &params, const std::vector<std::string> &dims,
                       const std::vector<Axis> &grid, const std::string &body) {
  auto list = [](const std::vector<std::string> &names) {
    std::string text;
    for (const std::string &name : names)
      text += (text.empty() ? "\"" : ", \"") + name + "\"";
    return "[" + text + "]";
  };
  std::string text = "tile.kernel @k(", separator, axes;
  for (const Param &p : params) {
    if (p.mode.empty())
      text += fmt::format("{}%{}: {} {{tile.name = \"{}\", tile.dtype = \"{}\"}}", separator, p.name, irType(p.dtype),
                          p.name, p.dtype);
    else
      text += fmt::format(
          "{}%{}: !tile.view<{}{}> {{tile.name = \"{}\", tile.mode = \"{}\", tile.dtype = \"{}\", tile.dims = {}}}",
          separator, p.name, p.shape.empty() ? "" : p.shape + "x", irType(p.dtype), p.name, p.mode, p.dtype,
          list(p.dims));
    separator = ",\n    ";
  }
  for (const Axis &a : grid) {
    text += fmt::format("{}%{}: i64 {{tile.coord = \"{}\"}}", separator, a.name, a.name);
    axes += fmt::format("{}{{name = \"{}\", lo = \"{}\", hi = \"{}\", step = \"{}\"}}", axes.empty() ? "" : ", ",
                        a.name, a.lo, a.hi, a.step);
    separator = ",\n    ";
  }
  return text +
         fmt::format(") attributes {{dims = {}, grid = [{}]}} {{\n{}\n  tile.return\n}}\n", list(dims), axes, body);
}

Result<HostProgram> compileHost(const std::string &ir, const std::string &fault) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  registerCodegenDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  std::string messages;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return mlir::success();
  });
  auto failure = [&](std::string stage) { return Error{Fault::Internal, stage + ": " + messages, "", ""}; };
  auto module = mlir::parseSourceString<mlir::ModuleOp>(ir, &context);
  if (!module)
    return failure("parse");
  mlir::PassManager manager(&context);
  buildNumericsPipeline(manager, *findTarget("host"));
  buildHostPipeline(manager, fault);
  if (mlir::failed(manager.run(*module)))
    return failure("passes");
  HostProgram program;
  module->walk([&](mlir::LLVM::LLVMFuncOp function) {
    if (auto bytes = function->getAttrOfType<mlir::IntegerAttr>(kScratchBytesAttr))
      program.scratchBytes = bytes.getInt();
  });
  Result<std::string> object = emitHostObject(*module);
  if (!object)
    return failure("codegen: " + object.error().message);
  auto code = HostCode::load(*object, {"k"});
  if (!code)
    return failure("link: " + code.error().message);
  program.code = *code;
  program.entry = reinterpret_cast<void (*)(const uint64_t *, int64_t, int64_t, void *)>(program.code->find("k"));
  return program;
}

std::pair<int64_t, int64_t> HostProgram::run(const std::vector<uint64_t> &slots, int64_t first, int64_t last) const {
  // Stale numbers in scratch must not matter, but for the record at its beginning.
  int64_t bytes = (scratchBytes + 63) / 64 * 64;
  auto *scratch = static_cast<uint8_t *>(std::aligned_alloc(64, size_t(bytes) + 64));
  std::memset(scratch, kGuardByte, size_t(bytes) + 64);
  std::memset(scratch, 0, 64);
  entry(slots.data(), first, last, scratch);
  std::pair<int64_t, int64_t> status;
  std::memcpy(&status.first, scratch, 8);
  std::memcpy(&status.second, scratch + 8, 8);
  for (int64_t i = bytes; i < bytes + 64; ++i)
    if (scratch[i] != kGuardByte)
      status.first = -1; // wrote past its scratch
  std::free(scratch);
  return status;
}

Tensor::Tensor(std::string name, std::vector<int64_t> extents, std::vector<int64_t> steps)
    : dtype(std::move(name)), type(*parseDType(dtype)), size(sizeOf(type)), shape(std::move(extents)),
      strides(std::move(steps)) {
  if (strides.empty()) {
    strides.assign(shape.size(), 1);
    for (size_t d = shape.size(); d-- > 1;)
      strides[d - 1] = strides[d] * shape[d];
  }
  int64_t last = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    last += std::max<int64_t>(shape[d] - 1, 0) * strides[d];
  memory.assign(size_t(2 * kGuard + (last + 1) * size), kGuardByte);
  isElement.assign(memory.size(), 0);
  each([&](const std::vector<int64_t> &index) { std::memset(&isElement[size_t(offset(index))], 1, size_t(size)); });
}

int64_t Tensor::offset(const std::vector<int64_t> &index) const {
  int64_t at = 0;
  for (size_t d = 0; d < index.size(); ++d)
    at += index[d] * strides[d];
  return kGuard + at * size;
}

uint64_t Tensor::bits(const std::vector<int64_t> &index) const {
  uint64_t value = 0;
  std::memcpy(&value, &memory[size_t(offset(index))], size_t(size));
  return value;
}

void Tensor::setBits(const std::vector<int64_t> &index, uint64_t value) {
  std::memcpy(&memory[size_t(offset(index))], &value, size_t(size));
}

double Tensor::get(const std::vector<int64_t> &index) const {
  uint64_t raw = bits(index);
  int shift = int(64 - 8 * size);
  switch (type) {
  case DType::F64:
    return std::bit_cast<double>(raw);
  case DType::F32:
    return std::bit_cast<float>(uint32_t(raw));
  case DType::F16:
    return widen(uint32_t(raw), kF16);
  case DType::BF16:
    return widen(uint32_t(raw), kBF16);
  case DType::F8E4M3:
    return widen(uint32_t(raw), kF8E4M3);
  case DType::F8E5M2:
    return widen(uint32_t(raw), kF8E5M2);
  default:
    return isSignedInteger(type) ? double(int64_t(raw << shift) >> shift) : double(raw);
  }
}

void Tensor::set(const std::vector<int64_t> &index, double value) {
  switch (type) {
  case DType::F64:
    return setBits(index, std::bit_cast<uint64_t>(value));
  case DType::F32:
    return setBits(index, std::bit_cast<uint32_t>(float(value)));
  case DType::F16:
    return setBits(index, narrow(value, kF16));
  case DType::BF16:
    return setBits(index, narrow(value, kBF16));
  case DType::F8E4M3:
    return setBits(index, narrow(value, kF8E4M3));
  case DType::F8E5M2:
    return setBits(index, narrow(value, kF8E5M2));
  default:
    return setBits(index, value < 0 ? uint64_t(int64_t(value)) : uint64_t(value));
  }
}

Tensor &Tensor::random(uint32_t seed, double low, double high) {
  uint32_t state = seed * 2654435761u + 12345u;
  each([&](const std::vector<int64_t> &index) {
    state = state * 1664525u + 1013904223u;
    double value = low + (high - low) * (state >> 8) / 16777216.0;
    bool isFloating = isFloat(type);
    set(index, isFloating ? value : type == DType::Bool ? double(state >> 31) : std::floor(value));
  });
  return *this;
}

Tensor &Tensor::fill(double value) {
  each([&](const std::vector<int64_t> &index) { set(index, value); });
  return *this;
}

bool Tensor::guardsIntact() const {
  for (size_t i = 0; i < memory.size(); ++i)
    if (!isElement[i] && memory[i] != kGuardByte)
      return false;
  return true;
}

void Tensor::pushSlots(std::vector<uint64_t> &slots) const {
  slots.push_back(reinterpret_cast<uintptr_t>(memory.data() + kGuard));
  for (int64_t stride : strides)
    slots.push_back(uint64_t(stride));
}

std::string launch(const std::string &ir, const std::string &fault, const std::vector<const Tensor *> &tensors,
                   const std::vector<uint64_t> &rest, int64_t programs) {
  Result<HostProgram> program = compileHost(ir, fault);
  if (!program)
    return program.error().message + "\n" + ir;
  std::vector<uint64_t> slots;
  for (const Tensor *tensor : tensors)
    tensor->pushSlots(slots);
  slots.insert(slots.end(), rest.begin(), rest.end());
  if (program->run(slots, 0, programs).first)
    return "a failed assertion or a write past the scratch";
  for (const Tensor *tensor : tensors)
    if (!tensor->guardsIntact())
      return "wrote outside a tensor";
  return "";
}

} // namespace tessera::test
