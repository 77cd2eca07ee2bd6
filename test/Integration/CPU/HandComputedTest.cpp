//===- HandComputedTest.cpp - rows where a hand calculation gives the answer ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/attn.h"
#include "test/Unit/AttentionText.h"
#include "test/Unit/SuiteTarget.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace {

const float kInf = std::numeric_limits<float>::infinity();
const float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Sizes {
  int64_t batch = 1, heads = 1, kvHeads = 1, queryLen = 1, kvLen = 1, headDim = 1, valueDim = 1;
};

/// dynamicAttention with lse and scale 1.
std::string program(const std::string &clauses, const std::string &arguments = "") {
  return dynamicAttention({clauses, arguments, "1.0", /*hasLse=*/true});
}

attn::Kernel compile(const std::string &text, const attn::CompileOptions &options = attn::CompileOptions()) {
  auto module = attn::Module::parse(text, "hand.mlir");
  if (!module.ok())
    throw std::runtime_error(module.error().str() + "\n" + text);
  auto kernel = module->compile("f", attn::Target::named(suiteCpu()), options);
  if (!kernel.ok())
    throw std::runtime_error(kernel.error().str() + "\n" + text);
  return std::move(kernel).value();
}

/// Inputs (0 until set) and outputs (NaN until written) of one run.
struct Trial {
  explicit Trial(const Sizes &n)
      : n(n), q(n.batch * n.heads * n.queryLen * n.headDim), k(n.batch * n.kvHeads * n.kvLen * n.headDim),
        v(n.batch * n.kvHeads * n.kvLen * n.valueDim), out(n.batch * n.heads * n.queryLen * n.valueDim, kNaN),
        lse(n.batch * n.heads * n.queryLen, kNaN) {}

  void operator()(const attn::Kernel &kernel, std::vector<attn::Argument> extra = {}, int64_t threads = 1) {
    std::vector<attn::Argument> inputs = {attn::view(q, {n.batch, n.heads, n.queryLen, n.headDim}),
                                          attn::view(k, {n.batch, n.kvHeads, n.kvLen, n.headDim}),
                                          attn::view(v, {n.batch, n.kvHeads, n.kvLen, n.valueDim})};
    inputs.insert(inputs.end(), extra.begin(), extra.end());
    auto report = kernel.run(
        inputs,
        {attn::view(out, {n.batch, n.heads, n.queryLen, n.valueDim}), attn::view(lse, {n.batch, n.heads, n.queryLen})},
        attn::RunOptions().threads(threads).leastWork(1));
    ASSERT_TRUE(report.ok()) << report.error().str();
  }

  float at(int64_t b, int64_t h, int64_t i, int64_t e) const {
    return out[((b * n.heads + h) * n.queryLen + i) * n.valueDim + e];
  }

  Sizes n;
  std::vector<float> q, k, v, out, lse;
};

void fill(std::vector<float> &values, float value) { std::fill(values.begin(), values.end(), value); }

/// n / 64 in [-1, 1), the same on every machine.
void fillVaried(std::vector<float> &values, uint32_t seed) {
  for (size_t k = 0; k < values.size(); ++k) {
    uint32_t x = (static_cast<uint32_t>(k) + 1) * 2654435761u + seed * 40503u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    values[k] = (static_cast<int>(x % 128) - 64) / 64.0f;
  }
}

/// 4 units in the last place of 1.
const float kFourUlp = 4 * std::numeric_limits<float>::epsilon();

} // namespace

TEST(HandComputed, FullyMaskedRowIsZeroAnywhereInItsTile) {
  attn::Kernel kernel = compile(program("where(%b, %h, %i, %j) {\n"
                                        "  %dead = tensor.extract %d[%i] : tensor<?xi1>\n"
                                        "  %true = arith.constant true\n  %keep = arith.xori %dead, %true : i1\n"
                                        "  attn.yield %keep : i1 }",
                                        "%d: tensor<?xi1>"),
                                attn::CompileOptions().tileQ(16).tileKv(16));
  Trial run({1, 1, 1, 48, 33, 4, 3});
  fillVaried(run.q, 1);
  fillVaried(run.k, 2);
  fill(run.v, 1);
  std::vector<unsigned char> dead(48, 0);
  for (int64_t row : {0, 7, 15, 16, 31, 40, 47})
    dead[row] = 1;
  attn::TensorView view;
  view.data = dead.data();
  view.dtype = attn::DType::I1;
  view.sizes = {48};
  view.strides = {1};
  run(kernel, {view});
  for (int64_t i = 0; i < 48; ++i) {
    for (int64_t e = 0; e < 3; ++e) {
      if (dead[i])
        EXPECT_EQ(run.at(0, 0, i, e), 0.0f) << "row " << i;
      else
        EXPECT_NEAR(run.at(0, 0, i, e), 1.0f, kFourUlp) << "row " << i;
    }
    if (dead[i])
      EXPECT_EQ(run.lse[i], -kInf) << "row " << i;
    else
      EXPECT_TRUE(std::isfinite(run.lse[i])) << "row " << i;
  }
}

TEST(HandComputed, WindowOfOnesIsConstantForEveryTile) {
  for (int64_t tileQ : {16, 32, 64, 128})
    for (int64_t tileKv : {16, 32, 64, 128}) {
      attn::Kernel kernel = compile(program("masks(window<left = 10, right = 0, top_left>)"),
                                    attn::CompileOptions().tileQ(tileQ).tileKv(tileKv));
      Trial run({1, 1, 1, 640, 640, 8, 2});
      fill(run.q, 1);
      fill(run.k, 1);
      fill(run.v, 1);
      run(kernel);
      for (float value : run.out)
        ASSERT_EQ(value, 1.0f) << tileQ << " x " << tileKv;
    }
}

/// With equal scores and V = identity the output is the weights: 1 / number of kept keys.
static void expectDiagonal(const char *diagonal, int64_t queryLen, int64_t kvLen, int64_t offset) {
  attn::Kernel kernel = compile(program(std::string("masks(causal<") + diagonal + ">)"));
  Trial run({1, 1, 1, queryLen, kvLen, 2, kvLen});
  for (int64_t j = 0; j < kvLen; ++j)
    run.v[j * kvLen + j] = 1;
  run(kernel);
  for (int64_t i = 0; i < queryLen; ++i) {
    int64_t kept = std::max<int64_t>(0, std::min(kvLen, i + offset + 1));
    for (int64_t j = 0; j < kvLen; ++j)
      EXPECT_NEAR(run.at(0, 0, i, j), j < kept ? 1.0f / kept : 0.0f, j < kept ? kFourUlp : 0)
          << diagonal << " " << i << " " << j;
  }
}

TEST(HandComputed, IdentityShowsBothDiagonals) {
  expectDiagonal("top_left", 2, 5, 0);
  expectDiagonal("bottom_right", 2, 5, 3);
  expectDiagonal("top_left", 5, 2, 0);
  expectDiagonal("bottom_right", 5, 2, -3);
}

TEST(HandComputed, SoftcapWithoutMaskKeepsOnes) {
  attn::Kernel kernel = compile(program("scores(softcap<1.0>)"));
  Trial run({1, 2, 1, 3, 65, 16, 2});
  fillVaried(run.q, 3);
  fillVaried(run.k, 4);
  fill(run.v, 1);
  run(kernel);
  for (float value : run.out)
    EXPECT_NEAR(value, 1.0f, kFourUlp);
}

TEST(HandComputed, VeryNegativeScoresAreOrdinary) {
  attn::Kernel kernel = compile(program(""));
  for (float score : {-120.0f, -2.45e5f}) {
    Trial run({1, 1, 1, 2, 33, 1, 1});
    fill(run.q, 1);
    fill(run.k, score);
    fill(run.v, 1);
    run(kernel);
    for (float value : run.out)
      EXPECT_NEAR(value, 1.0f, kFourUlp) << score;
    EXPECT_NEAR(run.lse[0], score + std::log(33.0), std::abs(score) * 1e-6);
  }
}

TEST(HandComputed, TheLowestFiniteScoresGiveTheMean) {
  for (const char *score : {"-1.0e30", "-2.38e38", "0xFF7FFFFF"}) {
    attn::Kernel kernel = compile(program(std::string("score(%x, %b, %h, %i, %j) {\n  %s = arith.constant ") + score +
                                          " : f32\n  attn.yield %s : f32 }"));
    Trial run({1, 1, 1, 3, 40, 4, 1});
    double mean = 0;
    for (int64_t j = 0; j < 40; ++j)
      mean += (run.v[j] = static_cast<float>(j % 8)) / 40.0;
    run(kernel);
    for (float value : run.out)
      EXPECT_NEAR(value, mean, 4 * kFourUlp) << score;
  }
}

TEST(HandComputed, NaNBehindTheLengthsReachesNothing) {
  attn::Kernel kernel = compile(program("kv_lengths(%n : tensor<?xi32>)", "%n: tensor<?xi32>"));
  Trial run({4, 1, 1, 5, 70, 3, 2});
  std::vector<int32_t> lengths = {0, 1, 33, 70};
  fillVaried(run.q, 5);
  for (int64_t b = 0; b < 4; ++b)
    for (int64_t j = 0; j < 70; ++j) {
      for (int64_t d = 0; d < 3; ++d)
        run.k[(b * 70 + j) * 3 + d] = j < lengths[b] ? (j % 5) / 4.0f : kNaN;
      for (int64_t e = 0; e < 2; ++e)
        run.v[(b * 70 + j) * 2 + e] = j < lengths[b] ? 1 : kNaN;
    }
  run(kernel, {attn::view(lengths, {4})});
  for (int64_t b = 0; b < 4; ++b)
    for (int64_t i = 0; i < 5; ++i)
      for (int64_t e = 0; e < 2; ++e)
        EXPECT_NEAR(run.at(b, 0, i, e), lengths[b] ? 1.0f : 0.0f, lengths[b] ? kFourUlp : 0) << b;
  EXPECT_EQ(run.lse[0], -kInf);
}

TEST(HandComputed, LengthsOutOfRangeAreRefused) {
  attn::Kernel kernel = compile(program("kv_lengths(%n : tensor<?xi32>)", "%n: tensor<?xi32>"));
  Trial run({2, 1, 1, 1, 4, 1, 1});
  for (int32_t bad : {-1, 5}) {
    std::vector<int32_t> lengths = {4, bad};
    auto report = kernel.run({attn::view(run.q, {2, 1, 1, 1}), attn::view(run.k, {2, 1, 4, 1}),
                              attn::view(run.v, {2, 1, 4, 1}), attn::view(lengths, {2})},
                             {attn::view(run.out, {2, 1, 1, 1}), attn::view(run.lse, {2, 1, 1})});
    ASSERT_FALSE(report.ok());
    EXPECT_NE(report.error().message.find("kv_lengths in 0 to kvLen = 4, but got " + std::to_string(bad)),
              std::string::npos)
        << report.error().message;
  }
}

TEST(HandComputed, ANaNScoreReachesItsOwnRowAlone) {
  for (float bad : {kNaN, kInf}) {
    attn::Kernel kernel = compile(program("score(%x, %b, %h, %i, %j) {\n"
                                          "  %t = tensor.extract %s[%i, %j] : tensor<?x?xf32>\n"
                                          "  attn.yield %t : f32 }",
                                          "%s: tensor<?x?xf32>"));
    Trial run({1, 1, 1, 20, 50, 1, 2});
    fill(run.v, 1);
    std::vector<float> scores(20 * 50, 0);
    for (int64_t row : {0, 13, 19})
      scores[row * 50 + (row * 7) % 50] = bad;
    run(kernel, {attn::view(scores, {20, 50})});
    for (int64_t i = 0; i < 20; ++i) {
      bool isBad = i == 0 || i == 13 || i == 19;
      EXPECT_EQ(std::isnan(run.at(0, 0, i, 0)), isBad) << i;
      EXPECT_EQ(std::isnan(run.lse[i]), isBad) << i;
      if (!isBad) {
        EXPECT_NEAR(run.at(0, 0, i, 1), 1.0f, kFourUlp) << i;
      }
    }
  }
}

/// Whatever bits the NaN of a key has.
TEST(HandComputed, ANaNKeyOfAnyPayloadReachesEveryRow) {
  attn::Kernel kernel = compile(program(""));
  for (uint32_t bits : {0x7fc00000u, 0x7fc00001u, 0xffffffffu, 0x7f800001u}) {
    Trial run({1, 1, 1, 3, 20, 2, 1});
    fill(run.q, 1);
    std::memcpy(&run.k[2 * 7], &bits, sizeof(bits));
    run(kernel);
    for (int64_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(std::isnan(run.at(0, 0, i, 0))) << std::hex << bits;
      EXPECT_TRUE(std::isnan(run.lse[i])) << std::hex << bits;
    }
  }
}

/// A mask is a select: it drops NaN and +inf scores, too, and no score function revives a dropped key.
TEST(HandComputed, AMaskWinsOverTheScore) {
  attn::Kernel kernel = compile(program("score(%x, %b, %h, %i, %j) {\n"
                                        "  %t = tensor.extract %s[%j] : tensor<?xf32>\n  attn.yield %t : f32 }\n"
                                        "where(%b, %h, %i, %j) {\n  %n = arith.constant 3 : index\n"
                                        "  %keep = arith.cmpi slt, %j, %n : index\n  attn.yield %keep : i1 }",
                                        "%s: tensor<?xf32>"));
  Trial run({1, 1, 1, 2, 6, 1, 1});
  run.v = {1, 1, 1, 9, 9, 9};
  std::vector<float> scores = {0, 0, 0, kNaN, kInf, 5};
  run(kernel, {attn::view(scores, {6})});
  for (float value : run.out)
    EXPECT_NEAR(value, 1.0f, kFourUlp);
}

TEST(HandComputed, GroupedHeadsMapByBlocks) {
  attn::Kernel kernel = compile(program(""));
  for (auto [heads, kvHeads] : {std::pair<int64_t, int64_t>(4, 2), std::pair<int64_t, int64_t>(28, 4)}) {
    Trial run({2, heads, kvHeads, 3, 5, 2, 1});
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t h = 0; h < kvHeads; ++h)
        for (int64_t j = 0; j < 5; ++j)
          run.v[(b * kvHeads + h) * 5 + j] = static_cast<float>(10 * b + h);
    run(kernel);
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t h = 0; h < heads; ++h)
        EXPECT_NEAR(run.at(b, h, 1, 0), 10.0f * b + h / (heads / kvHeads), 20 * kFourUlp) << b << " " << h;
  }
  Trial wrong({1, 3, 2, 1, 1, 1, 1});
  auto report = kernel.run(
      {attn::view(wrong.q, {1, 3, 1, 1}), attn::view(wrong.k, {1, 2, 1, 1}), attn::view(wrong.v, {1, 2, 1, 1})},
      {attn::view(wrong.out, {1, 3, 1, 1}), attn::view(wrong.lse, {1, 3, 1})});
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().message.find("kvHeads to divide heads, but got 2 and 3"), std::string::npos)
      << report.error().message;
}

/// A sink of s beside one key of score 0 leaves the key 1 / (1 + e^s); -inf is none; alone it gives 0.
TEST(HandComputed, SinksJoinTheDenominator) {
  attn::Kernel kernel = compile(program("sink(%s : tensor<?xf32>)", "%s: tensor<?xf32>"));
  Trial run({1, 3, 3, 1, 1, 1, 1});
  fill(run.v, 1);
  std::vector<float> sinks = {0, 1, -kInf};
  run(kernel, {attn::view(sinks, {3})});
  for (int64_t h = 0; h < 3; ++h) {
    EXPECT_NEAR(run.at(0, h, 0, 0), 1 / (1 + std::exp(sinks[h])), kFourUlp) << h;
    EXPECT_NEAR(run.lse[h], std::log1p(std::exp(sinks[h])), kFourUlp) << h;
  }
  Trial empty({1, 3, 3, 1, 0, 1, 1});
  empty(kernel, {attn::view(sinks, {3})});
  for (int64_t h = 0; h < 3; ++h) {
    EXPECT_EQ(empty.at(0, h, 0, 0), 0.0f) << h;
    EXPECT_EQ(empty.lse[h], sinks[h]) << h;
  }
}

/// Keys at distance t in front of the query's position weigh e^(k - slope t): in decode the far ones weigh nothing, and
/// those beside the query have the small numbers. Counted from the first key instead, scores would be near slope *
/// 131071 here, with 2^-8 between neighbours: the weights would be 2e-3 off, lse large, and a sink beside them nothing.
TEST(HandComputed, AlibiCountsFromItsDiagonal) {
  attn::Kernel kernel = compile(program("scores(alibi<bottom_right>(%a : tensor<?xf32>)) sink(%s : tensor<?xf32>)",
                                        "%a: tensor<?xf32>, %s: tensor<?xf32>"));
  std::vector<float> slopes = {0.5, 0.0625}, sinks = {-kInf, 1};
  for (int64_t queryLen : {1, 3, 40}) {
    const int64_t kvLen = 131072;
    Trial run({1, 2, 1, queryLen, kvLen, 1, 2});
    fill(run.q, 1);
    fillVaried(run.k, 5);
    fillVaried(run.v, 7);
    run(kernel, {attn::view(slopes, {2}), attn::view(sinks, {2})}, /*threads=*/2);
    for (int64_t h = 0; h < 2; ++h)
      for (int64_t i : {int64_t(0), queryLen - 1}) {
        double sum = std::exp(static_cast<double>(sinks[h])), values[2] = {0, 0};
        for (int64_t j = 0; j < kvLen; ++j) {
          // Of queryLen = 3 the first query sees two keys ahead of it.
          double weight = std::exp(run.k[j] + slopes[h] * static_cast<double>(j - (i + kvLen - queryLen)));
          sum += weight;
          for (int64_t e = 0; e < 2; ++e)
            values[e] += weight * run.v[j * 2 + e];
        }
        EXPECT_NEAR(run.lse[h * queryLen + i], std::log(sum), 4 * kFourUlp) << h << " " << i;
        for (int64_t e = 0; e < 2; ++e)
          EXPECT_NEAR(run.at(0, h, i, e), values[e] / sum, kFourUlp) << h << " " << i << " " << e;
      }
  }
}

/// The formula, in double.
static double expected(const Trial &run, int64_t b, int64_t h, int64_t i, int64_t e) {
  const Sizes &n = run.n;
  int64_t hk = h / (n.heads / n.kvHeads);
  double sum = 0, value = 0;
  for (int64_t j = 0; j < n.kvLen; ++j) {
    double score = 0;
    for (int64_t d = 0; d < n.headDim; ++d)
      score += static_cast<double>(run.q[((b * n.heads + h) * n.queryLen + i) * n.headDim + d]) *
               run.k[((b * n.kvHeads + hk) * n.kvLen + j) * n.headDim + d];
    double weight = std::exp(score - 33); // |score| <= headDim: no overflow either way
    sum += weight;
    value += weight * run.v[((b * n.kvHeads + hk) * n.kvLen + j) * n.valueDim + e];
  }
  return sum == 0 ? 0 : value / sum;
}

TEST(HandComputed, OneKernelServesEverySize) {
  attn::Kernel kernel = compile(program(""));
  const Sizes all[] = {{1, 1, 1, 1, 1, 1, 1},     {1, 2, 1, 3, 2, 5, 4},    {3, 4, 2, 65, 64, 33, 32},
                       {3, 2, 2, 65, 65, 33, 33}, {2, 2, 2, 0, 4, 3, 3},    {2, 2, 1, 4, 0, 3, 3},
                       {0, 2, 1, 4, 4, 3, 3},     {2, 0, 0, 4, 4, 3, 3},    {2, 2, 1, 4, 4, 0, 3},
                       {2, 2, 1, 4, 4, 3, 0},     {1, 1, 1, 17, 127, 8, 9}, {1, 1, 1, 1, 1, 1, 1}};
  for (const Sizes &n : all) {
    Trial run(n);
    fillVaried(run.q, 6);
    fillVaried(run.k, 7);
    fillVaried(run.v, 8);
    run(kernel);
    for (int64_t b = 0; b < n.batch; ++b)
      for (int64_t h = 0; h < n.heads; ++h)
        for (int64_t i = 0; i < n.queryLen; ++i)
          for (int64_t e = 0; e < n.valueDim; ++e)
            ASSERT_NEAR(run.at(b, h, i, e), expected(run, b, h, i, e), 4e-6)
                << n.batch << " " << n.heads << " " << n.queryLen << " " << n.kvLen << " " << n.headDim;
  }
}

TEST(HandComputed, BitsDoNotDependOnThreadsOrNeighbours) {
  attn::Kernel kernel = compile(program("masks(causal<bottom_right>)"));
  Trial one({2, 4, 2, 70, 90, 24, 16});
  fillVaried(one.q, 9);
  fillVaried(one.k, 10);
  fillVaried(one.v, 11);
  one(kernel, {}, 1);
  for (int64_t threads = 2; threads <= 8; ++threads) {
    Trial more = one;
    fill(more.out, kNaN);
    more(kernel, {}, threads);
    EXPECT_EQ(std::memcmp(more.out.data(), one.out.data(), one.out.size() * 4), 0) << threads;
    EXPECT_EQ(std::memcmp(more.lse.data(), one.lse.data(), one.lse.size() * 4), 0) << threads;
  }
  // Batch 1, head 3 (kv head 1) alone.
  Trial alone({1, 1, 1, 70, 90, 24, 16});
  std::copy_n(one.q.begin() + (1 * 4 + 3) * 70 * 24, 70 * 24, alone.q.begin());
  std::copy_n(one.k.begin() + (1 * 2 + 1) * 90 * 24, 90 * 24, alone.k.begin());
  std::copy_n(one.v.begin() + (1 * 2 + 1) * 90 * 16, 90 * 16, alone.v.begin());
  alone(kernel);
  EXPECT_EQ(std::memcmp(alone.out.data(), one.out.data() + (1 * 4 + 3) * 70 * 16, alone.out.size() * 4), 0);
}
