//===- Samples.cpp - times that count ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Samples.h"

#include "CpuTime.h"

#include <algorithm>
#include <chrono>
#include <cmath>

using namespace attn;
using namespace attn::tool;

double tool::median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

static std::vector<double> collect(const std::vector<Sample> &samples, double Sample::*member) {
  std::vector<double> values;
  for (const Sample &sample : samples)
    values.push_back(sample.*member);
  return values;
}

double Samples::medianSeconds() const { return median(collect(counted, &Sample::seconds)); }
double Samples::medianBeside() const { return median(collect(counted, &Sample::beside)); }
double Samples::bestSeconds() const {
  std::vector<double> seconds = collect(counted, &Sample::seconds);
  return *std::min_element(seconds.begin(), seconds.end());
}

double Samples::bestBeside() const {
  std::vector<double> values = collect(counted, &Sample::beside);
  return *std::min_element(values.begin(), values.end());
}

static int64_t countQuiet(const std::vector<Sample> &tries, const SampleOptions &options) {
  return std::count_if(tries.begin(), tries.end(),
                       [&](const Sample &sample) { return sample.disturbance <= options.quiet; });
}

bool tool::isEnough(const std::vector<Sample> &tries, const SampleOptions &options) {
  return static_cast<int64_t>(tries.size()) >= maxTries * options.repeat ||
         countQuiet(tries, options) >= options.repeat;
}

Samples tool::chooseSamples(const std::vector<Sample> &tries, const SampleOptions &options) {
  std::vector<double> disturbances = collect(tries, &Sample::disturbance);
  std::nth_element(disturbances.begin(), disturbances.begin() + (options.repeat - 1), disturbances.end());
  double limit = std::max(options.quiet, disturbances[options.repeat - 1]);
  Samples samples;
  for (const Sample &sample : tries)
    if (sample.disturbance <= limit && static_cast<int64_t>(samples.counted.size()) < options.repeat)
      samples.counted.push_back(sample);
  samples.voided = static_cast<int64_t>(tries.size()) - countQuiet(tries, options);
  samples.isQuiet = countQuiet(tries, options) >= options.repeat;
  return samples;
}

/// Calls run `count` times.
static Result<Sample> repeatOnce(const std::function<Status()> &run, int64_t count) {
  // Of each reading the kernel rounds to ticks of 10 ms.
  constexpr double slack = 0.02;
  std::optional<CpuTime> before = readCpuTime();
  auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < count; ++i)
    if (Status status = run(); !status)
      return status.error();
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::optional<CpuTime> after = readCpuTime();
  Sample sample;
  sample.seconds = seconds / static_cast<double>(count);
  if (before && after)
    sample.disturbance = std::max(0.0, secondsOfOthers(*before, *after) - slack) / seconds;
  return sample;
}

/// Calls run twice to warm up. Returns how many runs are a repetition.
static Result<int64_t> warmUp(const std::function<Status()> &run, const SampleOptions &options) {
  if (Status status = run(); !status)
    return status.error();
  auto warm = repeatOnce(run, 1);
  if (!warm)
    return warm.error();
  return std::max<int64_t>(1, std::llround(std::ceil(options.leastSeconds / warm->seconds)));
}

Result<Samples> tool::takeSamples(const std::function<Status()> &run, const std::function<double()> &beside,
                                  const SampleOptions &options) {
  auto count = warmUp(run, options);
  if (!count)
    return count.error();
  std::vector<Sample> tries;
  while (!isEnough(tries, options)) {
    auto sample = repeatOnce(run, *count);
    if (!sample)
      return sample.error();
    sample->beside = beside();
    tries.push_back(*sample);
  }
  return chooseSamples(tries, options);
}

Result<Samples> tool::takePairs(const std::function<Status()> &first, const std::function<Status()> &second,
                                const SampleOptions &options) {
  auto firstCount = warmUp(first, options);
  if (!firstCount)
    return firstCount.error();
  auto secondCount = warmUp(second, options);
  if (!secondCount)
    return secondCount.error();
  std::vector<Sample> tries;
  while (!isEnough(tries, options)) {
    auto sample = repeatOnce(first, *firstCount);
    if (!sample)
      return sample.error();
    auto other = repeatOnce(second, *secondCount);
    if (!other)
      return other.error();
    sample->beside = other->seconds;
    sample->disturbance = std::max(sample->disturbance, other->disturbance);
    tries.push_back(*sample);
  }
  return chooseSamples(tries, options);
}
