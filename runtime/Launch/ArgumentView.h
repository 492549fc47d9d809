//===- ArgumentView.h - a launch argument that is only looked at ---------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// What a launch takes on its way to the driver: a pointer to the caller's tensor, or a scalar by value.  An Argument owns shapes and
// strides, so that copying one allocates; a view does not.
//
#ifndef TESSERA_RUNTIME_LAUNCH_ARGUMENTVIEW_H
#define TESSERA_RUNTIME_LAUNCH_ARGUMENTVIEW_H

#include "runtime/Launch/TensorRef.h"

#include <type_traits>

namespace tessera {

class ArgumentView {
public:
  enum class Kind : uint8_t { Absent, Tensor, Scalar };

  ArgumentView() = default;
  ArgumentView(std::nullopt_t) {}
  ArgumentView(const TensorRef &tensor) : what(Kind::Tensor), ref(&tensor) {}
  ArgumentView(ScalarRef scalar) : what(Kind::Scalar), value(scalar) {}
  ArgumentView(const Argument &argument) {
    if (const TensorRef *tensor = std::get_if<TensorRef>(&argument))
      *this = ArgumentView(*tensor);
    else if (const ScalarRef *scalar = std::get_if<ScalarRef>(&argument))
      *this = ArgumentView(*scalar);
  }
  /// A number of C++; converted to its parameter's type where that loses no whole number.
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  ArgumentView(T number) : what(Kind::Scalar) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, float> || std::is_same_v<T, double>)
      value = ScalarRef::of(number);
    else if constexpr (std::is_signed_v<T>)
      value = ScalarRef::of(static_cast<int64_t>(number));
    else
      value = ScalarRef::of(static_cast<uint64_t>(number));
  }

  Kind kind() const { return what; }
  const TensorRef *tensor() const { return ref; }                                     ///< null unless Kind::Tensor
  const ScalarRef *scalar() const { return what == Kind::Scalar ? &value : nullptr; } ///< null unless Kind::Scalar
  Argument toArgument() const {
    if (ref)
      return *ref;
    return what == Kind::Scalar ? Argument(value) : Argument();
  }

private:
  Kind what = Kind::Absent;
  const TensorRef *ref = nullptr;
  ScalarRef value;
};

} // namespace tessera
#endif // TESSERA_RUNTIME_LAUNCH_ARGUMENTVIEW_H
