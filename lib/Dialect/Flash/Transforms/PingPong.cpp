//===- PingPong.cpp - two warpgroups multiply by turns ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Dialect/Flash/Transforms/PingPong.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "attn/Dialect/Flash/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attn::flash {
#define GEN_PASS_DEF_PINGPONGPASS
#include "Flash/FlashPasses.h.inc"
} // namespace attn::flash

using namespace mlir;
using namespace attn;
using namespace attn::flash;

/// The scores that are under way when products with values begin; null where there are none.
static BeginScoresOp scoresUnderWay(BeginAccumulateOp op) {
  for (Operation &other : llvm::reverse(llvm::make_range(op->getBlock()->begin(), op->getIterator())))
    if (auto begin = dyn_cast<BeginScoresOp>(other))
      return op->isBeforeInBlock(*begin->user_begin()) ? begin : BeginScoresOp();
  return {};
}

/// True if the weights of the scores are multiplied with values: then a softmax follows, beside which the other
/// warpgroup multiplies.
static bool hasValues(BeginScoresOp op) {
  auto finish = cast<FinishScoresOp>(*op->user_begin());
  return llvm::any_of(finish.getScores().getUsers(), llvm::IsaPred<WeightsOp>);
}

void flash::takeTurns(Operation *root) {
  root->walk([](BeginScoresOp op) { op.setPassTurn(hasValues(op)); });
  root->walk([](BeginAccumulateOp op) {
    BeginScoresOp scores = scoresUnderWay(op);
    if (!scores)
      return op.setWaitTurn(true);
    // One turn is both products.
    scores.setWaitTurn(true);
    scores.setPassTurn(false);
    op.setPassTurn(true);
  });
}

namespace {

struct PingPong : attn::flash::impl::PingPongPassBase<PingPong> {
  void runOnOperation() override { takeTurns(getOperation()); }
};

} // namespace
