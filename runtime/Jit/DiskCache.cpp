//===- DiskCache.cpp - results kept in a folder --------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// A file is   magic | key length | value length | SHA-256 of the rest | key | value,   lengths little endian in 8 bytes.
//
#include "runtime/Jit/DiskCache.h"

#include "runtime/Support/Sha256.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace tessera {
namespace {

constexpr std::string_view kMagic = "TESSERAC";
constexpr std::string_view kSuffix = ".tessera-cache", kUnfinished = ".tessera-cache-part-";
constexpr size_t kHeader = 8 + 8 + 8 + 32;
/// An unfinished file this old belongs to a process that was killed.
constexpr int64_t kAbandonedSeconds = 600;

void appendNumber(std::string &text, uint64_t value) {
  for (int i = 0; i < 8; ++i)
    text += static_cast<char>(value >> (8 * i));
}

uint64_t numberAt(std::string_view text, size_t at) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i)
    value |= uint64_t(static_cast<uint8_t>(text[at + i])) << (8 * i);
  return value;
}

std::string pack(std::string_view key, std::string_view value) {
  std::string lengths;
  appendNumber(lengths, key.size());
  appendNumber(lengths, value.size());
  std::string guarded = lengths;
  guarded.append(key).append(value);
  Digest digest = sha256(guarded);
  std::string file(kMagic);
  file += lengths;
  file.append(reinterpret_cast<const char *>(digest.data()), digest.size());
  return file.append(key).append(value);
}

/// The value, if the bytes are whole and belong to the key.
std::optional<std::string> unpack(std::string_view file, std::string_view key) {
  if (file.size() < kHeader || file.substr(0, 8) != kMagic)
    return std::nullopt;
  uint64_t keyBytes = numberAt(file, 8), valueBytes = numberAt(file, 16);
  std::string_view content = file.substr(kHeader);
  if (keyBytes != key.size() || keyBytes > content.size() || valueBytes != content.size() - keyBytes ||
      content.substr(0, keyBytes) != key)
    return std::nullopt;
  std::string guarded(file.substr(8, 16));
  guarded.append(content);
  Digest digest = sha256(guarded);
  if (std::memcmp(digest.data(), file.data() + 24, digest.size()) != 0)
    return std::nullopt;
  return std::string(content.substr(keyBytes));
}

/// An open file, closed at the end.
struct File {
  int descriptor;
  explicit File(int descriptor) : descriptor(descriptor) {}
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  ~File() {
    if (descriptor >= 0)
      close(descriptor);
  }
};

std::optional<std::string> readAll(const std::string &path) {
  File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (file.descriptor < 0 || fstat(file.descriptor, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < 0)
    return std::nullopt;
  std::string text(static_cast<size_t>(info.st_size), '\0');
  for (size_t done = 0; done < text.size();) {
    ssize_t count = read(file.descriptor, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return std::nullopt;
    done += static_cast<size_t>(count);
  }
  return text;
}

bool writeAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    ssize_t count = write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    text.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

/// The folder and those above it, as far as they can be made.
void makeFolders(const std::string &folder) {
  for (size_t at = folder.find('/', 1); at != std::string::npos; at = folder.find('/', at + 1))
    mkdir(folder.substr(0, at).c_str(), 0777);
  mkdir(folder.c_str(), 0700);
}

/// A file of the cache, finished or not.
struct Found {
  std::string path;
  uint64_t bytes;
  int64_t used; ///< nanoseconds
  bool finished;
};

std::vector<Found> list(const std::string &folder) {
  std::vector<Found> files;
  DIR *open = opendir(folder.c_str());
  if (!open)
    return files;
  while (dirent *entry = readdir(open)) {
    std::string_view name = entry->d_name;
    bool finished = name.ends_with(kSuffix), unfinished = name.find(kUnfinished) != std::string_view::npos;
    std::string path = folder + "/" + entry->d_name;
    struct stat info {};
    if ((finished || unfinished) && lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode))
      files.push_back({std::move(path), static_cast<uint64_t>(info.st_size),
                       int64_t(info.st_mtim.tv_sec) * 1000000000 + info.st_mtim.tv_nsec, finished});
  }
  closedir(open);
  return files;
}

} // namespace

std::string DiskCache::pathOf(std::string_view key) const {
  return directory + "/" + hex(sha256(key)) + std::string(kSuffix);
}

std::optional<std::string> DiskCache::load(std::string_view key) const {
  if (directory.empty())
    return std::nullopt;
  std::string path = pathOf(key);
  std::optional<std::string> file = readAll(path);
  if (!file)
    return std::nullopt;
  std::optional<std::string> value = unpack(*file, key);
  if (value)
    utimensat(AT_FDCWD, path.c_str(), nullptr, 0); // used now; a folder that forbids it evicts by age instead
  else
    unlink(path.c_str()); // damaged
  return value;
}

void DiskCache::store(std::string_view key, std::string_view value) const {
  std::string bytes = pack(key, value);
  if (directory.empty() || bytes.size() > limit)
    return;
  makeFolders(directory);
  // The name is this process's and this call's own; the time keeps apart processes of equal numbers on several machines.
  static std::atomic<uint64_t> calls{0};
  std::string path = pathOf(key);
  std::string part = path.substr(0, path.size() - kSuffix.size()) + std::string(kUnfinished) +
                     std::to_string(getpid()) + "-" + std::to_string(calls.fetch_add(1)) + "-" +
                     std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
  {
    File file(open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.descriptor < 0)
      return;
    if (!writeAll(file.descriptor, bytes)) {
      unlink(part.c_str());
      return;
    }
  }
  if (rename(part.c_str(), path.c_str()) != 0)
    unlink(part.c_str());
  trim();
}

void DiskCache::trim() const {
  std::vector<Found> files = list(directory);
  int64_t now =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  uint64_t bytes = 0;
  for (const Found &file : files) {
    if (!file.finished && now - file.used > kAbandonedSeconds * 1000000000)
      unlink(file.path.c_str());
    bytes += file.finished ? file.bytes : 0;
  }
  if (bytes <= limit)
    return;
  std::sort(files.begin(), files.end(), [](const Found &a, const Found &b) { return a.used < b.used; });
  for (const Found &file : files) {
    // Some room, so that not every store that follows has to make some.
    if (bytes <= limit - limit / 10)
      return;
    if (file.finished && (unlink(file.path.c_str()) == 0 || errno == ENOENT))
      bytes -= file.bytes;
  }
}

DiskCache::Usage DiskCache::usage() const {
  Usage usage;
  for (const Found &file : list(directory)) {
    ++usage.files;
    usage.bytes += file.bytes;
  }
  return usage;
}

void DiskCache::clear() const {
  for (const Found &file : list(directory))
    unlink(file.path.c_str());
}

} // namespace tessera
