//===- GpuBench.h - workloads on a GPU ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_ATTNBENCH_GPUBENCH_H
#define ATTN_TOOLS_ATTNBENCH_GPUBENCH_H

#include "Driver.h"
#include "Workload.h"

namespace attn::tool {

/// Measures the workloads on settings.target: times by the GPU's clock, each beside a large matrix product by cuBLAS
/// where it is installed. The table goes to stdout, progress to stderr, numbers to settings.json. Results that are
/// compared and wrong are an error after everything was written.
Status runGpuBench(const BenchSettings &settings, const std::vector<Workload> &workloads);

} // namespace attn::tool

#endif // ATTN_TOOLS_ATTNBENCH_GPUBENCH_H
