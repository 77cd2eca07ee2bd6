//===- GridTest.cpp - compiled attention against the reference over a grid -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every pair of values of every two axes occurs in some case. ATTN_GRID_SEED chooses other cases, ATTN_GRID_SAMPLE=N
// runs N random ones of the full product in place of the covering set.
//
//===----------------------------------------------------------------------===//

#include "Grid.h"
#include "test/Unit/SuiteTarget.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

using namespace grid;

/// Compiles and runs a case on `threads` threads; the outputs are in `problem`.
static void run(const attn::Kernel &kernel, Problem &problem, int64_t threads) {
  std::vector<attn::Argument> inputs;
  std::vector<attn::MutableTensorView> outputs;
  for (auto &input : problem.inputs)
    inputs.push_back(input->view());
  for (auto &output : problem.outputs)
    outputs.push_back(output->view());
  auto report = kernel.run(inputs, outputs, attn::RunOptions().threads(threads).leastWork(1));
  ASSERT_TRUE(report.ok()) << report.error().str();
}

static void checkAgainstReference(const attn::Module &module, Problem &problem) {
  std::vector<attn::Argument> inputs;
  std::vector<attn::TensorView> outputs;
  for (auto &input : problem.inputs)
    inputs.push_back(input->view());
  for (auto &output : problem.outputs)
    outputs.push_back(output->view());
  auto comparisons = module.check("attention", inputs, outputs);
  ASSERT_TRUE(comparisons.ok()) << comparisons.error().str();
  for (size_t k = 0; k < comparisons->size(); ++k)
    EXPECT_TRUE((*comparisons)[k].pass) << "result " << k << ": " << (*comparisons)[k].message;
  for (auto *buffers : {&problem.inputs, &problem.outputs})
    for (size_t k = 0; k < buffers->size(); ++k)
      EXPECT_TRUE((*buffers)[k]->guardsIntact()) << "memory around buffer " << k << " was written";
}

/// Code that checks its accesses has nothing to say, and computes the same bits.
static void runChecked(const attn::Module &module, Problem &problem, const std::string &target, int64_t threads) {
  auto kernel =
      module.compile("attention", attn::Target::named(target), attn::CompileOptions(problem.options).checkBounds(true));
  ASSERT_TRUE(kernel.ok()) << kernel.error().str();
  std::vector<std::vector<unsigned char>> results;
  for (auto &output : problem.outputs) {
    results.push_back(output->bytes());
    output->clear();
  }
  run(*kernel, problem, threads);
  for (size_t k = 0; k < results.size(); ++k)
    EXPECT_TRUE(problem.outputs[k]->bytes() == results[k]) << "checks change result " << k;
}

/// `checksBounds`: runs it with checks of its accesses, too. Returns why the case was not run: this machine does not
/// have the target.
static std::string runCase(const Case &c, const std::string &target, int64_t threads, bool checksBounds = true) {
  SCOPED_TRACE(title(c) + " on " + target);
  Problem problem = build(c);
  auto module = attn::Module::parse(problem.text, "grid.mlir");
  if (!module.ok())
    return ADD_FAILURE() << module.error().str() << "\n" << problem.text, "";
  auto kernel = module->compile("attention", attn::Target::named(target), problem.options);
  if (!kernel.ok() && kernel.error().message.find("this machine cannot run code") != std::string::npos)
    return kernel.error().message;
  if (!kernel.ok())
    return ADD_FAILURE() << kernel.error().str() << "\n" << problem.text, "";
  run(*kernel, problem, threads);
  if (!testing::Test::HasFatalFailure())
    checkAgainstReference(*module, problem);
  if (checksBounds && !testing::Test::HasFatalFailure())
    runChecked(*module, problem, target, threads);
  return "";
}

static uint64_t fromEnvironment(const char *name, uint64_t fallback) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 0) : fallback;
}

/// The CPU that is compiled for, and the part of the cases.
class Grid : public testing::TestWithParam<std::tuple<std::string, unsigned>> {};

/// The cases in this many parts, so that a failing part names a few and lit can run them side by side.
static constexpr unsigned kParts = 8;

TEST_P(Grid, AgreesWithTheReference) {
  uint64_t seed = fromEnvironment("ATTN_GRID_SEED", 20);
  int64_t count = fromEnvironment("ATTN_GRID_SAMPLE", 0);
  std::vector<Case> cases = count ? sample(seed, count) : pairwise(seed);
  auto [target, part] = GetParam();
  std::cout << "seed " << seed << ", " << cases.size() << " cases, part " << part << " of " << kParts << "\n";
  for (size_t k = part; k < cases.size(); k += kParts) {
    std::string reason = runCase(cases[k], target, /*threads=*/1 + k % 3, /*checksBounds=*/k / kParts % 2 == 0);
    if (!reason.empty())
      GTEST_SKIP() << reason;
  }
}

static std::string nameOf(const testing::TestParamInfo<Grid::ParamType> &info) {
  std::string name = std::get<0>(info.param) + "_" + std::to_string(std::get<1>(info.param));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Pairwise, Grid, testing::Combine(testing::Values(suiteCpu()), testing::Range(0u, kParts)),
                         nameOf);
#if defined(__x86_64__)
INSTANTIATE_TEST_SUITE_P(PairwiseInAVX512, Grid,
                         testing::Combine(testing::Values("x86-64-v4"), testing::Range(0u, kParts)), nameOf);
#endif

/// A tile whose rows keep no key has an empty range, which must not end behind the keys: the weights were written
/// there.
TEST(GridRegression, WeightsOfTilesWithoutKeysStayInTheirBuffer) {
  runCase({/*Mask: dead-rows*/ 7, /*Score: alibi*/ 2, /*Type: f16*/ 2, /*Out*/ 0, /*Heads: 1x1*/ 0,
           /*Lengths: 65x64*/ 4,
           /*Sizes: 64x80*/ 1, /*Layout: packed*/ 2, /*Static: dynamic*/ 1, /*Results: weights*/ 2, /*Sink: mixed*/ 2,
           /*KvLengths: mixed*/ 1, /*Tiles: 16x16*/ 1},
          suiteCpu(), /*threads=*/1);
}
