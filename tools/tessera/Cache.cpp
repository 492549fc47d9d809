//===- Cache.cpp - `tessera cache`, and where the cache is ----------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The folder of compiled images: its place, its size, and emptying it.
//
#include "tools/tessera/CacheFolder.h"
#include "tools/tessera/Commands.h"
#include "tools/tessera/Terminal.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdlib>

namespace tessera {
namespace {

std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// The folder that `auto` means; empty for none.
std::string automaticFolder() {
  if (std::string own = variable("TESSERA_CACHE"); !own.empty())
    return own == "off" ? "" : own;
  if (std::string shared = variable("XDG_CACHE_HOME"); shared.starts_with('/'))
    return shared + "/tessera";
  if (std::string home = variable("HOME"); home.starts_with('/'))
    return home + "/.cache/tessera";
  return "";
}

int runCache(const std::string &action, const std::string &choice, uint64_t limitBytes) {
  std::shared_ptr<const DiskCache> cache = openCache(choice, limitBytes);
  if (!cache)
    return report(Error{Fault::Usage, "there is no cache folder", "name one with --cache FOLDER", "T0643"});
  if (action == "clear")
    cache->clear();
  if (action == "trim")
    cache->trim();
  DiskCache::Usage usage = cache->usage();
  if (action == "path")
    fmt::print("{}\n", cache->folder());
  else
    fmt::print("{}: {} files, {} bytes of at most {}\n", cache->folder(), usage.files, usage.bytes, limitBytes);
  return 0;
}

} // namespace

std::shared_ptr<const DiskCache> openCache(const std::string &choice, uint64_t limitBytes) {
  std::string folder = choice == "off" ? "" : choice == "auto" ? automaticFolder() : choice;
  return folder.empty() ? nullptr : std::make_shared<const DiskCache>(folder, limitBytes);
}

void addCacheLimit(CLI::App &command, uint64_t &limitBytes) {
  command
      .add_option(
          "--cache-limit", limitBytes,
          "what the cache folder may hold, in bytes or with kB, MB, GB; what was not used for longest goes first")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
      ->envname("TESSERA_CACHE_LIMIT")
      ->capture_default_str()
      ->type_name("SIZE");
}

void addCache(CLI::App &app, int &exitCode) {
  CLI::App *command =
      app.add_subcommand("cache", "Say where compiled images are kept and how large they are, or remove them");
  struct State {
    std::string action = "size", folder = "auto";
    uint64_t limitBytes = DiskCache::kDefaultLimit;
  };
  auto state = std::make_shared<State>();
  command->add_option("ACTION", state->action, "size, path, clear, or trim: remove what is over the limit")
      ->capture_default_str()
      ->check(CLI::IsMember({"size", "path", "clear", "trim"}));
  command->add_option("--cache", state->folder, "the folder; auto is the one that `tessera run` uses")
      ->capture_default_str()
      ->type_name("FOLDER");
  addCacheLimit(*command, state->limitBytes);
  command->footer(
      "$TESSERA_CACHE names the folder, or is `off`; without it $XDG_CACHE_HOME/tessera or $HOME/.cache/tessera.");
  command->callback([state, &exitCode] { exitCode = runCache(state->action, state->folder, state->limitBytes); });
}

} // namespace tessera
