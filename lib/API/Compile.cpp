//===- Compile.cpp - from a module to a kernel -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Diagnostics.h"
#include "KernelImpl.h"
#include "ModuleImpl.h"

#include "attn/CodeGen/Compile.h"
#include "attn/CodeGen/DeviceCode.h"
#include "attn/Conversion/TileChoice.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Pipelines/PassChecks.h"
#include "mlir/Pass/PassManager.h"
#include <set>

using namespace attn;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static Status checkRange(const char *option, int64_t value, int64_t largest, const char *kind, bool powerOfTwo) {
  bool ok = value >= 0 && value <= largest && (!powerOfTwo || (value & (value - 1)) == 0);
  if (ok)
    return {};
  return Error{ErrorCode::InvalidArgument,
               std::string(option) + " expects " + kind + " from 1 to " + std::to_string(largest) + ", but got " +
                   std::to_string(value) + "; use 0 to let the cost model choose",
               {}};
}

static Status checkOptions(const CompileOptions &options) {
  if (Status status = checkRange("tileQ", options.tileQ(), 1024, "a power of two", true); !status)
    return status;
  if (Status status = checkRange("tileKv", options.tileKv(), 65536, "a number", false); !status)
    return status;
  if (Status status = checkRange("segmentKeys", options.segmentKeys(), kMaxExtent, "a number", false); !status)
    return status;
  return checkRange("blockRows", options.blockRows(), 16, "a number", false);
}

/// `target`: a CPU, or a GPU's chip.
static CodeOptions convert(const CompileOptions &options, llvm::StringRef target) {
  CodeOptions result;
  result.pipeline.target = target.str();
  result.pipeline.tileQ = options.tileQ();
  result.pipeline.tileKv = options.tileKv();
  result.pipeline.segmentKeys = options.segmentKeys();
  result.pipeline.blockRows = options.blockRows();
  result.pipeline.skipTiles = options.skipTiles();
  result.pipeline.countKvTiles = options.countKvTiles();
  result.pipeline.fuse = options.fuse();
  result.pipeline.verifyFusion = options.verifyFusion();
  result.pipeline.allowTf32 = options.allowTf32();
  result.pipeline.checkBounds = options.checkBounds();
  result.verifyValues = options.verifyPasses();
  result.optimize = options.optimize();
  return result;
}

/// Names of GPUs are resolved to chips before; no CPU is called so.
static bool isChip(llvm::StringRef target) { return target.starts_with("sm_"); }

static Result<TargetDescription> findTarget(const Target &target) {
  llvm::Expected<TargetDescription> description = describeTarget(target.name());
  if (!description)
    return Error{ErrorCode::TargetUnavailable, llvm::toString(description.takeError()), {}};
  return *description;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

namespace {

/// A compilation of one function of a module. Hold the module's mutex while it lives.
class Compilation {
public:
  Compilation(const Module::Impl &module, const FunctionSignature &signature, llvm::StringRef target,
              const CompileOptions &options)
      : module(module), signature(signature), code(convert(options, target)),
        diagnostics(&module.context, options.onDiagnostic()) {
    code.pipeline.function = signature.name;
  }

  /// atGraphLevel sees the module on its way.
  Result<std::unique_ptr<Jit>> compile(std::vector<attn::StageTime> &times,
                                       std::function<void(mlir::ModuleOp)> atGraphLevel) const;
  /// For a target that is a chip.
  Result<DeviceCompilation> compileForDevice(std::vector<attn::StageTime> &times) const;
  Result<std::string> emit(Stage stage) const;
  /// The module at a level of IR.
  Result<mlir::OwningOpRef<mlir::ModuleOp>> lower(Level level) const;

private:
  mlir::OwningOpRef<mlir::ModuleOp> clonePart() const { return module.partOf(signature).clone(); }
  Result<std::string> emitLevel(Level level) const;
  Result<std::string> emitCode(CodeKind kind) const;
  Result<std::string> emitKernels(CodeKind kind) const;
  Error failure(llvm::Error error) const {
    ErrorCode code = error.isA<InternalError>() ? ErrorCode::Internal : ErrorCode::CompileFailed;
    return diagnostics.takeError(code, llvm::toString(std::move(error)));
  }

  const Module::Impl &module;
  const FunctionSignature &signature;
  CodeOptions code;
  DiagnosticCollector diagnostics;
};

} // namespace

static void appendLaps(const std::vector<StageLap> &laps, std::vector<attn::StageTime> &times) {
  for (const StageLap &lap : laps)
    times.push_back({lap.name, lap.milliseconds});
}

Result<std::unique_ptr<Jit>> Compilation::compile(std::vector<attn::StageTime> &times,
                                                  std::function<void(mlir::ModuleOp)> atGraphLevel) const {
  std::vector<StageLap> laps;
  auto clone = clonePart();
  CodeOptions inspected = code;
  inspected.pipeline.atGraphLevel = std::move(atGraphLevel);
  auto jit = compileToJit(*clone, inspected, &laps);
  if (!jit)
    return failure(jit.takeError());
  appendLaps(laps, times);
  return std::move(*jit);
}

Result<DeviceCompilation> Compilation::compileForDevice(std::vector<attn::StageTime> &times) const {
  std::vector<StageLap> laps;
  auto clone = clonePart();
  auto compiled = attn::compileForDevice(*clone, code, &laps);
  if (!compiled)
    return failure(compiled.takeError());
  appendLaps(laps, times);
  return std::move(*compiled);
}

Result<mlir::OwningOpRef<mlir::ModuleOp>> Compilation::lower(Level level) const {
  auto clone = clonePart();
  mlir::PassManager passes(&module.context);
  auto verdict = checkPasses(passes, VerifyIr::EachPass, code.verifyValues);
  PipelineOptions pipeline = code.pipeline;
  pipeline.to = level;
  buildCompilePipeline(passes, pipeline);
  if (mlir::failed(passes.run(*clone)))
    return diagnostics.takeError(codeOf(*verdict, ErrorCode::CompileFailed), "a pass failed without a message");
  return clone;
}

Result<std::string> Compilation::emitLevel(Level level) const {
  auto lowered = lower(level);
  if (!lowered)
    return lowered.error();
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*lowered)->print(stream);
  stream << "\n";
  return text;
}

/// LLVM IR as the emulator runs it, or PTX.
Result<std::string> Compilation::emitKernels(CodeKind kind) const {
  auto clone = clonePart();
  llvm::LLVMContext context;
  auto kernels = compileKernels(*clone, context, code);
  if (!kernels)
    return failure(kernels.takeError());
  if (kind == CodeKind::Assembly) {
    auto ptx = emitPtx(**kernels, code.pipeline.target);
    return ptx ? Result<std::string>(*ptx) : Result<std::string>(failure(ptx.takeError()));
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << **kernels;
  return text;
}

Result<std::string> Compilation::emitCode(CodeKind kind) const {
  if (isChip(code.pipeline.target))
    return emitKernels(kind);
  auto clone = clonePart();
  auto text = compileTo(kind, *clone, code);
  if (!text)
    return failure(text.takeError());
  return (*text)->getBuffer().str();
}

Result<std::string> Compilation::emit(Stage stage) const {
  switch (stage) {
  case Stage::Graph:
    return emitLevel(Level::Graph);
  case Stage::Tiled:
    return emitLevel(Level::Tiled);
  case Stage::Target:
    return emitLevel(Level::Target);
  case Stage::LlvmDialect:
    return emitLevel(Level::Machine);
  case Stage::Llvm:
    return emitCode(CodeKind::LLVMIR);
  case Stage::Assembly:
    break;
  }
  return emitCode(CodeKind::Assembly);
}

Result<mlir::OwningOpRef<mlir::ModuleOp>>
attn::compileToGraph(const Module::Impl &module, const FunctionSignature &signature, const CompileOptions &options) {
  return Compilation(module, signature, "host", options).lower(Level::Graph);
}

//===----------------------------------------------------------------------===//
// Description
//===----------------------------------------------------------------------===//

/// A line for each kind of tile that the cost model gives the module's attentions.
static std::string describeTiles(mlir::ModuleOp module, const TargetDescription &target,
                                 const CompileOptions &options) {
  std::set<std::string> lines;
  module.walk([&](AttentionOp op) {
    TileQuery query = getTileQuery(op);
    mlir::FailureOr<TileSizes> sizes =
        chooseTileSizes(op, target, {options.tileQ(), options.tileKv(), options.segmentKeys()});
    if (failed(sizes))
      return;
    int64_t blockRows = blockRowsFor(target, chooseTiles(target, {query.scoreBits}), query.scoreBits, sizes->lanes);
    lines.insert("tiles of " + std::to_string(sizes->queries()) + " queries" +
                 (sizes->group > 1 ? " of " + std::to_string(sizes->group) + " heads" : "") + " x " +
                 std::to_string(sizes->kvTile) + " keys, " +
                 (sizes->segmentTiles ? "segments of " + std::to_string(sizes->segmentKeys()) + " keys, " : "") +
                 "register blocks of " + std::to_string(options.blockRows() ? options.blockRows() : blockRows) +
                 " keys\n");
  });
  std::string text;
  for (const std::string &line : lines)
    text += line;
  return text;
}

static std::string describeCpu(const TargetDescription &target) {
  return "CPU " + target.cpu + ", " + std::to_string(target.vectorRegisters) + " vector registers of " +
         std::to_string(target.vectorBits) + " bits\n";
}

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

/// Calls the dump hook for every stage.
static Status dumpStages(const Compilation &compilation, const CompileOptions &options) {
  if (!options.dump())
    return {};
  for (Stage stage : {Stage::Graph, Stage::Tiled, Stage::Target, Stage::LlvmDialect, Stage::Llvm, Stage::Assembly}) {
    auto text = compilation.emit(stage);
    if (!text)
      return text.error();
    options.dump()(stage, *text);
  }
  return {};
}

/// Rules that hold for compile and emit.
static Status checkCompile(const FunctionSignature &signature, const CompileOptions &options) {
  Status status = checkOptions(options);
  return status ? checkSupported(signature) : status;
}

/// A kernel that needs its code.
static std::shared_ptr<Kernel::Impl> makeKernel(const FunctionSignature &signature, std::string machine) {
  auto kernel = std::make_shared<Kernel::Impl>();
  kernel->signature = signature;
  kernel->machine = std::move(machine);
  return kernel;
}

/// Keeps the code and finds the kernel's entry in it.
static Status setEntry(Kernel::Impl &kernel, std::unique_ptr<Jit> jit) {
  llvm::Expected<EntryPoint> entry = jit->lookup(kernel.signature.name);
  if (!entry)
    return Error{ErrorCode::CompileFailed, llvm::toString(entry.takeError()), kernel.signature.location};
  kernel.entry = *entry;
  kernel.code = std::shared_ptr<Jit>(std::move(jit));
  return {};
}

/// Hold the module's mutex.
static Result<Kernel> compileHostKernel(const Module::Impl &module, const FunctionSignature &signature,
                                        const TargetDescription &description, const Target &target,
                                        const CompileOptions &options) {
  auto kernel = makeKernel(signature, describeCpu(description));
  Compilation compilation(module, signature, target.name(), options);
  if (Status status = dumpStages(compilation, options); !status)
    return status.error();
  auto describe = [&](mlir::ModuleOp graph) { kernel->machine += describeTiles(graph, description, options); };
  auto jit = compilation.compile(kernel->stages, describe);
  if (!jit)
    return jit.error();
  if (Status status = setEntry(*kernel, std::move(*jit)); !status)
    return status.error();
  return Kernel(std::move(kernel));
}

/// Hold the module's mutex.
static Result<Kernel> compileDeviceKernel(const Module::Impl &module, const FunctionSignature &signature,
                                          const Device &device, const CompileOptions &options) {
  ComputeDevice &compute = *device.implementation()->device;
  auto kernel = makeKernel(signature, compute.describe() + "\n");
  Compilation compilation(module, signature, compute.chip(), options);
  if (Status status = dumpStages(compilation, options); !status)
    return status.error();
  auto compiled = compilation.compileForDevice(kernel->stages);
  if (!compiled)
    return compiled.error();
  auto program = compute.load(std::move(compiled->context), std::move(compiled->kernels));
  if (!program)
    return Error{ErrorCode::CompileFailed, llvm::toString(program.takeError()), signature.location};
  kernel->device = device;
  kernel->program = std::move(*program);
  if (Status status = setEntry(*kernel, std::move(compiled->host)); !status)
    return status.error();
  return Kernel(std::move(kernel));
}

Result<Kernel> Module::compile(std::string_view name, const Target &target, const CompileOptions &options) const {
  auto signature = impl->find(name);
  if (!signature)
    return signature.error();
  if (Status status = checkCompile(**signature, options); !status)
    return status.error();
  auto gpu = findDeviceName(target);
  if (!gpu)
    return gpu.error();
  if (*gpu) {
    for (auto [isOn, option] : {std::pair<bool, const char *>(options.countKvTiles(), "countKvTiles"),
                                {options.checkBounds(), "checkBounds"}})
      if (isOn)
        return Error{ErrorCode::Unsupported, option + (" expects a CPU, but the target is " + target.name()), {}};
    auto device = openDevice(**gpu, target);
    if (!device)
      return device.error();
    std::lock_guard<std::mutex> lock(impl->mutex);
    return compileDeviceKernel(*impl, **signature, *device, options);
  }
  auto description = findTarget(target);
  if (!description)
    return description.error();
  if (llvm::Error error = checkSupportedByHost(*description))
    return Error{ErrorCode::TargetUnavailable, llvm::toString(std::move(error)), {}};
  std::lock_guard<std::mutex> lock(impl->mutex);
  return compileHostKernel(*impl, **signature, *description, target, options);
}

/// What the pipeline takes for a target: the chip of a GPU, which has to be there for `cuda`.
static Result<std::string> pipelineTarget(const Target &target) {
  auto gpu = findDeviceName(target);
  if (!gpu)
    return gpu.error();
  if (!*gpu) {
    auto description = findTarget(target);
    return description ? Result<std::string>(target.name()) : Result<std::string>(description.error());
  }
  if (!(*gpu)->chip.empty())
    return (*gpu)->chip;
  auto device = openDevice(**gpu, target);
  if (!device)
    return device.error();
  return device->implementation()->device->chip().str();
}

Result<std::string> Module::emit(std::string_view name, Stage stage, const Target &target,
                                 const CompileOptions &options) const {
  auto signature = impl->find(name);
  if (!signature)
    return signature.error();
  if (Status status = checkCompile(**signature, options); !status)
    return status.error();
  auto pipeline = pipelineTarget(target);
  if (!pipeline)
    return pipeline.error();
  std::lock_guard<std::mutex> lock(impl->mutex);
  return Compilation(*impl, **signature, *pipeline, options).emit(stage);
}
