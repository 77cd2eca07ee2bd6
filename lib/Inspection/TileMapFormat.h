//===- TileMapFormat.h - words that all formats of a tile map share - C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_INSPECTION_TILEMAPFORMAT_H
#define ATTN_LIB_INSPECTION_TILEMAPFORMAT_H

#include "attn/Inspection/TileMap.h"

namespace attn {

/// Of a class: its character, its colour and what it means.
struct TileStyle {
  TileClass tileClass;
  char character;
  llvm::StringLiteral colour, meaning;
};

/// The styles in the order of a legend. Colours: Okabe and Ito's palette for colour-blind readers.
inline constexpr TileStyle kTileStyles[] = {{TileClass::Skipped, '.', "#f0f0f0", "skipped"},
                                            {TileClass::Full, '#', "#0072b2", "full: needs no mask"},
                                            {TileClass::Partial, '/', "#e69f00", "partial: the mask is evaluated"},
                                            {TileClass::RunTime, '?', "#cc79a7", "decided at run time"}};
const TileStyle &styleOf(TileClass tileClass);

/// "batch 1, heads 8, queryLen 100, kvLen 120; tiles of 64 queries x 128 keys".
std::string sizesText(const AttentionTileMap &maps);

/// "rows i0 to i1 visit keys [...)" where there is a mask, then the notes.
std::vector<std::string> factsOf(const AttentionTileMap &maps);

/// "every batch entry and head", or which.
std::string entriesText(const AttentionTileMap &maps, llvm::ArrayRef<EntryRange> entries);

/// "6 of 15 tiles skipped (40.0 %), 4 full, 5 partial; 35.2 % of the scores saved".
std::string summaryText(const AttentionTileMap &maps, const TileMap &map);

} // namespace attn

#endif // ATTN_LIB_INSPECTION_TILEMAPFORMAT_H
