//===- ChunkKeys.cpp - the keys of a tile that a chunk of rows may keep ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What flash-chunk-keys does and why is said in ConversionPasses.td.
//
//===----------------------------------------------------------------------===//

#include "../FlashLanes/Lanes.h"
#include "../FlashLanes/Loops.h"
#include "Patterns.h"
#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/Analysis/MaskAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attn {
#define GEN_PASS_DEF_CHUNKKEYSPASS
#include "Conversion/ConversionPasses.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using namespace attn::cpu;
using namespace attn::lanes;
using namespace attn::flash;

/// The steps that go over the keys of one tile behind its scores: all share the ranges.
struct KvSteps {
  WeightsOp weights;
  AccumulateOp accumulate;
};

/// nullopt where they are not in one chain.
static std::optional<KvSteps> stepsOf(ScoresOp scores) {
  auto weights = scores.getScores().hasOneUse() ? dyn_cast<WeightsOp>(*scores.getScores().user_begin()) : WeightsOp();
  auto accumulate = weights && weights.getWeights().hasOneUse()
                        ? dyn_cast<AccumulateOp>(*weights.getWeights().user_begin())
                        : AccumulateOp();
  if (!accumulate)
    return std::nullopt;
  return KvSteps{weights, accumulate};
}

/// Builds the ranges of a tile in front of its scores: [first, end) for each chunk, counted from j0.
static Value buildRanges(ScoresOp op, const MaskRanges &mask, int64_t lanes) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  int64_t tileRows = op.getRowMax().getType().getRows();
  int64_t chunks = llvm::divideCeil(tileRows, lanes);
  Value ranges = createScratch(b, MemRefType::get({chunks, 2}, b.getIndexType()), {});
  TileRows rows{op.getH(), op.getI0(), op.getRows(), int64_t(op.getGroup())};
  auto min = [](ImplicitLocOpBuilder &b, Value x, Value y) -> Value { return arith::MinSIOp::create(b, x, y); };
  buildLoop(b, constantIndex(b, 0), op.getRows(), lanes, [&](ImplicitLocOpBuilder &b, Value lane) {
    Value end = min(b, plus(b, lane, constantIndex(b, lanes)), op.getRows());
    Value first = rows.query(b, lane), last = rows.query(b, arith::SubIOp::create(b, end, constantIndex(b, 1)));
    auto uniformOf = [&](Value value) { return buildUniform(b, op.getMaskRegion(), value, op.getB(), op.getH()); };
    Value chunk = arith::DivUIOp::create(b, lane, constantIndex(b, lanes));
    auto inTile = [&](const Bound &bound) -> Value {
      if (bound.isMinusInfinity())
        return constantIndex(b, 0);
      if (bound.isPlusInfinity())
        return op.getKeys();
      Value key = arith::SubIOp::create(b, bound.build(b, first, last, uniformOf), op.getJ0());
      return min(b, arith::MaxSIOp::create(b, key, constantIndex(b, 0)), op.getKeys());
    };
    for (auto [which, bound] : llvm::enumerate(ArrayRef<Bound>{mask.live.lower, mask.live.upper}))
      memref::StoreOp::create(b, inTile(bound), ranges, ValueRange{chunk, constantIndex(b, which)});
  });
  return ranges;
}

/// Gives the steps of a tile their ranges, if there is something to leave out.
static void giveChunkKeys(ScoresOp op, int64_t mostLanes) {
  std::optional<KvSteps> steps = stepsOf(op);
  int64_t tileRows = op.getRowMax().getType().getRows(), lanes = std::min(mostLanes, tileRows);
  // The loop over tiles has done it where there is one chunk.
  if (!steps || tileRows == lanes)
    return;
  MaskRanges mask = analyzeMask(op.getMaskRegion(), kMaxExtent, kMaxExtent);
  if (mask.live.lower.isMinusInfinity() && mask.live.upper.isPlusInfinity())
    return;
  Value ranges = buildRanges(op, mask, lanes);
  op.getChunkKeysMutable().assign(ranges);
  steps->weights.getChunkKeysMutable().assign(ranges);
  steps->accumulate.getChunkKeysMutable().assign(ranges);
}

namespace {

struct ChunkKeysPass : attn::impl::ChunkKeysPassBase<ChunkKeysPass> {
  using Base::Base;
  void runOnOperation() override {
    FailureOr<CpuTiles> tiles = tilesOf(getOperation(), target);
    if (failed(tiles))
      return signalPassFailure();
    SmallVector<ScoresOp> masked;
    getOperation().walk([&](ScoresOp op) {
      if (!op.getMaskRegion().empty() && !op.getChunkKeys())
        masked.push_back(op);
    });
    for (ScoresOp op : masked)
      giveChunkKeys(op, tiles->sizes.lanes);
  }
};

} // namespace

ChunkKeys cpu::loadChunkKeys(ImplicitLocOpBuilder &b, Value ranges, int64_t lanes, Value lane, Value keys) {
  if (!ranges)
    return {constantIndex(b, 0), keys};
  Value chunk = arith::DivUIOp::create(b, lane, constantIndex(b, lanes));
  auto load = [&](int64_t which) {
    return memref::LoadOp::create(b, ranges, ValueRange{chunk, constantIndex(b, which)});
  };
  return {load(0), load(1)};
}
