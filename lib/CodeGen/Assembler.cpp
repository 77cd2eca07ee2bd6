//===- Assembler.cpp - PTX to cubin -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/CodeGen/Assembler.h"
#include "NvJitLink.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/Signals.h"
#include <cstdlib>

using namespace attn;

static llvm::Error makeError(const llvm::Twine &message) { return llvm::createStringError(message); }

char AssemblerMissing::ID = 0;

void AssemblerMissing::log(llvm::raw_ostream &stream) const { stream << text; }

//===----------------------------------------------------------------------===//
// Where to look
//===----------------------------------------------------------------------===//

/// Toolkits, best first. "" stands for what the loader and PATH find.
static std::vector<std::string> listToolkits(const AssemblerOptions &options) {
  if (!options.toolkit.empty())
    return {options.toolkit};
  std::vector<std::string> folders;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *folder = std::getenv(variable); folder && *folder)
      folders.push_back(folder);
  folders.push_back("");
  folders.push_back("/usr/local/cuda");
  return folders;
}

static std::optional<std::string> findPtxas(llvm::ArrayRef<std::string> toolkits) {
  for (const std::string &toolkit : toolkits) {
    std::string bin = toolkit + "/bin";
    llvm::SmallVector<llvm::StringRef, 1> folders;
    if (!toolkit.empty())
      folders.push_back(bin);
    if (auto path = llvm::sys::findProgramByName("ptxas", folders))
      return *path;
  }
  return std::nullopt;
}

static llvm::Error notFound(AssemblerKind kind, llvm::ArrayRef<std::string> toolkits) {
  const char *what = kind == AssemblerKind::NvJitLink ? "nvJitLink (lib64/libnvJitLink.so)"
                     : kind == AssemblerKind::Ptxas   ? "ptxas (bin/ptxas)"
                                                      : "ptxas (bin/ptxas) or nvJitLink (lib64/libnvJitLink.so)";
  std::vector<std::string> places;
  for (const std::string &toolkit : toolkits)
    places.push_back(toolkit.empty() ? "the paths of the loader and of programs" : toolkit);
  return llvm::make_error<AssemblerMissing>("a cubin needs " + std::string(what) +
                                            " of a CUDA Toolkit, but there is none in " + llvm::join(places, ", ") +
                                            "; PTX needs none");
}

//===----------------------------------------------------------------------===//
// ptxas
//===----------------------------------------------------------------------===//

namespace {

/// A file in the folder for temporary files, gone with the object, and after an interrupt.
class TemporaryFile {
public:
  llvm::Error create(llvm::StringRef suffix) {
    if (std::error_code error = llvm::sys::fs::createTemporaryFile("attn", suffix, path))
      return makeError("no temporary file can be made: " + error.message());
    llvm::sys::RemoveFileOnSignal(path);
    remover.setFile(path);
    return llvm::Error::success();
  }
  ~TemporaryFile() { llvm::sys::DontRemoveFileOnSignal(path); }
  llvm::Error write(llvm::StringRef text) const {
    return llvm::writeToOutput(path, [&](llvm::raw_ostream &stream) {
      stream << text;
      return llvm::Error::success();
    });
  }
  llvm::Expected<std::string> read() const {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer)
      return makeError("'" + path + "' cannot be read: " + buffer.getError().message());
    return (*buffer)->getBuffer().str();
  }

  llvm::SmallString<128> path;

private:
  llvm::FileRemover remover;
};

} // namespace

static llvm::Expected<Assembly> runPtxas(llvm::StringRef program, llvm::StringRef ptx, llvm::StringRef chip) {
  TemporaryFile source, cubin, log;
  for (auto [file, suffix] : {std::pair(&source, "ptx"), std::pair(&cubin, "cubin"), std::pair(&log, "log")})
    if (llvm::Error error = file->create(suffix))
      return error;
  if (llvm::Error error = source.write(ptx))
    return error;
  std::string architecture = "-arch=" + chip.str(), message;
  int code = llvm::sys::ExecuteAndWait(program, {program, "-v", architecture, source.path, "-o", cubin.path},
                                       std::nullopt, {std::nullopt, log.path.str(), log.path.str()},
                                       /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  auto text = log.read();
  if (!text)
    return text.takeError();
  if (code != 0)
    return makeError(program + " failed for " + chip + ": " + (message.empty() ? *text : message));
  auto bytes = cubin.read();
  if (!bytes)
    return bytes.takeError();
  return Assembly{std::move(*bytes), {}, {}, std::move(*text)};
}

//===----------------------------------------------------------------------===//
// The log
//===----------------------------------------------------------------------===//

/// The number in front of `what`, as in "145 registers"; nothing if the line has none.
static void readNumber(llvm::StringRef line, llvm::StringRef what, int64_t &number) {
  llvm::SmallVector<llvm::StringRef, 2> matches;
  if (llvm::Regex(("([0-9]+) " + what).str()).match(line, &matches))
    matches[1].getAsInteger(10, number);
}

void attn::parseAssemblerLog(Assembly &assembly) {
  llvm::Regex entry("Compiling entry function '([^']*)'");
  llvm::SmallVector<llvm::StringRef> lines, matches;
  llvm::StringRef(assembly.log).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines) {
    if (line.contains("warning") || line.contains("(C7"))
      assembly.warnings.push_back(line.trim().str());
    if (entry.match(line, &matches)) {
      assembly.kernels.push_back({});
      assembly.kernels.back().name = matches[1].str();
    }
    // nvJitLink sums up after ptxas, in other words.
    if (assembly.kernels.empty() || line.starts_with("info"))
      continue;
    KernelResources &kernel = assembly.kernels.back();
    readNumber(line, "registers", kernel.registers);
    readNumber(line, "bytes stack frame", kernel.stackBytes);
    readNumber(line, "bytes spill stores", kernel.spillStores);
    readNumber(line, "bytes spill loads", kernel.spillLoads);
    readNumber(line, "bytes smem", kernel.sharedBytes);
    readNumber(line, "barriers", kernel.barriers);
  }
}

//===----------------------------------------------------------------------===//
// Assembling
//===----------------------------------------------------------------------===//

static llvm::Expected<Assembly> runAssembler(llvm::StringRef ptx, llvm::StringRef chip,
                                             const AssemblerOptions &options) {
  std::vector<std::string> toolkits = listToolkits(options);
  if (options.kind != AssemblerKind::NvJitLink)
    if (std::optional<std::string> program = findPtxas(toolkits))
      return runPtxas(*program, ptx, chip);
  AssemblerKind kind = options.kind;
  if (kind == AssemblerKind::Any && chip.ends_with("a"))
    kind = AssemblerKind::Ptxas;
  if (kind != AssemblerKind::Ptxas)
    if (std::optional<NvJitLink> library = NvJitLink::load(toolkits))
      return library->assemble(ptx, chip);
  return notFound(kind, toolkits);
}

llvm::Expected<Assembly> attn::assemblePtx(llvm::StringRef ptx, llvm::StringRef chip, const AssemblerOptions &options) {
  auto assembly = runAssembler(ptx, chip, options);
  if (assembly)
    parseAssemblerLog(*assembly);
  return assembly;
}
