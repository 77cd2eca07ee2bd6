//===- Bench.cpp - timing a kernel -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bench.h"

#include "Peaks.h"
#include "Samples.h"

#include <cstdio>

using namespace attn;
using namespace attn::tool;

static Peak peakOf(const FunctionSignature &signature) {
  for (const ValueType &type : signature.arguments)
    if (isFloat(type.dtype))
      return type.dtype == DType::F64 ? Peak::FmaF64 : Peak::FmaF32;
  return Peak::FmaF32;
}

/// Prints the work. The GFLOP/s that the median is; 0, with the reason printed, where the work is not known.
static double printWork(const Module &module, const Kernel &kernel, const CompileOptions &compileOptions,
                        const Inputs &inputs, const Samples &samples) {
  auto work = module.countWork(kernel.signature().name, inputs.arguments, compileOptions);
  if (!work || work->attentions == 0) {
    std::printf("bench: no GFLOP/s: %s\n", work ? "the function has no attention" : work.error().message.c_str());
    return 0;
  }
  std::printf("bench: work %s%.3f GFLOP kept by the masks, of %.3f\n", work->isExact ? "" : "at most ",
              work->kept * 1e-9, work->total * 1e-9);
  return work->kept * 1e-9 / samples.medianSeconds();
}

/// Work, speed and share of the peak; why not, where the work is not known.
static void printSpeed(const Module &module, const Kernel &kernel, const CompileOptions &compileOptions,
                       const Inputs &inputs, const Samples &samples, int64_t threads) {
  double speed = printWork(module, kernel, compileOptions, inputs, samples), peak = samples.medianBeside();
  if (speed == 0)
    return;
  std::printf("bench: speed %.1f GFLOP/s = %.1f %% of the peak of %.1f (%s, %s, measured on %lld threads)\n", speed,
              100 * speed / peak, peak, toString(peakOf(kernel.signature())), peakVectors(),
              static_cast<long long>(threads));
}

Status tool::runBench(const Module &module, const Kernel &kernel, const CompileOptions &compileOptions,
                      const RunOptions &options, const Inputs &inputs, const std::vector<MutableTensorView> &outputs,
                      int64_t repeat) {
  RunReport report;
  auto run = [&]() -> Status {
    auto result = kernel.run(inputs.arguments, outputs, options);
    if (!result)
      return result.error();
    report = *result;
    return {};
  };
  int64_t threads = options.pool().threads();
  PeakMeter meter(threads);
  SampleOptions sampling;
  sampling.repeat = repeat;
  auto samples = takeSamples(run, [&] { return meter.measure(peakOf(kernel.signature())); }, sampling);
  if (!samples)
    return samples.error();
  std::printf("%s", kernel.describe().c_str());
  std::printf("bench: %lld threads, %lld tiles, scratch %lld bytes, %lld buffers of %lld bytes\n",
              static_cast<long long>(threads), static_cast<long long>(report.tiles),
              static_cast<long long>(report.scratchBytes), static_cast<long long>(report.allocations),
              static_cast<long long>(report.allocatedBytes));
  std::printf("bench: median %.3f ms, best %.3f ms of %lld runs\n", samples->medianSeconds() * 1e3,
              samples->bestSeconds() * 1e3, static_cast<long long>(repeat));
  printSpeed(module, kernel, compileOptions, inputs, *samples, threads);
  return {};
}

Status tool::runDeviceBench(const Module &module, const Kernel &kernel, const CompileOptions &compileOptions,
                            RunOptions options, const Inputs &inputs, const DeviceData &data, int64_t repeat) {
  options.wait(false);
  RunReport report;
  auto run = [&]() -> Status {
    auto result = kernel.run(data.arguments(), data.results(), options);
    if (!result)
      return result.error();
    report = *result;
    return {};
  };
  SampleOptions sampling;
  sampling.repeat = repeat;
  sampling.leastSeconds = 0.01;
  auto samples = takeDeviceSamples(kernel.device(), run, [] { return 0.0; }, sampling);
  if (!samples)
    return samples.error();
  std::printf("%s", kernel.describe().c_str());
  std::printf("bench: %lld launches, %lld buffers of %lld bytes\n", static_cast<long long>(report.launches),
              static_cast<long long>(report.allocations), static_cast<long long>(report.allocatedBytes));
  std::printf("bench: median %.3f ms, best %.3f ms of %lld repetitions\n", samples->medianSeconds() * 1e3,
              samples->bestSeconds() * 1e3, static_cast<long long>(repeat));
  if (double speed = printWork(module, kernel, compileOptions, inputs, *samples))
    std::printf("bench: speed %.1f TFLOP/s\n", speed * 1e-3);
  return {};
}
