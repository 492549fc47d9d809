//===- EmbedArchive.h - kernel images as an archive that a linker takes ----------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The bytes of images become read-only data of an object file, beside the objects of host code, in one archive.  All symbols are hidden: two libraries with
// kernels of one name live in one process.
//
#ifndef TESSERA_COMPILER_CODEGEN_EMBEDARCHIVE_H
#define TESSERA_COMPILER_CODEGEN_EMBEDARCHIVE_H

#include "runtime/Support/Result.h"

#include <string>
#include <vector>

namespace tessera {

/// What goes into an archive; runtime/Launch/Embedded.h declares the table.
struct EmbedContents {
  struct Image {
    std::string target, bytes;
  };
  std::string symbol;               ///< name of the EmbeddedTable
  std::vector<Image> images;        ///< in the order of the table
  std::vector<std::string> entries; ///< entry points that `objects` define
  std::vector<std::string> objects; ///< relocatable object files
};

/// A GNU archive for the host; equal contents give equal bytes.
Result<std::string> emitEmbedArchive(const EmbedContents &contents);

} // namespace tessera
#endif // TESSERA_COMPILER_CODEGEN_EMBEDARCHIVE_H
