//===- RegionBuilder.cpp - expressions as operations ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RegionBuilder.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
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
  case Expr::Kind::Element: {
    SmallVector<Value> indices;
    for (ExprRef index : e->operands)
      indices.push_back(convert(values.lookup(index), builder.getIndexType()));
    return tensor::ExtractOp::create(builder, e->value, indices);
  }
  case Expr::Kind::Size: {
    // In front of an op whose region is being built.
    OpBuilder::InsertionGuard guard(builder);
    Operation *parent = builder.getInsertionBlock()->getParentOp();
    if (isa<AttentionOp, linalg::LinalgOp>(parent))
      builder.setInsertionPoint(parent);
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

Value RegionBuilder::buildApply(ExprRef e) {
  OperationState state(builder.getLoc(), e->opName.getValue());
  for (auto [operand, type] : llvm::zip_equal(e->operands, e->operandTypes))
    state.addOperands(convert(values.lookup(operand), type));
  state.addTypes(e->type);
  if (e->attribute)
    state.addAttributes(cast<DictionaryAttr>(e->attribute).getValue());
  return builder.create(state)->getResult(0);
}
