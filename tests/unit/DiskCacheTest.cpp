//===- DiskCacheTest.cpp - files that are trusted only when they are whole ------------ SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Damage in every byte, folders that cannot be used, the limit, and threads and processes that write the same keys.
//
#include "runtime/Jit/DiskCache.h"
#include "runtime/Support/Sha256.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tessera;
namespace fs = std::filesystem;

namespace {

struct Folder {
  std::string path;
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "tessera-cache-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~Folder() {
    std::error_code ignored;
    fs::permissions(path, fs::perms::owner_all, ignored);
    fs::remove_all(path, ignored);
  }
};

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

} // namespace

TEST_CASE("SHA-256 of the standard's examples") {
  CHECK(hex(sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hex(sha256("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")) ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hex(sha256(std::string(1000000, 'a'))) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("what is stored is found under its key alone, also by another cache of the folder") {
  Folder folder;
  DiskCache cache(folder.path + "/a/b"), other(folder.path + "/a/b");
  CHECK_FALSE(cache.load("key"));
  std::string value("v\0lue\n", 6);
  cache.store("key", value);
  cache.store("", "empty key");
  cache.store("nothing", "");
  CHECK(other.load("key") == value);
  CHECK(other.load("") == "empty key");
  CHECK(other.load("nothing") == "");
  CHECK_FALSE(other.load("key "));
  CHECK(other.usage().files == 3);
  cache.store("key", "another");
  CHECK(other.load("key") == "another");
  writeFile(folder.path + "/a/b/mine.txt", "not of the cache");
  cache.clear();
  CHECK(other.usage().files == 0);
  CHECK(fs::exists(folder.path + "/a/b/mine.txt"));
}

TEST_CASE("a flipped bit anywhere, a cut anywhere, another key's file: all count as missing") {
  Folder folder;
  DiskCache cache(folder.path);
  cache.store("key", "value");
  std::string path = cache.pathOf("key"), whole = readFile(path);
  REQUIRE(whole.size() == 64);
  for (size_t i = 0; i < whole.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ 1 << bit);
      writeFile(path, damaged);
      REQUIRE_FALSE(cache.load("key"));
      REQUIRE_FALSE(fs::exists(path)); // removed, so that the next store is not in doubt
    }
  for (size_t length = 0; length < whole.size(); ++length) {
    writeFile(path, whole.substr(0, length));
    REQUIRE_FALSE(cache.load("key"));
  }
  writeFile(path, whole + "x");
  CHECK_FALSE(cache.load("key"));
  cache.store("other", "value");
  writeFile(path, readFile(cache.pathOf("other")));
  CHECK_FALSE(cache.load("key"));
  writeFile(path, whole);
  CHECK(cache.load("key") == "value");
}

TEST_CASE("folders that cannot be used are empty caches") {
  Folder folder;
  writeFile(folder.path + "/file", "");
  fs::create_directory(folder.path + "/locked");
  fs::permissions(folder.path + "/locked", fs::perms::none);
  for (const std::string &path : {folder.path + "/file", folder.path + "/file/below", folder.path + "/locked/below",
                                  std::string("/proc/tessera-cache"), std::string("")}) {
    INFO(path);
    DiskCache cache(path);
    if (geteuid() == 0 && path.find("locked") != std::string::npos)
      continue; // root may do everything
    cache.store("key", "value");
    CHECK_FALSE(cache.load("key"));
    CHECK(cache.usage().files == 0);
    cache.clear();
  }
  fs::permissions(folder.path + "/locked", fs::perms::owner_all);
  // A folder where the file should be.
  DiskCache cache(folder.path);
  fs::create_directories(cache.pathOf("key") + "/inside");
  cache.store("key", "value");
  CHECK_FALSE(cache.load("key"));
}

TEST_CASE("the limit holds, and the least recently used go first") {
  Folder folder;
  DiskCache cache(folder.path, 10000);
  auto key = [](int i) { return "key " + std::to_string(i); };
  for (int i = 0; i < 8; ++i) {
    cache.store(key(i), std::string(1000, 'x'));
    fs::last_write_time(cache.pathOf(key(i)), fs::file_time_type::clock::now() - std::chrono::hours(20 - i));
  }
  CHECK(cache.load(key(0))); // used now
  for (int i = 8; i < 12; ++i)
    cache.store(key(i), std::string(1000, 'x'));
  CHECK(cache.usage().bytes <= 10000);
  CHECK(cache.load(key(0)));
  CHECK_FALSE(cache.load(key(1)));
  CHECK_FALSE(cache.load(key(2)));
  CHECK(cache.load(key(11)));
  cache.store("large", std::string(10001, 'x'));
  CHECK_FALSE(cache.load("large"));
  // What a killed process left goes in time; what is being written stays.
  writeFile(folder.path + "/a.tessera-cache-part-1-1-1", "x");
  writeFile(folder.path + "/b.tessera-cache-part-1-1-1", "x");
  fs::last_write_time(folder.path + "/a.tessera-cache-part-1-1-1",
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  cache.store("more", "x");
  CHECK_FALSE(fs::exists(folder.path + "/a.tessera-cache-part-1-1-1"));
  CHECK(fs::exists(folder.path + "/b.tessera-cache-part-1-1-1"));
  // Another process has a smaller limit.
  DiskCache smaller(folder.path, 3000);
  smaller.trim();
  CHECK(smaller.usage().bytes <= 3000);
  CHECK(smaller.load("more"));
  DiskCache("").trim();
  DiskCache(folder.path + "/missing").trim();
  CHECK_FALSE(fs::exists(folder.path + "/missing"));
}

TEST_CASE("threads that store and load the same keys see whole values") {
  Folder folder;
  DiskCache cache(folder.path, 40000);
  std::atomic<int> wrong{0}, found{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        int k = (i * 7 + t) % 10;
        std::string value(1000 + 500 * k, static_cast<char>('a' + k));
        if (std::optional<std::string> kept = cache.load(std::to_string(k))) {
          ++found;
          wrong += *kept != value;
        } else {
          cache.store(std::to_string(k), value);
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(wrong == 0);
  CHECK(found > 0);
}

TEST_CASE("processes killed while they write leave nothing that is believed") {
  Folder folder;
  DiskCache cache(folder.path);
  auto valueOf = [](int k) { return std::string(200000 + k, static_cast<char>('a' + k)); };
  for (int round = 0; round < 20; ++round) {
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0)
      for (int k = 0;; k = (k + 1) % 4)
        cache.store(std::to_string(k), valueOf(k));
    usleep(static_cast<useconds_t>(1000 + 700 * round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    for (int k = 0; k < 4; ++k) {
      std::optional<std::string> kept = cache.load(std::to_string(k));
      bool right = !kept || *kept == valueOf(k);
      REQUIRE(right);
    }
  }
}
