//===- BuildAttention.h - attn.attention from what was matched ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTN_FUSION_BUILDATTENTION_H
#define ATTN_DIALECT_ATTN_FUSION_BUILDATTENTION_H

#include "AttentionMatch.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"

namespace attn::fusion {

struct BuiltAttention {
  AttentionOp op;
  /// In place of the root's result.
  mlir::Value out;
  /// In place of the match's weights; null where it has none.
  mlir::Value weights;
};

/// Builds the op in front of the match's root, with views of its operands around it. The root stays.
BuiltAttention buildAttention(Elements &elements, const AttentionMatch &match);

/// Builds as buildAttention does.
using BuildFunction = llvm::function_ref<BuiltAttention(Elements &elements, const AttentionMatch &match)>;

/// A tensor whose dimensions are `from`, as one whose dimensions are `to`, of the same indices: by slices, reshapes
/// and, where the order differs, a transpose.
mlir::Value regroup(mlir::ImplicitLocOpBuilder &builder, Elements &elements, mlir::Value tensor,
                    llvm::ArrayRef<Axis> from, llvm::ArrayRef<Axis> to);

/// How many places each axis has.
llvm::SmallVector<mlir::OpFoldResult> sizesOf(mlir::ImplicitLocOpBuilder &builder, Elements &elements,
                                              llvm::ArrayRef<Axis> axes);

} // namespace attn::fusion

#endif // ATTN_DIALECT_ATTN_FUSION_BUILDATTENTION_H
