//===- CapturedReads.h - what score and mask regions read ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_ATTNTOLINALG_CAPTUREDREADS_H
#define ATTN_CONVERSION_ATTNTOLINALG_CAPTUREDREADS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Region.h"

namespace attn {

/// Clamps the reads (memref.load, tensor.extract) of a score or mask region whose indices are not proved in bounds, in
/// place. `sizes` are those of b, h, i and j, the region's last arguments; dynamic ones are at most `largest`.
void clampCapturedLoads(mlir::Region &region, llvm::ArrayRef<int64_t> sizes, int64_t largest);

/// Clamping needs an element to clamp to: builds checks that end the call where a captured tensor has none and there
/// are scores. `sizes` are those of b, h, i and j, as index values.
void buildCaptureChecks(mlir::ImplicitLocOpBuilder &builder, llvm::ArrayRef<mlir::Value> sizes,
                        llvm::ArrayRef<mlir::Region *> regions);

} // namespace attn

#endif // ATTN_CONVERSION_ATTNTOLINALG_CAPTUREDREADS_H
