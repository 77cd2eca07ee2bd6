//===- FuseElementwise.cpp - fuse elementwise ops around attention ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's fusion of linalg ops on tensors with a rule of our own for what pays: memory that is not written and read
// again, against work that is done again. One greedy run, after named ops became generic ones.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Canonicalization/PositiveList.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "attn-fuse-elementwise"

namespace attn {
#define GEN_PASS_DEF_FUSEELEMENTWISEPASS
#include "Attn/AttnPasses.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Operations of a body that may be done again for each user or each lane: fewer than the load that they save costs.
static constexpr int64_t kCheapOperations = 2;

static bool hasEffects(linalg::LinalgOp op) {
  return llvm::any_of(op.getBlock()->without_terminator(),
                      [](Operation &inner) { return !isMemoryEffectFree(&inner); });
}

/// True for operations that take many cycles: functions and divisions.
static bool isExpensive(Operation &op) {
  bool isFunction = op.getDialect() && isa<math::MathDialect>(op.getDialect()) && !isa<math::AbsFOp, math::FmaOp>(op);
  return isFunction || op.getNumRegions() != 0 ||
         isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp, arith::RemSIOp, arith::RemUIOp,
             tensor::ExtractOp>(op);
}

static bool isCheap(linalg::LinalgOp op) {
  int64_t count = 0;
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (isExpensive(inner))
      return false;
    count += !isa<arith::ConstantOp>(inner);
  }
  return count <= kCheapOperations;
}

/// True if the body yields an element of its inputs, widened or as it is: what it does is in the maps.
static bool isMove(linalg::LinalgOp op) {
  return llvm::all_of(op.getBlock()->without_terminator(), llvm::IsaPred<arith::ExtFOp>);
}

/// True if the op multiplies and sums two operands that lack loops of each other: a matrix product.
static bool isContraction(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInputs() < 2)
    return false;
  return llvm::any_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    return map.getNumResults() < map.getNumDims() && map.getNumResults() >= 2 &&
           map != op.getIndexingMapsArray().back();
  });
}

/// True where the consumer reads each element of the operand once.
static bool isReadOnce(OpOperand *operand) {
  auto consumer = cast<linalg::LinalgOp>(operand->getOwner());
  return consumer.getMatchingIndexingMap(operand).isPermutation();
}

/// Users of a producer that would still need its result. Sizes of it come from its operands.
static bool hasOtherUsers(OpOperand *operand) {
  return llvm::any_of(operand->get().getUsers(), [&](Operation *user) {
    return user != operand->getOwner() && !isa<linalg::GenericOp, tensor::DimOp>(user);
  });
}

bool attn::isFusionProfitable(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::LinalgOp>();
  auto consumer = dyn_cast<linalg::LinalgOp>(operand->getOwner());
  if (!producer || !consumer || producer->getBlock() != consumer->getBlock() || hasEffects(producer) ||
      hasEffects(consumer))
    return false;
  if (isContraction(consumer))
    return isMove(producer) && producer.getNumDpsInputs() == 1 && producer.getIndexingMapsArray()[0].isPermutation();
  bool isOnlyUser = llvm::all_of(operand->get().getUsers(), [&](Operation *user) { return user == consumer; });
  if (isOnlyUser && isReadOnce(operand))
    return true;
  return isCheap(producer) && (isOnlyUser || !hasOtherUsers(operand));
}

/// Named ops that are no matrix products, which have no fusion, and those that read a transposed operand.
static bool shouldGeneralize(linalg::LinalgOp op) {
  if (isa<linalg::GenericOp, linalg::FillOp>(op) || !op.hasPureTensorSemantics())
    return false;
  if (isa<linalg::ConvolutionOpInterface>(op.getOperation()))
    return false;
  if (!isa<linalg::ContractionOpInterface>(op.getOperation()))
    return true;
  return llvm::any_of(op->getOperands(), [](Value operand) {
    auto producer = operand.getDefiningOp<linalg::LinalgOp>();
    return producer && !isa<linalg::FillOp>(producer) && producer.getNumReductionLoops() == 0 && isMove(producer);
  });
}

/// Each op that overwrites a fill gets one of its own. A shared one would be copied for all but the last, which costs
/// more than to fill again.
static void splitFills(Operation *root, RewriterBase &rewriter) {
  SmallVector<linalg::FillOp> fills;
  root->walk([&](linalg::FillOp fill) { fills.push_back(fill); });
  for (linalg::FillOp fill : fills) {
    if (fill->getNumResults() != 1)
      continue;
    for (OpOperand &use : llvm::make_early_inc_range(llvm::drop_begin(fill->getUses()))) {
      auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
      if (!user || !user.isDpsInit(&use))
        continue;
      rewriter.setInsertionPoint(user);
      Operation *own = rewriter.clone(*fill);
      rewriter.modifyOpInPlace(user, [&] { use.set(own->getResult(0)); });
    }
  }
}

namespace {

struct FuseElementwise : attn::impl::FuseElementwisePassBase<FuseElementwise> {
  /// Whether there is anything to do: most functions hold an attention and little else.
  bool hasCandidates() {
    int64_t count = 0;
    getOperation()->walk([&](linalg::LinalgOp op) { count += !isa<linalg::FillOp>(op); });
    return count > 1;
  }

  void runOnOperation() override {
    if (!hasCandidates())
      return;
    SmallVector<linalg::LinalgOp> named;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (shouldGeneralize(op))
        named.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      if (failed(linalg::generalizeNamedOp(rewriter, op)))
        return signalPassFailure();
    }
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, isFusionProfitable);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
    populateListedFolds(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), listedOnly())))
      return signalPassFailure();
    splitFills(getOperation(), rewriter);
  }
};

} // namespace
