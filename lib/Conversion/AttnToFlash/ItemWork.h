//===- ItemWork.h - how much work an item of a parallel loop is --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Multiply-adds of f32, for flash.item_work: what an item takes where no mask skips keys. Estimates: the runtime asks
// only whether a loop is so small that one thread does it sooner.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_CONVERSION_ATTNTOFLASH_ITEMWORK_H
#define ATTN_CONVERSION_ATTNTOFLASH_ITEMWORK_H

#include "AttentionParts.h"
#include "attn/Target/TileModel.h"

namespace attn {

/// Of the softmax of a tile of queries over `keys` keys.
mlir::Value buildSoftmaxWork(mlir::ImplicitLocOpBuilder &builder, AttentionOp op, const AttentionParts &parts,
                             const TileSizes &tiles, mlir::Value keys);

/// Of the merge of `segments` partial results of a tile of queries.
mlir::Value buildMergeWork(mlir::ImplicitLocOpBuilder &builder, const AttentionParts &parts, const TileSizes &tiles,
                           mlir::Value segments);

/// Of the classification of a row of tiles, where the mask is evaluated everywhere.
mlir::Value buildClassificationWork(mlir::ImplicitLocOpBuilder &builder, const MaskDomain &domain,
                                    const TileSizes &tiles);

} // namespace attn

#endif // ATTN_CONVERSION_ATTNTOFLASH_ITEMWORK_H
