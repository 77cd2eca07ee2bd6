//===- Patterns.h - pieces of convert-flash-to-cpu -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_FLASHTOCPU_PATTERNS_H
#define ATTN_CONVERSION_FLASHTOCPU_PATTERNS_H

#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "attn/Target/TargetDescription.h"
#include "attn/Target/TileModel.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attn::cpu {

/// What the patterns share: the register block (keys or value columns times `lanes` queries).
struct CpuLowering {
  /// For a chunk of so many lanes.
  std::function<int64_t(int64_t lanes)> blockRows;
  int64_t lanes = 1;
  int64_t blockRowsOf(mlir::VectorType chunk) const { return blockRows(chunk.getDimSize(0)); }
};

/// The keys of a tile that some row of a chunk may keep: [first, end), counted from the tile's first. What is outside
/// of it in the tile of scores or weights is not written, and must not be read.
struct ChunkKeys {
  mlir::Value first, end;
};

/// The range of the chunk from `lane`; all of `keys` where `ranges` (chunk_keys of a step) is null.
ChunkKeys loadChunkKeys(mlir::ImplicitLocOpBuilder &builder, mlir::Value ranges, int64_t lanes, mlir::Value lane,
                        mlir::Value keys);

/// query, scores, acc and rows as ConversionPasses.td has them.
class TileTypeConverter : public mlir::TypeConverter {
public:
  /// `lanes` is of a whole register block.
  explicit TileTypeConverter(int64_t lanes);
};

/// What the cost model says for a function on a CPU.
struct CpuTiles {
  TargetDescription target;
  /// Bits of the type that scores are computed in; 32 if there are none.
  unsigned scoreBits;
  TileSizes sizes;
};

/// Failure after a diagnostic.
mlir::FailureOr<CpuTiles> tilesOf(mlir::Operation *function, llvm::StringRef target);

/// A scratch buffer: memref.alloc at the top of the parallel body (of the function, outside of one). `dynamicSize` is
/// for the extent that is dynamic, and must be defined in front of the parallel loop; outside of one in front of the
/// loops around, where such a buffer then is.
mlir::Value createScratch(mlir::ImplicitLocOpBuilder &builder, mlir::MemRefType type,
                          llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &)> dynamicSize);

/// The vector of one chunk of a tile's rows.
inline mlir::VectorType chunkType(const CpuLowering &lowering, mlir::Type rows) {
  auto type = mlir::cast<mlir::MemRefType>(rows);
  return mlir::VectorType::get({std::min(lowering.lanes, type.getDimSize(0))}, type.getElementType());
}

/// Patterns for load_query, init, update_max, weights, store, store_lse, store_weights, store_partial, load_partial and
/// merge.
void populateTilePatterns(const TileTypeConverter &converter, const CpuLowering &lowering,
                          mlir::RewritePatternSet &patterns);

/// Patterns for the two products: scores and accumulate.
void populateProductPatterns(const TileTypeConverter &converter, const CpuLowering &lowering,
                             mlir::RewritePatternSet &patterns);

/// The pattern for classify_tile.
void populateClassifyPatterns(const TileTypeConverter &converter, const CpuLowering &lowering,
                              mlir::RewritePatternSet &patterns);

} // namespace attn::cpu

#endif // ATTN_CONVERSION_FLASHTOCPU_PATTERNS_H
