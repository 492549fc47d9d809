//===- ImageBuilder.cpp - what a kernel's attributes say to the launcher ---------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Present parameters are described by their argument; absent optional ones, which have none, by the `params` attribute of the kernel.
//
#include "compiler/Driver/ImageBuilder.h"
#include "compiler/Conversion/TileToHost/Passes.h"
#include "compiler/Frontend/Specialize.h"

using namespace mlir;
namespace tessera {
namespace {

Error malformed(tile::KernelOp kernel, StringRef what) {
  return {Fault::Internal, ("kernel '" + kernel.getSymName() + "' has a malformed " + what).str(), "", ""};
}

Result<Expr> parseExpr(tile::KernelOp kernel, Attribute attr) {
  auto text = dyn_cast_or_null<StringAttr>(attr);
  if (!text)
    return malformed(kernel, "expression");
  return Expr::parse(std::string_view(text.getValue().data(), text.getValue().size()));
}

ParamMode parseMode(StringRef mode) {
  return mode == "out"     ? ParamMode::Out
         : mode == "inout" ? ParamMode::InOut
         : mode == "accum" ? ParamMode::Accum
                           : ParamMode::In;
}

Result<ParamInfo> describeArgument(tile::KernelOp kernel, unsigned index) {
  ParamInfo param;
  if (auto name = kernel.getArgAttrOfType<StringAttr>(index, tile::kNameAttr))
    param.name = name.getValue().str();
  auto dtype = kernel.getArgAttrOfType<StringAttr>(index, tile::kDTypeAttr);
  auto parsed = dtype ? parseDType(std::string_view(dtype.getValue().data(), dtype.getValue().size())) : std::nullopt;
  if (!parsed)
    return malformed(kernel, "element type");
  param.dtype = *parsed;
  auto view = dyn_cast<tile::ViewType>(kernel.getArgumentTypes()[index]);
  if (!view)
    return param;
  param.isTensor = true;
  param.mode = parseMode(kernel.getArgAttrOfType<StringAttr>(index, tile::kModeAttr).getValue());
  param.clearFirst = bool(kernel.getArgAttr(index, tile::kClearAttr));
  for (Attribute dim : kernel.getArgAttrOfType<ArrayAttr>(index, tile::kDimsAttr)) {
    Result<Expr> extent = parseExpr(kernel, dim);
    if (!extent)
      return extent.error();
    param.extents.push_back(*extent);
  }
  TensorContract &contract = param.contract;
  contract.align = sizeOf(param.dtype);
  if (auto align = kernel.getArgAttrOfType<IntegerAttr>(index, tile::kAlignAttr))
    contract.align = align.getInt();
  if (auto unit = kernel.getArgAttrOfType<IntegerAttr>(index, tile::kUnitDimAttr))
    contract.unitDim = unit.getInt();
  auto divisors = [&](StringRef name) {
    auto attr = kernel.getArgAttrOfType<DenseI64ArrayAttr>(index, name);
    return attr ? std::vector<int64_t>(attr.asArrayRef().begin(), attr.asArrayRef().end())
                : std::vector<int64_t>(view.getRank(), 1);
  };
  contract.strideDiv = divisors(tile::kStrideDivAttr);
  contract.extentDiv = divisors(tile::kExtentDivAttr);
  return param;
}

/// A parameter that was compiled as None.
Result<ParamInfo> describeAbsent(tile::KernelOp kernel, DictionaryAttr entry) {
  ParamInfo param;
  param.name = entry.getAs<StringAttr>("name").getValue().str();
  param.isTensor = true;
  param.present = false;
  if (auto mode = entry.getAs<StringAttr>("mode"))
    param.mode = parseMode(mode.getValue());
  if (auto dtype = entry.getAs<StringAttr>("dtype"))
    if (auto parsed = parseDType(std::string_view(dtype.getValue().data(), dtype.getValue().size())))
      param.dtype = *parsed;
  if (auto dims = entry.getAs<ArrayAttr>("dims"))
    for (Attribute dim : dims) {
      Result<Expr> extent = parseExpr(kernel, dim);
      if (!extent)
        return extent.error();
      param.extents.push_back(*extent);
    }
  return param;
}

} // namespace

Result<KernelInfo> describeKernel(tile::KernelOp kernel) {
  KernelInfo info;
  info.name = info.entry = kernel.getSymName().str();
  if (auto source = kernel->getAttrOfType<StringAttr>(kStepOfAttr)) {
    info.name = source.getValue().str();
    info.stepOnly = true;
  }
  std::map<std::string, ParamInfo> present;
  std::vector<std::string> order;
  for (unsigned i = 0; i < kernel.getNumParams(); ++i) {
    Result<ParamInfo> param = describeArgument(kernel, i);
    if (!param)
      return param.error();
    order.push_back(param->name);
    present[param->name] = *param;
  }
  if (auto all = kernel.getParams()) {
    for (Attribute attr : *all) {
      auto entry = dyn_cast<DictionaryAttr>(attr);
      auto name = entry ? entry.getAs<StringAttr>("name") : StringAttr();
      if (!name)
        return malformed(kernel, "parameter list");
      auto found = present.find(name.getValue().str());
      if (found != present.end()) {
        info.params.push_back(found->second);
        continue;
      }
      Result<ParamInfo> absent = describeAbsent(kernel, entry);
      if (!absent)
        return absent.error();
      info.params.push_back(*absent);
    }
  } else {
    for (const std::string &name : order)
      info.params.push_back(present[name]);
  }
  for (StringAttr dim : kernel.getDims().getAsRange<StringAttr>())
    info.dims.push_back(dim.getValue().str());
  for (Attribute attr : kernel.getGrid()) {
    auto axis = cast<DictionaryAttr>(attr);
    Result<Expr> lo = parseExpr(kernel, axis.get("lo")), hi = parseExpr(kernel, axis.get("hi")),
                 step = parseExpr(kernel, axis.get("step"));
    if (!lo || !hi || !step)
      return malformed(kernel, "grid");
    auto name = axis.getAs<StringAttr>("name");
    info.grid.push_back({name ? name.getValue().str() : "", *lo, *hi, *step});
  }
  if (auto requirements = kernel.getRequirements())
    for (Attribute attr : *requirements) {
      auto entry = cast<DictionaryAttr>(attr);
      Result<Expr> condition = parseExpr(kernel, entry.get("cond"));
      if (!condition)
        return condition.error();
      auto number = [&](StringRef key) {
        auto value = entry.getAs<IntegerAttr>(key);
        return value ? int(value.getInt()) : 0;
      };
      auto text = entry.getAs<StringAttr>("text");
      info.requirements.push_back(
          {*condition, text ? text.getValue().str() : condition->pretty(), number("line"), number("column")});
    }
  kernel.walk([&](tile::AssertOp op) {
    Location place = op.getLoc();
    while (auto call = dyn_cast<CallSiteLoc>(place))
      place = call.getCallee();
    while (auto name = dyn_cast<NameLoc>(place))
      place = name.getChildLoc();
    auto file = dyn_cast<FileLineColLoc>(place);
    info.assertions.push_back({op.getMessage().str(), file ? file.getFilename().str() : "",
                               file ? int(file.getLine()) : 0, file ? int(file.getColumn()) : 0});
    op->setAttr(kAssertionAttr, Builder(op.getContext()).getI64IntegerAttr(int64_t(info.assertions.size())));
  });
  return info;
}

} // namespace tessera
