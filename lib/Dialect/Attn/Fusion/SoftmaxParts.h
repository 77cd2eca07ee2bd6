//===- SoftmaxParts.h - exponentials, quotients and selects of a softmax -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTN_FUSION_SOFTMAXPARTS_H
#define ATTN_DIALECT_ATTN_FUSION_SOFTMAXPARTS_H

#include "Elements.h"

namespace attn::fusion {

/// Without conversions between float types.
ExprRef stripCasts(ExprRef e);

/// True if `e` is not `inner`.
bool isNegation(ExprRef e, ExprRef &inner);

/// What a comparison of floats compares by.
mlir::arith::CmpFPredicate predicateOf(ExprRef comparison);

/// A select of 0, taken apart: 0 where the condition holds, or where it does not (isInverted), `value` elsewhere.
struct ZeroSelect {
  ExprRef condition, value;
  bool isInverted;
};
std::optional<ZeroSelect> splitZeroSelect(ExprRef e);

/// Numerator and denominator.
using Quotient = std::pair<ExprRef, ExprRef>;

/// A quotient, a product with a reciprocal, or an exponential that a logarithm is subtracted in.
std::optional<Quotient> splitWeights(Expressions &expressions, ExprRef e);

/// exp(factor * exponent) in natural units; 0 where `keep` does not hold, which is null where it always does.
struct Exponential {
  ExprRef exponent = nullptr, keep = nullptr;
  double factor = 1;
};
std::optional<Exponential> readExponential(Expressions &expressions, ExprRef e);

/// The axis of a whole softmax op.
std::optional<int64_t> getSoftmaxAxis(mlir::Operation *op);

/// The softmax op whose result the leaf is an element of; null for none.
mlir::Operation *getSoftmaxOp(ExprRef leaf);

/// The op of the sum that the leaf is, if it sums exponentials, times conditions or not, or is a softmax as a whole.
mlir::Operation *findExponentialSum(Elements &elements, ExprRef leaf);

/// The op that ends a softmax over one key of which sum and maximum are folded away, so that an exponential over itself
/// is left, somewhere in an expression that was read deep; null where there is none.
mlir::Operation *findFoldedSoftmax(Elements &elements, ExprRef e);

} // namespace attn::fusion

#endif // ATTN_DIALECT_ATTN_FUSION_SOFTMAXPARTS_H
