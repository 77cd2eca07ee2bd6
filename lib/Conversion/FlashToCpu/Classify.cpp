//===- Classify.cpp - looking at the mask of a tile on the CPU ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Key by key, chunks of rows as lanes, until a kept and a dropped pair are found: then the tile is partial. An empty
// tile costs its mask and nothing else, a partial one rarely more than a few keys.
//
//===----------------------------------------------------------------------===//

#include "../FlashLanes/Lanes.h"
#include "../FlashLanes/Loops.h"
#include "Patterns.h"
#include "RegionPlan.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;
using namespace attn::lanes;
using namespace attn::flash;

namespace {

struct ClassifyTile : OpConversionPattern<ClassifyTileOp> {
  ClassifyTile(const TypeConverter &converter, MLIRContext *context, const CpuLowering &lowering)
      : OpConversionPattern(converter, context), lowering(lowering) {}

  /// Folds one chunk of one key into (any kept, all kept). Failure after a diagnostic.
  FailureOr<SmallVector<Value>> foldChunk(ImplicitLocOpBuilder &b, ClassifyTileOp op, OpAdaptor adaptor, Value key,
                                          Value lane, ValueRange state) const {
    int64_t lanes = std::min<int64_t>(lowering.lanes, op.getTileRows());
    // Lanes behind the last row repeat it, so that they change neither answer.
    Value queries = TileRows{adaptor.getH(), adaptor.getI0(), adaptor.getRows(), 1}.laneQueries(b, lanes, lane);
    Region &region = op.getMaskRegion();
    RegionRanges ranges = rangesOfTiledRegion(region);
    IRMapping map;
    map.map(region.getArguments(),
            ArrayRef<Value>{adaptor.getB(), adaptor.getH(), queries, plus(b, adaptor.getJ0(), key)});
    LaneCloner cloner(b, lanes, ranges, map);
    Value yielded = region.front().getTerminator()->getOperand(0);
    if (failed(cloner.clone(sliceOf(region, yielded))))
      return failure();
    Value keep = cloner.laned(yielded);
    Value any = vector::ReductionOp::create(b, vector::CombiningKind::OR, keep);
    Value all = vector::ReductionOp::create(b, vector::CombiningKind::AND, keep);
    return SmallVector<Value>{arith::OrIOp::create(b, state[0], any), arith::AndIOp::create(b, state[1], all)};
  }

  LogicalResult matchAndRewrite(ClassifyTileOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    int64_t lanes = std::min<int64_t>(lowering.lanes, op.getTileRows());
    Value no = arith::ConstantOp::create(b, b.getBoolAttr(false)),
          yes = arith::ConstantOp::create(b, b.getBoolAttr(true));
    LogicalResult result = success();
    auto isUndecided = [&](OpBuilder &nested, Location loc, ValueRange state) {
      ImplicitLocOpBuilder b(loc, nested);
      Value isLeft = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, state[0], adaptor.getKeys());
      Value isPartial = arith::AndIOp::create(b, state[1], arith::XOrIOp::create(b, state[2], yes));
      scf::ConditionOp::create(b, arith::AndIOp::create(b, isLeft, arith::XOrIOp::create(b, isPartial, yes)), state);
    };
    auto lookAtKey = [&](OpBuilder &nested, Location loc, ValueRange state) {
      ImplicitLocOpBuilder b(loc, nested);
      SmallVector<Value> next =
          buildCarryingLoop(b, constantIndex(b, 0), adaptor.getRows(), lanes, state.drop_front(),
                            [&](ImplicitLocOpBuilder &b, Value lane, ValueRange carried) -> SmallVector<Value> {
                              FailureOr<SmallVector<Value>> folded = foldChunk(b, op, adaptor, state[0], lane, carried);
                              if (failed(folded))
                                return result = failure(), SmallVector<Value>(carried);
                              return *folded;
                            });
      scf::YieldOp::create(b, ValueRange{plus(b, state[0], constantIndex(b, 1)), next[0], next[1]});
    };
    auto loop = scf::WhileOp::create(b, TypeRange{b.getIndexType(), b.getI1Type(), b.getI1Type()},
                                     ValueRange{constantIndex(b, 0), no, yes}, isUndecided, lookAtKey);
    if (failed(result))
      return failure();
    auto code = [&](int32_t value) -> Value { return arith::ConstantOp::create(b, b.getI32IntegerAttr(value)); };
    Value isFull = arith::AndIOp::create(b, loop.getResult(1), loop.getResult(2));
    Value notFull = arith::SelectOp::create(b, loop.getResult(1), code(1), code(0));
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isFull, code(2), notFull);
    return success();
  }

  const CpuLowering &lowering;
};

} // namespace

void cpu::populateClassifyPatterns(const TileTypeConverter &converter, const CpuLowering &lowering,
                                   RewritePatternSet &patterns) {
  patterns.add<ClassifyTile>(converter, patterns.getContext(), lowering);
}
