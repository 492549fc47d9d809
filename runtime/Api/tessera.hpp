//===- tessera.hpp - tile programs from C++ ------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
//     auto program = tessera::Program::fromSource(text);
//     if (!program) { fputs(program.failure().text().c_str(), stderr); ... }
//     auto kernel = program->kernel("linear_forward", {{"T", "bf16"}, {"BM", 128}});
//     auto done = kernel->launch(stream, x, w, std::nullopt, y);         // in the order of the parameters; nullopt: no bias
//
// Nothing throws, prints or exits.  The caller owns streams and memory: a TensorRef is a pointer with element type, shape and strides.
// A kernel is compiled when arguments of a new kind first meet it, or by prepare(), which a stream capture needs first.  Everything here
// may be used from any thread and copied cheaply.  Only the standard library and headers of the runtime are included.
//
#ifndef TESSERA_RUNTIME_API_TESSERA_HPP
#define TESSERA_RUNTIME_API_TESSERA_HPP

#include "runtime/Launch/Device.h"
#include "runtime/Launch/PreparedLaunch.h"

#include <array>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tessera {

/// One message of the compiler.
struct Message {
  enum class Kind { Error, Warning, Remark };
  Kind kind = Kind::Error;
  std::string code; ///< `T0123`
  std::string file;
  int line = 0, column = 0;
  std::string text, remedy;
  std::string rendered; ///< with the source line and a caret, as a terminal shows it
};

/// Why something failed: whose fault, and the compiler's messages where the program is wrong.
struct Failure {
  Error error;
  std::vector<Message> messages;
  /// All of it for a person, several lines.
  std::string text() const;
};

/// A value or a Failure.
template <typename T>
class [[nodiscard]] Expected {
public:
  Expected(T value) : storage(std::in_place_index<0>, std::move(value)) {}
  Expected(Failure failure) : storage(std::in_place_index<1>, std::move(failure)) {}
  explicit operator bool() const { return storage.index() == 0; }
  T &operator*() { return *std::get_if<0>(&storage); }
  T *operator->() { return std::get_if<0>(&storage); }
  const T &operator*() const { return *std::get_if<0>(&storage); }
  const T *operator->() const { return std::get_if<0>(&storage); }
  const Failure &failure() const { return *std::get_if<1>(&storage); }

private:
  std::variant<T, Failure> storage;
};

template <>
class [[nodiscard]] Expected<void> {
public:
  Expected() = default;
  Expected(Failure failure) : stored(std::move(failure)) {}
  explicit operator bool() const { return !stored; }
  const Failure &failure() const { return *stored; }

private:
  std::optional<Failure> stored;
};

/// A value for a compile-time parameter: a number, a boolean, or a name (`bf16`, `gelu`).
struct Bind {
  std::string name, value;
  Bind(std::string name, std::string value) : name(std::move(name)), value(std::move(value)) {}
  Bind(std::string name, const char *value) : name(std::move(name)), value(value) {}
  template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  Bind(std::string name, T number) : name(std::move(name)) {
    if constexpr (std::is_same_v<T, bool>)
      value = number ? "true" : "false";
    else
      value = std::to_string(number);
  }
};

/// An argument by name: `{"x", x}`.
struct Named {
  std::string name;
  Argument value;
  template <typename T>
  Named(std::string name, const T &value) : name(std::move(name)), value(ArgumentView(value).toArgument()) {}
};

/// A kernel or an op with some of its compile-time parameters bound.
class Kernel {
public:
  /// Launches with one argument for each parameter, in order; std::nullopt for an absent optional tensor.
  template <typename... T>
  Expected<void> launch(StreamHandle stream, const T &...arguments) const {
    const std::array<ArgumentView, sizeof...(T)> views{ArgumentView(arguments)...};
    return launchViews(stream, views);
  }
  Expected<void> launchInOrder(StreamHandle stream, const std::vector<Argument> &arguments,
                               const Workspace &workspace = {}) const;
  /// A launch of a kernel like an earlier one (types, shapes, strides, alignment) only compares them: it neither allocates nor locks.
  Expected<void> launchViews(StreamHandle stream, std::span<const ArgumentView> arguments,
                             const Workspace &workspace = {}) const;
  /// Launches with arguments by name; optional tensors that are not named are absent.
  Expected<void> launchNamed(StreamHandle stream, const std::vector<Named> &arguments) const;

  /// Bytes of the workspace in which an op called with such arguments keeps its temporaries; 0 for a kernel.  Compiles like prepare().
  template <typename... T>
  Expected<size_t> workspaceBytes(const T &...arguments) const {
    return workspaceBytesInOrder({ArgumentView(arguments).toArgument()...});
  }
  Expected<size_t> workspaceBytesInOrder(const std::vector<Argument> &arguments) const;
  /// Launches an op in memory of the caller, which it uses until it has finished: the launch allocates no device memory and may be captured in a
  /// graph.  A launch without a workspace has the runtime allocate one, in stream order.
  template <typename... T>
  Expected<void> launchIn(const Workspace &workspace, StreamHandle stream, const T &...arguments) const {
    const std::array<ArgumentView, sizeof...(T)> views{ArgumentView(arguments)...};
    return launchViews(stream, views, workspace);
  }

  /// Compiles, loads and checks once; the result launches again and again with these very arguments.  Later launches with others like
  /// them need no compilation.  Reads shapes, types, strides and alignment, not the memory.
  template <typename... T>
  Expected<PreparedLaunch> prepare(const T &...arguments) const {
    return prepareInOrder({ArgumentView(arguments).toArgument()...});
  }
  Expected<PreparedLaunch> prepareInOrder(const std::vector<Argument> &arguments) const;

private:
  friend class Program;
  struct State;
  explicit Kernel(std::shared_ptr<const State> state) : state(std::move(state)) {}
  std::shared_ptr<const State> state;
};

/// How a program is read and where it runs.
struct ProgramOptions {
  std::string sourceName = "<program>"; ///< for messages and line information
  std::vector<std::string> importPaths;
  /// Keep compiled images in this folder, and look for them there; empty: in memory only.  Processes may share a folder, also over a
  /// network; whatever is wrong with it costs a compilation and nothing else.
  std::string cacheFolder;
  uint64_t cacheBytes = uint64_t(1) << 29; ///< what it may hold; the least recently used go first
  /// The toolkit's ptxas that assembles code for GPUs; empty: the driver assembles when code is loaded, in every process anew.
  std::string ptxas;
  std::optional<Device> device; ///< none: the first GPU where there is one, else the host's cores
};

/// A source text that has been checked.
class Program {
public:
  static Expected<Program> fromSource(std::string text, ProgramOptions options = {});

  /// The kernel or op of that name; T0615 lists those that exist.
  Expected<Kernel> kernel(const std::string &name, std::initializer_list<Bind> bindings = {}) const;
  Expected<Kernel> kernel(const std::string &name, const std::vector<Bind> &bindings) const;

  const Device &device() const;
  /// Names of the kernels and ops, in source order.
  std::vector<std::string> kernels() const;

private:
  struct State;
  explicit Program(std::shared_ptr<const State> state) : state(std::move(state)) {}
  std::shared_ptr<const State> state;
  friend class Kernel;
};

} // namespace tessera
#endif // TESSERA_RUNTIME_API_TESSERA_HPP
