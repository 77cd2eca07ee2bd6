//===- ExpandForDevice.cpp - math functions that libm serves on a CPU -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device has no libm: functions without a polynomial of their own become others that have one. f32, scalars and
// vectors; tests of classes in any type.
//
//===----------------------------------------------------------------------===//

#include "ExpandPatterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

static Value number(ImplicitLocOpBuilder &b, Type type, double value) {
  TypedAttr scalar = b.getFloatAttr(getElementTypeOrSelf(type), value);
  auto shaped = dyn_cast<ShapedType>(type);
  return arith::ConstantOp::create(b, shaped ? TypedAttr(DenseElementsAttr::get(shaped, Attribute(scalar))) : scalar);
}

static Value infinity(ImplicitLocOpBuilder &b, Type type) {
  return number(b, type, std::numeric_limits<double>::infinity());
}

static Value isNotANumber(ImplicitLocOpBuilder &b, math::IsNaNOp op) {
  return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, op.getOperand(), op.getOperand());
}

static Value isFinite(ImplicitLocOpBuilder &b, math::IsFiniteOp op) {
  Value size = math::AbsFOp::create(b, op.getOperand());
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, size, infinity(b, size.getType()));
}

static Value decadicLog(ImplicitLocOpBuilder &b, math::Log10Op op) {
  return arith::MulFOp::create(b, math::LogOp::create(b, op.getOperand()),
                               number(b, op.getType(), 0.43429448190325182765));
}

/// 2^(log2|x| / 3), better by one step of Newton's method, with the sign of x. 0, infinities and NaN are their own
/// roots.
static Value cubeRoot(ImplicitLocOpBuilder &b, math::CbrtOp op) {
  Value x = op.getOperand(), size = math::AbsFOp::create(b, x);
  Type type = x.getType();
  Value third = number(b, type, 1.0 / 3);
  Value y = math::Exp2Op::create(b, arith::MulFOp::create(b, math::Log2Op::create(b, size), third));
  // y - (y - x / y^2) / 3
  Value quotient = arith::DivFOp::create(b, size, arith::MulFOp::create(b, y, y));
  y = arith::SubFOp::create(b, y, arith::MulFOp::create(b, arith::SubFOp::create(b, y, quotient), third));
  Value isPositive = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, size, number(b, type, 0));
  Value isBelow = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, size, infinity(b, type));
  Value isOrdinary = arith::AndIOp::create(b, isPositive, isBelow);
  return arith::SelectOp::create(b, isOrdinary, math::CopySignOp::create(b, y, x), x);
}

namespace {

/// Replaces an op by what `build` makes of it.
template <typename OpTy> struct Expand : OpRewritePattern<OpTy> {
  Expand(MLIRContext *context, Value (*build)(ImplicitLocOpBuilder &, OpTy))
      : OpRewritePattern<OpTy>(context), build(build) {}

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, build(b, op));
    return success();
  }

  Value (*build)(ImplicitLocOpBuilder &, OpTy);
};

struct SplitSincos : OpRewritePattern<math::SincosOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::SincosOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value sine = math::SinOp::create(b, op.getOperand()), cosine = math::CosOp::create(b, op.getOperand());
    rewriter.replaceOp(op, {sine, cosine});
    return success();
  }
};

} // namespace

void attn::flash::populateDeviceExpansions(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  math::populateExpansionPatterns(patterns, {"tan", "rsqrt"});
  patterns.add<SplitSincos>(context);
  patterns.add<Expand<math::IsNaNOp>>(context, isNotANumber);
  patterns.add<Expand<math::IsFiniteOp>>(context, isFinite);
  patterns.add<Expand<math::Log10Op>>(context, decadicLog);
  patterns.add<Expand<math::CbrtOp>>(context, cubeRoot);
}
