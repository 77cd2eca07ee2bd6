//===- ReferenceCompareTest.cpp - rounding and the pass rule -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Reference/Compare.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace attn::reference;

namespace {

class ReferenceCompareTest : public ::testing::Test {
protected:
  Tensor reals(mlir::Type type, std::vector<double> values) {
    return Tensor::fromReals(type, static_cast<int64_t>(values.size()), values);
  }
  Comparison run(mlir::Type type, std::vector<double> actual, std::vector<double> exact,
                 std::vector<double> rounded = {}) {
    return compare(reals(type, actual), reals(type, exact), reals(type, rounded.empty() ? exact : rounded));
  }
  mlir::MLIRContext context;
  mlir::Type f16 = mlir::Float16Type::get(&context), bf16 = mlir::BFloat16Type::get(&context),
             f32 = mlir::Float32Type::get(&context), f64 = mlir::Float64Type::get(&context);
  static constexpr double inf = std::numeric_limits<double>::infinity();
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
};

TEST_F(ReferenceCompareTest, RoundingToSixteenBits) {
  // Ties to even, subnormals, overflow.
  EXPECT_EQ(roundToType(f16, 1 + 0x1p-11), 1.0);
  EXPECT_EQ(roundToType(f16, 1 + 3 * 0x1p-11), 1 + 0x1p-9);
  EXPECT_EQ(roundToType(f16, 0x1p-24), 0x1p-24);
  EXPECT_EQ(roundToType(f16, 0x1p-25), 0.0);
  EXPECT_EQ(roundToType(f16, -0x1.8p-25), -0x1p-24);
  EXPECT_EQ(roundToType(f16, 65519.0), 65504.0);
  EXPECT_EQ(roundToType(f16, 65520.0), inf);
  EXPECT_EQ(roundToType(f16, -1e300), -inf);
  EXPECT_EQ(roundToType(bf16, 1 + 0x1p-8), 1.0);
  EXPECT_EQ(roundToType(bf16, 1 + 0x1p-8 + 0x1p-30), 1 + 0x1p-7);
  EXPECT_EQ(roundToType(bf16, 3.4e38), inf);
  EXPECT_EQ(roundToType(f32, 0.1), double(0.1f));
  EXPECT_TRUE(std::signbit(roundToType(f16, -0.0)));
  EXPECT_TRUE(std::isnan(roundToType(bf16, nan)));
}

TEST_F(ReferenceCompareTest, MeanAndUnknownElements) {
  // Errors 0, 1/8 and 1/4; the infinities agree and add nothing.
  Comparison all = run(f32, {1, 2.125, 3.25, inf}, {1, 2, 3, inf});
  EXPECT_EQ(all.meanError, 0.125);
  EXPECT_EQ(all.numCompared, 4);
  // The unknown elements are neither wrong nor part of the magnitude that the floor is made of.
  Tensor exact = reals(f32, {1, 1e9, 3});
  exact.known = {1, 0, 1};
  Comparison some = compare(reals(f32, {1, nan, 3.5}), exact, reals(f32, {1, -1e9, 3}));
  EXPECT_EQ(some.numCompared, 2);
  EXPECT_EQ(some.numWrong, 1);
  EXPECT_EQ(some.maxError, 0.5);
  EXPECT_EQ(some.allowed, 2e-6 * 3);
  EXPECT_EQ(some.meanError, 0.25);
}

TEST_F(ReferenceCompareTest, UlpOfTypes) {
  EXPECT_EQ(ulpOfType(f16, 1.0), 0x1p-10);
  EXPECT_EQ(ulpOfType(f16, -3.0), 0x1p-9);
  EXPECT_EQ(ulpOfType(f16, 0.0), 0x1p-24);
  EXPECT_EQ(ulpOfType(bf16, 1.5), 0x1p-7);
  EXPECT_EQ(ulpOfType(f32, 1.0), 0x1p-23);
}

TEST_F(ReferenceCompareTest, IntegersWrap) {
  EXPECT_EQ(wrapToType(mlir::IntegerType::get(&context, 8), 200), -56);
  EXPECT_EQ(wrapToType(mlir::IntegerType::get(&context, 1), 3), 1);
  EXPECT_EQ(wrapToType(mlir::IndexType::get(&context), INT64_MIN), INT64_MIN);
}

TEST_F(ReferenceCompareTest, FloorIsTheLeastTolerance) {
  EXPECT_TRUE(run(f32, {1 + 1.9e-6}, {1}).pass);
  EXPECT_FALSE(run(f32, {1 + 2.1e-6}, {1}).pass);
  // The floor grows with the largest output.
  EXPECT_TRUE(run(f32, {1 + 1.9e-5, 10}, {1, 10}).pass);
  EXPECT_TRUE(run(f64, {1 + 0.9e-13}, {1}).pass);
  EXPECT_FALSE(run(f64, {1 + 1.1e-13}, {1}).pass);
  // 16-bit types: one ulp of the element itself.
  EXPECT_TRUE(run(f16, {1 + 0x1p-10, 64}, {1, 64}).pass);
  EXPECT_FALSE(run(f16, {1 + 0x1.1p-10, 64}, {1, 64}).pass);
}

TEST_F(ReferenceCompareTest, TwiceTheErrorOfTheUnfusedFormula) {
  EXPECT_TRUE(run(f32, {1.0019}, {1}, {1.001}).pass);
  Comparison wrong = run(f32, {5, 1.0021}, {5, 1}, {5, 1.001});
  EXPECT_FALSE(wrong.pass);
  EXPECT_EQ(wrong.numWrong, 1);
  EXPECT_EQ(wrong.position, 1);
  EXPECT_NEAR(wrong.maxError, 0.0021, 1e-9);
  EXPECT_NEAR(wrong.allowed, 0.002 + 1e-5, 1e-9);
}

TEST_F(ReferenceCompareTest, NaNAndInfinity) {
  EXPECT_TRUE(run(f32, {nan, 1, inf, -inf}, {nan, 1, inf, -inf}).pass);
  EXPECT_FALSE(run(f32, {nan, 1}, {1, 1}).pass);
  EXPECT_FALSE(run(f32, {1, nan}, {1, 1}).pass);
  EXPECT_FALSE(run(f32, {1}, {nan}).pass);
  EXPECT_FALSE(run(f32, {inf}, {-inf}).pass);
  EXPECT_FALSE(run(f32, {inf}, {1}).pass);
  EXPECT_FALSE(run(f32, {1e38}, {inf}).pass);
  // Beyond the range of f16 the infinity is right.
  EXPECT_TRUE(run(f16, {inf}, {70000}).pass);
  EXPECT_FALSE(run(f16, {-inf}, {70000}).pass);
  // An unfused formula that gave NaN or infinity allows nothing.
  EXPECT_FALSE(run(f32, {2}, {1}, {nan}).pass);
  EXPECT_FALSE(run(f32, {2}, {1}, {inf}).pass);
}

TEST_F(ReferenceCompareTest, ShapesAndIntegers) {
  EXPECT_FALSE(compare(reals(f32, {1}), reals(f32, {1, 2}), reals(f32, {1, 2})).pass);
  EXPECT_TRUE(run(f32, {}, {}).pass);
  mlir::Type i64 = mlir::IntegerType::get(&context, 64);
  int64_t large = (int64_t(1) << 60) + 1;
  auto one = [&](int64_t value) { return Tensor::fromIntegers(i64, {}, {value}); };
  EXPECT_TRUE(compare(one(large), one(large), one(large)).pass);
  // Equal as doubles, but not as integers.
  EXPECT_FALSE(compare(one(large - 1), one(large), one(large)).pass);
}

} // namespace
