//===- CompilerIdentity.cpp - which compiler is in this process ----------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Walks the loaded files for that of this very function and for those of LLVM and MLIR, and reads the notes that linkers leave.
//
#include "runtime/Jit/CompilerIdentity.h"

#include <cstdint>
#include <cstring>
#include <link.h>
#include <string_view>

namespace tessera {
namespace {

/// The build id of a loaded file, in hexadecimal; empty without one.
std::string buildIdOf(const dl_phdr_info &file) {
  for (int i = 0; i < file.dlpi_phnum; ++i) {
    const ElfW(Phdr) &part = file.dlpi_phdr[i];
    if (part.p_type != PT_NOTE)
      continue;
    const char *at = reinterpret_cast<const char *>(file.dlpi_addr + part.p_vaddr), *end = at + part.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof(note));
      const char *name = at + sizeof(note), *content = name + (note.n_namesz + 3) / 4 * 4;
      if (content + note.n_descsz > end)
        break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
        std::string text;
        for (uint32_t b = 0; b < note.n_descsz; ++b) {
          text += "0123456789abcdef"[static_cast<uint8_t>(content[b]) >> 4];
          text += "0123456789abcdef"[content[b] & 15];
        }
        return text;
      }
      at = content + (note.n_descsz + 3) / 4 * 4;
    }
  }
  return "";
}

bool holds(const dl_phdr_info &file, uintptr_t address) {
  for (int i = 0; i < file.dlpi_phnum; ++i) {
    const ElfW(Phdr) &part = file.dlpi_phdr[i];
    if (part.p_type == PT_LOAD && address - (file.dlpi_addr + part.p_vaddr) < part.p_memsz)
      return true;
  }
  return false;
}

struct Walk {
  std::string ids;
  bool complete = true;
};

int visit(dl_phdr_info *file, size_t, void *data) {
  auto &walk = *static_cast<Walk *>(data);
  std::string_view path = file->dlpi_name ? file->dlpi_name : "";
  std::string_view name = path.substr(path.rfind('/') + 1);
  if (!holds(*file, reinterpret_cast<uintptr_t>(&compilerIdentity)) && name.find("LLVM") == name.npos &&
      name.find("MLIR") == name.npos)
    return 0;
  std::string id = buildIdOf(*file);
  walk.complete &= !id.empty();
  walk.ids += " " + id;
  return 0;
}

} // namespace

std::string compilerIdentity() {
  Walk walk;
  dl_iterate_phdr(visit, &walk);
  return walk.complete && !walk.ids.empty() ? "tessera " TESSERA_VERSION ", LLVM " TESSERA_LLVM_VERSION "," + walk.ids
                                            : std::string();
}

} // namespace tessera
