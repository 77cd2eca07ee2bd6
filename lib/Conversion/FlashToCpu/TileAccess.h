//===- TileAccess.h - elements, rows and copies of transposed tiles -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile of R rows (queries) and D columns is memref<R/L x D x L>: one piece of contiguous memory for each chunk of L
// rows. What a chunk works on then fills the sets of a cache evenly, and is a stream for its prefetcher.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_CONVERSION_FLASHTOCPU_TILEACCESS_H
#define ATTN_CONVERSION_FLASHTOCPU_TILEACCESS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn::cpu {

/// An element, or a vector of them, as `element`: a float in another precision, or i1 as 0 or 1.
mlir::Value convertElement(mlir::ImplicitLocOpBuilder &builder, mlir::Value value, mlir::Type element);

/// The type of a tile whose chunks have `lanes` rows.
mlir::MemRefType tileType(int64_t rows, int64_t columns, int64_t lanes, mlir::Type element);

/// A column's elements of the rows from `lane`, which lie in one chunk.
mlir::Value loadLanes(mlir::ImplicitLocOpBuilder &builder, mlir::VectorType type, mlir::Value tile, mlir::Value column,
                      mlir::Value lane);
void storeLanes(mlir::ImplicitLocOpBuilder &builder, mlir::Value lanes, mlir::Value tile, mlir::Value column,
                mlir::Value lane);

/// A part of a tile: the first `rows` rows, and columns [first, end).
struct TileWindow {
  mlir::Value rows, first, end;
};

/// Where a tensor has the element (row, column) of a tile. Neighbours along a row are neighbours in the tensor's last
/// dimension.
using TensorIndices = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ImplicitLocOpBuilder &builder,
                                                                        mlir::Value row, mlir::Value column)>;

/// tile[row][column] = source[at(row, column)] over the window. Floats are converted to the tile's type, i1 becomes 0
/// or
/// 1. Without `areNeighbours` no promise is made about where `at` points.
void copyToTile(mlir::ImplicitLocOpBuilder &builder, mlir::Value source, TensorIndices at, const TileWindow &window,
                mlir::Value tile, bool areNeighbours = true);

/// dest[at(row, column)] = tile[row][column] over the window, in the type of dest.
void copyFromTile(mlir::ImplicitLocOpBuilder &builder, mlir::Value tile, const TileWindow &window, mlir::Value dest,
                  TensorIndices at);

} // namespace attn::cpu

#endif // ATTN_CONVERSION_FLASHTOCPU_TILEACCESS_H
