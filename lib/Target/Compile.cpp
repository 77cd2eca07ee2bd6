//===- Compile.cpp - a graph to code, in one call -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Target/Compile.h"
#include "attn/Pipelines/VerifyPasses.h"
#include "attn/Target/DeviceCode.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include <chrono>

using namespace attn;

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

/// Collects the errors among the diagnostics of this thread, and lets the next handler see them.
static mlir::LogicalResult collectError(mlir::Diagnostic &diagnostic, std::string &text) {
  if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
    llvm::raw_string_ostream stream(text);
    if (!text.empty())
      stream << "\n";
    stream << diagnostic.getLocation() << ": " << diagnostic;
  }
  return mlir::failure();
}

static llvm::Error runPipeline(mlir::ModuleOp module, const CodeOptions &options) {
  std::string errors;
  mlir::ScopedDiagnosticHandler handler(module.getContext(),
                                        [&](mlir::Diagnostic &diagnostic) { return collectError(diagnostic, errors); });
  mlir::PassManager passes(module.getContext());
  passes.enableVerifier(options.verifyPasses);
  auto verdict = std::make_shared<PassVerdict>();
  if (options.verifyValues)
    passes.addInstrumentation(createPassVerifier(verdict));
  PipelineOptions pipeline = options.pipeline;
  pipeline.to = Level::Machine;
  buildCompilePipeline(passes, pipeline);
  if (mlir::succeeded(passes.run(module)) && verdict->wrongPass.empty())
    return llvm::Error::success();
  return llvm::createStringError(llvm::inconvertibleErrorCode(), errors.empty() ? "compilation failed" : errors);
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
