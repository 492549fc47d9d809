//===- HostObject.cpp - a host object file ---------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// -O2 with both vectorizers and without fast-math: sums keep their order.  The object is searched for undefined symbols afterwards, because a
// helper of libgcc or libm that LLVM calls silently would be missing in the JIT or round differently from the GPU.
//
#include "compiler/Codegen/LlvmModule.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Object/ObjectFile.h"

using namespace tessera;

/// The first undefined symbol that is not memcpy, memmove or memset; empty if there is none.
static Result<std::string> foreignSymbol(llvm::StringRef bytes) {
  auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "object"));
  if (!object)
    return internalError("LLVM wrote an object that it cannot read: " + llvm::toString(object.takeError()));
  for (const llvm::object::SymbolRef &symbol : (*object)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!flags || !name) {
      if (!flags)
        llvm::consumeError(flags.takeError());
      if (!name)
        llvm::consumeError(name.takeError());
      return internalError("LLVM wrote an object whose symbols cannot be read");
    }
    // The first entry of an ELF symbol table is undefined and has no name; _GLOBAL_OFFSET_TABLE_ is the linker's own.
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) && !name->empty() && *name != "memcpy" && *name != "memmove" &&
        *name != "memset" && *name != "_GLOBAL_OFFSET_TABLE_")
      return name->str();
  }
  return std::string();
}

Result<std::string> tessera::emitHostObject(mlir::ModuleOp module, const CodegenOptions &options) {
  const TargetInfo &target = *findTarget("host");
  auto translated = translate(module, target, options);
  if (!translated)
    return translated.error();
  auto machine = createTargetMachine(target, options);
  if (!machine)
    return machine.error();
  setMachine(*(*translated)->module, target, **machine);

  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = true;
  if (Result<void> optimized = optimize(*(*translated)->module, **machine, tuning, ""); !optimized)
    return optimized.error();
  Result<std::string> object = generate(**translated, **machine, llvm::CodeGenFileType::ObjectFile);
  if (!object)
    return object;
  Result<std::string> foreign = foreignSymbol(*object);
  if (!foreign)
    return foreign.error();
  if (!foreign->empty())
    return internalError("the host code calls '" + *foreign + "', expected at most memcpy, memmove and memset");
  return object;
}
