//===- CompilePipeline.cpp - from the graph level to the machine level --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compile time counts (100 ms for an attention): canonicalize and CSE run only where the next pass depends on what they
// find, and function passes are nested so that functions are compiled side by side.
//
//===----------------------------------------------------------------------===//

#include "ReuseResultBuffers.h"
#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Flash/Transforms/Passes.h"
#include "attn/Pipelines/Pipelines.h"
#include "attn/Target/TargetDescription.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

static void cleanUp(OpPassManager &functions, bool keepsLoops = false) {
  functions.addPass(createCanonicalizePass({keepsLoops}));
  functions.addPass(createCSEPass());
}

/// Helpers go into their callers, so that fusion and bufferization see the whole graph. Nothing is simplified on the
/// way: cleanUp does that once.
static void addInliner(OpPassManager &pm) {
  pm.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  pm.addPass(createSymbolDCEPass());
}

void attn::buildFusionPipeline(OpPassManager &pm, bool verify) {
  addInliner(pm);
  pm.addNestedPass<func::FuncOp>(createFusePass({/*allowUnshiftedExp=*/false, verify}));
}

static void addGraphPasses(OpPassManager &pm, const PipelineOptions &options) {
  // What exporters write becomes what the compiler knows, or is refused by name; but for what nothing needs.
  pm.addPass(createDropUnneededPass({options.function}));
  pm.addPass(createRaisePass());
  pm.addPass(createVerifyGraphPass());
  if (options.fuse)
    buildFusionPipeline(pm, options.verifyFusion);
  else
    addInliner(pm);
  // One mechanism for masks and scores, and linalg for what has no fused form, arith and math on tensors included.
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createExpandNamedPass());
  functions.addPass(createLowerElementwisePass());
  // The unfused ops bring checks of their own.
  functions.addPass(createInsertChecksPass());
  functions.addPass(createConvertAttnToLinalgPass());
  cleanUp(functions);
  // Fewer parallel loops, before transposes move into the products.
  functions.addPass(createMergeProjectionsPass({options.target}));
  // Memory that is not written need not be read: around the attention, everything is bound by it.
  functions.addPass(createFuseElementwisePass());
}

static void addTiledPasses(OpPassManager &pm, const PipelineOptions &options) {
  // Results become buffers of the caller's, and ops write into them directly where they can.
  pm.addPass(createExportFunctionsPass());
  pm.addPass(createReuseResultBuffersPass());
  // The graph is bufferized whole, before tiling: tensors of tiles would be copied in the kv loop.
  pm.addPass(createBufferizePass());
  // Sizes fold and views merge, so that buffers are told apart and freed after their last use.
  OpPassManager &functions = pm.nest<func::FuncOp>();
  cleanUp(functions);
  functions.addPass(flash::createFreeBuffersPass());
  // The FlashAttention loop.
  functions.addPass(createConvertAttnToFlashPass(
      {options.tileQ, options.tileKv, options.segmentKeys, options.target, options.skipTiles, options.countKvTiles}));
  cleanUp(functions, isGpuTarget(options.target));
  functions.addPass(flash::createFoldScalePass());
  // What the next level relies on: tiles may be updated in place.
  functions.addPass(flash::createVerifyFormPass());
}

/// Kernels for a GPU, and the CPU's code that launches them.
static void addGpuTargetPasses(OpPassManager &pm, const PipelineOptions &options) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  // Memory is the device's: all code that touches it becomes kernels.
  functions.addPass(flash::createParallelizeLinalgPass());
  // The host says what failed in a kernel.
  functions.addPass(flash::createReportChecksPass());
  // Constants must be known before outlining, which captures all else.
  cleanUp(functions, /*keepsLoops=*/true);
  pm.addPass(flash::createOutlineKernelsPass());
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  device.addPass(createConvertFlashToNvvmPass({options.target, options.allowTf32}));
  // One place of a thread and one address of a row are built many times over. The rest is LLVM's to simplify: kernels
  // are thousands of operations, of which canonicalize would find few.
  device.nest<func::FuncOp>().addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(flash::createCheckAllocationsPass());
}

static void addTargetPasses(OpPassManager &pm, const PipelineOptions &options) {
  if (isGpuTarget(options.target))
    return addGpuTargetPasses(pm, options);
  OpPassManager &functions = pm.nest<func::FuncOp>();
  // Vector code around the attention and inside it; plain loops for what may stop in the middle (cf.assert).
  functions.addPass(createConvertLinalgToCpuPass({options.target}));
  functions.addPass(createPrefetchPass({options.target}));
  if (options.skipTiles)
    functions.addPass(createChunkKeysPass({options.target}));
  functions.addPass(createConvertFlashToCpuPass({options.blockRows, options.target}));
  // Constants must be known before outlining, which captures all else.
  cleanUp(functions);
  pm.addPass(flash::createOutlineParallelPass());
  // Sizes multiply modulo 2^64 from here on.
  pm.addNestedPass<func::FuncOp>(flash::createCheckAllocationsPass());
}

/// What functions need before their conversion to LLVM's dialect, on the CPU or on a device.
static void addExpansions(OpPassManager &functions, bool onDevice) {
  // bf16 arithmetic and 16-bit math in f32: LLVM would call library functions that compiled code does not have.
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16"};
  emulate.targetTypeStr = "f32";
  functions.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  functions.addPass(math::createMathExtendToSupportedTypes());
  functions.addPass(flash::createExpandOpsPass({onDevice}));
  // Views become address arithmetic; control flow becomes branches.
  functions.addPass(flash::createExpandViewsPass());
  functions.addPass(createLowerAffinePass());
  functions.addPass(createSCFToControlFlowPass());
}

static void addMachinePasses(OpPassManager &pm, const PipelineOptions &options) {
  addExpansions(pm.nest<func::FuncOp>(), /*onDevice=*/false);
  if (isGpuTarget(options.target)) {
    OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
    addExpansions(device.nest<func::FuncOp>(), /*onDevice=*/true);
    device.addPass(createConvertDeviceToLLVMPass());
  }
  bool checksBounds = options.checkBounds && !isGpuTarget(options.target);
  pm.addPass(createConvertFlashToLLVMPass({isGpuTarget(options.target), checksBounds}));
  // An offender is named by where it comes from.
  if (checksBounds)
    pm.addPass(LLVM::createDIScopeForLLVMFuncOpPass());
  // The level's postcondition.
  pm.addPass(flash::createVerifyMachinePass());
}

namespace {

/// Shows the module to the pipeline's caller.
struct InspectPass : PassWrapper<InspectPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InspectPass)

  explicit InspectPass(std::function<void(ModuleOp)> inspect) : inspect(std::move(inspect)) {}
  StringRef getArgument() const override { return "attn-inspect"; }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    inspect(getOperation());
  }

  std::function<void(ModuleOp)> inspect;
};

} // namespace

void attn::buildCompilePipeline(OpPassManager &pm, const PipelineOptions &options) {
  addGraphPasses(pm, options);
  if (options.atGraphLevel)
    pm.addPass(std::make_unique<InspectPass>(options.atGraphLevel));
  if (options.to >= Level::Tiled)
    addTiledPasses(pm, options);
  if (options.to >= Level::Target)
    addTargetPasses(pm, options);
  if (options.to >= Level::Machine)
    addMachinePasses(pm, options);
}

ArrayRef<StringLiteral> attn::verifiedPasses() {
  // A kernel's IR grows from tens of operations to thousands when it is tiled for a target: from there on the end
  // alone.
  static constexpr StringLiteral names[] = {
      "attn-raise",        "attn-fuse",           "attn-fuse-elementwise", "attn-bufferize", "convert-attn-to-flash",
      "flash-verify-form", "flash-verify-machine"};
  return names;
}

namespace {

struct CommandLineOptions : PassPipelineOptions<CommandLineOptions> {
  Option<Level> to{*this, "to", llvm::cl::desc("level of IR to stop at"), llvm::cl::init(Level::Machine),
                   llvm::cl::values(clEnumValN(Level::Graph, "graph", "attn and linalg on tensors"),
                                    clEnumValN(Level::Tiled, "tiled", "loops over tiles, flash ops on memrefs"),
                                    clEnumValN(Level::Target, "target", "vector code and parallel loops"),
                                    clEnumValN(Level::Machine, "machine", "the llvm dialect"))};
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("host, an LLVM CPU name such as x86-64-v3, or a GPU such as sm_80"),
                             llvm::cl::init("host")};
  Option<int64_t> tileQ{*this, "tile-q", llvm::cl::desc("query rows of a tile; 0: the cost model chooses"),
                        llvm::cl::init(0)};
  Option<int64_t> tileKv{*this, "tile-kv", llvm::cl::desc("keys of a tile; 0: the cost model chooses"),
                         llvm::cl::init(0)};
  Option<int64_t> segmentKeys{*this, "segment-keys",
                              llvm::cl::desc("keys of a segment; 0: the cost model chooses whether keys are split"),
                              llvm::cl::init(0)};
  Option<int64_t> blockRows{*this, "block-rows", llvm::cl::desc("keys of a register block; 0: the cost model chooses"),
                            llvm::cl::init(0)};
  Option<bool> skipTiles{*this, "skip-tiles", llvm::cl::desc("skip the kv tiles that a mask empties"),
                         llvm::cl::init(true)};
  Option<bool> countKvTiles{*this, "count-kv-tiles", llvm::cl::desc("count the computed kv tiles in the call's report"),
                            llvm::cl::init(false)};
  Option<bool> fuse{*this, "fuse", llvm::cl::desc("turn unfused attention into attn.attention"), llvm::cl::init(true)};
  Option<bool> verifyFusion{*this, "verify-fusion", llvm::cl::desc("compare each fusion with its graph"),
                            llvm::cl::init(false)};
  Option<bool> allowTf32{*this, "allow-tf32", llvm::cl::desc("multiply f32 on a GPU as one product of tf32"),
                         llvm::cl::init(false)};
  Option<std::string> function{*this, "function",
                               llvm::cl::desc("compile this function and what it calls; empty: all public ones"),
                               llvm::cl::init("")};
  Option<bool> checkBounds{*this, "check-bounds", llvm::cl::desc("check each access of memory as the code runs; CPUs"),
                           llvm::cl::init(false)};
};

} // namespace

void attn::registerPipelines() {
  PassPipelineRegistration<CommandLineOptions>(
      "attn-compile", "Compile a graph down to a level of IR",
      [](OpPassManager &pm, const CommandLineOptions &options) {
        buildCompilePipeline(pm, {options.to, options.target, options.tileQ, options.tileKv, options.segmentKeys,
                                  options.blockRows, options.skipTiles, options.countKvTiles, options.fuse,
                                  options.verifyFusion, options.allowTf32, options.function, options.checkBounds,
                                  /*atGraphLevel=*/{}});
      });
}
