//===- ExpandInDouble.cpp - f32 vector functions by way of f64 ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where f32 loses digits, or upstream's expansion is wrong for zeros, infinities, denormals or negative numbers.
//
// sin, cos: x = k pi/2 + r with |r| <= pi/4, in f64, where one fused multiply-add leaves r exact to 2^-53; then the
// Taylor polynomials of sine and cosine on that interval, whose remainder is below 2^-40; k mod 4 chooses between them.
//
// The others are functions of f64 (DoubleMath.h), rounded.
//
//===----------------------------------------------------------------------===//

#include "DoubleMath.h"
#include "ExpandPatterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace attn::flash;

using math64::compare, math64::hasSign, math64::narrow, math64::polynomial, math64::splat, math64::splatInteger,
    math64::widen;

/// sin(quarter pi/2 + r) for |r| <= pi/4, vectors of f64 and i64.
static Value evaluateQuarter(ImplicitLocOpBuilder &b, Value r, Value quarter) {
  auto bits = cast<VectorType>(quarter.getType());
  Value square = arith::MulFOp::create(b, r, r);
  static const double sines[] = {1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040,
                                 1.0 / 120,        -1.0 / 6,        1.0};
  static const double cosines[] = {1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -0.5, 1.0};
  Value sine = arith::MulFOp::create(b, r, polynomial(b, square, sines));
  Value cosine = polynomial(b, square, cosines);
  auto hasBit = [&](int64_t bit) -> Value {
    Value masked = arith::AndIOp::create(b, quarter, splatInteger(b, bits, bit));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, masked, splatInteger(b, bits, 0));
  };
  Value value = arith::SelectOp::create(b, hasBit(1), cosine, sine);
  return arith::SelectOp::create(b, hasBit(2), arith::NegFOp::create(b, value), value);
}

/// sin(x + quarterTurns pi/2) for |x| < 2^30.
static Value reduceAndEvaluate(ImplicitLocOpBuilder &b, Value x, int64_t quarterTurns) {
  auto single = cast<VectorType>(x.getType());
  auto type = math64::withElement(single, b.getF64Type()), bits = math64::withElement(single, b.getI64Type());
  constexpr double twoOverPi = 0.63661977236758134308, halfPi = 1.57079632679489661923;
  constexpr double halfPiRest = 6.123233995736766e-17, magic = 6755399441055744.0;
  Value wide = widen(b, x);
  // Adding the magic number rounds to an integer and leaves it in the low bits.
  Value shifted = vector::FMAOp::create(b, wide, splat(b, type, twoOverPi), splat(b, type, magic));
  Value k = arith::SubFOp::create(b, shifted, splat(b, type, magic));
  Value minusK = arith::NegFOp::create(b, k);
  Value r = vector::FMAOp::create(b, minusK, splat(b, type, halfPi), wide);
  r = vector::FMAOp::create(b, minusK, splat(b, type, halfPiRest), r);
  Value quarter =
      arith::AddIOp::create(b, vector::BitCastOp::create(b, bits, shifted), splatInteger(b, bits, quarterTurns));
  return narrow(b, evaluateQuarter(b, r, quarter));
}

/// sin(x + quarterTurns pi/2) for a scalar |x| >= 2^30, where there is no libm. x = m 2^s with an integer m of 24 bits
/// and s from 7 to 104; x 2/pi modulo 4 has 2 bits before the point and 126 behind it, of which m loses 24 (Payne and
/// Hanek, Radian reduction for trigonometric functions, 1983). Infinities and NaN give NaN.
static Value evaluateLarge(ImplicitLocOpBuilder &b, Value x, int64_t quarterTurns) {
  auto wideType = b.getIntegerType(256), type = b.getIntegerType(128);
  auto number = [&](Type type, uint64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, APInt(type.getIntOrFloatBitWidth(), value)));
  };
  // floor(2/pi * 2^232).
  const APInt twoOverPi(256, "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abde", 16);
  Value bits = arith::BitcastOp::create(b, b.getI32Type(), x);
  Value exponent = arith::AndIOp::create(b, arith::ShRUIOp::create(b, bits, number(b.getI32Type(), 23)),
                                         number(b.getI32Type(), 255));
  Value mantissa = arith::OrIOp::create(b, arith::AndIOp::create(b, bits, number(b.getI32Type(), 0x7fffff)),
                                        number(b.getI32Type(), 0x800000));
  // 150 is the exponent of a mantissa that counts ones. Two bits are kept before the point.
  Value shift = arith::SubIOp::create(b, exponent, number(b.getI32Type(), 150));
  Value moved = arith::ShLIOp::create(b, Value(arith::ConstantOp::create(b, b.getIntegerAttr(wideType, twoOverPi))),
                                      arith::ExtUIOp::create(b, wideType, shift));
  Value window = arith::TruncIOp::create(b, type, arith::ShRUIOp::create(b, moved, number(wideType, 232 + 2 - 128)));
  Value product = arith::MulIOp::create(b, window, arith::ExtUIOp::create(b, type, mantissa));
  // The upper half tells the turn and its fraction, which is taken from the nearest quarter: signed, in 2^-62.
  Value upper = arith::TruncIOp::create(b, b.getI64Type(), arith::ShRUIOp::create(b, product, number(type, 64)));
  Value rounded = arith::AddIOp::create(b, upper, number(b.getI64Type(), uint64_t(1) << 61));
  Value quarter = arith::ShRUIOp::create(b, rounded, number(b.getI64Type(), 62));
  Value fraction = arith::SubIOp::create(b, upper, arith::ShLIOp::create(b, quarter, number(b.getI64Type(), 62)));
  Value r =
      arith::MulFOp::create(b, arith::SIToFPOp::create(b, b.getF64Type(), fraction),
                            Value(arith::ConstantOp::create(b, b.getF64FloatAttr(0x1p-62 * 1.57079632679489661923))));
  // -x is -r in -quarter.
  Value isNegative = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, bits, number(b.getI32Type(), 0));
  r = arith::SelectOp::create(b, isNegative, arith::NegFOp::create(b, r), r);
  Value negated = arith::SubIOp::create(b, number(b.getI64Type(), 0), quarter);
  quarter = arith::AddIOp::create(b, arith::SelectOp::create(b, isNegative, negated, quarter),
                                  number(b.getI64Type(), quarterTurns));
  auto lane = [&](Value value) { return vector::BroadcastOp::create(b, VectorType::get({1}, value.getType()), value); };
  Value value = vector::ExtractOp::create(b, evaluateQuarter(b, lane(r), lane(quarter)), 0);
  Value notFinite = arith::SubFOp::create(b, x, x);
  return arith::AddFOp::create(b, arith::TruncFOp::create(b, b.getF32Type(), value), notFinite);
}

bool attn::flash::isSingleVector(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() == 1 && !vector.isScalable() && vector.getElementType().isF32();
}

namespace {

/// A function of one vector of f32.
template <typename OpTy, Value (*function)(ImplicitLocOpBuilder &, Value)> struct ExpandUnary : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (!isSingleVector(op.getType()))
      return rewriter.notifyMatchFailure(op, "not a vector of f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, narrow(b, function(b, widen(b, op.getOperand()))));
    return success();
  }
};

/// A function of two.
template <typename OpTy, Value (*function)(ImplicitLocOpBuilder &, Value, Value)>
struct ExpandBinary : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (!isSingleVector(op.getType()))
      return rewriter.notifyMatchFailure(op, "not a vector of f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, narrow(b, function(b, widen(b, op.getLhs()), widen(b, op.getRhs()))));
    return success();
  }
};

/// x^n of a vector of f32 by one of integers.
struct ExpandPowerByInteger : OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FPowIOp op, PatternRewriter &rewriter) const override {
    if (!isSingleVector(op.getType()))
      return rewriter.notifyMatchFailure(op, "not a vector of f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value x = widen(b, op.getLhs()), n = op.getRhs();
    auto type = cast<VectorType>(n.getType());
    Value isEven = arith::CmpIOp::create(
        b, arith::CmpIPredicate::eq, arith::AndIOp::create(b, n, splatInteger(b, type, 1)), splatInteger(b, type, 0));
    Value plus = arith::ConstantOp::create(b, b.getZeroAttr(isEven.getType()));
    Value isNegative = arith::SelectOp::create(b, isEven, plus, hasSign(b, x));
    Value y = arith::SIToFPOp::create(b, x.getType(), n);
    rewriter.replaceOp(op, narrow(b, math64::power(b, x, y, isNegative)));
    return success();
  }
};

template <typename OpTy, int64_t quarterTurns> struct ExpandTrigonometric : OpRewritePattern<OpTy> {
  ExpandTrigonometric(MLIRContext *context, bool onDevice, PatternBenefit benefit)
      : OpRewritePattern<OpTy>(context, benefit), onDevice(onDevice) {}

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (!isSingleVector(op.getType()))
      return rewriter.notifyMatchFailure(op, "not a vector of f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value x = op.getOperand(), near = reduceAndEvaluate(b, x, quarterTurns);
    Value isLarge = compare(b, arith::CmpFPredicate::OGE, math::AbsFOp::create(b, x), 0x1p30);
    // By libm, as all scalar math, where there is one.
    rewriter.replaceOp(op, math64::replaceLanes(b, near, isLarge, [&](ImplicitLocOpBuilder &b, Value lane) {
                         Value scalar = vector::ExtractOp::create(b, x, OpFoldResult(lane));
                         return onDevice ? evaluateLarge(b, scalar, quarterTurns) : Value(OpTy::create(b, scalar));
                       }));
    return success();
  }

  bool onDevice;
};

} // namespace

void attn::flash::populateDoublePatterns(RewritePatternSet &patterns, bool onDevice) {
  MLIRContext *context = patterns.getContext();
  constexpr unsigned overUpstream = 2;
  patterns.add<ExpandTrigonometric<math::SinOp, 0>, ExpandTrigonometric<math::CosOp, 1>>(context, onDevice,
                                                                                         overUpstream);
  patterns.add<ExpandUnary<math::Exp2Op, math64::exp2>, ExpandUnary<math::AtanOp, math64::atan>,
               ExpandBinary<math::Atan2Op, math64::atan2>>(context, overUpstream);
  // A CPU has libm for these.
  if (onDevice)
    patterns
        .add<ExpandUnary<math::AsinhOp, math64::asinh>, ExpandUnary<math::AcoshOp, math64::acosh>,
             ExpandUnary<math::AtanhOp, math64::atanh>, ExpandUnary<math::SinhOp, math64::sinh>,
             ExpandUnary<math::CoshOp, math64::cosh>, ExpandBinary<math::PowFOp, math64::pow>, ExpandPowerByInteger>(
            context, overUpstream);
}
