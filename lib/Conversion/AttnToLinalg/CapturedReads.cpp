//===- CapturedReads.cpp - what score and mask regions read ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CapturedReads.h"
#include "attn/Dialect/Attn/Analysis/RegionRanges.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

/// Reads have the tensor first, then its indices.
static bool isRead(Operation *op) { return isa<memref::LoadOp, tensor::ExtractOp>(op); }

static Value constantIndex(ImplicitLocOpBuilder &b, int64_t value) { return arith::ConstantIndexOp::create(b, value); }

/// Clamps one index of a read into its dimension.
static void clampIndex(OpOperand &index) {
  Operation *read = index.getOwner();
  ImplicitLocOpBuilder b(read->getLoc(), read);
  Value size = getDimension(b, read->getOperand(0), index.getOperandNumber() - 1);
  Value last = arith::SubIOp::create(b, size, constantIndex(b, 1));
  Value below = arith::MinSIOp::create(b, index.get(), last);
  index.set(arith::MaxSIOp::create(b, below, constantIndex(b, 0)));
}

void attn::clampCapturedLoads(Region &region, ArrayRef<int64_t> sizes, int64_t largest) {
  if (region.empty())
    return;
  RegionRanges ranges;
  for (auto [argument, size] : llvm::zip(region.getArguments().take_back(4), sizes))
    ranges.assume(argument, 0, (ShapedType::isDynamic(size) ? largest : std::max<int64_t>(size, 1)) - 1);
  SmallVector<OpOperand *> unproved;
  for (Operation &read : region.front()) {
    if (!isRead(&read))
      continue;
    ArrayRef<int64_t> shape = cast<ShapedType>(read.getOperand(0).getType()).getShape();
    for (auto [index, size] : llvm::zip(read.getOpOperands().drop_front(), shape))
      if (ShapedType::isDynamic(size) || !ranges.isWithin(index.get(), 0, size - 1))
        unproved.push_back(&index);
  }
  llvm::for_each(unproved, [](OpOperand *index) { clampIndex(*index); });
}

void attn::buildCaptureChecks(ImplicitLocOpBuilder &b, ArrayRef<Value> sizes, ArrayRef<Region *> regions) {
  llvm::SmallPtrSet<Value, 4> seen;
  auto check = [&](Operation *read) {
    Value capture = read->getOperand(0);
    auto type = cast<ShapedType>(capture.getType());
    if (!seen.insert(capture).second || (type.hasStaticShape() && type.getNumElements() > 0))
      return;
    Value elements = constantIndex(b, 1), scores = constantIndex(b, 1);
    for (int64_t k = 0; k < type.getRank(); ++k)
      elements = arith::MinSIOp::create(b, elements, getDimension(b, capture, k));
    for (Value size : sizes)
      scores = arith::MinSIOp::create(b, scores, size);
    flash::RequireOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::sge, elements, scores),
                             b.getStringAttr("expected a tensor that a score or mask region reads to have elements"),
                             ValueRange{});
  };
  for (Region *region : regions)
    region->walk([&](Operation *op) {
      if (isRead(op))
        check(op);
    });
}
