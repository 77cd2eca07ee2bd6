//===- WrittenOut.h - attention step by step ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTN_FUSION_WRITTENOUT_H
#define ATTN_DIALECT_ATTN_FUSION_WRITTENOUT_H

#include "AttentionMatch.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn::fusion {

struct WrittenOut {
  /// One dimension for each of the match's outAxes.
  mlir::Value out;
  /// One dimension for each of the axes that were asked for, of the score type.
  std::optional<Operand> weights;
};

/// Computes what the match says by one op a step, at the builder's place: products, score and mask, maximum,
/// exponentials, sum, quotient, products. Every index has a static size, and tensors and scalars are at hand there. A
/// row without a key is NaN. Shares the expressions with BuildAttention, and neither layouts nor attn.attention.
WrittenOut writeOut(mlir::ImplicitLocOpBuilder &builder, Expressions &expressions, const AttentionMatch &match,
                    mlir::Type outType, const std::optional<llvm::SmallVector<Axis>> &weightAxes);

} // namespace attn::fusion

#endif // ATTN_DIALECT_ATTN_FUSION_WRITTENOUT_H
