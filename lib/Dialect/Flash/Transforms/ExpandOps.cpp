//===- ExpandOps.cpp - expand what LLVM would turn into calls -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One greedy run of upstream's expansions and of the copy loop below. Scalar math stays: libm is within an ulp there,
// while a libm call for each lane of a vector costs four fifths of the speed.
//
//===----------------------------------------------------------------------===//

#include "ExpandPatterns.h"
#include "attn/Dialect/Attn/Canonicalization/PositiveList.h"
#include "attn/Dialect/Flash/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace attn::flash {
#define GEN_PASS_DEF_EXPANDOPSPASS
#include "Flash/FlashPasses.h.inc"
} // namespace attn::flash

using namespace mlir;

namespace {

/// memref.copy of buffers that memcpy cannot copy, and of booleans -> a nest of loops.
struct CopyToLoops : OpRewritePattern<memref::CopyOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::CopyOp op, PatternRewriter &rewriter) const override {
    auto source = dyn_cast<MemRefType>(op.getSource().getType());
    auto target = dyn_cast<MemRefType>(op.getTarget().getType());
    if (!source || !target)
      return rewriter.notifyMatchFailure(op, "unranked");
    // A boolean may be any byte but 0 in the source, and is 1 in the target.
    bool isBoolean = source.getElementType().isInteger(1);
    if (source.getLayout().isIdentity() && target.getLayout().isIdentity() && !isBoolean)
      return rewriter.notifyMatchFailure(op, "contiguous: memcpy does it");
    Location loc = op.getLoc();
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0),
          one = arith::ConstantIndexOp::create(rewriter, loc, 1);
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < source.getRank(); ++dim)
      sizes.push_back(rewriter.createOrFold<memref::DimOp>(loc, op.getSource(), dim));
    SmallVector<Value> lower(sizes.size(), zero), steps(sizes.size(), one);
    scf::buildLoopNest(rewriter, loc, lower, sizes, steps, [&](OpBuilder &b, Location loc, ValueRange indices) {
      Value element = memref::LoadOp::create(b, loc, op.getSource(), indices);
      memref::StoreOp::create(b, loc, element, op.getTarget(), indices);
    });
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

static void populateExpansions(RewritePatternSet &patterns, bool onDevice) {
  patterns.add<CopyToLoops>(patterns.getContext());
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  if (!onDevice)
    arith::populateExpandBFloat16Patterns(patterns);
  attn::flash::populateScalarExpansions(patterns);
  vector::populateVectorTransposeLoweringPatterns(patterns, vector::VectorTransposeLowering::Shuffle1D);
  vector::populateVectorShapeCastLoweringPatterns(patterns);
  vector::populateVectorBroadcastLoweringPatterns(patterns);
  vector::populateVectorMaskOpLoweringPatterns(patterns);
  vector::populateVectorStepLoweringPatterns(patterns);
  vector::populateVectorTransferLoweringPatterns(patterns, /*maxTransferRank=*/1);
}

/// Math that has no polynomial, by math that has one. Most kernels have none of it.
static LogicalResult expandForDevice(func::FuncOp function) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isa_and_present<math::MathDialect>(op->getDialect()) && !isa<math::FmaOp>(op))
      ops.push_back(op);
  });
  if (ops.empty())
    return success();
  RewritePatternSet patterns(function.getContext());
  attn::flash::populateDeviceExpansions(patterns);
  attn::populateListedFolds(patterns);
  return applyOpPatternsGreedily(ops, std::move(patterns),
                                 attn::listedOnly().setStrictness(GreedyRewriteStrictness::ExistingAndNewOps));
}

/// Makes vectors of one lane of a function on scalars. Returns the function on them.
static Operation *widenScalar(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  auto vectorOf = [](Type type) { return VectorType::get({1}, type); };
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(vector::BroadcastOp::create(b, vectorOf(operand.getType()), operand));
  OperationState state(op->getLoc(), op->getName(), operands, vectorOf(op->getResult(0).getType()), op->getAttrs());
  Operation *wide = b.create(state);
  op->getResult(0).replaceAllUsesWith(vector::ExtractOp::create(b, wide->getResult(0), 0));
  op->erase();
  return wide;
}

/// The functions of f32 that become polynomials: those on vectors, and on a device those on scalars, too, and
/// remainders. Upstream's cbrt makes NaN of infinity and is off by 12 ulp: libm serves its lanes. A multiply-add is an
/// instruction.
static SmallVector<Operation *> findFunctions(func::FuncOp function, bool onDevice) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (!op->getDialect() || op->getNumResults() != 1)
      return;
    Type type = op->getResult(0).getType(), element = getElementTypeOrSelf(type);
    bool isFunction =
        isa<math::MathDialect>(op->getDialect()) && !isa<math::CbrtOp, math::FmaOp>(op) && element.isF32();
    bool isRemainder = onDevice && isa<arith::RemFOp>(op) && element.getIntOrFloatBitWidth() <= 32;
    if ((isFunction || isRemainder) && (onDevice || isa<VectorType>(type)))
      ops.push_back(op);
  });
  return ops;
}

/// Upstream's erf loses the sign of -0.
static void keepSign(math::ErfOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op->getContext());
  b.setInsertionPointAfter(op);
  Value value = math::CopySignOp::create(b, op, op.getOperand());
  op.getResult().replaceAllUsesExcept(value, value.getDefiningOp());
}

/// Patterns would take any function, hence the list.
static LogicalResult expandMath(func::FuncOp function, bool onDevice) {
  SmallVector<Operation *> ops = findFunctions(function, onDevice);
  if (ops.empty())
    return success();
  for (Operation *&op : ops)
    if (!isa<VectorType>(op->getResult(0).getType()))
      op = widenScalar(op);
  for (Operation *op : ops)
    if (auto erf = dyn_cast<math::ErfOp>(op))
      keepSign(erf);
  RewritePatternSet patterns(function.getContext());
  attn::flash::populateDoublePatterns(patterns, onDevice);
  attn::flash::populateSinglePatterns(patterns);
  if (onDevice) {
    attn::flash::populateConstantPowers(patterns);
    attn::flash::populateRemainderPatterns(patterns);
  }
  populateMathPolynomialApproximationPatterns(patterns);
  attn::populateListedFolds(patterns);
  return applyOpPatternsGreedily(ops, std::move(patterns),
                                 attn::listedOnly().setStrictness(GreedyRewriteStrictness::ExistingAndNewOps));
}

namespace {

struct ExpandOps : attn::flash::impl::ExpandOpsPassBase<ExpandOps> {
  using Base::Base;

  void runOnOperation() override {
    if (onDevice && failed(expandForDevice(getOperation())))
      return signalPassFailure();
    if (failed(expandMath(getOperation(), onDevice)))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    populateExpansions(patterns, onDevice);
    GreedyRewriteConfig config = attn::listedOnly();
    // Kernels are thousands of ops, which LLVM simplifies anyway.
    if (onDevice)
      config.enableConstantCSE(false).setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    else
      attn::populateListedFolds(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
