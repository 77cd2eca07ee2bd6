//===- ParallelLoops.h - what outlining scf.forall needs -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_DIALECT_FLASH_TRANSFORMS_PARALLELLOOPS_H
#define ATTN_LIB_DIALECT_FLASH_TRANSFORMS_PARALLELLOOPS_H

#include "SizeArithmetic.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attn::flash {

/// The outermost parallel loops of a function, in order.
mlir::SmallVector<mlir::scf::ForallOp> outermostLoops(mlir::func::FuncOp function);

/// Checks that a loop may be outlined (it has no results), and makes sequential loops of those in it. Failure after a
/// diagnostic.
mlir::LogicalResult prepareLoop(mlir::scf::ForallOp loop, mlir::RewriterBase &rewriter);

/// Iterations of each dimension: max(0, ceil((upper - lower) / step)).
mlir::SmallVector<mlir::OpFoldResult> tripCounts(mlir::scf::ForallOp loop, SizeArithmetic &sizes,
                                                 mlir::ImplicitLocOpBuilder &builder);

/// The number of items, in front of the loop; the call ends where it leaves 63 bits.
mlir::Value countItems(llvm::ArrayRef<mlir::OpFoldResult> tripCounts, SizeArithmetic &sizes,
                       mlir::ImplicitLocOpBuilder &builder);

/// Maps item `item` to the loop's induction variables, the last dimension fastest.
mlir::SmallVector<mlir::Value> delinearize(mlir::Value item, mlir::scf::ForallOp loop,
                                           llvm::ArrayRef<mlir::OpFoldResult> counts,
                                           mlir::ImplicitLocOpBuilder &builder);

/// Moves the loop's body in front of the terminator of `into`, with these values of its induction variables. The
/// constants that it uses from outside go into `region`, around `into`, as clones, so that they are not captured.
void moveBody(mlir::scf::ForallOp loop, mlir::ValueRange indices, mlir::Block *into, mlir::Region &region,
              mlir::RewriterBase &rewriter);

/// Makes parameters of what the function's body uses from the loop's surroundings; returns what to pass for them.
mlir::SmallVector<mlir::Value> captureValues(mlir::func::FuncOp function);

} // namespace attn::flash

#endif // ATTN_LIB_DIALECT_FLASH_TRANSFORMS_PARALLELLOOPS_H
