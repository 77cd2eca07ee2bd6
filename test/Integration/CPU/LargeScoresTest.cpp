//===- LargeScoresTest.cpp - scores of any size, and elements that are infinite ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys fall into three groups, the value of a key of group g is 1 in column g, so that an output is the weight of a
// group: n_g exp(s_g) / sum. Batch entry n has scores of a size S that grows with n, up to the largest float. Rows have
// +-S - delta_g, or +-S c_g: differences beside which S is large, and differences that overflow.
//
//===----------------------------------------------------------------------===//

#include "Grid.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <map>

using grid::Buffer;

namespace {

constexpr int64_t kHeads = 4, kKvHeads = 2, kKvLen = 120, kDim = 3, kManyQueries = 70;
constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

/// One attention: what is compiled.
struct Form {
  std::string type = "f32";
  int64_t queryLen = 1;
  /// A constant; with `isRunTime` an argument.
  double scale = 1;
  bool isRunTime = false, hasRegion = false, hasSink = false;
  int64_t segmentKeys = 0;

  bool isF64() const { return type == "f64"; }
  std::string wide() const { return isF64() ? "f64" : "f32"; }
};

std::string shaped(std::initializer_list<int64_t> sizes, const std::string &element) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

std::string number(double value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.17e", value);
  return text;
}

std::string textOf(const Form &form, int64_t batch) {
  const std::string wide = form.wide(), zero = shaped({1}, wide), sink = shaped({kHeads}, wide);
  const std::string q = shaped({batch, kHeads, form.queryLen, kDim}, form.type),
                    k = shaped({batch, kKvHeads, kKvLen, kDim}, form.type);
  const std::string lse = shaped({batch, kHeads, form.queryLen}, wide), results = q + ", " + lse;
  std::string text = "func.func @f(%q: " + q + ", %k: " + k + ", %v: " + k + ", %given: " + wide + ", %zero: " + zero +
                     ", %sink: " + sink + ") -> (" + results + ") {\n  %constant = arith.constant " +
                     number(form.scale) + " : " + wide + "\n  %out = tensor.empty() : " + q +
                     "\n  %lse = tensor.empty() : " + lse + "\n  %r:2 = attn.attention %q, %k, %v scale(" +
                     (form.isRunTime ? "%given" : "%constant") + (form.isF64() ? " : f64)" : ")");
  if (form.hasRegion)
    text += " score(%x, %b, %h, %i, %j) {\n    %c0 = arith.constant 0 : index\n    %z = tensor.extract %zero[%c0] : " +
            zero + "\n    %y = arith.addf %x, %z : " + wide + "\n    attn.yield %y : " + wide + "\n  }";
  if (form.hasSink)
    text += " sink(%sink : " + sink + ")";
  return text + "\n    : " + q + ", " + k + ", " + k + " outs(%out : " + q + ") lse(%lse : " + lse + ") -> " + results +
         "\n  return %r#0, %r#1 : " + results + "\n}\n";
}

attn::DType dtypeOf(const std::string &name) {
  return name == "f64"    ? attn::DType::F64
         : name == "f16"  ? attn::DType::F16
         : name == "bf16" ? attn::DType::BF16
                          : attn::DType::F32;
}

double readReal(Buffer &buffer, int64_t element) {
  attn::MutableTensorView view = buffer.view();
  switch (view.dtype) {
  case attn::DType::F64:
    return static_cast<const double *>(view.data)[element];
  case attn::DType::F16:
    return static_cast<float>(static_cast<const attn::Float16 *>(view.data)[element]);
  case attn::DType::BF16:
    return static_cast<float>(static_cast<const attn::BFloat16 *>(view.data)[element]);
  default:
    return static_cast<const float *>(view.data)[element];
  }
}

int64_t groupOf(int64_t j) { return j < 40 ? 0 : j < 85 ? 1 : 2; }
constexpr int64_t kCounts[kDim] = {40, 45, 35};

/// What each group's scores are multiples of, and by how much they are less.
constexpr double kFactor[] = {31.0 / 32, 1, -1}, kLess[] = {3, 1, 0};

/// The two factors of S, exact in the element type.
using Size = std::pair<double, double>;

/// A few of them on the emulator.
std::vector<Size> sizesOf(const std::string &type, bool isGpu) {
  std::vector<Size> sizes;
  auto add = [&](int exponent, double top = 1) {
    sizes.push_back({std::ldexp(1, exponent / 2), std::ldexp(top, exponent - exponent / 2)});
  };
  for (int exponent : {0, 4, 10, 20, 22, 28})
    if (!isGpu || exponent % 8 == 4)
      add(exponent);
  if (type == "f16")
    return sizes;
  for (int exponent : {40, 64, 100, 126})
    if (!isGpu || exponent == 40)
      add(exponent);
  add(127, 1.75);
  if (type == "f64") {
    add(500);
    add(1023, 1.75);
  }
  return sizes;
}

/// Differences are left out where S leaves no bits for them.
double lessOf(const Size &size, int64_t group) { return size.first * size.second <= 0x1p22 ? kLess[group] : 0; }

/// The number of a row in its batch entry says which kind of scores it has.
double dotOf(const Size &size, int64_t row, int64_t group) {
  double sign = row % 2 ? -1 : 1, product = size.first * size.second;
  return row % 4 < 2 ? sign * product - lessOf(size, group) : sign * product * kFactor[group];
}

/// A kernel's operands and what it wrote.
struct Run {
  Form form;
  int64_t batch;
  Buffer q, k, v, zero, sink, out, lse;

  Run(const Form &form, int64_t batch)
      : form(form), batch(batch), q(dtypeOf(form.type), {batch, kHeads, form.queryLen, kDim}),
        k(dtypeOf(form.type), {batch, kKvHeads, kKvLen, kDim}), v(dtypeOf(form.type), {batch, kKvHeads, kKvLen, kDim}),
        zero(dtypeOf(form.wide()), {1}), sink(dtypeOf(form.wide()), {kHeads}),
        out(dtypeOf(form.type), {batch, kHeads, form.queryLen, kDim}),
        lse(dtypeOf(form.wide()), {batch, kHeads, form.queryLen}) {
    zero.set(0, 0);
    for (int64_t h = 0; h < kHeads; ++h)
      sink.set(h, 2);
    for (int64_t row = 0; row < batch * kKvHeads; ++row)
      for (int64_t j = 0; j < kKvLen; ++j)
        for (int64_t g = 0; g < kDim; ++g)
          v.set((row * kKvLen + j) * kDim + g, groupOf(j) == g);
  }

  int64_t rows() const { return kHeads * form.queryLen; }

  void fill(const std::vector<Size> &sizes) {
    for (int64_t b = 0; b < batch; ++b) {
      const auto &[a, c] = sizes[b];
      for (int64_t row = 0; row < rows(); ++row) {
        double sign = row % 2 ? -1 : 1;
        bool isSum = row % 4 < 2;
        const double elements[] = {isSum ? sign * a : 0, isSum ? 1.0 : 0.0, isSum ? 0 : sign * a};
        for (int64_t d = 0; d < kDim; ++d)
          q.set((b * rows() + row) * kDim + d, elements[d]);
      }
      for (int64_t n = 0; n < kKvHeads * kKvLen; ++n) {
        int64_t g = groupOf(n % kKvLen);
        const double elements[] = {c, -lessOf(sizes[b], g), c * kFactor[g]};
        for (int64_t d = 0; d < kDim; ++d)
          k.set((b * kKvHeads * kKvLen + n) * kDim + d, elements[d]);
      }
    }
  }

  void operator()(const std::string &target) {
    auto module = attn::Module::parse(textOf(form, batch), "large-scores.mlir");
    ASSERT_TRUE(module.ok()) << module.error().str();
    attn::CompileOptions options = attn::CompileOptions().tileKv(48).segmentKeys(form.segmentKeys);
    auto kernel = module->compile("f", attn::Target::named(target), options);
    ASSERT_TRUE(kernel.ok()) << kernel.error().str();
    attn::Argument scale = form.isF64() ? attn::Argument(form.scale) : attn::Argument(static_cast<float>(form.scale));
    auto report = kernel->run({q.view(), k.view(), v.view(), scale, zero.view(), sink.view()}, {out.view(), lse.view()},
                              attn::RunOptions().threads(2).leastWork(1));
    ASSERT_TRUE(report.ok()) << report.error().str();
    for (Buffer *buffer : {&q, &k, &v, &out, &lse})
      EXPECT_TRUE(buffer->guardsIntact());
  }
};

/// A row by the formula.
struct Expected {
  double weights[kDim], lse;
};

Expected softmaxOf(const Form &form, const double (&scores)[kDim]) {
  double largest = form.hasSink ? 2 : -kInf, sum = 0;
  for (double score : scores)
    largest = std::max(largest, score);
  Expected row;
  for (int64_t g = 0; g < kDim; ++g)
    sum += row.weights[g] = kCounts[g] * std::exp(scores[g] - largest);
  if (form.hasSink)
    sum += std::exp(2 - largest);
  for (double &weight : row.weights)
    weight /= sum;
  row.lse = largest + std::log(sum);
  return row;
}

/// Where the scale is no power of two a score may be rounded, or not.
Expected expect(const Form &form, const Size &size, int64_t row, bool isRounded) {
  double scores[kDim], scale = form.isF64() ? form.scale : static_cast<float>(form.scale);
  for (int64_t g = 0; g < kDim; ++g) {
    scores[g] = scale * dotOf(size, row, g);
    if (isRounded && !form.isF64())
      scores[g] = static_cast<float>(scores[g]);
  }
  return softmaxOf(form, scores);
}

/// A sum of equal numbers is rounded the same way each time.
double toleranceOf(const std::string &type) {
  static const std::map<std::string, double> tolerances = {
      {"f64", kKvLen * 0x1p-53}, {"f32", kKvLen * 0x1p-24}, {"f16", 1e-3}, {"bf16", 8e-3}};
  return tolerances.at(type);
}

bool isNear(Run &run, int64_t number, const Expected &expected) {
  for (int64_t g = 0; g < kDim; ++g)
    if (!(std::abs(readReal(run.out, number * kDim + g) - expected.weights[g]) <= toleranceOf(run.form.type)))
      return false;
  double unit = run.form.isF64() ? 0x1p-53 : 0x1p-24, size = std::abs(expected.lse);
  return readReal(run.lse, number) == expected.lse ||
         std::abs(readReal(run.lse, number) - expected.lse) <= unit * std::max<double>(kKvLen, 4 * size);
}

std::string titleOf(const Form &form, const std::string &target) {
  return target + ", " + form.type + ", " + std::to_string(form.queryLen) + " queries, scale " +
         std::to_string(form.scale) + (form.isRunTime ? " at run time" : "") + (form.hasRegion ? ", region" : "") +
         (form.hasSink ? ", sink" : "") + (form.segmentKeys ? ", segments" : "");
}

void expectWeights(const Form &form, const std::string &target) {
  SCOPED_TRACE(titleOf(form, target));
  std::vector<Size> sizes = sizesOf(form.type, grid::isGpu(target));
  Run run(form, sizes.size());
  run.fill(sizes);
  run(target);
  for (int64_t b = 0; b < run.batch; ++b)
    for (int64_t row = 0; row < run.rows(); ++row) {
      int64_t number = b * run.rows() + row;
      Expected expected = expect(form, sizes[b], row, false);
      if (isNear(run, number, expected) || isNear(run, number, expect(form, sizes[b], row, true)))
        continue;
      ADD_FAILURE() << "S = " << sizes[b].first * sizes[b].second << ", row " << row << ": expected "
                    << expected.weights[0] << ", " << expected.weights[1] << ", " << expected.weights[2] << ", lse "
                    << expected.lse << ", but got " << readReal(run.out, number * kDim) << ", "
                    << readReal(run.out, number * kDim + 1) << ", " << readReal(run.out, number * kDim + 2) << ", lse "
                    << readReal(run.lse, number);
    }
}

/// Each type in each form, with scales, regions and sinks by turns; then every one of these.
std::vector<Form> forms(bool isGpu) {
  const double scales[] = {1, 0.125, 0.08838834764, -0.5, 0x1p-20};
  std::vector<Form> forms;
  auto add = [&](std::string type, int64_t queryLen, double scale, int variant, int64_t segmentKeys) {
    Form form{std::move(type), queryLen, scale};
    form.isRunTime = variant == 1;
    form.hasRegion = variant == 2;
    form.hasSink = variant == 3;
    form.segmentKeys = segmentKeys;
    forms.push_back(form);
  };
  if (isGpu) {
    for (const char *type : {"f32", "bf16", "f16"})
      add(type, 40, 0.08838834764, 0, 0);
    add("f32", 1, 0.125, 0, 48);
    add("bf16", 1, -0.5, 0, 0);
    add("bf16", 40, 0.125, 2, 0);
    return forms;
  }
  int turn = 0;
  for (const char *type : {"f32", "bf16", "f16", "f64"})
    for (auto [queryLen, segmentKeys] : {std::pair<int64_t, int64_t>(1, 0), {1, 48}, {4, 0}, {kManyQueries, 0}}) {
      add(type, queryLen, scales[turn % 5], turn % 3 ? 0 : 1 + turn % 4 % 3, segmentKeys);
      ++turn;
    }
  for (double scale : scales)
    add("f32", kManyQueries, scale, 0, 0);
  for (int variant : {1, 2, 3})
    add("f32", kManyQueries, 0.125, variant, 0);
  return forms;
}

void expectWeightsOf(const std::string &target) {
  for (const Form &form : forms(grid::isGpu(target)))
    expectWeights(form, target);
}

} // namespace

TEST(LargeScores, WeightsAreThoseOfTheFormula) { expectWeightsOf(grid::testTarget()); }
TEST(LargeScores, EmulatedSm80) { expectWeightsOf("emulator:sm_80"); }
TEST(LargeScores, EmulatedSm90a) { expectWeightsOf("emulator:sm_90a"); }

/// Uniform weights, where all elements of queries, and of keys, are one number: a scale that would overflow or
/// underflow a query, and the other way round.
static void expectUniform(const std::string &target, double scale, bool isRunTime,
                          std::initializer_list<std::pair<double, double>> queriesAndKeys) {
  Form form{"f32", 5, scale};
  form.isRunTime = isRunTime;
  SCOPED_TRACE(titleOf(form, target));
  Run run(form, queriesAndKeys.size());
  for (int64_t n = 0; n < run.q.count(); ++n)
    run.q.set(n, queriesAndKeys.begin()[n * run.batch / run.q.count()].first);
  for (int64_t n = 0; n < run.k.count(); ++n)
    run.k.set(n, queriesAndKeys.begin()[n * run.batch / run.k.count()].second);
  run(target);
  for (int64_t number = 0; number < run.batch * run.rows(); ++number) {
    const auto &[query, key] = queriesAndKeys.begin()[number / run.rows()];
    double score = double(float(scale)) * (kDim * double(float(query)) * double(float(key)));
    EXPECT_NEAR(readReal(run.out, number * kDim), double(kCounts[0]) / kKvLen, 1e-5);
    EXPECT_NEAR(readReal(run.lse, number), score + std::log(kKvLen), 1e-5 * std::max(1.0, std::abs(score)));
  }
}

TEST(LargeScores, ScaleAndQueryMeetInTheScore) {
  for (const std::string &target : {grid::testTarget(), std::string("emulator:sm_80")})
    for (bool isRunTime : {false, true}) {
      // Numbers below 2^-115 have the accuracy of tf32 on GPUs: powers of 2 are exact.
      expectUniform(target, 3e38, isRunTime, {{0, 5}, {0x1p-125, 1}, {-0x1p-120, 0.5}});
      if (grid::isGpu(target))
        continue;
      expectUniform(target, 1, isRunTime, {{3e38, 2e-38}, {2e-38, 3e38}});
      expectUniform(target, 0, isRunTime, {{3e38, 0.25}, {-1, 1}});
      expectUniform(target, 0.125, isRunTime, {{3e-38, 2e38}, {9 * 0x1p-149, 3e38}});
    }
}

/// What infinite elements of a type do in a kernel of 70 queries, or of one.
static void expectInfinities(const std::string &target, const std::string &type, int64_t queryLen) {
  Form form{type, queryLen, 0.125};
  SCOPED_TRACE(titleOf(form, target));
  // Entry 0: keys of group 0 are -inf, and so dropped. 1: queries are infinite, all keys are dropped, or make NaN.
  // 2: a value is infinite. 3: values of both signs are.
  Run run(form, 4);
  auto place = [&](int64_t b, int64_t row, int64_t rows) { return (b * rows + row) * kDim; };
  for (int64_t b = 0; b < run.batch; ++b)
    for (int64_t row = 0; row < run.rows(); ++row)
      for (int64_t d = 0; d < kDim; ++d)
        run.q.set(place(b, row, run.rows()) + d, b == 1 && d == 0 ? (row % 2 ? -kInf : kInf) : 1);
  for (int64_t b = 0; b < run.batch; ++b)
    for (int64_t n = 0; n < kKvHeads * kKvLen; ++n) {
      int64_t j = n % kKvLen, at = place(b, n, kKvHeads * kKvLen);
      const double elements[] = {-1, 2, b == 0 && groupOf(j) == 0 ? -kInf : -kLess[groupOf(j)]};
      for (int64_t d = 0; d < kDim; ++d)
        run.k.set(at + d, elements[d]);
      if (b >= 2 && j == 50)
        run.v.set(at + 1, kInf);
      if (b == 3 && j == 110)
        run.v.set(at + 1, -kInf);
    }
  run(target);
  for (int64_t row = 0; row < run.rows(); ++row) {
    double dropped[] = {-kInf, 0, 0.125}, kept[] = {0.125 * (1 - 3), 0, 0.125};
    dropped[1] = kept[1] = 0.125 * (1 - 1);
    EXPECT_TRUE(isNear(run, row, softmaxOf(form, dropped)))
        << readReal(run.out, row * kDim) << " " << readReal(run.lse, row);
    Expected all = softmaxOf(form, kept);
    for (int64_t b : {1, 2, 3}) {
      int64_t number = b * run.rows() + row;
      for (int64_t e = 0; e < kDim; ++e) {
        double got = readReal(run.out, number * kDim + e);
        double wanted = b == 1 ? (row % 2 ? kNaN : 0) : e != 1 ? all.weights[e] : b == 2 ? kInf : kNaN;
        EXPECT_TRUE(std::isnan(wanted) ? std::isnan(got) : got == wanted || std::abs(got - wanted) <= toleranceOf(type))
            << "entry " << b << ", row " << row << ", column " << e << ": expected " << wanted << ", got " << got;
      }
    }
  }
}

TEST(LargeScores, InfiniteElements) {
  for (const char *type : {"f32", "bf16", "f64"})
    for (int64_t queryLen : {int64_t(1), kManyQueries})
      expectInfinities(grid::testTarget(), type, queryLen);
  expectInfinities("emulator:sm_80", "f32", 1);
  expectInfinities("emulator:sm_90a", "f32", 40);
  expectInfinities("emulator:sm_90a", "bf16", 40);
}
