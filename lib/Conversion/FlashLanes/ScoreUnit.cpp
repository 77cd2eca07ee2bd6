//===- ScoreUnit.cpp - the unit that scores count in ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ScoreUnit.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;
using namespace attn::lanes;
using namespace attn::flash;

/// The value of a query tile's scale; nullopt where only the run knows it.
static std::optional<double> constantScale(LoadQueryOp load) {
  FloatAttr constant;
  if (!load.getScale())
    return 1;
  if (!matchPattern(load.getScale(), m_Constant(&constant)))
    return std::nullopt;
  return constant.getValueAsDouble();
}

/// True where scores and maxima are compared with, or handed to, what has natural units.
static bool areScoresSeen(Operation *root) {
  bool isSeen = false, keeps = false, takes = false;
  root->walk([&](Operation *op) {
    if (auto scores = dyn_cast<ScoresOp>(op))
      isSeen |= !scores.getScoreRegion().empty();
    else if (auto finish = dyn_cast<FinishScoresOp>(op))
      isSeen |= !finish.getScoreRegion().empty();
    else if (auto init = dyn_cast<InitOp>(op))
      isSeen |= bool(init.getSink());
    keeps |= isa<StorePartialOp>(op);
    takes |= isa<LoadPartialOp>(op);
  });
  return isSeen || keeps != takes;
}

double lanes::scoreUnit(Operation *root) {
  std::optional<double> unit;
  auto walked = root->walk([&](LoadQueryOp load) {
    std::optional<double> scale = constantScale(load);
    bool isOne = scale && *scale == unit.value_or(*scale);
    unit = scale;
    return isOne ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (walked.wasInterrupted() || !unit || !(*unit >= 0x1p-16 && *unit <= 1) || areScoresSeen(root))
    return 1;
  return *unit;
}

void lanes::noteScales(Operation *root, llvm::DenseMap<Operation *, Value> &scales) {
  root->walk([&](Operation *op) {
    Value query;
    if (auto scores = dyn_cast<ScoresOp>(op))
      query = scores.getQuery();
    else if (auto finish = dyn_cast<FinishScoresOp>(op))
      query = finish.getProducts().getDefiningOp<BeginScoresOp>().getQuery();
    auto load = query ? query.getDefiningOp<LoadQueryOp>() : LoadQueryOp();
    if (load && constantScale(load) != 1)
      scales[op] = load.getScale();
  });
}
