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
  Value square = arith::MulFOp::create(b, r, r);
  static const double sines[] = {1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040,
                                 1.0 / 120,        -1.0 / 6,        1.0};
  static const double cosines[] = {1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -0.5, 1.0};
  Value sine = arith::MulFOp::create(b, r, polynomial(b, square, sines));
  Value cosine = polynomial(b, square, cosines);
  Value quarter =
      arith::AddIOp::create(b, vector::BitCastOp::create(b, bits, shifted), splatInteger(b, bits, quarterTurns));
  auto hasBit = [&](int64_t bit) -> Value {
    Value masked = arith::AndIOp::create(b, quarter, splatInteger(b, bits, bit));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, masked, splatInteger(b, bits, 0));
  };
  Value value = arith::SelectOp::create(b, hasBit(1), cosine, sine);
  value = arith::SelectOp::create(b, hasBit(2), arith::NegFOp::create(b, value), value);
  return arith::TruncFOp::create(b, single, value);
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
  using OpRewritePattern<OpTy>::OpRewritePattern;

  /// One scalar call for each lane: libm, as all scalar math.
  static Value callPerLane(ImplicitLocOpBuilder &b, Value x) {
    auto type = cast<VectorType>(x.getType());
    auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(b, value); };
    auto loop = scf::ForOp::create(b, index(0), index(type.getDimSize(0)), index(1), x,
                                   [&](OpBuilder &nested, Location loc, Value lane, ValueRange carried) {
                                     ImplicitLocOpBuilder b(loc, nested);
                                     Value scalar = vector::ExtractOp::create(b, x, OpFoldResult(lane));
                                     Value value = OpTy::create(b, scalar);
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
};

} // namespace

void attn::flash::populateDoublePatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandExp2, ExpandTrigonometric<math::SinOp, 0>, ExpandTrigonometric<math::CosOp, 1>>(
      patterns.getContext(), /*benefit=*/2);
}
