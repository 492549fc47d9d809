//===- LoopExitTest.cpp - break and continue ----------------------------------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Every kernel runs on rows of small numbers, beside the same loop in C++.
//
#include "runtime/Api/tessera.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <random>

using namespace tessera;

namespace {

using Row = std::vector<int32_t>;
/// What a loop leaves behind: a value, and how many iterations went to their end.
struct Left {
  int64_t value = 0, count = 0;
  bool operator==(const Left &) const = default;
};

/// A kernel with the input x: i32[R, N] and the outputs value, count: i64[R]; `head` stands before it.
std::string program(const std::string &body, const std::string &head = "") {
  return head +
         "kernel k<B = true>(x: in i32[R, N], value: out i64[R], count: out i64[R])\n  grid (r in 0..R)\n{\n"
         "  var v = i64(0)\n  var n = i64(0)\n" +
         body + "  value[r] = v\n  count[r] = n\n}\n";
}

void check(const std::string &source, const std::function<Left(const Row &)> &reference,
           std::vector<int64_t> lengths = {0, 1, 2, 7, 16, 33}) {
  INFO(source);
  ProgramOptions options;
  options.device = Device::cpu(1);
  Expected<Program> program = Program::fromSource(source, options);
  INFO((program ? std::string() : program.failure().text()));
  REQUIRE(program);
  Expected<Kernel> kernel = program->kernel("k");
  INFO((kernel ? std::string() : kernel.failure().text()));
  REQUIRE(kernel);
  constexpr int64_t kRows = 40;
  std::mt19937 random(7);
  for (int64_t length : lengths) {
    std::vector<int32_t> x(size_t(kRows * length));
    for (int32_t &element : x)
      element = int32_t(random() % 12) - 3;
    std::vector<int64_t> value(kRows, -77), count(kRows, -77);
    Expected<void> done = kernel->launch(nullptr, TensorRef::contiguous(x.data(), DType::I32, {kRows, length}),
                                         TensorRef::contiguous(value.data(), DType::I64, {kRows}),
                                         TensorRef::contiguous(count.data(), DType::I64, {kRows}));
    INFO((done ? std::string() : done.failure().text()));
    REQUIRE(done);
    for (int64_t r = 0; r < kRows; ++r) {
      Left expected = reference(Row(x.begin() + r * length, x.begin() + (r + 1) * length));
      INFO("length " << length << ", row " << r);
      CHECK(value[r] == expected.value);
      CHECK(count[r] == expected.count);
    }
  }
}

} // namespace

TEST_CASE("break ends a for: what was assigned before it stays") {
  check(program("  v = -1\n  for k in 0..N {\n    if x[r, k] == 0 { v = k; break }\n    n += 1\n  }\n"),
        [](const Row &x) {
          Left left{-1, 0};
          for (size_t k = 0; k < x.size(); ++k) {
            if (x[k] == 0) {
              left.value = int64_t(k);
              break;
            }
            ++left.count;
          }
          return left;
        });
}

TEST_CASE("continue ends an iteration") {
  check(program("  for k in 1..N by 2 {\n    n += 1\n    if x[r, k] % 2 == 0 { continue }\n    v += x[r, k]\n  }\n"),
        [](const Row &x) {
          Left left;
          for (size_t k = 1; k < x.size(); k += 2) {
            ++left.count;
            if (x[k] % 2 == 0)
              continue;
            left.value += x[k];
          }
          return left;
        });
}

TEST_CASE("exits deep inside branches, both kinds in one loop, backwards") {
  check(program(R"(
  for k in reverse(1..N by 2) {
    let e = x[r, k]
    if e < 0 {
      v += 1
      if e == -1 { continue }
      if e == -2 { v *= 2; break } else { v -= e }
      v += 5
    } else if e > 6 {
      if e == 8 { break }
      v -= 1
    } else {
      v += e
    }
    n += 1
  }
)"),
        [](const Row &x) {
          Left left;
          std::vector<int64_t> indices;
          for (int64_t k = 1; k < int64_t(x.size()); k += 2)
            indices.push_back(k);
          for (auto at = indices.rbegin(); at != indices.rend(); ++at) {
            int32_t e = x[size_t(*at)];
            if (e < 0) {
              left.value += 1;
              if (e == -1)
                continue;
              if (e == -2) {
                left.value *= 2;
                break;
              }
              left.value -= e;
              left.value += 5;
            } else if (e > 6) {
              if (e == 8)
                break;
              left.value -= 1;
            } else {
              left.value += e;
            }
            ++left.count;
          }
          return left;
        });
}

TEST_CASE("an inner loop's exits are its own") {
  check(program(R"(
  for k in 0..N {
    var inner = i64(0)
    for j in k..N {
      if x[r, j] == 2 { break }
      if x[r, j] == 1 { continue }
      inner += x[r, j]
    }
    if inner > 40 { break }
    if inner < 0 { continue }
    v += inner
    n += 1
  }
)"),
        [](const Row &x) {
          Left left;
          for (size_t k = 0; k < x.size(); ++k) {
            int64_t inner = 0;
            for (size_t j = k; j < x.size(); ++j) {
              if (x[j] == 2)
                break;
              if (x[j] == 1)
                continue;
              inner += x[j];
            }
            if (inner > 40)
              break;
            if (inner < 0)
              continue;
            left.value += inner;
            ++left.count;
          }
          return left;
        });
}

TEST_CASE("a loop that breaks, in what runs after an exit that depends on run time") {
  check(program(R"(
  while true {
    if n >= N { break }
    let e = x[r, n]
    n += 1
    if e < 0 {
      if e == -1 { continue }
      v += 100
      if e == -2 { break }
    }
    for j in reverse(0..n) {
      if x[r, j] == e { v += j; break }
    }
    if v > 500 { if e > 2 { continue } }
    v += 1
  }
)"),
        [](const Row &x) {
          Left left;
          while (left.count < int64_t(x.size())) {
            int32_t e = x[size_t(left.count)];
            ++left.count;
            if (e < 0) {
              if (e == -1)
                continue;
              left.value += 100;
              if (e == -2)
                break;
            }
            left.value += left.count - 1;
            if (left.value > 500 && e > 2)
              continue;
            left.value += 1;
          }
          return left;
        });
}

TEST_CASE("break leaves a for of several ranges, continue goes to its next combination") {
  check(program(R"(
  for (a in 0..3, b in a..N) {
    if x[r, b] == 0 { continue }
    if x[r, b] == 8 { v += 1000; break }
    v += a * 10 + b
    n += 1
  }
)"),
        [](const Row &x) {
          Left left;
          bool isOut = false;
          for (int64_t a = 0; a < 3 && !isOut; ++a)
            for (int64_t b = a; b < int64_t(x.size()); ++b) {
              if (x[size_t(b)] == 0)
                continue;
              if (x[size_t(b)] == 8) {
                left.value += 1000;
                isOut = true;
                break;
              }
              left.value += a * 10 + b;
              ++left.count;
            }
          return left;
        });
}

TEST_CASE("for static: conditions of compile time drop iterations, those of run time guard them") {
  auto reference = [](int64_t limit) {
    return [limit](const Row &x) {
      Left left;
      for (int64_t k = 0; k < 300; ++k) {
        if (k == limit)
          break;
        if (k % 3 == 1)
          continue;
        int32_t e = k < int64_t(x.size()) ? x[size_t(k)] : 0;
        if (e == 3)
          continue;
        left.value += e * k;
        if (e == 8)
          break;
        ++left.count;
      }
      return left;
    };
  };
  for (int64_t limit : {7, 290})
    check(program("  for static k in 0..300 {\n    if k == " + std::to_string(limit) +
                  " { break }\n    if k % 3 == 1 { continue }\n    let e = x[r, k]\n    if e == 3 { continue }\n"
                  "    v += e * k\n    if e == 8 { break }\n    n += 1\n  }\n"),
          reference(limit), {0, 5, 33});
  check(program("  for static (a in 0..4, b in reverse(0..3)) {\n    if x[r, a] == b { break }\n    v += a * 10 + b\n"
                "    if x[r, a] > 6 { if b == 1 { break } else { continue } }\n    n += 1\n  }\n"),
        [](const Row &x) {
          Left left;
          for (int64_t i = 0; i < 12; ++i) {
            int64_t a = i / 3, b = 2 - i % 3, e = a < int64_t(x.size()) ? x[size_t(a)] : 0;
            if (e == b)
              break;
            left.value += a * 10 + b;
            if (e > 6) {
              if (b == 1)
                break;
              continue;
            }
            ++left.count;
          }
          return left;
        });
}

TEST_CASE("while: after a break the condition is not computed again") {
  // The condition counts how often it is asked.
  check(program(R"(
  count[r] = 0
  while atomic_add(count[r], 1) < N {
    let e = x[r, v]
    v += 1
    if e == 0 { continue }
    if e == 8 { v = -v; break }
  }
  n = atomic_add(count[r], 0)
)")
            .replace(program("").find("count: out"), 10, "count: inout"),
        [](const Row &x) {
          Left left;
          while (left.count++ < int64_t(x.size())) {
            int32_t e = x[size_t(left.value)];
            ++left.value;
            if (e == 0)
              continue;
            if (e == 8) {
              left.value = -left.value;
              break;
            }
          }
          return left;
        });
  check(program("  while true {\n    if n >= N { break }\n    n += 1\n    if x[r, n - 1] < 0 { continue }\n    v += "
                "x[r, n - 1]\n  }\n"),
        [](const Row &x) {
          Left left;
          while (true) {
            if (left.count >= int64_t(x.size()))
              break;
            ++left.count;
            if (x[size_t(left.count - 1)] < 0)
              continue;
            left.value += x[size_t(left.count - 1)];
          }
          return left;
        });
  check(program("  while if n < N { v += 1; x[r, n] != 5 } else { false } { n += 1 }\n"), [](const Row &x) {
    Left left;
    while (left.count < int64_t(x.size())) {
      ++left.value;
      if (x[size_t(left.count)] == 5)
        break;
      ++left.count;
    }
    return left;
  });
}

TEST_CASE("loops of functions and of branches whose value is used have exits of their own") {
  check(
      program("  for k in 0..N {\n    let at = first(x[r], x[r, k])\n    if at < k { continue }\n    v += at\n"
              "    n += if x[r, k] > 4 { var c = i64(0); for j in 0..k { if x[r, j] > 4 { break }; c += 1 }; c } else "
              "{ 1 }\n  }\n",
              "fn first(row: i32[N], wanted) {\n  var at = i64(-1)\n  for i in 0..N {\n    if row[i] == wanted { at = "
              "i; break }\n  }\n  return at\n}\n"),
      [](const Row &x) {
        Left left;
        for (int64_t k = 0; k < int64_t(x.size()); ++k) {
          int64_t at = std::find(x.begin(), x.end(), x[size_t(k)]) - x.begin();
          if (at < k)
            continue;
          left.value += at;
          int64_t c = 0;
          while (c < k && x[size_t(c)] <= 4)
            ++c;
          left.count += x[size_t(k)] > 4 ? c : 1;
        }
        return left;
      });
}

TEST_CASE("a return beside loops with exits; conditions of compile time") {
  check(program("  value[r] = -5\n  count[r] = -6\n  if N > 1 {\n    if x[r, 0] == 0 { return }\n    v = 100\n  }\n"
                "  for k in 0..N { if x[r, k] == 0 { if B { break } else { v = 9 } }; v += 1 }\n"
                "  for k in 0..N { n += 1; if B { break }; n += 10 }\n"),
        [](const Row &x) {
          if (x.size() > 1 && x[0] == 0)
            return Left{-5, -6};
          Left left{x.size() > 1 ? 100 : 0, x.empty() ? 0 : 1};
          for (int32_t e : x) {
            if (e == 0)
              break;
            ++left.value;
          }
          return left;
        });
}

TEST_CASE("bounds at the ends of i64, and steps that are no steps") {
  check(program(
            "  let s = i64(N) - 5\n  for k in -9223372036854775807 - 1..9223372036854775807 by 4611686018427387904 {\n"
            "    n += 1\n    if n > 6 { break }\n    v += k / 4611686018427387904\n  }\n"
            "  for k in 0..10 by s { if x[r, k] > 100 { break }; n += 100 }\n"),
        [](const Row &x) {
          Left left{-2 - 1 + 0 + 1, 4};
          if (int64_t step = int64_t(x.size()) - 5; step > 0)
            for (int64_t k = 0; k < 10; k += step)
              left.count += 100;
          return left;
        });
}

TEST_CASE("tiles are carried out of a loop that breaks") {
  const char *source = R"(
kernel k(x: in f32[R, N], y: out f32[R], z: out f32[R])
  grid (r in 0..R by 5)
{
  var total = zeros(f32, [5])
  var last = zeros(f32, [5, 16])
  for c in 0..N by 16 {
    let t = x[r +: 5, c +: 16]
    if any(t > 90.0) { break }
    total += sum(t, axis = 1)
    if any(t < -90.0) { continue }
    last = t
  }
  y[r +: 5] = total
  z[r +: 5] = max(last, axis = 1)
}
)";
  ProgramOptions options;
  options.device = Device::cpu(1);
  Expected<Program> program = Program::fromSource(source, options);
  REQUIRE(program);
  Expected<Kernel> kernel = program->kernel("k");
  REQUIRE(kernel);
  constexpr int64_t kRows = 53, kColumns = 77;
  std::mt19937 random(3);
  std::vector<float> x(kRows * kColumns), y(kRows, -1), z(kRows, -1);
  for (float &e : x)
    e = float(int(random() % 64)) - 32;
  for (int64_t r : {3, 12, 22, 40}) // breaks in step r % 5, or at once
    x[r * kColumns + 16 * (r % 5) + 2] = 99;
  for (int64_t r : {1, 20, 33})
    x[r * kColumns + 16 * (r % 4) + 1] = -99;
  REQUIRE(kernel->launch(nullptr, TensorRef::contiguous(x.data(), DType::F32, {kRows, kColumns}),
                         TensorRef::contiguous(y.data(), DType::F32, {kRows}),
                         TensorRef::contiguous(z.data(), DType::F32, {kRows})));
  for (int64_t first = 0; first < kRows; first += 5) {
    std::vector<float> total(5, 0), greatest(5, 0);
    for (int64_t c = 0; c < kColumns; c += 16) {
      auto element = [&](int64_t r, int64_t i) {
        return first + r < kRows && c + i < kColumns ? x[(first + r) * kColumns + c + i] : 0.0f;
      };
      bool high = false, low = false;
      for (int64_t r = 0; r < 5; ++r)
        for (int64_t i = 0; i < 16; ++i) {
          high |= element(r, i) > 90;
          low |= element(r, i) < -90;
        }
      if (high)
        break;
      for (int64_t r = 0; r < 5; ++r) {
        float most = -1000;
        for (int64_t i = 0; i < 16; ++i) {
          total[r] += element(r, i); // small integers: exact in any order
          most = std::max(most, element(r, i));
        }
        if (!low)
          greatest[r] = most;
      }
    }
    for (int64_t r = 0; r < 5 && first + r < kRows; ++r) {
      INFO("row " << first + r);
      CHECK(y[first + r] == total[r]);
      CHECK(z[first + r] == greatest[r]);
    }
  }
}
