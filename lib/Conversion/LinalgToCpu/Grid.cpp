//===- Grid.cpp - parallel loops over tiles -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Grid.h"
#include "../FlashLanes/Loops.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attn;
using namespace attn::loops;
using namespace attn::lanes;

/// True if the types tell that there is one tile, and not none.
static bool hasOneTile(const GridDim &dim) {
  std::optional<int64_t> size = getConstantIntValue(dim.size), step = getConstantIntValue(dim.step);
  return size && *size > 0 && ((step && *step >= *size) || dim.size == dim.step);
}

/// The end of the tile from `low`.
static Value endOfTile(ImplicitLocOpBuilder &b, const GridDim &dim, Value low) {
  std::optional<int64_t> size = getConstantIntValue(dim.size), step = getConstantIntValue(dim.step);
  Value end = plus(b, low, dim.step);
  if ((step && *step == 1) || (size && step && *size % *step == 0))
    return end;
  return arith::MinSIOp::create(b, end, dim.size);
}

void loops::buildGrid(ImplicitLocOpBuilder &b, ArrayRef<GridDim> dims, bool isParallel,
                      llvm::function_ref<void(ImplicitLocOpBuilder &, ValueRange, ValueRange)> body) {
  Value zero = constantIndex(b, 0);
  SmallVector<Value> lows(dims.size(), zero), highs;
  SmallVector<unsigned> looped;
  SmallVector<OpFoldResult> lower, upper, steps;
  for (auto [number, dim] : llvm::enumerate(dims)) {
    highs.push_back(dim.size);
    if (hasOneTile(dim))
      continue;
    looped.push_back(number);
    lower.push_back(b.getIndexAttr(0));
    upper.push_back(getAsOpFoldResult(dim.size));
    steps.push_back(getAsOpFoldResult(dim.step));
  }
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> indices;
  if (isParallel && !looped.empty()) {
    auto forall = scf::ForallOp::create(b, lower, upper, steps, ValueRange{}, std::nullopt);
    b.setInsertionPoint(forall.getBody()->getTerminator());
    llvm::append_range(indices, forall.getInductionVars());
  } else {
    for (unsigned number : looped) {
      auto loop = scf::ForOp::create(b, zero, dims[number].size, dims[number].step);
      b.setInsertionPoint(loop.getBody()->getTerminator());
      indices.push_back(loop.getInductionVar());
    }
  }
  for (auto [number, index] : llvm::zip(looped, indices)) {
    lows[number] = index;
    highs[number] = endOfTile(b, dims[number], index);
  }
  body(b, lows, highs);
}
