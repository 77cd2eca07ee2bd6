//===- VectorMath.cpp - functions on vectors, as vector code ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VectorMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::lanes;

Value lanes::splat(ImplicitLocOpBuilder &b, Type type, double value) {
  auto vector = dyn_cast<VectorType>(type);
  TypedAttr scalar = b.getFloatAttr(vector ? vector.getElementType() : type, value);
  return arith::ConstantOp::create(b, vector ? TypedAttr(DenseElementsAttr::get(vector, Attribute(scalar))) : scalar);
}

static Value splatInteger(ImplicitLocOpBuilder &b, VectorType type, int64_t value) {
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, Attribute(b.getIntegerAttr(type.getElementType(), value))));
}

Value lanes::vectorMax(ImplicitLocOpBuilder &b, Value x, Value y) {
  return arith::SelectOp::create(b, arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, y), x, y);
}

namespace {
/// What the exponential of a type has: an integer n and the rest r of the exponent, e^x = 2^n e^r.
struct ExpConstants {
  unsigned mantissaBits;
  /// 1.5 * 2^mantissaBits + exponent bias: adding it rounds to an integer n and leaves n + bias in the low bits, which
  /// shifted up are 2^n.
  double magic;
  /// Exponents of 2 below are taken for it: minus the bias, whose power comes out as 0.
  double lowest;
  /// e^r on [-ln2/2, ln2/2], highest power first. The last is exactly 1, so that exp(0) is 1.
  ArrayRef<double> polynomial;
};
} // namespace

/// Polynomials of least relative error with the constant term 1 (Remez exchange in 60 digits, then coefficients of the
/// type): 9.2e-8 for f32, 4.8e-18 for f64.
static ExpConstants expConstants(Type element) {
  static const double single[] = {0x1.0f96e4p-7, 0x1.573adep-5, 0x1.555a8cp-3, 0x1.fffdc4p-2, 0x1.fffff6p-1, 1.0};
  static const double twice[] = {0x1.b17dc5084113bp-26,
                                 0x1.28bb021563447p-22,
                                 0x1.71dccce6939ecp-19,
                                 0x1.a0198ad801febp-16,
                                 0x1.a01a02203e53dp-13,
                                 0x1.6c16c18a03ecfp-10,
                                 0x1.11111110ff17ap-7,
                                 0x1.555555554ec1cp-5,
                                 0x1.5555555555587p-3,
                                 0x1.000000000000fp-1,
                                 1.0,
                                 1.0};
  if (element.isF64())
    return {52, 0x1.8p52 + 1023, -1023, twice};
  return {23, 0x1.8p23 + 127, -127, single};
}

static Value multiplyAdd(ImplicitLocOpBuilder &b, Value a, double factor, Value c) {
  return vector::FMAOp::create(b, a, splat(b, a.getType(), factor), c);
}

/// The polynomial of r, times the power of two whose exponent is in the low bits of `shifted`.
static Value scalePolynomial(ImplicitLocOpBuilder &b, Value r, ArrayRef<double> polynomial, Value shifted,
                             unsigned mantissaBits) {
  auto type = cast<VectorType>(r.getType());
  auto bits = VectorType::get(type.getShape(), b.getIntegerType(type.getElementTypeBitWidth()));
  Value sum = splat(b, type, polynomial.front());
  for (double coefficient : polynomial.drop_front())
    sum = vector::FMAOp::create(b, sum, r, splat(b, type, coefficient));
  Value power =
      arith::ShLIOp::create(b, vector::BitCastOp::create(b, bits, shifted), splatInteger(b, bits, mantissaBits));
  // A product, where adding to the exponent would cost as much: it keeps every NaN, and gives 0 at the lowest x.
  return arith::MulFOp::create(b, sum, vector::BitCastOp::create(b, type, power));
}

Value lanes::vectorExp(ImplicitLocOpBuilder &b, Value x, double unit) {
  // ln2, and what a double of it lacks.
  constexpr double ln2 = 0x1.62e42fefa39efp-1, ln2Rest = 0x1.abc9e3b39803fp-56;
  Type element = getElementTypeOrSelf(x);
  ExpConstants constants = expConstants(element);
  // The constant comes first, so that NaN stays.
  x = vectorMax(b, splat(b, x.getType(), constants.lowest * ln2 / unit), x);
  Value magic = splat(b, x.getType(), constants.magic);
  Value shifted = multiplyAdd(b, x, unit * kLog2E, magic);
  Value n = arith::SubFOp::create(b, shifted, magic);
  // r is counted in units of x, too. What the constant lacks is an error of half an ulp of the exponent: too much for
  // f64 alone.
  const double step = ln2 / unit;
  Value r = multiplyAdd(b, n, -step, x);
  if (element.isF64())
    r = multiplyAdd(b, n, -(std::fma(-step, unit, ln2) + ln2Rest) / unit, r);
  SmallVector<double> polynomial(constants.polynomial);
  double power = 1;
  for (double &coefficient : llvm::reverse(polynomial)) {
    coefficient *= power;
    power *= unit;
  }
  return scalePolynomial(b, r, polynomial, shifted, constants.mantissaBits);
}
