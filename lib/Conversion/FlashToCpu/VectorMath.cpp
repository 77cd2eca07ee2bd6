//===- VectorMath.cpp - functions on vectors, as vector code ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VectorMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn;

Value attn::splat(ImplicitLocOpBuilder &b, Type type, double value) {
  auto vector = dyn_cast<VectorType>(type);
  TypedAttr scalar = b.getFloatAttr(vector ? vector.getElementType() : type, value);
  return arith::ConstantOp::create(b, vector ? TypedAttr(DenseElementsAttr::get(vector, Attribute(scalar))) : scalar);
}

static Value splatInteger(ImplicitLocOpBuilder &b, VectorType type, int64_t value) {
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, Attribute(b.getIntegerAttr(type.getElementType(), value))));
}

Value attn::vectorMax(ImplicitLocOpBuilder &b, Value x, Value y) {
  return arith::SelectOp::create(b, arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, y), x, y);
}

namespace {
/// The constants of exp for one type. x = n ln2 + r with an integer n, so exp(x) = 2^n e^r.
struct ExpConstants {
  unsigned mantissaBits;
  /// 1.5 * 2^mantissaBits + exponent bias: adding it rounds to an integer n and leaves n + bias in the low bits, which
  /// shifted up are 2^n.
  double magic;
  /// Arguments below are taken for it. Its n is -bias, whose power comes out as 0.
  double lowest;
  /// ln2, and what the type's own ln2 lacks.
  double ln2, ln2Rest;
  /// e^r on [-ln2/2, ln2/2], highest power first. The last is exactly 1, so that exp(0) is 1.
  ArrayRef<double> polynomial;
};
} // namespace

/// Polynomials of least relative error with the constant term 1 (Remez exchange in 60 digits, each coefficient rounded
/// to the type before the lower-weighted ones were solved for again): 9.2e-8 for f32, 4.8e-18 for f64.
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
    return {52, 0x1.8p52 + 1023, -709.0, 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56, twice};
  return {23, 0x1.8p23 + 127, -88.0, 0x1.62e43p-1, -0x1.05c610ca86c39p-29, single};
}

Value attn::vectorExp(ImplicitLocOpBuilder &b, Value x) {
  auto type = cast<VectorType>(x.getType());
  Type element = type.getElementType();
  auto bits = VectorType::get(type.getShape(), b.getIntegerType(element.getIntOrFloatBitWidth()));
  ExpConstants constants = expConstants(element);
  auto multiplyAdd = [&](Value a, double factor, Value c) {
    return vector::FMAOp::create(b, a, splat(b, type, factor), c);
  };
  // The constant comes first, so that NaN stays.
  x = vectorMax(b, splat(b, type, constants.lowest), x);
  constexpr double log2e = 1.4426950408889634074;
  Value magic = splat(b, type, constants.magic);
  Value shifted = multiplyAdd(x, log2e, magic);
  Value n = arith::SubFOp::create(b, shifted, magic);
  // In two steps: with the first alone the error would grow with |x|, to 3e-7 for f32.
  Value r = multiplyAdd(n, -constants.ln2, x);
  r = multiplyAdd(n, -constants.ln2Rest, r);
  Value sum = splat(b, type, constants.polynomial.front());
  for (double coefficient : constants.polynomial.drop_front())
    sum = vector::FMAOp::create(b, sum, r, splat(b, type, coefficient));
  Value power = arith::ShLIOp::create(b, vector::BitCastOp::create(b, bits, shifted),
                                      splatInteger(b, bits, constants.mantissaBits));
  // A product, where adding to the exponent would cost as much: it keeps every NaN, and gives 0 at the lowest x.
  return arith::MulFOp::create(b, sum, vector::BitCastOp::create(b, type, power));
}
