//===- AttnToFlash.cpp - attn.attention to the FlashAttention loop ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One attention becomes
//
//   checks of what only the run knows (flash.require)
//   scf.forall over (b, h, tile of queries) { classify_tile over kv tiles }    only for masks without bounds
//   scf.forall (b, h, tile of queries) {
//     load_query, init
//     scf.for over kv tiles { scores, update_max, weights, accumulate }      one loop, or three: masked, full, masked
//     store, store_lse
//     scf.for over kv tiles { scores, store_weights }          only if the weights are asked for
//   }
//
// as in arXiv:2307.08691, algorithm 1. kv tiles lie on the fixed grid n * tileKv, so that where the loop starts and
// ends changes no bit. Which kv tiles are visited is decided by KvLoops.h alone.
//
//===----------------------------------------------------------------------===//

#include "AttentionParts.h"
#include "KvLoops.h"
#include "TileChoice.h"
#include "attn/Conversion/Passes.h"
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
  };
  TiledAttention(ImplicitLocOpBuilder &builder, AttentionOp op, const TileSizes &tiles, const Options &options)
      : b(builder), op(op), parts(builder, op), scoreType(op.getScoreType()), tiles(tiles), options(options),
        mask(analyzeClamped()), plan(planMask(op, mask)) {
    emitMaskRemark(op, mask, plan, tiles);
  }

  void build();

private:
  /// Captured loads are clamped first: bounds may be built from them.
  MaskRanges analyzeClamped() {
    clampCapturedLoads(op);
    return analyzeAttentionMask(op, options.skipTiles);
  }
  void setTile(ValueRange indices);
  void buildTile();
  Value tileCount() { return arith::CeilDivUIOp::create(b, parts.queryLen, constant(tiles.queryRows)); }
  void buildClasses();
  SmallVector<Value> classIndices(ImplicitLocOpBuilder &b, Value j0);
  SoftmaxState buildClassifiedStep(ImplicitLocOpBuilder &b, Value j0, Value keys, const SoftmaxState &state);
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
  Options options;
  MaskRanges mask;
  MaskPlan plan;
  /// Classes of the tiles, [batch or 1, heads or 1, tiles of queries, kv tiles] of i32; null where there are none.
  Value classes;
  /// Of the tile that is being built: its indices, its first query, how many queries it has, its query tile.
  Value batch, head, tile, kvHead, i0, rows, query;
};

} // namespace

KvRange TiledAttention::buildRange(Value kvEnd) {
  Value lastRow = arith::SubIOp::create(b, arith::AddIOp::create(b, i0, rows), constant(1));
  auto uniformOf = [&](Value value) { return parts.buildUniform(b, value, batch, head); };
  auto bound = [&](const Bound &bound) { return bound.build(b, i0, lastRow, uniformOf); };
  return buildKvRange(b, mask, plan.isSplit && !plan.isClassified, kvEnd, tiles.kvTile, bound);
}

ScoresOp TiledAttention::buildScores(ImplicitLocOpBuilder &b, Value j0, Value keys, bool isMasked) {
  auto scores =
      ScoresOp::create(b, scoresType(), rowsType(), query, parts.key, batch, head, kvHead, i0, j0, rows, keys);
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
  if (options.countKvTiles)
    CountKvTilesOp::create(b, arith::ConstantIndexOp::create(b, 1));
  return {update.getNewMax(), weights.getNewSum(), acc.getResult()};
}

/// Positions in `classes` of the tile at j0.
SmallVector<Value> TiledAttention::classIndices(ImplicitLocOpBuilder &b, Value j0) {
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value column = arith::DivUIOp::create(b, j0, arith::ConstantIndexOp::create(b, tiles.kvTile));
  return {plan.dependsOnBatch ? batch : zero, plan.dependsOnHead ? head : zero, tile, column};
}

/// Empty tiles leave the state as it is; full ones are computed without the mask where that pays.
SoftmaxState TiledAttention::buildClassifiedStep(ImplicitLocOpBuilder &b, Value j0, Value keys,
                                                 const SoftmaxState &state) {
  Value tileClass = memref::LoadOp::create(b, classes, classIndices(b, j0));
  auto is = [&](ImplicitLocOpBuilder &b, arith::CmpIPredicate predicate, int32_t code) -> Value {
    return arith::CmpIOp::create(b, predicate, tileClass, arith::ConstantOp::create(b, b.getI32IntegerAttr(code)));
  };
  auto values = [](const SoftmaxState &state) { return SmallVector<Value>{state.max, state.sum, state.acc}; };
  /// condition ? yes(b) : no(b), each a state.
  using Step = llvm::function_ref<SoftmaxState(ImplicitLocOpBuilder &)>;
  auto choose = [&](ImplicitLocOpBuilder &b, Value condition, Step yes, Step no) -> SoftmaxState {
    auto branch = [&](Step step) {
      return [&values, step](OpBuilder &nested, Location loc) {
        ImplicitLocOpBuilder b(loc, nested);
        scf::YieldOp::create(b, values(step(b)));
      };
    };
    auto chosen = scf::IfOp::create(b, condition, branch(yes), branch(no));
    return {chosen.getResult(0), chosen.getResult(1), chosen.getResult(2)};
  };
  auto masked = [&](ImplicitLocOpBuilder &b) { return buildStep(b, j0, keys, /*isMasked=*/true, state); };
  auto full = [&](ImplicitLocOpBuilder &b) { return buildStep(b, j0, keys, /*isMasked=*/false, state); };
  auto kept = [&](ImplicitLocOpBuilder &b) {
    return plan.isSplit ? choose(b, is(b, arith::CmpIPredicate::eq, 2), full, masked) : masked(b);
  };
  return choose(b, is(b, arith::CmpIPredicate::ne, 0), kept, [&](ImplicitLocOpBuilder &) { return state; });
}

/// The pre-pass: one class for each tile, shared by the batch entries and heads that the mask does not tell apart.
void TiledAttention::buildClasses() {
  Value one = constant(1), columns = arith::CeilDivUIOp::create(b, parts.kvLen, constant(tiles.kvTile));
  Value batches = plan.dependsOnBatch ? parts.batch : one, heads = plan.dependsOnHead ? parts.heads : one;
  const int64_t dynamic = ShapedType::kDynamic;
  Value buffer = memref::AllocOp::create(b, MemRefType::get({dynamic, dynamic, dynamic, dynamic}, b.getI32Type()),
                                         ValueRange{batches, heads, tileCount(), columns});
  OpBuilder::InsertionGuard guard(b);
  auto forall =
      scf::ForallOp::create(b, ArrayRef<OpFoldResult>{batches, heads, tileCount()}, ValueRange{}, std::nullopt);
  b.setInsertionPoint(forall.getBody()->getTerminator());
  setTile(forall.getInductionVars());
  KvRange range = buildRange(parts.kvEnd(b, batch));
  scf::ForOp::create(b, range.first, range.end, constant(tiles.kvTile), ValueRange{},
                     [&](OpBuilder &nested, Location loc, Value j0, ValueRange) {
                       ImplicitLocOpBuilder b(loc, nested);
                       Value keys = arith::MinSIOp::create(b, arith::SubIOp::create(b, range.end, j0),
                                                           arith::ConstantIndexOp::create(b, tiles.kvTile));
                       auto classify =
                           ClassifyTileOp::create(b, b.getI32Type(), batch, head, i0, j0, rows, keys, tiles.queryRows);
                       IRMapping mapping;
                       op.getMaskRegion().cloneInto(&classify.getMaskRegion(), mapping);
                       memref::StoreOp::create(b, classify.getResult(), buffer, classIndices(b, j0));
                       scf::YieldOp::create(b);
                     });
  classes = buffer;
}

/// kv tiles from `first` to `last`; keys at and behind `end` take no part.
SoftmaxState TiledAttention::buildKvLoop(Value first, Value last, Value end, bool isMasked, const SoftmaxState &start) {
  auto loop = scf::ForOp::create(b, first, last, constant(tiles.kvTile), ValueRange{start.max, start.sum, start.acc},
                                 [&](OpBuilder &nested, Location loc, Value j0, ValueRange carried) {
                                   ImplicitLocOpBuilder b(loc, nested);
                                   Value keys = arith::ConstantIndexOp::create(b, tiles.kvTile);
                                   if (end)
                                     keys = arith::MinSIOp::create(b, arith::SubIOp::create(b, end, j0), keys);
                                   SoftmaxState state{carried[0], carried[1], carried[2]};
                                   SoftmaxState next = classes ? buildClassifiedStep(b, j0, keys, state)
                                                               : buildStep(b, j0, keys, isMasked, state);
                                   scf::YieldOp::create(b, ValueRange{next.max, next.sum, next.acc});
                                 });
  return {loop.getResult(0), loop.getResult(1), loop.getResult(2)};
}

SoftmaxState TiledAttention::buildKvLoops(const KvRange &range, const SoftmaxState &start) {
  if (!range.firstFull)
    return buildKvLoop(range.first, range.end, range.end, /*isMasked=*/true, start);
  SoftmaxState head = buildKvLoop(range.first, range.firstFull, range.end, /*isMasked=*/true, start);
  // Full tiles have every key: their size is constant.
  SoftmaxState full = buildKvLoop(range.firstFull, range.lastFull, {}, /*isMasked=*/false, head);
  return buildKvLoop(range.lastFull, range.end, range.end, /*isMasked=*/true, full);
}

/// Second pass over all keys: the final maximum and sum give the weights; tiles outside the range are 0.
void TiledAttention::buildWeights(const KvRange &range, const SoftmaxState &final) {
  scf::ForOp::create(b, constant(0), parts.kvLen, constant(tiles.kvTile), ValueRange{},
                     [&](OpBuilder &nested, Location loc, Value j0, ValueRange) {
                       ImplicitLocOpBuilder b(loc, nested);
                       auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(b, value); };
                       Value left = arith::MaxSIOp::create(b, arith::SubIOp::create(b, range.end, j0), index(0));
                       Value keys = arith::MinSIOp::create(b, left, index(tiles.kvTile));
                       Value all =
                           arith::MinSIOp::create(b, arith::SubIOp::create(b, parts.kvLen, j0), index(tiles.kvTile));
                       ScoresOp scores = buildScores(b, j0, keys, /*isMasked=*/true);
                       StoreWeightsOp::create(b, scores.getScores(), final.max, final.sum, op.getWeights(), batch, head,
                                              i0, j0, rows, keys, all);
                       scf::YieldOp::create(b);
                     });
}

void TiledAttention::setTile(ValueRange indices) {
  batch = indices[0];
  head = indices[1];
  tile = indices[2];
  i0 = arith::MulIOp::create(b, tile, constant(tiles.queryRows));
  rows = arith::MinSIOp::create(b, arith::SubIOp::create(b, parts.queryLen, i0), constant(tiles.queryRows));
}

void TiledAttention::buildTile() {
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
  if (plan.isClassified)
    buildClasses();
  auto forall = scf::ForallOp::create(b, ArrayRef<OpFoldResult>{parts.batch, parts.heads, tileCount()}, ValueRange{},
                                      std::nullopt);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(forall.getBody()->getTerminator());
    setTile(forall.getInductionVars());
    buildTile();
  }
  if (classes)
    memref::DeallocOp::create(b, classes);
}

namespace {

struct ConvertAttnToFlashPass : attn::impl::ConvertAttnToFlashPassBase<ConvertAttnToFlashPass> {
  using Base::Base;

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
      FailureOr<TileSizes> sizes = chooseTileSizes(op, *description, tileQ, tileKv);
      if (failed(sizes))
        return signalPassFailure();
      ImplicitLocOpBuilder builder(op.getLoc(), op);
      TiledAttention(builder, op, *sizes, {skipTiles, countKvTiles}).build();
      op.erase();
    }
  }
};

} // namespace
