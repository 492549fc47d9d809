//===- DiskCache.h - results kept in a folder, never needed for a right answer -------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// One file for each result, named by the digest of its key.  A file is written under another name and renamed, so that a reader finds all
// of it or nothing; it holds the whole key and a digest of itself, so that what was damaged, or belongs to another key, counts as missing.  Nothing
// here fails: a folder that cannot be made, read or written is a cache that is always empty.  Any number of threads and processes may share a
// folder, also one that lies on a network.
//
// When the folder holds more than its limit, those files go that were not used for longest.
//
#ifndef TESSERA_RUNTIME_JIT_DISKCACHE_H
#define TESSERA_RUNTIME_JIT_DISKCACHE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tessera {

class DiskCache {
public:
  static constexpr uint64_t kDefaultLimit = uint64_t(1) << 29;

  /// Nothing is touched before the first load or store; without a name there is no folder.
  explicit DiskCache(std::string folder, uint64_t limitBytes = kDefaultLimit)
      : directory(std::move(folder)), limit(limitBytes) {}

  /// What was stored under exactly this key.
  std::optional<std::string> load(std::string_view key) const;
  /// Keeps `value`; a value larger than the limit is not kept.
  void store(std::string_view key, std::string_view value) const;

  struct Usage {
    uint64_t files = 0, bytes = 0;
  };
  Usage usage() const;
  /// Removes every file of the cache, and no other.
  void clear() const;
  /// Removes what a killed process has left, and what is over the limit; store() does so too.
  void trim() const;

  const std::string &folder() const { return directory; }
  /// The file of a key, whether or not it exists.
  std::string pathOf(std::string_view key) const;

private:
  std::string directory;
  uint64_t limit;
};

} // namespace tessera
#endif // TESSERA_RUNTIME_JIT_DISKCACHE_H
