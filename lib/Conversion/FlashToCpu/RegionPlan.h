//===- RegionPlan.h - what of a region is built when --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_FLASHTOCPU_REGIONPLAN_H
#define ATTN_CONVERSION_FLASHTOCPU_REGIONPLAN_H

#include "../FlashLanes/Regions.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace attn::cpu {

/// A captured read whose neighbours along the keys are neighbours in memory, for each row.
struct StagedRead {
  mlir::memref::LoadOp load;
  /// The index is held inside of bounds, beyond which neighbours are the same element.
  bool isClamped;
};

/// The ops of a score or mask region by how often a chunk of rows needs them. Each list is in the order of the block;
/// ops that the yielded value does not need are in none.
struct RegionPlan {
  /// Same for all keys: built once for the chunk.
  llvm::SmallVector<mlir::Operation *> invariant;
  /// The part for the chunk and a tile of keys is copied at once, transposed, in place of a gather for each key.
  llvm::SmallVector<StagedRead> staged;
  /// The rest, built for each key.
  llvm::SmallVector<mlir::Operation *> perKey;
};

/// Plans a region with the arguments (..., b, h, i, j). `group` is that of the tile: with more than one head in it, h
/// differs by row as i does.
RegionPlan planRegion(mlir::Region &region, int64_t group);

} // namespace attn::cpu

#endif // ATTN_CONVERSION_FLASHTOCPU_REGIONPLAN_H
