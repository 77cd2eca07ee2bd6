//===- TileAccess.h - elements, rows and copies of transposed tiles -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile of R rows (queries) and D columns is memref<R/L x D x L>: one piece of contiguous memory for each chunk of L
// rows. What a chunk works on then fills the sets of a cache evenly, and is a stream for its prefetcher.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_CONVERSION_FLASHTOCPU_TILEACCESS_H
#define ATTN_CONVERSION_FLASHTOCPU_TILEACCESS_H

#include "Lanes.h"

namespace attn {

/// The type of a tile whose chunks have `lanes` rows.
mlir::MemRefType tileType(int64_t rows, int64_t columns, int64_t lanes, mlir::Type element);

/// A column's elements of the rows from `lane`, which lie in one chunk.
mlir::Value loadLanes(mlir::ImplicitLocOpBuilder &builder, mlir::VectorType type, mlir::Value tile, mlir::Value column,
                      mlir::Value lane);
void storeLanes(mlir::ImplicitLocOpBuilder &builder, mlir::Value lanes, mlir::Value tile, mlir::Value column,
                mlir::Value lane);

/// tile[r][d] = scale * source[batch, h(r), i(r), d] for the rows that exist and the columns d of the tile; `scale` may
/// be null. Values are converted to the tile's type first.
void copyToTile(mlir::ImplicitLocOpBuilder &builder, mlir::Value source, mlir::Value batch, const TileRows &rows,
                mlir::Value scale, mlir::Value tile);

/// dest[batch, h(r), i(r), first + e] = tile[r][e] for the rows that exist and e < columns, in the type of dest.
void copyFromTile(mlir::ImplicitLocOpBuilder &builder, mlir::Value tile, mlir::Value columns, mlir::Value dest,
                  mlir::Value batch, const TileRows &rows, mlir::Value first);

} // namespace attn

#endif // ATTN_CONVERSION_FLASHTOCPU_TILEACCESS_H
