//===- PresburgerOracle.h - mask analysis checked for all sizes --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_UNIT_PRESBURGERORACLE_H
#define ATTN_TEST_UNIT_PRESBURGERORACLE_H

#include "attn/Dialect/Attn/Analysis/MaskAnalysis.h"
#include <string>

namespace attn {

/// Proves what `ranges` says of a mask region with arguments (b, h, i, j), for every tile of rows 0 <= i0 <= i1 <
/// maxExtent, every key below it and every value of the uniforms:
/// * every key that a row keeps is in `live`, and every key in `full` is kept by every row;
/// * where the analysis is exact: the first and the last key of `live` below any number of keys are kept by some row.
/// The region and the bounds are translated, by the IR that Bound::build makes, to Presburger formulas, which MLIR's
/// library decides. Returns what is wrong, or nothing; `not affine` where an operation has no translation.
std::string disprove(mlir::Region &region, const MaskRanges &ranges, int64_t maxExtent);

} // namespace attn

#endif // ATTN_TEST_UNIT_PRESBURGERORACLE_H
