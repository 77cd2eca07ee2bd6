//===- AttentionMatch.h - which part of a graph is an attention --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTN_FUSION_ATTENTIONMATCH_H
#define ATTN_DIALECT_ATTN_FUSION_ATTENTIONMATCH_H

#include "Operands.h"
#include "SoftmaxMatch.h"

namespace attn::fusion {

/// The indices that each dimension of attn.attention stands for, outer first; none means size 1.
struct Roles {
  llvm::SmallVector<ExprRef, 2> batch, head, query, key, headDim, valueDim;
  /// How many of `head` are those of the keys' heads; the others share one.
  unsigned numKvHead = 0;
};

/// An attention, found; nothing of the graph is changed by it.
struct AttentionMatch {
  /// The product with the values, and its result's dimensions.
  mlir::Operation *root = nullptr;
  llvm::SmallVector<Axis> outAxes;
  mlir::Operation *scoresOp = nullptr;
  Softmax softmax;
  Operand query, key, value;
  Roles roles;
  Scale scale;
  /// f32 or f64.
  mlir::FloatType scoreType;
  /// Stands for scale * dot product in `score`.
  ExprRef argument = nullptr;
  /// The score in natural units, of scoreType; `argument` where there is no more to it.
  ExprRef score = nullptr;
  /// The condition that keeps a key; null where all are kept.
  ExprRef keep = nullptr;
  /// Not null: in rows that keep a key by this condition, which is part of `keep`, others are dropped, too. The run
  /// finds these rows.
  ExprRef keepIfAny = nullptr;
  ExprRef sink = nullptr;
  /// A tensor of weights that has other users, and how it is indexed.
  std::optional<Operand> weights;
  /// What is worth knowing, for the remark.
  llvm::SmallVector<std::string> notes;
};

/// Which tensor of the given weights something else uses; none where nothing does.
using FindWeights = llvm::function_ref<std::optional<Operand>(ExprRef weights)>;

/// Matches the contraction `root` as the product of weights and values. Fails without a reason where it reads nothing
/// like a softmax.
mlir::FailureOr<AttentionMatch> matchAttention(Elements &elements, mlir::Operation *root, const SoftmaxOptions &options,
                                               FindWeights findWeights, Miss &miss);

} // namespace attn::fusion

#endif // ATTN_DIALECT_ATTN_FUSION_ATTENTIONMATCH_H
