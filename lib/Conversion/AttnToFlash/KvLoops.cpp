//===- KvLoops.cpp - which kv tiles a tile of queries visits ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KvLoops.h"
#include "attn/Dialect/Attn/Analysis/RegionRanges.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attn;

/// Operations above which a mask is worth a loop of full tiles without it.
static constexpr unsigned kCheapMaskOps = 16;

MaskRanges attn::analyzeAttentionMask(AttentionOp op, bool skipTiles) {
  if (!skipTiles)
    return {{Bound::minusInfinity(), Bound::plusInfinity()}, {Bound::plusInfinity(), Bound::minusInfinity()}};
  AttentionDims dims = op.getDims();
  auto limit = [](int64_t size) { return ShapedType::isDynamic(size) ? kMaxExtent : size; };
  return analyzeMask(op.getMaskRegion(), limit(dims.queryLen), limit(dims.kvLen));
}

static bool isNever(const KeyRange &range) { return range.lower.isPlusInfinity() || range.upper.isMinusInfinity(); }

static bool isExpensive(Region &mask) {
  bool readsPerElement = llvm::any_of(mask.front(), [&](Operation &op) {
    return isa<memref::LoadOp, tensor::ExtractOp>(op) && !isUniformInRegion(mask, op.getResult(0));
  });
  return readsPerElement || llvm::range_size(mask.front().without_terminator()) > kCheapMaskOps;
}

MaskPlan attn::planMask(AttentionOp op, const MaskRanges &ranges) {
  Region &mask = op.getMaskRegion();
  MaskPlan plan;
  if (mask.empty())
    return plan;
  plan.isClassified = !ranges.isExact;
  plan.isSplit = isExpensive(mask) && (plan.isClassified || !isNever(ranges.full));
  plan.dependsOnBatch = !mask.getArgument(0).use_empty() || op.getKvLengths();
  plan.dependsOnHead = !mask.getArgument(1).use_empty();
  return plan;
}

KvRange attn::buildKvRange(ImplicitLocOpBuilder &b, const MaskRanges &ranges, bool isSplit, Value kvEnd, int64_t kvTile,
                           llvm::function_ref<Value(const Bound &)> bound) {
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, value); };
  auto min = [&](Value x, Value y) -> Value { return arith::MinSIOp::create(b, x, y); };
  auto max = [&](Value x, Value y) -> Value { return arith::MaxSIOp::create(b, x, y); };
  auto roundDown = [&](Value x) -> Value { // x >= 0
    return arith::MulIOp::create(b, arith::DivUIOp::create(b, x, constant(kvTile)), constant(kvTile));
  };
  KvRange range{constant(0), {}, {}, kvEnd};
  if (!ranges.live.upper.isPlusInfinity())
    range.end = min(kvEnd, bound(ranges.live.upper));
  // Where no key is live the bound may be in front of the keys: a loop that starts at the end must not start there.
  if (!ranges.live.upper.isNonNegative())
    range.end = max(range.end, constant(0));
  if (!ranges.live.lower.isMinusInfinity()) {
    // Rounded down to the grid. An empty range stays empty: it starts at its end, which is never behind kvEnd.
    Value lower = max(bound(ranges.live.lower), constant(0));
    Value isSome = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, lower, range.end);
    range.first = arith::SelectOp::create(b, isSome, roundDown(lower), range.end);
  }
  if (!isSplit)
    return range;
  // Clamped so that the three loops meet: an end that is not on the grid leaves nothing to the loops behind it.
  range.firstFull = range.first;
  if (!ranges.full.lower.isMinusInfinity()) {
    Value fromZero = max(bound(ranges.full.lower), constant(0));
    Value limited = min(fromZero, constant(kMaxExtent));
    Value roundedUp = roundDown(arith::AddIOp::create(b, limited, constant(kvTile - 1)));
    range.firstFull = max(range.first, roundedUp);
  }
  range.firstFull = max(min(range.firstFull, range.end), range.first);
  Value fullEnd = ranges.full.upper.isPlusInfinity() ? range.end : min(bound(ranges.full.upper), range.end);
  range.lastFull = max(roundDown(max(fullEnd, constant(0))), range.firstFull);
  return range;
}

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

static bool hasUniforms(const MaskRanges &ranges) {
  SmallVector<Value> names;
  for (const Bound *bound : {&ranges.live.lower, &ranges.live.upper})
    bound->str(names);
  return !names.empty();
}

/// Share of the tiles of one head that are visited, for static sizes and bounds that depend on rows alone.
static std::optional<double> visitedShare(AttentionOp op, const MaskRanges &ranges, const TileSizes &tiles) {
  AttentionDims dims = op.getDims();
  if (ShapedType::isDynamic(dims.queryLen) || ShapedType::isDynamic(dims.kvLen) || dims.queryLen == 0 ||
      dims.kvLen == 0 || hasUniforms(ranges) || op.getKvLengths())
    return std::nullopt;
  auto noUniform = [](Value) -> int64_t { return 0; };
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

/// Why the tiles have to be looked at.
static std::string classificationText(const MaskRanges &ranges) {
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
    message += "; " + classificationText(ranges);
  else if (std::optional<double> share = visitedShare(op, ranges, tiles))
    message += llvm::formatv("; {0:F1} % of the {1} x {2} tiles are skipped", 100 * (1 - *share), tiles.queryRows,
                             tiles.kvTile);
  remark::passed(op.getLoc(), remark::RemarkOpts::name("convert-attn-to-flash").category("attn")) << message;
}
