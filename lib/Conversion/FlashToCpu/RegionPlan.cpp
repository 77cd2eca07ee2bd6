//===- RegionPlan.cpp - what of a region is built when -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RegionPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;
using namespace attn::lanes;

/// True if `op`, or an op in its regions, has an operand in `values`.
static bool uses(Operation &op, const llvm::DenseSet<Value> &values) {
  auto isUser = [&](Operation *user) {
    bool isOne = llvm::any_of(user->getOperands(), [&](Value operand) { return values.contains(operand); });
    return isOne ? WalkResult::interrupt() : WalkResult::advance();
  };
  return op.walk(isUser).wasInterrupted();
}

/// The values of the region's block that depend on one of `sources`, which are included.
static llvm::DenseSet<Value> dependentsOf(Region &region, ValueRange sources) {
  llvm::DenseSet<Value> dependents(sources.begin(), sources.end());
  for (Operation &op : region.front())
    if (uses(op, dependents))
      dependents.insert(op.result_begin(), op.result_end());
  return dependents;
}

/// True if `index` is j plus something that does not depend on j, or that between bounds that do not (`isClamped`).
static bool isOffsetFrom(Value j, Value index, const llvm::DenseSet<Value> &onJ, bool &isClamped) {
  if (index == j)
    return true;
  Operation *op = index.getDefiningOp();
  if (!isa_and_present<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp>(op))
    return false;
  isClamped |= isa<arith::MinSIOp, arith::MaxSIOp>(op);
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  if (!onJ.contains(rhs))
    return isOffsetFrom(j, lhs, onJ, isClamped);
  return !isa<arith::SubIOp>(op) && !onJ.contains(lhs) && isOffsetFrom(j, rhs, onJ, isClamped);
}

namespace {

/// What the values of a region depend on.
struct Dependence {
  Value j;
  /// On j; on what differs from row to row; on the score.
  llvm::DenseSet<Value> onJ, onRow, onScore;

  Dependence(Region &region, int64_t group) {
    auto arguments = region.getArguments();
    j = arguments.back();
    size_t count = arguments.size();
    SmallVector<Value> row{arguments[count - 2]};
    if (group > 1)
      row.push_back(arguments[count - 3]);
    onJ = dependentsOf(region, j);
    onRow = dependentsOf(region, row);
    onScore = dependentsOf(region, arguments.drop_back(4));
  }

  bool variesByKey(Operation &op) const { return yieldsOneOf(op, onJ) || yieldsOneOf(op, onScore); }

  bool mayStage(memref::LoadOp load, bool &isClamped) const {
    if (load.getIndices().empty() || !load.getMemRefType().isLastDimUnitStride())
      return false;
    auto isOn = [](const llvm::DenseSet<Value> &set) { return [&set](Value value) { return set.contains(value); }; };
    ValueRange indices = load.getIndices();
    return llvm::none_of(indices, isOn(onScore)) && llvm::any_of(indices, isOn(onRow)) &&
           llvm::none_of(indices.drop_back(), isOn(onJ)) && isOffsetFrom(j, indices.back(), onJ, isClamped);
  }
};

} // namespace

RegionPlan cpu::planRegion(Region &region, int64_t group) {
  RegionPlan plan;
  if (region.empty())
    return plan;
  Dependence dependence(region, group);
  // Backward from what is yielded: what a staged read's indices need is not needed for them here.
  llvm::DenseSet<Value> needed;
  needed.insert(region.front().getTerminator()->operand_begin(), region.front().getTerminator()->operand_end());
  for (Operation &op : llvm::reverse(region.front().without_terminator())) {
    if (!yieldsOneOf(op, needed))
      continue;
    auto load = dyn_cast<memref::LoadOp>(op);
    bool isClamped = false;
    if (load && dependence.mayStage(load, isClamped)) {
      plan.staged.push_back({load, isClamped});
      continue;
    }
    insertOperands(op, needed);
    (dependence.variesByKey(op) ? plan.perKey : plan.invariant).push_back(&op);
  }
  std::reverse(plan.invariant.begin(), plan.invariant.end());
  std::reverse(plan.staged.begin(), plan.staged.end());
  std::reverse(plan.perKey.begin(), plan.perKey.end());
  return plan;
}
