//===- Array.h - a dense tensor that the tool owns ------------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Host memory, 64-byte aligned, row-major, with element type and shape; element access as numbers wide enough for every type.
//
#ifndef TESSERA_TOOLS_TESSERA_ARRAY_H
#define TESSERA_TOOLS_TESSERA_ARRAY_H

#include "runtime/Launch/TensorRef.h"

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace tessera {

struct Array {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;

  /// Uninitialized memory.  Fault::Machine (T0623) when there is not enough, Fault::Program (T0614) for a shape beyond 2^63 bytes.
  static Result<Array> allocate(DType dtype, std::vector<int64_t> shape);

  int64_t elements() const;
  size_t bytes() const { return static_cast<size_t>(elements()) * static_cast<size_t>(sizeOf(dtype)); }
  unsigned char *data() const { return memory.get(); }
  TensorRef ref() const { return TensorRef::contiguous(memory.get(), dtype, shape); }

  /// Element number `index` in row-major order; long double holds every type exactly.
  long double get(int64_t index) const;
  /// Rounds or converts to the element type; integers wrap.
  void set(int64_t index, long double value);

  /// `bf16[4, 8]`.
  std::string describe() const;
  /// The elements as nested lists; long dimensions show both ends only.
  std::string print() const;

private:
  struct Free {
    void operator()(unsigned char *p) const { std::free(p); }
  };
  std::unique_ptr<unsigned char, Free> memory;
};

} // namespace tessera
#endif // TESSERA_TOOLS_TESSERA_ARRAY_H
