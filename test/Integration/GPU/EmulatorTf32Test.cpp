//===- EmulatorTf32Test.cpp - f32 as one product of tf32, on the emulator --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With u = 2^-11, the largest relative error of rounding to tf32, the score of a pair is off by at most
//   delta = (2 u + u^2) scale * sum |q| |k|,
// a weight p by a factor of exp(2 delta) (numerator and sum), and its product with a value by (1 + u)^2 more. An output
// is off by at most (exp(2 delta) (1 + u)^2 - 1) * sum p |v|, but for the roundings of f32.
//
//===----------------------------------------------------------------------===//

#include "attn/attn.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace attn;

static constexpr int64_t kQueryLen = 33, kKvLen = 41, kHeadDim = 24, kValueDim = 20;
static constexpr double kScale = 0.25, kRounding = 0x1p-11, kF32Slack = 1e-5;

static std::string attentionText(int64_t queryLen, int64_t kvLen) {
  auto tensor = [](int64_t rows, int64_t columns) {
    return "tensor<1x1x" + std::to_string(rows) + "x" + std::to_string(columns) + "xf32>";
  };
  std::string query = tensor(queryLen, kHeadDim), key = tensor(kvLen, kHeadDim);
  std::string value = tensor(kvLen, kValueDim), out = tensor(queryLen, kValueDim);
  return "func.func @f(%q: " + query + ", %k: " + key + ", %v: " + value + ") -> " + out +
         " {\n  %scale = arith.constant 0.25 : f32\n  %o = tensor.empty() : " + out +
         "\n  %r = attn.attention %q, %k, %v scale(%scale) : " + query + ", " + key + ", " + value +
         " outs(%o : " + out + ") -> " + out + "\n  return %r : " + out + "\n}\n";
}

namespace {

struct Problem {
  int64_t queryLen, kvLen;
  std::vector<float> query, key, value;

  std::vector<float> run(bool allowTf32) const {
    std::vector<float> out(queryLen * kValueDim);
    auto module = Module::parse(attentionText(queryLen, kvLen));
    EXPECT_TRUE(module.ok()) << module.error().str();
    auto kernel = module->compile("f", Target::named("emulator:sm_80"), CompileOptions().allowTf32(allowTf32));
    EXPECT_TRUE(kernel.ok()) << kernel.error().str();
    auto report = kernel->run({view(query, {1, 1, queryLen, kHeadDim}), view(key, {1, 1, kvLen, kHeadDim}),
                               view(value, {1, 1, kvLen, kValueDim})},
                              {view(out, {1, 1, queryLen, kValueDim})});
    EXPECT_TRUE(report.ok()) << report.error().str();
    return out;
  }
};

/// A row of the result in f64, and how far off tf32 may be.
struct Expected {
  std::vector<double> out, bound;
};

} // namespace

static Expected expectRow(const Problem &problem, int64_t i) {
  std::vector<double> weights(problem.kvLen);
  double sum = 0, delta = 0;
  for (int64_t j = 0; j < problem.kvLen; ++j) {
    double score = 0, size = 0;
    for (int64_t d = 0; d < kHeadDim; ++d) {
      double product = double(problem.query[i * kHeadDim + d]) * problem.key[j * kHeadDim + d];
      score += kScale * product;
      size += kScale * std::abs(product);
    }
    delta = std::max(delta, (2 * kRounding + kRounding * kRounding) * size);
    sum += weights[j] = std::exp(score);
  }
  double factor = std::exp(2 * delta) * (1 + kRounding) * (1 + kRounding) - 1 + kF32Slack;
  Expected row{std::vector<double>(kValueDim), std::vector<double>(kValueDim)};
  for (int64_t j = 0; j < problem.kvLen; ++j)
    for (int64_t e = 0; e < kValueDim; ++e) {
      double part = weights[j] / sum * problem.value[j * kValueDim + e];
      row.out[e] += part;
      row.bound[e] += factor * std::abs(part);
    }
  return row;
}

TEST(EmulatorTf32, ErrorIsThatOfRoundedOperands) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  auto draw = [&](int64_t count) {
    std::vector<float> values(count);
    for (float &value : values)
      value = normal(random);
    return values;
  };
  Problem problem{kQueryLen, kKvLen, draw(kQueryLen * kHeadDim), draw(kKvLen * kHeadDim), draw(kKvLen * kValueDim)};
  std::vector<float> single = problem.run(true), parts = problem.run(false);
  double singleError = 0, partsError = 0;
  for (int64_t i = 0; i < kQueryLen; ++i) {
    Expected row = expectRow(problem, i);
    for (int64_t e = 0; e < kValueDim; ++e) {
      double error = std::abs(single[i * kValueDim + e] - row.out[e]);
      EXPECT_LE(error, row.bound[e]) << i << ", " << e;
      EXPECT_LT(row.bound[e], 0.05) << "the bound says nothing";
      singleError = std::max(singleError, error);
      partsError = std::max(partsError, std::abs(parts[i * kValueDim + e] - row.out[e]));
    }
  }
  EXPECT_LE(partsError, 2e-6);
  EXPECT_GT(singleError, 20 * partsError);
}

TEST(EmulatorTf32, RoundsToNearest) {
  // One key, and a score of 0: its weight is 1, and the output is its value in tf32, ten bits behind the first one,
  // ties away from 0.
  Problem problem{1, 1, std::vector<float>(kHeadDim, 0), std::vector<float>(kHeadDim, 1), {}};
  for (int64_t e = 0; e < kValueDim; ++e)
    problem.value.push_back(static_cast<float>((e % 2 ? -1 : 1) * (1 + e * 0x1p-13)));
  std::vector<float> out = problem.run(true), exact = problem.run(false);
  for (int64_t e = 0; e < kValueDim; ++e) {
    double value = problem.value[e];
    EXPECT_EQ(out[e], std::round(value * 1024) / 1024) << e;
    EXPECT_NEAR(exact[e], value, 0x1p-20) << e;
  }
}
