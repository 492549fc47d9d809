//===- CacheFolder.h - where the command line keeps what it has compiled --------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
#ifndef TESSERA_TOOLS_TESSERA_CACHEFOLDER_H
#define TESSERA_TOOLS_TESSERA_CACHEFOLDER_H

#include "runtime/Jit/DiskCache.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace tessera {

/// What `--cache` says: `off`, a folder, or `auto`: $TESSERA_CACHE (which may say `off`), else $XDG_CACHE_HOME/tessera, else
/// $HOME/.cache/tessera, else none.  Null for none.
std::shared_ptr<const DiskCache> openCache(const std::string &choice, uint64_t limitBytes);

/// `--cache-limit SIZE`: what the folder may hold.
void addCacheLimit(CLI::App &command, uint64_t &limitBytes);

} // namespace tessera
#endif // TESSERA_TOOLS_TESSERA_CACHEFOLDER_H
