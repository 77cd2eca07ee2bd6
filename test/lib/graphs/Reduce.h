//===- Reduce.h - makes a graph that fails small --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_LIB_GRAPHS_REDUCE_H
#define ATTN_TEST_LIB_GRAPHS_REDUCE_H

#include "Run.h"

namespace graphs {

/// A smaller graph with the same verdict on the target: results fall away, calls are inlined, operations become
/// arguments that hold what the reference computes for them, or one of their own operands, until nothing more goes.
Graph reduceGraph(const Graph &graph, const std::string &target, Verdict verdict, unsigned seconds);

/// A comment with a line for each input.
std::string describeInputs(const Graph &graph);

} // namespace graphs

#endif // ATTN_TEST_LIB_GRAPHS_REDUCE_H
