//===- LimitsTest.cpp - sizes and scratch beyond what can be had ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/attn.h"
#include "test/Unit/SuiteTarget.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>

namespace {

/// All sizes dynamic; out is the argument that is written.
constexpr const char *program = R"(
func.func @f(%q: tensor<?x?x?x?xf32>, %k: tensor<?x?x?x?xf32>, %v: tensor<?x?x?x?xf32>, %o: tensor<?x?x?x?xf32>)
    -> tensor<?x?x?x?xf32> {
  %scale = arith.constant 1.0 : f32
  %r = attn.attention %q, %k, %v scale(%scale) masks(causal<bottom_right>)
      : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>
        outs(%o : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}
)";

attn::Kernel compile(const attn::CompileOptions &options = {}) {
  auto module = attn::Module::parse(program, "limits.mlir");
  if (!module.ok())
    throw std::runtime_error(module.error().str());
  auto kernel = module->compile("f", attn::Target::named(suiteCpu()), options);
  if (!kernel.ok())
    throw std::runtime_error(kernel.error().str());
  return *kernel;
}

struct Sizes {
  int64_t batch = 1, heads = 1, queryLen = 1, kvLen = 1, headDim = 1, valueDim = 1;
};

/// Runs on tensors of these sizes, of which no element is there: sizes alone must decide that nothing is touched.
attn::Result<attn::RunReport> runOnNothing(const attn::Kernel &kernel, const Sizes &n,
                                           const attn::RunOptions &options = {}) {
  static float nothing[2];
  std::vector<int64_t> query = {n.batch, n.heads, n.queryLen, n.headDim}, key = {n.batch, n.heads, n.kvLen, n.headDim};
  std::vector<int64_t> value = {n.batch, n.heads, n.kvLen, n.valueDim},
                       out = {n.batch, n.heads, n.queryLen, n.valueDim};
  const float *input = nothing;
  return kernel.run(
      {attn::view(input, query), attn::view(input, key), attn::view(input, value), attn::view(input, out)},
      {attn::view(nothing + 1, out)}, options);
}

} // namespace

/// What needs more scratch than the address space has, or more bytes than 63 bits count, is an error.
TEST(Limits, HugeHeadSizesAreErrors) {
  attn::Kernel kernel = compile();
  for (int64_t size : {int64_t(1) << 45, int64_t(1) << 58, int64_t(1) << 60, (int64_t(1) << 61) - 1, INT64_MAX}) {
    for (bool isValue : {false, true}) {
      Sizes n;
      (isValue ? n.valueDim : n.headDim) = size;
      auto report = runOnNothing(kernel, n);
      ASSERT_FALSE(report.ok()) << size;
      EXPECT_FALSE(report.error().message.empty());
    }
  }
}

/// An empty result is right, or the sizes are refused: never a fault, whatever the others are.
TEST(Limits, EmptyResultsOfHugeSizes) {
  attn::Kernel kernel = compile();
  const int64_t sizes[] = {0, 1, INT32_MAX, int64_t(1) << 31, int64_t(1) << 32, int64_t(1) << 62, INT64_MAX};
  int64_t passed = 0;
  for (int64_t a : sizes)
    for (int64_t b : sizes)
      for (int zero : {0, 1, 2}) {
        int64_t dims[3] = {a, b, 1};
        std::swap(dims[zero], dims[2]);
        dims[zero] = 0;
        Sizes n{dims[0], dims[1], dims[2], 3, 2, 2};
        if (zero == 2) // no query; keys would be more than memory has
          n.kvLen = 0;
        auto report = runOnNothing(kernel, n);
        passed += report.ok();
        if (!report.ok()) {
          EXPECT_NE(report.error().code, attn::ErrorCode::OutOfMemory) << report.error().message;
        }
      }
  EXPECT_GT(passed, 0);
}

TEST(Limits, ScratchBeyondTheLimitIsRefused) {
  attn::Kernel kernel = compile(attn::CompileOptions().tileQ(64).tileKv(4096));
  std::vector<float> q(64 * 4, 1), k(80 * 4, 1), v(80 * 3, 1), before(64 * 3), out(64 * 3, NAN);
  std::vector<attn::Argument> inputs = {attn::view(q, {1, 1, 64, 4}), attn::view(k, {1, 1, 80, 4}),
                                        attn::view(v, {1, 1, 80, 3}), attn::view(before, {1, 1, 64, 3})};
  auto refused = kernel.run(inputs, {attn::view(out, {1, 1, 64, 3})}, attn::RunOptions().maxScratchBytes(4096));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, attn::ErrorCode::ScratchLimit);
  EXPECT_NE(refused.error().message.find("4096"), std::string::npos) << refused.error().message;
  // A tile of scores alone is 64 x 4096 floats.
  auto report = kernel.run(inputs, {attn::view(out, {1, 1, 64, 3})}, attn::RunOptions().maxScratchBytes(4 << 20));
  ASSERT_TRUE(report.ok()) << report.error().str();
  EXPECT_GE(report->scratchBytes, 64 * 4096 * 4);
  EXPECT_LE(report->scratchBytes, 4 << 20);
  for (float value : out)
    EXPECT_NEAR(value, 1, 1e-6);
}

/// Tiles of any size give the same result.
TEST(Limits, TilesOfEverySize) {
  std::vector<float> q(37 * 5), k(71 * 5), v(71 * 3), before(37 * 3), first;
  for (size_t n = 0; n < q.size(); ++n)
    q[n] = static_cast<float>(n * 37 % 64) / 64;
  for (size_t n = 0; n < k.size(); ++n)
    k[n] = static_cast<float>(n * 29 % 64) / 64;
  for (size_t n = 0; n < v.size(); ++n)
    v[n] = static_cast<float>(n * 23 % 64) / 64;
  for (int64_t tileQ : {1, 2, 8, 1024})
    for (int64_t tileKv : {1, 3, 65536}) {
      std::vector<float> out(37 * 3, NAN);
      auto report = compile(attn::CompileOptions().tileQ(tileQ).tileKv(tileKv))
                        .run({attn::view(q, {1, 1, 37, 5}), attn::view(k, {1, 1, 71, 5}), attn::view(v, {1, 1, 71, 3}),
                              attn::view(before, {1, 1, 37, 3})},
                             {attn::view(out, {1, 1, 37, 3})});
      ASSERT_TRUE(report.ok()) << report.error().str();
      if (first.empty())
        first = out;
      for (size_t n = 0; n < out.size(); ++n)
        ASSERT_NEAR(out[n], first[n], 1e-6) << tileQ << " x " << tileKv << " at " << n;
    }
}

//===----------------------------------------------------------------------===//
// Code does not grow with sizes
//===----------------------------------------------------------------------===//

namespace {

/// Attention with a bias for each query and key, of which blocks are copied and asked for ahead.
struct Shape {
  int64_t batch = 2, heads = 4, kvHeads = 2, queryLen = 130, kvLen = 5000, headDim = 256, valueDim = 256;
  std::string type = "f32";
  int64_t tileKv = 0;
};

std::string textOf(const Shape &n) {
  auto tensor = [&](std::initializer_list<int64_t> sizes, const std::string &type) {
    std::string text = "tensor<";
    for (int64_t size : sizes)
      text += std::to_string(size) + "x";
    return text + type + ">";
  };
  std::string q = tensor({n.batch, n.heads, n.queryLen, n.headDim}, n.type),
              k = tensor({n.batch, n.kvHeads, n.kvLen, n.headDim}, n.type),
              v = tensor({n.batch, n.kvHeads, n.kvLen, n.valueDim}, n.type),
              o = tensor({n.batch, n.heads, n.queryLen, n.valueDim}, n.type),
              bias = tensor({n.queryLen, n.kvLen}, "f32");
  return "func.func @f(%q: " + q + ", %k: " + k + ", %v: " + v + ", %m: " + bias + ") -> " + o +
         " {\n  %s = arith.constant 0.125 : f32\n  %o = tensor.empty() : " + o +
         "\n  %r = attn.attention %q, %k, %v scale(%s) scores(bias(%m : " + bias +
         ")) masks(causal<bottom_right>) : " + q + ", " + k + ", " + v + " outs(%o : " + o + ") -> " + o +
         "\n  return %r : " + o + "\n}\n";
}

/// Operations in front of LLVM's dialect, one a line.
int64_t countOperations(const Shape &shape, const std::string &target) {
  auto module = attn::Module::parse(textOf(shape), "size.mlir");
  EXPECT_TRUE(module.ok()) << module.error().str();
  auto text =
      module->emit("f", attn::Stage::Target, attn::Target::named(target), attn::CompileOptions().tileKv(shape.tileKv));
  EXPECT_TRUE(text.ok()) << text.error().str();
  return text.ok() ? std::count(text->begin(), text->end(), '\n') : 0;
}

} // namespace

/// A size that is a million is a trip count. The few lines more are loops in the place of what is written out; few
/// queries have keys in segments either way.
TEST(Limits, CodeDoesNotGrowWithSizes) {
  constexpr int64_t kLarge = 1 << 20;
  for (const char *target : {"x86-64-v3", "x86-64-v4"})
    for (const char *type : {"f32", "bf16"})
      for (int64_t queryLen : {1, 130}) {
        Shape usual;
        usual.type = type;
        usual.queryLen = queryLen;
        const int64_t most = countOperations(usual, target) * 5 / 4;
        for (int64_t Shape::*size : {&Shape::batch, &Shape::kvLen, &Shape::headDim, &Shape::valueDim, &Shape::tileKv}) {
          Shape large = usual;
          large.*size = size == &Shape::tileKv ? 65536 : kLarge;
          EXPECT_LE(countOperations(large, target), most) << target << " " << type << " " << queryLen;
        }
        Shape heads = usual, group = usual;
        heads.heads = heads.kvHeads = kLarge;
        group.heads = 4096;
        group.kvHeads = 1;
        EXPECT_LE(countOperations(heads, target), most) << target << " " << type << " " << queryLen;
        EXPECT_LE(countOperations(group, target), most) << target << " " << type << " " << queryLen;
      }
}
