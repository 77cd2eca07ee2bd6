//===- TileChoice.cpp - tile sizes of one attention --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TileChoice.h"

using namespace mlir;
using namespace attn;

FailureOr<TileSizes> attn::chooseTileSizes(AttentionOp op, const TargetDescription &target, int64_t tileQ,
                                           int64_t tileKv) {
  if (tileQ < 0 || tileQ > 1024 || (tileQ & (tileQ - 1)))
    return op.emitError("expects tile-q to be 0 or a power of two up to 1024, but got ") << tileQ, failure();
  if (tileKv < 0 || tileKv > 65536)
    return op.emitError("expects tile-kv to be in 0 to 65536, but got ") << tileKv, failure();
  AttentionDims dims = op.getDims();
  TileSizes sizes = chooseTiles(target, {dims.scoreType.getIntOrFloatBitWidth(), dims.headDim, dims.valueDim});
  if (tileQ)
    sizes.queryRows = tileQ;
  if (tileKv)
    sizes.kvTile = tileKv;
  // A kept record knows its tiles.
  if (op.getTiles()) {
    sizes.queryRows = *op.getQueryTile();
    sizes.kvTile = *op.getKvTile();
  }
  return sizes;
}
