//===- OutlineKernels.cpp - parallel loops to device kernels ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each outermost scf.forall the body moves into a function of the device module,
//
//   f_kernel_k(%item, captures...)
//
// which does one item: how many threads work on it, and how, is the next level's business. Item n is the n-th index of
// the loop, the last dimension fastest. Costs one walk over the body; nothing is cloned but constants.
//
//===----------------------------------------------------------------------===//

#include "ParallelLoops.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "attn/Dialect/Flash/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace attn::flash {
#define GEN_PASS_DEF_OUTLINEKERNELSPASS
#include "Flash/FlashPasses.h.inc"
} // namespace attn::flash

using namespace mlir;
using namespace attn::flash;

/// Memory of a size that only the run knows is the host's to get.
static LogicalResult checkBody(scf::ForallOp loop) {
  auto found = loop->walk([](Operation *op) {
    if (!isAllocation(op))
      return WalkResult::advance();
    op->emitOpError("is not supported in a parallel loop on a device; allocate in front of the loop");
    return WalkResult::interrupt();
  });
  return failure(found.wasInterrupted());
}

/// A function (%item) of the device module, with an empty body.
static func::FuncOp createKernel(scf::ForallOp loop, gpu::GPUModuleOp device, unsigned number) {
  auto parent = loop->getParentOfType<func::FuncOp>();
  OpBuilder builder(loop.getContext());
  auto function = func::FuncOp::create(loop.getLoc(), (parent.getName() + "_kernel_" + Twine(number)).str(),
                                       builder.getFunctionType({builder.getIndexType()}, {}));
  SymbolTable(device).insert(function);
  function.addEntryBlock();
  return function;
}

static LogicalResult outline(scf::ForallOp loop, gpu::GPUModuleOp device, unsigned number, RewriterBase &rewriter) {
  if (failed(prepareLoop(loop, rewriter)) || failed(checkBody(loop)))
    return failure();
  rewriter.setInsertionPoint(loop);
  ImplicitLocOpBuilder b(loop.getLoc(), rewriter);
  SizeArithmetic sizes(b);
  SmallVector<OpFoldResult> counts = tripCounts(loop, sizes, b);
  Value items = countItems(counts, sizes, b);

  func::FuncOp kernel = createKernel(loop, device, number);
  Block *entry = &kernel.getBody().front();
  b.setInsertionPointToStart(entry);
  SmallVector<Value> indices = delinearize(entry->getArgument(0), loop, counts, b);
  func::ReturnOp::create(b);
  moveBody(loop, indices, entry, kernel.getBody(), rewriter);
  b.setInsertionPoint(loop);
  SmallVector<Value> captures = captureValues(kernel);
  auto symbol = SymbolRefAttr::get(device.getNameAttr(), FlatSymbolRefAttr::get(kernel.getNameAttr()));
  LaunchOp::create(b, symbol, items, captures);
  rewriter.eraseOp(loop);
  return success();
}

namespace {

struct OutlineKernels : attn::flash::impl::OutlineKernelsPassBase<OutlineKernels> {
  /// The module of all kernels.
  gpu::GPUModuleOp createDeviceModule() {
    OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
    auto device = gpu::GPUModuleOp::create(builder, getOperation().getLoc(), "attn_device");
    SymbolTable(getOperation()).insert(device);
    return device;
  }

  void runOnOperation() override {
    // First, so that kernels do not capture it.
    getOperation().walk([](ItemWorkOp op) { op.erase(); });
    IRRewriter rewriter(&getContext());
    gpu::GPUModuleOp device;
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      for (auto [number, loop] : llvm::enumerate(outermostLoops(function))) {
        if (!device)
          device = createDeviceModule();
        if (failed(outline(loop, device, number, rewriter)))
          return signalPassFailure();
      }
  }
};

} // namespace
