//===- Value.h - what an expression of the language evaluates to ---------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The specializer walks a kernel with its compile-time parameters known, so an expression is either a compile-time
// thing (a number, a boolean, a type, a function, None, a tuple), a view of memory, or data: an SSA value with its
// element type in the source.  A poison value stands for an expression that has been reported; everything made from it
// is poison too, so one mistake gives one message.
//
#ifndef TESSERA_COMPILER_FRONTEND_VALUE_H
#define TESSERA_COMPILER_FRONTEND_VALUE_H

#include "runtime/Image/DType.h"
#include "runtime/Image/KernelImage.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::frontend {

struct Function;

/// One extent of a view: known at compile time, or an i64 SSA value that is made when somebody asks.
struct ViewExtent {
  std::optional<int64_t> fixed;
  mlir::Value value;  ///< null while nobody has asked (or when fixed)
  std::string origin; ///< the dimension name behind it; empty when there is none
};

/// A tensor in memory, or part of one.
struct View {
  mlir::Value value; ///< of type !tile.view
  DType dtype = DType::F32;
  ParamMode mode = ParamMode::In;
  std::string param; ///< the parameter that it stands on, for messages
  std::vector<ViewExtent> extents;
};

/// The value of an expression.
struct Value {
  enum class Kind : uint8_t { Poison, Nothing, None, Integer, Real, Boolean, Type, Function, Tuple, View, Data };
  Kind kind = Kind::Poison;
  int64_t integer = 0;
  double real = 0;
  bool boolean = false;
  DType dtype = DType::F32;    ///< of Type and Data
  std::string origin;          ///< Integer: the compile-time name it is (`BM`), for the warning about broadcasts
  std::vector<Value> elements; ///< of Tuple
  std::shared_ptr<const Function> function;
  std::shared_ptr<View> view;
  mlir::Value ssa;                  ///< of Data: a scalar or a tensor
  std::vector<std::string> origins; ///< of Data that is a tile: per dimension, the name its extent came from or ""

  static Value poison() { return {}; }
  static Value nothing() { return ofKind(Kind::Nothing); }
  static Value none() { return ofKind(Kind::None); }
  static Value of(int64_t number, std::string origin = {}) {
    Value v = ofKind(Kind::Integer);
    v.integer = number;
    v.origin = std::move(origin);
    return v;
  }
  static Value of(double number) {
    Value v = ofKind(Kind::Real);
    v.real = number;
    return v;
  }
  static Value of(bool truth) {
    Value v = ofKind(Kind::Boolean);
    v.boolean = truth;
    return v;
  }
  static Value of(DType type) {
    Value v = ofKind(Kind::Type);
    v.dtype = type;
    return v;
  }
  static Value of(std::shared_ptr<const Function> function) {
    Value v = ofKind(Kind::Function);
    v.function = std::move(function);
    return v;
  }
  static Value of(std::vector<Value> elements) {
    Value v = ofKind(Kind::Tuple);
    v.elements = std::move(elements);
    return v;
  }
  static Value of(View view) {
    Value v = ofKind(Kind::View);
    v.view = std::make_shared<View>(std::move(view));
    return v;
  }
  /// Data; a tile without `origins` gets empty ones.
  static Value data(mlir::Value ssa, DType dtype, std::vector<std::string> origins = {}) {
    Value v = ofKind(Kind::Data);
    v.ssa = ssa;
    v.dtype = dtype;
    v.origins = std::move(origins);
    v.origins.resize(v.shape().size());
    return v;
  }

  bool isPoison() const { return kind == Kind::Poison; }
  bool isNumber() const { return kind == Kind::Integer || kind == Kind::Real; }
  bool isData() const { return kind == Kind::Data; }
  bool isTile() const { return isData() && mlir::isa<mlir::RankedTensorType>(ssa.getType()); }
  bool isScalar() const { return isData() && !isTile(); }
  bool isView() const { return kind == Kind::View; }
  bool isTuple() const { return kind == Kind::Tuple; }
  bool isInteger() const { return kind == Kind::Integer; }
  bool isBoolean() const { return kind == Kind::Boolean; }
  bool isFunction() const { return kind == Kind::Function; }
  bool isType() const { return kind == Kind::Type; }
  bool isNone() const { return kind == Kind::None; }
  /// Shape of data; empty for a scalar.
  llvm::ArrayRef<int64_t> shape() const {
    auto tile = mlir::dyn_cast<mlir::RankedTensorType>(ssa.getType());
    return tile ? tile.getShape() : llvm::ArrayRef<int64_t>();
  }
  /// The number as a double.
  double asReal() const { return kind == Kind::Integer ? double(integer) : real; }

private:
  static Value ofKind(Kind kind) {
    Value v;
    v.kind = kind;
    return v;
  }
};

} // namespace tessera::frontend
#endif // TESSERA_COMPILER_FRONTEND_VALUE_H
