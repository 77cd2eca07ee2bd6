//===- Driver.cpp - what attn-compile does ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver.h"

#include "CrashReport.h"
#include "OutputFile.h"
#include "attn/CodeGen/Compile.h"
#include "attn/CodeGen/DeviceCode.h"
#include "attn/CodeGen/DeviceImage.h"
#include "attn/Cuda.h"
#include "attn/Support/InputFile.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

#include <cstdio>

using namespace attn;
using namespace attn::tool;

static Error makeError(ErrorCode code, const std::string &message) { return {code, message, {}}; }

static Error makeError(llvm::Error error) {
  return makeError(ErrorCode::CompileFailed, llvm::toString(std::move(error)));
}

namespace {

/// The file's module, with what its context says when something fails.
class Input {
public:
  Status parse(const std::string &file) {
    mlir::DialectRegistry registry;
    registerCompiler(registry);
    context.appendDialectRegistry(registry);
    // Compiling names those that are needed.
    context.allowUnregisteredDialects();
    handler.emplace(&context, [this](mlir::Diagnostic &diagnostic) { record(diagnostic); });
    Activity activity("parsing " + file);
    auto buffer = readInputFile(file);
    if (!buffer)
      return Error{ErrorCode::Io, "cannot read the file: " + buffer.getError().message(), {file, 0, 0}};
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
    module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
    return module ? Status() : Status(makeError(ErrorCode::Parse, diagnostics));
  }

  /// The LLVM IR of the kernels for a chip.
  Result<std::unique_ptr<llvm::Module>> compile(const std::string &chip, const Settings &settings,
                                                llvm::LLVMContext &llvmContext) {
    diagnostics.clear();
    mlir::OwningOpRef<mlir::ModuleOp> clone = module->clone();
    CodeOptions options;
    options.pipeline.target = chip;
    options.pipeline.function = settings.function;
    options.pipeline.allowTf32 = settings.allowTf32;
    auto kernels = compileKernels(*clone, llvmContext, options);
    if (kernels)
      return std::move(*kernels);
    Error error = makeError(kernels.takeError());
    if (!diagnostics.empty() && error.message.find(diagnostics) == std::string::npos)
      error.message += "\n" + diagnostics;
    return error;
  }

private:
  void record(mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
      return;
    diagnostics += (diagnostics.empty() ? "" : "\n") + formatDiagnostic(diagnostic);
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::optional<mlir::ScopedDiagnosticHandler> handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string diagnostics;
};

} // namespace

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// "-" is stdout.
static Status writeOutput(const std::string &path, llvm::StringRef bytes) {
  if (path != "-")
    return writeFile(path, bytes);
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);
  return flushStdout();
}

/// One target's file.
static std::string pathFor(const Settings &settings, const std::string &chip, const char *suffix) {
  return settings.chips.size() == 1 ? settings.output : settings.output + "." + chip + suffix;
}

static void printResources(const std::string &chip, const Assembly &assembly) {
  for (const KernelResources &kernel : assembly.kernels)
    std::fprintf(stderr,
                 "%s: %s: %lld registers, %lld bytes of stack, %lld bytes of spill stores, %lld bytes of spill loads, "
                 "%lld bytes of shared memory, %lld barriers\n",
                 chip.c_str(), kernel.name.c_str(), static_cast<long long>(kernel.registers),
                 static_cast<long long>(kernel.stackBytes), static_cast<long long>(kernel.spillStores),
                 static_cast<long long>(kernel.spillLoads), static_cast<long long>(kernel.sharedBytes),
                 static_cast<long long>(kernel.barriers));
  for (const std::string &warning : assembly.warnings)
    std::fprintf(stderr, "%s: %s\n", chip.c_str(), warning.c_str());
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

/// Adds the cubin to the image. Without an assembler a fat image holds PTX alone, and a line says so.
static Status addCubin(const Settings &settings, const std::string &chip, const std::string &ptx,
                       std::vector<DeviceImagePart> &parts) {
  auto assembly = assemblePtx(ptx, chip, settings.assembler);
  if (!assembly) {
    llvm::Error error = assembly.takeError();
    if (settings.emit != Emit::Fat || settings.resources || !error.isA<AssemblerMissing>())
      return makeError(std::move(error));
    std::fprintf(stderr, "%s: PTX alone: %s\n", chip.c_str(), llvm::toString(std::move(error)).c_str());
    return {};
  }
  if (settings.resources)
    printResources(chip, *assembly);
  parts.push_back({ATTN_RT_CODE_CUBIN, chip, std::move(assembly->cubin)});
  return {};
}

/// Compiles for one target: writes its file, or adds its code to the fat image.
static Status compileFor(const Settings &settings, const std::string &chip, Input &input,
                         std::vector<DeviceImagePart> &parts) {
  llvm::LLVMContext context;
  auto kernels = input.compile(chip, settings, context);
  if (!kernels)
    return kernels.error();
  if (settings.emit == Emit::Llvm) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << **kernels;
    return writeOutput(pathFor(settings, chip, ".ll"), text);
  }
  auto ptx = emitPtx(**kernels, chip);
  if (!ptx)
    return makeError(ptx.takeError());
  size_t first = parts.size();
  parts.push_back({ATTN_RT_CODE_PTX, chip, *ptx});
  if (settings.emit != Emit::Ptx || settings.resources)
    if (Status status = addCubin(settings, chip, *ptx, parts); !status)
      return status;
  if (settings.emit == Emit::Ptx)
    return writeOutput(pathFor(settings, chip, ".ptx"), parts[first].code);
  if (settings.emit == Emit::Cubin)
    return writeOutput(pathFor(settings, chip, ".cubin"), parts.back().code);
  return {};
}

Status tool::runTool(const Settings &settings) {
  Input input;
  if (Status status = input.parse(settings.file); !status)
    return status;
  std::vector<DeviceImagePart> parts;
  Activity activity("compiling " + settings.file);
  for (const std::string &chip : settings.chips)
    if (Status status = compileFor(settings, chip, input, parts); !status)
      return status;
  return settings.emit == Emit::Fat ? writeOutput(settings.output, buildDeviceImage(parts)) : Status();
}
