//===- EmbedArchive.cpp - kernel images as an archive that a linker takes --------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The table is written as LLVM IR, so that the object has the format, the alignment and the relocations of whatever host this is.
//
#include "compiler/Codegen/EmbedArchive.h"
#include "compiler/Codegen/LlvmModule.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace tessera;

namespace {

class TableWriter {
public:
  explicit TableWriter(llvm::Module &module)
      : module(module), context(module.getContext()), pointer(llvm::PointerType::get(context, 0)),
        word(llvm::Type::getInt64Ty(context)) {}

  void write(const EmbedContents &contents) {
    llvm::StructType *imageType = llvm::StructType::get(context, {pointer, pointer, word});
    llvm::StructType *entryType = llvm::StructType::get(context, {pointer, pointer});
    llvm::SmallVector<llvm::Constant *> images, entries;
    for (const EmbedContents::Image &image : contents.images)
      images.push_back(llvm::ConstantStruct::get(
          imageType, {text(image.target), data(image.bytes, false, 16), number(image.bytes.size())}));
    llvm::FunctionType *function =
        llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, word, word, pointer}, false);
    for (const std::string &entry : contents.entries) {
      auto *declared = llvm::Function::Create(function, llvm::GlobalValue::ExternalLinkage, entry, module);
      declared->setVisibility(llvm::GlobalValue::HiddenVisibility);
      entries.push_back(llvm::ConstantStruct::get(entryType, {text(entry), declared}));
    }
    // The fields of EmbeddedTable, version first.
    llvm::Constant *fields[] = {number(1), number(images.size()), list(imageType, images), number(entries.size()),
                                list(entryType, entries)};
    auto *table = llvm::ConstantStruct::getAnon(context, fields);
    auto *global = new llvm::GlobalVariable(module, table->getType(), true, llvm::GlobalValue::ExternalLinkage, table,
                                            contents.symbol);
    global->setVisibility(llvm::GlobalValue::HiddenVisibility);
  }

private:
  llvm::Constant *number(uint64_t value) { return llvm::ConstantInt::get(word, value); }
  llvm::Constant *keep(llvm::Constant *value, uint64_t align) {
    auto *global = new llvm::GlobalVariable(module, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value);
    global->setAlignment(llvm::Align(align));
    return global;
  }
  llvm::Constant *data(llvm::StringRef bytes, bool addNull, uint64_t align) {
    return keep(llvm::ConstantDataArray::getString(context, bytes, addNull), align);
  }
  llvm::Constant *text(llvm::StringRef bytes) { return data(bytes, true, 1); }
  llvm::Constant *list(llvm::StructType *type, llvm::ArrayRef<llvm::Constant *> values) {
    return keep(llvm::ConstantArray::get(llvm::ArrayType::get(type, values.size()), values), 8);
  }

  llvm::Module &module;
  llvm::LLVMContext &context;
  llvm::Type *pointer, *word;
};

} // namespace

Result<std::string> tessera::emitEmbedArchive(const EmbedContents &contents) {
  const TargetInfo &target = *findTarget("host");
  auto machine = createTargetMachine(target, {});
  if (!machine)
    return machine.error();
  LlvmModule llvmModule;
  llvmModule.module = std::make_unique<llvm::Module>("images", llvmModule.context);
  setMachine(*llvmModule.module, target, **machine);
  TableWriter(*llvmModule.module).write(contents);
  Result<std::string> table = generate(llvmModule, **machine, llvm::CodeGenFileType::ObjectFile);
  if (!table)
    return table;

  std::vector<std::string> names = {"images.o"};
  for (size_t i = 0; i < contents.objects.size(); ++i)
    names.push_back("host" + std::to_string(i) + ".o");
  std::vector<llvm::NewArchiveMember> members;
  for (size_t i = 0; i < names.size(); ++i)
    members.emplace_back(llvm::MemoryBufferRef(i == 0 ? *table : contents.objects[i - 1], names[i]));
  std::string warnings;
  auto archive = llvm::writeArchiveToBuffer(
      members, llvm::SymtabWritingMode::NormalSymtab, llvm::object::Archive::K_GNU, /*Deterministic=*/true,
      /*Thin=*/false, [&](llvm::Error warning) { warnings += llvm::toString(std::move(warning)); });
  if (!archive)
    return internalError("cannot write the archive: " + llvm::toString(archive.takeError()));
  if (!warnings.empty())
    return internalError("cannot write the archive: " + warnings);
  return (*archive)->getBuffer().str();
}
