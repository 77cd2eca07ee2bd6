//===- Slices.cpp - slices and casts of tensors --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which dimensions a slice drops is read from the op as it is written, before a size of it becomes a constant:
// upstream's patterns infer the type anew and drop the first unit dimensions that they find. What would be out of
// bounds if it were a constant stays as it is: the run-time check in front of it ends the call, a verifier would end
// the compiler.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Canonicalization/PositiveList.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

namespace {

struct Slice {
  SmallVector<OpFoldResult> offsets, sizes, strides;

  template <typename OpTy>
  explicit Slice(OpTy op) : offsets(op.getMixedOffsets()), sizes(op.getMixedSizes()), strides(op.getMixedStrides()) {}

  /// Replaces values that are constants by these. Returns whether there were any.
  bool foldConstants() {
    bool changed = succeeded(foldDynamicOffsetSizeList(offsets));
    changed |= succeeded(foldDynamicOffsetSizeList(sizes));
    changed |= succeeded(foldDynamicStrideList(strides));
    return changed;
  }

  /// False if the constants alone say that the slice leaves a tensor of this shape.
  bool mayBeInside(ArrayRef<int64_t> shape) const {
    for (auto [extent, offset, size, stride] : llvm::zip_equal(shape, offsets, sizes, strides)) {
      std::optional<int64_t> from = getConstantIntValue(offset), count = getConstantIntValue(size),
                             step = getConstantIntValue(stride);
      if (ShapedType::isDynamic(extent))
        continue;
      // Of an empty slice, too: upstream refuses an offset that is no element.
      if (from && *from >= extent)
        return false;
      int64_t last = 0;
      bool overflows = from && count && step && *count > 0 &&
                       (llvm::MulOverflow(*count - 1, *step, last) || llvm::AddOverflow(last, *from, last));
      if (from && count && step && *count > 0 && (overflows || last < 0 || last >= extent))
        return false;
    }
    return true;
  }

  /// The sizes that are not dropped, dynamic ones as such.
  SmallVector<int64_t> keptShape(const llvm::SmallBitVector &dropped) const {
    SmallVector<int64_t> shape;
    for (auto [dim, size] : llvm::enumerate(sizes))
      if (!dropped.test(dim))
        shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    return shape;
  }
};

/// tensor.extract_slice whose offsets, sizes or strides are constants.
struct ExtractSliceOfConstants : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op, PatternRewriter &rewriter) const override {
    Slice slice(op);
    if (!slice.foldConstants())
      return rewriter.notifyMatchFailure(op, "no operand is a constant");
    if (!slice.mayBeInside(op.getSourceType().getShape()))
      return rewriter.notifyMatchFailure(op, "out of bounds");
    auto type = RankedTensorType::get(slice.keptShape(op.getDroppedDims()), op.getType().getElementType(),
                                      op.getType().getEncoding());
    Value result = tensor::ExtractSliceOp::create(rewriter, op.getLoc(), type, op.getSource(), slice.offsets,
                                                  slice.sizes, slice.strides);
    if (type != op.getType())
      result = tensor::CastOp::create(rewriter, op.getLoc(), op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// A slice of which a tensor.cast says more sizes takes them.
struct CastOfExtractSlice : OpRewritePattern<tensor::CastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::CastOp op, PatternRewriter &rewriter) const override {
    auto extract = op.getSource().getDefiningOp<tensor::ExtractSliceOp>();
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!extract || !type || !tensor::preservesStaticInformation(extract.getType(), type))
      return rewriter.notifyMatchFailure(op, "no slice, or it knows a size that the cast does not");
    Slice slice(extract);
    llvm::SmallBitVector dropped = extract.getDroppedDims();
    int64_t kept = 0;
    for (auto [dim, size] : llvm::enumerate(slice.sizes))
      if (!dropped.test(dim))
        if (int64_t extent = type.getDimSize(kept++); !ShapedType::isDynamic(extent))
          size = rewriter.getIndexAttr(extent);
    if (!slice.mayBeInside(extract.getSourceType().getShape()))
      return rewriter.notifyMatchFailure(op, "out of bounds");
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(op, type, extract.getSource(), slice.offsets, slice.sizes,
                                                        slice.strides);
    return success();
  }
};

/// The same of tensor.insert_slice and tensor.parallel_insert_slice, whose source gets the sizes.
template <typename OpTy> struct InsertSliceOfConstants : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    Slice slice(op);
    if (!slice.foldConstants())
      return rewriter.notifyMatchFailure(op, "no operand is a constant");
    SmallVector<int64_t> shape = slice.keptShape(op.getDroppedDims());
    RankedTensorType had = op.getSourceType();
    for (auto [known, extent] : llvm::zip_equal(had.getShape(), shape))
      if (!ShapedType::isDynamic(known) && known != extent)
        return rewriter.notifyMatchFailure(op, "the source has another size");
    if (!slice.mayBeInside(op.getDestType().getShape()))
      return rewriter.notifyMatchFailure(op, "out of bounds");
    auto type = RankedTensorType::get(shape, had.getElementType(), had.getEncoding());
    Value source = op.getSource();
    if (type != had) {
      OpBuilder::InsertionGuard guard(rewriter);
      if constexpr (std::is_same_v<OpTy, tensor::ParallelInsertSliceOp>)
        rewriter.setInsertionPoint(op->getParentOp());
      source = tensor::CastOp::create(rewriter, op.getLoc(), type, source);
    }
    rewriter.replaceOpWithNewOp<OpTy>(op, source, op.getDest(), slice.offsets, slice.sizes, slice.strides);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// A slice of a tensor of more known sizes, which a cast hides.
struct ExtractSliceOfCast : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op, PatternRewriter &rewriter) const override {
    auto cast = op.getSource().getDefiningOp<tensor::CastOp>();
    if (!cast || !tensor::canFoldIntoConsumerOp(cast))
      return rewriter.notifyMatchFailure(op, "no cast that hides sizes");
    auto type = mlir::cast<RankedTensorType>(cast.getSource().getType());
    if (!Slice(op).mayBeInside(type.getShape()))
      return rewriter.notifyMatchFailure(op, "out of bounds");
    rewriter.modifyOpInPlace(op, [&] { op.getSourceMutable().assign(cast.getSource()); });
    return success();
  }
};

/// A cast of a cast; the one in the middle says nothing if the tensor had what the last type has.
struct CastOfCast : OpRewritePattern<tensor::CastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::CastOp op, PatternRewriter &rewriter) const override {
    auto first = op.getSource().getDefiningOp<tensor::CastOp>();
    if (!first || !tensor::preservesStaticInformation(op.getType(), first.getSource().getType()))
      return rewriter.notifyMatchFailure(op, "the cast adds a size");
    if (first.getSource().getType() == op.getType())
      rewriter.replaceOp(op, first.getSource());
    else
      rewriter.replaceOpWithNewOp<tensor::CastOp>(op, op.getType(), first.getSource());
    return success();
  }
};

} // namespace

void attn::populateSlicePatterns(RewritePatternSet &patterns) {
  patterns.add<ExtractSliceOfConstants, CastOfExtractSlice, InsertSliceOfConstants<tensor::InsertSliceOp>,
               InsertSliceOfConstants<tensor::ParallelInsertSliceOp>, ExtractSliceOfCast, CastOfCast>(
      patterns.getContext());
}
