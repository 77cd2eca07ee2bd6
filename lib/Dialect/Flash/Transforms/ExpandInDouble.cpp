//===- ExpandInDouble.cpp - f32 vector functions by way of f64 ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where reducing the argument in f32 loses digits.
//
// sin, cos: x = k pi/2 + r with |r| <= pi/4, in f64, where one fused multiply-add leaves r exact to 2^-53; then the
// Taylor polynomials of sine and cosine on that interval, whose remainder is below 2^-40; k mod 4 chooses between them.
//
// exp2: x = n + f with |f| <= 1/2, which is exact; then the Taylor polynomial of 2^f, whose remainder is below 2^-27.
// The power of n fits f64 with room to spare, and rounding to f32 makes of it what it should be beyond f32's range.
//
//===----------------------------------------------------------------------===//

#include "ExpandPatterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

static Value splat(ImplicitLocOpBuilder &b, VectorType type, double value) {
  Attribute element = b.getFloatAttr(type.getElementType(), value);
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, element));
}

static Value splatInteger(ImplicitLocOpBuilder &b, VectorType type, int64_t value) {
  Attribute element = b.getIntegerAttr(type.getElementType(), value);
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, element));
}

/// sum of coefficients[n] * x^n, highest first.
static Value polynomial(ImplicitLocOpBuilder &b, Value x, ArrayRef<double> coefficients) {
  auto type = cast<VectorType>(x.getType());
  Value sum = splat(b, type, coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = vector::FMAOp::create(b, sum, x, splat(b, type, coefficient));
  return sum;
}

/// 2^x; what lies beyond +-200 becomes 0 and infinity, NaN stays.
static Value exp2InDouble(ImplicitLocOpBuilder &b, Value x) {
  auto single = cast<VectorType>(x.getType());
  auto type = VectorType::get(single.getShape(), b.getF64Type());
  auto bits = VectorType::get(single.getShape(), b.getI64Type());
  auto clamp = [&](Value value, arith::CmpFPredicate predicate, double limit) -> Value {
    Value constant = splat(b, type, limit);
    return arith::SelectOp::create(b, arith::CmpFOp::create(b, predicate, constant, value), constant, value);
  };
  Value wide = arith::ExtFOp::create(b, type, x);
  wide = clamp(clamp(wide, arith::CmpFPredicate::OGT, -200), arith::CmpFPredicate::OLT, 200);
  // Adding the magic number rounds to an integer and leaves it, with the exponent bias, in the low bits.
  Value magic = splat(b, type, 6755399441055744.0 + 1023);
  Value shifted = arith::AddFOp::create(b, wide, magic);
  Value fraction = arith::SubFOp::create(b, wide, arith::SubFOp::create(b, shifted, magic));
  static const double powers[] = {
      1.5252733804059838e-05, 0.00015403530393381606, 0.0013333558146428441, 0.009618129107628477,
      0.055504108664821576,   0.2402265069591007,     0.6931471805599453,    1.0};
  Value power = arith::ShLIOp::create(b, vector::BitCastOp::create(b, bits, shifted), splatInteger(b, bits, 52));
  Value value = arith::MulFOp::create(b, polynomial(b, fraction, powers), vector::BitCastOp::create(b, type, power));
  return arith::TruncFOp::create(b, single, value);
}

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
  auto type = VectorType::get(single.getShape(), b.getF64Type());
  auto bits = VectorType::get(single.getShape(), b.getI64Type());
  constexpr double twoOverPi = 0.63661977236758134308, halfPi = 1.57079632679489661923;
  constexpr double halfPiRest = 6.123233995736766e-17, magic = 6755399441055744.0;
  Value wide = arith::ExtFOp::create(b, type, x);
  // Adding the magic number rounds to an integer and leaves it in the low bits.
  Value shifted = vector::FMAOp::create(b, wide, splat(b, type, twoOverPi), splat(b, type, magic));
  Value k = arith::SubFOp::create(b, shifted, splat(b, type, magic));
  Value minusK = arith::NegFOp::create(b, k);
  Value r = vector::FMAOp::create(b, minusK, splat(b, type, halfPi), wide);
  r = vector::FMAOp::create(b, minusK, splat(b, type, halfPiRest), r);
  Value quarter =
      arith::AddIOp::create(b, vector::BitCastOp::create(b, bits, shifted), splatInteger(b, bits, quarterTurns));
  return arith::TruncFOp::create(b, single, evaluateQuarter(b, r, quarter));
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

namespace {

bool isSingleVector(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() == 1 && !vector.isScalable() && vector.getElementType().isF32();
}

struct ExpandExp2 : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::Exp2Op op, PatternRewriter &rewriter) const override {
    if (!isSingleVector(op.getType()))
      return rewriter.notifyMatchFailure(op, "not a vector of f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, exp2InDouble(b, op.getOperand()));
    return success();
  }
};

template <typename OpTy, int64_t quarterTurns> struct ExpandTrigonometric : OpRewritePattern<OpTy> {
  ExpandTrigonometric(MLIRContext *context, bool onDevice, PatternBenefit benefit)
      : OpRewritePattern<OpTy>(context, benefit), onDevice(onDevice) {}

  /// One scalar call for each lane: libm, as all scalar math, where there is one.
  Value callPerLane(ImplicitLocOpBuilder &b, Value x) const {
    auto type = cast<VectorType>(x.getType());
    auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(b, value); };
    auto loop = scf::ForOp::create(b, index(0), index(type.getDimSize(0)), index(1), x,
                                   [&](OpBuilder &nested, Location loc, Value lane, ValueRange carried) {
                                     ImplicitLocOpBuilder b(loc, nested);
                                     Value scalar = vector::ExtractOp::create(b, x, OpFoldResult(lane));
                                     Value value = onDevice ? evaluateLarge(b, scalar, quarterTurns)
                                                            : Value(OpTy::create(b, scalar));
                                     Value next = vector::InsertOp::create(b, value, carried[0], OpFoldResult(lane));
                                     scf::YieldOp::create(b, next);
                                   });
    return loop.getResult(0);
  }

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (!isSingleVector(op.getType()))
      return rewriter.notifyMatchFailure(op, "not a vector of f32");
    auto type = cast<VectorType>(op.getType());
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value x = op.getOperand();
    Value isLarge =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, math::AbsFOp::create(b, x), splat(b, type, 0x1p30));
    Value anyLarge = vector::ReductionOp::create(b, vector::CombiningKind::OR, isLarge);
    auto choice = scf::IfOp::create(
        b, anyLarge,
        [&](OpBuilder &nested, Location loc) {
          ImplicitLocOpBuilder b(loc, nested);
          scf::YieldOp::create(b, callPerLane(b, x));
        },
        [&](OpBuilder &nested, Location loc) {
          ImplicitLocOpBuilder b(loc, nested);
          scf::YieldOp::create(b, reduceAndEvaluate(b, x, quarterTurns));
        });
    rewriter.replaceOp(op, choice);
    return success();
  }

  bool onDevice;
};

} // namespace

void attn::flash::populateDoublePatterns(RewritePatternSet &patterns, bool onDevice) {
  patterns.add<ExpandExp2>(patterns.getContext(), /*benefit=*/2);
  patterns.add<ExpandTrigonometric<math::SinOp, 0>, ExpandTrigonometric<math::CosOp, 1>>(patterns.getContext(),
                                                                                         onDevice, /*benefit=*/2);
}
