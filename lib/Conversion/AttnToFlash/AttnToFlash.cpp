//===- AttnToFlash.cpp - attn.attention to the FlashAttention loop ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One attention becomes
//
//   checks of what only the run knows (flash.require)
//   scf.forall (b, h, tile of queries) {
//     load_query, init
//     scf.for over kv tiles { scores, update_max, weights, accumulate }      one loop, or three: masked, full, masked
//     store, store_lse
//     scf.for over kv tiles { scores, store_weights }          only if the weights are asked for
//   }
//
// as in arXiv:2307.08691, algorithm 1. kv tiles lie on the fixed grid n * tileKv, so that where the loop starts and ends
// changes no bit. Which kv tiles are visited is decided by KvLoops.h alone.
//
//===----------------------------------------------------------------------===//

#include "AttentionParts.h"
#include "KvLoops.h"
#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "attn/Target/TargetDescription.h"
#include "attn/Target/TileModel.h"
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

namespace {

/// The loop-carried state of the online softmax.
struct SoftmaxState {
  Value max, sum, acc;
};

/// Builds the tiled form of one attention.
class TiledAttention {
public:
  TiledAttention(ImplicitLocOpBuilder &builder, AttentionOp op, const TileSizes &tiles)
      : b(builder), op(op), parts(builder, op), scoreType(op.getScoreType()), tiles(tiles),
        mask(analyzeClamped()) {
    isSplit = isSplitWorthwhile(op.getMaskRegion(), mask);
    emitMaskRemark(op, mask, tiles, isSplit);
  }

  void build();

private:
  /// Captured loads are clamped first: bounds may be built from them.
  MaskRanges analyzeClamped() {
    parts.clampCapturedLoads();
    return analyzeAttentionMask(op);
  }
  void buildTile(ValueRange indices);
  KvRange buildRange(Value kvEnd);
  ScoresOp buildScores(ImplicitLocOpBuilder &b, Value j0, Value keys, bool isMasked);
  SoftmaxState buildStep(ImplicitLocOpBuilder &b, Value j0, Value keys, bool isMasked, const SoftmaxState &state);
  SoftmaxState buildKvLoop(Value first, Value last, Value end, bool isMasked, const SoftmaxState &start);
  SoftmaxState buildKvLoops(const KvRange &range, const SoftmaxState &start);
  void buildWeights(const KvRange &range, const SoftmaxState &final);

  RowsType rowsType() { return RowsType::get(b.getContext(), tiles.queryRows, scoreType); }
  ScoresType scoresType() { return ScoresType::get(b.getContext(), tiles.queryRows, tiles.kvTile, scoreType); }
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, value); }

  ImplicitLocOpBuilder &b;
  AttentionOp op;
  AttentionParts parts;
  Type scoreType;
  TileSizes tiles;
  MaskRanges mask;
  /// Whether full tiles have a loop of their own.
  bool isSplit = false;
  /// Of the tile that is being built: its indices, its first query, how many queries it has, its query tile.
  Value batch, head, kvHead, i0, rows, query;
};

} // namespace

KvRange TiledAttention::buildRange(Value kvEnd) {
  Value lastRow = arith::SubIOp::create(b, arith::AddIOp::create(b, i0, rows), constant(1));
  auto uniformOf = [&](Value value) { return parts.buildUniform(b, value, batch, head); };
  auto bound = [&](const Bound &bound) { return bound.build(b, i0, lastRow, uniformOf); };
  return buildKvRange(b, mask, isSplit, kvEnd, tiles.kvTile, bound);
}

ScoresOp TiledAttention::buildScores(ImplicitLocOpBuilder &b, Value j0, Value keys, bool isMasked) {
  auto scores = ScoresOp::create(b, scoresType(), rowsType(), query, parts.key, batch, head, kvHead, i0, j0, rows, keys);
  IRMapping mapping;
  op.getScoreRegion().cloneInto(&scores.getScoreRegion(), mapping);
  if (isMasked)
    op.getMaskRegion().cloneInto(&scores.getMaskRegion(), mapping);
  return scores;
}

SoftmaxState TiledAttention::buildStep(ImplicitLocOpBuilder &b, Value j0, Value keys, bool isMasked,
                                       const SoftmaxState &state) {
  ScoresOp scores = buildScores(b, j0, keys, isMasked);
  auto update = UpdateMaxOp::create(b, rowsType(), rowsType(), state.max, scores.getRowMax());
  auto weights = WeightsOp::create(b, scoresType(), rowsType(), scores.getScores(), update.getNewMax(), state.sum,
                                   update.getRescale(), rows, keys);
  auto acc = AccumulateOp::create(b, state.acc.getType(), state.acc, update.getRescale(), weights.getWeights(),
                                  parts.value, batch, kvHead, j0, rows, keys);
  return {update.getNewMax(), weights.getNewSum(), acc.getResult()};
}

/// kv tiles from `first` to `last`; keys at and behind `end` take no part.
SoftmaxState TiledAttention::buildKvLoop(Value first, Value last, Value end, bool isMasked, const SoftmaxState &start) {
  auto loop = scf::ForOp::create(
      b, first, last, constant(tiles.kvTile), ValueRange{start.max, start.sum, start.acc},
      [&](OpBuilder &nested, Location loc, Value j0, ValueRange carried) {
        ImplicitLocOpBuilder b(loc, nested);
        Value keys = arith::ConstantIndexOp::create(b, tiles.kvTile);
        if (end)
          keys = arith::MinSIOp::create(b, arith::SubIOp::create(b, end, j0), keys);
        SoftmaxState next = buildStep(b, j0, keys, isMasked, {carried[0], carried[1], carried[2]});
        scf::YieldOp::create(b, ValueRange{next.max, next.sum, next.acc});
      });
  return {loop.getResult(0), loop.getResult(1), loop.getResult(2)};
}

SoftmaxState TiledAttention::buildKvLoops(const KvRange &range, const SoftmaxState &start) {
  if (!isSplit)
    return buildKvLoop(range.first, range.end, range.end, /*isMasked=*/true, start);
  SoftmaxState head = buildKvLoop(range.first, range.firstFull, range.end, /*isMasked=*/true, start);
  // Full tiles have every key: their size is constant.
  SoftmaxState full = buildKvLoop(range.firstFull, range.lastFull, {}, /*isMasked=*/false, head);
  return buildKvLoop(range.lastFull, range.end, range.end, /*isMasked=*/true, full);
}

/// Second pass over all keys: the final maximum and sum give the weights; tiles outside the range are 0.
void TiledAttention::buildWeights(const KvRange &range, const SoftmaxState &final) {
  scf::ForOp::create(
      b, constant(0), parts.kvLen, constant(tiles.kvTile), ValueRange{},
      [&](OpBuilder &nested, Location loc, Value j0, ValueRange) {
        ImplicitLocOpBuilder b(loc, nested);
        auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(b, value); };
        Value left = arith::MaxSIOp::create(b, arith::SubIOp::create(b, range.end, j0), index(0));
        Value keys = arith::MinSIOp::create(b, left, index(tiles.kvTile));
        Value all = arith::MinSIOp::create(b, arith::SubIOp::create(b, parts.kvLen, j0), index(tiles.kvTile));
        ScoresOp scores = buildScores(b, j0, keys, /*isMasked=*/true);
        StoreWeightsOp::create(b, scores.getScores(), final.max, final.sum, op.getWeights(), batch, head, i0, j0, rows,
                               keys, all);
        scf::YieldOp::create(b);
      });
}

void TiledAttention::buildTile(ValueRange indices) {
  batch = indices[0];
  head = indices[1];
  i0 = arith::MulIOp::create(b, indices[2], constant(tiles.queryRows));
  rows = arith::MinSIOp::create(b, arith::SubIOp::create(b, parts.queryLen, i0), constant(tiles.queryRows));
  kvHead = arith::DivUIOp::create(b, head, parts.group);
  Type element = cast<MemRefType>(parts.query.getType()).getElementType();
  auto queryType =
      QueryType::get(b.getContext(), tiles.queryRows, cast<MemRefType>(parts.query.getType()).getDimSize(3), element);
  query = LoadQueryOp::create(b, queryType, parts.query, batch, head, i0, rows, op.getScale());
  int64_t valueDim = cast<MemRefType>(parts.out.getType()).getDimSize(3);
  auto accType = AccType::get(b.getContext(), tiles.queryRows, valueDim, scoreType);
  Value sink = op.getSink() ? readElement(b, op.getSink(), head) : Value();
  auto init = InitOp::create(b, rowsType(), rowsType(), accType, sink,
                             ShapedType::isDynamic(valueDim) ? parts.valueDim : Value());
  KvRange range = buildRange(parts.kvEnd(b, batch));
  SoftmaxState final = buildKvLoops(range, {init.getMax(), init.getSum(), init.getAcc()});
  StoreOp::create(b, final.acc, final.sum, parts.out, batch, head, i0, rows);
  if (op.getLse())
    StoreLseOp::create(b, final.max, final.sum, op.getLse(), batch, head, i0, rows);
  if (op.getWeights())
    buildWeights(range, final);
}

void TiledAttention::build() {
  parts.buildChecks(b);
  Value tileCount = arith::CeilDivUIOp::create(b, parts.queryLen, constant(tiles.queryRows));
  auto forall = scf::ForallOp::create(b, ArrayRef<OpFoldResult>{parts.batch, parts.heads, tileCount}, ValueRange{},
                                      std::nullopt);
  b.setInsertionPoint(forall.getBody()->getTerminator());
  buildTile(forall.getInductionVars());
}

namespace {

struct ConvertAttnToFlashPass : attn::impl::ConvertAttnToFlashPassBase<ConvertAttnToFlashPass> {
  using Base::Base;

  /// What the options ask for, or what the cost model chooses.
  FailureOr<TileSizes> tileSizes(AttentionOp op, const TargetDescription &description) {
    if (tileQ < 0 || tileQ > 1024 || (tileQ & (tileQ - 1)))
      return op.emitError("expects tile-q to be 0 or a power of two up to 1024, but got ") << int64_t(tileQ), failure();
    if (tileKv < 0 || tileKv > 65536)
      return op.emitError("expects tile-kv to be in 0 to 65536, but got ") << int64_t(tileKv), failure();
    AttentionDims dims = op.getDims();
    TileSizes sizes =
        chooseTiles(description, {dims.scoreType.getIntOrFloatBitWidth(), dims.headDim, dims.valueDim});
    if (tileQ)
      sizes.queryRows = tileQ;
    if (tileKv)
      sizes.kvTile = tileKv;
    return sizes;
  }

  void runOnOperation() override {
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
      if (!isa<MemRefType>(op.getQuery().getType())) {
        op.emitOpError("expects memrefs in convert-attn-to-flash, but got tensors; bufferize first");
        return signalPassFailure();
      }
      if (op.getScores() || op.getMasks()) {
        op.emitOpError("expects no named masks and score functions in convert-attn-to-flash; run attn-expand-named "
                       "first");
        return signalPassFailure();
      }
      FailureOr<TileSizes> sizes = tileSizes(op, *description);
      if (failed(sizes))
        return signalPassFailure();
      ImplicitLocOpBuilder builder(op.getLoc(), op);
      TiledAttention(builder, op, *sizes).build();
      op.erase();
    }
  }
};

} // namespace
