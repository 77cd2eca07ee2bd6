//===- TileModel.cpp - tile sizes of the CPU back end -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sizes were measured on a Zen 4 core (dialects/Flash/Rationale.md): 4 x 4 blocks of AVX-512 registers reach 91 %
// of the FMA peak, 6 x 2 of AVX2 83 %; 4 x 4 of AVX2 spill and reach half. kv tiles from 64 to 256 are within a point.
//
//===----------------------------------------------------------------------===//

#include "attn/Target/TileModel.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace attn;

/// Measured on two cores (dialects/Flash/Rationale.md): 1024 keys cost a tenth of the speed of memory, 2048 nothing.
static constexpr int64_t kSegmentKeys = 2048;

static bool isSmall(int64_t extent) { return extent >= 0 && extent <= 64; }

TileSizes attn::chooseTiles(const TargetDescription &target, const TileQuery &query) {
  const bool manyRegisters = target.vectorRegisters >= 32;
  const int64_t vectors = manyRegisters ? 4 : 2;
  const int64_t blockRows = !manyRegisters && target.hasFma ? 6 : 4;
  const int64_t lanes = target.vectorBits / query.scoreBits;
  const int64_t keys = 64 / blockRows * blockRows;
  const bool isSmallHead = isSmall(query.headDim) && isSmall(query.valueDim);
  const int64_t chunk = vectors * lanes;
  TileSizes sizes{std::max<int64_t>(chunk, 64), chunk, isSmallHead ? 2 * keys : keys, blockRows};
  // One factor of the product is compared first: it may not fit.
  if (query.queryLen < 0 || query.queryLen > sizes.queryRows)
    return sizes;
  if (query.queryLen * query.group <= sizes.queryRows)
    sizes.group = query.group;
  int64_t rows = std::max<int64_t>(query.queryLen * sizes.group, lanes);
  sizes.queryRows = llvm::PowerOf2Ceil(rows);
  sizes.lanes = std::min(sizes.lanes, sizes.queryRows);
  return sizes;
}

int64_t attn::segmentTilesFor(const TileQuery &query, const TileSizes &sizes, int64_t segmentKeys) {
  const int64_t tiles = llvm::divideCeil(segmentKeys, sizes.kvTile);
  const bool isOneSegment = query.kvLen >= 0 && query.kvLen <= tiles * sizes.kvTile;
  return isOneSegment ? 0 : tiles;
}

int64_t attn::chooseSegmentTiles(const TileQuery &query, const TileSizes &sizes) {
  const bool isOneTile = query.queryLen >= 0 && query.queryLen <= sizes.queries();
  return isOneTile ? segmentTilesFor(query, sizes, kSegmentKeys) : 0;
}

int64_t attn::blockRowsFor(const TargetDescription &target, const TileSizes &sizes, unsigned scoreBits,
                           int64_t chunkLanes) {
  const int64_t lanes = target.vectorBits / scoreBits;
  return sizes.blockRows * sizes.lanes / std::clamp(chunkLanes, std::min(lanes, sizes.lanes), sizes.lanes);
}
