//===- OverlapProducts.h - products as two ops each ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_FLASH_TRANSFORMS_OVERLAPPRODUCTS_H
#define ATTN_DIALECT_FLASH_TRANSFORMS_OVERLAPPRODUCTS_H

namespace mlir {
class Operation;
} // namespace mlir

namespace attn::flash {

/// Replaces flash.scores and flash.accumulate in an op by the ops that begin them and those that wait, in place.
/// Precondition: 16-bit values.
void splitProducts(mlir::Operation *root);

/// Turns the loops over keys in an op whose products are split, as flash-overlap-products has it.
void turnLoops(mlir::Operation *root);

} // namespace attn::flash

#endif // ATTN_DIALECT_FLASH_TRANSFORMS_OVERLAPPRODUCTS_H
