//===- SkippedTilesTest.cpp - the kv tiles that a mask leaves, counted ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime counts the kv tiles that a run computes; a loop over all (i, j) counts the tiles with a kept key. And
// what is skipped changes no bit.
//
//===----------------------------------------------------------------------===//

#include "attn/attn.h"
#include "test/Unit/AttentionText.h"
#include "gtest/gtest.h"

#include <cstring>
#include <functional>

namespace {

constexpr int64_t kTileQ = 16, kTileKv = 24;

struct Mask {
  const char *name;
  /// Clauses of the op; %ids is tensor<?xi32>, %p is tensor<?xi32>.
  const char *clauses;
  std::function<bool(int64_t i, int64_t j, int64_t queryLen, int64_t kvLen)> keep;
};

int64_t documentOf(int64_t position) { return position / 29; }
constexpr int64_t kPrefix = 31;

const char *const kDocument = "where(%b, %h, %i, %j) {\n"
                              "  %x = tensor.extract %ids[%i] : tensor<?xi32>\n"
                              "  %y = tensor.extract %ids[%j] : tensor<?xi32>\n"
                              "  %keep = arith.cmpi eq, %x, %y : i32\n  attn.yield %keep : i1 }";

std::vector<Mask> masks() {
  return {
      {"causal", "masks(causal<top_left>)", [](int64_t i, int64_t j, int64_t, int64_t) { return j <= i; }},
      {"bottom_right", "masks(causal<bottom_right>)",
       [](int64_t i, int64_t j, int64_t n, int64_t m) { return j <= i + m - n; }},
      {"window", "masks(window<left = 20, right = 5, bottom_right>)",
       [](int64_t i, int64_t j, int64_t n, int64_t m) { return j >= i + m - n - 20 && j <= i + m - n + 5; }},
      {"prefix", "masks(prefix<top_left>(%p : tensor<?xi32>))",
       [](int64_t i, int64_t j, int64_t, int64_t) { return j <= i || j < kPrefix; }},
      {"lengths", "kv_lengths(%p : tensor<?xi32>)", [](int64_t, int64_t j, int64_t, int64_t) { return j < kPrefix; }},
      {"document", kDocument, [](int64_t i, int64_t j, int64_t, int64_t) { return documentOf(i) == documentOf(j); }},
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

std::string program(const char *clauses) {
  return dynamicAttention({clauses, "%ids: tensor<?xi32>, %p: tensor<?xi32>", "0.5"});
}

struct Outcome {
  std::vector<float> out;
  int64_t kvTiles = 0;
};

Outcome run(const attn::Kernel &kernel, int64_t queryLen, int64_t kvLen) {
  const int64_t batch = 2, heads = 2, size = 4;
  std::vector<float> q(batch * heads * queryLen * size), k(batch * heads * kvLen * size), v(k.size());
  for (size_t n = 0; n < q.size(); ++n)
    q[n] = static_cast<float>((n * 37) % 17) / 8 - 1;
  for (size_t n = 0; n < k.size(); ++n) {
    k[n] = static_cast<float>((n * 53) % 19) / 9 - 1;
    v[n] = static_cast<float>((n * 29) % 23) / 11 - 1;
  }
  std::vector<int32_t> ids(std::max<int64_t>(std::max(queryLen, kvLen), 1)), prefix(batch, std::min(kPrefix, kvLen));
  for (size_t n = 0; n < ids.size(); ++n)
    ids[n] = documentOf(n);
  Outcome outcome;
  outcome.out.resize(q.size());
  auto report = kernel.run({attn::view(q, {batch, heads, queryLen, size}), attn::view(k, {batch, heads, kvLen, size}),
                            attn::view(v, {batch, heads, kvLen, size}),
                            attn::view(ids, {static_cast<int64_t>(ids.size())}), attn::view(prefix, {batch})},
                           {attn::view(outcome.out, {batch, heads, queryLen, size})}, attn::RunOptions().threads(2));
  EXPECT_TRUE(report.ok()) << report.error().str();
  if (report.ok())
    outcome.kvTiles = report->kvTiles;
  return outcome;
}

/// Tiles of the grid with a kept key, for 2 batch entries and 2 heads.
int64_t countByHand(const Mask &mask, int64_t queryLen, int64_t kvLen) {
  int64_t tiles = 0;
  for (int64_t i0 = 0; i0 < queryLen; i0 += kTileQ)
    for (int64_t j0 = 0; j0 < kvLen; j0 += kTileKv) {
      bool any = false;
      for (int64_t i = i0; i < std::min(i0 + kTileQ, queryLen); ++i)
        for (int64_t j = j0; j < std::min(j0 + kTileKv, kvLen); ++j)
          any |= mask.keep(i, j, queryLen, kvLen);
      tiles += any;
    }
  return 4 * tiles;
}

class SkippedTiles : public testing::TestWithParam<Mask> {};

} // namespace

TEST_P(SkippedTiles, AreTheEmptyOnesAndChangeNoBit) {
  const Mask &mask = GetParam();
  auto module = attn::Module::parse(program(mask.clauses), mask.name);
  ASSERT_TRUE(module.ok()) << module.error().str();
  auto options = attn::CompileOptions().tileQ(kTileQ).tileKv(kTileKv).countKvTiles(true);
  auto skipping = module->compile("f", attn::Target::host(), options);
  auto computing = module->compile("f", attn::Target::host(), options.skipTiles(false));
  ASSERT_TRUE(skipping.ok()) << skipping.error().str();
  ASSERT_TRUE(computing.ok()) << computing.error().str();
  const std::pair<int64_t, int64_t> sizes[] = {{1, 1},    {1, 100},   {17, 17},   {64, 96}, {65, 97}, {100, 40},
                                               {40, 100}, {128, 128}, {131, 250}, {7, 0},   {0, 7}};
  for (auto [queryLen, kvLen] : sizes) {
    Outcome fast = run(*skipping, queryLen, kvLen), slow = run(*computing, queryLen, kvLen);
    EXPECT_EQ(fast.kvTiles, countByHand(mask, queryLen, kvLen)) << queryLen << " x " << kvLen;
    EXPECT_GE(slow.kvTiles, fast.kvTiles);
    EXPECT_EQ(std::memcmp(fast.out.data(), slow.out.data(), fast.out.size() * sizeof(float)), 0)
        << queryLen << " x " << kvLen;
  }
}

INSTANTIATE_TEST_SUITE_P(Masks, SkippedTiles, testing::ValuesIn(masks()),
                         [](const auto &info) { return std::string(info.param.name); });
