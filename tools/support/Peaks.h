//===- Peaks.h - what no code can exceed on this machine ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_SUPPORT_PEAKS_H
#define ATTN_TOOLS_SUPPORT_PEAKS_H

#include <cstdint>
#include <string>
#include <vector>

namespace attn::tool {

/// A limit of the machine.
enum class Peak {
  /// Multiply-adds of f32 and f64 in registers, in GFLOP/s (2 for each element). The widest vectors that the CPU has:
  /// AVX-512, AVX2 with FMA, else the compiler's default.
  FmaF32,
  FmaF64,
  /// Dot products of bf16 pairs that add to f32, in GFLOP/s (4 for each pair). Where the CPU has AVX512-BF16.
  DotBf16,
  /// Reading an array much larger than the caches from memory, in GB/s: the fastest of several orders, with and without
  /// prefetch.
  Read
};

/// "f32 FMA", "f64 FMA", "bf16 dot" or "read". Static storage.
const char *toString(Peak peak);
/// "GFLOP/s" or "GB/s". Static storage.
const char *unitOf(Peak peak);

/// Whether this CPU has the instructions.
bool isAvailable(Peak peak);

/// "AVX-512", "AVX2" or "baseline": the vectors that FmaF32 and FmaF64 use.
const char *peakVectors();

/// Measures peaks on several threads at once. Not thread-safe.
class PeakMeter {
public:
  /// threads: at least 1, the calling one counted.
  explicit PeakMeter(int64_t threads) : threads(threads) {}

  /// The total over all threads: of some rounds of a fraction of a millisecond (Read: of some milliseconds), which all
  /// threads begin together, the fastest. 0 where it is not available.
  double measure(Peak peak);

private:
  int64_t threads;
  /// What Read reads: readBytes over all threads, made at the first use.
  std::vector<float> memory;
};

} // namespace attn::tool

#endif // ATTN_TOOLS_SUPPORT_PEAKS_H
