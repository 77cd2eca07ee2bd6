//===- TileChoice.cpp - tile sizes of one attention --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Conversion/TileChoice.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

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
  return {dims.scoreType.getIntOrFloatBitWidth(),
          dims.headDim,
          dims.valueDim,
          dims.queryLen,
          getGroup(op, dims),
          dims.kvLen,
          cast<ShapedType>(op.getQuery().getType()).getElementTypeBitWidth()};
}

static LogicalResult checkOptions(AttentionOp op, const TileOptions &options) {
  if (options.tileQ < 0 || options.tileQ > 1024 || (options.tileQ & (options.tileQ - 1)))
    return op.emitError("expects tile-q to be 0 or a power of two up to 1024, but got ") << options.tileQ;
  if (options.tileKv < 0 || options.tileKv > 65536)
    return op.emitError("expects tile-kv to be in 0 to 65536, but got ") << options.tileKv;
  if (options.segmentKeys < 0 || options.segmentKeys > kMaxExtent)
    return op.emitError("expects segment-keys to be in 0 to ") << kMaxExtent << ", but got " << options.segmentKeys;
  return success();
}

/// Not split are the keys whose weights are written, in a second pass with the final maximum and sum, and those of an
/// attention in a parallel loop, which has its own items and no memory but scratch of a size known in front of it.
static int64_t getSegmentTiles(AttentionOp op, const TileQuery &query, const TileSizes &sizes, int64_t segmentKeys) {
  if (op.getWeights() || op->getParentOfType<scf::ForallOp>())
    return 0;
  return segmentKeys ? segmentTilesFor(query, sizes, segmentKeys) : chooseSegmentTiles(query, sizes);
}

FailureOr<TileSizes> attn::chooseTileSizes(AttentionOp op, const TargetDescription &target,
                                           const TileOptions &options) {
  if (failed(checkOptions(op, options)))
    return failure();
  TileQuery query = getTileQuery(op);
  TileSizes sizes = chooseTiles(target, query);
  if (int64_t rows = options.tileQ) {
    sizes.queryRows = rows;
    bool isOneTile = query.queryLen >= 0 && query.queryLen <= rows && query.queryLen * query.group <= rows;
    sizes.group = isOneTile ? query.group : 1;
  }
  if (options.tileKv)
    sizes.kvTile = options.tileKv;
  // A kept record knows its tiles.
  if (op.getTiles()) {
    sizes.queryRows = *op.getQueryTile();
    sizes.kvTile = *op.getKvTile();
  }
  if (target.gpu)
    if (std::string problem = checkGpuTiles(query, sizes); !problem.empty())
      return op.emitOpError(problem), failure();
  sizes.segmentTiles = getSegmentTiles(op, query, sizes, options.segmentKeys);
  return sizes;
}
