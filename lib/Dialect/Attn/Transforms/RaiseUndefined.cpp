//===- RaiseUndefined.cpp - what exporters leave open -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RaiseForeign.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace attn;

/// The neutral element of the operation that combines elements with output `index`, if it is a lone one that the
/// output starts from an empty tensor for; null otherwise.
static TypedAttr findNeutralElement(linalg::LinalgOp op, unsigned index) {
  BlockArgument element = op.getRegionOutputArgs()[index];
  if (!op.getDpsInits()[index].getDefiningOp<tensor::EmptyOp>() || !element.hasOneUse())
    return {};
  Operation *combiner = *element.user_begin();
  bool isYielded = combiner->getNumResults() == 1 && combiner->getResult(0).hasOneUse() &&
                   op.getBlock()->getTerminator()->getOperand(index) == combiner->getResult(0);
  return isYielded ? arith::getNeutralElement(combiner).value_or(TypedAttr()) : TypedAttr();
}

void attn::initializeReductions(linalg::LinalgOp op) {
  for (unsigned index = 0; index < op.getNumDpsInits(); ++index) {
    TypedAttr neutral = findNeutralElement(op, index);
    if (!neutral)
      continue;
    ImplicitLocOpBuilder builder(op.getLoc(), op);
    Value scalar = arith::ConstantOp::create(builder, neutral);
    OpOperand *init = op.getDpsInitOperand(index);
    init->set(linalg::FillOp::create(builder, scalar, init->get()).getResult(0));
    remark::passed(op.getLoc(), remark::RemarkOpts::name("attn-raise").category("attn"))
        << "a reduction of an empty tensor starts from its neutral element";
  }
}

void attn::rankResults(func::FuncOp function) {
  if (!llvm::any_of(function.getResultTypes(), llvm::IsaPred<UnrankedTensorType>) || !function.getBody().hasOneBlock())
    return;
  Operation *end = function.front().getTerminator();
  SmallVector<Type> types(function.getResultTypes());
  for (auto [operand, type] : llvm::zip(end->getOpOperands(), types)) {
    auto cast = operand.get().getDefiningOp<tensor::CastOp>();
    if (!isa<UnrankedTensorType>(type) || !cast || !isa<RankedTensorType>(cast.getSource().getType()))
      continue;
    operand.set(cast.getSource());
    type = cast.getSource().getType();
  }
  function.setFunctionType(FunctionType::get(function.getContext(), function.getArgumentTypes(), types));
}
