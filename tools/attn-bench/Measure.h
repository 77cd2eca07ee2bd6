//===- Measure.h - one workload against its ceiling ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_ATTNBENCH_MEASURE_H
#define ATTN_TOOLS_ATTNBENCH_MEASURE_H

#include "Peaks.h"
#include "Profile.h"
#include "Samples.h"
#include "Workload.h"

namespace attn::tool {

struct Measurement {
  Workload workload;
  /// Of one compilation, parsing not included.
  double compileMilliseconds = 0;
  WorkCount work;
  /// What the speed is compared with; Samples have its value after each repetition.
  Peak ceiling = Peak::FmaF32;
  Samples samples;
  /// Of a run apart from them.
  Profile profile;

  /// Kept operations, or bytes, a second, in 1e9.
  double speed() const;
  /// The speed over the median ceiling.
  double share() const { return speed() / samples.medianBeside(); }
  /// Kept operations a second, in 1e9.
  double gflops() const { return work.kept * 1e-9 / samples.medianSeconds(); }
  /// Kept operations for each byte that has to be moved.
  double intensity() const { return work.kept / work.bytes; }
};

/// Compiles and times a workload. Its attention must be one whose work can be counted.
Result<Measurement> measure(const Workload &workload, const RunOptions &options, const SampleOptions &sampling,
                            PeakMeter &meter);

} // namespace attn::tool

#endif // ATTN_TOOLS_ATTNBENCH_MEASURE_H
