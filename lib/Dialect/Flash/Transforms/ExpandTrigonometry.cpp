//===- ExpandTrigonometry.cpp - sin and cos of f32 vectors --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// x = k pi/2 + r with |r| <= pi/4, in f64, where one fused multiply-add leaves r exact to 2^-53; then the Taylor
// polynomials of sine and cosine on that interval, whose remainder is below 2^-40; k mod 4 chooses between them.
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
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() != 1 || type.isScalable() || !type.getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "not a vector of f32");
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

void attn::flash::populateTrigonometryPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandTrigonometric<math::SinOp, 0>, ExpandTrigonometric<math::CosOp, 1>>(patterns.getContext(),
                                                                                         /*benefit=*/2);
}
