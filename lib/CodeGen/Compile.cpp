//===- Compile.cpp - a graph to code, in one call -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/CodeGen/Compile.h"
#include "attn/CodeGen/BoundsChecks.h"
#include "attn/CodeGen/DeviceCode.h"
#include "attn/CodeGen/LLVMPasses.h"
#include "attn/Conversion/Passes.h"
#include "attn/Pipelines/PassChecks.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include <chrono>

using namespace attn;

char InternalError::ID;

namespace {

/// Appends the time since the last lap to a list, if there is one.
class StageClock {
public:
  explicit StageClock(std::vector<StageLap> *times) : times(times) {}

  void lap(llvm::StringRef name) {
    auto now = std::chrono::steady_clock::now();
    if (times)
      times->push_back({name.str(), std::chrono::duration<double, std::milli>(now - last).count()});
    last = now;
  }

private:
  std::vector<StageLap> *times;
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

} // namespace

void attn::registerCompiler(mlir::DialectRegistry &registry) {
  registerPipelineDialects(registry);
  registerTranslations(registry);
}

std::string attn::formatDiagnostic(mlir::Diagnostic &diagnostic) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto place = diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>();
  if (place)
    stream << place.getFilename().getValue() << ":" << place.getLine() << ":" << place.getColumn();
  else
    stream << diagnostic.getLocation();
  stream << ": " << diagnostic;
  return text;
}

/// Collects the errors among the diagnostics of this thread, and lets the next handler see them.
static mlir::LogicalResult collectError(mlir::Diagnostic &diagnostic, std::string &text) {
  if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
    text += (text.empty() ? "" : "\n") + formatDiagnostic(diagnostic);
  return mlir::failure();
}

static llvm::Error runPipeline(mlir::ModuleOp module, const CodeOptions &options, VerifyIr when) {
  std::string errors;
  mlir::ScopedDiagnosticHandler handler(module.getContext(),
                                        [&](mlir::Diagnostic &diagnostic) { return collectError(diagnostic, errors); });
  mlir::PassManager passes(module.getContext());
  auto verdict = checkPasses(passes, when, options.verifyValues);
  PipelineOptions pipeline = options.pipeline;
  pipeline.to = Level::Machine;
  buildCompilePipeline(passes, pipeline);
  if (mlir::succeeded(passes.run(module)))
    return llvm::Error::success();
  if (!verdict->invalidPass().empty())
    return llvm::make_error<InternalError>(errors);
  return llvm::createStringError(llvm::inconvertibleErrorCode(), errors.empty() ? "compilation failed" : errors);
}

/// Where IR is found to be invalid, the passes run again, to name the one that left it so.
static llvm::Error runPipeline(mlir::ModuleOp module, const CodeOptions &options) {
  mlir::OwningOpRef<mlir::ModuleOp> input = module.clone();
  llvm::Error error = runPipeline(module, options, defaultVerifyIr());
  if (!error.isA<InternalError>())
    return error;
  llvm::Error named = runPipeline(*input, options, VerifyIr::EachPass);
  if (!named.isA<InternalError>())
    std::swap(error, named);
  llvm::consumeError(std::move(error));
  return named;
}

/// checkBounds, where it sees which addresses are those of variables.
static llvm::Error insertChecks(llvm::Module &module, llvm::TargetMachine &machine, bool isOptimized) {
  if (!isOptimized)
    if (llvm::Error error = runPasses(module, machine, "function(instsimplify)"))
      return error;
  return checkBounds(module);
}

/// Code of a module at the machine level.
static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> generate(CodeKind kind, mlir::ModuleOp module,
                                                                    const TargetDescription &target,
                                                                    const CodeOptions &options, StageClock &clock) {
  auto machine = createTargetMachine(target);
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  auto translated = translateToLLVM(module, context, target, **machine);
  if (!translated)
    return translated.takeError();
  clock.lap("translate");
  if (options.optimize)
    if (llvm::Error error = optimizeModule(**translated, **machine))
      return error;
  clock.lap("optimize");
  if (module->hasAttr(kCheckBoundsAttrName))
    if (llvm::Error error = insertChecks(**translated, **machine, options.optimize))
      return error;
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  if (llvm::Error error = emitCode(**translated, **machine, kind, stream))
    return error;
  clock.lap("generate");
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), /*RequiresNullTerminator=*/false);
}

static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> compile(CodeKind kind, mlir::ModuleOp module,
                                                                   const TargetDescription &target,
                                                                   const CodeOptions &options, StageClock &clock) {
  if (llvm::Error error = runPipeline(module, options))
    return error;
  clock.lap("passes");
  return generate(kind, module, target, options, clock);
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
attn::compileTo(CodeKind kind, mlir::ModuleOp module, const CodeOptions &options, std::vector<StageLap> *times) {
  StageClock clock(times);
  llvm::Expected<TargetDescription> target = describeTarget(options.pipeline.target);
  if (!target)
    return target.takeError();
  return compile(kind, module, *target, options, clock);
}

llvm::Expected<std::unique_ptr<Jit>> attn::compileToJit(mlir::ModuleOp module, const CodeOptions &options,
                                                        std::vector<StageLap> *times) {
  StageClock clock(times);
  llvm::Expected<TargetDescription> target = describeTarget(options.pipeline.target);
  if (!target)
    return target.takeError();
  if (llvm::Error error = checkSupportedByHost(*target))
    return error;
  auto object = compile(CodeKind::Object, module, *target, options, clock);
  if (!object)
    return object.takeError();
  auto jit = Jit::create(std::move(*object));
  clock.lap("load");
  return jit;
}

static llvm::Expected<std::unique_ptr<llvm::Module>> compileKernels(mlir::ModuleOp module, llvm::LLVMContext &context,
                                                                    const CodeOptions &options, StageClock &clock) {
  if (llvm::Error error = checkChip(options.pipeline.target))
    return error;
  bool isLowered = !module.getOps<mlir::gpu::GPUModuleOp>().empty();
  if (!isLowered)
    if (llvm::Error error = runPipeline(module, options))
      return error;
  clock.lap("passes");
  auto kernels = takeKernels(module, context);
  clock.lap("translate kernels");
  return kernels;
}

llvm::Expected<std::unique_ptr<llvm::Module>> attn::compileKernels(mlir::ModuleOp module, llvm::LLVMContext &context,
                                                                   const CodeOptions &options) {
  StageClock clock(nullptr);
  auto kernels = ::compileKernels(module, context, options, clock);
  if (kernels && (*kernels)->empty())
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "the module has no kernels for a GPU");
  return kernels;
}

llvm::Expected<DeviceCompilation> attn::compileForDevice(mlir::ModuleOp module, const CodeOptions &options,
                                                         std::vector<StageLap> *times) {
  StageClock clock(times);
  DeviceCompilation result;
  result.context = std::make_unique<llvm::LLVMContext>();
  auto kernels = ::compileKernels(module, *result.context, options, clock);
  if (!kernels)
    return kernels.takeError();
  result.kernels = std::move(*kernels);
  llvm::Expected<TargetDescription> host = describeTarget("host");
  if (!host)
    return host.takeError();
  auto object = generate(CodeKind::Object, module, *host, options, clock);
  if (!object)
    return object.takeError();
  auto jit = Jit::create(std::move(*object));
  if (!jit)
    return jit.takeError();
  result.host = std::move(*jit);
  clock.lap("load");
  return result;
}
