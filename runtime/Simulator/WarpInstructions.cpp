//===- WarpInstructions.cpp - what the lanes of a warp do together ---------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Fragments after PTX ISA 9.0, "Matrix multiply-accumulate operation using mma instruction" and "ldmatrix".  With g = lane / 4 and t = lane % 4:
//
//   A, 16 x k   register r holds row g + 8 * (r % 2) and n = 32 / bits elements from column n * t + (k / 2) * (r / 2) on
//   B, k x 8    register r holds column g and n elements from row n * t + (k / 2) * r on
//   C, 16 x 8   element i holds row g + 8 * (i / 2), column 2 * t + i % 2
//
// for every shape but the one of f64, which is 8 x 8 x 4 with one element of A (row g, column t) and of B (row t, column g).
//
#include "runtime/Simulator/PtxText.h"

#include "runtime/Support/NarrowFloat.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <vector>

namespace tessera::simulator {
namespace {

/// A matrix multiplication as its name describes it.
struct MmaShape {
  int m = 0, n = 0, k = 0;
  std::string accumulator, left, right;
};

MmaShape shapeOf(const PtxStatement &s) { // mma.sync.aligned.m16n8k16.row.col.D.A.B.C
  MmaShape shape;
  const std::string &size = s.parts[3];
  size_t n = size.find('n'), k = size.find('k');
  shape.m = std::stoi(size.substr(1, n - 1));
  shape.n = std::stoi(size.substr(n + 1, k - n - 1));
  shape.k = std::stoi(size.substr(k + 1));
  shape.accumulator = s.parts[6];
  shape.left = s.parts[7];
  shape.right = s.parts[8];
  return shape;
}

int bitsOf(const std::string &type) {
  return type == "f64" ? 64 : type == "tf32" ? 32 : type == "f16" || type == "bf16" ? 16 : 8;
}

double elementOf(uint64_t word, int index, const std::string &type) {
  int bits = bitsOf(type);
  auto raw = uint32_t(word >> (index * bits));
  if (type == "f64")
    return std::bit_cast<double>(word);
  if (type == "tf32") // the low bits are not read
    return std::bit_cast<float>(raw & ~0x1FFFu);
  if (type == "f16")
    return widen(raw & 0xFFFF, kF16);
  if (type == "bf16")
    return widen(raw & 0xFFFF, kBF16);
  if (type == "e4m3")
    return widen(raw & 0xFF, kF8E4M3);
  if (type == "e5m2")
    return widen(raw & 0xFF, kF8E5M2);
  return type == "s8" ? double(int8_t(raw)) : double(uint8_t(raw));
}

/// Operands of a text in the order of their arguments, as lanes see them.
struct Operands {
  const PtxStatement &statement;
  uint64_t *const *lanes;

  uint64_t read(int lane, size_t argument, size_t i) const {
    const PtxValue &value = statement.arguments[argument].values[i];
    return lanes[lane][value.number];
  }
  void write(int lane, size_t i, uint64_t bits) const { lanes[lane][statement.arguments[0].values[i].number] = bits; }
};

void multiply(Block &, const void *how, uint64_t *const *lanes) {
  const auto &statement = *static_cast<const PtxStatement *>(how);
  const MmaShape shape = shapeOf(statement);
  const Operands operands{statement, lanes};
  std::vector<double> a(size_t(shape.m * shape.k)), b(size_t(shape.k * shape.n));
  for (int lane = 0; lane < kLanes; ++lane) {
    int g = lane / 4, t = lane % 4, each = bitsOf(shape.left) == 64 ? 1 : 32 / bitsOf(shape.left);
    for (size_t r = 0; r < statement.arguments[1].values.size(); ++r)
      for (int i = 0; i < each; ++i)
        a[size_t((g + 8 * int(r % 2)) * shape.k + each * t + shape.k / 2 * int(r / 2) + i)] =
            elementOf(operands.read(lane, 1, r), i, shape.left);
    for (size_t r = 0; r < statement.arguments[2].values.size(); ++r)
      for (int i = 0; i < each; ++i)
        b[size_t((each * t + shape.k / 2 * int(r) + i) * shape.n + g)] =
            elementOf(operands.read(lane, 2, r), i, shape.right);
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    int g = lane / 4, t = lane % 4;
    auto product = [&](int i) {
      int row = g + 8 * (i / 2), column = 2 * t + i % 2;
      double sum = 0;
      for (int k = 0; k < shape.k; ++k)
        sum += a[size_t(row * shape.k + k)] * b[size_t(k * shape.n + column)];
      return sum;
    };
    for (size_t r = 0; r < statement.arguments[0].values.size(); ++r) {
      uint64_t old = operands.read(lane, 3, r), sum;
      if (shape.accumulator == "f64")
        sum = std::bit_cast<uint64_t>(std::bit_cast<double>(old) + product(int(r)));
      else if (shape.accumulator == "f32")
        sum = std::bit_cast<uint32_t>(float(std::bit_cast<float>(uint32_t(old)) + product(int(r))));
      else if (shape.accumulator == "s32")
        sum = uint32_t(int64_t(int32_t(uint32_t(old))) + int64_t(product(int(r))));
      else // two of f16
        sum = narrow(widen(old & 0xFFFF, kF16) + product(2 * int(r)), kF16) |
              narrow(widen(old >> 16 & 0xFFFF, kF16) + product(2 * int(r) + 1), kF16) << 16;
      operands.write(lane, r, sum);
    }
  }
}

void loadMatrices(Block &block, const void *how, uint64_t *const *lanes) {
  const auto &statement = *static_cast<const PtxStatement *>(how);
  const Operands operands{statement, lanes};
  bool isTransposed = statement.has("trans");
  size_t count = statement.arguments[0].values.size();
  // Results may stand where addresses do, so all addresses are read first.
  std::vector<const char *> rows(8 * count);
  for (size_t row = 0; row < rows.size(); ++row) {
    auto place = uint32_t(operands.read(int(row), 1, 0));
    if (place % 16)
      block.fail(fmt::format("ldmatrix of a row at shared address {:#x}, which is no multiple of 16", place));
    rows[row] = reinterpret_cast<const char *>(uintptr_t(place));
  }
  for (int lane = 0; lane < kLanes; ++lane)
    for (size_t matrix = 0; matrix < count; ++matrix) {
      uint32_t word = 0;
      for (int i = 0; i < 2; ++i) {
        int row = lane / 4, column = lane % 4 * 2 + i;
        if (isTransposed)
          std::swap(row, column);
        uint16_t element;
        std::memcpy(&element, rows[8 * matrix + size_t(row)] + 2 * column, 2);
        word |= uint32_t(element) << (16 * i);
      }
      operands.write(lane, matrix, word);
    }
}

} // namespace

void runMma(PtxFrame &frame, const PtxStatement &statement) {
  frame.block.meet(frame.program.text.c_str(), &statement, frame.operands, multiply);
}

void runLdmatrix(PtxFrame &frame, const PtxStatement &statement) {
  frame.block.meet(frame.program.text.c_str(), &statement, frame.operands, loadMatrices);
}

} // namespace tessera::simulator
