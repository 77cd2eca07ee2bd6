//===- MaskAnalysis.h - which keys a mask keeps for a tile of rows -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An abstract interpreter over mask regions. For the rows [i0, i1] of a tile it gives two ranges of keys, as symbolic
// bounds: outside of `live` every row drops every key (tiles there are empty), inside of `full` every row keeps every
// key. What lies between is partial: always right, only slower.
//
// Integers are linear forms of the row, the key, and values that are the same for the whole tile, beside floor
// divisions by constants, minima and maxima; a comparison is solved for the key, and decided at the corners of the
// tile; and, or and not act on ranges. Where a comparison depends on data at the row or key (document ids) or is
// periodic in them, nothing is known of it, and the others still bound the range.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_ATTN_ANALYSIS_MASKANALYSIS_H
#define ATTN_DIALECT_ATTN_ANALYSIS_MASKANALYSIS_H

#include "attn/Dialect/Attn/Analysis/Bound.h"
#include "mlir/IR/Region.h"

namespace attn {

/// Keys [lower, upper); empty where upper <= lower.
struct KeyRange {
  Bound lower, upper;

  /// True if it is empty whatever the rows and uniforms are.
  bool isAlwaysEmpty() const { return lower.isPlusInfinity() || upper.isMinusInfinity(); }
};

/// What a mask does to a tile of rows.
struct MaskRanges {
  /// No row keeps a key outside of it.
  KeyRange live;
  /// Every row keeps every key inside of it.
  KeyRange full;
  /// Every tile inside of `live` may well have a kept key: nothing was given away. Else the mask has to be looked at
  /// tile by tile. Only a row whose first key is behind its last one (a window of negative width) counts as if it were
  /// not so.
  bool isExact = true;
  /// The first operation that was beyond the analysis, if any.
  mlir::Operation *obstacle = nullptr;
};

/// Analyzes a mask region with arguments (b, h, i, j), of type index; an empty region keeps everything. rowCount and
/// keyCount limit i and j (queryLen and kvLen, or kMaxExtent where they are dynamic). Uniforms of the bounds are values
/// from outside, b, h, and values of the region that depend on neither i nor j.
/// Pure. Cost: linear in the operations of the region.
MaskRanges analyzeMask(mlir::Region &region, int64_t rowCount, int64_t keyCount);

/// True if it is proved that each row i < rowCount keeps the first key, if there is one: no row is empty.
bool keepsFirstKey(const MaskRanges &ranges, int64_t rowCount);

/// True if the range never gets shorter from row to row, whatever the uniforms are, and longer at least where no
/// minimum, maximum or division stands in the way: its end moves on, its start does not.
bool growsWithRows(const KeyRange &range);

/// A uniform of the bounds, as an index value at the insertion point: of the region of a mask, for a batch entry and a
/// head, or from outside.
mlir::Value buildUniform(mlir::ImplicitLocOpBuilder &builder, mlir::Region &region, mlir::Value uniform,
                         mlir::Value batch, mlir::Value head);

/// True if a value of the region depends on neither of the arguments i and j.
bool isUniformInRegion(mlir::Region &region, mlir::Value value);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_ANALYSIS_MASKANALYSIS_H
