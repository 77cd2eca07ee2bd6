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

/// exp(unit * x) as the softmax has it.
template <typename T> VectorFunction<T> softmaxExponential(double unit = 1) {
  return VectorFunction<T>("math.exp %x", [=](mlir::ModuleOp module) {
    module.walk([=](mlir::math::ExpOp op) {
      mlir::ImplicitLocOpBuilder builder(op.getLoc(), op);
      op.getResult().replaceAllUsesWith(attn::lanes::vectorExp(builder, op.getOperand(), unit));
      op.erase();
    });
  });
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

/// The largest |f(x) / e^(unit x) - 1| less `slope` |unit x|, for unit x from low to 0; the power is of the C library.
template <typename T> double largestRelativeError(double unit, double low, double slope = 0) {
  std::vector<T> x = spread(static_cast<T>(low / unit), T(0)), y = softmaxExponential<T>(unit)(x);
  long double largest = 0;
  for (size_t n = 0; n < x.size(); ++n) {
    long double exponent = unit * static_cast<long double>(x[n]);
    largest = std::max(largest, std::abs(y[n] / std::exp(exponent) - 1) + slope * exponent);
  }
  return static_cast<double>(largest);
}

float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

} // namespace

TEST(SoftmaxExponential, F32IsExactToTheStatedError) {
  // Near 0, where softmax has its largest weights, and to the far end, where a bad reduction shows.
  for (double unit : {1.0, 0.125, 0x1p-16}) {
    EXPECT_LT(largestRelativeError<float>(unit, -1), 1.8e-7) << unit;
    EXPECT_LT(largestRelativeError<float>(unit, -87.3, 3e-9), 1.8e-7) << unit;
  }
  for (double unit : {0x1.6a09e6p-4, 0x1.333334p-2, 0x1.fffffep-1})
    EXPECT_LT(largestRelativeError<float>(unit, -87.3, 0x1p-24), 1.8e-7) << unit;
}

TEST(SoftmaxExponential, F64IsExactToTheStatedError) {
  for (double unit : {1.0, 0x1.6a09e667f3bcdp-4, 0x1p-16}) {
    EXPECT_LT(largestRelativeError<double>(unit, -1), 2.5e-16) << unit;
    EXPECT_LT(largestRelativeError<double>(unit, -708.3), 2.5e-16) << unit;
  }
}

template <typename T> static void expectSpecialValues(double unit) {
  const T infinity = std::numeric_limits<T>::infinity(), lowest = std::numeric_limits<T>::lowest();
  std::vector<T> y = softmaxExponential<T>(unit)({T(0), T(-0.0), -infinity, lowest, T(-1e9), infinity});
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[1], 1);
  EXPECT_EQ(y[2], 0);
  EXPECT_EQ(y[3], 0);
  EXPECT_EQ(y[4], 0);
  // Softmax subtracts the maximum, so +inf stands for inf - finite, and makes its row NaN one way or the other.
  EXPECT_FALSE(std::isfinite(y[5]));
}

TEST(SoftmaxExponential, SpecialValues) {
  for (double unit : {1.0, 0x1.6a09e6p-4, 0x1p-16}) {
    expectSpecialValues<float>(unit);
    expectSpecialValues<double>(unit);
  }
}

/// Whatever the sign and the payload of the NaN, quiet or not.
TEST(SoftmaxExponential, NaNStaysNaN) {
  std::vector<float> x;
  for (uint32_t payload : {1u, 0x1ffu, 0x200000u, 0x3fffffu, 0x400000u, 0x400001u, 0x4001ffu, 0x7fffffu})
    for (uint32_t sign : {0u, 0x80000000u})
      x.push_back(fromBits(0x7f800000u | sign | payload));
  for (double unit : {1.0, 0x1.6a09e6p-4})
    for (float y : softmaxExponential<float>(unit)(x))
      EXPECT_TRUE(std::isnan(y)) << y;
}

/// Below the smallest normal number the result is off by less than that number, and never negative.
TEST(SoftmaxExponential, SubnormalResults) {
  std::vector<float> x = spread(-110.0f, -87.3f), y = softmaxExponential<float>()(x);
  for (size_t n = 0; n < x.size(); ++n) {
    ASSERT_FALSE(std::signbit(y[n])) << x[n];
    ASSERT_NEAR(y[n], std::exp(double(x[n])), std::numeric_limits<float>::min()) << x[n];
  }
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
