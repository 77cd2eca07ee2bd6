//===- KernelShape.h - threads and shared memory of a kernel -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything about a kernel that follows from the types of its tiles. Pure.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_CONVERSION_FLASHTONVVM_KERNELSHAPE_H
#define ATTN_CONVERSION_FLASHTONVVM_KERNELSHAPE_H

#include "attn/Target/TargetDescription.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attn::nvvm {

/// What the threads of a kernel share.
enum class KernelKind {
  /// Nothing: one item a thread.
  Items,
  /// One item a warp, which looks at the mask of a tile together.
  Classify,
  /// One item a block, each warp some rows of its tile.
  Tiles
};

/// Rows of elements in shared memory, each of whole 16-byte chunks, in an order in which eight neighbouring rows of one
/// chunk lie in different banks: chunk c of row r is at r * pitch + (c xor (r mod 8)) * 16 where a row is a multiple of
/// eight chunks, else at r * pitch + c * 16 with an odd number of chunks in a pitch. For warpgroups a tile is boxes of
/// eight chunks, one behind the other: what copies by tensor map write, and wgmma reads, with a swizzle of 128 bytes.
struct SharedTile {
  int64_t rows = 0;
  /// Elements of a row: those that exist, and with the zeros up to a whole fragment.
  int64_t columns = 0, paddedColumns = 0;
  int64_t elementBytes = 2;
  /// Bytes from row to row.
  int64_t pitch = 0;
  bool isSwizzled = false;
  bool isBoxed = false;

  int64_t bytes() const { return rows * pitch * (isBoxed ? boxes() : 1); }
  /// Of a boxed tile.
  int64_t boxes() const { return (chunks() + 7) / 8; }
  int64_t boxBytes() const { return rows * pitch; }
  /// Elements of a chunk, chunks of a row.
  int64_t perChunk() const { return 16 / elementBytes; }
  int64_t chunks() const { return paddedColumns / perChunk(); }
};

/// The layouts for rows of `columns` elements; boxes need rows in eights.
SharedTile layoutOf(int64_t rows, int64_t columns, int64_t elementBytes);
SharedTile boxesOf(int64_t rows, int64_t columns, int64_t elementBytes);

struct KernelShape {
  KernelKind kind = KernelKind::Items;
  /// Of a block.
  int64_t threads = 128;

  /// Of a kernel with tiles: rows of a tile and of a warp, keys of a tile (0: the kernel has no products).
  int64_t rows = 0, warpRows = 0, kvTile = 0;
  /// Elements of query, key and value.
  mlir::Type element;
  /// Columns of accumulators, with those up to a whole fragment.
  int64_t valueColumns = 0;
  SharedTile query, key, value;
  /// Where they start in the block's shared memory, in bytes; keys and values have kStages each, one after the other.
  int64_t keyOffset = 0, valueOffset = 0, sharedBytes = 0;

  static constexpr int64_t kStages = 2;

  /// Warpgroups (128 threads) that multiply, each 64 rows of the tile; one more brings keys and values. 0: every warp
  /// does both.
  int64_t consumers = 0;
  /// Where the barriers of stages are.
  int64_t barrierOffset = 0;

  /// A warpgroup multiplies the next keys beside these values. Rounded weights then wait in registers, for which there
  /// is room beside accumulators of up to 192 columns; ptxas spills above.
  bool overlapsProducts() const { return consumers && valueColumns <= 192; }

  /// 16-row fragments of a warp.
  int64_t rowFragments() const { return warpRows / 16; }
};

/// The shape of a kernel; failure after a diagnostic where its tiles disagree, or do not fit the chip.
mlir::FailureOr<KernelShape> shapeOfKernel(mlir::func::FuncOp kernel, const GpuTarget &target);

} // namespace attn::nvvm

#endif // ATTN_CONVERSION_FLASHTONVVM_KERNELSHAPE_H
