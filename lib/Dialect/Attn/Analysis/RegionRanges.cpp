//===- RegionRanges.cpp - integer ranges in score and mask regions -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Dialect/Attn/Analysis/RegionRanges.h"
#include "mlir/IR/Operation.h"

using namespace mlir;
using namespace attn;

void RegionRanges::assume(Value value, int64_t low, int64_t high) {
  unsigned width = ConstantIntRanges::getStorageBitwidth(value.getType());
  ranges.insert_or_assign(value, ConstantIntRanges::fromSigned(APInt(width, low, /*isSigned=*/true),
                                                               APInt(width, high, /*isSigned=*/true)));
}

ConstantIntRanges RegionRanges::get(Value value) {
  if (auto found = ranges.find(value); found != ranges.end())
    return found->second;
  unsigned width = ConstantIntRanges::getStorageBitwidth(value.getType());
  ConstantIntRanges result = ConstantIntRanges::maxRange(width);
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
