//===- TileModel.h - tile sizes of the CPU back end ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TARGET_TILEMODEL_H
#define ATTN_TARGET_TILEMODEL_H

#include "attn/Target/TargetDescription.h"

namespace attn {

/// What the sizes depend on.
struct TileQuery {
  /// Bits of the type that scores are computed in: 32 or 64.
  unsigned scoreBits = 32;
  /// Head and value size; negative where only the run knows them.
  int64_t headDim = -1;
  int64_t valueDim = -1;
  /// Queries; negative where only the run knows them.
  int64_t queryLen = -1;
  /// Query heads that may share a tile: those of one kv head.
  int64_t group = 1;
  /// Keys; negative where only the run knows them.
  int64_t kvLen = -1;
  /// Bits of the type of query, key and value.
  unsigned elementBits = 32;
};

/// Queries are lanes: a register block is `blockRows` keys (or value columns) times `lanes` queries of accumulators, a
/// whole number of vectors. A tile has `queryRows` queries, a multiple of `lanes`, and is worked through in chunks of
/// `lanes`: a tile of keys or values then comes from the cache once for all of them.
struct TileSizes {
  int64_t queryRows;
  int64_t lanes;
  int64_t kvTile;
  int64_t blockRows;
  /// Query heads in a tile: row r is head r mod group of the tile's, query r / group.
  int64_t group = 1;
  /// kv tiles of a segment; 0 where the keys are not split.
  int64_t segmentTiles = 0;

  /// Positions of queries in a tile.
  int64_t queries() const { return queryRows / group; }
  /// Keys of a segment.
  int64_t segmentKeys() const { return segmentTiles * kvTile; }
};

/// Tile sizes for a CPU, or those of chooseGpuTiles. Pure. Worked out from the registers that a block needs,
///   blockRows * v accumulators + v query vectors + 1 broadcast (+ 1 product without FMA) <= vectorRegisters,
/// where v = lanes * scoreBits / vectorBits. queryRows is 64, or lanes where that is more.
///
/// Few queries (queryLen * group <= queryRows, known when compiling: decode) make one tile of the power of two that
/// holds them, one vector at least. The heads of a group then share it, so that keys and values are read once for all
/// of them; the time is that of reading, one multiply-add of one vector for each element. A block of fewer vectors has
/// more rows: see blockRowsFor.
///
/// | registers | v x blockRows | needs | kvTile, head and value size <= 64 / larger or dynamic |
/// |---|---|---|---|
/// | 32 or more | 4 x 4 | 21 | 128 / 64 |
/// | 16, FMA | 2 x 6 | 15 | 120 / 60 |
/// | 16, no FMA | 2 x 4 | 12 | 128 / 64 |
///
/// kvTile is a multiple of blockRows, and keeps a tile of keys and of values, at most 64 KiB each for f32, in the L2
/// cache.
TileSizes chooseTiles(const TargetDescription &target, const TileQuery &query);

/// Sizes for a GPU, where `lanes` is the rows of a warp and a block has queryRows / lanes warps. Pure. The state of a
/// row (accumulators, scores) lies in registers, 255 at most in a thread; a warp of 32 rows reads keys and values from
/// shared memory half as often, a product, as one of 16. Registers of a thread that ptxas 13.0 gives a causal mask,
/// with no spills:
///
/// | type | head and value size | lanes x kvTile | queryRows | registers |
/// |---|---|---|---|---|
/// | 16 bits | <= 64 | 32 x 64 | 128 | 250 |
/// | | <= 128 | 32 x 32 | 128 | 255 |
/// | | <= 256 | 16 x 32 | 64 | 255 |
/// | f32 | <= 64 | 16 x 32 | 64 | 126 |
/// | | <= 128 | 16 x 32 | 64 | 168 |
/// | | <= 256 | 16 x 16 | 64 | 236 |
///
/// Fewer queryRows where the shared memory of a block of the chip holds no more. Warpgroups read 16-bit keys and values
/// themselves, all 64 rows of them at once: 128 queryRows and 128 keys, above a size of 128 80 keys, so that two stages
/// of both fit in 227 KiB. Few queries, which share a tile as on a CPU, make tiles of 16 rows and more.
TileSizes chooseGpuTiles(const GpuTarget &target, const TileQuery &query);

/// Rows of a warp in a tile of `queryRows` rows of such a query.
int64_t gpuWarpRows(unsigned elementBits, int64_t headDim, int64_t valueDim, int64_t queryRows);

/// Warpgroups that multiply a tile of `queryRows` rows of query, key and value elements of so many bits, 64 rows each;
/// 0 where each warp multiplies its own rows.
int64_t gpuWarpgroups(const GpuTarget &target, unsigned elementBits, int64_t queryRows);

/// What a GPU cannot do, as an error message; empty for what it can: f32 scores, head and value sizes that are known
/// and at most 256, tiles of 16 to 256 rows, and of a multiple of 16 keys up to 128.
std::string checkGpuTiles(const TileQuery &query, const TileSizes &sizes);

/// kv tiles of the segments that few queries split their keys into, each of them a parallel item of its own; 0: the
/// keys are not split. Pure, of the tile sizes, queryLen and kvLen alone: neither threads nor batch change the bits of
/// a row.
///
/// Keys are split where one tile has all queries (queryLen is known when compiling) and there are more of them than one
/// segment has; where only the run knows kvLen they always are. A segment has 2048 keys, rounded up to whole tiles (so
/// that a power of two leaves no splinter): 2 MiB of f32 keys and values of size 128, a tenth of a millisecond of
/// reading. Beside it the start of an item and the merging of its few rows do not show.
int64_t chooseSegmentTiles(const TileQuery &query, const TileSizes &sizes);

/// The same for segments of `segmentKeys` keys (rounded up to whole tiles), whatever the number of queries.
int64_t segmentTilesFor(const TileQuery &query, const TileSizes &sizes, int64_t segmentKeys);

/// Rows of a register block for a chunk of `chunkLanes` lanes, at most sizes.lanes: as many accumulators as the whole
/// block has, so that multiply-adds have independent sums to go to.
int64_t blockRowsFor(const TargetDescription &target, const TileSizes &sizes, unsigned scoreBits, int64_t chunkLanes);

} // namespace attn

#endif // ATTN_TARGET_TILEMODEL_H
