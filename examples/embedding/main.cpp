//===- main.cpp - calls kernels that were compiled at build time ----------------------- SPDX: Apache-2.0 WITH LLVM-exception -===//
//
// Runs the kernels of layer.tile on the host and checks them against float64.
//
#include "layer.h"

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

double gelu(double x) { return 0.5 * x * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x))); }

/// Numbers that f32 holds exactly.
std::vector<float> numbers(int64_t count, unsigned seed) {
  std::vector<float> values(count);
  for (float &value : values)
    value = float(int((seed = seed * 1664525u + 1013904223u) >> 21) - 1024) / 1024;
  return values;
}

int report(const char *what, const tessera::Error &error) {
  std::fprintf(stderr, "%s: %s\n  %s\n", what, error.message.c_str(), error.remedy.c_str());
  return 1;
}

/// Sizes that are a multiple of nothing, or of everything: two contracts of the compiled code.  `pad`: elements between rows of x.
int check(const layer::Kernels &kernels, int64_t batch, int64_t inputs, int64_t outputs, int64_t pad) {
  std::vector<float> x = numbers(batch * (inputs + pad), 1), w = numbers(outputs * inputs, 2),
                     bias = numbers(outputs, 3);
  std::vector<float> y(batch * outputs), p(batch * outputs);
  auto done = kernels.linear(nullptr, {x.data(), {batch, inputs}, {inputs + pad, 1}}, {w.data(), {outputs, inputs}},
                             {bias.data(), {outputs}}, {y.data(), {batch, outputs}});
  if (!done)
    return report("linear", done.error());
  done = kernels.scaled_softmax(nullptr, {y.data(), {batch, outputs}}, {p.data(), {batch, outputs}}, 0.5f);
  if (!done)
    return report("scaled_softmax", done.error());
  double worst = 0;
  for (int64_t b = 0; b < batch; ++b) {
    double total = 0;
    for (int64_t o = 0; o < outputs; ++o) {
      double sum = bias[o];
      for (int64_t i = 0; i < inputs; ++i)
        sum += double(x[b * (inputs + pad) + i]) * w[o * inputs + i];
      worst = std::fmax(worst, std::fabs(gelu(sum) - y[b * outputs + o]));
      total += std::exp(0.5 * y[b * outputs + o]);
    }
    for (int64_t o = 0; o < outputs; ++o)
      worst = std::fmax(worst, std::fabs(std::exp(0.5 * y[b * outputs + o]) / total - p[b * outputs + o]));
  }
  std::printf("%lld x %lld x %lld, pitch + %lld: maximum error %.1e\n", (long long)batch, (long long)inputs,
              (long long)outputs, (long long)pad, worst);
  return worst < 2e-5 ? 0 : 1;
}

} // namespace

int main() {
  auto kernels = layer::Kernels::load(tessera::Device::cpu());
  if (!kernels)
    return report("load", kernels.error());
  int failed = check(*kernels, 64, 128, 64, 0) + check(*kernels, 37, 53, 29, 0) + check(*kernels, 5, 64, 32, 3);
  // A mistake is an error with its reason, not a crash: the tensors disagree on the number of inputs.
  float few[4] = {};
  auto done = kernels->linear(nullptr, {few, {2, 2}}, {few, {1, 4}}, {few, {1}}, {few, {2, 1}});
  if (done || done.error().code != "T0604")
    failed += 1;
  else
    std::printf("refused as it should be: %s\n", done.error().message.c_str());
  return failed ? 1 : 0;
}
