//===- RaiseForeign.h - pieces of attn-raise ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations of dialects that MLIR does not ship arrive in generic form; they are known by name and operands alone. A
// function below that takes such an op replaces it, or reports why it cannot and leaves it as it was.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_RAISEFOREIGN_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_RAISEFOREIGN_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Pass/PassManager.h"

namespace attn {

/// The operations of a block but the last one: an unregistered terminator is none to MLIR.
inline llvm::iterator_range<mlir::Block::iterator> withoutLast(mlir::Block &block) {
  return {block.begin(), std::prev(block.end())};
}

/// What an attention op of another dialect says, in the terms of attn.attention. All values are tensors, but scale.
struct ForeignAttention {
  mlir::Value query, key, value;
  /// f32, or f64 for f64.
  mlir::Value scale;
  /// Null for none; i1 keeps where true, float is added to the score.
  mlir::Value mask;
  mlir::Value out;
  /// Layouts from (b, h, i | j, d | e), and the mask's from (b, h, i, j).
  mlir::AffineMap queryLayout, keyLayout, valueLayout, outLayout, maskLayout;
  /// Dimensions of the mask that are 1 broadcast, and so do missing ones in front (NumPy's rule).
  bool maskBroadcasts = false;
  /// Keep j <= i as well.
  bool isCausal = false;
  /// Applied to the score before the mask is added: one block that takes it and yields the new one. Null: nothing is.
  mlir::Block *score = nullptr;
};

/// Layouts of operands whose last two dimensions are length and feature, with up to two dimensions in front: heads,
/// then batch. Null for other ranks.
mlir::AffineMap getPlainLayout(mlir::MLIRContext *context, int64_t rank);

/// The attention op at the builder's place. `foreign` has layouts that fit its types' ranks.
AttentionOp createAttention(mlir::ImplicitLocOpBuilder &builder, const ForeignAttention &foreign);

/// The default scale 1 / sqrt(headDim) of an op whose query is a tensor with headDim last, in the score's type; for a
/// headDim that only the run knows it is computed, 1 for 0.
mlir::Value createDefaultScale(mlir::ImplicitLocOpBuilder &builder, mlir::Value query);

/// f64 for f64, else f32: the type of scores for operands of that element type.
mlir::FloatType getScoreType(mlir::Type elementType);

/// `tm_tensor.attention` and `iree_linalg_ext.attention`: error where the form is not understood.
mlir::LogicalResult raiseTmTensorAttention(mlir::Operation *op);
mlir::LogicalResult raiseIreeAttention(mlir::Operation *op);

/// `torch.aten.scaled_dot_product_attention`: missed remark where the form is not understood.
void raiseTorchAttention(mlir::Operation *op);

/// `tm_tensor.scan` and `iree_linalg_ext.scan`: error where the form is not understood.
mlir::LogicalResult raiseScan(mlir::Operation *op);

/// An output that a reduction combines with its elements and that is an empty tensor starts from the neutral element
/// instead: what exporters that forget it mean, and one of the undefined values.
void initializeReductions(mlir::linalg::LinalgOp op);

/// Results of unranked type that are casts of ranked tensors get the ranked type. Nothing may call the function.
void rankResults(mlir::func::FuncOp function);

/// An op of the index dialect becomes that of arith.
mlir::LogicalResult raiseIndex(mlir::Operation *op);

/// `affine.delinearize_index` and `affine.linearize_index` become arith.
mlir::LogicalResult raiseGridIndex(mlir::Operation *op);

/// `tensor.gather` becomes linalg.generic.
mlir::LogicalResult raiseGather(mlir::Operation *op);

/// What upstream's conversions of tosa lack.
void raiseTosaScatter(mlir::tosa::ScatterOp op);

/// Upstream's conversions of tosa, in the order that they need.
void buildTosaPipeline(mlir::OpPassManager &pm);

} // namespace attn

#endif // ATTN_LIB_DIALECT_ATTN_TRANSFORMS_RAISEFOREIGN_H
