//===- FoldScale.cpp - multiply exponents by the scale, not scores ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dot products need not be multiplied by a constant positive scale where nobody looks at scores before the softmax: the
// largest stays the largest, and the exponent of a weight is multiplied by a constant anyway (log2(e)), after the
// maximum is subtracted. Nothing else may be moved in front of the subtraction: what rounds a score rounds it by a
// share of its size, and an exponent by as much.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "attn/Dialect/Flash/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace attn::flash {
#define GEN_PASS_DEF_FOLDSCALEPASS
#include "Flash/FlashPasses.h.inc"
} // namespace attn::flash

using namespace mlir;
using namespace attn;
using namespace attn::flash;

/// nullopt where only the run knows it.
static std::optional<double> constantScale(ScoresOp op) {
  FloatAttr constant;
  if (!op.getScale())
    return 1;
  if (!matchPattern(op.getScale(), m_Constant(&constant)))
    return std::nullopt;
  return constant.getValueAsDouble();
}

/// True where scores and maxima are compared with, or handed to, what has natural units.
static bool areScoresSeen(ArrayRef<Operation *> ops) {
  bool isSeen = false, keeps = false, reads = false;
  for (Operation *op : ops) {
    if (auto scores = dyn_cast<ScoresOp>(op))
      isSeen |= !scores.getScoreRegion().empty();
    else if (auto init = dyn_cast<InitOp>(op))
      isSeen |= bool(init.getSink());
    keeps |= isa<StorePartialOp>(op);
    reads |= isa<LoadPartialOp>(op);
  }
  return isSeen || keeps != reads;
}

/// The scale that all scores have, if it may be folded; 1 if not. It is in [2^-16, 1], so that what is finite stays
/// finite and a difference that overflows has a weight of 0.
static double foldableScale(ArrayRef<Operation *> ops) {
  std::optional<double> common;
  for (Operation *op : ops)
    if (auto scores = dyn_cast<ScoresOp>(op)) {
      std::optional<double> scale = constantScale(scores);
      if (!scale || *scale != common.value_or(*scale))
        return 1;
      common = scale;
    }
  bool isFoldable = common && *common >= 0x1p-16 && *common <= 1 && !areScoresSeen(ops);
  return isFoldable ? *common : 1;
}

/// The op that a tile comes from: one with regions for those that it hands to or out of them.
static Operation *sourceOf(Value tile) {
  Operation *op = tile.getDefiningOp();
  return op ? op : cast<BlockArgument>(tile).getOwner()->getParentOp();
}

/// The ops of a function that work on tiles, those together between which tiles or partial results go: they have one
/// unit.
static SmallVector<SmallVector<Operation *>> groupTileOps(Operation *function) {
  llvm::EquivalenceClasses<const void *> groups;
  SmallVector<Operation *> ops;
  auto isTile = [](Value value) { return isa<QueryType, ScoresType, AccType, RowsType>(value.getType()); };
  function->walk([&](Operation *op) {
    const void *user = op->hasTrait<OpTrait::IsTerminator>() ? op->getParentOp() : op;
    for (Value tile : llvm::make_filter_range(op->getOperands(), isTile))
      groups.unionSets(user, sourceOf(tile));
    if (auto store = dyn_cast<StorePartialOp>(op))
      groups.unionSets(op, store.getMaxDest().getAsOpaquePointer());
    else if (auto load = dyn_cast<LoadPartialOp>(op))
      groups.unionSets(op, load.getMaxSource().getAsOpaquePointer());
    if (isa_and_present<FlashDialect>(op->getDialect())) {
      groups.insert(op);
      ops.push_back(op);
    }
  });
  llvm::MapVector<const void *, SmallVector<Operation *>> byLeader;
  for (Operation *op : ops)
    byLeader[groups.getLeaderValue(op)].push_back(op);
  return llvm::map_to_vector(byLeader, [](auto &entry) { return std::move(entry.second); });
}

/// Scores count in `unit` of what they counted in.
static void changeUnit(Operation *op, double unit) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<ScoresOp>([&](ScoresOp scores) {
        if (unit != 1 || constantScale(scores) == 1)
          scores.getScaleMutable().clear();
      })
      .Case<UpdateMaxOp, WeightsOp, StoreLseOp, StoreWeightsOp, MergeOp>(
          [&](auto op) { op.setUnit(llvm::APFloat(unit * op.getUnit().convertToDouble())); });
}

namespace {

struct FoldScale : attn::flash::impl::FoldScalePassBase<FoldScale> {
  void runOnOperation() override {
    for (ArrayRef<Operation *> ops : groupTileOps(getOperation())) {
      double unit = foldableScale(ops);
      for (Operation *op : ops)
        changeUnit(op, unit);
    }
  }
};

} // namespace
