//===- Workload.h - what attn-bench measures ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A workload file is JSON: {"workloads": [...]}, each an object of these fields.
//
// | field | meaning |
// |---|---|
// | name, title | for --workload and the table |
// | source, function | a .mlir file, relative to the workload file, and its function |
// | bound | "compute" (default): useful work over the multiply-add peak; "memory": bytes over the read rate |
// | reach | share of the ceiling to reach, 0 to 1; optional |
// | shape, fill, scalar | objects from the number of an argument to what attn-run's option of that name takes |
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTNBENCH_WORKLOAD_H
#define ATTN_TOOLS_ATTNBENCH_WORKLOAD_H

#include "Data.h"

namespace attn::tool {

struct Workload {
  std::string name;
  std::string title;
  /// A path.
  std::string source;
  std::string function;
  DataSettings data;
  bool isMemoryBound = false;
  /// 0: none.
  double reach = 0;
};

/// Reads a workload file. An error says where: the line and column of bad JSON, else the field.
Result<std::vector<Workload>> loadWorkloads(const std::string &path);

/// The workloads whose names match a regular expression; "" takes all. Matching none, and a bad expression, are errors.
Result<std::vector<Workload>> selectWorkloads(std::vector<Workload> workloads, const std::string &expression);

} // namespace attn::tool

#endif // ATTN_TOOLS_ATTNBENCH_WORKLOAD_H
