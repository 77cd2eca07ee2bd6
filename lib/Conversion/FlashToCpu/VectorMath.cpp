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
/// What splitting a floating-point type takes: mantissa bits, the number whose addition rounds to an integer, the
/// lowest exponent (2^lowest becomes 0 in the bits), and the polynomial of 2^f on [-1/2, 1/2], highest power first.
struct ExpTraits {
  unsigned mantissaBits;
  double roundToInteger;
  double lowest;
  ArrayRef<double> coefficients;
};
} // namespace

/// (ln 2)^k / k!: degree 5 for f32 (remainder 2.4e-6), degree 13 for f64 (4e-18). Both end in exactly 1, so that 2^0 is
/// 1 and 2^lowest is 0.
static ExpTraits expTraits(Type element) {
  static const double single[] = {1.3333558e-3, 9.6181291e-3, 5.5504109e-2, 2.4022651e-1, 6.9314718e-1, 1.0};
  static const double twice[] = {1.3691488853904124e-12, 2.5678435993488196e-11,
                                 4.44553827187081e-10,   7.054911620801121e-09,
                                 1.0178086009239696e-07, 1.3215486790144305e-06,
                                 1.5252733804059838e-05, 0.00015403530393381606,
                                 0.0013333558146428441,  0.009618129107628477,
                                 0.055504108664821576,   0.2402265069591007,
                                 0.6931471805599453,     1.0};
  if (element.isF64())
    return {52, 6755399441055744.0, -1023.0, twice};
  return {23, 12582912.0, -127.0, single};
}

/// What rounding y = x log2(e) lost, 0 where y was clamped to `lowest`: without it the error of exp grows with |x|.
static Value productError(ImplicitLocOpBuilder &b, Value x, Value y, double lowest) {
  Type type = x.getType();
  constexpr double log2eHigh = 1.4426950408889634, log2eLow = 2.0355273740931033e-17;
  Value error = vector::FMAOp::create(b, x, splat(b, type, log2eHigh), arith::NegFOp::create(b, y));
  error = vector::FMAOp::create(b, x, splat(b, type, log2eLow), error);
  Value clamped = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, y, splat(b, type, lowest));
  return arith::SelectOp::create(b, clamped, splat(b, type, 0), error);
}

Value attn::vectorExp(ImplicitLocOpBuilder &b, Value x) {
  auto type = cast<VectorType>(x.getType());
  Type element = type.getElementType();
  auto bits = VectorType::get(type.getShape(), b.getIntegerType(element.getIntOrFloatBitWidth()));
  ExpTraits traits = expTraits(element);
  constexpr double log2e = 1.4426950408889634074;
  Value y = arith::MulFOp::create(b, x, splat(b, type, log2e));
  // The constant comes first: a NaN in y stays, and -inf becomes the exponent whose power is 0.
  y = vectorMax(b, splat(b, type, traits.lowest), y);
  // Adding the magic number rounds to an integer and leaves it in the low bits.
  Value magic = splat(b, type, traits.roundToInteger);
  Value shifted = arith::AddFOp::create(b, y, magic);
  Value fraction = arith::SubFOp::create(b, y, arith::SubFOp::create(b, shifted, magic));
  if (element.isF64())
    fraction = arith::AddFOp::create(b, fraction, productError(b, x, y, traits.lowest));
  Value exponent =
      arith::ShLIOp::create(b, vector::BitCastOp::create(b, bits, shifted), splatInteger(b, bits, traits.mantissaBits));
  Value power = splat(b, type, traits.coefficients.front());
  for (double coefficient : traits.coefficients.drop_front())
    power = vector::FMAOp::create(b, power, fraction, splat(b, type, coefficient));
  return vector::BitCastOp::create(b, type,
                                   arith::AddIOp::create(b, vector::BitCastOp::create(b, bits, power), exponent));
}
