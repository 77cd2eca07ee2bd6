//===- VerifyForm.cpp - check that tile values are linear ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A target keeps scores and accumulators in one place and updates them there, so nothing may read a value after the op
// that consumes it. One walk over the values, one over the uses of each.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "attn/Dialect/Flash/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attn::flash {
#define GEN_PASS_DEF_VERIFYFORMPASS
#include "Flash/FlashPasses.h.inc"
} // namespace attn::flash

using namespace mlir;
using namespace attn::flash;

static LogicalResult error(Value value, const Twine &message) {
  InFlightDiagnostic diagnostic = emitError(value.getLoc()) << "expects a tile value of type " << value.getType()
                                                            << " to be consumed once on every path, but " << message;
  for (Operation *user : value.getUsers())
    diagnostic.attachNote(user->getLoc()) << "used here";
  return diagnostic;
}

/// Checks that `value` is consumed once on every path through `region`, or through the block that defines it if the
/// region is its own. Branches of scf.if and scf.index_switch exclude one another, so each consumes it.
static LogicalResult checkConsumedOnce(Value value, Region &region) {
  SmallVector<Operation *> consumers;
  for (OpOperand &use : value.getUses())
    if (Operation *ancestor = region.findAncestorOpInRegion(*use.getOwner()))
      consumers.push_back(ancestor);
  if (consumers.empty())
    return error(value, "it is never used on one of them");
  Operation *consumer = consumers.front();
  if (!llvm::all_equal(consumers))
    return error(value, "it has " + Twine(consumers.size()) + " uses");
  bool isBranch = isa<scf::IfOp, scf::IndexSwitchOp>(consumer) && !llvm::is_contained(consumer->getOperands(), value);
  if (isBranch) {
    for (Region &branch : consumer->getRegions())
      if (failed(checkConsumedOnce(value, branch)))
        return failure();
    return success();
  }
  if (consumers.size() > 1)
    return error(value, "it has " + Twine(consumers.size()) + " uses");
  if (!llvm::is_contained(consumer->getOperands(), value))
    return error(value, "a region that may run any number of times uses it from outside");
  return success();
}

static LogicalResult checkQuery(Value value) {
  for (Operation *user : value.getUsers())
    if (!isa<ScoresOp, BeginScoresOp>(user))
      return user->emitOpError("expects to find query tiles in flash.scores and flash.begin_scores alone, but uses one "
                               "of type ")
             << value.getType();
  return success();
}

static LogicalResult check(Value value) {
  if (isa<QueryType>(value.getType()))
    return checkQuery(value);
  if (isa<ScoresType, AccType>(value.getType()))
    return checkConsumedOnce(value, *value.getParentRegion());
  return success();
}

namespace {

struct VerifyForm : attn::flash::impl::VerifyFormPassBase<VerifyForm> {
  void runOnOperation() override {
    bool isValid = true;
    getOperation()->walk([&](Operation *op) {
      for (Value result : op->getResults())
        isValid &= succeeded(check(result));
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            isValid &= succeeded(check(argument));
    });
    if (!isValid)
      signalPassFailure();
  }
};

} // namespace
