//===- CanonicalForm.h - what was matched, written out again ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A match says what the graph computes; the canonical form computes that step by step, from the match alone and with
// sizes of its own: products, scale, score function, mask, exp(s - max) over its sum, products with the values. Beside
// it stands the attention that BuildAttention makes of the same match.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_ATTN_FUSION_CANONICALFORM_H
#define ATTN_DIALECT_ATTN_FUSION_CANONICALFORM_H

#include "BuildAttention.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

namespace attn::fusion {

/// An axis whose size the canonical form must keep, and what fixes it.
struct KeptSize {
  int64_t size;
  llvm::StringRef reason;
};

/// The axes of the match that a constant fixes: one that indexes a constant tensor, or stands in a computed index, a
/// quotient or a remainder, where its stride or divisor is a constant. Axes of dynamic size are never kept.
llvm::MapVector<ExprRef, KeptSize> findKeptSizes(Expressions &expressions, const AttentionMatch &match);

struct CanonicalForm {
  /// A function of the operands and of what the expressions read, all of static size.
  mlir::func::FuncOp function;
  /// The output, then the weights where the match has them: step by step, and of the attention.
  llvm::SmallVector<mlir::Value> before, after;
  /// The match over the function's arguments.
  AttentionMatch match;
};

/// Builds the canonical form at the end of the module, its attention by `build`. `sizes` has one for each index of the
/// match's roles.
CanonicalForm buildCanonicalForm(mlir::ModuleOp module, Elements &elements, const AttentionMatch &match,
                                 const llvm::DenseMap<ExprRef, int64_t> &sizes, BuildFunction build);

/// Every index of the match's roles: batch, head, query, key, head dim, value dim.
llvm::SmallVector<ExprRef> getAtoms(const AttentionMatch &match);

/// What is read per element: score, masks, sink and the factors of the scale; none of them null.
llvm::SmallVector<ExprRef> getExpressions(const AttentionMatch &match);

} // namespace attn::fusion

#endif // ATTN_DIALECT_ATTN_FUSION_CANONICALFORM_H
