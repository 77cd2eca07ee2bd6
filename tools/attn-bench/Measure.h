//===- Measure.h - one workload against its ceiling ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_ATTNBENCH_MEASURE_H
#define ATTN_TOOLS_ATTNBENCH_MEASURE_H

#include "CompileTime.h"
#include "Peaks.h"
#include "Peers.h"
#include "Profile.h"
#include "Samples.h"
#include "Workload.h"

namespace attn::tool {

/// How exact a result of a workload is.
struct ResultError {
  /// "1x16x2048x64xf32".
  std::string type;
  Comparison comparison;
};

struct Measurement {
  Workload workload;
  /// Measured apart.
  CompileTimes compile;
  WorkCount work;
  /// What the speed is compared with; Samples have its value after each repetition. Where the workload compares with
  /// unfused attention, they have the seconds of that instead.
  Peak ceiling = Peak::FmaF32;
  Samples samples;
  /// Of a run apart from them.
  Profile profile;
  /// One for each result; empty where they were not compared, and where errorProblem says why they cannot be.
  std::vector<ResultError> errors;
  std::string errorProblem;
  /// Between the repetitions; empty without peers.
  std::vector<PeerTime> peers;

  /// The work of a layer is known where its attention is an op, and then only that of the attention.
  bool hasSpeed() const { return work.kept > 0; }
  bool hasCeiling() const { return hasSpeed() && !workload.comparesUnfused; }
  /// The median without fusion over the median with it. Only where the workload compares the two.
  double unfusedOverFused() const { return samples.medianBeside() / samples.medianSeconds(); }
  /// Kept operations, or bytes, a second, in 1e9, of a run that takes so long.
  double speedOf(double seconds) const { return (ceiling == Peak::Read ? work.bytes : work.kept) * 1e-9 / seconds; }
  double speed() const { return speedOf(samples.medianSeconds()); }
  /// The speed over the median ceiling.
  double share() const { return speed() / samples.medianBeside(); }
  /// A peer's time over ours, and its share of the ceiling that was measured beside it.
  double overOurs(const PeerTime &time) const { return time.medianSeconds / samples.medianSeconds(); }
  double shareOf(const PeerTime &time) const { return speedOf(time.medianSeconds) / time.ceiling; }
  /// Kept operations a second, in 1e9.
  double gflops() const { return work.kept * 1e-9 / samples.medianSeconds(); }
  /// Kept operations for each byte that has to be moved.
  double intensity() const { return work.kept / work.bytes; }
};

/// Compiles and times a workload. Its attention must be one whose work can be counted,
/// unless the workload compares it with unfused attention. peers: null for none; they run
/// after half of the repetitions, so that a slow change of the machine meets both. errorRows: rows that are compared
/// with f64, of the last repetition; 0: all. Absent: none.
Result<Measurement> measure(const Workload &workload, const RunOptions &options, const SampleOptions &sampling,
                            PeakMeter &meter, const Peers *peers, std::optional<int64_t> errorRows);

/// Compares what a function wrote with the reference, on `rows` query rows of each attention; 0: all.
Result<std::vector<ResultError>> compareResults(const Module &module, const std::string &function, const Inputs &inputs,
                                                const std::vector<Array> &outputs, int64_t rows);

} // namespace attn::tool

#endif // ATTN_TOOLS_ATTNBENCH_MEASURE_H
