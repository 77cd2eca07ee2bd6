//===- MaskDomain.cpp - the mask of an op and where it is defined ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MaskDomain.h"
#include "IndexMath.h"
#include "attn/Dialect/Attn/Analysis/RegionRanges.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;
using flash::RequireOp;

void attn::requireEqual(ImplicitLocOpBuilder &b, Value got, Value expected, const Twine &message) {
  std::optional<int64_t> known = getConstantIntValue(got);
  if (got == expected || (known && known == getConstantIntValue(expected)))
    return;
  Value holds = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, got, expected);
  RequireOp::create(b, holds, b.getStringAttr(message), ValueRange{got, expected});
}

void attn::requireAtMost(ImplicitLocOpBuilder &b, Value got, int64_t limit, const Twine &what) {
  if (std::optional<int64_t> known = getConstantIntValue(got); known && *known >= 0 && *known <= limit)
    return;
  Value bound = constantIndex(b, limit);
  // One unsigned comparison covers both ends.
  RequireOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::ule, got, bound),
                    b.getStringAttr("expected " + what + " in 0 to {1}, but got {0}"), ValueRange{got, bound});
}

Value MaskDomain::kvEnd(ImplicitLocOpBuilder &b, Value batchIndex) const {
  if (!kvLengths)
    return kvLen;
  Value length = readElement(b, kvLengths, batchIndex);
  return length.getType().isIndex() ? length : arith::IndexCastOp::create(b, b.getIndexType(), length).getResult();
}

void MaskDomain::buildChecks(ImplicitLocOpBuilder &b) const {
  requireAtMost(b, batch, kMaxExtent, "batch");
  requireAtMost(b, heads, kMaxExtent, "heads");
  requireAtMost(b, queryLen, kMaxExtent, "queryLen");
  requireAtMost(b, kvLen, kMaxExtent, "kvLen");
  if (!kvLengths)
    return;
  scf::ForOp::create(b, constantIndex(b, 0), batch, constantIndex(b, 1), ValueRange{},
                     [&](OpBuilder &nested, Location loc, Value index, ValueRange) {
                       ImplicitLocOpBuilder b(loc, nested);
                       Value length = kvEnd(b, index);
                       RequireOp::create(
                           b, arith::CmpIOp::create(b, arith::CmpIPredicate::ule, length, kvLen),
                           b.getStringAttr("expected each of kv_lengths in 0 to kvLen = {1}, but got {0}"),
                           ValueRange{length, kvLen});
                       scf::YieldOp::create(b);
                     });
}

//===----------------------------------------------------------------------===//
// Captured tensors
//===----------------------------------------------------------------------===//

void attn::clampCapturedLoads(Region &region, const AttentionDims &dims) {
  if (region.empty())
    return;
  RegionRanges ranges;
  const int64_t sizes[] = {dims.batch, dims.heads, dims.queryLen, dims.kvLen};
  for (auto [argument, size] : llvm::zip(region.getArguments().take_back(4), sizes))
    ranges.assume(argument, 0, (ShapedType::isDynamic(size) ? kMaxExtent : std::max<int64_t>(size, 1)) - 1);
  SmallVector<Operation *> loads;
  for (Operation &load : region.front())
    if (isa<memref::LoadOp, tensor::ExtractOp>(load))
      loads.push_back(&load);
  for (Operation *load : loads) {
    ImplicitLocOpBuilder b(load->getLoc(), load);
    Value source = load->getOperand(0);
    for (OpOperand &index : load->getOpOperands().drop_front()) {
      int64_t k = index.getOperandNumber() - 1, size = cast<ShapedType>(source.getType()).getDimSize(k);
      if (!ShapedType::isDynamic(size) && ranges.isWithin(index.get(), 0, size - 1))
        continue;
      Value last = arith::SubIOp::create(b, getDimension(b, source, k), constantIndex(b, 1));
      Value below = arith::MinSIOp::create(b, index.get(), last);
      index.set(arith::MaxSIOp::create(b, below, constantIndex(b, 0)));
    }
  }
}

void attn::clampCapturedLoads(AttentionOp op) {
  clampCapturedLoads(op.getScoreRegion(), op.getDims());
  clampCapturedLoads(op.getMaskRegion(), op.getDims());
}

void attn::buildCaptureChecks(ImplicitLocOpBuilder &b, const MaskDomain &domain, ArrayRef<Region *> regions) {
  llvm::SmallPtrSet<Value, 4> seen;
  for (Region *region : regions)
    region->walk([&](memref::LoadOp load) {
      Value capture = load.getMemref();
      auto type = load.getMemRefType();
      if (!seen.insert(capture).second || (type.hasStaticShape() && type.getNumElements() > 0))
        return;
      Value elements = constantIndex(b, 1), scores = constantIndex(b, 1);
      for (int64_t k = 0; k < type.getRank(); ++k)
        elements = arith::MinSIOp::create(b, elements, getDimension(b, capture, k));
      for (Value size : {domain.batch, domain.heads, domain.queryLen, domain.kvLen})
        scores = arith::MinSIOp::create(b, scores, size);
      RequireOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::sge, elements, scores),
                        b.getStringAttr("expected a tensor that a score or mask region reads to have elements"),
                        ValueRange{});
    });
}
