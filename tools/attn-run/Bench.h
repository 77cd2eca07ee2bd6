//===- Bench.h - timing a kernel ----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_ATTNRUN_BENCH_H
#define ATTN_TOOLS_ATTNRUN_BENCH_H

#include "DeviceData.h"

namespace attn::tool {

/// Warms up (two runs), then times `repeat` runs, with a measurement of the multiply-add peak of the same threads after
/// each, and prints the kernel's description, time, work, speed and the share of the median peak. Work is what
/// Module::countWork counts. The peak is that of f32, of f64 where the first floating-point input is f64.
/// compileOptions: those of the kernel.
Status runBench(const Module &module, const Kernel &kernel, const CompileOptions &compileOptions,
                const RunOptions &options, const Inputs &inputs, const std::vector<MutableTensorView> &outputs,
                int64_t repeat);

/// The same on a GPU, by its own clock: time, work and speed. data: where the arguments lie.
Status runDeviceBench(const Module &module, const Kernel &kernel, const CompileOptions &compileOptions,
                      RunOptions options, const Inputs &inputs, const DeviceData &data, int64_t repeat);

} // namespace attn::tool

#endif // ATTN_TOOLS_ATTNRUN_BENCH_H
