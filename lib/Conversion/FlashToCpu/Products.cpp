//===- Products.cpp - the two matrix products on the CPU -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both are register-blocked outer products over lanes of queries:
//
//   scores:      s[k][lanes]   += key[j0 + k, d]   * query[d][lanes]      blockRows keys, d is the reduction
//   accumulate:  acc[e][lanes] += value[j0 + k, e] * weight[k][lanes]     blockRows value columns, k is the reduction
//
// The scalar is a broadcast load from K or V as they lie in memory; accumulators are iter_args, so they stay in
// registers. What hand-written code reached this way: arXiv:2307.08691's loop, transposed (DESIGN of the CPU target).
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"
#include "Loops.h"
#include "Patterns.h"
#include "VectorMath.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn;
using namespace attn::flash;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Calls `block(b, first, count, carried)` over [0, size) in blocks of blockRows and then single rows (one smaller block
/// where the size is static). Returns the carried values.
static SmallVector<Value>
buildBlocks(ImplicitLocOpBuilder &b, Value size, int64_t blockRows, ValueRange start,
            llvm::function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value, int64_t, ValueRange)> block) {
  auto blocks = [&](Value low, Value high, int64_t count, ValueRange carried) {
    return buildCarryingLoop(b, low, high, count, carried,
                             [&](ImplicitLocOpBuilder &b, Value first, ValueRange carried) {
                               return block(b, first, count, carried);
                             });
  };
  Value zero = constantIndex(b, 0);
  if (std::optional<int64_t> known = getConstantIntValue(size)) {
    int64_t whole = *known / blockRows * blockRows;
    SmallVector<Value> carried(start);
    if (whole)
      carried = blocks(zero, constantIndex(b, whole), blockRows, carried);
    if (whole < *known)
      carried = block(b, constantIndex(b, whole), *known - whole, carried);
    return carried;
  }
  Value step = constantIndex(b, blockRows);
  Value whole = arith::MulIOp::create(b, arith::DivUIOp::create(b, size, step), step);
  return blocks(whole, size, 1, blocks(zero, whole, blockRows, start));
}

/// One element of K or V in every lane.
static Value broadcastElement(ImplicitLocOpBuilder &b, VectorType type, Value view, ValueRange indices) {
  Value element = memref::LoadOp::create(b, view, indices);
  if (element.getType() != type.getElementType())
    element = arith::ExtFOp::create(b, type.getElementType(), element);
  return vector::BroadcastOp::create(b, type, element);
}

namespace {

/// What becomes of a block of dot products: scale, regions, the tile in memory and the maximum.
class ScoreEpilogue {
public:
  ScoreEpilogue(ScoresOp op, ScoresOp::Adaptor adaptor, Value tile, VectorType rows, Value scaleAfter)
      : op(op), adaptor(adaptor), tile(tile), rows(rows), scaleAfter(scaleAfter) {}

  /// Position of each lane's query, evaluated at the last valid row behind the end. Built once, in front of the loops.
  void buildLanes(ImplicitLocOpBuilder &b);

  /// The score of key `k` (of the tile) from its dot products; stores it. Failure after a diagnostic.
  FailureOr<Value> finish(ImplicitLocOpBuilder &b, Value dot, Value k);

private:
  RegionRanges rangesOf(Region &region);

  ScoresOp op;
  ScoresOp::Adaptor adaptor;
  Value tile;
  VectorType rows;
  Value scaleAfter, laneQueries;
};

} // namespace

void ScoreEpilogue::buildLanes(ImplicitLocOpBuilder &b) {
  if (op.getScoreRegion().empty() && op.getMaskRegion().empty())
    return;
  auto type = VectorType::get(rows.getShape(), b.getI32Type());
  SmallVector<int32_t> iota(rows.getDimSize(0));
  std::iota(iota.begin(), iota.end(), 0);
  Value lane = arith::ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef(iota)));
  // convert-attn-to-flash has checked that lengths fit in 31 bits.
  auto everywhere = [&](Value index) {
    return vector::BroadcastOp::create(b, type, Value(arith::IndexCastOp::create(b, b.getI32Type(), index)));
  };
  Value last = arith::SubIOp::create(b, adaptor.getRows(), constantIndex(b, 1));
  Value inside = arith::MinSIOp::create(b, lane, everywhere(last));
  laneQueries = arith::AddIOp::create(b, everywhere(adaptor.getI0()), inside);
}

RegionRanges ScoreEpilogue::rangesOf(Region &region) {
  RegionRanges ranges;
  for (BlockArgument argument : region.getArguments().take_back(4))
    ranges.assume(argument, 0, kMaxExtent - 1);
  return ranges;
}

FailureOr<Value> ScoreEpilogue::finish(ImplicitLocOpBuilder &b, Value dot, Value k) {
  Value score = dot;
  if (scaleAfter)
    score = arith::MulFOp::create(b, score, vector::BroadcastOp::create(b, rows, scaleAfter));
  Value j = plus(b, adaptor.getJ0(), k);
  if (!op.getScoreRegion().empty()) {
    RegionRanges ranges = rangesOf(op.getScoreRegion());
    FailureOr<Value> changed = LaneCloner(b, rows.getDimSize(0), ranges)
                                   .clone(op.getScoreRegion(), {score, adaptor.getB(), adaptor.getH(), laneQueries, j});
    if (failed(changed))
      return failure();
    score = *changed;
  }
  if (!op.getMaskRegion().empty()) {
    RegionRanges ranges = rangesOf(op.getMaskRegion());
    FailureOr<Value> keep = LaneCloner(b, rows.getDimSize(0), ranges)
                                .clone(op.getMaskRegion(), {adaptor.getB(), adaptor.getH(), laneQueries, j});
    if (failed(keep))
      return failure();
    score = arith::SelectOp::create(b, *keep, score, splat(b, rows, -kInfinity));
  }
  vector::StoreOp::create(b, score, tile, ValueRange{k, constantIndex(b, 0)});
  return score;
}

namespace {

struct Scores : OpConversionPattern<ScoresOp> {
  Scores(const TileTypeConverter &converter, MLIRContext *context, const CpuLowering &lowering)
      : OpConversionPattern(converter, context), lowering(lowering) {}

  /// Dot products of `count` keys from `first`, lanes of queries.
  static SmallVector<Value> buildDots(ImplicitLocOpBuilder &b, ScoresOp::Adaptor adaptor, VectorType rows,
                                      ArrayRef<Value> keys) {
    SmallVector<Value> zeros(keys.size(), splat(b, rows, 0));
    return buildCarryingLoop(
        b, constantIndex(b, 0), getDimension(b, adaptor.getQuery(), 0), 1, zeros,
        [&](ImplicitLocOpBuilder &b, Value d, ValueRange dots) {
          Value query = vector::LoadOp::create(b, rows, adaptor.getQuery(), ValueRange{d, constantIndex(b, 0)});
          SmallVector<Value> next;
          for (auto [key, dot] : llvm::zip(keys, dots)) {
            Value element =
                broadcastElement(b, rows, adaptor.getKey(), {adaptor.getB(), adaptor.getHk(), key, d});
            next.push_back(vector::FMAOp::create(b, element, query, dot));
          }
          return next;
        });
  }

  LogicalResult matchAndRewrite(ScoresOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto rows = cast<VectorType>(getTypeConverter()->convertType(op.getRowMax().getType()));
    Value tile = createScratch(b, cast<MemRefType>(getTypeConverter()->convertType(op.getScores().getType())), {});
    ScoreEpilogue epilogue(op, adaptor, tile, rows, lowering.scaleAfter.lookup(op));
    epilogue.buildLanes(b);
    bool failedRegion = false;
    auto block = [&](ImplicitLocOpBuilder &b, Value first, int64_t count, ValueRange carried) -> SmallVector<Value> {
      SmallVector<Value> inTile, keys;
      for (int64_t k = 0; k < count; ++k) {
        inTile.push_back(plus(b, first, constantIndex(b, k)));
        keys.push_back(plus(b, adaptor.getJ0(), inTile.back()));
      }
      Value max = carried[0];
      for (auto [dot, k] : llvm::zip(buildDots(b, adaptor, rows, keys), inTile)) {
        FailureOr<Value> score = failedRegion ? FailureOr<Value>(failure()) : epilogue.finish(b, dot, k);
        failedRegion |= failed(score);
        max = failedRegion ? max : vectorMax(b, max, *score);
      }
      return {max};
    };
    Value none = splat(b, rows, -kInfinity);
    Value max = buildBlocks(b, adaptor.getKeys(), lowering.blockRows, none, block)[0];
    if (failedRegion)
      return failure();
    rewriter.replaceOp(op, {tile, max});
    return success();
  }

  const CpuLowering &lowering;
};

struct Accumulate : OpConversionPattern<AccumulateOp> {
  Accumulate(const TileTypeConverter &converter, MLIRContext *context, const CpuLowering &lowering)
      : OpConversionPattern(converter, context), lowering(lowering) {}

  /// acc * rescale + weights * value for `columns` of the value.
  static void buildColumns(ImplicitLocOpBuilder &b, AccumulateOp::Adaptor adaptor, VectorType rows,
                           ArrayRef<Value> columns) {
    Value zero = constantIndex(b, 0);
    SmallVector<Value> start;
    for (Value e : columns)
      start.push_back(arith::MulFOp::create(b, vector::LoadOp::create(b, rows, adaptor.getAcc(), ValueRange{e, zero}),
                                            adaptor.getRescale()));
    SmallVector<Value> sums = buildCarryingLoop(
        b, zero, adaptor.getKeys(), 1, start, [&](ImplicitLocOpBuilder &b, Value k, ValueRange sums) {
          Value weight = vector::LoadOp::create(b, rows, adaptor.getWeights(), ValueRange{k, constantIndex(b, 0)});
          Value j = plus(b, adaptor.getJ0(), k);
          SmallVector<Value> next;
          for (auto [e, sum] : llvm::zip(columns, sums)) {
            Value element = broadcastElement(b, rows, adaptor.getValue(), {adaptor.getB(), adaptor.getHk(), j, e});
            next.push_back(vector::FMAOp::create(b, element, weight, sum));
          }
          return next;
        });
    for (auto [e, sum] : llvm::zip(columns, sums))
      vector::StoreOp::create(b, sum, adaptor.getAcc(), ValueRange{e, zero});
  }

  LogicalResult matchAndRewrite(AccumulateOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto rows = cast<VectorType>(adaptor.getRescale().getType());
    buildBlocks(b, getDimension(b, adaptor.getAcc(), 0), lowering.blockRows, {},
                [&](ImplicitLocOpBuilder &b, Value first, int64_t count, ValueRange) -> SmallVector<Value> {
                  SmallVector<Value> columns;
                  for (int64_t k = 0; k < count; ++k)
                    columns.push_back(plus(b, first, constantIndex(b, k)));
                  buildColumns(b, adaptor, rows, columns);
                  return {};
                });
    rewriter.replaceOp(op, adaptor.getAcc());
    return success();
  }

  const CpuLowering &lowering;
};

} // namespace

void attn::populateProductPatterns(const TileTypeConverter &converter, const CpuLowering &lowering,
                                   RewritePatternSet &patterns) {
  patterns.add<Scores, Accumulate>(converter, patterns.getContext(), lowering);
}
