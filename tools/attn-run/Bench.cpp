//===- Bench.cpp - timing a kernel -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bench.h"

#include "PeakFma.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace attn;
using namespace attn::tool;

namespace {
struct Samples {
  std::vector<double> seconds;
  /// GFLOP/s of one thread.
  std::vector<double> peaks;
  RunReport report;
};
} // namespace

static double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

static bool usesDouble(const FunctionSignature &signature) {
  for (const ValueType &type : signature.arguments)
    if (isFloat(type.dtype))
      return type.dtype == DType::F64;
  return false;
}

static Result<Samples> sample(const Kernel &kernel, const RunOptions &options, const Inputs &inputs,
                              const std::vector<MutableTensorView> &outputs, int64_t repeat) {
  constexpr int warmUps = 2;
  Samples samples;
  bool isDouble = usesDouble(kernel.signature());
  for (int64_t i = -warmUps; i < repeat; ++i) {
    auto start = std::chrono::steady_clock::now();
    auto run = kernel.run(inputs.arguments, outputs, options);
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!run)
      return run.error();
    if (i < 0)
      continue;
    samples.report = *run;
    samples.seconds.push_back(seconds);
    samples.peaks.push_back(measurePeakFma(isDouble));
  }
  return samples;
}

/// Work, speed and share of the peak; why not, where the work is not known.
static void printSpeed(const Module &module, const Kernel &kernel, const Inputs &inputs, const Samples &samples,
                       int64_t threads) {
  auto work = module.countWork(kernel.signature().name, inputs.arguments);
  if (!work || work->attentions == 0) {
    std::printf("bench: no GFLOP/s: %s\n", work ? "the function has no attention" : work.error().message.c_str());
    return;
  }
  double speed = work->kept * 1e-9 / median(samples.seconds), peak = median(samples.peaks);
  std::printf("bench: work %.3f GFLOP kept by the masks, of %.3f\n", work->kept * 1e-9, work->total * 1e-9);
  std::printf(
      "bench: speed %.1f GFLOP/s = %.1f %% of the peak of %.1f (%s %s multiply-add, %.1f measured on one thread, "
      "times %lld)\n",
      speed, 100 * speed / (peak * static_cast<double>(threads)), peak * static_cast<double>(threads), peakFmaIsa(),
      usesDouble(kernel.signature()) ? "f64" : "f32", peak, static_cast<long long>(threads));
}

Status tool::runBench(const Module &module, const Kernel &kernel, const RunOptions &options, const Inputs &inputs,
                      const std::vector<MutableTensorView> &outputs, int64_t repeat) {
  auto samples = sample(kernel, options, inputs, outputs, repeat);
  if (!samples)
    return samples.error();
  int64_t threads = options.pool().threads();
  std::printf("%s", kernel.describe().c_str());
  std::printf("bench: %lld threads, %lld tiles, scratch %lld bytes, %lld buffers of %lld bytes\n",
              static_cast<long long>(threads), static_cast<long long>(samples->report.tiles),
              static_cast<long long>(samples->report.scratchBytes), static_cast<long long>(samples->report.allocations),
              static_cast<long long>(samples->report.allocatedBytes));
  std::printf("bench: median %.3f ms, best %.3f ms of %lld runs\n", median(samples->seconds) * 1e3,
              *std::min_element(samples->seconds.begin(), samples->seconds.end()) * 1e3,
              static_cast<long long>(repeat));
  printSpeed(module, kernel, inputs, *samples, threads);
  return {};
}
