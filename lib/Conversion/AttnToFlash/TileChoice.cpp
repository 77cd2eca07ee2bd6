//===- TileChoice.cpp - tile sizes of one attention --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Conversion/TileChoice.h"

using namespace mlir;
using namespace attn;

/// Heads that may share a tile: those of one kv head, where all sizes are known and nothing but the score region tells
/// them apart. A kept record has rows of one head.
static int64_t getGroup(AttentionOp op, const AttentionDims &dims) {
  if (ShapedType::isDynamic(dims.heads) || ShapedType::isDynamic(dims.kvHeads) || dims.heads <= dims.kvHeads)
    return 1;
  Region &mask = op.getMaskRegion();
  bool masksTellHeads = op.getMasks() || (!mask.empty() && !mask.getArgument(1).use_empty());
  return masksTellHeads || op.getSink() || op.getTiles() ? 1 : dims.heads / dims.kvHeads;
}

TileQuery attn::getTileQuery(AttentionOp op) {
  AttentionDims dims = op.getDims();
  return {dims.scoreType.getIntOrFloatBitWidth(), dims.headDim, dims.valueDim, dims.queryLen, getGroup(op, dims)};
}

FailureOr<TileSizes> attn::chooseTileSizes(AttentionOp op, const TargetDescription &target, int64_t tileQ,
                                           int64_t tileKv) {
  if (tileQ < 0 || tileQ > 1024 || (tileQ & (tileQ - 1)))
    return op.emitError("expects tile-q to be 0 or a power of two up to 1024, but got ") << tileQ, failure();
  if (tileKv < 0 || tileKv > 65536)
    return op.emitError("expects tile-kv to be in 0 to 65536, but got ") << tileKv, failure();
  TileQuery query = getTileQuery(op);
  TileSizes sizes = chooseTiles(target, query);
  if (tileQ) {
    sizes.queryRows = tileQ;
    bool isOneTile = query.queryLen >= 0 && query.queryLen <= tileQ && query.queryLen * query.group <= tileQ;
    sizes.group = isOneTile ? query.group : 1;
  }
  if (tileKv)
    sizes.kvTile = tileKv;
  // A kept record knows its tiles.
  if (op.getTiles()) {
    sizes.queryRows = *op.getQueryTile();
    sizes.kvTile = *op.getKvTile();
  }
  return sizes;
}
