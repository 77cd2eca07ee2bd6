//===- KvLoops.cpp - which kv tiles a tile of queries visits ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KvLoops.h"
#include "attn/Dialect/Attn/Analysis/RegionRanges.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

/// Operations above which a mask is worth a loop of full tiles without it.
static constexpr unsigned kCheapMaskOps = 16;

QueryTile attn::buildQueryTile(ImplicitLocOpBuilder &b, ValueRange indices, Value queryLen, int64_t queries) {
  Value size = arith::ConstantIndexOp::create(b, queries);
  Value i0 = arith::MulIOp::create(b, indices[2], size);
  Value count = arith::MinSIOp::create(b, arith::SubIOp::create(b, queryLen, i0), size);
  return {indices[0], indices[1], indices[2], i0, count};
}

MaskRanges attn::analyzeMaskOf(Region &region, const AttentionDims &dims) {
  auto limit = [](int64_t size) { return ShapedType::isDynamic(size) ? kMaxExtent : size; };
  return analyzeMask(region, limit(dims.queryLen), limit(dims.kvLen));
}

MaskRanges attn::analyzeAttentionMask(AttentionOp op, bool skipTiles) {
  if (!skipTiles)
    return {{Bound::minusInfinity(), Bound::plusInfinity()}, {Bound::plusInfinity(), Bound::minusInfinity()}};
  return analyzeMaskOf(op.getMaskRegion(), op.getDims());
}

static bool isExpensive(Region &mask) {
  bool readsPerElement = llvm::any_of(mask.front(), [&](Operation &op) {
    return isa<memref::LoadOp, tensor::ExtractOp>(op) && !isUniformInRegion(mask, op.getResult(0));
  });
  return readsPerElement || llvm::range_size(mask.front().without_terminator()) > kCheapMaskOps;
}

MaskPlan attn::planMask(AttentionOp op, const MaskRanges &ranges, bool skipTiles) {
  Region &mask = op.getMaskRegion();
  MaskPlan plan;
  if (mask.empty())
    return plan;
  plan.isClassified = skipTiles && (!ranges.isExact || op.getTiles());
  plan.isSplit = isExpensive(mask) && (plan.isClassified || !ranges.full.isAlwaysEmpty());
  plan.dependsOnBatch = !mask.getArgument(0).use_empty();
  plan.growsWithRows = growsWithRows(ranges.live);
  plan.dependsOnHead = !mask.getArgument(1).use_empty();
  return plan;
}

KvRange attn::buildKvRange(ImplicitLocOpBuilder &b, const MaskDomain &domain, const MaskRanges &ranges,
                           const QueryTile &tile, const TileSizes &tiles, bool isSplit) {
  Value endRow = arith::AddIOp::create(b, tile.i0, tile.queries);
  Value lastRow = arith::SubIOp::create(b, endRow, arith::ConstantIndexOp::create(b, 1));
  auto uniformOf = [&](Value value) { return buildUniform(b, *domain.region, value, tile.batch, tile.head); };
  auto bound = [&](const Bound &bound) { return bound.build(b, tile.i0, lastRow, uniformOf); };
  return buildKvRange(b, ranges, isSplit, domain.kvEnd(b, tile.batch), tiles.kvTile, bound);
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
  if (ranges.live.upper.limits(kMaxExtent).first < 0)
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
