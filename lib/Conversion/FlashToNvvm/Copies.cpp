//===- Copies.cpp - tiles from global into shared memory --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kv loop becomes
//
//   copy the keys of the first tile into stage 0; commit; its values; commit
//   for each tile n {
//     wait for the keys of tile n; barrier A
//     copy the keys of tile n + 1, if there is one, into stage (n + 1) mod 2; commit; its values; commit
//     scores and softmax of tile n
//     wait for the values of tile n; barrier B
//     add the values of tile n
//   }
//   barrier C
//
// so that the scores wait for nothing but keys, as in FlashAttention-2 (arXiv:2307.08691, section 3). The query tile is
// a group in front of the first keys; where only scores are computed, there are no values and no barrier B.
//
// What the barriers are for:
// - a thread's wait is for its own copies, so that every wait has a barrier behind it: A for keys, B for values;
// - a stage is overwritten after all threads have read it: tile n + 1 takes the stage of tile n - 1, whose scores and
//   values each thread has finished before it comes to A of tile n. C does this for the stages of the last tiles.
// Waiting counts groups: each tile has two (one without values), also where there is nothing to copy. In front of A
// the last one begun is the values of tile n; in front of B, the values of n, and keys and values of n + 1.
//
//===----------------------------------------------------------------------===//

#include "../FlashLanes/Loops.h"
#include "../FlashLanes/Regions.h"
#include "GlobalView.h"
#include "Lowering.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;
using namespace attn::lanes;
using namespace attn::flash;

/// Copies of a thread that are written out; more are a loop. So are those of a producer, which has few registers and
/// copies by tensor map where it can.
static constexpr int64_t kUnrolledCopies = 8;

//===----------------------------------------------------------------------===//
// One tile
//===----------------------------------------------------------------------===//

namespace {

/// Builds the copy of one tile.
class TileCopy {
public:
  TileCopy(ImplicitLocOpBuilder &builder, const NvvmLowering &lowering, const SharedTile &tile, Value base, Value view,
           Value batch, const TileRows &rows)
      : b(builder), lowering(lowering), tile(tile), base(base), view(view), batch(batch), rows(rows),
        global(builder, view) {}

  void build();

private:
  bool mayBeChunked() const;
  Value chunkAddress(ImplicitLocOpBuilder &b, Value row, Value chunk) const;
  void copyChunk(ImplicitLocOpBuilder &b, TileIndex row, Value chunk, Value address) const;
  void copyChunks(ImplicitLocOpBuilder &b) const;
  void copyElement(ImplicitLocOpBuilder &b, Value number) const;
  /// A thread's part of `count` copies is no loop.
  bool isWrittenOut(int64_t count) const;
  void forMine(ImplicitLocOpBuilder &b, int64_t count,
               llvm::function_ref<void(ImplicitLocOpBuilder &, Value)> body) const;

  ImplicitLocOpBuilder &b;
  const NvvmLowering &lowering;
  const SharedTile &tile;
  Value base, view, batch;
  TileRows rows;
  GlobalView global;
};

} // namespace

/// The types tell that rows are whole chunks of neighbours.
bool TileCopy::mayBeChunked() const { return global.hasUnitColumns() && tile.columns % tile.perChunk() == 0; }

/// The address of a chunk; no valid one where the row does not exist.
Value TileCopy::chunkAddress(ImplicitLocOpBuilder &b, Value row, Value chunk) const {
  Value index = toIndex(b, row), inRow = arith::MulIOp::create(b, toIndex(b, chunk), constantIndex(b, 16));
  return plus(b, global.rowAddress(b, {batch, rows.head(b, index), rows.query(b, index)}), inRow);
}

/// A chunk at an address. One that does not exist is zeros: with a size of 0 cp.async reads nothing (PTX ISA).
void TileCopy::copyChunk(ImplicitLocOpBuilder &b, TileIndex row, Value chunk, Value address) const {
  Value exists =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, add(b, row.value, row.number), toI32(b, rows.rows));
  if (tile.columns != tile.paddedColumns) {
    Value end = i32(b, tile.columns / tile.perChunk());
    exists = arith::AndIOp::create(b, exists, arith::CmpIOp::create(b, arith::CmpIPredicate::slt, chunk, end));
  }
  Value size = arith::SelectOp::create(b, exists, i32(b, 16), i32(b, 0));
  NVVM::CpAsyncOp::create(b, chunkPointer(b, tile, base, row, {chunk}), globalPointer(b, address), 16,
                          NVVM::LoadCacheModifierKind::CG, size);
}

bool TileCopy::isWrittenOut(int64_t count) const {
  const int64_t threads = lowering.copyThreads;
  return !lowering.shape.consumers && count % threads == 0 && count / threads <= kUnrolledCopies;
}

/// All chunks of the tile, row by row. Where a thread has the same chunk in all its rows, and these the same head, its
/// addresses are one step apart.
void TileCopy::copyChunks(ImplicitLocOpBuilder &b) const {
  const int64_t threads = lowering.copyThreads, chunks = tile.chunks(), count = tile.rows * chunks;
  const int64_t apart = threads / chunks, copies = count / threads;
  if (threads % chunks || !isWrittenOut(count) || apart % rows.group)
    return forMine(b, count, [&](ImplicitLocOpBuilder &b, Value number) {
      Value row = divide(b, number, chunks), chunk = modulo(b, number, chunks);
      copyChunk(b, {row}, chunk, chunkAddress(b, row, chunk));
    });
  Value row = divide(b, lowering.place.thread, chunks), chunk = modulo(b, lowering.place.thread, chunks);
  Value address = chunkAddress(b, row, chunk), step = global.rowStep(b, apart / rows.group);
  for (int64_t k = 0; k < copies; ++k) {
    copyChunk(b, {row, k * apart}, chunk, address);
    address = plus(b, address, step);
  }
}

/// Element `number` of the tile, row by row.
void TileCopy::copyElement(ImplicitLocOpBuilder &b, Value number) const {
  Value row = divide(b, number, tile.paddedColumns), column = modulo(b, number, tile.paddedColumns);
  Value index = toIndex(b, row), inRow = toIndex(b, column);
  Value exists =
      arith::AndIOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::slt, index, rows.rows),
                            arith::CmpIOp::create(b, arith::CmpIPredicate::slt, column, i32(b, tile.columns)));
  Type element = lowering.shape.element;
  auto load = [&](OpBuilder &nested, Location loc) {
    ImplicitLocOpBuilder b(loc, nested);
    SmallVector<Value> place{batch, rows.head(b, index), rows.query(b, index), inRow};
    scf::YieldOp::create(b, Value(memref::LoadOp::create(b, view, place)));
  };
  auto zero = [&](OpBuilder &nested, Location loc) {
    scf::YieldOp::create(nested, loc, Value(arith::ConstantOp::create(nested, loc, nested.getZeroAttr(element))));
  };
  Value value = scf::IfOp::create(b, exists, load, zero).getResult(0);
  LLVM::StoreOp::create(b, value, elementPointer(b, tile, base, {row}, {column}));
}

/// Calls `body` with the numbers in [0, count) that this thread has to do.
void TileCopy::forMine(ImplicitLocOpBuilder &b, int64_t count,
                       llvm::function_ref<void(ImplicitLocOpBuilder &, Value)> body) const {
  const int64_t threads = lowering.copyThreads;
  if (isWrittenOut(count)) {
    for (int64_t k = 0; k < count; k += threads)
      body(b, add(b, lowering.place.thread, k));
    return;
  }
  buildLoop(b, toIndex(b, lowering.place.thread), constantIndex(b, count), threads,
            [&](ImplicitLocOpBuilder &b, Value number) { body(b, toI32(b, number)); });
}

void TileCopy::build() {
  auto byElement = [&](ImplicitLocOpBuilder &b) {
    forMine(b, tile.rows * tile.paddedColumns, [&](ImplicitLocOpBuilder &b, Value n) { copyElement(b, n); });
  };
  if (!mayBeChunked())
    return byElement(b);
  auto branch = scf::IfOp::create(b, global.isAligned(b, 16), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  copyChunks(b);
  b.setInsertionPointToStart(branch.elseBlock());
  byElement(b);
}

void nvvm::buildCopy(ImplicitLocOpBuilder &b, const NvvmLowering &lowering, const SharedTile &tile, Value base,
                     Value view, Value batch, const TileRows &rows) {
  TileCopy(b, lowering, tile, base, view, batch, rows).build();
}

//===----------------------------------------------------------------------===//
// A loop over tiles
//===----------------------------------------------------------------------===//

namespace {

/// A scores op, what reads its values, and the loop over kv tiles around them.
struct KvStep {
  ScoresOp scores;
  /// Null where weights are written.
  AccumulateOp accumulate;
  /// Null where there is one tile, and so no loop.
  scf::ForOp loop;
};

} // namespace

/// The accumulate op that takes the weights of a scores op's tile; null where they are written.
static AccumulateOp accumulateOf(ScoresOp scores) {
  for (Operation *user : scores.getScores().getUsers())
    if (auto weights = dyn_cast<WeightsOp>(user))
      for (Operation *reader : weights.getWeights().getUsers())
        if (auto accumulate = dyn_cast<AccumulateOp>(reader))
          return accumulate;
  return {};
}

static SmallVector<KvStep> collectKvSteps(func::FuncOp kernel) {
  SmallVector<KvStep> steps;
  kernel.walk([&](ScoresOp scores) {
    auto loop = dyn_cast<scf::ForOp>(scores->getParentOp());
    if (loop && loop.getInductionVar() != scores.getJ0())
      loop = {};
    steps.push_back({scores, accumulateOf(scores), loop});
  });
  return steps;
}

/// The keys of the tile that starts at `j0`: what the loop's body computes for its own, at the insertion point.
static Value keysAt(ImplicitLocOpBuilder &b, KvStep kv, Value j0) {
  if (!kv.loop)
    return kv.scores.getKeys();
  IRMapping map;
  map.map(kv.loop.getInductionVar(), j0);
  llvm::DenseSet<Value> needed{kv.scores.getKeys()};
  SmallVector<Operation *> slice;
  for (Operation &op : llvm::reverse(llvm::make_range(kv.loop.getBody()->begin(), kv.scores->getIterator())))
    if (yieldsOneOf(op, needed)) {
      insertOperands(op, needed);
      slice.push_back(&op);
    }
  for (Operation *op : llvm::reverse(slice))
    b.clone(*op, map);
  return map.lookupOrDefault(kv.scores.getKeys());
}

/// Begins the copies of the tile at `j0` into a stage (an i32 number). The last group is not committed yet.
static void beginCopies(ImplicitLocOpBuilder &b, const NvvmLowering &lowering, KvStep kv, Value j0, Value number) {
  const KernelShape &shape = lowering.shape;
  ScoresOp scores = kv.scores;
  TileRows rows{scores.getHk(), j0, keysAt(b, kv, j0), 1};
  Value base = add(b, times(b, number, shape.key.bytes()), shape.keyOffset);
  buildCopy(b, lowering, shape.key, base, scores.getKey(), scores.getB(), rows);
  if (!kv.accumulate)
    return;
  NVVM::CpAsyncCommitGroupOp::create(b);
  base = add(b, times(b, number, shape.value.bytes()), shape.valueOffset);
  buildCopy(b, lowering, shape.value, base, kv.accumulate.getValue(), scores.getB(), rows);
}

/// The same, with all its groups, of a tile that may not exist; then they are empty.
static void beginCopiesIf(ImplicitLocOpBuilder &b, const NvvmLowering &lowering, KvStep kv, Value j0, Value number) {
  Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, j0, kv.loop.getUpperBound());
  auto branch = scf::IfOp::create(b, exists, /*withElseRegion=*/kv.accumulate != nullptr);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    beginCopies(b, lowering, kv, j0, number);
    if (kv.accumulate) {
      b.setInsertionPointToStart(branch.elseBlock());
      NVVM::CpAsyncCommitGroupOp::create(b);
    }
  }
  NVVM::CpAsyncCommitGroupOp::create(b);
}

/// Waits until all but the last `groups` copies that were begun are there, for every thread.
static void waitForCopies(ImplicitLocOpBuilder &b, int64_t groups) {
  NVVM::CpAsyncWaitGroupOp::create(b, groups);
  blockBarrier(b);
}

/// In front of the second product; `later` groups were begun after the tile's values.
static void waitForValues(ImplicitLocOpBuilder &b, KvStep kv, int64_t later) {
  if (!kv.accumulate)
    return;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(kv.accumulate);
  waitForCopies(b, later);
}

/// The stage of the loop's tile, i32: its number modulo the stages.
static Value stageOf(ImplicitLocOpBuilder &b, scf::ForOp loop) {
  Value done = arith::SubIOp::create(b, loop.getInductionVar(), loop.getLowerBound());
  Value number = arith::DivUIOp::create(b, done, loop.getStep());
  return modulo(b, toI32(b, number), KernelShape::kStages);
}

/// Says where the ops of a step find their tiles.
static void setStage(ImplicitLocOpBuilder &b, KvStep kv, const KernelShape &shape, Value number) {
  kv.scores.getStageMutable().assign(add(b, times(b, number, shape.key.bytes()), shape.keyOffset));
  if (kv.accumulate)
    kv.accumulate.getStageMutable().assign(add(b, times(b, number, shape.value.bytes()), shape.valueOffset));
}

static void stageLoop(KvStep kv, const NvvmLowering &lowering) {
  scf::ForOp loop = kv.loop;
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  beginCopiesIf(b, lowering, kv, loop.getLowerBound(), i32(b, 0));
  b.setInsertionPointToStart(loop.getBody());
  waitForCopies(b, kv.accumulate ? 1 : 0);
  Value number = stageOf(b, loop);
  Value next = modulo(b, add(b, number, 1), KernelShape::kStages);
  beginCopiesIf(b, lowering, kv, plus(b, loop.getInductionVar(), loop.getStep()), next);
  setStage(b, kv, lowering.shape, number);
  waitForValues(b, kv, 2);
  b.setInsertionPointAfter(loop);
  blockBarrier(b);
}

/// One tile is copied in front of its step.
static void stageTile(KvStep kv, const NvvmLowering &lowering) {
  ImplicitLocOpBuilder b(kv.scores.getLoc(), kv.scores);
  Value number = i32(b, 0);
  beginCopies(b, lowering, kv, kv.scores.getJ0(), number);
  NVVM::CpAsyncCommitGroupOp::create(b);
  waitForCopies(b, kv.accumulate ? 1 : 0);
  setStage(b, kv, lowering.shape, number);
  waitForValues(b, kv, 0);
  Operation *last = kv.accumulate ? kv.accumulate.getOperation() : kv.scores.getOperation();
  b.setInsertionPointAfter(last);
  blockBarrier(b);
}

void nvvm::placeCopies(func::FuncOp kernel, const NvvmLowering &lowering) {
  for (KvStep kv : collectKvSteps(kernel))
    kv.loop ? stageLoop(kv, lowering) : stageTile(kv, lowering);
}
