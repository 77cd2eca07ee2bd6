//===- TileMap.h - which tiles a mask empties or leaves whole ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the key loops of an attention do with each (query tile, kv tile), for given sizes. The ends of the loops are
// those that convert-attn-to-flash builds; tiles that it classifies at run time are classified by the reference
// interpreter. Deciding a map and printing it are apart.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_INSPECTION_TILEMAP_H
#define ATTN_INSPECTION_TILEMAP_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include <map>
#include <optional>
#include <string>

namespace attn {

/// What happens to a tile.
enum class TileClass : uint8_t {
  /// Not visited: no score of it is kept.
  Skipped,
  /// Visited; every score up to the end of the key loop is kept, so the mask need not be evaluated.
  Full,
  /// Visited; the mask is evaluated for each score.
  Partial,
  /// One of the others, which depends on data that is not known here.
  RunTime
};

/// The tiles of one batch entry and head.
struct TileMap {
  int64_t queryTiles = 0, kvTiles = 0;
  /// Row-major: [queryTiles][kvTiles].
  std::vector<TileClass> tiles;
  /// Scores in the tiles that are not skipped, up to the end of the key loop.
  int64_t visitedScores = 0;

  TileClass at(int64_t queryTile, int64_t kvTile) const { return tiles[queryTile * kvTiles + kvTile]; }
  /// How many tiles are of a class.
  int64_t count(TileClass tileClass) const;
  bool operator==(const TileMap &other) const;
};

/// The key loops of one tile of queries: the mask is evaluated in [first, firstFull) and [lastFull, end), and not in
/// [firstFull, lastFull). All are 0 to kvLen; all but `end` are on the kv grid, or equal `end`.
struct KeyLoopEnds {
  int64_t first, firstFull, lastFull, end;
};

/// Decides one row of a map. classify(j0, keys) is asked for each tile of the loop where tiles are classified; null
/// where the ends of the loops decide.
void decideTileRow(const KeyLoopEnds &ends, int64_t kvTile,
                   llvm::function_ref<TileClass(int64_t j0, int64_t keys)> classify,
                   llvm::MutableArrayRef<TileClass> row);

/// What a map is made for.
struct TileMapInputs {
  /// Sizes by name (batch, heads, queryLen, kvLen). Those that the types tell need not be given.
  std::map<std::string, int64_t> sizes;
  /// Elements of integer arguments of the function, by position; one for a scalar.
  std::map<unsigned, std::vector<int64_t>> values;
  /// Query rows and keys of a tile.
  int64_t queryTile = 0, kvTile = 0;
};

/// Batch entries and heads, both ends included.
struct EntryRange {
  int64_t firstBatch, lastBatch, firstHead, lastHead;
};

/// The maps of one attention.
struct AttentionTileMap {
  int64_t batch, heads, queryLen, kvLen;
  int64_t queryTile, kvTile;
  /// The keys that a tile of rows i0 to i1 visits, as proved; empty where there is no mask.
  std::string bounds;
  /// What a reader should know, one sentence each.
  std::vector<std::string> notes;
  /// Each distinct map once, with the entries that have it.
  std::vector<std::pair<TileMap, std::vector<EntryRange>>> maps;
};

/// Above this many tiles, over the batch entries and heads that the mask tells apart, a map is an error.
constexpr int64_t kMaxMapTiles = 1000000;

/// Makes the maps of an attention without named masks, inside a function; captured loads are clamped in place, as
/// convert-attn-to-flash does. Errors are diagnostics at the op: sizes that are missing or contradict the types, an
/// integer that the mask reads and that `values` lacks, too many tiles.
mlir::FailureOr<AttentionTileMap> mapTiles(AttentionOp op, const TileMapInputs &inputs);

/// An attention and what it is called.
struct NamedTileMap {
  /// The function and the place of the op.
  std::string title;
  /// Its masks, as written.
  std::string mask;
  AttentionTileMap maps;
};

/// Prints maps as characters, with a legend and axes.
void printTileMapsAsText(llvm::raw_ostream &os, llvm::ArrayRef<NamedTileMap> maps);

/// Prints maps as one SVG document. Its colours are told apart by the colour-blind, and by their pattern.
void printTileMapsAsSvg(llvm::raw_ostream &os, llvm::ArrayRef<NamedTileMap> maps);

} // namespace attn

#endif // ATTN_INSPECTION_TILEMAP_H
