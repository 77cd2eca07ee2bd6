//===- SkippedTilesTest.cpp - the kv tiles that a mask leaves, counted ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime counts the kv tiles that a run computes; a loop over all (i, j) counts the tiles with a kept key. And
// what is skipped changes no bit.
//
//===----------------------------------------------------------------------===//

#include "attn/attn.h"
#include "test/Unit/AttentionText.h"
#include "test/Unit/SuiteTarget.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <functional>

namespace {

constexpr int64_t kTileQ = 32, kTileKv = 24;

struct Mask {
  const char *name;
  /// Clauses of the op; %ids is tensor<?xi32>, %p is tensor<?xi32>.
  const char *clauses;
  std::function<bool(int64_t i, int64_t j, int64_t queryLen, int64_t kvLen)> keep;
  /// Whether the weights are asked for.
  bool hasWeights = false;
};

int64_t documentOf(int64_t position) { return position / 29; }
constexpr int64_t kPrefix = 31;

const char *const kDocument = "where(%b, %h, %i, %j) {\n"
                              "  %x = tensor.extract %ids[%i] : tensor<?xi32>\n"
                              "  %y = tensor.extract %ids[%j] : tensor<?xi32>\n"
                              "  %keep = arith.cmpi eq, %x, %y : i32\n  attn.yield %keep : i1 }";

const char *const kDocumentAndCausal = "masks(causal<top_left>) where(%b, %h, %i, %j) {\n"
                                       "  %x = tensor.extract %ids[%i] : tensor<?xi32>\n"
                                       "  %y = tensor.extract %ids[%j] : tensor<?xi32>\n"
                                       "  %keep = arith.cmpi eq, %x, %y : i32\n  attn.yield %keep : i1 }";
/// Where there are as many ids as queries, and as keys.
const char *const kDocumentCausal = "masks(document_causal<top_left>(%ids : tensor<?xi32>, %ids : tensor<?xi32>))";

std::vector<Mask> masks() {
  return {
      {"causal", "masks(causal<top_left>)", [](int64_t i, int64_t j, int64_t, int64_t) { return j <= i; }},
      {"bottom_right", "masks(causal<bottom_right>)",
       [](int64_t i, int64_t j, int64_t n, int64_t m) { return j <= i + m - n; }, /*hasWeights=*/true},
      {"window", "masks(window<left = 20, right = 5, bottom_right>)",
       [](int64_t i, int64_t j, int64_t n, int64_t m) { return j >= i + m - n - 20 && j <= i + m - n + 5; }},
      {"prefix", "masks(prefix<top_left>(%p : tensor<?xi32>))",
       [](int64_t i, int64_t j, int64_t, int64_t) { return j <= i || j < kPrefix; }},
      {"lengths", "kv_lengths(%p : tensor<?xi32>)", [](int64_t, int64_t j, int64_t, int64_t) { return j < kPrefix; },
       /*hasWeights=*/true},
      {"document", kDocument, [](int64_t i, int64_t j, int64_t, int64_t) { return documentOf(i) == documentOf(j); },
       /*hasWeights=*/true},
      {"document_and_causal", kDocumentAndCausal,
       [](int64_t i, int64_t j, int64_t, int64_t) { return documentOf(i) == documentOf(j) && j <= i; },
       /*hasWeights=*/true},
      {"global",
       "where(%b, %h, %i, %j) {\n  %c4 = arith.constant 4 : index\n  %g = arith.cmpi slt, %j, %c4 : index\n"
       "  %d = arith.subi %i, %j : index\n  %c9 = arith.constant 9 : index\n  %w = arith.cmpi sle, %d, %c9 : index\n"
       "  %a = arith.cmpi sle, %j, %i : index\n  %u = arith.andi %w, %a : i1\n  %keep = arith.ori %g, %u : i1\n"
       "  attn.yield %keep : i1 }",
       [](int64_t i, int64_t j, int64_t, int64_t) { return j < 4 || (j <= i && i - j <= 9); }},
      {"chunked",
       "where(%b, %h, %i, %j) {\n  %c = arith.constant 40 : index\n  %x = arith.divui %i, %c : index\n"
       "  %y = arith.divui %j, %c : index\n  %e = arith.cmpi eq, %x, %y : index\n"
       "  %a = arith.cmpi sle, %j, %i : index\n  %keep = arith.andi %e, %a : i1\n  attn.yield %keep : i1 }",
       [](int64_t i, int64_t j, int64_t, int64_t) { return i / 40 == j / 40 && j <= i; }},
  };
}

/// A function of dynamic sizes with results out and weights, or out alone.
std::string program(const char *clauses, bool hasWeights) {
  AttentionText text{clauses, "%ids: tensor<?xi32>, %p: tensor<?xi32>", "0.5"};
  text.hasWeights = hasWeights;
  return dynamicAttention(text);
}

struct Outcome {
  std::vector<float> out, weights;
  int64_t kvTiles = 0;
};

constexpr int64_t kBatch = 2, kHeads = 2;

/// Documents of 29 positions, for all queries and keys.
std::vector<int32_t> documents(int64_t queryLen, int64_t kvLen) {
  std::vector<int32_t> ids(std::max<int64_t>({queryLen, kvLen, 1}));
  for (size_t n = 0; n < ids.size(); ++n)
    ids[n] = documentOf(n);
  return ids;
}

Outcome run(const attn::Kernel &kernel, int64_t queryLen, int64_t kvLen, std::vector<int32_t> ids) {
  const int64_t size = 4;
  std::vector<float> q(kBatch * kHeads * queryLen * size), k(kBatch * kHeads * kvLen * size), v(k.size());
  for (size_t n = 0; n < q.size(); ++n)
    q[n] = static_cast<float>((n * 37) % 17) / 8 - 1;
  for (size_t n = 0; n < k.size(); ++n) {
    k[n] = static_cast<float>((n * 53) % 19) / 9 - 1;
    v[n] = static_cast<float>((n * 29) % 23) / 11 - 1;
  }
  std::vector<int32_t> prefix(kBatch, std::min(kPrefix, kvLen));
  Outcome outcome;
  outcome.out.resize(q.size());
  std::vector<attn::MutableTensorView> outputs{attn::view(outcome.out, {kBatch, kHeads, queryLen, size})};
  if (kernel.signature().results.size() > 1) {
    // What is not written stays NaN.
    outcome.weights.resize(kBatch * kHeads * queryLen * kvLen, std::nanf(""));
    outputs.push_back(attn::view(outcome.weights, {kBatch, kHeads, queryLen, kvLen}));
  }
  static const attn::RunOptions options = attn::RunOptions().threads(2).leastWork(1);
  auto report = kernel.run({attn::view(q, {kBatch, kHeads, queryLen, size}),
                            attn::view(k, {kBatch, kHeads, kvLen, size}), attn::view(v, {kBatch, kHeads, kvLen, size}),
                            attn::view(ids, {static_cast<int64_t>(ids.size())}), attn::view(prefix, {kBatch})},
                           outputs, options);
  EXPECT_TRUE(report.ok()) << report.error().str();
  if (report.ok())
    outcome.kvTiles = report->kvTiles;
  return outcome;
}

/// Whether the score of query i and key j is kept.
using Keep = std::function<bool(int64_t i, int64_t j)>;

/// Tiles of the grid with a kept key, for all batch entries and heads.
int64_t countByHand(const Keep &keep, int64_t queryLen, int64_t kvLen) {
  int64_t tiles = 0;
  for (int64_t i0 = 0; i0 < queryLen; i0 += kTileQ)
    for (int64_t j0 = 0; j0 < kvLen; j0 += kTileKv) {
      bool any = false;
      for (int64_t i = i0; i < std::min(i0 + kTileQ, queryLen); ++i)
        for (int64_t j = j0; j < std::min(j0 + kTileKv, kvLen); ++j)
          any |= keep(i, j);
      tiles += any;
    }
  return kBatch * kHeads * tiles;
}

/// Dropped weights are 0, kept ones above, and those of a row with a kept key add up to 1.
void checkWeights(const std::vector<float> &weights, const Keep &keep, int64_t queryLen, int64_t kvLen) {
  for (int64_t row = 0; row < kBatch * kHeads * queryLen; ++row) {
    double sum = 0;
    bool any = false;
    for (int64_t j = 0; j < kvLen; ++j) {
      float weight = weights[row * kvLen + j];
      bool kept = keep(row % queryLen, j);
      ASSERT_TRUE(kept ? weight > 0 : weight == 0)
          << "weight " << weight << " of query " << row % queryLen << ", key " << j;
      sum += weight;
      any |= kept;
    }
    ASSERT_NEAR(sum, any ? 1 : 0, 1e-5) << "query " << row % queryLen;
  }
}

bool isSameBits(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

class SkippedTiles : public testing::TestWithParam<Mask> {};

} // namespace

TEST_P(SkippedTiles, AreTheEmptyOnesAndChangeNoBit) {
  const Mask &mask = GetParam();
  auto module = attn::Module::parse(program(mask.clauses, mask.hasWeights), mask.name);
  ASSERT_TRUE(module.ok()) << module.error().str();
  auto options = attn::CompileOptions().tileQ(kTileQ).tileKv(kTileKv).countKvTiles(true);
  auto skipping = module->compile("f", attn::Target::named(suiteCpu()), options);
  auto computing = module->compile("f", attn::Target::named(suiteCpu()), options.skipTiles(false));
  ASSERT_TRUE(skipping.ok()) << skipping.error().str();
  ASSERT_TRUE(computing.ok()) << computing.error().str();
  const std::pair<int64_t, int64_t> sizes[] = {{1, 1},    {1, 100},   {17, 17},   {64, 96}, {65, 97}, {100, 40},
                                               {40, 100}, {128, 128}, {131, 250}, {7, 0},   {0, 7}};
  for (auto [queryLen, kvLen] : sizes) {
    SCOPED_TRACE(std::to_string(queryLen) + " x " + std::to_string(kvLen));
    std::vector<int32_t> ids = documents(queryLen, kvLen);
    Outcome fast = run(*skipping, queryLen, kvLen, ids), slow = run(*computing, queryLen, kvLen, ids);
    auto keep = [&, n = queryLen, m = kvLen](int64_t i, int64_t j) { return mask.keep(i, j, n, m); };
    EXPECT_EQ(fast.kvTiles, countByHand(keep, queryLen, kvLen));
    EXPECT_GE(slow.kvTiles, fast.kvTiles);
    EXPECT_TRUE(isSameBits(fast.out, slow.out));
    EXPECT_TRUE(isSameBits(fast.weights, slow.weights));
    if (mask.hasWeights)
      checkWeights(fast.weights, keep, queryLen, kvLen);
  }
}

INSTANTIATE_TEST_SUITE_P(Masks, SkippedTiles, testing::ValuesIn(masks()),
                         [](const auto &info) { return std::string(info.param.name); });

namespace {

/// Ids of documents, by how long they are.
std::vector<int32_t> documentsOf(const std::function<int64_t(int64_t document)> &lengthOf, int64_t length) {
  std::vector<int32_t> ids(std::max<int64_t>(length, 1));
  int64_t position = 0;
  for (int64_t document = 0; position < length; ++document)
    for (int64_t end = position + lengthOf(document); position < std::min(end, length); ++position)
      ids[position] = document;
  return ids;
}

} // namespace

/// Packed documents, causal within each: as few tiles as possible, whatever the lengths.
TEST(DocumentCausal, VisitsNoTileWithoutAKeptKey) {
  auto module = attn::Module::parse(program(kDocumentCausal, /*hasWeights=*/false), "documents");
  ASSERT_TRUE(module.ok()) << module.error().str();
  auto options = attn::CompileOptions().tileQ(kTileQ).tileKv(kTileKv).countKvTiles(true);
  auto kernel = module->compile("f", attn::Target::named(suiteCpu()), options);
  ASSERT_TRUE(kernel.ok()) << kernel.error().str();
  const std::function<int64_t(int64_t)> lengths[] = {
      [](int64_t) { return 1; },                               // every position alone
      [](int64_t) { return 1000; },                            // one document
      [](int64_t) { return kTileQ; },                          // on the grid of the queries
      [](int64_t) { return kTileKv; },                         // on that of the keys
      [](int64_t document) { return 1 + document * 7 % 40; },  // all lengths
      [](int64_t document) { return document % 2 ? 1 : 61; }}; // long and short in turn
  for (const auto &lengthOf : lengths)
    for (int64_t length = 1; length <= 200; length += length < 50 ? 1 : 13) {
      std::vector<int32_t> ids = documentsOf(lengthOf, length);
      auto keep = [&](int64_t i, int64_t j) { return ids[i] == ids[j] && j <= i; };
      EXPECT_EQ(run(*kernel, length, length, ids).kvTiles, countByHand(keep, length, length)) << length;
    }
}
