//===- ExpandTrigonometry.h - sin and cos of f32 vectors --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_FLASH_TRANSFORMS_EXPANDTRIGONOMETRY_H
#define ATTN_DIALECT_FLASH_TRANSFORMS_EXPANDTRIGONOMETRY_H

#include "mlir/IR/PatternMatch.h"

namespace attn::flash {

/// math.sin and math.cos on vectors of f32 -> vector code in f64: within 1 ulp of f32 for every finite argument (beyond
/// 2^30, where the reduction ends, lane by lane through libm), NaN for NaN and infinities. Upstream's expansion reduces
/// in f32 and loses one part in 2^24 with every period.
void populateTrigonometryPatterns(mlir::RewritePatternSet &patterns);

} // namespace attn::flash

#endif // ATTN_DIALECT_FLASH_TRANSFORMS_EXPANDTRIGONOMETRY_H
