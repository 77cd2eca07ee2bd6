//===- MaskRemark.cpp - what was proved of a mask, in words ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KvLoops.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attn;

/// Rows that are looked at one by one at most: a millisecond or so.
static constexpr int64_t kMaxRowsLookedAt = int64_t(1) << 17;

static bool hasUniforms(const MaskRanges &ranges) {
  SmallVector<Value> names;
  for (const Bound *bound : {&ranges.live.lower, &ranges.live.upper})
    bound->str(names);
  return !names.empty();
}

static int64_t noUniform(Value) { return 0; }

/// True if the types tell all, and looking is cheap: sizes are static, and bounds depend on rows alone.
static bool isWorkedOut(AttentionOp op, const MaskRanges &ranges) {
  AttentionDims dims = op.getDims();
  return !ShapedType::isDynamic(dims.queryLen) && !ShapedType::isDynamic(dims.kvLen) && dims.queryLen != 0 &&
         dims.queryLen <= kMaxRowsLookedAt && dims.kvLen != 0 && !hasUniforms(ranges) && !op.getKvLengths();
}

/// Share of the tiles of one head that are visited.
static std::optional<double> visitedShare(AttentionOp op, const MaskRanges &ranges, const TileSizes &tiles) {
  if (!isWorkedOut(op, ranges))
    return std::nullopt;
  AttentionDims dims = op.getDims();
  int64_t visited = 0, total = 0, keyTiles = llvm::divideCeil(dims.kvLen, tiles.kvTile);
  for (int64_t i0 = 0; i0 < dims.queryLen; i0 += tiles.queryRows) {
    int64_t last = std::min(i0 + tiles.queryRows, dims.queryLen) - 1;
    int64_t lower = std::max<int64_t>(ranges.live.lower.evaluate(i0, last, noUniform), 0) / tiles.kvTile;
    int64_t upper = std::min(ranges.live.upper.evaluate(i0, last, noUniform), dims.kvLen);
    visited += std::max<int64_t>(0, llvm::divideCeilSigned(upper, tiles.kvTile) - lower);
    total += keyTiles;
  }
  return double(visited) / double(total);
}

/// How many rows keep no key, where sizes are static and bounds depend on rows alone.
static std::optional<int64_t> countEmptyRows(AttentionOp op, const MaskRanges &ranges) {
  AttentionDims dims = op.getDims();
  if (!ranges.isExact || !isWorkedOut(op, ranges))
    return std::nullopt;
  int64_t empty = 0;
  for (int64_t i = 0; i < dims.queryLen; ++i) {
    int64_t lower = std::max<int64_t>(ranges.live.lower.evaluate(i, i, noUniform), 0);
    empty += lower >= std::min(ranges.live.upper.evaluate(i, i, noUniform), dims.kvLen);
  }
  return empty;
}

/// Whether a row can be empty, which costs nothing but is often not meant.
static std::string emptyRowsText(AttentionOp op, const MaskRanges &ranges) {
  if (std::optional<int64_t> empty = countEmptyRows(op, ranges))
    return *empty ? llvm::formatv("{0} of {1} rows keep no key", *empty, op.getDims().queryLen).str()
                  : "every row keeps a key";
  int64_t rows = op.getDims().queryLen;
  bool isProved = keepsFirstKey(ranges, ShapedType::isDynamic(rows) ? kMaxExtent : rows);
  return isProved ? "every row keeps a key, if there is one" : "rows may keep no key";
}

/// Why the tiles have to be looked at.
static std::string classificationText(AttentionOp op, const MaskRanges &ranges) {
  if (op.getTiles())
    return "tiles are classified by its operand";
  std::string text = "tiles are classified once per call";
  if (ranges.obstacle)
    return text + llvm::formatv(": '{0}' does not compare positions", ranges.obstacle->getName()).str();
  return text + ": the keys of a row are no single range";
}

void attn::emitMaskRemark(AttentionOp op, const MaskRanges &ranges, const MaskPlan &plan, const TileSizes &tiles) {
  if (op.getMaskRegion().empty())
    return;
  SmallVector<Value> names;
  auto text = [&](const KeyRange &range) { return "[" + range.lower.str(names) + ", " + range.upper.str(names) + ")"; };
  std::string message = "rows i0 to i1 visit keys " + text(ranges.live);
  if (plan.isSplit && !plan.isClassified)
    message += ", without the mask in " + text(ranges.full);
  if (plan.isClassified)
    message += "; " + classificationText(op, ranges);
  else if (std::optional<double> share = visitedShare(op, ranges, tiles))
    message += llvm::formatv("; {0:F1} % of the {1} x {2} tiles are skipped", 100 * (1 - *share), tiles.queryRows,
                             tiles.kvTile);
  message += "; " + emptyRowsText(op, ranges);
  remark::passed(op.getLoc(), remark::RemarkOpts::name("attn-analyze-mask").category("attn")) << message;
}
