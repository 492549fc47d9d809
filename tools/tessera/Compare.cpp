//===- Compare.cpp - `--check NAME=FILE.npy[:rtol=..][:atol=..]` ---------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// In long double, which holds every element type exactly.
//
#include "tools/tessera/Compare.h"

#include "tools/tessera/ArgumentSpec.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace tessera {
namespace {

/// Four units of the last place of a result near 1, for f32 ten: sums are in another order.
double defaultTolerance(DType dtype) {
  switch (dtype) {
  case DType::F64:
    return 1e-12;
  case DType::F32:
    return 1e-5;
  case DType::F16:
    return 4e-3;
  case DType::BF16:
    return 3e-2;
  case DType::F8E4M3:
    return 0.25;
  case DType::F8E5M2:
    return 0.5;
  default:
    return 0;
  }
}

bool agrees(long double found, long double expected, double rtol, double atol) {
  if (std::isnan(found) || std::isnan(expected))
    return std::isnan(found) && std::isnan(expected);
  if (std::isinf(found) || std::isinf(expected))
    return found == expected;
  return std::fabs(found - expected) <= atol + rtol * std::fabs(expected);
}

} // namespace

Result<CheckSpec> parseCheck(std::string_view text) {
  Result<std::pair<std::string, std::string>> assignment = splitAssignment(text, "--check");
  if (!assignment)
    return assignment.error();
  CheckSpec spec;
  spec.name = assignment->first;
  std::string_view rest = assignment->second;
  // Options stand at the end; what is left of them is the path.
  for (size_t colon; (colon = rest.rfind(':')) != std::string_view::npos;) {
    std::string_view option = rest.substr(colon + 1);
    std::string_view key = option.substr(0, 5), value = option.size() > 5 ? option.substr(5) : std::string_view();
    double number = 0;
    auto [stop, status] = std::from_chars(value.data(), value.data() + value.size(), number);
    bool isNumber = !value.empty() && status == std::errc() && stop == value.data() + value.size() && number >= 0;
    if (key == "rtol=" && isNumber)
      spec.rtol = number;
    else if (key == "atol=" && isNumber)
      spec.atol = number;
    else if (std::optional<DType> dtype = parseDType(option))
      spec.dtype = dtype;
    else
      break;
    rest = rest.substr(0, colon);
  }
  spec.path = std::string(rest);
  if (rest.size() < 4 || rest.substr(rest.size() - 4) != ".npy")
    return Error{Fault::Usage, fmt::format("--check '{}': '{}' is not FILE.npy[:rtol=R][:atol=A]", text, rest),
                 "write --check NAME=FILE.npy[:dtype][:rtol=R][:atol=A]", "T0643"};
  return spec;
}

Result<Comparison> compare(const Array &found, const Array &expected, const CheckSpec &spec) {
  if (found.shape != expected.shape)
    return Error{
        Fault::Program,
        fmt::format("'{}' is {}, its reference {} is {}", spec.name, found.describe(), spec.path, expected.describe()),
        "compare with a reference of the same shape", "T0640"};
  Comparison result;
  result.rtol = spec.rtol.value_or(defaultTolerance(found.dtype));
  result.atol = spec.atol.value_or(defaultTolerance(found.dtype));
  result.elements = found.elements();
  for (int64_t i = 0; i < result.elements; ++i) {
    long double a = found.get(i), b = expected.get(i);
    if (std::isfinite(a) && std::isfinite(b))
      result.maxError = std::max(result.maxError, static_cast<double>(std::fabs(a - b)));
    if (agrees(a, b, result.rtol, result.atol))
      continue;
    if (result.wrong++ == 0)
      result.worst = i;
  }
  return result;
}

std::string Comparison::describe(const Array &found, const Array &expected) const {
  std::string text =
      fmt::format("maximum error {:.3g} over {} elements (rtol {:g}, atol {:g})", maxError, elements, rtol, atol);
  if (wrong == 0)
    return text;
  std::string place;
  int64_t rest = worst;
  for (size_t d = found.shape.size(); d-- > 0;) {
    place = fmt::format("{}{}{}", rest % found.shape[d], place.empty() ? "" : ", ", place);
    rest /= found.shape[d];
  }
  return text + fmt::format("; {} wrong, the first at [{}]: expected {:g}, found {:g}", wrong, place,
                            static_cast<double>(expected.get(worst)), static_cast<double>(found.get(worst)));
}

} // namespace tessera
