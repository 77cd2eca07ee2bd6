//===- Driver.h - what attn-bench does ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_ATTNBENCH_DRIVER_H
#define ATTN_TOOLS_ATTNBENCH_DRIVER_H

#include "Samples.h"

namespace attn::tool {

/// What the command line says. `attn-bench --help` is its documentation.
struct BenchSettings {
  /// The workload file.
  std::string file;
  /// A regular expression; empty: all.
  std::vector<std::string> workloads;
  bool list = false;
  /// "host", or a GPU as Target::named takes it.
  std::string target = "host";
  /// Compile this function of `file`, a .mlir file, and end; empty: measure.
  std::string compileOnly;
  /// This program, for processes that do that.
  std::string executable;
  int64_t threads = 0;
  SampleOptions sampling;
  /// Rows of each attention that are compared with f64; 0: all. Absent: none.
  std::optional<int64_t> errorRows;
  /// The peers' virtual environment and the folder of their scripts; no environment: no peers.
  std::string peers, peerScripts;
  /// That a peer may take for a workload.
  int64_t peerSeconds = 300;
  /// Files to write; empty: none.
  std::string json, svg;

  bool isGpu() const { return target.rfind("cuda", 0) == 0; }
};

/// Reads the command line; handles --help and --version by itself (both end the process), and unknown options too.
Result<BenchSettings> parseBenchCommandLine(int argc, char **argv);

/// Measures the workloads: the table goes to stdout, progress to stderr. Where results are compared and one is wrong,
/// an error after everything was written.
Status runBenchTool(const BenchSettings &settings);

} // namespace attn::tool

#endif // ATTN_TOOLS_ATTNBENCH_DRIVER_H
