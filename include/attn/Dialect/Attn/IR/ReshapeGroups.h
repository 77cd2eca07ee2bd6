//===- ReshapeGroups.h - groups of dimensions that a reshape joins -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTN_IR_RESHAPEGROUPS_H
#define ATTN_DIALECT_ATTN_IR_RESHAPEGROUPS_H

#include "mlir/IR/Operation.h"

namespace attn {

/// Error for an expand_shape or collapse_shape of tensor or memref that upstream's verifier passes, but whose groups
/// name dimensions that are not there (it cuts their numbers to 32 bits), or whose sizes are not 1 where the other side
/// has no dimensions. Success for other ops.
mlir::LogicalResult verifyReshapeGroups(mlir::Operation *op);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_RESHAPEGROUPS_H
