//===- Children.h - cases in processes of their own ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_LIB_FUZZ_CHILDREN_H
#define ATTN_TEST_LIB_FUZZ_CHILDREN_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace attn::fuzz {

enum class Problem { Crash, Hang, Memory };

/// What went wrong in a case, found where the process was when it crashed or its time or memory ran out.
struct Failure {
  Problem problem;
  /// A function of this project is among those called from within the parser, the verifier, a pass or the translation;
  /// else the failure is MLIR's or LLVM's own.
  bool isOurs;
  /// The innermost functions, for counting alike ones.
  std::string signature;
  /// What the case was doing.
  std::string phase;
};

/// Of one case.
struct Limits {
  /// Seconds of CPU time, so that other processes on the machine count for nothing.
  int seconds = 10;
  /// Beyond what a process has before the case.
  size_t mebibytes = 2048;
};

/// What cases count, for the summary.
enum Counter { Refused, Accepted, Lowered, Compiled, Evaluated, Transformed, CounterCount };

/// Says what the case in this process is doing now, for Failure::phase.
void setPhase(const std::string &phase);

/// Ends this process with a failure that the case itself has seen.
[[noreturn]] void failCase(Problem problem, bool isOurs, const std::string &signature);

void addCount(Counter counter);
uint64_t getCount(Counter counter);

/// Runs work(index) for each index from first to end - 1, `batch` of them in a forked process; after a failure the rest
/// of a batch goes on in another one. To be called from a process with one thread.
void runCases(uint64_t first, uint64_t end, uint64_t batch, const Limits &limits,
              const std::function<void(uint64_t)> &work,
              const std::function<void(uint64_t, const Failure &)> &onFailure);

/// One case.
std::optional<Failure> runCase(const Limits &limits, const std::function<void()> &work);

} // namespace attn::fuzz

#endif // ATTN_TEST_LIB_FUZZ_CHILDREN_H
