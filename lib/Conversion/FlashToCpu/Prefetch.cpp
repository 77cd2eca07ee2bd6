//===- Prefetch.cpp - what scores ops ask of memory beside their work -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Patterns.h"
#include "attn/Conversion/Passes.h"

namespace attn {
#define GEN_PASS_DEF_PREFETCHPASS
#include "Conversion/ConversionPasses.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using namespace attn::cpu;
using namespace attn::flash;

namespace {

struct PrefetchPass : attn::impl::PrefetchPassBase<PrefetchPass> {
  using Base::Base;
  void runOnOperation() override {
    FailureOr<CpuTiles> tiles = tilesOf(getOperation(), target);
    if (failed(tiles))
      return signalPassFailure();
    int64_t fewRows = 2 * tiles->target.vectorBits / tiles->scoreBits;
    getOperation().walk([&](AccumulateOp accumulate) {
      auto weights = accumulate.getWeights().getDefiningOp<WeightsOp>();
      auto scores = weights ? weights.getScores().getDefiningOp<ScoresOp>() : ScoresOp();
      if (!scores)
        return;
      scores.getPrefetchMutable().assign(accumulate.getValue());
      scores.setEachStep(scores.getRowMax().getType().getRows() <= fewRows);
    });
  }
};

} // namespace
