//===- Embedded.h - kernels that were linked into the program ------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// `tessera compile --emit header` writes an archive with images and host code, and a header whose class calls what is declared here.  The
// table is plain data, so that the archive needs nothing of the runtime.  For every target there may be several images of one kernel, compiled under
// wider and narrower contracts; a launch takes the first that its arguments satisfy.
//
#ifndef TESSERA_RUNTIME_LAUNCH_EMBEDDED_H
#define TESSERA_RUNTIME_LAUNCH_EMBEDDED_H

#include "runtime/Launch/Device.h"
#include "runtime/Launch/PreparedLaunch.h"

#include <array>
#include <type_traits>

namespace tessera {

//===----------------------------------------------------------------------===//
// What the archive holds
//===----------------------------------------------------------------------===//

/// An entry point of host code.
struct EmbeddedEntry {
  const char *name;
  void *address;
};

/// A serialized KernelImage; that of a host image has no code, since its code is linked.
struct EmbeddedImage {
  const char *target;
  const void *bytes;
  uint64_t size;
};

/// Everything of one archive.  Images with one target stand in order, the widest contract first.
struct EmbeddedTable {
  static constexpr uint64_t kVersion = 1;
  uint64_t version;
  uint64_t imageCount;
  const EmbeddedImage *images;
  uint64_t entryCount;
  const EmbeddedEntry *entries;
};

/// The kernels and ops of a table on one device; cheap to copy, any thread may launch.
class EmbeddedKernels {
public:
  /// Loads the images for the device's target, or for the newest older GPU whose code it runs.  Fault::Program: T0631 for a table of
  /// another version, T0632 where there is no image for the device.
  static Result<EmbeddedKernels> load(const EmbeddedTable &table, const Device &device);

  /// Launches under the widest contract that the arguments satisfy.  Asynchronous in stream order on a GPU.  A launch of a kernel like an earlier
  /// one only compares them (LaunchCache).  `workspace` is for the temporaries of an op; without memory in it the runtime allocates, in stream order.
  Result<void> launch(std::string_view name, std::span<const ArgumentView> arguments, StreamHandle stream,
                      const Workspace &workspace = {}) const;
  /// Checks now, to be launched later, again and again; says how large a workspace an op needs.
  Result<PreparedLaunch> prepare(std::string_view name, std::span<const ArgumentView> arguments) const;
  /// Bytes of the workspace of an op with such arguments; 0 for a kernel.
  Result<size_t> workspaceBytes(std::string_view name, std::span<const ArgumentView> arguments) const;

  /// The images in use, widest contract first.
  const std::vector<std::shared_ptr<const LoadedImage>> &images() const;

private:
  struct State;
  explicit EmbeddedKernels(std::shared_ptr<const State> state) : state(std::move(state)) {}
  std::shared_ptr<const State> state;
};

//===----------------------------------------------------------------------===//
// Typed arguments
//===----------------------------------------------------------------------===//

/// True if memory of `Element` may be passed for elements of type `type`: the C++ type of that name, void, or, for the types that C++ lacks
/// (f16, bf16, 8-bit floats), any type of their size.
template <typename Element>
constexpr bool isElement(DType type) {
  if constexpr (std::is_void_v<Element>) {
    return true;
  } else {
    using Bare = std::remove_cv_t<Element>;
    constexpr bool integer = std::is_integral_v<Bare> && !std::is_same_v<Bare, bool>;
    switch (type) {
    case DType::Bool:
      return std::is_same_v<Bare, bool>;
    case DType::I8:
    case DType::I16:
    case DType::I32:
    case DType::I64:
      return integer && std::is_signed_v<Bare> && sizeof(Bare) == (size_t(1) << (int(type) - int(DType::I8)));
    case DType::U8:
    case DType::U16:
    case DType::U32:
    case DType::U64:
      return integer && std::is_unsigned_v<Bare> && sizeof(Bare) == (size_t(1) << (int(type) - int(DType::U8)));
    case DType::F32:
      return std::is_same_v<Bare, float>;
    case DType::F64:
      return std::is_same_v<Bare, double>;
    case DType::F16:
    case DType::BF16:
      return sizeof(Bare) == 2 && !std::is_signed_v<Bare>;
    case DType::F8E4M3:
    case DType::F8E5M2:
      return sizeof(Bare) == 1 && !std::is_signed_v<Bare>;
    }
    return false;
  }
}

/// A tensor argument whose element type and number of dimensions the compiler of C++ checks.  Owns nothing.
template <DType kType, size_t kRank, bool kWritten>
class TypedTensor {
public:
  /// Dense, row by row.
  template <typename Element>
  TypedTensor(Element *data, const std::array<int64_t, kRank> &shape) {
    check<Element>();
    ref = TensorRef::contiguous(const_cast<void *>(static_cast<const void *>(data)), kType,
                                std::vector<int64_t>(shape.begin(), shape.end()));
  }
  /// Any strides, in elements.
  template <typename Element>
  TypedTensor(Element *data, const std::array<int64_t, kRank> &shape, const std::array<int64_t, kRank> &strides) {
    check<Element>();
    ref.data = const_cast<void *>(static_cast<const void *>(data));
    ref.dtype = kType;
    ref.shape.assign(shape.begin(), shape.end());
    ref.strides.assign(strides.begin(), strides.end());
  }
  /// The caller vouches that this written tensor shares no element with another argument, where the launch cannot prove it.
  TypedTensor &disjoint() {
    ref.mayOverlap = true;
    return *this;
  }
  const TensorRef &tensor() const { return ref; }

private:
  template <typename Element>
  static constexpr void check() {
    static_assert(isElement<Element>(kType), "the pointer's type is not the kernel's element type");
    static_assert(!kWritten || !std::is_const_v<Element>, "the kernel writes this tensor");
  }
  TensorRef ref;
};

template <DType kType, size_t kRank>
using In = TypedTensor<kType, kRank, false>;
/// Tensors that a kernel writes: out, inout and accum.
template <DType kType, size_t kRank>
using Out = TypedTensor<kType, kRank, true>;

/// A scalar of a type that C++ lacks or that a literal does not have; rounds floats.  For whole numbers the C++ parameter's type has been exact.
inline ScalarRef scalarArgument(DType type, double value) { return *ScalarRef::convert(value, type); }
inline ScalarRef scalarArgument(DType type, int64_t value) { return *ScalarRef::convert(value, type); }

} // namespace tessera
#endif // TESSERA_RUNTIME_LAUNCH_EMBEDDED_H
