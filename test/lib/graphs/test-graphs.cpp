//===- test-graphs.cpp - random graphs, compiled and compared -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-test-graphs --seed=1 --count=100 --target=x86-64-v3
//
// Makes graphs from the seeds seed, seed + 1, ...; compiles each for the target, runs it and compares it with the
// reference. A graph that fails is reduced and printed, with the command that runs it again. Exit code 1: some failed.
//
//===----------------------------------------------------------------------===//

#include "Reduce.h"
#include "Run.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>

using namespace graphs;
namespace cl = llvm::cl;

static cl::OptionCategory category("Options of attn-test-graphs");
static cl::opt<uint64_t> seed("seed", cl::cat(category), cl::desc("Seed of the first graph"), cl::init(1));
static cl::opt<int64_t> count("count", cl::cat(category), cl::desc("Number of graphs, of ascending seeds"),
                              cl::init(1));
static cl::opt<std::string> targetName("target", cl::cat(category), cl::desc("As attn-run takes it"), cl::init("host"));
static cl::list<std::string>
    without("without", cl::CommaSeparated, cl::cat(category),
            cl::desc("Producers that are left out; dynamic: every size is static; empty: no size is 0"));
static cl::opt<bool> printsGraph("print", cl::cat(category), cl::desc("Print the graphs and run nothing"));
static cl::opt<bool> printsKinds("kinds", cl::cat(category),
                                 cl::desc("Print how often each kind of operation was built"));
static cl::opt<bool> reduces("reduce", cl::cat(category), cl::desc("Reduce graphs that fail (default: on)"),
                             cl::init(true));
static cl::opt<unsigned> seconds("seconds", cl::cat(category), cl::desc("Time for one graph"), cl::init(60));
static cl::opt<unsigned> most("most", cl::cat(category), cl::desc("Failures after which it stops; 0: never"),
                              cl::init(0));
static cl::opt<std::string> saveTo("save", cl::cat(category),
                                   cl::desc("Folder for graphs that fail, reduced: seed-<target>.mlir"));

static Graph make(uint64_t number) {
  GraphOptions options;
  options.seed = number;
  options.isGpu =
      llvm::StringRef(targetName).starts_with("emulator") || llvm::StringRef(targetName).starts_with("cuda");
  options.without = std::vector<std::string>(without.begin(), without.end());
  return makeGraph(options);
}

static std::string command(uint64_t number) {
  std::string text = "attn-test-graphs --seed=" + std::to_string(number) + " --target=" + targetName;
  for (const std::string &name : without)
    text += " --without=" + name;
  return text;
}

static void save(uint64_t number, const std::string &text) {
  std::string path = saveTo + "/" + std::to_string(number) + "-" + targetName + ".mlir";
  std::error_code code;
  llvm::raw_fd_ostream file(path, code);
  if (code)
    llvm::errs() << "error: " << path << ": " << code.message() << "\n";
  else
    file << text;
}

static void reportFailure(uint64_t number, const Outcome &outcome) {
  std::string message = outcome.message;
  for (size_t at = 0; (at = message.find('\n', at)) != std::string::npos; at += 4)
    message.replace(at, 1, "\n// ");
  std::string text = "// seed " + std::to_string(number) + " on " + targetName + ": " + toString(outcome.verdict) +
                     ": " + message + "\n// run again: " + command(number) + "\n";
  Graph graph = make(number);
  if (reduces)
    graph = reduceGraph(graph, targetName, outcome.verdict, seconds);
  text += describeInputs(graph) + graph.text;
  llvm::outs() << text;
  llvm::outs().flush();
  if (!saveTo.empty())
    save(number, text);
}

static void printAll() {
  std::map<std::string, int> kinds;
  for (int64_t k = 0; k < count; ++k) {
    Graph graph = make(seed + k);
    for (auto &[kind, times] : graph.kinds)
      kinds[kind] += times;
    if (printsGraph)
      llvm::outs() << describeInputs(graph) << graph.text;
  }
  for (auto &[kind, times] : kinds)
    if (printsKinds)
      llvm::outs() << kind << ": " << times << "\n";
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "random graphs, compiled and compared with the reference\n");
  if (printsGraph || printsKinds)
    return printAll(), 0;
  std::map<Verdict, int64_t> verdicts;
  int64_t failures = 0;
  runAll(
      count, seconds, [&](int64_t k) { return runGraph(make(seed + k), targetName); },
      [&](int64_t k, const Outcome &outcome) {
        ++verdicts[outcome.verdict];
        if (outcome.verdict == Verdict::Pass || (most && failures >= most))
          return;
        ++failures;
        reportFailure(seed + k, outcome);
      });
  llvm::outs() << "seeds " << seed << " to " << seed + count - 1 << " on " << targetName << ":";
  for (auto [verdict, times] : verdicts)
    llvm::outs() << " " << times << " " << toString(verdict) << ";";
  llvm::outs() << "\n";
  return failures ? 1 : 0;
}
