//===- AttnToLinalg.cpp - the unfused vocabulary as linalg -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// matmul: a reduction in f32 (f64 for f64), rounded by a second loop where out is narrower. mask: one elementwise loop
// with the mask region in it, whose reads are clamped as in attention. softmax: the three-pass form (maximum, exp and
// sum, division); its guards for rows that are -inf throughout are the only branches. NaN and +inf spread by
// themselves: arith.maximumf and the sum keep them. Sizes that the types leave open are compared in front
// (flash.require).
//
//===----------------------------------------------------------------------===//

#include "CapturedReads.h"
#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace attn {
#define GEN_PASS_DEF_CONVERTATTNTOLINALGPASS
#include "Conversion/ConversionPasses.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using utils::IteratorType;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

/// Builds the result of a loop's body from its block arguments, the inputs first.
using Body = function_ref<Value(ImplicitLocOpBuilder &, ValueRange)>;

/// f64 for f64, f32 for all else: what is calculated in.
static FloatType wideType(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  MLIRContext *context = value.getContext();
  return element.isF64() ? FloatType(Float64Type::get(context)) : FloatType(Float32Type::get(context));
}

static Value convertFloat(ImplicitLocOpBuilder &builder, Value value, Type to) {
  unsigned from = value.getType().getIntOrFloatBitWidth(), width = to.getIntOrFloatBitWidth();
  if (from == width)
    return value;
  if (from < width)
    return arith::ExtFOp::create(builder, to, value);
  return arith::TruncFOp::create(builder, to, value);
}

static Value constantFloat(ImplicitLocOpBuilder &builder, FloatType type, const APFloat &value) {
  return arith::ConstantOp::create(builder, FloatAttr::get(type, value));
}

static Value zero(ImplicitLocOpBuilder &builder, FloatType type) {
  return constantFloat(builder, type, APFloat::getZero(type.getFloatSemantics()));
}

static Value minusInfinity(ImplicitLocOpBuilder &builder, FloatType type) {
  return constantFloat(builder, type, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true));
}

static Value fill(ImplicitLocOpBuilder &builder, Value value, Value init) {
  return linalg::FillOp::create(builder, value, init).getResult(0);
}

/// One linalg.generic; `maps` are those of the inputs, then that of `init`.
static Value loop(ImplicitLocOpBuilder &builder, ValueRange inputs, Value init, ArrayRef<AffineMap> maps,
                  ArrayRef<IteratorType> iterators, Body body) {
  auto build = [&](OpBuilder &nested, Location loc, ValueRange arguments) {
    ImplicitLocOpBuilder inner(loc, nested);
    linalg::YieldOp::create(inner, body(inner, arguments));
  };
  return linalg::GenericOp::create(builder, init.getType(), inputs, init, maps, iterators, build).getResult(0);
}

/// Ends the call unless dimension `a` of `x` and `b` of `y` have the same size; nothing where the types say it.
static void requireSameSize(ImplicitLocOpBuilder &builder, Value x, int64_t a, Value y, int64_t b,
                            const Twine &expectation) {
  if (!cast<ShapedType>(x.getType()).isDynamicDim(a) && !cast<ShapedType>(y.getType()).isDynamicDim(b))
    return;
  Value left = getDimension(builder, x, a), right = getDimension(builder, y, b);
  Value same = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, left, right);
  flash::RequireOp::create(builder, same, builder.getStringAttr(expectation + ", but got {0} and {1}"),
                           ValueRange{left, right});
}

/// The same for every dimension of an op's input and its out.
static void requireSameShape(ImplicitLocOpBuilder &builder, Value input, Value out, StringRef op, StringRef rule) {
  for (int64_t k = 0, rank = cast<ShapedType>(input.getType()).getRank(); k < rank; ++k)
    requireSameSize(builder, out, k, input, k,
                    "'" + op + "' expects out to have the size of the input in dimension " + Twine(k) + " (" + rule +
                        ")");
}

/// out = value, rounded to out's element type; value itself where there is nothing to round.
static Value roundTo(ImplicitLocOpBuilder &builder, Value value, Value out) {
  if (value.getType() == out.getType())
    return value;
  int64_t rank = cast<ShapedType>(out.getType()).getRank();
  SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(rank));
  SmallVector<IteratorType> iterators(rank, IteratorType::parallel);
  return loop(builder, value, out, maps, iterators, [](ImplicitLocOpBuilder &inner, ValueRange arguments) {
    return convertFloat(inner, arguments[0], arguments[1].getType());
  });
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

struct LowerMatmul : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    if (!op.getResult())
      return rewriter.notifyMatchFailure(op, "it is on memrefs");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    requireSizes(builder, op);
    Value out = op.getOut();
    FloatType wide = wideType(op.getLhs());
    Value init = out;
    if (getElementTypeOrSelf(out) != wide)
      init = tensor::EmptyOp::create(builder, tensor::getMixedSizes(builder, op.getLoc(), out), wide);
    Value sum = loop(builder, {op.getLhs(), op.getRhs()}, fill(builder, zero(builder, wide), init), getMaps(op),
                     getIterators(op), [&](ImplicitLocOpBuilder &inner, ValueRange arguments) {
                       Value lhs = convertFloat(inner, arguments[0], wide);
                       Value rhs = convertFloat(inner, arguments[1], wide);
                       Value product = arith::MulFOp::create(inner, lhs, rhs);
                       return arith::AddFOp::create(inner, arguments[2], product).getResult();
                     });
    rewriter.replaceOp(op, roundTo(builder, sum, out));
    return success();
  }

private:
  // matmul (C2)
  static void requireSizes(ImplicitLocOpBuilder &builder, MatmulOp op) {
    Value lhs = op.getLhs(), rhs = op.getRhs(), out = op.getOut();
    int64_t rank = cast<ShapedType>(out.getType()).getRank();
    int64_t rhsK = rank - (op.getTransposeRhs() ? 1 : 2), rhsN = rank - (op.getTransposeRhs() ? 2 : 1);
    for (int64_t k = 0; k < rank - 2; ++k) {
      requireSameSize(builder, lhs, k, rhs, k,
                      "'attn.matmul' expects lhs and rhs to share batch dimension " + Twine(k) + " (C2)");
      requireSameSize(builder, lhs, k, out, k,
                      "'attn.matmul' expects lhs and out to share batch dimension " + Twine(k) + " (C2)");
    }
    requireSameSize(builder, lhs, rank - 1, rhs, rhsK, "'attn.matmul' expects lhs and rhs to share k (C2)");
    requireSameSize(builder, lhs, rank - 2, out, rank - 2, "'attn.matmul' expects lhs and out to share m (C2)");
    requireSameSize(builder, rhs, rhsN, out, rank - 1, "'attn.matmul' expects rhs and out to share n (C2)");
  }

  /// Dimensions of the loop: the batch ones, m, n, k.
  static SmallVector<AffineMap> getMaps(MatmulOp op) {
    MLIRContext *context = op.getContext();
    int64_t rank = cast<ShapedType>(op.getOut().getType()).getRank();
    SmallVector<AffineExpr> batch;
    for (int64_t k = 0; k < rank - 2; ++k)
      batch.push_back(getAffineDimExpr(k, context));
    auto map = [&](int64_t row, int64_t column) {
      SmallVector<AffineExpr> results = batch;
      results.push_back(getAffineDimExpr(row, context));
      results.push_back(getAffineDimExpr(column, context));
      return AffineMap::get(rank + 1, 0, results, context);
    };
    int64_t m = rank - 2, n = rank - 1, k = rank;
    return {map(m, k), op.getTransposeRhs() ? map(n, k) : map(k, n), map(m, n)};
  }

  static SmallVector<IteratorType> getIterators(MatmulOp op) {
    SmallVector<IteratorType> iterators(cast<ShapedType>(op.getOut().getType()).getRank(), IteratorType::parallel);
    iterators.push_back(IteratorType::reduction);
    return iterators;
  }
};

struct LowerMask : OpRewritePattern<MaskOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MaskOp op, PatternRewriter &rewriter) const override {
    if (!op.getResult())
      return rewriter.notifyMatchFailure(op, "it is on memrefs");
    if (op.getMasks())
      return rewriter.notifyMatchFailure(op, "it has named masks");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    requireSameShape(builder, op.getInput(), op.getOut(), "attn.mask", "C1");
    keepReadsInside(builder, op);
    SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(4));
    SmallVector<IteratorType> iterators(4, IteratorType::parallel);
    Value result =
        loop(builder, op.getInput(), op.getOut(), maps, iterators,
             [&](ImplicitLocOpBuilder &inner, ValueRange arguments) { return buildBody(inner, op, arguments[0]); });
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  static void keepReadsInside(ImplicitLocOpBuilder &builder, MaskOp op) {
    SmallVector<Value> sizes;
    for (int64_t k = 0; k < 4; ++k)
      sizes.push_back(getDimension(builder, op.getInput(), k));
    buildCaptureChecks(builder, sizes, &op.getMaskRegion());
    auto type = cast<ShapedType>(op.getInput().getType());
    clampCapturedLoads(op.getMaskRegion(), type.getShape(), std::numeric_limits<int64_t>::max());
  }

  static Value buildBody(ImplicitLocOpBuilder &builder, MaskOp op, Value score) {
    if (op.getMaskRegion().empty())
      return score;
    Block &block = op.getMaskRegion().front();
    IRMapping mapping;
    for (BlockArgument argument : block.getArguments())
      mapping.map(argument, linalg::IndexOp::create(builder, argument.getArgNumber()).getResult());
    for (Operation &inner : block.without_terminator())
      builder.clone(inner, mapping);
    Value keep = mapping.lookupOrDefault(cast<YieldOp>(block.getTerminator()).getValue());
    Value dropped = minusInfinity(builder, cast<FloatType>(score.getType()));
    return arith::SelectOp::create(builder, keep, score, dropped);
  }
};

struct LowerSoftmax : OpRewritePattern<SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SoftmaxOp op, PatternRewriter &rewriter) const override {
    if (!op.getResult())
      return rewriter.notifyMatchFailure(op, "it is on memrefs");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Value input = op.getInput(), out = op.getOut();
    requireSameShape(builder, input, out, "attn.softmax", "C1");
    FloatType wide = wideType(input);
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, op.getLoc(), input);
    SmallVector<OpFoldResult> rowSizes = sizes;
    rowSizes.erase(rowSizes.begin() + op.getAxis());

    AffineMap full = builder.getMultiDimIdentityMap(sizes.size()), row = full.dropResult(op.getAxis());
    SmallVector<IteratorType> parallel(sizes.size(), IteratorType::parallel), reduce = parallel;
    reduce[op.getAxis()] = IteratorType::reduction;

    Value maxInit = fill(builder, minusInfinity(builder, wide), tensor::EmptyOp::create(builder, rowSizes, wide));
    Value max = loop(builder, input, maxInit, {full, row}, reduce, takeMaximum);
    Value exps = tensor::EmptyOp::create(builder, sizes, wide);
    exps = loop(builder, {input, max}, exps, {full, row, full}, parallel, takeExp);
    Value sumInit = fill(builder, zero(builder, wide), tensor::EmptyOp::create(builder, rowSizes, wide));
    Value sum = loop(builder, exps, sumInit, {full, row}, reduce, takeSum);
    rewriter.replaceOp(op, loop(builder, {exps, sum}, out, {full, row, full}, parallel, divide));
    return success();
  }

private:
  /// (x, max) to max.
  static Value takeMaximum(ImplicitLocOpBuilder &builder, ValueRange arguments) {
    Value x = convertFloat(builder, arguments[0], arguments[1].getType());
    return arith::MaximumFOp::create(builder, x, arguments[1]);
  }

  /// (x, max, out) to exp(x - max). A row of -inf takes 0 as its maximum, so that -inf - -inf is never formed.
  static Value takeExp(ImplicitLocOpBuilder &builder, ValueRange arguments) {
    Value max = arguments[1];
    auto wide = cast<FloatType>(max.getType());
    Value dead = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, max, minusInfinity(builder, wide));
    Value shift = arith::SelectOp::create(builder, dead, zero(builder, wide), max);
    Value x = convertFloat(builder, arguments[0], wide);
    return math::ExpOp::create(builder, arith::SubFOp::create(builder, x, shift));
  }

  /// (exp, sum) to sum.
  static Value takeSum(ImplicitLocOpBuilder &builder, ValueRange arguments) {
    return arith::AddFOp::create(builder, arguments[1], arguments[0]);
  }

  /// (exp, sum, out) to exp / sum, 0 in a row of -inf: no other row has sum 0, since exp(max - max) is 1.
  static Value divide(ImplicitLocOpBuilder &builder, ValueRange arguments) {
    Value sum = arguments[1], none = zero(builder, cast<FloatType>(sum.getType()));
    Value dead = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, sum, none);
    Value quotient = arith::DivFOp::create(builder, arguments[0], sum);
    Value weight = arith::SelectOp::create(builder, dead, none, quotient);
    return convertFloat(builder, weight, arguments[2].getType());
  }
};

} // namespace

void attn::populateAttnToLinalgPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerMatmul, LowerMask, LowerSoftmax>(patterns.getContext());
}

/// The pass's precondition, with what to do where it does not hold.
static LogicalResult verifyPrecondition(Operation *root) {
  WalkResult result = root->walk([](Operation *op) -> WalkResult {
    if (!isa<MatmulOp, MaskOp, SoftmaxOp>(op))
      return WalkResult::advance();
    if (op->getNumResults() == 0)
      return op->emitOpError("expects tensors, but got memrefs; run convert-attn-to-linalg before bufferization");
    if (auto mask = dyn_cast<MaskOp>(op); mask && mask.getMasks())
      return op->emitOpError("expects no named masks; run attn-expand-named before convert-attn-to-linalg");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {

struct ConvertAttnToLinalg : attn::impl::ConvertAttnToLinalgPassBase<ConvertAttnToLinalg> {
  void runOnOperation() override {
    if (failed(verifyPrecondition(getOperation())))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    populateAttnToLinalgPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
