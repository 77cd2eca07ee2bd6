//===- LoopBody.h - the body of a linalg op on lanes -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_LINALGTOCPU_LOOPBODY_H
#define ATTN_CONVERSION_LINALGTOCPU_LOOPBODY_H

#include "LoopPlan.h"
#include "Rows.h"
#include "mlir/IR/IRMapping.h"

namespace attn::loops {

/// A place in the iteration space: an index for each loop, that of the first lane for the lanes' one.
struct LoopPoint {
  llvm::SmallVector<mlir::Value> indices;
  /// Lanes; 1: scalars.
  int64_t lanes = 1;
  /// The others are behind the end of the loop.
  LiveLanes live;
};

/// Reads, computes and writes the elements of an op at a point. Values are vectors of the point's lanes where they
/// differ by lane, scalars elsewhere.
class LoopBody {
public:
  LoopBody(const LoopPlan &plan, mlir::ImplicitLocOpBuilder &builder, const LoopPoint &point)
      : plan(plan), b(builder), point(point) {}

  /// Element of operand `number`.
  mlir::Value load(unsigned number);
  /// Writes to operand `number`.
  void store(unsigned number, mlir::Value value);
  /// For each output what its combiner joins, or else the new value. `outs` are what outputs without a combiner have so
  /// far; all of them, where the body reads them.
  llvm::SmallVector<mlir::Value> compute(mlir::ValueRange outs);
  /// The value in every lane.
  mlir::Value widen(mlir::Value value);

private:
  llvm::SmallVector<mlir::Value> indicesOf(mlir::ImplicitLocOpBuilder &builder, mlir::AffineMap map, mlir::Value lane);
  bool isLaned(mlir::Value value) { return mlir::isa<mlir::VectorType>(map.lookupOrDefault(value).getType()); }
  void cloneIndex(mlir::linalg::IndexOp op);
  void cloneLoad(mlir::memref::LoadOp op);
  void cloneOp(mlir::Operation &op);
  /// Of the loop over lanes, at lane `number`; no further than the last one that counts.
  mlir::Value indexOfLane(int64_t number);

  const LoopPlan &plan;
  mlir::ImplicitLocOpBuilder &b;
  const LoopPoint &point;
  mlir::IRMapping map;
};

} // namespace attn::loops

#endif // ATTN_CONVERSION_LINALGTOCPU_LOOPBODY_H
