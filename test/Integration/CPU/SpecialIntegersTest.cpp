//===- SpecialIntegersTest.cpp - integer ops on extremes ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise on tensors, against formulas in 128 bits: all pairs of i8 (on CPUs), and the edges of wider types; where
// an op is undefined, other operands are taken. An odd number of elements leaves a part of a vector at the end, whose
// empty lanes must not be divided by.
//
//===----------------------------------------------------------------------===//

#include "SpecialValues.h"
#include "test/Unit/IntegerOracle.h"

using namespace special_values;
using integer_oracle::Formula;

namespace {

/// All pairs of operands of T; with `all` every number of 8 bits.
template <typename T> std::vector<std::pair<T, T>> pairsOf(bool all) {
  std::vector<int64_t> numbers = integer_oracle::edges(8 * sizeof(T));
  if (all) {
    numbers.clear();
    for (int64_t x = -128; x <= 127; ++x)
      numbers.push_back(x);
  }
  std::vector<std::pair<T, T>> pairs;
  for (int64_t x : numbers)
    for (int64_t y : numbers)
      pairs.push_back({static_cast<T>(x), static_cast<T>(y)});
  while (pairs.size() % 16 != 3)
    pairs.push_back(pairs[pairs.size() / 2]);
  return pairs;
}

/// Other operands where a formula is undefined: a shift within the width, the divisor 3 or the exponent 3.
template <typename T> T defined(const Formula &op, T x, T y) {
  constexpr unsigned bits = 8 * sizeof(T);
  if (op(x, y, bits))
    return y;
  T shift = static_cast<T>(y & (bits - 1));
  return op(x, shift, bits) ? shift : T(3);
}

template <typename T> std::string checkIntegers(const std::string &target, const char *type) {
  constexpr unsigned bits = 8 * sizeof(T);
  auto pairs = pairsOf<T>(sizeof(T) == 1 && !isEmulated(target));
  int64_t count = static_cast<int64_t>(pairs.size());
  std::vector<T> x;
  for (auto [a, b] : pairs)
    x.push_back(a);
  // Ops with the same operands share them.
  std::vector<std::vector<T>> seconds;
  std::vector<Line> lines;
  std::vector<std::pair<const Formula *, std::vector<T>>> expected;
  for (const Formula &op : integer_oracle::ops()) {
    std::vector<T> y;
    for (auto [a, b] : pairs)
      y.push_back(defined(op, a, b));
    size_t at = std::find(seconds.begin(), seconds.end(), y) - seconds.begin();
    if (at == seconds.size())
      seconds.push_back(y);
    lines.push_back({std::string("$r = ") + op.name + (op.isUnary ? " $x : $T" : " $x, $y : $T"), int(at) + 1});
    expected.push_back({&op, y});
  }
  std::vector<attn::Argument> inputs = {attn::view(x, {count})};
  for (std::vector<T> &second : seconds)
    inputs.push_back(attn::view(second, {count}));
  std::vector<std::vector<T>> results(lines.size(), std::vector<T>(count));
  std::vector<attn::MutableTensorView> outputs;
  for (std::vector<T> &result : results)
    outputs.push_back(attn::view(result, {count}));
  std::string text = program(lines, std::vector<std::string>(seconds.size() + 1, type), type, count);
  if (std::string reason = run(text, target, inputs, outputs); !reason.empty())
    return reason;
  // The reference says the same, where it is asked for little and nothing is undefined.
  if (count < 1000 && !isEmulated(target))
    expectAgreement(text, inputs, outputs);
  for (size_t k = 0; k < lines.size(); ++k) {
    const Formula &op = *expected[k].first;
    int failures = 0;
    for (int64_t n = 0; n < count; ++n) {
      T y = expected[k].second[n];
      std::optional<int64_t> value = op(x[n], y, bits);
      if (value && results[k][n] != *value && failures++ < 5)
        ADD_FAILURE() << op.name << "(" << int64_t(x[n]) << ", " << int64_t(y) << ") = " << int64_t(results[k][n])
                      << " of " << type << ", expected " << *value;
    }
  }
  return "";
}

/// Integers as f32: the nearest one.
template <typename T> std::string checkConversions(const std::string &target, const char *type) {
  std::vector<T> x;
  for (int64_t edge : integer_oracle::edges(8 * sizeof(T)))
    x.push_back(static_cast<T>(edge));
  // Between two f32, a tie and what lies beside it.
  for (int64_t tie : {(int64_t(1) << 24) + 1, (int64_t(1) << 62) + (int64_t(1) << 38)})
    for (int64_t step : {-1, 0, 1})
      x.push_back(static_cast<T>(tie + step));
  int64_t count = static_cast<int64_t>(x.size());
  std::vector<float> asSigned(count), asUnsigned(count);
  std::string text =
      program({{"$r = arith.sitofp $x : $N to $T"}, {"$r = arith.uitofp $x : $N to $T"}}, {type}, "f32", count);
  if (std::string reason =
          run(text, target, {attn::view(x, {count})}, {attn::view(asSigned, {count}), attn::view(asUnsigned, {count})});
      !reason.empty())
    return reason;
  for (int64_t n = 0; n < count; ++n) {
    EXPECT_EQ(asSigned[n], static_cast<float>(x[n])) << type << " " << int64_t(x[n]);
    EXPECT_EQ(asUnsigned[n], static_cast<float>(static_cast<std::make_unsigned_t<T>>(x[n])))
        << type << " " << int64_t(x[n]);
  }
  return "";
}

template <typename T> std::string checkType(const std::string &target, const char *type) {
  std::string reason = checkIntegers<T>(target, type);
  return reason.empty() ? checkConversions<T>(target, type) : reason;
}

class SpecialIntegers : public testing::TestWithParam<std::string> {};

} // namespace

TEST_P(SpecialIntegers, I8) {
  if (std::string reason = checkType<int8_t>(GetParam(), "i8"); !reason.empty())
    GTEST_SKIP() << reason;
}
TEST_P(SpecialIntegers, I16) {
  if (std::string reason = checkType<int16_t>(GetParam(), "i16"); !reason.empty())
    GTEST_SKIP() << reason;
}
TEST_P(SpecialIntegers, I32) {
  if (std::string reason = checkType<int32_t>(GetParam(), "i32"); !reason.empty())
    GTEST_SKIP() << reason;
}
TEST_P(SpecialIntegers, I64) {
  if (std::string reason = checkType<int64_t>(GetParam(), "i64"); !reason.empty())
    GTEST_SKIP() << reason;
}

INSTANTIATE_TEST_SUITE_P(Targets, SpecialIntegers, testing::ValuesIn(targets()),
                         [](const auto &info) { return identifier(info.param); });
