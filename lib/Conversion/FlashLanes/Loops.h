//===- Loops.h - building loops and scalars ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_FLASHLANES_LOOPS_H
#define ATTN_CONVERSION_FLASHLANES_LOOPS_H

#include "attn/Support/Builders.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attn::lanes {

inline mlir::Value plus(mlir::ImplicitLocOpBuilder &b, mlir::Value base, mlir::Value offset) {
  return mlir::arith::AddIOp::create(b, base, offset);
}

/// for (index = low; index < high; index += step) body(b, index)
/// The loop is in its place while the body is built, so that the body may look at what is around it.
inline void buildLoop(mlir::ImplicitLocOpBuilder &b, mlir::Value low, mlir::Value high, int64_t step,
                      llvm::function_ref<void(mlir::ImplicitLocOpBuilder &, mlir::Value)> body) {
  auto loop = mlir::scf::ForOp::create(b, low, high, constantIndex(b, step));
  mlir::OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  body(b, loop.getInductionVar());
}

/// The same with values carried from one trip to the next. Returns the last ones.
inline mlir::SmallVector<mlir::Value> buildCarryingLoop(
    mlir::ImplicitLocOpBuilder &b, mlir::Value low, mlir::Value high, int64_t step, mlir::ValueRange start,
    llvm::function_ref<mlir::SmallVector<mlir::Value>(mlir::ImplicitLocOpBuilder &, mlir::Value, mlir::ValueRange)>
        body) {
  auto loop = mlir::scf::ForOp::create(b, low, high, constantIndex(b, step), start);
  mlir::OpBuilder::InsertionGuard guard(b);
  if (start.empty())
    b.setInsertionPoint(loop.getBody()->getTerminator());
  else
    b.setInsertionPointToEnd(loop.getBody());
  mlir::SmallVector<mlir::Value> next = body(b, loop.getInductionVar(), loop.getRegionIterArgs());
  if (!start.empty())
    mlir::scf::YieldOp::create(b, next);
  return mlir::SmallVector<mlir::Value>(loop.getResults());
}

/// `body(b, index)` for 0, step, ... below `count`: written out where these are a few, else a loop, so that the code
/// does not grow with a size.
void buildRepeated(mlir::ImplicitLocOpBuilder &b, int64_t count, int64_t step,
                   llvm::function_ref<void(mlir::ImplicitLocOpBuilder &, mlir::Value)> body);

/// Calls `block(b, indices)` for blocks of `count` indices from `low` to `high`, which is no less. What is left over is
/// one smaller block where the bounds are static. Elsewhere it is the largest that may be left, and repeats the last
/// index: the same work again, to the same result.
void buildBlocks(mlir::ImplicitLocOpBuilder &b, mlir::Value low, mlir::Value high, int64_t count,
                 llvm::function_ref<void(mlir::ImplicitLocOpBuilder &, llvm::ArrayRef<mlir::Value>)> block);

} // namespace attn::lanes

#endif // ATTN_CONVERSION_FLASHLANES_LOOPS_H
