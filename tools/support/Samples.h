//===- Samples.h - times that count -------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_SUPPORT_SAMPLES_H
#define ATTN_TOOLS_SUPPORT_SAMPLES_H

#include "attn/attn.h"

#include <functional>
#include <limits>

namespace attn::tool {

/// The middle value; of an even number the upper one. values: at least one.
double median(std::vector<double> values);

/// One repetition.
struct Sample {
  /// Of one run.
  double seconds = 0;
  /// What was measured beside it.
  double beside = 0;
  /// CPUs that others used meanwhile: their CPU seconds over the seconds of the repetition.
  double disturbance = 0;
};

struct SampleOptions {
  /// Repetitions that count; at least 1.
  int64_t repeat = 15;
  /// A repetition is as many runs as fill this time; at least one.
  double leastSeconds = 0;
  /// Repetitions with a greater disturbance are void; infinity: none is.
  double quiet = std::numeric_limits<double>::infinity();
};

/// What came of the repetitions.
struct Samples {
  /// options.repeat of them, in order.
  std::vector<Sample> counted;
  int64_t voided = 0;
  /// False if there were not enough quiet repetitions, and the least disturbed of the void ones count, too.
  bool isQuiet = true;

  double medianSeconds() const;
  double bestSeconds() const;
  double bestBeside() const;
  double medianBeside() const;
};

/// Repetitions at most, for each that shall count.
inline constexpr int64_t maxTries = 3;

/// Whether enough repetitions were tried: `repeat` quiet ones, or maxTries * repeat of any kind.
bool isEnough(const std::vector<Sample> &tries, const SampleOptions &options);
/// Takes the quiet ones, then the least disturbed. tries: isEnough.
Samples chooseSamples(const std::vector<Sample> &tries, const SampleOptions &options);

/// Calls run twice to warm up, then repeats it, with a call of `beside` after each repetition, until isEnough. The
/// first failure of `run` ends it.
Result<Samples> takeSamples(const std::function<Status()> &run, const std::function<double()> &beside,
                            const SampleOptions &options);

/// The same for two things that are compared: each repetition is one of `first`, then one of `second`, whose seconds
/// are Sample::beside. A repetition is as quiet as the louder of its two.
Result<Samples> takePairs(const std::function<Status()> &first, const std::function<Status()> &second,
                          const SampleOptions &options);

} // namespace attn::tool

#endif // ATTN_TOOLS_SUPPORT_SAMPLES_H
