//===- fuzz.cpp - damaged inputs ---------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-test-fuzz --kind=text|arrays|options|probes --seed=1 --count=1000 [--first=0] [--out=FOLDER] [FOLDER of
// seeds]... Runs `count` cases in forked processes with limits of time and memory. A crash, a hang or too much memory
// is a failure if a function of ours is involved (Children.h: Failure::isOurs); MLIR's and LLVM's own are counted
// beside. The first input of each kind of failure is reduced, and written to the folder. To see one again, with what it
// prints:
//   ATTN_FUZZ_VERBOSE=1 attn-test-fuzz --kind=text --seed=1 --first=1234 --count=1 test
//
//===----------------------------------------------------------------------===//

#include "Cases.h"
#include "Children.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <map>

using namespace attn::fuzz;
namespace cl = llvm::cl;

static cl::opt<std::string> kind("kind", cl::Required, cl::desc("text, arrays, options or probes"));
static cl::opt<uint64_t> seed("seed", cl::init(1), cl::desc("All cases follow from it"));
static cl::opt<uint64_t> firstCase("first", cl::init(0), cl::desc("The first case"));
static cl::opt<uint64_t> caseCount("count", cl::init(1000), cl::desc("Cases"));
static cl::opt<std::string> out("out", cl::init("."), cl::desc("Folder for failing inputs"));
static cl::opt<std::string> tools("tools", cl::desc("Folder of the tools, for options"));
static cl::opt<int> secondsLimit("seconds", cl::init(10), cl::desc("CPU time of a case"));
static cl::opt<size_t> memoryLimit("mebibytes", cl::init(2048), cl::desc("Memory of a case"));
static cl::opt<bool> reduces("reduce", cl::init(true), cl::desc("Reduce failing inputs"));
static cl::list<std::string> folders(cl::Positional, cl::desc("<folders of .mlir files>"));

namespace {

/// Failures that are alike.
struct Group {
  uint64_t count = 0, first = 0;
  Failure failure;
};

} // namespace

static const char *toString(Problem problem) {
  return problem == Problem::Crash ? "crash" : problem == Problem::Hang ? "hang" : "too much memory";
}

/// Alike: hangs and lacks of memory are noticed in any function.
static std::string keyOf(const Failure &failure) {
  std::string place = failure.problem == Problem::Crash ? failure.signature : failure.phase;
  return std::string(failure.isOurs ? "" : "upstream ") + toString(failure.problem) + ": " + place;
}

//===----------------------------------------------------------------------===//
// Reducing
//===----------------------------------------------------------------------===//

static std::string joinWithout(const std::vector<std::string> &parts, size_t begin, size_t end) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i)
    if (i < begin || i >= end)
      text += parts[i];
  return text;
}

/// Drops halves, quarters, ... of the parts while the failure stays the same (Zeller and Hildebrandt's delta debugging,
/// greedily), within a number of tries and a minute: some inputs take seconds to fail.
static std::string reduce(const Cases &cases, uint64_t index, std::string input, const Failure &failure,
                          const Limits &limits) {
  int tries = failure.problem == Problem::Crash ? 400 : 20;
  auto latest = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  for (bool finely : {false, true}) {
    std::vector<std::string> parts = cases.split(input, finely);
    for (size_t size = (parts.size() + 1) / 2; size > 0 && tries > 0; size /= 2)
      for (size_t begin = 0; begin < parts.size() && tries > 0;) {
        size_t end = std::min(begin + size, parts.size());
        std::string shorter = joinWithout(parts, begin, end);
        tries = std::chrono::steady_clock::now() < latest ? tries - 1 : 0;
        auto again = runCase(limits, [&] { cases.run(index, shorter); });
        if (again && keyOf(*again) == keyOf(failure)) {
          parts.erase(parts.begin() + begin, parts.begin() + end);
          input = shorter;
        } else {
          begin = end;
        }
      }
  }
  return input;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static std::string saveInput(const Cases &cases, const Group &group, const Limits &limits) {
  std::string input = cases.make(group.first);
  if (reduces)
    input = reduce(cases, group.first, std::move(input), group.failure, limits);
  std::string path = out + "/" + kind + "-" + std::to_string(seed) + "-" + std::to_string(group.first) + cases.suffix();
  std::error_code code = llvm::sys::fs::create_directories(out);
  llvm::raw_fd_ostream file(path, code);
  if (!code)
    file << input;
  return path;
}

static std::map<std::string, Group> runAll(const Cases &cases, const Limits &limits) {
  std::map<std::string, Group> groups;
  auto work = [&](uint64_t index) { cases.run(index, cases.make(index)); };
  runCases(firstCase, firstCase + caseCount, cases.batch(), limits, work, [&](uint64_t index, const Failure &failure) {
    Group &group = groups[keyOf(failure)];
    if (group.count++ == 0) {
      group.first = index;
      group.failure = failure;
    }
  });
  return groups;
}

/// The number of failures of ours.
static uint64_t printGroups(const Cases &cases, const std::map<std::string, Group> &groups, const Limits &limits) {
  uint64_t ours = 0, upstream = 0;
  std::string counts;
  static const char *const names[] = {"refused", "accepted", "lowered", "compiled", "evaluated", "transformed"};
  for (int counter = 0; counter < CounterCount; ++counter)
    if (uint64_t count = getCount(static_cast<Counter>(counter)))
      counts += ", " + std::to_string(count) + " " + names[counter];
  for (const auto &[key, group] : groups) {
    (group.failure.isOurs ? ours : upstream) += group.count;
    llvm::outs() << group.count << " x " << key << "\n  while " << group.failure.phase << "; first: case "
                 << group.first << ", " << saveInput(cases, group, limits) << "\n";
  }
  llvm::outs() << kind << ", seed " << seed << ", " << caseCount << " cases" << counts << ": " << ours
               << " failures of ours, " << upstream << " of MLIR and LLVM\n";
  return ours;
}

static std::unique_ptr<Cases> createCases() {
  if (kind == "text")
    return createTextCases(seed, folders);
  if (kind == "probes")
    return createProbeCases();
  if (kind == "arrays")
    return createArrayCases(seed);
  return kind == "options" ? createOptionCases(seed, tools) : nullptr;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "damages inputs and looks for crashes\n");
  std::unique_ptr<Cases> cases = createCases();
  if (!cases) {
    llvm::errs() << "--kind expects text, arrays, options or probes, but got '" << kind << "'\n";
    return 1;
  }
  Limits limits{secondsLimit, memoryLimit};
  return printGroups(*cases, runAll(*cases, limits), limits) ? 1 : 0;
}
