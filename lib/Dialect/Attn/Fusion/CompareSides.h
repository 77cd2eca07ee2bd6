//===- CompareSides.h - two functions on the same data ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTN_FUSION_COMPARESIDES_H
#define ATTN_DIALECT_ATTN_FUSION_COMPARESIDES_H

#include "OutlineSides.h"

namespace attn::fusion {

/// What one input is.
struct InputData {
  /// Sizes; none of a scalar.
  llvm::SmallVector<int64_t> shape;
  /// Integers are below it: 2, or the size of what they index.
  int64_t limit = 2;
  /// The value of a scalar that sizes are computed from.
  std::optional<int64_t> value;
};

struct Verdict {
  /// Unknown: a side cannot be evaluated.
  enum Kind { Same, Different, Unknown } kind = Same;
  /// What differs, or why that is not known.
  std::string text;
};

/// Evaluates both sides on generated data, in f64 without any rounding on the way, and compares their results by
/// elements: within `tolerance` of the larger of both, or of 1; NaN before and 0 after are a dead row, which may
/// differ. `inputs`: one for each argument.
Verdict compareSides(const OutlinedSides &sides, llvm::ArrayRef<InputData> inputs, double tolerance);

} // namespace attn::fusion

#endif // ATTN_DIALECT_ATTN_FUSION_COMPARESIDES_H
