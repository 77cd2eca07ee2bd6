//===- VectorMathTest.cpp - the error of vector functions, compiled ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The softmax's exponential (lib/Conversion/FlashLanes/VectorMath.h) and what flash-expand-ops makes of math functions
// on vectors, against the C library in f64 (long double for f64).
//
//===----------------------------------------------------------------------===//

#include "JitTestUtil.h"

#include "lib/Conversion/FlashLanes/VectorMath.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <cstring>

using namespace jit_test;

namespace {

/// A loop over vectors of 16 lanes that computes `expression` of %x; buffers hold a multiple of 16 elements.
std::string program(const std::string &type, const std::string &expression) {
  std::string memref = "memref<?x" + type + ">", vector = "vector<16x" + type + ">";
  return "func.func @f(%in: " + memref + ", %out: " + memref + R"() {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %n = memref.dim %in, %c0 : )" +
         memref + "\n    scf.for %i = %c0 to %n step %c16 {\n      %x = vector.load %in[%i] : " + memref + ", " +
         vector + "\n      %y = " + expression + " : " + vector + "\n      vector.store %y, %out[%i] : " + memref +
         ", " + vector + "\n    }\n    return\n  }";
}

/// Puts the softmax's exponential in the place of upstream's op.
template <typename Op, auto build> void replace(mlir::ModuleOp module) {
  module.walk([](Op op) {
    mlir::ImplicitLocOpBuilder builder(op.getLoc(), op);
    op.getResult().replaceAllUsesWith(build(builder, op.getOperand()));
    op.erase();
  });
}

/// A compiled function on arrays.
template <typename T> class VectorFunction {
public:
  explicit VectorFunction(const std::string &expression, llvm::function_ref<void(mlir::ModuleOp)> change = {})
      : compiled(compile(program(sizeof(T) == 4 ? "f32" : "f64", expression), suiteOptions(), change)) {
    EXPECT_TRUE(compiled.jit) << compiled.error;
  }

  std::vector<T> operator()(std::vector<T> in) const {
    size_t count = in.size();
    in.resize((count + 15) / 16 * 16);
    std::vector<T> out(in.size());
    auto inputs = vector(in), outputs = vector(out);
    attn_rt_call_result result = call(compiled.entry("f"), {&inputs, &outputs});
    EXPECT_EQ(result.code, ATTN_RT_OK) << result.message;
    out.resize(count);
    return out;
  }

private:
  Compiled compiled;
};

/// Base is e or 2.
template <typename T, bool isBase2> VectorFunction<T> softmaxExponential() {
  if (isBase2)
    return VectorFunction<T>("math.exp2 %x", replace<mlir::math::Exp2Op, attn::vectorExp2>);
  return VectorFunction<T>("math.exp %x", replace<mlir::math::ExpOp, attn::vectorExp>);
}

/// 2^20 numbers from low to high, both included.
template <typename T> std::vector<T> spread(T low, T high) {
  constexpr int64_t steps = (1 << 20) - 1;
  std::vector<T> values;
  for (int64_t n = 0; n <= steps; ++n)
    values.push_back(low + (high - low) * (static_cast<T>(n) / steps));
  values.back() = high;
  return values;
}

/// The largest |f(x) / power(x) - 1|; power is of the C library.
template <typename T>
double largestRelativeError(const VectorFunction<T> &exponential, long double (*power)(long double), T low, T high) {
  std::vector<T> x = spread(low, high), y = exponential(x);
  long double largest = 0;
  for (size_t n = 0; n < x.size(); ++n)
    largest = std::max(largest, std::abs(y[n] / power(x[n]) - 1));
  return static_cast<double>(largest);
}

float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

} // namespace

TEST(SoftmaxExponential, F32IsExactToTheStatedError) {
  auto exponential = softmaxExponential<float, false>();
  // Near 0, where softmax has its largest weights, and at the far end, where a bad reduction shows.
  EXPECT_LT(largestRelativeError(exponential, std::exp, -1.0f, 0.0f), 2e-7);
  EXPECT_LT(largestRelativeError(exponential, std::exp, -87.3f, 0.0f), 2e-7);
  EXPECT_LT(largestRelativeError(exponential, std::exp, -87.3f, -80.0f), 2e-7);
}

TEST(SoftmaxExponential, F64IsExactToTheStatedError) {
  auto exponential = softmaxExponential<double, false>();
  EXPECT_LT(largestRelativeError(exponential, std::exp, -1.0, 0.0), 2.5e-16);
  EXPECT_LT(largestRelativeError(exponential, std::exp, -708.3, 0.0), 2.5e-16);
  EXPECT_LT(largestRelativeError(exponential, std::exp, -708.3, -700.0), 2.5e-16);
}

TEST(SoftmaxExponential, Base2IsExactToTheStatedError) {
  auto single = softmaxExponential<float, true>();
  EXPECT_LT(largestRelativeError(single, std::exp2, -1.0f, 0.0f), 2e-7);
  EXPECT_LT(largestRelativeError(single, std::exp2, -126.0f, 0.0f), 2e-7);
  auto twice = softmaxExponential<double, true>();
  EXPECT_LT(largestRelativeError(twice, std::exp2, -1.0, 0.0), 2.5e-16);
  EXPECT_LT(largestRelativeError(twice, std::exp2, -1022.0, 0.0), 2.5e-16);
}

template <typename T, bool isBase2> static void expectSpecialValues() {
  const T infinity = std::numeric_limits<T>::infinity(), lowest = std::numeric_limits<T>::lowest();
  std::vector<T> y = softmaxExponential<T, isBase2>()({T(0), T(-0.0), -infinity, lowest, T(-1e4), infinity});
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[1], 1);
  EXPECT_EQ(y[2], 0);
  EXPECT_EQ(y[3], 0);
  EXPECT_EQ(y[4], 0);
  // Softmax subtracts the maximum, so +inf stands for inf - finite, and makes its row NaN one way or the other.
  EXPECT_FALSE(std::isfinite(y[5]));
}

TEST(SoftmaxExponential, SpecialValues) {
  expectSpecialValues<float, false>();
  expectSpecialValues<double, false>();
  expectSpecialValues<float, true>();
  expectSpecialValues<double, true>();
}

/// Whatever the sign and the payload of the NaN, quiet or not.
TEST(SoftmaxExponential, NaNStaysNaN) {
  std::vector<float> x;
  for (uint32_t payload : {1u, 0x1ffu, 0x200000u, 0x3fffffu, 0x400000u, 0x400001u, 0x4001ffu, 0x7fffffu})
    for (uint32_t sign : {0u, 0x80000000u})
      x.push_back(fromBits(0x7f800000u | sign | payload));
  for (const auto &exponential : {softmaxExponential<float, false>(), softmaxExponential<float, true>()})
    for (float y : exponential(x))
      EXPECT_TRUE(std::isnan(y)) << y;
}

/// Below the smallest normal number the result is off by less than that number, and never negative.
static void expectSmallResults(const VectorFunction<float> &exponential, double (*power)(double), float low,
                               float high) {
  std::vector<float> x = spread(low, high), y = exponential(x);
  for (size_t n = 0; n < x.size(); ++n) {
    ASSERT_FALSE(std::signbit(y[n])) << x[n];
    ASSERT_NEAR(y[n], power(x[n]), std::numeric_limits<float>::min()) << x[n];
  }
}

TEST(SoftmaxExponential, SubnormalResults) {
  expectSmallResults(softmaxExponential<float, false>(), std::exp, -110, -87.3f);
  expectSmallResults(softmaxExponential<float, true>(), std::exp2, -160, -126);
}

namespace {

struct MathFunction {
  const char *name;
  double (*exact)(double);
  float low, high;
  /// Units in the last place of the result, in f32.
  double ulps;
};

/// What upstream's polynomials and ours reach. exp, exp2, log, log2, sin, cos and atan are ours. Denormals, and numbers
/// of every size: test/Integration/CPU/SpecialValuesTest.cpp.
const MathFunction kMathFunctions[] = {
    {"exp", std::exp, -103, 88, 1},        {"exp2", std::exp2, -149, 127.9f, 1},
    {"expm1", std::expm1, -20, 20, 2.5},   {"log", std::log, 1e-6f, 1e6f, 1},
    {"log2", std::log2, 1e-6f, 1e6f, 1},   {"log10", std::log10, 1e-6f, 1e6f, 1},
    {"log1p", std::log1p, -0.99f, 100, 2}, {"tanh", std::tanh, -10, 10, 5},
    {"erf", std::erf, -4, 4, 5},           {"erfc", std::erfc, -4, 9, 3},
    {"sin", std::sin, -1e4f, 1e4f, 1},     {"cos", std::cos, -1e4f, 1e4f, 1},
    {"tan", std::tan, -10, 10, 2},         {"asin", std::asin, -1, 1, 8},
    {"acos", std::acos, -1, 1, 2},         {"atan", std::atan, -100, 100, 0.6},
    {"sinh", std::sinh, -20, 20, 2},       {"cosh", std::cosh, -20, 20, 2},
    {"cbrt", std::cbrt, -1e3f, 1e3f, 1},   {"asinh", std::asinh, -1e3f, 1e3f, 2},
    {"acosh", std::acosh, 1, 1e3f, 2},     {"atanh", std::atanh, -0.999f, 0.999f, 2},
    {"sqrt", std::sqrt, 0, 1e6f, 0.5},
};

void PrintTo(const MathFunction &function, std::ostream *stream) { *stream << function.name; }

/// |y - exact| in units of the last place of `exact` in f32.
double ulpsOff(float y, double exact) {
  int exponent = std::max(std::ilogb(exact), -126);
  return std::abs(y - exact) / std::ldexp(1.0, exponent - 23);
}

class VectorMath : public testing::TestWithParam<MathFunction> {};

} // namespace

TEST_P(VectorMath, IsExactToTheStatedError) {
  const MathFunction &function = GetParam();
  VectorFunction<float> compiled(std::string("math.") + function.name + " %x");
  std::vector<float> x = spread(function.low, function.high), y = compiled(x);
  double largest = 0;
  float at = 0;
  for (size_t n = 0; n < x.size(); ++n) {
    double off = ulpsOff(y[n], function.exact(x[n]));
    ASSERT_EQ(off, off) << "NaN at " << x[n];
    if (off > largest)
      largest = off, at = x[n];
  }
  EXPECT_LE(largest, function.ulps) << "at " << at;
}

/// Zeros, infinities and NaN give what the C library gives.
TEST_P(VectorMath, SpecialValues) {
  const MathFunction &function = GetParam();
  VectorFunction<float> compiled(std::string("math.") + function.name + " %x");
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x = {0.0f, 1.0f, infinity, -infinity, nan}, y = compiled(x);
  for (size_t n = 0; n < x.size(); ++n) {
    double exact = function.exact(x[n]);
    if (std::isnan(exact))
      EXPECT_TRUE(std::isnan(y[n])) << function.name << "(" << x[n] << ") = " << y[n];
    else if (std::isinf(exact) || exact == 0)
      EXPECT_EQ(y[n], exact) << function.name << "(" << x[n] << ")";
    else
      EXPECT_LE(ulpsOff(y[n], exact), function.ulps) << function.name << "(" << x[n] << ") = " << y[n];
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, VectorMath, testing::ValuesIn(kMathFunctions), [](const auto &info) {
  return info.param.name + std::string("_") + std::to_string(info.index);
});
