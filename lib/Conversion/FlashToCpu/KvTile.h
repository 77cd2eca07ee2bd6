//===- KvTile.h - keys or values of a tile as a product reads them *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_FLASHTOCPU_KVTILE_H
#define ATTN_CONVERSION_FLASHTOCPU_KVTILE_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn::cpu {

/// Rows [j0, j0 + keys) of K or V of one head: in place, or copied to scratch once for all chunks of the query tile.
/// Copied are 16-bit types, which are widened (one conversion a vector and tile in place of one an element and chunk),
/// and rows that are not neighbours in memory, where a walk down a column would keep hitting the same few sets of a
/// cache; only the run knows these.
class KvTile {
public:
  struct Extent {
    /// Keys at most, and chunks of query rows that read them.
    int64_t keys, chunks;
  };

  /// Of a view [batch, heads, length, size], as `element`.
  KvTile(mlir::ImplicitLocOpBuilder &builder, mlir::Value view, mlir::ValueRange batchAndHead, mlir::Value j0,
         mlir::Value keys, Extent extent, mlir::Type element);

  /// The element (key k of the tile, column) in every lane.
  mlir::Value broadcast(mlir::ImplicitLocOpBuilder &builder, mlir::VectorType type, mlir::Value k,
                        mlir::Value column) const;

private:
  mlir::Value copy(mlir::ImplicitLocOpBuilder &builder, mlir::Value scratch, mlir::Value keys) const;

  /// memref [keys, size].
  mlir::Value tile;
};

/// Rows of K or V that memory is asked for while something else is worked on.
class RowPrefetch {
public:
  /// The rows from `first` of a head; their size is static and not 0.
  RowPrefetch(mlir::Value view, mlir::Value batch, mlir::Value head, mlir::Value first);

  /// One line for step `d` of a loop over headDim, row by row.
  void buildStep(mlir::ImplicitLocOpBuilder &builder, mlir::Value d) const;

  /// Share number `share` of `shares` of the lines of `rows` rows, at once: a loop where a row has many.
  void buildShare(mlir::ImplicitLocOpBuilder &builder, int64_t rows, mlir::Value share, int64_t shares) const;

private:
  void buildLine(mlir::ImplicitLocOpBuilder &builder, mlir::Value row, mlir::Value line) const;

  mlir::Value view;
  llvm::SmallVector<mlir::Value> prefix;
  mlir::Value first;
  int64_t lineElements, lines;
};

} // namespace attn::cpu

#endif // ATTN_CONVERSION_FLASHTOCPU_KVTILE_H
