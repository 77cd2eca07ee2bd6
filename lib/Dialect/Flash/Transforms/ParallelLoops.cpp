//===- ParallelLoops.cpp - what outlining scf.forall needs ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ParallelLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"

using namespace mlir;

SmallVector<scf::ForallOp> attn::flash::outermostLoops(func::FuncOp function) {
  SmallVector<scf::ForallOp> loops;
  function.walk<WalkOrder::PreOrder>([&](scf::ForallOp loop) {
    loops.push_back(loop);
    return WalkResult::skip();
  });
  return loops;
}

/// Inner parallel loops run on the thread of the outer one.
static LogicalResult serializeInnerLoops(scf::ForallOp loop, RewriterBase &rewriter) {
  SmallVector<scf::ForallOp> inner;
  loop.getBody()->walk<WalkOrder::PreOrder>([&](scf::ForallOp op) { inner.push_back(op); });
  for (scf::ForallOp op : inner) {
    if (op->getNumResults() != 0)
      return op.emitOpError("expects no results at the target level, but has ") << op->getNumResults();
    rewriter.setInsertionPoint(op);
    if (failed(scf::forallToForLoop(rewriter, op)))
      return op.emitOpError("cannot become sequential loops");
  }
  return success();
}

LogicalResult attn::flash::prepareLoop(scf::ForallOp loop, RewriterBase &rewriter) {
  if (loop->getNumResults() != 0)
    return loop.emitOpError("expects no results at the target level, but has ") << loop->getNumResults();
  if (!loop->getParentOfType<func::FuncOp>())
    return loop.emitOpError("expects to be in a func.func");
  return serializeInnerLoops(loop, rewriter);
}

SmallVector<OpFoldResult> attn::flash::tripCounts(scf::ForallOp loop, SizeArithmetic &sizes, ImplicitLocOpBuilder &b) {
  SmallVector<OpFoldResult> counts;
  for (auto [lower, upper, step] :
       llvm::zip(loop.getMixedLowerBound(), loop.getMixedUpperBound(), loop.getMixedStep())) {
    auto lo = getConstantIntValue(lower), up = getConstantIntValue(upper), by = getConstantIntValue(step);
    if (lo && up && by && *by > 0) {
      counts.push_back(b.getIndexAttr(*up <= *lo ? 0 : (*up - *lo - 1) / *by + 1));
      continue;
    }
    Value count = sizes.toValue(upper);
    if (!isConstantIntValue(lower, 0))
      count = arith::SubIOp::create(b, count, sizes.toValue(lower));
    count = arith::MaxSIOp::create(b, count, sizes.toValue(b.getIndexAttr(0)));
    if (!isConstantIntValue(step, 1))
      count = arith::CeilDivSIOp::create(b, count, sizes.toValue(step));
    counts.push_back(count);
  }
  return counts;
}

Value attn::flash::countItems(ArrayRef<OpFoldResult> tripCounts, SizeArithmetic &sizes, ImplicitLocOpBuilder &b) {
  OpFoldResult count = b.getIndexAttr(1);
  for (OpFoldResult trips : tripCounts)
    count = sizes.multiply(count, trips);
  sizes.require("a parallel loop expects fewer than 2^63 items; use smaller sizes");
  return sizes.toValue(count);
}

/// What `region` uses that is defined outside of it, in the order of use. The region need not lie under the
/// definitions.
static SetVector<Value> valuesFromOutside(Region &region) {
  SetVector<Value> values;
  region.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!region.isAncestor(operand.getParentRegion()))
        values.insert(operand);
  });
  return values;
}

static void replaceInside(Region &region, Value from, Value to) {
  from.replaceUsesWithIf(to, [&](OpOperand &use) { return region.isAncestor(use.getOwner()->getParentRegion()); });
}

static void sinkConstants(Region &region, OpBuilder &builder) {
  builder.setInsertionPointToStart(&region.front());
  for (Value value : valuesFromOutside(region)) {
    Operation *op = value.getDefiningOp();
    if (op && op->hasTrait<OpTrait::ConstantLike>())
      replaceInside(region, value, builder.clone(*op)->getResult(0));
  }
}

SmallVector<Value> attn::flash::delinearize(Value item, scf::ForallOp loop, ArrayRef<OpFoldResult> counts,
                                            ImplicitLocOpBuilder &b) {
  auto toValue = [&](OpFoldResult value) { return getValueOrCreateConstantIndexOp(b, b.getLoc(), value); };
  SmallVector<Value> indices(counts.size());
  for (int64_t dim = counts.size() - 1; dim >= 0; --dim) {
    Value index = item;
    if (dim != 0) {
      Value count = toValue(counts[dim]);
      index = arith::RemUIOp::create(b, item, count);
      item = arith::DivUIOp::create(b, item, count);
    }
    OpFoldResult lower = loop.getMixedLowerBound()[dim], step = loop.getMixedStep()[dim];
    if (!isConstantIntValue(step, 1))
      index = arith::MulIOp::create(b, index, toValue(step));
    if (!isConstantIntValue(lower, 0))
      index = arith::AddIOp::create(b, index, toValue(lower));
    indices[dim] = index;
  }
  return indices;
}

void attn::flash::moveBody(scf::ForallOp loop, ValueRange indices, Block *into, Region &region,
                           RewriterBase &rewriter) {
  rewriter.eraseOp(loop.getTerminator());
  rewriter.inlineBlockBefore(loop.getBody(), into->getTerminator(), indices);
  sinkConstants(region, rewriter);
}

SmallVector<Value> attn::flash::captureValues(func::FuncOp function) {
  SetVector<Value> used = valuesFromOutside(function.getBody());
  Block &entry = function.getBody().front();
  for (Value value : used)
    replaceInside(function.getBody(), value, entry.addArgument(value.getType(), value.getLoc()));
  function.setFunctionType(FunctionType::get(function.getContext(), entry.getArgumentTypes(), {}));
  return used.takeVector();
}
