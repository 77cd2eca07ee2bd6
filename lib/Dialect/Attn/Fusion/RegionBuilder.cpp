//===- RegionBuilder.cpp - expressions as operations ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RegionBuilder.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;
using namespace attn::fusion;

/// Integers of the same value in another type: expressions only call equal what no width cuts off.
Value RegionBuilder::convert(Value integer, Type type) {
  Type from = integer.getType();
  if (from == type || !isa<IndexType, IntegerType>(type))
    return integer;
  if (isa<IndexType>(from) || isa<IndexType>(type))
    return arith::IndexCastOp::create(builder, type, integer);
  if (from.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    return arith::ExtSIOp::create(builder, type, integer);
  return arith::TruncIOp::create(builder, type, integer);
}

Value RegionBuilder::build(ExprRef e) {
  // Operands first, without recursion: expressions are as deep as the graph is long.
  walk(e, [&](ExprRef part) {
    if (!values.contains(part))
      values[part] = buildNew(part);
  });
  return values.lookup(e);
}

/// What is the same for all elements stands in front of the op whose region is being built.
static void leaveRegion(OpBuilder &builder) {
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  if (isa<AttentionOp, linalg::LinalgOp>(parent))
    builder.setInsertionPoint(parent);
}

Value RegionBuilder::buildNew(ExprRef e) {
  switch (e->kind) {
  case Expr::Kind::Constant:
    return arith::ConstantOp::create(builder, cast<TypedAttr>(e->attribute));
  case Expr::Kind::Linear:
    return buildLinear(e);
  case Expr::Kind::Quotient:
    return arith::DivUIOp::create(builder, convert(values.lookup(e->operands[0]), builder.getIndexType()),
                                  constant(e->offset));
  case Expr::Kind::Remainder:
    return arith::RemUIOp::create(builder, convert(values.lookup(e->operands[0]), builder.getIndexType()),
                                  constant(e->offset));
  case Expr::Kind::Apply:
    return buildApply(e);
  case Expr::Kind::Element:
    return buildElement(e);
  case Expr::Kind::Size: {
    OpBuilder::InsertionGuard guard(builder);
    leaveRegion(builder);
    return getDimension(builder, e->value, e->offset);
  }
  case Expr::Kind::Outside:
    return e->value;
  case Expr::Kind::Dim:
    llvm_unreachable("every index is among the values");
  }
  llvm_unreachable("all kinds are handled");
}

Value RegionBuilder::buildLinear(ExprRef e) {
  Value sum = e->offset != 0 || e->operands.empty() ? constant(e->offset) : Value();
  for (auto [operand, coefficient] : llvm::zip_equal(e->operands, e->coefficients)) {
    Value term = convert(values.lookup(operand), builder.getIndexType());
    bool isSubtracted = coefficient == -1 && sum;
    if (coefficient != 1 && !isSubtracted)
      term = arith::MulIOp::create(builder, term, constant(coefficient));
    if (!sum)
      sum = term;
    else if (isSubtracted)
      sum = arith::SubIOp::create(builder, sum, term);
    else
      sum = arith::AddIOp::create(builder, sum, term);
  }
  return sum;
}

Value RegionBuilder::withElements(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value &result = filled[tensor];
  if (result || type.hasStaticShape())
    return result = tensor;
  OpBuilder::InsertionGuard guard(builder);
  leaveRegion(builder);
  Value least = constant(1), one = least;
  for (int64_t k = 0; k < type.getRank(); ++k)
    if (type.isDynamicDim(k))
      least = arith::MinSIOp::create(builder, least, getDimension(builder, tensor, k));
  Value isEmpty = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, least, one);
  auto makeOther = [&](OpBuilder &b, Location loc) {
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType()));
    Value empty = tensor::EmptyOp::create(b, loc, type, SmallVector<Value>(type.getNumDynamicDims(), one));
    scf::YieldOp::create(b, loc, linalg::FillOp::create(b, loc, zero, empty).getResult(0));
  };
  auto keep = [&](OpBuilder &b, Location loc) { scf::YieldOp::create(b, loc, tensor); };
  return result = scf::IfOp::create(builder, isEmpty, makeOther, keep).getResult(0);
}

Value RegionBuilder::clamp(Value index, Value tensor, int64_t dimension) {
  Value last = arith::SubIOp::create(builder, getDimension(builder, tensor, dimension), constant(1));
  return arith::MaxSIOp::create(builder, arith::MinSIOp::create(builder, index, last), constant(0));
}

Value RegionBuilder::buildElement(ExprRef e) {
  bool isPartial = expressions.isPartial(e->value);
  // Indices in the regions of attention are clamped where they are lowered.
  bool isClamped = isa<AttentionOp>(builder.getInsertionBlock()->getParentOp());
  Value tensor = isPartial ? withElements(e->value) : e->value;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  SmallVector<Value> indices;
  for (auto [k, index] : llvm::enumerate(e->operands)) {
    indices.push_back(convert(values.lookup(index), builder.getIndexType()));
    bool isInside = !ShapedType::isDynamic(shape[k]) && expressions.rangeOf(index).isWithin(0, shape[k] - 1);
    if (isPartial && !isClamped && !isInside)
      indices.back() = clamp(indices.back(), tensor, k);
  }
  return tensor::ExtractOp::create(builder, tensor, indices);
}

Value RegionBuilder::buildApply(ExprRef e) {
  OperationState state(builder.getLoc(), e->opName.getValue());
  for (auto [operand, type] : llvm::zip_equal(e->operands, e->operandTypes))
    state.addOperands(convert(values.lookup(operand), type));
  state.addTypes(e->type);
  if (e->attribute)
    state.addAttributes(cast<DictionaryAttr>(e->attribute).getValue());
  return builder.create(state)->getResult(0);
}
