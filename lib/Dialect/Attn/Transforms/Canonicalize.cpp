//===- Canonicalize.cpp - simplify by the positive list -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Dialect/Attn/Canonicalization/PositiveList.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attn {
#define GEN_PASS_DEF_CANONICALIZEPASS
#include "Attn/AttnPasses.h.inc"
} // namespace attn

using namespace mlir;

namespace {

struct Canonicalize : attn::impl::CanonicalizePassBase<Canonicalize> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet list(context);
    attn::populateListedPatterns(list, keepLoops);
    patterns = std::make_shared<FrozenRewritePatternSet>(std::move(list));
    return success();
  }

  void runOnOperation() override {
    // Like upstream's canonicalize: no fixed point after ten rounds is no failure.
    GreedyRewriteConfig config = attn::listedOnly();
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal);
    (void)applyPatternsGreedily(getOperation(), *patterns, config);
  }

  std::shared_ptr<const FrozenRewritePatternSet> patterns;
};

} // namespace
