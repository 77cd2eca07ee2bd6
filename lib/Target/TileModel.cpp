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

/// More would not leave registers for an accumulator.
static constexpr int64_t kGpuMaxHeadDim = 256;

static bool isSmall(int64_t extent) { return extent >= 0 && extent <= 64; }

/// Few queries make one tile of the power of two that holds them, `leastRows` at least; heads share it where they fit.
static void shareTile(const TileQuery &query, int64_t leastRows, TileSizes &sizes) {
  // One factor of the product is compared first: it may not fit.
  if (query.queryLen < 0 || query.queryLen > sizes.queryRows)
    return;
  if (query.queryLen * query.group <= sizes.queryRows)
    sizes.group = query.group;
  int64_t rows = std::max<int64_t>(query.queryLen * sizes.group, leastRows);
  sizes.queryRows = llvm::PowerOf2Ceil(rows);
  sizes.lanes = std::min(sizes.lanes, sizes.queryRows);
}

TileSizes attn::chooseTiles(const TargetDescription &target, const TileQuery &query) {
  if (target.gpu)
    return chooseGpuTiles(*target.gpu, query);
  const bool manyRegisters = target.vectorRegisters >= 32;
  const int64_t vectors = manyRegisters ? 4 : 2;
  const int64_t blockRows = !manyRegisters && target.hasFma ? 6 : 4;
  const int64_t lanes = target.vectorBits / query.scoreBits;
  const int64_t keys = 64 / blockRows * blockRows;
  const bool isSmallHead = isSmall(query.headDim) && isSmall(query.valueDim);
  const int64_t chunk = vectors * lanes;
  TileSizes sizes{std::max<int64_t>(chunk, 64), chunk, isSmallHead ? 2 * keys : keys, blockRows};
  shareTile(query, lanes, sizes);
  return sizes;
}

int64_t attn::gpuWarpRows(unsigned elementBits, int64_t headDim, int64_t valueDim, int64_t queryRows) {
  const bool isLarge = elementBits > 16 || std::max(headDim, valueDim) > 128;
  return std::min<int64_t>(isLarge ? 16 : 32, queryRows);
}

int64_t attn::gpuWarpgroups(const GpuTarget &target, unsigned elementBits, int64_t queryRows) {
  // wgmma has f16 and bf16 for both products.
  const bool isFit = target.hasWarpgroups && elementBits == 16 && queryRows % 64 == 0 && queryRows <= 128;
  return isFit ? queryRows / 64 : 0;
}

/// Keys of a tile.
static int64_t gpuKeys(const GpuTarget &target, const TileQuery &query, int64_t queryRows) {
  const int64_t size = std::max(query.headDim, query.valueDim);
  if (query.elementBits > 16)
    return size <= 128 ? 32 : 16;
  if (target.hasWarpgroups && queryRows >= 64)
    return size <= 128 ? 128 : 80;
  return size <= 64 ? 64 : 32;
}

/// Shared memory of a query tile and two stages of keys and of values, at most: rows have a chunk of 16 bytes more than
/// they need where they meet banks twice, and whole boxes of 128 bytes for warpgroups.
static int64_t gpuSharedBytes(const GpuTarget &target, const TileQuery &query, int64_t queryRows) {
  const int64_t columns = llvm::alignTo(std::max(query.headDim, query.valueDim), 16);
  const int64_t bytes = columns * query.elementBits / 8;
  const bool isBoxed = bytes % 128 == 0 || gpuWarpgroups(target, query.elementBits, queryRows) > 0;
  const int64_t row = isBoxed ? llvm::alignTo(bytes, 128) : bytes + 16;
  constexpr int64_t barriers = 64;
  return (queryRows + 4 * gpuKeys(target, query, queryRows)) * row + barriers;
}

TileSizes attn::chooseGpuTiles(const GpuTarget &target, const TileQuery &query) {
  const bool isHalf = query.elementBits <= 16;
  const bool isSmallHead = std::max(query.headDim, query.valueDim) <= 128;
  const bool isLarge = isHalf && (isSmallHead || target.hasWarpgroups);
  TileSizes sizes{isLarge ? 128 : 64, 0, 0, 0};
  while (sizes.queryRows > 16 && gpuSharedBytes(target, query, sizes.queryRows) > target.sharedBytes)
    sizes.queryRows /= 2;
  sizes.lanes = sizes.queryRows;
  shareTile(query, 16, sizes);
  sizes.kvTile = gpuKeys(target, query, sizes.queryRows);
  sizes.lanes = gpuWarpRows(query.elementBits, query.headDim, query.valueDim, sizes.queryRows);
  return sizes;
}

std::string attn::checkGpuTiles(const TileQuery &query, const TileSizes &sizes) {
  if (query.scoreBits != 32)
    return "f64 is not supported on a GPU target; use f32, f16 or bf16";
  if (query.headDim < 0 || query.valueDim < 0)
    return "expects head and value sizes that the types tell on a GPU target, but got a dynamic one";
  if (query.headDim > kGpuMaxHeadDim || query.valueDim > kGpuMaxHeadDim)
    return "expects head and value sizes up to " + std::to_string(kGpuMaxHeadDim) + " on a GPU target, but got " +
           std::to_string(query.headDim) + " and " + std::to_string(query.valueDim);
  if (sizes.queryRows < 16 || sizes.queryRows > 256)
    return "expects tiles of 16 to 256 query rows on a GPU target, but got " + std::to_string(sizes.queryRows);
  if (sizes.kvTile % 16 != 0 || sizes.kvTile > 128)
    return "expects tiles of a multiple of 16 keys up to 128 on a GPU target, but got " + std::to_string(sizes.kvTile);
  return "";
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
