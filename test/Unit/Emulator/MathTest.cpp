//===- MathTest.cpp - arithmetic and conversions ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "EmulatorTestUtil.h"
#include "lib/Emulator/Numbers.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <limits>

using namespace attn::emulator;
using namespace attn::emulator::test;

/// Runs `body`, which makes the i32 %r of the floats %x and %y, for pairs of them.
static std::vector<uint32_t> run(const std::string &body, const std::vector<float> &x, const std::vector<float> &y) {
  auto program = compile(R"(
define ptx_kernel void @kernel(ptr addrspace(1) %px, ptr addrspace(1) %py, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ax = getelementptr float, ptr addrspace(1) %px, i32 %t
  %ay = getelementptr float, ptr addrspace(1) %py, i32 %t
  %x = load float, ptr addrspace(1) %ax
  %y = load float, ptr addrspace(1) %ay
)" + body + R"(
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %r, ptr addrspace(1) %o
  ret void
})");
  std::vector<uint32_t> out(x.size());
  if (!program)
    return out;
  EXPECT_EQ(Call(1, int64_t(x.size())).with(x.data()).with(y.data()).with(out.data()).run(*program), "");
  return out;
}

static std::vector<float> unary(const std::string &name, const std::vector<float> &x) {
  auto bits = run("%f = call float @llvm.nvvm." + name + "(float %x)\n%r = bitcast float %f to i32", x, x);
  std::vector<float> values;
  for (uint32_t value : bits)
    values.push_back(toFloat(value));
  return values;
}

static constexpr float kInfinity = std::numeric_limits<float>::infinity();
static constexpr float kDenormal = 1e-40f;

TEST(Math, ApproximationsAreAccurate) {
  const std::vector<float> x = {0.25f, 1.0f, 3.0f, 7.5f};
  const std::pair<const char *, double (*)(double)> functions[] = {
      {"ex2.approx.f32", [](double v) { return std::exp2(v); }},
      {"ex2.approx.ftz.f32", [](double v) { return std::exp2(v); }},
      {"lg2.approx.f", [](double v) { return std::log2(v); }},
      {"lg2.approx.ftz.f", [](double v) { return std::log2(v); }},
      {"sin.approx.f", [](double v) { return std::sin(v); }},
      {"cos.approx.f", [](double v) { return std::cos(v); }},
      {"sqrt.approx.f", [](double v) { return std::sqrt(v); }},
      {"rsqrt.approx.f", [](double v) { return 1 / std::sqrt(v); }},
      {"rcp.approx.ftz.f", [](double v) { return 1 / v; }}};
  for (auto [name, function] : functions) {
    auto values = unary(name, x);
    for (size_t k = 0; k < x.size(); ++k)
      EXPECT_NEAR(values[k], function(x[k]), 2e-7 * std::max(1.0, std::fabs(function(x[k])))) << name;
  }
}

TEST(Math, EdgesOfTheExponential) {
  auto values = unary("ex2.approx.ftz.f32", {-kInfinity, kInfinity, NAN, -127.0f, -1000.0f, 0.0f});
  EXPECT_EQ(values[0], 0.0f);
  EXPECT_EQ(values[1], kInfinity);
  EXPECT_TRUE(std::isnan(values[2]));
  // 2^-127 is a denormal: flushed.
  EXPECT_EQ(values[3], 0.0f);
  EXPECT_EQ(values[4], 0.0f);
  EXPECT_EQ(values[5], 1.0f);
  EXPECT_GT(unary("ex2.approx.f32", {-127.0f})[0], 0.0f);
  EXPECT_EQ(unary("rcp.approx.ftz.f", {kDenormal})[0], kInfinity);
  EXPECT_EQ(unary("lg2.approx.ftz.f", {kDenormal})[0], -kInfinity);
}

TEST(Math, MaximumAndMinimum) {
  auto binary = [&](const std::string &name, float x, float y) {
    return toFloat(
        run("%f = call float @llvm.nvvm." + name + "(float %x, float %y)\n%r = bitcast float %f to i32", {x}, {y})[0]);
  };
  EXPECT_EQ(binary("fmax.f", 1, NAN), 1.0f);
  EXPECT_EQ(binary("fmin.f", NAN, 2), 2.0f);
  EXPECT_EQ(binary("fmax.ftz.f", 1, 2), 2.0f);
  EXPECT_TRUE(std::isnan(binary("fmax.nan.f", 1, NAN)));
  EXPECT_TRUE(std::isnan(binary("fmin.ftz.nan.f", NAN, 1)));
  EXPECT_EQ(binary("fmin.nan.f", 3, 2), 2.0f);
  EXPECT_EQ(binary("div.approx.f", 3, 2), 1.5f);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

static uint32_t round(float value, const llvm::fltSemantics &semantics, llvm::RoundingMode mode) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(semantics, mode, &losesInfo);
  return uint32_t(number.bitcastToAPInt().getZExtValue());
}

static const std::vector<float> kNumbers = {0.0f,          -0.0f,       1.0f,      -1.5f,     1.00390625f,
                                            1.01171875f,   3.14159265f, 1e-40f,    -65519.0f, 65520.0f,
                                            3.4028235e38f, 5.9e-8f,     kInfinity, -kInfinity};

TEST(Conversion, PairsHaveTheFirstOperandOnTop) {
  std::vector<float> reversed(kNumbers.rbegin(), kNumbers.rend());
  auto convert = [&](const std::string &name, const std::string &type) {
    return run("%v = call <2 x " + type + "> @llvm.nvvm." + name + "(float %x, float %y)\n%r = bitcast <2 x " + type +
                   "> %v to i32",
               kNumbers, reversed);
  };
  struct Case {
    const char *name, *type;
    const llvm::fltSemantics &semantics;
    llvm::RoundingMode mode;
  };
  const Case cases[] = {{"ff2bf16x2.rn", "bfloat", llvm::APFloat::BFloat(), llvm::RoundingMode::NearestTiesToEven},
                        {"ff2bf16x2.rz", "bfloat", llvm::APFloat::BFloat(), llvm::RoundingMode::TowardZero},
                        {"ff2f16x2.rn", "half", llvm::APFloat::IEEEhalf(), llvm::RoundingMode::NearestTiesToEven}};
  for (const Case &test : cases) {
    auto values = convert(test.name, test.type);
    for (size_t k = 0; k < kNumbers.size(); ++k) {
      EXPECT_EQ(values[k] >> 16, round(kNumbers[k], test.semantics, test.mode)) << test.name << " " << kNumbers[k];
      EXPECT_EQ(values[k] & 0xFFFF, round(reversed[k], test.semantics, test.mode)) << test.name << " " << reversed[k];
    }
  }
  EXPECT_EQ(
      run("%v = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float %x, float %y)\n%r = bitcast <2 x bfloat> %v to i32",
          {NAN}, {-NAN})[0],
      0x7FFF7FFFu);
}

TEST(Conversion, ReluDropsNegatives) {
  auto convert = [&](float x, float y) {
    return run(
        "%v = call <2 x half> @llvm.nvvm.ff2f16x2.rn.relu(float %x, float %y)\n%r = bitcast <2 x half> %v to i32", {x},
        {y})[0];
  };
  EXPECT_EQ(convert(-2.0f, 2.0f), 0x00004000u);
  EXPECT_EQ(convert(-0.0f, 1.0f), 0x00003C00u);
}

TEST(Conversion, LlvmsTruncationToBf16Works) {
  // Also in a branch, where LLVM calls a function for it.
  auto values = run("%v = fptrunc float %x to bfloat\n%b = bitcast bfloat %v to i16\n%r = zext i16 %b to i32", kNumbers,
                    kNumbers);
  for (size_t k = 0; k < kNumbers.size(); ++k)
    EXPECT_EQ(values[k], round(kNumbers[k], llvm::APFloat::BFloat(), llvm::RoundingMode::NearestTiesToEven));
}

TEST(Conversion, Tf32) {
  auto convert = [&](const std::string &name, float x) {
    return run("%r = call i32 @llvm.nvvm.f2tf32." + name + "(float %x)", {x}, {x})[0];
  };
  // 1 + 2^-11 lies between 1 and 1 + 2^-10.
  const float tie = 1.00048828125f;
  EXPECT_EQ(convert("rna", tie), 0x3F802000u);
  EXPECT_EQ(convert("rn", tie), 0x3F800000u);
  EXPECT_EQ(convert("rz", tie), 0x3F800000u);
  EXPECT_EQ(convert("rz", 1.9999999f), 0x3FFFE000u);
  EXPECT_EQ(convert("rna", 1.9999999f), 0x40000000u);
  EXPECT_EQ(convert("rna", -kInfinity), 0xFF800000u);
}

TEST(Math, IntegerHelpers) {
  auto call = [&](const std::string &body) { return run(body, {0}, {0})[0]; };
  EXPECT_EQ(call("%r = call i32 @llvm.nvvm.mulhi.ui(i32 -1, i32 -1)"), 0xFFFFFFFEu);
  EXPECT_EQ(call("%r = call i32 @llvm.nvvm.mulhi.i(i32 -1, i32 -1)"), 0u);
  // Byte 7 is b's highest, 0 and 1 are a's lowest, and 8 + 3 is the sign of a's highest.
  const uint32_t a = 0x80424211, b = 0x55AA33CC;
  EXPECT_EQ(call("%r = call i32 @llvm.nvvm.prmt(i32 " + std::to_string(int32_t(a)) + ", i32 " + std::to_string(b) +
                 ", i32 " + std::to_string(0xB107) + ")"),
            0xFF421155u);
}
