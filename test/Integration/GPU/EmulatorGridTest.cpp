//===- EmulatorGridTest.cpp - GPU kernels against the reference over a grid ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grid of the CPU, on the emulator, for a GPU of each kind in turn; when copies happen and in which order threads
// run changes from case to case. Every pair of values of every two axes occurs, on one of the GPUs; with
// ATTN_GRID_ALL=1 on each. ATTN_GRID_SEED and ATTN_GRID_SAMPLE as in GridTest.
//
//===----------------------------------------------------------------------===//

#include "test/Integration/CPU/Grid.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <iostream>

using namespace grid;

/// When copies happen, and in which order threads run: each has caught faults that the others let pass.
static const char *const kSchedules[] = {"", ":eager:lifo", ":random=7", ":eager:random=8", ":lifo", ":eager"};

static void run(const attn::Module &module, const attn::Kernel &kernel, Problem &problem) {
  std::vector<attn::Argument> inputs;
  std::vector<attn::MutableTensorView> outputs;
  std::vector<attn::TensorView> results;
  for (auto &input : problem.inputs)
    inputs.push_back(input->view());
  for (auto &output : problem.outputs) {
    outputs.push_back(output->view());
    results.push_back(output->view());
  }
  auto report = kernel.run(inputs, outputs);
  ASSERT_TRUE(report.ok()) << report.error().str() << "\n" << problem.text;
  auto comparisons = module.check("attention", inputs, results);
  ASSERT_TRUE(comparisons.ok()) << comparisons.error().str();
  for (size_t k = 0; k < comparisons->size(); ++k)
    EXPECT_TRUE((*comparisons)[k].pass) << "result " << k << ": " << (*comparisons)[k].message << "\n" << problem.text;
  for (auto *buffers : {&problem.inputs, &problem.outputs})
    for (size_t k = 0; k < buffers->size(); ++k)
      EXPECT_TRUE((*buffers)[k]->guardsIntact()) << "memory around buffer " << k << " was written";
}

static void runCase(const Case &c, const std::string &target) {
  SCOPED_TRACE(title(c) + " on " + target);
  Problem problem = build(c, /*keepsHeadSizes=*/true);
  auto module = attn::Module::parse(problem.text, "grid.mlir");
  ASSERT_TRUE(module.ok()) << module.error().str() << "\n" << problem.text;
  auto kernel = module->compile("attention", attn::Target::named(target), problem.options);
  if (axisValues()[Type][c[Type]] == "f64") {
    ASSERT_FALSE(kernel.ok());
    EXPECT_NE(kernel.error().message.find(kGpuRefusesF64), std::string::npos) << kernel.error().str();
    return;
  }
  ASSERT_TRUE(kernel.ok()) << kernel.error().str() << "\n" << problem.text;
  run(*module, *kernel, problem);
}

static uint64_t fromEnvironment(const char *name, uint64_t fallback) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 0) : fallback;
}

class EmulatorGrid : public testing::TestWithParam<std::tuple<const char *, unsigned>> {};

static constexpr unsigned kParts = 4;

TEST_P(EmulatorGrid, AgreesWithTheReference) {
  auto [chip, part] = GetParam();
  uint64_t seed = fromEnvironment("ATTN_GRID_SEED", 21);
  int64_t count = fromEnvironment("ATTN_GRID_SAMPLE", 0);
  std::vector<Case> cases = count ? sample(seed, count) : pairwise(seed);
  std::cout << "seed " << seed << ", " << cases.size() << " cases, part " << part << " of " << kParts << "\n";
  bool isAll = fromEnvironment("ATTN_GRID_ALL", 0);
  size_t turn = std::string(chip) == "sm_80" ? 0 : 1;
  for (size_t k = part; k < cases.size(); k += kParts)
    if (isAll || k / kParts % 2 == turn)
      runCase(cases[k], std::string("emulator:") + chip + kSchedules[k % std::size(kSchedules)]);
}

INSTANTIATE_TEST_SUITE_P(Pairwise, EmulatorGrid,
                         testing::Combine(testing::Values("sm_80", "sm_90a"), testing::Range(0u, kParts)),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param)) + "_" + std::to_string(std::get<1>(info.param));
                         });
