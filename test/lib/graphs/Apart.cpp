//===- Apart.cpp - runs graphs in processes of their own ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Run.h"
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

using namespace graphs;

namespace {
/// What a child writes for each graph: the verdict and the size of the message, then the message.
struct Record {
  int64_t graph;
  int32_t verdict;
  uint32_t length;
};
} // namespace

static bool writeAll(int file, const void *data, size_t size) {
  const char *at = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t done = write(file, at, size);
    if (done <= 0)
      return false;
    at += done, size -= static_cast<size_t>(done);
  }
  return true;
}

static bool readAll(int file, void *data, size_t size) {
  char *at = static_cast<char *>(data);
  while (size > 0) {
    ssize_t done = read(file, at, size);
    if (done <= 0)
      return false;
    at += done, size -= static_cast<size_t>(done);
  }
  return true;
}

/// Runs graphs from `first` on; never returns.
[[noreturn]] static void runChild(int out, int64_t first, int64_t count, unsigned seconds,
                                  const std::function<Outcome(int64_t)> &work) {
  // Printing a stack costs a second; the reduced graph tells more.
  for (int number : {SIGSEGV, SIGABRT, SIGILL, SIGFPE, SIGBUS, SIGTRAP})
    signal(number, SIG_DFL);
  for (int64_t graph = first; graph < count; ++graph) {
    alarm(seconds);
    Outcome outcome = work(graph);
    Record record{graph, static_cast<int32_t>(outcome.verdict), static_cast<uint32_t>(outcome.message.size())};
    if (!writeAll(out, &record, sizeof(record)) || !writeAll(out, outcome.message.data(), outcome.message.size()))
      _exit(1);
  }
  _exit(0);
}

static Outcome describeEnd(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return {Verdict::Hang, "took too long"};
  if (WIFSIGNALED(status))
    return {Verdict::Crash, std::string("signal ") + strsignal(WTERMSIG(status))};
  return {Verdict::Crash, "the process ended with exit code " + std::to_string(WEXITSTATUS(status))};
}

void graphs::runAll(int64_t count, unsigned seconds, const std::function<Outcome(int64_t)> &work,
                    const std::function<void(int64_t, const Outcome &)> &report) {
  int64_t next = 0;
  while (next < count) {
    int ends[2];
    if (pipe(ends) != 0)
      return report(next, {Verdict::Crash, "no pipe could be made"});
    std::fflush(nullptr);
    pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      runChild(ends[1], next, count, seconds, work);
    }
    close(ends[1]);
    Record record;
    while (readAll(ends[0], &record, sizeof(record))) {
      Outcome outcome{static_cast<Verdict>(record.verdict), std::string(record.length, ' ')};
      readAll(ends[0], outcome.message.data(), record.length);
      report(record.graph, outcome);
      next = record.graph + 1;
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (next < count)
      report(next, describeEnd(status)), ++next;
  }
}

Outcome graphs::runApart(const Graph &graph, const std::string &target, unsigned seconds) {
  Outcome result;
  runAll(
      1, seconds, [&](int64_t) { return runGraph(graph, target); },
      [&](int64_t, const Outcome &outcome) { result = outcome; });
  return result;
}
