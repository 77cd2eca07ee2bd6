//===- Classify.cpp - looking at the mask of a tile with a warp -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Row by row, keys as lanes, until a kept and a dropped pair are found: then the tile is partial. The lanes vote, so
// that all of them go the same way.
//
//===----------------------------------------------------------------------===//

#include "../FlashLanes/Loops.h"
#include "../FlashLanes/Regions.h"
#include "Lowering.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;
using namespace attn::lanes;
using namespace attn::flash;

namespace {

struct ClassifyTile : OpConversionPattern<ClassifyTileOp> {
  ClassifyTile(const TypeConverter &converter, MLIRContext *context, const NvvmLowering &lowering)
      : OpConversionPattern(converter, context), lowering(lowering) {}

  /// True if the mask keeps key `k` of row `r` of the tile.
  static Value isKept(ImplicitLocOpBuilder &b, Region &region, OpAdaptor adaptor, Value r, Value k) {
    IRMapping map;
    map.map(region.getArguments(),
            ArrayRef<Value>{adaptor.getB(), adaptor.getH(), plus(b, adaptor.getI0(), r), plus(b, adaptor.getJ0(), k)});
    Value yielded = region.front().getTerminator()->getOperand(0);
    for (Operation *op : sliceOf(region, yielded))
      b.clone(*op, map);
    return map.lookupOrDefault(yielded);
  }

  /// Folds one row into (any kept, all kept).
  SmallVector<Value> foldRow(ImplicitLocOpBuilder &b, ClassifyTileOp op, OpAdaptor adaptor, Value row,
                             ValueRange state) const {
    SmallVector<Value> mine =
        buildCarryingLoop(b, toIndex(b, lowering.place.lane), adaptor.getKeys(), 32, state,
                          [&](ImplicitLocOpBuilder &b, Value key, ValueRange state) -> SmallVector<Value> {
                            Value keep = isKept(b, op.getMaskRegion(), adaptor, row, key);
                            return {arith::OrIOp::create(b, state[0], keep), arith::AndIOp::create(b, state[1], keep)};
                          });
    return {warpAny(b, mine[0]), warpAll(b, mine[1])};
  }

  LogicalResult matchAndRewrite(ClassifyTileOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value no = arith::ConstantOp::create(b, b.getBoolAttr(false));
    Value yes = arith::ConstantOp::create(b, b.getBoolAttr(true));
    Value hasKeys = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, adaptor.getKeys(), constantIndex(b, 0));
    Value rows = arith::SelectOp::create(b, hasKeys, adaptor.getRows(), constantIndex(b, 0));
    auto isUndecided = [&](OpBuilder &nested, Location loc, ValueRange state) {
      ImplicitLocOpBuilder b(loc, nested);
      Value isLeft = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, state[0], rows);
      Value isPartial = arith::AndIOp::create(b, state[1], arith::XOrIOp::create(b, state[2], yes));
      scf::ConditionOp::create(b, arith::AndIOp::create(b, isLeft, arith::XOrIOp::create(b, isPartial, yes)), state);
    };
    auto lookAtRow = [&](OpBuilder &nested, Location loc, ValueRange state) {
      ImplicitLocOpBuilder b(loc, nested);
      SmallVector<Value> next = foldRow(b, op, adaptor, state[0], state.drop_front());
      scf::YieldOp::create(b, ValueRange{plus(b, state[0], constantIndex(b, 1)), next[0], next[1]});
    };
    auto loop = scf::WhileOp::create(b, TypeRange{b.getIndexType(), b.getI1Type(), b.getI1Type()},
                                     ValueRange{constantIndex(b, 0), no, yes}, isUndecided, lookAtRow);
    auto code = [&](int32_t value) -> Value { return arith::ConstantOp::create(b, b.getI32IntegerAttr(value)); };
    Value isFull = arith::AndIOp::create(b, loop.getResult(1), loop.getResult(2));
    Value notFull = arith::SelectOp::create(b, loop.getResult(1), code(1), code(0));
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isFull, code(2), notFull);
    return success();
  }

  const NvvmLowering &lowering;
};

} // namespace

void nvvm::populateClassifyFragmentPatterns(const FragmentTypeConverter &converter, const NvvmLowering &lowering,
                                            RewritePatternSet &patterns) {
  patterns.add<ClassifyTile>(converter, patterns.getContext(), lowering);
}
