//===- RegionRangesTest.cpp - integer ranges against every value of 8 bits ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A range must hold each value that an op can have: all pairs of i8 in many intervals, and the edges of wider types.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Analysis/RegionRanges.h"
#include "IntegerOracle.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <bitset>

using namespace mlir;
using namespace attn;
using integer_oracle::Formula;

namespace {

struct Interval {
  int64_t low, high;
};

/// One op on the arguments of a function.
class RangesOfOp {
public:
  RangesOfOp(const Formula &op, const std::string &type) {
    context.loadDialect<arith::ArithDialect, func::FuncDialect, math::MathDialect>();
    std::string text = "func.func @f(%x: " + type + ", %y: " + type + ") -> " + type + " {\n  %r = " + op.name + " %x" +
                       (op.isUnary ? "" : ", %y") + " : " + type + "\n  return %r : " + type + "\n}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    function = *module->getOps<func::FuncOp>().begin();
  }

  ConstantIntRanges get(Interval x, Interval y) {
    RegionRanges ranges;
    ranges.assume(function.getArgument(0), x.low, x.high);
    ranges.assume(function.getArgument(1), y.low, y.high);
    return ranges.get(function.front().getTerminator()->getOperand(0));
  }

private:
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
};

bool holds(const ConstantIntRanges &range, int64_t value) {
  APInt number(range.smin().getBitWidth(), static_cast<uint64_t>(value), /*isSigned=*/true);
  return range.smin().sle(number) && range.smax().sge(number) && range.umin().ule(number) && range.umax().uge(number);
}

/// Intervals between the edges of i8.
std::vector<Interval> intervalsBetween(const std::vector<int64_t> &edges) {
  std::vector<Interval> intervals;
  for (size_t low = 0; low < edges.size(); ++low)
    for (size_t high = low; high < edges.size(); ++high)
      intervals.push_back({edges[low], edges[high]});
  return intervals;
}

class RegionRangesOf : public testing::TestWithParam<Formula> {};

} // namespace

/// The values of a formula on all pairs of i8.
static std::vector<std::optional<int64_t>> tabulate(const Formula &op) {
  std::vector<std::optional<int64_t>> values;
  for (int64_t x = -128; x <= 127; ++x)
    for (int64_t y = -128; y <= 127; ++y)
      values.push_back(op(x, y, 8));
  return values;
}

TEST_P(RegionRangesOf, HoldEveryValueOf8Bits) {
  const Formula &op = GetParam();
  RangesOfOp ranges(op, "i8");
  const std::vector<std::optional<int64_t>> values = tabulate(op);
  std::vector<Interval> divisors = intervalsBetween({-128, -5, -1, 0, 3, 127});
  for (int64_t y = -128; y <= 127; ++y)
    divisors.push_back({y, y});
  for (Interval x : intervalsBetween({-128, -127, -8, -1, 0, 6, 127}))
    for (Interval y : divisors) {
      ConstantIntRanges range = ranges.get(x, y);
      std::bitset<256> seen;
      for (int64_t a = x.low; a <= x.high; ++a)
        for (int64_t b = y.low; b <= y.high; ++b)
          if (const auto &value = values[256 * (a + 128) + b + 128])
            seen.set(*value + 128);
      for (int64_t value = -128; value <= 127; ++value)
        ASSERT_TRUE(!seen[value + 128] || holds(range, value))
            << op.name << " can be " << value << " with x in [" << x.low << ", " << x.high << "], y in [" << y.low
            << ", " << y.high << "]";
    }
}

TEST_P(RegionRangesOf, HoldTheEdgesOfWiderTypes) {
  const Formula &op = GetParam();
  for (auto [type, bits] :
       {std::pair("i16", 16u), std::pair("i32", 32u), std::pair("i64", 64u), std::pair("index", 64u)}) {
    RangesOfOp ranges(op, type);
    for (int64_t x : integer_oracle::edges(bits))
      for (int64_t y : integer_oracle::edges(bits))
        if (std::optional<int64_t> value = op(x, y, bits))
          EXPECT_TRUE(holds(ranges.get({x, x}, {y, y}), *value))
              << op.name << "(" << x << ", " << y << ") = " << *value << " of " << type;
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, RegionRangesOf, testing::ValuesIn(integer_oracle::ops()), [](const auto &info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});
