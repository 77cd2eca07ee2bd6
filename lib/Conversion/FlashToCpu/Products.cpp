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
// iter_args, so they stay in registers. The loop over chunks is inside the loop over blocks: a block of keys, or of
// value columns, is read from the nearest cache for all chunks but the first.
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

/// Calls `block(b, first, count)` over [0, size) in blocks of blockRows and then single rows (one smaller block where
/// the size is static).
static void buildBlocks(ImplicitLocOpBuilder &b, Value size, int64_t blockRows,
                        llvm::function_ref<void(ImplicitLocOpBuilder &, Value, int64_t)> block) {
  auto blocks = [&](Value low, Value high, int64_t count) {
    buildLoop(b, low, high, count, [&](ImplicitLocOpBuilder &b, Value first) { block(b, first, count); });
  };
  Value zero = constantIndex(b, 0);
  if (std::optional<int64_t> known = getConstantIntValue(size)) {
    int64_t whole = *known / blockRows * blockRows;
    if (whole)
      blocks(zero, constantIndex(b, whole), blockRows);
    if (whole < *known)
      block(b, constantIndex(b, whole), *known - whole);
    return;
  }
  Value step = constantIndex(b, blockRows);
  Value whole = arith::MulIOp::create(b, arith::DivUIOp::create(b, size, step), step);
  blocks(zero, whole, blockRows);
  blocks(whole, size, 1);
}

namespace {

/// The keys (or values) of a tile as a product reads them: in place, or widened in scratch.
class KvTile {
public:
  /// Rows [j0, j0 + keys) of a view [batch, heads, length, size]; keys is at most tileKeys.
  KvTile(ImplicitLocOpBuilder &b, Value view, ValueRange batchAndHead, Value j0, Value keys, int64_t tileKeys,
         Type element);

  /// The row of key k of the tile, for `broadcast`.
  Value row(ImplicitLocOpBuilder &b, Value k) const { return isCopy ? k : plus(b, j0, k); }

  /// One element in every lane.
  Value broadcast(ImplicitLocOpBuilder &b, VectorType type, Value row, Value column) const {
    SmallVector<Value> indices(prefix);
    indices.append({row, column});
    Value element = memref::LoadOp::create(b, view, indices);
    if (element.getType() != type.getElementType())
      element = arith::ExtFOp::create(b, type.getElementType(), element);
    return vector::BroadcastOp::create(b, type, element);
  }

private:
  void widen(ImplicitLocOpBuilder &b, Value copy, Value keys) const;

  Value view, j0;
  SmallVector<Value> prefix;
  bool isCopy = false;
};

} // namespace

KvTile::KvTile(ImplicitLocOpBuilder &b, Value view, ValueRange batchAndHead, Value j0, Value keys, int64_t tileKeys,
               Type element)
    : view(view), j0(j0), prefix(batchAndHead) {
  auto type = cast<MemRefType>(view.getType());
  // A copy of rows of unknown size would be scratch of unknown size; rows that do not lie in one piece have no vectors.
  if (type.getElementType() == element || type.isDynamicDim(3) || !type.isLastDimUnitStride())
    return;
  Value copy = createScratch(b, MemRefType::get({tileKeys, type.getDimSize(3)}, element), {});
  widen(b, copy, keys);
  this->view = copy;
  prefix.clear();
  isCopy = true;
}

/// copy[k][e] = view[.., j0 + k, e] in the wide type, in vectors as far as rows hold whole ones.
void KvTile::widen(ImplicitLocOpBuilder &b, Value copy, Value keys) const {
  auto to = cast<MemRefType>(copy.getType());
  Type narrow = cast<MemRefType>(view.getType()).getElementType();
  constexpr int64_t lanes = 16;
  int64_t size = to.getDimSize(1), whole = size / lanes * lanes;
  auto convert = [&](ImplicitLocOpBuilder &b, Value k, Value first, int64_t count) {
    SmallVector<Value> indices(prefix);
    indices.append({plus(b, j0, k), first});
    Value row = vector::LoadOp::create(b, VectorType::get({count}, narrow), view, indices);
    Value wide = arith::ExtFOp::create(b, VectorType::get({count}, to.getElementType()), row);
    vector::StoreOp::create(b, wide, copy, ValueRange{k, first});
  };
  buildLoop(b, constantIndex(b, 0), keys, 1, [&](ImplicitLocOpBuilder &b, Value k) {
    if (whole)
      buildLoop(b, constantIndex(b, 0), constantIndex(b, whole), lanes,
                [&](ImplicitLocOpBuilder &b, Value first) { convert(b, k, first, lanes); });
    if (whole < size)
      convert(b, k, constantIndex(b, whole), size - whole);
  });
}

namespace {

/// What becomes of a chunk of dot products: scale, regions, the tile in memory.
class ScoreEpilogue {
public:
  ScoreEpilogue(ScoresOp op, ScoresOp::Adaptor adaptor, Value tile, VectorType chunk, Value scaleAfter)
      : op(op), adaptor(adaptor), tile(tile), chunk(chunk), scaleAfter(scaleAfter) {}

  /// The score of key `k` (of the tile) from its dot products; stores it. Failure after a diagnostic.
  FailureOr<Value> finish(ImplicitLocOpBuilder &b, Value dot, Value k, Value lane);

  /// Builds what the regions want to know of the chunk from `lane`, for the calls of finish that follow.
  void startChunk(ImplicitLocOpBuilder &b, Value lane);

private:
  FailureOr<Value> cloneRegion(ImplicitLocOpBuilder &b, Region &region, ValueRange arguments);

  ScoresOp op;
  ScoresOp::Adaptor adaptor;
  Value tile;
  VectorType chunk;
  Value scaleAfter;
  /// Of the chunk: heads (a scalar where the tile has one) and queries.
  Value heads, queries;
};

} // namespace

void ScoreEpilogue::startChunk(ImplicitLocOpBuilder &b, Value lane) {
  if (op.getScoreRegion().empty() && op.getMaskRegion().empty())
    return;
  TileRows rows{adaptor.getH(), adaptor.getI0(), adaptor.getRows(), int64_t(op.getGroup())};
  heads = rows.laneHeads(b, chunk.getDimSize(0), lane);
  queries = rows.laneQueries(b, chunk.getDimSize(0), lane);
}

FailureOr<Value> ScoreEpilogue::cloneRegion(ImplicitLocOpBuilder &b, Region &region, ValueRange arguments) {
  RegionRanges ranges = rangesOfTiledRegion(region);
  return LaneCloner(b, chunk.getDimSize(0), ranges).clone(region, arguments);
}

FailureOr<Value> ScoreEpilogue::finish(ImplicitLocOpBuilder &b, Value dot, Value k, Value lane) {
  Value score = dot, batch = adaptor.getB(), j = plus(b, adaptor.getJ0(), k);
  if (scaleAfter)
    score = arith::MulFOp::create(b, score, vector::BroadcastOp::create(b, chunk, scaleAfter));
  if (!op.getScoreRegion().empty()) {
    FailureOr<Value> changed = cloneRegion(b, op.getScoreRegion(), {score, batch, heads, queries, j});
    if (failed(changed))
      return failure();
    score = *changed;
  }
  if (!op.getMaskRegion().empty()) {
    FailureOr<Value> keep = cloneRegion(b, op.getMaskRegion(), {batch, heads, queries, j});
    if (failed(keep))
      return failure();
    score = arith::SelectOp::create(b, *keep, score, splat(b, chunk, -kInfinity));
  }
  vector::StoreOp::create(b, score, tile, ValueRange{k, lane});
  return score;
}

namespace {

/// Asks memory for rows of K or V while something else is read: one cache line for each step of a loop over headDim.
struct RowPrefetch {
  Value view, batch, head;
  /// The first row.
  Value row;

  /// What step `d` of the loop asks for. Nothing where the size of a row is not known: it would take a division.
  void build(ImplicitLocOpBuilder &b, Value d) const {
    auto type = cast<MemRefType>(view.getType());
    if (type.isDynamicDim(3) || type.getDimSize(3) == 0)
      return;
    constexpr int64_t lineBits = 512;
    int64_t perLine = lineBits / type.getElementTypeBitWidth();
    Value lines = constantIndex(b, llvm::divideCeil(type.getDimSize(3), perLine));
    Value last = arith::SubIOp::create(b, getDimension(b, view, 2), constantIndex(b, 1));
    Value at = arith::MinSIOp::create(b, plus(b, row, arith::DivUIOp::create(b, d, lines)), last);
    Value column = arith::MulIOp::create(b, arith::RemUIOp::create(b, d, lines), constantIndex(b, perLine));
    // Into the second-level cache: the first one has no room for what is not used at once.
    memref::PrefetchOp::create(b, view, ValueRange{batch, head, at, column}, /*isWrite=*/false, /*localityHint=*/2,
                               /*isDataCache=*/true);
  }
};

struct Scores : OpConversionPattern<ScoresOp> {
  Scores(const TypeConverter &converter, MLIRContext *context, const CpuLowering &lowering)
      : OpConversionPattern(converter, context), lowering(lowering) {}

  /// Dot products of some keys of the tile with the chunk of queries from `lane`.
  static SmallVector<Value> buildDots(ImplicitLocOpBuilder &b, OpAdaptor adaptor, const KvTile &tile, VectorType chunk,
                                      Value lane, ArrayRef<Value> inTile, Value valuesToPrefetch) {
    SmallVector<Value> zeros(inTile.size(), splat(b, chunk, 0));
    SmallVector<Value> keys = llvm::map_to_vector(inTile, [&](Value k) { return tile.row(b, k); });
    SmallVector<RowPrefetch> prefetches;
    if (valuesToPrefetch) {
      Value first = plus(b, adaptor.getJ0(), inTile.front());
      // Two blocks ahead: one is on its way when it is asked for.
      Value next = plus(b, first, constantIndex(b, 2 * inTile.size()));
      prefetches.push_back({adaptor.getKey(), adaptor.getB(), adaptor.getHk(), next});
      prefetches.push_back({valuesToPrefetch, adaptor.getB(), adaptor.getHk(), first});
    }
    return buildCarryingLoop(b, constantIndex(b, 0), getDimension(b, adaptor.getQuery(), 0), 1, zeros,
                             [&](ImplicitLocOpBuilder &b, Value d, ValueRange dots) {
                               for (const RowPrefetch &prefetch : prefetches)
                                 prefetch.build(b, d);
                               Value query = vector::LoadOp::create(b, chunk, adaptor.getQuery(), ValueRange{d, lane});
                               SmallVector<Value> next;
                               for (auto [key, dot] : llvm::zip(keys, dots)) {
                                 Value element = tile.broadcast(b, chunk, key, d);
                                 next.push_back(vector::FMAOp::create(b, element, query, dot));
                               }
                               return next;
                             });
  }

  /// Scores of `count` keys from `first` with one chunk; folds them into the chunk's maximum.
  LogicalResult buildChunk(ImplicitLocOpBuilder &b, ScoresOp op, OpAdaptor adaptor, const KvTile &tile,
                           ScoreEpilogue &epilogue, Value rowMax, VectorType chunk, Value lane, Value first,
                           int64_t count) const {
    SmallVector<Value> inTile;
    for (int64_t k = 0; k < count; ++k)
      inTile.push_back(plus(b, first, constantIndex(b, k)));
    epilogue.startChunk(b, lane);
    Value max = vector::LoadOp::create(b, chunk, rowMax, lane);
    for (auto [dot, k] :
         llvm::zip(buildDots(b, adaptor, tile, chunk, lane, inTile, lowering.valuesToPrefetch.lookup(op)), inTile)) {
      FailureOr<Value> score = epilogue.finish(b, dot, k, lane);
      if (failed(score))
        return failure();
      max = vectorMax(b, max, *score);
    }
    vector::StoreOp::create(b, max, rowMax, lane);
    return success();
  }

  /// body(b), under the condition that the chunk keeps one of `count` keys from `first` where that is in question.
  static void buildWhereLive(ImplicitLocOpBuilder &b, Value ranges, VectorType chunk, Value lane, Value first,
                             int64_t count, llvm::function_ref<void(ImplicitLocOpBuilder &)> body) {
    if (!ranges)
      return body(b);
    ChunkKeys live = loadChunkKeys(b, ranges, chunk.getDimSize(0), lane, Value());
    auto less = [&](Value x, Value y) { return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, y); };
    Value isLive =
        arith::AndIOp::create(b, less(first, live.end), less(live.first, plus(b, first, constantIndex(b, count))));
    scf::IfOp::create(b, isLive, [&](OpBuilder &nested, Location loc) {
      ImplicitLocOpBuilder b(loc, nested);
      body(b);
      scf::YieldOp::create(b);
    });
  }

  LogicalResult matchAndRewrite(ScoresOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto convert = [&](Type type) { return cast<MemRefType>(getTypeConverter()->convertType(type)); };
    MemRefType rows = convert(op.getRowMax().getType());
    Value tile = createScratch(b, convert(op.getScores().getType()), {}), rowMax = createScratch(b, rows, {});
    VectorType chunk = chunkType(lowering, rows);
    ScoreEpilogue epilogue(op, adaptor, tile, chunk, lowering.scaleAfter.lookup(op));
    Value zero = constantIndex(b, 0);
    buildLoop(b, zero, constantIndex(b, rows.getDimSize(0)), chunk.getDimSize(0),
              [&](ImplicitLocOpBuilder &b, Value lane) {
                vector::StoreOp::create(b, splat(b, chunk, -kInfinity), rowMax, lane);
              });
    LogicalResult result = success();
    KvTile kvTile(b, adaptor.getKey(), {adaptor.getB(), adaptor.getHk()}, adaptor.getJ0(), adaptor.getKeys(),
                  op.getScores().getType().getKeys(), chunk.getElementType());
    buildBlocks(b, adaptor.getKeys(), lowering.blockRowsOf(chunk),
                [&](ImplicitLocOpBuilder &b, Value first, int64_t count) {
                  buildLoop(b, zero, adaptor.getRows(), chunk.getDimSize(0), [&](ImplicitLocOpBuilder &b, Value lane) {
                    auto build = [&](ImplicitLocOpBuilder &b) {
                      if (succeeded(result))
                        result = buildChunk(b, op, adaptor, kvTile, epilogue, rowMax, chunk, lane, first, count);
                    };
                    buildWhereLive(b, lowering.chunkKeys.lookup(op), chunk, lane, first, count, build);
                  });
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
  void buildChunk(ImplicitLocOpBuilder &b, AccumulateOp op, OpAdaptor adaptor, const KvTile &tile, VectorType chunk,
                  Value lane, ArrayRef<Value> columns) const {
    ChunkKeys keys = loadChunkKeys(b, lowering.chunkKeys.lookup(op), chunk.getDimSize(0), lane, adaptor.getKeys());
    Value rescale = vector::LoadOp::create(b, chunk, adaptor.getRescale(), lane);
    SmallVector<Value> start;
    for (Value e : columns)
      start.push_back(
          arith::MulFOp::create(b, vector::LoadOp::create(b, chunk, adaptor.getAcc(), ValueRange{e, lane}), rescale));
    SmallVector<Value> sums =
        buildCarryingLoop(b, keys.first, keys.end, 1, start, [&](ImplicitLocOpBuilder &b, Value k, ValueRange sums) {
          Value weight = vector::LoadOp::create(b, chunk, adaptor.getWeights(), ValueRange{k, lane});
          Value row = tile.row(b, k);
          SmallVector<Value> next;
          for (auto [e, sum] : llvm::zip(columns, sums)) {
            Value element = tile.broadcast(b, chunk, row, e);
            next.push_back(vector::FMAOp::create(b, element, weight, sum));
          }
          return next;
        });
    for (auto [e, sum] : llvm::zip(columns, sums))
      vector::StoreOp::create(b, sum, adaptor.getAcc(), ValueRange{e, lane});
  }

  LogicalResult matchAndRewrite(AccumulateOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto rows = cast<MemRefType>(adaptor.getRescale().getType());
    VectorType chunk = chunkType(lowering, rows);
    Value size = getDimension(b, adaptor.getAcc(), 0);
    KvTile tile(b, adaptor.getValue(), {adaptor.getB(), adaptor.getHk()}, adaptor.getJ0(), adaptor.getKeys(),
                op.getWeights().getType().getKeys(), chunk.getElementType());
    buildBlocks(b, size, lowering.blockRowsOf(chunk), [&](ImplicitLocOpBuilder &b, Value first, int64_t count) {
      SmallVector<Value> columns;
      for (int64_t k = 0; k < count; ++k)
        columns.push_back(plus(b, first, constantIndex(b, k)));
      buildLoop(b, constantIndex(b, 0), adaptor.getRows(), chunk.getDimSize(0),
                [&](ImplicitLocOpBuilder &b, Value lane) { buildChunk(b, op, adaptor, tile, chunk, lane, columns); });
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
