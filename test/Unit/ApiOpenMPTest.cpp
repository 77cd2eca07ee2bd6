//===- ApiOpenMPTest.cpp - kernels in a program that uses OpenMP -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program has parallel regions of its own: before, after and around the kernels, and in another thread meanwhile.
// Both must stay right: the regions' sums, and every bit of the kernels' results.
//
//===----------------------------------------------------------------------===//

#include "AttentionText.h"
#include "attn/attn.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <gtest/gtest.h>
#include <iostream>
#include <optional>
#include <thread>
#ifdef _OPENMP
#include <omp.h>
#endif

// Code of an OpenMP library is not instrumented: its barriers look like races.
#if !defined(_OPENMP)
#define ATTN_SKIP_WITHOUT_OPENMP() GTEST_SKIP() << "the compiler has no OpenMP"
#elif defined(__SANITIZE_THREAD__)
#define ATTN_SKIP_WITHOUT_OPENMP() GTEST_SKIP() << "ThreadSanitizer does not know OpenMP's barriers"
#else
#define ATTN_SKIP_WITHOUT_OPENMP() static_cast<void>(0)
#endif

using namespace attn;

namespace {

constexpr int regionThreads = 3;

/// 0 + 1 + ... + (count - 1), by threads of a parallel region.
int64_t sumInRegion(int64_t count) {
  int64_t sum = 0;
#ifdef _OPENMP
#pragma omp parallel for num_threads(regionThreads) reduction(+ : sum)
#endif
  for (int64_t n = 0; n < count; ++n)
    sum += n;
  return sum;
}

constexpr int64_t count = 100000, rightSum = count * (count - 1) / 2;

/// A causal attention and its data; several tiles, so that every thread of a pool has some.
class ApiOpenMP : public ::testing::Test {
protected:
  static constexpr int64_t heads = 4, length = 150, dim = 16;

  ApiOpenMP() : q(wave(0.7)), k(wave(1.3)), v(wave(0.3)), expected(q.size(), NAN) {
    auto module = Module::parse(dynamicAttention({"masks(causal<top_left>)", "", "0.25"}));
    auto compiled = module ? module->compile() : Result<Kernel>(module.error());
    if (!compiled) {
      ADD_FAILURE() << compiled.error().str();
      std::abort();
    }
    kernel.emplace(*compiled);
    EXPECT_TRUE(kernel->run(inputs(), {view(expected, shape)}));
    auto right = module->check("f", inputs(), {view(expected, shape)});
    EXPECT_TRUE(right && right->front().pass);
  }

  static std::vector<float> wave(double step) {
    std::vector<float> values(heads * length * dim);
    for (size_t n = 0; n < values.size(); ++n)
      values[n] = static_cast<float>(std::sin(step * static_cast<double>(n + 1)));
    return values;
  }
  std::vector<Argument> inputs() const { return {view(q, shape), view(k, shape), view(v, shape)}; }

  /// Whether a run gives the bits of the first one, which was made before any parallel region.
  bool isRight(const RunOptions &options) const {
    std::vector<float> out(q.size(), NAN);
    return kernel->run(inputs(), {view(out, shape)}, options) && out == expected;
  }

  const std::vector<int64_t> shape = {1, heads, length, dim};
  std::vector<float> q, k, v, expected;
  std::optional<Kernel> kernel;
};

TEST_F(ApiOpenMP, regions_before_between_and_after_runs) {
  ATTN_SKIP_WITHOUT_OPENMP();
  RunOptions options = RunOptions().leastWork(1);
  for (int64_t threads : {1, 2, 5}) {
    options.threads(threads);
    for (int n = 0; n < 20; ++n) {
      EXPECT_EQ(sumInRegion(count), rightSum);
      EXPECT_TRUE(isRight(options));
    }
  }
  EXPECT_EQ(sumInRegion(count), rightSum);
}

TEST_F(ApiOpenMP, regions_in_another_thread_during_runs) {
  ATTN_SKIP_WITHOUT_OPENMP();
  std::atomic<bool> isDone{false};
  std::atomic<int> regions{0}, wrong{0};
  std::thread other([&] {
    while (!isDone) {
      wrong += sumInRegion(count) != rightSum;
      ++regions;
    }
  });
  RunOptions options = RunOptions().leastWork(1);
  options.threads(4);
  // At least 50 runs, and at least 50 regions beside them.
  for (int runs = 0; runs < 50 || regions < 50; ++runs)
    if (!isRight(options)) {
      ADD_FAILURE() << "run " << runs << " is wrong";
      break;
    }
  isDone = true;
  other.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(ApiOpenMP, runs_inside_a_region) {
  ATTN_SKIP_WITHOUT_OPENMP();
  RunOptions shared = RunOptions().leastWork(1);
  shared.threads(3);
  std::atomic<int> right{0};
#ifdef _OPENMP
#pragma omp parallel for num_threads(regionThreads)
#endif
  for (int n = 0; n < 30; ++n)
    right += isRight(n % 2 ? shared : RunOptions());
  EXPECT_EQ(right, 30);
}

/// The runtime's loops may run in the program's own regions, too.
TEST_F(ApiOpenMP, regions_as_the_pool) {
  ATTN_SKIP_WITHOUT_OPENMP();
  Executor executor;
  executor.threads = regionThreads;
  executor.run = [](int64_t workers, const std::function<void(int64_t)> &work) {
#ifdef _OPENMP
#pragma omp parallel for num_threads(regionThreads) schedule(static, 1)
#endif
    for (int64_t worker = 0; worker < workers; ++worker)
      work(worker);
  };
  auto pool = ThreadPool::create(executor);
  ASSERT_TRUE(pool) << pool.error().str();
  for (int n = 0; n < 20; ++n)
    EXPECT_TRUE(isRight(RunOptions().pool(*pool).leastWork(1)));
}

/// Threads of a region spin for a while after it, and so take CPUs from the kernel that comes next. The ratio is for
/// people: --gtest_filter='*ratio*' prints it, and nothing depends on it.
TEST_F(ApiOpenMP, prints_the_ratio_of_times_with_and_without_regions) {
  ATTN_SKIP_WITHOUT_OPENMP();
  RunOptions options = RunOptions().leastWork(1);
  options.threads(0);
  auto medianSeconds = [&](bool withRegion) {
    std::vector<double> seconds;
    for (int n = 0; n < 40; ++n) {
      int64_t sum = withRegion ? sumInRegion(count) : rightSum;
      EXPECT_EQ(sum, rightSum);
      auto start = std::chrono::steady_clock::now();
      EXPECT_TRUE(isRight(options));
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
  };
  double alone = medianSeconds(false), besideRegions = medianSeconds(true);
  std::cout << "median time after a region over median time without: " << besideRegions / alone << "\n";
}

} // namespace
