//===- OverlapTest.cpp - aliasing against enumeration ---------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The search must agree with the sets of bytes themselves, on random small tensors and on the layouts that matter.
//
#include "runtime/Launch/Overlap.h"

#include <catch2/catch.hpp>

#include <random>
#include <set>

using namespace tessera;

namespace {

TensorRef make(int64_t element, DType dtype, std::vector<int64_t> shape, std::vector<int64_t> strides) {
  TensorRef tensor;
  tensor.data = reinterpret_cast<void *>(uintptr_t(1 << 20) + static_cast<uintptr_t>(element * sizeOf(dtype)));
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  tensor.strides = std::move(strides);
  return tensor;
}

/// Addresses of all elements, in index order.
std::vector<int64_t> addresses(const TensorRef &tensor) {
  std::vector<int64_t> list = {static_cast<int64_t>(reinterpret_cast<uintptr_t>(tensor.data))};
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    std::vector<int64_t> next;
    for (int64_t base : list)
      for (int64_t i = 0; i < tensor.shape[d]; ++i)
        next.push_back(base + i * tensor.strides[d] * sizeOf(tensor.dtype));
    list = next;
  }
  return list;
}

bool share(const TensorRef &a, const TensorRef &b) {
  std::set<int64_t> bytes;
  for (int64_t address : addresses(a))
    for (int i = 0; i < sizeOf(a.dtype); ++i)
      bytes.insert(address + i);
  for (int64_t address : addresses(b))
    for (int i = 0; i < sizeOf(b.dtype); ++i)
      if (bytes.count(address + i))
        return true;
  return false;
}

bool overlapsItself(const TensorRef &tensor) {
  std::vector<int64_t> list = addresses(tensor);
  return std::set<int64_t>(list.begin(), list.end()).size() != list.size();
}

} // namespace

TEST_CASE("random small tensors agree with enumeration") {
  std::mt19937 engine(11);
  auto upTo = [&](int n) { return static_cast<int64_t>(engine() % static_cast<unsigned>(n)); };
  auto random = [&] {
    DType types[] = {DType::U8, DType::F16, DType::F32, DType::F64};
    size_t rank = static_cast<size_t>(1 + upTo(3));
    std::vector<int64_t> shape, strides;
    for (size_t d = 0; d < rank; ++d) {
      shape.push_back(upTo(20) == 0 ? 0 : 1 + upTo(4));
      strides.push_back(upTo(25) - 8);
    }
    return make(upTo(40), types[upTo(4)], shape, strides);
  };
  int shared = 0, own = 0;
  for (int round = 0; round < 20000; ++round) {
    TensorRef a = random(), b = random();
    bool expected = share(a, b), self = overlapsItself(a);
    shared += expected;
    own += self;
    INFO("round " << round);
    REQUIRE(mayShareMemory(a, b) == expected);
    REQUIRE(mayOverlapItself(a) == self);
  }
  CHECK(shared > 2000); // the cases are not all on one side
  CHECK(shared < 18000);
  CHECK(own > 2000);
  CHECK(own < 18000);
}

TEST_CASE("packed and interleaved tensors of real size are told apart") {
  // qkv[B, S, 3, H, D] with B 4, S 4096, H 16, D 128: dq, dk, dv are slices of one buffer.
  int64_t row = 3 * 16 * 128;
  auto part = [&](int64_t which) {
    return make(which * 16 * 128, DType::BF16, {4, 16, 4096, 128}, {4096 * row, 128, row, 1});
  };
  for (int64_t i = 0; i < 3; ++i) {
    CHECK_FALSE(mayOverlapItself(part(i)));
    for (int64_t j = 0; j < 3; ++j)
      CHECK(mayShareMemory(part(i), part(j)) == (i == j));
  }
  // Even and odd elements of a rotary embedding.
  TensorRef even = make(0, DType::F32, {1 << 20, 64}, {128, 2}), odd = make(1, DType::F32, {1 << 20, 64}, {128, 2});
  CHECK_FALSE(mayShareMemory(even, odd));
  CHECK(mayShareMemory(even, even));
  // Halves of one row, and the same halves moved by one element so that they touch.
  CHECK_FALSE(mayShareMemory(make(0, DType::F32, {1000, 50}, {100, 1}), make(50, DType::F32, {1000, 50}, {100, 1})));
  CHECK(mayShareMemory(make(0, DType::F32, {1000, 50}, {100, 1}), make(49, DType::F32, {1000, 50}, {100, 1})));
  // A transposed copy of the same memory, and views of different element types.
  CHECK(mayShareMemory(make(0, DType::F32, {64, 64}, {64, 1}), make(0, DType::F32, {64, 64}, {1, 64})));
  CHECK(mayShareMemory(make(0, DType::F32, {8}, {1}), make(15, DType::F16, {8}, {1})));
  CHECK_FALSE(mayShareMemory(make(0, DType::F32, {8}, {1}), make(16, DType::F16, {8}, {1})));
}

TEST_CASE("extremes end quickly and on the safe side") {
  // Coprime strides near each other: a subset-sum problem; the answer may be "not proved", never "disjoint" when it is not.
  TensorRef a = make(0, DType::U8, {1000, 1000, 1000, 1000}, {999983, 999979, 999961, 999959});
  TensorRef b = make(12345, DType::U8, {1000, 1000, 1000, 1000}, {999953, 999931, 999917, 999907});
  CHECK(mayShareMemory(a, b));
  CHECK(mayOverlapItself(a));
  CHECK_FALSE(mayShareMemory(make(0, DType::F32, {0, 8}, {8, 1}), make(0, DType::F32, {8}, {1})));
  CHECK_FALSE(mayOverlapItself(make(0, DType::F32, {1, 8}, {0, 1})));
  CHECK(mayOverlapItself(make(0, DType::F32, {2, 8}, {0, 1})));
  // An exotic layout without overlap that no mixed radix describes.
  CHECK_FALSE(mayOverlapItself(make(0, DType::F32, {3, 3}, {2, 3})));
  CHECK(overlapsItself(make(0, DType::F32, {4, 3}, {2, 3})));
  CHECK(mayOverlapItself(make(0, DType::F32, {4, 3}, {2, 3})));
}
