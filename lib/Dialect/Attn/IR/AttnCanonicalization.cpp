//===- AttnCanonicalization.cpp - canonicalization of attn.attention ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace attn;

namespace {

/// A score region that yields its score, or a mask region that yields true, says nothing.
struct DropTrivialRegions : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    auto yielded = [](Region &region) {
      return region.empty() ? Value() : cast<YieldOp>(region.front().getTerminator()).getValue();
    };
    Value score = yielded(op.getScoreRegion()), keep = yielded(op.getMaskRegion());
    bool dropScore = score && score == op.getScoreRegion().getArgument(0);
    bool dropMask = keep && matchPattern(keep, m_One());
    if (!dropScore && !dropMask)
      return rewriter.notifyMatchFailure(op, "no region is trivial");
    rewriter.modifyOpInPlace(op, [&] {
      if (dropScore)
        rewriter.eraseBlock(&op.getScoreRegion().front());
      if (dropMask)
        rewriter.eraseBlock(&op.getMaskRegion().front());
    });
    return success();
  }
};

/// The same mask twice, and a window without ends, say nothing. Only masks without captures are compared.
struct DropRedundantMasks : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    if (!op.getMasks())
      return rewriter.notifyMatchFailure(op, "no named masks");
    SmallVector<Attribute> kept;
    for (Attribute mask : op.getMasksAttr()) {
      auto window = dyn_cast<WindowAttr>(mask);
      bool unlimited = window && window.getLeft() < 0 && window.getRight() < 0;
      bool repeated = !cast<NamedModInterface>(mask).getNumCaptures() && llvm::is_contained(kept, mask);
      if (!unlimited && !repeated)
        kept.push_back(mask);
    }
    if (kept.size() == op.getMasksAttr().size() && !kept.empty())
      return rewriter.notifyMatchFailure(op, "every named mask says something new");
    rewriter.modifyOpInPlace(op, [&] {
      if (kept.empty())
        op.removeMasksAttr();
      else
        op.setMasksAttr(rewriter.getArrayAttr(kept));
    });
    return success();
  }
};

/// A layout that is the default one is not written.
struct DropDefaultLayouts : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    SmallVector<StringAttr> names;
    for (StringAttr name : {op.getQueryLayoutAttrName(), op.getKeyLayoutAttrName(), op.getValueLayoutAttrName(),
                            op.getOutLayoutAttrName()})
      if (auto layout = op->getAttrOfType<AffineMapAttr>(name); layout && layout.getValue().isIdentity())
        names.push_back(name);
    if (names.empty())
      return rewriter.notifyMatchFailure(op, "no default layout is written");
    rewriter.modifyOpInPlace(op, [&] {
      for (StringAttr name : names)
        op->removeAttr(name);
    });
    return success();
  }
};

/// Replaces an op on tensors by one without the results that are dropped, of the given result types.
static void replaceWithout(PatternRewriter &rewriter, AttentionOp op, TypeRange types, bool dropLse, bool dropWeights) {
  Value lse = dropLse ? Value() : op.getLse(), weights = dropWeights ? Value() : op.getWeights();
  auto fresh = AttentionOp::create(
      rewriter, op.getLoc(), types, op.getQuery(), op.getKey(), op.getValue(), op.getScale(), op.getScoreCaptures(),
      op.getMaskCaptures(), op.getSink(), op.getKvLengths(), op.getTiles(), op.getOut(), lse, weights,
      op.getScoresAttr(), op.getMasksAttr(), op.getQueryLayoutAttr(), op.getKeyLayoutAttr(), op.getValueLayoutAttr(),
      op.getOutLayoutAttr(), op.getQueryTileAttr(), op.getKvTileAttr(), op.getDropoutAttr());
  fresh->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  for (auto [from, to] : llvm::zip(op->getRegions(), fresh->getRegions()))
    rewriter.inlineRegionBefore(from, to, to.begin());
  unsigned from = 0, to = 0;
  rewriter.replaceAllUsesWith(op.getResult(from++), fresh.getResult(to++));
  for (auto [had, has] : {std::pair(op.getLse(), lse), std::pair(op.getWeights(), weights)}) {
    if (has)
      rewriter.replaceAllUsesWith(op.getResult(from), fresh.getResult(to++));
    from += had ? 1 : 0;
  }
  rewriter.eraseOp(op);
}

/// An lse or weights result that nobody uses is not computed.
struct DropUnusedResults : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    if (op->getNumResults() == 0)
      return rewriter.notifyMatchFailure(op, "on memrefs");
    unsigned next = 1;
    Value lse = op.getLse() ? op.getResult(next++) : Value();
    Value weights = op.getWeights() ? op.getResult(next++) : Value();
    bool dropLse = lse && lse.use_empty(), dropWeights = weights && weights.use_empty();
    if (!dropLse && !dropWeights)
      return rewriter.notifyMatchFailure(op, "every result is used");
    SmallVector<Type> types{op.getResult(0).getType()};
    if (lse && !dropLse)
      types.push_back(lse.getType());
    if (weights && !dropWeights)
      types.push_back(weights.getType());
    replaceWithout(rewriter, op, types, dropLse, dropWeights);
    return success();
  }
};

/// Whether one operand may leave open a size that another one's type tells. Upstream's verifiers of these named ops
/// compare shapes as they are written.
static bool mayMixOpenSizes(Operation *op) {
  return isa_and_nonnull<AttnDialect>(op->getDialect()) ||
         (isa<linalg::LinalgOp>(op) &&
          !isa<linalg::BroadcastOp, linalg::MapOp, linalg::ReduceOp, linalg::TransposeOp>(op));
}

/// linalg and attn ops take their operands as they are without casts that hide sizes. Regions stay where they are;
/// types of results follow the outputs.
struct OperandsWithoutCasts : OpInterfaceRewritePattern<DestinationStyleOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(DestinationStyleOpInterface op, PatternRewriter &rewriter) const override {
    if (!mayMixOpenSizes(op) || !op.hasPureTensorSemantics() || !tensor::hasFoldableTensorCastOperand(op))
      return rewriter.notifyMatchFailure(op, "no operand that is cast");
    SmallVector<Type> types(op->getResultTypes());
    SmallVector<Value> operands = tensor::getUpdatedOperandsAfterCastOpFolding(op, types);
    rewriter.modifyOpInPlace(op, [&] { op->setOperands(operands); });
    rewriter.setInsertionPointAfter(op);
    for (unsigned k = 0; k < types.size(); ++k)
      refine(op->getResult(k), types[k], rewriter);
    return success();
  }

private:
  /// Gives a result the type of its output, and its users what they had.
  static void refine(OpResult result, Type type, PatternRewriter &rewriter) {
    Type had = result.getType();
    if (had == type)
      return;
    rewriter.modifyOpInPlace(result.getOwner(), [&] { result.setType(type); });
    auto cast = tensor::CastOp::create(rewriter, result.getLoc(), had, result);
    rewriter.replaceAllUsesExcept(result, cast, cast);
  }
};

} // namespace

void AttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropTrivialRegions, DropRedundantMasks, DropDefaultLayouts, DropUnusedResults>(context);
  // In front of upstream's pattern for casts, which clones the op and crashes where a region is empty.
  patterns.add<OperandsWithoutCasts>(context, /*benefit=*/2);
}
