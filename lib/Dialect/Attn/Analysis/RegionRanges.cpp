//===- RegionRanges.cpp - integer ranges in score and mask regions -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Dialect/Attn/Analysis/RegionRanges.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;

void RegionRanges::assume(Value value, int64_t low, int64_t high) {
  unsigned width = ConstantIntRanges::getStorageBitwidth(value.getType());
  ranges.insert_or_assign(value, ConstantIntRanges::fromSigned(APInt(width, low, /*isSigned=*/true),
                                                               APInt(width, high, /*isSigned=*/true)));
}

/// Upstream's inference takes the lowest number of a width for a positive one. Here the quotients of the ends, in one
/// bit more, for a divisor of one sign.
static ConstantIntRanges rangeOfCeilDiv(const ConstantIntRanges &x, const ConstantIntRanges &y) {
  unsigned width = x.smin().getBitWidth();
  if (!y.smin().isStrictlyPositive() && !y.smax().isNegative())
    return ConstantIntRanges::maxRange(width);
  SmallVector<APInt> quotients;
  for (const APInt &dividend : {x.smin(), x.smax()})
    for (const APInt &divisor : {y.smin(), y.smax()})
      quotients.push_back(
          llvm::APIntOps::RoundingSDiv(dividend.sext(width + 1), divisor.sext(width + 1), APInt::Rounding::UP));
  auto isLess = [](const APInt &a, const APInt &b) { return a.slt(b); };
  auto [least, most] = std::minmax_element(quotients.begin(), quotients.end(), isLess);
  // Only the lowest number by -1 leaves the width, which is undefined.
  APInt highest = APInt::getSignedMaxValue(width).sext(width + 1);
  return ConstantIntRanges::fromSigned(llvm::APIntOps::smin(*least, highest).trunc(width),
                                       llvm::APIntOps::smin(*most, highest).trunc(width));
}

ConstantIntRanges RegionRanges::get(Value value) {
  if (auto found = ranges.find(value); found != ranges.end())
    return found->second;
  unsigned width = ConstantIntRanges::getStorageBitwidth(value.getType());
  ConstantIntRanges result = ConstantIntRanges::maxRange(width);
  if (auto quotient = value.getDefiningOp<arith::CeilDivSIOp>()) {
    ConstantIntRanges range = rangeOfCeilDiv(get(quotient.getLhs()), get(quotient.getRhs()));
    ranges.insert_or_assign(value, range);
    return range;
  }
  auto infer = value.getDefiningOp<InferIntRangeInterface>();
  // Ops over containers (memref.load, tensor.dim) have operands without a range.
  if (infer && llvm::all_of(infer->getOperandTypes(), [](Type type) { return type.isIntOrIndex(); })) {
    SmallVector<ConstantIntRanges> operands;
    for (Value operand : infer->getOperands())
      operands.push_back(get(operand));
    infer.inferResultRanges(operands, [&](Value inferred, const ConstantIntRanges &range) {
      if (inferred == value)
        result = range;
    });
  }
  ranges.insert_or_assign(value, result);
  return result;
}

bool RegionRanges::isWithin(Value value, int64_t low, int64_t high) {
  ConstantIntRanges range = get(value);
  return range.smin().sge(low) && range.smax().sle(high);
}
