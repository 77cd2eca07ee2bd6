//===- ReferenceNamedModsTest.cpp - named masks and scores, by hand ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each mask on a few positions: the kept keys are written out, one row for each query. Each score function through lse:
// with one key, or all scores equal but for the term, it can be computed by hand.
//
//===----------------------------------------------------------------------===//

#include "ReferenceTestUtil.h"

using namespace attn::reference;

namespace {

class ReferenceNamedModsTest : public ReferenceTest {
protected:
  using Sizes = std::vector<int64_t>;

  /// A function of query, key, value [batch, heads, length, 1] and the given arguments that returns the lse and the
  /// weights of an attention of scale 1.
  static std::string attention(const Sizes &n, const std::string &clauses, const std::string &moreArguments) {
    auto type = [](const Sizes &sizes) {
      std::string text = "tensor<";
      for (int64_t size : sizes)
        text += std::to_string(size) + "x";
      return text + "f32>";
    };
    std::string q = type({n[0], n[1], n[2], 1}), k = type({n[0], n[1], n[3], 1}), l = type({n[0], n[1], n[2]}),
                w = type({n[0], n[1], n[2], n[3]});
    return "func.func @main(%q: " + q + ", %k: " + k + moreArguments + ") -> (" + l + ", " + w +
           ") {\n %one = arith.constant 1.0 : f32\n %o = tensor.empty() : " + q + "\n %l = tensor.empty() : " + l +
           "\n %w = tensor.empty() : " + w + "\n %r:3 = attn.attention %q, %k, %k scale(%one) " + clauses + " : " + q +
           ", " + k + ", " + k + " outs(%o : " + q + ") lse(%l : " + l + ") weights(%w : " + w + ") -> " + q + ", " +
           l + ", " + w + "\n return %r#1, %r#2 : " + l + ", " + w + "\n}";
  }

  /// Kept keys of each query: '1' kept, '.' dropped, rows separated by spaces.
  std::string keptBy(const std::string &clauses, int64_t queryLen, int64_t kvLen, const std::string &moreArguments = "",
                     std::vector<Tensor> more = {}, int64_t batch = 1) {
    std::vector<Tensor> arguments = {filled({batch, 1, queryLen, 1}, 0), filled({batch, 1, kvLen, 1}, 1)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto r = results(attention({batch, 1, queryLen, kvLen}, clauses, moreArguments), arguments);
    std::string text;
    for (int64_t k = 0; k < r[1].size(); ++k)
      text += (k && k % kvLen == 0 ? " " : "") + std::string(r[1].data[k].real != 0 ? "1" : ".");
    return text;
  }

  /// The term that a score function adds for query `query` (of `queryLen`) and each key, on scores of 0, heads first.
  std::vector<double> terms(const std::string &clauses, int64_t heads, int64_t queryLen, int64_t query, int64_t kvLen,
                            const std::string &moreArguments, std::vector<Tensor> more) {
    std::vector<Tensor> arguments = {filled({1, heads, queryLen, 1}, 0), filled({1, heads, kvLen, 1}, 0)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto r = results(attention({1, heads, queryLen, kvLen}, clauses, moreArguments), arguments);
    std::vector<double> values;
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t j = 0; j < kvLen; ++j) {
        int64_t row = h * queryLen + query;
        values.push_back(std::log(r[1].data[row * kvLen + j].real) + r[0].data[row].real);
      }
    return values;
  }

  static void expectNear(const std::vector<double> &actual, const std::vector<double> &expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t k = 0; k < expected.size(); ++k)
      EXPECT_NEAR(actual[k], expected[k], 1e-12) << "element " << k;
  }
};

//===-- windows and padding --------------------------------------------------===//

TEST_F(ReferenceNamedModsTest, Dilated) {
  EXPECT_EQ(keptBy("masks(dilated<left = 2, right = 4, step = 2, top_left>)", 3, 7), "1.1.1.. .1.1.1. 1.1.1.1");
  EXPECT_EQ(keptBy("masks(dilated<right = 0, step = 3, bottom_right>)", 2, 6), ".1..1. ..1..1");
}

TEST_F(ReferenceNamedModsTest, GlobalWindow) {
  EXPECT_EQ(keptBy("masks(global_window<globals = 1, left = 1, right = 0, top_left>)", 4, 4), "1111 11.. 111. 1.11");
  // Positions 2 and 3: no query is global.
  EXPECT_EQ(keptBy("masks(global_window<globals = 1, left = 0, right = 0, bottom_right>)", 2, 4), "1.1. 1..1");
}

TEST_F(ReferenceNamedModsTest, Padding) {
  EXPECT_EQ(keptBy("masks(padding_left(%s : tensor<2xi32>), padding_right(%e : tensor<2xi64>))", 1, 5,
                   ", %s: tensor<2xi32>, %e: tensor<2xi64>", {integers(32, {2}, {1, 0}), integers(64, {2}, {4, 2})}, 2),
            ".111. 11...");
}

//===-- documents, blocks, grid, tree ------------------------------------------===//

TEST_F(ReferenceNamedModsTest, Documents) {
  std::vector<Tensor> ids = {integers(32, {2, 4}, {0, 0, 1, 0, 7, 8, 8, 7})};
  EXPECT_EQ(keptBy("masks(document(%d : tensor<2x4xi32>))", 4, 4, ", %d: tensor<2x4xi32>", ids, 2),
            "11.1 11.1 ..1. 11.1 1..1 .11. .11. 1..1");
  EXPECT_EQ(keptBy("masks(document_causal<top_left>(%d : tensor<2x4xi32>))", 4, 4, ", %d: tensor<2x4xi32>", ids, 2),
            "1... 11.. ..1. 11.1 1... .1.. .11. 1..1");
  std::string two = ", %q_ids: tensor<2xi32>, %k_ids: tensor<1x5xi32>";
  std::vector<Tensor> both = {integers(32, {2}, {1, 2}), integers(32, {1, 5}, {2, 1, 1, 2, 1})};
  EXPECT_EQ(keptBy("masks(document(%q_ids : tensor<2xi32>, %k_ids : tensor<1x5xi32>))", 2, 5, two, both),
            ".11.1 1..1.");
  EXPECT_EQ(
      keptBy("masks(document_causal<bottom_right>(%q_ids : tensor<2xi32>, %k_ids : tensor<1x5xi32>))", 2, 5, two, both),
      ".11.. 1..1.");
}

TEST_F(ReferenceNamedModsTest, SharedPrefix) {
  EXPECT_EQ(keptBy("masks(shared_prefix(%p : tensor<1xi32>, %d : tensor<4xi32>))", 4, 4,
                   ", %p: tensor<1xi32>, %d: tensor<4xi32>", {integers(32, {1}, {1}), integers(32, {4}, {5, 6, 6, 9})}),
            "1... 111. 111. 1..1");
}

TEST_F(ReferenceNamedModsTest, Blocks) {
  EXPECT_EQ(keptBy("masks(chunked<size = 2, top_left>)", 4, 5), "1.... 11... ..1.. ..11.");
  EXPECT_EQ(keptBy("masks(block_diagonal<size = 2, top_left>)", 4, 5), "11... 11... ..11. ..11.");
  EXPECT_EQ(keptBy("masks(block_causal<size = 2, top_left>)", 4, 5), "11... 11... 1111. 1111.");
  // Positions -1, 0, 1, 2: the block of -1 is -1, not 0.
  EXPECT_EQ(keptBy("masks(block_diagonal<size = 2, bottom_right>)", 4, 3), "... 11. 11. ..1");
  EXPECT_EQ(keptBy("masks(block_causal<size = 2, bottom_right>)", 4, 3), "... 11. 11. 111");
  EXPECT_EQ(keptBy("masks(chunked<size = 2, bottom_right>)", 4, 3), "... 1.. 11. ..1");
}

TEST_F(ReferenceNamedModsTest, BlockDiffusion) {
  // Halves of 3 in blocks 0, 0, 1.
  EXPECT_EQ(keptBy("masks(block_diffusion<half = 3, block = 2>)", 6, 6), "11.... 11.... ..111. ...11. ...11. ...111");
}

TEST_F(ReferenceNamedModsTest, Local2d) {
  // 2 x 3 positions, kernel 1 x 2: columns from min(max(x - 1, 0), 1).
  EXPECT_EQ(keptBy("masks(local_2d<rows = 2, columns = 3, kernel_rows = 1, kernel_columns = 2>)", 6, 6),
            "11.... 11.... .11... ...11. ...11. ....11");
  // 3 x 1, kernel 3 x 1: the border rows see all three, too.
  EXPECT_EQ(keptBy("masks(local_2d<rows = 3, columns = 1, kernel_rows = 3, kernel_columns = 1>)", 3, 3), "111 111 111");
}

TEST_F(ReferenceNamedModsTest, Tree) {
  // A root with two children, behind two keys of context.
  EXPECT_EQ(keptBy("masks(tree(%t : tensor<3x3xi1>))", 3, 5, ", %t: tensor<3x3xi1>",
                   {integers(1, {3, 3}, {1, 0, 0, 1, 1, 0, 1, 0, 1})}),
            "111.. 1111. 111.1");
}

//===-- score functions ----------------------------------------------------------===//

TEST_F(ReferenceNamedModsTest, HeadScaleAndLogShift) {
  // One key: lse is the score. q * k = 3 in head 0, -2 in head 1.
  std::vector<Tensor> arguments = {real({1, 2, 1, 1}, {3, -2}), real({1, 2, 1, 1}, {1, 1})};
  auto shifted = results(attention({1, 2, 1, 1}, "scores(log_shift<0.5>)", ""), arguments);
  expectReals(shifted[0], {std::log(3.5), std::log(0.5)});
  arguments.push_back(real({2}, {0.5, -4}));
  auto scaled =
      results(attention({1, 2, 1, 1}, "scores(head_scale(%s : tensor<2xf32>))", ", %s: tensor<2xf32>"), arguments);
  expectReals(scaled[0], {1.5, 8});
}

TEST_F(ReferenceNamedModsTest, DistanceBias) {
  expectNear(terms("scores(distance_bias<max = 1, top_left>(%t : tensor<3xf32>))", 1, 3, 1, 4, ", %t: tensor<3xf32>",
                   {real({3}, {1, 2, 3})}),
             {1, 2, 3, 3});
  // Query 0 of 2 over 4 keys is at position 2; a row of the table for each head.
  expectNear(terms("scores(distance_bias<max = 1, bottom_right>(%t : tensor<2x3xf32>))", 2, 2, 0, 4,
                   ", %t: tensor<2x3xf32>", {real({2, 3}, {1, 2, 3, 4, 5, 6})}),
             {1, 1, 2, 3, 4, 4, 5, 6});
}

TEST_F(ReferenceNamedModsTest, IndexedBiasClamps) {
  expectNear(terms("scores(indexed_bias(%i : tensor<1x4xi32>, %t : tensor<3x2xf32>))", 2, 1, 0, 4,
                   ", %i: tensor<1x4xi32>, %t: tensor<3x2xf32>",
                   {integers(32, {1, 4}, {2, 0, -1, 9}), real({3, 2}, {1, 2, 3, 4, 5, 6})}),
             {5, 1, 1, 5, 6, 2, 2, 6});
}

TEST_F(ReferenceNamedModsTest, T5BucketBorders) {
  // Table entry n is n, so a term is a bucket. 32 buckets, both directions: 16 ahead from bucket 16 on, 8 of them
  // exact; the others begin at 8 * 16^(k / 8): 8, 11.3, 16, 22.6, 32, 45.3, 64, 90.5, rounded up.
  std::vector<double> table, expected;
  for (int64_t n = 0; n < 32; ++n)
    table.push_back(n);
  const int64_t first[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91};
  for (int64_t x = 0, bucket = 0; x < 200; ++x) {
    if (bucket < 15 && x == first[bucket + 1])
      ++bucket;
    expected.push_back(x ? 16 + bucket : 0);
  }
  expectNear(terms("scores(t5_bias<buckets = 32, max_distance = 128, bidirectional, top_left>(%t : tensor<32x1xf32>))",
                   1, 1, 0, 200, ", %t: tensor<32x1xf32>", {real({32, 1}, table)}),
             expected);
}

TEST_F(ReferenceNamedModsTest, T5CausalSeesOnlyTheBack) {
  // 4 buckets, 2 exact, max 8: bucket 3 begins at 2 * 4^(1 / 2) = 4, exactly. Query 5 of 6; key 6 is ahead: bucket 0.
  expectNear(terms("scores(t5_bias<buckets = 4, max_distance = 8, causal, top_left>(%t : tensor<4x1xf32>))", 1, 6, 5, 7,
                   ", %t: tensor<4x1xf32>", {real({4, 1}, {0, 1, 2, 3})}),
             {3, 3, 2, 2, 1, 0, 0});
}

} // namespace
