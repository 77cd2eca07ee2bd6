//===- TileChoice.h - tile sizes of one attention ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_TILECHOICE_H
#define ATTN_CONVERSION_TILECHOICE_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Target/TileModel.h"

namespace attn {

/// What the cost model is asked for an attention, on tensors or memrefs. Named masks and scores may stand in it.
TileQuery getTileQuery(AttentionOp op);

/// The options tile-q, tile-kv and segment-keys; 0 lets the cost model choose.
struct TileOptions {
  int64_t tileQ = 0, tileKv = 0, segmentKeys = 0;
};

/// The tile sizes of the op's `tiles`; without them what the options ask for, where one is 0 what the cost model
/// chooses for the target. A diagnostic at the op for a size that is not allowed.
mlir::FailureOr<TileSizes> chooseTileSizes(AttentionOp op, const TargetDescription &target, const TileOptions &options);

} // namespace attn

#endif // ATTN_CONVERSION_TILECHOICE_H
