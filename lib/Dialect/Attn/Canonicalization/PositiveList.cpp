//===- PositiveList.cpp - the rewrites that may run ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Dialect/Attn/Canonicalization/PositiveList.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

bool attn::isFoldListed(Operation *op) {
  Dialect *dialect = op->getDialect();
  if (isa_and_nonnull<arith::ArithDialect>(dialect))
    return !isa<arith::ConstantOp>(op);
  // All that these fold is a memref.cast into their operands.
  if (isa_and_nonnull<linalg::LinalgDialect>(dialect))
    return true;
  return isa<tensor::CastOp, tensor::DimOp, tensor::ExtractOp, tensor::FromElementsOp, tensor::PadOp, tensor::RankOp,
             memref::CastOp, memref::CopyOp, memref::DeallocOp, memref::DimOp, memref::ExtractStridedMetadataOp,
             memref::LoadOp, memref::RankOp, memref::StoreOp, affine::AffineApplyOp, affine::AffineMaxOp,
             affine::AffineMinOp, bufferization::ToBufferOp, bufferization::ToTensorOp, index::CmpOp,
             vector::BroadcastOp, vector::ShuffleOp>(op);
}

/// The first block that sees all of the function around `op`.
static Block &entryBlock(Operation *op) {
  Region *region = op->getParentRegion();
  while (!region->getParentOp()->hasTrait<OpTrait::IsIsolatedFromAbove>())
    region = region->getParentRegion();
  return region->front();
}

namespace {

struct FoldListed : RewritePattern {
  explicit FoldListed(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/10, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!attn::isFoldListed(op))
      return rewriter.notifyMatchFailure(op, "its folder is not on the list");
    SmallVector<OpFoldResult> folded;
    if (failed(op->fold(folded)))
      return rewriter.notifyMatchFailure(op, "does not fold");
    if (folded.empty()) {
      rewriter.modifyOpInPlace(op, [] {});
      return success();
    }
    SmallVector<Value> values;
    if (failed(materialize(op, folded, values, rewriter)))
      return rewriter.notifyMatchFailure(op, "folds to what no constant holds");
    rewriter.replaceOp(op, values);
    return success();
  }

private:
  static LogicalResult materialize(Operation *op, ArrayRef<OpFoldResult> folded, SmallVectorImpl<Value> &values,
                                   PatternRewriter &rewriter) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(&entryBlock(op));
    for (auto [result, type] : llvm::zip(folded, op->getResultTypes())) {
      if (auto value = llvm::dyn_cast_if_present<Value>(result)) {
        values.push_back(value);
        continue;
      }
      // arith folds x - x, x ^ x and x < x of whole tensors even where the type leaves a size open.
      if (auto shaped = dyn_cast<ShapedType>(type); shaped && !shaped.hasStaticShape())
        return failure();
      Operation *constant =
          op->getDialect()->materializeConstant(rewriter, cast<Attribute>(result), type, op->getLoc());
      if (!constant)
        return failure();
      values.push_back(constant->getResult(0));
    }
    return success();
  }
};

} // namespace

void attn::populateListedFolds(RewritePatternSet &patterns) { patterns.add<FoldListed>(patterns.getContext()); }

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

/// Bounds and steps of a parallel loop that are constants become part of it, so that no kernel captures them.
struct ForallOfConstantBounds : OpRewritePattern<scf::ForallOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::ForallOp op, PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> lower(op.getMixedLowerBound()), upper(op.getMixedUpperBound()), step(op.getMixedStep());
    bool changed = succeeded(foldDynamicIndexList(lower));
    changed |= succeeded(foldDynamicIndexList(upper));
    changed |= succeeded(foldDynamicIndexList(step));
    if (!changed)
      return rewriter.notifyMatchFailure(op, "no operand is a constant");
    rewriter.modifyOpInPlace(op, [&] {
      setBounds(lower, op.getDynamicLowerBoundMutable(), [&](ArrayRef<int64_t> v) { op.setStaticLowerBound(v); });
      setBounds(upper, op.getDynamicUpperBoundMutable(), [&](ArrayRef<int64_t> v) { op.setStaticUpperBound(v); });
      setBounds(step, op.getDynamicStepMutable(), [&](ArrayRef<int64_t> v) { op.setStaticStep(v); });
    });
    return success();
  }

private:
  static void setBounds(ArrayRef<OpFoldResult> mixed, MutableOperandRange dynamic,
                        llvm::function_ref<void(ArrayRef<int64_t>)> setStatic) {
    SmallVector<int64_t> known;
    SmallVector<Value> unknown;
    dispatchIndexOpFoldResults(mixed, unknown, known);
    dynamic.assign(unknown);
    setStatic(known);
  }
};

/// The index of a dimension of one item is its lower bound.
struct ForallOfOneItem : OpRewritePattern<scf::ForallOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::ForallOp op, PatternRewriter &rewriter) const override {
    bool changed = false;
    for (auto [index, lower, upper, step] :
         llvm::zip_equal(op.getInductionVars(), op.getMixedLowerBound(), op.getMixedUpperBound(), op.getMixedStep())) {
      std::optional<int64_t> first = getConstantIntValue(lower), end = getConstantIntValue(upper),
                             width = getConstantIntValue(step);
      if (!first || !end || !width || *first >= *end || *width < *end - *first || index.use_empty())
        continue;
      rewriter.setInsertionPoint(op);
      rewriter.replaceAllUsesWith(index, arith::ConstantIndexOp::create(rewriter, op.getLoc(), *first));
      changed = true;
    }
    return success(changed);
  }
};

} // namespace

template <typename... Ops> static void addPatternsOf(RewritePatternSet &patterns) {
  (Ops::getCanonicalizationPatterns(patterns, patterns.getContext()), ...);
}

void attn::populateListedPatterns(RewritePatternSet &patterns, bool keepsLoops) {
  populateListedFolds(patterns);
  populateSlicePatterns(patterns);
  addPatternsOf<AttentionOp, flash::RequireOp>(patterns);
  addPatternsOf<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::CmpIOp,
                arith::SelectOp, arith::ExtSIOp, arith::ExtUIOp>(patterns);
  addPatternsOf<cf::AssertOp, scf::ForOp, scf::IfOp>(patterns);
  addPatternsOf<tensor::DimOp, tensor::EmptyOp, tensor::ExtractOp>(patterns);
  addPatternsOf<linalg::GenericOp>(patterns);
  addPatternsOf<memref::AllocOp, memref::CopyOp, memref::DimOp, memref::ReinterpretCastOp>(patterns);
  // Masks of which all lanes or none are set.
  addPatternsOf<vector::MaskedLoadOp, vector::MaskedStoreOp>(patterns);
  addPatternsOf<bufferization::AllocTensorOp, bufferization::ToBufferOp, bufferization::ToTensorOp>(patterns);
  if (keepsLoops)
    patterns.add<ForallOfConstantBounds, ForallOfOneItem>(patterns.getContext());
  else
    addPatternsOf<scf::ForallOp>(patterns);
}
