//===- Driver.cpp - what attn-bench does -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver.h"

#include "CommandLine.h"
#include "CrashReport.h"
#include "GpuBench.h"
#include "OutputFile.h"
#include "Report.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <cmath>
#include <cstdio>

using namespace attn;
using namespace attn::tool;
namespace cl = llvm::cl;

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

static const char *const overview =
    R"(measure attention workloads against the machine's ceilings

A workload is an attention in a .mlir file; files of them are described in tools/attn-bench/Workload.h. Three come with
the tool: `attention`, the workloads with a share to reach, `variants`, which are watched (scores, types, head sizes,
lengths off a tile, 1k to 32k keys), and `blocks`, layers of transformers whose attention is written in linalg: each is
timed fused and, run beside run, with fusion turned off. Each is compiled, run twice to warm up, then timed in repetitions. After each repetition its ceiling is measured on the same threads: the
multiply-add peak, or the rate of reading memory. The share is useful work over the ceiling, both medians. Useful work
counts the (query, key) pairs that causal masks, windows and lengths keep. A repetition during which other processes
used the CPUs is void, and repeated. `compile ms` is the median of further compilations in the same process, `cold ms`
that of processes which start, parse the workload's file, compile its function and end.

--peers also measures other implementations, those in tools/attn-bench/peers, in the environment that
tools/scripts/bench-peers makes: each in a process of its own, on the same sizes, mask and threads, by the same rules,
after half of our repetitions. Results that are wrong have no time.

--target=cuda runs the workloads (--set=gpu: 16k tokens in lengths of 1k to 16k, head sizes 64 and 128, full and causal) on a
GPU, timed by its own clock, each repetition beside a large matrix product by cuBLAS, where that is installed.

--errors compares what the last repetition wrote with the f64 reference, on a sample of query rows: the largest and the
mean error, and what the project's rule allows (twice the error of an unfused implementation in the same types, and a
floor). The reference takes seconds where there are many keys.

Exit code: 0, or 1 for any error, and for results out of tolerance. A speed below what the workload is to reach is none.

  attn-bench
  attn-bench --workload=W1,W7a --threads=1 --repeat=5
  attn-bench --workload='W[12]$'
  attn-bench my-workloads.json --json=results.json --svg=roofline.svg
  attn-bench --set=variants --errors
  attn-bench --peers=auto
  attn-bench --target=cuda --json=gpu.json
)";

namespace {

/// The options, made at run time: none of them is in the process before main.
struct CommandLine {
  cl::OptionCategory category{"attn-bench options"};
  cl::opt<std::string> file{cl::Positional, cl::desc("[WORKLOADS.json]"), cl::cat(category)};
  cl::opt<std::string> set{"set", cl::init("attention"), cl::value_desc("NAME"), cl::cat(category),
                           cl::desc("a file that comes with the tool: attention (default), variants, blocks or gpu")};
  cl::opt<std::string> target{"target", cl::init("host"), cl::value_desc("NAME"), cl::cat(category),
                              cl::desc("host (default), or a GPU: cuda, cuda:1; then --set is gpu by default")};
  cl::list<std::string> workloads{"workload", cl::CommaSeparated, cl::value_desc("REGEX,..."), cl::cat(category),
                                  cl::desc("only those whose name matches one of these (default: all)")};
  cl::opt<std::string> compileOnly{"compile-only", cl::Hidden, cl::value_desc("FUNCTION"), cl::cat(category),
                                   cl::desc("compile a function of the .mlir file given, and end")};
  cl::opt<bool> list{"list", cl::desc("print the workloads and measure nothing"), cl::cat(category)};
  cl::opt<int64_t> threads{"threads", cl::desc("threads, 0 for all (default)"), cl::init(0), cl::cat(category)};
  cl::opt<int64_t> repeat{"repeat", cl::desc("repetitions that count (default 15)"), cl::init(15), cl::cat(category)};
  cl::opt<double> leastTime{"least-time", cl::init(250), cl::value_desc("MS"), cl::cat(category),
                            cl::desc("a repetition is as many runs as take this long (default 250)")};
  cl::opt<double> quiet{"quiet", cl::init(0.05), cl::value_desc("CPUS"), cl::cat(category),
                        cl::desc("CPUs that others may use during a repetition (default 0.05)")};
  cl::opt<bool> errors{"errors", cl::desc("compare results with f64"), cl::cat(category)};
  cl::opt<int64_t> errorRows{"error-rows", cl::init(64), cl::cat(category),
                             cl::desc("query rows that --errors compares, 0 for all (default 64)")};
  cl::opt<std::string> peers{"peers", cl::value_desc("FOLDER"), cl::cat(category),
                             cl::desc("measure the peers of this environment; auto: peers in the build folder")};
  cl::opt<int64_t> peerTimeout{"peer-timeout", cl::init(300), cl::value_desc("SECONDS"), cl::cat(category),
                               cl::desc("that a peer may take for a workload (default 300)")};
  cl::opt<std::string> json{"json", cl::desc("write all numbers"), cl::value_desc("FILE"), cl::cat(category)};
  cl::opt<std::string> svg{"svg", cl::desc("draw a roofline"), cl::value_desc("FILE"), cl::cat(category)};
};

} // namespace

static std::string findExecutable(const char *program) {
  return llvm::sys::fs::getMainExecutable(program, reinterpret_cast<void *>(&parseBenchCommandLine));
}

/// A path below the folder that holds the executable's folder: the build folder.
static std::string findBeside(const char *program, const char *relative) {
  std::string executable = findExecutable(program);
  llvm::SmallString<128> path(llvm::sys::path::parent_path(llvm::sys::path::parent_path(executable)));
  llvm::sys::path::append(path, relative);
  return path.str().str();
}

Result<BenchSettings> tool::parseBenchCommandLine(int argc, char **argv) {
  dropLibraryOptions();
  CommandLine line;
  cl::HideUnrelatedOptions(line.category);
  cl::ParseCommandLineOptions(argc, argv, overview);
  BenchSettings settings;
  settings.file = line.file;
  settings.target = line.target;
  std::string set = settings.isGpu() && !line.set.getNumOccurrences() ? std::string("gpu") : line.set.getValue();
  if (line.file.empty())
    settings.file = findBeside(argv[0], ("share/attn/bench/" + set + ".json").c_str());
  settings.workloads = {line.workloads.begin(), line.workloads.end()};
  settings.list = line.list;
  settings.compileOnly = line.compileOnly;
  settings.executable = findExecutable(argv[0]);
  settings.threads = line.threads;
  settings.sampling = {line.repeat, line.leastTime * 1e-3, line.quiet};
  if (line.errors || line.errorRows.getNumOccurrences())
    settings.errorRows = line.errorRows;
  settings.peers = line.peers == "auto" ? findBeside(argv[0], "peers") : line.peers;
  settings.peerScripts = findBeside(argv[0], "share/attn/bench/peers");
  settings.peerSeconds = line.peerTimeout;
  settings.json = line.json;
  settings.svg = line.svg;
  if (line.set.getNumOccurrences() && !line.file.empty())
    return usageError("--set expects no workload file beside it, but got " + line.file);
  if (settings.target != "host" && !settings.isGpu())
    return usageError("--target expects host or a GPU, such as cuda or cuda:1, but got '" + settings.target + "'");
  if (settings.isGpu() && (!line.peers.empty() || !line.svg.empty()))
    return usageError("--peers and --svg expect the target host, but got " + settings.target);
  if (line.repeat < 1)
    return usageError("--repeat expects at least 1, but got " + std::to_string(line.repeat));
  if (line.errorRows < 0)
    return usageError("--error-rows expects at least 0, but got " + std::to_string(line.errorRows));
  if (line.peerTimeout < 1)
    return usageError("--peer-timeout expects at least 1, but got " + std::to_string(line.peerTimeout));
  for (const cl::opt<double> *option : {&line.leastTime, &line.quiet})
    if (!(*option >= 0))
      return usageError("--" + option->ArgStr.str() + " expects at least 0, but got " + std::to_string(*option));
  return settings;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

Status tool::writeText(const std::string &path, const std::string &text) {
  return path.empty() ? Status() : writeFile(path, text);
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

static void printList(const std::vector<Workload> &workloads) {
  for (const Workload &workload : workloads)
    std::printf("%-7s %s: @%s of %s\n", workload.name.c_str(), workload.title.c_str(), workload.function.c_str(),
                workload.source.c_str());
}

/// The peaks that the report names, measured between the workloads.
class PeakHistory {
public:
  explicit PeakHistory(PeakMeter &meter) : meter(meter) {}

  void measureAll() {
    for (Peak peak : {Peak::FmaF32, Peak::DotBf16, Peak::Read})
      if (isAvailable(peak))
        values[peak].push_back(meter.measure(peak));
  }
  void add(const Measurement &measurement) {
    if (!measurement.hasCeiling())
      return;
    for (const Sample &sample : measurement.samples.counted)
      values[measurement.ceiling].push_back(sample.beside);
  }
  std::vector<std::pair<Peak, double>> medians() const {
    std::vector<std::pair<Peak, double>> result;
    for (const auto &[peak, measured] : values)
      result.push_back({peak, median(measured)});
    return result;
  }

private:
  PeakMeter &meter;
  std::map<Peak, std::vector<double>> values;
};

/// The speed of a workload, and its compile times.
static Result<Measurement> measureOne(const Workload &workload, const RunOptions &options,
                                      const BenchSettings &settings, PeakMeter &meter, const Peers *peers) {
  auto measurement = measure(workload, options, settings.sampling, meter, peers, settings.errorRows);
  if (!measurement)
    return measurement;
  auto times = timeCompiles(workload, settings.executable);
  if (!times)
    return times.error();
  measurement->compile = *times;
  return measurement;
}

/// peers: null for none.
static Result<Findings> measureAll(const std::vector<Workload> &workloads, const BenchSettings &settings,
                                   const Peers *peers) {
  RunOptions options;
  options.threads(settings.threads);
  if (!options.status())
    return options.status().error();
  Findings findings;
  findings.cpu = llvm::sys::getHostCPUName().str();
  findings.threads = options.pool().threads();
  findings.sampling = settings.sampling;
  PeakMeter meter(findings.threads);
  PeakHistory peaks(meter);
  for (const Workload &workload : workloads) {
    std::fprintf(stderr, "%s (%zu of %zu): %s\n", workload.name.c_str(), findings.measurements.size() + 1,
                 workloads.size(), workload.title.c_str());
    Activity activity("measuring @" + workload.function + " of " + workload.source);
    peaks.measureAll();
    auto measurement = measureOne(workload, options, settings, meter, peers);
    if (!measurement) {
      Error error = measurement.error();
      error.message = workload.name + ": " + error.message;
      return error;
    }
    peaks.add(*measurement);
    findings.measurements.push_back(std::move(*measurement));
  }
  findings.peaks = peaks.medians();
  return findings;
}

/// An error that names the workloads with a result out of tolerance.
static Status checkErrors(const Findings &findings) {
  std::string wrong;
  for (const Measurement &measurement : findings.measurements)
    for (const ResultError &error : measurement.errors)
      if (!error.comparison.pass)
        wrong += "; " + measurement.workload.name + ": " + error.comparison.message;
  if (wrong.empty())
    return {};
  return Error{ErrorCode::CompileFailed, "the results differ from the reference's: " + wrong.substr(2), {}};
}

Status tool::runBenchTool(const BenchSettings &settings) {
  Activity activity("reading " + settings.file);
  if (!settings.compileOnly.empty())
    return compileOnce(settings.file, settings.compileOnly);
  auto loaded = loadWorkloads(settings.file);
  if (!loaded)
    return loaded.error();
  auto workloads = selectWorkloads(std::move(*loaded), settings.workloads);
  if (!workloads)
    return workloads.error();
  if (settings.list) {
    printList(*workloads);
    return {};
  }
  for (const std::string &path : {settings.json, settings.svg})
    if (!path.empty())
      if (Status status = checkWritable(path); !status)
        return status;
  if (settings.isGpu())
    return runGpuBench(settings, *workloads);
  std::optional<Peers> peers;
  if (!settings.peers.empty()) {
    auto found = Peers::find(settings.peers, settings.peerScripts, settings.peerSeconds);
    if (!found)
      return found.error();
    peers = std::move(*found);
  }
  auto findings = measureAll(*workloads, settings, peers ? &*peers : nullptr);
  if (!findings)
    return findings.error();
  std::fputs(formatTable(*findings).c_str(), stdout);
  if (Status status = writeText(settings.json, formatJson(*findings)); !status)
    return status;
  if (Status status = writeText(settings.svg, formatRoofline(*findings)); !status)
    return status;
  return checkErrors(*findings);
}
