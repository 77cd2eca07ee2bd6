//===- ApiFloatEnvironmentTest.cpp - rounding modes and subnormals of callers ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs set the rounding mode, or flush subnormals to zero (-ffast-math does, at start). Neither may change a bit of
// a result: not on the calling thread, not on workers that inherit it, not by compiling under it.
//
//===----------------------------------------------------------------------===//

#include "AttentionText.h"
#include "attn/attn.h"

#include <cfenv>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <optional>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

using namespace attn;

namespace {

struct Environment {
  const char *name;
  int rounding;
  /// Flush to zero, and denormals are zero; x86 only.
  bool flushes;
};

std::vector<Environment> environments() {
  std::vector<Environment> all = {
      {"upward", FE_UPWARD, false}, {"downward", FE_DOWNWARD, false}, {"toward zero", FE_TOWARDZERO, false}};
#ifdef __SSE__
  for (Environment environment : std::vector<Environment>(all)) {
    environment.flushes = true;
    all.push_back(environment);
  }
  all.push_back({"to nearest, flushing", FE_TONEAREST, true});
#endif
  return all;
}

/// Sets an environment for a scope.
class Scope {
public:
  explicit Scope(const Environment &environment) {
    std::fegetenv(&before);
    std::fesetround(environment.rounding);
#ifdef __SSE__
    if (environment.flushes)
      _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
  }
  ~Scope() { std::fesetenv(&before); }
  Scope(const Scope &) = delete;

private:
  std::fenv_t before;
};

/// What the caller sees: rounding and subnormals of its own arithmetic.
std::pair<bool, bool> probe() {
  volatile float third = 3, tiny = 0x1p-126f, half = 0.5f;
  volatile float up = 1 / third, subnormal = tiny * half;
  return {up * 3 != 1, subnormal == 0};
}

class ApiFloatEnvironment : public ::testing::Test {
protected:
  static constexpr int64_t heads = 3, length = 70, dim = 8;

  /// Values of key 0 to length - 1 in turn ordinary and subnormal: column 1 of the output is subnormal.
  ApiFloatEnvironment() : q(wave(0.7)), k(wave(1.3)), v(wave(0.3)) {
    for (size_t n = 1; n < v.size(); n += dim)
      v[n] *= 0x1p-130f;
  }

  static std::vector<float> wave(double step) {
    std::vector<float> values(heads * length * dim);
    for (size_t n = 0; n < values.size(); ++n)
      values[n] = static_cast<float>(std::sin(step * static_cast<double>(n + 1)));
    return values;
  }

  /// Softcap and a computed bias: hyperbolic tangent, exponential and logarithm are in it, too.
  static Kernel compile() {
    auto module = Module::parse(dynamicAttention({R"(scores(softcap<3.0>) masks(causal<top_left>)
      score(%x, %b, %h, %i, %j) {
        %n = arith.index_cast %j : index to i64
        %f = arith.sitofp %n : i64 to f32
        %tenth = arith.constant 0.1 : f32
        %p = math.fma %f, %tenth, %tenth : f32
        %l = math.log %p : f32
        %y = arith.addf %x, %l : f32
        attn.yield %y : f32
      })",
                                                  "", "0.3"}));
    auto kernel = module ? module->compile() : Result<Kernel>(module.error());
    if (!kernel) {
      ADD_FAILURE() << kernel.error().str();
      std::abort();
    }
    return *kernel;
  }

  std::vector<float> run(const Kernel &kernel, const RunOptions &options = RunOptions()) const {
    std::vector<float> out(q.size(), NAN);
    auto report = kernel.run({view(q, shape), view(k, shape), view(v, shape)}, {view(out, shape)}, options);
    EXPECT_TRUE(report);
    return out;
  }

  const std::vector<int64_t> shape = {1, heads, length, dim};
  std::vector<float> q, k, v;
};

TEST_F(ApiFloatEnvironment, changes_no_bit_of_a_run) {
  Kernel kernel = compile();
  std::vector<float> expected = run(kernel);
  // The last row's column 1 is what flushing would lose.
  float subnormal = expected[(length - 1) * dim + 1];
  ASSERT_EQ(std::fpclassify(subnormal), FP_SUBNORMAL) << subnormal;
  for (const Environment &environment : environments()) {
    Scope scope(environment);
    std::pair<bool, bool> before = probe();
    std::vector<float> onCaller = run(kernel);
    // The workers start here and inherit the environment.
    std::vector<float> onWorkers = run(kernel, RunOptions().threads(3).leastWork(1));
    std::pair<bool, bool> after = probe();
    int rounding = std::fegetround();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(std::memcmp(onCaller.data(), expected.data(), expected.size() * sizeof(float)), 0) << environment.name;
    EXPECT_EQ(std::memcmp(onWorkers.data(), expected.data(), expected.size() * sizeof(float)), 0) << environment.name;
    EXPECT_EQ(before, after) << environment.name;
    EXPECT_EQ(rounding, environment.rounding) << environment.name;
    EXPECT_EQ(after.second, environment.flushes) << environment.name;
  }
}

/// Constants are computed while a kernel is compiled.
TEST_F(ApiFloatEnvironment, changes_no_bit_of_a_compiled_kernel) {
  std::vector<float> expected = run(compile());
  for (const Environment &environment : environments()) {
    std::optional<Kernel> kernel;
    int rounding;
    {
      Scope scope(environment);
      kernel.emplace(compile());
      rounding = std::fegetround();
    }
    std::vector<float> out = run(*kernel);
    EXPECT_EQ(std::memcmp(out.data(), expected.data(), expected.size() * sizeof(float)), 0) << environment.name;
    EXPECT_EQ(rounding, environment.rounding) << environment.name;
  }
}

/// So are what the reference says and what a comparison allows.
TEST_F(ApiFloatEnvironment, results_pass_the_check) {
  auto module = Module::parse(dynamicAttention({"", "", "0.3"}));
  ASSERT_TRUE(module);
  auto kernel = module->compile();
  ASSERT_TRUE(kernel);
  for (const Environment &environment : environments()) {
    std::optional<Scope> scope(std::in_place, environment);
    std::vector<float> out = run(*kernel);
    auto checked = module->check("f", {view(q, shape), view(k, shape), view(v, shape)}, {view(out, shape)});
    scope.reset();
    ASSERT_TRUE(checked);
    EXPECT_TRUE(checked->front().pass) << environment.name << ": " << checked->front().message;
  }
}

} // namespace
