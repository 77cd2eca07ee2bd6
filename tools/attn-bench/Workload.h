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
// | unfused | true: also timed with attention left unfused, run beside run; without speed and ceiling |
// | peers | for --peers: what the function computes, as below; optional |
// | shape, fill, scalar | objects from the number of an argument to what attn-run's option of that name takes |
// | out-shape | the same from the number of a result |
//
// Peers cannot read the function: "peers" is an object that says what it computes. Its arguments 0 to 2 are query, key
// and value, [batch, heads, length, dim], and the scale is 1 / sqrt(headDim). {}: all keys. "left", "right": the keys
// that a query sees before and behind its own, the last query's being the last key; causal is {"right": 0}. "lengths":
// the number of the argument with the keys that count of each batch.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTNBENCH_WORKLOAD_H
#define ATTN_TOOLS_ATTNBENCH_WORKLOAD_H

#include "Data.h"

namespace attn::tool {

/// The field "peers".
struct PeerDescription {
  std::optional<int64_t> left, right;
  /// The number of an argument.
  std::optional<int64_t> lengths;
};

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
  /// Two times are compared, with CompileOptions::fuse and without; there is no ceiling.
  bool comparesUnfused = false;
  std::optional<PeerDescription> peers;
};

/// Reads a workload file. An error says where: the line and column of bad JSON, else the field.
Result<std::vector<Workload>> loadWorkloads(const std::string &path);

/// The workloads whose names match one of some regular expressions; none of these takes all. An expression that matches
/// nothing, and a bad one, are errors.
Result<std::vector<Workload>> selectWorkloads(std::vector<Workload> workloads,
                                              const std::vector<std::string> &expressions);

} // namespace attn::tool

#endif // ATTN_TOOLS_ATTNBENCH_WORKLOAD_H
