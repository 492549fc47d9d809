//===- Result.h - a value or an error; whose fault it is ------------------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Every fallible call outside the compiler's diagnostics returns Result<T>.  An Error first says whose fault it is, because the
// remedy, the exit code and the reader differ: the program or its data (1), the way a tool was called (2), the machine (3), us (70).
//
#ifndef TESSERA_RUNTIME_SUPPORT_RESULT_H
#define TESSERA_RUNTIME_SUPPORT_RESULT_H

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace tessera {

/// Whose fault an error is.  The numeric value is the exit code of the command line.
enum class Fault : int { Program = 1, Usage = 2, Machine = 3, Internal = 70 };

/// One failure: whose fault, what happened, and what to do about it.
struct Error {
  Fault fault = Fault::Internal;
  std::string message; ///< what happened: expected and found, lower case, no final period
  std::string remedy;  ///< what to do; may be empty
  std::string code;    ///< diagnostic code `T0123` that `tessera explain` knows; may be empty
};

/// A value or an Error.  Never throws; `operator*` of a failed result is a programming error.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : storage(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : storage(std::in_place_index<1>, std::move(error)) {}
  explicit operator bool() const { return storage.index() == 0; }
  T &operator*() & { return *std::get_if<0>(&storage); }
  const T &operator*() const & { return *std::get_if<0>(&storage); }
  T &&operator*() && { return std::move(*std::get_if<0>(&storage)); }
  T *operator->() { return std::get_if<0>(&storage); }
  const T *operator->() const { return std::get_if<0>(&storage); }
  const Error &error() const { return *std::get_if<1>(&storage); }

private:
  std::variant<T, Error> storage;
};

/// Success or an Error.
template <>
class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error error) : failure(std::move(error)) {}
  explicit operator bool() const { return !failure; }
  const Error &error() const { return *failure; }

private:
  std::optional<Error> failure;
};

} // namespace tessera
#endif // TESSERA_RUNTIME_SUPPORT_RESULT_H
