//===- ReshapeGroups.h - groups of dimensions that a reshape joins -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTN_IR_RESHAPEGROUPS_H
#define ATTN_DIALECT_ATTN_IR_RESHAPEGROUPS_H

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/Operation.h"

namespace attn {

/// Error for an op that upstream's verifier passes although it names dimensions that are not there: groups of
/// expand_shape and collapse_shape of tensor or memref (it cuts their numbers to 32 bits; sizes must be 1 where the other
/// side has no dimensions), and the dimension of tensor.concat (it takes numbers from 2^63 for negative ones). Success
/// for other ops.
mlir::LogicalResult verifyNamedDimensions(mlir::Operation *op);

/// The dimensions that an expand_shape or a collapse_shape joins, numbered as they follow one another, for passes that
/// run where nothing has refused other numbers.
template <typename OpTy> llvm::SmallVector<mlir::ReassociationIndices> getGroups(OpTy op) {
  llvm::SmallVector<mlir::ReassociationIndices> groups = op.getReassociationIndices();
  int64_t next = 0;
  for (mlir::ReassociationIndices &group : groups)
    for (int64_t &dimension : group)
      dimension = next++;
  return groups;
}

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_RESHAPEGROUPS_H
