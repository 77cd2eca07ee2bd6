//===- ParallelizeLinalg.cpp - linalg on memrefs to parallel loops ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is around attention, in the simplest form that a device can run: an item for each element that is written.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Flash/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace attn::flash {
#define GEN_PASS_DEF_PARALLELIZELINALGPASS
#include "Flash/FlashPasses.h.inc"
} // namespace attn::flash

using namespace mlir;

/// A parallel loop without reductions, as scf.forall.
static void convertLoop(scf::ParallelOp loop, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(loop);
  auto mixed = [](ValueRange values) { return SmallVector<OpFoldResult>(values.begin(), values.end()); };
  auto forall = scf::ForallOp::create(rewriter, loop.getLoc(), mixed(loop.getLowerBound()), mixed(loop.getUpperBound()),
                                      mixed(loop.getStep()), ValueRange(), std::nullopt);
  rewriter.eraseOp(loop.getBody()->getTerminator());
  rewriter.inlineBlockBefore(loop.getBody(), forall.getBody()->getTerminator(), forall.getInductionVars());
  rewriter.eraseOp(loop);
}

/// Puts an op into a parallel loop of one item.
static void wrap(Operation *op, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  SmallVector<OpFoldResult> counts{rewriter.getIndexAttr(1)};
  auto forall = scf::ForallOp::create(rewriter, op->getLoc(), counts, ValueRange(), std::nullopt);
  rewriter.moveOpBefore(op, forall.getBody()->getTerminator());
}

static LogicalResult parallelize(linalg::LinalgOp op, RewriterBase &rewriter) {
  if (!op.hasPureBufferSemantics())
    return op.emitOpError("expects memrefs at the target level; bufferize first");
  // Sums of everything are one item.
  bool isOneItem = op.getNumParallelLoops() == 0;
  if (isOneItem)
    wrap(op, rewriter);
  rewriter.setInsertionPoint(op);
  auto loops = isOneItem ? linalg::linalgOpToLoops(rewriter, op) : linalg::linalgOpToParallelLoops(rewriter, op);
  if (failed(loops))
    return op.emitOpError("cannot become loops");
  rewriter.eraseOp(op);
  for (Operation *loop : *loops)
    if (auto parallel = dyn_cast<scf::ParallelOp>(loop))
      convertLoop(parallel, rewriter);
  return success();
}

namespace {

struct ParallelizeLinalg : attn::flash::impl::ParallelizeLinalgPassBase<ParallelizeLinalg> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<memref::CopyOp> copies;
    getOperation().walk([&](memref::CopyOp copy) { copies.push_back(copy); });
    for (memref::CopyOp copy : copies) {
      rewriter.setInsertionPoint(copy);
      linalg::makeMemRefCopyOp(rewriter, copy.getLoc(), copy.getSource(), copy.getTarget());
      rewriter.eraseOp(copy);
    }
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops)
      if (failed(parallelize(op, rewriter)))
        return signalPassFailure();
  }
};

} // namespace
