//===- KeptScores.cpp - how many scores an attention keeps ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Inspection/KeptScores.h"
#include "MapInputs.h"
#include "MaskProgram.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace attn;

namespace {

/// Keys [first, end) that are read; empty at the start.
struct KeySpan {
  int64_t first = std::numeric_limits<int64_t>::max(), end = 0;

  void add(int64_t from, int64_t to) {
    if (from >= to)
      return;
    first = std::min(first, from);
    end = std::max(end, to);
  }
  int64_t size() const { return std::max<int64_t>(end - first, 0); }
};

/// Counts the scores of one attention.
class Counter {
public:
  Counter(AttentionOp op, const MaskSizes &sizes, int64_t group, const TileMapInputs &inputs)
      : op(op), sizes(sizes), group(group), mask(op), program(op, mask.ranges, sizes, inputs) {}

  FailureOr<KeptScores> run();

private:
  LogicalResult countEntry(int64_t b, int64_t h, KeySpan &span);
  LogicalResult countRow(int64_t b, int64_t h, int64_t i, KeySpan &span);
  LogicalResult countKeys(int64_t b, int64_t h, int64_t i, int64_t first, int64_t end, KeySpan &span);

  AttentionOp op;
  MaskSizes sizes;
  /// Query heads of a kv head.
  int64_t group;
  AnalyzedMask mask;
  MaskProgram program;
  /// Of the entries that are told apart.
  double scores = 0;
  int64_t evaluated = 0;
  bool isExact = true;
};

} // namespace

/// Keys that the bounds leave open: the mask decides them one by one.
LogicalResult Counter::countKeys(int64_t b, int64_t h, int64_t i, int64_t first, int64_t end, KeySpan &span) {
  if (first >= end)
    return success();
  if (!program.knowsMask() || evaluated + end - first > kMaxEvaluatedScores) {
    isExact = false;
    scores += static_cast<double>(end - first);
    span.add(first, end);
    return success();
  }
  evaluated += end - first;
  FailureOr<std::vector<bool>> kept = program.keep(b, h, i, /*rows=*/1, first, end - first);
  if (failed(kept))
    return failure();
  for (int64_t j = first; j < end; ++j)
    if ((*kept)[j - first]) {
      scores += 1;
      span.add(j, j + 1);
    }
  return success();
}

LogicalResult Counter::countRow(int64_t b, int64_t h, int64_t i, KeySpan &span) {
  FailureOr<KeyLoopEnds> ends = program.loopEnds(b, h, i, /*rows=*/1);
  if (failed(ends))
    return failure();
  // Without a mask the bounds are those of kv_lengths.
  if (op.getMaskRegion().empty())
    *ends = {ends->first, ends->first, ends->end, ends->end};
  scores += static_cast<double>(ends->lastFull - ends->firstFull);
  span.add(ends->firstFull, ends->lastFull);
  return failure(failed(countKeys(b, h, i, ends->first, ends->firstFull, span)) ||
                 failed(countKeys(b, h, i, ends->lastFull, ends->end, span)));
}

LogicalResult Counter::countEntry(int64_t b, int64_t h, KeySpan &span) {
  for (int64_t i = 0; i < sizes.queryLen; ++i)
    if (failed(countRow(b, h, i, span)))
      return failure();
  return success();
}

FailureOr<KeptScores> Counter::run() {
  int64_t batches = mask.batches(sizes), heads = mask.heads(sizes);
  if (batches == 0 || heads == 0)
    return KeptScores();
  isExact = program.knowsKvEnd();
  double keys = 0;
  for (int64_t b = 0; b < batches; ++b) {
    std::vector<KeySpan> spans(llvm::divideCeil(heads, group));
    for (int64_t h = 0; h < heads; ++h)
      if (failed(countEntry(b, h, spans[h / group])))
        return failure();
    for (const KeySpan &span : spans)
      keys += static_cast<double>(span.size());
  }
  double entryCopies = static_cast<double>(sizes.batch) / static_cast<double>(batches);
  double headCopies = static_cast<double>(sizes.heads) / static_cast<double>(heads);
  double kvHeadCopies = mask.plan.dependsOnHead ? 1 : static_cast<double>(sizes.heads / group);
  return KeptScores{scores * entryCopies * headCopies, keys * entryCopies * kvHeadCopies, isExact};
}

FailureOr<KeptScores> attn::countKeptScores(AttentionOp op, int64_t group, TileMapInputs inputs) {
  inputs.queryTile = inputs.kvTile = 1;
  FailureOr<MaskSizes> sizes = resolveInputs(op, inputs);
  if (failed(sizes))
    return failure();
  return Counter(op, *sizes, group, inputs).run();
}
