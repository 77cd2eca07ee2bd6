//===- TileChoice.h - tile sizes of one attention ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_ATTNTOFLASH_TILECHOICE_H
#define ATTN_CONVERSION_ATTNTOFLASH_TILECHOICE_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Target/TileModel.h"

namespace attn {

/// The tile sizes of the op's `tiles`; without them what the options tile-q and tile-kv ask for, where one is 0 what
/// the cost model chooses for the target. A diagnostic at the op for a size that is not allowed.
mlir::FailureOr<TileSizes> chooseTileSizes(AttentionOp op, const TargetDescription &target, int64_t tileQ,
                                           int64_t tileKv);

} // namespace attn

#endif // ATTN_CONVERSION_ATTNTOFLASH_TILECHOICE_H
