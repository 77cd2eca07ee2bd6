//===- KvLoops.h - which kv tiles a tile of queries visits -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decisions about the kv loop, apart from building it. Skipping an empty tile is what pays; whether full tiles get a
// loop without the mask depends on what the mask costs.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_CONVERSION_ATTNTOFLASH_KVLOOPS_H
#define ATTN_CONVERSION_ATTNTOFLASH_KVLOOPS_H

#include "MaskDomain.h"
#include "attn/Dialect/Attn/Analysis/MaskAnalysis.h"
#include "attn/Target/TileModel.h"

namespace attn {

/// Keys of the kv loops of one tile of queries: masked tiles in [first, firstFull), full ones in [firstFull, lastFull),
/// masked ones in [lastFull, end). All are in 0 to kvEnd; all but `end` are on the kv grid, or equal `end`. firstFull
/// and lastFull are null where there is one loop.
struct KvRange {
  mlir::Value first, firstFull, lastFull, end;
};

/// A tile of queries: its place (its first head), its first query and how many it has.
struct QueryTile {
  mlir::Value batch, head, number, i0, queries;
};

/// The tile at indices (batch, head, number), of one head and up to `queries` queries.
QueryTile buildQueryTile(mlir::ImplicitLocOpBuilder &builder, mlir::ValueRange indices, mlir::Value queryLen,
                         int64_t queries);

/// The analysis of a mask region with the sizes that the types tell.
MaskRanges analyzeMaskOf(mlir::Region &region, const AttentionDims &dims);

/// The analysis of the op's mask region with the sizes that its types tell; nothing is known where `skipTiles` is off.
MaskRanges analyzeAttentionMask(AttentionOp op, bool skipTiles);

/// How the kv loop deals with the mask.
struct MaskPlan {
  /// The loop visits runs of tiles of one class, empty ones not at all: where the analysis gave something away. They
  /// come from a pre-pass, or from the op's `tiles`.
  bool isClassified = false;
  /// Full tiles are computed without the mask (in a loop of their own, or by their class): where it costs more than the
  /// code of another tile step. A mask of a few operations on registers costs 1 to 2 % of a tile.
  bool isSplit = false;
  /// Whether the mask depends on the batch entry and the head.
  bool dependsOnBatch = false, dependsOnHead = false;
  /// Later tiles of queries visit more kv tiles, by the bounds.
  bool growsWithRows = false;
};
MaskPlan planMask(AttentionOp op, const MaskRanges &ranges, bool skipTiles);

/// Builds the range for a tile whose bounds `bound` builds; kvEnd is the logical end of the keys. Three loops where
/// isSplit.
KvRange buildKvRange(mlir::ImplicitLocOpBuilder &builder, const MaskRanges &ranges, bool isSplit, mlir::Value kvEnd,
                     int64_t kvTile, llvm::function_ref<mlir::Value(const Bound &)> bound);

/// The same for a tile of an op.
KvRange buildKvRange(mlir::ImplicitLocOpBuilder &builder, const MaskDomain &domain, const MaskRanges &ranges,
                     const QueryTile &tile, const TileSizes &tiles, bool isSplit);

/// Remark `attn-analyze-mask`, category `attn`: the bounds proved and, for static sizes, the share of tiles that is
/// skipped; whether the tiles are classified at run time, and why; whether rows may keep no key.
void emitMaskRemark(AttentionOp op, const MaskRanges &ranges, const MaskPlan &plan, const TileSizes &tiles);

} // namespace attn

#endif // ATTN_CONVERSION_ATTNTOFLASH_KVLOOPS_H
