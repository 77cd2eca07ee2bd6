//===- ExpandPatterns.h - patterns of flash-expand-ops ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_FLASH_TRANSFORMS_EXPANDPATTERNS_H
#define ATTN_DIALECT_FLASH_TRANSFORMS_EXPANDPATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace attn::flash {

/// True for a vector of one dimension of f32, of a size known now: what the patterns of functions match.
bool isSingleVector(mlir::Type type);

/// Functions on vectors of f32 -> vector code in f64, right for every argument and within 1 ulp, denormals included:
/// math.sin, cos (beyond 2^30, where the reduction ends, lane by lane through libm, or on a device, which has none, by
/// integers of 256 bits), exp2, atan and atan2; on a device those, too, that libm serves on a CPU: sinh, cosh, asinh,
/// acosh, atanh, powf and fpowi. Upstream's expansions reduce sin and cos in f32, which loses one part in 2^24 with every
/// period, have exp2 off by 68 ulp and atan by 42, and are wrong for zeros, infinities or negative numbers in the others.
void populateDoublePatterns(mlir::RewritePatternSet &patterns, bool onDevice);

/// math.exp, log and log2 on vectors of f32 -> vector code in f32, within 1.1 ulp, denormals included: upstream's take
/// them for the smallest normal number, or make 0 of them.
void populateSinglePatterns(mlir::RewritePatternSet &patterns);

/// arith.remf on vectors of f32 and narrower types -> exact vector code, for a device.
void populateRemainderPatterns(mlir::RewritePatternSet &patterns);

/// math.fpowi by a small constant -> products, of scalars and vectors of any type.
void populateConstantPowers(mlir::RewritePatternSet &patterns);

/// Ops that LLVM would serve with a function that no library has, of scalars and vectors: math.isinf, isnormal, clampf,
/// fpowi, ipowi (exact, wrapping), fma of 16-bit types, and arith.truncf from f64 to bf16 (one rounding, to nearest
/// even).
void populateScalarExpansions(mlir::RewritePatternSet &patterns);

/// Math functions that libm serves on a CPU, by others: isnan, isfinite, log10, cbrt and sincos; upstream's tan and
/// rsqrt.
void populateDeviceExpansions(mlir::RewritePatternSet &patterns);

} // namespace attn::flash

#endif // ATTN_DIALECT_FLASH_TRANSFORMS_EXPANDPATTERNS_H
