//===- DoubleMath.h - functions on vectors of f64, for results in f32 --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vector code, all lanes alike. Errors stay below 2^-27 of the result, so that a result which is rounded to f32 is off
// by at most 0.57 ulp, denormals of f32 included: they are normal numbers of f64.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_FLASH_TRANSFORMS_DOUBLEMATH_H
#define ATTN_DIALECT_FLASH_TRANSFORMS_DOUBLEMATH_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn::flash::math64 {

/// A vector of `type` with `value` in every lane; floats of any width, and integers.
mlir::Value splat(mlir::ImplicitLocOpBuilder &b, mlir::VectorType type, double value);
mlir::Value splatInteger(mlir::ImplicitLocOpBuilder &b, mlir::VectorType type, int64_t value);

/// A vector of the same shape with other elements.
mlir::VectorType withElement(mlir::VectorType type, mlir::Type element);

/// `value predicate constant`, lane by lane.
mlir::Value compare(mlir::ImplicitLocOpBuilder &b, mlir::arith::CmpFPredicate predicate, mlir::Value value,
                    double constant);

/// f32 to f64, and back with one rounding.
mlir::Value widen(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value narrow(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

/// sum of coefficients[n] * x^n, highest first; f32 or f64.
mlir::Value polynomial(mlir::ImplicitLocOpBuilder &b, mlir::Value x, llvm::ArrayRef<double> coefficients);

/// True where the sign bit is set, NaN and -0 included.
mlir::Value hasSign(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

/// 2^x. Beyond +-200, where f32 has 0 and infinity, it is that of 200. NaN stays.
mlir::Value exp2(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

/// e^x, likewise.
mlir::Value exp(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

/// log2(x) and ln(x): -inf for 0, inf for inf, NaN for what is negative or NaN. x is no denormal of f64.
mlir::Value log2(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value log(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

/// atan(x), and the angle of the point (x, y), as the C library defines it for zeros and infinities.
mlir::Value atan(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value atan2(mlir::ImplicitLocOpBuilder &b, mlir::Value y, mlir::Value x);

/// The inverse and the direct hyperbolic functions.
mlir::Value asinh(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value acosh(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value atanh(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value sinh(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value cosh(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

/// |x|^y with a minus where `isNegative`, by exponents: 1 where y = 0 or |x| = 1, whatever the other is.
mlir::Value power(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::Value y, mlir::Value isNegative);

/// x^y as the C library defines it.
mlir::Value pow(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::Value y);

/// `values` with the lanes in which `isReplaced` holds replaced by what `replace` builds for them, one by one: a lane's
/// value depends on no other lane. Costs a branch where no lane is replaced.
mlir::Value replaceLanes(mlir::ImplicitLocOpBuilder &b, mlir::Value values, mlir::Value isReplaced,
                         llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &b, mlir::Value lane)> replace);

} // namespace attn::flash::math64

#endif // ATTN_DIALECT_FLASH_TRANSFORMS_DOUBLEMATH_H
