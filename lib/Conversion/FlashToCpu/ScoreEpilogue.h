//===- ScoreEpilogue.h - from dot products to scores ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_FLASHTOCPU_SCOREEPILOGUE_H
#define ATTN_CONVERSION_FLASHTOCPU_SCOREEPILOGUE_H

#include "../FlashLanes/Lanes.h"
#include "RegionPlan.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"

namespace attn::cpu {

/// What becomes of dot products: scale, score region, mask region, the tile in memory.
///
/// A mask region alone is applied as the dot products leave the registers. A score region is applied later, in a loop
/// of its own over a chunk's keys: beside accumulators that fill the registers each of its constants would come from
/// memory again for each of them. (Not so with a mask alone: LLVM makes masked stores of the loop, which are slow on
/// AMD.)
class ScoreEpilogue {
public:
  /// `tile` receives the scores. Makes scratch for copies: not inside of a loop that is being
  /// built.
  ScoreEpilogue(mlir::ImplicitLocOpBuilder &builder, flash::ScoresOp op, flash::ScoresOp::Adaptor adaptor,
                mlir::Value tile, mlir::VectorType chunk);

  /// True if regions are applied later: the tile takes dot products, then applyRegions makes scores of them.
  bool isApart() const { return !score.region->empty(); }

  /// Asks memory for a share of what the copies of the next tile will read, while `count` keys from `k` are worked on:
  /// rows of a captured matrix are far apart, and no hardware foresees them.
  void prefetchNext(mlir::ImplicitLocOpBuilder &builder, mlir::Value lane, mlir::Value k, int64_t count);

  /// Builds what the regions need of the chunk from `lane`, for its keys [first, end) of the tile: what is the same for
  /// all keys, and copies of captured tensors. Comes before finish. Failure after a diagnostic.
  mlir::LogicalResult start(mlir::ImplicitLocOpBuilder &builder, mlir::Value lane, mlir::Value first, mlir::Value end);

  /// The scores of key `k` of the tile from its dot products; stores them. Failure after a diagnostic.
  mlir::FailureOr<mlir::Value> finish(mlir::ImplicitLocOpBuilder &builder, mlir::Value dot, mlir::Value k,
                                      mlir::Value lane);

  /// start, and finish for the stored dot products of keys [first, end). Returns the maxima of the scores.
  mlir::FailureOr<mlir::Value> applyRegions(mlir::ImplicitLocOpBuilder &builder, mlir::Value lane, mlir::Value first,
                                            mlir::Value end);

  const mlir::Value tile;

private:
  /// A region as the current chunk sees it.
  struct LanedRegion {
    mlir::Region *region;
    RegionPlan plan;
    RegionRanges ranges;
    /// Arguments and ops that are the same for all keys.
    mlir::IRMapping map;
    /// Scratch for plan.staged.
    llvm::SmallVector<mlir::Value> copies;
  };

  LanedRegion prepare(mlir::ImplicitLocOpBuilder &builder, mlir::Region &region);
  mlir::LogicalResult startRegion(mlir::ImplicitLocOpBuilder &builder, LanedRegion &laned, mlir::Value lane,
                                  mlir::Value first, mlir::Value end);
  void fillCopy(mlir::ImplicitLocOpBuilder &builder, const StagedRead &read, mlir::Value copy, mlir::Value lane,
                mlir::Value first, mlir::Value end);
  llvm::SmallVector<mlir::Value> indicesAt(mlir::ImplicitLocOpBuilder &builder, mlir::memref::LoadOp load,
                                           mlir::Value row, mlir::Value column);
  mlir::FailureOr<mlir::Value> cloneForKey(mlir::ImplicitLocOpBuilder &builder, LanedRegion &laned, mlir::Value score,
                                           mlir::Value k);
  int64_t lanes() const { return chunk.getDimSize(0); }
  lanes::TileRows rows();

  flash::ScoresOp op;
  flash::ScoresOp::Adaptor adaptor;
  mlir::VectorType chunk;
  LanedRegion score, mask;
};

} // namespace attn::cpu

#endif // ATTN_CONVERSION_FLASHTOCPU_SCOREEPILOGUE_H
