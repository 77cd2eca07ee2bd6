//===- CompareSides.h - two functions on the same data ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTN_FUSION_COMPARESIDES_H
#define ATTN_DIALECT_ATTN_FUSION_COMPARESIDES_H

#include "OutlineSides.h"
#include "attn/Reference/Tensor.h"

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

/// Data for arguments of these types, `inputs` one for each; nullopt after a reason.
std::optional<std::vector<reference::Tensor>> makeArguments(mlir::TypeRange types, llvm::ArrayRef<InputData> inputs,
                                                            uint64_t seed, std::string &reason);

/// Evaluates on one thread, within a bound of work and memory; nullopt after a reason, which nobody else is told.
std::optional<std::vector<reference::Tensor>>
evaluateQuietly(mlir::func::FuncOp function, llvm::ArrayRef<reference::Tensor> arguments, std::string &reason);

/// The first element that differs, as compareSides compares (integers: equal); empty where none does. `where` and
/// `whereAfter` name the sides.
std::string findDifference(const reference::Tensor &before, const reference::Tensor &after, double tolerance,
                           llvm::StringRef where, llvm::StringRef whereAfter);

/// The shapes of the inputs that have one.
std::string describeInputs(llvm::ArrayRef<InputData> inputs);

} // namespace attn::fusion

#endif // ATTN_DIALECT_ATTN_FUSION_COMPARESIDES_H
