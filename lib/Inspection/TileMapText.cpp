//===- TileMapText.cpp - tile maps as characters ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TileMapFormat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

const TileStyle &attn::styleOf(TileClass tileClass) {
  return *llvm::find_if(kTileStyles, [&](const TileStyle &style) { return style.tileClass == tileClass; });
}

std::string attn::sizesText(const AttentionTileMap &maps) {
  return llvm::formatv("batch {0}, heads {1}, queryLen {2}, kvLen {3}; tiles of {4} queries x {5} keys", maps.batch,
                       maps.heads, maps.queryLen, maps.kvLen, maps.queryTile, maps.kvTile)
      .str();
}

std::vector<std::string> attn::factsOf(const AttentionTileMap &maps) {
  std::vector<std::string> facts;
  if (!maps.bounds.empty())
    facts.push_back("rows i0 to i1 visit keys " + maps.bounds);
  facts.insert(facts.end(), maps.notes.begin(), maps.notes.end());
  return facts;
}

static std::string rangeText(int64_t first, int64_t last) {
  return first == last ? std::to_string(first) : llvm::formatv("{0} to {1}", first, last).str();
}

std::string attn::entriesText(const AttentionTileMap &maps, ArrayRef<EntryRange> entries) {
  const EntryRange &only = entries.front();
  if (entries.size() == 1 && only.firstBatch == 0 && only.lastBatch == maps.batch - 1 && only.firstHead == 0 &&
      only.lastHead == maps.heads - 1)
    return "every batch entry and head";
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      entries, os,
      [&](const EntryRange &range) {
        os << "batch " << rangeText(range.firstBatch, range.lastBatch);
        os << (range.firstHead == 0 && range.lastHead == maps.heads - 1
                   ? ", every head"
                   : ", head " + rangeText(range.firstHead, range.lastHead));
      },
      "; ");
  return text;
}

std::string attn::summaryText(const AttentionTileMap &maps, const TileMap &map) {
  if (map.tiles.empty())
    return "no tiles";
  auto percent = [](int64_t part, int64_t all) { return llvm::formatv("{0:F1} %", 100.0 * part / all).str(); };
  int64_t skipped = map.count(TileClass::Skipped), all = map.tiles.size(), scores = maps.queryLen * maps.kvLen;
  std::string text = llvm::formatv("{0} of {1} tiles skipped ({2}), {3} full, {4} partial", skipped, all,
                                   percent(skipped, all), map.count(TileClass::Full), map.count(TileClass::Partial))
                         .str();
  if (int64_t open = map.count(TileClass::RunTime))
    text += llvm::formatv(", {0} decided at run time", open).str();
  return text + "; " + percent(scores - map.visitedScores, scores) + " of the scores saved";
}

//===----------------------------------------------------------------------===//
// Characters
//===----------------------------------------------------------------------===//

/// The first key of every eighth tile, above its column.
static std::string keyAxis(const AttentionTileMap &maps, int64_t kvTiles) {
  std::string axis;
  for (int64_t tile = 0; tile < kvTiles; tile += 8) {
    std::string label = std::to_string(tile * maps.kvTile);
    if (axis.empty() || static_cast<int64_t>(axis.size()) < tile)
      axis += std::string(tile - axis.size(), ' ') + label;
  }
  return axis;
}

static void printMap(llvm::raw_ostream &os, const AttentionTileMap &maps, const TileMap &map) {
  if (map.tiles.empty())
    return;
  // "query" heads the column of the first queries.
  size_t width = std::max<size_t>(std::to_string((map.queryTiles - 1) * maps.queryTile).size(), 5);
  os << "query" << std::string(width - 5, ' ') << "  key\n";
  os << std::string(width + 2, ' ') << keyAxis(maps, map.kvTiles) << "\n";
  for (int64_t tile = 0; tile < map.queryTiles; ++tile) {
    os << llvm::right_justify(std::to_string(tile * maps.queryTile), width) << "  ";
    for (int64_t column = 0; column < map.kvTiles; ++column)
      os << styleOf(map.at(tile, column)).character;
    os << "\n";
  }
}

static void printOne(llvm::raw_ostream &os, const NamedTileMap &named) {
  os << named.title << ": " << named.mask << "\n" << sizesText(named.maps) << "\n";
  for (const std::string &fact : factsOf(named.maps))
    os << "- " << fact << "\n";
  if (named.maps.maps.empty())
    os << "\nno tiles\n";
  for (auto &[map, entries] : named.maps.maps) {
    os << "\n" << entriesText(named.maps, entries) << ": " << summaryText(named.maps, map) << "\n";
    printMap(os, named.maps, map);
  }
}

void attn::printTileMapsAsText(llvm::raw_ostream &os, ArrayRef<NamedTileMap> maps) {
  for (const NamedTileMap &named : maps) {
    printOne(os, named);
    os << "\n";
  }
  llvm::interleave(
      kTileStyles, os, [&](const TileStyle &style) { os << style.character << " " << style.meaning; }, "   ");
  os << "\n";
}
