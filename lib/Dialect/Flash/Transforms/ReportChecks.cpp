//===- ReportChecks.cpp - failing checks leave parallel loops of a device ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One word of device memory for each loop with checks. A failing check is noted as
//
//   (its place in the order of sequential loops) * (number of checks) + (its number)
//
// by an atomic minimum, so that threads need no order, and what is reported does not depend on theirs. Costs a wait for
// the kernel, where there are checks.
//
//===----------------------------------------------------------------------===//

#include "ParallelLoops.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "attn/Dialect/Flash/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace attn::flash {
#define GEN_PASS_DEF_REPORTCHECKSPASS
#include "Flash/FlashPasses.h.inc"
} // namespace attn::flash

using namespace mlir;
using namespace attn::flash;

/// What the word holds while nothing failed: the largest number, unsigned.
static constexpr int64_t kNothingFailed = -1;

static bool isCheck(Operation *op) { return isa<cf::AssertOp, RequireOp>(op); }

static Value number(ImplicitLocOpBuilder &b, int64_t value) { return arith::ConstantIndexOp::create(b, value); }

static Value word(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
}

/// The values that a block hands on and that are computed behind `check`.
static SmallVector<OpOperand *> findResults(Operation *check) {
  SmallVector<OpOperand *> results;
  for (OpOperand &operand : check->getBlock()->getTerminator()->getOpOperands()) {
    Operation *source = operand.get().getDefiningOp();
    if (source && source->getBlock() == check->getBlock() && check->isBeforeInBlock(source))
      results.push_back(&operand);
  }
  return results;
}

static LogicalResult checkSupport(Operation *check, scf::ForallOp loop) {
  StringRef problem;
  for (Operation *around = check->getParentOp(); around != loop; around = around->getParentOp())
    if (isa<scf::WhileOp>(around))
      problem = "scf.while could repeat without end";
  for (OpOperand *result : findResults(check))
    if (!result->get().getType().isIntOrIndexOrFloat())
      problem = "what follows it is no number";
  if (problem.empty())
    return success();
  return check->emitOpError("inside of a parallel loop is not supported on a GPU, since ") << problem;
}

/// The word says which check failed, but not of what numbers.
static StringAttr getMessage(Operation *check) {
  if (auto assertion = dyn_cast<cf::AssertOp>(check))
    return assertion.getMsgAttr();
  auto require = cast<RequireOp>(check);
  std::string text = require.getMessage().str();
  for (size_t k = 0; k < require.getValues().size(); ++k)
    for (size_t at; (at = text.find("{" + std::to_string(k) + "}")) != std::string::npos;)
      text.replace(at, 3, "?");
  return StringAttr::get(check->getContext(), text);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {

/// A loop around a check: what was counted up to now, and how far it goes.
struct LoopRange {
  Value index;
  OpFoldResult begin, end, step;
};

} // namespace

/// The loops around a check, the outermost first.
static SmallVector<LoopRange> findLoops(Operation *check, scf::ForallOp outermost) {
  SmallVector<LoopRange> loops;
  for (Operation *op = check; op != outermost;) {
    op = op->getParentOp();
    SmallVector<LoopRange> found;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      found.push_back({loop.getInductionVar(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
    else if (auto loop = dyn_cast<scf::ForallOp>(op))
      for (auto [index, begin, end, step] : llvm::zip(loop.getInductionVars(), loop.getMixedLowerBound(),
                                                      loop.getMixedUpperBound(), loop.getMixedStep()))
        found.push_back({index, begin, end, step});
    loops.insert(loops.begin(), found.begin(), found.end());
  }
  return loops;
}

/// The number of iterations before this one, if the loops ran one after the other.
static Value buildPlace(ArrayRef<LoopRange> loops, ImplicitLocOpBuilder &b) {
  auto toIndex = [&](OpFoldResult value) {
    Value x = getValueOrCreateConstantIndexOp(b, b.getLoc(), value);
    return x.getType().isIndex() ? x : arith::IndexCastOp::create(b, b.getIndexType(), x).getResult();
  };
  Value place = number(b, 0);
  for (const LoopRange &loop : loops) {
    Value begin = toIndex(loop.begin), step = toIndex(loop.step);
    auto countTo = [&](Value end) {
      return arith::CeilDivSIOp::create(b, arith::SubIOp::create(b, end, begin), step).getResult();
    };
    Value count = countTo(toIndex(loop.end)), passed = countTo(toIndex(loop.index));
    place = arith::AddIOp::create(b, arith::MulIOp::create(b, place, count), passed);
  }
  return place;
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// Notes check `which` of `count` in the report.
static void buildNote(Operation *check, int64_t which, int64_t count, scf::ForallOp loop, Value report,
                      ImplicitLocOpBuilder &b) {
  Value place = buildPlace(findLoops(check, loop), b);
  Value key = arith::AddIOp::create(b, arith::MulIOp::create(b, place, number(b, count)), number(b, which));
  memref::AtomicRMWOp::create(b, b.getI64Type(), arith::AtomicRMWKind::minu,
                              arith::IndexCastOp::create(b, b.getI64Type(), key), report, ValueRange());
}

/// What follows the check in its block runs where it holds.
static void replaceByBranch(Operation *check, function_ref<void(ImplicitLocOpBuilder &)> buildFailure) {
  ImplicitLocOpBuilder b(check->getLoc(), check);
  Block *block = check->getBlock();
  SmallVector<OpOperand *> results = findResults(check);
  auto holds = [&](OpBuilder &builder, Location loc) {
    Block *then = builder.getInsertionBlock();
    then->getOperations().splice(then->end(), block->getOperations(), std::next(check->getIterator()),
                                 block->getTerminator()->getIterator());
    SmallVector<Value> values;
    for (OpOperand *result : results)
      values.push_back(result->get());
    builder.setInsertionPointToEnd(then);
    scf::YieldOp::create(builder, loc, values);
  };
  auto fails = [&](OpBuilder &builder, Location loc) {
    ImplicitLocOpBuilder b(loc, builder);
    buildFailure(b);
    SmallVector<Value> zeros;
    for (OpOperand *result : results)
      zeros.push_back(arith::ConstantOp::create(b, b.getZeroAttr(result->get().getType())));
    scf::YieldOp::create(b, zeros);
  };
  auto branch = scf::IfOp::create(b, check->getOperand(0), holds, fails);
  for (auto [result, value] : llvm::zip(results, branch.getResults()))
    result->set(value);
  check->erase();
}

/// Ends the call behind the loop with the message of the check that the report names.
static void buildRequirements(ArrayRef<StringAttr> messages, ArrayRef<Location> places, Value report,
                              ImplicitLocOpBuilder &b) {
  Value noted = memref::LoadOp::create(b, report);
  memref::DeallocOp::create(b, report);
  Value nothing = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, noted, word(b, kNothingFailed));
  Value which = arith::RemUIOp::create(b, noted, word(b, static_cast<int64_t>(messages.size())));
  for (auto [k, message] : llvm::enumerate(messages)) {
    b.setLoc(places[k]);
    Value other = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, which, word(b, static_cast<int64_t>(k)));
    RequireOp::create(b, arith::OrIOp::create(b, nothing, other), message, ValueRange());
  }
}

static LogicalResult reportChecks(scf::ForallOp loop) {
  SmallVector<Operation *> checks;
  loop->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isCheck(op))
      checks.push_back(op);
  });
  if (checks.empty())
    return success();
  for (Operation *check : checks)
    if (failed(checkSupport(check, loop)))
      return failure();
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  Value report = memref::AllocOp::create(b, MemRefType::get({}, b.getI64Type()));
  memref::StoreOp::create(b, word(b, kNothingFailed), report, ValueRange());
  SmallVector<StringAttr> messages;
  SmallVector<Location> places;
  for (auto [which, check] : llvm::enumerate(checks)) {
    messages.push_back(getMessage(check));
    places.push_back(check->getLoc());
    replaceByBranch(check, [&, which = which, check = check](ImplicitLocOpBuilder &builder) {
      buildNote(check, which, checks.size(), loop, report, builder);
    });
  }
  b.setInsertionPointAfter(loop);
  buildRequirements(messages, places, report, b);
  return success();
}

namespace {

struct ReportChecks : attn::flash::impl::ReportChecksPassBase<ReportChecks> {
  void runOnOperation() override {
    for (scf::ForallOp loop : outermostLoops(getOperation()))
      if (failed(reportChecks(loop)))
        return signalPassFailure();
  }
};

} // namespace
