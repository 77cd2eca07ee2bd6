//===- Settings.cpp - the command line of attn-run ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Settings.h"

#include "CommandLine.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace attn;
using namespace attn::tool;
namespace cl = llvm::cl;

static const char *const overview =
    R"(compile a function from a .mlir file, run it, check it, time it

Arguments are tensors and scalars in the function's order, counted from 0. Tensors come from files, or are generated
from formulas that give the same numbers everywhere; see tools/support/Generate.h. --check compares every result with
the f64 reference interpreter: the error may be twice that of an unfused implementation in the same types, plus
2e-6 * max(1, largest result) for f32, one ulp for f16 and bf16, 1e-13 * max(1, largest result) for f64.

Exit code: 0 if all went well, 1 for any error and for a failed check, 70 for an internal error.

  attn-run causal-mha.mlir --check --bench --threads=1
  attn-run gqa.mlir --shape=0:2x8x33x64 --shape=1:2x4x65x64 --shape=2:2x4x65x80 --scalar=3:0.125 --print
  attn-run lengths.mlir --fill=3:range:0:65 --arg=0:q.npy --arg=1:kv.npz:k --arg=2:kv.npz:v --output=out.npz
)";

namespace {

/// The options, made at run time: none of them is in the process before main.
struct CommandLine {
  cl::OptionCategory category{"attn-run options"};

  cl::opt<std::string> file{cl::Positional, cl::Required, cl::desc("FILE.mlir"), cl::cat(category)};
  cl::opt<std::string> function{"function", cl::desc("function to run (default: the only one)"), cl::value_desc("NAME"),
                                cl::cat(category)};
  cl::list<std::string> args{"arg", cl::value_desc("[INDEX:]x.npy|x.npz[:NAME]"), cl::cat(category),
                             cl::desc("array of an argument; without INDEX that of the argument after the last")};
  cl::opt<std::string> archive{"args", cl::desc("array arr_N of the archive for each argument N that it holds"),
                               cl::value_desc("FILE.npz"), cl::cat(category)};
  cl::list<std::string> shapes{"shape", cl::desc("sizes of a generated argument, where its type has a ?"),
                               cl::value_desc("INDEX:2x8x33x64"), cl::cat(category)};
  cl::list<std::string> scalars{"scalar", cl::desc("value of a scalar argument"), cl::value_desc("INDEX:VALUE"),
                                cl::cat(category)};
  cl::list<std::string> fills{
      "fill", cl::value_desc("[INDEX:]FILL"), cl::cat(category),
      cl::desc("values of a generated argument, without INDEX of all float and i1 ones: uniform "
               "(default), normal, zeros, ones, iota, identity, value:X, range:LOW:HIGH, list:X:Y:...")};
  cl::opt<uint64_t> seed{"seed", cl::desc("seed of generated values"), cl::init(1), cl::cat(category)};
  cl::list<std::string> outShapes{"out-shape", cl::desc("sizes of a result, where they do not follow from the inputs"),
                                  cl::value_desc("INDEX:2x8x33x64"), cl::cat(category)};

  cl::opt<std::string> target{
      "target",
      cl::desc("host (default), LLVM's name of a CPU, cuda, cuda:1, emulator:CHIP or, to --emit, a GPU's chip"),
      cl::init("host"), cl::cat(category)};
  cl::opt<int64_t> tileQ{"tile-q", cl::desc("query rows of a tile (0: the cost model chooses)"), cl::cat(category)};
  cl::opt<int64_t> tileKv{"tile-kv", cl::desc("keys of a tile (0: the cost model chooses)"), cl::cat(category)};
  cl::opt<int64_t> segmentKeys{"segment-keys", cl::desc("keys of a segment (0: the cost model chooses)"),
                               cl::cat(category)};
  cl::opt<int64_t> blockRows{"block-rows", cl::desc("keys of a register block (0: the cost model chooses)"),
                             cl::cat(category)};
  cl::opt<bool> fuse{"fuse", cl::desc("turn unfused attention into the fused kernel (default: on)"), cl::init(true),
                     cl::cat(category)};
  cl::opt<bool> verifyFusion{"attn-verify-fusion", cl::cat(category),
                             cl::desc("compare each fusion with its graph, by the reference interpreter")};
  cl::opt<bool> verifyPasses{"attn-verify-passes", cl::cat(category),
                             cl::desc("name the first pass that changes a value, by the reference interpreter")};
  cl::opt<bool> allowTf32{"allow-tf32", cl::cat(category),
                          cl::desc("multiply f32 on a GPU as one product of tf32 in place of three")};
  cl::opt<bool> checkBounds{"check-bounds", cl::cat(category),
                            cl::desc("check each access of memory as the code runs; on CPUs, slow")};
  cl::opt<bool> optimize{"optimize", cl::desc("LLVM's optimisation (default: on)"), cl::init(true), cl::cat(category)};
  cl::opt<std::string> emit{"emit",
                            cl::desc("print this stage and do not run: graph, tiled, target, llvm-dialect, llvm, asm"),
                            cl::value_desc("STAGE"), cl::cat(category)};
  cl::opt<bool> remarks{"remarks", cl::desc("print the compiler's remarks to stderr"), cl::cat(category)};

  cl::opt<int64_t> threads{"threads", cl::desc("threads, 0 for all (default)"), cl::init(0), cl::cat(category)};
  cl::opt<std::string> output{"output", cl::desc("write the results: .npz (arr_0, arr_1, ...) or, for one, .npy"),
                              cl::value_desc("FILE"), cl::cat(category)};
  cl::opt<std::string> referenceOutput{"reference-output", cl::value_desc("FILE"), cl::cat(category),
                                       cl::desc("write the reference interpreter's results, floats as f64")};
  cl::opt<bool> print{"print", cl::desc("print the results"), cl::cat(category)};
  cl::opt<bool> check{"check", cl::desc("compare with the reference interpreter"), cl::cat(category)};
  cl::opt<bool> profile{
      "profile", cl::cat(category),
      cl::desc("print the time of each parallel loop and thread, and the kv tiles that masks skip; on CPUs")};
  cl::opt<bool> bench{"bench", cl::desc("time the runs, beside the measured multiply-add peak"), cl::cat(category)};
  cl::opt<int64_t> repeat{"repeat", cl::desc("timed runs of --bench (default 15)"), cl::init(15), cl::cat(category)};
};

} // namespace

/// Splits "INDEX:rest". nullopt where there is no index.
static std::optional<std::pair<size_t, std::string>> splitIndex(const std::string &text) {
  size_t colon = text.find_first_not_of("0123456789");
  if (colon == 0 || colon == std::string::npos || text[colon] != ':' || colon > 9)
    return std::nullopt;
  return std::pair<size_t, std::string>(std::stoul(text.substr(0, colon)), text.substr(colon + 1));
}

static Status parseShapes(const char *flag, const cl::list<std::string> &texts,
                          std::map<size_t, std::vector<int64_t>> &shapes) {
  for (const std::string &text : texts) {
    auto indexed = splitIndex(text);
    auto sizes = indexed ? parseSizes(indexed->second) : std::nullopt;
    if (!sizes)
      return usageError(std::string("--") + flag + " expects INDEX:SIZES, as in 0:2x8x33x64, but got '" + text + "'");
    shapes[indexed->first] = *sizes;
  }
  return {};
}

static Status parseFills(const cl::list<std::string> &texts, Settings &settings) {
  for (const std::string &text : texts) {
    auto indexed = splitIndex(text);
    auto fill = parseFill(indexed ? indexed->second : text);
    if (!fill)
      return fill.error();
    (indexed ? settings.data.fills[indexed->first] : settings.data.defaultFill) = *fill;
  }
  return {};
}

static Status parseArguments(const CommandLine &line, Settings &settings) {
  size_t next = 0;
  for (const std::string &text : line.args) {
    auto indexed = splitIndex(text);
    size_t index = indexed ? indexed->first : next;
    settings.data.files[index] = indexed ? indexed->second : text;
    next = index + 1;
  }
  for (const std::string &text : line.scalars) {
    auto indexed = splitIndex(text);
    if (!indexed)
      return usageError("--scalar expects INDEX:VALUE, as in 3:0.125, but got '" + text + "'");
    settings.data.scalars[indexed->first] = indexed->second;
  }
  if (Status status = parseShapes("shape", line.shapes, settings.data.shapes); !status)
    return status;
  if (Status status = parseShapes("out-shape", line.outShapes, settings.data.outShapes); !status)
    return status;
  return parseFills(line.fills, settings);
}

static Status parseEmit(const std::string &text, Settings &settings) {
  if (text.empty())
    return {};
  for (Stage stage : {Stage::Graph, Stage::Tiled, Stage::Target, Stage::LlvmDialect, Stage::Llvm, Stage::Assembly})
    if (text == toString(stage))
      settings.emit = stage;
  if (!settings.emit)
    return usageError("--emit expects graph, tiled, target, llvm-dialect, llvm or asm, but got '" + text + "'");
  return {};
}

Result<Settings> tool::parseCommandLine(int argc, char **argv) {
  dropLibraryOptions();
  CommandLine line;
  cl::HideUnrelatedOptions(line.category);
  cl::ParseCommandLineOptions(argc, argv, overview);
  Settings settings;
  settings.file = line.file;
  settings.function = line.function;
  settings.data.archive = line.archive;
  settings.data.seed = line.seed;
  settings.target = Target::named(line.target);
  settings.compile.tileQ(line.tileQ).tileKv(line.tileKv).segmentKeys(line.segmentKeys).blockRows(line.blockRows);
  settings.compile.fuse(line.fuse);
  settings.compile.verifyFusion(line.verifyFusion);
  settings.compile.verifyPasses(line.verifyPasses);
  settings.compile.allowTf32(line.allowTf32);
  settings.compile.checkBounds(line.checkBounds);
  settings.compile.optimize(line.optimize);
  settings.threads = line.threads;
  settings.remarks = line.remarks;
  settings.output = line.output;
  settings.referenceOutput = line.referenceOutput;
  settings.print = line.print;
  settings.check = line.check;
  settings.profile = line.profile;
  settings.bench = line.bench;
  settings.repeat = line.repeat;
  if (settings.repeat < 1)
    return usageError("--repeat expects at least 1, but got " + std::to_string(settings.repeat));
  llvm::StringRef target = settings.target.name();
  if (settings.profile && (target.starts_with("cuda") || target.starts_with("emulator")))
    return usageError("--profile expects a CPU, but the target is " + settings.target.name());
  if (Status status = parseEmit(line.emit, settings); !status)
    return status.error();
  if (Status status = parseArguments(line, settings); !status)
    return status.error();
  return settings;
}
