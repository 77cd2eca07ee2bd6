//===- Peers.h - times of other implementations -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A peer is a script: it reads a task from stdin and prints its answer as the last line of stdout, both JSON; the
// fields are in peers/common/peer.py. Each workload starts a process of its own, so that no two peers meet in one.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTNBENCH_PEERS_H
#define ATTN_TOOLS_ATTNBENCH_PEERS_H

#include "Samples.h"
#include "Workload.h"

namespace attn::tool {

/// What a peer took for a workload.
struct PeerTime {
  std::string peer;
  /// Why there is no time; empty: there is one.
  std::string problem;
  /// Of the peer, and which of its operators.
  std::string version, how;
  double medianSeconds = 0, bestSeconds = 0;
  /// From the inputs to the end of the first run, less one run.
  double compileSeconds = 0;
  int64_t voided = 0;
  bool isQuiet = true;
  /// The ceiling of the workload, measured right after the peer.
  double ceiling = 0;
};

/// The peers of a Python virtual environment.
class Peers {
public:
  /// environment: made by tools/scripts/bench-peers; scripts: a folder whose .py files are the peers; seconds: that a
  /// peer may take for a workload.
  static Result<Peers> find(const std::string &environment, const std::string &scripts, int64_t seconds);

  /// Runs each peer on a task in turn and calls `ceiling` after each. A failure is the problem of its PeerTime.
  std::vector<PeerTime> measure(const std::string &task, const std::function<double()> &ceiling) const;

private:
  PeerTime run(const std::string &script, const std::string &task) const;

  std::string python;
  std::vector<std::string> scripts;
  int64_t seconds = 0;
};

/// The task of a workload as JSON. inputs: its arguments; kept: its WorkCount::kept, which the peer compares with the
/// description. An error where the description does not fit the arguments.
Result<std::string> makePeerTask(const PeerDescription &description, const Inputs &inputs, double kept, int64_t threads,
                                 const SampleOptions &sampling);

} // namespace attn::tool

#endif // ATTN_TOOLS_ATTNBENCH_PEERS_H
