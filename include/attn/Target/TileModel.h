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
};

/// Queries are lanes: a register block is `blockRows` keys (or value columns) times `lanes` queries of accumulators, a
/// whole number of vectors. A tile has `queryRows` queries, a multiple of `lanes`, and is worked through in chunks of
/// `lanes`: a tile of keys or values then comes from the cache once for all of them.
struct TileSizes {
  int64_t queryRows;
  int64_t lanes;
  int64_t kvTile;
  int64_t blockRows;
};

/// Tile sizes for a CPU. Pure. Worked out from the registers that a block needs,
///   blockRows * v accumulators + v query vectors + 1 broadcast (+ 1 product without FMA) <= vectorRegisters,
/// where v = lanes * scoreBits / vectorBits. queryRows is 64, or lanes where that is more.
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

} // namespace attn

#endif // ATTN_TARGET_TILEMODEL_H
