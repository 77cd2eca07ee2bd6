//===- VerifyGraph.h - what the compiler cannot lower ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_VERIFYGRAPH_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_VERIFYGRAPH_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attn {

/// Error for a map that divides by what is no positive constant: undefined below 1, and unknown elsewhere.
mlir::LogicalResult verifyDivisors(mlir::Operation *op, mlir::AffineMap map);

/// Error where an op's maps say what the loops that it becomes would not do: an element of an output is written at
/// several points of the parallel loops, or none; or an element outside of an operand may be read, and no check at run
/// time would see it. `op` passed its verifier.
mlir::LogicalResult verifyLinalgMaps(mlir::linalg::LinalgOp op);

} // namespace attn

#endif // ATTN_LIB_DIALECT_ATTN_TRANSFORMS_VERIFYGRAPH_H
