//===- Lanes.h - score and mask regions over query lanes ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_FLASHLANES_LANES_H
#define ATTN_CONVERSION_FLASHLANES_LANES_H

#include "attn/Dialect/Attn/Analysis/RegionRanges.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn::lanes {

/// What the rows of a tile are: row r is head h + r mod group, query i0 + r / group (flash.load_query).
struct TileRows {
  mlir::Value h, i0, rows;
  int64_t group;

  /// Head and query of a row.
  mlir::Value head(mlir::ImplicitLocOpBuilder &builder, mlir::Value row) const;
  mlir::Value query(mlir::ImplicitLocOpBuilder &builder, mlir::Value row) const;

  /// The same for the chunk of `lanes` rows from row `lane`, as vector<lanes x i32>; those of the last valid row for
  /// lanes at and behind `rows`. The head is a scalar where the tile has one.
  mlir::Value laneHeads(mlir::ImplicitLocOpBuilder &builder, int64_t lanes, mlir::Value lane) const;
  mlir::Value laneQueries(mlir::ImplicitLocOpBuilder &builder, int64_t lanes, mlir::Value lane) const;
};

/// Ranges of the arguments (..., b, h, i, j) of a region at the tiled level.
RegionRanges rangesOfTiledRegion(mlir::Region &region);

/// Clones ops of a scalar region over `lanes` lanes. What does not depend on a lane stays scalar; the rest becomes
/// vector<lanes>. Index lanes are i32 where the ranges prove that 32 bits hold them, i64 elsewhere.
class LaneCloner {
public:
  /// `map` holds what the ops' operands are here (scalars, or vectors of `lanes`), and gets their results.
  LaneCloner(mlir::ImplicitLocOpBuilder &builder, int64_t lanes, RegionRanges &ranges, mlir::IRMapping &map)
      : b(builder), lanes(lanes), ranges(ranges), map(map) {}

  /// Clones ops, in their order, at the builder's insertion point. Failure after a diagnostic.
  mlir::LogicalResult clone(llvm::ArrayRef<mlir::Operation *> ops);

  /// A value of the region as a vector.
  mlir::Value laned(mlir::Value value) { return widen(value, 64); }

private:
  bool isLaned(mlir::Value value);
  unsigned indexBits(mlir::Value value);
  mlir::Type laneType(mlir::Type scalar, unsigned indexBits);
  mlir::Value resize(mlir::Value vector, unsigned bits);
  mlir::Value widen(mlir::Value value, unsigned indexBits);
  mlir::LogicalResult cloneOp(mlir::Operation &op);
  void cloneIndexCast(mlir::Operation &op, bool isSigned);
  void cloneLoad(mlir::memref::LoadOp load);
  bool mayNarrow(mlir::Operation &op);
  void cloneElementwise(mlir::Operation &op);

  mlir::ImplicitLocOpBuilder &b;
  int64_t lanes;
  RegionRanges &ranges;
  mlir::IRMapping &map;
};

} // namespace attn::lanes

#endif // ATTN_CONVERSION_FLASHLANES_LANES_H
