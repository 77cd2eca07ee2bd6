//===- ScoreEpilogue.cpp - from dot products to scores -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ScoreEpilogue.h"
#include "../FlashLanes/Loops.h"
#include "../FlashLanes/VectorMath.h"
#include "Patterns.h"
#include "TileAccess.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;
using namespace attn::lanes;
using namespace attn::flash;

ScoreEpilogue::ScoreEpilogue(ImplicitLocOpBuilder &b, ScoresOp op, ScoresOp::Adaptor adaptor, Value tile,
                             VectorType chunk)
    : tile(tile), op(op), adaptor(adaptor), chunk(chunk), score(prepare(b, op.getScoreRegion())),
      mask(prepare(b, op.getMaskRegion())) {}

TileRows ScoreEpilogue::rows() { return {adaptor.getH(), adaptor.getI0(), adaptor.getRows(), int64_t(op.getGroup())}; }

/// Element type of the copy of what a region reads: i1 and i4 as bytes, for a vector of them has bits; index as i64,
/// as the lanes have it.
static Type copyType(Type element) {
  if (element.isIndex())
    return IntegerType::get(element.getContext(), 64);
  if (element.isInteger() && element.getIntOrFloatBitWidth() < 8)
    return IntegerType::get(element.getContext(), 8);
  return element;
}

ScoreEpilogue::LanedRegion ScoreEpilogue::prepare(ImplicitLocOpBuilder &b, Region &region) {
  LanedRegion laned{&region, planRegion(region, rows().group), {}, {}, {}};
  if (!region.empty())
    laned.ranges = rangesOfTiledRegion(region);
  for (const StagedRead &read : laned.plan.staged) {
    Type element = copyType(cast<MemRefType>(read.load->getOperand(0).getType()).getElementType());
    laned.copies.push_back(
        createScratch(b, tileType(lanes(), op.getScores().getType().getKeys(), lanes(), element), {}));
  }
  return laned;
}

SmallVector<Value> ScoreEpilogue::indicesAt(ImplicitLocOpBuilder &b, memref::LoadOp load, Value row, Value column) {
  Region &region = *load->getParentRegion();
  IRMapping map;
  map.map(region.getArguments().take_back(4),
          ArrayRef<Value>{adaptor.getB(), rows().head(b, row), rows().query(b, row), plus(b, adaptor.getJ0(), column)});
  for (Operation *op : sliceOf(region, load.getIndices()))
    b.clone(*op, map);
  return llvm::map_to_vector(load.getIndices(), [&](Value index) { return map.lookupOrDefault(index); });
}

/// True at run time if each row's elements of a window are neighbours in memory. An index between bounds never falls
/// and steps by 0 or 1, so its first and last value tell.
static Value areNeighbours(ImplicitLocOpBuilder &b, TensorIndices at, const TileWindow &window) {
  Value last = arith::SubIOp::create(b, window.end, constantIndex(b, 1));
  Value steps = arith::SubIOp::create(b, last, window.first), yes = arith::ConstantOp::create(b, b.getBoolAttr(true));
  auto body = [&](ImplicitLocOpBuilder &b, Value row, ValueRange all) -> SmallVector<Value> {
    Value lowest = at(b, row, window.first).back(), highest = at(b, row, last).back();
    Value distance = arith::SubIOp::create(b, highest, lowest);
    Value isRun = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, distance, steps);
    return {arith::AndIOp::create(b, all[0], isRun)};
  };
  return buildCarryingLoop(b, constantIndex(b, 0), window.rows, 1, yes, body)[0];
}

void ScoreEpilogue::fillCopy(ImplicitLocOpBuilder &b, const StagedRead &read, Value copy, Value lane, Value first,
                             Value end) {
  memref::LoadOp load = read.load;
  Value left = arith::SubIOp::create(b, adaptor.getRows(), lane);
  TileWindow window{arith::MinSIOp::create(b, left, constantIndex(b, lanes())), first,
                    arith::MaxSIOp::create(b, first, end)};
  auto at = [&](ImplicitLocOpBuilder &b, Value row, Value column) {
    return indicesAt(b, load, plus(b, lane, row), column);
  };
  auto copyWith = [&](bool areNeighbours) {
    return [&, areNeighbours](OpBuilder &nested, Location loc) {
      ImplicitLocOpBuilder b(loc, nested);
      copyToTile(b, load.getMemref(), at, window, copy, areNeighbours);
      scf::YieldOp::create(b);
    };
  };
  if (read.isClamped)
    scf::IfOp::create(b, areNeighbours(b, at, window), copyWith(true), copyWith(false));
  else
    copyToTile(b, load.getMemref(), at, window, copy);
}

void ScoreEpilogue::prefetchNext(ImplicitLocOpBuilder &b, Value lane, Value k, int64_t count) {
  if (score.plan.staged.empty() && mask.plan.staged.empty())
    return;
  constexpr int64_t lineBytes = 64;
  int64_t tileKeys = op.getScores().getType().getKeys();
  int64_t rowsPerBlock = llvm::divideCeil(lanes() * count, tileKeys);
  Value lastKey = arith::SubIOp::create(b, getDimension(b, adaptor.getKey(), 2), constantIndex(b, 1));
  Value lastColumn = arith::SubIOp::create(b, lastKey, adaptor.getJ0());
  Value lastRow = arith::SubIOp::create(b, adaptor.getRows(), constantIndex(b, 1));
  Value block = arith::DivUIOp::create(b, k, constantIndex(b, count));
  Value firstRow = plus(b, lane, arith::MulIOp::create(b, block, constantIndex(b, rowsPerBlock)));
  for (const LanedRegion *laned : {&score, &mask})
    for (const StagedRead &read : laned->plan.staged) {
      memref::LoadOp load = read.load;
      Type element = copyType(load.getMemRefType().getElementType());
      int64_t perLine = lineBytes / llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
      buildRepeated(b, rowsPerBlock, 1, [&](ImplicitLocOpBuilder &b, Value n) {
        Value row = arith::MinSIOp::create(b, plus(b, firstRow, n), lastRow);
        buildRepeated(b, tileKeys, perLine, [&](ImplicitLocOpBuilder &b, Value key) {
          Value column = plus(b, constantIndex(b, tileKeys), key);
          Value valid = arith::MinSIOp::create(b, column, lastColumn);
          memref::PrefetchOp::create(b, load.getMemref(), indicesAt(b, load, row, valid), /*isWrite=*/false,
                                     /*localityHint=*/2, /*isDataCache=*/true);
        });
      });
    }
}

LogicalResult ScoreEpilogue::startRegion(ImplicitLocOpBuilder &b, LanedRegion &laned, Value lane, Value first,
                                         Value end) {
  if (laned.region->empty())
    return success();
  Region &region = *laned.region;
  laned.map = IRMapping();
  laned.map.map(
      region.getArguments().take_back(4).drop_back(),
      ArrayRef<Value>{adaptor.getB(), rows().laneHeads(b, lanes(), lane), rows().laneQueries(b, lanes(), lane)});
  for (auto [read, copy] : llvm::zip(laned.plan.staged, laned.copies))
    fillCopy(b, read, copy, lane, first, end);
  return LaneCloner(b, lanes(), laned.ranges, laned.map).clone(laned.plan.invariant);
}

FailureOr<Value> ScoreEpilogue::cloneForKey(ImplicitLocOpBuilder &b, LanedRegion &laned, Value scoreValue, Value k) {
  Region &region = *laned.region;
  IRMapping map = laned.map;
  map.map(region.getArguments().back(), plus(b, adaptor.getJ0(), k));
  if (region.getNumArguments() > 4)
    map.map(region.getArgument(0), scoreValue);
  for (auto [read, copy] : llvm::zip(laned.plan.staged, laned.copies)) {
    auto type = VectorType::get({lanes()}, cast<MemRefType>(copy.getType()).getElementType());
    Value value = loadLanes(b, type, copy, k, constantIndex(b, 0)), result = read.load->getResult(0);
    if (result.getType().isInteger() && result.getType() != type.getElementType())
      value = arith::TruncIOp::create(b, type.clone(result.getType()), value);
    map.map(result, value);
  }
  LaneCloner cloner(b, lanes(), laned.ranges, map);
  if (failed(cloner.clone(laned.plan.perKey)))
    return failure();
  return cloner.laned(region.front().getTerminator()->getOperand(0));
}

LogicalResult ScoreEpilogue::start(ImplicitLocOpBuilder &b, Value lane, Value first, Value end) {
  return success(succeeded(startRegion(b, score, lane, first, end)) &&
                 succeeded(startRegion(b, mask, lane, first, end)));
}

FailureOr<Value> ScoreEpilogue::finish(ImplicitLocOpBuilder &b, Value dot, Value k, Value lane) {
  Value value = dot;
  if (Value scale = adaptor.getScale())
    value = arith::MulFOp::create(b, value, vector::BroadcastOp::create(b, chunk, scale));
  if (!score.region->empty()) {
    FailureOr<Value> changed = cloneForKey(b, score, value, k);
    if (failed(changed))
      return failure();
    value = *changed;
  }
  if (!mask.region->empty()) {
    FailureOr<Value> keep = cloneForKey(b, mask, Value(), k);
    if (failed(keep))
      return failure();
    value = arith::SelectOp::create(b, *keep, value, splat(b, chunk, -kInfinity));
  }
  storeLanes(b, value, tile, k, lane);
  return value;
}

FailureOr<Value> ScoreEpilogue::applyRegions(ImplicitLocOpBuilder &b, Value lane, Value first, Value end) {
  LogicalResult result = start(b, lane, first, end);
  auto body = [&](ImplicitLocOpBuilder &b, Value k, ValueRange max) -> SmallVector<Value> {
    FailureOr<Value> value = failure();
    if (succeeded(result))
      value = finish(b, loadLanes(b, chunk, tile, k, lane), k, lane);
    if (failed(value))
      return result = failure(), SmallVector<Value>(max);
    return {vectorMax(b, max[0], *value)};
  };
  Value max = buildCarryingLoop(b, first, end, 1, splat(b, chunk, -kInfinity), body)[0];
  if (failed(result))
    return failure();
  return max;
}
