//===- ExpandPatterns.h - patterns of flash-expand-ops ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_FLASH_TRANSFORMS_EXPANDPATTERNS_H
#define ATTN_DIALECT_FLASH_TRANSFORMS_EXPANDPATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace attn::flash {

/// math.sin, math.cos and math.exp2 on vectors of f32 -> vector code in f64: within 1 ulp of f32 for every finite
/// argument (sin and cos beyond 2^30, where the reduction ends, lane by lane through libm, or on a
/// device, which has none, by integers of 256 bits). sin and cos of infinities
/// are NaN, exp2 of them is 0 and infinity. Upstream's expansions reduce in f32: sin and cos lose one part in 2^24 with
/// every period, exp2 (as exp(x ln2)) up to 68 ulp.
void populateDoublePatterns(mlir::RewritePatternSet &patterns, bool onDevice);

/// Ops that LLVM would serve with a function that no library has, of scalars and vectors: math.isinf, isnormal, clampf,
/// ipowi (exact, wrapping), fma of 16-bit types, and arith.truncf from f64 to bf16 (one rounding, to nearest even).
void populateScalarExpansions(mlir::RewritePatternSet &patterns);

/// Math functions that libm serves on a CPU, by others: isnan, isfinite, log10, cbrt and sincos; upstream's sinh, cosh,
/// tan, asinh, acosh, atanh, powf, fpowi and rsqrt.
void populateDeviceExpansions(mlir::RewritePatternSet &patterns);

} // namespace attn::flash

#endif // ATTN_DIALECT_FLASH_TRANSFORMS_EXPANDPATTERNS_H
