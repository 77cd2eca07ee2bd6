//===- Settings.cpp - the command line of attn-compile ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Settings.h"

#include "CommandLine.h"
#include "attn/CodeGen/DeviceCode.h"
#include "llvm/ADT/StringSwitch.h"
#include <optional>

using namespace attn;
using namespace attn::tool;
namespace cl = llvm::cl;

static const char *const overview =
    R"(compile the kernels of a .mlir file for NVIDIA GPUs

PTX is made without a CUDA Toolkit; cubins need its nvJitLink or ptxas. A fat image holds PTX of all targets, and cubins
where there is an assembler; attn_rt_cuda_load takes the best part for the GPU (attn/Cuda.h has the format). With several
targets and another kind of output, -o NAME makes NAME.sm_80.ptx, NAME.sm_90a.ptx and so on.

  attn-compile causal-mha.mlir --target=sm_80
  attn-compile causal-mha.mlir --target=sm_80,sm_90a --emit=fat -o causal-mha.gpu --resources
)";

namespace {

/// The options, made at run time: none of them is in the process before main.
struct CommandLine {
  cl::OptionCategory category{"attn-compile options"};

  cl::opt<std::string> file{cl::Positional, cl::Required, cl::desc("FILE.mlir"), cl::cat(category)};
  cl::list<std::string> targets{"target", cl::CommaSeparated, cl::value_desc("CHIP,..."), cl::cat(category),
                                cl::desc("GPUs to compile for: sm_80, sm_90a, ...")};
  cl::opt<std::string> function{"function", cl::value_desc("NAME"), cl::cat(category),
                                cl::desc("compile this function alone (default: all public ones)")};
  cl::opt<std::string> emit{"emit", cl::desc("ptx (default), cubin, fat, or llvm: the kernels' LLVM IR"),
                            cl::value_desc("KIND"), cl::init("ptx"), cl::cat(category)};
  cl::opt<std::string> output{"o", cl::desc("file to write (default -: stdout)"), cl::value_desc("FILE"), cl::init("-"),
                              cl::cat(category)};
  cl::opt<bool> allowTf32{"allow-tf32", cl::cat(category),
                          cl::desc("multiply f32 as one product of tf32 in place of three")};
  cl::opt<bool> resources{
      "resources", cl::cat(category),
      cl::desc("print registers, spills and shared memory of each kernel, and warnings, to stderr")};
  cl::opt<std::string> assembler{"assembler", cl::desc("any (default), nvjitlink or ptxas"), cl::value_desc("KIND"),
                                 cl::init("any"), cl::cat(category)};
  cl::opt<std::string> toolkit{
      "cuda-toolkit", cl::value_desc("FOLDER"), cl::cat(category),
      cl::desc("CUDA Toolkit to look into alone (default: $CUDA_HOME, $CUDA_PATH, the usual paths)")};
};

} // namespace

static Error usageError(const std::string &message) { return {ErrorCode::InvalidArgument, message, {}}; }

static Status parseKinds(const CommandLine &line, Settings &settings) {
  auto emit = llvm::StringSwitch<std::optional<Emit>>(line.emit)
                  .Case("llvm", Emit::Llvm)
                  .Case("ptx", Emit::Ptx)
                  .Case("cubin", Emit::Cubin)
                  .Case("fat", Emit::Fat)
                  .Default(std::nullopt);
  if (!emit)
    return usageError("--emit expects ptx, cubin, fat or llvm, but got '" + line.emit + "'");
  auto kind = llvm::StringSwitch<std::optional<AssemblerKind>>(line.assembler)
                  .Case("any", AssemblerKind::Any)
                  .Case("nvjitlink", AssemblerKind::NvJitLink)
                  .Case("ptxas", AssemblerKind::Ptxas)
                  .Default(std::nullopt);
  if (!kind)
    return usageError("--assembler expects any, nvjitlink or ptxas, but got '" + line.assembler + "'");
  settings.emit = *emit;
  settings.assembler = {*kind, line.toolkit};
  return {};
}

static Status checkTargets(const Settings &settings) {
  if (settings.chips.empty())
    return usageError("--target expects a GPU, such as sm_80 or sm_90a, but is missing");
  for (const std::string &chip : settings.chips)
    if (llvm::Error error = checkChip(chip))
      return usageError("--target: " + llvm::toString(std::move(error)));
  if (settings.output != "-")
    return {};
  if (settings.emit == Emit::Cubin || settings.emit == Emit::Fat)
    return usageError("--emit=cubin and --emit=fat write binary files; name one with -o");
  if (settings.chips.size() > 1)
    return usageError("several targets need several files; name them with -o");
  return {};
}

Result<Settings> tool::parseCommandLine(int argc, char **argv) {
  dropLibraryOptions();
  CommandLine line;
  cl::HideUnrelatedOptions(line.category);
  cl::ParseCommandLineOptions(argc, argv, overview);
  Settings settings;
  settings.file = line.file;
  settings.chips.assign(line.targets.begin(), line.targets.end());
  settings.output = line.output;
  settings.function = line.function;
  settings.allowTf32 = line.allowTf32;
  settings.resources = line.resources;
  if (Status status = parseKinds(line, settings); !status)
    return status.error();
  if (Status status = checkTargets(settings); !status)
    return status.error();
  return settings;
}
