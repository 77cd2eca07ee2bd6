//===- Run.h - compiles a graph and compares it with the reference -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_LIB_GRAPHS_RUN_H
#define ATTN_TEST_LIB_GRAPHS_RUN_H

#include "Graph.h"
#include <functional>

namespace graphs {

/// How a graph ended.
enum class Verdict {
  Pass,
  /// The text does not verify: the generator's mistake.
  Invalid,
  /// The compiler refused it or failed.
  NotCompiled,
  /// The kernel refused to run.
  NotRun,
  /// The reference refused it: the generator's mistake, or the reference's.
  NoReference,
  /// Values, bytes around a tensor, or bits that depend on the threads.
  Wrong,
  Crash,
  Hang
};

const char *toString(Verdict verdict);

struct Outcome {
  Verdict verdict = Verdict::Pass;
  std::string message;
};

/// Compiles @main for a target ("host", "x86-64-v3", "emulator:sm_80", ...), runs it on one thread and on two, and
/// compares. A crash is the process's.
Outcome runGraph(const Graph &graph, const std::string &target);

/// The same in a process of its own: a crash, and more than `seconds` of its time, are outcomes.
Outcome runApart(const Graph &graph, const std::string &target, unsigned seconds);

/// What the reference makes of each result of @main.
attn::Result<std::vector<attn::ReferenceTensor>> evaluateGraph(const Graph &graph);

/// Calls work(n) for n in [0, count) in processes that take over where one ended: `report` gets each outcome in order.
void runAll(int64_t count, unsigned seconds, const std::function<Outcome(int64_t)> &work,
            const std::function<void(int64_t, const Outcome &)> &report);

} // namespace graphs

#endif // ATTN_TEST_LIB_GRAPHS_RUN_H
