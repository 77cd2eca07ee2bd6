//===- ReshapeGroups.cpp - groups of dimensions that a reshape joins -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Dialect/Attn/IR/ReshapeGroups.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

/// Each dimension of the side that has more, once and in order.
static LogicalResult verifyOrder(Operation *op, ArrayRef<ReassociationIndices> groups) {
  int64_t expected = 0;
  for (const ReassociationIndices &group : groups)
    for (int64_t dim : group)
      if (dim != expected++)
        return op->emitOpError("expects groups that name each dimension once and in order, but got ")
               << dim << " in place of " << expected - 1;
  return success();
}

static LogicalResult verifyGroups(Operation *op, ArrayRef<ReassociationIndices> groups, ShapedType expanded,
                                  ShapedType collapsed) {
  if (collapsed.getRank() != 0)
    return verifyOrder(op, groups);
  for (auto [dim, size] : llvm::enumerate(expanded.getShape()))
    if (!ShapedType::isDynamic(size) && size != 1)
      return op->emitOpError("expects sizes of 1 where the other side has no dimensions, but got ")
             << size << " in dimension " << dim;
  return success();
}

static LogicalResult verifyConcat(tensor::ConcatOp op) {
  uint64_t dim = op.getDim(), rank = op.getResultType().getRank();
  if (dim < rank)
    return success();
  return op.emitOpError("expects a dimension below its rank ") << rank << ", but got " << dim;
}

LogicalResult attn::verifyNamedDimensions(Operation *op) {
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return verifyConcat(concat);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return verifyGroups(op, expand.getReassociationIndices(), expand.getResultType(), expand.getSrcType());
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return verifyGroups(op, collapse.getReassociationIndices(), collapse.getSrcType(), collapse.getResultType());
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(op))
    return verifyGroups(op, expand.getReassociationIndices(), expand.getResultType(), expand.getSrcType());
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op))
    return verifyGroups(op, collapse.getReassociationIndices(), collapse.getSrcType(), collapse.getResultType());
  return success();
}
