//===- SpecializeKernel.cpp - the signature of a kernel and its body ------------------ SPDX: Apache-2.0 WITH LLVM-exception -===//

#include "compiler/Frontend/Exits.h"
#include "compiler/Frontend/OpSpecializer.h"
#include "compiler/Frontend/Specialize.h"
#include "compiler/Frontend/Specializer.h"

#include "dialect/Tile/TileDialect.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

#include <fmt/format.h>

using namespace mlir;

namespace tessera::frontend {

static const char *modeName(ast::Mode mode) {
  switch (mode) {
  case ast::Mode::Scalar:
    return "scalar";
  case ast::Mode::In:
    return "in";
  case ast::Mode::Out:
    return "out";
  case ast::Mode::InOut:
    return "inout";
  case ast::Mode::Accum:
    return "accum";
  }
  return "";
}

static ParamMode paramMode(ast::Mode mode) {
  switch (mode) {
  case ast::Mode::Out:
    return ParamMode::Out;
  case ast::Mode::InOut:
    return ParamMode::InOut;
  case ast::Mode::Accum:
    return ParamMode::Accum;
  default:
    return ParamMode::In;
  }
}

Specializer::Specializer(const ast::File &file, const CompileOptions &options, MLIRContext *context,
                         std::vector<Diagnostic> &diagnostics)
    : Emitter(context, file.files.empty() ? std::vector<std::string>{options.sourceName} : file.files, diagnostics),
      file(file), options(options), control(*this, environment) {}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static bool clearsFirst(const ast::Param &param) {
  return param.mode == ast::Mode::Accum && param.defaultValue && param.defaultValue->kind == ast::Expr::Kind::Integer;
}

/// What CompileOptions::alignedTensors promises: rows of the last dimension lie side by side, in pieces of 16 bytes.
static TensorContract alignedContract(size_t rank, int64_t elementBytes) {
  TensorContract contract;
  contract.align = 16;
  if (rank == 0)
    return contract;
  int64_t piece = 16 / elementBytes;
  contract.unitDim = int64_t(rank) - 1;
  contract.strideDiv.assign(rank, piece);
  contract.strideDiv.back() = 1;
  contract.extentDiv.assign(rank, 1);
  contract.extentDiv.back() = rank > 1 ? piece : 1;
  return contract;
}

TensorContract Specializer::contractOf(const ast::Param &param, DType dtype, size_t rank) const {
  const TensorFacts *facts = factsOf(param.name);
  if (facts && !(options.alignedTensors && facts->contract == TensorContract()))
    return facts->contract;
  return options.alignedTensors ? alignedContract(rank, sizeOf(dtype)) : TensorContract();
}

DictionaryAttr Specializer::argumentAttributes(const ast::Param &param, DType dtype, ArrayRef<LaunchValue> extents) {
  NamedAttrList attributes;
  attributes.set(tile::kNameAttr, builder.getStringAttr(param.name));
  attributes.set(tile::kDTypeAttr, builder.getStringAttr(std::string(nameOf(dtype))));
  if (!param.isTensor)
    return attributes.getDictionary(context);
  attributes.set(tile::kModeAttr, builder.getStringAttr(modeName(param.mode)));
  SmallVector<Attribute> dimensions;
  for (const LaunchValue &extent : extents)
    dimensions.push_back(builder.getStringAttr(toExpr(extent, {}).print()));
  attributes.set(tile::kDimsAttr, builder.getArrayAttr(dimensions));
  if (clearsFirst(param))
    attributes.set(tile::kClearAttr, builder.getUnitAttr());
  TensorContract contract = contractOf(param, dtype, extents.size());
  if (contract.align > 1)
    attributes.set(tile::kAlignAttr, builder.getI64IntegerAttr(contract.align));
  if (contract.unitDim >= 0)
    attributes.set(tile::kUnitDimAttr, builder.getI64IntegerAttr(contract.unitDim));
  if (!contract.strideDiv.empty())
    attributes.set(tile::kStrideDivAttr, builder.getDenseI64ArrayAttr(contract.strideDiv));
  if (!contract.extentDiv.empty())
    attributes.set(tile::kExtentDivAttr, builder.getDenseI64ArrayAttr(contract.extentDiv));
  return attributes.getDictionary(context);
}

/// All parameters in source order, absent ones too: `name`, `mode` ("scalar" for scalars), `dtype`, `present`.
ArrayAttr Specializer::paramsAttribute() {
  SmallVector<Attribute> all;
  for (const BoundParam &bound : params)
    all.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("name", builder.getStringAttr(bound.param->name)),
         builder.getNamedAttr("mode", builder.getStringAttr(modeName(bound.param->mode))),
         builder.getNamedAttr("dtype", builder.getStringAttr(std::string(nameOf(bound.dtype)))),
         builder.getNamedAttr("present", builder.getBoolAttr(bound.isPresent))}));
  return builder.getArrayAttr(all);
}

ArrayAttr Specializer::gridAttribute() {
  SmallVector<Attribute> axes;
  for (const GridSlot &axis : gridAxes) {
    auto expression = [&](const ast::Expr *written, int64_t otherwise) {
      if (!written)
        return builder.getStringAttr(Expr::constant(otherwise).print());
      std::optional<LaunchValue> value = launch(*written);
      bool isInt = value && (value->constant ? value->constant->isInteger() : isInteger(value->dtype));
      if (value && !isInt)
        error(at(written->range), "T0412", "the grid runs over integers", "");
      if (isInt && written == axis.step && value->constant && value->constant->integer < 1)
        error(at(written->range), "T0315",
              fmt::format("the step of a grid is at least 1, found {}", value->constant->integer), "");
      return builder.getStringAttr(isInt ? toExpr(*value, {}).print() : std::string("0"));
    };
    StringAttr lo = expression(axis.low, 0), hi = expression(axis.high, 0), step = expression(axis.step, 1);
    axes.push_back(builder.getDictionaryAttr({builder.getNamedAttr("name", builder.getStringAttr(axis.name)),
                                              builder.getNamedAttr("lo", lo), builder.getNamedAttr("hi", hi),
                                              builder.getNamedAttr("step", step)}));
  }
  return builder.getArrayAttr(axes);
}

ArrayAttr Specializer::requirementsAttribute() {
  SmallVector<Attribute> all;
  for (const ast::Requirement &requirement : kernel->requirements) {
    std::optional<LaunchValue> value = launch(*requirement.condition);
    if (!value)
      continue;
    const ast::SourceRange &range = requirement.condition->range;
    if (value->dtype != DType::Bool) {
      error(at(range), "T0205", "'requires' takes a bool", "compare: x != 0");
      continue;
    }
    if (value->constant && value->constant->boolean)
      continue;
    all.push_back(
        builder.getDictionaryAttr({builder.getNamedAttr("cond", builder.getStringAttr(toExpr(*value, {}).print())),
                                   builder.getNamedAttr("text", builder.getStringAttr(requirement.text)),
                                   builder.getNamedAttr("line", builder.getI64IntegerAttr(range.line)),
                                   builder.getNamedAttr("column", builder.getI64IntegerAttr(range.column))}));
  }
  return builder.getArrayAttr(all);
}

//===----------------------------------------------------------------------===//
// The operation
//===----------------------------------------------------------------------===//

/// Emits the `tile.kernel` with an empty entry block and declares parameters, dimensions and coordinates.
bool Specializer::declareArguments(ModuleOp module) {
  SmallVector<Type> types;
  SmallVector<Attribute> attributes;
  SmallVector<Location> places;
  for (BoundParam &bound : params) {
    if (!bound.isPresent)
      continue;
    bound.argument = types.size();
    Type type = elementType(context, bound.dtype);
    if (bound.param->isTensor) {
      SmallVector<int64_t> shape;
      for (const LaunchValue &extent : bound.extents)
        shape.push_back(extent.constant ? extent.constant->integer : ShapedType::kDynamic);
      type = tile::ViewType::get(context, shape, type);
    }
    types.push_back(type);
    attributes.push_back(argumentAttributes(*bound.param, bound.dtype, bound.extents));
    places.push_back(loc(at(bound.param->range)));
  }
  // Presence is what `requires` may ask about a tensor.
  for (const BoundParam &bound : params)
    if (bound.param->isTensor)
      environment.declare(bound.param->name, {bound.isPresent ? Value::of(View{}) : Value::none(), false});
  ArrayAttr requirements = requirementsAttribute();
  if (!expandGrid())
    return false;
  ArrayAttr grid = gridAttribute();
  for (const GridSlot &axis : gridAxes) {
    types.push_back(builder.getI64Type());
    attributes.push_back(
        builder.getDictionaryAttr(builder.getNamedAttr(tile::kCoordAttr, builder.getStringAttr(axis.name))));
    places.push_back(loc(at(kernel->grid[axis.written].name.range)));
  }
  if (failed())
    return false;
  SmallVector<Attribute> dimNames;
  for (const BoundDim &dim : dims)
    dimNames.push_back(builder.getStringAttr(dim.name));
  builder.setInsertionPointToEnd(module.getBody());
  auto op =
      tile::KernelOp::create(builder, loc(at(kernel->nameRange)), builder.getStringAttr(kernel->name),
                             TypeAttr::get(builder.getFunctionType(types, {})), builder.getArrayAttr(dimNames), grid,
                             paramsAttribute(), requirements, builder.getArrayAttr(attributes), ArrayAttr());
  for (const char *flag : {"fast", "deterministic"})
    if (Variable *value = environment.find(flag); value && value->value.isBoolean() && value->value.boolean)
      op->setAttr(std::string("tile.") + flag, builder.getUnitAttr());
  Block *entry = &op.getBody().emplaceBlock();
  entry->addArguments(types, places);
  builder.setInsertionPointToStart(entry);
  declareEntryValues(*entry);
  return true;
}

void Specializer::declareEntryValues(Block &entry) {
  // Dimensions first: the extents of the views refer to them.
  std::map<std::string, mlir::Value> values;
  for (const BoundDim &dim : dims) {
    const BoundParam &bound = params[dim.argument];
    At place = at(bound.written[dim.axis]->range);
    mlir::Value value = tile::DimOp::create(builder, loc(place), entry.getArgument(bound.argument), int64_t(dim.axis));
    if (dim.offset != 0)
      value = arith::SubIOp::create(builder, loc(place), value, indexConstant(dim.offset, place));
    values[dim.name] = value;
    environment.declare(dim.name, {Value::data(value, DType::I64), false});
  }
  declareLeading();
  for (const BoundParam &bound : params) {
    const ast::Param &param = *bound.param;
    if (!bound.isPresent)
      continue;
    BlockArgument argument = entry.getArgument(bound.argument);
    if (!param.isTensor) {
      environment.declare(param.name, {Value::data(argument, bound.dtype), false});
      continue;
    }
    View view;
    view.value = argument;
    view.dtype = bound.dtype;
    view.mode = paramMode(param.mode);
    view.param = param.name;
    for (auto [written, extent] : llvm::zip(bound.written, bound.extents)) {
      ViewExtent slot;
      if (extent.constant)
        slot.fixed = extent.constant->integer;
      if (written->kind == ast::Expr::Kind::Name) {
        slot.origin = written->as<ast::NameExpr>().name;
        if (auto known = values.find(slot.origin); known != values.end())
          slot.value = known->second;
      }
      view.extents.push_back(std::move(slot));
    }
    environment.declare(param.name, {Value::of(std::move(view)), false});
  }
  declareCoordinates(entry);
}

std::vector<CalleeParam> Specializer::calleeParams() const {
  std::vector<CalleeParam> list;
  for (const BoundParam &bound : params) {
    CalleeParam param{bound.param->name, bound.param->isTensor, bound.isPresent, bound.dtype, {}};
    for (const LaunchValue &extent : bound.extents)
      param.extents.push_back(extent.constant ? std::optional(extent.constant->integer) : std::nullopt);
    list.push_back(std::move(param));
  }
  return list;
}

bool Specializer::run(const ast::Kernel &which, ModuleOp module) {
  kernel = &which;
  bindStatics();
  if (failed())
    return false;
  bindParams();
  bindDims();
  if (failed() || !declareArguments(module))
    return false;
  environment.push();
  if (needsFlag(kernel->body))
    environment.declare(kInstanceGoesOn, {literalOf(Value::of(true), DType::Bool, at(kernel->nameRange)), true});
  runBlock(kernel->body);
  environment.pop();
  tile::ReturnOp::create(builder, loc(at(kernel->range)));
  return !failed();
}

/// Bindings that no kernel of the file asks for.
static void checkBindings(const ast::File &file, ArrayRef<std::string> kernels, const CompileOptions &options,
                          std::vector<Diagnostic> &diagnostics) {
  auto has = [](const ast::Kernel &kernel, const std::string &name) {
    return llvm::any_of(kernel.staticParams, [&](const ast::StaticParam &p) { return p.name == name; }) ||
           llvm::any_of(kernel.params, [&](const ast::Param &p) {
             return p.anyLeading && p.extents.front()->as<ast::NameExpr>().name == name;
           });
  };
  static constexpr const char *kReserved[] = {"fast",  "deterministic", "stages",     "warps", "cluster",
                                              "roles", "raster",        "persistent", "split"};
  for (const Binding &binding : options.bindings) {
    size_t dot = binding.name.find('.');
    std::string name = dot == std::string::npos ? binding.name : binding.name.substr(dot + 1);
    std::string owner = dot == std::string::npos ? "" : binding.name.substr(0, dot);
    bool known = llvm::any_of(kReserved, [&](const char *word) { return name == word; });
    // What is said of an op without the name of a kernel is meant for the op itself.
    const ast::Kernel *only = kernels.size() == 1 ? file.findKernel(kernels.front()) : nullptr;
    bool isForOp = only && only->isOp && owner.empty();
    std::string asker;
    for (const ast::Kernel &kernel : file.kernels) {
      if (!(owner.empty() || owner == kernel.name) || !has(kernel, name))
        continue;
      known |= !isForOp || &kernel == only;
      asker = kernel.name;
    }
    if (known)
      continue;
    Diagnostic diagnostic;
    diagnostic.code = "T0403";
    diagnostic.place = {file.files.empty() ? options.sourceName : file.files.front(), 1, 1};
    if (const ast::Kernel *kernel = only) {
      diagnostic.place.line = kernel->nameRange.line;
      diagnostic.place.column = kernel->nameRange.column;
      std::string names;
      for (const ast::StaticParam &param : kernel->staticParams)
        names += (names.empty() ? "" : ", ") + param.name;
      diagnostic.remedy =
          names.empty() ? "the kernel has no compile-time parameters" : "its compile-time parameters: " + names;
      if (isForOp && !asker.empty())
        diagnostic.remedy = fmt::format("bind it at the kernel: -D {}.{}={}", asker, name, binding.value);
    }
    diagnostic.message = isForOp ? fmt::format("op '{}' has no compile-time parameter '{}'", only->name, binding.name)
                                 : fmt::format("no kernel has a compile-time parameter '{}'", binding.name);
    diagnostics.push_back(std::move(diagnostic));
  }
}

} // namespace tessera::frontend

OwningOpRef<ModuleOp> tessera::specialize(const ast::File &file, ArrayRef<std::string> kernels,
                                          const CompileOptions &options, MLIRContext &context,
                                          std::vector<Diagnostic> &diagnostics, std::vector<OpInfo> *ops) {
  context
      .loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
  std::vector<Diagnostic> found;
  std::string name = file.files.empty() ? options.sourceName : file.files.front();
  OwningOpRef<ModuleOp> module = ModuleOp::create(FileLineColLoc::get(&context, name, 1, 1));
  frontend::OpCollector collector(*module);
  bool good = true;
  frontend::checkBindings(file, kernels, options, found);
  good = found.empty();
  auto report = [&](std::string code, std::string message, std::string remedy) {
    Diagnostic diagnostic;
    diagnostic.code = std::move(code);
    diagnostic.place = {name, 1, 1};
    diagnostic.message = std::move(message);
    diagnostic.remedy = std::move(remedy);
    found.push_back(std::move(diagnostic));
    good = false;
  };
  for (const std::string &kernelName : kernels) {
    const ast::Kernel *kernel = file.findKernel(kernelName);
    if (!kernel) {
      report("T0413", fmt::format("the file declares no kernel '{}'", kernelName), "");
      continue;
    }
    for (const TensorFacts &facts : options.tensors)
      if (kernels.size() == 1 &&
          llvm::none_of(kernel->params, [&](const ast::Param &p) { return p.name == facts.param && p.isTensor; }))
        report("T0406", fmt::format("'{}' has no tensor parameter '{}'", kernelName, facts.param), "");
    if (kernel->isOp)
      continue;
    frontend::Specializer specializer(file, options, &context, found);
    good &= specializer.run(*kernel, *module);
  }
  // The kernels of ops follow those that are launched by name.
  for (const std::string &opName : kernels)
    if (const ast::Kernel *op = file.findKernel(opName); op && op->isOp) {
      std::optional<OpInfo> info = frontend::specializeOp(file, *op, options, context, found, collector);
      good &= info.has_value();
      if (info && ops)
        ops->push_back(*std::move(info));
    }
  if (good) {
    // Everything above checks programs; what the verifier still finds is a mistake of this compiler.
    std::string text;
    ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
      text += d.str() + "; ";
      return success();
    });
    if (failed(mlir::verify(*module)))
      report("T0599", "internal error: the specialized kernel does not verify: " + text,
             "please report it with the program");
  }
  llvm::stable_sort(found, [](const Diagnostic &a, const Diagnostic &b) {
    return std::tie(a.place.line, a.place.column) < std::tie(b.place.line, b.place.column);
  });
  llvm::append_range(diagnostics, found);
  return good ? std::move(module) : OwningOpRef<ModuleOp>();
}
