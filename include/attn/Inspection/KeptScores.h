//===- KeptScores.h - how many scores an attention keeps -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_INSPECTION_KEPTSCORES_H
#define ATTN_INSPECTION_KEPTSCORES_H

#include "attn/Inspection/TileMap.h"

namespace attn {

/// What the mask and kv_lengths of an attention leave of its scores, over all batch entries and heads.
struct KeptScores {
  /// Kept (batch entry, query head, query, key) combinations.
  double scores = 0;
  /// Keys from the first to the last that a query sees, summed over batch entries and kv heads: what has to be read.
  double keys = 0;
  /// False where the two are upper bounds: the mask reads data that is not known, or would have to be evaluated for
  /// more than kMaxEvaluatedScores scores.
  bool isExact = true;
};

/// Scores whose mask is evaluated one by one, at most: some seconds.
constexpr int64_t kMaxEvaluatedScores = int64_t(1) << 26;

/// Counts by the mask analysis that convert-attn-to-flash uses, on tiles of one query and one key; where it proves
/// nothing of a score, by the reference interpreter. The op has no named masks and stands in a function, whose captured
/// loads are clamped in place. group: query heads of a kv head. Of `inputs`, the tile is not looked at. Errors as of
/// mapTiles.
mlir::FailureOr<KeptScores> countKeptScores(AttentionOp op, int64_t group, TileMapInputs inputs);

} // namespace attn

#endif // ATTN_INSPECTION_KEPTSCORES_H
