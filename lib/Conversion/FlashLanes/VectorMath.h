//===- VectorMath.h - functions on vectors, as vector code ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that the softmax itself needs. Valid for vectors of f32 and f64 of any length.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_CONVERSION_FLASHLANES_VECTORMATH_H
#define ATTN_CONVERSION_FLASHLANES_VECTORMATH_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <limits>

namespace attn::lanes {

/// A vector (or scalar) of `type` with `value` in every lane.
mlir::Value splat(mlir::ImplicitLocOpBuilder &builder, mlir::Type type, double value);

/// a > b ? a : b, one vmaxps. Where b is NaN the result is NaN; a NaN in a alone is dropped.
mlir::Value vectorMax(mlir::ImplicitLocOpBuilder &builder, mlir::Value a, mlir::Value b);

inline constexpr double kLog2E = 1.4426950408889634074;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// exp(unit * x) for x <= 0, unit from 2^-16 to 1: 0 for -inf exactly, 1 for 0 exactly, NaN for NaN. Relative error at
/// most 1.8e-7 + 2^-24 |unit * x| (f32, unit * x from -87.3 to 0; the second part is 3e-9 |x| for a power of two)
/// and 1.5e-16 (f64, from -708.3 to 0): the largest of 2^20 equidistant points against libm in long double
/// (test/Unit/VectorMathTest.cpp). Where the result is no normal number it is off by less than the smallest one. 11
/// operations for f32. A reduction in units of x, then a polynomial with constant term 1.
mlir::Value vectorExp(mlir::ImplicitLocOpBuilder &builder, mlir::Value x, double unit = 1);

} // namespace attn::lanes

#endif // ATTN_CONVERSION_FLASHLANES_VECTORMATH_H
