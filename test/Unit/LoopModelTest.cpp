//===- LoopModelTest.cpp - block sizes of the linalg around attention ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Target/LoopModel.h"

#include <limits>

#include "gtest/gtest.h"
#include <utility>

using namespace attn;

namespace {

TargetDescription makeTarget(unsigned bits, unsigned registers, bool hasFma) {
  TargetDescription target;
  target.vectorBits = bits;
  target.vectorRegisters = registers;
  target.hasFma = hasFma;
  return target;
}

const TargetDescription avx2 = makeTarget(256, 16, true), avx512 = makeTarget(512, 32, true),
                        sse2 = makeTarget(128, 16, false);

TEST(Contraction, BlocksFitTheRegisters) {
  for (const TargetDescription &target : {avx2, avx512, sse2})
    for (unsigned bits : {32u, 64u})
      for (int64_t m : {-1, 0, 1, 2, 3, 5, 7, 12, 13, 512}) {
        ContractionSizes sizes = chooseContraction(target, {m, 768, 768, 1, bits, true});
        int64_t vectors = sizes.lanes * bits / target.vectorBits;
        EXPECT_EQ(sizes.lanes * bits % target.vectorBits, 0u);
        EXPECT_LE(sizes.blockRows * vectors + 1, target.vectorRegisters) << target.vectorBits << " m " << m;
        EXPECT_EQ(sizes.tileColumns % sizes.lanes, 0) << m;
        EXPECT_TRUE(sizes.tileRows % sizes.blockRows == 0 || sizes.tileRows == m) << m;
      }
}

TEST(Contraction, SizesNearTheLargestNumberAreLikeLargeOnes) {
  constexpr int64_t large = 1 << 20, huge = std::numeric_limits<int64_t>::max();
  ContractionSizes expected = chooseContraction(avx2, {large, large, large}),
                   got = chooseContraction(avx2, {huge, huge, huge});
  EXPECT_EQ(got.depth, expected.depth);
  EXPECT_EQ(got.tileRows, expected.tileRows);
  EXPECT_EQ(got.lanes, expected.lanes);
  EXPECT_GT(got.tileColumns, 0);
  EXPECT_EQ(got.tileColumns % got.lanes, 0);
}

TEST(Contraction, ManyRowsCopyTheRightOperand) {
  ContractionSizes sizes = chooseContraction(avx2, {512, 768, 768});
  EXPECT_EQ(sizes.blockRows, 6);
  EXPECT_EQ(sizes.lanes, 16);
  EXPECT_TRUE(sizes.packsRight);
  EXPECT_TRUE(sizes.isParallel);
  // A panel is half of the first-level cache, the copied part is within the second.
  EXPECT_EQ(sizes.depth * sizes.lanes * 4, avx2.l1Bytes / 2);
  EXPECT_LE(sizes.depth * sizes.tileColumns * 4, avx2.l2Bytes / 2);
  EXPECT_EQ(chooseContraction(avx512, {512, 768, 768}).lanes, 64);
  EXPECT_EQ(chooseContraction(sse2, {512, 768, 768}).blockRows, 4);
}

TEST(Contraction, FewRowsReadInPlaceAndWide) {
  ContractionSizes one = chooseContraction(avx2, {1, 4096, 4096});
  EXPECT_FALSE(one.packsRight);
  EXPECT_EQ(one.blockRows, 1);
  EXPECT_EQ(one.lanes, 64);
  EXPECT_EQ(one.depth, 0);
  EXPECT_FALSE(chooseContraction(avx2, {12, 4096, 4096}).packsRight);
  EXPECT_TRUE(chooseContraction(avx2, {13, 4096, 4096}).packsRight);
  // Rows of the right operand along k must be turned, which pays from four rows on.
  EXPECT_FALSE(chooseContraction(avx2, {3, 4096, 4096, 1, 32, false}).packsRight);
  EXPECT_TRUE(chooseContraction(avx2, {4, 4096, 4096, 1, 32, false}).packsRight);
  // Narrow results have no use for wide blocks.
  EXPECT_EQ(chooseContraction(avx2, {1, 8, 4096}).lanes, 8);
}

TEST(Contraction, SmallOnesStayOnTheCaller) {
  EXPECT_FALSE(chooseContraction(avx2, {8, 8, 8}).isParallel);
  EXPECT_TRUE(chooseContraction(avx2, {8, 8, 8, 4096}).isParallel);
  EXPECT_TRUE(chooseContraction(avx2, {-1, 8, 8}).isParallel);
  EXPECT_FALSE(chooseContraction(avx2, {0, 4096, 4096}).isParallel);
}

/// Products of f32 operands.
MergeQuery makeMerge(int64_t m, int64_t k, std::vector<int64_t> n, bool isRightConstant) {
  MergeQuery query;
  query.m = m;
  query.k = k;
  query.n = std::move(n);
  query.isRightConstant = isRightConstant;
  return query;
}

TEST(Merge, ConstantsMergeWhileTheirResultsStayInTheCaches) {
  for (int64_t m : {1, 12, 64, 200}) {
    MergeEstimate estimate = estimateMerge(avx2, makeMerge(m, 768, {768, 768, 768}, true));
    EXPECT_EQ(estimate.cost, 0) << m;
    // Two starts of three; loops of that size are parallel.
    EXPECT_EQ(estimate.saved, 2 * 2500) << m;
    EXPECT_TRUE(estimate.isWorth()) << m;
  }
  // 4096 x 384 results of 4 bytes, 0.2 ns each byte.
  MergeEstimate far = estimateMerge(avx2, makeMerge(4096, 128, {128, 128, 128}, true));
  EXPECT_DOUBLE_EQ(far.cost, 0.2 * 4096 * 384 * 4);
  EXPECT_FALSE(far.isWorth());
}

TEST(Merge, CopiesOfWideOperandsNeverPay) {
  for (int64_t m : {1, 12, 16, 64, 512, 4096})
    for (int64_t size : {256, 768, 4096}) {
      MergeEstimate estimate = estimateMerge(avx2, makeMerge(m, size, {size, size, size}, false));
      EXPECT_GE(estimate.cost, 0.15 * 3 * size * size * 4) << m;
      EXPECT_FALSE(estimate.isWorth()) << m << " x " << size;
    }
}

TEST(Merge, CopiesOfNarrowOperandsPayFromSomeRowsOn) {
  // 3 x 8 columns are 3 blocks of 16 apart and 2 together: 16 columns less. A nanosecond is 32 multiply-adds.
  MergeEstimate estimate = estimateMerge(avx2, makeMerge(2048, 768, {8, 8, 8}, false));
  EXPECT_DOUBLE_EQ(estimate.saved, 2 * 2500 + 16.0 * 2048 * 768 / 32);
  EXPECT_TRUE(estimate.isWorth());
  EXPECT_FALSE(estimateMerge(avx2, makeMerge(32, 768, {8, 8, 8}, false)).isWorth());
  EXPECT_FALSE(estimateMerge(avx2, makeMerge(12, 768, {8, 8, 8}, false)).isWorth());
}

TEST(Loop, LightBodiesTakeFourVectors) {
  EXPECT_EQ(chooseLoop(avx2, {32, 1, 0, false}).lanes, 8);
  EXPECT_EQ(chooseLoop(avx2, {32, 1, 0, false}).mainLanes, 32);
  EXPECT_EQ(chooseLoop(avx2, {32, 8, 1, false}).mainLanes, 8);
  EXPECT_EQ(chooseLoop(avx2, {32, 8, 0, true}).mainLanes, 16);
  EXPECT_EQ(chooseLoop(avx512, {64, 1, 0, false}).lanes, 8);
  EXPECT_EQ(chooseLoop(sse2, {16, 1, 0, false}).lanes, 8);
}

TEST(Loop, FunctionsAreMoreWork) {
  EXPECT_GT(chooseLoop(avx2, {32, 1, 2, false}).elementWork, 4 * chooseLoop(avx2, {32, 1, 0, false}).elementWork);
  EXPECT_GE(chooseLoop(avx2, {8, 0, 0, false}).elementWork, 1);
}

} // namespace
