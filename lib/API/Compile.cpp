//===- Compile.cpp - from a module to a kernel -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Diagnostics.h"
#include "KernelImpl.h"
#include "ModuleImpl.h"

#include "attn/Conversion/TileChoice.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Target/Compile.h"
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

static CodeOptions convert(const CompileOptions &options, const Target &target) {
  CodeOptions result;
  result.pipeline.target = target.name();
  result.pipeline.tileQ = options.tileQ();
  result.pipeline.tileKv = options.tileKv();
  result.pipeline.segmentKeys = options.segmentKeys();
  result.pipeline.blockRows = options.blockRows();
  result.pipeline.skipTiles = options.skipTiles();
  result.pipeline.countKvTiles = options.countKvTiles();
  result.pipeline.fuse = options.fuse();
  result.pipeline.verifyFusion = options.verifyFusion();
  result.optimize = options.optimize();
  return result;
}

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
  Compilation(const Module::Impl &module, const FunctionSignature &signature, const Target &target,
              const CompileOptions &options)
      : module(module), signature(signature), code(convert(options, target)),
        diagnostics(&module.context, options.onDiagnostic()) {}

  Result<std::unique_ptr<Jit>> compile(std::vector<attn::StageTime> &times) const;
  Result<std::string> emit(Stage stage) const;

private:
  mlir::OwningOpRef<mlir::ModuleOp> cloneForFunction() const;
  Result<std::string> emitLevel(Level level) const;
  Result<std::string> emitCode(CodeKind kind) const;
  Error failure(llvm::Error error) const {
    return diagnostics.takeError(ErrorCode::CompileFailed, llvm::toString(std::move(error)));
  }

  const Module::Impl &module;
  const FunctionSignature &signature;
  CodeOptions code;
  DiagnosticCollector diagnostics;
};

} // namespace

/// The module with the function as its only public one: what it does not call falls away.
mlir::OwningOpRef<mlir::ModuleOp> Compilation::cloneForFunction() const {
  mlir::OwningOpRef<mlir::ModuleOp> clone = module.module.get().clone();
  for (auto function : clone->getOps<mlir::func::FuncOp>())
    if (!function.isExternal() && function.getName() != signature.name)
      function.setPrivate();
  return clone;
}

Result<std::unique_ptr<Jit>> Compilation::compile(std::vector<attn::StageTime> &times) const {
  std::vector<StageLap> laps;
  auto clone = cloneForFunction();
  auto jit = compileToJit(*clone, code, &laps);
  if (!jit)
    return failure(jit.takeError());
  for (const StageLap &lap : laps)
    times.push_back({lap.name, lap.milliseconds});
  return std::move(*jit);
}

Result<std::string> Compilation::emitLevel(Level level) const {
  auto clone = cloneForFunction();
  mlir::PassManager passes(&module.context);
  PipelineOptions pipeline = code.pipeline;
  pipeline.to = level;
  buildCompilePipeline(passes, pipeline);
  if (mlir::failed(passes.run(*clone)))
    return diagnostics.takeError(ErrorCode::CompileFailed, "a pass failed without a message");
  std::string text;
  llvm::raw_string_ostream stream(text);
  clone->print(stream);
  stream << "\n";
  return text;
}

Result<std::string> Compilation::emitCode(CodeKind kind) const {
  auto clone = cloneForFunction();
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

//===----------------------------------------------------------------------===//
// Description
//===----------------------------------------------------------------------===//

/// A line for each kind of tile that the cost model gives the function's attentions.
static std::string describeTiles(mlir::func::FuncOp function, const TargetDescription &target,
                                 const CompileOptions &options) {
  std::set<std::string> lines;
  function.walk([&](AttentionOp op) {
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

Result<Kernel> Module::compile(std::string_view name, const Target &target, const CompileOptions &options) const {
  auto signature = impl->find(name);
  if (!signature)
    return signature.error();
  if (Status status = checkCompile(**signature, options); !status)
    return status.error();
  auto description = findTarget(target);
  if (!description)
    return description.error();
  if (llvm::Error error = checkSupportedByHost(*description))
    return Error{ErrorCode::TargetUnavailable, llvm::toString(std::move(error)), {}};

  std::lock_guard<std::mutex> lock(impl->mutex);
  auto kernel = std::make_shared<Kernel::Impl>();
  kernel->signature = **signature;
  kernel->machine = describeCpu(*description) + describeTiles(impl->lookup(**signature), *description, options);
  Compilation compilation(*impl, **signature, target, options);
  if (Status status = dumpStages(compilation, options); !status)
    return status.error();
  auto jit = compilation.compile(kernel->stages);
  if (!jit)
    return jit.error();
  llvm::Expected<EntryPoint> entry = (*jit)->lookup((*signature)->name);
  if (!entry)
    return Error{ErrorCode::CompileFailed, llvm::toString(entry.takeError()), (*signature)->location};
  kernel->entry = *entry;
  kernel->code = std::shared_ptr<Jit>(std::move(*jit));
  return Kernel(std::move(kernel));
}

Result<std::string> Module::emit(std::string_view name, Stage stage, const Target &target,
                                 const CompileOptions &options) const {
  auto signature = impl->find(name);
  if (!signature)
    return signature.error();
  if (Status status = checkCompile(**signature, options); !status)
    return status.error();
  if (auto description = findTarget(target); !description)
    return description.error();
  std::lock_guard<std::mutex> lock(impl->mutex);
  return Compilation(*impl, **signature, target, options).emit(stage);
}
