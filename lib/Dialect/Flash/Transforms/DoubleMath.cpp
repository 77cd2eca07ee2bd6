//===- DoubleMath.cpp - functions on vectors of f64, for results in f32 -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f64 has 29 bits more than the result, so that formulas which cancel in f32 need no care here but next to 0, where a
// series takes their place.
//
//===----------------------------------------------------------------------===//

#include "DoubleMath.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn::flash;
using arith::CmpFPredicate;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kLn2 = 0.69314718055994530942, kLog2E = 1.44269504088896340736;
static constexpr double kPi = 3.14159265358979323846;

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Value math64::splat(ImplicitLocOpBuilder &b, VectorType type, double value) {
  Attribute element = b.getFloatAttr(type.getElementType(), value);
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, element));
}

Value math64::splatInteger(ImplicitLocOpBuilder &b, VectorType type, int64_t value) {
  Attribute element = b.getIntegerAttr(type.getElementType(), value);
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, element));
}

VectorType math64::withElement(VectorType type, Type element) { return VectorType::get(type.getShape(), element); }

static Value splatAs(ImplicitLocOpBuilder &b, Value like, double value) {
  return math64::splat(b, cast<VectorType>(like.getType()), value);
}

Value math64::compare(ImplicitLocOpBuilder &b, CmpFPredicate predicate, Value value, double constant) {
  return arith::CmpFOp::create(b, predicate, value, splatAs(b, value, constant));
}

Value math64::widen(ImplicitLocOpBuilder &b, Value x) {
  return arith::ExtFOp::create(b, withElement(cast<VectorType>(x.getType()), b.getF64Type()), x);
}

Value math64::narrow(ImplicitLocOpBuilder &b, Value x) {
  return arith::TruncFOp::create(b, withElement(cast<VectorType>(x.getType()), b.getF32Type()), x);
}

Value math64::polynomial(ImplicitLocOpBuilder &b, Value x, ArrayRef<double> coefficients) {
  Value sum = splatAs(b, x, coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = vector::FMAOp::create(b, sum, x, splatAs(b, x, coefficient));
  return sum;
}

static Value add(ImplicitLocOpBuilder &b, Value x, Value y) { return arith::AddFOp::create(b, x, y); }
static Value subtract(ImplicitLocOpBuilder &b, Value x, Value y) { return arith::SubFOp::create(b, x, y); }
static Value multiply(ImplicitLocOpBuilder &b, Value x, Value y) { return arith::MulFOp::create(b, x, y); }
static Value divide(ImplicitLocOpBuilder &b, Value x, Value y) { return arith::DivFOp::create(b, x, y); }
static Value multiply(ImplicitLocOpBuilder &b, Value x, double y) { return multiply(b, x, splatAs(b, x, y)); }
static Value select(ImplicitLocOpBuilder &b, Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, condition, x, y);
}

/// x * p(x^2).
static Value oddPolynomial(ImplicitLocOpBuilder &b, Value x, ArrayRef<double> coefficients) {
  return multiply(b, x, math64::polynomial(b, multiply(b, x, x), coefficients));
}

static Value bitsOf(ImplicitLocOpBuilder &b, Value x) {
  auto type = cast<VectorType>(x.getType());
  return vector::BitCastOp::create(b, math64::withElement(type, b.getIntegerType(type.getElementTypeBitWidth())), x);
}

Value math64::hasSign(ImplicitLocOpBuilder &b, Value x) {
  Value bits = bitsOf(b, x);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, bits,
                               splatInteger(b, cast<VectorType>(bits.getType()), 0));
}

//===----------------------------------------------------------------------===//
// Exponentials and logarithms
//===----------------------------------------------------------------------===//

/// x = n + f with |f| <= 1/2, which is exact; then the Taylor polynomial of 2^f, whose remainder is below 2^-27.
Value math64::exp2(ImplicitLocOpBuilder &b, Value x) {
  auto type = cast<VectorType>(x.getType());
  auto bits = withElement(type, b.getI64Type());
  auto clamp = [&](Value value, CmpFPredicate predicate, double limit) -> Value {
    Value constant = splat(b, type, limit);
    return select(b, arith::CmpFOp::create(b, predicate, constant, value), constant, value);
  };
  x = clamp(clamp(x, CmpFPredicate::OGT, -200), CmpFPredicate::OLT, 200);
  // Adding the magic number rounds to an integer and leaves it, with the exponent bias, in the low bits.
  Value magic = splat(b, type, 6755399441055744.0 + 1023);
  Value shifted = add(b, x, magic);
  Value fraction = subtract(b, x, subtract(b, shifted, magic));
  static const double powers[] = {
      1.5252733804059838e-05, 0.00015403530393381606, 0.0013333558146428441, 0.009618129107628477,
      0.055504108664821576,   0.2402265069591007,     0.6931471805599453,    1.0};
  Value power = arith::ShLIOp::create(b, bitsOf(b, shifted), splatInteger(b, bits, 52));
  return multiply(b, polynomial(b, fraction, powers), vector::BitCastOp::create(b, type, power));
}

Value math64::exp(ImplicitLocOpBuilder &b, Value x) { return exp2(b, multiply(b, x, kLog2E)); }

/// x = 2^k m with m from sqrt(1/2) to sqrt(2), and ln m = 2 atanh(s) with s = (m - 1) / (m + 1), |s| < 0.172: its
/// series up to s^17 leaves a part of 2^-50.
Value math64::log2(ImplicitLocOpBuilder &b, Value x) {
  auto type = cast<VectorType>(x.getType());
  auto bitsType = withElement(type, b.getI64Type());
  Value bits = bitsOf(b, x);
  // The bits of sqrt(1/2): what lies between it and twice it has k = 0.
  Value fromRoot = arith::SubIOp::create(b, bits, splatInteger(b, bitsType, 0x3FE6A09E667F3BCD));
  Value k = arith::ShRSIOp::create(b, fromRoot, splatInteger(b, bitsType, 52));
  Value scale = arith::ShLIOp::create(b, k, splatInteger(b, bitsType, 52));
  Value m = vector::BitCastOp::create(b, type, Value(arith::SubIOp::create(b, bits, scale)));
  Value s = divide(b, add(b, m, splat(b, type, -1)), add(b, m, splat(b, type, 1)));
  static const double series[] = {2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3, 2.0};
  // 32 bits hold k, and every CPU has their conversion.
  Value narrowK = arith::TruncIOp::create(b, withElement(type, b.getI32Type()), k);
  Value value = vector::FMAOp::create(b, oddPolynomial(b, s, series), splat(b, type, kLog2E),
                                      Value(arith::SIToFPOp::create(b, type, narrowK)));
  Value isPositive = compare(b, CmpFPredicate::OGT, x, 0), isFinite = compare(b, CmpFPredicate::OLT, x, kInfinity);
  Value otherwise = select(b, isPositive, x, splat(b, type, std::numeric_limits<double>::quiet_NaN()));
  otherwise = select(b, compare(b, CmpFPredicate::OEQ, x, 0), splat(b, type, -kInfinity), otherwise);
  return select(b, arith::AndIOp::create(b, isPositive, isFinite), value, otherwise);
}

Value math64::log(ImplicitLocOpBuilder &b, Value x) { return multiply(b, log2(b, x), kLn2); }

//===----------------------------------------------------------------------===//
// Angles
//===----------------------------------------------------------------------===//

/// The arc tangent for x from 0 to 1: x (1 + x^2 p(x^2)), by Remez exchange; relative error 4e-10.
static Value atanBelowOne(ImplicitLocOpBuilder &b, Value x) {
  static const double coefficients[] = {0x1.23fa413eee8fep-10,
                                        -0x1.df982f82cc9cfp-8,
                                        0x1.714b9a906a734p-6,
                                        -0x1.6e19d9b10a24cp-5,
                                        0x1.1422d44b87d0cp-4,
                                        -0x1.68e7004c96b10p-4,
                                        0x1.c4f1e0cacd36ap-4,
                                        -0x1.2473735800ddap-3,
                                        0x1.9997e02a8baf0p-3,
                                        -0x1.55555103dfa55p-2,
                                        1};
  return oddPolynomial(b, x, coefficients);
}

Value math64::atan(ImplicitLocOpBuilder &b, Value x) {
  Value size = math::AbsFOp::create(b, x), one = splatAs(b, x, 1);
  // False for NaN, which so becomes the quotient.
  Value isAbove = compare(b, CmpFPredicate::OGT, size, 1);
  Value quotient = divide(b, select(b, isAbove, one, size), select(b, isAbove, size, one));
  Value angle = atanBelowOne(b, quotient);
  angle = select(b, isAbove, subtract(b, splatAs(b, x, kPi / 2), angle), angle);
  return math::CopySignOp::create(b, angle, x);
}

Value math64::atan2(ImplicitLocOpBuilder &b, Value y, Value x) {
  Value height = math::AbsFOp::create(b, y), width = math::AbsFOp::create(b, x);
  Value isSteep = arith::CmpFOp::create(b, CmpFPredicate::OGT, height, width);
  Value small = select(b, isSteep, width, height), large = select(b, isSteep, height, width);
  // Equal ones may both be 0 or infinite, which a quotient would make NaN.
  Value isEqual = arith::CmpFOp::create(b, CmpFPredicate::OEQ, small, large);
  Value ofEqual = select(b, compare(b, CmpFPredicate::OGT, small, 0), splatAs(b, x, 1), splatAs(b, x, 0));
  Value angle = atanBelowOne(b, select(b, isEqual, ofEqual, divide(b, small, large)));
  angle = select(b, isSteep, subtract(b, splatAs(b, x, kPi / 2), angle), angle);
  angle = select(b, hasSign(b, x), subtract(b, splatAs(b, x, kPi), angle), angle);
  return math::CopySignOp::create(b, angle, y);
}

//===----------------------------------------------------------------------===//
// Hyperbolic functions
//===----------------------------------------------------------------------===//

/// `series` where |x| < limit, else `formula`.
static Value nearZero(ImplicitLocOpBuilder &b, Value x, double limit, Value series, Value formula) {
  Value size = math::AbsFOp::create(b, x);
  return select(b, math64::compare(b, CmpFPredicate::OLT, size, limit), series, formula);
}

Value math64::asinh(ImplicitLocOpBuilder &b, Value x) {
  Value size = math::AbsFOp::create(b, x);
  Value root = math::SqrtOp::create(b, add(b, multiply(b, size, size), splatAs(b, x, 1)));
  Value formula = math::CopySignOp::create(b, log(b, add(b, size, root)), x);
  return nearZero(b, x, 0x1p-12, oddPolynomial(b, x, {-1.0 / 6, 1.0}), formula);
}

Value math64::acosh(ImplicitLocOpBuilder &b, Value x) {
  Value root = math::SqrtOp::create(b, add(b, multiply(b, x, x), splatAs(b, x, -1)));
  Value isInside = compare(b, CmpFPredicate::OGE, x, 1);
  return select(b, isInside, log(b, add(b, x, root)), splatAs(b, x, std::numeric_limits<double>::quiet_NaN()));
}

Value math64::atanh(ImplicitLocOpBuilder &b, Value x) {
  Value one = splatAs(b, x, 1);
  Value formula = multiply(b, log(b, divide(b, add(b, one, x), subtract(b, one, x))), 0.5);
  return nearZero(b, x, 0x1p-12, oddPolynomial(b, x, {1.0 / 3, 1.0}), formula);
}

/// The series loses 2^-32 at 1, the difference of powers 2^-26.
Value math64::sinh(ImplicitLocOpBuilder &b, Value x) {
  static const double series[] = {1.0 / 39916800, 1.0 / 362880, 1.0 / 5040, 1.0 / 120, 1.0 / 6, 1.0};
  Value formula = multiply(b, subtract(b, exp(b, x), exp(b, arith::NegFOp::create(b, x))), 0.5);
  return nearZero(b, x, 1, oddPolynomial(b, x, series), formula);
}

Value math64::cosh(ImplicitLocOpBuilder &b, Value x) {
  return multiply(b, add(b, exp(b, x), exp(b, arith::NegFOp::create(b, x))), 0.5);
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

Value math64::power(ImplicitLocOpBuilder &b, Value x, Value y, Value isNegative) {
  Value size = math::AbsFOp::create(b, x);
  Value value = exp2(b, multiply(b, y, log2(b, size)));
  Value isOne = arith::OrIOp::create(b, compare(b, CmpFPredicate::OEQ, y, 0), compare(b, CmpFPredicate::OEQ, size, 1));
  value = select(b, isOne, splatAs(b, x, 1), value);
  return select(b, isNegative, arith::NegFOp::create(b, value), value);
}

Value math64::pow(ImplicitLocOpBuilder &b, Value x, Value y) {
  auto isInteger = [&](Value value) -> Value {
    return arith::CmpFOp::create(b, CmpFPredicate::OEQ, math::TruncOp::create(b, value), value);
  };
  Value yIsInteger = isInteger(y),
        halfIsNot = arith::CmpFOp::create(b, CmpFPredicate::UNE, math::TruncOp::create(b, multiply(b, y, 0.5)),
                                          multiply(b, y, 0.5));
  Value isOdd = arith::AndIOp::create(b, yIsInteger, halfIsNot);
  Value value = power(b, x, y, arith::AndIOp::create(b, isOdd, hasSign(b, x)));
  // 1 to any power is 1, NaN included, and so is -1 to an infinite one; -1 to the power NaN is none.
  Value nan = splatAs(b, x, std::numeric_limits<double>::quiet_NaN());
  Value isBelow = compare(b, CmpFPredicate::OLT, x, 0), isAboveLowest = compare(b, CmpFPredicate::OGT, x, -kInfinity);
  Value notInteger = arith::CmpFOp::create(b, CmpFPredicate::UNE, math::TruncOp::create(b, y), y);
  Value isUndefined = arith::AndIOp::create(b, arith::AndIOp::create(b, isBelow, isAboveLowest), notInteger);
  return select(b, isUndefined, nan, value);
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

using LaneReplacement = llvm::function_ref<Value(ImplicitLocOpBuilder &b, Value lane)>;

/// The loop of replaceLanes.
static Value replaceEach(ImplicitLocOpBuilder &b, Value values, Value isReplaced, LaneReplacement replace) {
  auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(b, value); };
  auto visitLane = [&](OpBuilder &nested, Location loc, Value lane, ValueRange carried) {
    ImplicitLocOpBuilder b(loc, nested);
    auto choice = scf::IfOp::create(
        b, Value(vector::ExtractOp::create(b, isReplaced, OpFoldResult(lane))),
        [&](OpBuilder &nested, Location loc) {
          ImplicitLocOpBuilder b(loc, nested);
          Value value = replace(b, lane);
          scf::YieldOp::create(b, Value(vector::InsertOp::create(b, value, carried[0], OpFoldResult(lane))));
        },
        [&](OpBuilder &nested, Location loc) { scf::YieldOp::create(nested, loc, carried[0]); });
    scf::YieldOp::create(b, choice.getResults());
  };
  int64_t lanes = cast<VectorType>(values.getType()).getDimSize(0);
  return scf::ForOp::create(b, index(0), index(lanes), index(1), values, visitLane).getResult(0);
}

Value math64::replaceLanes(ImplicitLocOpBuilder &b, Value values, Value isReplaced, LaneReplacement replace) {
  Value isAny = vector::ReductionOp::create(b, vector::CombiningKind::OR, isReplaced);
  auto choice = scf::IfOp::create(
      b, isAny,
      [&](OpBuilder &nested, Location loc) {
        ImplicitLocOpBuilder b(loc, nested);
        scf::YieldOp::create(b, replaceEach(b, values, isReplaced, replace));
      },
      [&](OpBuilder &nested, Location loc) { scf::YieldOp::create(nested, loc, values); });
  return choice.getResult(0);
}
