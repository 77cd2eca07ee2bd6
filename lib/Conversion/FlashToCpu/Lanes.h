//===- Lanes.h - score and mask regions over query lanes ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_FLASHTOCPU_LANES_H
#define ATTN_CONVERSION_FLASHTOCPU_LANES_H

#include "attn/Dialect/Attn/Analysis/RegionRanges.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn {

/// Positions of the queries of the chunk of `lanes` rows from row `lane` of a tile, as vector<lanes x i32>: i0 + row,
/// and the last valid row for lanes at and behind `rows`.
mlir::Value buildLaneQueries(mlir::ImplicitLocOpBuilder &builder, int64_t lanes, mlir::Value i0, mlir::Value lane,
                             mlir::Value rows);

/// Ranges of the arguments (..., b, h, i, j) of a region at the tiled level.
RegionRanges rangesOfTiledRegion(mlir::Region &region);

/// Clones a scalar region over `lanes` lanes. What does not depend on a lane stays scalar; the rest becomes
/// vector<lanes>. Index lanes are i32 where the ranges prove that 32 bits hold them, i64 elsewhere.
class LaneCloner {
public:
  LaneCloner(mlir::ImplicitLocOpBuilder &builder, int64_t lanes, RegionRanges &ranges)
      : b(builder), lanes(lanes), ranges(ranges) {}

  /// Clones the one block of `region` at the builder's insertion point, its arguments bound to `arguments` (scalars, or
  /// vectors of `lanes`). Returns the yielded value as a vector, or failure after a diagnostic.
  mlir::FailureOr<mlir::Value> clone(mlir::Region &region, mlir::ValueRange arguments);

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
  mlir::IRMapping map;
};

} // namespace attn

#endif // ATTN_CONVERSION_FLASHTOCPU_LANES_H
