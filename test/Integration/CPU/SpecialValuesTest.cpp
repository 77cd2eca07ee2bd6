//===- SpecialValuesTest.cpp - functions of reals on all pairs of special values ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each function, elementwise on tensors, against the C library in long double: on zeros, infinities, NaN, denormals,
// the extremes and ordinary numbers, each beside each other in one vector, and on numbers of every exponent. A value
// must have the same bits wherever it stands.
//
//===----------------------------------------------------------------------===//

#include "SpecialValues.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>

using namespace special_values;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

template <typename T> struct Format;
template <> struct Format<attn::Float16> {
  static constexpr const char *name = "f16";
  static constexpr int digits = 11, least = -14, most = 15;
};
template <> struct Format<attn::BFloat16> {
  static constexpr const char *name = "bf16";
  static constexpr int digits = 8, least = -126, most = 127;
};
template <> struct Format<float> {
  static constexpr const char *name = "f32";
  static constexpr int digits = 24, least = -126, most = 127;
};
template <> struct Format<double> {
  static constexpr const char *name = "f64";
  static constexpr int digits = 53, least = -1022, most = 1023;
};

template <typename T> T fromDouble(double x) {
  if constexpr (sizeof(T) == 2)
    return T(static_cast<float>(x));
  else
    return static_cast<T>(x);
}
template <typename T> double toDouble(T x) {
  if constexpr (sizeof(T) == 2)
    return static_cast<float>(x);
  else
    return x;
}
template <typename T> uint64_t bitsOf(T x) {
  uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof(T));
  return bits;
}

/// |y - exact| in units of the last place of `exact` in T, whose denormals count like its smallest normal number. What
/// differs in kind, or zeros in their sign, are infinitely far. Infinity counts as the number behind the largest.
template <typename T> double ulpsOff(double y, long double exact) {
  using F = Format<T>;
  if (std::isnan(exact) || std::isnan(y))
    return std::isnan(exact) && std::isnan(y) ? 0 : kInfinity;
  if (std::isinf(exact))
    return y == exact ? 0 : kInfinity;
  if ((y == 0 || exact == 0) && std::signbit(y) != std::signbit(exact))
    return kInfinity;
  if (exact == 0)
    return y == 0 ? 0 : kInfinity;
  long double value = std::isinf(y) ? std::copysign(std::ldexp(1.0L, F::most + 1), static_cast<long double>(y)) : y;
  int exponent = std::min(std::max(std::ilogb(exact), F::least), F::most);
  if (std::isinf(y) && std::abs(exact) >= std::ldexp(1.0L, F::most + 1))
    return 0;
  return static_cast<double>(std::abs(value - exact) / std::ldexp(1.0L, exponent - F::digits + 1));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Special and ordinary numbers, each with both signs.
template <typename T> std::vector<T> specialValues() {
  using F = Format<T>;
  const double smallest = std::ldexp(1.0, F::least), ulp = std::ldexp(1.0, 1 - F::digits);
  std::vector<T> values;
  for (double x : {0.0,
                   1.0,
                   2.0,
                   3.0,
                   0.5,
                   kInfinity,
                   kNaN,
                   smallest,
                   smallest * ulp,
                   smallest * 0.171875,
                   smallest * (1 - ulp),
                   std::ldexp(2 - ulp, F::most),
                   0x1p30,
                   1e10,
                   1e-3,
                   0.1,
                   0.75,
                   1.5,
                   7.25,
                   30.3,
                   88.1,
                   104.5,
                   1e4,
                   1e20,
                   1e-5,
                   1 - ulp / 2,
                   1 + ulp,
                   0x1p24 + 2})
    for (double sign : {1.0, -1.0})
      values.push_back(fromDouble<T>(std::copysign(x, sign)));
  return values;
}

/// Every pair of `values` side by side, then numbers of every exponent, and an odd one at the end.
template <typename T> std::vector<T> neighbours(const std::vector<T> &values) {
  std::vector<T> result;
  for (T a : values)
    for (T b : values) {
      result.push_back(a);
      result.push_back(b);
    }
  using F = Format<T>;
  const int first = F::least - F::digits, count = 2048;
  for (int k = 0; k < count; ++k) {
    int exponent = first + (F::most - first) * k / count;
    double fraction = 1 + std::fmod(k * 0.61803398874989485, 1.0);
    result.push_back(fromDouble<T>(std::ldexp(k % 2 ? -fraction : fraction, exponent)));
  }
  result.push_back(fromDouble<T>(1));
  return result;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

struct Unary {
  const char *name;
  long double (*exact)(long double);
  /// The largest error in f32, on CPUs and GPUs; 0 where the result is exact in every type.
  double ulps;
};

// The numbers of the table of flash-expand-ops (dialects/Flash/Reference.md).
const Unary kUnary[] = {
    {"arith.negf", [](long double x) { return -x; }, 0},
    {"math.absf", std::fabs, 0},
    {"math.acos", std::acos, 1.5},
    {"math.acosh", std::acosh, 2},
    {"math.asin", std::asin, 8},
    {"math.asinh", std::asinh, 2},
    {"math.atan", std::atan, 1},
    {"math.atanh", std::atanh, 2},
    {"math.cbrt", std::cbrt, 1},
    {"math.ceil", std::ceil, 0},
    {"math.cos", std::cos, 0.6},
    {"math.cosh", std::cosh, 2},
    {"math.erf", std::erf, 5},
    {"math.erfc", std::erfc, 3},
    {"math.exp", std::exp, 1},
    {"math.exp2", std::exp2, 0.6},
    {"math.expm1", std::expm1, 3},
    {"math.floor", std::floor, 0},
    {"math.log", std::log, 1},
    {"math.log10", std::log10, 2},
    {"math.log1p", std::log1p, 3},
    {"math.log2", std::log2, 1},
    {"math.round", std::round, 0},
    {"math.roundeven", std::nearbyint, 0},
    {"math.rsqrt", [](long double x) { return 1 / std::sqrt(x); }, 1.5},
    {"math.sin", std::sin, 0.6},
    {"math.sinh", std::sinh, 2},
    {"math.sqrt", std::sqrt, 0.5},
    {"math.tan", std::tan, 2},
    {"math.tanh", std::tanh, 5},
    {"math.trunc", std::trunc, 0},
};

struct Binary {
  std::string text;
  long double (*exact)(long double, long double);
  double ulps;
};

long double maximum(long double x, long double y) {
  if (std::isnan(x) || std::isnan(y))
    return kNaN;
  return x == y ? (std::signbit(x) ? y : x) : std::max(x, y);
}

std::string named(const char *op) { return std::string("$r = ") + op + " $x, $y : $T"; }
std::string ifCompared(const char *predicate) {
  return std::string("$c = arith.cmpf ") + predicate + ", $x, $y : $T\n  $r = arith.select $c, $x, $y : $I, $T";
}
std::string ifClass(const char *op) {
  return std::string("$c = ") + op + " $x : $T\n  $r = arith.select $c, $x, $y : $I, $T";
}

const Binary kBinary[] = {
    {named("arith.addf"), [](long double x, long double y) { return x + y; }, 0.5},
    {named("arith.subf"), [](long double x, long double y) { return x - y; }, 0.5},
    {named("arith.mulf"), [](long double x, long double y) { return x * y; }, 0.5},
    {named("arith.divf"), [](long double x, long double y) { return x / y; }, 0.5},
    {named("arith.remf"), std::fmod, 0},
    {named("arith.maximumf"), maximum, 0},
    {named("arith.minimumf"), [](long double x, long double y) { return -maximum(-x, -y); }, 0},
    {named("math.copysign"), std::copysign, 0},
    {named("math.atan2"), std::atan2, 1.5},
    {named("math.powf"), std::pow, 0.6},
    {"$r = math.fma $x, $y, $x : $T", [](long double x, long double y) { return std::fma(x, y, x); }, 0.5},
    {ifCompared("oeq"), [](long double x, long double y) { return x == y ? x : y; }, 0},
    {ifCompared("ogt"), [](long double x, long double y) { return x > y ? x : y; }, 0},
    {ifCompared("oge"), [](long double x, long double y) { return x >= y ? x : y; }, 0},
    {ifCompared("olt"), [](long double x, long double y) { return x < y ? x : y; }, 0},
    {ifCompared("ole"), [](long double x, long double y) { return x <= y ? x : y; }, 0},
    {ifCompared("one"), [](long double x, long double y) { return std::islessgreater(x, y) ? x : y; }, 0},
    {ifCompared("ord"), [](long double x, long double y) { return std::isunordered(x, y) ? y : x; }, 0},
    {ifCompared("ueq"), [](long double x, long double y) { return std::islessgreater(x, y) ? y : x; }, 0},
    {ifCompared("ugt"), [](long double x, long double y) { return x <= y ? y : x; }, 0},
    {ifCompared("uge"), [](long double x, long double y) { return x < y ? y : x; }, 0},
    {ifCompared("ult"), [](long double x, long double y) { return x >= y ? y : x; }, 0},
    {ifCompared("ule"), [](long double x, long double y) { return x > y ? y : x; }, 0},
    {ifCompared("une"), [](long double x, long double y) { return x == y ? y : x; }, 0},
    {ifCompared("uno"), [](long double x, long double y) { return std::isunordered(x, y) ? x : y; }, 0},
    {ifClass("math.isnan"), [](long double x, long double y) { return std::isnan(x) ? x : y; }, 0},
    {ifClass("math.isinf"), [](long double x, long double y) { return std::isinf(x) ? x : y; }, 0},
    {ifClass("math.isfinite"), [](long double x, long double y) { return std::isfinite(x) ? x : y; }, 0},
};

/// The larger or smaller one, and the other where one is NaN. Zeros count as equal: either may come.
const Binary kEitherZero[] = {
    {named("arith.maxnumf"), std::fmax, 0},
    {named("arith.minnumf"), std::fmin, 0},
};

/// What is allowed for a function of T that is off by `ulps` in f32. Functions of 16-bit types are computed in f32 and
/// rounded. Those of f64 are the C library's.
template <typename T> double allowedUlps(double ulps) {
  if (ulps == 0)
    return 0;
  return sizeof(T) == 4 ? ulps : sizeof(T) == 2 ? 0.502 : ulps == 0.5 ? 0.501 : 4;
}

} // namespace

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

namespace {

/// Remembers the first results of arguments, and reports the first few failures.
class Judge {
public:
  /// `isRepeated`: arguments come more than once.
  Judge(std::string name, bool isRepeated) : name(std::move(name)), isRepeated(isRepeated) {}

  template <typename T> void check(const std::vector<double> &arguments, T y, long double exact, double allowed) {
    double off = ulpsOff<T>(toDouble(y), exact);
    if (!(off <= allowed) && failures++ < 5)
      ADD_FAILURE() << describe(arguments) << " = " << toDouble(y) << ", expected " << exact << ", off by " << off
                    << " ulp, allowed " << allowed;
    if (!isRepeated)
      return;
    std::vector<uint64_t> key;
    for (double argument : arguments)
      key.push_back(bitsOf(argument));
    uint64_t bits = std::isnan(toDouble(y)) ? ~uint64_t(0) : bitsOf(y);
    if (first.try_emplace(key, bits).first->second != bits && failures++ < 5)
      ADD_FAILURE() << describe(arguments) << " depends on what stands beside it";
  }

private:
  std::string describe(const std::vector<double> &arguments) const {
    std::string text = name;
    for (double argument : arguments) {
      char number[32];
      std::snprintf(number, sizeof(number), " %.9g", argument);
      text += number;
    }
    return text;
  }

  std::string name;
  bool isRepeated;
  int failures = 0;
  std::map<std::vector<uint64_t>, uint64_t> first;
};

template <typename T>
std::vector<std::vector<T>> runLines(const std::vector<Line> &lines, const std::string &target,
                                     std::vector<attn::Argument> inputs, const std::vector<std::string> &types,
                                     int64_t count, std::string &skipped, Form form) {
  std::vector<std::vector<T>> results(lines.size(), std::vector<T>(count));
  std::vector<attn::MutableTensorView> outputs;
  for (std::vector<T> &result : results)
    outputs.push_back(attn::view(result, {count}));
  skipped = run(program(lines, types, Format<T>::name, count, form), target, inputs, outputs);
  return results;
}

template <typename T> std::string checkUnary(const std::string &target, Form form = Form::Tensors) {
  std::vector<T> x = isEmulated(target) ? neighbours<T>({}) : neighbours(specialValues<T>());
  if (isEmulated(target))
    for (T value : specialValues<T>())
      x.push_back(value);
  std::vector<Line> lines;
  for (const Unary &f : kUnary)
    lines.push_back({std::string("$r = ") + f.name + " $x : $T"});
  std::string skipped;
  int64_t count = static_cast<int64_t>(x.size());
  auto y = runLines<T>(lines, target, {attn::view(x, {count})}, {Format<T>::name}, count, skipped, form);
  for (size_t k = 0; skipped.empty() && k < std::size(kUnary); ++k) {
    Judge judge(kUnary[k].name, /*isRepeated=*/true);
    for (int64_t n = 0; n < count; ++n)
      judge.check<T>({toDouble(x[n])}, y[k][n], kUnary[k].exact(toDouble(x[n])), allowedUlps<T>(kUnary[k].ulps));
  }
  return skipped;
}

template <typename T> std::string checkBinary(const std::string &target, Form form = Form::Tensors) {
  std::vector<T> values = specialValues<T>(), a, b;
  for (T x : values)
    for (T y : values) {
      a.push_back(x);
      b.push_back(y);
    }
  std::vector<Binary> functions(std::begin(kBinary), std::end(kBinary));
  functions.insert(functions.end(), std::begin(kEitherZero), std::end(kEitherZero));
  std::vector<Line> lines;
  for (const Binary &f : functions)
    lines.push_back({f.text});
  std::string skipped;
  int64_t count = static_cast<int64_t>(a.size());
  auto y = runLines<T>(lines, target, {attn::view(a, {count}), attn::view(b, {count})},
                       {Format<T>::name, Format<T>::name}, count, skipped, form);
  for (size_t k = 0; skipped.empty() && k < functions.size(); ++k) {
    Judge judge(functions[k].text, /*isRepeated=*/false);
    for (int64_t n = 0; n < count; ++n) {
      long double exact = functions[k].exact(toDouble(a[n]), toDouble(b[n]));
      if (k >= std::size(kBinary) && exact == 0)
        exact = std::copysign(exact, toDouble(y[k][n]));
      judge.check<T>({toDouble(a[n]), toDouble(b[n])}, y[k][n], exact, allowedUlps<T>(functions[k].ulps));
    }
  }
  return skipped;
}

/// x^n in long double, with the sign by the parity of n, which long double may not hold.
long double integerPower(double x, int64_t n) {
  long double size = std::pow(std::fabs(static_cast<long double>(x)), static_cast<long double>(n));
  return n % 2 ? std::copysign(size, static_cast<long double>(x)) : size;
}

template <typename T, typename N> std::string checkIntegerPowers(const std::string &target, const char *integer) {
  std::vector<T> x;
  std::vector<N> n;
  const int64_t exponents[] = {0,
                               1,
                               2,
                               3,
                               -1,
                               -2,
                               -3,
                               5,
                               31,
                               -32,
                               100,
                               -100,
                               65535,
                               1000001,
                               INT32_MAX,
                               INT32_MIN,
                               (int64_t(1) << 53) + 1,
                               -(int64_t(1) << 53) - 1,
                               INT64_MAX,
                               INT64_MIN};
  for (T base : specialValues<T>())
    for (int64_t exponent : exponents)
      if (exponent == static_cast<N>(exponent)) {
        x.push_back(base);
        n.push_back(static_cast<N>(exponent));
      }
  std::string skipped, type = integer;
  int64_t count = static_cast<int64_t>(x.size());
  std::vector<Line> lines = {{"$r = math.fpowi $x, $y : $T, $N"}};
  for (int constant : {0, 1, 2, 3, 7, -1, -2, -3, 64, -64, 1001})
    lines.push_back(
        {"$c = arith.constant dense<" + std::to_string(constant) + "> : $N\n  $r = math.fpowi $x, $c : $T, $N"});
  auto y = runLines<T>(lines, target, {attn::view(x, {count}), attn::view(n, {count})}, {Format<T>::name, type}, count,
                       skipped, Form::Tensors);
  for (size_t k = 0; skipped.empty() && k < lines.size(); ++k) {
    Judge judge("math.fpowi", /*isRepeated=*/false);
    const int64_t constants[] = {0, 0, 1, 2, 3, 7, -1, -2, -3, 64, -64, 1001};
    for (int64_t e = 0; e < count; ++e) {
      int64_t exponent = k ? constants[k] : n[e];
      double base = toDouble(x[e]), size = std::fabs(base);
      // Next to 1 in f64 the rounding of an exponent of more than 53 bits shows.
      if (sizeof(T) == 8 && size != 1 && std::fabs(size - 1) < 0.01 &&
          std::fabs(static_cast<double>(exponent)) > 0x1p53)
        continue;
      judge.check<T>({base, static_cast<double>(exponent)}, y[k][e], integerPower(base, exponent),
                     allowedUlps<T>(k ? 1 : 0.6));
    }
  }
  return skipped;
}

class SpecialValues : public testing::TestWithParam<std::string> {};

} // namespace

#define ATTN_SKIP_OR_PASS(check)                                                                                       \
  if (std::string reason = check; !reason.empty())                                                                     \
  GTEST_SKIP() << reason

TEST_P(SpecialValues, UnaryF32) { ATTN_SKIP_OR_PASS(checkUnary<float>(GetParam())); }
TEST_P(SpecialValues, BinaryF32) { ATTN_SKIP_OR_PASS(checkBinary<float>(GetParam())); }
TEST_P(SpecialValues, IntegerPowersOfF32) {
  ATTN_SKIP_OR_PASS((checkIntegerPowers<float, int32_t>(GetParam(), "i32")));
  ATTN_SKIP_OR_PASS((checkIntegerPowers<float, int64_t>(GetParam(), "i64")));
}

/// f16 and bf16 on CPUs, one of them on each GPU.
TEST_P(SpecialValues, HalfTypes) {
  if (GetParam() != "emulator:sm_90a") {
    ATTN_SKIP_OR_PASS(checkUnary<attn::Float16>(GetParam()));
    ATTN_SKIP_OR_PASS(checkBinary<attn::Float16>(GetParam()));
    ATTN_SKIP_OR_PASS((checkIntegerPowers<attn::Float16, int64_t>(GetParam(), "i64")));
  }
  if (GetParam() != "emulator:sm_80") {
    ATTN_SKIP_OR_PASS(checkUnary<attn::BFloat16>(GetParam()));
    ATTN_SKIP_OR_PASS(checkBinary<attn::BFloat16>(GetParam()));
  }
}

class SpecialValuesOfCpu : public testing::TestWithParam<std::string> {};

// A GPU has no functions of f64.
TEST_P(SpecialValuesOfCpu, F64) {
  ATTN_SKIP_OR_PASS(checkUnary<double>(GetParam()));
  ATTN_SKIP_OR_PASS(checkBinary<double>(GetParam()));
  ATTN_SKIP_OR_PASS((checkIntegerPowers<double, int64_t>(GetParam(), "i64")));
}

/// One by one: code of its own on a CPU, where a GPU has no other.
TEST_P(SpecialValuesOfCpu, Scalars) {
  ATTN_SKIP_OR_PASS(checkUnary<float>(GetParam(), Form::Scalars));
  ATTN_SKIP_OR_PASS(checkBinary<float>(GetParam(), Form::Scalars));
  ATTN_SKIP_OR_PASS(checkUnary<double>(GetParam(), Form::Scalars));
}

//===----------------------------------------------------------------------===//
// In score regions
//===----------------------------------------------------------------------===//

/// Rows and keys of one tile that hold two values in turn: (a, b) in one row, (b, a) in the next. With two keys lse is
/// that of f(a) and f(b) in every row, to the bit.
TEST_P(SpecialValues, RowsDoNotDependOnTheirNeighbours) {
  const std::vector<float> values = {2, -0.5f, 1e10f, 0x1p30f, -3e38f};
  const int64_t pairs = static_cast<int64_t>(values.size() * values.size()), rows = 18;
  std::vector<float> x, zeros(pairs * rows), out(pairs * rows);
  for (float a : values)
    for (float b : values)
      for (int64_t k = 0; k <= rows; ++k)
        x.push_back(k % 2 ? b : a);
  const std::pair<const char *, double (*)(double)> functions[] = {
      {"math.sin %v", std::sin},
      {"math.cos %v", std::cos},
      {"math.atan %v", std::atan},
      {"arith.remf %v, %three", [](double v) { return std::fmod(v, 3.0); }}};
  for (auto [text, function] : functions) {
    std::string program = R"(
func.func @f(%q: tensor<25x1x18x1xf32>, %k: tensor<25x1x2x1xf32>, %t: tensor<25x19xf32>) -> tensor<25x1x18xf32> {
  %s = arith.constant 1.0 : f32
  %three = arith.constant 3.0 : f32
  %o = tensor.empty() : tensor<25x1x18x1xf32>
  %l = tensor.empty() : tensor<25x1x18xf32>
  %r, %lse = attn.attention %q, %k, %k scale(%s) score(%x, %b, %h, %i, %j) {
    %n = arith.addi %i, %j : index
    %v = tensor.extract %t[%b, %n] : tensor<25x19xf32>
    %y = )" + std::string(text) +
                          R"( : f32
    attn.yield %y : f32
  } : tensor<25x1x18x1xf32>, tensor<25x1x2x1xf32>, tensor<25x1x2x1xf32> outs(%o : tensor<25x1x18x1xf32>)
      lse(%l : tensor<25x1x18xf32>) -> tensor<25x1x18x1xf32>, tensor<25x1x18xf32>
  return %lse : tensor<25x1x18xf32>
})";
    std::string skipped = run(
        program, GetParam(),
        {attn::view(zeros, {pairs, 1, rows, 1}), attn::view(zeros, {pairs, 1, 2, 1}), attn::view(x, {pairs, rows + 1})},
        {attn::view(out, {pairs, 1, rows})});
    if (!skipped.empty())
      GTEST_SKIP() << skipped;
    for (int64_t pair = 0; pair < pairs; ++pair) {
      double a = x[pair * (rows + 1)], b = x[pair * (rows + 1) + 1];
      double exact = std::log(std::exp(function(a)) + std::exp(function(b)));
      for (int64_t k = 0; k < rows; ++k)
        ASSERT_NEAR(out[pair * rows + k], exact, 1e-6) << text << " of " << a << " and " << b << " in row " << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, SpecialValues, testing::ValuesIn(targets()),
                         [](const auto &info) { return identifier(info.param); });
INSTANTIATE_TEST_SUITE_P(Targets, SpecialValuesOfCpu, testing::ValuesIn(cpuTargets()),
                         [](const auto &info) { return identifier(info.param); });
