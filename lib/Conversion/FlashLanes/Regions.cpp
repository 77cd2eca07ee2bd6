//===- Regions.cpp - score and mask regions of flash ops --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Regions.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;
using namespace attn::lanes;

/// True if the divisor is a constant that the CPU divides any value by.
static bool isHarmless(Value divisor, bool isSigned) {
  APInt constant;
  return matchPattern(divisor, m_ConstantInt(&constant)) && !constant.isZero() && !(isSigned && constant.isAllOnes());
}

/// Divides by 1 in place of 0 and, signed, of -1.
static void guard(Operation *op, bool isSigned) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value dividend = op->getOperand(0), divisor = op->getOperand(1);
  auto number = [&](int64_t value) { return arith::ConstantOp::create(b, b.getIntegerAttr(divisor.getType(), value)); };
  auto isDivisor = [&](Value value) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, divisor, value);
  };
  Value one = number(1), zero = number(0);
  Value isBad = isDivisor(zero), isMinusOne;
  if (isSigned) {
    isMinusOne = isDivisor(number(-1));
    isBad = arith::OrIOp::create(b, isBad, isMinusOne);
  }
  op->setOperand(1, arith::SelectOp::create(b, isBad, one, divisor));
  // x rem 1 is what x rem -1 is; quotients differ in their sign.
  if (!isa<arith::FloorDivSIOp>(op))
    return;
  b.setInsertionPointAfter(op);
  Value negative = arith::SubIOp::create(b, zero, dividend);
  auto choice = arith::SelectOp::create(b, isMinusOne, negative, op->getResult(0));
  op->getResult(0).replaceAllUsesExcept(choice, choice);
}

void lanes::guardDivisions(Operation *root) {
  root->walk([](Operation *op) {
    if (!isa_and_nonnull<flash::FlashDialect>(op->getParentOp()->getDialect()))
      return;
    bool isSigned = isa<arith::RemSIOp, arith::FloorDivSIOp>(op);
    if ((isSigned || isa<arith::RemUIOp>(op)) && !isHarmless(op->getOperand(1), isSigned))
      guard(op, isSigned);
  });
}

SmallVector<Operation *> lanes::sliceOf(Region &region, ValueRange values) {
  llvm::DenseSet<Value> needed(values.begin(), values.end());
  SmallVector<Operation *> slice;
  for (Operation &op : llvm::reverse(region.front().without_terminator()))
    if (yieldsOneOf(op, needed)) {
      insertOperands(op, needed);
      slice.push_back(&op);
    }
  return SmallVector<Operation *>(llvm::reverse(slice));
}
