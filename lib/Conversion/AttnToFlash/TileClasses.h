//===- TileClasses.h - records of tile classes, written and read -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For a mask without loop bounds the tiles are classified once per call, in parallel, into runs of equal classes: rows
// [b, h, query tile] of 1 + 2 * kvTiles words each, as attn.classify_tiles describes. A kept record has a header in
// front of them, the record of one call has not.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_CONVERSION_ATTNTOFLASH_TILECLASSES_H
#define ATTN_CONVERSION_ATTNTOFLASH_TILECLASSES_H

#include "KvLoops.h"
#include "MaskDomain.h"

namespace attn {

/// The rows of a record: memref [batch | 1, heads | 1, query tiles, 1 + 2 * kv tiles] of i32, any strides.
struct TileClassRows {
  mlir::Value memref;

  /// Words of one row, each as an index. A record of one entry or head serves all.
  mlir::Value load(mlir::ImplicitLocOpBuilder &builder, const QueryTile &tile, mlir::Value word) const;
};

/// The rows of a record that serves one call, in an allocation of their own.
TileClassRows allocateTileClasses(mlir::ImplicitLocOpBuilder &builder, mlir::Value batches, mlir::Value heads,
                                  const MaskDomain &domain, const TileSizes &tiles);

/// Fills the rows: a parallel loop over (b, h, query tile).
void buildClassification(mlir::ImplicitLocOpBuilder &builder, const MaskDomain &domain, const MaskRanges &ranges,
                         const TileSizes &tiles, TileClassRows rows);

/// Lowers attn.classify_tiles on memrefs: header and rows. Builds in front of the op, which it leaves.
void buildKeptClasses(mlir::ImplicitLocOpBuilder &builder, ClassifyTilesOp op);

/// The rows of a kept record, after checks that it was made for this op: tile sizes, sizes, lengths; `plan` tells which
/// of batch and heads the mask depends on.
TileClassRows readKeptClasses(mlir::ImplicitLocOpBuilder &builder, mlir::Value record, const MaskDomain &domain,
                              const MaskPlan &plan, const TileSizes &tiles);

/// A run of kv tiles of one class, as read from a row: keys [begin, end) with begin on the kv grid, inside the keys of
/// the batch entry whatever the record holds.
struct TileRun {
  mlir::Value begin, end, isFull;
};
TileRun readRun(mlir::ImplicitLocOpBuilder &builder, const TileClassRows &rows, const QueryTile &tile,
                mlir::Value number, mlir::Value kvEnd, const TileSizes &tiles);

/// How many runs a row has: at most as many as it has words for.
mlir::Value readRunCount(mlir::ImplicitLocOpBuilder &builder, const TileClassRows &rows, const QueryTile &tile);

} // namespace attn

#endif // ATTN_CONVERSION_ATTNTOFLASH_TILECLASSES_H
