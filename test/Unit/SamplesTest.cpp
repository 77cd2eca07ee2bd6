//===- SamplesTest.cpp - times that count ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/support/Samples.h"
#include "tools/support/CpuTime.h"
#include "tools/support/Peaks.h"

#include <ctime>
#include <gtest/gtest.h>

#ifdef __linux__
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace attn;
using namespace attn::tool;

/// Samples of 1 s, 2 s, ... with these disturbances.
static std::vector<Sample> samplesWith(std::vector<double> disturbances) {
  std::vector<Sample> samples;
  for (double disturbance : disturbances)
    samples.push_back({static_cast<double>(samples.size() + 1), 0, disturbance});
  return samples;
}

static SampleOptions optionsOf(int64_t repeat, double quiet) {
  SampleOptions options;
  options.repeat = repeat;
  options.quiet = quiet;
  return options;
}

static std::vector<double> secondsOf(const Samples &samples) {
  std::vector<double> seconds;
  for (const Sample &sample : samples.counted)
    seconds.push_back(sample.seconds);
  return seconds;
}

TEST(Samples, median_is_the_middle_value) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 3);
  EXPECT_EQ(median({7}), 7);
}

TEST(Samples, disturbed_repetitions_are_void_and_replaced) {
  SampleOptions options = optionsOf(3, 0.1);
  EXPECT_FALSE(isEnough(samplesWith({0, 0.5, 0.05}), options));
  std::vector<Sample> tries = samplesWith({0, 0.5, 0.05, 0.1});
  ASSERT_TRUE(isEnough(tries, options));
  Samples samples = chooseSamples(tries, options);
  EXPECT_EQ(secondsOf(samples), (std::vector<double>{1, 3, 4}));
  EXPECT_EQ(samples.voided, 1);
  EXPECT_TRUE(samples.isQuiet);
  EXPECT_EQ(samples.medianSeconds(), 3);
  EXPECT_EQ(samples.bestSeconds(), 1);
}

TEST(Samples, tries_end_and_the_least_disturbed_count) {
  SampleOptions options = optionsOf(2, 0.1);
  EXPECT_FALSE(isEnough(samplesWith({1, 1, 1, 1, 1}), options));
  std::vector<Sample> tries = samplesWith({0.9, 0.4, 0.05, 0.8, 0.3, 0.7});
  ASSERT_TRUE(isEnough(tries, options));
  Samples samples = chooseSamples(tries, options);
  EXPECT_EQ(secondsOf(samples), (std::vector<double>{3, 5}));
  EXPECT_EQ(samples.voided, 5);
  EXPECT_FALSE(samples.isQuiet);
}

TEST(Samples, short_runs_are_repeated_to_fill_the_time) {
  int64_t runs = 0;
  SampleOptions options = optionsOf(2, std::numeric_limits<double>::infinity());
  options.leastSeconds = 0.02;
  auto run = [&]() -> Status {
    ++runs;
    auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
    while (std::chrono::steady_clock::now() < end)
      continue;
    return {};
  };
  int64_t besides = 0;
  auto samples = takeSamples(run, [&] { return static_cast<double>(++besides); }, options);
  ASSERT_TRUE(samples) << samples.error().str();
  // Two to warm up, then twice 1 to 4: at most what fills 20 ms, fewer where the second warm-up was slow.
  EXPECT_GE(runs, 4);
  EXPECT_LE(runs, 10);
  EXPECT_EQ(besides, 2);
  EXPECT_EQ(samples->counted[1].beside, 2);
  EXPECT_GE(samples->bestSeconds(), 0.005);
}

TEST(Samples, a_failing_run_ends_them) {
  auto samples = takeSamples([]() -> Status { return Error{ErrorCode::KernelRefused, "no", {}}; }, [] { return 0.0; },
                             optionsOf(3, 1));
  ASSERT_FALSE(samples);
  EXPECT_EQ(samples.error().message, "no");
}

TEST(Samples, pairs_alternate_and_keep_the_time_of_the_other) {
  std::string order;
  SampleOptions options = optionsOf(2, std::numeric_limits<double>::infinity());
  auto second = [&]() -> Status {
    order += 'b';
    auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
    while (std::chrono::steady_clock::now() < end)
      continue;
    return {};
  };
  auto samples = takePairs([&]() -> Status { return order += 'a', Status(); }, second, options);
  ASSERT_TRUE(samples) << samples.error().str();
  // Two of each to warm up, then in turn.
  EXPECT_EQ(order, "aabbabab");
  ASSERT_EQ(samples->counted.size(), 2u);
  EXPECT_GE(samples->bestBeside(), 0.005);
  EXPECT_LE(samples->bestBeside(), samples->medianBeside());
}

TEST(CpuTime, busy_is_all_but_idle_and_waiting) {
  // user nice system idle iowait irq softirq steal guest guest_nice, in ticks.
  EXPECT_EQ(parseBusySeconds("cpu  100 20 30 9999 8888 4 5 6 77 88\ncpu0 1 1 1 1\n", 100), 1.65);
  EXPECT_EQ(parseBusySeconds("cpu 100 20 30 9999", 50), 3.0);
  EXPECT_EQ(parseBusySeconds("cpu0 100 20 30 9999", 100), std::nullopt);
  EXPECT_EQ(parseBusySeconds("cpu 100 20", 100), std::nullopt);
  EXPECT_EQ(parseBusySeconds("", 100), std::nullopt);
}

TEST(CpuTime, others_are_what_this_process_did_not_use) {
  EXPECT_EQ(secondsOfOthers({10, 2}, {13, 4}), 1);
  EXPECT_EQ(secondsOfOthers({10, 2}, {11, 4}), 0); // ticks lag behind
}

/// A child that computes for 0.3 s of CPU time is seen, and is not this process.
TEST(CpuTime, of_another_process_is_seen) {
#ifdef __linux__
  std::optional<CpuTime> before = readCpuTime();
  if (!before)
    GTEST_SKIP() << "there is no /proc/stat";
  pid_t child = fork();
  if (child == 0) {
    while (std::clock() < 3 * CLOCKS_PER_SEC / 10)
      continue;
    _exit(0);
  }
  ASSERT_GT(child, 0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  std::optional<CpuTime> after = readCpuTime();
  ASSERT_TRUE(after);
  EXPECT_GE(secondsOfOthers(*before, *after), 0.2);
  EXPECT_LT(after->own - before->own, 0.1);
#endif
}

TEST(Peaks, are_positive_where_available) {
  PeakMeter meter(2);
  for (Peak peak : {Peak::FmaF32, Peak::FmaF64, Peak::DotBf16})
    EXPECT_EQ(meter.measure(peak) > 0, isAvailable(peak)) << toString(peak);
}
