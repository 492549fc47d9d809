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

int runCache(const std::string &action, const std::string &choice) {
  std::shared_ptr<const DiskCache> cache = openCache(choice);
  if (!cache)
    return report(Error{Fault::Usage, "there is no cache folder", "name one with --cache FOLDER", "T0643"});
  if (action == "clear")
    cache->clear();
  DiskCache::Usage usage = cache->usage();
  if (action == "path")
    fmt::print("{}\n", cache->folder());
  else
    fmt::print("{}: {} files, {} bytes\n", cache->folder(), usage.files, usage.bytes);
  return 0;
}

} // namespace

std::shared_ptr<const DiskCache> openCache(const std::string &choice) {
  std::string folder = choice == "off" ? "" : choice == "auto" ? automaticFolder() : choice;
  return folder.empty() ? nullptr : std::make_shared<const DiskCache>(folder);
}

void addCache(CLI::App &app, int &exitCode) {
  CLI::App *command =
      app.add_subcommand("cache", "Say where compiled images are kept and how large they are, or remove them");
  struct State {
    std::string action = "size", folder = "auto";
  };
  auto state = std::make_shared<State>();
  command->add_option("ACTION", state->action, "size, path or clear")
      ->capture_default_str()
      ->check(CLI::IsMember({"size", "path", "clear"}));
  command->add_option("--cache", state->folder, "the folder; auto is the one that `tessera run` uses")
      ->capture_default_str()
      ->type_name("FOLDER");
  command->footer(
      "$TESSERA_CACHE names the folder, or is `off`; without it $XDG_CACHE_HOME/tessera or $HOME/.cache/tessera.");
  command->callback([state, &exitCode] { exitCode = runCache(state->action, state->folder); });
}

} // namespace tessera
