//===- ExpandPatterns.h - patterns of flash-expand-ops ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_FLASH_TRANSFORMS_EXPANDPATTERNS_H
#define ATTN_DIALECT_FLASH_TRANSFORMS_EXPANDPATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace attn::flash {

/// math.sin and math.cos on vectors of f32 -> vector code in f64: within 1 ulp of f32 for every finite argument (beyond
/// 2^30, where the reduction ends, lane by lane through libm), NaN for NaN and infinities. Upstream's expansion reduces
/// in f32 and loses one part in 2^24 with every period.
void populateTrigonometryPatterns(mlir::RewritePatternSet &patterns);

/// Ops that LLVM would serve with a function that no library has, of scalars and vectors: math.isinf, isnormal, clampf,
/// ipowi (exact, wrapping), fma of 16-bit types, and arith.truncf from f64 to bf16 (one rounding, to nearest even).
void populateScalarExpansions(mlir::RewritePatternSet &patterns);

} // namespace attn::flash

#endif // ATTN_DIALECT_FLASH_TRANSFORMS_EXPANDPATTERNS_H
