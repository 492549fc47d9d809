//===- ControlFlow.h - structured control flow over named variables ------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Turns assignments to `var`s inside branches and loops into the results and carried values of scf.if, scf.for and
// scf.while.  The caller names the variables that the region assigns; bodies are callbacks that emit ops and update the
// environment.
//
#ifndef TESSERA_COMPILER_FRONTEND_CONTROLFLOW_H
#define TESSERA_COMPILER_FRONTEND_CONTROLFLOW_H

#include "compiler/Frontend/Emitter.h"
#include "compiler/Frontend/Environment.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tessera::frontend {

class ControlFlow {
public:
  ControlFlow(Emitter &emitter, Environment &environment) : emitter(emitter), environment(environment) {}

  using Body = llvm::function_ref<Value()>;
  /// scf.if on an i1.  With `isValue` the bodies' values are unified and returned; otherwise nothing is.
  Value branch(mlir::Value condition, llvm::ArrayRef<std::string> assigned, Body thenBody, Body elseBody, bool isValue,
               At at);
  /// scf.for over lo..hi by step, all i64 scalars; a step below 1 makes no iteration.  `body` gets the index.  Where `body` clears the bool variable
  /// `goesOn` (null: none), the loop ends after that iteration, and is an scf.while over the number of the iteration.
  void loop(mlir::Value lo, mlir::Value hi, mlir::Value step, llvm::ArrayRef<std::string> assigned,
            llvm::function_ref<void(mlir::Value)> body, At at, const char *goesOn = nullptr);
  /// scf.while; `condition` gives an i1 scalar (null after an error) and may assign too.
  void whileLoop(llvm::ArrayRef<std::string> assigned, llvm::function_ref<mlir::Value()> condition,
                 llvm::function_ref<void()> body, At at);

private:
  struct Carried {
    std::vector<std::string> names;
    llvm::SmallVector<mlir::Value> values;
    llvm::SmallVector<mlir::Type> types;
  };
  Carried carried(llvm::ArrayRef<std::string> assigned);
  void set(const Carried &names, mlir::ValueRange values);

  Emitter &emitter;
  Environment &environment;
};

} // namespace tessera::frontend
#endif // TESSERA_COMPILER_FRONTEND_CONTROLFLOW_H
