//===- OpSpecializer.h - a composition -> steps, temporaries and specialized kernels -- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Walks the body of an `op` with its compile-time parameters known.  Every call specializes its kernel for what the op knows of the
// arguments; a called op is dissolved into the steps of its caller.  What is left are launch-time expressions over the op's own names.
//
#ifndef TESSERA_COMPILER_FRONTEND_OPSPECIALIZER_H
#define TESSERA_COMPILER_FRONTEND_OPSPECIALIZER_H

#include "compiler/Frontend/OpCollector.h"
#include "compiler/Frontend/Specializer.h"

#include <set>

namespace tessera::frontend {

class OpSpecializer : public Specializer {
public:
  OpSpecializer(const ast::File &file, const CompileOptions &options, mlir::MLIRContext *context,
                std::vector<Diagnostic> &diagnostics, OpCollector &collector)
      : Specializer(file, options, context, diagnostics), collector(collector) {}

  /// The op with its dimensions in `fixed` taken as numbers.  nullopt after an error.
  std::optional<OpInfo> run(const ast::Kernel &op, const std::map<std::string, int64_t> &fixed);

  /// Dimensions that a callee needs as numbers and whose value is known; where there are any, the op is to be run again with them.
  std::map<std::string, int64_t> wanted;
  /// Where each dimension comes from: parameter, axis, and what is added to it there.
  const std::vector<BoundDim> &boundDims() const { return dims; }

private:
  /// A parameter or a temporary, as an argument of a call.
  struct Tensor {
    StepArgument argument;
    std::string name;
    DType dtype = DType::F32;
    ast::Mode mode = ast::Mode::InOut; ///< of a parameter; temporaries allow everything
    std::vector<Expr> extents;
    TensorContract contract;
  };
  struct Temp {
    const ast::TempStmt *statement = nullptr;
    std::optional<uint64_t> pattern; ///< of `= v`
    bool filled = false, written = false, used = false;
  };
  /// An argument of a call, matched with a run-time parameter of the callee.
  struct Passed {
    const ast::Param *param = nullptr;
    std::optional<Tensor> tensor;
    std::optional<LaunchValue> scalar;
    At at;
  };

  void runBody(const ast::Block &block);
  void runOpStatement(const ast::Stmt &statement);
  void runLaunchLet(const ast::LetStmt &let);
  void runOpIf(const ast::IfExpr &branch);
  void declareTemp(const ast::TempStmt &temp);
  std::optional<uint64_t> patternOf(const ast::Expr &initial, DType dtype);
  void runCall(const ast::CallExpr &call);
  bool matchArguments(const ast::Kernel &callee, const ast::CallExpr &call, std::vector<Passed> &passed,
                      CompileOptions &inner);
  bool passArgument(const ast::Kernel &callee, const ast::Argument &written, Passed &passed);
  std::optional<Tensor> tensorOf(const ast::Expr &expr, const std::string &callee);
  bool bindCallee(const ast::Kernel &callee, const ast::Argument &written, CompileOptions &inner);
  bool checkUse(const ast::Kernel &callee, std::vector<Passed> &passed);
  bool checkTypes(const ast::Kernel &callee, const std::vector<Passed> &passed, const std::vector<CalleeParam> &params);
  const StepKernel *specializeKernel(const ast::Kernel &callee, const CompileOptions &inner, At place);
  void launchKernel(const ast::Kernel &callee, std::vector<Passed> &passed, const CompileOptions &inner, At place);
  void dissolveOp(const ast::Kernel &callee, std::vector<Passed> &passed, const CompileOptions &inner, At place);
  void fillBeforeUse(const std::vector<Passed> &passed);
  void wantExtents(const Tensor &tensor, const CalleeParam &param);
  Expr scalarFor(const Passed &passed, DType dtype);
  std::optional<int64_t> known(const Expr &expr) const;
  int64_t divisorOf(const Expr &expr) const;
  TensorContract denseContract(const std::vector<Expr> &extents) const;
  CompileOptions optionsFor(const ast::Kernel &callee);
  void noteCall(size_t first, const ast::Kernel &callee, At place);
  void finishTemps();
  static bool clears(const ast::Param &param);

  OpCollector &collector;
  OpInfo info;
  std::map<std::string, Tensor> tensors;   ///< parameters and temporaries, by name
  std::map<int, Temp> temps;               ///< those declared here, by index into info.temps; dissolved ops bring more
  std::map<std::string, int64_t> values;   ///< dimensions whose value the facts tell
  std::map<std::string, int64_t> divisors; ///< of dimensions, powers of two
};

/// The whole of an op for `options`; runs it again while its callees need dimensions as numbers.
std::optional<OpInfo> specializeOp(const ast::File &file, const ast::Kernel &op, const CompileOptions &options,
                                   mlir::MLIRContext &context, std::vector<Diagnostic> &diagnostics,
                                   OpCollector &collector);

} // namespace tessera::frontend
#endif // TESSERA_COMPILER_FRONTEND_OPSPECIALIZER_H
