//===- OverlapProducts.cpp - products beside the softmax of a warpgroup -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two steps. Products become an op that begins them and one that waits (splitProducts), which changes no order. Then
// the loops over keys are turned: iteration n of the loop
//
//   A: begin_scores n, finish_scores n, update_max, weights, round_weights
//   B: begin_accumulate n, finish_accumulate n
//
// gives its B to iteration n + 1, between the begin and finish of A. What crosses is the rounded weights (half the
// registers of scores) and the rescaling factors. The running maximum and sum belong to A, the accumulator to B.
//
// Upstream's loop pipeliner would do the turning, but for a number of iterations that only the run knows it selects
// between tiles of the last two iterations; one test in front is enough here.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Flash/Transforms/OverlapProducts.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "attn/Dialect/Flash/Transforms/Passes.h"
#include "attn/Target/TileModel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace attn::flash {
#define GEN_PASS_DEF_OVERLAPPRODUCTSPASS
#include "Flash/FlashPasses.h.inc"
} // namespace attn::flash

using namespace mlir;
using namespace attn;
using namespace attn::flash;

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

static void split(ScoresOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value products = BeginScoresOp::create(b, op.getScores().getType(), op.getQuery(), op.getKey(), op.getB(), op.getHk(),
                                         op.getJ0(), op.getKeys(), /*waitTurn=*/false, /*passTurn=*/false);
  auto scores = FinishScoresOp::create(b, op.getScores().getType(), op.getRowMax().getType(), products, op.getB(),
                                       op.getH(), op.getI0(), op.getJ0(), op.getRows(), op.getKeys(), op.getScale(),
                                       op.getGroup(), /*later=*/0);
  scores.getScoreRegion().takeBody(op.getScoreRegion());
  scores.getMaskRegion().takeBody(op.getMaskRegion());
  op->replaceAllUsesWith(scores);
  op.erase();
}

static void split(AccumulateOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  ScoresType weights = op.getWeights().getType();
  auto rounded = ScoresType::get(b.getContext(), weights.getRows(), weights.getKeys(),
                                 cast<MemRefType>(op.getValue().getType()).getElementType());
  Value right = RoundWeightsOp::create(b, rounded, op.getWeights());
  Value acc = BeginAccumulateOp::create(b, op.getAcc().getType(), op.getAcc(), op.getRescale(), right, op.getValue(),
                                        op.getB(), op.getHk(), op.getJ0(), op.getKeys(), /*waitTurn=*/false,
                                        /*passTurn=*/false);
  op.replaceAllUsesWith(FinishAccumulateOp::create(b, acc.getType(), acc).getResult());
  op.erase();
}

void attn::flash::splitProducts(Operation *root) {
  root->walk([](Operation *op) {
    if (auto scores = dyn_cast<ScoresOp>(op))
      split(scores);
    else if (auto accumulate = dyn_cast<AccumulateOp>(op))
      split(accumulate);
  });
}

//===----------------------------------------------------------------------===//
// Turning
//===----------------------------------------------------------------------===//

namespace {

/// A loop over tiles of keys whose body is the steps of one tile, and what places them.
struct KvLoop {
  scf::ForOp loop;
  BeginScoresOp beginScores;
  FinishScoresOp finishScores;
  UpdateMaxOp updateMax;
  WeightsOp weights;
  RoundWeightsOp roundWeights;
  BeginAccumulateOp beginAccumulate;
  FinishAccumulateOp finishAccumulate;
  /// Everything else: what the tile's place and length follow from.
  SmallVector<Operation *> indices;
};

/// Builds the turned loop.
class TurnedLoop {
public:
  explicit TurnedLoop(const KvLoop &kv) : kv(kv), loop(kv.loop), b(loop.getLoc(), loop) {}

  void build();

private:
  /// The values of the state, in the order of the loop's: maximum, sum and accumulator are somewhere in it.
  using State = SmallVector<Value>;
  /// What A leaves to B.
  struct Crossing {
    Value weights, rescale;
  };

  IRMapping place(Value j, ValueRange state);
  void cloneAll(ArrayRef<Operation *> ops, IRMapping &map) {
    for (Operation *op : ops)
      b.clone(*op, map);
  }
  State next(const IRMapping &map) {
    return llvm::map_to_vector(loop.getYieldedValues(), [&](Value value) { return map.lookupOrDefault(value); });
  }
  Crossing crossing(const IRMapping &map) {
    return {map.lookup(kv.roundWeights.getResult()), map.lookup(kv.updateMax.getRescale())};
  }
  void takeOver(IRMapping &map, Crossing crossing) {
    map.map(kv.roundWeights.getResult(), crossing.weights);
    map.map(kv.updateMax.getRescale(), crossing.rescale);
  }
  SmallVector<Value> buildTiles();
  std::pair<State, Crossing> buildOthers(State state, Crossing first);
  Value lastTile();

  KvLoop kv;
  scf::ForOp loop;
  ImplicitLocOpBuilder b;
};

} // namespace

/// The ops of a loop that can be turned: one tile's steps, whose state is the loop's and nothing else.
static std::optional<KvLoop> matchKvLoop(scf::ForOp loop) {
  KvLoop kv;
  kv.loop = loop;
  auto note = [](auto &known, auto op) {
    bool isFirst = !known;
    known = op;
    return isFirst;
  };
  for (Operation &op : loop.getBody()->without_terminator()) {
    bool isFit = TypeSwitch<Operation *, bool>(&op)
                     .Case([&](BeginScoresOp op) { return note(kv.beginScores, op); })
                     .Case([&](FinishScoresOp op) { return note(kv.finishScores, op); })
                     .Case([&](UpdateMaxOp op) { return note(kv.updateMax, op); })
                     .Case([&](WeightsOp op) { return note(kv.weights, op); })
                     .Case([&](RoundWeightsOp op) { return note(kv.roundWeights, op); })
                     .Case([&](BeginAccumulateOp op) { return note(kv.beginAccumulate, op); })
                     .Case([&](FinishAccumulateOp op) { return note(kv.finishAccumulate, op); })
                     .Default([&](Operation *op) {
                       kv.indices.push_back(op);
                       return isPure(op) && !isa<FlashDialect>(op->getDialect());
                     });
    if (!isFit)
      return std::nullopt;
  }
  bool isWhole = kv.finishScores && kv.updateMax && kv.weights && kv.roundWeights && kv.finishAccumulate;
  if (!isWhole || loop.getNumResults() != 3)
    return std::nullopt;
  auto carries = [&](Value argument, Value yielded) {
    BlockArgument known = dyn_cast<BlockArgument>(argument);
    return known && known.getOwner() == loop.getBody() && loop.getTiedLoopYieldedValue(known)->get() == yielded;
  };
  bool isState = carries(kv.updateMax.getOld(), kv.updateMax.getNewMax()) &&
                 carries(kv.weights.getSum(), kv.weights.getNewSum()) &&
                 carries(kv.beginAccumulate.getAcc(), kv.finishAccumulate.getResult());
  bool crosses = kv.beginAccumulate.getWeights() == kv.roundWeights.getResult() &&
                 kv.beginAccumulate.getRescale() == kv.updateMax.getRescale();
  return isState && crosses ? std::optional(kv) : std::nullopt;
}

/// The tile at `j`, of a state.
IRMapping TurnedLoop::place(Value j, ValueRange state) {
  IRMapping map;
  map.map(loop.getInductionVar(), j);
  map.map(loop.getRegionIterArgs(), state);
  cloneAll(kv.indices, map);
  return map;
}

/// Where the last tile of a loop that has one starts.
Value TurnedLoop::lastTile() {
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value length = b.createOrFold<arith::SubIOp>(loop.getUpperBound(), loop.getLowerBound());
  Value before = b.createOrFold<arith::DivUIOp>(b.createOrFold<arith::SubIOp>(length, one), loop.getStep());
  return b.createOrFold<arith::AddIOp>(loop.getLowerBound(), b.createOrFold<arith::MulIOp>(before, loop.getStep()));
}

/// All tiles but the first.
std::pair<TurnedLoop::State, TurnedLoop::Crossing> TurnedLoop::buildOthers(State state, Crossing first) {
  Value second = b.createOrFold<arith::AddIOp>(loop.getLowerBound(), loop.getStep());
  State start = state;
  llvm::append_range(start, ArrayRef{first.weights, first.rescale});
  auto turned = scf::ForOp::create(b, second, loop.getUpperBound(), loop.getStep(), start);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(turned.getBody());
  ValueRange carried = turned.getRegionIterArgs();
  IRMapping now = place(turned.getInductionVar(), carried.drop_back(2));
  IRMapping before = place(arith::SubIOp::create(b, turned.getInductionVar(), loop.getStep()), carried.drop_back(2));
  takeOver(before, {carried[3], carried[4]});
  cloneAll({kv.beginScores}, now);
  cloneAll({kv.beginAccumulate}, before);
  cast<FinishScoresOp>(b.clone(*kv.finishScores, now)).setLater(1);
  cloneAll({kv.updateMax, kv.weights}, now);
  cloneAll({kv.finishAccumulate}, before);
  // Behind the wait: until then the products read the weights before in their registers.
  cloneAll({kv.roundWeights}, now);
  now.map(kv.finishAccumulate.getResult(), before.lookup(kv.finishAccumulate.getResult()));
  State yielded = next(now);
  llvm::append_range(yielded, ArrayRef{crossing(now).weights, crossing(now).rescale});
  scf::YieldOp::create(b, yielded);
  ValueRange results = turned.getResults();
  return {State(results.drop_back(2)), {results[3], results[4]}};
}

/// A loop that has a tile.
SmallVector<Value> TurnedLoop::buildTiles() {
  IRMapping first = place(loop.getLowerBound(), loop.getInitArgs());
  cloneAll({kv.beginScores, kv.finishScores, kv.updateMax, kv.weights, kv.roundWeights}, first);
  // The accumulator is what it was.
  first.map(kv.finishAccumulate.getResult(), first.lookup(kv.beginAccumulate.getAcc()));
  auto [state, left] = buildOthers(next(first), crossing(first));
  // `state` is that behind the last tile but for its values.
  IRMapping last = place(lastTile(), state);
  takeOver(last, left);
  cloneAll({kv.beginAccumulate, kv.finishAccumulate}, last);
  for (auto [value, yielded] : llvm::zip(state, loop.getYieldedValues()))
    if (yielded == kv.finishAccumulate.getResult())
      value = last.lookup(yielded);
  return state;
}

void TurnedLoop::build() {
  Value hasTile = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
  SmallVector<Value> results;
  if (matchPattern(hasTile, m_One())) {
    results = buildTiles();
  } else {
    auto branch = scf::IfOp::create(b, loop.getResultTypes(), hasTile, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, buildTiles());
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loop.getInitArgs());
    llvm::append_range(results, branch.getResults());
  }
  loop.replaceAllUsesWith(results);
  loop.erase();
}

void attn::flash::turnLoops(Operation *root) {
  SmallVector<KvLoop> loops;
  root->walk([&](scf::ForOp loop) {
    if (std::optional<KvLoop> kv = matchKvLoop(loop))
      loops.push_back(*kv);
  });
  for (const KvLoop &kv : loops)
    TurnedLoop(kv).build();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Warpgroups multiply the kernel's tiles.
static bool hasWarpgroups(Operation *kernel, const GpuTarget &target) {
  WalkResult walked = kernel->walk([&](ScoresOp op) {
    QueryType query = op.getQuery().getType();
    bool isFit = gpuWarpgroups(target, query.getElement().getIntOrFloatBitWidth(), query.getRows()) > 0;
    return isFit ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walked.wasInterrupted();
}

namespace {

struct OverlapProducts : attn::flash::impl::OverlapProductsPassBase<OverlapProducts> {
  using Base::Base;

  void runOnOperation() override {
    llvm::Expected<GpuTarget> gpu = describeGpu(target);
    if (!gpu) {
      getOperation().emitError() << llvm::toString(gpu.takeError());
      return signalPassFailure();
    }
    if (!hasWarpgroups(getOperation(), *gpu))
      return;
    splitProducts(getOperation());
    turnLoops(getOperation());
  }
};

} // namespace
