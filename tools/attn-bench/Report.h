//===- Report.h - results of attn-bench as text, JSON and a picture -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_ATTNBENCH_REPORT_H
#define ATTN_TOOLS_ATTNBENCH_REPORT_H

#include "Measure.h"

namespace attn::tool {

/// All that a run found out.
struct Findings {
  /// LLVM's name of the CPU.
  std::string cpu;
  int64_t threads = 1;
  SampleOptions sampling;
  /// The median over the run, of those that this CPU has.
  std::vector<std::pair<Peak, double>> peaks;
  std::vector<Measurement> measurements;
};

using Row = std::vector<std::string>;

/// Columns as wide as their widest cell, two spaces between them; the first `leftColumns` are flush left.
std::string alignRows(const std::vector<Row> &rows, size_t leftColumns);

/// Writes a file; nothing for an empty path.
Status writeText(const std::string &path, const std::string &text);

/// A table with a line for each workload, and what to know beside it; one of the peers and one of the errors, if there
/// are any.
std::string formatTable(const Findings &findings);

/// The findings with every repetition, as JSON text. Units: seconds, and those named in the fields.
std::string formatJson(const Findings &findings);

/// A roofline: operations for each byte across, GFLOP/s up, both logarithmic; lines for the peaks, a point for each
/// workload that has a ceiling. SVG without references to anything outside of it.
std::string formatRoofline(const Findings &findings);

} // namespace attn::tool

#endif // ATTN_TOOLS_ATTNBENCH_REPORT_H
