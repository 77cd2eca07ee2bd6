//===- LoopModel.h - block sizes of the linalg around attention ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TARGET_LOOPMODEL_H
#define ATTN_TARGET_LOOPMODEL_H

#include "attn/Target/TargetDescription.h"
#include <vector>

namespace attn {

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// out[m, n] += sum over k of left[m, k] * right[k, n]; sizes are negative where only the run knows them.
struct ContractionQuery {
  int64_t m = -1, n = -1, k = -1;
  /// Products of this size that run side by side, such as batch entries and heads; negative where unknown.
  int64_t outer = 1;
  /// Bits of the type that sums are kept in: 32 or 64.
  unsigned sumBits = 32;
  /// Neighbours along n of the right operand are neighbours in memory.
  bool isRightContiguous = true;
};

/// A register block is blockRows x lanes sums; `lanes` is a whole number of vectors along n. An item of the parallel
/// loop computes tileRows x tileColumns of out, `depth` of k at a time.
struct ContractionSizes {
  int64_t blockRows, lanes;
  int64_t tileRows, tileColumns;
  /// k of a copied part of the right operand; 0: all of k at once.
  int64_t depth;
  /// The right operand is copied, panel by panel of `lanes` columns, once for an item.
  bool packsRight;
  /// The work is enough for more than one thread.
  bool isParallel;
};

/// Sizes for a CPU. Pure. With v vectors along n, blockRows * v + v + 1 registers are needed; 6 x 2 of 16 registers and
/// 4 x 4 of 32 are what attention's products use, too. A panel (depth x lanes) fills half of the first-level cache, the
/// copied part of the right operand (depth x tileColumns) a third of the second.
///
/// Few rows (m is known and at most 2 * blockRows) read the right operand in place, since a copy costs as much as they
/// do: the block is then as wide as the registers allow, because memory is read along n. Where that is not possible,
/// a copy pays from four rows on.
ContractionSizes chooseContraction(const TargetDescription &target, const ContractionQuery &query);

/// Products of one left operand [m, k] with right operands [k, n[0]], [k, n[1]], ..., that may become one product.
struct MergeQuery {
  int64_t m = 0, k = 0;
  std::vector<int64_t> n;
  /// Bits of the type that sums are kept in, of an element of the right operands, and of the results.
  unsigned sumBits = 32, rightBits = 32, outBits = 32;
  bool isRightContiguous = true;
  /// The right operands are put side by side by the compiler, else by each run.
  bool isRightConstant = false;
};

/// Nanoseconds of a run.
struct MergeEstimate {
  double saved, cost;
  bool isWorth() const { return saved > cost; }
};

/// What one product saves: the starts of the other parallel loops, and registers that the last columns of a narrow
/// right operand leave empty. What it costs: to copy right operands that are no constants, on one thread, and to read
/// results again that no cache holds any more between their fill and the product. Pure.
MergeEstimate estimateMerge(const TargetDescription &target, const MergeQuery &query);

//===----------------------------------------------------------------------===//
// Elementwise loops and reductions
//===----------------------------------------------------------------------===//

/// The body of a loop over elements.
struct LoopQuery {
  /// Bits of the widest element that is read, computed or written.
  unsigned elementBits = 32;
  /// Operations of the body, and those of them that are functions (exp, tanh, erf, ...).
  int64_t operations = 1, functions = 0;
  /// The loop over lanes carries sums, one after the other.
  bool carriesLanes = false;
};

struct LoopSizes {
  /// Lanes of one vector, and of the main loop's body: some vectors side by side.
  int64_t lanes, mainLanes;
  /// Units of work of one element (a unit is about a quarter of a nanosecond), and those that an item of a parallel
  /// loop has at least.
  int64_t elementWork, itemWork;
};

/// Lanes and thresholds for a CPU. Pure. Bodies of few operations take four vectors at once, since loop control and,
/// for sums, the latency of the addition would decide their speed; bodies with functions take one, which fills the
/// registers. An item takes 16 microseconds or more: the start of one, with the wake-up of a thread, takes one to five.
LoopSizes chooseLoop(const TargetDescription &target, const LoopQuery &query);

} // namespace attn

#endif // ATTN_TARGET_LOOPMODEL_H
