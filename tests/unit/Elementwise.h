//===- Elementwise.h - run one elementwise op over a list, for tests -------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
#ifndef TESSERA_TESTS_UNIT_ELEMENTWISE_H
#define TESSERA_TESTS_UNIT_ELEMENTWISE_H

#include "HostHarness.h"

#include <span>

namespace tessera::test {

/// `op` computes %r (type `out`, with tensor<256x...>) from %a and, if there are two lists, %b (types `in`).  `{I}` and `{O}` in it stand for the tile types.
/// Types are those of memory (bool: uint8_t).  Aborts the test case on failure to compile.
template <typename Out, typename In>
std::vector<Out> elementwise(std::string op, const std::string &in, const std::string &out, std::span<const In> a,
                             std::span<const In> b = {}) {
  auto replace = [&](const std::string &from, const std::string &to) {
    for (size_t at; (at = op.find(from)) != std::string::npos;)
      op.replace(at, from.size(), to);
  };
  replace("{I}", "tensor<256x" + irType(in) + ">");
  replace("{O}", "tensor<256x" + irType(out) + ">");
  std::string load = "  %{0} = tile.load %{1}[%i] widths [256] steps [1] : !tile.view<?x{2}>[i64] -> tensor<256x{2}>\n";
  std::string body = fmt::format(fmt::runtime(load), "a", "x", irType(in));
  std::vector<Param> params = {{"x", in, "in", "?", {"N"}}};
  if (!b.empty()) {
    body += fmt::format(fmt::runtime(load), "b", "z", irType(in));
    params.push_back({"z", in, "in", "?", {"N"}});
  }
  params.push_back({"y", out, "out", "?", {"N"}});
  body += "  " + op +
          fmt::format("\n  tile.store %r, %y[%i] widths [256] steps [1] : tensor<256x{0}>, !tile.view<?x{0}>[i64]",
                      irType(out));
  Result<HostProgram> program = compileHost(kernelText(params, {"N"}, {{"i", "0", "N", "256"}}, body));
  INFO(body << "\n" << (program ? "" : program.error().message));
  REQUIRE(program);
  std::vector<Out> result(a.size());
  std::vector<uint64_t> slots = {reinterpret_cast<uintptr_t>(a.data()), 1};
  if (!b.empty())
    slots.insert(slots.end(), {reinterpret_cast<uintptr_t>(b.data()), 1});
  int64_t count = (int64_t(a.size()) + 255) / 256;
  slots.insert(slots.end(), {reinterpret_cast<uintptr_t>(result.data()), 1, a.size(), uint64_t(count)});
  REQUIRE(program->run(slots, 0, count).first == 0);
  return result;
}

} // namespace tessera::test
#endif // TESSERA_TESTS_UNIT_ELEMENTWISE_H
