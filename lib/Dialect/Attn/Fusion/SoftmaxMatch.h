//===- SoftmaxMatch.h - softmax in its spellings -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTN_FUSION_SOFTMAXMATCH_H
#define ATTN_DIALECT_ATTN_FUSION_SOFTMAXMATCH_H

#include "SoftmaxParts.h"

namespace attn::fusion {

/// weights(key) = exp(factor * scores(key)) / (sum over all keys of the same, + exp of each sink).
struct Softmax {
  /// Null: there is one key.
  ExprRef key = nullptr;
  /// Before the maximum is subtracted; natural units times 1 / factor.
  ExprRef scores = nullptr;
  double factor = 1;
  /// In natural units.
  llvm::SmallVector<ExprRef> sinks;
  /// The op that computes the sum, which stands for the softmax.
  mlir::Operation *sum = nullptr;
  /// A select gives rows without a key the weights 0.
  bool hasGuard = false;
  /// Where that select keeps weights, if not in the rows whose scores are not all -inf; null otherwise.
  ExprRef keptWhere = nullptr;
  /// The weights, guard included, before casts.
  ExprRef weights = nullptr;
};

struct SoftmaxOptions {
  /// Takes exp(x) / sum exp(x) for a softmax, though it overflows where a softmax does not.
  bool allowUnshifted = false;
  /// Rows are looked at for finite masks where there are at least so many keys.
  int64_t leastCheckedKeys = 0;
};

/// Why an expression that looks like a softmax is none, and of which op.
struct Miss {
  mlir::Operation *sum = nullptr;
  std::string reason;
  /// The index that the softmax is over in place of the key's, where that is the reason and it is known.
  ExprRef axis = nullptr;
  /// It is over another axis than this product contracts: another product may tell more.
  bool isOfAxis = false;
};

/// Matches `weights` as a softmax over `key`, which is null for one key. Fails without a reason where nothing in it
/// looks like one.
mlir::FailureOr<Softmax> matchSoftmax(Elements &elements, ExprRef weights, ExprRef key, const SoftmaxOptions &options,
                                      Miss &miss);

} // namespace attn::fusion

#endif // ATTN_DIALECT_ATTN_FUSION_SOFTMAXMATCH_H
