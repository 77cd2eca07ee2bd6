//===- OptionCases.cpp - strange command lines -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cases.h"
#include "Children.h"
#include "MutateText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace attn::fuzz;

static const char *const moduleText = R"(
func.func @attend(%q: tensor<1x2x?x8xf32>, %k: tensor<1x2x?x8xf32>, %v: tensor<1x2x?x4xf32>,
                  %lengths: tensor<1xi32>, %bias: f32) -> tensor<1x2x?x4xf32> {
  %c2 = arith.constant 2 : index
  %n = tensor.dim %q, %c2 : tensor<1x2x?x8xf32>
  %scale = arith.constant 0.25 : f32
  %init = tensor.empty(%n) : tensor<1x2x?x4xf32>
  %out = attn.attention %q, %k, %v scale(%scale) masks(causal<bottom_right>) kv_lengths(%lengths : tensor<1xi32>)
      : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x4xf32> outs(%init : tensor<1x2x?x4xf32>)
      -> tensor<1x2x?x4xf32>
  return %out : tensor<1x2x?x4xf32>
}
func.func @same(%x: tensor<2x3xf32>, %n: i32) -> (tensor<2x3xf32>, i32) { return %x, %n : tensor<2x3xf32>, i32 }
)";

/// Values of options, right and wrong ones.
static const std::vector<std::string> values = {"",
                                                "0",
                                                "1",
                                                "-1",
                                                "2",
                                                "3",
                                                "8",
                                                "16",
                                                "64",
                                                "1024",
                                                "65536",
                                                "2147483648",
                                                "9223372036854775807",
                                                "9223372036854775808",
                                                "99999999999999999999999",
                                                "1e400",
                                                "nan",
                                                "x",
                                                "true",
                                                "false",
                                                "0:",
                                                ":",
                                                "0:0",
                                                "1:2",
                                                "0:1x2x3x8",
                                                "0:1x2x0x8",
                                                "1:1x2x5x8",
                                                "2:1x2x5x4",
                                                "0:1x2x99999999x8",
                                                "0:1x2x9223372036854775807x8",
                                                "0:x",
                                                "0:1x",
                                                "0:-1x2",
                                                "9:1",
                                                "3:range:0:4",
                                                "3:range:4:0",
                                                "3:range:-99999999999999999999:9",
                                                "3:zeros",
                                                "4:0.5",
                                                "4:inf",
                                                "4:nan",
                                                "uniform",
                                                "normal",
                                                "iota",
                                                "identity",
                                                "value:1e300",
                                                "value:",
                                                "list:1:2",
                                                "list:",
                                                "range:0",
                                                "4294967296:zeros",
                                                "/dev/null",
                                                "/dev/zero",
                                                "/dev/full",
                                                "/",
                                                ".",
                                                "none.npy",
                                                "module.mlir",
                                                "module.npz",
                                                "a.npz:",
                                                "0:/dev/zero",
                                                "0:module.mlir",
                                                "0:a.npz:x",
                                                "attend",
                                                "same",
                                                "host",
                                                "x86-64",
                                                "x86-64-v3",
                                                "x86-64-v9",
                                                "znver4",
                                                "sm_80",
                                                "sm_90a",
                                                "sm_1",
                                                "sm_80,sm_90a",
                                                "cuda",
                                                "cuda:99",
                                                "emulator:sm_80",
                                                "emulator:",
                                                "emulator:sm_80:random=x",
                                                "graph",
                                                "tiled",
                                                "target",
                                                "llvm-dialect",
                                                "llvm",
                                                "asm",
                                                "ptx",
                                                "fat",
                                                "cubin",
                                                "any",
                                                "ptxas"};

static const std::vector<std::string> runOptions = {"--function",      "--arg",          "--args",
                                                    "--shape",         "--scalar",       "--fill",
                                                    "--seed",          "--out-shape",    "--target",
                                                    "--tile-q",        "--tile-kv",      "--segment-keys",
                                                    "--block-rows",    "--fuse",         "--attn-verify-fusion",
                                                    "--allow-tf32",    "--optimize",     "--emit",
                                                    "--remarks",       "--threads",      "--print",
                                                    "--check",         "--profile",      "--help",
                                                    "--version",       "--check-bounds", "--attn-verify-passes",
                                                    "--no-such-option"};
static const std::vector<std::string> compileOptions = {"--target",    "--emit",         "--allow-tf32", "--resources",
                                                        "--assembler", "--cuda-toolkit", "--help"};
static const std::vector<std::string> optOptions = {"--attn-compile",         "--attn-fuse",
                                                    "--attn-raise",           "--canonicalize",
                                                    "--pass-pipeline",        "--split-input-file",
                                                    "--verify-each",          "--allow-unregistered-dialect",
                                                    "--attn-debug",           "--mlir-print-ir-after-all",
                                                    "--convert-attn-to-flash"};
/// All but those without which it measures for minutes.
static const std::vector<std::string> benchOptions = {"--error-rows",   "--errors",   "--json",   "--least-time",
                                                      "--peer-timeout", "--quiet",    "--repeat", "--set",
                                                      "--threads",      "--workload", "--svg"};
/// What is written goes to these alone.
static const std::vector<std::string> outputs = {
    "o.npy", "o.npz", "o", "", ".", "/dev/full", "/dev/null", "/dev/stdout", "/no/folder/o.npy", "/no/folder/o.npz"};

/// Runs a program, its stdout dropped. The end of its stderr.
static int execute(const std::string &folder, const std::vector<std::string> &arguments, std::string &text) {
  int pipes[2];
  if (pipe(pipes) != 0)
    return -1;
  pid_t process = fork();
  if (process == 0) {
    std::vector<char *> pointers;
    for (const std::string &argument : arguments)
      pointers.push_back(const_cast<char *>(argument.c_str()));
    pointers.push_back(nullptr);
    rlimit cpu = {20, 25};
    setrlimit(RLIMIT_CPU, &cpu);
    signal(SIGPROF, SIG_DFL);
    dup2(open("/dev/null", O_RDWR), STDOUT_FILENO);
    dup2(STDOUT_FILENO, STDIN_FILENO);
    dup2(pipes[1], STDERR_FILENO);
    close(pipes[0]);
    close(pipes[1]);
    if (chdir(folder.c_str()) == 0)
      execv(pointers[0], pointers.data());
    _exit(127);
  }
  close(pipes[1]);
  char chunk[4096];
  for (ssize_t got; (got = read(pipes[0], chunk, sizeof(chunk))) > 0;)
    text = (text + std::string(chunk, got)).substr(text.size() + got > 8192 ? text.size() + got - 8192 : 0);
  close(pipes[0]);
  int status = 0;
  waitpid(process, &status, 0);
  return status;
}

namespace {

class OptionCases : public Cases {
public:
  OptionCases(uint64_t seed, const std::string &folderOfTools) : seed(seed), tools(folderOfTools) {
    llvm::sys::fs::make_absolute(tools);
    llvm::sys::fs::createUniqueDirectory("attn-fuzz", folder);
    std::error_code code;
    llvm::raw_fd_ostream((folder + "/module.mlir").str(), code) << moduleText;
  }
  ~OptionCases() override { llvm::sys::fs::remove_directories(folder); }

  /// One argument a line.
  std::string make(uint64_t index) const override;
  const char *suffix() const override { return ".arguments"; }
  void run(uint64_t index, const std::string &input) const override;
  uint64_t batch() const override { return 1; }
  std::vector<std::string> split(const std::string &input, bool finely) const override;

private:
  uint64_t seed;
  llvm::SmallString<128> tools, folder;
};

} // namespace

static std::string makeOption(Random &random, const std::vector<std::string> &options) {
  std::string option = random.of(options);
  if (!random.oneIn(6))
    option += "=" + random.of(values);
  if (random.oneIn(10))
    mutateBytes(random, option);
  // Lines separate arguments, and a NUL ends them.
  for (char &c : option)
    if (c == '\n' || c == '\0')
      c = '?';
  return option;
}

/// Options that are used together, of which some go, and others come.
struct Template {
  const char *tool;
  std::vector<std::string> options;
};

static const std::vector<std::string> shapes = {"--shape=0:1x2x3x8", "--shape=1:1x2x5x8", "--shape=2:1x2x5x4",
                                                "--fill=3:range:0:5", "--function=attend"};

static std::vector<std::string> withShapes(std::vector<std::string> options) {
  options.insert(options.begin(), shapes.begin(), shapes.end());
  return options;
}

static const std::vector<Template> templates = {
    {"attn-run", withShapes({"--threads=1", "--check"})},
    {"attn-run", withShapes({"--target=x86-64-v3", "--check-bounds", "--check", "--print"})},
    {"attn-run", withShapes({"--target=emulator:sm_80", "--check", "--seed=3"})},
    {"attn-run", withShapes({"--target=emulator:sm_90a:lazy:random=7", "--allow-tf32", "--check"})},
    {"attn-run",
     withShapes({"--target=x86-64-v3", "--tile-q=16", "--tile-kv=32", "--block-rows=2", "--segment-keys=64"})},
    {"attn-run", withShapes({"--attn-verify-passes", "--attn-verify-fusion", "--remarks"})},
    {"attn-run", withShapes({"--profile", "--threads=2"})},
    {"attn-run", {"--function=same", "--fill=0:iota", "--scalar=1:3", "--print", "--reference-output=r.npz"}},
    {"attn-run", {"--function=attend", "--emit=asm", "--target=x86-64-v3", "--optimize=false"}},
    {"attn-run", {"--function=attend", "--emit=ptx", "--target=sm_90a", "--output=o"}},
    {"attn-compile", {"--target=sm_80"}},
    {"attn-compile", {"--target=sm_80,sm_90a", "--emit=fat", "-o=o"}},
    {"attn-compile", {"--target=sm_90a", "--function=attend", "--emit=llvm", "--allow-tf32"}},
    {"attn-opt", {"--attn-compile=to=tiled target=x86-64-v3 tile-q=16 tile-kv=32"}},
    {"attn-opt", {"--attn-compile=to=machine target=sm_80 function=attend allow-tf32", "--mlir-print-ir-after-change"}},
    {"attn-opt", {"--pass-pipeline=builtin.module(attn-drop-unneeded,attn-raise,func.func(attn-fuse,cse))"}},
    {"attn-opt", {"--attn-verify-passes", "--attn-compile=to=graph target=x86-64-v3", "--split-input-file"}},
    {"attn-bench", {"--list", "--set=variants"}},
};

static const std::vector<std::string> &optionsOf(llvm::StringRef tool) {
  return tool == "attn-run"       ? runOptions
         : tool == "attn-opt"     ? optOptions
         : tool == "attn-compile" ? compileOptions
                                  : benchOptions;
}

std::string OptionCases::make(uint64_t index) const {
  Random random(seed, index);
  const Template &used = random.of(templates);
  std::vector<std::string> lines = {used.tool, "module.mlir"};
  for (const std::string &option : used.options)
    if (option == "--list" || !random.oneIn(12))
      lines.push_back(option);
  for (size_t n = random.below(4); n-- > 0;)
    lines.push_back(makeOption(random, optionsOf(used.tool)));
  if (random.oneIn(4))
    lines.push_back((lines[0] == "attn-run" ? "--output=" : "-o=") + random.of(outputs));
  return llvm::join(lines, "\n");
}

void OptionCases::run(uint64_t index, const std::string &input) const {
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(input).split(lines, '\n');
  std::vector<std::string> arguments(lines.begin(), lines.end());
  arguments[0] = (tools + "/" + arguments[0]).str();
  setPhase("running " + llvm::join(lines, " "));
  std::string text;
  int status = execute(folder.str().str(), arguments, text);
  addCount(status == 0 ? Accepted : Refused);
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
    failCase(Problem::Hang, true, "the time is up");
  if (WIFSIGNALED(status))
    failCase(Problem::Crash, true, std::string("ended by signal ") + strsignal(WTERMSIG(status)));
  int code = WEXITSTATUS(status);
  if (code == 70) {
    llvm::StringRef report = llvm::StringRef(text).substr(text.rfind("internal error")).split('\n').first;
    failCase(Problem::Crash, !report.contains(" in MLIR") && !report.contains(" in LLVM"), report.str());
  }
  if (code > 1 || (code == 1 && text.empty()))
    failCase(Problem::Crash, true, "exit code " + std::to_string(code) + (text.empty() ? " without a message" : ""));
}

std::vector<std::string> OptionCases::split(const std::string &input, bool finely) const {
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(input).split(lines, '\n');
  std::vector<std::string> parts = {(lines[0] + "\n" + (lines.size() > 1 ? lines[1] : "")).str()};
  for (llvm::StringRef line : llvm::ArrayRef(lines).drop_front(std::min<size_t>(2, lines.size())))
    parts.push_back(("\n" + line).str());
  return parts;
}

std::unique_ptr<Cases> attn::fuzz::createOptionCases(uint64_t seed, const std::string &tools) {
  return std::make_unique<OptionCases>(seed, tools);
}
