//===- Segments.h - keys in segments that are computed apart -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Few queries leave threads without work. Their keys are split into segments, a fixed number of kv tiles each: one
// parallel loop computes a partial result for each segment, a second one merges them in ascending order. A segment
// without keys of a tile is left out by both.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_CONVERSION_ATTNTOFLASH_SEGMENTS_H
#define ATTN_CONVERSION_ATTNTOFLASH_SEGMENTS_H

#include "AttentionParts.h"
#include "KvLoops.h"

namespace attn {

/// The segments of an attention and the memory of their partial results, in which entry b * count + s is segment s of
/// batch entry b.
struct KvSegments {
  /// Segments of each batch entry, of type index, and keys of each.
  mlir::Value count;
  int64_t keys;
  /// [batch * count, heads, queryLen], and [..., valueDim], of the type of the scores.
  mlir::Value max, sum, acc;

  mlir::Value entry(mlir::ImplicitLocOpBuilder &builder, mlir::Value batch, mlir::Value segment) const;
};

/// Allocates the memory; freeSegments frees it.
KvSegments allocateSegments(mlir::ImplicitLocOpBuilder &builder, const AttentionParts &parts, mlir::Type scoreType,
                            int64_t keys);
void freeSegments(mlir::ImplicitLocOpBuilder &builder, const KvSegments &segments);

/// The part of a range that lies in a segment.
KvRange restrictToSegment(mlir::ImplicitLocOpBuilder &builder, const KvRange &range, mlir::Value segment, int64_t keys);

/// The segments [first, end) that have a part of the range.
std::pair<mlir::Value, mlir::Value> segmentsOf(mlir::ImplicitLocOpBuilder &builder, const KvRange &range, int64_t keys);

} // namespace attn

#endif // ATTN_CONVERSION_ATTNTOFLASH_SEGMENTS_H
