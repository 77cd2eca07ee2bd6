//===- AttnToFlash.cpp - attn.attention to the FlashAttention loop ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One attention becomes
//
//   checks of what only the run knows (flash.require)
//   scf.forall over (b, h, tile of queries) { classify_tile over kv tiles }    only for masks without bounds
//   scf.forall (b, h, tile of queries) {
//     load_query, init
//     scf.for over kv tiles { scores, update_max, weights, accumulate }      one loop, or three: masked, full, masked,
//                                                                            or one for each run of classified tiles
//     store, store_lse
//     scf.for over kv tiles { scores, store_weights }          only if the weights are asked for
//   }
//
// or, where few queries would leave threads without work (Segments.h),
//
//   scf.forall (b, h, tile of queries, segment of keys) {
//     load_query, init, the loops over its kv tiles, store_partial
//   }
//   scf.forall (b, h, tile of queries) {
//     init
//     scf.for over segments { load_partial, merge }
//     store, store_lse
//   }
//
// as in arXiv:2307.08691, algorithm 1. kv tiles lie on the fixed grid n * tileKv, so that where the loop starts and
// ends changes no bit. Which kv tiles are visited is decided by KvLoops.h alone. attn.classify_tiles is the first of
// the two loops alone (TileClasses.h).
//
//===----------------------------------------------------------------------===//

#include "AttentionParts.h"
#include "IndexMath.h"
#include "ItemWork.h"
#include "KvLoops.h"
#include "Segments.h"
#include "TileClasses.h"
#include "attn/Conversion/Passes.h"
#include "attn/Conversion/TileChoice.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

#define DEBUG_TYPE "convert-attn-to-flash"

namespace attn {
#define GEN_PASS_DEF_CONVERTATTNTOFLASHPASS
#include "Conversion/ConversionPasses.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using namespace attn::flash;

/// Scores are built in natural units; flash-fold-scale changes the unit.
static llvm::APFloat naturalUnit() { return llvm::APFloat(1.0); }

namespace {

/// The loop-carried state of the online softmax.
struct SoftmaxState {
  Value max, sum, acc;
};

/// Builds the tiled form of one attention.
class TiledAttention {
public:
  struct Options {
    bool skipTiles, countKvTiles;
    /// The target tells full tiles from others by itself, warp by warp: one loop over kv tiles serves it better.
    bool hasOneLoop;
  };
  TiledAttention(ImplicitLocOpBuilder &builder, AttentionOp op, const TileSizes &tiles, const Options &options)
      : b(builder), op(op), parts(builder, op), scoreType(op.getScoreType()), tiles(tiles), options(options),
        mask(analyzeClamped()), plan(planMask(op, mask, options.skipTiles)), domain(parts.maskDomain()) {
    plan.isSplit &= plan.isClassified || !options.hasOneLoop;
    emitMaskRemark(op, mask, plan, tiles);
  }

  void build();

private:
  /// Captured loads are clamped first: bounds may be built from them.
  MaskRanges analyzeClamped() {
    clampCapturedLoads(op);
    return analyzeAttentionMask(op, options.skipTiles);
  }
  void buildClasses();
  void forEachTile(Value itemWork, Value segmentCount, llvm::function_ref<void(Value segment)> body);
  void buildTile();
  void buildSegment(const KvSegments &segments, Value segment);
  void buildMergedTile(const KvSegments &segments);
  SoftmaxState buildInit(Value sink);
  SoftmaxState buildSoftmax(const KvRange &range, Value sink);
  void buildResults(const SoftmaxState &final);
  ScoresOp buildScores(ImplicitLocOpBuilder &b, Value j0, Value keys, bool isMasked);
  SoftmaxState buildStep(ImplicitLocOpBuilder &b, Value j0, Value keys, bool isMasked, const SoftmaxState &state);
  SoftmaxState buildKvLoop(ImplicitLocOpBuilder &b, Value first, Value last, Value end, bool isMasked,
                           const SoftmaxState &start);
  SoftmaxState buildKvLoops(const KvRange &range, const SoftmaxState &start);
  SoftmaxState buildRun(ImplicitLocOpBuilder &b, const TileRun &run, const SoftmaxState &start);
  SoftmaxState buildRuns(const KvRange &range, const SoftmaxState &start);
  void buildWeights(const KvRange &range, const SoftmaxState &final);

  RowsType rowsType() { return RowsType::get(b.getContext(), tiles.queryRows, scoreType); }
  ScoresType scoresType() { return ScoresType::get(b.getContext(), tiles.queryRows, tiles.kvTile, scoreType); }
  Value constant(int64_t value) { return constantIndex(b, value); }
  KvRange kvRange() { return buildKvRange(b, domain, mask, tile, tiles, plan.isSplit && !plan.isClassified); }
  Value sinkOfTile() { return op.getSink() ? readElement(b, op.getSink(), tile.head) : Value(); }

  ImplicitLocOpBuilder &b;
  AttentionOp op;
  AttentionParts parts;
  Type scoreType;
  TileSizes tiles;
  Options options;
  MaskRanges mask;
  MaskPlan plan;
  MaskDomain domain;
  /// Where plan.isClassified.
  TileClassRows classes;
  /// The tile that is being built, and of it: its rows (queries times heads), kv head, logical end of keys, query tile.
  QueryTile tile;
  Value rows, kvHead, kvEnd, query;
};

} // namespace

ScoresOp TiledAttention::buildScores(ImplicitLocOpBuilder &b, Value j0, Value keys, bool isMasked) {
  auto scores = ScoresOp::create(b, scoresType(), rowsType(), query, parts.key, tile.batch, tile.head, kvHead, tile.i0,
                                 j0, rows, keys, op.getScale(), /*prefetch=*/Value(), /*chunkKeys=*/Value(),
                                 /*stage=*/Value(), /*eachStep=*/false, tiles.group);
  IRMapping mapping;
  op.getScoreRegion().cloneInto(&scores.getScoreRegion(), mapping);
  if (isMasked)
    op.getMaskRegion().cloneInto(&scores.getMaskRegion(), mapping);
  return scores;
}

SoftmaxState TiledAttention::buildStep(ImplicitLocOpBuilder &b, Value j0, Value keys, bool isMasked,
                                       const SoftmaxState &state) {
  ScoresOp scores = buildScores(b, j0, keys, isMasked);
  auto update = UpdateMaxOp::create(b, rowsType(), rowsType(), state.max, scores.getRowMax(), naturalUnit());
  auto weights = WeightsOp::create(b, scoresType(), rowsType(), scores.getScores(), update.getNewMax(), state.sum,
                                   update.getRescale(), rows, keys, /*chunkKeys=*/Value(), naturalUnit());
  auto acc =
      AccumulateOp::create(b, state.acc.getType(), state.acc, update.getRescale(), weights.getWeights(), parts.value,
                           tile.batch, kvHead, j0, rows, keys, /*chunkKeys=*/Value(), /*stage=*/Value());
  if (options.countKvTiles)
    CountKvTilesOp::create(b, arith::ConstantIndexOp::create(b, 1));
  return {update.getNewMax(), weights.getNewSum(), acc.getResult()};
}

/// The record that the op was given, which is checked in any case; or the pre-pass, in a record that serves the batch
/// entries and heads that the mask does not tell apart.
void TiledAttention::buildClasses() {
  if (op.getTiles())
    classes = readKeptClasses(b, op.getTiles(), domain, plan, tiles);
  if (op.getTiles() || !plan.isClassified)
    return;
  Value one = constant(1);
  bool perBatch = plan.dependsOnBatch || op.getKvLengths();
  classes = allocateTileClasses(b, perBatch ? parts.batch : one, plan.dependsOnHead ? parts.heads : one, domain, tiles);
  buildClassification(b, domain, mask, tiles, classes);
}

/// kv tiles from `first` to `last`; keys at and behind `end` take no part.
SoftmaxState TiledAttention::buildKvLoop(ImplicitLocOpBuilder &b, Value first, Value last, Value end, bool isMasked,
                                         const SoftmaxState &start) {
  auto loop = scf::ForOp::create(b, first, last, arith::ConstantIndexOp::create(b, tiles.kvTile),
                                 ValueRange{start.max, start.sum, start.acc},
                                 [&](OpBuilder &nested, Location loc, Value j0, ValueRange carried) {
                                   ImplicitLocOpBuilder b(loc, nested);
                                   Value keys = arith::ConstantIndexOp::create(b, tiles.kvTile);
                                   if (end)
                                     keys = arith::MinSIOp::create(b, arith::SubIOp::create(b, end, j0), keys);
                                   SoftmaxState state{carried[0], carried[1], carried[2]};
                                   SoftmaxState next = buildStep(b, j0, keys, isMasked, state);
                                   scf::YieldOp::create(b, ValueRange{next.max, next.sum, next.acc});
                                 });
  return {loop.getResult(0), loop.getResult(1), loop.getResult(2)};
}

SoftmaxState TiledAttention::buildKvLoops(const KvRange &range, const SoftmaxState &start) {
  if (!range.firstFull)
    return buildKvLoop(b, range.first, range.end, range.end, /*isMasked=*/true, start);
  SoftmaxState head = buildKvLoop(b, range.first, range.firstFull, range.end, /*isMasked=*/true, start);
  // Full tiles have every key: their size is constant.
  SoftmaxState full = buildKvLoop(b, range.firstFull, range.lastFull, {}, /*isMasked=*/false, head);
  return buildKvLoop(b, range.lastFull, range.end, range.end, /*isMasked=*/true, full);
}

/// The tiles of one run; full ones are computed without the mask where that pays. The last tile may end with the keys.
SoftmaxState TiledAttention::buildRun(ImplicitLocOpBuilder &b, const TileRun &run, const SoftmaxState &start) {
  if (!plan.isSplit)
    return buildKvLoop(b, run.begin, run.end, kvEnd, /*isMasked=*/true, start);
  auto branch = [&](bool isMasked) {
    return [&, isMasked](OpBuilder &nested, Location loc) {
      ImplicitLocOpBuilder b(loc, nested);
      SoftmaxState state = buildKvLoop(b, run.begin, run.end, kvEnd, isMasked, start);
      scf::YieldOp::create(b, ValueRange{state.max, state.sum, state.acc});
    };
  };
  auto chosen = scf::IfOp::create(b, run.isFull, branch(/*isMasked=*/false), branch(/*isMasked=*/true));
  return {chosen.getResult(0), chosen.getResult(1), chosen.getResult(2)};
}

/// All runs; of a segment those parts that lie in it.
SoftmaxState TiledAttention::buildRuns(const KvRange &range, const SoftmaxState &start) {
  auto loop = scf::ForOp::create(b, constant(0), readRunCount(b, classes, tile), constant(1),
                                 ValueRange{start.max, start.sum, start.acc},
                                 [&](OpBuilder &nested, Location loc, Value number, ValueRange carried) {
                                   ImplicitLocOpBuilder b(loc, nested);
                                   TileRun run = readRun(b, classes, tile, number, kvEnd, tiles);
                                   if (tiles.segmentTiles) {
                                     run.begin = arith::MaxSIOp::create(b, run.begin, range.first);
                                     run.end = arith::MinSIOp::create(b, run.end, range.end);
                                   }
                                   SoftmaxState next = buildRun(b, run, {carried[0], carried[1], carried[2]});
                                   scf::YieldOp::create(b, ValueRange{next.max, next.sum, next.acc});
                                 });
  return {loop.getResult(0), loop.getResult(1), loop.getResult(2)};
}

/// Second pass over all keys: the final maximum and sum give the weights; tiles outside the range are 0.
void TiledAttention::buildWeights(const KvRange &range, const SoftmaxState &final) {
  scf::ForOp::create(
      b, constant(0), parts.kvLen, constant(tiles.kvTile), ValueRange{},
      [&](OpBuilder &nested, Location loc, Value j0, ValueRange) {
        ImplicitLocOpBuilder b(loc, nested);
        auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(b, value); };
        Value left = arith::MaxSIOp::create(b, arith::SubIOp::create(b, range.end, j0), index(0));
        Value isLive = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, j0, range.first);
        Value keys = arith::SelectOp::create(b, isLive, arith::MinSIOp::create(b, left, index(tiles.kvTile)), index(0));
        Value all = arith::MinSIOp::create(b, arith::SubIOp::create(b, parts.kvLen, j0), index(tiles.kvTile));
        ScoresOp scores = buildScores(b, j0, keys, /*isMasked=*/true);
        StoreWeightsOp::create(b, scores.getScores(), final.max, final.sum, op.getWeights(), tile.batch, tile.head,
                               tile.i0, j0, rows, keys, all, tiles.group, naturalUnit());
        scf::YieldOp::create(b);
      });
}

SoftmaxState TiledAttention::buildInit(Value sink) {
  int64_t valueDim = cast<MemRefType>(parts.out.getType()).getDimSize(3);
  auto accType = AccType::get(b.getContext(), tiles.queryRows, valueDim, scoreType);
  auto init = InitOp::create(b, rowsType(), rowsType(), accType, sink,
                             ShapedType::isDynamic(valueDim) ? parts.valueDim : Value());
  return {init.getMax(), init.getSum(), init.getAcc()};
}

/// The softmax of the tile over the keys of a range.
SoftmaxState TiledAttention::buildSoftmax(const KvRange &range, Value sink) {
  auto source = cast<MemRefType>(parts.query.getType());
  auto queryType = QueryType::get(b.getContext(), tiles.queryRows, source.getDimSize(3), source.getElementType());
  query = LoadQueryOp::create(b, queryType, parts.query, tile.batch, tile.head, tile.i0, rows, tiles.group);
  SoftmaxState start = buildInit(sink);
  return plan.isClassified ? buildRuns(range, start) : buildKvLoops(range, start);
}

void TiledAttention::buildResults(const SoftmaxState &final) {
  StoreOp::create(b, final.acc, final.sum, parts.out, tile.batch, tile.head, tile.i0, rows, tiles.group);
  if (op.getLse())
    StoreLseOp::create(b, final.max, final.sum, op.getLse(), tile.batch, tile.head, tile.i0, rows, tiles.group,
                       naturalUnit());
}

void TiledAttention::buildTile() {
  KvRange range = kvRange();
  SoftmaxState final = buildSoftmax(range, sinkOfTile());
  buildResults(final);
  if (op.getWeights())
    buildWeights(range, final);
}

/// The partial result of one segment, if the tile has keys in it. The sink joins when the segments are merged.
void TiledAttention::buildSegment(const KvSegments &segments, Value segment) {
  KvRange range = restrictToSegment(b, kvRange(), segment, segments.keys);
  OpBuilder::InsertionGuard guard(b);
  // Without a mask and lengths there are keys in each of them.
  if (!op.getMaskRegion().empty() || op.getKvLengths()) {
    Value isSome = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, range.first, range.end);
    auto branch = scf::IfOp::create(b, isSome, /*withElseRegion=*/false);
    b.setInsertionPoint(branch.thenYield());
  }
  SoftmaxState partial = buildSoftmax(range, /*sink=*/Value());
  StorePartialOp::create(b, partial.max, partial.sum, partial.acc, segments.max, segments.sum, segments.acc,
                         segments.entry(b, tile.batch, segment), tile.head, tile.i0, rows, tiles.group);
}

/// Merges the segments in which the tile has keys, in ascending order.
void TiledAttention::buildMergedTile(const KvSegments &segments) {
  auto [first, end] = segmentsOf(b, kvRange(), segments.keys);
  SoftmaxState start = buildInit(sinkOfTile());
  auto loop = scf::ForOp::create(
      b, first, end, constant(1), ValueRange{start.max, start.sum, start.acc},
      [&](OpBuilder &nested, Location loc, Value segment, ValueRange carried) {
        ImplicitLocOpBuilder b(loc, nested);
        auto partial = LoadPartialOp::create(b, rowsType(), rowsType(), carried[2].getType(), segments.max,
                                             segments.sum, segments.acc, segments.entry(b, tile.batch, segment),
                                             tile.head, tile.i0, rows, tiles.group);
        auto merged =
            MergeOp::create(b, rowsType(), rowsType(), carried[2].getType(), carried[0], carried[1], carried[2],
                            partial.getMax(), partial.getSum(), partial.getAcc(), rows, naturalUnit());
        scf::YieldOp::create(b, merged.getResults());
      });
  buildResults({loop.getResult(0), loop.getResult(1), loop.getResult(2)});
}

/// A parallel loop over the tiles of queries, and over the segments of keys of each where `segmentCount` is not null.
/// Long items come first: threads that have done the last long one find short ones.
void TiledAttention::forEachTile(Value itemWork, Value segmentCount, llvm::function_ref<void(Value segment)> body) {
  Value queryTiles = arith::CeilDivUIOp::create(b, parts.queryLen, constant(tiles.queries()));
  Value headTiles = arith::DivUIOp::create(b, parts.heads, constant(tiles.group));
  SmallVector<OpFoldResult> counts{parts.batch, headTiles, queryTiles};
  if (segmentCount)
    counts.push_back(segmentCount);
  auto forall = scf::ForallOp::create(b, counts, ValueRange{}, std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forall.getBody()->getTerminator());
  ItemWorkOp::create(b, itemWork);
  SmallVector<Value> place(forall.getInductionVars());
  if (plan.growsWithRows)
    place[2] = arith::SubIOp::create(b, arith::SubIOp::create(b, queryTiles, constant(1)), place[2]);
  tile = buildQueryTile(b, place, parts.queryLen, tiles.queries());
  tile.head = arith::MulIOp::create(b, tile.head, constant(tiles.group));
  rows = arith::MulIOp::create(b, tile.queries, constant(tiles.group));
  kvHead = arith::DivUIOp::create(b, tile.head, parts.group);
  kvEnd = domain.kvEnd(b, tile.batch);
  body(segmentCount ? forall.getInductionVars()[3] : Value());
}

void TiledAttention::build() {
  parts.buildChecks(b);
  buildClasses();
  if (tiles.segmentTiles) {
    KvSegments segments = allocateSegments(b, parts, scoreType, tiles.segmentKeys());
    Value segmentWork = buildSoftmaxWork(b, op, parts, tiles, constant(segments.keys));
    forEachTile(segmentWork, segments.count, [&](Value segment) { buildSegment(segments, segment); });
    Value mergeWork = buildMergeWork(b, parts, tiles, segments.count);
    forEachTile(mergeWork, Value(), [&](Value) { buildMergedTile(segments); });
    freeSegments(b, segments);
  } else {
    Value work = buildSoftmaxWork(b, op, parts, tiles, parts.kvLen);
    forEachTile(work, Value(), [&](Value) { buildTile(); });
  }
  if (plan.isClassified && !op.getTiles())
    memref::DeallocOp::create(b, classes.memref);
}

namespace {

struct ConvertAttnToFlashPass : attn::impl::ConvertAttnToFlashPassBase<ConvertAttnToFlashPass> {
  using Base::Base;

  /// attn.classify_tiles asks no cost model.
  LogicalResult convertClassifications() {
    SmallVector<ClassifyTilesOp> ops;
    getOperation().walk([&](ClassifyTilesOp op) { ops.push_back(op); });
    for (ClassifyTilesOp op : ops) {
      if (failed(checkForm(op, isa<MemRefType>(op.getOut().getType()), op.getMasks().has_value())))
        return failure();
      ImplicitLocOpBuilder builder(op.getLoc(), op);
      buildKeptClasses(builder, op);
      op.erase();
    }
    return success();
  }

  /// The precondition.
  static LogicalResult checkForm(Operation *op, bool isOnMemrefs, bool hasNamed) {
    if (!isOnMemrefs)
      return op->emitOpError("expects memrefs in convert-attn-to-flash, but got tensors; bufferize first");
    if (hasNamed)
      return op->emitOpError("expects no named masks and score functions in convert-attn-to-flash; run "
                             "attn-expand-named first");
    return success();
  }

  void runOnOperation() override {
    if (failed(convertClassifications()))
      return signalPassFailure();
    SmallVector<AttentionOp> ops;
    getOperation().walk([&](AttentionOp op) { ops.push_back(op); });
    if (ops.empty())
      return;
    auto description = describeTarget(target);
    if (!description) {
      getOperation().emitError() << llvm::toString(description.takeError());
      return signalPassFailure();
    }
    for (AttentionOp op : ops) {
      if (failed(checkForm(op, isa<MemRefType>(op.getQuery().getType()), op.getScores() || op.getMasks())))
        return signalPassFailure();
      FailureOr<TileSizes> sizes = chooseTileSizes(op, *description, {tileQ, tileKv, segmentKeys});
      if (failed(sizes))
        return signalPassFailure();
      ImplicitLocOpBuilder builder(op.getLoc(), op);
      TiledAttention(builder, op, *sizes, {skipTiles, countKvTiles, description->gpu.has_value()}).build();
      op.erase();
    }
  }
};

} // namespace
