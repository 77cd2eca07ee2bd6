//===- AnalyzeMask.cpp - say what is proved of the masks of attention -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KvLoops.h"
#include "attn/Conversion/Passes.h"
#include "attn/Conversion/TileChoice.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attn {
#define GEN_PASS_DEF_ANALYZEMASKPASS
#include "Conversion/ConversionPasses.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

struct AnalyzeMask : attn::impl::AnalyzeMaskPassBase<AnalyzeMask> {
  using Base::Base;

  LogicalResult analyze(AttentionOp op, const TargetDescription &description) {
    if (op.getMasks())
      return op.emitOpError("expects no named masks in attn-analyze-mask; run attn-expand-named first");
    FailureOr<TileSizes> tiles = chooseTileSizes(op, description, {tileQ, tileKv});
    if (failed(tiles))
      return failure();
    // Captured reads are clamped before bounds are built from them: on a copy.
    AttentionOp copy = op.clone();
    clampCapturedLoads(copy);
    MaskRanges ranges = analyzeAttentionMask(copy, /*skipTiles=*/true);
    emitMaskRemark(copy, ranges, planMask(copy, ranges, /*skipTiles=*/true), *tiles);
    copy.erase();
    return success();
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    auto description = describeTarget(target);
    if (!description) {
      getOperation().emitError() << llvm::toString(description.takeError());
      return signalPassFailure();
    }
    SmallVector<AttentionOp> ops;
    getOperation().walk([&](AttentionOp op) { ops.push_back(op); });
    for (AttentionOp op : ops)
      if (failed(analyze(op, *description)))
        return signalPassFailure();
  }
};

} // namespace
