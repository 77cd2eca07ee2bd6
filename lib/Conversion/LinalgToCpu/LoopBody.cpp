//===- LoopBody.cpp - the body of a linalg op on lanes ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "../FlashLanes/Loops.h"
#include "LoopBody.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn;
using namespace attn::loops;
using namespace attn::lanes;

Value LoopBody::widen(Value value) {
  if (point.lanes == 1 || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(b, VectorType::get({point.lanes}, value.getType()), value);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value LoopBody::indexOfLane(int64_t number) {
  Value offset = constantIndex(b, number);
  if (point.live.count)
    offset = arith::MinSIOp::create(b, offset, arith::SubIOp::create(b, point.live.count, constantIndex(b, 1)));
  return plus(b, point.indices[*plan.laneDim], offset);
}

/// The map's results at the point; with `lane` in place of the index of the lanes' loop where it is not null.
SmallVector<Value> LoopBody::indicesOf(ImplicitLocOpBuilder &b, AffineMap map, Value lane) {
  SmallVector<Value> dims = point.indices, indices;
  if (lane)
    dims[*plan.laneDim] = lane;
  for (AffineExpr result : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(result))
      indices.push_back(dims[dim.getPosition()]);
    else
      indices.push_back(affine::expandAffineExpr(b, b.getLoc(), result, dims, {}));
  }
  return indices;
}

Value LoopBody::load(unsigned number) {
  Value operand = plan.op->getOperand(number);
  AffineMap map = plan.op.getIndexingMapsArray()[number];
  if (!isa<MemRefType>(operand.getType()))
    return operand;
  Access access = point.lanes == 1 ? Access::Uniform : plan.accesses[number];
  if (access == Access::Contiguous)
    return loadRow(b, point.lanes, operand, indicesOf(b, map, {}), point.live);
  if (access == Access::Strided)
    return loadEach(b, point.lanes, operand, [&](int64_t lane) { return indicesOf(b, map, indexOfLane(lane)); });
  return memref::LoadOp::create(b, operand, indicesOf(b, map, {}));
}

void LoopBody::store(unsigned number, Value value) {
  Value operand = plan.op->getOperand(number);
  AffineMap map = plan.op.getIndexingMapsArray()[number];
  if (point.lanes == 1 || plan.accesses[number] == Access::Uniform) {
    memref::StoreOp::create(b, value, operand, indicesOf(b, map, {}));
    return;
  }
  if (plan.accesses[number] == Access::Contiguous)
    return storeRow(b, widen(value), operand, indicesOf(b, map, {}), point.live);
  storeEach(b, widen(value), operand, point.live, [&](ImplicitLocOpBuilder &b, Value lane) {
    Value index = plus(b, point.indices[*plan.laneDim], lane);
    return indicesOf(b, map, index);
  });
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

void LoopBody::cloneIndex(linalg::IndexOp op) {
  Value index = point.indices[op.getDim()];
  if (point.lanes > 1 && op.getDim() == *plan.laneDim) {
    SmallVector<Attribute> iota;
    for (int64_t lane = 0; lane < point.lanes; ++lane)
      iota.push_back(b.getIndexAttr(lane));
    auto type = VectorType::get({point.lanes}, b.getIndexType());
    Value lanes = arith::ConstantOp::create(b, DenseElementsAttr::get(type, iota));
    index = plus(b, widen(index), lanes);
  }
  map.map(op.getResult(), index);
}

/// True if `index` is that of the lanes' loop itself.
static bool isLaneIndex(Value index, const LoopPlan &plan) {
  auto op = index.getDefiningOp<linalg::IndexOp>();
  return op && plan.laneDim && op.getDim() == *plan.laneDim;
}

void LoopBody::cloneLoad(memref::LoadOp op) {
  auto type = cast<MemRefType>(op.getMemref().getType());
  SmallVector<Value> indices;
  for (Value index : op.getIndices())
    indices.push_back(map.lookupOrDefault(index));
  bool isContiguous = !indices.empty() && isLaneIndex(op.getIndices().back(), plan) && type.isLastDimUnitStride() &&
                      !type.getElementType().isInteger(1) &&
                      llvm::none_of(op.getIndices().drop_back(), [&](Value index) { return isLaned(index); });
  Value result;
  if (isContiguous) {
    indices.back() = point.indices[*plan.laneDim];
    result = loadRow(b, point.lanes, op.getMemref(), indices, point.live);
  } else {
    // Lanes behind the end repeat the last one, since their own index may point anywhere.
    result = loadEach(b, point.lanes, op.getMemref(), [&](int64_t lane) {
      Value position = arith::SubIOp::create(b, indexOfLane(lane), point.indices[*plan.laneDim]);
      SmallVector<Value> ofLane;
      for (Value index : indices)
        ofLane.push_back(
            isa<VectorType>(index.getType())
                ? vector::ExtractOp::create(
                      b, index,
                      ArrayRef<OpFoldResult>{point.live.count ? OpFoldResult(position) : b.getIndexAttr(lane)})
                      .getResult()
                : index);
      return ofLane;
    });
  }
  map.map(op.getResult(), result);
}

void LoopBody::cloneOp(Operation &op) {
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return cloneIndex(index);
  if (llvm::none_of(op.getOperands(), [&](Value operand) { return isLaned(operand); })) {
    b.clone(op, map);
    return;
  }
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return cloneLoad(load);
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (Value operand : op.getOperands())
    operands.push_back(widen(map.lookupOrDefault(operand)));
  for (Type type : op.getResultTypes())
    types.push_back(VectorType::get({point.lanes}, type));
  OperationState state(op.getLoc(), op.getName(), operands, types, op.getAttrs());
  map.map(op.getResults(), b.create(state)->getResults());
}

SmallVector<Value> LoopBody::compute(ValueRange outs) {
  Block &body = *plan.op.getBlock();
  unsigned inputs = plan.op.getNumDpsInputs();
  for (BlockArgument argument : body.getArguments().take_front(inputs))
    if (!argument.use_empty())
      map.map(argument, load(argument.getArgNumber()));
  if (!outs.empty())
    map.map(body.getArguments().drop_front(inputs), outs);
  auto isCombiner = [&](Operation &op) {
    return llvm::any_of(plan.combiners, [&](const auto &combiner) { return combiner && combiner->op == &op; });
  };
  for (Operation &op : body.without_terminator())
    if (!isCombiner(op))
      cloneOp(op);
  SmallVector<Value> results;
  for (auto [number, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    bool isJoined = number < plan.combiners.size() && plan.combiners[number];
    results.push_back(map.lookupOrDefault(isJoined ? plan.combiners[number]->contribution : value));
  }
  return results;
}
