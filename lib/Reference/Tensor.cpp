//===- Tensor.cpp - values of the reference interpreter ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Reference/Tensor.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"
#include <cassert>
#include <cmath>

using namespace mlir;
using namespace attn::reference;

Tensor Tensor::fromReals(Type elementType, ArrayRef<int64_t> shape, ArrayRef<double> values) {
  assert(countElements(shape) == static_cast<int64_t>(values.size()) && "as many values as elements");
  Tensor result{elementType, shape.vec(), std::vector<Scalar>(values.size())};
  for (size_t k = 0; k < values.size(); ++k)
    result.data[k].real = values[k];
  return result;
}

Tensor Tensor::fromIntegers(Type elementType, ArrayRef<int64_t> shape, ArrayRef<int64_t> values) {
  assert(countElements(shape) == static_cast<int64_t>(values.size()) && "as many values as elements");
  Tensor result{elementType, shape.vec(), std::vector<Scalar>(values.size())};
  for (size_t k = 0; k < values.size(); ++k)
    result.data[k].integer = wrapToType(elementType, values[k]);
  return result;
}

std::optional<int64_t> attn::reference::countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  // A size of 0 makes the product 0, however large the others are.
  bool empty = llvm::is_contained(shape, 0);
  for (int64_t size : shape)
    if (size < 0 || (!empty && llvm::MulOverflow(count, size, count)))
      return std::nullopt;
  return empty ? 0 : count;
}

bool attn::reference::isSupportedElementType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth() >= 1 && integer.getWidth() <= 64;
  if (auto real = dyn_cast<FloatType>(type))
    return real.getWidth() <= 64;
  return isa<IndexType>(type);
}

double attn::reference::roundToType(Type type, double value) {
  if (type.isF64() || !std::isfinite(value))
    return value;
  if (type.isF32())
    return static_cast<float>(value);
  if (isa<Float16Type, BFloat16Type>(type)) {
    // Scaling by a power of two is exact, and nearbyint rounds ties to even.
    double ulp = ulpOfType(type, value);
    double rounded = std::nearbyint(value / ulp) * ulp;
    double largest = APFloat::getLargest(cast<FloatType>(type).getFloatSemantics()).convertToDouble();
    return std::fabs(rounded) > largest ? std::copysign(INFINITY, value) : rounded;
  }
  APFloat narrow(value);
  bool losesInfo;
  narrow.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return narrow.convertToDouble();
}

double attn::reference::ulpOfType(Type type, double value) {
  const llvm::fltSemantics &semantics = cast<FloatType>(type).getFloatSemantics();
  int mantissaBits = static_cast<int>(APFloat::semanticsPrecision(semantics)) - 1;
  int smallest = APFloat::semanticsMinExponent(semantics), largest = APFloat::semanticsMaxExponent(semantics);
  int exponent = value == 0 ? smallest : std::isinf(value) ? largest : std::ilogb(value);
  return std::ldexp(1.0, std::min(std::max(exponent, smallest), largest) - mantissaBits);
}

int64_t attn::reference::wrapToType(Type type, int64_t value) {
  unsigned width = isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
  if (width == 1)
    return value & 1;
  return width >= 64 ? value : llvm::SignExtend64(static_cast<uint64_t>(value), width);
}
