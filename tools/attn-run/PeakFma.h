//===- PeakFma.h - the multiply-add peak of one thread ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_ATTNRUN_PEAKFMA_H
#define ATTN_TOOLS_ATTNRUN_PEAKFMA_H

namespace attn::tool {

/// Runs independent vector multiply-adds in registers on the calling thread for some milliseconds and returns GFLOP/s
/// (2 for each element's multiply-add): what no code can exceed. The widest vectors that the CPU has (AVX-512, AVX2
/// with FMA, else the compiler's default), in f32, or f64 if isDouble.
double measurePeakFma(bool isDouble);

/// "AVX-512", "AVX2" or "baseline": what measurePeakFma uses.
const char *peakFmaIsa();

} // namespace attn::tool

#endif // ATTN_TOOLS_ATTNRUN_PEAKFMA_H
