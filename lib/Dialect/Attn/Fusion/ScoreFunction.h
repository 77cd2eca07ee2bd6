//===- ScoreFunction.h - from scores to scale, score function and mask --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTN_FUSION_SCOREFUNCTION_H
#define ATTN_DIALECT_ATTN_FUSION_SCOREFUNCTION_H

#include "Operands.h"

namespace attn::fusion {

/// score = function of scale * dot product, where keep.
struct ScoreFunction {
  Scale scale;
  /// Stands for scale * dot product.
  ExprRef argument = nullptr;
  /// Of the score type.
  ExprRef score = nullptr;
  /// Null: every key is kept.
  ExprRef keep = nullptr;
  /// A mask constant that is finite, if there is one, and whether it became a mask as -inf does.
  std::optional<double> finiteMask;
  bool isFiniteMaskTaken = false;
  /// Where finite constants stay in the score: the condition that neither they nor -inf drop a key. What it drops has
  /// weight 0 in each row that keeps a key by it; other rows are as the score says.
  ExprRef keepIfAny = nullptr;
};

/// Splits `scores`, an expression of the dot product leaf `dot`, into scale, score function and mask. `key` is the
/// key's index. Fails where the dot product is used in a way that no function of one score is.
///
/// `keptWhere` (null for none): a condition under which the weights are set to 0 otherwise. It must be that of the
/// mask, for every row or for each key; then the mask may have any constant, since rows without a key are 0.
mlir::FailureOr<ScoreFunction> splitScores(Elements &elements, ExprRef scores, ExprRef dot, ExprRef key,
                                           mlir::FloatType scoreType, ExprRef keptWhere, std::string &reason);

} // namespace attn::fusion

#endif // ATTN_DIALECT_ATTN_FUSION_SCOREFUNCTION_H
