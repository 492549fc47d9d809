//===- ArgumentSpec.cpp - `--arg NAME=SPEC` ------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// The little language of arguments.  Random numbers are the same on every machine: the engine is the standard's mt19937_64, the
// distributions are written out, since the standard leaves theirs to the library.
//
#include "tools/tessera/ArgumentSpec.h"

#include "tools/tessera/Npy.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <random>

namespace tessera {
namespace {

constexpr const char *kForms =
    "write FILE.npy[:dtype], NUMBER[:dtype], randn:DTYPE:AxB[:seed=N], uniform:DTYPE:AxB[:low=L][:high=H][:seed=N], "
    "zeros:DTYPE:AxB, empty:DTYPE:AxB, arange:DTYPE:AxB or scratch:BYTES";

Error specError(std::string message) { return Error{Fault::Usage, std::move(message), kForms, "T0643"}; }

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos)
      return parts;
    text.remove_prefix(at + 1);
  }
}

template <typename T>
bool parseNumber(std::string_view text, T &value) {
  auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc() && stop == text.data() + text.size() && !text.empty();
}

bool parseShape(std::string_view text, std::vector<int64_t> &shape) {
  if (text.empty())
    return true; // rank 0
  for (std::string_view part : split(text, 'x')) {
    int64_t extent = 0;
    if (!parseNumber(part, extent) || extent < 0)
      return false;
    shape.push_back(extent);
  }
  return true;
}

std::optional<decltype(ArgumentSpec::number)> parseLiteral(std::string_view text) {
  if (text == "true" || text == "false")
    return int64_t(text == "true");
  if (!text.empty() && text[0] == '+')
    text.remove_prefix(1);
  int64_t integer = 0;
  uint64_t large = 0;
  double real = 0;
  if (parseNumber(text, integer))
    return integer;
  if (parseNumber(text, large))
    return large;
  if (parseNumber(text, real)) // also inf and nan
    return real;
  return std::nullopt;
}

Result<ArgumentSpec> parseGenerator(ArgumentSpec::Kind kind, const std::vector<std::string_view> &parts,
                                    std::string_view text) {
  ArgumentSpec spec;
  spec.kind = kind;
  if (parts.size() < 2 || !(spec.dtype = parseDType(parts[1])))
    return specError(fmt::format("'{}': expected an element type after '{}:', found '{}'", text, parts[0],
                                 parts.size() < 2 ? "" : parts[1]));
  if (parts.size() > 2 && !parseShape(parts[2], spec.shape))
    return specError(fmt::format("'{}': expected a shape such as 4x8, found '{}'", text, parts[2]));
  bool random = kind == ArgumentSpec::Kind::Normal || kind == ArgumentSpec::Kind::Uniform;
  for (size_t i = 3; i < parts.size(); ++i) {
    std::string_view part = parts[i];
    size_t equals = part.find('=');
    std::string_view key = part.substr(0, equals),
                     value = equals == std::string_view::npos ? "" : part.substr(equals + 1);
    uint64_t seed = 0;
    if (random && key == "seed" && parseNumber(value, seed))
      spec.seed = seed;
    else if (kind == ArgumentSpec::Kind::Uniform && (key == "low" || key == "high") &&
             parseNumber(value, key == "low" ? spec.low : spec.high))
      continue;
    else
      return specError(fmt::format("'{}': '{}' is not an option of '{}'", text, part, parts[0]));
  }
  return spec;
}

void fillRandom(const Array &array, const ArgumentSpec &spec, uint64_t seed) {
  std::mt19937_64 engine(spec.seed.value_or(seed));
  auto unit = [&] { return static_cast<double>(engine() >> 11) * 0x1p-53; }; // [0, 1)
  Array &out = const_cast<Array &>(array);
  int64_t count = array.elements();
  if (spec.kind == ArgumentSpec::Kind::Uniform) {
    for (int64_t i = 0; i < count; ++i)
      out.set(i, spec.low + (spec.high - spec.low) * unit());
    return;
  }
  for (int64_t i = 0; i < count; i += 2) { // Box and Muller: two normal numbers from two uniform ones
    double radius = std::sqrt(-2 * std::log(1 - unit())), angle = 6.283185307179586 * unit();
    out.set(i, radius * std::cos(angle));
    if (i + 1 < count)
      out.set(i + 1, radius * std::sin(angle));
  }
}

} // namespace

Result<std::pair<std::string, std::string>> splitAssignment(std::string_view text, std::string_view option) {
  size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos)
    return Error{Fault::Usage, fmt::format("{} '{}': expected NAME=VALUE", option, text),
                 fmt::format("write {} NAME=VALUE", option), "T0643"};
  return std::pair(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
}

Result<ArgumentSpec> parseSpec(std::string_view text) {
  using Kind = ArgumentSpec::Kind;
  std::vector<std::string_view> parts = split(text, ':');
  static constexpr std::pair<std::string_view, Kind> kGenerators[] = {{"randn", Kind::Normal},
                                                                      {"uniform", Kind::Uniform},
                                                                      {"zeros", Kind::Zeros},
                                                                      {"empty", Kind::Empty},
                                                                      {"arange", Kind::Range}};
  for (auto [name, kind] : kGenerators)
    if (parts[0] == name)
      return parseGenerator(kind, parts, text);
  ArgumentSpec spec;
  if (parts[0] == "scratch") {
    int64_t bytes = 0;
    if (parts.size() != 2 || !parseNumber(parts[1], bytes) || bytes < 0)
      return specError(fmt::format("'{}': expected a number of bytes after 'scratch:'", text));
    spec.kind = Kind::Scratch;
    spec.dtype = DType::U8;
    spec.shape = {bytes};
    return spec;
  }
  // A path may hold colons; only a type name at the very end is split off.
  std::string_view head = text;
  if (parts.size() > 1)
    if (std::optional<DType> dtype = parseDType(parts.back())) {
      spec.dtype = dtype;
      head = text.substr(0, text.size() - parts.back().size() - 1);
    }
  if (auto literal = parseLiteral(head)) {
    spec.number = *literal;
    return spec;
  }
  if (head.size() >= 4 && head.substr(head.size() - 4) == ".npy") {
    spec.kind = Kind::File;
    spec.path = std::string(head);
    return spec;
  }
  return specError(fmt::format("'{}' is no argument", text));
}

Result<Array> makeArray(const ArgumentSpec &spec, uint64_t seed,
                        const std::function<Result<std::string>(const std::string &)> &readFile) {
  using Kind = ArgumentSpec::Kind;
  if (spec.kind == Kind::File) {
    Result<std::string> bytes = readFile(spec.path);
    if (!bytes)
      return bytes.error();
    Result<Array> array = parseNpy(*bytes, spec.dtype);
    if (array)
      return array;
    Error error = array.error();
    error.message = fmt::format("{}: {}", spec.path, error.message);
    return error;
  }
  Result<Array> array = Array::allocate(*spec.dtype, spec.shape);
  if (!array)
    return array;
  if (spec.kind == Kind::Zeros || spec.kind == Kind::Scratch)
    std::memset(array->data(), 0, array->bytes());
  else if (spec.kind == Kind::Empty)
    std::memset(array->data(), *spec.dtype == DType::Bool ? 0 : 0xff, array->bytes());
  else if (spec.kind == Kind::Range)
    for (int64_t i = 0, count = array->elements(); i < count; ++i)
      array->set(i, static_cast<long double>(i));
  else
    fillRandom(*array, spec, seed);
  return array;
}

Result<ScalarRef> makeScalar(const ArgumentSpec &spec, std::optional<DType> parameter) {
  std::optional<DType> dtype = spec.dtype ? spec.dtype : parameter;
  return std::visit(
      [&](auto number) -> Result<ScalarRef> {
        if (!dtype)
          return ScalarRef::of(number);
        if (std::optional<ScalarRef> scalar = ScalarRef::convert(number, *dtype))
          return *scalar;
        return Error{Fault::Program, fmt::format("{} does not hold {}", nameOf(*dtype), number),
                     "pass a number in its range", "T0602"};
      },
      spec.number);
}

} // namespace tessera
