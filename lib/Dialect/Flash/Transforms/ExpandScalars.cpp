//===- ExpandScalars.cpp - ops that LLVM has no instruction for ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalars and vectors alike. What is left out upstream, or becomes a call of a function that neither libm nor every
// libgcc has (__truncsfbf2, __truncdfbf2).
//
//===----------------------------------------------------------------------===//

#include "ExpandPatterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

/// The same type, or a vector of the same shape, of another element.
static Type withElement(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(VectorType::get(vector.getShape(), element, vector.getScalableDims())) : element;
}

static Value constant(ImplicitLocOpBuilder &b, Type type, TypedAttr scalar) {
  auto vector = dyn_cast<VectorType>(type);
  return arith::ConstantOp::create(b, vector ? TypedAttr(DenseElementsAttr::get(vector, Attribute(scalar))) : scalar);
}

static Value integer(ImplicitLocOpBuilder &b, Type type, int64_t value) {
  return constant(b, type, b.getIntegerAttr(getElementTypeOrSelf(type), value));
}

static Value real(ImplicitLocOpBuilder &b, Type type, const APFloat &value) {
  return constant(b, type, b.getFloatAttr(getElementTypeOrSelf(type), value));
}

static const llvm::fltSemantics &semanticsOf(Type type) {
  return cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics();
}

namespace {

/// |x| = infinity.
struct ExpandIsInf : OpRewritePattern<math::IsInfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::IsInfOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value x = math::AbsFOp::create(b, op.getOperand());
    Value infinity = real(b, x.getType(), APFloat::getInf(semanticsOf(x.getType())));
    rewriter.replaceOpWithNewOp<arith::CmpFOp>(op, arith::CmpFPredicate::OEQ, x, infinity);
    return success();
  }
};

/// x^n for a small constant n, by products in f64, whose rounding does not reach 32 bits. A product that leaves f64 has
/// left f32 long before. f64 itself: up to a cube, 1 ulp.
struct ExpandConstantPower : OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FPowIOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type type = op.getType(), wide = withElement(type, b.getF64Type());
    int64_t least = type == wide ? 0 : -64, most = type == wide ? 3 : 64;
    APInt constant;
    if (!matchPattern(op.getRhs(), m_ConstantInt(&constant)) || constant.slt(least) || constant.sgt(most))
      return rewriter.notifyMatchFailure(op, "not a small constant exponent");
    Value result = real(b, wide, APFloat(1.0));
    Value square = type == wide ? op.getLhs() : Value(arith::ExtFOp::create(b, wide, op.getLhs()));
    for (uint64_t n = constant.abs().getZExtValue(); n; n /= 2) {
      if (n % 2)
        result = arith::MulFOp::create(b, result, square);
      if (n > 1)
        square = arith::MulFOp::create(b, square, square);
    }
    if (constant.isNegative())
      result = arith::DivFOp::create(b, real(b, wide, APFloat(1.0)), result);
    rewriter.replaceOp(op, type == wide ? result : Value(arith::TruncFOp::create(b, type, result)));
    return success();
  }
};

/// x^n by pow in f64: LLVM has no powers of vectors by vectors, nor by integers of 64 bits. Up to 53 bits f64 holds n;
/// beyond, n is rounded, but for its lowest bit, which tells the sign.
struct ExpandFPowI : OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FPowIOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type type = op.getType(), wide = withElement(type, b.getF64Type());
    Value base = op.getLhs(), n = op.getRhs();
    if (type != wide)
      base = arith::ExtFOp::create(b, wide, base);
    bool isRounded = getElementTypeOrSelf(n.getType()).getIntOrFloatBitWidth() > 53;
    Value size = isRounded ? Value(math::AbsFOp::create(b, base)) : base;
    Value power = math::PowFOp::create(b, size, arith::SIToFPOp::create(b, wide, n));
    if (isRounded) {
      Value lowest = arith::TruncIOp::create(b, withElement(n.getType(), b.getI1Type()), n);
      Value ofBase = math::CopySignOp::create(b, power, base);
      power = arith::SelectOp::create(b, lowest, ofBase, power);
    }
    rewriter.replaceOp(op, type == wide ? power : Value(arith::TruncFOp::create(b, type, power)));
    return success();
  }
};

/// smallest normal <= |x| < infinity.
struct ExpandIsNormal : OpRewritePattern<math::IsNormalOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::IsNormalOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value x = math::AbsFOp::create(b, op.getOperand());
    const llvm::fltSemantics &semantics = semanticsOf(x.getType());
    Value smallest = real(b, x.getType(), APFloat::getSmallestNormalized(semantics));
    Value infinity = real(b, x.getType(), APFloat::getInf(semantics));
    Value isLarge = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, x, smallest);
    Value isFinite = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, infinity);
    rewriter.replaceOpWithNewOp<arith::AndIOp>(op, isLarge, isFinite);
    return success();
  }
};

/// The lower bound wins where the bounds are in the wrong order, NaN stays.
struct ExpandClamp : OpRewritePattern<math::ClampFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ClampFOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value below = arith::MinimumFOp::create(b, op.getValue(), op.getMax());
    rewriter.replaceOpWithNewOp<arith::MaximumFOp>(op, below, op.getMin());
    return success();
  }
};

/// Of 16-bit types in f32, where the product is exact.
struct ExpandNarrowFma : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FmaOp op, PatternRewriter &rewriter) const override {
    if (getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth() != 16)
      return rewriter.notifyMatchFailure(op, "not of a 16-bit type");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type wide = withElement(op.getType(), b.getF32Type());
    auto extend = [&](Value value) { return arith::ExtFOp::create(b, wide, value); };
    Value sum = math::FmaOp::create(b, extend(op.getA()), extend(op.getB()), extend(op.getC()));
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), sum);
    return success();
  }
};

/// f64 -> bf16 through f32, which is rounded to odd so that the second rounding is the only one that counts.
struct ExpandTruncToBF16 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    Value x = op.getIn();
    if (!getElementTypeOrSelf(x.getType()).isF64() || !getElementTypeOrSelf(op.getType()).isBF16())
      return rewriter.notifyMatchFailure(op, "not from f64 to bf16");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type single = withElement(x.getType(), b.getF32Type()), bitsType = withElement(x.getType(), b.getI32Type());
    Value nearest = arith::TruncFOp::create(b, single, x);
    Value back = arith::ExtFOp::create(b, x.getType(), nearest);
    Value isInexact = arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, back, x);
    Value isAbove =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, math::AbsFOp::create(b, back), math::AbsFOp::create(b, x));
    Value bits = arith::BitcastOp::create(b, bitsType, nearest), one = integer(b, bitsType, 1);
    bits = arith::SelectOp::create(b, isAbove, arith::SubIOp::create(b, bits, one), bits);
    bits = arith::SelectOp::create(b, isInexact, arith::OrIOp::create(b, bits, one), bits);
    Value odd = arith::BitcastOp::create(b, single, bits);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), odd);
    return success();
  }
};

/// Square and multiply over the bits of the exponent; with a negative one 1 and -1 alone have an integer power.
struct ExpandIntegerPower : OpRewritePattern<math::IPowIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::IPowIOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type type = op.getType(), element = getElementTypeOrSelf(type);
    Value base = op.getLhs(), exponent = op.getRhs();
    Value zero = integer(b, type, 0), one = integer(b, type, 1), minusOne = integer(b, type, -1);
    int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(b, value); };
    auto equal = [&](ImplicitLocOpBuilder &b, Value x, Value y) {
      return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
    };
    auto step = [&](OpBuilder &nested, Location loc, Value bit, ValueRange carried) {
      ImplicitLocOpBuilder b(loc, nested);
      Value isEven = equal(b, arith::AndIOp::create(b, carried[2], one), zero);
      Value factor = arith::SelectOp::create(b, isEven, one, carried[1]);
      scf::YieldOp::create(b, ValueRange{arith::MulIOp::create(b, carried[0], factor),
                                         arith::MulIOp::create(b, carried[1], carried[1]),
                                         bits == 1 ? zero : arith::ShRUIOp::create(b, carried[2], one).getResult()});
    };
    auto loop = scf::ForOp::create(b, index(0), index(bits), index(1), ValueRange{one, base, exponent}, step);
    Value isOdd = equal(b, arith::AndIOp::create(b, exponent, one), one);
    Value sign = arith::SelectOp::create(b, isOdd, base, one);
    Value isUnit = arith::OrIOp::create(b, equal(b, base, one), equal(b, base, minusOne));
    Value inverse = arith::SelectOp::create(b, isUnit, sign, zero);
    Value isNegative = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, exponent, zero);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isNegative, inverse, loop.getResult(0));
    return success();
  }
};

} // namespace

void attn::flash::populateConstantPowers(RewritePatternSet &patterns) {
  patterns.add<ExpandConstantPower>(patterns.getContext(), /*benefit=*/3);
}

void attn::flash::populateScalarExpansions(RewritePatternSet &patterns) {
  populateConstantPowers(patterns);
  patterns.add<ExpandFPowI, ExpandIsInf, ExpandIsNormal, ExpandClamp, ExpandNarrowFma, ExpandTruncToBF16,
               ExpandIntegerPower>(patterns.getContext());
}
