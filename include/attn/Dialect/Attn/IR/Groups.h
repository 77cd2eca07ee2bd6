//===- Groups.h - the groups of reshaping ops ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTN_IR_GROUPS_H
#define ATTN_DIALECT_ATTN_IR_GROUPS_H

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

namespace attn {

/// The dimensions that an expand_shape or a collapse_shape joins, numbered as they follow one another: upstream's
/// verifiers count them, or take the numbers modulo 2^32, so what is written may be outside of the shape.
template <typename OpTy> llvm::SmallVector<mlir::ReassociationIndices> getGroups(OpTy op) {
  llvm::SmallVector<mlir::ReassociationIndices> groups = op.getReassociationIndices();
  int64_t next = 0;
  for (mlir::ReassociationIndices &group : groups)
    for (int64_t &dimension : group)
      dimension = next++;
  return groups;
}

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_GROUPS_H
