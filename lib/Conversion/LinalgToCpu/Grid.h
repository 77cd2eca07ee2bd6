//===- Grid.h - parallel loops over tiles ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_LINALGTOCPU_GRID_H
#define ATTN_CONVERSION_LINALGTOCPU_GRID_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn::loops {

/// One dimension of a grid: `size` indices, `step` of them in a tile. `step` is positive.
struct GridDim {
  mlir::Value size, step;
};

/// Calls `body` with the first index of a tile and the one behind its last, in each dimension. Dimensions that are
/// known to have one tile have no loop. The others are an scf.forall, or scf.for where the grid is not parallel.
void buildGrid(
    mlir::ImplicitLocOpBuilder &builder, llvm::ArrayRef<GridDim> dims, bool isParallel,
    llvm::function_ref<void(mlir::ImplicitLocOpBuilder &, mlir::ValueRange lows, mlir::ValueRange highs)> body);

} // namespace attn::loops

#endif // ATTN_CONVERSION_LINALGTOCPU_GRID_H
