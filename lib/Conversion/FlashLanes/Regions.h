//===- Regions.h - score and mask regions of flash ops -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_FLASHLANES_REGIONS_H
#define ATTN_CONVERSION_FLASHLANES_REGIONS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace attn::lanes {

/// Makes the divisions in score and mask regions that count as pure, remainders and floordivsi, safe: by 0, or the
/// lowest value by -1, they would end the process. What such a division yields is unspecified.
void guardDivisions(mlir::Operation *root);

/// The ops of the region's block that `values` depend on, in its order.
llvm::SmallVector<mlir::Operation *> sliceOf(mlir::Region &region, mlir::ValueRange values);

/// Adds what `op` and the ops in its regions use.
inline void insertOperands(mlir::Operation &op, llvm::DenseSet<mlir::Value> &values) {
  op.walk([&](mlir::Operation *user) { values.insert(user->operand_begin(), user->operand_end()); });
}

/// True if one of the op's results is in `values`.
inline bool yieldsOneOf(mlir::Operation &op, const llvm::DenseSet<mlir::Value> &values) {
  return llvm::any_of(op.getResults(), [&](mlir::Value result) { return values.contains(result); });
}

} // namespace attn::lanes

#endif // ATTN_CONVERSION_FLASHLANES_REGIONS_H
