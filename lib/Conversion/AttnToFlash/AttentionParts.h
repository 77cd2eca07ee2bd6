//===- AttentionParts.h - sizes, views and checks of one attention -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_ATTNTOFLASH_ATTENTIONPARTS_H
#define ATTN_CONVERSION_ATTNTOFLASH_ATTENTIONPARTS_H

#include "attn/Dialect/Attn/Analysis/RegionRanges.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"

namespace attn {

/// Clamps the captured loads (memref.load, tensor.extract) of the op's regions where they are not proved in bounds, in
/// place.
void clampCapturedLoads(AttentionOp op);

/// What the tiled loop needs of an attention on memrefs, as values in front of the loop.
class AttentionParts {
public:
  AttentionParts(mlir::ImplicitLocOpBuilder &builder, AttentionOp op);

  /// Checks that only the run can make: sizes that must agree, kv_lengths, extents above kMaxExtent. One flash.require
  /// for each relation that the types do not settle.
  void buildChecks(mlir::ImplicitLocOpBuilder &builder);

  /// The logical end of the keys of a batch entry: kv_lengths[batch], or kvLen.
  mlir::Value kvEnd(mlir::ImplicitLocOpBuilder &builder, mlir::Value batchIndex);

  /// A value of the mask region that depends on neither i nor j (or one from outside), as an index value at the
  /// insertion point, for the given batch entry and head.
  mlir::Value buildUniform(mlir::ImplicitLocOpBuilder &builder, mlir::Value value, mlir::Value batchIndex,
                           mlir::Value headIndex);

  /// Views [batch, heads | kvHeads, queryLen | kvLen, headDim | valueDim].
  mlir::Value query, key, value, out;
  /// Sizes, of type index; group is heads / kvHeads, at least 1.
  mlir::Value batch, heads, kvHeads, queryLen, kvLen, headDim, valueDim, group;

private:
  void buildSizeChecks(mlir::ImplicitLocOpBuilder &builder);
  void buildLayoutChecks(mlir::ImplicitLocOpBuilder &builder);
  void buildLengthChecks(mlir::ImplicitLocOpBuilder &builder);
  void buildCaptureChecks(mlir::ImplicitLocOpBuilder &builder);

  AttentionOp op;
};

} // namespace attn

#endif // ATTN_CONVERSION_ATTNTOFLASH_ATTENTIONPARTS_H
