//===- RegionRanges.h - integer ranges in score and mask regions ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which values can the integers of a region have? Decides where a captured load needs no clamp, and where 32 bits hold
// an index that behaves as 64 bits.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_ATTN_ANALYSIS_REGIONRANGES_H
#define ATTN_DIALECT_ATTN_ANALYSIS_REGIONRANGES_H

#include "mlir/IR/Value.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/DenseMap.h"

namespace attn {

/// Signed ranges of integer and index values, by the inference of each op (InferIntRangeInterface). Values without a
/// known range have that of their type. Cost: each value is looked at once.
class RegionRanges {
public:
  /// States that `value` is in [low, high].
  void assume(mlir::Value value, int64_t low, int64_t high);

  /// The range of an integer or index value; index has 64 bits.
  mlir::ConstantIntRanges get(mlir::Value value);

  /// True if every possible value is in [low, high].
  bool isWithin(mlir::Value value, int64_t low, int64_t high);

private:
  llvm::DenseMap<mlir::Value, mlir::ConstantIntRanges> ranges;
};

} // namespace attn

#endif // ATTN_DIALECT_ATTN_ANALYSIS_REGIONRANGES_H
