//===- ReferenceAttentionTest.cpp - the rules of attention, by hand ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each rule of the semantic contract, on values that can be computed by hand. With query and key of head size 1 and
// scale 1, score[i, j] = q[i] * k[j]; with a zero query every kept key has the same weight.
//
//===----------------------------------------------------------------------===//

#include "ReferenceTestUtil.h"

using namespace attn::reference;

namespace {

class ReferenceAttentionTest : public ReferenceTest {
protected:
  /// A function of query, key and value (dynamic sizes), with more arguments, that returns out, lse and weights of an
  /// attention of scale 1. `body`: operations in front; `clauses`: what stands between the scale and the types.
  static std::string attention(const std::string &clauses, const std::string &moreArguments = "",
                               const std::string &body = "", const std::string &element = "f32") {
    std::string wide = element == "f64" ? "f64" : "f32";
    std::string t = "tensor<?x?x?x?x" + element + ">", l = "tensor<?x?x?x" + wide + ">",
                w = "tensor<?x?x?x?x" + wide + ">";
    return "func.func @main(%q: " + t + ", %k: " + t + ", %v: " + t + moreArguments + ") -> (" + t + ", " + l + ", " +
           w + R"() {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %batch = tensor.dim %q, %c0 : )" +
           t + "\n %heads = tensor.dim %q, %c1 : " + t + "\n %queryLen = tensor.dim %q, %c2 : " + t +
           "\n %kvLen = tensor.dim %k, %c2 : " + t + "\n %valueDim = tensor.dim %v, %c3 : " + t + R"(
      %one = arith.constant 1.0 : )" +
           wide + "\n" + body + "\n %o = tensor.empty(%batch, %heads, %queryLen, %valueDim) : " + t +
           "\n %l = tensor.empty(%batch, %heads, %queryLen) : " + l +
           "\n %w = tensor.empty(%batch, %heads, %queryLen, %kvLen) : " + w +
           "\n %r:3 = attn.attention %q, %k, %v scale(%one" + (wide == "f64" ? " : f64" : "") + ") " + clauses + " : " +
           t + ", " + t + ", " + t + " outs(%o : " + t + ") lse(%l : " + l + ") weights(%w : " + w + ") -> " + t +
           ", " + l + ", " + w + "\n return %r#0, %r#1, %r#2 : " + t + ", " + l + ", " + w + "\n}";
  }

  /// Kept keys of each query, from the weights: '1' kept, '0' dropped, rows separated by spaces.
  static std::string kept(const Tensor &weights) {
    std::string text;
    for (int64_t k = 0; k < weights.size(); ++k) {
      if (k && k % weights.shape[3] == 0)
        text += ' ';
      text += weights.data[k].real != 0 ? '1' : '0';
    }
    return text;
  }

  /// Which keys a mask keeps, for queries of zeros (one batch, one head).
  std::string keptBy(const std::string &clauses, int64_t queryLen, int64_t kvLen) {
    auto r = results(attention(clauses),
                     {filled({1, 1, queryLen, 1}, 0), filled({1, 1, kvLen, 1}, 1), filled({1, 1, kvLen, 1}, 1)});
    return r.empty() ? "" : kept(r[2]);
  }
};

//===-- formula ------------------------------------------------------------===//

TEST_F(ReferenceAttentionTest, FormulaByHand) {
  // Scores 0 and ln 3: weights 1/4 and 3/4, lse ln 4.
  auto r = results(attention(""), {real({1, 1, 1, 2}, {1, 2}), real({1, 1, 2, 2}, {2, -1, std::log(3.0), 0}),
                                   real({1, 1, 2, 3}, {0, 4, 8, 4, 8, 16})});
  ASSERT_EQ(r.size(), 3u);
  EXPECT_EQ(r[0].shape, (std::vector<int64_t>{1, 1, 1, 3}));
  expectReals(r[0], {3, 7, 14});
  expectReals(r[1], {std::log(4.0)});
  expectReals(r[2], {0.25, 0.75});
}

TEST_F(ReferenceAttentionTest, ScaleOfAnySignAndZero) {
  const char *text = R"(
    func.func @main(%q: tensor<1x1x1x1xf32>, %k: tensor<1x1x2x1xf32>, %s: f32) -> tensor<1x1x1x1xf32> {
      %o = tensor.empty() : tensor<1x1x1x1xf32>
      %r = attn.attention %q, %k, %k scale(%s) : tensor<1x1x1x1xf32>, tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>
        outs(%o : tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
      return %r : tensor<1x1x1x1xf32>
    })";
  // Keys 0 and 1, scores 0 and scale: the output is the weight of the second.
  for (double scale : {0.0, 2.0, -2.0}) {
    auto r = results(text, {filled({1, 1, 1, 1}, 1), real({1, 1, 2, 1}, {0, 1}), real({}, {scale})});
    expectReals(r[0], {1 / (1 + std::exp(-scale))});
  }
}

TEST_F(ReferenceAttentionTest, GroupedHeadsMapByBlocks) {
  // Without scores every key has one weight, so the output names the kv head: heads 0, 1 read 0; 2, 3 read 1.
  auto r = results(attention(""), {filled({1, 4, 1, 1}, 0), filled({1, 2, 1, 1}, 0), real({1, 2, 1, 1}, {10, 20})});
  expectReals(r[0], {10, 10, 20, 20});
  expectError(attention(""), {filled({1, 3, 1, 1}, 0), filled({1, 2, 1, 1}, 0), filled({1, 2, 1, 1}, 0)},
              "expects kvHeads to divide heads, but got 2 and 3 (C5)");
  expectError(attention(""), {filled({1, 3, 1, 1}, 0), filled({1, 0, 1, 1}, 0), filled({1, 0, 1, 1}, 0)}, "(C5)");
  expectError(attention(""), {filled({1, 2, 1, 1}, 0), filled({1, 2, 1, 2}, 0), filled({1, 2, 1, 1}, 0)}, "(C3)");
  expectError(attention(""), {filled({1, 2, 1, 1}, 0), filled({1, 2, 4, 1}, 0), filled({1, 2, 3, 1}, 0)}, "(C4)");
}

TEST_F(ReferenceAttentionTest, EmptySizes) {
  // kvLen 0: output 0, lse -inf.
  auto r = results(attention(""), {filled({1, 1, 2, 1}, 1), filled({1, 1, 0, 1}, 1), filled({1, 1, 0, 3}, 1)});
  expectReals(r[0], {0, 0, 0, 0, 0, 0});
  expectReals(r[1], {-inf, -inf});
  EXPECT_EQ(r[2].size(), 0);
  // headDim 0: the dot product is 0.
  r = results(attention(""), {filled({1, 1, 1, 0}, 1), filled({1, 1, 2, 0}, 1), real({1, 1, 2, 1}, {1, 3})});
  expectReals(r[0], {2});
  // Empty batch, heads, queryLen, valueDim.
  for (std::vector<int64_t> q : {std::vector<int64_t>{0, 1, 2, 1}, {1, 0, 2, 1}, {1, 1, 0, 1}}) {
    Tensor kv = filled({q[0], q[1], 2, 1}, 1);
    r = results(attention(""), {filled(q, 1), kv, kv});
    EXPECT_EQ(r[0].size(), 0);
  }
  r = results(attention(""), {filled({1, 1, 1, 1}, 1), filled({1, 1, 2, 1}, 1), filled({1, 1, 2, 0}, 1)});
  EXPECT_EQ(r[0].size(), 0);
  expectReals(r[1], {1 + std::log(2.0)});
}

//===-- masks ----------------------------------------------------------------===//

TEST_F(ReferenceAttentionTest, CausalDiagonals) {
  EXPECT_EQ(keptBy("masks(causal<top_left>)", 2, 5), "10000 11000");
  EXPECT_EQ(keptBy("masks(causal<bottom_right>)", 2, 5), "11110 11111");
  EXPECT_EQ(keptBy("masks(causal<top_left>)", 5, 2), "10 11 11 11 11");
  EXPECT_EQ(keptBy("masks(causal<bottom_right>)", 5, 2), "00 00 00 10 11");
}

TEST_F(ReferenceAttentionTest, WindowEndsAreInclusive) {
  EXPECT_EQ(keptBy("masks(window<left = 1, right = 0, top_left>)", 4, 4), "1000 1100 0110 0011");
  EXPECT_EQ(keptBy("masks(window<right = 1, top_left>)", 3, 4), "1100 1110 1111");
  EXPECT_EQ(keptBy("masks(window<left = 0, top_left>)", 3, 3), "111 011 001");
  EXPECT_EQ(keptBy("masks(window<left = 1, right = 0, bottom_right>)", 2, 4), "0110 0011");
  EXPECT_EQ(keptBy("masks(window<left = 9223372036854775807, right = 0, top_left>)", 2, 2), "10 11");
}

TEST_F(ReferenceAttentionTest, PrefixIsCausalOrInsideThePrefix) {
  auto text = attention("masks(prefix<top_left>(%p : tensor<?xi32>))", ", %p: tensor<?xi32>");
  auto r = results(
      text, {filled({2, 1, 3, 1}, 0), filled({2, 1, 4, 1}, 1), filled({2, 1, 4, 1}, 1), integers(32, {2}, {2, 0})});
  EXPECT_EQ(kept(r[2]), "1100 1100 1110 1000 1100 1110");
  expectError(text, {filled({2, 1, 3, 1}, 0), filled({2, 1, 4, 1}, 1), filled({2, 1, 4, 1}, 1), integers(32, {1}, {2})},
              "expects a captured operand of size batch = 2, but got 1");
}

TEST_F(ReferenceAttentionTest, MasksAndRegionAreAnded) {
  // causal, and only even keys.
  auto text = attention(R"(masks(causal<top_left>) where(%b, %h, %i, %j) {
      %bit = arith.andi %j, %c1 : index
      %even = arith.cmpi eq, %bit, %c0 : index
      attn.yield %even : i1
    })");
  auto r = results(text, {filled({1, 1, 4, 1}, 0), filled({1, 1, 4, 1}, 1), filled({1, 1, 4, 1}, 1)});
  EXPECT_EQ(kept(r[2]), "1000 1000 1010 1010");
}

TEST_F(ReferenceAttentionTest, BooleanMaskOfEachBroadcastShape) {
  auto run = [&](const std::string &type, const Tensor &mask) {
    auto r = results(attention("masks(boolean(%m : " + type + "))", ", %m: " + type),
                     {filled({2, 1, 2, 1}, 0), filled({2, 1, 2, 1}, 1), filled({2, 1, 2, 1}, 1), mask});
    return r.empty() ? "" : kept(r[2]);
  };
  EXPECT_EQ(run("tensor<2xi1>", integers(1, {2}, {0, 1})), "01 01 01 01");
  EXPECT_EQ(run("tensor<2x1xi1>", integers(1, {2, 1}, {0, 1})), "00 11 00 11");
  EXPECT_EQ(run("tensor<?x?x?x?xi1>", integers(1, {2, 1, 1, 1}, {0, 1})), "00 00 11 11");
  EXPECT_EQ(run("tensor<?x?x?x?xi1>", integers(1, {1, 1, 1, 2}, {1, 0})), "10 10 10 10");
  expectError(attention("masks(boolean(%m : tensor<?xi1>))", ", %m: tensor<?xi1>"),
              {filled({2, 1, 2, 1}, 0), filled({2, 1, 2, 1}, 1), filled({2, 1, 2, 1}, 1), integers(1, {3}, {1, 1, 1})},
              "to be 1 or kvLen = 2, but got 3");
}

TEST_F(ReferenceAttentionTest, MaskWinsOverWhatTheScoresReturn) {
  // The score region returns +inf for the dropped key; it reaches nothing.
  auto text = attention(R"(masks(causal<top_left>) score(%s, %b, %h, %i, %j) {
      %inf = arith.constant 0x7F800000 : f32
      %above = arith.cmpi sgt, %j, %i : index
      %y = arith.select %above, %inf, %s : f32
      attn.yield %y : f32
    })");
  auto r = results(text, {filled({1, 1, 2, 1}, 0), filled({1, 1, 2, 1}, 1), real({1, 1, 2, 1}, {4, 8})});
  expectReals(r[0], {4, 6});
  expectReals(r[1], {0, std::log(2.0)});
}

//===-- no key left ------------------------------------------------------------===//

TEST_F(ReferenceAttentionTest, FullyMaskedRow) {
  // causal bottom_right of 3 x 2: the first query sees nothing.
  auto r = results(attention("masks(causal<bottom_right>)"),
                   {filled({1, 1, 3, 1}, 0), filled({1, 1, 2, 1}, 1), real({1, 1, 2, 1}, {4, 8})});
  expectReals(r[0], {0, 4, 6});
  expectReals(r[1], {-inf, 0, std::log(2.0)});
  expectReals(r[2], {0, 0, 1, 0, 0.5, 0.5});
}

TEST_F(ReferenceAttentionTest, ScoreOfMinusInfinityDropsItsKey) {
  auto text = attention("scores(additive(%m : tensor<?x?xf32>))", ", %m: tensor<?x?xf32>");
  auto r = results(text, {filled({1, 1, 2, 1}, 0), filled({1, 1, 2, 1}, 1), real({1, 1, 2, 1}, {4, 8}),
                          real({2, 2}, {-inf, 0, -inf, -inf})});
  expectReals(r[0], {8, 0});
  expectReals(r[1], {0, -inf});
  expectReals(r[2], {0, 1, 0, 0});
}

TEST_F(ReferenceAttentionTest, FiniteScoresAreOrdinaryHoweverSmall) {
  for (std::string score : {"-1.0e30", "-2.38e38", "0xFF7FFFFF"}) {
    auto text =
        attention("score(%s, %b, %h, %i, %j) { %y = arith.constant " + score + " : f32\n attn.yield %y : f32 }");
    for (bool rounded : {false, true}) {
      options.roundLikeUnfused = rounded;
      auto r = results(text, {filled({1, 1, 1, 1}, 1), filled({1, 1, 4, 1}, 1), real({1, 1, 4, 1}, {1, 2, 3, 6})});
      expectReals(r[0], {3});
    }
  }
}

TEST_F(ReferenceAttentionTest, PoisonStaysInItsRow) {
  for (double poison : {nan, inf}) {
    auto text = attention("scores(bias(%m : tensor<?x?xf32>)) masks(causal<top_left>)", ", %m: tensor<?x?xf32>");
    // Row 0 has it behind the mask, row 1 in a kept score, row 2 not at all.
    auto r = results(text, {filled({1, 1, 3, 1}, 0), filled({1, 1, 3, 1}, 1), real({1, 1, 3, 1}, {3, 5, 7}),
                            real({3, 3}, {0, poison, 0, poison, 0, 0, 0, 0, 0})});
    expectReals(r[0], {3, nan, 5});
    expectReals(r[1], {0, nan, std::log(3.0)});
    expectReals(r[2], {1, 0, 0, nan, nan, 0, 1. / 3, 1. / 3, 1. / 3});
  }
}

//===-- sinks, lengths -----------------------------------------------------------===//

TEST_F(ReferenceAttentionTest, SinkJoinsTheDenominatorOnce) {
  auto text = attention("masks(causal<bottom_right>) sink(%sink : tensor<?xf32>)", ", %sink: tensor<?xf32>");
  // Query 0 sees nothing, query 1 one key, query 2 two, all with score 0. Head 0: exp(sink) = 2; head 1: no sink.
  auto r = results(text, {filled({1, 2, 3, 1}, 0), filled({1, 1, 2, 1}, 1), filled({1, 1, 2, 1}, 12),
                          real({2}, {std::log(2.0), -inf})});
  expectReals(r[0], {0, 4, 6, 0, 12, 12});
  expectReals(r[1], {std::log(2.0), std::log(3.0), std::log(4.0), -inf, 0, std::log(2.0)});
  expectReals(r[2], {0, 0, 1. / 3, 0, .25, .25, 0, 0, 1, 0, .5, .5});
}

TEST_F(ReferenceAttentionTest, KeysBehindKvLengthsAreNeverRead) {
  auto text = attention("masks(causal<bottom_right>) kv_lengths(%n : tensor<?xi64>)", ", %n: tensor<?xi64>");
  // Batch 0 has 2 of 3 keys, so that its diagonal is at offset 0; batch 1 has none.
  Tensor k = real({2, 1, 3, 1}, {1, 1, nan, nan, nan, nan}), v = real({2, 1, 3, 1}, {4, 8, nan, nan, nan, nan});
  auto r = results(text, {filled({2, 1, 2, 1}, 0), k, v, integers(64, {2}, {2, 0})});
  expectReals(r[0], {4, 6, 0, 0});
  expectReals(r[1], {0, std::log(2.0), -inf, -inf});
  expectReals(r[2], {1, 0, 0, .5, .5, 0, 0, 0, 0, 0, 0, 0});
  for (int64_t wrong : {-1, 4})
    expectError(text, {filled({2, 1, 2, 1}, 0), k, v, integers(64, {2}, {2, wrong})},
                "expects kv_lengths[1] to be in [0, kvLen = 3], but got " + std::to_string(wrong));
}

//===-- what is not finite ----------------------------------------------------------===//

TEST_F(ReferenceAttentionTest, WhatAMaskDropsMustBeFinite) {
  // Query 0 drops key 1. The results of the head that has NaN or infinity there are not known, those of the other are.
  for (bool isKey : {false, true})
    for (double element : {nan, inf, -inf}) {
      Tensor finite = filled({1, 2, 2, 1}, 1), bad = real({1, 2, 2, 1}, {1, 1, 1, element});
      auto r = results(attention("masks(causal<top_left>)"),
                       {filled({1, 2, 2, 1}, 1), isKey ? bad : finite, isKey ? finite : bad});
      ASSERT_EQ(r.size(), 3u);
      EXPECT_EQ(r[0].known, (std::vector<char>{1, 1, 0, 0}));
      EXPECT_EQ(r[1].known, (std::vector<char>{1, 1, 0, 0}));
      EXPECT_EQ(r[2].known, (std::vector<char>{1, 1, 1, 1, 0, 0, 0, 0}));
    }
}

TEST_F(ReferenceAttentionTest, KeptKeysMayBeInfinite) {
  auto known = [&](std::initializer_list<double> key, std::initializer_list<double> value) {
    auto r = results(attention(""), {filled({1, 1, 1, 1}, 1), real({1, 1, 2, 1}, key), real({1, 1, 2, 1}, value)});
    return r.empty() ? std::vector<char>() : r[0].known;
  };
  EXPECT_TRUE(known({1, 2}, {4, inf}).empty());
  EXPECT_TRUE(known({1, inf}, {4, 8}).empty());
  // A score of -inf drops its key. The value must be finite then.
  EXPECT_TRUE(known({1, -inf}, {4, 8}).empty());
  EXPECT_EQ(known({1, -inf}, {4, inf}), std::vector<char>{0});
}

//===-- scores -------------------------------------------------------------------===//

TEST_F(ReferenceAttentionTest, ScoresApplyInWrittenOrderAndTheRegionLast) {
  // softcap<1>(0) = 0, + bias 3 (uncapped, as it comes after), doubled by the region.
  auto text = attention(R"(scores(softcap<1.0>, bias(%m : tensor<2xf32>)) score(%s, %b, %h, %i, %j) {
      %y = arith.addf %s, %s : f32
      attn.yield %y : f32
    })",
                        ", %m: tensor<2xf32>");
  auto r =
      results(text, {filled({1, 1, 1, 1}, 0), filled({1, 1, 2, 1}, 0), real({1, 1, 2, 1}, {0, 1}), real({2}, {0, 3})});
  expectReals(r[0], {1 / (1 + std::exp(-6.0))});
}

TEST_F(ReferenceAttentionTest, Softcap) {
  auto r = results(attention("scores(softcap<2.0>)"),
                   {filled({1, 1, 1, 1}, 1), real({1, 1, 1, 1}, {3}), filled({1, 1, 1, 1}, 1)});
  expectReals(r[1], {2 * std::tanh(1.5)});
}

TEST_F(ReferenceAttentionTest, AlibiIsSlopeTimesDistance) {
  // One key at j = 0 and queries 0, 1, 2: lse is the score, slope * (0 - i), or slope * (0 - (i - 2)).
  auto lse = [&](const char *diagonal) {
    auto text = attention("scores(alibi<" + std::string(diagonal) + ">(%s : tensor<?xf32>))", ", %s: tensor<?xf32>");
    return results(text,
                   {filled({1, 2, 3, 1}, 0), filled({1, 1, 1, 1}, 1), filled({1, 1, 1, 1}, 1), real({2}, {0.5, 2})})[1];
  };
  expectReals(lse("top_left"), {0, -.5, -1, 0, -2, -4});
  expectReals(lse("bottom_right"), {1, .5, 0, 4, 2, 0});
}

TEST_F(ReferenceAttentionTest, BiasOfEachBroadcastShape) {
  // One key: lse is the score, which is the bias at [b, h, i, 0].
  auto run = [&](const std::string &type, const Tensor &bias) {
    auto r = results(attention("scores(bias(%m : " + type + "))", ", %m: " + type),
                     {filled({2, 2, 2, 1}, 0), filled({2, 1, 1, 1}, 1), filled({2, 1, 1, 1}, 1), bias});
    return r.empty() ? std::vector<double>() : reals(r[1]);
  };
  EXPECT_EQ(run("tensor<f32>", real({}, {3})), (std::vector<double>(8, 3)));
  EXPECT_EQ(run("tensor<2x1xf32>", real({2, 1}, {1, 2})), (std::vector<double>{1, 2, 1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(run("tensor<2x1x1xf32>", real({2, 1, 1}, {1, 2})), (std::vector<double>{1, 1, 2, 2, 1, 1, 2, 2}));
  EXPECT_EQ(run("tensor<?x?x?x?xf32>", real({2, 1, 1, 1}, {1, 2})), (std::vector<double>{1, 1, 1, 1, 2, 2, 2, 2}));
  EXPECT_EQ(run("tensor<?x?x?x?xf32>", real({2, 2, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8})),
            (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_F(ReferenceAttentionTest, RegionReadsCapturedTensorAndAllIndices) {
  auto text = attention(R"(score(%s, %b, %h, %i, %j) {
      %t = tensor.extract %table[%b, %h, %i, %j] : tensor<?x?x?x?xf32>
      %y = arith.addf %s, %t : f32
      attn.yield %y : f32
    })",
                        ", %table: tensor<?x?x?x?xf32>");
  // One key each: lse is the entry of the table.
  Tensor table = made({2, 2, 3, 1}, [](int64_t k) { return k; });
  auto r = results(text, {filled({2, 2, 3, 1}, 0), filled({2, 1, 1, 1}, 1), filled({2, 1, 1, 1}, 1), table});
  EXPECT_EQ(reals(r[1]), reals(table));
}

TEST_F(ReferenceAttentionTest, IndexOutOfBoundsIsClampedAndReported) {
  auto text = attention(R"(score(%s, %b, %h, %i, %j) {
      %t = tensor.extract %table[%j] : tensor<2xf32>
      %y = arith.addf %s, %t : f32
      attn.yield %y : f32
    })",
                        ", %table: tensor<2xf32>");
  auto evaluation = evaluate(
      text, {filled({1, 1, 1, 1}, 0), filled({1, 1, 4, 1}, 0), filled({1, 1, 4, 1}, 1), real({2}, {0, std::log(2.0)})});
  ASSERT_TRUE(mlir::succeeded(evaluation)) << errors;
  expectReals(evaluation->results[2], {1. / 7, 2. / 7, 2. / 7, 2. / 7});
  ASSERT_EQ(evaluation->outOfBounds.size(), 1u);
  EXPECT_EQ(evaluation->outOfBounds[0].count, 2);
  EXPECT_EQ(evaluation->outOfBounds[0].message, "index 2 of dimension 0 is outside [0, 2)");
}

TEST_F(ReferenceAttentionTest, UndefinedRegionIsAnErrorForDroppedKeysToo) {
  auto text = attention(R"(masks(causal<top_left>) score(%s, %b, %h, %i, %j) {
      %width = arith.constant 64 : index
      %x = arith.muli %j, %width : index
      %r = arith.shli %j, %x : index
      attn.yield %s : f32
    })");
  expectError(text, {filled({1, 1, 1, 1}, 0), filled({1, 1, 2, 1}, 0), filled({1, 1, 2, 1}, 1)},
              "'arith.shli' op shifts by 64");
}

//===-- layouts --------------------------------------------------------------------===//

TEST_F(ReferenceAttentionTest, PackedLayoutWithConstants) {
  // qkv is [b, length, 3, h, d]; out is [i, h, e] without b.
  const char *text = R"(
    func.func @main(%qkv: tensor<1x2x3x2x1xf32>) -> tensor<2x2x1xf32> {
      %s = arith.constant 1.0 : f32
      %o = tensor.empty() : tensor<2x2x1xf32>
      %r = attn.attention %qkv, %qkv, %qkv scale(%s)
        layout(query(b, i, 0, h, d), key(b, j, 1, h, d), value(b, j, 2, h, e), out(i, h, e))
        masks(causal<top_left>) : tensor<1x2x3x2x1xf32>, tensor<1x2x3x2x1xf32>, tensor<1x2x3x2x1xf32>
        outs(%o : tensor<2x2x1xf32>) -> tensor<2x2x1xf32>
      return %r : tensor<2x2x1xf32>
    })";
  // Position 0: q 0, k 1, v [10, 20]; position 1: q 0, k 1, v [30, 60] by head.
  auto r = results(text, {real({1, 2, 3, 2, 1}, {0, 0, 1, 1, 10, 20, 0, 0, 1, 1, 30, 60})});
  expectReals(r[0], {10, 20, 20, 40});
}

TEST_F(ReferenceAttentionTest, TransposedKeyAndOutLeavesTheRestOfOuts) {
  const char *text = R"(
    func.func @main(%q: tensor<1x1x1x2xf32>, %k: tensor<2x3xf32>, %v: tensor<3x1xf32>, %o: tensor<2x1x1xf32>)
        -> tensor<2x1x1xf32> {
      %s = arith.constant 1.0 : f32
      %r = attn.attention %q, %k, %v scale(%s) layout(key(d, j), value(j, e), out(1, i, e))
        : tensor<1x1x1x2xf32>, tensor<2x3xf32>, tensor<3x1xf32> outs(%o : tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
      return %r : tensor<2x1x1xf32>
    })";
  // Scores q . k[:, j] = ln 1, ln 2, ln 5.
  auto r = results(text, {real({1, 1, 1, 2}, {1, 1}), real({2, 3}, {0, std::log(2.0), 0, 0, 0, std::log(5.0)}),
                          real({3, 1}, {8, 16, 24}), real({2, 1, 1}, {-1, -2})});
  expectReals(r[0], {-1, 20});
}

//===-- precision ------------------------------------------------------------------===//

TEST_F(ReferenceAttentionTest, ExactModeRoundsNothing) {
  // Two equal weights of values 1 and 2^-40 in f16: exact keeps both, the unfused formula rounds the output to f16.
  auto text = attention("", "", "", "f16");
  auto half = [&](llvm::ArrayRef<int64_t> shape, std::vector<double> values) {
    return Tensor::fromReals(f16(), shape, values);
  };
  std::vector<Tensor> arguments = {half({1, 1, 1, 1}, {0}), half({1, 1, 2, 1}, {0, 0}),
                                   half({1, 1, 2, 1}, {1, 0x1p-20})};
  EXPECT_EQ(results(text, arguments)[0].data[0].real, (1 + 0x1p-20) / 2);
  options.roundLikeUnfused = true;
  EXPECT_EQ(results(text, arguments)[0].data[0].real, 0.5);
}

TEST_F(ReferenceAttentionTest, UnfusedRoundsWeightsOnceAndAccumulatesInF32) {
  // Three equal weights: 1/3 in f16 is 0.333251953125; the sum of three times that is exact in f32 and in f16.
  auto text = attention("", "", "", "f16");
  auto half = [&](llvm::ArrayRef<int64_t> shape, double value) {
    return Tensor::fromReals(f16(), shape, std::vector<double>(*countElements(shape), value));
  };
  options.roundLikeUnfused = true;
  auto r = results(text, {half({1, 1, 1, 1}, 0), half({1, 1, 3, 1}, 0), half({1, 1, 3, 1}, 1)});
  EXPECT_EQ(r[0].data[0].real, roundToType(f16(), 3 * 0.333251953125));
  EXPECT_EQ(r[1].data[0].real, static_cast<float>(std::log(3.0)));
  EXPECT_EQ(r[2].data[0].real, 1.0f / 3.0f);
}

TEST_F(ReferenceAttentionTest, F64StaysF64InBothModes) {
  auto text = attention("", "", "", "f64");
  mlir::Type f64 = mlir::Float64Type::get(&context);
  std::vector<Tensor> arguments = {Tensor::fromReals(f64, {1, 1, 1, 1}, {1}),
                                   Tensor::fromReals(f64, {1, 1, 2, 1}, {0.1, 0.3}),
                                   Tensor::fromReals(f64, {1, 1, 2, 1}, {1. / 3, 0.7})};
  Tensor exact = results(text, arguments)[0];
  options.roundLikeUnfused = true;
  EXPECT_EQ(reals(results(text, arguments)[0]), reals(exact));
}

TEST_F(ReferenceAttentionTest, ThreadsChangeNothing) {
  auto wave = [](int64_t k) { return std::sin(0.37 * k); };
  std::vector<Tensor> arguments = {made({2, 4, 33, 16}, wave), made({2, 2, 65, 16}, wave), made({2, 2, 65, 8}, wave)};
  options.threads = 1;
  auto one = results(attention("masks(causal<bottom_right>)"), arguments);
  options.threads = 5;
  auto five = results(attention("masks(causal<bottom_right>)"), arguments);
  for (int k = 0; k < 3; ++k)
    EXPECT_EQ(reals(one[k]), reals(five[k]));
}

TEST_F(ReferenceAttentionTest, SampledRowsAreThoseOfTheWhole) {
  auto wave = [](int64_t k) { return std::sin(0.37 * k); };
  std::vector<Tensor> arguments = {made({2, 4, 3, 16}, wave), made({2, 2, 7, 16}, wave), made({2, 2, 7, 5}, wave)};
  std::string text = attention("masks(causal<bottom_right>)");
  auto all = results(text, arguments);
  options.sampleRows = 4;
  auto some = results(text, arguments);
  // 24 rows: 0, 23 / 3, 46 / 3 and 23, rounded down. Of out, lse and weights a row has 5, 1 and 7 elements.
  for (auto [result, width] : {std::pair(0, 5), std::pair(1, 1), std::pair(2, 7)})
    for (int64_t k = 0; k < all[result].size(); ++k) {
      int64_t row = k / width;
      bool isSampled = row == 0 || row == 7 || row == 15 || row == 23;
      EXPECT_EQ(some[result].known[k] != 0, isSampled) << "result " << result << ", element " << k;
      if (isSampled) {
        EXPECT_EQ(some[result].data[k].real, all[result].data[k].real);
      }
    }
  // A sample of one is the first row, one of more rows than there are is the whole.
  options.sampleRows = 1;
  EXPECT_EQ(results(text, arguments)[1].known, [] {
    std::vector<char> first(24, 0);
    first[0] = 1;
    return first;
  }());
  options.sampleRows = 25;
  EXPECT_EQ(reals(results(text, arguments)[0]), reals(all[0]));
}

TEST_F(ReferenceAttentionTest, SampledRowsMayOnlyBeReturned) {
  options.sampleRows = 2;
  std::string t = "tensor<1x1x3x2xf32>";
  std::string head = "func.func @main(%q: " + t + ") -> " + t + " { ", tail = " return %r : " + t + "\n}\n";
  std::string attend = "%s = arith.constant 1.0 : f32\n %o = attn.attention %q, %q, %q scale(%s) : " + t + ", " + t +
                       ", " + t + " outs(%q : " + t + ") -> " + t + "\n";
  expectError(head + attend + "%r = arith.negf %o : " + t + "\n" + tail, {filled({1, 1, 3, 2}, 1)},
              "expects its results to be returned and used by nothing else");
  std::string inner =
      "func.func private @inner(%q: " + t + ") -> " + t + " { " + attend + " return %o : " + t + "\n}\n";
  expectError(head + "%r = call @inner(%q) : (" + t + ") -> " + t + "\n" + tail + inner, {filled({1, 1, 3, 2}, 1)},
              "expects to be in the evaluated function itself");
}

TEST_F(ReferenceAttentionTest, HugeSizesAreErrors) {
  // No element in any operand, but 2^80 rows.
  const char *text = R"(
    func.func @main(%q: tensor<?x1x?x0xf32>, %k: tensor<?x1x?x0xf32>) -> tensor<?x1x?x0xf32> {
      %s = arith.constant 1.0 : f32
      %r = attn.attention %q, %k, %k scale(%s) : tensor<?x1x?x0xf32>, tensor<?x1x?x0xf32>, tensor<?x1x?x0xf32>
        outs(%q : tensor<?x1x?x0xf32>) -> tensor<?x1x?x0xf32>
      return %r : tensor<?x1x?x0xf32>
    })";
  int64_t huge = int64_t(1) << 40;
  expectError(text, {filled({huge, 1, huge, 0}, 0), filled({huge, 1, 0, 0}, 0)}, "(C15)");
  expectError(text, {filled({1, 1, 1 << 18, 0}, 0), filled({1, 1, huge, 0}, 0)}, "exceeds the limit");
  expectError(attention(""), {filled({1, 1, huge, 0}, 0), filled({1, 1, 0, 0}, 0), filled({1, 1, 0, 0}, 0)},
              "needs a tensor of shape");
}

} // namespace
