//===- AttentionParts.h - sizes, views and checks of one attention -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_ATTNTOFLASH_ATTENTIONPARTS_H
#define ATTN_CONVERSION_ATTNTOFLASH_ATTENTIONPARTS_H

#include "MaskDomain.h"

namespace attn {

/// What the tiled loop needs of an attention on memrefs, as values in front of the loop.
class AttentionParts {
public:
  AttentionParts(mlir::ImplicitLocOpBuilder &builder, AttentionOp op);

  /// Checks that only the run can make: sizes that must agree, kv_lengths, extents above kMaxExtent. One flash.require
  /// for each relation that the types do not settle.
  void buildChecks(mlir::ImplicitLocOpBuilder &builder);

  /// The op's mask over these sizes.
  MaskDomain maskDomain() { return {&op.getMaskRegion(), batch, heads, queryLen, kvLen, op.getKvLengths()}; }

  /// Views [batch, heads | kvHeads, queryLen | kvLen, headDim | valueDim].
  mlir::Value query, key, value, out;
  /// Sizes, of type index; group is heads / kvHeads, at least 1.
  mlir::Value batch, heads, kvHeads, queryLen, kvLen, headDim, valueDim, group;

private:
  void buildSizeChecks(mlir::ImplicitLocOpBuilder &builder);
  void buildLayoutChecks(mlir::ImplicitLocOpBuilder &builder);

  AttentionOp op;
};

} // namespace attn

#endif // ATTN_CONVERSION_ATTNTOFLASH_ATTENTIONPARTS_H
