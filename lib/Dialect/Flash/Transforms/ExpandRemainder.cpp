//===- ExpandRemainder.cpp - exact remainders where there is no libm ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVPTX computes x - trunc(x / y) y in f32, which is nothing like the remainder once the quotient leaves 24 bits. In
// f64 the same is exact for quotients below 2^28: x and y have 24 bits, so that x / y, unless it is an integer, is
// further from one than its rounding error. Beyond, lane by lane, in integers: x = m 2^a, y = n 2^c, and (m mod n) is
// shifted and reduced until a = c.
//
//===----------------------------------------------------------------------===//

#include "DoubleMath.h"
#include "ExpandPatterns.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn::flash;
using arith::CmpFPredicate;
using math64::compare, math64::narrow, math64::splat, math64::widen;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Quotients from here on are large.
static constexpr double kLarge = 0x1p28;

/// |x| as mantissa and exponent: an i64 below 2^24 and an i64 from 0 to 253; |x| = mantissa 2^(exponent - 149).
static std::pair<Value, Value> split(ImplicitLocOpBuilder &b, Value x) {
  Type type = b.getI64Type();
  auto number = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(b, type, value); };
  Value bits = arith::ExtUIOp::create(b, type, arith::BitcastOp::create(b, b.getI32Type(), x));
  Value exponent = arith::AndIOp::create(b, arith::ShRUIOp::create(b, bits, number(23)), number(255));
  Value mantissa = arith::AndIOp::create(b, bits, number(0x7FFFFF));
  Value isDenormal = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, exponent, number(0));
  mantissa = arith::SelectOp::create(b, isDenormal, mantissa, arith::OrIOp::create(b, mantissa, number(0x800000)));
  exponent = arith::SelectOp::create(b, isDenormal, exponent, arith::SubIOp::create(b, exponent, number(1)));
  return {mantissa, exponent};
}

/// |x| mod |y| of finite scalars of f32 with a large quotient.
static Value remainderOfLarge(ImplicitLocOpBuilder &b, Value x, Value y) {
  Type type = b.getI64Type();
  auto number = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(b, type, value); };
  auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(b, value); };
  auto [m, a] = split(b, x);
  Value divisor, c;
  std::tie(divisor, c) = split(b, y);
  // A remainder of 24 bits moved by 40 fits 64; 7 such moves are more than the exponents' range.
  auto move = [&](OpBuilder &nested, Location loc, Value, ValueRange carried) {
    ImplicitLocOpBuilder b(loc, nested);
    Value step = arith::MinSIOp::create(b, carried[1], number(40));
    Value moved = arith::ShLIOp::create(b, carried[0], step);
    scf::YieldOp::create(
        b, ValueRange{arith::RemUIOp::create(b, moved, divisor), arith::SubIOp::create(b, carried[1], step)});
  };
  Value start = arith::RemUIOp::create(b, m, divisor), distance = arith::SubIOp::create(b, a, c);
  auto loop = scf::ForOp::create(b, index(0), index(7), index(1), ValueRange{start, distance}, move);
  // 2^(c - 149) is a normal number of f64.
  Value power = arith::ShLIOp::create(b, arith::AddIOp::create(b, c, number(1023 - 149)), number(52));
  Value unit = arith::BitcastOp::create(b, b.getF64Type(), power);
  Value value = arith::MulFOp::create(b, arith::UIToFPOp::create(b, b.getF64Type(), loop.getResult(0)), unit);
  return arith::TruncFOp::create(b, b.getF32Type(), value);
}

static Value remainder(ImplicitLocOpBuilder &b, Value x, Value y) {
  Value top = math::AbsFOp::create(b, widen(b, x)), bottom = math::AbsFOp::create(b, widen(b, y));
  // A number stands for infinity, larger than any of f32, so that the quotient's product with it is 0.
  auto type = cast<VectorType>(top.getType());
  bottom =
      arith::SelectOp::create(b, compare(b, CmpFPredicate::OEQ, bottom, kInfinity), splat(b, type, 0x1p200), bottom);
  Value quotient = arith::DivFOp::create(b, top, bottom);
  Value whole = arith::NegFOp::create(b, math::TruncOp::create(b, quotient));
  Value near = narrow(b, vector::FMAOp::create(b, whole, bottom, top));
  // Not where x is infinite or y is 0: NaN is right.
  Value isLarge = arith::AndIOp::create(b, compare(b, CmpFPredicate::OGE, quotient, kLarge),
                                        compare(b, CmpFPredicate::OLT, quotient, kInfinity));
  Value value = math64::replaceLanes(b, near, isLarge, [&](ImplicitLocOpBuilder &b, Value lane) {
    auto ofLane = [&](Value vector) -> Value { return vector::ExtractOp::create(b, vector, OpFoldResult(lane)); };
    return remainderOfLarge(b, ofLane(x), ofLane(y));
  });
  return math::CopySignOp::create(b, value, x);
}

namespace {

/// arith.remf on vectors of f32, and of 16-bit types by way of f32, whose remainder they hold exactly.
struct ExpandRemainder : OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::RemFOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() != 1 || type.isScalable() || type.getElementTypeBitWidth() > 32)
      return rewriter.notifyMatchFailure(op, "not a vector of f32 or a narrower type");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (isSingleVector(type)) {
      rewriter.replaceOp(op, remainder(b, op.getLhs(), op.getRhs()));
      return success();
    }
    auto single = math64::withElement(type, b.getF32Type());
    Value value =
        remainder(b, arith::ExtFOp::create(b, single, op.getLhs()), arith::ExtFOp::create(b, single, op.getRhs()));
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, value);
    return success();
  }
};

} // namespace

void attn::flash::populateRemainderPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandRemainder>(patterns.getContext());
}
