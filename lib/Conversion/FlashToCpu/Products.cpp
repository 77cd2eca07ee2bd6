//===- Products.cpp - the two matrix products on the CPU -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both are register-blocked outer products over chunks of lanes, which are queries:
//
//   scores:      s[k][lanes]   += key[j0 + k, d]   * query[d][lanes]      blockRows keys, d is the reduction
//   accumulate:  acc[e][lanes] += value[j0 + k, e] * weight[k][lanes]     blockRows value columns, k is the reduction
//
// The scalar is a broadcast load from K or V as they lie in memory, of 16-bit types from a copy of the tile that is
// widened once for all chunks (one conversion a vector and tile in place of one an element and chunk); accumulators are
// iter_args, so they stay in registers. The loop over blocks is inside the loop over chunks: what a chunk has of
// queries, weights or accumulators lies in one piece and stays in the nearest cache, the keys and values of the tile in
// the next.
//
//===----------------------------------------------------------------------===//

#include "../FlashLanes/Loops.h"
#include "../FlashLanes/VectorMath.h"
#include "KvTile.h"
#include "Patterns.h"
#include "ScoreEpilogue.h"
#include "TileAccess.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;
using namespace attn::lanes;
using namespace attn::flash;

namespace {

struct Scores : OpConversionPattern<ScoresOp> {
  Scores(const TypeConverter &converter, MLIRContext *context, const CpuLowering &lowering)
      : OpConversionPattern(converter, context), lowering(lowering) {}

  /// What to ask memory for while `count` keys from `first` of the tile are worked on: keys that come `ahead` of them,
  /// and their values, which are needed next. Nothing where the size of a row is not known, or zero.
  SmallVector<RowPrefetch> prefetches(ImplicitLocOpBuilder &b, ScoresOp op, OpAdaptor adaptor, Value first,
                                      int64_t ahead) const {
    Value values = adaptor.getPrefetch();
    auto isKnown = [](Value view) { return cast<MemRefType>(view.getType()).getDimSize(3) > 0; };
    if (!values || !isKnown(values) || !isKnown(adaptor.getKey()))
      return {};
    first = plus(b, adaptor.getJ0(), first);
    return {{adaptor.getKey(), adaptor.getB(), adaptor.getHk(), plus(b, first, constantIndex(b, ahead))},
            {values, adaptor.getB(), adaptor.getHk(), first}};
  }

  /// Dot products of some keys of the tile with the chunk of queries from `lane`.
  SmallVector<Value> buildDots(ImplicitLocOpBuilder &b, ScoresOp op, OpAdaptor adaptor, const KvTile &tile,
                               VectorType chunk, Value lane, ArrayRef<Value> keys) const {
    int64_t count = keys.size(), chunks = cast<MemRefType>(adaptor.getQuery().getType()).getDimSize(0);
    SmallVector<RowPrefetch> ahead;
    if (!op.getEachStep()) {
      // Enough work for each line: all of them in time for the next product and the next tile, a share in each chunk.
      Value share = arith::DivUIOp::create(b, lane, constantIndex(b, chunk.getDimSize(0)));
      for (const RowPrefetch &rows : prefetches(b, op, adaptor, keys.front(), op.getScores().getType().getKeys()))
        rows.buildShare(b, count, share, chunks);
    } else {
      // Bound by memory: a line each step, two blocks ahead, since one is on its way when it is asked for.
      ahead = prefetches(b, op, adaptor, keys.front(), 2 * count);
    }
    SmallVector<Value> zeros(count, splat(b, chunk, 0));
    return buildCarryingLoop(b, constantIndex(b, 0), getDimension(b, adaptor.getQuery(), 1), 1, zeros,
                             [&](ImplicitLocOpBuilder &b, Value d, ValueRange dots) {
                               for (const RowPrefetch &rows : ahead)
                                 rows.buildStep(b, d);
                               Value query = loadLanes(b, chunk, adaptor.getQuery(), d, lane);
                               SmallVector<Value> next;
                               for (auto [key, dot] : llvm::zip(keys, dots)) {
                                 Value element = tile.broadcast(b, chunk, key, d);
                                 next.push_back(vector::FMAOp::create(b, element, query, dot));
                               }
                               return next;
                             });
  }

  /// Scores of some keys of the tile with one chunk, or what becomes them in applyRegions.
  LogicalResult buildBlock(ImplicitLocOpBuilder &b, ScoresOp op, OpAdaptor adaptor, const KvTile &tile,
                           ScoreEpilogue &epilogue, Value rowMax, VectorType chunk, Value lane,
                           ArrayRef<Value> inTile) const {
    epilogue.prefetchNext(b, lane, inTile.front(), inTile.size());
    SmallVector<Value> dots = buildDots(b, op, adaptor, tile, chunk, lane, inTile);
    if (epilogue.isApart()) {
      for (auto [dot, k] : llvm::zip(dots, inTile))
        storeLanes(b, dot, epilogue.tile, k, lane);
      return success();
    }
    Value max = vector::LoadOp::create(b, chunk, rowMax, lane);
    for (auto [dot, k] : llvm::zip(dots, inTile)) {
      FailureOr<Value> score = epilogue.finish(b, dot, k, lane);
      if (failed(score))
        return failure();
      max = vectorMax(b, max, *score);
    }
    vector::StoreOp::create(b, max, rowMax, lane);
    return success();
  }

  /// The keys of the tile that a chunk computes, from and to: whole blocks around those that its rows may keep.
  static ChunkKeys roundToBlocks(ImplicitLocOpBuilder &b, const ChunkKeys &keys, Value tileKeys, int64_t blockRows) {
    Value count = constantIndex(b, blockRows);
    Value first = arith::SubIOp::create(b, keys.first, arith::RemUIOp::create(b, keys.first, count));
    Value end = arith::MulIOp::create(b, arith::CeilDivUIOp::create(b, keys.end, count), count);
    end = arith::MinSIOp::create(b, end, tileKeys);
    return {first, arith::MaxSIOp::create(b, end, first)};
  }

  LogicalResult buildChunk(ImplicitLocOpBuilder &b, ScoresOp op, OpAdaptor adaptor, const KvTile &tile,
                           ScoreEpilogue &epilogue, Value rowMax, VectorType chunk, Value lane) const {
    Value ranges = adaptor.getChunkKeys();
    int64_t blockRows = lowering.blockRowsOf(chunk);
    ChunkKeys keys = loadChunkKeys(b, ranges, chunk.getDimSize(0), lane, adaptor.getKeys());
    ChunkKeys computed = ranges ? roundToBlocks(b, keys, adaptor.getKeys(), blockRows) : keys;
    LogicalResult result = success();
    if (!epilogue.isApart())
      result = epilogue.start(b, lane, computed.first, computed.end);
    buildBlocks(b, computed.first, computed.end, blockRows, [&](ImplicitLocOpBuilder &b, ArrayRef<Value> inTile) {
      if (succeeded(result))
        result = buildBlock(b, op, adaptor, tile, epilogue, rowMax, chunk, lane, inTile);
    });
    if (failed(result) || !epilogue.isApart())
      return result;
    FailureOr<Value> max = epilogue.applyRegions(b, lane, keys.first, keys.end);
    if (succeeded(max))
      vector::StoreOp::create(b, *max, rowMax, lane);
    return max;
  }

  LogicalResult matchAndRewrite(ScoresOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto convert = [&](Type type) { return cast<MemRefType>(getTypeConverter()->convertType(type)); };
    MemRefType rows = convert(op.getRowMax().getType());
    Value tile = createScratch(b, convert(op.getScores().getType()), {}), rowMax = createScratch(b, rows, {});
    VectorType chunk = chunkType(lowering, rows);
    ScoreEpilogue epilogue(b, op, adaptor, tile, chunk);
    KvTile kvTile(b, adaptor.getKey(), {adaptor.getB(), adaptor.getHk()}, adaptor.getJ0(), adaptor.getKeys(),
                  {op.getScores().getType().getKeys(), cast<MemRefType>(tile.getType()).getDimSize(0)},
                  chunk.getElementType());
    Value lowest = splat(b, chunk, -kInfinity), zero = constantIndex(b, 0);
    // Chunks without a row have no scores, and a maximum nonetheless.
    buildLoop(b, zero, constantIndex(b, rows.getDimSize(0)), chunk.getDimSize(0),
              [&](ImplicitLocOpBuilder &b, Value lane) { vector::StoreOp::create(b, lowest, rowMax, lane); });
    LogicalResult result = success();
    buildLoop(b, zero, adaptor.getRows(), chunk.getDimSize(0), [&](ImplicitLocOpBuilder &b, Value lane) {
      result = buildChunk(b, op, adaptor, kvTile, epilogue, rowMax, chunk, lane);
    });
    if (failed(result))
      return failure();
    rewriter.replaceOp(op, {tile, rowMax});
    return success();
  }

  const CpuLowering &lowering;
};

struct Accumulate : OpConversionPattern<AccumulateOp> {
  Accumulate(const TypeConverter &converter, MLIRContext *context, const CpuLowering &lowering)
      : OpConversionPattern(converter, context), lowering(lowering) {}

  /// acc * rescale + weights * value for some `columns` of the value and one chunk.
  void buildBlock(ImplicitLocOpBuilder &b, AccumulateOp op, OpAdaptor adaptor, const KvTile &tile, VectorType chunk,
                  Value lane, ArrayRef<Value> columns) const {
    ChunkKeys keys = loadChunkKeys(b, adaptor.getChunkKeys(), chunk.getDimSize(0), lane, adaptor.getKeys());
    Value rescale = vector::LoadOp::create(b, chunk, adaptor.getRescale(), lane);
    SmallVector<Value> start;
    for (Value e : columns)
      start.push_back(arith::MulFOp::create(b, loadLanes(b, chunk, adaptor.getAcc(), e, lane), rescale));
    SmallVector<Value> sums =
        buildCarryingLoop(b, keys.first, keys.end, 1, start, [&](ImplicitLocOpBuilder &b, Value k, ValueRange sums) {
          Value weight = loadLanes(b, chunk, adaptor.getWeights(), k, lane);
          SmallVector<Value> next;
          for (auto [e, sum] : llvm::zip(columns, sums)) {
            Value element = tile.broadcast(b, chunk, k, e);
            next.push_back(vector::FMAOp::create(b, element, weight, sum));
          }
          return next;
        });
    for (auto [e, sum] : llvm::zip(columns, sums))
      storeLanes(b, sum, adaptor.getAcc(), e, lane);
  }

  LogicalResult matchAndRewrite(AccumulateOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto rows = cast<MemRefType>(adaptor.getRescale().getType());
    VectorType chunk = chunkType(lowering, rows);
    Value zero = constantIndex(b, 0), size = getDimension(b, adaptor.getAcc(), 1);
    KvTile tile(b, adaptor.getValue(), {adaptor.getB(), adaptor.getHk()}, adaptor.getJ0(), adaptor.getKeys(),
                {op.getWeights().getType().getKeys(), cast<MemRefType>(adaptor.getAcc().getType()).getDimSize(0)},
                chunk.getElementType());
    buildLoop(b, zero, adaptor.getRows(), chunk.getDimSize(0), [&](ImplicitLocOpBuilder &b, Value lane) {
      buildBlocks(b, zero, size, lowering.blockRowsOf(chunk), [&](ImplicitLocOpBuilder &b, ArrayRef<Value> columns) {
        buildBlock(b, op, adaptor, tile, chunk, lane, columns);
      });
    });
    rewriter.replaceOp(op, adaptor.getAcc());
    return success();
  }

  const CpuLowering &lowering;
};

} // namespace

void cpu::populateProductPatterns(const TileTypeConverter &converter, const CpuLowering &lowering,
                                  RewritePatternSet &patterns) {
  patterns.add<Scores, Accumulate>(converter, patterns.getContext(), lowering);
}
