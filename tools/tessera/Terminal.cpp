//===- Terminal.cpp - files, messages and exit codes of the command line -------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Reading, writing, reporting.
//
#include "tools/tessera/Terminal.h"
#include "tools/tessera/Crash.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace tessera {
namespace {

struct Close {
  void operator()(FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<FILE, Close>;

bool colorful() {
  const char *off = std::getenv("NO_COLOR"), *term = std::getenv("TERM");
  return isatty(STDERR_FILENO) && !(off && *off) && !(term && std::strcmp(term, "dumb") == 0);
}

const char *nameOf(Severity severity) {
  return severity == Severity::Error ? "error" : severity == Severity::Warning ? "warning" : "remark";
}

nlohmann::json placeOf(const SourcePlace &place) {
  return {{"file", place.file}, {"line", place.line}, {"column", place.column}};
}

nlohmann::json toJson(const Diagnostic &diagnostic) {
  nlohmann::json result = {{"severity", nameOf(diagnostic.severity)}, {"code", diagnostic.code},
                           {"place", placeOf(diagnostic.place)},      {"length", diagnostic.length},
                           {"message", diagnostic.message},           {"remedy", diagnostic.remedy}};
  if (diagnostic.hasReplacement)
    result["replacement"] = diagnostic.replacement;
  for (const DiagnosticNote &note : diagnostic.notes)
    result["notes"].push_back({{"place", placeOf(note.place)}, {"message", note.message}});
  return result;
}

/// User text may hold any bytes; invalid UTF-8 becomes a replacement character instead of an exception.
std::string dump(const nlohmann::json &value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Whose fault a diagnostic of the compiler is: nearly always the program's.
Fault faultOf(const Diagnostic &diagnostic) {
  if (diagnostic.code == "T0599" || diagnostic.code == "T0900")
    return Fault::Internal;
  return diagnostic.code == "T0504" || diagnostic.code == "T0505" ? Fault::Usage : Fault::Program;
}

/// Leaves the program and the command line that led to an internal error in a file, and says where.
void writeReproducer(const std::string &source) {
  std::string path = reproducerPath();
  if (writeFile(path, reproducerHeader() + source))
    fmt::print(stderr, "tessera: note: wrote {}; please report it\n", path);
}

Error cannot(Fault fault, const char *code, const char *what, const std::string &path, const char *remedy) {
  return Error{fault, fmt::format("cannot {} '{}': {}", what, path, std::strerror(errno)), remedy, code};
}

} // namespace

Result<std::string> readFile(const std::string &path) {
  File file(path == "-" ? fdopen(dup(STDIN_FILENO), "rb") : std::fopen(path.c_str(), "rb"));
  if (!file)
    return cannot(Fault::Program, "T0644", "read", path, "give the path of a file that exists and may be read");
  struct stat status;
  if (fstat(fileno(file.get()), &status) == 0 && S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    return cannot(Fault::Program, "T0644", "read", path, "give the path of a file");
  }
  std::string bytes;
  char block[65536];
  size_t count;
  while ((count = std::fread(block, 1, sizeof(block), file.get())) > 0)
    bytes.append(block, count);
  if (std::ferror(file.get()))
    return cannot(Fault::Program, "T0644", "read", path, "give the path of a file that may be read");
  return bytes;
}

Result<void> writeFile(const std::string &path, std::string_view bytes) {
  constexpr const char *kRemedy = "give a path in a folder that exists and may be written";
  // A rename onto a device or a pipe would replace it; those are written in place.
  struct stat status;
  bool special = path == "-" || (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode));
  std::string neighbour = special ? path : fmt::format("{}.{}.part", path, getpid());
  File file(path == "-" ? fdopen(dup(STDOUT_FILENO), "wb") : std::fopen(neighbour.c_str(), "wb"));
  if (!file)
    return cannot(Fault::Machine, "T0645", "write", path, kRemedy);
  bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  written &= std::fflush(file.get()) == 0;
  int reason = errno;
  file.reset();
  if (written && !special && std::rename(neighbour.c_str(), path.c_str()) != 0) {
    written = false;
    reason = errno;
  }
  if (written)
    return {};
  if (!special)
    std::remove(neighbour.c_str());
  errno = reason;
  return cannot(Fault::Machine, "T0645", "write", path, kRemedy);
}

int report(const Error &error) {
  bool color = colorful();
  const char *bold = color ? "\033[1m" : "", *red = color ? "\033[1;31m" : "", *off = color ? "\033[0m" : "";
  const char *kind = error.fault == Fault::Internal ? "internal error" : "error";
  fmt::print(stderr, "{}tessera: {}{}: {}{}{}", bold, red, kind, off, error.message, off);
  fmt::print(stderr, "{}\n", error.code.empty() ? "" : fmt::format(" [{}]", error.code));
  if (!error.remedy.empty())
    fmt::print(stderr, "  remedy: {}\n", error.remedy);
  return static_cast<int>(error.fault);
}

int Report::finish(const Error *error, const std::string &fields) const {
  int code = error ? static_cast<int>(error->fault) : 0;
  bool program = !error || (error->fault == Fault::Program && error->code.empty());
  for (const Diagnostic &diagnostic : diagnostics)
    if (program && diagnostic.severity == Severity::Error)
      code = std::max(code, static_cast<int>(faultOf(diagnostic)));
  if (code == static_cast<int>(Fault::Internal) && !source.empty())
    writeReproducer(source);
  if (json) {
    nlohmann::json list = nlohmann::json::array();
    for (const Diagnostic &diagnostic : diagnostics)
      list.push_back(toJson(diagnostic));
    std::string text = "{\"diagnostics\": " + dump(list) + (fields.empty() ? "" : ", " + fields);
    if (error)
      text += ", \"error\": " +
              dump({{"code", error->code}, {"message", error->message}, {"remedy", error->remedy}, {"exit", code}});
    fmt::print("{}}}\n", text);
    return code;
  }
  bool color = colorful();
  for (const Diagnostic &diagnostic : diagnostics) {
    std::string text =
        render(diagnostic, diagnostic.place.file == sourceName ? std::string_view(source) : std::string_view(), color);
    fmt::print(stderr, "{}{}", text, text.empty() || text.back() != '\n' ? "\n" : "");
  }
  // With the compiler's own errors shown, the summary of its failure would only repeat them.
  bool shown = program && !diagnostics.empty();
  if (error && !shown)
    report(*error);
  return code;
}

std::string quoteJson(std::string_view text) { return dump(nlohmann::json(text)); }

} // namespace tessera
