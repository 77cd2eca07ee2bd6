//===- ExpandInSingle.cpp - exponential and logarithms on vectors of f32 ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's take every denormal for the smallest normal number, as argument and as result. These cost as much.
//
// exp: x = n ln2 + r with |r| <= ln2/2 (Cody and Waite), 1 + r + r^2 p(r) by Remez exchange (relative error 3.3e-9),
// and two factors that are 2^n together, so that the second product alone rounds a denormal.
//
// log, log2: x = 2^k (1 + f) with 1 + f from sqrt(1/2) to sqrt(2); ln(1 + f) = f - f^2/2 + f^3 p(f) with the polynomial
// of Cephes' logf.
//
//===----------------------------------------------------------------------===//

#include "DoubleMath.h"
#include "ExpandPatterns.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn::flash;
using arith::CmpFPredicate;
using math64::compare, math64::polynomial, math64::splat, math64::splatInteger, math64::withElement;

static Value multiplyAdd(ImplicitLocOpBuilder &b, Value x, double factor, Value sum) {
  return vector::FMAOp::create(b, x, splat(b, cast<VectorType>(x.getType()), factor), sum);
}

/// 2^n of a vector of i32 from -126 to 127.
static Value powerOfTwo(ImplicitLocOpBuilder &b, VectorType type, Value n) {
  auto bits = cast<VectorType>(n.getType());
  Value biased = arith::AddIOp::create(b, n, splatInteger(b, bits, 127));
  Value shifted = arith::ShLIOp::create(b, biased, splatInteger(b, bits, 23));
  return vector::BitCastOp::create(b, type, shifted);
}

static Value expand(math::ExpOp op, ImplicitLocOpBuilder &b) {
  auto type = cast<VectorType>(op.getType());
  auto bits = withElement(type, b.getI32Type());
  auto clamp = [&](Value value, CmpFPredicate predicate, double limit) -> Value {
    // The constant comes first, so that NaN stays.
    Value constant = splat(b, type, limit);
    return arith::SelectOp::create(b, arith::CmpFOp::create(b, predicate, constant, value), constant, value);
  };
  // Beyond, the results are 0 and infinity.
  Value x = clamp(clamp(op.getOperand(), CmpFPredicate::OGT, -104), CmpFPredicate::OLT, 89);
  constexpr double magic = 0x1.8p23;
  Value shifted = multiplyAdd(b, x, 1.44269504088896340736, splat(b, type, magic));
  Value n = arith::SubFOp::create(b, shifted, splat(b, type, magic));
  Value r = multiplyAdd(b, n, -0x1.62e43p-1, x);
  r = multiplyAdd(b, n, 0x1.05c610ca86c39p-29, r);
  static const double coefficients[] = {0x1.6a1a6cp-10, 0x1.123fc6p-7, 0x1.555916p-5, 0x1.55548ap-3, 0x1.fffffcp-2};
  Value square = arith::MulFOp::create(b, r, r);
  Value value = vector::FMAOp::create(b, polynomial(b, r, coefficients), square, r);
  value = arith::AddFOp::create(b, value, splat(b, type, 1));
  Value exponent = arith::SubIOp::create(b, vector::BitCastOp::create(b, bits, shifted),
                                         splatInteger(b, bits, llvm::bit_cast<int32_t>(static_cast<float>(magic))));
  Value half = arith::ShRSIOp::create(b, exponent, splatInteger(b, bits, 1));
  value = arith::MulFOp::create(b, value, powerOfTwo(b, type, half));
  return arith::MulFOp::create(b, value, powerOfTwo(b, type, arith::SubIOp::create(b, exponent, half)));
}

/// Both logarithms of a vector: the natural one, or that in base 2.
static Value expandLogarithm(ImplicitLocOpBuilder &b, Value x, bool inBaseTwo) {
  auto type = cast<VectorType>(x.getType());
  auto bitsType = withElement(type, b.getI32Type());
  auto number = [&](double value) { return splat(b, type, value); };
  Value isSmall = compare(b, CmpFPredicate::OLT, x, 0x1p-126);
  Value normal = arith::SelectOp::create(b, isSmall, arith::MulFOp::create(b, x, number(0x1p32)), x);
  Value bits = vector::BitCastOp::create(b, bitsType, normal);
  // The bits of sqrt(1/2): what lies between it and twice it has k = 0.
  Value k = arith::ShRSIOp::create(b, arith::SubIOp::create(b, bits, splatInteger(b, bitsType, 0x3F3504F3)),
                                   splatInteger(b, bitsType, 23));
  Value scale = arith::ShLIOp::create(b, k, splatInteger(b, bitsType, 23));
  Value m = vector::BitCastOp::create(b, type, Value(arith::SubIOp::create(b, bits, scale)));
  Value f = arith::SubFOp::create(b, m, number(1)), square = arith::MulFOp::create(b, f, f);
  Value exponent = arith::SIToFPOp::create(b, type, k);
  exponent = arith::SubFOp::create(b, exponent, arith::SelectOp::create(b, isSmall, number(32), number(0)));
  static const double coefficients[] = {7.0376836292e-2,  -1.1514610310e-1, 1.1676998740e-1,
                                        -1.2420140846e-1, 1.4249322787e-1,  -1.6668057665e-1,
                                        2.0000714765e-1,  -2.4999993993e-1, 3.3333331174e-1};
  Value rest = arith::MulFOp::create(b, arith::MulFOp::create(b, polynomial(b, f, coefficients), f), square);
  Value value;
  if (inBaseTwo) {
    // log2(e) in two parts, and what the sum loses: next to 1 the result is as small as they are.
    constexpr double log2E = 0x1.715476p+0, log2ERest = 0x1.4ae0cp-26;
    Value correction = multiplyAdd(b, square, -0.5, rest), natural = arith::AddFOp::create(b, f, correction);
    Value lost = arith::AddFOp::create(b, arith::SubFOp::create(b, f, natural), correction);
    Value small = multiplyAdd(b, lost, log2E, arith::MulFOp::create(b, natural, number(log2ERest)));
    value = multiplyAdd(b, natural, log2E, arith::AddFOp::create(b, exponent, small));
  } else {
    // ln2 in two parts, of which the first times any exponent is exact.
    rest = multiplyAdd(b, exponent, -2.12194440e-4, rest);
    value = arith::AddFOp::create(b, f, multiplyAdd(b, square, -0.5, rest));
    value = multiplyAdd(b, exponent, 0.693359375, value);
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value isPositive = compare(b, CmpFPredicate::OGT, x, 0);
  Value otherwise = arith::SelectOp::create(b, isPositive, x, number(std::numeric_limits<double>::quiet_NaN()));
  otherwise = arith::SelectOp::create(b, compare(b, CmpFPredicate::OEQ, x, 0), number(-infinity), otherwise);
  Value isOrdinary = arith::AndIOp::create(b, isPositive, compare(b, CmpFPredicate::OLT, x, infinity));
  return arith::SelectOp::create(b, isOrdinary, value, otherwise);
}

static Value expand(math::LogOp op, ImplicitLocOpBuilder &b) {
  return expandLogarithm(b, op.getOperand(), /*inBaseTwo=*/false);
}
static Value expand(math::Log2Op op, ImplicitLocOpBuilder &b) {
  return expandLogarithm(b, op.getOperand(), /*inBaseTwo=*/true);
}

namespace {

template <typename OpTy> struct ExpandSingle : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (!isSingleVector(op.getType()))
      return rewriter.notifyMatchFailure(op, "not a vector of f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, expand(op, b));
    return success();
  }
};

} // namespace

void attn::flash::populateSinglePatterns(RewritePatternSet &patterns) {
  constexpr unsigned overUpstream = 2;
  patterns.add<ExpandSingle<math::ExpOp>, ExpandSingle<math::LogOp>, ExpandSingle<math::Log2Op>>(patterns.getContext(),
                                                                                                 overUpstream);
}
